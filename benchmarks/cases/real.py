"""Cases: real rows at several sizes, the neighbour search alone, and a machine with one busy core."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from benchmarks.cases.model import NEIGHBORS, Case, Goal, Job
from benchmarks.cases.peers import searches, tapkee, umap
from benchmarks.real_data import SOURCES, absence

#: The data sets and their names in keys.
REAL = {
    "digits": "digits",
    "mnist": "mnist_mixed",
    "fashion": "fashion",
    "faces": "faces",
    "pbmc": "pbmc",
    "glove": "glove",
}
SIZES = (500, 1_500, 5_000, 10_000)
BUSY_SIZES = (1_500, 5_000)
#: Up to this size scikit-learn's dense solvers are measured too: they take seconds beyond.
DENSE = 1_500


class Method(NamedTuple):
    """A method: title, estimators, shared parameters, those of scikit-learn, its solvers, error measure."""

    title: str
    ours: str
    peer: str
    params: dict[str, Any]
    peer_params: dict[str, Any]
    solvers: tuple[str, ...]
    measure: str
    goal: float = 3.0


_GRAPH = {"n_neighbors": NEIGHBORS}
#: scikit-learn's spectral methods count a point as its own neighbour.
_SPECTRAL = {
    "affinity": "nearest_neighbors",
    "n_neighbors": NEIGHBORS + 1,
    "random_state": 0,
    "n_jobs": -1,
}
_KERNEL = {"kernel": "rbf", "gamma": "scale"}
_SEEDED = {"random_state": 0, "n_jobs": -1}
_ANY = ("arpack", "randomized", "dense")


def _kernel_pca(n_components: int, goal: float) -> Method:
    return Method(
        f"Kernel PCA, {n_components} components",
        "eigenscape.KernelPCA",
        "sklearn.decomposition.KernelPCA",
        {**_KERNEL, "n_components": n_components},
        _SEEDED,
        _ANY,
        "kernel_pca",
        goal,
    )


METHODS = {
    "le": Method(
        "Laplacian eigenmaps",
        "eigenscape.LaplacianEigenmaps",
        "sklearn.manifold.SpectralEmbedding",
        _GRAPH,
        _SPECTRAL,
        ("arpack", "lobpcg"),
        "laplacian",
    ),
    "clustering": Method(
        "Spectral clustering",
        "eigenscape.SpectralClustering",
        "sklearn.cluster.SpectralClustering",
        {"n_clusters": 10, **_GRAPH, "random_state": 0},
        _SPECTRAL,
        ("arpack", "lobpcg"),
        "clustering",
    ),
    "lle": Method(
        "LLE",
        "eigenscape.LocallyLinearEmbedding",
        "sklearn.manifold.LocallyLinearEmbedding",
        {**_GRAPH, "reg": 1e-3, "random_state": 0},
        {"n_jobs": -1},
        ("arpack", "dense"),
        "alignment",
    ),
    "isomap": Method(
        "Isomap",
        "eigenscape.Isomap",
        "sklearn.manifold.Isomap",
        _GRAPH,
        {"n_jobs": -1},
        ("arpack",),
        "isomap",
    ),
    "kpca2": _kernel_pca(2, 2.5),
    "kpca10": _kernel_pca(10, 2.5),
    "mds": Method(
        "Classical MDS",
        "eigenscape.ClassicalMDS",
        "sklearn.manifold.ClassicalMDS",
        {"n_components": 2},
        {},
        ("",),
        "classical_mds",
    ),
}


def jobs(method: Method, data: str, n: int, **options: Any) -> tuple[Job, tuple[Job, ...]]:
    """Return the jobs of eigenscape and of scikit-learn's solvers, and tapkee's if it has the method."""
    ours = Job("eigenscape", method.ours, method.params, data, n, method.measure, shared=True, **options)
    solvers = [solver for solver in method.solvers if solver != "dense" or n <= DENSE]
    params = {**method.params, **method.peer_params}
    peers = [
        replace(
            ours,
            name=f"scikit-learn {solver}".rstrip(),
            estimator=method.peer,
            params={**params, **({"eigen_solver": solver} if solver else {})},
        )
        for solver in solvers
    ]
    return ours, (*peers, *tapkee(ours))


def sizes(data: str, quick: bool, wanted: tuple[int, ...] = SIZES) -> list[int]:
    """Return the sizes that a data set has rows for, with new rows left; in a quick run, few digits."""
    if quick:
        return [500] if data == "digits" else []
    return [n for n in wanted if n < SOURCES[data].n]


def n_new(data: str, n: int) -> int:
    """Return the number of new rows that are placed on a model of ``n`` rows."""
    return min(n, SOURCES[data].n - n, 5_000)


def real(quick: bool) -> list[Case]:
    """Return the cases of real rows: every method, data set and size; kernel PCA also in double precision."""
    rows = []
    for short, data in REAL.items():
        for n in sizes(data, quick):
            for key, method in METHODS.items():
                for dtype in ("", "float64") if key.startswith("kpca") else ("",):
                    ours, peers = jobs(method, data, n, n_new=n_new(data, n), dtype=dtype)
                    goal = 1.0 if n < 1_500 else 1.5 if dtype else method.goal
                    title = f"{method.title}, {SOURCES[data].title}, n = {n:,}"
                    rows.append(
                        Case(
                            f"real-{short}-{n}-{key}{'-double' if dtype else ''}",
                            title + (", double precision" if dtype else ""),
                            ours,
                            peers,
                            Goal(goal),
                            absence(data),
                            () if quick else (umap(ours),),
                        )
                    )
    return rows


def search(quick: bool) -> list[Case]:
    """Return the cases of graph methods against the neighbour search alone on the same rows."""
    diffusion = METHODS["le"]._replace(
        title="Diffusion map", ours="eigenscape.DiffusionMap", params={}, measure="diffusion"
    )
    methods = {"le": METHODS["le"], "diffusion": diffusion, "clustering": METHODS["clustering"]}
    rows = []
    for short, data in REAL.items():
        for n in sizes(data, quick):
            for key, method in methods.items():
                ours, _ = jobs(method, data, n, n_new=n_new(data, n))
                title = f"{method.title} against the neighbour search, {SOURCES[data].title}, n = {n:,}"
                case = Case(
                    f"search-{short}-{n}-{key}", title, ours, searches(ours), Goal(1 / 1.5), absence(data)
                )
                rows.append(case)
    return rows


def busy(quick: bool) -> list[Case]:
    """Return the cases of real rows while another process keeps one core busy, for all contenders."""
    rows = []
    for short, data in REAL.items():
        for n in [] if quick else sizes(data, quick, BUSY_SIZES):
            for key, method in METHODS.items():
                ours, peers = jobs(method, data, n, busy=True)
                title = f"{method.title}, {SOURCES[data].title}, n = {n:,}, one core busy"
                kept = tuple(peer for peer in peers if peer.name not in ("scikit-learn dense", "tapkee"))
                rows.append(Case(f"busy-{short}-{n}-{key}", title, ours, kept, Goal(1), absence(data)))
    return rows
