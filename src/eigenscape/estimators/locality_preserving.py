"""Locality preserving projections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np

from eigenscape._parameters import check_enough, with_constructor
from eigenscape.estimators._graph import neighbor_affinity, vertices, with_loops
from eigenscape.estimators._linear import LinearMixin, check_rows
from eigenscape.estimators._method import Method
from eigenscape.estimators._running import by_blocks, fitting
from eigenscape.kernels.affinity import GraphAffinity
from eigenscape.methods.locality_preserving import LocalityProjection, locality_preserving
from eigenscape.options import Graph
from eigenscape.quality.edge_distortion import distortion
from eigenscape.solvers.pairs import canonical_signs


@with_constructor
class LocalityPreservingProjection(LinearMixin):
    r"""The linear map that varies least along the edges of the neighbourhood graph.

    With edge weights :math:`W` and degrees :math:`D` it finds directions :math:`a` in the space of the data
    with

    .. math:: X' (D - W) X\, a = (1 - \lambda)\, X' D X\, a

    for the smallest :math:`1 - \lambda`: eq. 8 of Brand with :math:`Z = X`, the special case of
    :class:`KernelEigenmap` with one uniform kernel. ``affine=True`` removes the D-mean of ``X`` first, which
    never increases the distortion (Brand sec. 4); ``affine=False`` is the method of He and Niyogi.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    affine : bool, default=True
        Whether the map has a constant term. Without it the directions depend on the origin, and directions
        along which the data are constant are omitted.
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample; two samples are connected if at least one is among the
        neighbours of the other. If None, 12, or fewer for fewer than 48 samples.
    metric : str or callable, default="euclidean"
        Metric of the neighbour search: any metric of scikit-learn, or a function of two rows.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    affinity : KNNGraph, RadiusGraph, SpanningTree or None, default=None
        Graph with weights of its edges (:mod:`eigenscape.options`), in place of ``n_neighbors`` and
        ``metric``. New rows are placed by their features, so that precomputed distances are not supported.
    regularization : float, default=0.0
        Added to the diagonal of :math:`W`, and so to the degrees (Brand sec. 4).
    on_disconnected : {"connect", "whole", "raise"}, default="connect"
        Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
        them, "whole" uses the graph as it is, and "raise" raises an error. Components of a graph passed to
        ``fit`` cannot be connected.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.

        Scaled to :math:`Y' D Y = n` on the vertices.
    components_ : ndarray of shape (n_components, n_features)
        Directions.
    mean_ : ndarray of shape (n_features,)
        D-mean of the data; zero unless ``affine``.
    patterns_ : ndarray of shape (n_components, n_features)
        Regression of the data on the coordinates, weighted by D. ``inverse_transform`` adds multiples of
        these to the mean.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, largest first.
    distortion_ : float
        :func:`eigenscape.quality.distortion` of the embedding, which compares methods on one graph.
    residuals_ : ndarray of shape (n_components,)
        Residual norms of the generalised eigenproblem, relative to :math:`|X'DX| |a|`.
    graph_ : sparse array of shape (n_vertices, n_vertices)
        Edge weights :math:`W`. Duplicate samples share a vertex.
    anchor_indices_ : ndarray of shape (n_anchors,)
        Set for dask collections: indices of the samples (at most 5000, random) that ``graph_`` connects. All
        other samples are connected to these; duplicate samples are not merged.
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
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenscape import LocalityPreservingProjection
    >>> X = load_digits().data[:500]
    >>> affine = LocalityPreservingProjection().fit(X)
    >>> linear = LocalityPreservingProjection(affine=False).fit(X)
    >>> affine.distortion_ <= linear.distortion_
    True
    """

    n_components: int = 2
    _: KW_ONLY
    affine: bool = True
    n_neighbors: int | None = None
    metric: str | Callable[..., float] = "euclidean"
    affinity: Graph | None = None
    regularization: float = 0.0
    on_disconnected: Literal["connect", "whole", "raise"] = "connect"
    n_jobs: int | None = None
    verbose: bool = False

    _edge_weights = "heat"
    _method = Method("locality-preserving-projection", aliases=("lpp",), linear=True)
    _meaning = "The coordinates are linear functions of the rows that keep neighbours close."

    @by_blocks("locality.fit")
    def fit(self, X: Any, y: object = None, *, graph: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like or dask collection of shape (n_samples, n_features)
            Training data.
        y : ignored
            Not used, present for API consistency.
        graph : array or sparse matrix of shape (n_samples, n_samples), optional
            Symmetric edge weights between the samples. If None, the weights of the neighbourhood graph.

        Returns
        -------
        self
        """
        with fitting(self):
            rows = check_rows(self, X)
            check_enough("n_components", self.n_components, self.n_components, rows.shape[1], "features")
            graph_data = vertices(self, rows, graph)
            projection = locality_preserving(
                graph_data.points, graph_data.W, graph_data.degree, self.n_components, self.affine
            )
            Y = (graph_data.points - projection.mean) @ projection.directions
            signs = np.sign((canonical_signs(Y) * Y).sum(axis=0))
            attributes = {**graph_data.attributes, "distortion_": distortion(Y, graph_data.W)}
            self._set_attributes(projection.with_signs(signs), attributes)
            self.embedding_ = self._match_dtype(rows, (rows - self.mean_) @ self.components_.T)
        return self

    def _connect(self, anchors: np.ndarray) -> tuple[GraphAffinity, dict[str, Any]]:
        """Return the graph of the anchors to which all samples are connected, and fitted attributes."""
        check_enough("n_components", self.n_components, self.n_components, anchors.shape[1], "features")
        affinity, _, attributes = neighbor_affinity(self, anchors)
        return affinity, {**attributes, "graph_": with_loops(affinity.edges(), self.regularization)}

    def _set_attributes(self, projection: LocalityProjection, attributes: dict[str, Any]) -> None:
        self.mean_ = projection.mean
        self.components_, self.patterns_ = projection.directions.T, projection.patterns
        self.eigenvalues_, self.residuals_ = 1 - projection.gaps, projection.residuals
        for name, value in attributes.items():
            setattr(self, name, value)
