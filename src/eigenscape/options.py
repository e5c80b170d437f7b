"""Options of estimators that few people set, as small immutable objects.

An estimator has the parameters that people set every day. The rest is in objects, which are passed where a
name would be::

    LaplacianEigenmaps(affinity=KNNGraph(15, symmetrize="mutual", weights="heat"))
    KernelPCA(approximation=Dictionary(200))
    Isomap(eigen_solver=Solver("lanczos", tol=1e-8))

Objects are compared by value and validated when they are made. ``get_params`` makes them work with ``clone``
and with ``GridSearchCV(model, {"affinity__n_neighbors": [5, 10]})``.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np

__all__ = [
    "Anchors",
    "Dictionary",
    "Independence",
    "Inverse",
    "KNNGraph",
    "Landmarks",
    "LocalKernels",
    "Ordinal",
    "RadiusGraph",
    "Solver",
    "SpanningTree",
]

Metric: TypeAlias = str | Callable[[Any, Any], float]
EdgeWeights: TypeAlias = Literal["binary", "heat", "inverse", "local"]
EDGE_WEIGHTS = ("binary", "heat", "inverse", "local")
SYMMETRIZE = ("union", "mutual", "shared")


class Option:
    """Base class of options: scikit-learn's interface of parameters, for immutable objects."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Return a copy with other values; the object itself does not change."""
        unknown = sorted(set(params) - set(self._names()))
        if unknown:
            raise ValueError(
                f"{type(self).__name__} has no field {unknown[0]!r}; it has {', '.join(self._names())}"
            )
        return replace(self, **params)  # type: ignore[type-var]

    def __sklearn_clone__(self) -> Self:
        return self

    def __repr__(self) -> str:
        given = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is MISSING or not _equal(value, field.default):
                given.append(repr(value) if field.default is MISSING else f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_equal(getattr(self, name), getattr(other, name)) for name in self._names())

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]


def _equal(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(np.all(np.array_equal(a, b))))


@dataclass(frozen=True, eq=False, repr=False)
class KNNGraph(Option):
    """Graph of nearest neighbours.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample. If None, the default of the estimator.
    metric : str or callable, default="euclidean"
        Metric of scikit-learn, or "precomputed" for a matrix of distances.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    symmetrize : {"union", "mutual", "shared"}, default="union"
        Rule by which two samples are connected: if at least one is among the nearest neighbours of the other
        ("union"); if both are ("mutual"); or if at least one is and they have at least a third of their
        neighbours in common ("shared"). New points are connected by the same rule; a point without any edge
        is connected to its nearest sample, with a warning.
    weights : {"binary", "heat", "inverse", "local"} or None, default=None
        Weight of an edge of length ``d``: 1; ``exp(-d^2 / width)``; ``1 / d``, scaled to a maximum of 1; or
        ``exp(-d^2 / (rho(x) rho(y)))``, where ``rho`` is the distance of a point to its ``n_neighbors``-th
        nearest neighbour. If None, the default of the estimator. Methods that use only distances refuse it.
    width : float or None, default=None
        Width of "heat". If None, the median squared length of the edges.
    search : {"auto", "exact", "approximate"}, index or tuple, default="auto"
        Neighbour search. "auto" searches many high-dimensional rows approximately and reports its recall. An
        object with ``kneighbors(X, n_neighbors)``, or a tuple ``(indices, distances)`` of neighbours that
        have been computed.
    """

    n_neighbors: int | None = None
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    symmetrize: Literal["union", "mutual", "shared"] = "union"
    weights: EdgeWeights | None = None
    width: float | None = None
    search: Any = "auto"

    def __post_init__(self) -> None:
        _check_count("n_neighbors", self.n_neighbors, optional=True)
        _check_choice("symmetrize", self.symmetrize, SYMMETRIZE)
        _check_edges(self)


@dataclass(frozen=True, eq=False, repr=False)
class RadiusGraph(Option):
    """Graph of all pairs of samples within a distance.

    Parameters
    ----------
    radius : float
        Largest distance of two connected samples.
    metric, metric_params, weights, width, search
        As for :class:`KNNGraph`. The search is exact.
    """

    radius: float
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    weights: EdgeWeights | None = None
    width: float | None = None
    search: Any = "auto"

    def __post_init__(self) -> None:
        _check_positive("radius", self.radius)
        if isinstance(self.search, str) and self.search == "approximate":
            raise ValueError(
                "search='approximate' finds the nearest neighbours, not all within a radius; use 'exact' or"
                " KNNGraph"
            )
        if isinstance(self.search, tuple):
            raise ValueError(
                "search=(indices, distances) lists nearest neighbours and cannot be used with a radius; use"
                " 'exact' or a neighbour index"
            )
        _check_edges(self)


@dataclass(frozen=True, eq=False, repr=False)
class SpanningTree(Option):
    """Minimum spanning tree of the samples, which is always connected.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        If given, the edges to so many nearest neighbours are added.
    metric, metric_params, weights, width, search
        As for :class:`KNNGraph`.
    """

    n_neighbors: int | None = None
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    weights: EdgeWeights | None = None
    width: float | None = None
    search: Any = "auto"

    def __post_init__(self) -> None:
        _check_count("n_neighbors", self.n_neighbors, optional=True)
        if self.n_neighbors is None and isinstance(self.search, tuple):
            raise ValueError(
                "search=(indices, distances) lists nearest neighbours and cannot be used with a minimum"
                " spanning tree; use 'exact' or a neighbour index"
            )
        if self.metric == "precomputed":
            raise ValueError(
                "a spanning tree needs rows, got metric='precomputed'; pass a precomputed graph that contains"
                " the tree"
            )
        _check_edges(self)


#: How samples are connected.
Graph: TypeAlias = KNNGraph | RadiusGraph | SpanningTree


@dataclass(frozen=True, eq=False, repr=False)
class Dictionary(Option):
    """Few points that represent all others in the feature space of a kernel (Ouimet sec. 3).

    Parameters
    ----------
    size : int or None, default=None
        Largest number of points.
    tol : float or None, default=None
        Squared distance in feature space up to which a point is represented by earlier ones.
    points : array-like of shape (m, n_features), fitted model or None, default=None
        Points that are given, or a model with ``dictionary_`` and the same kernel. ``size`` and ``tol`` must
        then be None.
    selection : {"greedy", "rpcholesky", "random", "maxmin", "kmeans"} or array-like, default="greedy"
        How points are selected, or row indices. Only :class:`~eigenscape.GreedySpectralEmbedding` has other
        selections than "greedy".
    """

    size: int | None = None
    tol: float | None = None
    points: Any = None
    selection: Any = "greedy"

    def __post_init__(self) -> None:
        _check_count("size", self.size, optional=True)
        if self.tol is not None and (not _is_number(self.tol) or self.tol < 0):
            raise ValueError(
                f"tol={self.tol!r} must be a non-negative finite number: the squared distance allowed in"
                " feature space"
            )
        if self.points is not None and (self.size is not None or self.tol is not None):
            raise ValueError(
                f"given points cannot be combined with size={self.size!r} and tol={self.tol!r}, which select"
                " points; leave them None"
            )


@dataclass(frozen=True, eq=False, repr=False)
class Landmarks(Option):
    """Landmarks, whose distances place all other points.

    Parameters
    ----------
    n : int, "auto" or None, default="auto"
        Number of landmarks. "auto" doubles the number until the map moves by less than ``tol``. None for
        landmarks that ``selection`` lists.
    selection : {"maxmin", "random", "kmeans", "greedy"} or array-like, default="maxmin"
        How landmarks are chosen among the samples; or the indices of samples; or points.
    tol : float, default=0.01
        Movement of the map, relative to its size, at which "auto" stops.
    """

    n: int | Literal["auto"] | None = "auto"
    selection: Any = "maxmin"
    tol: float = 0.01

    def __post_init__(self) -> None:
        if self.n != "auto":
            _check_count("n", self.n, optional=True, other=", 'auto'")
        if isinstance(self.selection, str):
            _check_choice("selection", self.selection, ("maxmin", "random", "kmeans", "greedy"))
            if self.n is None:
                raise ValueError(f"selection={self.selection!r} needs n; set a number, or 'auto'")
        _check_positive("tol", self.tol)


@dataclass(frozen=True, eq=False, repr=False)
class Anchors(Option):
    """Centres of k-means; coordinates are linear in the weights of a point on the nearest ones.

    Parameters
    ----------
    n : int
        Number of anchors.
    """

    n: int

    def __post_init__(self) -> None:
        _check_count("n", self.n)


@dataclass(frozen=True, eq=False, repr=False)
class Solver(Option):
    """Eigensolver.

    Parameters
    ----------
    method : str or EigenSolver, default="auto"
        "auto", "dense" or "lanczos"; for graphs also "shift-invert" or "multilevel"; or an object of your own
        (:class:`eigenscape.solvers.EigenSolver`).
    tol : float or None, default=None
        Largest angle between a computed and the exact eigenvector. If None, the default of the estimator,
        1e-10 for most.
    max_iter : int or None, default=None
        Maximum number of iterations. If None, the limit depends on the method.
    storage : {"auto", "blocked"}, default="auto"
        Whether a kernel matrix may be stored, or is recomputed in blocks for each product.
    """

    method: Any = "auto"
    tol: float | None = None
    max_iter: int | None = None
    storage: Literal["auto", "blocked"] = "auto"

    def __post_init__(self) -> None:
        if self.tol is not None and (not _is_number(self.tol) or self.tol < 0):
            raise ValueError(f"tol={self.tol!r} must be a number of at least 0")
        _check_count("max_iter", self.max_iter, optional=True)
        _check_choice("storage", self.storage, ("auto", "blocked"))


@dataclass(frozen=True, eq=False, repr=False)
class Ordinal(Option):
    """Fit of the order of distances instead of their values (Burges sec. 2.3).

    Parameters
    ----------
    n_init : int, default=4
        Number of random starts, in addition to classical MDS of the ranks.
    ties : {"primary", "secondary"}, default="primary"
        Whether equal distances may become different ("primary") or stay equal ("secondary").
    max_iter : int, default=300
        Maximum number of iterations.
    """

    n_init: int = 4
    ties: Literal["primary", "secondary"] = "primary"
    max_iter: int = 300

    def __post_init__(self) -> None:
        _check_count("n_init", self.n_init)
        _check_choice("ties", self.ties, ("primary", "secondary"))
        _check_count("max_iter", self.max_iter)


@dataclass(frozen=True, eq=False, repr=False)
class Independence(Option):
    """Criterion for eigenvectors that are not functions of earlier ones.

    Parameters
    ----------
    threshold : float, default=0.4
        Smallest residual of an eigenvector that is kept, below 1.
    n_candidates : int or None, default=None
        Maximum number of eigenvectors to examine. If None, 20 per coordinate, and fewer for few points.
    """

    threshold: float = 0.4
    n_candidates: int | None = None

    def __post_init__(self) -> None:
        _check_positive("threshold", self.threshold)
        if self.threshold >= 1:
            raise ValueError(
                f"threshold={self.threshold!r} must be below 1, the residual of an independent eigenvector"
            )
        _check_count("n_candidates", self.n_candidates, optional=True)


@dataclass(frozen=True, eq=False, repr=False)
class Inverse(Option):
    """Pre-images of kernel methods.

    Parameters
    ----------
    method : {"auto", "fixed-point", "ridge"}, default="auto"
        Fixed-point iteration for Gaussian kernels, or a ridge regression from coordinates to rows. "auto"
        chooses by the kernel.
    alpha : float or None, default=None
        Penalty of the ridge regression. If None, chosen by leave-one-out errors.
    gamma : float or None, default=None
        Width of the Gaussian kernel between coordinates. If None, chosen by leave-one-out errors.
    """

    method: Literal["auto", "fixed-point", "ridge"] = "auto"
    alpha: float | None = None
    gamma: float | None = None

    def __post_init__(self) -> None:
        _check_choice("method", self.method, ("auto", "fixed-point", "ridge"))
        _check_positive("alpha", self.alpha, optional=True)
        _check_positive("gamma", self.gamma, optional=True)


@dataclass(frozen=True, eq=False, repr=False)
class LocalKernels(Option):
    """The Gaussian kernels of a kernel eigenmap (Brand sec. 3).

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of spherical kernels.
    covariances : str or array-like, default="spherical"
        Shape of the kernels, or their covariances.
    centers : str or array-like, default="random"
        How centres are chosen, or the centres.
    local_components : int or None, default=None
        Number of local coordinates of each kernel. If None, all features.
    """

    sigma: float | Literal["auto"] = "auto"
    covariances: Any = "spherical"
    centers: Any = "random"
    local_components: int | None = None


def _check_edges(graph: Any) -> None:
    """Check the fields that all graphs have."""
    if graph.metric_params is not None and not isinstance(graph.metric_params, dict):
        raise ValueError(
            f"metric_params={graph.metric_params!r} must be a dict of the metric's arguments, or None"
        )
    if graph.weights is not None:
        _check_choice("weights", graph.weights, EDGE_WEIGHTS)
    _check_positive("width", graph.width, optional=True)
    if isinstance(graph.search, str):
        _check_choice("search", graph.search, ("auto", "exact", "approximate"))


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(float(value))


def _check_positive(name: str, value: Any, optional: bool = False) -> None:
    if not (value is None and optional) and (not _is_number(value) or value <= 0):
        raise ValueError(f"{name}={value!r} must be a positive number{' or None' if optional else ''}")


def _check_count(name: str, value: Any, optional: bool = False, other: str = "") -> None:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not (value is None and optional) and (not whole or value < 1):
        raise ValueError(
            f"{name}={value!r} must be an integer of at least 1{other}{' or None' if optional else ''}"
        )


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, choices))}")
