"""Models on disk, with what they need to know of the files they were made from."""

from __future__ import annotations

import json
from typing import Any

from eigenscape.app.cli._errors import WrongCommandError
from eigenscape.app.cli._reading import how_streamed
from eigenscape.app.cli._shared import say
from eigenscape.app.cli._work import Work


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


def compact_rows(compact: str | None) -> int | bool | None:
    """What ``--compact`` asks for: a number of rows, or True for as many as it takes."""
    if compact is None or compact == "auto":
        return None if compact is None else True
    if not compact.isdigit() or int(compact) == 0:
        raise WrongCommandError(f"--compact takes a number of rows, at least 1, or nothing, got {compact!r}")
    return int(compact)


def save_model(
    path: str, work: Work, compact: int | bool | None, command: str, force: bool, quiet: bool
) -> dict[str, Any] | None:
    """Write a model with the names of its columns, so that tomorrow's file may have them in another order;
    what compacting cost."""
    from eigenscape import save
    from eigenscape.app.io import describe

    how, table = work.how, work.raw
    notes = {
        "columns": list(table.names),
        "label": how.label,
        "id": how.id,
        "size": how.size,
        "command": command,
    }
    text = json.dumps({name: value for name, value in notes.items() if value is not None})
    n_rows = len(work.embedding)
    if compact is not None and compact is not True and compact >= n_rows:
        say(f"--compact {compact}: there are {n_rows} rows, and the model is saved whole", quiet)
        compact = None
    data = None if how_streamed(table.array) or table.kind == "edges" else table.array
    save(with_scaler(work.estimator, work.scaler), path, compact=compact, force=force, notes=text, data=data)
    cost = describe(path)["compact"]
    if cost is not None:
        kept = "no rows" if cost["size"] is None else f"{cost['size']} rows"
        say(
            f"the compact model keeps {kept}; on training rows its error is {100 * cost['error']:.2g} % of the map's spread",
            quiet,
        )
    return cost


def notes_of(described: dict[str, Any]) -> dict[str, Any]:
    """What a command noted in a model file; nothing, where it was saved from Python with another remark, or
    none."""
    try:
        found = json.loads(described.get("notes") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
