"""Pages of reports: jinja2 templates with escaped text, their sections and details, and the file.

Sections and details are described in ``sections.toml``.
"""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape._extras import optional_import
from eigenscape._format import escape_controls
from eigenscape.app.io.atomic import check_target, whole_file
from eigenscape.app.page import asset, bundle
from eigenscape.app.report._points import Points, as_dense, has_rows, is_pairwise, pairwise_kind
from eigenscape.app.report._refits import Movement
from eigenscape.app.report._texts import LIMITS, TABLES, evaluate, fill, format_percent, jinja, shorten
from eigenscape.app.report.dominance import point_name

Details = list[tuple[str, ...]]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "matplotlib")


def check_report(path: str | Path, force: bool) -> None:
    """Raise an error, before the computation, if the file cannot be written or a package is missing."""
    check_target(path, force)
    for package in ("jinja2", "matplotlib"):
        optional_import(package, "writing a report")


@cache
def _environment() -> Any:
    """Return the environment of the templates: all text is escaped, control characters are made visible."""
    jinja2 = optional_import("jinja2", "writing a report")
    loader = jinja2.PackageLoader("eigenscape.app.report")
    options = {"autoescape": True, "undefined": jinja2.StrictUndefined, "finalize": _visible}
    environment = jinja(loader=loader, trim_blocks=True, lstrip_blocks=True, **options)
    environment.filters["sha256"] = _sha256
    functions = (sections, details, parameter_details, version_details, data_details, least_stable)
    environment.globals["report"] = {function.__name__: function for function in functions}
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment


def _visible(value: object) -> object:
    """Return a text with control characters as escape sequences; markup and numbers as they are."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return escape_controls(str(value)) if is_text else value


def _sha256(content: str) -> str:
    """Return the hash of a script or style as it is written in a content policy."""
    return base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")


def write_page(
    path: str | Path, force: bool, template: str, points: Points, remarks: list[str], **content: Any
) -> Path:
    """Render a template with its content and write the page atomically."""
    content |= {"points": points, "remark": " ".join(filter(None, remarks))}
    content |= {"of": f" of {Path(points.source).name}" if points.source else ""}
    content |= {"style": f"{asset('map.css')}\n{asset('report.css')}", "script": bundle("report.js")}
    content |= {"now": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    page = _environment().get_template(template).render(content)
    with whole_file(path, force=force) as part:
        Path(part).write_text(page, encoding="utf-8", errors="replace")
    return Path(path)


# --- sections and details -----------------------------------------------------------------------------------


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
    found += [(name, version(name)) for name in _LIBRARIES]
    return [*found, ("System", f"{platform.system()} {platform.machine()}")]


def data_details(points: Points, model: BaseEstimator) -> Details:
    """Return the source, shape and type of the data."""
    nouns = {"distance": "distances", "kernel": "similarities", "affinity": "affinities"}
    meaning = f"{nouns[pairwise_kind(model)]} between points" if is_pairwise(model) else "(rows × columns)"
    constant = [] if points.stream or not has_rows(model, points) else _constant_columns(points)
    return details("data", points=points, X=points.X, meaning=meaning, constant=constant, limits=LIMITS)


def _constant_columns(points: Points) -> list[str]:
    """Return the names of the columns that have one value only."""
    X, names = points.measured, points.names
    low, high = (np.ravel(as_dense(each)) for each in (X.min(axis=0), X.max(axis=0)))
    return [shorten(names[i]) if names else f"column {i + 1}" for i in np.flatnonzero(low == high)]


def least_stable(movement: Movement | None, ids: np.ndarray | None) -> Details:
    """Return the points that move most, and their movements."""
    if movement is None:
        return []
    moved = movement.per_point
    order = np.argsort(np.where(np.isfinite(moved), -moved, np.inf), kind="stable")[: LIMITS.listed]
    return [(point_name(int(i), ids), format_percent(moved[i])) for i in order]
