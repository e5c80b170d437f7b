"""Forms of the methods: fields from signature and docstring, and values of fields checked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from eigenscape.app.errors import CommandError
from eigenscape.app.methods import METHODS, Parameter, estimator_class, method_name, parameters, summary

#: Parameters that do not change the map, or that only Python code can pass.
_EXCLUDED = ("n_jobs", "metric_params", "storage", "landmarks")
#: Parameters that need labels of the rows.
_LABELLED = ("target_weight",)
#: Methods whose input is not a table of independent rows.
_NO_ROWS = ("distortion-discriminant-analysis",)
#: Values of parameters that mean another kind of input.
_PRECOMPUTED = "precomputed"
#: Number of coordinates that a form accepts at most.
_MAX_COMPONENTS = 100
#: Length of a text in a field.
_MAX_TEXT = 200


@lru_cache(maxsize=1)
def _all_fields() -> dict[str, dict[str, Parameter]]:
    found = {}
    for name in METHODS:
        if name not in _NO_ROWS:
            known = parameters(estimator_class(name))
            found[name] = {key: value for key, value in known.items() if key not in _EXCLUDED}
    return found


def describe_methods(n: int, has_labels: bool) -> list[dict[str, Any]]:
    """Return name, summary and fields of each method that can be fitted to rows."""
    return [
        {
            "name": name,
            "title": METHODS[name],
            "summary": summary(estimator_class(name)),
            "parameters": [
                _describe(field, n) for field in fields.values() if has_labels or field.name not in _LABELLED
            ],
        }
        for name, fields in _all_fields().items()
        if has_labels or name != "oriented-pca"
    ]


def _describe(field: Parameter, n: int) -> dict[str, Any]:
    choices = [choice for choice in field.choices if _PRECOMPUTED not in str(choice)]
    minimum, maximum = _limits(field, n)
    return {
        "name": field.name,
        "type": _field_type(field, choices),
        "default": field.default if isinstance(field.default, bool | int | float | str | None) else None,
        "choices": choices,
        "minimum": minimum,
        "maximum": maximum,
        "optional": "None" in field.types,
        "help": field.description,
    }


def _field_type(field: Parameter, choices: list[Any]) -> str:
    numbers = {"int", "float"} & set(field.types)
    if choices and not numbers:
        return "choice"
    if choices:
        return "text"  # a number or one of the choices
    if "bool" in field.types:
        return "bool"
    if "float" in field.types:
        return "float"
    return "int" if "int" in field.types else "text"


def _limits(field: Parameter, n: int) -> tuple[float | None, float | None]:
    if "int" not in field.types and "float" not in field.types:
        return None, None
    if field.name == "n_neighbors":
        return 1, n - 1
    if field.name == "n_components":
        lowest = 0 if "float" in field.types else 1  # a share of the variance
        return lowest, min(_MAX_COMPONENTS, n - 1)
    if field.name in ("dictionary_size", "n_landmarks", "n_clusters", "n_kernels", "n_mixtures"):
        return 1, n
    if field.name.startswith("n_") or field.name in ("max_iter", "degree"):
        return 1, None
    if field.name == "target_weight":
        return 0, 0.99
    return (0, None) if field.name in ("tol", "random_state", "radius") else (None, None)


def parse_request(request: Mapping[str, Any], n: int, has_labels: bool) -> tuple[str, dict[str, Any]]:
    """Return the method and the parameters of a request to fit; raise CommandError naming the field."""
    name = request.get("method")
    if not isinstance(name, str) or len(name) > _MAX_TEXT:
        raise CommandError(f"method must be the name of a method, got {_shown(name)}")
    method = method_name(name)
    fields = _all_fields().get(method)
    if fields is None:
        raise CommandError(f"method={method} is not fitted to a table of rows; choose another method")
    if method == "oriented-pca" and not has_labels:
        raise CommandError("method=oriented-pca needs labels of the rows; choose another method")
    given = request.get("parameters", {})
    if not isinstance(given, dict):
        raise CommandError(f"parameters must be an object of names and values, got {_shown(given)}")
    chosen = {}
    for key, value in given.items():
        if key not in fields:
            raise CommandError(f"{method} has no parameter {_shown(key)}; it has {', '.join(fields)}")
        if key in _LABELLED and not has_labels:
            raise CommandError(f"{key} needs labels of the rows, and these have none; leave it out")
        parsed = parse_value(fields[key], value, n)
        if parsed != fields[key].default or type(parsed) is not type(fields[key].default):
            chosen[key] = parsed
    return method, chosen


def parse_value(field: Parameter, value: Any, n: int) -> Any:
    """Return the value of a field as the estimator takes it; raise CommandError if it is invalid."""
    if isinstance(value, list | dict) or (isinstance(value, str) and len(value) > _MAX_TEXT):
        raise CommandError(f"{field.name} must be one value, got {_shown(value)}")
    text = "none" if value is None else str(value)
    if isinstance(value, float) and value.is_integer() and "float" not in field.types:
        text = str(int(value))
    if text.strip() == "" and "None" in field.types:
        text = "none"
    if isinstance(value, bool) and "bool" not in field.types:
        raise CommandError(f"{field.name} must be {field.type_text}, got {_shown(value)}")
    try:
        parsed = field.parse(text)
    except CommandError as error:
        raise CommandError(str(error).replace(field.option, field.name)) from None
    if _PRECOMPUTED in str(parsed):
        raise CommandError(f"{field.name}={parsed} needs a matrix of distances, but the data are rows")
    low, high = _limits(field, n)
    if isinstance(parsed, int | float) and not isinstance(parsed, bool):
        if parsed != parsed or abs(parsed) == float("inf"):
            raise CommandError(f"{field.name} must be a finite number, got {_shown(value)}")
        if low is not None and parsed < low:
            raise CommandError(f"{field.name} must be at least {low}, got {_shown(value)}")
        if high is not None and parsed > high:
            raise CommandError(f"{field.name} must be at most {high} for {n} rows, got {_shown(value)}")
    return parsed


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
