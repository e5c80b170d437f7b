"""Columns requested by the caller: by name, by wildcard or by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from eigenscape.app.io.table import KINDS, format_names
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    from eigenscape.app.io.imputation import Imputation

MISSING = ("error", "drop", "keep", "mean", "ppca")
ENCODINGS = ("onehot",)
#: Kinds of columns by the type that ``dtype:TYPE`` names.
DTYPES: dict[str, tuple[str, ...]] = {
    "float": ("float",),
    "int": ("int",),
    "bool": ("bool",),
    "number": ("float", "int", "bool"),
    "text": ("text",),
}
_DTYPE = "dtype:"
_WILDCARDS = "*?["


@dataclass(frozen=True)
class ColumnSelection:
    """Columns requested by the caller; None where the file decides.

    ``columns`` and ``exclude`` are names, patterns with ``*``, ``?`` and ``[...]``, or ``dtype:TYPE``. A
    pattern that is the name of a column means that column only.
    """

    columns: tuple[str, ...] | None = None
    label: str | None = None
    id: str | None = None
    missing: str = "error"
    exclude: tuple[str, ...] = ()
    encode: str | None = None
    kind: str | None = None  # meaning of the numbers; None if it may be asked about
    part: tuple[str, str] | None = None  # of an AnnData file: ("obsm", key), ("layers", key), ("obsp", key)
    #: Of the data that a model was fitted to: features, which are neither label nor id; label and id, used if
    #: the file has them; and what was learnt.
    known_columns: tuple[str, ...] = ()
    known_label: str | None = None
    known_id: str | None = None
    categories: Mapping[str, tuple[str, ...]] | None = None
    imputation: Imputation | None = None

    @staticmethod
    def from_options(
        columns: str | Sequence[str] | None = None,
        label: str | None = None,
        id: str | None = None,  # noqa: A002
        missing: str = "error",
        exclude: str | Sequence[str] | None = None,
        encode: str | None = None,
        kind: str | None = None,
        part: tuple[str, str] | None = None,
    ) -> ColumnSelection:
        """Check the options of :func:`eigenscape.read` and return the selection."""
        for name, value, known in (
            ("missing", missing, MISSING),
            ("encode", encode, (None, *ENCODINGS)),
            ("kind", kind, (None, *KINDS)),
        ):
            if value not in known:
                shown = ", ".join(repr(word) for word in known if word is not None)
                raise ValueError(f"{name}={value!r} must be one of {shown}")
        columns = (columns,) if isinstance(columns, str) else columns
        exclude = (exclude,) if isinstance(exclude, str) else exclude or ()
        for pattern in (*(columns or ()), *exclude):
            if pattern.startswith(_DTYPE) and pattern.removeprefix(_DTYPE) not in DTYPES:
                raise ValueError(f"unknown type in {pattern!r}; use {_DTYPE} and one of {', '.join(DTYPES)}")
        columns = None if columns is None else tuple(columns)
        return ColumnSelection(columns, label, id, missing, tuple(exclude), encode, kind, part)

    def named(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that are requested by their own name, not by a pattern."""
        return tuple(name for name in self.columns or () if name in names)

    def check(self, names: Sequence[str], source: str) -> None:
        """Raise if a requested column is not among ``names``; patterns are checked when they are used."""
        for name in (*(self.columns or ()), *self.exclude, self.label, self.id):
            is_role = name in (self.label, self.id)
            if name is None or name in names or (_is_pattern(name) and not is_role):
                continue
            similar = [known for known in names if known.casefold() == name.casefold()]
            hint = f"; did you mean {similar[0]!r}?" if similar else ""
            shown = format_names(tuple(names), 20)
            raise InputFileError(f"{source} has no column {name!r}; it has {shown}{hint}")

    def complete(self, names: Sequence[str]) -> ColumnSelection:
        """Use the label and id of the model, or columns of these names, unless others are requested."""
        taken = (*self.named(names), *self.exclude, self.label, self.id)

        def find(known: str | None, word: str) -> str | None:
            if known is not None and known in names and known not in taken:
                return known
            matches = [name for name in names if name.casefold() == word and name not in taken]
            return word if word in matches else next(iter(matches), None)

        label = self.label or find(self.known_label, "label")
        return replace(self, label=label, id=self.id or find(self.known_id, "id"))

    def excludes(self, name: str, kind: str) -> bool:
        """Return whether a column is excluded."""
        return any(pattern == name or _matches(pattern, name, kind) for pattern in self.exclude)

    def may_use(self, name: str) -> bool:
        """Return whether a column may be a feature, by its name: its type is not known yet."""
        patterns = self.columns
        if any(pattern == name or _matches(pattern, name, "") for pattern in self.exclude):
            return False
        return patterns is None or any(
            pattern == name or pattern.startswith(_DTYPE) or _matches(pattern, name, "")
            for pattern in patterns
        )

    def features(self, kinds: Mapping[str, str], source: str) -> tuple[str, ...]:
        """Return the columns that are features, in the order requested.

        Parameters
        ----------
        kinds : mapping of str to str
            Kind of each column: "float", "int", "bool", "text" or "other".
        source : str
            Name of the file, for error messages.
        """
        kept = [name for name in kinds if not self.excludes(name, kinds[name])]
        for pattern in self.exclude:
            is_type = pattern.startswith(_DTYPE)  # no column of a type to exclude is not a mistake
            if not is_type and not any(pattern == name or _matches(pattern, name, "") for name in kinds):
                raise _no_match(pattern, kinds, source)
        usable = [
            name
            for name in kept
            if (kinds[name] in DTYPES["number"] or self.encodes(name, kinds[name]))
            and name not in (self.label, self.id)
        ]
        if self.columns is None:
            return tuple(usable)
        chosen: list[str] = []
        for pattern in self.columns:
            if pattern in kinds:
                chosen += [pattern] if pattern in kept else []
                continue
            matches = [name for name in usable if _matches(pattern, name, kinds[name])]
            if not matches:
                raise _no_match(pattern, kinds, source)
            chosen += matches
        return tuple(dict.fromkeys(chosen))

    def encodes(self, name: str, kind: str) -> bool:
        """Return whether a column is encoded: every text column, or those that were for a model."""
        if self.categories is not None:
            return name in self.categories
        return kind == "text" and self.encode is not None


def _is_pattern(text: str) -> bool:
    return text.startswith(_DTYPE) or any(mark in text for mark in _WILDCARDS)


def _matches(pattern: str, name: str, kind: str) -> bool:
    if pattern.startswith(_DTYPE):
        return kind in DTYPES[pattern.removeprefix(_DTYPE)]
    return _is_pattern(pattern) and fnmatchcase(name, pattern)


def _no_match(pattern: str, kinds: Mapping[str, str], source: str) -> InputFileError:
    shown = format_names([f"{name} ({kind})" for name, kind in kinds.items()], 20)
    return InputFileError(f"no column of {source} that can be used matches {pattern!r}; it has {shown}")
