"""Odd rows and tables for every estimator: no signal, no hang, no foreign exception, no silently wrong map.

``run(kind, cases, seed)`` draws data sets and estimators from a seed and counts what went wrong. Cases run in
a child process, one after the other, so that a crash or a hang costs one case. ``EIGENSCAPE_FUZZ_CASES`` is
the number of cases and ``EIGENSCAPE_FUZZ_SEED`` their seed; ``python tests/fuzz/test_odd_data.py one KIND
SEED CASE`` repeats one and prints its traceback.
"""

from __future__ import annotations

import inspect
import json
import os
import queue
import subprocess
import sys
import threading
import traceback
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

if __name__ == "__main__":  # as a child process, or to repeat a case
    sys.path.insert(0, str(Path(__file__).parents[1]))

from covering import PRODUCT
from fuzz import odd_tables
from fuzz.harness import OUTCOMES
from own_errors import is_own

from eigenscape import estimators
from eigenscape.app.methods import make_estimator, parameters

#: Seconds after which a case hangs. The first case of a child compiles.
_PATIENCE = 120
#: Relative error of law 1 that rounding explains.
_ROUNDING = 1e-5
#: Estimators whose rows are not samples, or that are made from another model.
_OTHER = ("AlignedSpectralMaps", "CompactMap", "DistortionDiscriminantAnalysis")
#: Values of parameters, by name, from which some are drawn if the estimator has the parameter.
_CHOICES: dict[str, list[Any]] = {
    "n_components": [1, 2, 3],
    "affinity": ["nearest_neighbors", "rbf", "spanning_tree", "cosine"],
    "weights": ["binary", "heat", "inverse"],
    "symmetrize": ["union", "mutual"],
    "on_disconnected": ["connect", "per_component", "largest"],
    "search": ["exact", "approximate"],
    "metric": ["euclidean", "cityblock", "cosine", "chebyshev"],
    "kernel": ["linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"],
    "n_neighbors": [2, 5],
    "landmarks": ["maxmin", "random", "greedy", "kmeans"],
    "indefinite": ["keep", "clip", "shift"],
    "dictionary_size": [4],
    "independent": [True],
    "alpha": [0.0, 0.5],
    "normalization": ["additive", "divisive"],
    "whiten": [True],
    "ordinal": [True],
}
#: Fields of a graph of nearest neighbours.
_GRAPH = ("weights", "symmetrize", "search")
_PER_METHOD = {
    "LocallyLinearEmbedding": {"method": ["standard", "modified", "hessian", "ltsa"]},
    "SpectralClustering": {"n_clusters": [2, 3]},
}


# --- data ---------------------------------------------------------------------------------------------------


def odd_data(rng: np.random.Generator) -> Any:
    """Return rows with one to three oddities."""
    n = int(rng.choice([2, 3, 4, 7, 12, 25, 60]))
    d = int(rng.choice([1, 2, 3, 8, 30, 120]))
    X = rng.standard_normal((n, d))
    for kind in rng.choice(len(_ODDITIES), size=int(rng.integers(1, 4)), replace=False):
        X = _ODDITIES[kind](X, rng)
    return sparse.csr_array(X) if rng.random() < 0.15 else X.astype(rng.choice([np.float32, np.float64]))


def _some(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns of a few cells."""
    count = int(rng.integers(1, 4))
    return rng.integers(len(X), size=count), rng.integers(X.shape[1], size=count)


def _twins(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X[rng.integers(max(1, len(X) // 2), size=len(X))]


def _nearly_twins(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return _twins(X, rng) * (1 + 1e-15 * rng.integers(3, size=X.shape))


def _scaled(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X * 10.0 ** rng.choice([-320, -150, -59, -30, -9, 9, 30, 59, 100, 155, 300])


def _outliers(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    X = X.copy()
    X[_some(X, rng)] = rng.choice([1e6, -1e20, 1e59, 1e155, np.finfo(float).max, -9999.0])
    return X


def _constant_columns(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    X = X.copy()
    X[:, rng.random(X.shape[1]) < 0.5] = rng.choice([0.0, 1.0, 1e15])
    return X


def _mixed_units(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X * 10.0 ** rng.uniform(-12, 12, size=X.shape[1])


def _far_clusters(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X + rng.choice([1e3, 1e8, 1e14]) * rng.integers(3, size=(len(X), 1))


def _offset(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X + rng.choice([1e4, 1e8, 1e12])


def _zeros(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(X.shape) < 0.7, 0.0, X)


def _denormal(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    X = X.copy()
    X[_some(X, rng)] = rng.choice([5e-324, 1e-310, -1e-200])
    return X


def _integers(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.round(X * rng.choice([1, 2, 5]))


def _low_rank(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X[:, :1] * rng.standard_normal(X.shape[1])


def _negative_zeros(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(X.shape) < 0.5, -0.0, np.round(X))


_ODDITIES = (
    _twins, _nearly_twins, _scaled, _outliers, _constant_columns, _mixed_units, _far_clusters, _offset,
    _zeros, _denormal, _integers, _low_rank, _negative_zeros,
)  # fmt: skip


# --- cases --------------------------------------------------------------------------------------------------


def _classes() -> list[type]:
    classes = [getattr(estimators, name) for name in estimators.__all__]
    return [
        cls for cls in classes if inspect.isclass(cls) and cls.__name__ not in _OTHER and hasattr(cls, "fit")
    ]


def draw(kind: str, seed: int, case: int) -> tuple[Any, Any, dict[str, Any]]:
    """Return an unfitted estimator, its data, and further arguments of ``fit``."""
    rng = np.random.default_rng([seed, case])
    params: dict[str, Any] = {}
    if kind == "tables":
        cls, params, of = odd_tables.draw_estimator(case)
        X = odd_tables.odd_table(of, rng)
    else:
        classes = _classes()
        cls = classes[case % len(classes)]
        X = odd_data(rng)
    names = parameters(cls)
    for name, values in {**_CHOICES, **_PER_METHOD.get(cls.__name__, {})}.items():
        if name in names and name not in params and rng.random() < 0.35:
            params[name] = values[rng.integers(len(values))]
    for name, value in (("n_init", 1), ("max_iter", 50)):
        is_used = name == "max_iter" or "ordinal" not in names or params.get("ordinal")
        if name in names and is_used and cls.__name__ not in ("ProbabilisticPCA", "FactorAnalysis"):
            params[name] = value
    if params.get("affinity", "nearest_neighbors") not in (
        "nearest_neighbors",
        "precomputed_nearest_neighbors",
    ):
        params = {name: value for name, value in params.items() if name not in _GRAPH}
    given = {}
    if cls.__name__ == "OrientedPCA":
        given["noise"] = 0.1 * rng.standard_normal(X.shape)
    if cls.__name__ in ("ProjectionPursuitRegressor", "EigenfunctionRegressor"):
        given["y"] = rng.standard_normal(X.shape[0])
    if cls.__name__ == "EigenfunctionClassifier":
        given["y"] = rng.integers(-1, 3, X.shape[0])
    return make_estimator(cls, params), X, given


def examine(kind: str, seed: int, case: int) -> str:
    """Return "read" if a case is right, "refused", or the kind of fault and a description."""
    try:
        model, X, given = draw(kind, seed, case)
    except ValueError as error:  # fields of options that cannot be combined
        return "refused" if is_own(error) else f"exception: {type(error).__name__}: {error}"
    before = deepcopy(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, **given)
            call = next(name for name in ("transform", "predict", "score_samples") if hasattr(model, name))
            found = getattr(model, call)(X)
        except Exception as error:
            return "refused" if is_own(error) else f"exception: {type(error).__name__}: {error}"
        fault = _examine_new(kind, getattr(model, call), X, np.random.default_rng([seed, case, 1]))
    if fault:
        return fault
    if not np.array_equal(_dense(X), _dense(before)):
        return "difference: NaN was accepted, or fit changed its argument"
    if not np.isfinite(found).all():
        return "difference: NaN or infinity out of finite data"
    stored = vars(model).get("embedding_")
    if stored is None:
        return "read"
    size = np.maximum(np.abs(stored).max(axis=0), np.finfo(float).tiny)
    error = float((np.abs(found.astype(float) - stored) / size).max())
    values = np.abs(vars(model).get("eigenvalues_", np.ones(1)))
    # Rounding errors of the Nystrom formula grow with the ratio of eigenvalues.
    ratio = values.max() / values[values > 0].min(initial=values.max()) if values.any() else 0.0
    return (
        "read"
        if error <= _ROUNDING + 1e3 * np.finfo(float).eps * ratio
        else f"difference: transform(X) differs from embedding_ by {error:.2g}"
    )


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _examine_new(kind: str, evaluate: Any, X: Any, rng: np.random.Generator) -> str:
    """Return the fault of new points that are odder than the training points, "" if there is none."""
    oddities = odd_tables.ODDITIES if kind == "tables" else _ODDITIES
    with np.errstate(all="ignore"):
        rows = oddities[rng.integers(len(oddities))](_dense(X), rng)
    rows = np.where(np.isfinite(rows), rows, 1.0)
    try:
        found = evaluate(sparse.csr_array(rows) if sparse.issparse(X) else rows)
    except Exception as error:
        return "" if is_own(error) else f"exception: new points: {type(error).__name__}: {error}"
    return "" if np.isfinite(found).all() else "difference: NaN or infinity out of finite new points"


# --- the harness --------------------------------------------------------------------------------------------


def run(kind: str, cases: int, seed: int) -> dict[str, int]:
    """Try ``cases`` odd rows ("data") or tables ("tables") and return the counts of what went wrong.

    Returns
    -------
    dict
        "tried", "read" (and embedded), "refused", "signals" (of the process), "hangs", "exceptions" (not
        raised by the package on purpose) and "differences" (a result that is not finite, or that contradicts
        law 1).
    """
    counts = dict.fromkeys(("tried", "read", "refused", *OUTCOMES), 0)
    while counts["tried"] < cases:
        for case, outcome in _child(kind, seed, counts["tried"], cases):
            counts["tried"] = case + 1
            if outcome in ("read", "refused"):
                counts[outcome] += 1
                continue
            counts[f"{outcome.split(':')[0]}s"] += 1
            print(f"{kind}, seed {seed}, case {case}: {outcome}", file=sys.stderr, flush=True)
    return counts


def _child(kind: str, seed: int, first: int, cases: int) -> Any:
    """Yield (case, outcome) from a child process until it has done all cases, or died or hung in one."""
    command = [sys.executable, __file__, "child", kind, str(seed), str(first), str(cases)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        lines: queue.Queue[str] = queue.Queue()
        assert child.stdout is not None
        stream = child.stdout
        reader = threading.Thread(target=_read, args=(stream, lines), daemon=True)
        reader.start()
        case = first
        while case < cases:
            try:
                line = lines.get(timeout=_PATIENCE)
            except queue.Empty:
                child.kill()
                yield case, "hang"
                return
            if not line:
                yield case, "signal"
                return
            yield tuple(json.loads(line))
            case += 1


def _read(stream: Any, lines: queue.Queue[str]) -> None:
    for line in stream:
        lines.put(line)
    lines.put("")


@pytest.mark.process
@pytest.mark.parametrize("kind", ["data", "tables"])
@pytest.mark.product
def test_odd_data_are_embedded_or_refused(kind: str) -> None:
    """With a fixed seed; ``EIGENSCAPE_FUZZ_CASES`` raises the number of cases."""
    cases = int(os.environ.get("EIGENSCAPE_FUZZ_CASES", "150" if PRODUCT else "60"))
    counts = run(kind, cases, seed=int(os.environ.get("EIGENSCAPE_FUZZ_SEED", "0")))
    assert counts["read"] + counts["refused"] == counts["tried"] == cases, counts
    assert counts["read"] > 0, "all data are refused"


def _main(action: str, kind: str, seed: int, first: int, cases: int = 0) -> None:
    if action == "child":
        for case in range(first, cases):
            print(json.dumps([case, examine(kind, seed, case)]), flush=True)
    else:
        model, X, given = draw(kind, seed, first)
        print(model, repr(X), sep="\n")
        try:
            model.fit(X, **given).transform(X)
        except Exception:
            traceback.print_exc()
        print(examine(kind, seed, first))


if __name__ == "__main__":
    _main(*sys.argv[1:3], *map(int, sys.argv[3:]))
