"""Several maps of the same points, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigenscape.app.io.atomic import check_target
from eigenscape.app.report._charts import curve_chart, timing_chart
from eigenscape.app.report._columns import Column, packed
from eigenscape.app.report._comparison_page import comparison_body
from eigenscape.app.report._facts import counted
from eigenscape.app.report._map import (
    MOST_NEW,
    all_columns,
    drawn_rows,
    drawn_words,
    input_columns,
    model_columns,
    script_data,
)
from eigenscape.app.report._measures import measure
from eigenscape.app.report._page import document, write_page
from eigenscape.app.report._spaces import truth_of
from eigenscape.app.report._subject import Points, check_model, coordinates_of, placed_new, points_of
from eigenscape.app.report._verdict import Entry, total_seconds
from eigenscape.quality import procrustes


def write_comparison(
    path: str | Path,
    models: Mapping[str, Any],
    table_or_X: Any,
    *,
    held_out: Any = None,
    labels: Any = None,
    ids: Any = None,
    extra: Mapping[str, Any] | None = None,
    command: str | None = None,
    timings: Mapping[str, Any] | None = None,
    memory: Mapping[str, float] | float | None = None,
    seed: int = 0,
    force: bool = False,
) -> Path:
    """Write a comparison of fitted models: their maps side by side with one selection, their measures, and
    which fits and why.

    Maps are laid over the first one by Procrustes, two coordinates of each. Points selected in one map are
    marked in all. Neighbours in the data are the same for all models, so their measures compare; the models'
    losses do not and are shown as ratios.

    Parameters
    ----------
    path : str or Path
        The HTML file to write, whole or not at all.
    models : dict of name to fitted estimator
        At least two, fitted to the same points.
    table_or_X, held_out, labels, ids, extra, command, seed, force
        As for :func:`write_report`.
    timings : dict of model name to seconds, or to seconds by stage as for :func:`write_report`, or None,
    default=None memory : dict of model name to bytes, bytes, or None, default=None

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA, Isomap
    >>> from eigenscape.app.report import write_comparison
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"PCA": PCA(2).fit(X), "Isomap": Isomap(n_neighbors=30).fit(X)}
    >>> write_comparison(tempfile.mkdtemp() + "/iris.html", models, X, labels=y).name
    'iris.html'
    """
    check_target(path, force)
    if not isinstance(models, Mapping):
        raise TypeError(f"models must be a dict of name to fitted estimator, got {type(models).__name__}")
    if len(models) < 2:
        raise ValueError(
            f"a comparison needs at least two models, got {len(models)}; write_report is for one"
        )
    points = points_of(table_or_X, labels, ids, extra)
    others = None if held_out is None else points_of(held_out, argument="held_out", least=1)
    rows = drawn_rows(points.n, seed)
    entries = _entries(models, points, others, rows, timings, memory, seed)
    first = entries[0]
    maps = _aligned_maps(entries, rows)
    inputs, words = input_columns(first.model, points, rows, first.embedding)
    columns = all_columns(points, _own_columns(entries, points.n), inputs, rows, others)
    curves = {entry.name: entry.measures.curve for entry in entries if entry.measures.curve is not None}
    charts = [curve_chart(curves, first.measures.n_compared)] if curves else []
    seconds = {entry.name: entry.seconds for entry in entries if entry.seconds is not None}
    charts += [timing_chart(seconds)] if seconds else []
    page, crowded = script_data(maps, columns, points, rows, others, charts)
    left = f"For lack of room, these columns are left out: {', '.join(crowded)}." if crowded else ""
    note = f"{drawn_words(points.n, rows)} Every map is turned, mirrored and scaled to lie as closely as it can over the first. {words} {left}"
    body = comparison_body(
        entries, points, note.strip(), command, memory if isinstance(memory, (int, float)) else None
    )
    title = "Comparison of maps" + (f" of {Path(points.source).name}" if points.source else "")
    meta = (
        f"{counted(points.n)} points · {len(entries)} methods · {len(page['columns'])} columns to colour by"
    )
    write_page(path, document(title, meta, body, page), force)
    return Path(path)


def _entries(
    models: Mapping[str, Any],
    points: Points,
    others: Points | None,
    rows: np.ndarray,
    timings: Mapping[str, Any] | None,
    memory: Mapping[str, float] | float | None,
    seed: int,
) -> list[Entry]:
    """Every model with its measures, all against the same neighbours in the data."""
    for model in models.values():
        check_model(model)
    metrics = {str(model.get_params().get("metric", "euclidean")) for model in models.values()}
    made = []
    for name, model in models.items():
        embedding, _ = coordinates_of(model, points)
        new = placed_new(model, others, MOST_NEW)
        truth = truth_of(model, points, seed, None if len(metrics) == 1 else "euclidean")
        measures = measure(model, points, embedding, others, seed, rows, truth=truth, brief=True)
        used = memory.get(name) if isinstance(memory, Mapping) else None
        made.append(
            Entry(str(name), model, embedding, new, measures, total_seconds((timings or {}).get(name)), used)
        )
    return made


def _aligned_maps(entries: list[Entry], rows: np.ndarray) -> list[dict[str, Any]]:
    """Two coordinates of each map, laid over the first map."""
    reference = _plane(entries[0].embedding)[rows]
    maps = []
    for entry in entries:
        plane = _plane(entry.embedding)[rows]
        aligned = procrustes(plane, reference).aligned
        if (
            entry.placed is not None
        ):  # new points go the same way: an affine map, found from the points that went it
            ones = np.column_stack([plane, np.ones(len(plane))])
            way = np.linalg.lstsq(ones, aligned, rcond=None)[0]
            new = _plane(entry.placed)
            aligned = np.concatenate([aligned, np.column_stack([new, np.ones(len(new))]) @ way])
        values = [packed(aligned[:, 0]), packed(aligned[:, 1])]
        maps.append({"name": entry.name, "axes": ["coordinate 1", "coordinate 2"], "values": values})
    return maps


def _plane(embedding: np.ndarray) -> np.ndarray:
    """The first two coordinates; a line is drawn as a line."""
    return (
        embedding[:, :2]
        if embedding.shape[1] > 1
        else np.column_stack([embedding[:, 0], np.zeros(len(embedding))])
    )


def _own_columns(entries: list[Entry], n: int) -> list[Column]:
    """What each model says of the points, under its name."""
    made = []
    for entry in entries:
        own = model_columns(entry.model, n, entry.measures, "the graph's edges are of one model")
        own += [
            Column(f"coordinate {i + 1}", entry.embedding[:, i], "model")
            for i in range(min(2, entry.embedding.shape[1]))
        ]
        made += [Column(f"{entry.name}: {column.name}", column.values, "model") for column in own]
    return made
