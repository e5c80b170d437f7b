"""The OrientedPCA estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import (
    _get_feature_names,
    assert_all_finite,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from eigenscape import distributed
from eigenscape.distributed import is_collection
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._collections import averaged, rowwise, validate_blocks
from eigenscape.estimators._linear import LinearMixin
from eigenscape.estimators._validation import check_count, check_regularization
from eigenscape.methods.oriented_pca import (
    Orientation,
    OrientedLoss,
    noise_moments,
    oriented_directions,
    oriented_embedding,
    oriented_loss,
    oriented_pca,
)
from eigenscape.quality.loss import kernel_loss
from eigenscape.solvers.pairs import canonical_signs


class OrientedPCA(LinearMixin, Estimator):
    r"""Directions along which the signal varies much and the noise little.

    Finds the directions :math:`n_r` that maximise (Burges sec. 1.4)

    .. math:: q = \frac{n' C n}{n' R n}, \quad C = \frac1m \sum_i (x_i - \bar x)(x_i - \bar x)', \quad
              R = \frac1{mN} \sum_{i,k} z_i^k (z_i^k)',

    with :math:`z_i^k` the difference between the :math:`k`-th distorted version of :math:`x_i` and
    :math:`x_i` itself. They solve :math:`C n = q R n`, are conjugate in both matrices, and do not change when
    signal or noise are scaled. :math:`R` is not centred: a distortion that is the same for all points is
    noise too. Seen as a kernel method this is kernel PCA with :math:`k(x, y) = (x - \bar x)' R^{-1} (y - \bar
    y) / m`.

    Parameters
    ----------
    n_components : int or None, default=2
        Number of directions; None for all along which the signal varies.
    regularization : float or "auto", default="auto"
        This many times the mean of the diagonal of :math:`R` is added to its diagonal. "auto" adds nothing,
        unless the noise leaves directions of the signal untouched, where :math:`q` would be infinite: then
        Ledoit and Wolf's estimate, at least 1e-6, is taken, and a
        :class:`~eigenscape.exceptions.SingularNoiseWarning` says so.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The projections of the training data. The mean squared noise in each coordinate is one.
    eigenvalues_ : ndarray of shape (n_components,)
        The quotients :math:`q_r`, largest first: signal variance in units of the noise.
    components_ : ndarray of shape (n_components, n_features)
        The directions, with :math:`n_r' R n_r = 1` (:math:`R` regularised).
    patterns_ : ndarray of shape (n_components, n_features)
        :math:`R n_r`, dual to the directions: what a unit of each coordinate looks like.
        ``inverse_transform`` returns the point with the given coordinates that is nearest to the mean in
        units of the noise.
    mean_ : ndarray of shape (n_features,)
    regularization_ : float
        The multiple of the mean noise that was added.
    residuals_ : ndarray of shape (n_components,)
        :math:`|C n - q R n| / (|R| |n|)`, comparable with the eigenvalues.
    kernel_ : BoundKernel
        The kernel above; the eigenvalues of its Gram matrix are ``eigenvalues_``.
    n_components_, n_features_in_ : int

    Examples
    --------
    The first variable is large but only noise; the second is small and reliable.

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

    def __init__(self, n_components: int | None = 2, *, regularization: float | str = "auto") -> None:
        self.n_components = n_components
        self.regularization = regularization

    def fit(self, X: Any, y: Any = None, *, noise: Any = None, distorted: Any = None) -> Self:
        """Learn the directions from a signal and one source of noise.

        Parameters
        ----------
        X : array-like or dask collection of shape (n_samples, n_features)
            The signal. What goes with a collection is one too, cut as it is; there is no ``kernel_`` then.
        y : array-like of shape (n_samples,), optional
            The group of each row, where the rows of a group are versions of one thing. Noise is then what a
            row differs from the mean of its group. As the rows hold that noise themselves, :math:`q = 1`
            means no signal; the directions are those of a linear discriminant analysis. Numbers or names; for
            a dask collection a dask array or column with its row chunks.
        noise : array-like of shape (n_noise, n_features), optional
            Noise vectors themselves.
        distorted : list of array-like of shape (n_samples, n_features), optional
            Distorted versions of ``X``, row by row.

        Returns
        -------
        self
        """
        self._reset()
        if self.n_components is not None:
            check_count("n_components", self.n_components)
        check_regularization(self.regularization)
        _check_one_source(y, noise, distorted)
        if is_collection(X):
            return self._fit_collection(X, y, noise, distorted)
        rows = self._rows(X, reset=True)
        signal = np.array(rows, dtype=np.float64)
        self._check_rank(*signal.shape)
        vectors = self._noise(signal, y, noise, distorted)
        self.mean_ = signal.mean(axis=0)
        orientation = oriented_pca(signal, vectors, self.n_components, self.regularization)
        projected = (signal - self.mean_) @ orientation.directions
        orientation = orientation.flipped(np.sign((canonical_signs(projected) * projected).sum(axis=0)))
        self._model_ = oriented_embedding(signal, self.mean_, orientation)
        self.kernel_ = self._model_.kernel
        self._publish(orientation)
        self.embedding_ = self._like(rows, (signal - self.mean_) @ self.components_.T)
        return self

    def _fit_collection(self, X: Any, y: Any, noise: Any, distorted: Any) -> Self:
        """The same by reduction: no rows are kept, so there is no ``kernel_`` bound to them."""
        blocks = validate_blocks(self, X, reset=True)
        signal = distributed.gather_signal(blocks)
        self._check_rank(signal.count, blocks.n_features)
        if distorted is not None:
            versions = [self._beside(f"distorted[{k}]", each) for k, each in enumerate(_versions(distorted))]
            vectors = distributed.noise_of_versions(blocks, versions)
        elif noise is not None and not is_collection(noise):
            given = self._noise(np.empty((0, blocks.n_features)), None, noise, None)
            vectors = noise_moments(given, blocks.n_features)
        elif noise is not None:
            vectors = distributed.noise_of_vectors(self._beside("noise", noise))
        else:
            vectors = distributed.noise_of_groups(blocks, _labels(y))
        orientation = oriented_directions(signal, vectors, self.n_components, self.regularization)
        orientation = orientation.flipped(distributed.orientation_signs(blocks, signal.mean, orientation))
        self.mean_, self._model_ = signal.mean, oriented_loss(signal, orientation)
        self._publish(orientation)
        self.embedding_ = self.transform(X)
        return self

    def _beside(self, name: str, value: Any) -> Any:
        """The blocks of what goes with a collection."""
        if not is_collection(value) or value.ndim != 2 or value.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X is a dask collection, so {name} must be one too, with the same {self.n_features_in_} columns, cut as X is"
            )
        return distributed.as_blocks(value, name=name, dense=True)

    def _publish(self, orientation: Orientation) -> None:
        self.components_, self.patterns_ = orientation.directions.T, orientation.patterns.T
        self.eigenvalues_, self.residuals_ = orientation.values, orientation.residuals
        self.regularization_ = orientation.regularization
        self.n_components_ = len(self.eigenvalues_)

    @rowwise()
    def eigenfunctions(self, X: Any) -> np.ndarray:
        """Unscaled eigenfunctions of ``kernel_`` (Bengio eq. 20): the coordinates divided by
        ``sqrt(q_r)``."""
        check_is_fitted(self, "components_")
        X = self._rows(X, reset=False)
        return self._like(X, (X - self.mean_) @ (self.components_.T / np.sqrt(self.eigenvalues_)))

    @averaged
    def loss(self, X: Any = None) -> float:
        """Mean squared error of ``kernel_`` against its expansion in the eigenfunctions found (Bengio sec.
        4).

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), optional
            Held-out points, paired with all training points. None: the training points themselves.
        """
        check_is_fitted(self, "components_")
        rows = None if X is None else self._rows(X, reset=False)
        if isinstance(self._model_, OrientedLoss):
            return self._model_(rows)
        return kernel_loss(self._model_, self.kernel_.X if rows is None else rows)

    def _check_rank(self, n_samples: int, n_features: int) -> None:
        if self.n_components is not None and self.n_components > min(n_samples - 1, n_features):
            raise ValueError(
                f"n_components={self.n_components} needs at least {self.n_components + 1} samples and {self.n_components} features,"
                f" got n_samples={n_samples} and n_features={n_features}; lower n_components"
            )

    def _noise(self, X: np.ndarray, y: Any, noise: Any, distorted: Any) -> list[np.ndarray]:
        """The noise vectors, in one array or several."""
        if distorted is not None:
            versions = _versions(distorted)
            if not versions:
                raise ValueError(
                    "distorted=[] holds no version of X; pass at least one array of the shape of X"
                )
            return [self._version(f"distorted[{k}]", version, X) - X for k, version in enumerate(versions)]
        if noise is not None:
            self._check_names("noise", noise)
            vectors = check_array(noise, dtype=np.float64, input_name="noise")
            if vectors.shape[1] != X.shape[1]:
                raise ValueError(
                    f"noise has {vectors.shape[1]} features, but X has {X.shape[1]}; noise vectors live in the space of X"
                )
            return [vectors]
        return [X - _group_means(X, y)]

    def _version(self, name: str, version: Any, X: np.ndarray) -> np.ndarray:
        self._check_names(name, version)
        version = check_array(version, dtype=np.float64, input_name=name)
        if version.shape != X.shape:
            raise ValueError(
                f"{name} has shape {version.shape}, but X has {X.shape}; row i must be a version of row i of X"
            )
        return version

    def _check_names(self, name: str, value: Any) -> None:
        """Columns with names must be those of ``X``, in its order; without names nothing can be compared."""
        names, expected = _get_feature_names(value), vars(self).get("feature_names_in_")
        if names is not None and expected is not None and not np.array_equal(names, expected):
            raise ValueError(
                f"{name} has the columns {list(names)}, but X has {list(expected)}; give it those of X, in the same order"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True  # the checks know no other source of noise
        return tags


def _check_one_source(y: Any, noise: Any, distorted: Any) -> None:
    given = [
        name for name, value in (("y", y), ("noise", noise), ("distorted", distorted)) if value is not None
    ]
    if not given:
        raise ValueError(
            "OrientedPCA requires y to be passed, but the target y is None: pass y (the group of each row), noise= or distorted="
        )
    if len(given) > 1:
        raise ValueError(
            f"OrientedPCA takes its noise from one source, got {' and '.join(given)}; pass only one of them"
        )


def _labels(y: Any) -> Any:
    if not is_collection(y) or y.ndim != 1:
        raise TypeError(
            f"X is a dask collection, and y is a {type(y).__name__}; pass a dask array of group numbers or names with the row chunks of X"
        )
    return distributed.label_blocks(y)


def _versions(distorted: Any) -> list[Any]:
    if not isinstance(distorted, Sequence) and getattr(distorted, "ndim", None) == 2:
        return [distorted]
    try:
        return list(distorted)
    except TypeError:
        raise ValueError(f"distorted={distorted!r} must be a list of arrays of the shape of X") from None


def _group_means(X: np.ndarray, y: Any) -> np.ndarray:
    """For each row the mean of its group."""
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    check_consistent_length(X, y)
    names, group, sizes = np.unique(y, return_inverse=True, return_counts=True)
    if sizes.max() < 2:
        raise ValueError(
            f"y puts each of {len(y)} rows into a group of its own, n_samples={len(y)}: there is no noise in groups of one;"
            " repeat a label for the versions of one thing"
        )
    means = np.zeros((len(names), X.shape[1]))
    np.add.at(means, group, X)
    return (means / sizes[:, None])[group]
