"""The report on one map."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigenscape.app.io.atomic import check_target
from eigenscape.app.report._charts import report_charts
from eigenscape.app.report._columns import packed
from eigenscape.app.report._facts import GraphFacts, counted, graph_facts, timing_facts
from eigenscape.app.report._map import (
    MOST_NEW,
    all_columns,
    coordinate_columns,
    drawn_rows,
    drawn_words,
    input_columns,
    model_columns,
    script_data,
)
from eigenscape.app.report._measures import measure
from eigenscape.app.report._page import document, write_page
from eigenscape.app.report._sections import Told, report_body
from eigenscape.app.report._subject import coordinates_of, placed_new, points_of
from eigenscape.app.report._words import summarize


def write_report(
    path: str | Path,
    model: Any,
    table_or_X: Any,
    *,
    held_out: Any = None,
    labels: Any = None,
    ids: Any = None,
    extra: Mapping[str, Any] | None = None,
    command: str | None = None,
    timings: Mapping[str, float] | Iterable[tuple[str, float]] | None = None,
    memory: float | None = None,
    seed: int = 0,
    force: bool = False,
) -> Path:
    """Write a report on a fitted model: one HTML file with an interactive map, how far it can be trusted, and
    how it was made.

    The file holds everything it shows and opens without a network. Beyond 50 000 points a random sample is
    drawn. Measures that need further fits are made with at most 2000 points; what was done, and what does not
    apply to the model, is said on the page.

    Parameters
    ----------
    path : str or Path
        The HTML file to write, whole or not at all.
    model : fitted estimator
        Any that maps rows to points.
    table_or_X : Table, array-like, sparse matrix, list of objects, or stream
        What the model was fitted to: what :func:`eigenscape.read` returned, or the data in the form that
        ``fit`` takes.
    held_out : Table, array-like or None, default=None
        Further points in the form that ``transform`` takes, drawn as diamonds; the held-out loss is theirs.
        None: for the loss alone, the method is fitted again to four fifths of the points.
    labels, ids : array-like of n values or None, default=None
        In place of those of the table.
    extra : dict of name to n values or None, default=None
        Further columns to colour by, of any type; None and NaN mean missing.
    command : str or None, default=None
        The command that made the model, to be shown.
    timings : dict of stage to seconds, pairs of them, or None, default=None
        What the fit took. Stages that come several times are added up.
    memory : float or None, default=None
        Most bytes used by the fit; None shows the peak of this process.
    seed : int, default=0
        For samples and further fits.
    force : bool, default=False
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA
    >>> from eigenscape.app.report import write_report
    >>> X, y = load_iris(return_X_y=True)
    >>> file = write_report(tempfile.mkdtemp() + "/iris.html", PCA(2).fit(X), X, labels=y)
    >>> file.name
    'iris.html'
    """
    check_target(path, force)
    start = time.perf_counter()
    points = points_of(table_or_X, labels, ids, extra)
    others = None if held_out is None else points_of(held_out, argument="held_out", least=1)
    embedding, where = coordinates_of(model, points)
    new = placed_new(model, others, MOST_NEW)
    rows = drawn_rows(points.n, seed)
    measures = measure(model, points, embedding, others, seed, rows)
    graph = graph_facts(model)
    inputs, words = input_columns(model, points, rows, embedding)
    own = [*model_columns(model, points.n, measures, graph), *coordinate_columns(embedding)]
    columns = all_columns(points, own, inputs, rows, others, new)
    degrees = graph.degrees if isinstance(graph, GraphFacts) else None
    charts = report_charts(measures, embedding.shape[1], degrees, timing_facts(timings))
    drawn = np.concatenate([embedding[rows], new]) if new is not None else embedding[rows]
    axes = [f"coordinate {i + 1}" for i in range(min(12, embedding.shape[1]))]
    maps = [
        {
            "name": type(model).__name__,
            "axes": axes,
            "values": [packed(drawn[:, i]) for i in range(len(axes))],
        }
    ]
    page, crowded = script_data(maps, columns, points, rows, others, charts)
    summary = summarize(
        model, points.n, embedding.shape[1], measures, graph, 0 if others is None else others.n, where
    )
    note = " ".join([drawn_words(points.n, rows), words, _crowded(crowded)]).strip()
    told = Told(
        model, points, embedding, measures, graph, summary, note, command, timing_facts(timings), memory
    )
    body = report_body(told, time.perf_counter() - start)
    title = f"{type(model).__name__} map" + (f" of {Path(points.source).name}" if points.source else "")
    meta = f"{counted(points.n)} points · {embedding.shape[1]} coordinates · {len(page['columns'])} columns to colour by"
    write_page(path, document(title, meta, body, page), force)
    return Path(path)


def _crowded(names: list[str]) -> str:
    return f"For lack of room, these columns are left out: {', '.join(names)}." if names else ""
