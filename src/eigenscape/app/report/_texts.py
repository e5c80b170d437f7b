"""Tables of reports (limits, rules, sections), numbers as text, and texts with expressions (jinja2).

Spaces within a number are non-breaking.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import numpy as np

from eigenscape._extras import optional_import
from eigenscape._format import format_bytes
from eigenscape.quality import LocalizedCoordinate

_FILES = [files(__package__).joinpath(name).read_text("utf-8") for name in ("rules.toml", "sections.toml")]
#: Limits, rules, sentences and sections.
TABLES = tomllib.loads("\n".join(_FILES))
#: Limits of what is computed and shown, by name.
LIMITS = SimpleNamespace(**TABLES["limits"])

_SPACE = "\u00a0"


def format_number(value: float, digits: int = 3) -> str:
    """Return a number with ``digits`` significant digits; an en dash if it is not finite."""
    if not np.isfinite(value):
        return "–"
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value)}"
    text = f"{value:.{digits}g}"
    return text if "e" not in text or not 1e-4 <= abs(value) < 1e6 else f"{value:.0f}"


def format_score(value: float) -> str:
    """Return a value between 0 and 1, with more digits close to 1."""
    return f"{value:.4f}" if 0.99 < value < 0.99995 else f"{value:.3f}" if value < 0.99995 else "1.000"


def format_percent(value: float) -> str:
    """Return a share in per cent, with as many digits as distinguish it from the whole."""
    if value <= 0.995 or value >= 1:
        return f"{100 * value:{'.2g' if value < 0.1 else '.0f'}}{_SPACE}%"
    for digits in range(1, 4):
        text = f"{100 * value:.{digits}f}"
        if float(text) < 100:
            return f"{text}{_SPACE}%"
    return f"more than 99.999{_SPACE}%"


def format_count(count: int) -> str:
    """Return a count with spaces between groups of three digits."""
    return f"{count:,}".replace(",", _SPACE)


def format_seconds(seconds: float) -> str:
    """Return a duration with its unit."""
    if seconds >= 90:
        return f"{int(seconds // 60)}{_SPACE}min {seconds % 60:.0f}{_SPACE}s"
    return f"{seconds:.1f}{_SPACE}s" if seconds >= 1 else f"{1000 * seconds:.0f}{_SPACE}ms"


def format_listed(names: Sequence[str]) -> str:
    """Return names as "a", "a and b" or "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def format_carried(localized: Sequence[LocalizedCoordinate]) -> str:
    """Return "coordinate 1" or "coordinates 1 and 3" of the coordinates that few points carry."""
    numbers = format_listed([str(found.coordinate + 1) for found in localized])
    return f"coordinate{'s' * (len(localized) > 1)} {numbers}"


def format_scalar(value: Any) -> str:
    """Return a text, or a number with four digits; nothing for other values."""
    number = isinstance(value, (int, float, np.number))
    return format_number(float(value), 4) if number else value if isinstance(value, str) else ""


def format_largest(values: Any) -> str:
    """Return the largest of some numbers, or of a list of arrays; nothing if there are none."""
    flat = np.concatenate([np.ravel(part) for part in (values if isinstance(values, list) else [values])])
    return format_number(float(flat.max()), 2) if flat.size and flat.dtype.kind == "f" else ""


def shorten(value: object) -> str:
    """Return the printable characters of a text, shortened to 120 characters."""
    text = "".join(character for character in str(value)[: LIMITS.text_length + 1] if character.isprintable())
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= LIMITS.text_length else text[: LIMITS.text_length - 1] + "…"


def format_median(values: np.ndarray) -> str:
    """Return the median of integers."""
    return str(int(np.median(values)))


_FORMATS: list[Callable[..., str]] = [format_bytes, format_carried, format_count, format_largest]
_FORMATS += [format_listed, format_median, format_number, format_percent, format_scalar, format_score]
_FORMATS += [format_seconds, shorten]
#: Formats by name, for templates and for the sentences of rules.
FORMATS = {function.__name__.removeprefix("format_"): function for function in _FORMATS}


def jinja(**options: Any) -> Any:
    """Return an environment of templates with the formats of reports as filters."""
    environment = optional_import("jinja2", "writing a report").Environment(**options)
    environment.filters |= FORMATS
    return environment


@cache
def _environment() -> Any:
    return jinja(undefined=optional_import("jinja2", "writing a report").ChainableUndefined)


@cache
def _compiled(text: str, kind: str) -> Any:
    return getattr(_environment(), kind)(text)


def evaluate(expression: str, names: dict[str, Any]) -> Any:
    """Return the value of an expression; None if an object on its path is None or has no such attribute."""
    return _compiled(expression, "compile_expression")(names)


def fill(text: str, names: dict[str, Any]) -> str:
    """Return a text with the values of its expressions."""
    return _compiled(text, "from_string").render(names)
