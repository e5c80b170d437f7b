"""The KernelPCA estimator."""

from __future__ import annotations

from typing import Any

from eigenscape.estimators._base import (
    EmbeddingMixin,
    Estimator,
    FitResult,
    KernelMixin,
    spectral_result,
)
from eigenscape.estimators._dictionary import (
    DictionaryMixin,
    bind,
    check_dictionary,
    dictionary_attributes,
    dictionary_options,
    fit_by_dictionary,
)
from eigenscape.estimators._inverse import InverseMixin, check_inverse, kernel_inverse, pairwise_kernel
from eigenscape.estimators._validation import check_choice, check_count, check_gamma, check_number
from eigenscape.kernels import kernel_by_name
from eigenscape.methods.dictionary_embedding import greedy_embedding
from eigenscape.methods.kernel_pca import check_components, kernel_pca, require_components


class KernelPCA(DictionaryMixin, InverseMixin, EmbeddingMixin, KernelMixin, Estimator):
    r"""Principal components in the feature space of a kernel.

    Finds the functions :math:`f_r` with the largest :math:`\lambda_r` in

    .. math:: \frac1m \sum_i k_m(x, x_i) f_r(x_i) = \lambda_r f_r(x),

    where :math:`k_m` is the kernel centred on the training set; coordinates are :math:`\sqrt{l_r}\, v_r`
    (Bengio sec. 2.1). A narrow Gaussian kernel separates regions of the data; it does not unfold manifolds
    (Bengio sec. 5.1).

    Parameters
    ----------
    n_components : int or None, default=2
        Number of coordinates; None for all with a nonzero eigenvalue.
    kernel : {"rbf", "linear", "poly", "laplacian", "cosine", "sigmoid", "precomputed"}, function or Kernel,
    default="rbf"
        A function takes two samples (rows, or any objects if ``X`` is a list of objects) and returns a
        number. "precomputed": ``X`` is the matrix of similarities, and ``transform`` takes those of new to
        training points.
    gamma : float or None, default=None
        Width of "rbf", "laplacian", "poly" and "sigmoid". None takes it from the data: one over the median
        (squared) distance for "rbf" and "laplacian", one over the mean squared norm for "poly" and "sigmoid".
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly" and "sigmoid".
    order : {"value", "magnitude"}, default="value"
        Take the largest eigenvalues, or the largest in magnitude (for indefinite kernels, Bengio sec. 6).
    storage : {"auto", "blocked"}, default="auto"
        "auto" keeps the kernel matrix if it takes at most half of the free memory and otherwise makes it anew
        in blocks whenever it is applied; "blocked" does so in any case.
    dictionary_size, dictionary_tol : int, float or None, default=None
        Approximate the kernel by the span of a few points, chosen greedily (Ouimet): as many as
        ``dictionary_size``, or until no point is farther than ``dictionary_tol`` (squared, in feature space)
        from the span; with both, the tolerance up to that size. Time grows as ``n m^2`` and memory as ``m^2``
        for ``m`` points. The kernel must be positive semi-definite. The small problem that is left is solved
        directly: ``storage``, ``eigen_solver``, ``tol`` and ``max_iter`` are not used.
    inverse : {"auto", "fixed-point", "ridge"}, default="auto"
        How ``inverse_transform`` finds rows. "fixed-point", for "rbf": pre-images, the rows whose image in
        feature space is nearest to the point with the given coordinates (Mika et al.), which de-noise.
        "ridge", for any kernel: kernel ridge regression from coordinates to rows. "auto" takes the inverse of
        PCA for "linear", fixed points for "rbf", and ridge for all others. This and the next two parameters
        may be changed after ``fit``.
    inverse_alpha : float or None, default=None
        Regularisation of "ridge"; None chooses it by leave-one-out error.
    inverse_gamma : float or None, default=None
        Width of the Gaussian kernel between coordinates, for "ridge": not that of ``kernel``. None takes one
        over the median squared distance of coordinates.
    eigen_solver : {"auto", "dense", "lanczos"}, default="auto"
        See :mod:`eigenscape.solvers.solve` for the choice.
    tol : float, default=1e-10
        Residual allowed, relative to the eigenvalue.
    max_iter : int or None, default=None
        Block steps of the iterative solver.
    random_state : int, RandomState or None, default=0
        Start vectors of the iterative solver.
    n_jobs : int or None, default=None
        Cores for the kernel matrix; -1 for all.
    verbose : bool, default=False
        Show the stages of the work.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`l_r`, of the Gram matrix that ``kernel_`` yields, principal first.
    kernel_ : BoundKernel
        ``kernel_(X)`` gives the centred kernel between any points and the training points.
    residuals_ : ndarray of shape (n_components,)
        :math:`|K v - l v|` of each pair.
    solver_, n_iter_ : str, int
        The solver that found them, and the block steps it took.
    gamma_ : float
        The width in use, for kernels that have one.
    dictionary_, dictionary_indices_, gram_error_bound_
        With a dictionary, as for :class:`GreedySpectralEmbedding`, as is the method ``projection_error``.
    inverse_error_ : float
        How well ``inverse_transform`` makes the training rows again: root mean square distance over the rows'
        spread, on at most 1000 rows. Computed when asked for; with "ridge" each row is left out in turn. No
        inverse for precomputed kernels or objects.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import KernelPCA
    >>> X = load_iris().data
    >>> model = KernelPCA(n_components=2, kernel="rbf").fit(X[:100])
    >>> model.transform(X[100:]).shape
    (50, 2)

    De-noising: noisy points near a circle go to the map and back, and come nearer to the circle (Burges sec.
    1.3).

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(0, 2 * np.pi, 300)
    >>> noisy = np.column_stack([np.cos(t), np.sin(t)]) + 0.1 * rng.standard_normal((300, 2))
    >>> model = KernelPCA(n_components=6).fit(noisy)
    >>> again = model.inverse_transform(model.embedding_)
    >>> def off_circle(X):
    ...     return np.abs(np.linalg.norm(X, axis=1) - 1).mean()
    >>> bool(off_circle(again) < 0.5 * off_circle(noisy))
    True
    """

    _make_inverse = kernel_inverse
    _objects = True
    _pairwise_parameter = "kernel"
    _precomputed_means = "kernel"

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        order: str = "value",
        storage: str = "auto",
        dictionary_size: int | None = None,
        dictionary_tol: float | None = None,
        inverse: str = "auto",
        inverse_alpha: float | None = None,
        inverse_gamma: float | None = None,
        eigen_solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.order = order
        self.storage = storage
        self.dictionary_size = dictionary_size
        self.dictionary_tol = dictionary_tol
        self.inverse = inverse
        self.inverse_alpha = inverse_alpha
        self.inverse_gamma = inverse_gamma
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any, blocks: Any = None) -> FitResult:
        if self.n_components is not None:
            check_count("n_components", self.n_components)
        check_choice("order", self.order, ("value", "magnitude"))
        check_choice("storage", self.storage, ("auto", "blocked"))
        if blocks is None:
            check_components(self.n_components, X)
        check_gamma(self.kernel, self.gamma)
        check_number("degree", self.degree)
        check_number("coef0", self.coef0)
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0, "around_mean": True}
        similarity = bind(kernel_by_name(self.kernel, **params), X, blocks)
        check_inverse(self, pairwise_kernel(similarity))
        settled = getattr(getattr(similarity, "kernel", None), "gamma", None)
        width = {} if settled is None else {"gamma_": settled}
        solver = self._solver()
        if not check_dictionary(self.dictionary_size, self.dictionary_tol):
            model = kernel_pca(similarity, self.n_components, solver, order=self.order, storage=self.storage)
            return spectral_result(require_components(model, self.n_components, self.order), width)
        if self.order == "magnitude":
            raise ValueError(
                "order='magnitude' is for indefinite kernels, and a dictionary needs one that is not; use order='value'"
            )
        dictionary, rows = dictionary_options(self, "additive"), None if blocks is not None else X
        state = fit_by_dictionary(similarity, X, dictionary, blocks)
        model = greedy_embedding(state, dictionary, self.n_components, rows)
        return spectral_result(model, {**dictionary_attributes(state, dictionary, rows), **width})
