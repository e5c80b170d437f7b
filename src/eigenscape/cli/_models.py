"""Models on disk, with what they need to know of the files they were made from."""

from __future__ import annotations

import json
from typing import Any

from eigenscape.cli._errors import WrongCommandError
from eigenscape.cli._reading import Reading


def with_scaler(estimator: Any, scaler: Any) -> Any:
    """The estimator after the scaling it was fitted behind."""
    if scaler is None:
        return estimator
    from sklearn.pipeline import Pipeline

    return Pipeline([("standardize", scaler), ("map", estimator)])


def parts(model: Any) -> tuple[Any, Any]:
    """The estimator in a model, and its scaler or None."""
    steps = getattr(model, "steps", None)
    return (model, None) if steps is None else (steps[-1][1], steps[0][1])


def save_model(path: str, estimator: Any, scaler: Any, table: Any, how: Reading, command: str, compact: str | None, force: bool) -> None:
    """Write a model with the names of its columns, so that tomorrow's file may have them in another order."""
    from eigenscape import save

    notes = {"columns": list(table.names), "label": how.label, "id": how.id, "size": how.size, "command": command}
    if compact not in (None, "auto") and not compact.isdigit():
        raise WrongCommandError(f"--compact takes a number of points or nothing, got {compact!r}")
    members: Any = None if compact is None else True if compact == "auto" else int(compact)
    text = json.dumps({name: value for name, value in notes.items() if value is not None})
    save(with_scaler(estimator, scaler), path, compact=members, force=force, notes=text)


def notes_of(described: dict[str, Any]) -> dict[str, Any]:
    """What a command noted in a model file; nothing, where it was saved from Python with another remark, or none."""
    try:
        found = json.loads(described.get("notes") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
