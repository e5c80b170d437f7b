"""Estimators by their names on the command line, and their parameters as options or fields of a form.

Names, types and defaults of parameters come from the signature of the estimator, descriptions from its
docstring. Importing this module does not import the estimators.
"""

from __future__ import annotations

import builtins
import inspect
import json
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from eigenscape._extras import optional_import
from eigenscape.app.errors import CommandError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Names of the methods and of their classes.
METHODS = {
    "pca": "PCA",
    "kernel-pca": "KernelPCA",
    "classical-mds": "ClassicalMDS",
    "isomap": "Isomap",
    "locally-linear-embedding": "LocallyLinearEmbedding",
    "laplacian-eigenmaps": "LaplacianEigenmaps",
    "diffusion-map": "DiffusionMap",
    "spectral-clustering": "SpectralClustering",
    "neighbor-embedding": "NeighborEmbedding",
    "potential-map": "PotentialMap",
    "greedy": "GreedySpectralEmbedding",
    "landmark-mds": "LandmarkMDS",
    "fastmap": "FastMap",
    "metric-map": "MetricMap",
    "ordinal-mds": "OrdinalMDS",
    "kernel-eigenmap": "KernelEigenmap",
    "locality-preserving-projection": "LocalityPreservingProjection",
    "oriented-pca": "OrientedPCA",
    "distortion-discriminant-analysis": "DistortionDiscriminantAnalysis",
    "probabilistic-pca": "ProbabilisticPCA",
    "factor-analysis": "FactorAnalysis",
    "mixture-ppca": "MixturePPCA",
    "projection-pursuit": "ProjectionPursuit",
}

#: Alternative names. Names of classes are accepted, too.
ALIASES = {
    "kpca": "kernel-pca",
    "mds": "classical-mds",
    "cmds": "classical-mds",
    "pcoa": "classical-mds",
    "lle": "locally-linear-embedding",
    "le": "laplacian-eigenmaps",
    "laplacian": "laplacian-eigenmaps",
    "diffusion": "diffusion-map",
    "dmap": "diffusion-map",
    "spectral": "spectral-clustering",
    "greedy-spectral-embedding": "greedy",
    "lmds": "landmark-mds",
    "nonmetric-mds": "ordinal-mds",
    "nmds": "ordinal-mds",
    "lpp": "locality-preserving-projection",
    "opca": "oriented-pca",
    "dda": "distortion-discriminant-analysis",
    "ppca": "probabilistic-pca",
    "fa": "factor-analysis",
    "mppca": "mixture-ppca",
    "pursuit": "projection-pursuit",
}

#: Methods of the command ``cluster``; the first is the default.
CLUSTERING = ("spectral-clustering", "mixture-ppca")

#: Methods that cannot be fitted to dask collections.
IN_MEMORY = (
    "distortion-discriminant-analysis",
    "factor-analysis",
    "ordinal-mds",
    "oriented-pca",
    "projection-pursuit",
)

#: Parameters that are set by options of the command line itself, or from Python only.
_EXCLUDED = ("verbose", "dictionary")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
#: Types that can be written on the command line, and how they are called in messages.
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
_EXPECTED = {
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "dict": "a JSON object",
    "array": "numbers separated by commas",
    "None": "none",
}


def method_name(name: str) -> str:
    """Return the name of a method, given any of its names; raise CommandError if there is none."""
    normalized = name.strip().lower().replace("_", "-")
    classes = {class_name.lower(): method for method, class_name in METHODS.items()}
    if normalized in METHODS:
        return normalized
    found = ALIASES.get(normalized) or classes.get(normalized.replace("-", ""))
    if found:
        return found
    close = get_close_matches(normalized, [*METHODS, *ALIASES], n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"use one of {', '.join(METHODS)}"
    raise CommandError(f"no such method: {name}; {hint} (`eigenscape methods` lists them)")


def needs_labels(method: str | None, parameters: Mapping[str, Any]) -> bool:
    """Return whether a method with these parameters is fitted to the labels of the rows."""
    return method == "oriented-pca" or bool(parameters.get("target_weight"))


def estimator_class(name: str) -> type[BaseEstimator]:
    """Import the estimator class of a method, given any name of it."""
    import eigenscape

    return getattr(eigenscape, METHODS[method_name(name)])


def method_of(estimator: BaseEstimator | str) -> str:
    """Return the name of the method of an estimator, given the estimator or the name of its class."""
    class_name = estimator if isinstance(estimator, str) else type(estimator).__name__
    return next((name for name, known in METHODS.items() if known == class_name), class_name)


def aliases_of(name: str) -> list[str]:
    """Return the alternative names of a method."""
    return [alias for alias, method in ALIASES.items() if method == name]


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator."""

    name: str
    types: tuple[str, ...]  # "int", "float", "str", "bool", "dict", "array", "None", "Any"
    default: Any
    doc_type: str  # type and default in the docstring
    description: str
    choices: tuple[Any, ...] = ()  # values of a Literal

    @property
    def option(self) -> str:
        """Return the name of the option, such as ``--n-neighbors``."""
        return "--" + self.name.replace("_", "-")

    @property
    def is_flag(self) -> bool:
        """Return whether the option can be given without a value."""
        return "bool" in self.types

    @property
    def type_text(self) -> str:
        """Return the type as the docstring has it, otherwise as annotated."""
        return self.doc_type or " | ".join([*map(repr, self.choices), *self.types])

    def parse(self, text: str) -> Any:
        """Convert the text of an option to a value of the parameter; raise CommandError if it is invalid."""
        value = self._convert(text)
        is_count = self.name.startswith("n_") and self.name != "n_jobs"
        if is_count and isinstance(value, int | float) and value <= 0:
            raise CommandError(f"{self.option} must be at least 1, got {text!r}")
        return value

    def _convert(self, text: str) -> Any:
        """Convert the text to the first type that fits; raise CommandError if there is none."""
        lower = text.strip().lower()
        for choice in self.choices:
            if text.strip() == str(choice):
                return choice
        if lower == "none" and {"None", "Any"} & set(self.types):
            return None
        if self.is_flag and lower in (*_TRUE, *_FALSE):
            return lower in _TRUE
        for name, convert in (
            ("int", int),
            ("float", float),
            ("dict", _parse_dict),
            ("array", _parse_numbers),
            ("Any", _parse_numbers),
        ):
            if name in self.types:
                try:
                    return convert(text)
                except ValueError:
                    continue
        if {"str", "Any"} & set(self.types) and self.name != "random_state":
            return text
        expected = [*map(str, self.choices), *(_EXPECTED[name] for name in self.types if name in _EXPECTED)]
        raise CommandError(
            f"{self.option} must be {' or '.join(expected) or 'an integer or none'}, got {text!r}"
        )


def _parse_dict(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("not a mapping")
    return value


def _parse_numbers(text: str) -> Any:
    """Convert ``3``, ``3,5,8`` or a JSON list; raise ValueError for any other text."""
    if text.lstrip().startswith("["):
        return json.loads(text)
    parts = [part.strip() for part in text.split(",")]
    values = [int(part) if re.fullmatch(r"[+-]?\d+", part) else float(part) for part in parts]
    return values if len(values) > 1 else values[0]


def parameters(cls: type[BaseEstimator]) -> dict[str, Parameter]:
    """Return the parameters of an estimator class that can be set on the command line, by name."""
    documented = _documented_parameters(cls)
    found = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        if name not in _EXCLUDED:
            annotated, choices = _annotated_types(cls, parameter.annotation)
            doc_type, description = documented.get(name, ("", ""))
            found[name] = Parameter(name, annotated, parameter.default, doc_type, description, choices)
    return found


class _Unknown:
    """Replacement for a name in an annotation that is imported for type checkers only."""

    def __class_getitem__(cls, _: object) -> type[_Unknown]:
        return cls


class _Names(dict[str, Any]):
    """Names in annotations: array types become lists, undefined names :class:`_Unknown`."""

    def __init__(self, scope: dict[str, Any]) -> None:
        super().__init__(ArrayLike=list)
        self.scope = scope

    def __missing__(self, name: str) -> Any:
        if name in self.scope or hasattr(builtins, name):
            raise KeyError(name)  # eval goes on to look in the globals and builtins
        return _Unknown


def _annotated_types(cls: type[BaseEstimator], annotation: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return the names of the types in an annotation and the values of its Literals."""
    scope = inspect.unwrap(cls.__init__).__globals__
    holder = types.SimpleNamespace(__annotations__={"parameter": annotation})
    try:
        hint = get_type_hints(holder, scope, _Names(scope))["parameter"]
    except (NameError, AttributeError, TypeError, SyntaxError):
        return ("Any",), ()
    names: list[str] = []
    choices: list[Any] = []
    for part in get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,):
        if get_origin(part) is Literal:
            choices += [value for value in get_args(part) if not isinstance(value, bool | None)]
            names += [_TYPE_NAMES[type(value)] for value in get_args(part) if isinstance(value, bool | None)]
        else:
            names.append(_type_name(part))
    names = [name for name in dict.fromkeys(names) if name]
    return tuple(names) if choices or set(names) - {"None"} else ("Any",), tuple(choices)


def _type_name(type_: Any) -> str:
    """Return the name of a type in ``_TYPE_NAMES``, or "" for objects that only Python code can pass."""
    origin = get_origin(type_) or type_
    if getattr(origin, "__name__", "") == "ndarray":
        return "array"
    if origin is tuple and Any in get_args(type_):  # of arrays, such as (indices, distances)
        return ""
    return _TYPE_NAMES.get(origin, "")


def _documented_parameters(cls: type[BaseEstimator]) -> dict[str, tuple[str, str]]:
    """Return type and description of the parameters in the docstring of a class, by name."""
    docscrape = optional_import("numpydoc.docscrape", "listing the parameters of a method")
    sections = docscrape.NumpyDocString(inspect.getdoc(cls) or "")
    return {
        name.strip(): (entry.type, _plain_text(" ".join(" ".join(entry.desc).split())))
        for entry in (*sections["Parameters"], *sections["Other Parameters"])
        for name in entry.name.split(",")
    }


def summary(cls: type[BaseEstimator]) -> str:
    """Return the first paragraph of the docstring of a class."""
    return _plain_text(" ".join((inspect.getdoc(cls) or "").split("\n\n", 1)[0].split()))


def _plain_text(text: str) -> str:
    """Remove the markup of reStructuredText: roles and backquotes."""
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?([^`]+)`", r"\1", text)
    return text.replace("``", "").replace("`", "").strip()
