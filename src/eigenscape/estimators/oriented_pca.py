"""Oriented PCA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from eigenscape._parameters import with_constructor
from eigenscape.estimators._base import KernelEstimator
from eigenscape.estimators._linear import LinearMixin, check_rank, check_rows
from eigenscape.estimators._method import Memory, Method
from eigenscape.estimators._rows import check_features, check_input, check_matrix
from eigenscape.estimators._running import by_blocks, fitting
from eigenscape.methods.oriented_pca import (
    Criterion,
    Orientation,
    OrientedLoss,
    oriented_embedding,
    oriented_loss,
    oriented_pca,
)
from eigenscape.methods.pca import ScatterMoments
from eigenscape.quality.pair_moments import PairMoments
from eigenscape.solvers.pairs import canonical_signs


@with_constructor
class OrientedPCA(LinearMixin, KernelEstimator):
    r"""Directions along which the signal varies much and the noise little.

    Finds the directions :math:`n_r` that maximise (Burges sec. 1.4)

    .. math:: q = \frac{n' C n}{n' R n}, \quad C = \frac1m \sum_i (x_i - \bar x)(x_i - \bar x)', \quad
              R = \frac1{mN} \sum_{i,k} z_i^k (z_i^k)',

    with :math:`z_i^k` the difference between the :math:`k`-th distorted version of :math:`x_i` and
    :math:`x_i` itself. They solve :math:`C n = q R n`, are conjugate in both matrices, and do not change if
    signal or noise are scaled. :math:`R` is not centred: a distortion that is the same for all samples is
    noise too. Oriented PCA is kernel PCA with :math:`k(x, y) = (x - \bar x)' R^{-1} (y - \bar x) / m`.

    With ``criterion="difference"`` the directions are instead the orthonormal eigenvectors of :math:`C - R`
    with the largest eigenvalues. They minimise the mean squared error of signals reconstructed from the
    projections of their distorted versions (Burges sec. 1.4, with the signal about its mean), and change if
    signal and noise are scaled differently. Eigenvalues may be negative, and there is no kernel.

    Parameters
    ----------
    n_components : int or None, default=2
        Number of coordinates; None for all directions along which the signal varies.
    criterion : {"quotient", "difference"}, default="quotient"
        Whether :math:`n'Cn / n'Rn` or :math:`n'(C - R) n` is maximised.
    regularization : float or "auto", default="auto"
        Regularisation of the noise: ``regularization`` times the mean of the diagonal of :math:`R` is added
        to the diagonal. "auto": 0 if the noise has variance in all directions of the signal. Otherwise
        :math:`q` would be infinite, and the estimate of Ledoit and Wolf, at least 1e-6, is used, with a
        :class:`~eigenscape.exceptions.SingularNoiseWarning`.

        Ignored if ``criterion="difference"``.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.

        The mean squared noise in each coordinate is one.
    eigenvalues_ : ndarray of shape (n_components,)
        Quotients :math:`q_r`, largest first: signal variance in units of the noise. Differences
        :math:`n_r' (C - R) n_r` if ``criterion="difference"``.
    components_ : ndarray of shape (n_components, n_features)
        Directions, with :math:`n_r' R n_r = 1` (:math:`R` regularised); orthonormal if
        ``criterion="difference"``.
    patterns_ : ndarray of shape (n_components, n_features)
        :math:`R n_r`, dual to the directions. ``inverse_transform`` adds multiples of these to the mean: the
        row with the given coordinates that is nearest to the mean in units of the noise.
    mean_ : ndarray of shape (n_features,)
        Mean of the training samples.
    regularization_ : float
        Multiple of the mean noise that was added.
    residuals_ : ndarray of shape (n_components,)
        :math:`|C n - q R n| / (|R| |n|)`, comparable with the eigenvalues.
    kernel_ : BoundKernel
        The kernel above; the eigenvalues of its Gram matrix are ``eigenvalues_``. Not set for dask
        collections.
    n_components_ : int
        Number of coordinates.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    The first variable has a large variance but even larger noise; the second has little noise.

    >>> import numpy as np
    >>> from eigenscape import OrientedPCA
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.standard_normal((200, 3)) * [10, 1, 0.1]
    >>> noisy = clean + rng.standard_normal((200, 3)) * [20, 0.1, 0.1]
    >>> model = OrientedPCA(n_components=1).fit(clean, distorted=[noisy])
    >>> int(np.abs(model.components_[0]).argmax())
    1
    >>> bool(90 < model.eigenvalues_[0] < 130)
    True
    """

    n_components: int | None = 2
    _: KW_ONLY
    criterion: Criterion = "quotient"
    regularization: float | Literal["auto"] = "auto"

    _method = Method(
        "oriented-pca",
        aliases=("opca",),
        linear=True,
        scale_free=True,
        collections=False,
        groups=True,
        memory=Memory(copies=5),
    )

    def _described(self) -> Method:
        return self._method if self.criterion == "quotient" else replace(self._method, scale_free=False)

    @property
    def _meaning(self) -> str:  # type: ignore[override]
        if self.criterion == "quotient":
            return "The coordinates are the projections with the largest signal-to-noise ratio."
        return (
            "The coordinates are the orthonormal projections with the largest difference between the variance"
            " of the signal and the mean square of the noise."
        )

    @by_blocks("oriented.fit")
    def fit(self, X: Any, y: ArrayLike | None = None, *, noise: Any = None, distorted: Any = None) -> Self:
        """Find the directions from a signal and exactly one of ``y``, ``noise`` and ``distorted``.

        Parameters
        ----------
        X : array-like or dask collection of shape (n_samples, n_features)
            The signal. For a dask collection, ``y`` and ``distorted`` must have the same row chunks.
        y : array-like of shape (n_samples,), optional
            Group of each sample, numbers or strings; the samples of a group are versions of the same signal.
            Noise is the difference of a sample to the mean of its group. The samples contain that noise
            themselves, so that :math:`q = 1` means no signal; the result is linear discriminant analysis.
        noise : array-like of shape (n_noise, n_features), optional
            Noise vectors.
        distorted : list of array-like of shape (n_samples, n_features), optional
            Distorted versions of ``X``, row by row.

        Returns
        -------
        self
        """
        with fitting(self):
            versions = self._versions(y, noise, distorted)
            rows = check_rows(self, X)
            signal = np.array(rows, dtype=np.float64)
            self._check_rank(*signal.shape)
            vectors = self._noise_vectors(signal, y, noise, versions)
            mean = signal.mean(axis=0)
            orientation = oriented_pca(
                signal, vectors, self.n_components, self.regularization, self.criterion
            )
            projected = (signal - mean) @ orientation.directions
            orientation = orientation.with_signs(
                np.sign((canonical_signs(projected) * projected).sum(axis=0))
            )
            if self.criterion == "quotient":
                self._model_ = oriented_embedding(signal, mean, orientation)
                self.kernel_ = self._model_.kernel
            self._set_attributes(mean, orientation)
            self.embedding_ = self._match_dtype(rows, (signal - mean) @ self.components_.T)
        return self

    def _set_moments(self, signal: ScatterMoments, orientation: Orientation) -> None:
        """Set the attributes for a signal that is known by its moments only."""
        if self.criterion == "quotient":
            self._model_ = oriented_loss(signal, orientation)
        self._set_attributes(signal.mean, orientation)

    def _check_rank(self, n_samples: int, n_features: int) -> None:
        if self.n_components is not None:
            check_rank(self.n_components, n_samples, n_features)

    def _set_attributes(self, mean: np.ndarray, orientation: Orientation) -> None:
        self.mean_ = mean
        self.components_, self.patterns_ = orientation.directions.T, orientation.patterns.T
        self.eigenvalues_, self.residuals_ = orientation.values, orientation.residuals
        self.regularization_ = orientation.regularization
        self.n_components_ = len(self.eigenvalues_)

    def _check_kernel(self, name: str) -> None:
        self._check_fitted()
        if "_model_" not in vars(self):
            raise AttributeError(
                f"{name} is not available with criterion='difference', which has no kernel; use 'quotient'"
            )

    def _functions(self, X: Any) -> np.ndarray:
        return (X - self.mean_) @ (self.components_.T / np.sqrt(self.eigenvalues_))

    def _losses(self, X: Any, between: None, *, curve: bool) -> Any:
        if not isinstance(self._model_, OrientedLoss):
            return super()._losses(X, between, curve=curve)
        losses = self._model_.training_curve() if X is None else self._model_.moments(X).mean_squares()[1:]
        return losses if curve else float(losses[-1])

    def _has_pair_moments(self) -> bool:
        self._check_kernel("loss")
        return isinstance(self._model_, OrientedLoss)

    def _pair_moments(self, X: Any) -> PairMoments:
        """Return the sums over rows from which the loss follows. A hook."""
        assert isinstance(self._model_, OrientedLoss)
        return self._model_.moments(check_input(self, X, reset=False))

    def _versions(self, y: object, noise: object, distorted: Any) -> list[Any] | None:
        """Return the distorted versions, None for another source of noise; exactly one must be given."""
        sources = {"y": y, "noise": noise, "distorted": distorted}
        given = [name for name, value in sources.items() if value is not None]
        if not given:
            raise ValueError(
                "OrientedPCA requires y to be passed, but the target y is None: pass y (the group of each"
                " sample), noise= or distorted="
            )
        if len(given) > 1:
            raise ValueError(
                f"OrientedPCA takes its noise from one source, got {' and '.join(given)}; pass only one of"
                " them"
            )
        if distorted is None:
            return None
        single = not isinstance(distorted, Sequence) and getattr(distorted, "ndim", None) == 2
        try:
            versions = [distorted] if single else list(distorted)
        except TypeError:
            raise ValueError(f"distorted={distorted!r} must be a list of arrays of the shape of X") from None
        if not versions:
            raise ValueError("distorted=[] is empty; pass at least one array of the shape of X")
        return versions

    def _noise_vectors(
        self, X: np.ndarray, y: ArrayLike | None, noise: Any, versions: list[Any] | None
    ) -> list[np.ndarray]:
        """Return the noise vectors, in one or several arrays."""
        if versions is not None:
            return [self._check_version(f"distorted[{k}]", each, X) - X for k, each in enumerate(versions)]
        if noise is not None:
            return [self._check_noise(noise, X.shape[1])]
        return [X - _group_means(X, y)]

    def _check_noise(self, noise: Any, n_features: int) -> np.ndarray:
        self._check_columns("noise", noise)
        vectors = check_matrix(noise, "noise", training=True)
        check_features(vectors, "noise", n_features)
        return vectors

    def _check_version(self, name: str, version: Any, X: np.ndarray) -> np.ndarray:
        self._check_columns(name, version)
        version = check_matrix(version, name)
        if version.shape != X.shape:
            raise ValueError(
                f"{name} has shape {version.shape}, but X has {X.shape}; row i must be a version of row i"
                " of X"
            )
        return version

    def _check_columns(self, name: str, value: object) -> None:
        """Raise an error if ``value`` is a data frame with other columns than ``X``."""
        columns, expected = getattr(value, "columns", None), vars(self).get("feature_names_in_")
        if columns is None or expected is None or not all(isinstance(column, str) for column in columns):
            return
        if list(columns) != list(expected):
            raise ValueError(
                f"{name} has the columns {list(columns)}, but X has {list(expected)}; pass the columns of X"
                " in the same order"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True  # scikit-learn's checks pass no other source of noise
        return tags


def _group_means(X: np.ndarray, y: ArrayLike | None) -> np.ndarray:
    """Return for each sample the mean of its group."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_consistent_length(X, labels)
    names, group, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if sizes.max() < 2:
        raise ValueError(
            f"y puts each of {len(labels)} rows into a group of its own, n_samples={len(labels)}: groups of"
            " one contain no noise; repeat a label for the versions of the same signal"
        )
    means = np.zeros((len(names), X.shape[1]))
    np.add.at(means, group, X)
    return (means / sizes[:, None])[group]
