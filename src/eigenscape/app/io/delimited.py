"""Text tables: cells separated by commas, semicolons, tabs, bars or blanks, with or without a header."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from eigenscape._extras import optional_import
from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.columns import read_columns, summarize_text
from eigenscape.app.io.integers import find_long_integers, has_large_floats, has_long_digits
from eigenscape.app.io.table import Table
from eigenscape.app.io.text_blocks import TextInput
from eigenscape.app.io.text_cells import MISSING_MARKERS, TextSummary, to_numbers
from eigenscape.app.io.text_layout import find_layout
from eigenscape.app.io.text_parsing import BOOLEANS, join_types, parse_text, trim_text
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    import pyarrow as pa

_PURPOSE = "reading a text table"


def read_delimited(
    text: TextInput, selection: ColumnSelection, delimiter: str | None = None, stream: bool = False
) -> Table:
    """Read a text table, whole or in chunks."""
    return read_columns(DelimitedSource(text, selection, delimiter), stream)


class DelimitedSource:
    """Columns of a text table. The types are found from all rows, in blocks.

    Each block is parsed with the types that pyarrow finds in it; the type of a column is the first one, in
    pyarrow's order, that represents the values of all blocks. A file read whole is a single block.

    Parameters
    ----------
    text : TextInput
        The content. Its blocks are read again for every call of :meth:`read`, unless it is in memory.
    selection : ColumnSelection
        Columns requested by the caller. Ids that are not integers and labels that are not numbers are text.
    delimiter : str or None
        The delimiter, if the file extension defines it.
    """

    def __init__(self, text: TextInput, selection: ColumnSelection, delimiter: str | None) -> None:
        self.text, self.source = text, text.source
        self.layout = find_layout(text.head(), self.source, delimiter)
        self.first_line: int | None = self.layout.first_line
        if self.layout.row_names and selection.id is None:
            selection = replace(selection, id=self.layout.names[0])
        self.selection = selection
        in_memory = isinstance(text.content, bytes)
        self._contents = list(text.blocks(self.layout)) if in_memory else None
        self._parsed: dict[tuple[str, pa.DataType], pa.ChunkedArray] = {}  # columns of a content in memory
        string = optional_import("pyarrow", _PURPOSE).string()
        self.types, has_leading_zeros, large = self._infer_types()
        self.codes = frozenset(self._find_codes() if has_leading_zeros else ())
        self.types |= dict.fromkeys(self.codes | self._columns_kept_as_text(), string)
        self._parsed_types = dict(self.types)
        self._summaries = self._summarize_text()
        self.long_integers = frozenset(self._find_long_integers(large))

    def read(self, names: Sequence[str]) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield columns in blocks of rows; text is stripped of surrounding blanks."""
        pa = optional_import("pyarrow", _PURPOSE)
        numeric_text = [
            name
            for name in names
            if self.types[name] != self._parsed_types[name] and name not in self.long_integers
        ]
        for block in self._parse_blocks({name: self._parsed_types[name] for name in names}):
            for name in numeric_text:
                block[name] = pa.chunked_array([pa.array(to_numbers(block[name].to_pylist()))])
            yield block

    def summaries(self, names: Sequence[str]) -> Mapping[str, TextSummary]:
        """Return statistics of text columns."""
        return {name: self._summaries[name] for name in names if name in self._summaries}

    def _infer_types(self) -> tuple[dict[str, pa.DataType], bool, set[str]]:
        """Return the types of the columns, whether a cell begins with a zero and a digit, and large floats.

        These are the columns of floating-point numbers that may be rounded integers.
        """
        found: dict[str, set[pa.DataType]] = {name: set() for name in self.layout.names}
        delimiter = re.escape(self.layout.delimiter.encode())
        leading_zero = re.compile(rb'[\r\n"' + delimiter + rb"][ \t]*0\d")
        n_rows, has_leading_zeros = 0, False
        large: set[str] = set()
        for i, content in enumerate(self._blocks()):
            block = trim_text(parse_text(content, self.layout, self.source, None, i == 0, n_rows))
            for name, column in block.items():
                found[name].add(column.type)
                if self._contents is not None:
                    self._parsed[name, column.type] = column
            floats = {name for name, column in block.items() if has_large_floats(column)}
            if not floats <= large and has_long_digits(content, self.layout.delimiter):
                large |= floats
            n_rows += len(block[self.layout.names[0]])
            if not has_leading_zeros:  # the first cell of a block has nothing before it
                has_leading_zeros = bool(re.match(rb"[ \t]*0\d", content) or leading_zero.search(content))
        if n_rows == 0:
            raise InputFileError(f"{self.source} has a header and no rows")
        types = {name: join_types(kinds) for name, kinds in found.items()}
        types |= dict.fromkeys(self._find_texts(found), optional_import("pyarrow", _PURPOSE).string())
        last = self.layout.names[-1]
        if self.layout.trailing and len(types) > 1 and str(types[last]) == "null":
            del types[last]
        return types, has_leading_zeros, large

    def _find_texts(self, found: Mapping[str, set[pa.DataType]]) -> set[str]:
        """Return the columns of booleans and integers in which an integer is not 0 or 1."""
        pa = optional_import("pyarrow", _PURPOSE)
        compute = optional_import("pyarrow.compute", _PURPOSE)
        mixed = [name for name, kinds in found.items() if {pa.int64(), pa.bool_()} == kinds - {pa.null()}]
        booleans = pa.array([*BOOLEANS, *MISSING_MARKERS])
        texts: set[str] = set()
        for block in self._parse_blocks(dict.fromkeys(mixed, pa.string()), trim=False):
            for name, column in block.items():
                if not compute.all(compute.is_in(column, value_set=booleans), min_count=0).as_py():
                    texts.add(name)
        return texts

    def _find_codes(self) -> list[str]:
        """Return the columns of digits in which some values have leading zeros, such as ``00417``."""
        pa = optional_import("pyarrow", _PURPOSE)
        compute = optional_import("pyarrow.compute", _PURPOSE)
        is_number = (pa.types.is_integer, pa.types.is_floating)
        digits = {name for name, kind in self.types.items() if any(test(kind) for test in is_number)}
        codes = set()
        for block in self._parse_blocks(dict.fromkeys(sorted(digits), pa.string())):
            for name, column in block.items():
                if not compute.all(compute.match_substring_regex(column, r"^\d*$"), min_count=0).as_py():
                    digits.discard(name)
                if compute.any(compute.match_substring_regex(column, r"^0\d+$")).as_py():
                    codes.add(name)
        return sorted(codes & digits)

    def _columns_kept_as_text(self) -> set[str]:
        """Return ids that are not integers and labels that are not numbers, such as dates and booleans."""
        types = optional_import("pyarrow", _PURPOSE).types
        selection = self.selection.complete(list(self.types))
        tests: list[tuple[str | None, Callable[[pa.DataType], bool]]] = [
            (selection.id, types.is_integer),
            (selection.label, lambda kind: types.is_integer(kind) or types.is_floating(kind)),
        ]
        encoded = set(selection.categories or ()) & set(self.types)  # also if all values are digits here
        return encoded | {
            name
            for name, is_kept in tests
            if name in self.types
            and name not in selection.named(list(self.types))
            and not is_kept(self.types[name])
        }

    def _summarize_text(self) -> dict[str, TextSummary]:
        """Summarize text columns; find those that are numeric apart from blanks, and raise for mistakes."""
        pa = optional_import("pyarrow", _PURPOSE)
        selection = self.selection.complete(list(self.types))
        excluded = {
            selection.label,
            selection.id,
            *(selection.categories or ()),
            *(self.codes - set(selection.named(list(self.types)))),
        }
        names = [
            name
            for name, kind in self.types.items()
            if kind == pa.string() and name not in excluded and selection.may_use(name)
        ]
        if not names:
            return {}
        summaries = summarize_text(self._parse_blocks({name: self.types[name] for name in names}), names)
        for name in names:
            summaries[name].check(name, self.source, self.layout.first_line)
            if summaries[name].is_numeric:
                self.types[name] = pa.float64()  # parsed as text because of blanks around missing values
        return summaries

    def _find_long_integers(self, large: Collection[str]) -> set[str]:
        """Return the columns of integers that would be rounded; they are parsed as text."""
        pa = optional_import("pyarrow", _PURPOSE)
        names = [
            name
            for name, kind in self.types.items()
            if kind == pa.float64() and (name in large or self._parsed_types[name] == pa.string())
        ]
        found = find_long_integers(self._parse_blocks(dict.fromkeys(names, pa.string())), names)
        self.types |= dict.fromkeys(found, pa.int64())
        self._parsed_types |= dict.fromkeys(found, pa.string())
        return found

    def _parse_blocks(
        self, types: Mapping[str, pa.DataType], trim: bool = True
    ) -> Iterator[dict[str, pa.ChunkedArray]]:
        """Yield columns of each block, parsed as the given types; text without surrounding blanks."""
        n_rows = 0
        for i, content in enumerate(self._blocks() if types else ()):
            known = {
                name: self._parsed[name, kind] for name, kind in types.items() if (name, kind) in self._parsed
            }
            needed = {name: kind for name, kind in types.items() if name not in known}
            parsed = parse_text(content, self.layout, self.source, needed, i == 0, n_rows)
            block = known | (trim_text(parsed) if trim else parsed)
            if self._contents is not None:
                self._parsed |= {(name, types[name]): block[name] for name in needed}
            n_rows += len(next(iter(block.values())))
            yield block

    def _blocks(self) -> Iterable[bytes]:
        return self.text.blocks(self.layout) if self._contents is None else self._contents
