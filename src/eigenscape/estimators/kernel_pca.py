"""The KernelPCA estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from eigenscape.estimators._base import EmbeddingMixin, Estimator, FitResult, KernelMixin, spectral_result
from eigenscape.estimators._dictionary import (
    DictionaryMixin,
    bind,
    check_dictionary,
    dictionary_attributes,
    dictionary_options,
    fit_by_dictionary,
)
from eigenscape.estimators._docs import documented
from eigenscape.estimators._inverse import InverseMixin, check_inverse, kernel_inverse, pairwise_kernel
from eigenscape.estimators._method import Memory, Method
from eigenscape.estimators._types import DenseSolver, Seed
from eigenscape.estimators._validation import check_gamma
from eigenscape.estimators._weights import DICTIONARY_WEIGHTS, SampleWeightMixin, refuse_weights
from eigenscape.kernels import kernel_by_name
from eigenscape.kernels.base import Kernel
from eigenscape.methods.dictionary_embedding import greedy_embedding
from eigenscape.methods.kernel_pca import check_components, kernel_pca, require_components
from eigenscape.operators.gram import Storage
from eigenscape.solvers import Order

if TYPE_CHECKING:
    import numpy as np

    from eigenscape.distributed import Blocks


@documented
class KernelPCA(SampleWeightMixin, DictionaryMixin, InverseMixin, EmbeddingMixin, KernelMixin, Estimator):
    r"""Principal components in the feature space of a kernel.

    Finds the functions :math:`f_r` with the largest :math:`\lambda_r` in

    .. math:: \frac1m \sum_i k_m(x, x_i) f_r(x_i) = \lambda_r f_r(x),

    where :math:`k_m` is the kernel centred on the training set; coordinates are :math:`\sqrt{l_r}\, v_r`
    (Bengio sec. 2.1). A narrow Gaussian kernel separates regions of the data; it does not unfold manifolds
    (Bengio sec. 5.1).

    Parameters
    ----------
    {n_components/optional} {kernel} {gamma/kernel} {degree} {coef0} {order} {storage} {dictionary_size}
        ``storage`` is ignored, too.
    {dictionary_tol} {dictionary} {inverse} {inverse_alpha} {inverse_gamma} {eigen_solver} {tol} {max_iter}
    {random_state} {n_jobs} {verbose}

    Attributes
    ----------
    {embedding_} {eigenvalues_} {kernel_} {residuals_} {solver_} {n_iter_} {gamma_} {dictionary_}
    {dictionary_indices_} {gram_error_bound_} {inverse_error_}
        With ``inverse="ridge"`` each row is left out of its own reconstruction. Not available for precomputed
        kernels and lists of objects.
    {n_features_in_}

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

    _method = Method(
        "kernel-pca",
        "It projects the points on the directions of largest variance in the kernel space.",
        aliases=("kpca",),
        memory=Memory(square=1, blocked=True),
    )
    _make_inverse = kernel_inverse
    _objects = True
    _pairwise_parameter = "kernel"
    _precomputed_means = "kernel"

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        kernel: str | Callable[[Any, Any], float] | Kernel = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        order: Order = "value",
        storage: Storage = "auto",
        dictionary_size: int | None = None,
        dictionary_tol: float | None = None,
        dictionary: Any = None,
        inverse: Literal["auto", "fixed-point", "ridge"] = "auto",
        inverse_alpha: float | None = None,
        inverse_gamma: float | None = None,
        eigen_solver: DenseSolver = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Seed = 0,
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
        self.dictionary = dictionary
        self.inverse = inverse
        self.inverse_alpha = inverse_alpha
        self.inverse_gamma = inverse_gamma
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any, blocks: Blocks | None = None, weights: np.ndarray | None = None) -> FitResult:
        self._check_parameters(X, blocks)
        parameters: dict[str, Any] = {
            "gamma": self.gamma,
            "degree": self.degree,
            "coef0": self.coef0,
            "around_mean": True,
        }
        similarity = bind(kernel_by_name(self.kernel, **parameters), X, blocks)
        check_inverse(self, pairwise_kernel(similarity))
        gamma = getattr(getattr(similarity, "kernel", None), "gamma", None)
        attributes = {} if gamma is None else {"gamma_": gamma}
        solver = self._solver()
        if not check_dictionary(self.dictionary_size, self.dictionary_tol, self.dictionary):
            model = kernel_pca(
                similarity,
                self.n_components,
                solver,
                order=self.order,
                storage=self.storage,
                weights=weights,
            )
            return spectral_result(require_components(model, self.n_components, self.order), attributes)
        refuse_weights(weights, "a dictionary", DICTIONARY_WEIGHTS)
        if self.order == "magnitude":
            raise ValueError(
                "order='magnitude' is for indefinite kernels, but a dictionary needs a positive semi-definite"
                " kernel; use order='value'"
            )
        options, rows = dictionary_options(self, "additive"), X if blocks is None else None
        state = fit_by_dictionary(similarity, X, options, blocks, self.dictionary)
        model = greedy_embedding(state, options, self.n_components, rows)
        return spectral_result(model, {**dictionary_attributes(state, options, rows), **attributes})

    def _check_parameters(self, X: Any, blocks: Blocks | None) -> None:
        if blocks is None:
            check_components(self.n_components, X)
        check_gamma(self.kernel, self.gamma)
