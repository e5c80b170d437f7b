"""Cases: greedy spectral embedding, PCA and probabilistic PCA."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.cases.model import Case, Goal, Growth, Job

#: Parameters for the data set "sheet": coefficient of the Gaussian kernel, a tolerance, and the dictionary
#: size that it gives at a million rows.
SHEET_GAMMA, SHEET_TOL, SHEET_SIZE = 0.05, 4e-4, 500
#: A tolerance for the data set "sheet" that gives accurate results.
ACCURATE_TOL = 2.5e-2


def dictionaries(quick: bool) -> list[Case | Growth]:
    """Return the cases of greedy spectral embedding: matrix products, fixed size, equal accuracy, growth."""
    n, small = (100_000, 3_000) if quick else (1_000_000, 20_000)
    params = {"n_components": 3, "gamma": SHEET_GAMMA}
    ours = Job(
        "eigenscape",
        "eigenscape.GreedySpectralEmbedding",
        {**params, "dictionary_tol": SHEET_TOL},
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
    accurate = replace(ours, params={**params, "dictionary_tol": ACCURATE_TOL}, n=small, measure="aligned")
    steps = (10_000, 30_000, 100_000) if quick else (10_000, 30_000, 100_000, 300_000, 1_000_000)
    title = f"Greedy spectral embedding, n = {n:,} x 20"
    return [
        Case("greedy", f"{title}, m about {SHEET_SIZE}", ours, (rate,), Goal(0.55, peak=1.5e9)),
        Case(
            "greedy-size",
            f"{title}, dictionary_size = {SHEET_SIZE}",
            by_size,
            (by_tolerance,),
            Goal(0.25, seconds=31.9 / 3),
        ),
        Case(
            "greedy-rpcholesky",
            f"{title}, dictionary_size = {SHEET_SIZE} by randomly pivoted Cholesky",
            replace(by_size, params={**by_size.params, "selection": "rpcholesky"}),
            (by_tolerance,),
            Goal(seconds=31.9 / 3),
        ),
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


def projective(quick: bool) -> list[Case]:
    """Return the cases of PCA and of probabilistic PCA with missing values."""
    tall, wide, thin, missing = (20_000, 200, 4_000, 500) if quick else (100_000, 1_000, 20_000, 2_000)

    def pca_jobs(data: str, n: int, *solvers: str) -> tuple[Job, tuple[Job, ...]]:
        ours = Job("eigenscape", "eigenscape.PCA", {"n_components": 10}, data, n, "components")
        params = {"n_components": 10, "random_state": 0}
        peer = Job("scikit-learn", "benchmarks.peers.PCAWithEmbedding", params, data, n, "components")
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
        "benchmarks.peers.ChainedImputer",
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
