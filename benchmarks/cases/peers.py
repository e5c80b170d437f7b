"""Jobs of other libraries that many cases share."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.cases.model import NEIGHBORS, Job

#: tapkee's names of methods and their parameters. Graphs may fall apart, as in the other libraries, except
#: for Isomap, whose distances would be infinite. A wide kernel gives all edges the weight 1.
_TAPKEE = {
    "LaplacianEigenmaps": ("la", {"gaussian_kernel_width": 1e12, "check_connectivity": False}),
    "LocallyLinearEmbedding": ("lle", {"check_connectivity": False}),
    "LocallyLinearEmbedding hessian": ("hlle", {"check_connectivity": False}),
    "LocallyLinearEmbedding ltsa": ("ltsa", {"check_connectivity": False}),
    "Isomap": ("isomap", {}),
    "ClassicalMDS": ("mds", {}),
}
#: Largest number of rows for tapkee, by memory (dense matrices) or time.
_TAPKEE_DENSE, _TAPKEE_SPARSE = 10_000, 100_000


def tapkee(ours: Job) -> tuple[Job, ...]:
    """Return the job of tapkee for a job of eigenscape, if tapkee has the method.

    It has no spectral clustering and no modified LLE, and the kernel PCA of its Python package is linear.
    """
    name = ours.estimator.removeprefix("eigenscape.")
    name = f"{name} {ours.params.get('method', '')}".rstrip()
    most = _TAPKEE_DENSE if name in ("Isomap", "ClassicalMDS") else _TAPKEE_SPARSE
    if name not in _TAPKEE or ours.n > most or "n_landmarks" in ours.params:
        return ()
    method, extra = _TAPKEE[name]
    params = {"method": method, **extra, "target_dimension": ours.params.get("n_components", 2)}
    if name != "ClassicalMDS":
        params["num_neighbors"] = NEIGHBORS
    return (
        replace(
            ours,
            name="tapkee",
            estimator="benchmarks.other_libraries.Tapkee",
            params=params,
            measure="coordinates" if "method" in ours.params else ours.measure,
            n_new=0,
            n_single=0,
            step="fit",
        ),
    )


def umap(ours: Job, n_components: int = 2) -> Job:
    """Return the job of UMAP with the same number of neighbours."""
    params = {"n_neighbors": NEIGHBORS, "n_components": n_components}
    estimator = "benchmarks.other_libraries.UMAP"
    return replace(ours, name="UMAP", estimator=estimator, params=params, measure="graph_only", dtype="")


def searches(ours: Job) -> tuple[Job, ...]:
    """Return the jobs of exact neighbour searches alone, by SciPy and faiss."""
    return tuple(
        replace(
            ours,
            name=f"{name} search alone",
            estimator=f"benchmarks.peers.{estimator}",
            params={"n_neighbors": NEIGHBORS},
            measure="graph_only",
            n_new=0,
            n_single=0,
        )
        for name, estimator in (("k-d tree", "NeighborSearch"), ("faiss", "FlatSearch"))
    )
