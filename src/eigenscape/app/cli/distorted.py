"""Distorted versions of the input (``--distorted``), and methods for which rows are time steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.input import InputOptions, column_notes, read_new_table
from eigenscape.app.methods import method_of, methods_with

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.preprocessing import StandardScaler

    from eigenscape.app.io import Table


@dataclass(frozen=True)
class DistortedFiles:
    """Files with distorted versions of the input: for all layers, and for single layers counted from 1."""

    shared: tuple[str, ...] = ()
    by_layer: dict[int, list[str]] = field(default_factory=dict)
    n_layers: int = 1

    @property
    def names(self) -> list[str]:
        """Return the name of every file, once."""
        own = (file for files in self.by_layer.values() for file in files)
        return list(dict.fromkeys([*self.shared, *own]))


@dataclass(frozen=True, eq=False)
class DistortedVersions:
    """Distorted versions of the input, read from files."""

    files: DistortedFiles
    arrays: dict[str, Any]  # by the name of the file

    def as_arguments(self, scaler: StandardScaler | None = None) -> dict[str, Any]:
        """Return the keyword arguments of ``fit``; the versions are scaled like the input."""
        files, arrays = self.files, self.arrays
        if scaler is not None:
            arrays = {name: scaler.transform(array) for name, array in arrays.items()}
        found: dict[str, Any] = {}
        if files.shared:
            found["distorted"] = [arrays[name] for name in files.shared]
        if files.by_layer:
            own = (files.by_layer.get(layer) for layer in range(1, files.n_layers + 1))
            found["layer_distorted"] = [
                None if names is None else [arrays[name] for name in names] for names in own
            ]
        return found


def is_sequence_method(estimator: BaseEstimator | type[BaseEstimator]) -> bool:
    """Return whether the rows of the input are time steps, so that there are fewer rows of output."""
    from eigenscape.estimators._method import described

    description = described(estimator)
    return description is not None and description.sequence


def check_sequence_options(
    out: str | None, missing: str, report: str | None = None, compact: str | None = None
) -> None:
    """Raise CommandError for options that need a row of coordinates for each row of the input."""
    if report is not None:
        raise CommandError(
            "--report needs coordinates for each row, but the method outputs features of windows of rows;"
            " omit it"
        )
    if compact is not None:
        raise CommandError("--compact does not apply to a method that stores no training rows; omit it")
    if out is not None and out.endswith(".h5ad"):
        raise CommandError(
            f"-o {out}: an h5ad file has coordinates for each row, but the method outputs features of windows"
            " of rows; use another format"
        )
    if missing == "drop":
        raise CommandError("--missing drop would leave gaps between time steps; fill in the missing values")


def parse_distorted(
    cls: type[Any],
    parameters: dict[str, Any],
    shared: Sequence[str] | None,
    layer_distorted: Sequence[str] | None,
    missing: str,
) -> DistortedFiles:
    """Check ``--distorted FILE`` and ``--layer-distorted LAYER=FILE`` against a method and its layers."""
    method, shared = method_of(cls), tuple(shared or ())
    if shared and not cls._method.distorted:
        raise CommandError(f"--distorted is for {_listed('distorted')}, but the method is {method}; omit it")
    if layer_distorted and not is_sequence_method(cls):
        raise CommandError(
            f"--layer-distorted is for {_listed('sequence')}, but the method is {method}; omit it"
        )
    if not is_sequence_method(cls):
        files = DistortedFiles(shared)
    else:
        files = _files_of_layers(method, cls(**parameters).layers, shared, layer_distorted or ())
    if "-" in files.names:
        raise CommandError("distorted versions are read from files; - for standard input is not supported")
    if files.names and missing == "drop":
        raise CommandError(
            "--missing drop would drop different rows of the input and of its distorted versions; fill in the"
            " missing values"
        )
    return files


def _files_of_layers(
    method: str, layers: Any, shared: tuple[str, ...], layer_distorted: Iterable[str]
) -> DistortedFiles:
    """Assign the files to the layers; every layer must have some, and every file must be used."""
    n_layers = len(layers) if isinstance(layers, list | tuple) else 1  # others are an error of the estimator
    by_layer: dict[int, list[str]] = {}
    for text in layer_distorted:
        number, _, name = text.partition("=")
        if not (number.isdecimal() and name):
            raise CommandError(f"--layer-distorted must be LAYER=FILE, such as 2=late.csv, got {text!r}")
        if not 1 <= int(number) <= n_layers:
            raise CommandError(
                f"--layer-distorted {text}: there is no layer {number}; layers are counted from 1 to"
                f" {n_layers}"
            )
        by_layer.setdefault(int(number), []).append(name)
    lacking = [layer for layer in range(1, n_layers + 1) if layer not in by_layer]
    if lacking and not shared:
        which = f"layer {lacking[0]} of {method}" if by_layer else method
        own = f" (or --layer-distorted {lacking[0]}=FILE)" if by_layer else ""
        raise CommandError(
            f"{which} needs distorted versions of the input, whose differences from it are the noise; give"
            f" each as --distorted FILE{own}"
        )
    if shared and not lacking:
        raise CommandError(
            "--distorted is not used, since every layer has its own versions by --layer-distorted; omit it"
        )
    return DistortedFiles(shared, by_layer, n_layers)


def read_distorted(
    files: DistortedFiles, table: Table, options: InputOptions, quiet: bool
) -> DistortedVersions:
    """Read the distorted versions of a table: the same columns, and the same rows in the same order."""
    notes = column_notes(table, options)
    arrays = {}
    for name in files.names:
        version = read_new_table(name, InputOptions(kind=options.kind, missing=""), notes, quiet)
        _check_aligned(version, table)
        arrays[name] = version.array
    return DistortedVersions(files, arrays)


def _check_aligned(version: Table, table: Table) -> None:
    """Raise CommandError unless a version has the shape and, if both files have them, the ids of a table."""
    import numpy as np

    if version.array.shape != table.array.shape:
        sizes = [
            f"{rows} rows and {columns} columns" for rows, columns in (version.array.shape, table.array.shape)
        ]
        raise CommandError(
            f"{version.source} has {sizes[0]}, but {table.source} has {sizes[1]}; a distorted version has a"
            " row for each row of the input, in the same order"
        )
    if version.ids is None or table.ids is None:
        return
    differ = np.flatnonzero(np.asarray(version.ids).astype(str) != np.asarray(table.ids).astype(str))
    if len(differ):
        row = int(differ[0])
        raise CommandError(
            f"row {row + 1} of {version.source} is {version.ids[row]}, but in {table.source} it is"
            f" {table.ids[row]}; a distorted version has the rows of the input in the same order"
        )


def output_table(estimator: BaseEstimator, table: Table, n_outputs: int) -> Table:
    """Return the table with a row for each output: for sequences, the first time step of its window."""
    if not is_sequence_method(estimator):
        return table
    import numpy as np

    return table.select_rows(np.arange(n_outputs) * estimator.hop_)


def _listed(capability: str) -> str:
    return " and ".join(f"-m {name}" for name in methods_with(capability))
