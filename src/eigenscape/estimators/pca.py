"""Principal component analysis."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import check_parameters, with_constructor
from eigenscape._progress import stage
from eigenscape.estimators._base import KernelEstimator
from eigenscape.estimators._linear import LinearMixin, check_n_components
from eigenscape.estimators._method import DenseSolver, Memory, Method, Seed
from eigenscape.estimators._rows import check_input, check_weights
from eigenscape.estimators._running import averaged, by_blocks, fitting, running
from eigenscape.kernels.base import BoundKernel
from eigenscape.methods.pca import (
    PrincipalAxes,
    ScatterMoments,
    axes_if_determined,
    centered_linear_kernel,
    entropy,
    has_pair_moments,
    held_out_losses,
    pair_moments,
    pair_squares,
    pca,
    pca_of_scatter,
    reconstruction_error,
    scatter_moments,
    training_losses,
)
from eigenscape.operators import CenteredRows, weighted_mean
from eigenscape.operators.centered_rows import as_product_operand
from eigenscape.quality.pair_moments import PairMoments


@with_constructor
class PCA(LinearMixin, KernelEstimator):
    r"""Principal component analysis: directions of largest variance.

    Finds the orthonormal :math:`e_r` that maximise the variance :math:`e' C e` of the data along them (Burges
    sec. 1.1). PCA is kernel PCA with the linear kernel :math:`k_m(x, y) = \langle x - \mu, y - \mu\rangle`:
    the coordinates :math:`\langle e_r, x - \mu\rangle` are :math:`\sqrt{l_r}\, v_r` on the training samples
    and the Nystrom formula elsewhere, with :math:`l_r` the eigenvalues of the Gram matrix. The smaller of
    covariance and Gram matrix is solved; neither is formed if few components of a large matrix are required.
    Sparse data are centred implicitly.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=2
        Number of coordinates. A float between 0 and 1: the smallest number that keeps this ratio of the
        variance. "mle": the number with the largest evidence (Minka 2000). None: all directions of nonzero
        variance.
    whiten : bool, default=False
        Whether to scale the coordinates to unit variance.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads for products with sparse data; None or -1 for all cores.

    Other Parameters
    ----------------
    eigen_solver : {"auto", "dense", "lanczos"}, Solver or EigenSolver, default="auto"
        Eigensolver. "dense" forms the smaller of the two matrices, and computes a singular value
        decomposition of the data if directions of less than 1e-6 of the largest variance are required.
        "lanczos" is a block Krylov method that uses products with the data. "auto" selects it for few
        components of a matrix of size above 2000. A :class:`~eigenscape.options.Solver` also sets the
        tolerance and the number of iterations.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Principal directions :math:`e_r`.
    mean_ : ndarray of shape (n_features,)
        Mean of the training samples.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each direction (divided by n_samples - 1).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Ratio of each variance to the total.
    singular_values_ : ndarray of shape (n_components,)
        Singular values :math:`\sqrt{l_r}` of the centred data.
    noise_variance_ : float
        Mean variance of the ``n_features - n_components`` discarded directions (Burges eq. 1.9).
    entropy_ : float
        Entropy of the coordinates in bits if the data are Gaussian (Burges eq. 1.6).
    n_components_ : int
        Number of coordinates.
    n_samples_seen_ : float
        Number of training samples, or the sum of their weights.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.

        Not set by ``partial_fit``.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first.

        With weights, of the matrix :math:`\sqrt{w_i w_j}\, k_m(x_i, x_j)`.
    kernel_ : BoundKernel
        The linear kernel centred on the training samples. Not available after ``partial_fit``, which stores
        no samples.
    residuals_ : ndarray of shape (n_components,)
        Residual norm :math:`|K v - l v|` of each pair (an upper bound if the covariance was solved).
    solver_ : str
        Solver used: "dense", "svd" or "lanczos".
    n_iter_ : int
        Number of iterations of the eigensolver; 0 or 1 for direct solvers.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Notes
    -----
    The largest entry of each component is positive, as in scikit-learn, whether samples are given at once, in
    chunks or as a collection.

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

    n_components: int | float | Literal["mle"] | None = 2
    _: KW_ONLY
    whiten: bool = False
    eigen_solver: DenseSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("pca", linear=True, streams="partial_fit", memory=Memory(copies=1.5))
    _meaning = "It projects the rows on the directions of largest variance."
    _sparse = "csr"

    @by_blocks("pca.fit")
    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the principal components of ``X``.

        Parameters
        ----------
        X : array-like, sparse matrix or dask collection of shape (n_samples, n_features)
            Training data. A dask collection is reduced to its mean and scatter matrix, and ``embedding_`` is
            a lazy dask array.
        y : ignored
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights. A weight of 2 is equivalent to repeating the sample.

        Returns
        -------
        self
        """
        with fitting(self):
            X = check_input(self, X, reset=True)
            weights = check_weights(sample_weight, X)
            solver = self._solver()
            n_samples = X.shape[0] if weights is None else int(np.count_nonzero(weights))
            n_components = check_n_components(self.n_components, n_samples, X.shape[1])
            rows = _center(X, weights, self.n_jobs)
            axes, coordinates = pca(rows, n_components, solver)
            # Training samples, without the cached transpose, or their moments after partial_fit.
            self._rows_: CenteredRows | None = CenteredRows(rows.X, rows.mean, weights)
            self._moments_: ScatterMoments | None = None
            self._set_attributes(axes)
            self.embedding_ = self._match_dtype(X, coordinates / self._scale_ if self.whiten else coordinates)
        return self

    def _fit_moments(self, moments: ScatterMoments) -> None:
        """Fit to samples that are known by their moments only."""
        n_components = check_n_components(self.n_components, moments.n_rows, len(moments.mean))
        axes = pca_of_scatter(moments, n_components, self._solver())
        self._rows_, self._moments_ = None, moments
        self._set_attributes(axes)

    @by_blocks("pca.partial_fit")
    def partial_fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Update the components with further samples; the result does not depend on the chunks.

        The mean and the covariance matrix (n_features x n_features) are updated exactly, also after ``fit``.
        Components are set as soon as the samples determine ``n_components`` of them.

        Parameters
        ----------
        X : array-like, sparse matrix or dask collection of shape (n_samples, n_features)
            One or more samples.
        y : ignored
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights.

        Returns
        -------
        self
        """
        first = "n_samples_seen_" not in vars(self)
        check_parameters(self)
        with running(self):
            X = check_input(self, X, reset=first, chunk=True)
            weights = None if sample_weight is None else check_weights(sample_weight, X, min_sum=0)
            self._add_moments(scatter_moments(_center(X, weights, self.n_jobs)))
        return self

    def _add_moments(self, moments: ScatterMoments) -> None:
        """Update the components with the moments of further samples."""
        solver = self._solver()
        if "n_samples_seen_" in vars(self):
            moments = self._seen_moments().merge(moments)
        d = len(moments.mean)
        n_components = check_n_components(self.n_components, max(moments.n_rows, d + 1), d)
        axes = axes_if_determined(moments, n_components, solver)
        names = ("n_features_in_", "feature_names_in_")
        columns = {name: getattr(self, name) for name in names if name in vars(self)}
        self._reset()
        for name, value in columns.items():
            setattr(self, name, value)
        self._rows_, self._moments_, self.n_samples_seen_ = None, moments, moments.weight
        if axes is not None:
            self._set_attributes(axes)

    def _seen_moments(self) -> ScatterMoments:
        """Return the moments of the samples seen so far."""
        if self._moments_ is not None:
            return self._moments_
        assert self._rows_ is not None
        return scatter_moments(self._rows_)

    def _set_attributes(self, axes: PrincipalAxes) -> None:
        self._axes_ = axes
        self.components_, self.mean_ = axes.directions, axes.mean
        self.eigenvalues_, self.residuals_ = axes.eigenvalues, axes.residuals
        self.solver_, self.n_iter_ = axes.solver, axes.n_iter
        self.n_components_, self.n_samples_seen_ = len(axes.eigenvalues), axes.weight
        self.singular_values_ = np.sqrt(axes.eigenvalues)
        self.explained_variance_ = axes.eigenvalues / (axes.weight - 1)
        self.explained_variance_ratio_ = axes.eigenvalues / axes.trace
        n_discarded = len(axes.mean) - self.n_components_
        self.noise_variance_ = axes.discarded / (axes.weight - 1) / n_discarded if n_discarded else 0.0
        self.entropy_ = entropy(self.explained_variance_)
        varies = axes.eigenvalues > 0
        self._scale_ = np.sqrt(np.where(varies, self.explained_variance_, 1.0)) if self.whiten else 1.0

    def _transform(self, X: Any) -> np.ndarray:
        with stage("projection"):
            return self._axes_.project(as_product_operand(X)) / self._scale_

    def _inverse(self, Y: np.ndarray) -> np.ndarray:
        return (Y * self._scale_) @ self.components_ + self.mean_

    def _functions(self, X: Any) -> np.ndarray:
        values = self._axes_.eigenvalues
        inverse = np.divide(self._axes_.weight, values, out=np.zeros_like(values), where=values > 0)
        return self._axes_.project(as_product_operand(X)) * np.sqrt(inverse)

    def _losses(self, X: Any, between: None, *, curve: bool) -> Any:
        if X is not None:
            losses = held_out_losses(self._axes_, self._center_new(X))
        else:
            training = self._seen_moments().scatter if self._rows_ is None else self._rows_
            losses = training_losses(self._axes_, training)
        return losses if curve else float(losses[-1])

    def _has_pair_moments(self) -> bool:
        self._check_fitted()
        return has_pair_moments(self._axes_)

    def _pair_moments(self, X: Any) -> PairMoments:
        """Return the sums over rows from which the loss follows. A hook."""
        return pair_moments(self._axes_, self._center_new(check_input(self, X, reset=False)))

    def _pair_squares(self, X: Any, Z: Any, *, same: bool, curve: bool) -> np.ndarray:
        rows = self._center_new(check_input(self, X, reset=False))
        others = rows if same else self._center_new(check_input(self, Z, reset=False))
        squares = pair_squares(self._axes_, rows, others, same)
        return squares if curve else squares[-1:]

    @averaged
    def reconstruction_error(self, X: Any) -> float:
        """Compute the mean squared distance of the rows of ``X`` to the principal subspace (Burges eq. 1.4).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)
            Points.

        Returns
        -------
        float
        """
        self._check_fitted()
        return reconstruction_error(self._axes_, as_product_operand(check_input(self, X, reset=False)))

    @property
    def kernel_(self) -> BoundKernel:
        """The linear kernel centred on the training samples."""
        self._check_fitted()
        if self._rows_ is None:
            raise AttributeError(
                "kernel_ is not available: partial_fit and dask collections store no samples; call fit on"
                " an array of all samples"
            )
        return centered_linear_kernel(self._rows_)

    def _center_new(self, X: Any) -> CenteredRows:
        return CenteredRows(as_product_operand(X), self.mean_)

    def _check_kernel(self, name: str) -> None:
        self._check_fitted()

    def _check_fitted(self) -> None:
        if "n_samples_seen_" in vars(self) and "components_" not in vars(self):
            raise NotFittedError(
                f"this PCA was fitted to samples of total weight {self.n_samples_seen_:g}, which do not"
                f" determine n_components={self.n_components} components; call partial_fit on more samples"
            )
        check_is_fitted(self, "components_")


def _center(X: Any, weights: np.ndarray | None, n_jobs: int | None) -> CenteredRows:
    """Return the rows centred on their weighted mean."""
    X = as_product_operand(X)
    return CenteredRows(X, weighted_mean(X, weights), weights, n_jobs)
