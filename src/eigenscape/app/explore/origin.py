"""Python code and a command line that compute a map again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eigenscape.app.methods import class_name, find_class, needs_labels
from eigenscape.options import Option, assembled

#: Options of the readers on the command line, by their name in Python.
_OPTIONS = {
    "label": "--label",
    "id": "--id",
    "columns": "--columns",
    "exclude": "--exclude",
    "encode": "--encode",
    "missing": "--missing",
    "use_rep": "--use-rep",
    "layer": "--layer",
    "size": "--size",
}


@dataclass(frozen=True)
class Origin:
    """Where the rows come from: a file with the options of its reader, or an array in Python.

    Attributes
    ----------
    path : str or None
        The file or folder; None for an array.
    options : mapping
        Arguments of :func:`eigenscape.read`, without those that have their default.
    model : str or None
        The model file, if rows are placed by one.
    """

    path: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None

    def python(self, method: str, parameters: Mapping[str, Any], standardize: bool) -> str:
        """Return Python code that fits a method to the rows."""
        name, cls = class_name(method), find_class(method)
        assembled_ = parameters if cls is None else assembled(cls, parameters)
        objects = sorted({type(value).__name__ for value in assembled_.values() if isinstance(value, Option)})
        lines = ["import eigenscape"]
        if objects:
            lines.append(f"from eigenscape.options import {', '.join(objects)}")
        if standardize:
            lines.append("from sklearn.preprocessing import StandardScaler")
        lines += ["", *self._reading()]
        labelled = needs_labels(method, parameters)
        if standardize:
            lines.append("X = StandardScaler().fit_transform(X)")
        arguments = ", ".join(f"{key}={value!r}" for key, value in assembled_.items())
        lines.append(f"model = eigenscape.{name}({arguments})")
        lines.append(f"embedding = model.fit_transform(X{', labels' if labelled else ''})")
        return "\n".join(lines) + "\n"

    def python_of_model(self) -> str:
        """Return Python code that loads the model file and places the rows."""
        lines = ["import eigenscape", "", *self._reading(), f"model = eigenscape.load({self.model!r})"]
        return "\n".join([*lines, "embedding = model.transform(X)"]) + "\n"

    def _reading(self) -> list[str]:
        if self.path is None:
            return ["# X and labels: the arrays that were given to eigenscape.explore"]
        options = {key: value for key, value in self.options.items() if value is not None}
        arguments = "".join(f", {key}={value!r}" for key, value in options.items())
        return [f"X, labels, ids = eigenscape.read({self.path!r}{arguments})"]

    def command(self, method: str, parameters: Mapping[str, Any], standardize: bool) -> str:
        """Return a command that fits a method to the rows; rows of an array are in the file X.npy."""
        words = ["eigenscape", "embed", self.path or "X.npy", "-m", method]
        for key, value in parameters.items():
            words += _option(key, value)
        words += ["--standardize"] if standardize else []
        return shlex.join([*words, *self._options(), "-o", "map.csv"])

    def command_of_model(self) -> str:
        """Return a command that places the rows by the model file."""
        return shlex.join(["eigenscape", "transform", str(self.model), self.path or "X.npy", "-o", "map.csv"])

    def _options(self) -> list[str]:
        words: list[str] = []
        for key, value in self.options.items():
            if value is None:
                continue
            if key == "size":
                value = "x".join(map(str, value))
            text = ",".join(value) if isinstance(value, list | tuple) else str(value)
            words += [f"{_OPTIONS[key]}={text}" if text.startswith("-") else _OPTIONS[key]]
            words += [] if text.startswith("-") else [text]
        return words


def _option(name: str, value: Any) -> list[str]:
    """Return a parameter as an option of the command line."""
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [f"{option}={'yes' if value else 'no'}"]
    if isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    if isinstance(value, dict):
        import json

        value = json.dumps(value)
    return [f"{option}={'none' if value is None else value}"]
