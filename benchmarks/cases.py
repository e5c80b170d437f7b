"""Benchmark cases: the jobs of eigenscape and of other libraries, and the goals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.data import mnist_file

NEIGHBORS = 10
#: Parameters for the data set "sheet": coefficient of the Gaussian kernel, a tolerance, and the dictionary
#: size that it gives at a million rows.
SHEET_GAMMA, SHEET_TOL, SHEET_SIZE = 0.05, 4e-4, 500
#: A tolerance for the data set "sheet" that gives accurate results.
ACCURATE_TOL = 2.5e-2


@dataclass(frozen=True)
class Job:
    """An estimator on a data set.

    With ``n=0`` only the warm-up is measured. If ``n_new`` is positive, the transform of ``n_new`` new points
    is measured instead of the fit.
    """

    name: str
    estimator: str
    params: dict[str, Any]
    data: str
    n: int
    measure: str
    n_new: int = 0

    @property
    def is_eigenscape(self) -> bool:
        """Whether the estimator is part of eigenscape."""
        return self.estimator.startswith("eigenscape.")


@dataclass(frozen=True)
class Goal:
    """Minimum speed and maximum memory relative to the peer, and maximum memory ``peak`` in bytes."""

    speed: float | None = None
    memory: float | None = None
    peak: float | None = None


@dataclass(frozen=True)
class Case:
    """A row of the table: the job of eigenscape (``ours``) and those of other libraries (``peers``)."""

    key: str
    title: str
    ours: Job
    peers: tuple[Job, ...]
    goal: Goal = field(default_factory=Goal)
    skip: str = ""  # reason why the case cannot be measured


@dataclass(frozen=True)
class Growth:
    """The same case at increasing sizes; the goals are maximum exponents of time and memory."""

    key: str
    title: str
    steps: tuple[Case, ...]
    time_exponent: float | None = 1.15
    memory_exponent: float | None = 1.05


@dataclass(frozen=True)
class Compilation:
    """First call of each estimator with an empty and with a filled compilation cache."""

    key: str
    title: str
    jobs: tuple[Job, ...]


def all_cases(quick: bool) -> list[Case | Growth | Compilation]:
    """Return all cases; those of a quick run have smaller sizes and no goals, and omit MNIST."""
    rows: list[Case | Growth | Compilation] = [
        *_laplacian(quick),
        _isomap(quick),
        *_landmarks(quick),
        *_lle(quick),
        *_kernels(quick),
        *_transforms(quick),
    ]
    rows += [
        *_dictionaries(quick),
        *_projective(quick),
        *_kernel_eigenmap(quick),
        *_growth(quick),
        *_clusters(quick),
        *_cluster_dictionaries(quick),
        _compilation(),
    ]
    return [_without_goal(row) for row in rows] if quick else rows


def _without_goal(row: Case | Growth | Compilation) -> Case | Growth | Compilation:
    """Return a case without its goals."""
    if isinstance(row, Case):
        return replace(row, goal=Goal())
    return replace(row, time_exponent=None, memory_exponent=None) if isinstance(row, Growth) else row


def _eigenmaps(data: str, n: int, lobpcg: bool, **options: Any) -> tuple[Job, tuple[Job, ...]]:
    """Return jobs of Laplacian eigenmaps; a given ``tol`` is also used in an additional job with ARPACK."""
    job = Job(
        "eigenscape",
        "eigenscape.LaplacianEigenmaps",
        {"n_neighbors": NEIGHBORS, "n_jobs": -1, **options},
        data,
        n,
        "laplacian",
    )
    params = {
        "affinity": "nearest_neighbors",
        "n_neighbors": NEIGHBORS,
        "random_state": 0,
        "n_jobs": -1,
        "eigen_solver": "arpack",
    }
    arpack = Job("scikit-learn arpack", "sklearn.manifold.SpectralEmbedding", params, data, n, "laplacian")
    peers = [arpack]
    if "tol" in options:
        peers.append(
            replace(
                arpack,
                name=f"scikit-learn arpack, tol {options['tol']:g}",
                params={**params, "eigen_tol": options["tol"]},
            )
        )
    if lobpcg:
        peers.append(replace(arpack, name="scikit-learn lobpcg", params={**params, "eigen_solver": "lobpcg"}))
    return job, tuple(peers)


def _laplacian(quick: bool) -> list[Case]:
    """Return the cases of Laplacian eigenmaps and spectral clustering."""
    large, huge, wide = (20_000, 100_000, 2_000) if quick else (100_000, 1_000_000, 10_000)
    roll, roll_peers = _eigenmaps("swiss_roll", large, True, tol=1e-4)
    million, _ = _eigenmaps("swiss_roll", huge, False, tol=1e-4)
    search = Job(
        "k-d tree search alone",
        "benchmarks.worker.NeighborSearch",
        {"n_neighbors": NEIGHBORS},
        "swiss_roll",
        huge,
        "none",
    )
    mixture, mixture_peers = _eigenmaps("mixture", wide, True)
    digits, digits_peers = _eigenmaps("mnist", 70_000, True)
    shared = {
        "n_clusters": 10,
        "affinity": "nearest_neighbors",
        "n_neighbors": NEIGHBORS,
        "n_jobs": -1,
        "random_state": 0,
    }
    cluster = Job("eigenscape", "eigenscape.SpectralClustering", shared, "mixture", wide, "clustering")
    cluster_params = {**shared, "eigen_solver": "arpack"}
    cluster_peer = Job(
        "scikit-learn arpack",
        "sklearn.cluster.SpectralClustering",
        cluster_params,
        "mixture",
        wide,
        "clustering",
    )
    absent = "" if mnist_file().exists() else "no mnist.npz in $EIGENSCAPE_DATA"
    rows = [
        Case("le-roll", f"Laplacian eigenmaps, swiss roll, n = {large:,}", roll, roll_peers, Goal(4, 1)),
        Case(
            "le-search",
            f"Laplacian eigenmaps, swiss roll, n = {huge:,}",
            million,
            (search,),
            Goal(1 / 6, peak=4e9),
        ),
        Case(
            "le-mixture",
            f"Laplacian eigenmaps, 50-d mixture, n = {wide:,}",
            mixture,
            mixture_peers,
            Goal(50, 1 / 3),
        ),
        Case(
            "clustering",
            f"Spectral clustering, 50-d mixture, n = {wide:,}",
            cluster,
            (cluster_peer,),
            Goal(50, 1 / 3),
        ),
    ]
    return (
        rows
        if quick
        else [
            *rows,
            Case(
                "le-mnist", "Laplacian eigenmaps, MNIST 70,000 x 784", digits, digits_peers, Goal(5), absent
            ),
        ]
    )


def _neighbor_jobs(
    name: str, data: str, n: int, measure: str, n_new: int = 0, **params: Any
) -> tuple[Job, tuple[Job, ...]]:
    """Return jobs of an estimator that has the same name and parameters in both libraries."""
    params = {"n_neighbors": NEIGHBORS, "n_jobs": -1, **params}
    ours = Job("eigenscape", f"eigenscape.{name}", params, data, n, measure, n_new)
    return ours, (replace(ours, name="scikit-learn", estimator=f"sklearn.manifold.{name}"),)


def _isomap(quick: bool) -> Case:
    """Return the case of Isomap."""
    n = 2_000 if quick else 10_000
    return Case(
        "isomap",
        f"Isomap, swiss roll, n = {n:,}",
        *_neighbor_jobs("Isomap", "swiss_roll", n, "isomap"),
        Goal(6, 1 / 4),
    )


def _landmarks(quick: bool) -> list[Case]:
    """Return the cases of landmark Isomap: compared with scikit-learn's Isomap, and alone at a larger n."""
    n, huge = (2_000, 20_000) if quick else (10_000, 100_000)
    _, peers = _neighbor_jobs("Isomap", "swiss_roll", n, "isomap")
    params = {"n_neighbors": NEIGHBORS, "n_jobs": -1, "n_landmarks": 300}
    ours = Job("eigenscape", "eigenscape.Isomap", params, "swiss_roll", n, "isomap")
    title = "Isomap, 300 landmarks, swiss roll"
    return [
        Case("isomap-landmarks", f"{title}, n = {n:,}", ours, peers, Goal(30, 1 / 10)),
        Case("isomap-landmarks-large", f"{title}, n = {huge:,}", replace(ours, n=huge), (), Goal(peak=1e9)),
    ]


def _lle(quick: bool) -> list[Case]:
    """Return the cases of the variants of LLE."""
    large, wide, small = (20_000, 1_000, 1_000) if quick else (100_000, 5_000, 5_000)
    rows = [
        Case("lle-roll", f"LLE, swiss roll, n = {large:,}", *_lle_jobs("swiss_roll", large), Goal(5, 1 / 2)),
        Case("lle-mixture", f"LLE, 50-d mixture, n = {wide:,}", *_lle_jobs("mixture", wide), Goal(10, 1 / 2)),
    ]
    for method in ("modified", "hessian", "ltsa"):
        jobs = _lle_jobs("swiss_roll", small, method=method)
        rows.append(Case(f"lle-{method}", f"LLE {method}, swiss roll, n = {small:,}", *jobs, Goal(10)))
    return rows


def _lle_jobs(data: str, n: int, n_new: int = 0, **params: Any) -> tuple[Job, tuple[Job, ...]]:
    """Return jobs of LLE with the same matrix."""
    return _neighbor_jobs(
        "LocallyLinearEmbedding", data, n, "alignment", n_new, random_state=0, reg=1e-3, **params
    )


def _kernels(quick: bool) -> list[Case]:
    """Return the cases of kernel PCA and classical MDS."""
    n, small = (3_000, 1_500) if quick else (10_000, 5_000)
    params = {"n_components": 10, "kernel": "rbf", "gamma": 0.01}
    ours = Job("eigenscape", "eigenscape.KernelPCA", {**params, "n_jobs": -1}, "mixture", n, "kernel_pca")
    blocked = replace(ours, name="eigenscape, blocked", params={**params, "storage": "blocked"})
    default = Job(
        "scikit-learn default",
        "sklearn.decomposition.KernelPCA",
        {**params, "n_jobs": -1},
        "mixture",
        n,
        "kernel_pca",
    )
    arpack = replace(
        default,
        name="scikit-learn arpack",
        params={**default.params, "eigen_solver": "arpack", "random_state": 0},
    )
    scaling = Job("eigenscape", "eigenscape.ClassicalMDS", {}, "mixture", small, "classical_mds")
    title = f"Kernel PCA, Gaussian, 10 components, n = {n:,}"
    return [
        Case("kpca", title, ours, (arpack,), Goal(2)),
        Case("kpca-default", f"{title}, against the default", ours, (default,), Goal(20)),
        Case("kpca-blocked", f"{title}, blocked", blocked, (arpack,), Goal(None, 1 / 4)),
        Case(
            "mds",
            f"Classical MDS, n = {small:,}",
            scaling,
            (replace(scaling, name="scikit-learn", estimator="sklearn.manifold.ClassicalMDS"),),
            Goal(10, 1 / 3),
        ),
    ]


def _dictionaries(quick: bool) -> list[Case | Growth]:
    """Return the cases of greedy spectral embedding: matrix products, fixed size, equal accuracy, growth."""
    n, small = (100_000, 3_000) if quick else (1_000_000, 20_000)
    params = {"n_components": 3, "gamma": SHEET_GAMMA, "n_jobs": -1}
    ours = Job(
        "eigenscape",
        "eigenscape.GreedySpectralEmbedding",
        {**params, "tol": SHEET_TOL},
        "sheet",
        n,
        "none",
    )
    rate = Job(
        "DGEMM of the same count", "benchmarks.peers.MatrixProducts", {"m": SHEET_SIZE}, "sheet", n, "none"
    )
    by_size = replace(ours, params={**params, "dictionary_size": SHEET_SIZE})
    by_tolerance = replace(ours, name="eigenscape by tolerance")
    exact = {
        "n_components": 3,
        "kernel": "rbf",
        "gamma": SHEET_GAMMA,
        "eigen_solver": "arpack",
        "random_state": 0,
        "n_jobs": -1,
    }
    peers = [
        Job(
            "scikit-learn KernelPCA arpack",
            "sklearn.decomposition.KernelPCA",
            exact,
            "sheet",
            small,
            "aligned",
        )
    ]
    for m in (50, 70, 100, 140, 200, 400):
        features = {"m": m, "gamma": SHEET_GAMMA, "n_components": 3}
        peers.append(
            Job(
                f"scikit-learn Nystroem({m}) + PCA",
                "benchmarks.peers.NystroemPCA",
                features,
                "sheet",
                small,
                "aligned",
            )
        )
    accurate = replace(ours, params={**params, "tol": ACCURATE_TOL}, n=small, measure="aligned")
    steps = (10_000, 30_000, 100_000) if quick else (10_000, 30_000, 100_000, 300_000, 1_000_000)
    title = f"Greedy spectral embedding, n = {n:,} x 20"
    return [
        Case("greedy", f"{title}, m about {SHEET_SIZE}", ours, (rate,), Goal(0.4, peak=1.5e9)),
        Case("greedy-size", f"{title}, dictionary_size = {SHEET_SIZE}", by_size, (by_tolerance,), Goal(0.25)),
        Case(
            "greedy-accuracy",
            f"Kernel PCA to the same accuracy, n = {small:,}",
            accurate,
            tuple(peers),
            Goal(5),
        ),
        Growth(
            "growth-greedy",
            f"Greedy spectral embedding, n = {steps[0]:,} to {steps[-1]:,}",
            tuple(
                Case(f"growth-greedy-{step}", f"growth-greedy, n = {step:,}", replace(ours, n=step), ())
                for step in steps
            ),
            time_exponent=1.05,
            memory_exponent=None,
        ),
    ]


def _projective(quick: bool) -> list[Case]:
    """Return the cases of PCA and of probabilistic PCA with missing values."""
    tall, wide, thin, missing = (20_000, 200, 4_000, 500) if quick else (100_000, 1_000, 20_000, 2_000)

    def pca_jobs(data: str, n: int, *solvers: str) -> tuple[Job, tuple[Job, ...]]:
        ours = Job("eigenscape", "eigenscape.PCA", {"n_components": 10, "n_jobs": -1}, data, n, "components")
        params = {"n_components": 10, "random_state": 0}
        peer = Job("scikit-learn", "benchmarks.worker.PCAWithEmbedding", params, data, n, "components")
        peers = [
            replace(peer, name=f"scikit-learn {name}", params={**params, "svd_solver": name})
            for name in solvers
        ]
        return ours, (peer, *peers)

    model = Job(
        "eigenscape", "eigenscape.ProbabilisticPCA", {"n_components": 5}, "gaps", missing, "imputation"
    )
    chained = Job(
        "scikit-learn IterativeImputer",
        "benchmarks.worker.ChainedImputer",
        {"random_state": 0},
        "gaps",
        missing,
        "imputation",
    )
    few = "10 components, with the coordinates of the rows"
    return [
        Case("pca-tall", f"PCA, {tall:,} x 50, {few}", *pca_jobs("tall", tall), Goal(1)),
        Case("pca-wide", f"PCA, {wide:,} x 20,000, {few}", *pca_jobs("wide", wide, "full"), Goal(1)),
        Case("pca-sparse", f"PCA, {thin:,} x 20,000 sparse, {few}", *pca_jobs("topics", thin), Goal(1)),
        Case(
            "ppca-missing", f"Probabilistic PCA, {missing:,} x 50, 30 % missing", model, (chained,), Goal(1)
        ),
    ]


def _transforms(quick: bool) -> list[Case]:
    """Return the cases of the transform of new points."""
    n, new = (1_000, 2_000) if quick else (5_000, 10_000)
    kernel = Job(
        "eigenscape",
        "eigenscape.KernelPCA",
        {"n_components": 10, "kernel": "rbf", "gamma": 0.01},
        "mixture",
        n,
        "kernel_pca",
        new,
    )
    peer = replace(kernel, name="scikit-learn", estimator="sklearn.decomposition.KernelPCA")
    peer = replace(peer, params={**peer.params, "n_jobs": -1, "eigen_solver": "arpack", "random_state": 0})
    jobs = {
        "kpca": (kernel, (peer,)),
        "isomap": _neighbor_jobs("Isomap", "swiss_roll", n, "isomap", new),
        "lle": _lle_jobs("swiss_roll", n, new),
    }
    names = {"kpca": "Kernel PCA", "isomap": "Isomap", "lle": "LLE"}
    title = f"transform of {new:,} new points, model of {n:,}"
    return [Case(f"transform-{key}", f"{names[key]}, {title}", *pair, Goal(3)) for key, pair in jobs.items()]


def _kernel_eigenmap(quick: bool) -> list[Case]:
    """Return the cases of kernel eigenmaps, compared with Laplacian eigenmaps of the same graph."""
    n, new = (20_000, 20_000) if quick else (100_000, 100_000)
    graph = {"n_neighbors": 12, "weights": "inverse", "n_jobs": -1}
    ours = Job(
        "eigenscape", "eigenscape.KernelEigenmap", {"n_kernels": 256, **graph}, "swiss_roll", n, "distortion"
    )
    exact = Job(
        "eigenscape LaplacianEigenmaps", "eigenscape.LaplacianEigenmaps", graph, "swiss_roll", n, "distortion"
    )
    title = f"Kernel eigenmap, 256 kernels, swiss roll, n = {n:,}"
    return [
        Case("kernel-eigenmap", title, ours, (exact,), Goal(5)),
        Case(
            "transform-kernel-eigenmap",
            f"{title}, transform of {new:,} new points",
            replace(ours, n_new=new),
            (replace(exact, n_new=new),),
        ),
    ]


def _clusters(quick: bool) -> list[Case | Growth]:
    """Return the cases of PCA on dask: dask-ml, without dask, two processes and one, growth."""
    n, steps = (1_000_000, (100_000, 1_000_000)) if quick else (10_000_000, (100_000, 1_000_000, 10_000_000))

    def job(name: str, library: str, n_workers: int, rows: int = n) -> Job:
        params = {"library": library, "n_workers": n_workers}
        return Job(name, "benchmarks.clusters.DaskPCA", params, "made_rows", rows, "dask_components")

    one, two = (job(f"eigenscape, {count} process(es)", "eigenscape", count) for count in (1, 2))
    alone = Job(
        "eigenscape without dask", "benchmarks.clusters.PCAWithoutDask", {}, "made_rows", n, "dask_components"
    )
    title = f"PCA, dask, {n:,} x 20 made on the fly"
    return [
        Case("dask-pca", f"{title}, two processes", two, (job("dask-ml", "dask-ml", 2),), Goal(1)),
        Case("dask-one", f"{title}, one process", one, (alone,), Goal(1 / 1.3)),
        Case("dask-two", f"{title}, two processes against one", two, (one,), Goal(1.6)),
        Growth(
            "growth-dask",
            f"PCA, dask, two local_client, n = {steps[0]:,} to {steps[-1]:,}",
            tuple(
                Case(
                    f"growth-dask-{rows}",
                    f"growth-dask, n = {rows:,}",
                    job("eigenscape", "eigenscape", 2, rows),
                    (),
                )
                for rows in steps
            ),
            time_exponent=1.05,
            memory_exponent=None,
        ),
    ]


def _cluster_dictionaries(quick: bool) -> list[Case | Growth]:
    """Return the cases with a dictionary on dask: spectral clustering and kernel PCA."""
    n, few, steps = (
        (400_000, 200_000, (100_000, 400_000))
        if quick
        else (4_000_000, 1_000_000, (100_000, 1_000_000, 10_000_000))
    )

    def groups(name: str, library: str) -> Job:
        params = {"library": library, "n_workers": 2}
        return Job(
            name,
            "benchmarks.cluster_dictionaries.DaskSpectralClustering",
            params,
            "made_groups",
            few,
            "clustering",
        )

    def kernel(name: str, n_workers: int, rows: int = n) -> Job:
        return Job(
            name,
            "benchmarks.cluster_dictionaries.DaskKernelPCA",
            {"n_workers": n_workers},
            "made_groups",
            rows,
            "left_out",
        )

    alone, one, two = (
        kernel("eigenscape without dask", 0),
        kernel("eigenscape, one process", 1),
        kernel("eigenscape, two processes", 2),
    )
    params = {"n_workers": 2, "members": 300, "memory_limit": "1GB"}
    capped = Job(
        "eigenscape",
        "benchmarks.cluster_dictionaries.DaskKernelPCA",
        params,
        "made_groups",
        steps[-1],
        "left_out",
    )
    title = "x 20 made on the fly, dictionary of 100"
    return [
        Case(
            "dask-clustering",
            f"Spectral clustering, dask, {few:,} {title}, two processes",
            groups("eigenscape", "eigenscape"),
            (groups("dask-ml", "dask-ml"),),
            Goal(1),
        ),
        Case(
            "dask-dictionary-one",
            f"Kernel PCA, dask, {n:,} {title}, one process",
            one,
            (alone,),
            Goal(1 / 1.3),
        ),
        Case(
            "dask-dictionary-two",
            f"Kernel PCA, dask, {n:,} {title}, two processes against one",
            two,
            (one,),
            Goal(1.6),
        ),
        Case(
            "dask-memory",
            f"Kernel PCA, dask, {steps[-1]:,} x 20, dictionary of 300, two workers of 1 GB",
            capped,
            (),
            Goal(peak=2_000_000_000),
        ),
        Growth(
            "growth-dask-dictionary",
            f"Kernel PCA, dask, dictionary of 100, two local_client, n = {steps[0]:,} to {steps[-1]:,}",
            tuple(
                Case(
                    f"growth-dask-dictionary-{rows}",
                    f"growth-dask-dictionary, n = {rows:,}",
                    kernel("eigenscape", 2, rows),
                    (),
                )
                for rows in steps
            ),
            time_exponent=1.05,
            memory_exponent=None,
        ),
    ]


def _growth(quick: bool) -> list[Growth]:
    """Return the cases of growth; in a quick run, peers are measured up to 30 000 points only."""

    def step(name: str, n: int, ours: Job, peers: tuple[Job, ...]) -> Case:
        return Case(f"{name}-{n}", f"{name}, n = {n:,}", ours, peers[:1] if not quick or n <= 30_000 else ())

    top = (10_000, 30_000, 100_000)
    maps = top if quick else (*top, 300_000, 1_000_000)
    local = top if quick else (*top, 200_000)
    return [
        Growth(
            "growth-le",
            f"Laplacian eigenmaps, swiss roll, n = {maps[0]:,} to {maps[-1]:,}",
            tuple(step("growth-le", n, *_eigenmaps("swiss_roll", n, False, tol=1e-4)) for n in maps),
        ),
        Growth(
            "growth-lle",
            f"LLE, swiss roll, n = {local[0]:,} to {local[-1]:,}",
            tuple(step("growth-lle", n, *_lle_jobs("swiss_roll", n)) for n in local),
        ),
    ]


def _compilation() -> Compilation:
    """Return the case of the compilation times."""
    graph = {"n_neighbors": NEIGHBORS}
    named = [
        ("LaplacianEigenmaps", graph),
        ("SpectralClustering", graph),
        ("LocallyLinearEmbedding", graph),
        ("Isomap", graph),
    ]
    named += [("KernelPCA", {}), ("ClassicalMDS", {})]
    jobs = tuple(Job(name, f"eigenscape.{name}", params, "mixture", 0, "none") for name, params in named)
    return Compilation("compilation", "numba compilation, first call", jobs)
