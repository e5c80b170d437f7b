"""Sections and details of a report, from ``sections.toml`` and from a fitted model."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from eigenscape.app.io.models import fingerprint
from eigenscape.app.report._points import Points, is_pairwise, pairwise_kind
from eigenscape.app.report._refits import Movement
from eigenscape.app.report._texts import LIMITS, TABLES, evaluate, fill, format_percent
from eigenscape.app.report.few_points import point_name

Details = list[tuple[str, ...]]
Timings = Mapping[str, float] | Iterable[tuple[str, float]]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "matplotlib")


def sections(kind: str, names: dict[str, Any]) -> list[dict[str, Any] | None]:
    """Return the "sections" or "tiles" of a page with their texts; None for those without a value."""
    rows = TABLES[kind]
    return [None if evaluate(row["when"], names) is None else _section(row, names) for row in rows]


def _section(row: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {key: fill(text, names) for key, text in row.items() if isinstance(text, str)}
    made |= {key: [fill(text, names) for text in row.get(key, ())] for key in ("head", "chart")}
    return made | {"facts": _facts(row.get("facts", ()), names)}


def details(kind: str, **names: Any) -> Details:
    """Return the details of a kind: names and texts."""
    return _facts(TABLES["details"][kind], names)


def _facts(rows: Iterable[list[str]], names: dict[str, Any]) -> Details:
    made = [tuple(fill(text, names) for text in row) for row in rows]
    return [row for row in made if row[1]]


@dataclass(frozen=True, eq=False)
class GraphDetails:
    """The neighbourhood graph of a model."""

    sizes: np.ndarray  # number of points of each connected component, descending
    degrees: np.ndarray | None = None  # number of edges of each point


def graph_details(model: BaseEstimator) -> GraphDetails | None:
    """Return the components and degrees of the graph, or None if the model uses no graph."""
    fitted = vars(model)
    if fitted.get("component_labels_") is None:
        return None
    degrees = fitted.get("degrees_")
    if degrees is None and sparse.issparse(fitted.get("graph_")):
        degrees = np.diff(fitted["graph_"].indptr)
    sizes = -np.sort(-np.bincount(fitted["component_labels_"]))
    return GraphDetails(sizes, None if degrees is None else np.asarray(degrees))


def parameter_details(model: BaseEstimator) -> tuple[Details, Details]:
    """Return the parameters that differ from their defaults, and the others."""
    defaults = type(model)().get_params()
    found: tuple[Details, Details] = ([], [])
    for name, value in model.get_params(deep=False).items():
        default = defaults.get(name)
        same = value is default or (type(value) is type(default) and np.array_equal(value, default))
        found[same].append((name, _parameter_text(value)))
    return found


def _parameter_text(value: object) -> str:
    """Return the value of a parameter in at most 160 characters."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    text = (getattr(value, "__name__", None) if callable(value) else None) or repr(value)
    return text if len(text) <= 160 else text[:159] + "…"


def version_details() -> Details:
    """Return the versions of the libraries and the platform."""
    from eigenscape import __version__

    found: Details = [("eigenscape", __version__), ("Python", platform.python_version())]
    for name in _LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return [*found, ("System", f"{platform.system()} {platform.machine()}")]


def data_details(points: Points, model: BaseEstimator) -> Details:
    """Return the source, shape, type and fingerprint of the data."""
    nouns = {"distance": "distances", "kernel": "similarities", "affinity": "affinities"}
    meaning = f"{nouns[pairwise_kind(model)]} between points" if is_pairwise(model) else "(rows × columns)"
    shape: tuple[int, ...] = getattr(points.X, "shape", ())
    text = ""
    if len(shape) == 2 and shape[0] * shape[1] <= LIMITS.hashed_values:
        # As the model file: of the rows as they were read.
        text = fingerprint(points.X if points.unscaled is None else points.unscaled)
    return details("data", points=points, X=points.X, meaning=meaning, fingerprint=text)


def seconds_by_stage(timings: Timings | None) -> dict[str, float]:
    """Return the seconds of each stage, summed, in order of first occurrence."""
    total: dict[str, float] = {}
    pairs: Iterable[tuple[Any, float]] = timings.items() if isinstance(timings, Mapping) else timings or ()
    for name, seconds in pairs:
        total[str(name)] = total.get(str(name), 0.0) + float(seconds)
    return total


def least_stable(movement: Movement | None, ids: np.ndarray | None) -> Details:
    """Return the points that move most, and their movements."""
    if movement is None:
        return []
    moved = movement.per_point
    order = np.argsort(np.where(np.isfinite(moved), -moved, np.inf), kind="stable")[: LIMITS.listed]
    return [(point_name(int(i), ids), format_percent(moved[i])) for i in order]
