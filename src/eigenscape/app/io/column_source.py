"""What whole and streamed reading need to know of a file with columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.conversion import to_array
from eigenscape.app.io.text_cells import TextSummary

if TYPE_CHECKING:
    import pyarrow as pa


class ColumnSource(Protocol):
    """Columns of a file with known types, readable in blocks of rows any number of times."""

    source: str
    selection: ColumnSelection
    types: dict[str, pa.DataType]  # of all columns, in the order of the file
    codes: frozenset[str]  # columns of digits that are text because of leading zeros
    long_integers: frozenset[str]  # columns of integers that floats do not represent, read as text
    first_line: int | None  # line of the first row in a text file

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield the columns ``names`` in blocks of rows."""
        ...

    def summaries(self, names: Sequence[str]) -> Mapping[str, TextSummary]:
        """Return statistics of text columns."""
        ...


class DistinctValues:
    """Text columns whose values are repeated or all differ; most are known from the first block of rows.

    Parameters
    ----------
    source : ColumnSource
        The file. Its first block is read once for all columns.
    names : sequence of str
        The columns.
    """

    def __init__(self, source: ColumnSource, names: Sequence[str]) -> None:
        self._source = source
        blocks = source.read(names) if names else iter(())
        self._first = next(blocks, {})
        self._is_complete = next(blocks, None) is None
        self._found: dict[str, tuple[bool, bool]] = {}

    def has_repeats(self, name: str) -> bool:
        """Return whether a value, other than missing ones, occurs twice."""
        return self._count(name)[0]

    def is_unique(self, name: str) -> bool:
        """Return whether all values differ and none is missing."""
        return self._count(name) == (False, False)

    def _count(self, name: str) -> tuple[bool, bool]:
        """Return whether a value is repeated, where the search ends, and whether one is missing."""
        if name in self._found:
            return self._found[name]
        seen: set[object] = set()
        n_values, has_missing = 0, False
        for column in self._columns(name):
            values = [value for value in to_array(column).tolist() if value != ""]
            has_missing = has_missing or len(values) < len(column)
            n_values += len(values)
            seen.update(values)
            if len(seen) < n_values:
                break
        self._found[name] = len(seen) < n_values, has_missing
        return self._found[name]

    def _columns(self, name: str) -> Iterator[pa.ChunkedArray]:
        """Yield the first block of a column and then its other rows, which are read only if requested."""
        first, start = self._first[name], 0
        yield first
        others = () if self._is_complete else self._source.read([name])
        for block in others:  # of other lengths than the first, perhaps
            column = block[name]
            if start + len(column) > len(first):
                yield column.slice(max(len(first) - start, 0))
            start += len(column)
