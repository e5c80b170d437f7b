"""scikit-learn's own functions with some of the names that they use bound to other objects.

The body of ``Isomap.fit`` (validation, warnings, errors, attributes, their order) stays scikit-learn's, of
the version that is installed; only the steps that take time, such as ``shortest_path``, are replaced. The
original function is not changed.

See docs/decisions/accel-rebinding.md.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._param_validation import validate_params

from eigenscape.accel._record import recorded


def rebound(function: Callable[..., Any], **names: Any) -> Callable[..., Any]:
    """Return a function with the code of ``function``, decorators removed, and other global ``names``.

    Raises
    ------
    NameError
        If the function uses no global of that name: scikit-learn has changed.
    """
    inner: Any = inspect.unwrap(function)
    missing = set(names) - set(inner.__code__.co_names)
    if missing:
        raise NameError(f"{inner.__qualname__} does not use {', '.join(sorted(missing))}")
    new = types.FunctionType(
        inner.__code__, {**inner.__globals__, **names}, inner.__name__, inner.__defaults__, inner.__closure__
    )
    new.__kwdefaults__ = inner.__kwdefaults__
    new.__doc__ = inner.__doc__
    return new


def method(call: str, function: Any, **names: Any) -> Any:
    """Return a method of scikit-learn with other global ``names`` and the same parameter checks, recorded."""
    run = functools.wraps(function)(recorded(call)(rebound(function, **names)))
    checked = hasattr(function, "__wrapped__")
    return _fit_context(prefer_skip_nested_validation=True)(run) if checked else run


def function(original: Any, module: str, body: Callable[..., Any] | None = None, **names: Any) -> Any:
    """Return a function of scikit-learn with other global ``names``, or with another body, recorded.

    Signature, documentation and parameter checks do not change.
    """
    inner = inspect.unwrap(original)
    body = rebound(original, **names) if body is None else body
    run = functools.wraps(inner)(recorded(inner.__name__)(body))
    run.__module__ = module
    run.__doc__ = f"{inner.__doc__}\n\n    Computed by eigenscape where it gives the same result.\n    "
    constraints = original._skl_parameter_constraints
    return validate_params(constraints, prefer_skip_nested_validation=True)(run)
