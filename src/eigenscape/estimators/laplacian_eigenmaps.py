"""The LaplacianEigenmaps estimator."""

from __future__ import annotations

from typing import Any

from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._affinity import embed_by_affinity, independence_found, independence_wish
from eigenscape.estimators._base import Fitted, SpectralEstimator
from eigenscape.estimators._dictionary import DictionaryMixin
from eigenscape.estimators._graph import ON_DISCONNECTED
from eigenscape.estimators._inverse import InverseMixin, local_inverse
from eigenscape.estimators._validation import check_choice, check_count
from eigenscape.kernels.base import BoundKernel
from eigenscape.methods.laplacian import independent_eigenmaps
from eigenscape.methods.low_rank import greedy_laplacian_eigenmaps
from eigenscape.operators import Operator
from eigenscape.solvers import NAMES


class LaplacianEigenmaps(DictionaryMixin, InverseMixin, SpectralEstimator):
    r"""The smoothest functions on the neighbourhood graph, as coordinates.

    With affinities :math:`K`, degrees :math:`S` and the Laplacian :math:`S - K` it solves

    .. math:: (S - K)\, z_r = \sigma_r S z_r

    for the smallest nonzero :math:`\sigma_r` (Bengio eq. 13, Belkin eq. 1); coordinates are :math:`\sqrt m\,
    z_r` with :math:`z_r' S z_r = 1`. In the symmetric form they are principal eigenvectors of :math:`k(x, y)
    / \sqrt{S(x) S(y)}` with :math:`l_r = 1 - \sigma_r`, which places new points.

    Parameters
    ----------
    n_components : int, default=2
    affinity : str, function or Kernel, default="nearest_neighbors"
        "nearest_neighbors" and "radius": a graph with the given ``weights``. "mst": the minimum spanning tree
        of the samples, on which a new point hangs by its nearest sample; "mst_nearest_neighbors": both
        together, connected by construction. "rbf", "laplacian", "cosine", "linear", "poly", "sigmoid", a
        function of two samples or a Kernel: similarities between all points, none of them negative.
        "precomputed": ``X`` holds the similarities, dense or sparse (``transform``: new to training points).
        "precomputed_nearest_neighbors": ``X`` holds distances, dense or as a sparse graph.
    n_neighbors : int or None, default=None
        Neighbours of a point; None takes 10, or a quarter of the samples where that is fewer, but at least 5.
    joined : {"union", "mutual", "shared"}, default="union"
        Two points are joined if either is among the other's ``n_neighbors``; if both are; or if either is and
        they have at least a third of ``n_neighbors`` in common. A new point joins by the same rule; where
        that gives it no edge, it gets its nearest sample, with a warning.
    radius : float or None, default=None
        Reach of the neighbourhood for ``affinity="radius"``.
    weights : {"binary", "heat", "inverse"}, default="binary"
        Weight of an edge of length d: 1, ``exp(-d^2 / t)``, or ``1 / d`` scaled to a largest value of 1.
    t : float or None, default=None
        Width of the heat kernel; None for the median squared length of the edges.
    gamma : float or None, default=None
        Width of a full kernel. For "rbf" None takes one over the median squared distance to the tenth
        neighbour.
    metric : str or function, default="euclidean"
        Metric of the neighbour search: any of scikit-learn's.
    metric_params : dict or None, default=None
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are searched. "auto" is exact up to 30 000 samples, in few dimensions and for most
        metrics; beyond, dense rows under a Euclidean or cosine metric are searched approximately, and
        ``neighbor_recall_`` tells how well.
    include_diagonal : bool, default=True
        Whether a point's similarity to itself counts in its degree (Bengio footnote 3). Graph affinities have
        none.
    on_disconnected : {"connect", "per_component", "largest", "raise"}, default="connect"
        As for :class:`Isomap`; Belkin's step 3 is "per_component". A full kernel has no edges to add: where
        it vanishes between groups of points, "connect" raises all its values to at least 1e-8; precomputed
        affinities cannot be connected.
    dictionary_size, dictionary_tol : int, float or None, default=None
        Approximate a full kernel by the span of a few points, as for :class:`KernelPCA`: time ``n m^2``, no n
        x n matrix. Components are not sought then; a kernel that vanishes between groups is announced.
    independent : bool, default=False
        Pass over eigenvectors that are functions of those kept before, such as the harmonics along a manifold
        much longer than wide. Each is regressed on them by local straight lines; what that leaves unexplained
        must reach ``independence_threshold`` (Dsilva et al. 2018). Where too few are found, a
        :class:`~eigenscape.exceptions.DependentCoordinatesWarning` says so and the map has fewer coordinates.
    independence_threshold : float, default=0.4
        Between 0 (a function of those before) and 1 (all new).
    n_candidates : int or None, default=None
        Eigenvectors looked at; None for up to 20 times ``n_components``, or one for 15 samples, in doubling
        steps.
    eigen_solver : {"auto", "dense", "lanczos", "shift-invert", "multilevel"}, default="auto"
        See :mod:`eigenscape.solvers.solve` for the choice.
    tol : float, default=1e-10
        Residual allowed, relative to :math:`\sigma_r`.
    max_iter, random_state, verbose
        As for :class:`KernelPCA`.
    n_jobs : int or None, default=None
        Cores for neighbours, full kernels and products with large graphs; -1 for all.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
    eigenvalues_ : ndarray of shape (n_components,), or (n_connected_components, n_components) in pieces
        :math:`l_r = 1 - \sigma_r`.
    kernel_ : BoundKernel
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each sample before any joining, the largest is 0.
    n_connected_components_ : int
    degrees_ : ndarray of shape (n_samples,)
        Edges of each sample in the neighbourhood graph, before any joining; equal samples share a vertex.
    n_neighbors_ : int
        The number of neighbours in use, where they are counted.
    neighbor_recall_ : float
        Share of the true neighbours that the search found, measured on a sample; 1 if it was exact.
    inverse_error_ : float
        As for :class:`Isomap`.
    t_, gamma_ : float
        The width in use, where there is one.
    kept_ : ndarray of shape (n_components,)
        With ``independent=True``: the numbers of the eigenvectors that are coordinates, from 0, the trivial
        one and any with eigenvalue zero not counted. A list of arrays where in pieces.
    independence_ : ndarray
        The residual of each eigenvector that was tried.
    residuals_, solver_, n_features_in_, dictionary_, dictionary_indices_, gram_error_bound_
        As for :class:`KernelPCA`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenscape import LaplacianEigenmaps
    >>> X = load_digits().data
    >>> model = LaplacianEigenmaps(n_components=2, n_neighbors=10).fit(X[:1000])
    >>> model.transform(X[1000:]).shape
    (797, 2)

    On a strip much longer than wide the second eigenvector is a harmonic of the first. The one across comes
    later:

    >>> import numpy as np
    >>> strip = np.random.default_rng(0).random((1000, 2)) * [3.5, 1]
    >>> across = LaplacianEigenmaps(independent=True).fit(strip)
    >>> bool(across.kept_[1] > 2), bool(abs(np.corrcoef(across.embedding_[:, 1], strip[:, 1])[0, 1]) > 0.8)
    (True, True)
    """

    _make_inverse = local_inverse
    _objects = True
    _solvers = NAMES
    _pairwise_parameter = "affinity"

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: Any = "nearest_neighbors",
        n_neighbors: int | None = None,
        joined: str = "union",
        radius: float | None = None,
        weights: str = "binary",
        t: float | None = None,
        gamma: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        neighbors: str = "auto",
        include_diagonal: bool = True,
        on_disconnected: str = "connect",
        dictionary_size: int | None = None,
        dictionary_tol: float | None = None,
        independent: bool = False,
        independence_threshold: float = 0.4,
        n_candidates: int | None = None,
        eigen_solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.joined = joined
        self.radius = radius
        self.weights = weights
        self.t = t
        self.gamma = gamma
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.include_diagonal = include_diagonal
        self.on_disconnected = on_disconnected
        self.dictionary_size = dictionary_size
        self.dictionary_tol = dictionary_tol
        self.independent = independent
        self.independence_threshold = independence_threshold
        self.n_candidates = n_candidates
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any, blocks: Any = None) -> Fitted:
        check_count("n_components", self.n_components)
        check_choice("on_disconnected", self.on_disconnected, ON_DISCONNECTED)
        solver, rule = self._solver(), independence_wish(self)
        if rule is not None and (self.dictionary_size is not None or self.dictionary_tol is not None):
            raise ValueError(
                "independent=True looks at eigenvectors of all points, which a dictionary does not have; leave out one of them"
            )

        def embed(affinity: BoundKernel, weights: Operator | None, fewer: bool) -> Embedding:
            return independent_eigenmaps(
                affinity,
                self.n_components,
                solver,
                rule,
                diagonal=self.include_diagonal,
                weights=weights,
                fewer=fewer,
            )

        fitted = embed_by_affinity(
            self, X, embed, self.n_components, self.on_disconnected, greedy_laplacian_eigenmaps, blocks=blocks
        )
        return independence_found(fitted, rule)

    def _precomputed_kind(self) -> str:
        return "affinity" if self.affinity == "precomputed" else "distance"
