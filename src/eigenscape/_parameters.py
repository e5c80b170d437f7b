"""Parameters of an estimator: types from the signature, limits by name, and one check of all values.

A parameter that means the same in every class has its limits in ``LIMITS``; a class overrides an entry in its
attribute ``_limits``.
"""

from __future__ import annotations

import inspect
import math
import numbers
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, dataclass_transform, get_args, get_origin, get_type_hints

import numpy as np

_Class = TypeVar("_Class", bound=type)


@dataclass_transform(eq_default=False)
def with_constructor(cls: _Class) -> _Class:
    """Write the constructor of an estimator class from its annotated fields, as for a dataclass.

    The class is not marked as a dataclass: dask takes a dataclass to be its fields alone, and would lose the
    fitted attributes or give two fitted models the same key.
    """
    dataclass(eq=False, repr=False, match_args=False)(cls)
    for mark in ("__dataclass_fields__", "__dataclass_params__", "__replace__"):
        if mark in vars(cls):
            delattr(cls, mark)
    return cls


@dataclass(frozen=True)
class Limits:
    """The range of a number: from ``minimum``, included unless ``open``, to below ``below``."""

    minimum: float
    open: bool = False
    below: float = math.inf

    def __contains__(self, value: Any) -> bool:
        return self.minimum <= value < self.below and not (self.open and value == self.minimum)

    def __str__(self) -> str:
        low = f"{'above' if self.open else 'at least'} {self.minimum:g}"
        return low + (f" and below {self.below:g}" if self.below < math.inf else "")

    def describe(self, noun: str) -> str:
        """Return the accepted numbers in words."""
        if self == POSITIVE:
            return "a positive number"
        return f"{noun} {self}" if self.open else f"{noun} of {self}"


COUNT, POSITIVE, NOT_NEGATIVE = Limits(1), Limits(0, open=True), Limits(0)
#: Limits by the name of the parameter, in all classes that have it.
LIMITS: Mapping[str, Limits] = {
    **dict.fromkeys(("n_components", "n_neighbors", "n_clusters", "n_landmarks", "n_candidates"), COUNT),
    **dict.fromkeys(("n_kernels", "n_mixtures", "n_rounds", "n_steps", "n_terms", "n_functions"), COUNT),
    **dict.fromkeys(("max_iter", "n_init", "exaggeration"), COUNT),
    **dict.fromkeys(("cv", "max_clusters", "n_features"), Limits(2)),
    "local_components": NOT_NEGATIVE,
    "max_rows": Limits(10),
    **dict.fromkeys(("radius", "sigma", "tol", "reg", "reg_covar", "noise", "noise_floor"), POSITIVE),
    "coupling": POSITIVE,
    **dict.fromkeys(("diffusion_time", "min_gain", "regularization"), NOT_NEGATIVE),
    "target_weight": Limits(0, below=1),
    "random_state": Limits(0, below=2**32),
}
#: Parameters that are checked where they are used.
_UNCHECKED = ("eigen_solver", "n_jobs", "verbose")
#: Types that have a name in messages and on the command line.
_TYPE_NAMES = {
    int: "int",
    float: "float",
    bool: "bool",
    str: "str",
    dict: "dict",
    Mapping: "dict",
    types.NoneType: "None",
    list: "array",
    tuple: "array",
    Sequence: "array",
    Iterable: "array",
    Any: "Any",
    object: "Any",
}
#: Types whose values are not checked here, "" for any other class.
_OPEN = {"", "str", "array", "Any"}


@dataclass(frozen=True)
class Parameter:
    """Type, limit and default of a parameter."""

    name: str
    types: tuple[str, ...]  # "int", "float", "str", "bool", "dict", "array", "None", "Any", "" for others
    choices: tuple[Any, ...]  # values of a Literal
    options: tuple[Any, ...]  # classes of option objects
    limits: Limits | None
    default: Any

    def accepts(self, value: Any) -> bool:
        """Return whether a value is of the type and within the limits."""
        types, is_open = self.types, not _OPEN.isdisjoint(self.types)
        if hasattr(value, "_flat"):  # an option, or its class
            return isinstance(value, self.options)
        if isinstance(value, str) and self.choices:
            return value in self.choices or "str" in types
        if value is None:
            return "None" in types or is_open
        if isinstance(value, (bool, np.bool_)):
            return "bool" in types or is_open
        is_count = isinstance(value, numbers.Integral) and "int" in types
        if is_count or (isinstance(value, numbers.Real) and "float" in types and math.isfinite(value)):
            # If a count or a fraction is accepted, the limits are for the count.
            return self.limits is None or (not is_count and "int" in types) or value in self.limits
        return is_open or ("dict" in types and isinstance(value, dict))

    def refusal(self, value: Any) -> str:
        """Return an error message for a value that is not accepted."""
        if hasattr(value, "_flat"):
            kinds = " or ".join(f"{option.__name__}(...)" for option in self.options) or "no option object"
            given = f"the class {value.__name__}" if isinstance(value, type) else repr(value)
            return f"{self.name} is {given}, but takes {kinds}; pass that, or leave it out"
        return f"{self.name}={value!r} {self._expected()}"

    def _expected(self) -> str:
        if self.choices and not {"int", "float"} & set(self.types):
            choices = [*self.choices, *([None] if "None" in self.types else [])]
            return f"is not known; choose one of {', '.join(map(repr, choices))}"
        named = (("int", "an integer"), ("float", "a number"))
        nouns = [noun for name, noun in named if name in self.types][:1]
        accepted = [noun if self.limits is None else self.limits.describe(noun) for noun in nouns]
        accepted += [repr(choice) for choice in self.choices]
        options = [option.__name__ for option in self.options]
        accepted += [f"{'an' if name[0] in 'AIO' else 'a'} {name}" for name in options]
        others = {"bool": ["True", "False"], "dict": ["a dict"], "None": ["None"]}
        accepted += [text for name, texts in others.items() if name in self.types for text in texts]
        return f"must be {' or '.join(filter(None, (', '.join(accepted[:-1]), accepted[-1])))}"


def check_parameters(estimator: Any) -> None:
    """Raise ValueError for a parameter of another type than declared, or out of its limits."""
    for name, parameter in declared_parameters(type(estimator)).items():
        value = getattr(estimator, name)
        if name not in _UNCHECKED and not parameter.accepts(value):
            raise ValueError(parameter.refusal(value))


def check_count(name: str, value: object, minimum: int = 1) -> int:
    """Return an integer of at least ``minimum``, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < minimum:
        raise ValueError(f"{name}={value!r} must be an integer of at least {minimum}")
    return int(value)


def check_enough(name: str, value: object, needed: int, found: int, of: str = "samples") -> None:
    """Raise ValueError if a parameter needs more samples, features or the like than there are."""
    if found < needed:
        got = found if " " in of else f"n_{of}={found}"  # few of the samples may be distinct
        raise ValueError(f"{name}={value!r} needs at least {needed} {of}, got {got}; lower {name}")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise ValueError unless ``value`` is one of the strings ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, choices))}")


def check_positive(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name}={value!r} must be a positive number")


def check_number(
    name: str, value: object, low: float = -math.inf, high: float = math.inf, *, above: bool = False
) -> float:
    """Return ``value`` as a float, or raise ValueError if it is not in [low, high].

    If ``above``, the lower bound is excluded.
    """
    number = math.nan if isinstance(value, bool) or not isinstance(value, numbers.Real) else float(value)
    inside = math.isfinite(number) and low <= number <= high
    if not inside or (above and number == low):
        bounds = [] if low == -math.inf else [f"above {low:g}" if above else f"of at least {low:g}"]
        bounds += [] if high == math.inf else [f"at most {high:g}"]
        text = " and ".join(bounds)
        raise ValueError(f"{name}={value!r} must be a finite number{' ' if text else ''}{text}")
    return number


def check_random_state(random_state: object) -> None:
    """Raise ValueError unless ``random_state`` is None or a non-negative integer."""
    if random_state is not None and (not isinstance(random_state, numbers.Integral) or int(random_state) < 0):
        raise ValueError(f"random_state={random_state!r} must be a non-negative integer or None")


def check_gamma(kernel: object, gamma: object) -> None:
    """Raise ValueError unless a kernel width is positive or None; "poly" and "sigmoid" take any number."""
    if gamma is None:
        return
    number = math.nan if isinstance(gamma, bool) or not isinstance(gamma, numbers.Real) else float(gamma)
    signed = isinstance(kernel, str) and kernel in ("poly", "polynomial", "sigmoid")
    if not math.isfinite(number) or (number <= 0 and not signed):
        raise ValueError(f"gamma={gamma!r} must be a positive number or None")


def _declared(cls: type) -> Mapping[str, Parameter]:
    limits = dict(LIMITS)
    for base in reversed(cls.__mro__):
        limits |= vars(base).get("_limits", {})
    return {
        name: Parameter(name, *_annotated_types(cls, each.annotation), limits.get(name), each.default)
        for name, each in inspect.signature(cls).parameters.items()
    }


#: Parameters of an estimator class, by name.
declared_parameters: Callable[[Any], Mapping[str, Parameter]] = cache(_declared)


def _annotated_types(cls: type, annotation: Any) -> tuple[tuple[str, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return the names of the types in an annotation, the values of its Literals, and classes of options."""
    scope = inspect.unwrap(cls.__init__).__globals__  # type: ignore[misc]
    holder = types.SimpleNamespace(__annotations__={"parameter": annotation})
    try:
        hint = get_type_hints(holder, scope, {"ArrayLike": list})["parameter"]
    except (NameError, AttributeError, TypeError, SyntaxError):
        return ("Any",), (), ()
    names: list[str] = []
    options: list[Any] = []
    choices: list[Any] = []
    for part in get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,):
        if get_origin(part) is Literal:
            choices += [value for value in get_args(part) if not isinstance(value, bool | None)]
            names += [_TYPE_NAMES[type(value)] for value in get_args(part) if isinstance(value, bool | None)]
        elif hasattr(part, "_flat"):
            options.append(part)
        else:
            names.append(_type_name(part))
    return tuple(dict.fromkeys(names)), tuple(choices), tuple(options)


def _type_name(type_: Any) -> str:
    """Return the name of a type in ``_TYPE_NAMES``, or "" for objects that only Python code can pass."""
    origin = get_origin(type_) or type_
    if origin is np.ndarray:
        return "array"
    if origin is tuple and Any in get_args(type_):  # of arrays, such as (indices, distances)
        return ""
    return _TYPE_NAMES.get(origin, "")
