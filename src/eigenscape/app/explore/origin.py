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

    def python(self, method: str | None, parameters: Mapping[str, Any], standardize: bool) -> str:
        """Return Python code that fits a method to the rows, or without one places them by the model file."""
        imports = ["import eigenscape"]
        reading = "# X and labels: the arrays that were given to eigenscape.explore"
        if self.path is not None:
            arguments = ", ".join(filter(None, (repr(self.path), _joined(self.options))))
            reading = f"X, labels, ids = eigenscape.read({arguments})"
        lines = ["", reading]
        if method is None:
            lines += [f"model = eigenscape.load({self.model!r})", "embedding = model.transform(X)", ""]
            return "\n".join(imports + lines)
        assigned = assembled(estimator_class(method), parameters)
        objects = sorted({type(value).__name__ for value in assigned.values() if isinstance(value, Option)})
        imports += [f"from eigenscape.options import {', '.join(objects)}"] if objects else []
        if standardize:
            imports.append("from sklearn.preprocessing import StandardScaler")
            lines.append("X = StandardScaler().fit_transform(X)")
        targets = ", labels" if needs_labels(method, parameters) else ""
        lines.append(f"model = eigenscape.{class_name(method)}({_joined(assigned)})")
        return "\n".join([*imports, *lines, f"embedding = model.fit_transform(X{targets})", ""])

    def command(self, method: str | None, parameters: Mapping[str, Any], standardize: bool) -> str:
        """Return a command that does the same; rows of an array are in the file X.npy."""
        rows = self.path or "X.npy"
        words = ["eigenscape", "transform", str(self.model), rows]
        if method is not None:
            words = ["eigenscape", "embed", rows, "-m", method]
            words += [_option(key, value) for key, value in {**parameters, **self.options}.items()]
            words += ["--standardize"] if standardize else []
        return shlex.join([*words, "-o", "map.csv"])


def _joined(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in arguments.items())


def _option(name: str, value: Any) -> str:
    """Return a parameter as an option of the command line."""
    if isinstance(value, bool):
        value = "yes" if value else "no"
    elif isinstance(value, list | tuple):
        value = ("x" if name == "size" else ",").join(map(str, value))
    return f"--{name.replace('_', '-')}={'none' if value is None else value}"
