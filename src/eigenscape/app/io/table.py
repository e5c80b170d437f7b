"""What has been read: numbers, and what is known about their rows and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

KINDS = ("rows", "distances", "affinities", "edges", "images")


@dataclass(frozen=True, eq=False)
class Table:
    """A table of numbers with what goes with it; unpacks to ``array, labels, ids``.

    Attributes
    ----------
    array : ndarray, memmap, csr_array or iterable of chunks
        The numbers, (n, d); chunks of rows where the file is streamed.
    labels : ndarray of n values or None
        The label column that was asked for, otherwise the first text column.
    ids : ndarray of n values or None
        Names of the rows.
    names : tuple of str
        Names of the columns.
    extra : dict of name to ndarray
        Every other column.
    kind : "rows", "distances", "affinities", "edges" or "images"
        What the numbers mean.
    image_shape : (height, width) or None
        Where each row is an image.
    source : str
        What was read.
    label_name, id_name : str or None
        The columns that the labels and the names of the rows come from, where they have a name.
    remarks : tuple of str
        What a reader may want to know of the columns: one that looks like a count of the rows, or like
        numbers that are none.
    """

    array: Any
    labels: np.ndarray | None = None
    ids: np.ndarray | None = None
    names: tuple[str, ...] = ()
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    kind: str = "rows"
    image_shape: tuple[int, int] | None = None
    source: str = ""
    label_name: str | None = None
    id_name: str | None = None
    remarks: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.array, self.labels, self.ids))

    def __repr__(self) -> str:
        shape = getattr(self.array, "shape", "streamed")
        return f"Table({self.kind}, {shape}, labels={self.labels is not None}, ids={self.ids is not None}, source={self.source!r})"


def default_names(n_columns: int) -> tuple[str, ...]:
    """Names for columns that have none."""
    return tuple(f"x{i}" for i in range(n_columns))
