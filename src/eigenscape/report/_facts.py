"""Facts about a fitted model, its data and its making, as pairs of a name and a value in words."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.report._subject import Points, is_pairwise, pairwise_kind

Facts = list[tuple[str, str]]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "plotly")


def number(value: float, digits: int = 3) -> str:
    """A number as people write it."""
    if not np.isfinite(value):
        return "–"
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value)}"
    text = f"{value:.{digits}g}"
    return text if "e" not in text or not 1e-4 <= abs(value) < 1e6 else f"{value:.0f}"


def counted(count: int) -> str:
    """A count with thin spaces between thousands."""
    return f"{count:,}".replace(",", " ")


def of_bytes(size: float) -> str:
    """Bytes as people write them."""
    for unit, factor in (("GB", 2**30), ("MB", 2**20), ("kB", 2**10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size:.0f} bytes"


def of_seconds(seconds: float) -> str:
    """A duration as people write it."""
    if seconds >= 90:
        return f"{int(seconds // 60)} min {seconds % 60:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


# --- the graph --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GraphFacts:
    """The neighbourhood graph that a map was made of."""

    facts: Facts
    sizes: np.ndarray  # points of each component, the largest first
    degrees: np.ndarray | None  # edges of each point


def graph_facts(model: Any) -> GraphFacts | str:
    """Components and edges, or in words why there are none."""
    known = vars(model)
    label = known.get("component_labels_")
    if label is None:
        return f"{type(model).__name__} makes no neighbourhood graph"
    sizes = -np.sort(-np.bincount(label))
    facts: Facts = [("Connected components", counted(len(sizes)))]
    if len(sizes) > 1:
        facts.append(("Their sizes", ", ".join(counted(int(size)) for size in sizes[:8]) + (", …" if len(sizes) > 8 else "")))
        facts.append(("Joined by", str(getattr(model, "on_disconnected", "not joined"))))
    if "n_neighbors_" in known:
        facts.append(("Neighbours of a point", counted(int(known["n_neighbors_"]))))
    if "neighbor_recall_" in known:
        facts.append(("True neighbours found", f"{100 * float(known['neighbor_recall_']):.1f} %"))
    degrees = known.get("degrees_")
    if degrees is None and sparse.issparse(known.get("graph_")):
        degrees = np.diff(known["graph_"].indptr)
    if degrees is not None:
        low, middle, high = (int(value) for value in (degrees.min(), np.median(degrees), degrees.max()))
        facts.append(("Edges of a point", f"{low} at least, {middle} in the middle, {high} at most"))
    return GraphFacts(facts, sizes, None if degrees is None else np.asarray(degrees))


# --- what was done ----------------------------------------------------------------------------------------------------------


def parameter_facts(model: Any) -> tuple[Facts, Facts]:
    """Parameters that differ from their defaults, and the others."""
    defaults = type(model)().get_params()
    changed, usual = [], []
    for name, value in model.get_params(deep=False).items():
        same = value is defaults.get(name) or (type(value) is type(defaults.get(name)) and _equal(value, defaults.get(name)))
        (usual if same else changed).append((name, written(value)))
    return changed, usual


def _equal(first: Any, second: Any) -> bool:
    return bool(np.array_equal(first, second)) if isinstance(first, np.ndarray) else first == second


def written(value: Any) -> str:
    """A parameter's value, not longer than a line or two."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    text = getattr(value, "__name__", None) if callable(value) else None
    text = text or repr(value)
    return text if len(text) <= 160 else text[:159] + "…"


#: Fitted numbers worth showing, with their names in words.
_FITTED = {
    "gamma_": "Width of the kernel (gamma)",
    "t_": "Width of the heat kernel (t)",
    "n_landmarks_": "Landmarks",
    "stress_": "Kruskal's stress",
    "distortion_": "Distortion of the graph's edges",
    "ncut_": "Normalised cut",
    "gram_error_bound_": "Bound on the error of the Gram matrix",
    "log_likelihood_": "Log likelihood",
    "noise_variance_": "Noise variance",
    "entropy_": "Entropy of the spectrum",
    "solver_": "Eigen-solver",
    "n_passes_": "Passes over the data",
}


def fitted_facts(model: Any) -> Facts:
    """What the fit settled for."""
    facts: Facts = []
    for name, words in _FITTED.items():
        value = vars(model).get(name)
        if isinstance(value, str):
            facts.append((words, value))
        elif value is not None and np.ndim(value) == 0:
            facts.append((words, number(float(value), 4)))
    dictionary = vars(model).get("dictionary_")
    if dictionary is not None:
        facts.append(("Points in the dictionary", counted(dictionary.shape[0])))
    residuals = vars(model).get("residuals_")
    if residuals is not None and np.size(residuals):
        facts.append(("Largest residual of an eigenpair", number(float(np.max(residuals)), 2)))
    ratio = vars(model).get("explained_variance_ratio_")
    if ratio is not None and np.ndim(ratio) == 1:
        facts.append(("Variance explained", f"{100 * float(np.sum(ratio)):.1f} %"))
    return facts


def version_facts() -> Facts:
    """Versions of what took part."""
    from eigenscape import __version__

    facts: Facts = [("eigenscape", __version__), ("Python", platform.python_version())]
    for name in _LIBRARIES:
        try:
            facts.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return [*facts, ("System", f"{platform.system()} {platform.machine()}")]


def data_facts(points: Points, model: Any) -> Facts:
    """What the data are, with a fingerprint by which they can be known again."""
    X = points.X
    shape = getattr(X, "shape", ())
    facts: Facts = [("Source", points.source)] if points.source else []
    if len(shape) == 2:
        what = {"distance": "distances", "kernel": "similarities", "affinity": "affinities"}[pairwise_kind(model)]
        inside = f"{counted(shape[0])} × {counted(shape[1])}"
        facts.append(("Shape", f"{inside} {what} between points" if is_pairwise(model) else f"{inside} (rows × columns)"))
    else:
        facts.append(("Points", counted(points.n)))
    if sparse.issparse(X):
        facts.append(("Values stored", f"{counted(X.nnz)} ({100 * X.nnz / (X.shape[0] * X.shape[1]):.2g} %)"))
    facts.append(("Type", str(getattr(X, "dtype", "chunks of rows" if points.stream else "objects"))))
    return [*facts, ("Fingerprint", fingerprint(points))]


def fingerprint(points: Points) -> str:
    """SHA-256 over the values, row by row; equal for equal rows in equal order, however they were cut into chunks."""
    digest = hashlib.sha256()
    X = points.X
    if points.stream:
        for chunk in X:
            _digest(digest, chunk)
    elif isinstance(X, np.ndarray) and X.dtype.kind != "O":
        for start in range(0, len(X), 65536):
            _digest(digest, X[start : start + 65536])
    elif sparse.issparse(X):
        _digest(digest, X)
    else:
        for one in X:
            digest.update(repr(one).encode("utf-8", "replace"))
    return f"sha256:{digest.hexdigest()[:32]}"


def _digest(digest: Any, part: Any) -> None:
    if sparse.issparse(part):
        part = sparse.csr_array(part)
        for array in (np.diff(part.indptr).astype(np.int64), part.indices.astype(np.int64), part.data):
            digest.update(np.ascontiguousarray(array).tobytes())
    else:
        digest.update(np.ascontiguousarray(part).tobytes())


def peak_memory() -> int | None:
    """The most memory that this process has had, in bytes, where the system tells."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else 1024 * peak)


def timing_facts(timings: Mapping[str, float] | None) -> dict[str, float]:
    """Seconds by stage, as given."""
    return {str(name): float(seconds) for name, seconds in (timings or {}).items()}
