"""Pages of reports: jinja2 templates with escaped text, and the file that is written."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from eigenscape._extras import optional_import
from eigenscape._format import escape_controls
from eigenscape.app.io.atomic import check_target, whole_file
from eigenscape.app.page import asset, bundle
from eigenscape.app.report import _details
from eigenscape.app.report._points import Points
from eigenscape.app.report._texts import jinja


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
    environment.globals["report"] = _details
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
