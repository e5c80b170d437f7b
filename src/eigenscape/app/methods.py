"""Estimators by their names on the command line, and their parameters as options or fields of a form.

Names come from the descriptions of the classes (:mod:`eigenscape.estimators._method`), types, limits and
defaults of parameters from their signatures, texts from their docstrings. Importing this module does not
import the estimators.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

from eigenscape._extras import optional_import
from eigenscape.app.errors import CommandError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from eigenscape._parameters import Limits

#: Parameters that are set by options of the command line itself, or from Python only.
_EXCLUDED = ("verbose",)
#: Fields of option objects that the methods with a parameter do not use: edge weights and selections.
_UNUSED = {"graph": ("weights", "width"), "approximation": ("selection",)}
#: Section of a docstring with the parameters that are set every day.
EVERYDAY = "Parameters"
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
#: Types that can be written on the command line, as messages call them.
_EXPECTED = {
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "dict": "a JSON object",
    "array": "numbers separated by commas",
    "None": "none",
}


def all_methods() -> dict[str, type[Any]]:
    """Return the estimators that compute coordinates by name: eigenscape's own, then other subclasses."""
    return {cls._method.name: cls for cls in _described_classes() if cls._method.command == "embed"}


def _described_classes() -> Iterator[Any]:
    """Yield the public estimators, and all other subclasses of their base class, that are described."""
    from eigenscape import estimators

    known = dict.fromkeys([*(getattr(estimators, name) for name in estimators._HOMES), *extensions()])
    return (cls for cls in known if getattr(cls, "_method", None) is not None)


def extensions() -> list[type[Any]]:
    """Return the subclasses of the base class of estimators that other packages have defined."""
    from eigenscape.estimators._base import Estimator

    found: list[type[Any]] = []
    pending: list[type[Any]] = [Estimator]
    while pending:
        pending += (cls := pending.pop()).__subclasses__()
        if cls.__module__.split(".")[0] != "eigenscape":
            found.append(cls)
    return found


def find_class(name: str) -> type[Any] | None:
    """Return the described class with a name: of the class, of its method, or an alias.

    Only one class is imported if the name is its class name in any spelling (``kernel-pca``).
    """
    from eigenscape import estimators

    normalized = name.strip().lower().replace("_", "-")
    joined = normalized.replace("-", "")
    own = next((each for each in estimators.__all__ if each.lower() == joined), None)
    if own is not None and getattr(getattr(estimators, own), "_method", None) is not None:
        return getattr(estimators, own)
    for cls in _described_classes():
        if normalized in (cls._method.name, *cls._method.aliases) or joined == cls.__name__.lower():
            return cls
    return None


def estimator_class(name: str) -> type[Any]:
    """Import the estimator class of a method, given any name of it; raise CommandError if there is none."""
    cls = find_class(name)
    if cls is not None and cls._method.command == "embed":
        return cls
    known = all_methods()
    names = [each for method, cls in known.items() for each in (method, *cls._method.aliases)]
    close = get_close_matches(name.strip().lower().replace("_", "-"), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"use one of {', '.join(known)}"
    raise CommandError(f"no such method: {name}; {hint} (`eigenscape methods` lists them)")


def method_name(name: str) -> str:
    """Return the name of a method, given any of its names; raise CommandError if there is none."""
    return estimator_class(name)._method.name


def methods_with(capability: str) -> list[str]:
    """Return the names of the methods that have a capability, an attribute of their description."""
    return [name for name, cls in all_methods().items() if getattr(cls._method, capability)]


def needs_labels(method: str | None, parameters: Mapping[str, Any]) -> bool:
    """Return whether a method with these parameters is fitted to the labels of the rows."""
    return bool(parameters.get("target_weight")) or (
        method is not None and estimator_class(method)._method.groups
    )


def method_of(estimator: Any) -> str:
    """Return the name of the method of an estimator or class; the name of the class if it has none."""
    cls = estimator if isinstance(estimator, type) else type(estimator)
    description = getattr(cls, "_method", None)
    return cls.__name__ if description is None or description.command != "embed" else description.name


def class_name(method: str) -> str:
    """Return the name of the class of a method; other names as they are."""
    cls = find_class(method)
    return method if cls is None else cls.__name__


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator."""

    name: str
    types: tuple[str, ...]  # "int", "float", "str", "bool", "dict", "array", "None", "Any"
    default: Any
    doc_type: str  # type and default in the docstring
    description: str
    choices: tuple[Any, ...] = ()  # values of a Literal
    limits: Limits | None = None
    group: str = EVERYDAY  # section of the docstring of the estimator, or name of the option object

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

    def parse(self, text: str, label: str | None = None) -> Any:
        """Convert a text to a value of the parameter; errors of invalid ones name ``label``."""
        label = label or self.option
        value = self._convert(text, label)
        number = int if "int" in self.types else float
        is_number = isinstance(value, number) and not isinstance(value, bool)
        if self.limits and is_number and value not in self.limits:
            raise CommandError(f"{label} must be {self.limits}, got {text!r}")
        return value

    def _convert(self, text: str, label: str) -> Any:
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
        raise CommandError(f"{label} must be {' or '.join(expected) or 'an integer or none'}, got {text!r}")


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


def _parameters(cls: type[BaseEstimator]) -> dict[str, Parameter]:
    """Return the parameters of everyday use, the others, and then the fields of option objects."""
    from eigenscape._parameters import declared_parameters

    own = declared_parameters(cls)
    plain = [
        name for name, each in own.items() if not each.options or each.choices or {*each.types} - {"None"}
    ]
    found = _described(cls, {name: name for name in plain if name not in _EXCLUDED})
    found = dict(sorted(found.items(), key=lambda item: item[1].group != EVERYDAY))
    for parameter in own.values():
        for option in parameter.options:
            hidden = {*own, *found, *_UNUSED.get(parameter.name, ()), *getattr(cls, "_unused_fields", ())}
            new = {field: name for field, name in option._flat.items() if name not in hidden}
            found |= {
                name: replace(each, group=option.__name__) for name, each in _described(option, new).items()
            }
    return found


def _described(cls: type, names: Mapping[str, str]) -> dict[str, Parameter]:
    """Return parameters of a class by the names they have here; required ones may be left out."""
    from eigenscape._parameters import declared_parameters

    documented, declared, found = _documented_parameters(cls), declared_parameters(cls), {}
    for own, name in names.items():
        each = declared[own]
        types = tuple(type_ for type_ in each.types if type_)
        if not each.choices and not set(types) - {"None"} and not each.options:
            types = ("Any",)
        required = each.default is inspect.Parameter.empty
        types, default = ((*types, "None"), None) if required else (types, each.default)
        doc_type, text, group = documented.get(own, ("", "", EVERYDAY))
        found[name] = Parameter(name, types, default, doc_type, text, each.choices, each.limits, group)
    return found


def option_names(cls: type[Any]) -> dict[str, str]:
    """Return the options of the command line by the names that messages of Python use.

    These are parameters, and fields of option objects that have one option.
    """
    from eigenscape._parameters import declared_parameters

    known = parameters(cls)
    found: dict[str, set[str]] = {}
    for parameter in declared_parameters(cls).values():
        for option in parameter.options:
            for field, name in option._flat.items():
                if name in known:
                    found.setdefault(field, set()).add(known[name].option)
    fields = {field: options.pop() for field, options in found.items() if len(options) == 1}
    return fields | {name: each.option for name, each in known.items()}


def make_estimator(cls: type[Any], flat: Mapping[str, Any]) -> Any:
    """Return an estimator with parameters and fields of option objects; raise CommandError if invalid."""
    from eigenscape.options import assembled

    try:
        return cls(**assembled(cls, flat))
    except ValueError as error:
        raise CommandError(str(error)) from None


#: Parameters of an estimator class that can be set on the command line, by name.
parameters: Callable[[Any], dict[str, Parameter]] = cache(_parameters)


def _documented_parameters(cls: type[BaseEstimator]) -> dict[str, tuple[str, str, str]]:
    """Return type, description and section of the parameters in the docstring of a class, by name."""
    docscrape = optional_import("numpydoc.docscrape", "listing the parameters of a method")
    sections = docscrape.NumpyDocString(inspect.getdoc(cls) or "")
    return {
        name.strip(): (entry.type, _plain_text(" ".join(" ".join(entry.desc).split())), section)
        for section in (EVERYDAY, "Other Parameters")
        for entry in sections[section]
        for name in entry.name.split(",")
    }


def summary(cls: type[BaseEstimator]) -> str:
    """Return the first paragraph of the docstring of a class."""
    return _plain_text(" ".join((inspect.getdoc(cls) or "").split("\n\n", 1)[0].split()))


def _plain_text(text: str) -> str:
    """Remove the markup of reStructuredText: roles and backquotes."""
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?([^`]+)`", r"\1", text)
    return text.replace("``", "").replace("`", "").strip()
