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
Search: TypeAlias = (
    'Literal["auto", "exact", "approximate"] | NeighborIndex | NeighborSearcher | tuple[Any, Any]'
)
#: Fields that all graphs have, with their flat names.
_EDGES = {name: name for name in ("metric", "metric_params", "weights", "width", "search")}
#: Metrics that are known without a look into scikit-learn.
_USUAL_METRICS = ("euclidean", "precomputed", "cosine", "manhattan", "minkowski", "correlation")
#: Names of eigensolvers; those of graphs need a sparse matrix, and one belongs to KernelEigenmap.
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
        _check_metric_params(metric, params)
    if graph.width is not None and graph.weights not in (None, "heat"):
        raise ValueError(
            f"width={graph.width!r} is for weights='heat', got {graph.weights!r}; leave out width"
        )
    search = graph.search
    if not isinstance(search, str | tuple) and (
        isinstance(search, type) or not (hasattr(search, "kneighbors") or hasattr(search, "search_radius"))
    ):
        raise ValueError(
            f"search={search!r} is not known; choose 'auto', 'exact' or 'approximate', or pass an object with"
            " kneighbors(X, n_neighbors), a tuple (indices, distances) or a NeighborIndex"
        )
    if isinstance(search, tuple) and len(search) != 2:
        raise ValueError(f"search must be a tuple (indices, distances), got {len(search)} elements")


def _check_metric_params(metric: Any, params: dict[str, Any]) -> None:
    """Raise ValueError for parameters that a metric does not have, as far as this is known without data."""
    if any(not isinstance(name, str) for name in params):
        raise ValueError(f"metric_params={params!r} must have the names of arguments as keys")
    if isinstance(metric, str) and metric == "precomputed":
        raise ValueError(f"metric_params={params!r} is not used with metric='precomputed'; leave it out")
    power = params.get("p", 2)
    if isinstance(metric, str) and metric == "minkowski" and not (isinstance(power, Real) and power > 0):
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
        Width of the weights "heat". If None, the median squared length of the edges.
    search : {"auto", "exact", "approximate"}, index or tuple, default="auto"
        Neighbour search. "auto" searches many high-dimensional rows approximately and reports its recall. An
        object with ``kneighbors(X, n_neighbors)``, or a tuple ``(indices, distances)`` of neighbours that
        have been computed.

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
    """Graph of all pairs of samples within a distance.

    Parameters
    ----------
    radius : float
        Largest distance of two connected samples.
    metric, metric_params, weights, width, search
        As for :class:`KNNGraph`. The search is exact.

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
    """Minimum spanning tree of the samples, which is always connected.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        If given, the edges to so many nearest neighbours are added.
    metric, metric_params, weights, width, search
        As for :class:`KNNGraph`.

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
_GRAPHS = (KNNGraph, RadiusGraph, SpanningTree)


@dataclass(frozen=True, eq=False, repr=False)
class Dictionary(Option):
    """Few points that represent all others in the feature space of a kernel (Ouimet sec. 3).

    Parameters
    ----------
    size : int or None, default=None
        Largest number of points in the dictionary.
    tol : float or None, default=None
        Squared distance in feature space up to which a point is represented by earlier ones.
    points : array-like of shape (m, n_features), fitted model or None, default=None
        Points that are given, or a model with ``dictionary_`` and the same kernel. ``size`` and ``tol`` must
        then be None.
    selection : {"greedy", "rpcholesky", "random", "maxmin", "kmeans"} or array-like, default="greedy"
        How points are selected, or row indices. Only :class:`~eigenscape.GreedySpectralEmbedding` has other
        selections than "greedy".

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
        if isinstance(self.points, (list, tuple, np.ndarray)) and np.ndim(self.points) != 2:
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
        if isinstance(self.selection, str) and self.n is None:
            raise ValueError(f"selection={self.selection!r} needs n; set a number, or 'auto'")


@dataclass(frozen=True, eq=False, repr=False)
class Anchors(Option):
    """Centres of k-means; coordinates are linear in the weights of a point on the nearest ones.

    Parameters
    ----------
    n : int
        Number of anchors.

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
    """Fit of the order of distances instead of their values (Burges sec. 2.3).

    Parameters
    ----------
    n_init : int, default=4
        Number of random starts, in addition to classical MDS of the ranks.
    ties : {"primary", "secondary"}, default="primary"
        Whether equal distances may become different ("primary") or stay equal ("secondary").
    max_iter : int, default=300
        Maximum number of iterations.

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
    """Criterion for eigenvectors that are not functions of earlier ones.

    Parameters
    ----------
    threshold : float, default=0.4
        Smallest residual of an eigenvector that is kept, below 1.
    n_candidates : int or None, default=None
        Maximum number of eigenvectors to examine. If None, 20 per coordinate, and fewer for few points.

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


def flattened(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of an estimator with the fields of option objects in their place.

    A parameter becomes True if it was an object, "spanning_tree" for a spanning tree and None for other
    graphs, unless a field has its name. A dictionary of given points stays an object.
    """
    flat = {name: value for name, value in params.items() if "__" not in name}
    for name, value in params.items():
        if isinstance(value, Option) and getattr(value, "points", None) is None:
            flat[name] = None if isinstance(value, _GRAPHS) else True
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
        is_tree = SpanningTree in kinds and isinstance(value, str) and value == "spanning_tree"
        if not (used or is_tree) or isinstance(value, Option):
            continue
        if "bool" in parameter.types and not value:  # an option of an option
            if _shared(declared, name).issuperset(used):
                continue
            raise ValueError(f"{', '.join(used)} is not used without {name}; set {name}=True")
        if is_tree:
            kinds = (SpanningTree,)
        elif isinstance(value, str) and kinds[0] is KNNGraph:
            if value == "precomputed_nearest_neighbors":
                params["metric"] = "precomputed"
            elif value != "nearest_neighbors":
                raise ValueError(f"{', '.join(used)} is for graphs, got {name}={value!r}")
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
            raise ValueError(f"{', '.join(used)} needs n_landmarks; set a number, or 'auto'")
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
