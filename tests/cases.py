"""Every estimator, kernel and normalisation that must obey the laws, listed once.

``CASES`` holds (id, estimator factory, data kind). ``MAPS`` holds the same of those that are no
eigenfunctions of a kernel on the training points, to which the laws about kernels, eigenvalues and the loss
do not apply. ``load(kind, dtype)`` gives the training points and some new ones, in the form that the
estimator takes: rows, distances or similarities to the training points, or objects. ``among_new(kind)`` are
the distances or similarities among the new points.

The lists hold the part of the product of all parameters that ``covering.py`` chooses; all of it if
EIGENSCAPE_PRODUCT is set."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from covering import cover
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from eigenscape import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    EigenfunctionClassifier,
    EigenfunctionRegressor,
    EigenspaceDensity,
    FactorAnalysis,
    FastMap,
    GreedySpectralEmbedding,
    Isomap,
    KernelEigenmap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    LocalityPreservingProjection,
    LocallyLinearEmbedding,
    ManifoldParzen,
    MetricMap,
    MixturePPCA,
    NeighborEmbedding,
    OrdinalMDS,
    OrientedPCA,
    ParametricMap,
    PotentialMap,
    ProbabilisticPCA,
    ProjectionPursuit,
    ProjectionPursuitDensity,
    ProjectionPursuitRegressor,
    SpectralClustering,
    kernels,
)
from eigenscape.options import (
    Anchors,
    Dictionary,
    Independence,
    Inverse,
    KNNGraph,
    Landmarks,
    LocalKernels,
    Ordinal,
    RadiusGraph,
    Solver,
    SpanningTree,
)

N_TRAIN, N_NEW = 80, 12

#: Their functions are no eigenvectors of the kernel's Gram matrix (FastMap's numbers not even its
#: eigenvalues): projections on other directions that the same points span. What takes the place of those laws
#: is in test_landmarks.py.
PROJECTIONS = (FastMap, MetricMap)


def nothing(X: Any) -> dict[str, Any]:
    return {}


def some_labels(X: Any) -> dict[str, Any]:
    """Three classes, of which every second row has its label."""
    rows = np.arange(X.shape[0])
    return {"y": np.where(rows % 2 == 0, rows % 3, -1)}


class Case(NamedTuple):
    id: str
    make: Callable[[], Any]
    data: str
    given: Callable[[Any], dict[str, Any]] = nothing  # what fit takes beside X, made from X


#: Landmarks given by number.
GIVEN = [3, 70, 8, 41, 22, 57, 64, 15, 33, 79]
BLOCKED = Solver(storage="blocked")

# --- data ---------------------------------------------------------------------------------------------------


def curve(n: int, seed: int = 0) -> np.ndarray:
    """Points near an S-shaped sheet in three dimensions, in general position."""
    rng = np.random.default_rng(seed)
    t = 3 * np.pi * (rng.random(n) - 0.5)
    sheet = np.column_stack([np.sin(t), 2 * rng.random(n), np.sign(t) * (np.cos(t) - 1)])
    return sheet + 0.02 * rng.standard_normal((n, 3))


def wide(n: int) -> np.ndarray:
    """More features than a k-d tree is used for."""
    rng = np.random.default_rng(1)
    return np.tanh(curve(n) @ rng.standard_normal((3, 20)) / 2) + 0.01 * rng.standard_normal((n, 20))


def flat(n: int) -> np.ndarray:
    """More features than points."""
    rng = np.random.default_rng(6)
    return curve(n) @ rng.standard_normal((3, 130)) + 0.1 * rng.standard_normal((n, 130)) + 2


def with_gaps(n: int) -> np.ndarray:
    """Rows of which a fifth of the values is missing, never a whole one."""
    rows, rng = wide(n), np.random.default_rng(7)
    gaps = rng.random(rows.shape) < 0.2
    gaps[np.arange(n), rng.integers(rows.shape[1], size=n)] = False
    return np.where(gaps, np.nan, rows)


def twins(n_train: int, n_new: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which a quarter comes twice and some three times; two of the new rows are training rows."""
    points = curve(n_train + n_new)
    distinct = n_train - n_train // 4 - 4
    train = np.concatenate([points[:distinct], points[: n_train // 4], points[:4]])
    train = train[np.random.default_rng(2).permutation(n_train)]
    return train, np.concatenate([points[n_train : n_train + n_new - 2], train[:2]])


def split(n_new: int) -> tuple[np.ndarray, np.ndarray]:
    """Three groups of 40, 25 and 14 points, far from one another, in mixed order."""
    rng = np.random.default_rng(3)
    sizes, centres = (40, 25, 14), np.array([[0.0, 0, 0], [30, 0, 0], [0, 40, 0]])
    train = np.concatenate(
        [curve(size, seed) + centre for seed, (size, centre) in enumerate(zip(sizes, centres, strict=True))]
    )
    new = curve(n_new, seed=9) + centres[np.arange(n_new) % 3]
    return train[rng.permutation(len(train))], new


def pair_of_groups(n_new: int) -> tuple[np.ndarray, np.ndarray]:
    """Two groups of 40 points, far from each other."""
    return np.concatenate([curve(40), curve(40, seed=1) + 30]), curve(n_new, seed=9)


def lonely(n_new: int) -> tuple[np.ndarray, np.ndarray]:
    """One group, a pair of points and a point alone."""
    far = np.array([[20.0, 0, 0], [20.1, 0, 0], [0, 30.0, 0]])
    return np.concatenate([curve(60), far]), curve(n_new, seed=9)


def counts(n: int) -> sparse.csr_array:
    """Sparse rows of small positive numbers."""
    rng = np.random.default_rng(4)
    dense = rng.poisson(0.7, (n, 15)) * (0.5 + rng.random((n, 15)))
    dense[:, 0] += 1  # no empty row
    return sparse.csr_array(dense)


def words(n: int) -> list[str]:
    """Different words of different lengths."""
    rng = np.random.default_rng(5)
    made: dict[str, None] = {}
    while len(made) < n:
        made["".join(rng.choice(list("abcdefgh"), rng.integers(3, 9)))] = None
    return list(made)


def neighbor_graph(distances: np.ndarray, k: int, own: bool) -> sparse.csr_array:
    """The ``k`` shortest distances of each row, as a sparse graph; with ``own`` a point does not list
    itself."""
    ranked = distances.copy()
    if own:
        np.fill_diagonal(ranked, np.inf)
    column = np.argsort(ranked, axis=1, kind="stable")[:, :k]
    row = np.repeat(np.arange(len(distances)), k)
    return sparse.csr_array((distances[row, column.ravel()], (row, column.ravel())), shape=distances.shape)


def _cut(points: Any) -> tuple[Any, Any]:
    return points[:N_TRAIN], points[N_TRAIN:]


def _distances(pair: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return cdist(pair[0], pair[0]), cdist(pair[1], pair[0])  # exact: 0 between equal rows


def _graphs(pair: tuple[np.ndarray, np.ndarray], k: int = 14) -> tuple[sparse.csr_array, sparse.csr_array]:
    own, new = _distances(pair)
    return neighbor_graph(own, k, own=True), neighbor_graph(new, k, own=False)


def _similarities(pair: tuple[np.ndarray, np.ndarray], least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    own, new = (np.exp(-np.square(table)) for table in _distances(pair))
    return np.where(own > least, own, 0.0), np.where(new > least, new, 0.0)


def _sparse(pair: tuple[np.ndarray, np.ndarray]) -> tuple[sparse.csr_array, sparse.csr_array]:
    return sparse.csr_array(pair[0]), sparse.csr_array(pair[1])


_CURVE = partial(curve, N_TRAIN + N_NEW)
_DATA: dict[str, Callable[[], tuple[Any, Any]]] = {
    "curve": lambda: _cut(_CURVE()),
    "positive": lambda: _cut(np.exp(wide(N_TRAIN + N_NEW))),
    "wide": lambda: _cut(wide(N_TRAIN + N_NEW)),
    "flat": lambda: _cut(flat(N_TRAIN + N_NEW)),
    "gaps": lambda: _cut(with_gaps(N_TRAIN + N_NEW)),
    "counts": lambda: _cut(counts(N_TRAIN + N_NEW)),
    "words": lambda: _cut(words(N_TRAIN + N_NEW)),
    "twins": lambda: twins(N_TRAIN, N_NEW),
    "twin counts": lambda: _sparse(tuple(np.maximum(part, 0) for part in twins(N_TRAIN, N_NEW))),
    "distances": lambda: _distances(_cut(_CURVE())),
    "narrow distances": lambda: tuple(part[:, GIVEN] for part in _distances(_cut(_CURVE()))),
    "twin distances": lambda: _distances(twins(N_TRAIN, N_NEW)),
    "sparse distances": lambda: tuple(  # all within twice the radius of a graph
        sparse.csr_array(np.where(part < 2.4, part, 0.0)) for part in _distances(_cut(_CURVE()))
    ),
    "graph": lambda: _graphs(_cut(_CURVE())),
    "twin graph": lambda: _graphs(twins(N_TRAIN, N_NEW)),
    "similarities": lambda: _similarities(_cut(_CURVE())),
    "twin similarities": lambda: _similarities(twins(N_TRAIN, N_NEW)),
    "sparse similarities": lambda: _sparse(_similarities(_cut(_CURVE()), least=0.1)),
    "split": lambda: split(N_NEW),
    "pair": lambda: pair_of_groups(N_NEW),
    "split distances": lambda: _distances(split(N_NEW)),
    "split graph": lambda: _graphs(split(N_NEW), k=8),
    "split similarities": lambda: _similarities(split(N_NEW)),
    "split sparse similarities": lambda: _sparse(_similarities(split(N_NEW))),
    "lonely": lambda: lonely(N_NEW),
    "lonely distances": lambda: _distances(lonely(N_NEW)),
}


@cache
def _made(kind: str) -> tuple[Any, Any]:
    return _DATA[kind]()


def load(kind: str, dtype: type = np.float64) -> tuple[Any, Any]:
    """Fresh training points and new points of a kind."""
    train, new = _made(kind)
    return (train[:], new[:]) if kind == "words" else (train.astype(dtype), new.astype(dtype))


#: The points of which tables of distances or similarities to the training points are made.
_POINTS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "distances": lambda: _cut(_CURVE()),
    "narrow distances": lambda: _cut(_CURVE()),
    "twin distances": lambda: twins(N_TRAIN, N_NEW),
    "graph": lambda: _cut(_CURVE()),
    "twin graph": lambda: twins(N_TRAIN, N_NEW),
    "similarities": lambda: _cut(_CURVE()),
    "twin similarities": lambda: twins(N_TRAIN, N_NEW),
    "sparse similarities": lambda: _cut(_CURVE()),
    "split distances": lambda: split(N_NEW),
    "split graph": lambda: split(N_NEW),
    "split similarities": lambda: split(N_NEW),
    "split sparse similarities": lambda: split(N_NEW),
    "lonely distances": lambda: lonely(N_NEW),
}


def among_new(kind: str) -> Any:
    """The table among the new points, for kinds of which a point is a row of a table; otherwise None."""
    if kind not in _POINTS:
        return None
    new = _POINTS[kind]()[1]
    if "similarities" in kind:
        own = _similarities((new, new), least=0.1 if kind == "sparse similarities" else 0.0)[0]
        return sparse.csr_array(own) if "sparse" in kind else own
    return cdist(new, new)


def disconnected(kind: str) -> bool:
    """Whether the graph of such data falls into several components."""
    return kind.startswith(("split", "lonely", "pair"))


# --- functions of two samples -------------------------------------------------------------------------------


def taxi(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(x - y).sum())


def bump(x: np.ndarray, y: np.ndarray) -> float:
    return float(1 / (1 + np.square(x - y).sum()))


def _letters(word: str) -> np.ndarray:
    return np.array([word.count(letter) + 0.1 * (word[0] == letter) for letter in "abcdefgh"])


@cache  # which laws ask of the same words over and over
def shared_letters(a: str, b: str) -> float:
    first, second = _letters(a), _letters(b)
    return float(first @ second / np.sqrt((first @ first) * (second @ second)))


@cache
def different_letters(a: str, b: str) -> float:
    return float(np.abs(_letters(a) - _letters(b)).sum() + 0.3 * abs(len(a) - len(b)))


# --- the list -----------------------------------------------------------------------------------------------

CASES: list[Case] = []
#: Estimators without a kernel, hence without a spectrum, eigenfunctions or a loss: laws 3 and 7 have nothing
#: to say about them, the others hold. A kernel eigenmap and a locality preserving projection are functions
#: G'z(x) found in a small space: their spectrum is that of the graph seen through z, and test_eigenmaps.py
#: has the laws about it. A difference of signal and noise has no kernel either. (Distortion discriminant
#: analysis is not here: its rows are time steps, and fewer come out.)
WITHOUT_KERNEL: list[Case] = []
MAPS: list[Case] = []
#: Classifiers, regressors and densities: their law is that rows are answered alone (test_predictor_laws.py).
PREDICTORS: list[Case] = []


def _add(
    name: str, kind: str, cls: type, given: Callable[[Any], dict[str, Any]] = nothing, **params: Any
) -> None:
    CASES.append(Case(f"{cls.__name__}-{name}", partial(cls, **params), kind, given))


def _kernel_pca() -> None:
    for kernel in (
        "rbf",
        "gaussian",
        "linear",
        "poly",
        "polynomial",
        "laplacian",
        "laplace",
        "cosine",
        "sigmoid",
    ):
        _add(kernel, "curve", KernelPCA, kernel=kernel)
    for solver in ("dense", "lanczos"):
        _add(solver, "curve", KernelPCA, eigen_solver=solver)
        _add(
            f"sigmoid-magnitude-{solver}",
            "wide",
            KernelPCA,
            kernel="sigmoid",
            order="magnitude",
            n_components=4,
            eigen_solver=solver,
        )
    _add("gamma", "wide", KernelPCA, gamma=0.2, n_components=5)
    _add("blocked", "curve", KernelPCA, eigen_solver=BLOCKED)
    _add("blocked-lanczos", "curve", KernelPCA, eigen_solver=Solver("lanczos", storage="blocked"))
    _add("linear-all-components", "curve", KernelPCA, kernel="linear", n_components=None)
    _add("laplacian-all-components", "wide", KernelPCA, kernel="laplacian", n_components=None)
    _add("callable", "curve", KernelPCA, kernel=bump)
    _add("words", "words", KernelPCA, kernel=shared_letters)
    _add("object", "curve", KernelPCA, kernel=kernels.Gaussian(gamma=0.3))
    _add("precomputed", "similarities", KernelPCA, kernel="precomputed")
    _add("precomputed-sparse", "sparse similarities", KernelPCA, kernel="precomputed")
    _add("precomputed-twins", "twin similarities", KernelPCA, kernel="precomputed")
    _add("twins", "twins", KernelPCA)
    _add("blocked-twins", "twins", KernelPCA, kernel="poly", eigen_solver=BLOCKED)
    for kernel in ("rbf", "linear", "poly", "laplacian", "cosine", "sigmoid"):
        _add(f"{kernel}-sparse", "counts", KernelPCA, kernel=kernel)


def _dictionaries() -> None:
    """A dictionary for every kernel, normalisation and way of choosing."""
    add = partial(_add, cls=GreedySpectralEmbedding)
    coarse = Dictionary(tol=1e-2)
    for normalization in ("additive", "divisive", None):
        for sum_to_one in (True, False):
            for tol in (1e-1, 1e-6):
                name = f"{normalization}-{'hull' if sum_to_one else 'span'}-{tol}"
                members = Dictionary(tol=tol)
                add(name, "curve", normalization=normalization, sum_to_one=sum_to_one, dictionary=members)
        for averages in ("dictionary", "random"):
            add(
                f"{normalization}-{averages}",
                "curve",
                normalization=normalization,
                averages=averages,
                dictionary=coarse,
            )
        add(f"{normalization}-size", "wide", normalization=normalization, dictionary=Dictionary(25))
        add(f"{normalization}-twins", "twins", normalization=normalization)
        add(f"{normalization}-sparse", "counts", normalization=normalization, dictionary=coarse)
        add(f"{normalization}-precomputed", "similarities", kernel="precomputed", normalization=normalization)
        add(f"{normalization}-callable", "curve", kernel=bump, normalization=normalization, dictionary=coarse)
    for kernel in ("linear", "poly", "laplacian", "cosine"):
        add(kernel, "curve", kernel=kernel)
    for kernel in ("linear", "laplacian", "cosine"):
        add(f"{kernel}-all-components", "curve", kernel=kernel, n_components=None, dictionary=coarse)
    add("poly-ten-components", "curve", kernel="poly", n_components=10, dictionary=coarse)
    for selection in ("random", "maxmin", "kmeans"):
        add(selection, "curve", dictionary=Dictionary(20, selection=selection))
    add("numbers", "curve", dictionary=Dictionary(selection=[3, 1, 4, 15, 9, 26, 5, 35, 8]))
    add("points", "curve", dictionary=Dictionary(points=curve(15, seed=7)))
    add("words", "words", kernel=shared_letters, dictionary=coarse)
    for tol in (1e-1, 1e-6):
        add(
            f"divided-first-{tol}",
            "curve",
            normalization="divisive",
            normalize_first=True,
            dictionary=Dictionary(tol=tol),
        )
    for kernel in ("rbf", "linear", "poly"):
        _add(f"dictionary-{kernel}", "curve", KernelPCA, kernel=kernel, approximation=Dictionary(tol=1e-3))
    _add("dictionary-size", "wide", KernelPCA, approximation=Dictionary(30))
    _add(
        "dictionary-precomputed",
        "similarities",
        KernelPCA,
        kernel="precomputed",
        approximation=Dictionary(tol=1e-3),
    )
    _add("dictionary-twins", "twins", KernelPCA, approximation=Dictionary(tol=1e-4))
    _add("dictionary-points", "curve", KernelPCA, approximation=Dictionary(points=curve(15, seed=7)))
    fitted = GreedySpectralEmbedding(gamma=0.5, dictionary=coarse).fit(curve(60, seed=7))
    model = Dictionary(points=fitted)
    _add("dictionary-model", "curve", KernelPCA, gamma=0.5, approximation=model)
    add("model", "curve", gamma=0.5, dictionary=model)
    for cls, common in ((LaplacianEigenmaps, {}), (SpectralClustering, {"n_clusters": 3, "n_init": 2})):
        _add("dictionary", "curve", cls, affinity="rbf", approximation=Dictionary(tol=1e-4), **common)
        _add(
            "dictionary-size", "curve", cls, affinity="rbf", gamma=0.5, approximation=Dictionary(30), **common
        )
        _add("dictionary-twins", "twins", cls, affinity="rbf", approximation=Dictionary(tol=1e-4), **common)
        _add(
            "dictionary-poly", "positive", cls, affinity="poly", approximation=Dictionary(tol=1e-3), **common
        )
        _add("dictionary-model", "curve", cls, affinity="rbf", gamma=0.5, approximation=model, **common)


def _pca() -> None:
    for kind in ("curve", "wide", "flat", "twins", "counts"):
        _add(kind, kind, PCA)
        for solver in ("dense", "lanczos"):
            _add(f"{kind}-{solver}", kind, PCA, eigen_solver=solver)
    for kind in ("curve", "flat", "counts"):
        _add(f"{kind}-all-components", kind, PCA, n_components=None)
        _add(f"{kind}-whiten", kind, PCA, whiten=True, n_components=3)


def _maps() -> None:
    """Latent-variable models: no kernel, no eigenvalues, no loss."""
    for kind in ("curve", "wide", "flat", "twins"):
        MAPS.append(Case(f"ProbabilisticPCA-{kind}", ProbabilisticPCA, kind))
        MAPS.append(Case(f"ProbabilisticPCA-{kind}-em", partial(ProbabilisticPCA, method="em"), kind))
    MAPS.append(Case("ProbabilisticPCA-gaps", partial(ProbabilisticPCA, 3), "gaps"))
    MAPS.append(Case("ProbabilisticPCA-bayes", partial(ProbabilisticPCA, "bayes"), "wide"))
    MAPS.append(Case("ProbabilisticPCA-gaps-bayes", partial(ProbabilisticPCA, "bayes"), "gaps"))
    MAPS.append(Case("ProbabilisticPCA-mle", partial(ProbabilisticPCA, "mle"), "wide"))
    for kind in ("wide", "twins", "gaps"):
        MAPS.append(Case(f"FactorAnalysis-{kind}", partial(FactorAnalysis, max_iter=20_000), kind))
    for kind in ("curve", "wide", "flat", "twins", "gaps"):
        MAPS.append(Case(f"MixturePPCA-{kind}", partial(MixturePPCA, n_init=2, tol=1e-5), kind))
    MAPS.append(Case("ProbabilisticPCA-closed", partial(ProbabilisticPCA, method="closed"), "wide"))
    few = {"tol": 1e-6, "max_iter": 5000, "random_state": 1}
    MAPS.append(Case("ProbabilisticPCA-tol", partial(ProbabilisticPCA, method="em", **few), "wide"))
    MAPS.append(Case("FactorAnalysis-tol", partial(FactorAnalysis, 3, **few), "wide"))
    three = partial(MixturePPCA, 3, 1, n_init=1, noise_floor=1e-4, **few)
    MAPS.append(Case("MixturePPCA-three", three, "curve"))


def _classical_mds() -> None:
    for metric in ("euclidean", "l2", "cityblock", "chebyshev"):
        _add(metric, "curve", ClassicalMDS, metric=metric)
    _add("cosine", "wide", ClassicalMDS, metric="cosine")
    _add("minkowski", "curve", ClassicalMDS, metric="minkowski", metric_params={"p": 3})
    _add("callable", "curve", ClassicalMDS, metric=taxi)
    _add("precomputed", "distances", ClassicalMDS, metric="precomputed")
    _add("precomputed-twins", "twin distances", ClassicalMDS, metric="precomputed")
    _add("twins", "twins", ClassicalMDS, metric="cityblock")
    _add("sparse", "counts", ClassicalMDS)
    _add("cityblock-sparse", "counts", ClassicalMDS, metric="cityblock")
    _add("blocked", "curve", ClassicalMDS, eigen_solver=BLOCKED)
    weights = np.linspace(1, 3, N_TRAIN)
    _add("weights", "wide", ClassicalMDS, n_components=3, centering=weights / weights.sum())
    _add("weights-list", "curve", ClassicalMDS, metric="cityblock", centering=list(weights / weights.sum()))
    _add("weight-on-one", "curve", ClassicalMDS, centering=np.eye(N_TRAIN)[0])
    for solver in ("dense", "lanczos"):
        _add(solver, "curve", ClassicalMDS, eigen_solver=solver)
        _add(
            f"magnitude-{solver}",
            "wide",
            ClassicalMDS,
            metric="chebyshev",
            order="magnitude",
            n_components=6,
            eigen_solver=solver,
        )
    _add("words", "words", ClassicalMDS, metric=different_letters)
    for repair in ("clip", "shift"):
        _add(repair, "curve", ClassicalMDS, metric="cityblock", indefinite=repair, n_components=3)
        _add(
            f"{repair}-lanczos",
            "curve",
            ClassicalMDS,
            metric="cityblock",
            indefinite=repair,
            eigen_solver="lanczos",
        )
        _add(f"{repair}-twins", "twins", ClassicalMDS, metric="cityblock", indefinite=repair)
        _add(
            f"{repair}-weights",
            "curve",
            ClassicalMDS,
            metric="cityblock",
            indefinite=repair,
            centering=weights / weights.sum(),
        )
        _add(
            f"{repair}-precomputed-twins",
            "twin distances",
            ClassicalMDS,
            metric="precomputed",
            indefinite=repair,
        )
        _add(f"{repair}-words", "words", ClassicalMDS, metric=different_letters, indefinite=repair)
        _add(f"{repair}-sparse", "counts", ClassicalMDS, metric="cityblock", indefinite=repair)


def _threshold() -> None:
    """Spectral clustering by a cut in two."""
    add = partial(_add, cls=SpectralClustering, n_clusters=2, assign_labels="threshold")
    for weights in ("binary", "heat", "inverse"):
        add(f"threshold-{weights}", "curve", affinity=KNNGraph(weights=weights))
    for solver in ("dense", "lanczos", "shift-invert"):
        add(f"threshold-{solver}", "curve", eigen_solver=solver)
    add("threshold-radius", "curve", affinity=RadiusGraph(1.0))
    add("threshold-rbf", "curve", affinity="rbf")


def _rotations() -> None:
    """Spectral clustering by a rotation of the eigenfunctions, and by k-means on more of them."""
    for rule in ("discretize", "cluster_qr"):
        add = partial(_add, cls=SpectralClustering, n_clusters=3, assign_labels=rule)
        add(f"{rule}-neighbors", "curve")
        add(f"{rule}-twins", "twins")
        add(f"{rule}-rbf", "curve", affinity="rbf")
        add(f"{rule}-dictionary", "curve", affinity="rbf", approximation=Dictionary(tol=1e-4))
        add(f"{rule}-parts", "split", on_disconnected="per_component")
    _add("more-components", "curve", SpectralClustering, n_clusters=3, n_components=5, n_init=2)
    _add("fewer-components", "curve", SpectralClustering, n_clusters=4, n_components=2, n_init=2)
    add("threshold-precomputed-sparse", "sparse similarities", affinity="precomputed")
    add("threshold-twins", "twins", affinity=KNNGraph(weights="heat"))
    add("threshold-distances-twins", "twin distances", affinity="precomputed_nearest_neighbors")
    for mode in ("connect", "largest"):
        add(f"threshold-split-{mode}", "split", on_disconnected=mode)
    add("threshold-pair-per_component", "pair", on_disconnected="per_component")


def _affinities(cls: type, **common: Any) -> None:
    """The vocabulary that Laplacian eigenmaps, diffusion maps and spectral clustering share."""

    def add(name: str, kind: str, affinity: Any = "nearest_neighbors", **params: Any) -> None:
        _add(name, kind, cls, affinity=affinity, **params, **common)

    for weights in ("binary", "heat", "inverse", "local"):
        add(f"neighbors-{weights}", "curve", KNNGraph(weights=weights))
        add(f"radius-{weights}", "curve", RadiusGraph(1.0, weights=weights))
        add(f"twins-{weights}", "twins", KNNGraph(weights=weights))
    for solver in ("dense", "lanczos", "shift-invert", "multilevel"):
        add(f"neighbors-{solver}", "curve", eigen_solver=solver)
    add("approximate", "wide", KNNGraph(6, search="approximate"))
    add("approximate-cosine", "wide", KNNGraph(metric="cosine", weights="heat", search="approximate"))
    add("exact", "wide", KNNGraph(6, search="exact"))
    for solver in ("dense", "lanczos"):
        add(f"rbf-{solver}", "curve", "rbf", eigen_solver=solver)
    add("heat-width", "curve", KNNGraph(weights="heat", width=0.5))
    add("wide", "wide", n_neighbors=6)
    add("cosine-metric", "wide", KNNGraph(metric="cosine", weights="heat"))
    add("callable-metric", "curve", KNNGraph(metric=taxi, weights="heat"))
    add("flat-metric", "wide", metric="cosine")
    add("sparse", "counts", KNNGraph(weights="inverse"))
    add("twins-sparse", "twin counts", n_neighbors=6)
    for affinity in ("rbf", "laplacian", "gaussian", "laplace"):
        add(affinity, "curve", affinity, gamma=None if affinity == "rbf" else 1.0)
    for affinity in ("cosine", "linear", "poly", "sigmoid"):
        add(affinity, "positive", affinity)
        add(f"{affinity}-sparse", "counts", affinity)
    add("callable", "curve", bump)
    add("words", "words", shared_letters)
    add("object", "curve", kernels.Laplace(gamma=0.7))
    add("rbf-twins", "twins", "rbf")
    add("precomputed", "similarities", "precomputed")
    add("precomputed-sparse", "sparse similarities", "precomputed")
    add("precomputed-twins", "twin similarities", "precomputed")
    add("distances", "distances", KNNGraph(metric="precomputed", weights="heat"))
    add("distances-twins", "twin distances", KNNGraph(metric="precomputed", weights="inverse"))
    add("graph", "graph", KNNGraph(metric="precomputed", weights="heat"))
    add("graph-twins", "twin graph", "precomputed_nearest_neighbors")
    for rule in ("mutual", "shared"):
        add(f"{rule}-heat", "curve", KNNGraph(symmetrize=rule, weights="heat"))
        add(f"{rule}-twins", "twins", KNNGraph(symmetrize=rule))
        add(f"{rule}-distances", "twin distances", KNNGraph(metric="precomputed", symmetrize=rule))
        add(f"{rule}-graph", "graph", KNNGraph(metric="precomputed", symmetrize=rule))
    for name, n_neighbors in (("tree", None), ("tree-neighbors", 10)):
        for weights in ("binary", "heat", "inverse"):
            add(f"{name}-{weights}", "curve", SpanningTree(n_neighbors, weights=weights))
        for kind in ("twins", "wide", "counts"):
            add(f"{name}-{kind}", kind, SpanningTree(n_neighbors))
    add("tree-by-name", "curve", "spanning_tree")
    for mode in ("connect", "per_component", "largest"):
        apart = partial(add, on_disconnected=mode)
        for weights in ("binary", "heat", "inverse"):
            width = 100.0 if weights == "heat" else None  # wide enough for the edges that connect
            apart(f"split-{weights}-{mode}", "split", KNNGraph(weights=weights, width=width))
        apart(f"split-distances-{mode}", "split distances", "precomputed_nearest_neighbors")
        if (cls, mode) != (
            SpectralClustering,
            "per_component",
        ):  # a point without any neighbour has no cluster of its own
            apart(f"lonely-{mode}", "lonely", RadiusGraph(1.5))
        if mode != "connect":  # there are no distances by which to connect
            apart(f"split-graph-{mode}", "split graph", "precomputed_nearest_neighbors", n_neighbors=5)
            apart(f"split-rbf-{mode}", "split", "rbf", gamma=1.0)
            apart(f"split-precomputed-{mode}", "split similarities", "precomputed")
            apart(f"split-precomputed-sparse-{mode}", "split sparse similarities", "precomputed")


def _without_diagonal(cls: type) -> None:
    """Affinities of a sample to itself set to 0."""
    add = partial(_add, cls=cls, include_diagonal=False)
    for solver in ("dense", "lanczos"):
        add(f"rbf-no-diagonal-{solver}", "curve", affinity="rbf", eigen_solver=solver)
    add("no-diagonal", "curve")
    for affinity in ("cosine", "linear", "poly", "sigmoid"):
        add(f"{affinity}-sparse-no-diagonal", "counts", affinity=affinity)
    add("words-no-diagonal", "words", affinity=shared_letters)
    add("object-no-diagonal", "curve", affinity=kernels.Laplace(gamma=0.7))
    add("rbf-twins-no-diagonal", "twins", affinity="rbf")
    add("precomputed-no-diagonal", "similarities", affinity="precomputed")
    add("precomputed-sparse-no-diagonal", "sparse similarities", affinity="precomputed")
    add("precomputed-twins-no-diagonal", "twin similarities", affinity="precomputed")


def _diffusion() -> None:
    """What a diffusion map has beyond the affinities, and eigenvectors passed over."""
    add = partial(_add, cls=DiffusionMap, affinity="rbf")
    local = partial(_add, cls=DiffusionMap, affinity=kernels.VariableGaussian())
    for alpha in (0, 0.5, 1):
        for time in (0, 0.5, 3):
            add(f"alpha-{alpha}-time-{time}", "curve", alpha=alpha, diffusion_time=time)
        add(f"alpha-{alpha}-no-diagonal", "curve", alpha=alpha, include_diagonal=False)
        local(f"alpha-{alpha}-local", "curve", alpha=alpha)
        add(f"alpha-{alpha}-twins", "twins", alpha=alpha)
        add(f"alpha-{alpha}-callable", "curve", alpha=alpha, affinity=bump)
        add(f"alpha-{alpha}-precomputed", "similarities", alpha=alpha, affinity="precomputed")
        add(f"alpha-{alpha}-graph", "curve", alpha=alpha, affinity=KNNGraph(weights="heat"))
        given = KNNGraph(metric="precomputed", weights="heat")
        add(f"alpha-{alpha}-distances", "distances", alpha=alpha, affinity=given)
    local("local-twins", "twins", affinity=kernels.VariableGaussian(5, 0.5))
    local("local-sparse", "counts")
    local("local-wide", "wide", include_diagonal=False)
    for mode in ("connect", "per_component", "largest"):
        local(f"split-local-{mode}", "split", affinity=kernels.VariableGaussian(3), on_disconnected=mode)
    graph = partial(_add, cls=DiffusionMap, affinity=KNNGraph(6, weights="local"))
    for alpha in (0, 0.5, 1):
        graph(f"local-graph-{alpha}", "curve", alpha=alpha)
        graph(f"local-graph-{alpha}-twins", "twins", alpha=alpha)
    graph("local-graph-mutual", "curve", affinity=KNNGraph(6, symmetrize="mutual", weights="local"))
    for mode in ("connect", "per_component", "largest"):
        graph(f"split-local-graph-{mode}", "split", on_disconnected=mode)
    for cls in (LaplacianEigenmaps, DiffusionMap):
        _add("independent", "curve", cls, affinity="rbf", independent=True)
        _add("independent-graph", "curve", cls, independent=Independence(threshold=0.1))
        candidates = Independence(n_candidates=12)
        _add("independent-twins", "twins", cls, affinity="rbf", independent=candidates)
        _add(
            "independent-split",
            "split",
            cls,
            n_neighbors=4,
            independent=True,
            on_disconnected="per_component",
        )


def _isomap() -> None:
    for repair in ("keep", "clip", "shift"):
        _add(f"neighbors-{repair}", "curve", Isomap, indefinite=repair)
        _add(f"radius-{repair}", "curve", Isomap, graph=RadiusGraph(1.0), indefinite=repair)
        _add(f"distances-{repair}", "distances", Isomap, metric="precomputed", indefinite=repair)
        _add(
            f"distances-radius-{repair}",
            "distances",
            Isomap,
            graph=RadiusGraph(1.0, metric="precomputed"),
            indefinite=repair,
        )
        _add(f"graph-{repair}", "graph", Isomap, metric="precomputed", indefinite=repair)
        _add(f"twins-{repair}", "twins", Isomap, indefinite=repair, n_components=3)
        _add(f"distances-twins-{repair}", "twin distances", Isomap, metric="precomputed", indefinite=repair)
    for solver in ("dense", "lanczos"):
        _add(
            f"magnitude-{solver}",
            "curve",
            Isomap,
            order="magnitude",
            n_components=5,
            n_neighbors=5,
            eigen_solver=solver,
        )
        _add(solver, "curve", Isomap, eigen_solver=solver)
    _add("wide", "wide", Isomap, n_neighbors=6)
    _add("cosine", "wide", Isomap, metric="cosine")
    _add("approximate", "wide", Isomap, graph=KNNGraph(6, search="approximate"))
    _add("cityblock", "curve", Isomap, metric="cityblock")
    _add("callable", "curve", Isomap, metric=taxi)
    _add("sparse", "counts", Isomap)
    _add("twins-sparse", "twin counts", Isomap, n_neighbors=6)
    _add("graph-twins", "twin graph", Isomap, metric="precomputed")
    for rule in ("mutual", "shared"):
        _add(rule, "curve", Isomap, graph=KNNGraph(symmetrize=rule))
        _add(f"{rule}-graph", "twin graph", Isomap, graph=KNNGraph(metric="precomputed", symmetrize=rule))
        _add(f"{rule}-landmarks", "twins", Isomap, graph=KNNGraph(symmetrize=rule), n_landmarks=20)
        graph = KNNGraph(symmetrize=rule)
        _add(f"{rule}-split", "split", Isomap, graph=graph, on_disconnected="per_component")
    for mode in ("connect", "per_component", "largest"):
        apart = partial(_add, cls=Isomap, on_disconnected=mode)
        for repair in ("keep", "clip", "shift"):
            apart(f"split-{repair}-{mode}", "split", indefinite=repair)
        apart(f"split-distances-{mode}", "split distances", metric="precomputed")
        apart(f"lonely-{mode}", "lonely", graph=RadiusGraph(1.5))
        apart(f"lonely-distances-{mode}", "lonely distances", graph=RadiusGraph(1.5, metric="precomputed"))
        if mode != "connect":
            apart(f"split-graph-{mode}", "split graph", metric="precomputed", n_neighbors=5)


def _landmark_mds() -> None:
    for how in ("maxmin", "random", "kmeans", "greedy"):
        _add(how, "curve", LandmarkMDS, approximation=Landmarks(12, how))
        _add(f"{how}-auto", "wide", LandmarkMDS, approximation=Landmarks(selection=how), n_components=3)
        _add(f"{how}-twins", "twins", LandmarkMDS, approximation=Landmarks(20, how))
    _add("all", "twins", LandmarkMDS, n_landmarks=N_TRAIN)
    _add("given", "curve", LandmarkMDS, approximation=Landmarks(None, GIVEN))
    _add("points", "curve", LandmarkMDS, approximation=Landmarks(None, curve(11, seed=7)), n_components=3)
    _add("cosine", "wide", LandmarkMDS, metric="cosine", n_landmarks=25)
    _add("seuclidean", "curve", LandmarkMDS, metric="seuclidean", n_landmarks=25)
    _add("callable", "curve", LandmarkMDS, metric=taxi, n_landmarks=10)
    _add("words", "words", LandmarkMDS, metric=different_letters, n_landmarks=15)
    _add(
        "words-points",
        "words",
        LandmarkMDS,
        metric=different_letters,
        approximation=Landmarks(None, ["abba", "cafe", "head", "bee", "gag", "fad"]),
    )
    _add("precomputed", "distances", LandmarkMDS, metric="precomputed", n_landmarks=15)
    _add(
        "precomputed-twins",
        "twin distances",
        LandmarkMDS,
        metric="precomputed",
        approximation=Landmarks(selection="greedy"),
    )
    _add(
        "precomputed-narrow",
        "narrow distances",
        LandmarkMDS,
        metric="precomputed",
        approximation=Landmarks(None, GIVEN),
    )
    _add("sparse", "counts", LandmarkMDS, n_landmarks=30)
    _add("kmeans-sparse", "counts", LandmarkMDS, approximation=Landmarks(30, "kmeans"))
    for solver in ("dense", "lanczos"):
        _add(
            f"magnitude-{solver}",
            "wide",
            LandmarkMDS,
            metric="chebyshev",
            order="magnitude",
            n_landmarks=30,
            eigen_solver=solver,
        )
    for repair in ("clip", "shift"):
        _add(repair, "curve", LandmarkMDS, metric="cityblock", indefinite=repair, n_landmarks=20)
        _add(
            f"{repair}-precomputed",
            "distances",
            LandmarkMDS,
            metric="precomputed",
            indefinite=repair,
            n_landmarks=20,
        )


def _landmark_isomap() -> None:
    add = partial(_add, cls=Isomap)
    for how in ("maxmin", "random", "kmeans", "greedy"):
        add(f"landmarks-{how}", "curve", approximation=Landmarks(20, how))
        add(f"landmarks-{how}-auto", "curve", approximation=Landmarks("auto", how))
        add(f"landmarks-{how}-twins", "twins", approximation=Landmarks(20, how))
    for repair in ("clip", "shift"):
        add(f"landmarks-{repair}", "curve", n_landmarks=20, indefinite=repair)
        add(
            f"landmarks-{repair}-graph", "twin graph", n_landmarks=20, metric="precomputed", indefinite=repair
        )
    add("landmarks-all", "twins", n_landmarks=N_TRAIN)
    add("landmarks-given", "curve", approximation=Landmarks(None, GIVEN))
    add("landmarks-points", "curve", approximation=Landmarks(None, curve(11, seed=7)))
    add("landmarks-magnitude", "curve", n_landmarks=30, order="magnitude", n_components=4, n_neighbors=5)
    add("landmarks-radius", "curve", n_landmarks=20, graph=RadiusGraph(1.0))
    add("landmarks-approximate", "wide", n_landmarks=20, graph=KNNGraph(6, search="approximate"))
    add("landmarks-sparse", "twin counts", n_landmarks=20, n_neighbors=6)
    add("landmarks-distances-twins", "twin distances", n_landmarks=20, metric="precomputed")
    add("landmarks-distances-given", "distances", metric="precomputed", approximation=Landmarks(None, GIVEN))
    add("landmarks-graph-given", "graph", metric="precomputed", approximation=Landmarks(None, GIVEN))
    for mode in ("connect", "per_component", "largest"):
        apart = partial(add, on_disconnected=mode)
        apart(f"landmarks-split-{mode}", "split", n_landmarks=20)
        apart(f"landmarks-split-auto-{mode}", "split", n_landmarks="auto")
        apart(f"landmarks-split-shift-{mode}", "split", n_landmarks=20, indefinite="shift")
        apart(f"landmarks-split-distances-{mode}", "split distances", n_landmarks=20, metric="precomputed")
        apart(f"landmarks-lonely-{mode}", "lonely", n_landmarks=20, graph=RadiusGraph(1.5))
        if mode != "connect":
            apart(
                f"landmarks-split-graph-{mode}",
                "split graph",
                n_landmarks=20,
                metric="precomputed",
                n_neighbors=5,
            )


def _pivots() -> None:
    for cls in PROJECTIONS:
        for metric in ("euclidean", "cityblock"):
            _add(metric, "curve", cls, metric=metric)
        _add("cosine", "wide", cls, metric="cosine")
        _add("twins", "twins", cls)
        _add("sparse", "counts", cls)
        _add("words", "words", cls, metric=different_letters)
        _add("precomputed", "distances", cls, metric="precomputed")
        _add("precomputed-twins", "twin distances", cls, metric="precomputed", n_components=3)
    _add("rounds", "wide", FastMap, n_rounds=1, n_components=5)
    _add("value", "wide", MetricMap, metric="chebyshev", order="value", n_landmarks=30, n_components=4)
    _add("magnitude", "wide", MetricMap, metric="chebyshev", n_landmarks=30, n_components=6)
    for how in ("maxmin", "kmeans", "greedy"):
        _add(how, "curve", MetricMap, approximation=Landmarks(10, how))
    _add("given", "curve", MetricMap, approximation=Landmarks(None, GIVEN))


def _lle() -> None:
    cls = LocallyLinearEmbedding
    for method in ("standard", "modified", "hessian", "ltsa"):
        for c in (None, 3.0):
            suffix = "" if c is None else "-c"
            _add(f"{method}{suffix}", "curve", cls, method=method, c=c, n_neighbors=10)
            _add(f"{method}{suffix}-twins", "twins", cls, method=method, c=c, n_neighbors=10)
        for solver in ("dense", "lanczos", "shift-invert"):
            _add(f"{method}-{solver}", "curve", cls, method=method, n_neighbors=10, eigen_solver=solver)
        for mode in ("connect", "per_component", "largest"):
            _add(f"{method}-split-{mode}", "split", cls, method=method, on_disconnected=mode, reg=1e-2)
            _add(
                f"{method}-split-distances-{mode}",
                "split distances",
                cls,
                method=method,
                metric="precomputed",
                on_disconnected=mode,
                reg=1e-2,
            )
        _add(f"{method}-wide", "wide", cls, method=method, n_neighbors=10)
        _add(f"{method}-cityblock", "wide", cls, method=method, metric="cityblock", n_neighbors=10)
        _add(f"{method}-radius", "wide", cls, method=method, graph=RadiusGraph(2.5))
        _add(f"{method}-distances", "distances", cls, method=method, metric="precomputed")
        _add(
            f"{method}-distances-twins",
            "twin distances",
            cls,
            method=method,
            metric="precomputed",
            n_neighbors=12,
        )
    _add("distances-c", "distances", cls, graph=RadiusGraph(1.5, metric="precomputed"), c=3.0)
    _add("callable", "curve", cls, metric=taxi, reg=1e-2)
    _add("seuclidean", "wide", cls, metric="seuclidean", n_neighbors=10)
    _add("sparse", "counts", cls, n_neighbors=10)
    _add("cosine-sparse", "counts", cls, metric="cosine", n_neighbors=10)
    _add("sparse-distances", "sparse distances", cls, graph=RadiusGraph(1.2, metric="precomputed"))
    for mode in ("connect", "per_component", "largest"):
        _add(f"lonely-{mode}", "lonely", cls, graph=RadiusGraph(1.5), reg=1e-2, on_disconnected=mode)
    _add("cosine", "wide", cls, metric="cosine", n_neighbors=10)
    _add("approximate", "wide", cls, graph=KNNGraph(10, search="approximate"))
    _add("c-split", "split", cls, c=2.0, on_disconnected="per_component", reg=1e-2)


def _some_noise(X: Any) -> dict[str, Any]:
    return {
        "noise": np.random.default_rng(6).standard_normal((200, X.shape[1]))
        * np.linspace(0.1, 0.3, X.shape[1])
    }


def _two_versions(X: Any) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    return {"distorted": [X + 0.1 * rng.standard_normal(X.shape) for _ in range(2)]}


def _groups(X: Any) -> dict[str, Any]:
    return {"y": np.arange(X.shape[0]) // 4}


def _oriented_pca() -> None:
    for kind in ("curve", "wide", "twins"):
        _add(f"noise-{kind}", kind, OrientedPCA, _some_noise)
        _add(f"groups-{kind}", kind, OrientedPCA, _groups)
        _add(f"regularized-{kind}", kind, OrientedPCA, _two_versions, regularization=0.3, n_components=3)
    _add("distorted", "wide", OrientedPCA, _two_versions, n_components=5)
    _add("all-components", "curve", OrientedPCA, _two_versions, n_components=None)


def _projection_pursuit() -> None:
    def add(name: str, kind: str, **params: Any) -> None:
        WITHOUT_KERNEL.append(
            Case(f"ProjectionPursuit-{name}", partial(ProjectionPursuit, n_init=4, **params), kind)
        )

    for index in ("negentropy", "kurtosis", "friedman-tukey"):
        add(index, "curve", index=index)
    add("wide", "wide", n_components=3, max_iter=2000)
    add("twins", "twins")


def _eigenmaps() -> None:
    def add(cls: type, name: str, kind: str, **params: Any) -> None:
        WITHOUT_KERNEL.append(Case(f"{cls.__name__}-{name}", partial(cls, **params), kind))

    add(KernelEigenmap, "default", "curve")
    for kind in ("wide", "twins"):
        add(KernelEigenmap, kind, kind, n_kernels=3)
    for placement in ("kmeans", "maxmin", "greedy"):
        add(KernelEigenmap, placement, "curve", kernels=LocalKernels(centers=placement), n_kernels=6)
    for correction in ("raw", "affine", "reweighted", "stochastic"):
        add(
            KernelEigenmap,
            f"densities-{correction}",
            "curve",
            correction=correction,
            posterior=False,
            n_kernels=6,
        )
    add(KernelEigenmap, "iterative", "curve", n_kernels=6, eigen_solver="iterative")
    add(KernelEigenmap, "elliptic", "curve", kernels=LocalKernels(covariances="full"), n_kernels=6)
    add(KernelEigenmap, "elliptic-wide", "wide", kernels=LocalKernels(covariances="full"), n_kernels=3)
    add(
        KernelEigenmap,
        "elliptic-densities",
        "curve",
        kernels=LocalKernels(covariances="full"),
        n_kernels=6,
        posterior=False,
    )
    for n_local in (0, 1):
        add(
            KernelEigenmap,
            f"local-{n_local}",
            "curve",
            kernels=LocalKernels(local_components=n_local),
            n_kernels=8,
            inverse="blocks",
        )
    add(KernelEigenmap, "features", "wide", basis="features", correction="affine", n_components=3)
    add(KernelEigenmap, "sparse-features", "counts", basis="features", correction="affine", n_components=3)
    add(
        KernelEigenmap,
        "auto",
        "curve",
        n_kernels="auto",
        kernels=LocalKernels(local_components=1),
        regularization=1.0,
    )
    for affine in (True, False):
        for kind in ("curve", "wide", "twins"):
            add(LocalityPreservingProjection, f"{kind}-{affine}", kind, affine=affine)


def _ordinal() -> None:
    def add(name: str, kind: str, **params: Any) -> None:
        WITHOUT_KERNEL.append(
            Case(f"OrdinalMDS-{name}", partial(OrdinalMDS, n_init=2, tol=1e-5, max_iter=2000, **params), kind)
        )

    for ties in ("primary", "secondary"):
        add(ties, "curve", ties=ties)
        add(f"{ties}-twins", "twins", ties=ties)
        add(f"{ties}-twin-distances", "twin distances", ties=ties, metric="precomputed")
        add(f"{ties}-words", "words", ties=ties, metric=different_letters)
    add("cityblock", "wide", metric="cityblock", n_components=3)
    add("callable", "curve", metric=taxi, n_components=1)
    add("sparse", "counts")

    def isomap(name: str, kind: str, ties: str = "primary", **params: Any) -> None:
        WITHOUT_KERNEL.append(
            Case(
                f"Isomap-ordinal-{name}",
                partial(Isomap, ordinal=Ordinal(n_init=2, ties=ties, max_iter=3000), **params),
                kind,
            )
        )

    isomap("neighbors", "curve")
    isomap("twins", "twins", ties="secondary")
    isomap("distances", "twin distances", metric="precomputed")
    isomap("graph", "twin graph", metric="precomputed")


def _parametric() -> None:
    for kind in ("curve", "twins", "counts"):
        WITHOUT_KERNEL.append(Case(f"ParametricMap-{kind}", partial(ParametricMap, n_features=60), kind))


def _pictures() -> None:
    def add(cls: type, name: str, kind: str, **params: Any) -> None:
        WITHOUT_KERNEL.append(Case(f"{cls.__name__}-{name}", partial(cls, **params), kind))

    for name, kind, params in (
        ("curve", "curve", {}),
        ("one", "wide", {"n_components": 1}),
        ("twins", "twins", {}),
        ("sparse", "counts", {}),
        ("distances", "twin distances", {"metric": "precomputed"}),
        ("graph", "twin graph", {"metric": "precomputed", "n_neighbors": 10}),
        ("callable", "curve", {"metric": taxi}),
    ):
        add(NeighborEmbedding, name, kind, max_iter=100, **params)
        add(PotentialMap, name, kind, **params)
    add(NeighborEmbedding, "islands", "curve", exaggeration=4.0, max_iter=100)
    add(PotentialMap, "landmarks", "twins", n_landmarks=20)
    add(PotentialMap, "steps", "wide", n_steps=1, n_components=3)


def _anchors() -> None:
    """The kernel ``A H A'`` is one under the measure of the degrees."""
    for kind in ("curve", "twins", "wide"):
        case = partial(LaplacianEigenmaps, approximation=Anchors(20))
        WITHOUT_KERNEL.append(Case(f"LaplacianEigenmaps-anchors-{kind}", case, kind))
    heat = partial(LaplacianEigenmaps, affinity=RadiusGraph(1.0, weights="heat"), approximation=Anchors(25))
    WITHOUT_KERNEL.append(Case("LaplacianEigenmaps-anchors-heat", heat, "curve"))


def _supervised() -> None:
    """Labels mixed into the graph."""
    for cls in (LaplacianEigenmaps, DiffusionMap):
        _add("labels", "curve", cls, some_labels, target_weight=0.7)
    add = partial(_add, cls=LaplacianEigenmaps, given=some_labels, target_weight=0.3)
    add("labels-twins", "twins", affinity=KNNGraph(6, weights="heat"))
    add("labels-sparse", "counts")
    add("labels-graph", "graph", affinity="precomputed_nearest_neighbors", n_neighbors=8)
    add("labels-twin-distances", "twin distances", affinity="precomputed_nearest_neighbors", n_neighbors=8)
    add("labels-connect", "split", n_neighbors=6)
    add("labels-per-component", "split", n_neighbors=6, on_disconnected="per_component")


def _objects() -> None:
    """A neighbour searcher of scikit-learn, and an option for the eigensolver."""
    search = NearestNeighbors(algorithm="ball_tree")
    for cls in (LaplacianEigenmaps, Isomap, LocallyLinearEmbedding):
        name = "affinity" if cls is LaplacianEigenmaps else "graph"
        objects = {name: KNNGraph(search=search), "eigen_solver": Solver("dense")}
        _add("objects", "curve", cls, **objects)
        _add("objects-twins", "twins", cls, **objects)
        objects[name] = KNNGraph(8, search=search)
        _add("objects-split", "split", cls, on_disconnected="per_component", **objects)


#: Arguments of a metric other than the default.
CUBIC: dict[str, Any] = {"metric": "minkowski", "metric_params": {"p": 3}}


def _other_options() -> None:
    """Fields of options that the cases above leave at their defaults."""
    add = partial(_add, cls=DiffusionMap, random_state=1)
    add("polynomial", "positive", affinity="polynomial", n_components=3)
    add("graph-cubic", "curve", affinity=KNNGraph(**CUBIC))
    radius = RadiusGraph(1.5, **CUBIC, weights="heat", width=0.5, search="exact")
    add("radius-cubic", "curve", affinity=radius)
    tree = SpanningTree(4, **CUBIC, weights="heat", width=0.5, search="exact")
    add("tree-cubic", "curve", affinity=tree)
    add("tree-local", "curve", affinity=SpanningTree(4, weights="local", search="approximate"))
    patient = Solver("lanczos", tol=1e-12, max_iter=500)
    for cls in (PCA, LandmarkMDS, DiffusionMap, ClassicalMDS):
        _add("patient", "wide", cls, eigen_solver=patient, random_state=1)
    _add("patient", "curve", SpectralClustering, n_clusters=3, eigen_solver=patient, random_state=1)
    pivots = partial(_add, kind="wide", cls=MetricMap, n_landmarks=30, random_state=1)
    for name, solver in (("dense", "dense"), ("lanczos", "lanczos"), ("patient", patient)):
        pivots(name, eigen_solver=solver)
    _add("tree", "wide", Isomap, graph=SpanningTree(8), random_state=1)
    _add("greedy-tol", "curve", LandmarkMDS, approximation=Landmarks(selection="greedy", tol=1e-3))
    _add("rpcholesky", "curve", GreedySpectralEmbedding, dictionary=Dictionary(20, selection="rpcholesky"))


def _other_values() -> None:
    """Values of parameters that the cases above leave out."""
    _add("mle", "wide", PCA, n_components="mle")
    polynomial = {"gamma": 0.5, "degree": 2, "coef0": 0.5, "random_state": 1}
    for cls in (KernelPCA, GreedySpectralEmbedding):
        _add("degree", "curve", cls, kernel="poly", **polynomial)
        for inverse in ("fixed-point", "ridge"):
            _add(f"inverse-{inverse}", "curve", cls, inverse=inverse)
            options = {"alpha": 0.1, "gamma": 0.5} if inverse == "ridge" else {}
            _add(f"inverse-{inverse}-options", "wide", cls, inverse=Inverse(inverse, **options))
        _add("inverse-auto-options", "curve", cls, inverse=Inverse())
    for kernel in ("polynomial", "gaussian", "laplace"):
        _add(kernel, "curve", GreedySpectralEmbedding, kernel=kernel)
    _add("polynomial", "positive", LaplacianEigenmaps, affinity="polynomial", n_components=3, random_state=1)
    _add("polynomial", "positive", SpectralClustering, affinity="polynomial", n_clusters=3, n_init=3)
    _add("auto-clusters", "split", SpectralClustering, n_clusters="auto", max_clusters=6, n_init=3)
    _add("auto", "curve", LandmarkMDS, n_landmarks="auto")
    for cls in (FastMap, MetricMap, LandmarkMDS):
        _add("cubic", "curve", cls, **CUBIC, random_state=1)
    _add(
        "multilevel",
        "wide",
        LocallyLinearEmbedding,
        n_components=3,
        eigen_solver="multilevel",
        random_state=1,
    )
    difference = partial(OrientedPCA, criterion="difference")
    WITHOUT_KERNEL.append(Case("OrientedPCA-difference", difference, "wide", _two_versions))

    def add(cls: type, name: str, kind: str, **params: Any) -> None:
        WITHOUT_KERNEL.append(Case(f"{cls.__name__}-{name}", partial(cls, **params), kind))

    add(Isomap, "ordinal-default", "curve", ordinal=True)
    add(OrdinalMDS, "cubic", "curve", **CUBIC, random_state=1)
    add(ParametricMap, "gamma", "curve", gamma=0.5, n_features=60, random_state=1)
    embedder = LaplacianEigenmaps().fit(load("curve")[0])
    add(ParametricMap, "prefit", "curve", embedder=embedder, prefit=True, n_features=60)
    add(ProjectionPursuit, "tol", "curve", tol=1e-5, random_state=1)
    add(NeighborEmbedding, "object", "curve", graph=KNNGraph(8), tol=1e-2, random_state=1)
    few = {"max_iter": 100, "tol": 1e-3, "random_state": 1}
    add(PotentialMap, "object", "curve", graph=KNNGraph(8), **few)
    _other_eigenmaps(add)


def _other_eigenmaps(add: Callable[..., None]) -> None:
    small = {"n_kernels": 4, "random_state": 1}
    add(KernelEigenmap, "dense", "curve", eigen_solver="dense", n_neighbors=8, **small)
    solver = Solver("iterative", tol=1e-8, max_iter=2000)
    add(KernelEigenmap, "patient", "curve", eigen_solver=solver, **small)
    add(KernelEigenmap, "width", "curve", kernels=LocalKernels(sigma=1.5), **small)
    balls = LocalKernels(1.0, np.stack([np.eye(3)] * 4), curve(4, seed=7))
    add(KernelEigenmap, "centers", "curve", kernels=balls, **small)
    projection = {"n_components": 1, "regularization": 0.1}
    add(LocalityPreservingProjection, "cosine", "wide", n_neighbors=8, metric="cosine", **projection)
    graphs = {"knn": KNNGraph(8, symmetrize="mutual"), "radius": RadiusGraph(1.0), "tree": SpanningTree(4)}
    for name, graph in graphs.items():
        add(KernelEigenmap, name, "curve", affinity=graph, **small)
        add(LocalityPreservingProjection, name, "curve", affinity=graph)
    for cls in (KernelEigenmap, LocalityPreservingProjection):
        for mode in ("whole", "connect"):
            add(cls, mode, "pair", on_disconnected=mode)
    add(NeighborEmbedding, "connect", "split", max_iter=100, n_neighbors=5)
    add(PotentialMap, "connect", "split", n_neighbors=5)


def _some_values(X: Any) -> dict[str, Any]:
    """Numbers, of which every second row has its own."""
    return {"y": np.where(np.arange(X.shape[0]) % 2 == 0, _values(X)["y"], np.nan)}


def _values(X: Any) -> dict[str, Any]:
    return {"y": np.sin(X[:, [0]].sum(axis=1)) + X[:, [1]].sum(axis=1)}


def _predictors() -> None:
    def add(
        name: str,
        cls: type,
        given: Callable[[Any], dict[str, Any]] = nothing,
        kind: str = "curve",
        **params: Any,
    ) -> None:
        PREDICTORS.append(Case(f"{cls.__name__}-{name}", partial(cls, **params), kind, given))

    embedder = LaplacianEigenmaps(3)
    fitted = KernelPCA(3).fit(load("curve")[0])
    for cls, given in ((EigenfunctionClassifier, some_labels), (EigenfunctionRegressor, _some_values)):
        weights = {"class_weight": "balanced"} if cls is EigenfunctionClassifier else {}
        add("default", cls, given)
        for kind in ("twins", "counts"):
            add(kind, cls, given, kind)
        add("embedder", cls, given, embedder=embedder, n_functions=2, alpha=0.1, **weights)
        add("prefit", cls, given, embedder=fitted, prefit=True)
    for span_distance in ("auto", "kernel", "inverse", "none"):
        add(span_distance, EigenspaceDensity, embedder=KernelPCA(3), span_distance=span_distance)
    options = {"n_mixtures": 2, "reg_covar": 0.01, "contamination": 0.1, "cv": 4, "random_state": 1}
    add("mixtures", EigenspaceDensity, embedder=embedder, **options)
    add("prefit", EigenspaceDensity, embedder=fitted, prefit=True)
    for kind in ("twins", "counts"):
        add(kind, EigenspaceDensity, kind=kind, embedder=embedder, n_mixtures=2)
    add("default", ManifoldParzen)
    add("twins", ManifoldParzen, kind="twins", n_neighbors=8, n_components=2, noise=0.1)
    add("numbers", ManifoldParzen, n_neighbors=8, n_components=2, noise=0.1)
    add("rows", ManifoldParzen, cv=4, max_rows=50, random_state=1)
    few = {"n_init": 2, "max_iter": 20, "tol": 1e-2, "random_state": 1}
    for index in ("negentropy", "kurtosis", "friedman-tukey"):
        add(index, ProjectionPursuitDensity, index=index)
    add("few", ProjectionPursuitDensity, n_components=1, min_gain=0.05, **few)
    add("twins", ProjectionPursuitDensity, kind="twins", n_components=1, **few)
    add("twins", ProjectionPursuitRegressor, _values, "twins", n_terms=1, cv=2, **few)
    add("all-terms", ProjectionPursuitRegressor, _values, n_terms=2, cv=None, n_init=2)
    add("few", ProjectionPursuitRegressor, _values, n_terms=2, cv=2, min_gain=0.05, **few)


_pca()
_maps()
_kernel_pca()
_dictionaries()
_oriented_pca()
_projection_pursuit()
_eigenmaps()
_ordinal()
_parametric()
_pictures()
_classical_mds()
_affinities(LaplacianEigenmaps)
_without_diagonal(LaplacianEigenmaps)
_supervised()
_affinities(DiffusionMap)
_without_diagonal(DiffusionMap)
_diffusion()
_affinities(SpectralClustering, n_clusters=3, n_init=3)
_threshold()
_rotations()
_isomap()
_landmark_mds()
_landmark_isomap()
_pivots()
_lle()
_anchors()
_objects()
_other_options()
_other_values()
_predictors()


# --- estimators whose fit takes sample weights --------------------------------------------------------------

#: Kernels are given, not estimated from the data: their law is that integer weights equal repeated rows.
WEIGHTED: list[Case] = []


def _weighted() -> None:
    def add(name: str, cls: type, kind: str = "curve", **params: Any) -> None:
        WEIGHTED.append(Case(f"{cls.__name__}-{name}", partial(cls, **params), kind))

    for kernel in ("rbf", "linear", "laplacian"):
        add(kernel, KernelPCA, kernel=kernel, gamma=None if kernel == "linear" else 0.4)
    add("sparse", KernelPCA, "counts", gamma=0.1)
    add("blocked", KernelPCA, gamma=0.4, eigen_solver=Solver("lanczos", storage="blocked"))
    add("words", KernelPCA, "words", kernel=shared_letters)
    add("precomputed", KernelPCA, "similarities", kernel="precomputed")
    for repair in ("keep", "clip", "shift"):
        add(repair, ClassicalMDS, metric="cityblock", indefinite=repair)
        add(repair, Isomap, n_neighbors=6, indefinite=repair)
    add("distances", ClassicalMDS, "distances", metric="precomputed")
    add("distances", Isomap, "distances", metric="precomputed", n_neighbors=6)
    add("twins", Isomap, "twins", n_neighbors=6)
    add("per_component", Isomap, "split", n_neighbors=4, on_disconnected="per_component")
    for cls in (LaplacianEigenmaps, DiffusionMap):
        add("graph", cls, n_neighbors=6)
        add("heat", cls, affinity=KNNGraph(6, weights="heat"), include_diagonal=False)
        add("twins", cls, "twins", n_neighbors=6)
        add("rbf", cls, affinity="rbf", gamma=1.0)
        add("cosine", cls, "positive", affinity="cosine")
        add("precomputed", cls, "similarities", affinity="precomputed")
        add("per_component", cls, "split", n_neighbors=4, on_disconnected="per_component")
        add("largest", cls, "lonely", affinity=RadiusGraph(1.5), on_disconnected="largest")
    add("alpha", DiffusionMap, affinity="rbf", gamma=1.0, alpha=0.5, diffusion_time=2)
    for how in ("kmeans", "discretize", "cluster_qr", "recursive"):
        add(how, SpectralClustering, n_clusters=3, n_neighbors=6, assign_labels=how)
    add("threshold", SpectralClustering, n_clusters=2, assign_labels="threshold", affinity="rbf", gamma=1.0)
    for method in ("standard", "modified", "hessian", "ltsa"):
        add(method, LocallyLinearEmbedding, n_neighbors=8, method=method)
    add("twins", LocallyLinearEmbedding, "twins", n_neighbors=8)


_weighted()


# --- the part that is run -----------------------------------------------------------------------------------

#: All cases by list, run by ``make test-all``; the lists themselves hold the part that covers their facts.
PRODUCTS = {
    "CASES": CASES,
    "WITHOUT_KERNEL": WITHOUT_KERNEL,
    "MAPS": MAPS,
    "WEIGHTED": WEIGHTED,
    "PREDICTORS": PREDICTORS,
}
CASES, WITHOUT_KERNEL, MAPS, WEIGHTED, PREDICTORS = map(cover, PRODUCTS.values())
