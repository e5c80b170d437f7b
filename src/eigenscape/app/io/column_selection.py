"""Columns requested by the caller: by name or by wildcard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from eigenscape.app.io.table import KINDS, format_names
from eigenscape.exceptions import InputFileError

if TYPE_CHECKING:
    from eigenscape.app.io.missing import Imputation

MISSING = ("error", "drop", "keep", "mean")
#: Kinds of columns that contain numbers.
NUMBERS = ("float", "int", "bool")
#: Names in any case of columns, and of arrays beside a matrix, that are the label and the id by default.
_COLUMN_ROLES = {"label": ("label",), "id": ("id",)}
_ARRAY_ROLES = {"label": ("labels", "label", "y"), "id": ("ids", "id")}


@dataclass(frozen=True)
class ColumnSelection:
    """Columns requested by the caller; None where the file decides.

    ``columns`` and ``exclude`` are names, or patterns with ``*``, ``?`` and ``[...]``. A pattern that is the
    name of a column means that column only.
    """

    columns: tuple[str, ...] | None = None
    label: str | None = None
    id: str | None = None
    missing: str = "error"
    exclude: tuple[str, ...] = ()
    encode: str | None = None
    header: bool | None = None  # whether a text table begins with names; None if its cells tell
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
        use_rep: str | None = None,
        layer: str | None = None,
        obsp: str | None = None,
        header: bool | None = None,
    ) -> ColumnSelection:
        """Check the options of :func:`eigenscape.read` and return the selection.

        The name of a graph of ``obsp`` determines the meaning of its numbers.
        """
        options = {"missing": (missing, MISSING), "encode": (encode, ("onehot",)), "kind": (kind, KINDS)}
        for name, (value, known) in options.items():
            if value is not None and value not in known:
                raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, known))}")
        columns = (columns,) if isinstance(columns, str) else columns
        exclude = (exclude,) if isinstance(exclude, str) else exclude or ()
        parts = (("obsm", use_rep), ("layers", layer), ("obsp", obsp))
        chosen = [(group, key) for group, key in parts if key is not None]
        if len(chosen) > 1:
            raise ValueError("use_rep (--use-rep), layer (--layer) and obsp (--obsp) exclude each other")
        if kind is None and chosen and chosen[0][0] == "obsp":
            kind = "distances" if "distances" in chosen[0][1].casefold() else "affinities"
        part = chosen[0] if chosen and chosen[0] != ("obsm", "X") else None
        columns = None if columns is None else tuple(columns)
        return ColumnSelection(columns, label, id, missing, tuple(exclude), encode, header, kind, part)

    def complete(
        self, names: Sequence[str], source: str, annotations: Sequence[str] | None = None
    ) -> ColumnSelection:
        """Use the label and id of the model, or columns of these names, unless others are requested.

        Patterns of columns to exclude become names. Raise if a requested column is not among ``names``, or if
        a pattern to exclude matches none of them. In a file of arrays, only ``annotations``, the arrays with
        one value per row, are the label or the id because of their names.
        """
        for name in (*(self.columns or ()), *self.exclude, self.label, self.id):
            is_role = name in (self.label, self.id)
            if name is not None and name not in names and (is_role or not {*name} & {*"*?["}):
                similar = [known for known in names if known.casefold() == name.casefold()]
                hint = f"; did you mean {similar[0]!r}?" if similar else ""
                shown = format_names(tuple(names), 20)
                what = "column of obs named" if source.endswith(".h5ad") and is_role else "column"
                raise InputFileError(f"{source} has no {what} {name!r}; it has {shown}{hint}")
        for pattern in self.exclude:
            if not any(matches(pattern, name) for name in names):
                raise _no_match(pattern, names, source)
        exclude = tuple(name for name in names if any(matches(pattern, name) for pattern in self.exclude))
        taken = (*(self.columns or ()), *exclude, *self.known_columns, self.label, self.id)
        found = {"label": self.label, "id": self.id}
        for role, known in (("label", self.known_label), ("id", self.known_id)):
            same = named(names, _COLUMN_ROLES[role])
            if annotations is not None:
                same = named(annotations, _ARRAY_ROLES[role])
            free = (name for name in (known, *same) if name in names and name not in taken)
            found[role] = found[role] or next(free, None)
        return replace(self, exclude=exclude, label=found["label"], id=found["id"])

    def with_text_roles(self, unique: Iterable[str], repeated: Iterable[str]) -> ColumnSelection:
        """Use the first text column whose values all differ as id, the first with repeated values as label.

        A label or id that is found already is kept. Text that is encoded is a feature, so only a column named
        ``label`` is then a label; a model's data has its label.
        """
        taken = {self.label, *(self.columns or ()), *self.known_columns, *self.exclude}
        id_name = self.id or next((name for name in unique if name not in taken), None)
        label = self.label
        if label is None and self.known_label is None and self.encode is None:
            label = next((name for name in repeated if name not in {id_name, *taken}), None)
        return replace(self, label=label, id=id_name)

    def features(self, kinds: Mapping[str, str], source: str) -> list[str]:
        """Return the columns that are features, in the order requested, of a completed selection.

        Parameters
        ----------
        kinds : mapping of str to str
            Kind of each column, as :func:`eigenscape.app.io.roles.column_kind` returns it.
        source : str
            Name of the file, for error messages.
        """
        excluded = set(self.exclude)
        kept = [name for name in kinds if name not in excluded]
        encoded = [name for name in kept if self.encode and kinds[name] == "text"]
        if self.categories is not None:
            encoded = [name for name in kept if name in self.categories]
        usable = [name for name in kept if kinds[name] in NUMBERS or name in encoded]
        usable = [name for name in usable if name not in (self.label, self.id)]
        if self.columns is None:
            return usable
        chosen: list[str] = []
        for pattern in self.columns:
            if pattern in kinds:
                chosen += [pattern] if pattern in kept else []
                continue
            found = [name for name in usable if matches(pattern, name)]
            if not found:
                raise _no_match(pattern, [f"{name} ({kind})" for name, kind in kinds.items()], source)
            chosen += found
        return list(dict.fromkeys(chosen))


def named(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return the names that are ``wanted`` in any case, in that order; of equal ones the exact name first."""
    cased = sorted(names, key=lambda name: name not in wanted)
    return [name for word in wanted for name in cased if name.casefold() == word]


def matches(pattern: str, name: str) -> bool:
    """Return whether a name is the pattern, or matches it."""
    return pattern == name or fnmatchcase(name, pattern)


def _no_match(pattern: str, names: Sequence[str], source: str) -> InputFileError:
    shown = format_names(tuple(names), 20)
    return InputFileError(f"no column of {source} that can be used matches {pattern!r}; it has {shown}")
