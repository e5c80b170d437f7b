"""The LocalityPreservingProjection estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from eigenscape import distributed
from eigenscape._progress import reporting
from eigenscape.distributed import is_collection
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._collections import check_weight, validate_blocks
from eigenscape.estimators._linear import LinearMixin
from eigenscape.estimators._validation import check_count, check_jobs
from eigenscape.estimators._vertices import check_edges, neighbor_affinity, vertices, with_loops
from eigenscape.methods.locality_preserving import locality_preserving
from eigenscape.quality.edge_distortion import distortion
from eigenscape.solvers.pairs import canonical_signs


class LocalityPreservingProjection(LinearMixin, Estimator):
    r"""The linear map that changes least along the edges of the neighbourhood graph.

    With edge weights :math:`W` and degrees :math:`D` it finds directions :math:`a` of the space of the data
    with

    .. math:: X' (D - W) X\, a = (1 - \lambda)\, X' D X\, a

    for the smallest :math:`1 - \lambda`: eq. 8 of Brand with :math:`Z = X`, the special case of
    :class:`KernelEigenmap` with one uniform kernel. ``affine=True`` removes the D-mean of ``X`` first, which
    never has more distortion (Brand sec. 4); ``affine=False`` is the method of He and Niyogi.

    Parameters
    ----------
    n_components : int, default=2
    affine : bool, default=True
        Whether the map may have a constant term. Without it the directions depend on where the origin is; a
        direction along which the data are constant is left out.
    n_neighbors : int or None, default=None
        Neighbours of a point; two points are joined if either is among the other's. None takes 12, or fewer
        for fewer than 48 samples.
    radius : float or None, default=None
        Join all points within this distance instead.
    weights : {"heat", "binary", "inverse"}, default="heat"
        Weight of an edge of length d: ``exp(-d^2 / t)``, 1, or ``1 / d`` scaled to a largest value of 1.
    t : float or None, default=None
        Width of the heat kernel; None for the median squared length of the edges.
    metric, metric_params, neighbors
        Of the neighbour search, as for :class:`LaplacianEigenmaps`.
    regularization : float, default=0
        Added to the diagonal of :math:`W`, and so to the degrees.
    on_disconnected : {"connect", "whole", "raise"}, default="connect"
        What to do with a graph in several components: join them by their shortest missing edges, take it as
        it is, or refuse it. A graph given to ``fit`` cannot be joined.
    n_jobs : int or None, default=None
        Cores for the neighbour search; -1 for all.
    verbose : bool, default=False

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Scaled to :math:`Y' D Y = n` on the vertices.
    components_ : ndarray of shape (n_components, n_features)
        The directions.
    mean_ : ndarray of shape (n_features,)
        The D-mean of the data; zero if not ``affine``.
    patterns_ : ndarray of shape (n_components, n_features)
        Regression of the data on the coordinates, weighted by D; ``inverse_transform`` adds these to the
        mean.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, largest first.
    distortion_ : float
        :func:`eigenscape.quality.distortion` of the embedding.
    residuals_ : ndarray of shape (n_components,)
        Of the small problem, relative to :math:`|X'DX| |a|`.
    graph_ : sparse array of shape (n_vertices, n_vertices)
        The weights in use; equal rows are one vertex.
    anchor_indices_ : ndarray of shape (n_anchors,)
        After a dask collection only: the rows, at most 5000 drawn from all, whose graph the others were
        joined to. ``graph_`` is theirs, and a row counts as often as it stands.
    component_labels_, n_connected_components_, degrees_, n_neighbors_, neighbor_recall_, t_, n_features_in_
        As for :class:`LaplacianEigenmaps`.

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

    def __init__(
        self,
        n_components: int = 2,
        *,
        affine: bool = True,
        n_neighbors: int | None = None,
        radius: float | None = None,
        weights: str = "heat",
        t: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        neighbors: str = "auto",
        regularization: float = 0.0,
        on_disconnected: str = "connect",
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.affine = affine
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.weights = weights
        self.t = t
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.regularization = regularization
        self.on_disconnected = on_disconnected
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, graph: Any = None) -> Self:
        """Learn the directions.

        Parameters
        ----------
        X : array-like or dask collection of shape (n_samples, n_features)
        y : ignored
        graph : array or sparse matrix of shape (n_samples, n_samples), optional
            Symmetric edge weights between the rows of ``X``, instead of their neighbourhood graph.

        Returns
        -------
        self
        """
        self._reset()
        check_count("n_components", self.n_components)
        check_jobs(self.n_jobs)
        if not isinstance(self.affine, bool):
            raise ValueError(f"affine={self.affine!r} must be True or False")
        if is_collection(X):
            return self._fit_collection(X, graph)
        rows = self._rows(X, reset=True)
        self._check_features(rows.shape[1])
        with reporting(self.verbose):
            known = vertices(self, rows, graph)
            found = locality_preserving(known.points, known.W, known.degree, self.n_components, self.affine)
        Y = (known.points - found.mean) @ found.directions
        signs = np.sign((canonical_signs(Y) * Y).sum(axis=0))[:, None]
        self.mean_ = found.mean
        self.components_, self.patterns_ = signs * found.directions.T, signs * found.patterns
        self.eigenvalues_, self.residuals_ = 1 - found.gaps, found.residuals
        self.distortion_ = distortion(Y, known.W)
        self.embedding_ = self._like(rows, (rows - self.mean_) @ self.components_.T)
        for name, value in known.attributes.items():
            setattr(self, name, value)
        return self

    def _fit_collection(self, X: Any, graph: Any) -> Self:
        """Join every row to a sample that stands for all; up to ``distributed.ANCHORS`` rows it is all of
        them."""
        if graph is not None:
            raise TypeError(
                "graph= is for rows in memory, and X is a dask collection; leave it out, or pass X.compute()"
            )
        blocks = validate_blocks(self, X, reset=True)
        self._check_features(blocks.n_features)
        check_edges(self)
        with reporting(self.verbose):
            anchors, self.anchor_indices_ = distributed.sample_rows(blocks, distributed.ANCHORS, seed=0)
            check_weight(len(anchors), None)
            affinity, _, attributes = neighbor_affinity(self, anchors)
            found, self.distortion_ = distributed.locality_of_blocks(
                blocks, affinity, self.n_components, self.affine, float(self.regularization)
            )
        self.mean_, self.components_, self.patterns_ = found.mean, found.directions.T, found.patterns
        self.eigenvalues_, self.residuals_ = 1 - found.gaps, found.residuals
        vars(self).update({**attributes, "graph_": with_loops(affinity.edges(), self.regularization)})
        self.embedding_ = self.transform(X)
        return self

    def _check_features(self, n_features: int) -> None:
        if self.n_components > n_features:
            raise ValueError(
                f"n_components={self.n_components} needs at least {self.n_components} features, got n_features={n_features};"
                " lower n_components"
            )
