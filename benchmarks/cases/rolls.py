"""Cases: swiss rolls and one mixture: Laplacian eigenmaps, clustering, Isomap, LLE, growth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.cases.model import NEIGHBORS, Case, Goal, Growth, Job
from benchmarks.cases.peers import tapkee
from benchmarks.data import mnist_file


def eigenmaps(data: str, n: int, lobpcg: bool, **options: Any) -> tuple[Job, tuple[Job, ...]]:
    """Return jobs of Laplacian eigenmaps; a given ``tol`` is also used in an additional job with ARPACK."""
    job = Job(
        "eigenscape",
        "eigenscape.LaplacianEigenmaps",
        {"n_neighbors": NEIGHBORS, **options},
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
    peers += tapkee(job)
    return job, tuple(peers)


def laplacian(quick: bool) -> list[Case]:
    """Return the cases of Laplacian eigenmaps and spectral clustering."""
    small, large, huge, wide = (
        (5_000, 20_000, 100_000, 2_000) if quick else (10_000, 100_000, 1_000_000, 10_000)
    )
    few, few_peers = eigenmaps("swiss_roll", small, True, tol=1e-4)
    roll, roll_peers = eigenmaps("swiss_roll", large, True, tol=1e-4)
    million, _ = eigenmaps("swiss_roll", huge, False, tol=1e-4)
    search = Job(
        "k-d tree search alone",
        "benchmarks.peers.NeighborSearch",
        {"n_neighbors": NEIGHBORS},
        "swiss_roll",
        huge,
        "none",
    )
    mixture, mixture_peers = eigenmaps("mixture", wide, True)
    digits, digits_peers = eigenmaps("mnist", 70_000, True)
    shared = {
        "n_clusters": 10,
        "affinity": "nearest_neighbors",
        "n_neighbors": NEIGHBORS,
        "random_state": 0,
    }
    cluster = Job("eigenscape", "eigenscape.SpectralClustering", shared, "mixture", wide, "clustering")
    cluster_params = {**shared, "n_jobs": -1, "eigen_solver": "arpack"}
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
        Case("le-roll-small", f"Laplacian eigenmaps, swiss roll, n = {small:,}", few, few_peers, Goal(3)),
        Case("le-roll", f"Laplacian eigenmaps, swiss roll, n = {large:,}", roll, roll_peers, Goal(4, 1)),
        Case(
            "le-search",
            f"Laplacian eigenmaps, swiss roll, n = {huge:,}",
            million,
            (search,),
            Goal(1 / 3, peak=2e9),
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


def neighbor_jobs(
    name: str, data: str, n: int, measure: str, n_new: int = 0, **params: Any
) -> tuple[Job, tuple[Job, ...]]:
    """Return jobs of an estimator that has the same name and parameters in both libraries."""
    params = {"n_neighbors": NEIGHBORS, **params}
    step = "transform" if n_new else "fit"
    ours = Job("eigenscape", f"eigenscape.{name}", params, data, n, measure, n_new, step=step)
    peer = replace(
        ours, name="scikit-learn", estimator=f"sklearn.manifold.{name}", params={**params, "n_jobs": -1}
    )
    return ours, (peer, *(() if n_new else tapkee(ours)))


def isomap(quick: bool) -> Case:
    """Return the case of Isomap."""
    n = 2_000 if quick else 10_000
    return Case(
        "isomap",
        f"Isomap, swiss roll, n = {n:,}",
        *neighbor_jobs("Isomap", "swiss_roll", n, "isomap"),
        Goal(12, 1 / 4),
    )


def landmarks(quick: bool) -> list[Case]:
    """Return the cases of landmark Isomap: compared with scikit-learn's Isomap, and alone at a larger n."""
    n, huge = (2_000, 20_000) if quick else (10_000, 100_000)
    _, peers = neighbor_jobs("Isomap", "swiss_roll", n, "isomap")
    params = {"n_neighbors": NEIGHBORS, "n_landmarks": 300}
    ours = Job("eigenscape", "eigenscape.Isomap", params, "swiss_roll", n, "isomap")
    title = "Isomap, 300 landmarks, swiss roll"
    return [
        Case("isomap-landmarks", f"{title}, n = {n:,}", ours, peers, Goal(30, 1 / 10)),
        Case("isomap-landmarks-large", f"{title}, n = {huge:,}", replace(ours, n=huge), (), Goal(peak=1e9)),
    ]


def lle(quick: bool) -> list[Case]:
    """Return the cases of the variants of LLE."""
    large, wide, small = (20_000, 1_000, 1_000) if quick else (100_000, 5_000, 5_000)
    rows = [
        Case("lle-roll", f"LLE, swiss roll, n = {large:,}", *lle_jobs("swiss_roll", large), Goal(5, 1 / 2)),
        Case("lle-mixture", f"LLE, 50-d mixture, n = {wide:,}", *lle_jobs("mixture", wide), Goal(10, 1 / 2)),
    ]
    for method in ("modified", "hessian", "ltsa"):
        jobs = lle_jobs("swiss_roll", small, method=method)
        rows.append(Case(f"lle-{method}", f"LLE {method}, swiss roll, n = {small:,}", *jobs, Goal(10)))
    return rows


def lle_jobs(data: str, n: int, n_new: int = 0, **params: Any) -> tuple[Job, tuple[Job, ...]]:
    """Return jobs of LLE with the same matrix."""
    return neighbor_jobs(
        "LocallyLinearEmbedding", data, n, "alignment", n_new, random_state=0, reg=1e-3, **params
    )


def growth(quick: bool) -> list[Growth]:
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
            tuple(step("growth-le", n, *eigenmaps("swiss_roll", n, False, tol=1e-4)) for n in maps),
        ),
        Growth(
            "growth-lle",
            f"LLE, swiss roll, n = {local[0]:,} to {local[-1]:,}",
            tuple(step("growth-lle", n, *lle_jobs("swiss_roll", n)) for n in local),
        ),
    ]
