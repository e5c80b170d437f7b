"""Columns of new rows matched to those that a model was fitted to: by name, or by position without names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eigenscape.app.io.column_selection import ColumnSelection
from eigenscape.app.io.missing import Imputation
from eigenscape.app.io.table import Table, default_names, format_names
from eigenscape.exceptions import InputFileError, ModelFileError

#: Number of column names that a message shows.
_SHOWN = 10


def match_columns(
    table: Table,
    wanted: Sequence[str],
    tell: Callable[[str], None],
    encoded: dict[str, str] | None = None,
) -> Table:
    """Select and order the columns that a model was fitted to: by name, or by position without names.

    Other columns are dropped with a message, passed to ``tell``. ``encoded`` has the columns of text, which
    errors name.
    """
    names = list(table.names)
    text = next((name for name in wanted if name in table.extra and name not in names), None)
    if text is not None:
        raise InputFileError(
            f"column {text!r} of {table.source} contains text such as {str(table.extra[text][0])!r}, but the"
            " model needs numbers; correct it"
        )
    lacking = [name for name in wanted if name not in names]
    if not lacking:
        others = [name for name in names if name not in wanted]
        if others:
            tell(f"columns that the model does not use are ignored: {format_names(others, _SHOWN)}")
        indices = np.array([names.index(name) for name in wanted], dtype=np.intp)
        return replace(table, array=table.array[:, indices], names=tuple(wanted), dtypes=())
    by_position = tuple(names) == default_names(len(names)) or tuple(wanted) == default_names(len(wanted))
    if by_position and len(names) == len(wanted):
        return table
    if by_position:
        raise InputFileError(
            f"{table.source} has {len(names)} numeric columns, but the model was fitted to {len(wanted)}"
        )
    lacking = list(dict.fromkeys((encoded or {}).get(name, name) for name in lacking))
    pairs = [(name, lack) for lack in lacking for name in names if name.casefold() == lack.casefold()]
    shown = ", ".join(f"{name!r} for {lack!r}" for name, lack in pairs[:_SHOWN])
    hint = f"; did you mean {shown}? Rename it" if pairs else ""
    raise InputFileError(
        f"{table.source} lacks columns that the model needs: {format_names(lacking, _SHOWN)};"
        f" it has {format_names(names, _SHOWN)}{hint}"
    )


def encoded_columns(notes: dict[str, Any]) -> dict[str, str]:
    """Return the columns of text from which the encoded columns of a model were made."""
    categories = notes.get("categories", {})
    return {f"{column}_{value}": column for column, values in categories.items() for value in values}


def known_selection(notes: Mapping[str, Any], **options: Any) -> ColumnSelection:
    """Return the selection of columns for new rows of a model, given the notes on its columns."""
    selection = ColumnSelection.from_options(**options)
    imputation, categories = notes.get("imputation"), notes.get("categories")
    try:
        return replace(
            selection,
            encode="onehot" if categories else selection.encode,
            known_columns=tuple(notes.get("columns", ())),
            known_label=notes.get("label"),
            known_id=notes.get("id"),
            categories=categories and {name: tuple(values) for name, values in categories.items()},
            imputation=imputation and Imputation(np.array(imputation["means"], dtype=np.float64)),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # anything may be in a file
        raise ModelFileError(f"the description of columns of the model is damaged: {error}") from error
