"""Cases: Gaussian clusters, words and cells, placing new rows on 60 000 images, and the cosine kernel."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.cases.model import NEIGHBORS, Case, Goal, Job
from benchmarks.cases.peers import umap
from benchmarks.cases.real import METHODS, jobs
from benchmarks.real_data import SOURCES, absence

#: Neighbours besides the point itself.
_GRAPH = {"n_neighbors": NEIGHBORS}


def gaussians(quick: bool) -> list[Case]:
    """Return the cases of twelve Gaussian clusters in 50 dimensions, separate and touching."""
    rows = []
    for data in ("separate", "touching"):
        for n in (1_000,) if quick else (1_000, 4_000, 16_000, 64_000):
            for key in ("le", "clustering", "lle"):
                method = METHODS[key]
                if key == "clustering":
                    method = method._replace(params={**method.params, "n_clusters": 12})
                ours, peers = jobs(method, data, n)
                title = f"{method.title}, 12 {data} Gaussian clusters in 50-d, n = {n:,}"
                rows.append(Case(f"gaussians-{data}-{n}-{key}", title, ours, peers, Goal(3)))
    return rows


def diffusion_jobs(data: str, n: int, n_new: int = 0) -> tuple[Job, Job]:
    """Return the jobs of the diffusion map: eigenscape's with its defaults, and scanpy's."""
    ours = Job("eigenscape", "eigenscape.DiffusionMap", {}, data, n, "diffusion", n_new, shared=True)
    return ours, replace(
        ours, name="scanpy", estimator="benchmarks.other_libraries.ScanpyDiffusionMap", params=_GRAPH
    )


def cells(quick: bool) -> list[Case]:
    """Return the cases of words and cells: Laplacian eigenmaps, diffusion maps and clustering."""
    rows = []
    for data in () if quick else ("glove", "pbmc", "paul15"):
        n = SOURCES[data].n
        where = f"{SOURCES[data].title}, n = {n:,}"
        diffusion, scanpy = diffusion_jobs(data, n)
        rows += [
            Case(
                f"cells-{data}-{key}",
                f"{METHODS[key].title}, {where}",
                *jobs(METHODS[key], data, n),
                Goal(3),
                absence(data),
            )
            for key in ("le", "clustering")
        ]
        title = f"Diffusion map, {where}"
        rows.append(Case(f"cells-{data}-diffusion", title, diffusion, (scanpy,), Goal(3), absence(data)))
        annotated = replace(scanpy, name="eigenscape", params={**_GRAPH, "package": "eigenscape.sc"})
        title = f"sc.pp.neighbors and sc.tl.diffmap, {where}"
        rows.append(Case(f"cells-{data}-sc", title, annotated, (scanpy,), Goal(2), absence(data)))
    return rows


def placing(quick: bool) -> list[Case]:
    """Return the cases of 60 000 images of Fashion-MNIST: the fit, 10 000 new rows, and one at a time."""
    if quick:
        return []
    data, n, new, single = "fashion", 60_000, 10_000, 200
    lle = {key: value for key, value in METHODS["lle"].params.items() if key != "reg"}
    graph = Job("eigenscape", "", _GRAPH, data, n, "none", new, single)
    methods = {
        "le": ("Laplacian eigenmaps", "LaplacianEigenmaps", _GRAPH, "laplacian"),
        "diffusion": ("Diffusion map", "DiffusionMap", {}, "diffusion"),
        "clustering": (
            "Spectral clustering",
            "SpectralClustering",
            METHODS["clustering"].params,
            "clustering",
        ),
        "lle": ("LLE", "LocallyLinearEmbedding", lle, "none"),
        "isomap": ("Isomap, 300 landmarks", "Isomap", {**_GRAPH, "n_landmarks": 300}, "none"),
    }
    rows = []
    for key, (title, name, params, measure) in methods.items():
        ours = replace(graph, estimator=f"eigenscape.{name}", params=params, measure=measure)
        peer = umap(replace(ours, n_single=0))
        where = f"{title}, Fashion-MNIST {n:,} x 784"
        placed = f"{where}, transform of {new:,} new rows"
        rows += [
            Case(f"placing-{key}-fit", where, ours, (peer,), Goal(5 if key == "le" else None), absence(data)),
            Case(
                f"placing-{key}-transform",
                placed,
                replace(ours, step="transform"),
                (replace(peer, step="transform"),),
                Goal(5, seconds=1.0 if key == "le" else None),
                absence(data),
            ),
            Case(
                f"placing-{key}-single",
                f"{where}, one new row at a time",
                replace(ours, step="single"),
                (),
                Goal(seconds=2e-3),
                absence(data),
            ),
        ]
    return rows


def cosine(quick: bool) -> list[Case]:
    """Return the cases of the cosine kernel: kernel PCA and clustering against PCA of the same rows."""
    sets = {"positive": (100_000, "x 50 dense"), "sparse_counts": (68_000, "x 2,000 sparse counts")}
    rows = []
    for data, (size, what) in sets.items():
        n = 5_000 if quick else size
        params = {"n_components": 10, "kernel": "cosine"}
        kernel = Job("eigenscape", "eigenscape.KernelPCA", params, data, n, "cosine_pca", min(n, 10_000))
        pca = replace(
            kernel,
            name="scikit-learn PCA",
            estimator="benchmarks.peers.PCAWithEmbedding",
            params={"n_components": 10, "random_state": 0},
        )
        groups = Job(
            "eigenscape",
            "eigenscape.SpectralClustering",
            {"n_clusters": 10, "affinity": "cosine", "random_state": 0},
            data,
            n,
            "clustering",
            min(n, 10_000),
        )
        k_means = replace(
            groups,
            name="scikit-learn PCA and k-means",
            estimator="benchmarks.peers.ClusteringOfPCA",
            params={"n_clusters": 10},
        )
        snap = replace(
            kernel,
            name="snapatac2",
            estimator="benchmarks.other_libraries.SnapSpectral",
            params={"n_components": 10},
        )
        title = f"n = {n:,} {what}"
        rows += [
            Case(
                f"cosine-{data}-kpca",
                f"Kernel PCA, cosine, {title}",
                kernel,
                (pca,),
                Goal(1 / 2),
                "",
                (snap,),
            ),
            Case(
                f"cosine-{data}-clustering",
                f"Spectral clustering, cosine, {title}",
                groups,
                (k_means,),
                Goal(1 / 2),
            ),
        ]
    return rows
