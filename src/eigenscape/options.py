"""Options of estimators that few people set, as small immutable objects.

An estimator has the parameters that people set every day. The rest is in objects, which are passed where a
name would be::

    LaplacianEigenmaps(affinity=KNNGraph(15, symmetrize="mutual", weights="heat"))
    KernelPCA(approximation=Dictionary(200))
    Isomap(eigen_solver=Solver("lanczos", tol=1e-8))

Objects are compared by value and validated when they are made. ``get_params`` makes them work with ``clone``
and with ``GridSearchCV(model, {"affinity__n_neighbors": [5, 10]})``.

See docs/decisions/estimators-option-objects.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._parameters import (
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    Limits,
    Parameter,
    check_parameters,
    declared_parameters,
)
from eigenscape._warnings import warn

if TYPE_CHECKING:
    from eigenscape.graph.neighbors import NeighborIndex, NeighborSearcher

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
#: A named neighbour search, an index, or neighbours that have been computed.
if TYPE_CHECKING:
    Search: TypeAlias = (
        Literal["auto", "exact", "approximate"] | NeighborIndex | NeighborSearcher | tuple[Any, Any]
    )
else:  # classes that take long to import
    Search = Literal["auto", "exact", "approximate"] | tuple[Any, Any]
#: Fields that all graphs have, with their flat names.
_EDGES = {name: name for name in ("metric", "metric_params", "weights", "width", "search")}
#: Metrics that are known without a look into scikit-learn.
_USUAL_METRICS = ("euclidean", "precomputed", "cosine", "manhattan", "minkowski", "correlation")
#: Names of eigensolvers. The graph solvers need a sparse matrix, and one is for KernelEigenmap only.
_GRAPH_SOLVERS = ("shift-invert", "multilevel")
_SOLVERS = ("auto", "dense", "lanczos", *_GRAPH_SOLVERS, "iterative")
#: Eigensolvers of scikit-learn with the equivalents here, the closest first.
SKLEARN_SOLVERS: Mapping[str, tuple[str, ...]] = {
    "arpack": ("shift-invert", "lanczos"),
    "lobpcg": ("lanczos",),
    "amg": ("multilevel", "lanczos"),
    "randomized": ("lanczos",),
}


class Option:
    """Base class of options: scikit-learn's interface of parameters, for immutable objects."""

    #: Name of each field where parameters are flat: on the command line and in forms.
    _flat: ClassVar[dict[str, str]]

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, dict):  # it may change outside
                object.__setattr__(self, name, dict(value))
        check_parameters(self)
        self._check()

    def _check(self) -> None:
        """Raise ValueError for values that contradict each other. A hook."""

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
        return hash(type(self))  # equal fields may have different hashes: arrays, 5 and np.int64(5)

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    is_number = isinstance(a, Real) and isinstance(b, Real) and isinstance(a, bool) == isinstance(b, bool)
    return a is b or ((is_number or type(a) is type(b)) and bool(np.array_equal(a, b)))


def check_solver(method: Any, accepted: tuple[str, ...] = _SOLVERS) -> None:
    """Raise ValueError unless ``method`` is an accepted name or an object with the methods of a solver."""
    if isinstance(method, str):
        if method in accepted:
            return
        equivalent = next((ours for ours in SKLEARN_SOLVERS.get(method, ()) if ours in accepted), None)
        if equivalent is not None:
            raise ValueError(
                f"eigen_solver={method!r} is scikit-learn's name; the equivalent here is {equivalent!r}, or"
                " use eigenscape.accel for scikit-learn's own interface"
            )
        if method in _GRAPH_SOLVERS:
            names = ", ".join(map(repr, accepted))
            raise ValueError(f"eigen_solver={method!r} needs a sparse graph matrix; use one of {names} here")
    elif not isinstance(method, type) and hasattr(method, "principal") and hasattr(method, "smallest"):
        return
    raise ValueError(
        f"eigen_solver={method!r} is not known; choose one of {', '.join(map(repr, accepted))}, or pass an"
        " object with the methods principal(operator, count, order) and smallest(problem, count)"
    )


def _check_edges(graph: Any) -> None:
    """Raise ValueError for a metric, its parameters, a width or a search that no data could use."""
    metric, params = graph.metric, graph.metric_params or {}
    if not callable(metric) and (not isinstance(metric, str) or metric not in _USUAL_METRICS):
        from sklearn.neighbors import VALID_METRICS

        if not isinstance(metric, str) or metric not in VALID_METRICS["brute"]:
            raise ValueError(
                f"metric={metric!r} is not known; use one of scikit-learn's pairwise_distances, such as"
                " 'euclidean', 'manhattan' or 'cosine', or a function of two rows"
            )
    if params:
        check_metric_params(metric, params)
    if graph.width is not None and graph.weights not in (None, "heat"):
        raise ValueError(
            f"width={graph.width!r} is for weights='heat', got {graph.weights!r}; leave out width"
        )
    search = graph.search
    if isinstance(search, type):
        raise ValueError(f"search must be an object, got the class {search.__name__}; pass an instance")
    is_index = hasattr(search, "kneighbors") or hasattr(search, "search_radius")
    if not isinstance(search, str | tuple) and not is_index:
        raise ValueError(
            f"search={search!r} is not known; choose 'auto', 'exact' or 'approximate', or pass an object with"
            " kneighbors(X, n_neighbors), a tuple (indices, distances) or a NeighborIndex"
        )
    if isinstance(search, tuple) and len(search) != 2:
        raise ValueError(f"search must be a tuple (indices, distances), got {len(search)} elements")
    if isinstance(search, str) and search == "approximate" and metric not in ("euclidean", "l2", "cosine"):
        raise ValueError(
            "search='approximate' supports dense rows and the metrics euclidean, l2, cosine, got"
            f" metric={metric!r}; use search='auto'"
        )


def check_metric_params(metric: Any, params: dict[str, Any], n_features: int | None = None) -> None:
    """Raise ValueError for parameters that a metric cannot use, if they are known without computing it."""
    for name in ("V", "VI") if metric in ("mahalanobis", "seuclidean") and n_features is not None else ():
        needed = (n_features,) if metric == "seuclidean" else (n_features, n_features)
        if params.get(name) is not None and np.shape(params[name]) != needed:  # SciPy would read beyond it
            raise ValueError(
                f"metric_params: {name} has shape {np.shape(params[name])}, but metric={metric!r} needs"
                f" {needed}"
            )
    if any(not isinstance(name, str) for name in params):
        raise ValueError(f"metric_params={params!r} must have the names of arguments as keys")
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError(f"metric_params={params!r} is not used with metric='precomputed'; leave it out")
    power = params.get("p", 2) if isinstance(metric, str) and metric == "minkowski" else 2
    if not (isinstance(power, Real) and float(power) > 0):
        raise ValueError(f"metric_params={params!r}: p must be a positive number; set p=1 or more")
    if callable(metric):
        try:
            inspect.signature(metric).bind(None, None, **params)
        except TypeError as error:
            raise ValueError(
                f"metric_params={params!r} are not arguments of the metric ({error}); it is called as"
                " metric(x, y, **metric_params)"
            ) from None
        except ValueError:  # compiled functions may have no signature
            return


def _ndim(array: Any) -> int:
    """Return the number of dimensions of an array-like, 1 for a list of objects."""
    if hasattr(array, "ndim"):
        return int(array.ndim)
    try:
        return np.ndim(array)
    except ValueError:  # objects of different lengths
        return 1


@dataclass(frozen=True, eq=False, repr=False)
class KNNGraph(Option):
    """Graph that connects each sample to its nearest neighbours.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample, not counting the sample itself. If None, the default of
        the estimator.
    metric : str or callable, default="euclidean"
        Distance between two samples: a metric of ``sklearn.metrics.pairwise_distances``, a function of two
        rows, or "precomputed" if ``X`` is a matrix of distances.
    metric_params : dict or None, default=None
        Further arguments of the metric, such as ``{"p": 3}`` for "minkowski".
    symmetrize : {"union", "mutual", "shared"}, default="union"
        Condition for an edge between two samples. "union": at least one is among the nearest neighbours of
        the other. "mutual": each is among the nearest neighbours of the other. "shared": as "union", and they
        have at least a third of their neighbours in common. New points are connected by the same condition. A
        point without any edge is connected to its nearest sample, with a warning.
    weights : {"binary", "heat", "inverse", "local"} or None, default=None
        Weight of an edge between ``x`` and ``y`` at the distance ``d``. "binary": 1. "heat":
        ``exp(-d^2 / width)``. "inverse": ``1 / d``, divided by its maximum. "local":
        ``exp(-d^2 / (rho(x) rho(y)))``, where ``rho`` is the distance of a point to its ``n_neighbors``-th
        nearest neighbour. If None, the default of the estimator. Estimators that use the distances
        themselves, such as Isomap, raise an error if it is set.
    width : float or None, default=None
        Width of the weights "heat". If None, the median of the squared lengths of the edges.
    search : {"auto", "exact", "approximate"}, object or tuple, default="auto"
        Method of the neighbour search. "auto" is exact, except for many rows with many features, which are
        searched approximately; the estimator then reports the recall as ``neighbor_recall_``. An object with
        a method ``kneighbors(X, n_neighbors)``, such as ``sklearn.neighbors.NearestNeighbors``, performs the
        search itself. A tuple ``(indices, distances)`` of two arrays of shape (n_samples, k) contains
        neighbours that have been computed.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import LaplacianEigenmaps
    >>> from eigenscape.options import KNNGraph
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> model = LaplacianEigenmaps(affinity=KNNGraph(15, symmetrize="mutual", weights="heat"))
    >>> model.fit_transform(X).shape
    (200, 2)
    >>> model.set_params(affinity__n_neighbors=20).affinity
    KNNGraph(n_neighbors=20, symmetrize='mutual', weights='heat')
    """

    n_neighbors: int | None = None
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    symmetrize: Literal["union", "mutual", "shared"] = "union"
    weights: EdgeWeights | None = None
    width: float | None = None
    search: Search = "auto"
    _limits: ClassVar = {"width": POSITIVE}
    _flat: ClassVar = {"n_neighbors": "n_neighbors", "symmetrize": "symmetrize", **_EDGES}
    _check = _check_edges


@dataclass(frozen=True, eq=False, repr=False)
class RadiusGraph(Option):
    """Graph that connects all pairs of samples within a distance.

    Parameters
    ----------
    radius : float
        Maximum distance between two samples that are connected.
    metric : str or callable, default="euclidean"
        Distance between two samples: a metric of ``sklearn.metrics.pairwise_distances``, a function of two
        rows, or "precomputed" if ``X`` is a matrix of distances.
    metric_params : dict or None, default=None
        Further arguments of the metric, such as ``{"p": 3}`` for "minkowski".
    weights : {"binary", "heat", "inverse", "local"} or None, default=None
        Weight of an edge between ``x`` and ``y`` at the distance ``d``. "binary": 1. "heat":
        ``exp(-d^2 / width)``. "inverse": ``1 / d``, divided by its maximum. "local":
        ``exp(-d^2 / (rho(x) rho(y)))``, where ``rho`` is the distance of a point to its tenth nearest
        neighbour. If None, the default of the estimator. Estimators that use the distances themselves, such
        as Isomap, raise an error if it is set.
    width : float or None, default=None
        Width of the weights "heat". If None, the median of the squared lengths of the edges.
    search : {"auto", "exact"} or object, default="auto"
        Method of the neighbour search, which is always exact. An object with a method
        ``kneighbors(X, n_neighbors)``, such as ``sklearn.neighbors.NearestNeighbors``, performs the search
        itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import Isomap
    >>> from eigenscape.options import RadiusGraph
    >>> Isomap(graph=RadiusGraph(2.0)).fit_transform(load_iris().data).shape
    (150, 2)
    """

    radius: float
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    weights: EdgeWeights | None = None
    width: float | None = None
    search: Search = "auto"
    _limits: ClassVar = {"width": POSITIVE}
    _flat: ClassVar = {"radius": "radius", **_EDGES}

    def _check(self) -> None:
        _check_edges(self)
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


@dataclass(frozen=True, eq=False, repr=False)
class SpanningTree(Option):
    """Graph that is connected: the minimum spanning tree, optionally with edges to nearest neighbours.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        Number of nearest neighbours to which each sample is connected, in addition to the tree. If None, the
        graph is the tree alone.
    metric : str or callable, default="euclidean"
        Distance between two samples: a metric of ``sklearn.metrics.pairwise_distances``, a function of two
        rows.
    metric_params : dict or None, default=None
        Further arguments of the metric, such as ``{"p": 3}`` for "minkowski".
    weights : {"binary", "heat", "inverse", "local"} or None, default=None
        Weight of an edge between ``x`` and ``y`` at the distance ``d``. "binary": 1. "heat":
        ``exp(-d^2 / width)``. "inverse": ``1 / d``, divided by its maximum. "local":
        ``exp(-d^2 / (rho(x) rho(y)))``, where ``rho`` is the distance of a point to its ``n_neighbors``-th
        nearest neighbour, the tenth by default. If None, the default of the estimator. Estimators that use
        the distances themselves, such as Isomap, raise an error if it is set.
    width : float or None, default=None
        Width of the weights "heat". If None, the median of the squared lengths of the edges.
    search : {"auto", "exact", "approximate"}, object or tuple, default="auto"
        Method of the neighbour search. "auto" is exact, except for many rows with many features, which are
        searched approximately; the estimator then reports the recall as ``neighbor_recall_``. An object with
        a method ``kneighbors(X, n_neighbors)``, such as ``sklearn.neighbors.NearestNeighbors``, performs the
        search itself. A tuple ``(indices, distances)`` of two arrays of shape (n_samples, k) contains
        neighbours that have been computed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import DiffusionMap
    >>> from eigenscape.options import SpanningTree
    >>> DiffusionMap(affinity=SpanningTree(5)).fit(load_iris().data).n_connected_components_
    1
    """

    n_neighbors: int | None = None
    metric: Metric = "euclidean"
    metric_params: dict[str, Any] | None = None
    weights: EdgeWeights | None = None
    width: float | None = None
    search: Search = "auto"
    _limits: ClassVar = {"width": POSITIVE}
    _flat: ClassVar = {"n_neighbors": "n_neighbors", **_EDGES}

    def _check(self) -> None:
        _check_edges(self)
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


#: How samples are connected.
Graph: TypeAlias = KNNGraph | RadiusGraph | SpanningTree
#: Names of affinities that are sparse graphs.
GRAPH_NAMES = ("nearest_neighbors", "spanning_tree", "precomputed_nearest_neighbors")


@dataclass(frozen=True, eq=False, repr=False)
class Dictionary(Option):
    """Subset of the samples that approximates all others in the feature space of a kernel (Ouimet sec. 3).

    Set ``size``, ``tol`` or both, or ``points``.

    Parameters
    ----------
    size : int or None, default=None
        Maximum number of points in the dictionary. If None, ``tol`` alone limits it.
    tol : float or None, default=None
        Maximum squared distance in feature space between a sample and its approximation by the dictionary.
        Samples that exceed it are added to the dictionary. If None, ``size`` alone limits it.
    points : array-like of shape (m, n_features), fitted model or None, default=None
        The dictionary itself, or a fitted model that has a ``dictionary_`` for the same kernel. If set,
        ``size`` and ``tol`` must be None.
    selection : {"greedy", "rpcholesky", "random", "maxmin", "kmeans"} or array-like, default="greedy"
        Method that selects the points, or the indices of their rows. Values other than "greedy" are for
        :class:`~eigenscape.GreedySpectralEmbedding` only.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import KernelPCA
    >>> from eigenscape.options import Dictionary
    >>> KernelPCA(approximation=Dictionary(20)).fit(load_iris().data).dictionary_.shape
    (20, 4)
    """

    size: int | None = None
    tol: float | None = None
    points: Any = None
    selection: Literal["greedy", "rpcholesky", "random", "maxmin", "kmeans"] | ArrayLike = "greedy"
    _limits: ClassVar = {"size": COUNT, "tol": NOT_NEGATIVE}
    _flat: ClassVar = {"size": "dictionary_size", "tol": "dictionary_tol", "selection": "selection"}

    def _check(self) -> None:
        if self.points is not None and (self.size is not None or self.tol is not None):
            raise ValueError(
                f"given points cannot be combined with size={self.size!r} and tol={self.tol!r}, which select"
                " points; leave them None"
            )
        points = self.points
        is_model = hasattr(points, "fit") and not isinstance(points, type)
        if points is not None and not is_model and (isinstance(points, str | type) or _ndim(points) != 2):
            raise ValueError(
                "points must be a fitted model with a dictionary, or points of shape (m, n_features), got"
                f" {self.points!r}"
            )
        if not isinstance(self.selection, str):
            rows = np.asarray(self.selection)
            if rows.ndim != 1 or rows.dtype.kind not in "iu":
                raise ValueError(
                    f"selection={self.selection!r} must be a name or row indices; pass points as points"
                )
            if self.size not in (None, len(rows)):
                raise ValueError(f"size={self.size}, but selection lists {len(rows)} rows; leave out size")
        if self.points is not None and not _equal(self.selection, "greedy"):
            raise ValueError(f"selection={self.selection!r} is not used with points; leave it 'greedy'")


@dataclass(frozen=True, eq=False, repr=False)
class Landmarks(Option):
    """Landmarks: all other points are placed by their distances to these.

    Parameters
    ----------
    n : int, "auto" or None, default="auto"
        Number of landmarks. "auto" doubles the number until the coordinates change by less than ``tol``. May
        be None if ``selection`` contains the landmarks.
    selection : {"maxmin", "random", "kmeans", "greedy"} or array-like, default="maxmin"
        Method that chooses landmarks among the samples. An array contains the landmarks: indices of samples,
        or points of shape (n, n_features).
    tol : float, default=0.01
        Change of the coordinates, relative to their size, below which "auto" stops. Ignored if ``n`` is a
        number.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import LandmarkMDS
    >>> from eigenscape.options import Landmarks
    >>> X = load_iris().data
    >>> LandmarkMDS(approximation=Landmarks(30, "kmeans")).fit(X).n_landmarks_
    30
    >>> LandmarkMDS(approximation=Landmarks(None, X[::10])).fit(X).n_landmarks_
    15
    """

    n: int | Literal["auto"] | None = "auto"
    selection: Literal["maxmin", "random", "kmeans", "greedy"] | ArrayLike = "maxmin"
    tol: float = 0.01
    _limits: ClassVar = {"n": COUNT, "tol": POSITIVE}
    _flat: ClassVar = {"n": "n_landmarks", "selection": "landmarks", "tol": "landmark_tol"}

    def _check(self) -> None:
        if isinstance(self.selection, str):
            if self.n is None:
                raise ValueError(f"selection={self.selection!r} needs n; set a number, or 'auto'")
            return
        if _ndim(self.selection) not in (1, 2):
            raise ValueError(
                f"selection={self.selection!r} must be one of 'maxmin', 'random', 'kmeans', 'greedy', an"
                " array of sample indices, or points like the samples"
            )
        given: Any = self.selection
        count = given.shape[0] if hasattr(given, "shape") else len(given)
        if self.n not in (None, "auto", count):
            raise ValueError(f"n={self.n}, but selection contains {count}; leave n out")


@dataclass(frozen=True, eq=False, repr=False)
class Anchors(Option):
    """Anchors, the centres of k-means. Coordinates of a point are weighted means over its nearest anchors.

    Parameters
    ----------
    n : int
        Number of anchors. It must exceed the number of coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import LaplacianEigenmaps
    >>> from eigenscape.options import Anchors
    >>> X = np.random.default_rng(0).random((500, 2))
    >>> LaplacianEigenmaps(approximation=Anchors(40)).fit(X).anchors_.shape
    (40, 2)
    """

    n: int
    _limits: ClassVar = {"n": COUNT}
    _flat: ClassVar = {"n": "n_anchors"}


@dataclass(frozen=True, eq=False, repr=False)
class Solver(Option):
    """Eigensolver with its tolerance and limits.

    Parameters
    ----------
    method : {"auto", "dense", "lanczos", "shift-invert", "multilevel", "iterative"} or object, default="auto"
        Eigensolver. "shift-invert" and "multilevel" are for sparse graphs, and "iterative" is for
        :class:`~eigenscape.KernelEigenmap`. An object implements :class:`eigenscape.solvers.EigenSolver`.
    tol : float or None, default=None
        Maximum angle in radians between a computed eigenvector and the exact one. If None, the default of the
        estimator, 1e-10 for most.
    max_iter : int or None, default=None
        Maximum number of iterations. If None, it depends on the method.
    storage : {"auto", "blocked"}, default="auto"
        Storage of a kernel matrix. "auto" stores it if it fits in memory; "blocked" recomputes it in blocks
        for each product.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import KernelPCA
    >>> from eigenscape.options import Solver
    >>> KernelPCA(eigen_solver=Solver("lanczos", tol=1e-6)).fit(load_iris().data).solver_
    'lanczos'
    """

    method: Any = "auto"
    tol: float | None = None
    max_iter: int | None = None
    storage: Literal["auto", "blocked"] = "auto"
    _limits: ClassVar = {"tol": NOT_NEGATIVE}
    _flat: ClassVar = {"method": "eigen_solver", "tol": "tol", "max_iter": "max_iter", "storage": "storage"}

    def _check(self) -> None:
        check_solver(self.method)
        if self.storage == "blocked" and isinstance(self.method, str) and self.method == "dense":
            raise ValueError("method='dense' needs the whole matrix, not storage='blocked'; use 'lanczos'")


@dataclass(frozen=True, eq=False, repr=False)
class Ordinal(Option):
    """Ordinal (nonmetric) scaling: the map preserves the order of the distances (Burges sec. 2.3).

    Parameters
    ----------
    n_init : int, default=4
        Number of random initial maps, in addition to classical MDS of the ranks. The map with the lowest
        stress is kept.
    ties : {"primary", "secondary"}, default="primary"
        Treatment of pairs with equal distances. "primary": their distances in the map may differ.
        "secondary": their distances in the map should be equal.
    max_iter : int, default=300
        Maximum number of iterations from each initial map.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import Isomap
    >>> from eigenscape.options import Ordinal
    >>> model = Isomap(ordinal=Ordinal(n_init=1, max_iter=1000)).fit(load_iris().data[:50])
    >>> bool(model.stress_ < 0.2)
    True
    """

    n_init: int = 4
    ties: Literal["primary", "secondary"] = "primary"
    max_iter: int = 300
    _flat: ClassVar = {"n_init": "n_init", "ties": "ties", "max_iter": "max_iter"}


@dataclass(frozen=True, eq=False, repr=False)
class Independence(Option):
    """Selection of eigenvectors that are not functions of the eigenvectors selected before.

    Parameters
    ----------
    threshold : float, default=0.4
        Minimum residual of an eigenvector, between 0 and 1, when it is predicted from the eigenvectors
        selected before. Eigenvectors with smaller residuals are skipped.
    n_candidates : int or None, default=None
        Maximum number of eigenvectors to examine. If None, 20 for each coordinate, and fewer for few samples.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import LaplacianEigenmaps
    >>> from eigenscape.options import Independence
    >>> strip = np.random.default_rng(0).random((500, 2)) * [4, 1]
    >>> LaplacianEigenmaps(independent=Independence(threshold=0.5)).fit(strip).kept_
    array([0, 3])
    """

    threshold: float = 0.4
    n_candidates: int | None = None

    _limits: ClassVar = {"threshold": Limits(0, open=True, below=1)}
    _flat: ClassVar = {"threshold": "independence_threshold", "n_candidates": "n_candidates"}


@dataclass(frozen=True, eq=False, repr=False)
class Inverse(Option):
    """Method of ``inverse_transform`` of kernel methods.

    Parameters
    ----------
    method : {"auto", "fixed-point", "ridge"}, default="auto"
        "fixed-point": fixed-point iteration, for the kernel "rbf" only. "ridge": kernel ridge regression from
        coordinates to rows. "auto": "fixed-point" for "rbf", the exact inverse for "linear", and "ridge" for
        other kernels.
    alpha : float or None, default=None
        Penalty of the ridge regression. If None, it minimises the leave-one-out error. Other methods raise an
        error if it is set.
    gamma : float or None, default=None
        Coefficient of the Gaussian kernel ``exp(-gamma |y - y'|^2)`` between coordinates in the ridge
        regression. If None, it minimises the leave-one-out error. Other methods raise an error if it is set.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import KernelPCA
    >>> from eigenscape.options import Inverse
    >>> X = load_iris().data
    >>> model = KernelPCA(kernel="laplacian", inverse=Inverse("ridge", alpha=1e-3)).fit(X)
    >>> model.inverse_transform(model.transform(X[:3])).shape
    (3, 4)
    """

    method: Literal["auto", "fixed-point", "ridge"] = "auto"
    alpha: float | None = None
    gamma: float | None = None

    _limits: ClassVar = {"alpha": POSITIVE, "gamma": POSITIVE}
    _flat: ClassVar = {"method": "inverse", "alpha": "inverse_alpha", "gamma": "inverse_gamma"}

    def _check(self) -> None:
        if self.method == "fixed-point" and (self.alpha is not None or self.gamma is not None):
            raise ValueError(
                f"{self!r} has a penalty or width, which only inverse='ridge' uses; leave it out, or set"
                " inverse='ridge'"
            )


@dataclass(frozen=True, eq=False, repr=False)
class LocalKernels(Option):
    """Gaussian kernels of a kernel eigenmap (Brand sec. 3).

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Standard deviation of the kernels. "auto" is half the median distance of a centre to its third
        nearest other centre.
    covariances : {"spherical", "full"} or array-like, default="spherical"
        Covariances of the kernels. "spherical": ``sigma^2`` times the identity. "full": estimated from the
        samples around each centre. An array of shape (n_features, n_features) is shared by all kernels; an
        array of shape (n_kernels, n_features, n_features) needs ``centers`` of its length.
    centers : {"random", "kmeans", "maxmin", "greedy"} or array-like, default="random"
        Method that chooses centres among the samples, or the centres themselves, an array of shape
        (n_kernels, n_features).
    local_components : int or None, default=None
        Number of principal directions in which the map of each kernel is linear. 0: the map of each kernel is
        constant. If None, the map of each kernel is linear in all features.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import KernelEigenmap
    >>> from eigenscape.options import LocalKernels
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> model = KernelEigenmap(n_kernels=8, kernels=LocalKernels(sigma=0.5, centers="kmeans"))
    >>> model.fit_transform(X).shape
    (200, 2)
    """

    sigma: float | Literal["auto"] = "auto"
    covariances: Literal["spherical", "full"] | Any = "spherical"
    centers: Literal["random", "kmeans", "maxmin", "greedy"] | Any = "random"
    local_components: int | None = None
    _flat: ClassVar = {name: name for name in ("sigma", "covariances", "centers", "local_components")}

    def _check(self) -> None:
        if not isinstance(self.centers, str) and np.ndim(self.centers) != 2:
            raise ValueError(
                f"centers={self.centers!r} must be 'random', 'kmeans', 'maxmin', 'greedy' or an array of"
                " shape (n_kernels, n_features)"
            )
        if isinstance(self.covariances, str):
            return
        if np.ndim(self.covariances) not in (2, 3):
            raise ValueError(
                f"covariances={self.covariances!r} must be 'spherical', 'full' or an array of shape"
                " (n_features, n_features) or (n_kernels, n_features, n_features)"
            )
        if np.ndim(self.covariances) == 3 and isinstance(self.centers, str):
            raise ValueError(
                f"covariances of {len(self.covariances)} kernels need their centers; pass an array of shape"
                f" ({len(self.covariances)}, n_features) as centers"
            )


def warn_unused(estimator: Any) -> None:
    """Warn of parameters that the affinity of an estimator does not use; scikit-learn ignores them."""
    affinity, declared = estimator.affinity, declared_parameters(type(estimator))
    is_graph = isinstance(affinity, Graph) or (isinstance(affinity, str) and affinity in GRAPH_NAMES)
    unused = ["gamma"] if is_graph else ["n_neighbors", "metric"]
    if isinstance(affinity, str) and affinity == "precomputed_nearest_neighbors":
        unused.append("metric")
    for name in unused:
        if name in declared and (value := getattr(estimator, name)) != declared[name].default:
            warn(f"{name}={value!r} is not used with affinity={affinity!r}; leave out {name}")


def flattened(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of an estimator with the fields of option objects in their place.

    A parameter becomes True if it was an object, "spanning_tree" for a spanning tree and None for other
    graphs, unless a field has its name. A dictionary of given points stays an object.
    """
    flat = {name: value for name, value in params.items() if "__" not in name}
    for name, value in params.items():
        if isinstance(value, Option) and getattr(value, "points", None) is None:
            flat[name] = None if isinstance(value, Graph) else True
            flat[name] = "spanning_tree" if isinstance(value, SpanningTree) else flat[name]
            flat |= {other: getattr(value, field) for field, other in value._flat.items()}
    return flat


def assembled(cls: type, flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of an estimator class, with option objects made from the fields among ``flat``.

    An object takes all the fields it has, such as ``n_neighbors``, from ``flat`` if a field is given that is
    no parameter of the class.
    """
    declared, params = declared_parameters(cls), dict(flat)
    for name, parameter in declared.items():
        kinds, value = parameter.options, params.get(name)
        given = {other for kind in kinds for other in kind._flat.values() if params.get(other) is not None}
        used = sorted(given - set(declared))
        named = ", ".join(f"{other}={params[other]!r}" for other in used)
        is_tree = SpanningTree in kinds and isinstance(value, str) and value == "spanning_tree"
        if not (used or is_tree) or isinstance(value, Option):
            continue
        if "bool" in parameter.types and not value:  # an option of an option
            if _shared(declared, name).issuperset(used):
                continue
            raise ValueError(f"{named} is not used without {name}; set {name}=True")
        if is_tree:
            kinds = (SpanningTree,)
        elif isinstance(value, str) and kinds[0] is KNNGraph:
            if value == "precomputed_nearest_neighbors":
                params["metric"] = "precomputed"
            elif value != "nearest_neighbors":
                raise ValueError(
                    f"{named} is for graphs, got {name}={value!r}; set {name}='nearest_neighbors'"
                )
        kind = next((each for each in kinds if given <= set(each._flat.values())), None)
        if kind is None:
            got = ", ".join(f"{other}={params[other]!r}" for other in sorted(given))
            tree = f" with {name}='spanning_tree'" if is_tree else ""
            raise ValueError(f"{got} cannot be combined{tree}; leave out some of them")
        if (
            issubclass(kind, Landmarks)
            and "n_landmarks" not in params
            and not getattr(cls, "_has_landmarks", False)
        ):
            raise ValueError(f"{named} needs n_landmarks; set a number, or 'auto'")
        fields_ = {field: params.pop(other) for field, other in kind._flat.items() if other in params}
        params[name] = kind(**fields_)
    return {name: value for name, value in params.items() if name in declared or value is not None}


def _shared(declared: Mapping[str, Parameter], name: str) -> set[str]:
    """Return the flat names of the options of all parameters except one."""
    return {
        other
        for each, parameter in declared.items()
        if each != name
        for kind in parameter.options
        for other in kind._flat.values()
    }
