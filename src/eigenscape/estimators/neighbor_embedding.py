"""The NeighborEmbedding estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

from eigenscape._parameters import Limits, with_constructor
from eigenscape.estimators._base import Estimator, FitResult
from eigenscape.estimators._graph import given_neighborhood, neighborhood_graph
from eigenscape.estimators._method import Method, Seed
from eigenscape.kernels.affinity import mutual_affinity
from eigenscape.methods.laplacian import laplacian_eigenmaps, require_eigenfunctions
from eigenscape.methods.neighbor_embedding import LayoutOptions, neighbor_embedding
from eigenscape.options import KNNGraph, Metric
from eigenscape.pieces import split_graph
from eigenscape.solvers import SolverConfig

#: Tolerance of the eigenmap that is the start of the layout.
_START_TOL = 1e-6
#: Neighbours by default.
_NEIGHBORS = 15


@with_constructor
class NeighborEmbedding(Estimator):
    r"""Pictures of clusters: attraction along the edges of a graph, repulsion between all points.

    With affinities :math:`W`, :math:`P = W / \sum W` and :math:`w_{ij} = 1 / (1 + |x_i - x_j|^2)`, minimises

    .. math:: -\rho \sum_{ij} P_{ij} \log w_{ij} + \log \sum_{i \ne j} w_{ij}

    from the Laplacian eigenmap of the same graph. The ``exaggeration`` :math:`\rho` is the strength of the
    attraction: 1 is t-SNE, about 4 resembles UMAP, and for large values the map approaches the Laplacian
    eigenmap (Böhm, Berens and Kobak 2022). Time and memory grow linearly with the number of samples.

    Parameters
    ----------
    n_components : {1, 2}, default=2
        Number of coordinates. For more, use :class:`LaplacianEigenmaps`.
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample. The affinity of two samples is 1 if each is among the
        neighbours of the other, and 1/2 if one of them is. If None, 15, or fewer for fewer than 60 samples.
    exaggeration : float, default=1.0
        Strength of the attraction, at least 1. Small values keep more neighbours and fill the plane, large
        values separate clusters and show global structure, in less time. The default keeps most neighbours
        and places new points best on the data of docs/benchmarks/pictures.md.
    metric : str or callable, default="euclidean"
        Metric of the neighbour search: any metric of scikit-learn, or a function of two rows.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    graph : KNNGraph or None, default=None
        Graph of the samples (:class:`eigenscape.options.KNNGraph`), in place of ``n_neighbors`` and
        ``metric``.
    on_disconnected : {"connect", "raise"}, default="connect"
        Treatment of a graph with several connected components: add the shortest edges that connect them, or
        raise an error.
    max_iter : int, default=500
        Maximum number of iterations of the layout.
    tol : float, default=1e-3
        The layout stops when the points move by less than this in an iteration, in root mean square relative
        to the spread of the map. The quality of a map rarely changes after that.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.
    converged_ : bool
        Whether the layout stopped because the points moved by less than ``tol``.
    kl_divergence_ : float
        Kullback-Leibler divergence of the map from the affinities, without exaggeration, comparable between
        maps of the same graph.
    movement_ : float
        Movement of the points in the last iterations, compared with ``tol``.
    n_iter_ : int
        Number of iterations of the layout.
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each sample, before components are connected; the largest is 0.
    n_connected_components_ : int
        Number of connected components, before components are connected.
    degrees_ : ndarray of shape (n_samples,)
        Number of edges of each sample, before components are connected. Equal samples share a vertex.
    n_neighbors_ : int
        Number of neighbours used. Set if the graph connects nearest neighbours.
    neighbor_recall_ : float
        Fraction of the true nearest neighbours found, measured on a sample; 1 for an exact search.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Notes
    -----
    Equal rows are one point. A row equal to a training row gets the coordinates of that row. Any other row is
    placed at a minimum of its own part of the objective, attracted by its neighbours among the training
    points and repelled by all of them, which do not move; the search starts at its best neighbour. New points
    do not interact, so each is placed independently of the others.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenscape import NeighborEmbedding
    >>> X = load_digits().data
    >>> model = NeighborEmbedding(max_iter=100).fit(X[:500])
    >>> model.transform(X[500:]).shape
    (1297, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = None
    exaggeration: float = 1.0
    metric: Metric = "euclidean"
    graph: KNNGraph | None = None
    on_disconnected: Literal["connect", "raise"] = "connect"
    max_iter: int = 500
    tol: float = 1e-3
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("neighbor-embedding")
    _meaning = (
        "Neighbours attract each other and all points repel each other; distances between clusters"
        " and sizes of clusters are not meaningful."
    )
    _pairwise_parameter = "metric"
    _limits: ClassVar = {"n_components": Limits(1, below=3)}

    def _embed(self, X: Any) -> FitResult:
        options = LayoutOptions(float(self.exaggeration), self.max_iter, float(self.tol), self.n_jobs)
        seed = self._seed()
        graph = neighborhood_graph(X, given_neighborhood(self, _NEIGHBORS), self.n_components)
        split = split_graph(graph.graph, self.on_disconnected, choices=("connect", "raise"))
        affinity = mutual_affinity(split.parts[0], graph.attributes["n_neighbors_"])
        solver = SolverConfig("auto", _START_TOL, None, seed, self.n_jobs)
        eigenmap = laplacian_eigenmaps(affinity, self.n_components, solver)
        require_eigenfunctions(eigenmap, self.n_components)
        model = neighbor_embedding(affinity, eigenmap.coordinates, options)
        attributes = {
            "converged_": bool(model.layout.movement <= options.tol),
            "kl_divergence_": model.kl_divergence,
            "movement_": model.layout.movement,
            "n_iter_": model.layout.n_iter,
        }
        return graph.result([model], split, self.n_components, attributes, has_kernel=False)
