"""The values of parameters that the law cases must contain, read from the annotations of constructors.

This is the statement that ``test_covering.py`` compares the cases with. It does not use the rule by which
``covering.py`` chooses cases.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import eigenscape
from eigenscape._parameters import Parameter, declared_parameters
from eigenscape.kernels.pairwise import _BY_NAME
from eigenscape.options import GRAPH_NAMES, Option

#: A number, array, text or object that is not the default.
ANOTHER = "another value"
#: Names that are accepted where the annotation is ``str``.
NAMED = {"kernel": tuple(_BY_NAME), "affinity": (*GRAPH_NAMES, *_BY_NAME)}


class Value(NamedTuple):
    """A value of a parameter, or of a field of an option (``owner`` is the option's class then)."""

    owner: str
    parameter: str
    value: str


#: Parameters that the laws change themselves, or that change no result, each with its tests.
ELSEWHERE = {
    "n_jobs": "law 5 fits with one thread and with all: estimators/test_laws.py",
    "verbose": "changes what is printed: test_progress.py",
}
#: Classes whose input is not one table of rows, each with its tests.
OTHER_INPUT = {
    "AlignedSpectralMaps": "several tables, with pairs of their rows: estimators/test_aligned_maps.py",
    "DistortionDiscriminantAnalysis": "rows are time steps: estimators/test_distortion_discriminant.py",
}
#: Values that a class refuses, and a value for which law 5 does not hold, each with its tests.
WITHOUT_CASE = {
    Value("RadiusGraph", "search", "'approximate'"): "refused: estimators/test_large.py",
    Value("LocallyLinearEmbedding", "graph", "SpanningTree"): "refused: estimators/test_options.py",
    Value("GreedySpectralEmbedding", "kernel", "'sigmoid'"): "refused: dictionary/test_rounding.py",
    **{
        Value(name, "on_disconnected", "'raise'"): "an error: estimators/test_laws.py"
        for name in eigenscape.__all__
    },
    **{
        Value(name, "random_state", "None"): "another result each time: estimators/test_laws.py"
        for name in eigenscape.__all__
    },
}


def classes() -> Iterator[type]:
    """Yield the public estimators."""
    for name in eigenscape.__all__:
        cls = getattr(eigenscape, name)
        if inspect.isclass(cls) and hasattr(cls, "get_params"):
            yield cls


def values(cls: type) -> Iterator[Value]:
    """Yield the values of the parameters of an estimator, and of the fields of its options."""
    for parameter in declared_parameters(cls).values():
        yield from (Value(cls.__name__, parameter.name, text) for text in _texts(parameter))
        for option in parameter.options:
            yield Value(cls.__name__, parameter.name, option.__name__)
            yield from values(option)


def required() -> set[Value]:
    """Return the values that at least one case must have."""
    all_values = {value for cls in classes() if cls.__name__ not in OTHER_INPUT for value in values(cls)}
    return {value for value in all_values if value.parameter not in ELSEWHERE} - set(WITHOUT_CASE)


def _texts(parameter: Parameter) -> Iterator[str]:
    yield from map(repr, parameter.choices)
    if {"str", "Any"} & set(parameter.types):
        yield from map(repr, NAMED.get(parameter.name, ()))
    yield from ("True", "False") if "bool" in parameter.types else ()
    yield from ("None",) if "None" in parameter.types else ()
    closed = {"bool", "None", *([""] if parameter.choices else [])}  # of "" only some objects are known
    if not closed.issuperset(parameter.types):
        yield ANOTHER


def found(model: Any) -> Iterator[Value]:
    """Yield the values that an estimator was made with."""
    for parameter in declared_parameters(type(model)).values():
        value, owner = getattr(model, parameter.name), type(model).__name__
        if isinstance(value, Option):
            yield Value(owner, parameter.name, type(value).__name__)
            yield from found(value)
            value = getattr(value, "method", value)
        text = repr(value) if isinstance(value, str | bool | None) else ""
        if text in _texts(parameter):
            yield Value(owner, parameter.name, text)
        elif not isinstance(value, Option) and not _is_default(value, parameter.default):
            yield Value(owner, parameter.name, ANOTHER)


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and isinstance(value, str | int | float) and value == default
