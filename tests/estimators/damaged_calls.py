"""Pass damaged sparse matrices to methods and functions; started as a process by the tests.

Each call is printed before it is made, so that the last line names the call that ended the process.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

import eigenscape as es
from eigenscape import quality
from eigenscape.options import Dictionary, Landmarks

N_ROWS, N_FEATURES = 60, 20
ROWS = abs(sparse.random_array((N_ROWS, N_FEATURES), density=0.4, rng=np.random.default_rng(0), format="csr"))
LABELS = np.arange(N_ROWS) % 2
ESTIMATORS = [
    name
    for name in es.__all__
    if inspect.isclass(getattr(es, name)) and issubclass(getattr(es, name), BaseEstimator)
]
#: Functions of a graph.
OF_GRAPHS = (
    "cheeger_value",
    "distortion",
    "graph_embedding",
    "normalized_cut",
    "unexplained_fraction",
)


def damaged(X: sparse.csr_array = ROWS) -> Iterator[tuple[str, sparse.csr_array]]:
    """Yield a matrix for each kind of damage."""
    for kind in ("index out of range", "negative index", "decreasing indptr", "indptr beyond the data"):
        bad = X.copy()
        if kind == "index out of range":
            bad.indices[5] = 10**8
        elif kind == "negative index":
            bad.indices[5] = -(10**8)
        elif kind == "decreasing indptr":
            bad.indptr[4] = bad.indptr[6]
        else:
            bad.indptr[-1] = 10**8
        yield kind, bad


OPTIONS: dict[str, dict[str, Any]] = {
    "DistortionDiscriminantAnalysis": {"layers": [(2, 4, 2)]},
    "EigenspaceDensity": {"embedder": es.KernelPCA(2)},
    "KernelPCA": {"approximation": Dictionary(20)},
    "LaplacianEigenmaps": {"approximation": Dictionary(20), "affinity": "rbf"},
    "ParametricMap": {"embedder": es.KernelPCA(2)},
    "SpectralClustering": {"approximation": Dictionary(20), "affinity": "rbf"},
}


def arguments(name: str) -> dict[str, Any]:
    """Return what ``fit`` of an estimator needs besides the rows."""
    if name in ("EigenfunctionClassifier", "EigenfunctionRegressor", "ProjectionPursuitRegressor"):
        return {"y": LABELS.astype(float)}
    if name == "OrientedPCA":
        return {"noise": 0.1 * ROWS.toarray()}
    if name == "DistortionDiscriminantAnalysis":
        return {"distorted": [1.1 * ROWS.toarray()]}
    return {"links": "rows"} if name == "AlignedSpectralMaps" else {}


def fitted(name: str) -> tuple[Any, bool]:
    """Return an estimator fitted to valid rows, and whether it accepts sparse ones."""
    for X in (ROWS, ROWS.toarray()):
        try:
            model = getattr(es, name)(**OPTIONS.get(name, {}))
            data = [X, X] if name == "AlignedSpectralMaps" else X
            return model.fit(data, **arguments(name)), X is ROWS
        except (TypeError, ValueError) as error:
            reason = error
    raise reason


def methods(name: str) -> Iterator[tuple[str, bool, Callable[[Any], Any]]]:
    """Yield name, whether sparse rows are accepted, and a function of rows, for each method of a class."""
    model, accepts = fitted(name)
    for method, function in inspect.getmembers(type(model), inspect.isfunction):
        parameters = list(inspect.signature(function).parameters)[1:]
        if method.startswith("_") or parameters[:1] != ["X"]:
            continue

        def call(bad: Any, method: str = method) -> Any:
            options = arguments(name) if "fit" in method or method == "score" else {}
            if "view" in inspect.signature(getattr(model, method)).parameters:
                options = {"view": 0}
            is_list = name == "AlignedSpectralMaps" and method != "transform"
            views = [bad, ROWS] if is_list else bad
            target = clone(model) if "fit" in method else model
            return getattr(target, method)(views, **options)

        is_inverse = method in ("inverse_transform", "jacobian")  # takes coordinates, which are dense
        yield f"{name}.{method}", accepts and not is_inverse, call


def functions() -> Iterator[tuple[str, bool, Callable[[Any], Any]]]:
    """Yield the functions that take rows or a graph."""
    plane = np.random.default_rng(0).normal(size=(N_ROWS, 2))
    model = es.LaplacianEigenmaps(2).fit(ROWS)
    of_rows: dict[str, Callable[[Any], Any]] = {
        name: (lambda X, name=name: getattr(quality, name)(X, plane))
        for name in (
            "continuity",
            "coranking_curve",
            "neighbors_kept",
            "residual_variance",
            "sampled_continuity",
            "sampled_trustworthiness",
            "trustworthiness",
        )
    }
    of_rows |= {
        "choose_bandwidth": lambda X: quality.choose_bandwidth(es.KernelPCA(2, kernel="rbf"), X, [0.1, 1.0]),
        "choose_n_components": lambda X: quality.choose_n_components(es.KernelPCA(2), X),
        "choose_n_neighbors": lambda X: quality.choose_n_neighbors(es.LaplacianEigenmaps(2), X),
        "dominant_columns": quality.dominant_columns,
        "intrinsic_dimension": quality.intrinsic_dimension,
        "perturbation_stability": lambda X: quality.perturbation_stability(es.LaplacianEigenmaps(2), X),
        "residual_variance of geodesics": lambda X: quality.residual_variance(X, plane, n_neighbors=5),
        "variance_shares": quality.variance_shares,
        "landmarks": lambda X: es.LandmarkMDS(2, approximation=Landmarks(None, X)).fit(ROWS),
        "dictionary": lambda X: es.KernelPCA(2, approximation=Dictionary(points=X)).fit(ROWS),
        "align": lambda X: es.align(es.PCA(2).fit(ROWS), model, X),
    }
    of_graphs: dict[str, Callable[[Any], Any]] = {
        "cheeger_value": lambda W: quality.cheeger_value(W, LABELS),
        "distortion": lambda W: quality.distortion(plane, W),
        "graph_embedding": es.graph_embedding,
        "normalized_cut": lambda W: quality.normalized_cut(W, LABELS),
        "unexplained_fraction": lambda W: quality.unexplained_fraction(W, 2),
    }
    assert tuple(of_graphs) == OF_GRAPHS
    yield from ((name, True, function) for name, function in {**of_rows, **of_graphs}.items())


def main(names: list[str]) -> None:
    """Make the calls of the estimators named, or of the functions; print what is not refused."""
    warnings.simplefilter("ignore")
    graph = sparse.csr_array(ROWS @ ROWS.T)
    for name in names:
        for call, accepts, function in functions() if name == "functions" else methods(name):
            X = graph if call in OF_GRAPHS else ROWS
            for kind, bad in damaged(X):
                print(f"{call}: {kind}", flush=True)
                try:
                    function(bad)
                    fault = "accepted"
                except Exception as error:
                    told = "damaged sparse matrix" if accepts else "parse"
                    fault = "" if told in str(error) else f"{type(error).__name__}: {error}"
                if fault:
                    print(f"FAULT {call}: {kind}: {fault}", flush=True)
    print("end", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
