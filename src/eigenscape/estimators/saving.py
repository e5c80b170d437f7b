"""Saving a fitted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eigenscape.io.models import write_model


def save(
    model: Any, path: str | Path, *, compact: int | bool | None = None, force: bool = False, notes: str | None = None, data: Any = None
):
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : str or Path
        The file; any suffix, ``.skops`` by custom.
    force : bool, default=False
        Whether an existing file may be replaced.
    notes : str, optional
        A remark that ``eigenscape.io.describe`` shows.
    data : array-like, optional
        The training data, for their fingerprint. Default: the rows that the model keeps, if it keeps all.
    """
    write_model(model, path, force=force, notes=notes, data=data)
