"""Details of a fitted model, its data and its computation, as pairs of a name and a text."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from eigenscape._format import format_bytes
from eigenscape._memory import peak_memory
from eigenscape.app.io.models import fingerprint
from eigenscape.app.report._formatting import format_count, format_number, format_seconds
from eigenscape.app.report._measures import Measures
from eigenscape.app.report._points import Points, is_pairwise, pairwise_kind
from eigenscape.app.report._tuning import TUNING
from eigenscape.app.report.few_points import point_name

Details = list[tuple[str, str]]
Timings = Mapping[str, float] | Iterable[tuple[str, float]]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "matplotlib")


@dataclass(frozen=True, eq=False)
class GraphDetails:
    """The neighbourhood graph of a model."""

    details: Details
    sizes: np.ndarray  # number of points of each connected component, descending
    degrees: np.ndarray | None  # number of edges of each point


def graph_details(model: BaseEstimator) -> GraphDetails | str:
    """Return the components and degrees of the graph, or the reason why there is none."""
    fitted = vars(model)
    labels = fitted.get("component_labels_")
    if labels is None:
        return f"{type(model).__name__} uses no neighbourhood graph"
    sizes = -np.sort(-np.bincount(labels))
    details: Details = [("Connected components", format_count(len(sizes)))]
    if len(sizes) > 1:
        listed = ", ".join(format_count(int(size)) for size in sizes[:8])
        details.append(("Component sizes", listed + (", …" if len(sizes) > 8 else "")))
        details.append(("on_disconnected", str(getattr(model, "on_disconnected", "not joined"))))
    if "n_neighbors_" in fitted:
        details.append(("Neighbours per point", format_count(int(fitted["n_neighbors_"]))))
    if "neighbor_recall_" in fitted:
        details.append(("Recall of the neighbour search", f"{100 * float(fitted['neighbor_recall_']):.1f} %"))
    degrees = fitted.get("degrees_")
    if degrees is None and sparse.issparse(fitted.get("graph_")):
        degrees = np.diff(fitted["graph_"].indptr)
    if degrees is not None:
        low, median, high = (int(value) for value in (degrees.min(), np.median(degrees), degrees.max()))
        details.append(("Edges per point", f"minimum {low}, median {median}, maximum {high}"))
    return GraphDetails(details, sizes, None if degrees is None else np.asarray(degrees))


def parameter_details(model: BaseEstimator) -> tuple[Details, Details]:
    """Return the parameters that differ from their defaults, and the others."""
    defaults = type(model)().get_params()
    changed: Details = []
    unchanged: Details = []
    for name, value in model.get_params(deep=False).items():
        default = defaults.get(name)
        same = value is default or (type(value) is type(default) and _equal(value, default))
        (unchanged if same else changed).append((name, _parameter_text(value)))
    return changed, unchanged


def _equal(first: Any, second: Any) -> bool:
    return bool(np.array_equal(first, second)) if isinstance(first, np.ndarray) else first == second


def _parameter_text(value: object) -> str:
    """Return the value of a parameter in at most 160 characters."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    text = (getattr(value, "__name__", None) if callable(value) else None) or repr(value)
    return text if len(text) <= 160 else text[:159] + "…"


#: Fitted attributes to show, and their descriptions.
_FITTED = {
    "gamma_": "Kernel coefficient (gamma)",
    "width_": "Width of heat weights",
    "n_landmarks_": "Landmarks",
    "stress_": "Kruskal's stress",
    "distortion_": "Distortion of the graph's edges",
    "ncut_": "Normalised cut",
    "gram_error_bound_": "Error bound of the Gram matrix",
    "log_likelihood_": "Log likelihood",
    "noise_variance_": "Noise variance",
    "entropy_": "Entropy of the spectrum",
    "solver_": "Eigensolver",
    "n_passes_": "Passes over the data",
}


def fitted_details(model: BaseEstimator) -> Details:
    """Return the main fitted attributes."""
    fitted = vars(model)
    details: Details = []
    for name, description in _FITTED.items():
        value = fitted.get(name)
        if isinstance(value, str):
            details.append((description, value))
        elif value is not None and np.ndim(value) == 0:
            details.append((description, format_number(float(value), 4)))
    if fitted.get("dictionary_") is not None:
        details.append(("Dictionary size", format_count(fitted["dictionary_"].shape[0])))
    residuals = fitted.get("residuals_")
    if residuals is not None and np.size(residuals):
        details.append(("Largest eigenpair residual", format_number(float(np.max(residuals)), 2)))
    ratio = fitted.get("explained_variance_ratio_")
    if ratio is not None and np.ndim(ratio) == 1:
        details.append(("Explained variance", f"{100 * float(np.sum(ratio)):.1f} %"))
    return details


def version_details() -> Details:
    """Return the versions of the libraries and the platform."""
    from eigenscape import __version__

    details: Details = [("eigenscape", __version__), ("Python", platform.python_version())]
    for name in _LIBRARIES:
        try:
            details.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return [*details, ("System", f"{platform.system()} {platform.machine()}")]


def data_details(points: Points, model: BaseEstimator) -> Details:
    """Return the source, shape, type and fingerprint of the data."""
    X = points.X
    shape: tuple[int, ...] = getattr(X, "shape", ())
    details: Details = [("Source", points.source)] if points.source else []
    if len(shape) == 2:
        size = f"{format_count(shape[0])} × {format_count(shape[1])}"
        nouns = {"distance": "distances", "kernel": "similarities", "affinity": "affinities"}
        pairwise = f"{size} {nouns[pairwise_kind(model)]} between points"
        details.append(("Shape", pairwise if is_pairwise(model) else f"{size} (rows × columns)"))
    else:
        details.append(("Points", format_count(points.n)))
    if isinstance(X, sparse.csr_array):
        share = 100 * X.nnz / (shape[0] * shape[1])
        details.append(("Stored values", f"{format_count(X.nnz)} ({share:.2g} %)"))
    details.append(("Type", str(getattr(X, "dtype", "chunks of rows" if points.stream else "objects"))))
    if len(shape) == 2 and shape[0] * shape[1] <= TUNING.hashed_values:
        # As the model file: of the rows as they were read.
        details.append(("Fingerprint", fingerprint(X if points.unscaled is None else points.unscaled)))
    return details


def seconds_by_stage(timings: Timings | None) -> dict[str, float]:
    """Return the seconds of each stage, summed, in order of first occurrence."""
    total: dict[str, float] = {}
    pairs: Iterable[tuple[Any, float]] = timings.items() if isinstance(timings, Mapping) else timings or ()
    for name, seconds in pairs:
        total[str(name)] = total.get(str(name), 0.0) + float(seconds)
    return total


def cost_details(fit: float, measures: float, memory: float | None) -> Details:
    """Return the seconds of the fit, if known, and of the measures, and the peak memory in bytes."""
    details: Details = [("Fit, all stages", format_seconds(fit))] if fit else []
    details.append(("Measures of this report", format_seconds(measures)))
    return details + memory_details(memory)


def memory_details(memory: float | None, name: str = "Peak memory") -> Details:
    """Return the peak memory: the given number of bytes, or of this process if it is None."""
    if memory is not None:
        return [(name, format_bytes(memory))]
    peak = peak_memory()
    return [] if peak is None else [("Peak memory of the process", format_bytes(peak))]


def least_stable(measures: Measures, ids: np.ndarray | None) -> list[tuple[str, float]]:
    """Return the points that move most, and their movements."""
    if measures.movement is None:
        return []
    moved = measures.movement.per_point
    order = np.argsort(np.where(np.isfinite(moved), -moved, np.inf), kind="stable")[: TUNING.listed]
    return [(point_name(int(i), ids), float(moved[i])) for i in order]
