"""The PCA estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array, check_is_fitted

from eigenscape import distributed
from eigenscape._progress import reporting, stage
from eigenscape.distributed import is_collection
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._collections import (
    averaged,
    check_weight,
    rowwise,
    validate_blocks,
    weight_blocks,
)
from eigenscape.estimators._projective import components_wish
from eigenscape.estimators._validation import check_flag, check_input, check_weights
from eigenscape.kernels.base import BoundKernel
from eigenscape.methods.pca import (
    PrincipalAxes,
    axes_if_determined,
    centered_linear_kernel,
    entropy,
    linear_loss,
    pca,
    reconstruction_error,
    scatter_loss,
)
from eigenscape.methods.scatter import scatter_moments
from eigenscape.operators import CenteredRows, weighted_mean
from eigenscape.operators.centered_rows import as_product_operand


class PCA(Estimator):
    r"""Principal components: the directions of largest variance, the linear-kernel member of the framework.

    Finds the orthonormal :math:`e_r` that maximise the variance :math:`e' C e` of the data along them (Burges
    sec. 1.1). With :math:`k_m(x, y) = \langle x - \mu, y - \mu\rangle` the coordinates :math:`\langle e_r, x
    - \mu\rangle` are :math:`\sqrt{l_r}\, v_r` on the training set and Nystrom's formula elsewhere, and
    :math:`l_r` are the eigenvalues of the Gram matrix. The smaller of covariance and Gram matrix is solved;
    neither is formed when few components of a large matrix are wanted. Sparse rows are centred implicitly.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=2
        Number of coordinates; a float between 0 and 1 for the fewest that keep that share of the variance;
        "mle" for the number with the largest evidence (Minka 2000); None for all with a nonzero variance.
    whiten : bool, default=False
        Scale the coordinates to unit variance.
    eigen_solver : {"auto", "dense", "lanczos"}, default="auto"
        "dense" forms the smaller of the two matrices, and goes back to the rows themselves (a singular value
        decomposition) where directions of less than 1e-6 of the largest variance are wanted. "lanczos" is
        block Krylov on products with the rows. "auto" takes it for few components of a matrix whose smaller
        side is above 2000.
    tol : float, default=1e-10
        Residual allowed, relative to the eigenvalue.
    max_iter : int or None, default=None
        Block steps of the iterative solver.
    random_state : int, RandomState or None, default=0
        Start vectors of the iterative solver.
    n_jobs : int or None, default=None
        Cores for products with sparse rows; -1 for all.
    verbose : bool, default=False
        Show the stages of the work.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions :math:`e_r`.
    mean_ : ndarray of shape (n_features,)
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance along each direction (divided by n_samples - 1), and its share of the total.
    singular_values_ : ndarray of shape (n_components,)
        :math:`\sqrt{l_r}`.
    noise_variance_ : float
        Mean variance of the ``n_features - n_components`` directions left out (Burges eq. 1.9).
    entropy_ : float
        Entropy kept, in bits, were the data Gaussian (Burges eq. 1.6).
    n_components_, n_samples_seen_ : int, float
        Number of coordinates; number of rows, or sum of their weights.
    embedding_ : ndarray of shape (n_samples, n_components)
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`l_r`, of the Gram matrix that ``kernel_`` yields, principal first. With weights, of the matrix
        :math:`\sqrt{w_i w_j}\, k_m(x_i, x_j)`.
    kernel_ : BoundKernel
        The linear kernel centred on the training rows. ``partial_fit`` keeps no rows: no ``kernel_`` and no
        ``embedding_``.
    residuals_ : ndarray of shape (n_components,)
        :math:`|K v - l v|` of each pair (a bound, where the covariance was solved).
    solver_, n_iter_ : str, int
        The solver that found them ("dense", "svd" or "lanczos"), and the block steps it took.

    Notes
    -----
    Signs make the largest coordinate of the training rows positive, as everywhere in this library; after
    ``partial_fit``, which keeps no rows, the largest entry of each component.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA
    >>> X = load_iris().data
    >>> model = PCA(n_components=2).fit(X)
    >>> model.explained_variance_ratio_.round(3)
    array([0.925, 0.053])
    >>> model.transform(X[:3]).shape
    (3, 2)
    >>> round(model.reconstruction_error(X), 3)
    0.101
    """

    def __init__(
        self,
        n_components: int | float | str | None = 2,
        *,
        whiten: bool = False,
        eigen_solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the principal components of ``X``.

        Parameters
        ----------
        X : array-like, sparse matrix or dask collection of shape (n_samples, n_features)
            A collection is learnt from by reduction, and ``embedding_`` is a lazy dask array.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How often each row stands: a weight of two is the row twice.

        Returns
        -------
        self
        """
        self._reset()
        if is_collection(X):
            return self._fit_collection(X, sample_weight)
        self._moments_ = None
        with reporting(self.verbose):
            X = check_input(self, X, reset=True)
            weights = check_weights(sample_weight, X)
            check_flag("whiten", self.whiten)
            solver = self._solver()
            rows = _rows(X, weights, self.n_jobs)
            n_rows = X.shape[0] if weights is None else int(np.count_nonzero(weights))
            wish = components_wish(self.n_components, n_rows, X.shape[1])
            axes, coordinates = pca(rows, wish, solver)
        self._rows_ = CenteredRows(rows.X, rows.mean, weights)  # without the transpose that products keep
        self._publish(axes)
        self.embedding_ = self._like(X, coordinates / self._scale_ if self.whiten else coordinates)
        return self

    def _fit_collection(self, X: Any, sample_weight: Any) -> Self:
        """The same by reduction: no rows are kept, as by ``partial_fit``, and the embedding is made where it
        is used."""
        with reporting(self.verbose):
            check_flag("whiten", self.whiten)
            solver = self._solver()
            blocks, weights = validate_blocks(self, X, reset=True), weight_blocks(sample_weight)
            total = distributed.gather_moments(blocks, weights)
            check_weight(total.weight, sample_weight)
            axes = distributed.pca_of_blocks(
                total,
                blocks,
                weights,
                components_wish(self.n_components, total.n_rows, len(total.mean)),
                solver,
            )
        self._moments_, self._rows_ = total, None
        self._publish(axes)
        self.embedding_ = self.transform(X)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows; the result does not depend on how they are cut into chunks.

        The mean and the covariance matrix (n_features x n_features) are updated exactly. Rows seen by ``fit``
        count. Components appear as soon as the rows determine as many as were asked for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Any number of rows, one or more.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        first = "n_samples_seen_" not in vars(self)
        with reporting(self.verbose):
            check_flag("whiten", self.whiten)
            solver = self._solver()
            if is_collection(X):
                chunk = distributed.gather_moments(
                    validate_blocks(self, X, reset=first), weight_blocks(sample_weight)
                )
            else:
                X = check_input(self, X, reset=first, chunk=True)
                weights = None if sample_weight is None else check_weights(sample_weight, X, least=0)
                chunk = scatter_moments(_rows(X, weights, self.n_jobs))
            seen = (
                None
                if first
                else (scatter_moments(self._rows_) if self._moments_ is None else self._moments_)
            )
            total = chunk if seen is None else seen.joined(chunk)
            wish = components_wish(self.n_components, max(total.n_rows, len(total.mean) + 1), len(total.mean))
            axes = axes_if_determined(total, wish, solver)
            columns = {
                name: vars(self)[name]
                for name in ("n_features_in_", "feature_names_in_")
                if name in vars(self)
            }
            self._reset()
            vars(self).update(columns)
            self._moments_, self._rows_, self.n_samples_seen_ = total, None, total.weight
            if axes is not None:
                self._publish(axes)
        return self

    def _transform(self, X: Any) -> np.ndarray:
        with stage("projection"):
            return self._axes_.project(as_product_operand(X)) / self._scale_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Find the principal components of ``X`` and return its coordinates."""
        return self.fit(X, y, sample_weight).embedding_

    @rowwise("n_features_in_", of="_n_features_out")
    def inverse_transform(self, X: Any) -> np.ndarray:
        """The points of the principal subspace that have the coordinates ``X`` (n, n_components)."""
        self._check_fitted()
        Z = check_array(X, dtype=[np.float64, np.float32])
        if Z.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {Z.shape[1]} coordinates, but the model has n_components_={self.n_components_}"
            )
        return self._like(Z, (Z * self._scale_) @ self.components_ + self.mean_)

    @rowwise()
    def eigenfunctions(self, X: Any) -> np.ndarray:
        """Unscaled eigenfunctions ``f_r(x)`` behind the coordinates (Bengio eq. 20), shape (n_new,
        n_components)."""
        self._check_fitted()
        X = check_input(self, X, reset=False)
        return self._like(
            X,
            self._axes_.project(as_product_operand(X))
            * np.sqrt(self._axes_.weight / self._axes_.eigenvalues),
        )

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
            On the training set the squares of the discarded eigenvalues, summed, over ``n_samples ** 2``.
        """
        self._check_fitted()
        with reporting(self.verbose):
            if X is None and self._rows_ is None:
                return scatter_loss(self._axes_, self._moments_.scatter)
            training = self._moments_.scatter if self._rows_ is None else self._rows_
            points = (
                self._rows_
                if X is None
                else CenteredRows(as_product_operand(check_input(self, X, reset=False)), self.mean_)
            )
            return linear_loss(self._axes_, training, points)

    @averaged
    def reconstruction_error(self, X: Any) -> float:
        """Mean squared distance of the rows of ``X`` to the principal subspace (Burges eq. 1.4)."""
        self._check_fitted()
        return reconstruction_error(self._axes_, as_product_operand(check_input(self, X, reset=False)))

    @property
    def kernel_(self) -> BoundKernel:
        """The linear kernel centred on the training rows, made when asked for."""
        self._check_fitted()
        if self._rows_ is None:
            raise AttributeError(
                "partial_fit keeps no rows, so there is no kernel_ bound to them; call fit on all rows"
            )
        return centered_linear_kernel(self._rows_)

    def _publish(self, axes: PrincipalAxes) -> None:
        """The fitted attributes."""
        self._axes_ = axes
        self.components_, self.mean_ = axes.directions, axes.mean
        self.eigenvalues_, self.residuals_ = axes.eigenvalues, axes.residuals
        self.solver_, self.n_iter_ = axes.solver, axes.n_iter
        self.n_components_, self.n_samples_seen_ = len(axes.eigenvalues), axes.weight
        self.singular_values_ = np.sqrt(axes.eigenvalues)
        self.explained_variance_ = axes.eigenvalues / (axes.weight - 1)
        self.explained_variance_ratio_ = axes.eigenvalues / axes.trace
        left_out = len(axes.mean) - self.n_components_
        self.noise_variance_ = axes.discarded / (axes.weight - 1) / left_out if left_out else 0.0
        self.entropy_ = entropy(self.explained_variance_)
        self._scale_ = np.sqrt(self.explained_variance_) if self.whiten else 1.0

    def _check_fitted(self) -> None:
        if "n_samples_seen_" in vars(self) and "components_" not in vars(self):
            raise NotFittedError(
                f"this PCA has seen rows of weight {self.n_samples_seen_:g}, of too low a rank or too few for"
                f" n_components={self.n_components}; call partial_fit on more rows"
            )
        check_is_fitted(self, "components_")


def _rows(X: Any, weights: np.ndarray | None, n_jobs: int | None) -> CenteredRows:
    X = as_product_operand(X)
    return CenteredRows(X, weighted_mean(X, weights), weights, n_jobs)
