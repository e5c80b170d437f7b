"""Cases: kernel PCA, classical MDS, the transform of new points, and kernel eigenmaps."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.cases.model import Case, Goal, Job
from benchmarks.cases.peers import tapkee
from benchmarks.cases.rolls import lle_jobs, neighbor_jobs


def kernels(quick: bool) -> list[Case]:
    """Return the cases of kernel PCA and classical MDS."""
    n, small = (3_000, 1_500) if quick else (10_000, 5_000)
    params = {"n_components": 10, "kernel": "rbf", "gamma": 0.01}
    ours = Job("eigenscape", "eigenscape.KernelPCA", params, "mixture", n, "kernel_pca")
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
    randomized = replace(
        arpack, name="scikit-learn randomized", params={**arpack.params, "eigen_solver": "randomized"}
    )
    scaling = Job("eigenscape", "eigenscape.ClassicalMDS", {}, "mixture", small, "classical_mds")
    title = f"Kernel PCA, Gaussian, 10 components, n = {n:,}"
    return [
        Case("kpca", title, ours, (arpack, randomized), Goal(4)),
        Case("kpca-default", f"{title}, against the default", ours, (default,), Goal(20)),
        Case("kpca-blocked", f"{title}, blocked", blocked, (arpack,), Goal(1, 1 / 15)),
        Case(
            "mds",
            f"Classical MDS, n = {small:,}",
            scaling,
            (
                replace(scaling, name="scikit-learn", estimator="sklearn.manifold.ClassicalMDS"),
                *tapkee(scaling),
            ),
            Goal(10, 1 / 3),
        ),
    ]


def transforms(quick: bool) -> list[Case]:
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
        step="transform",
    )
    peer = replace(kernel, name="scikit-learn", estimator="sklearn.decomposition.KernelPCA")
    peer = replace(peer, params={**peer.params, "n_jobs": -1, "eigen_solver": "arpack", "random_state": 0})
    jobs = {
        "kpca": (kernel, (peer,)),
        "isomap": neighbor_jobs("Isomap", "swiss_roll", n, "isomap", new),
        "lle": lle_jobs("swiss_roll", n, new),
    }
    names = {"kpca": "Kernel PCA", "isomap": "Isomap", "lle": "LLE"}
    title = f"transform of {new:,} new points, model of {n:,}"
    goals = {"kpca": Goal(3), "isomap": Goal(4), "lle": Goal(3)}
    return [
        Case(f"transform-{key}", f"{names[key]}, {title}", *pair, goals[key]) for key, pair in jobs.items()
    ]


def kernel_eigenmap(quick: bool) -> list[Case]:
    """Return the cases of kernel eigenmaps, compared with Laplacian eigenmaps of the same graph."""
    n, new = (20_000, 20_000) if quick else (100_000, 100_000)
    graph = {"n_neighbors": 12, "weights": "inverse"}
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
            replace(ours, n_new=new, step="transform"),
            (replace(exact, n_new=new, step="transform"),),
        ),
    ]
