"""Forms of the methods: fields from signature and docstring, and values of fields checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from eigenscape._parameters import Limits
from eigenscape.app import methods
from eigenscape.app.errors import CommandError
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.methods import EVERYDAY, Parameter

#: Parameters that do not change the map, or that only Python code can pass.
_EXCLUDED = ("n_jobs", "metric_params", "storage", "landmarks")
#: Parameters that need labels of the rows.
_LABELLED = ("target_weight",)
#: Values of parameters that mean another kind of input.
_PRECOMPUTED = "precomputed"
#: Largest value for n rows, by parameter.
_AT_MOST: dict[str, Callable[[int], int]] = {
    "n_components": lambda n: min(TUNING.max_components, n - 1),
    "n_neighbors": lambda n: n - 1,
    **dict.fromkeys(("dictionary_size", "n_landmarks", "n_clusters", "n_kernels", "n_mixtures"), lambda n: n),
}


def _fields(cls: type, has_labels: bool) -> dict[str, Parameter]:
    excluded = _EXCLUDED if has_labels else (*_EXCLUDED, *_LABELLED)
    return {key: value for key, value in methods.parameters(cls).items() if key not in excluded}


def describe_methods(n: int, has_labels: bool) -> list[dict[str, Any]]:
    """Return name, summary and fields of each method that can be fitted to rows."""
    return [
        {
            "name": name,
            "title": cls.__name__,
            "summary": methods.summary(cls),
            "parameters": [_describe(field, n) for field in _fields(cls, has_labels).values()],
        }
        for name, cls in methods.all_methods().items()
        if has_labels or not cls._method.groups
    ]


def _describe(field: Parameter, n: int) -> dict[str, Any]:
    choices = [choice for choice in field.choices if _PRECOMPUTED not in str(choice)]
    minimum, maximum = _limits(field, n)
    kind = next((name for name in ("bool", "float", "int") if name in field.types), "text")
    if choices:  # a text is one of the choices, or a number
        kind = "text" if kind in ("float", "int") else "choice"
    return {
        "name": field.name,
        "type": kind,
        "default": field.default if isinstance(field.default, bool | int | float | str | None) else None,
        "choices": choices,
        "minimum": minimum,
        "maximum": maximum,
        "optional": "None" in field.types,
        "everyday": field.group == EVERYDAY,
        "help": field.description,
    }


def _limits(field: Parameter, n: int) -> tuple[float, float]:
    """Return the smallest and the largest number that a field accepts; infinite ones are null in JSON."""
    limits = field.limits or Limits(-math.inf)
    if not {"int", "float"} & set(field.types):
        return -math.inf, math.inf
    low = limits.minimum
    if field.name == "random_state" or (field.name == "n_components" and "float" in field.types):
        low = 0  # n_components may be a share of the variance
    if limits.below < math.inf:
        return low, limits.below - 0.01
    return low, _AT_MOST[field.name](n) if field.name in _AT_MOST else math.inf


def parse_request(
    name: str, given: Mapping[str, Any], n: int, has_labels: bool
) -> tuple[str, dict[str, Any]]:
    """Return the method and the parameters of a form; raise CommandError naming the field."""
    cls = methods.estimator_class(name)
    method, fields = cls._method.name, _fields(cls, True)
    if cls._method.groups and not has_labels:
        raise CommandError(f"method={method} needs labels of the rows; choose another method")
    chosen = {}
    for key, value in given.items():
        if key not in fields:
            raise CommandError(f"{method} has no parameter {key!r}; it has {', '.join(fields)}")
        if key in _LABELLED and not has_labels:
            raise CommandError(f"{key} needs labels of the rows, and these have none; leave it out")
        parsed = parse_value(fields[key], value, n)
        if parsed != fields[key].default or type(parsed) is not type(fields[key].default):
            chosen[key] = parsed
    methods.make_estimator(cls, chosen)  # raises an error for fields that cannot be combined
    return method, chosen


def parse_value(field: Parameter, value: Any, n: int) -> Any:
    """Return the value of a field as the estimator takes it; raise CommandError if it is invalid."""
    is_none = value is None or (not str(value).strip() and "None" in field.types)
    parsed = field.parse("none" if is_none else str(value), field.name)
    if _PRECOMPUTED in str(parsed):
        raise CommandError(f"{field.name}={parsed} needs a matrix of distances, but the data are rows")
    if isinstance(parsed, int | float) and not isinstance(parsed, bool):
        low, high = _limits(field, n)
        if not (low <= parsed <= high and math.isfinite(parsed)):
            raise CommandError(f"{field.name} must be from {low} to {high} for {n} rows, got {value!r}")
    return parsed
