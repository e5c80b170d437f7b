"""The KernelPCA estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal

from eigenscape._parameters import check_gamma, with_constructor
from eigenscape.estimators._base import FitResult, KernelEstimator, fit_weighted, width_attributes
from eigenscape.estimators._dictionary import (
    TrainingRows,
    dictionary_attributes,
    dictionary_options,
    fit_by_dictionary,
    projection_error,
)
from eigenscape.estimators._inverse import InverseMixin, check_inverse, kernel_inverse
from eigenscape.estimators._method import DenseSolver, Memory, Method, Seed
from eigenscape.estimators._weights import DICTIONARY_WEIGHTS, refuse_weights
from eigenscape.estimators._work import CENTERED_PRODUCTS, check_kernel_work
from eigenscape.kernels import kernel_by_name
from eigenscape.kernels.base import Kernel
from eigenscape.methods.dictionary_embedding import greedy_embedding
from eigenscape.methods.kernel_pca import check_components, kernel_pca, with_components
from eigenscape.options import Dictionary, Inverse
from eigenscape.solvers import Order


@with_constructor
class KernelPCA(InverseMixin, KernelEstimator):
    r"""Principal components in the feature space of a kernel.

    Finds the functions :math:`f_r` with the largest :math:`\lambda_r` in

    .. math:: \frac1m \sum_i k_m(x, x_i) f_r(x_i) = \lambda_r f_r(x),

    where :math:`k_m` is the kernel centred on the training set; coordinates are :math:`\sqrt{l_r}\, v_r`
    (Bengio sec. 2.1). A narrow Gaussian kernel separates regions of the data; it does not unfold manifolds
    (Bengio sec. 5.1).

    Parameters
    ----------
    n_components : int or None, default=2
        Number of coordinates. If None, all with a nonzero eigenvalue.
    kernel : str, callable or Kernel, default="rbf"
        "rbf", "linear", "poly", "laplacian", "cosine", "sigmoid", "precomputed", a Kernel, or a function of
        two samples (rows, or arbitrary objects if ``X`` is a list of objects) that returns a number.
        "precomputed": ``X`` is the matrix of similarities, and ``transform`` takes the similarities of new
        points to the training samples.
    gamma : float or None, default=None
        Width of "rbf", "laplacian", "poly" and "sigmoid". If None, it is estimated from the data: one over
        the median (squared) distance for "rbf" and "laplacian", one over the mean squared norm for "poly" and
        "sigmoid".
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    approximation : Dictionary or None, default=None
        A :class:`~eigenscape.options.Dictionary` represents all samples by few of them: the kernel is
        approximated in the span of the dictionary, in time and memory linear in ``n_samples``.
        ``eigen_solver`` is then ignored.
    degree : float, default=3
        Degree of "poly". Ignored by other kernels.
    coef0 : float, default=1
        Constant term of "poly" and "sigmoid". Ignored by other kernels.
    order : {"value", "magnitude"}, default="value"
        Select the eigenvalues with the largest values or with the largest magnitudes. Indefinite kernels and
        non-Euclidean distances have negative eigenvalues, which may be meaningful (Bengio sec. 6).
    inverse : {"auto", "fixed-point", "ridge"} or Inverse, default="auto"
        Method of ``inverse_transform``. "fixed-point" iterates to the row whose kernel features are nearest,
        for "rbf". "ridge" is a kernel ridge regression from coordinates to rows, for any kernel; an
        :class:`~eigenscape.options.Inverse` sets its penalty and width. "auto" chooses "fixed-point" for
        "rbf", the exact inverse for "linear", otherwise "ridge". It may be changed after ``fit``.
    eigen_solver : {"auto", "dense", "lanczos"}, Solver or EigenSolver, default="auto"
        Eigensolver. "auto" chooses by the size and storage of the matrix; see
        :mod:`eigenscape.solvers.solve`. An object with the methods of
        :class:`~eigenscape.solvers.EigenSolver` is a user-defined solver; its results are verified, as for
        the built-in solvers. A :class:`~eigenscape.options.Solver` also sets the tolerance and the number of
        iterations.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first.
    kernel_ : BoundKernel
        Data-dependent kernel: ``kernel_(Y)`` are its values between any points and the training samples.
    residuals_ : ndarray
        Residual norms ``|K v - l v|`` of the eigenpairs, in the shape of ``eigenvalues_``.
    solver_ : str
        Name of the eigensolver used.
    n_iter_ : int
        Number of iterations of the eigensolver; 0 or 1 for direct solvers.
    gamma_ : float
        Width of the kernel. Set for kernels that have one.
    dictionary_ : array of shape (m, n_features)
        Samples of the dictionary. Set if a dictionary is used.
    dictionary_indices_ : ndarray of shape (m,)
        Indices of the dictionary in the training samples, or -1. Set if a dictionary is used.
    gram_error_bound_ : float
        Upper bound of the error of the approximate Gram matrix. Set if a dictionary is used.
    inverse_error_ : float
        Error of ``inverse_transform``: root mean square distance between at most 1000 training rows and their
        reconstructions, relative to the spread of the rows. Computed on first access.

        With ``inverse="ridge"`` each row is left out of its own reconstruction. Not available for precomputed
        kernels and lists of objects.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import KernelPCA
    >>> X = load_iris().data
    >>> model = KernelPCA(n_components=2, kernel="rbf").fit(X[:100])
    >>> model.transform(X[100:]).shape
    (50, 2)

    Denoising: noisy points near a circle are embedded and reconstructed, and are then closer to the circle
    (Burges sec. 1.3).

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(0, 2 * np.pi, 300)
    >>> noisy = np.column_stack([np.cos(t), np.sin(t)]) + 0.1 * rng.standard_normal((300, 2))
    >>> model = KernelPCA(n_components=6).fit(noisy)
    >>> denoised = model.inverse_transform(model.embedding_)
    >>> def distance_to_circle(X):
    ...     return np.abs(np.linalg.norm(X, axis=1) - 1).mean()
    >>> bool(distance_to_circle(denoised) < 0.5 * distance_to_circle(noisy))
    True
    """

    n_components: int | None = 2
    _: KW_ONLY
    kernel: str | Callable[[Any, Any], float] | Kernel = "rbf"
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    order: Order = "value"
    approximation: Dictionary | None = None
    inverse: Literal["auto", "fixed-point", "ridge"] | Inverse = "auto"
    eigen_solver: DenseSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("kernel-pca", aliases=("kpca",), memory=Memory(square=1, blocked=True))
    _meaning = "It projects the points on the directions of largest variance in the kernel space."
    _make_inverse = kernel_inverse
    _objects = True
    _pairwise_parameter = "kernel"
    _precomputed_means = "kernel"
    _blocked = True
    fit = fit_weighted
    projection_error = projection_error

    def _embed(self, X: Any, weights: Any = None) -> FitResult:
        check_components(self.n_components, X)
        if isinstance(self.approximation, Dictionary):
            refuse_weights(weights, "a dictionary", DICTIONARY_WEIGHTS)
            return self._embed_dictionary(TrainingRows(X))
        kernel = self._kernel()
        remedy = "set approximation=Dictionary(size), or fit a sample and transform the rest"
        check_kernel_work(self, kernel, X, CENTERED_PRODUCTS, remedy)
        similarity = kernel.bind(X)
        check_inverse(self, getattr(similarity, "kernel", None))
        n, solver, order = self.n_components, self._solver(), self.order
        model = kernel_pca(similarity, n, solver, order=order, weights=weights)
        return FitResult(with_components(model, n, order), width_attributes(similarity))

    def _embed_dictionary(self, rows: Any) -> FitResult:
        """Fit with a dictionary to training rows, in memory or elsewhere."""
        similarity = rows.bind(self._kernel())
        check_inverse(self, getattr(similarity, "kernel", None))
        self._solver()  # checks the parameters
        if self.order == "magnitude":
            raise ValueError(
                "order='magnitude' is for indefinite kernels, but a dictionary needs a positive semi-definite"
                " kernel; use order='value'"
            )
        options = dictionary_options(self, "additive")
        state = fit_by_dictionary(self, similarity, rows, options)
        model = greedy_embedding(state, options, self.n_components, rows.stored)
        attributes = dictionary_attributes(state, options, rows.stored)
        return FitResult(model, {**attributes, **width_attributes(similarity)})

    def _kernel(self) -> Kernel:
        check_gamma(self.kernel, self.gamma)
        return kernel_by_name(
            self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0, around_mean=True
        )
