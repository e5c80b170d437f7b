"""Python code and a command line that compute a map again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eigenscape.app.methods import class_name, estimator_class, needs_labels
from eigenscape.options import Option, assembled


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
        arguments = assembled(estimator_class(method), parameters)
        objects = sorted({type(value).__name__ for value in arguments.values() if isinstance(value, Option)})
        imports = [f"from eigenscape.options import {', '.join(objects)}"] if objects else []
        scaling = []
        if standardize:
            imports.append("from sklearn.preprocessing import StandardScaler")
            scaling.append("X = StandardScaler().fit_transform(X)")
        targets = ", labels" if needs_labels(method, parameters) else ""
        return self._code(
            imports,
            *scaling,
            f"model = eigenscape.{class_name(method)}({_joined(arguments)})",
            f"embedding = model.fit_transform(X{targets})",
        )

    def python_of_model(self) -> str:
        """Return Python code that loads the model file and places the rows."""
        return self._code([], f"model = eigenscape.load({self.model!r})", "embedding = model.transform(X)")

    def _code(self, imports: list[str], *lines: str) -> str:
        reading = "# X and labels: the arrays that were given to eigenscape.explore"
        if self.path is not None:
            arguments = ", ".join(filter(None, (repr(self.path), _joined(self.options))))
            reading = f"X, labels, ids = eigenscape.read({arguments})"
        return "\n".join(["import eigenscape", *imports, "", reading, *lines, ""])

    def command(self, method: str, parameters: Mapping[str, Any], standardize: bool) -> str:
        """Return a command that fits a method to the rows; rows of an array are in the file X.npy."""
        words = ["eigenscape", "embed", self.path or "X.npy", "-m", method]
        words += [_option(key, value) for key, value in {**parameters, **self.options}.items()]
        return shlex.join([*words, *(["--standardize"] if standardize else []), "-o", "map.csv"])

    def command_of_model(self) -> str:
        """Return a command that places the rows by the model file."""
        return shlex.join(["eigenscape", "transform", str(self.model), self.path or "X.npy", "-o", "map.csv"])


def _joined(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in arguments.items())


def _option(name: str, value: Any) -> str:
    """Return a parameter as an option of the command line."""
    if isinstance(value, bool):
        value = "yes" if value else "no"
    elif isinstance(value, list | tuple):
        value = ("x" if name == "size" else ",").join(map(str, value))
    return f"--{name.replace('_', '-')}={'none' if value is None else value}"
