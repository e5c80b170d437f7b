"""Cases: methods on dask."""

from __future__ import annotations

from benchmarks.cases.model import Case, Goal, Growth, Job


def clusters(quick: bool) -> list[Case | Growth]:
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
            f"PCA, dask, two processes, n = {steps[0]:,} to {steps[-1]:,}",
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


def cluster_dictionaries(quick: bool) -> list[Case | Growth]:
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
            f"Kernel PCA, dask, dictionary of 100, two processes, n = {steps[0]:,} to {steps[-1]:,}",
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
