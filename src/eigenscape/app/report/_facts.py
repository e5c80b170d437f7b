"""Facts about a fitted model, its data and its making, as pairs of a name and a value in words."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.app.io.models import fingerprint
from eigenscape.app.report._subject import Points, is_pairwise, pairwise_kind

Facts = list[tuple[str, str]]

#: Values of a table up to which its fingerprint is made; reading more would take longer than the report.
_MOST_HASHED = 2**29
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "plotly")


def number(value: float, digits: int = 3) -> str:
    """A number as people write it."""
    if not np.isfinite(value):
        return "–"
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value)}"
    text = f"{value:.{digits}g}"
    return text if "e" not in text or not 1e-4 <= abs(value) < 1e6 else f"{value:.0f}"


def kept_number(value: float) -> str:
    """A share near one, with as many figures as tell it from one."""
    return f"{value:.4f}" if 0.99 < value < 0.99995 else f"{value:.3f}" if value < 0.99995 else "1.000"


def counted(count: int) -> str:
    """A count with thin spaces between thousands."""
    return f"{count:,}".replace(",", " ")


def of_seconds(seconds: float) -> str:
    """A duration as people write it."""
    if seconds >= 90:
        return f"{int(seconds // 60)} min {seconds % 60:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


# --- the graph ----------------------------------------------------------------------------------------------


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
        facts.append(
            (
                "Their sizes",
                ", ".join(counted(int(size)) for size in sizes[:8]) + (", …" if len(sizes) > 8 else ""),
            )
        )
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


# --- what was done ------------------------------------------------------------------------------------------


def parameter_facts(model: Any) -> tuple[Facts, Facts]:
    """Parameters that differ from their defaults, and the others."""
    defaults = type(model)().get_params()
    changed: Facts = []
    usual: Facts = []
    for name, value in model.get_params(deep=False).items():
        same = value is defaults.get(name) or (
            type(value) is type(defaults.get(name)) and _equal(value, defaults.get(name))
        )
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
    shape: tuple[int, ...] = getattr(X, "shape", ())
    facts: Facts = [("Source", points.source)] if points.source else []
    if len(shape) == 2:
        what = {"distance": "distances", "kernel": "similarities", "affinity": "affinities"}[
            pairwise_kind(model)
        ]
        inside = f"{counted(shape[0])} × {counted(shape[1])}"
        facts.append(
            (
                "Shape",
                f"{inside} {what} between points" if is_pairwise(model) else f"{inside} (rows × columns)",
            )
        )
    else:
        facts.append(("Points", counted(points.n)))
    if sparse.issparse(X):
        facts.append(("Values stored", f"{counted(X.nnz)} ({100 * X.nnz / (X.shape[0] * X.shape[1]):.2g} %)"))
    facts.append(("Type", str(getattr(X, "dtype", "chunks of rows" if points.stream else "objects"))))
    if len(shape) == 2 and shape[0] * shape[1] <= _MOST_HASHED:
        facts.append(("Fingerprint", fingerprint(X)))
    return facts


def timing_facts(timings: Mapping[str, float] | Iterable[tuple[str, float]] | None) -> dict[str, float]:
    """Seconds by stage, in the order in which stages first came."""
    made: dict[str, float] = {}
    for name, seconds in timings.items() if isinstance(timings, Mapping) else timings or ():
        made[str(name)] = made.get(str(name), 0.0) + float(seconds)
    return made
