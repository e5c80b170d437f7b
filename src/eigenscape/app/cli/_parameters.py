"""The parameters of an estimator as options: names and defaults from its signature, explanations from its
docstring."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass
from typing import Any

from eigenscape.app.cli._errors import WrongCommandError

#: Parameters that have an option of the command line itself.
_OWN = {"verbose"}
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
#: Annotated as anything, because Python may pass an object; on the command line they are these.
_NUMBERS = {"random_state": "a whole number or none"}
#: What parameters mean whose docstring says their type alone.
_USUAL = {
    "n_components": "Number of coordinates.",
    "metric_params": "Further arguments of the metric.",
    "max_iter": "The most steps to take.",
    "eigen_solver": "How eigenvectors are found.",
}
_SAID = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "dict": "a JSON object",
    "None": "none",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of an estimator."""

    name: str
    types: tuple[str, ...]  # of the annotation: "int", "float", "str", "bool", "dict", "None", "Any"
    default: Any
    kind: str  # what the docstring says of its values
    text: str  # and of its meaning

    @property
    def option(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def is_flag(self) -> bool:
        return "bool" in self.types

    def parse(self, value: str) -> Any:
        """The value that a word of the command line stands for; a count below 1 is refused before any file is
        read."""
        found = self._value(value)
        if (
            self.name.startswith("n_")
            and self.name != "n_jobs"
            and isinstance(found, (int, float))
            and found <= 0
        ):
            raise WrongCommandError(f"{self.option} takes a number of at least 1, got {value!r}")
        return found

    def _value(self, value: str) -> Any:
        lower = value.strip().lower()
        if lower == "none" and {"None", "Any"} & set(self.types):
            return None
        if self.is_flag and lower in (*_TRUE, *_FALSE):
            return lower in _TRUE
        for kind, convert in (("int", int), ("float", float), ("dict", _mapping), ("Any", _anything)):
            if kind in self.types:
                try:
                    return convert(value)
                except ValueError:
                    continue
        if self.name in _NUMBERS or not {"str", "Any"} & set(self.types):
            wanted = _NUMBERS.get(self.name) or " or ".join(
                _SAID[kind] for kind in self.types if kind in _SAID
            )
            raise WrongCommandError(f"{self.option} takes {wanted}, got {value!r}")
        return value


def _mapping(value: str) -> dict:
    found = json.loads(value)
    if not isinstance(found, dict):
        raise ValueError("no mapping")
    return found


def _anything(value: str) -> Any:
    """A number, a list of numbers (``3,5,8``) or JSON list, or else an error: then it is text."""
    if value.lstrip().startswith("["):
        return json.loads(value)
    found = [
        int(part) if re.fullmatch(r"[+-]?\d+", part.strip()) else float(part) for part in value.split(",")
    ]
    return found if "," in value else found[0]


def parameters(cls: Any) -> dict[str, Parameter]:
    """The parameters of an estimator class that are options, in its order."""
    found = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        if name not in _OWN:
            annotation = (
                parameter.annotation
                if isinstance(parameter.annotation, str)
                else getattr(parameter.annotation, "__name__", "Any")
            )
            types = tuple(part.strip() for part in re.sub(r"\[.*\]", "", annotation).split("|"))
            kind, text = explanation(cls, name)
            found[name] = Parameter(name, types, parameter.default, kind, text)
    return found


def explanation(cls: Any, name: str, seen: tuple[str, ...] = ()) -> tuple[str, str]:
    """What a docstring says of a parameter. "As for :class:`Other`" is replaced by what is said there."""
    kind, text = _entries(inspect.getdoc(cls) or "", "Parameters").get(name, ("", ""))
    reference = re.match(r"As (?:for|in) :class:`~?(?:[\w.]+\.)?(\w+)`[.,;:]?\s*", text)
    if reference and reference[1] not in seen:
        import eigenscape

        other_kind, other = explanation(getattr(eigenscape, reference[1]), name, (*seen, cls.__name__))
        rest = text[reference.end() :]
        kind, text = kind or other_kind, f"{other} {rest[:1].upper()}{rest[1:]}".strip()
    return kind, _plain(text) or _USUAL.get(name, "")


def summary(cls: Any) -> str:
    """The first line of a docstring."""
    return _plain((inspect.getdoc(cls) or "").split("\n", 1)[0])


def _entries(doc: str, section: str) -> dict[str, tuple[str, str]]:
    """The entries of a section of a numpydoc docstring: name -> (type, text). ``a, b : int`` are two."""
    match = re.search(rf"^{section}\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", doc, flags=re.DOTALL | re.MULTILINE)
    found: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    for line in match[1].splitlines() if match else []:
        if line and not line[0].isspace():
            head, _, kind = line.partition(" : ")
            names = [name.strip() for name in head.split(",")]
            found |= {name: (kind.strip(), "") for name in names}
        elif line.strip():
            found |= {name: (found[name][0], f"{found[name][1]} {line.strip()}".strip()) for name in names}
    return found


def _plain(text: str) -> str:
    """Without the marks of reStructuredText."""
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?([^`]+)`", r"\1", text)
    return text.replace("``", "").replace("`", "")
