"""Texts of reports in the language of their templates (jinja2): expressions and sentences of the tables."""

from __future__ import annotations

from functools import cache
from typing import Any

from eigenscape._extras import optional_import
from eigenscape.app.report._columns import shorten
from eigenscape.app.report._formatting import FORMATS
from eigenscape.app.report.few_points import carried_coordinates


def jinja(**options: Any) -> Any:
    """Return an environment of templates with the formats of reports as filters."""
    environment = optional_import("jinja2", "writing a report").Environment(**options)
    environment.filters |= FORMATS | {"carried": carried_coordinates, "shorten": shorten}
    return environment


@cache
def _environment() -> Any:
    return jinja(undefined=optional_import("jinja2", "writing a report").ChainableUndefined)


@cache
def _expression(text: str) -> Any:
    return _environment().compile_expression(text)


@cache
def _template(text: str) -> Any:
    return _environment().from_string(text)


def evaluate(expression: str, names: dict[str, Any]) -> Any:
    """Return the value of an expression; None if an object on its path is None or has no such attribute."""
    return _expression(expression)(names)


def fill(text: str, names: dict[str, Any]) -> str:
    """Return a text with the values of its expressions."""
    return _template(text).render(names)
