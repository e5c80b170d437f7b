"""Direct embedding of a graph without coordinates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from eigenscape._parameters import check_count, check_enough
from eigenscape._threads import kept_threads
from eigenscape.estimators._graph import check_graph
from eigenscape.estimators._method import GraphSolver, Seed
from eigenscape.exceptions import DisconnectedGraphError
from eigenscape.graph.components import component_labels
from eigenscape.methods.graph_embedding import direct_embedding
from eigenscape.options import Solver
from eigenscape.quality.edge_distortion import distortion
from eigenscape.solvers import SolverConfig
from eigenscape.solvers.pairs import canonical_signs


class GraphEmbedding(NamedTuple):
    """Result of :func:`graph_embedding`."""

    coordinates: np.ndarray  # (n_vertices, n_components)
    eigenvalues: np.ndarray  # (n_components,)
    residuals: np.ndarray  # (n_components,) residual norms of the eigenpairs
    distortion: float  # Brand eq. 5


def graph_embedding(
    graph: Any,
    n_components: int = 2,
    *,
    eigen_solver: GraphSolver = "auto",
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> GraphEmbedding:
    r"""Embed the vertices of a weighted graph with the least distortion (Brand eq. 1-7).

    With edge weights :math:`W` and degrees :math:`D` it solves

    .. math:: W v = \lambda D v

    and takes the eigenvectors after the uniform one: among all :math:`Y` with :math:`Y' D Y = n` and D-mean
    zero these have the least :math:`\sum_{ij} |y_i - y_j|^2 W_{ij}`. This is a Laplacian eigenmap of a graph
    without coordinates. New vertices cannot be placed; :class:`KernelEigenmap` does so if vertices have
    features.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n_vertices, n_vertices)
        Symmetric non-negative edge weights of a connected graph.
    n_components : int, default=2
        Number of coordinates.
    eigen_solver : str, Solver or EigenSolver, default="auto"
        "auto", "dense", "lanczos", "shift-invert" or "multilevel"; "auto" chooses by the shape of the graph,
        see :mod:`eigenscape.solvers.policy`. A :class:`~eigenscape.options.Solver` also sets the tolerance
        and the number of iterations. An object with the methods of :class:`~eigenscape.solvers.EigenSolver`
        is a user-defined solver, whose results are verified.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Returns
    -------
    GraphEmbedding
        Named tuple of ``coordinates`` (n_vertices, n_components), ``eigenvalues`` and ``residuals``
        (n_components,), and ``distortion`` (Brand eq. 5).

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import graph_embedding
    >>> ring = np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0)
    >>> result = graph_embedding(ring)
    >>> bool(np.ptp(np.linalg.norm(result.coordinates, axis=1)) < 1e-8)
    True
    """
    check_count("n_components", n_components)
    W = check_graph(graph)
    check_enough("n_components", n_components, n_components + 1, W.shape[0], "vertices")
    label = component_labels(W)
    if label.max() > 0:
        raise DisconnectedGraphError(
            f"the graph has {label.max() + 1} components, whose relative positions its edges do not"
            " determine; embed each separately"
        )
    degree = np.asarray(W.sum(axis=1)).ravel()
    option = eigen_solver if isinstance(eigen_solver, Solver) else Solver(eigen_solver)
    seed, tol = int(check_random_state(random_state).randint(2**31 - 1)), option.tol
    solver = SolverConfig(option.method, 1e-10 if tol is None else tol, option.max_iter, seed, n_jobs)
    with kept_threads(n_jobs):
        coordinates, pairs = direct_embedding(W, degree, n_components, solver)
    return GraphEmbedding(
        canonical_signs(coordinates), pairs.values[1:], pairs.residuals[1:], distortion(coordinates, W)
    )
