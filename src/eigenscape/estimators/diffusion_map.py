"""The DiffusionMap estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from eigenscape._parameters import NOT_NEGATIVE, with_constructor
from eigenscape.estimators._affinity import (
    AffinityMixin,
    bind_affinity,
    check_eigenmaps,
    eigenmaps_of_parts,
    given_affinity,
    with_labels,
)
from eigenscape.estimators._base import FitResult, KernelEstimator, fit_labelled
from eigenscape.estimators._method import AffinityLike, GraphSolver, Memory, Method, Seed
from eigenscape.methods.diffusion import diffusion_map, normalize_density
from eigenscape.options import Independence, Metric
from eigenscape.pieces import Affinity, OnDisconnected


@with_constructor
class DiffusionMap(AffinityMixin, KernelEstimator):
    r"""Diffusion maps: coordinates whose distances are diffusion distances of a random walk.

    The affinity is normalised by the sampling density :math:`q(x) = \sum_i k(x, x_i)` to
    :math:`k_\alpha(x, y) = k(x, y) / (q(x) q(y))^\alpha`, which defines a random walk with transition
    probabilities :math:`k_\alpha(x, y) / S(x)`, :math:`S` the row sums. With the eigenfunctions of the walk,

    .. math:: \frac{1}{S(x)} \sum_i k_\alpha(x, x_i)\, \psi_r(x_i) = \lambda_r \psi_r(x)

    the coordinates are :math:`\lambda_r^t\, \psi_r(x)`, and the constant :math:`\psi_0` is left out (Coifman
    and Lafon 2006). In the symmetric form :math:`k_\alpha / \sqrt{S(x) S(y)}` they are principal
    eigenfunctions, which place new points; with :math:`\alpha = 0` and :math:`t = 0` they equal the
    coordinates of :class:`LaplacianEigenmaps` up to one common factor.

    The default kernel is sparse: a Gaussian on the edges of the neighbourhood graph, with a width for each
    point. ``affinity="rbf"`` is a Gaussian between all samples, and
    :class:`~eigenscape.kernels.VariableGaussian` one with a width for each point, in time and memory
    proportional to ``n_samples ** 2``.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    affinity : str, graph, callable or Kernel, default="nearest_neighbors"
        Similarity of samples. "nearest_neighbors": the graph of the ``n_neighbors`` nearest neighbours.
        "spanning_tree": the minimum spanning tree. A :class:`~eigenscape.options.KNNGraph`,
        :class:`~eigenscape.options.RadiusGraph` or :class:`~eigenscape.options.SpanningTree` also sets
        weights of edges, ``n_neighbors`` and ``metric``. "rbf", "laplacian", "cosine", "linear", "poly",
        "sigmoid", a function of two samples or a Kernel: non-negative similarities between all samples.
        "precomputed": ``X`` contains similarities, and ``transform`` takes similarities of new points to the
        training samples. "precomputed_nearest_neighbors": ``X`` contains distances, dense or sparse.
    alpha : float, default=1.0
        Exponent of the normalisation by the density, at least 0. With 1 the density has no effect on the walk
        (Laplace-Beltrami), with 1/2 it acts as a potential (Fokker-Planck), with 0 it has its full effect.
    diffusion_time : float, default=1
        The time ``t``, at least 0: rapidly varying eigenfunctions decay with it. It must be an integer if an
        eigenvalue is negative.
    gamma : float or None, default=None
        Width of a full kernel. If None, for "rbf" it is one over the median squared distance of a sample to
        its tenth nearest neighbour.
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample. If None, 10, or fewer for fewer than 40 distinct samples:
        ``min(10, max(5, m // 4), m - 1)`` for ``m`` distinct samples.
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
    include_diagonal : bool, default=True
        Whether the similarity of a sample to itself contributes to its degree (Bengio footnote 3). Ignored
        for graph affinities, which have no diagonal.
    target_weight : float, default=0.0
        Weight of labels in the graph, from 0 (``y`` is ignored) to below 1. Affinities between labelled
        samples are ``(1 - target_weight) k + target_weight l``, where ``l`` connects the samples of a class
        with the mean degree of the graph (cycles through them, drawn by ``random_state``); edges of
        unlabelled samples are not changed. New points have no label, and their affinities are ``k``. Needs a
        graph affinity.
    on_disconnected : {"connect", "per_component", "largest", "raise"}, default="connect"
        Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
        them (for a kernel that is zero between groups, raises all similarities to at least 1e-8; precomputed
        affinities cannot be connected); "per_component" embeds each separately (Belkin step 3); "largest"
        embeds the largest and places all other samples on its map as new points. These three issue a
        :class:`~eigenscape.exceptions.DisconnectedGraphWarning`. "raise" raises an error.
    independent : bool or Independence, default=False
        Whether to skip eigenvectors that are functions of the eigenvectors kept before, such as the harmonics
        along a manifold much longer than wide. An eigenvector is kept if the residual of its local linear
        regression on them is at least 0.4 (Dsilva et al. 2018), or the threshold of an
        :class:`~eigenscape.options.Independence`. If fewer than ``n_components`` are found, the embedding has
        fewer coordinates and a :class:`~eigenscape.exceptions.DependentCoordinatesWarning` is issued.
    eigen_solver : str, Solver or EigenSolver, default="auto"
        "auto", "dense", "lanczos", "shift-invert" or "multilevel"; "auto" chooses by the shape of the graph,
        see :mod:`eigenscape.solvers.policy`. A :class:`~eigenscape.options.Solver` also sets the tolerance
        and the number of iterations. An object with the methods of :class:`~eigenscape.solvers.EigenSolver`
        is a user-defined solver, whose results are verified.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.
    eigenvalues_ : ndarray of shape (n_components,) or (n_connected_components, n_components)
        Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first. One row per
        component if components are embedded separately.

        They are the eigenvalues :math:`\lambda_r` of one step.
    kernel_ : BoundKernel
        Data-dependent kernel: ``kernel_(Y)`` are its values between any points and the training samples.

        It is the symmetric form of the random walk.
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
    width_ : float
        Width of heat weights. Set if the graph has ``weights="heat"``.
    gamma_ : float
        Width of the kernel. Set for kernels that have one.
    kept_ : ndarray of shape (n_components,)
        Indices of the eigenvectors that are coordinates, not counting trivial ones. Set unless
        ``independent=False``; a list of arrays if components are embedded separately.
    independence_ : ndarray
        Residual of each eigenvector examined. Set unless ``independent=False``; a list of arrays if
        components are embedded separately.
    residuals_ : ndarray
        Residual norms ``|K v - l v|`` of the eigenpairs, in the shape of ``eigenvalues_``.
    solver_ : str
        Name of the eigensolver used.
    n_iter_ : int
        Number of iterations of the eigensolver; 0 or 1 for direct solvers.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    The map of a circle that is sampled ten times as densely on one side is a circle. Without normalisation by
    the density it is not:

    >>> import numpy as np
    >>> from eigenscape import DiffusionMap
    >>> u = 2 * np.pi * (np.arange(400) + 0.5) / 400
    >>> angle = u + 0.8 * np.sin(u)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> full = {"affinity": "rbf", "gamma": 100.0}
    >>> radius = np.linalg.norm(DiffusionMap(**full).fit_transform(circle), axis=1)
    >>> bool(radius.max() / radius.min() < 1.05)
    True
    >>> radius = np.linalg.norm(DiffusionMap(alpha=0, **full).fit_transform(circle), axis=1)
    >>> bool(radius.max() / radius.min() < 1.05)
    False
    """

    n_components: int = 2
    _: KW_ONLY
    affinity: AffinityLike = "nearest_neighbors"
    alpha: float = 1.0
    diffusion_time: float = 1
    gamma: float | None = None
    n_neighbors: int | None = None
    metric: Metric = "euclidean"
    include_diagonal: bool = True
    target_weight: float = 0.0
    on_disconnected: OnDisconnected = "connect"
    independent: bool | Independence = False
    eigen_solver: GraphSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _method = Method("diffusion-map", aliases=("diffusion", "dmap"), memory=Memory(square=4.5, blocked=True))
    _meaning = (
        "Distances on the map approximate diffusion distances: points are close if a random walk"
        " connects them easily."
    )
    _limits: ClassVar = {"alpha": NOT_NEGATIVE}
    fit = fit_labelled

    def _embed(
        self, X: Any, weights: np.ndarray | None = None, labels: np.ndarray | None = None
    ) -> FitResult:
        n_components, diagonal = self.n_components, self.include_diagonal
        neighborhood, solver = given_affinity(self, "local"), self._solver()
        criterion = check_eigenmaps(self, neighborhood, weights, labels)
        samples = bind_affinity(self, X, neighborhood, n_components, weights)  # graph or kernel
        split = plain = samples.split(self.on_disconnected)  # connected components
        if labels is not None:
            split = with_labels(plain, samples, labels, self.target_weight, solver.seed)
        measures = split.weights_of(samples.weights)
        affinities = [
            normalize_density(part.kernel, part.operator, self.alpha, diagonal, self.n_jobs, measure)
            for part, measure in zip(split.parts, measures, strict=True)
        ]
        walks = replace(split, parts=tuple(Affinity(*affinity) for affinity in affinities))
        nonzero = self.diffusion_time > 0
        maps, attributes = eigenmaps_of_parts(
            walks, measures, n_components, solver, criterion, diagonal=diagonal, nonzero=nonzero
        )
        maps = [diffusion_map(embedding, self.diffusion_time) for embedding in maps]
        return samples.result(maps, plain, n_components, attributes)
