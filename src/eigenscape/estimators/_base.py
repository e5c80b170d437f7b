"""What all estimators share: the scikit-learn contract around one fitted embedding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenscape import distributed
from eigenscape._progress import reporting
from eigenscape.distributed import is_collection
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._collections import CollectionMixin, averaged, collected, rowwise
from eigenscape.estimators._samples import fit_to_sample, refuse_tables
from eigenscape.estimators._validation import check_input, check_jobs, like
from eigenscape.pieces import PiecewiseEmbedding
from eigenscape.quality.loss import kernel_loss
from eigenscape.solvers import NAMES, SolverConfig


class Fitted(NamedTuple):
    """What a subclass returns from ``_embed``."""

    model: Embedding | PiecewiseEmbedding
    group: np.ndarray | None = (
        None  # for each sample the training point of the model that it is (duplicates share one)
    )
    attributes: dict[str, Any] | None = None  # further fitted attributes, by name
    X: Any = None  # the training points, where the model was learnt on some of them and keeps no others
    spectral: bool = True  # whether the model has a kernel, hence eigenvalues, eigenfunctions and a loss


#: Where estimators keep what they have learnt beside the attributes for users. By name, for scikit-learn
#: keeps things of its own.
LEARNT = {"_axes", "_embedding", "_inverse", "_layers", "_learnt", "_map", "_mixture", "_model", "_moments"}
LEARNT |= {"_rows", "_rule", "_scale", "_settled", "_source", "_spectrum"}


def forget(estimator: Any) -> None:
    """Drop what an earlier fit left, for users and inside: after a fit that fails there is no model."""
    for name in [
        name
        for name in vars(estimator)
        if name in LEARNT or (name.endswith("_") and not name.startswith("_"))
    ]:
        delattr(estimator, name)


def chosen_solver(estimator: Any, allowed: tuple[str, ...]) -> SolverConfig:
    """What the parameters ask of the eigen-solver."""
    if estimator.eigen_solver in NAMES and estimator.eigen_solver not in allowed:
        raise ValueError(
            f"eigen_solver={estimator.eigen_solver!r} needs a sparse graph matrix; use 'auto', 'dense' or 'lanczos' here"
        )
    check_jobs(estimator.n_jobs)
    seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    return SolverConfig(estimator.eigen_solver, estimator.tol, estimator.max_iter, seed, estimator.n_jobs)


class MapEstimator(CollectionMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What every fitted map can do. Subclasses say by class attributes what input they take."""

    #: Parameter that may say "precomputed" (or hold a function of two objects), and what sparse input means
    #: here.
    _pairwise_parameter: str | None = None
    _precomputed_means = "distance"  # or "kernel", "affinity"
    _sparse: str | None = "csr"  # None: refused, for the reason in _no_sparse
    _no_sparse = ""
    _sparse_tables = True  # whether a precomputed matrix may be sparse
    _narrow_tables = False  # whether it may have a column for each landmark only
    _missing = False  # whether NaN means that a value is missing
    _objects = False  # whether X may be a list of any objects, given a function of two of them

    @rowwise()
    def transform(self, X: Any) -> np.ndarray:
        """Place points on the map, by the Nystrom formula (Bengio eq. 20, 23) where it has a kernel.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)
            New points, or their similarities/distances to the training points (n_new, n_samples) where
            "precomputed".

        Returns
        -------
        ndarray of shape (n_new, n_components)
            A point's coordinates do not depend on the other points of ``X``; training points get
            ``embedding_``.
        """
        check_is_fitted(self, "n_iter_")
        with reporting(self.verbose):
            X = check_input(self, X, reset=False)
            return self._like(X, self._model.transform(X))

    _like = staticmethod(like)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse is not None and (
            self._sparse_tables or not self._is_precomputed()
        )
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.positive_only = self._is_precomputed() and self._precomputed_kind() != "kernel"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _is_precomputed(self) -> bool:
        chosen = getattr(self, self._pairwise_parameter) if self._pairwise_parameter else None
        return isinstance(chosen, str) and chosen.startswith("precomputed")

    def _precomputed_kind(self) -> str:
        return self._precomputed_means


class FittedEmbedding(MapEstimator):
    """What every fitted model with a kernel can do."""

    @rowwise()
    def eigenfunctions(self, X: Any) -> np.ndarray:
        """Unscaled eigenfunctions ``f_r(x)`` behind the coordinates (Bengio eq. 20), shape (n_new,
        n_components)."""
        self._check_kernel("eigenfunctions")
        with reporting(self.verbose):
            X = check_input(self, X, reset=False)
            return self._like(X, self._model.functions(X))

    @averaged
    def loss(self, X: Any = None) -> float:
        """Mean squared error of the kernel against its expansion in the eigenfunctions found (Bengio sec. 4).

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), optional
            Held-out points, paired with all training points. None: the training points themselves.

        Returns
        -------
        float
            Lower is better. Compare training and held-out loss of one method; different kernels do not
            compare.
        """
        self._check_kernel("loss")
        with reporting(self.verbose):
            return kernel_loss(self._model, None if X is None else check_input(self, X, reset=False))

    def _check_kernel(self, asked: str) -> None:
        check_is_fitted(self, "n_iter_")
        if "eigenvalues_" not in vars(self):
            raise AttributeError(
                f"an ordinal map has no kernel and therefore no {asked}; see stress_, or set ordinal=False"
            )

    @property
    def _n_features_out(self) -> int:
        return self.eigenvalues_.shape[-1] if "eigenvalues_" in vars(self) else self.embedding_.shape[1]

    def _adopt(self, model: Embedding | PiecewiseEmbedding, attributes: dict[str, Any] | None) -> None:
        """Make ``model`` the fitted one."""
        vars(self).pop("_inverse", None)  # made of an earlier model
        self.eigenvalues_ = model.eigenvalues
        self.residuals_ = model.residuals
        self.solver_ = model.solver
        self.n_iter_ = model.n_iter
        self.kernel_ = model.kernel
        self._take(model, attributes)

    def _take(self, model: Any, attributes: dict[str, Any] | None) -> None:
        """The same for a model without a kernel, whose attributes have all there is to tell."""
        self._model = model
        for name, value in (attributes or {}).items():
            setattr(self, name, value)


class SpectralEstimator(FittedEmbedding, ABC):
    """Base of the estimators that learn from an array. Subclasses define ``__init__`` and ``_embed``."""

    _solvers: tuple[str, ...] = ("auto", "dense", "lanczos")

    @abstractmethod
    def _embed(self, X: Any) -> Fitted:
        """Fit to validated data. With a dictionary there may be ``blocks`` of a collection too, of which
        ``X`` are a few rows."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the embedding of ``X``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or similarities/distances (n_samples, n_samples) where the parameters say
            "precomputed". Data are copied; a precomputed matrix is not, and should be left as it is while the
            model is in use. A dask array or dataframe: with a dictionary all its rows are learnt from where
            they lie; otherwise a sample of them, and the others are placed by ``transform``
            (``sample_indices_``, ``sample_loss_``, ``sample_stability_`` say what that costs).
        y : ignored

        Returns
        -------
        self
        """
        forget(self)
        if is_collection(X):
            return self._fit_collection(X)
        with reporting(self.verbose):
            X = check_input(self, X, reset=True)
            fitted = self._embed(X)
            coordinates = fitted.model.coordinates if fitted.X is None else fitted.model.transform(fitted.X)
        self.embedding_ = self._like(X, coordinates if fitted.group is None else coordinates[fitted.group])
        if fitted.spectral:
            self._adopt(fitted.model, fitted.attributes)
        else:
            self._take(fitted.model, fitted.attributes)
        return self

    def _fit_collection(self, X: Any) -> Self:
        with reporting(self.verbose):
            wish = self.get_params(deep=False)
            if wish.get("dictionary_size") is None and wish.get("dictionary_tol") is None:
                fit_to_sample(self, X)
            else:
                blocks = collected(self, X, reset=True)
                refuse_tables(self)
                fitted = self._embed(distributed.evenly_spaced(blocks), blocks)
                self._adopt(fitted.model, fitted.attributes)
                self.embedding_ = self.transform(X)
        if isinstance(self, ClusterMixin):
            self.labels_ = self.predict(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn the embedding of ``X`` and return it."""
        return self.fit(X, y).embedding_

    def _solver(self) -> SolverConfig:
        return chosen_solver(self, self._solvers)
