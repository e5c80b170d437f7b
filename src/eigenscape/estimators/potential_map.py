"""The PotentialMap estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Literal

from sklearn.exceptions import ConvergenceWarning

from eigenscape import _memory
from eigenscape._parameters import check_count, with_constructor
from eigenscape._warnings import warn
from eigenscape.estimators._base import Estimator, FitResult
from eigenscape.estimators._graph import given_neighborhood, neighborhood_graph
from eigenscape.estimators._method import Memory, Method, Seed
from eigenscape.kernels.affinity import local_affinity
from eigenscape.methods.potential import PotentialOptions, potential_map
from eigenscape.options import KNNGraph, Metric
from eigenscape.pieces import split_graph


@with_constructor
class PotentialMap(Estimator):
    r"""Distances between the logarithms of diffusion probabilities: pictures of branching data.

    With affinities :math:`k`, the random walk :math:`P = S^{-1} (k + I)`, which may stay where it is, and the
    row sums :math:`S` of :math:`k + I`, the potential of a sample is :math:`U_i = -\log (P^t)_{i\cdot}`, and
    the map minimises the stress of metric MDS

    .. math:: \sum_{i<j} \bigl(|x_i - x_j| - |U_i - U_j|\bigr)^2

    (Moon et al. 2019). The affinities are ``exp(-d^2 / (s s'))`` with the distances s, s' of both samples to
    their k-th neighbour. Samples are merged into cells of a graph if there are many; the walk is then one
    between cells, and samples are placed by their distances to these.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample. If None, 10, or fewer for fewer than 40 distinct samples:
        ``min(10, max(5, m // 4), m - 1)`` for ``m`` distinct samples.
    n_landmarks : int, default=1000
        Maximum number of cells. Time grows as its cube, memory as its square.
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
    n_steps : int or None, default=None
        Number of steps :math:`t` of the random walk. If None, the knee of its von Neumann entropy: noise is
        averaged out up to it, and structure beyond it.
    on_disconnected : {"connect", "raise"}, default="connect"
        Treatment of a graph with several connected components: add the shortest edges that connect them, or
        raise an error.
    max_iter : int, default=300
        Maximum number of iterations of metric MDS.
    tol : float, default=1e-5
        Iterations stop when the stress decreases by less than ``tol``.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.
    stress_ : float
        Kruskal's stress-1 of the embedding.

        Of the cells.
    n_steps_ : int
        Number of steps of the random walk.
    entropies_ : ndarray of shape (200,)
        Von Neumann entropy of the random walk after 1, 2, ... steps.
    cell_labels_ : ndarray of shape (n_samples,)
        Cell of each sample.
    n_iter_ : int
        Number of iterations of metric MDS.
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
    placed where the stress of its own distances to the cells is least.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import PotentialMap
    >>> rng = np.random.default_rng(0)
    >>> arms = np.repeat(np.eye(3), 100, axis=0) * rng.random((300, 1))
    >>> model = PotentialMap().fit(arms + 0.01 * rng.standard_normal((300, 3)))
    >>> model.transform(arms[:5]).shape
    (5, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = None
    n_steps: int | None = None
    n_landmarks: int = 1000
    metric: Metric = "euclidean"
    graph: KNNGraph | None = None
    on_disconnected: Literal["connect", "raise"] = "connect"
    max_iter: int = 300
    tol: float = 1e-5
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("potential-map", memory=Memory(cells=True))
    _meaning = "Distances on the map approximate differences of the logarithms of diffusion probabilities."
    _pairwise_parameter = "metric"

    def _embed(self, X: Any) -> FitResult:
        options = self._options()
        n_cells = min(options.n_landmarks, X.shape[0])
        _memory.require(
            80.0 * n_cells * n_cells,
            f"a potential map of {n_cells} cells (all their pairs)",
            "lower n_landmarks",
        )
        graph = neighborhood_graph(X, given_neighborhood(self), options.n_components)
        split = split_graph(graph.graph, self.on_disconnected, choices=("connect", "raise"))
        affinity = local_affinity(split.parts[0], graph.attributes["n_neighbors_"])
        model, walk = potential_map(affinity, options)
        if not model.layout.converged:
            warn(
                f"the stress still decreased by more than tol={options.tol:g} in an iteration after"
                f" max_iter={options.max_iter}, at {model.layout.stress:.3g}; raise max_iter or tol",
                ConvergenceWarning,
            )
        attributes = {
            "stress_": model.layout.stress,
            "n_steps_": walk.n_steps,
            "entropies_": walk.entropies,
            "cell_labels_": model.cells[graph.vertex],
            "n_iter_": model.layout.n_iter,
        }
        return graph.result([model], split, options.n_components, attributes, has_kernel=False)

    def _options(self) -> PotentialOptions:
        """Return the parameters of the map, checked."""
        n_components = self.n_components
        n_landmarks = check_count("n_landmarks", self.n_landmarks, minimum=n_components + 2)
        seed = self._seed()
        return PotentialOptions(n_components, self.n_steps, n_landmarks, self.max_iter, float(self.tol), seed)
