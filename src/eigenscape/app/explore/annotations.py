"""Named selections as columns of labels, kept in a CSV file if the user names one."""

from __future__ import annotations

import csv
import threading
from pathlib import Path
from typing import Any

import numpy as np

from eigenscape.app.errors import CommandError
from eigenscape.app.explore.data import Dataset, MissingError
from eigenscape.app.io.atomic import check_target
from eigenscape.app.io.writing import write_table
from eigenscape.app.report._columns import MISSING_CODE

#: Largest number of annotations, of labels of each, and of characters of a name.
_MAX_COLUMNS, _MAX_LABELS, MAX_LENGTH = 50, 1000, 100
#: Name of the first column of a file: the number of the row, counted from 0.
_ROW = "eigenscape_row"


class Annotations:
    """Columns of labels that users give to selections.

    Parameters
    ----------
    data : Dataset
        The rows.
    path : str or Path, optional
        CSV file: read if it exists, replaced atomically after every change. If None, annotations are lost
        when the server ends.
    """

    def __init__(self, data: Dataset, path: str | Path | None = None) -> None:
        self.data, self.path = data, None if path is None else Path(path)
        self._columns: dict[str, tuple[list[str], np.ndarray]] = {}  # replaced as a whole, never changed
        self._lock = threading.Lock()
        if self.path is not None:
            if self.path.suffix.lower() != ".csv":
                raise CommandError(f"annotations={self.path} must be a file with the extension .csv")
            check_target(self.path, force=True)
            if self.path.exists():
                self._read(self.path)

    def describe(self) -> list[dict[str, Any]]:
        """Return names and labels of all annotations."""
        return [{"name": name, "labels": labels} for name, (labels, _) in self._columns.items()]

    def __len__(self) -> int:
        return len(self._columns)

    def column(self, name: str) -> tuple[list[str], np.ndarray]:
        """Return labels of an annotation and their codes, 65535 for rows without a label."""
        if name not in self._columns:
            raise MissingError("there is no annotation of this name")
        return self._columns[name]

    def as_dict(self) -> dict[str, np.ndarray]:
        """Return all annotations by name: the label of each row, "" for rows without one."""
        return {name: _texts(*column) for name, column in self._columns.items()}

    def set(self, name: str, label: str, mask: np.ndarray) -> None:
        """Give a label to the rows of a mask; an empty label removes theirs."""
        name, label = name.strip(), label.strip()
        if not name or not (name + label).isprintable():
            raise CommandError(f"name and label must be printable texts, got {name!r} and {label!r}")
        if name in (_ROW, "id"):
            raise CommandError(f"name={name!r} is reserved for rows; choose another name")
        with self._lock:
            before = self._columns.get(name)
            if before is None and len(self._columns) >= _MAX_COLUMNS:
                raise CommandError(f"there are {_MAX_COLUMNS} annotations already; remove one first")
            labels, codes = before or ([], np.full(self.data.n, MISSING_CODE, dtype="<u2"))
            labels, codes = list(labels), codes.copy()
            if label and label not in labels:
                if len(labels) >= _MAX_LABELS:
                    raise CommandError(f"annotation {name!r} has {_MAX_LABELS} labels already")
                labels.append(label)
            codes[mask] = labels.index(label) if label else MISSING_CODE
            self._replace({**self._columns, name: (labels, codes)})

    def remove(self, name: str) -> None:
        """Remove an annotation."""
        with self._lock:
            self.column(name)  # raises an error if there is none
            self._replace({key: value for key, value in self._columns.items() if key != name})

    def _replace(self, columns: dict[str, tuple[list[str], np.ndarray]]) -> None:
        """Write the new columns, then use them: what a page was told is in the file."""
        if self.path is not None:
            ids = {} if self.data.ids is None else {"id": self.data.ids.astype(str)}
            texts = {name: _texts(*column) for name, column in columns.items()}
            rows = np.arange(self.data.n)[:, None]
            write_table(self.path, rows, names=[_ROW], extra={**ids, **texts}, force=True)
        self._columns = columns

    def _read(self, path: Path) -> None:
        """Read annotations of the same rows; refuse any other file, which would be overwritten."""
        remedy = "name another file, or remove this one"
        try:
            with path.open(newline="", encoding="utf-8") as file:
                header, *cells = list(csv.reader(file)) or [[]]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise CommandError(f"{path} cannot be read as annotations: {error}; {remedy}") from error
        if header[:1] != [_ROW] or any(len(row) != len(header) for row in cells):
            raise CommandError(f"{path} was not written by the explorer and is not replaced; {remedy}")
        if [row[0] for row in cells] != list(map(str, range(self.data.n))):
            raise CommandError(f"{path} annotates {len(cells)} rows, but there are {self.data.n}; {remedy}")
        columns = dict(zip(header, zip(*cells, strict=True), strict=True))
        del columns[_ROW]
        ids = None if self.data.ids is None else tuple(map(str, self.data.ids))
        if ids is not None and columns.pop("id", ids) != ids:
            raise CommandError(f"{path} annotates rows with other ids; {remedy}")
        for name, values in columns.items():
            labels = [label for label in dict.fromkeys(values) if label]
            codes = {label: code for code, label in enumerate(labels[:MISSING_CODE])}
            found = np.array([codes.get(value, MISSING_CODE) for value in values], dtype="<u2")
            self._columns[name] = (list(codes), found)


def _texts(labels: list[str], codes: np.ndarray) -> np.ndarray:
    """Return the label of each row, "" for rows without one."""
    return np.array([*labels, ""], dtype=object)[np.where(codes == MISSING_CODE, len(labels), codes)]
