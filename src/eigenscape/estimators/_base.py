"""The base classes of estimators: :class:`Estimator`, and :class:`KernelEstimator` for models with a kernel.

No estimator inherits from another one. Attributes set by ``fit`` end in an underscore, private ones too
(``_model_``).

See docs/decisions/estimators-own-transform.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenscape._numbers import match_dtype
from eigenscape.distributed import call_on_blocks, is_collection
from eigenscape.estimators._html import spectrum_block
from eigenscape.estimators._method import GraphSolver, Method, Seed
from eigenscape.estimators._rows import check_coordinates, check_input, check_pairs, check_weights
from eigenscape.estimators._running import HAS_CALLBACKS, fitting, paired, rowwise, running, set_callbacks
from eigenscape.estimators._verify import verify
from eigenscape.estimators._weights import class_codes, embed_weighted
from eigenscape.kernels.base import BoundKernel
from eigenscape.options import Graph, Option, Solver, check_solver
from eigenscape.pieces import AnyEmbedding
from eigenscape.quality.loss import kernel_loss, kernel_loss_curve, squared_errors_between
from eigenscape.solvers import SolverConfig

#: The options if ``eigen_solver`` is the name of a method.
_DEFAULT_SOLVER = Solver()


class Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of all estimators. Class attributes describe the input that a subclass accepts."""

    #: Description of the method, for the application.
    _method: Method | None = None
    #: What the coordinates mean, a sentence.
    _meaning = ""
    #: Name of the parameter that may be "precomputed" or a function of two samples.
    _pairwise_parameter: str | None = None
    #: What a precomputed matrix contains: "distance", "kernel" or "affinity".
    _precomputed_means = "distance"
    #: Sparse format accepted; None if sparse input is refused, with the reason in ``_no_sparse``.
    _sparse: str | None = "csr"
    _no_sparse = ""
    #: Whether a precomputed matrix may be sparse.
    _sparse_tables = True
    #: Whether a precomputed matrix may be (n_samples, n_landmarks).
    _narrow_tables = False
    #: Whether NaN is accepted as a missing value.
    _missing = False
    #: Whether ``X`` may be a list of arbitrary objects, given a function of two of them.
    _objects = False
    #: Eigensolvers that ``eigen_solver`` may name.
    _solvers: tuple[str, ...] = ("auto", "dense", "lanczos")
    #: Whether a kernel matrix may be recomputed in blocks.
    _blocked = False
    #: Whether there are landmarks by default.
    _has_landmarks = False
    #: Whether ``fit`` sets ``embedding_``.
    _has_embedding = True
    #: Largest ratio of positive weights. Entries of eigenvectors are divided by the roots of the weights, and
    #: so are their rounding errors.
    _max_weight_ratio = 2.0**52

    target_weight: float = 0.0
    verbose: bool = False
    n_jobs: int | None
    eigen_solver: GraphSolver
    random_state: Seed
    _model_: Any  # the fitted map

    verify = verify
    if HAS_CALLBACKS:
        set_callbacks = set_callbacks

    def _embed(self, X: Any) -> FitResult:
        """Fit to validated data. A hook.

        Estimators whose ``fit`` accepts them also take ``weights``, the positive weights of the samples or
        None, and ``labels``, the classes of the samples."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the embedding of ``X``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or similarities or distances of shape (n_samples, n_samples) if "precomputed" is
            selected. Data are copied. A precomputed matrix is not copied and must not be modified while the
            model is in use. All rows of a dask array or dataframe are used if the estimator has a dictionary;
            otherwise the model is fitted to a sample of the rows, and ``transform`` places the other rows
            (see ``sample_indices_``, ``sample_loss_`` and ``sample_stability_``).
        y : ignored
            Not used, present for API consistency.

        Returns
        -------
        self
        """
        return self._fit_samples(X)

    def _fit_samples(self, X: Any, sample_weight: Any = None, y: Any = None) -> Self:
        """Validate the samples, embed them and set the attributes.

        Only estimators whose ``fit`` accepts weights and classes pass them.
        """
        with fitting(self) as failures:
            labels = class_codes(y, self.target_weight) if self.target_weight else None
            if not isinstance(X, np.ndarray) and is_collection(X):
                call_on_blocks("sample_fit.fit", self, X, sample_weight, labels)
                return self
            X = check_input(self, X, reset=True)
            weights = None if sample_weight is None else check_weights(sample_weight, X, min_sum=0)
            if labels is not None and len(labels) != X.shape[0]:
                raise ValueError(f"X has {X.shape[0]} rows, but y has {len(labels)} labels")
            given = {} if labels is None else {"labels": labels}
            if weights is None:
                result = self._embed(X, **given)
                coordinates = result.coordinates()
            else:
                result, coordinates = embed_weighted(self, X, weights, given)
            for failure in failures:
                failure.embedding_ = coordinates
            self.embedding_ = check_coordinates(X, coordinates)
            self._model_ = result.embedding
            self.__dict__.update(result.fitted())
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Compute the coordinates of any points.

        Models with a kernel use the Nystrom formula (Bengio eq. 20, 23).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)
            New points. If "precomputed", their similarities or distances to the training points, of shape
            (n_new, n_samples). Estimators that accept missing values (NaN) in ``fit`` accept them here too.

        Returns
        -------
        ndarray of shape (n_new, n_components)
            Coordinates. They do not depend on the other points in ``X``; training points get their row of
            ``embedding_``. For a dask collection, a lazy dask array.
        """
        if not isinstance(X, np.ndarray) and is_collection(X):
            return call_on_blocks("dispatch.map_rows", self, "transform", X)
        self._check_fitted()
        with running(self):
            X = check_input(self, X, reset=False)
            return check_coordinates(X, self._transform(X))

    def fit_transform(self, X: Any, y: object = None, **fit_params: Any) -> np.ndarray:
        """Fit to ``X`` and return its coordinates, ``embedding_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, as for ``fit``.
        y : array-like or None
            As for ``fit``; ignored by most estimators.
        **fit_params
            Further arguments of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        self.fit(X, y, **fit_params)
        return self.embedding_ if self._has_embedding else self.transform(X)

    def _transform(self, X: Any) -> np.ndarray:
        """Compute the coordinates of validated points. A hook."""
        return self._model_.transform(X)

    def _check_fitted(self) -> None:
        """Raise NotFittedError unless the map can be used. A hook."""
        names = ("components_", "eigenvalues_", "n_iter_")
        if not any(name in vars(self) for name in names):
            check_is_fitted(self, names, all_or_any=any)  # reads the tags, which takes longer

    _match_dtype = staticmethod(match_dtype)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + spectrum_block(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        if get_config()["display"] == "diagram":
            bundle["text/html"] = str(bundle["text/html"]) + spectrum_block(self)
        return bundle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = self._is_precomputed()
        tags.input_tags.sparse = self._sparse is not None and (self._sparse_tables or not precomputed)
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed and self._precomputed_kind() != "kernel"
        tags.input_tags.allow_nan = self._missing
        tags.target_tags.required = bool(self.target_weight)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self))

    def __getstate__(self) -> dict[str, Any]:
        """Leave dask collections (training rows, lazy results) out of pickles and copies."""
        return {name: value for name, value in super().__getstate__().items() if not is_collection(value)}

    def _reset(self) -> None:
        """Delete all fitted attributes, so that no model remains if the next fit fails."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("__")]:
            delattr(self, name)

    @property
    def _n_features_out(self) -> int:
        """Number of coordinates of the fitted map. A hook."""
        fitted = vars(self)
        if "components_" in fitted:
            return int(np.shape(self.components_)[-2])
        return int(np.shape(self.eigenvalues_ if "eigenvalues_" in fitted else self.embedding_)[-1])

    def _pairwise(self) -> Any:
        """Return the metric or kernel, which may be "precomputed" or a function of two samples."""
        for name in ("graph", "affinity"):
            graph = getattr(self, name, None)
            if isinstance(graph, Graph):
                return graph.metric
        return getattr(self, self._pairwise_parameter, None) if self._pairwise_parameter else None

    def _is_precomputed(self) -> bool:
        value = self._pairwise()
        return isinstance(value, str) and value.startswith("precomputed")

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and fields of option objects by names such as ``affinity__n_neighbors``."""
        plain: dict[str, Any] = {}
        fields: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            outer, _, inner = name.partition("__")
            holder = params.get(outer, getattr(self, outer, None))
            if inner and isinstance(holder, Option):
                fields.setdefault(outer, {})[inner] = value
            elif inner and not hasattr(holder, "set_params") and outer in self.get_params(deep=False):
                raise ValueError(
                    f"{name}: {outer}={holder!r} has no fields; set {outer} to an object of"
                    " eigenscape.options first, such as KNNGraph()"
                )
            else:
                plain[name] = value
        super().set_params(**plain)
        for name, values in fields.items():
            setattr(self, name, getattr(self, name).set_params(**values))
        return self

    def _precomputed_kind(self) -> str:
        """Return what a precomputed matrix contains. A hook: it may depend on parameters."""
        return self._precomputed_means

    def _seed(self) -> int:
        """Return an integer seed, drawn from ``random_state``."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _solver(self) -> SolverConfig:
        """Return the eigensolver that the parameters describe."""
        given = self.eigen_solver
        method, option = (given.method, given) if isinstance(given, Solver) else (given, _DEFAULT_SOLVER)
        check_solver(method, self._solvers)
        if option.storage != "auto" and not self._blocked:
            raise ValueError(
                f"storage={option.storage!r} is for kernels between all samples that need not be stored, of"
                f" KernelPCA and ClassicalMDS; {type(self).__name__} has none"
            )
        tol = 1e-10 if option.tol is None else option.tol
        return SolverConfig(method, tol, option.max_iter, self._seed(), self.n_jobs, storage=option.storage)


@dataclass(frozen=True, eq=False)
class FitResult:
    """Result of fitting one embedding.

    Parameters
    ----------
    embedding : Embedding, PiecewiseEmbedding or OrdinalEmbedding
        The fitted map.
    attributes : mapping
        Fitted attributes of the estimator, by name, without the spectrum and the kernel of ``embedding``.
    vertex : ndarray of shape (n_samples,) or None
        Index of the training point of ``embedding`` for each sample (duplicate samples share one). If None,
        sample ``i`` is training point ``i``.
    training : array or None
        The training samples, if ``embedding`` was learnt from a part of them and does not store them all.
    has_kernel : bool
        Whether ``embedding`` has a kernel, whose spectrum is described by fitted attributes.
    """

    embedding: AnyEmbedding
    attributes: Mapping[str, Any] = field(default_factory=dict)
    vertex: np.ndarray | None = None
    training: Any = None
    has_kernel: bool = True

    def with_attributes(self, attributes: Mapping[str, Any]) -> FitResult:
        """Return a copy with further fitted attributes."""
        return replace(self, attributes={**self.attributes, **attributes})

    def fitted(self) -> dict[str, Any]:
        """Return all fitted attributes by name."""
        if not self.has_kernel:
            return dict(self.attributes)
        spectrum = {f"{name}_": value for name, value in self.embedding.spectrum._asdict().items()}
        return {**spectrum, "kernel_": self.embedding.kernel, **self.attributes}

    def coordinates(self) -> np.ndarray:
        """Return the coordinates of all samples, (n_samples, n_components)."""
        if self.training is not None:
            return self.embedding.transform(self.training)
        coordinates = self.embedding.coordinates
        return coordinates if self.vertex is None else coordinates[self.vertex]


def width_attributes(kernel: BoundKernel) -> dict[str, float]:
    """Return the fitted attribute ``gamma_`` of a bound kernel, if it has a width."""
    gamma = getattr(getattr(kernel, "kernel", None), "gamma", None)
    return {} if gamma is None else {"gamma_": gamma}


def fit_weighted(self: Any, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Any:  # noqa: ARG001
    """Fit the embedding of ``X``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Training data, or similarities or distances of shape (n_samples, n_samples) if "precomputed" is
        selected. Data are copied. A precomputed matrix is not copied and must not be modified while the model
        is in use. All rows of a dask array or dataframe are used if the estimator has a dictionary; otherwise
        the model is fitted to a sample of the rows, and ``transform`` places the other rows (see
        ``sample_indices_``, ``sample_loss_`` and ``sample_stability_``).
    y : ignored
        Not used, present for API consistency.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples in the empirical measure: in means, degrees, the eigenproblem and the loss.
        With a given kernel, a weight of 2 is equivalent to repeating the sample. Widths and neighbours that
        are chosen from the data do not depend on the weights; equal rows are one vertex of a neighbourhood
        graph, and their weights are added. Samples of weight 0 have no influence and are placed by
        ``transform``. If None, all samples have the weight 1; in a graph, all distinct samples. Not available
        for dask collections.

    Returns
    -------
    self
    """
    return self._fit_samples(X, sample_weight)


def fit_labelled(self: Any, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Any:
    """Fit the embedding of ``X``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Training data, or similarities or distances of shape (n_samples, n_samples) if "precomputed" is
        selected. Data are copied. A precomputed matrix is not copied and must not be modified while the model
        is in use. All rows of a dask array or dataframe are used if the estimator has a dictionary; otherwise
        the model is fitted to a sample of the rows, and ``transform`` places the other rows (see
        ``sample_indices_``, ``sample_loss_`` and ``sample_stability_``).
    y : array-like of shape (n_samples,), optional
        Labels of classes, if ``target_weight`` is positive; ignored otherwise. -1, None, NaN and empty text
        mean that a sample is unlabelled. Equal samples with different labels are unlabelled.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples in the empirical measure: in means, degrees, the eigenproblem and the loss.
        With a given kernel, a weight of 2 is equivalent to repeating the sample. Widths and neighbours that
        are chosen from the data do not depend on the weights; equal rows are one vertex of a neighbourhood
        graph, and their weights are added. Samples of weight 0 have no influence and are placed by
        ``transform``. If None, all samples have the weight 1; in a graph, all distinct samples. Not available
        for dask collections.

    Returns
    -------
    self
    """
    return self._fit_samples(X, sample_weight, y)


class KernelEstimator(Estimator):
    """Base class of models with a kernel: ``eigenfunctions``, ``loss`` and ``loss_curve``."""

    #: Whether eigenvalues are ``1 - s`` with ``s`` the roughness of a function, as in graph methods.
    _eigenvalues_below_one = False

    @rowwise()
    def eigenfunctions(self, X: Any) -> np.ndarray:
        """Compute the unscaled eigenfunctions ``f_r(x)`` of the coordinates (Bengio eq. 20).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)
            Points, as for ``transform``.

        Returns
        -------
        ndarray of shape (n_new, n_components)
        """
        self._check_kernel("eigenfunctions")
        with running(self):
            X = check_input(self, X, reset=False)
            return check_coordinates(X, self._functions(X))

    @paired
    def loss(self, X: Any = None, between: Any = None) -> float:
        """Compute the mean squared error of the kernel's expansion in its eigenfunctions (Bengio sec. 4).

        The kernel ``k(x, y)`` is compared with ``sum_r lambda_r f_r(x) f_r(y)``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), optional
            Held-out points, at least 2. The mean is over all pairs of two different held-out points, an
            unbiased estimate of the generalisation error, and takes time proportional to ``n_new ** 2``. If
            None, the mean is over all pairs of training points: the sum of the squared discarded eigenvalues
            over ``n_samples ** 2``. With a dictionary, new points are compared by the kernel itself,
            normalised by the means or sums of the model, and training points by its approximation.
        between : array-like of shape (n_new, n_new), optional
            For precomputed input: similarities or distances among the held-out points.

        Returns
        -------
        float
            Lower is better. The training loss decreases to 0 with every further component. The held-out loss
            does not: it levels off, or increases for indefinite and noisy kernels, where further components
            are not determined by the training points. Losses of different kernels are not comparable.
        """
        self._check_kernel("loss")
        with running(self):
            return self._losses(*check_pairs(self, X, between), curve=False)

    @paired
    def loss_curve(self, X: Any = None, between: Any = None) -> np.ndarray:
        """Compute ``loss`` for the first ``1, ..., n_components`` coordinates, from one fit.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), optional
            Held-out points, as for ``loss``. If None, the training points.
        between : array-like of shape (n_new, n_new), optional
            For precomputed input: similarities or distances among the held-out points.

        Returns
        -------
        ndarray of shape (n_components,)
            Losses; the last is ``loss(X)``.
        """
        self._check_kernel("loss_curve")
        with running(self):
            return self._losses(*check_pairs(self, X, between), curve=True)

    def _functions(self, X: Any) -> np.ndarray:
        """Compute the eigenfunctions at validated points. A hook."""
        return self._model_.functions(X)

    def _losses(self, X: Any, between: Any, *, curve: bool) -> Any:
        """Compute the loss curve, or its last value, on validated or training points. A hook."""
        return (kernel_loss_curve if curve else kernel_loss)(self._model_, X, between)

    def _has_pair_moments(self) -> bool:
        """Return whether the loss follows from sums over rows. A hook."""
        self._check_kernel("loss")
        return False

    def _pair_squares(self, X: Any, Z: Any, *, same: bool, curve: bool) -> np.ndarray:
        """Return the sums of the squared errors over pairs of rows. A hook."""
        rows = check_input(self, X, reset=False)
        others = rows if same else check_input(self, Z, reset=False)
        return squared_errors_between(self._model_, rows, others, same=same, curve=curve)

    def _check_kernel(self, name: str) -> None:
        check_is_fitted(self, "n_iter_")
        if "eigenvalues_" not in vars(self):
            raise AttributeError(
                f"{name} is not available with ordinal=True: an ordinal map has no kernel; see stress_, or"
                " set ordinal=False"
            )
