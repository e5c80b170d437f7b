"""The report on one map.

See docs/decisions/app-page.md.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from eigenscape._memory import peak_memory
from eigenscape.app.report._charts import report_charts
from eigenscape.app.report._columns import pack_numbers
from eigenscape.app.report._map_data import Drawing, coordinate_axes
from eigenscape.app.report._measures import measure
from eigenscape.app.report._page import check_report, write_page
from eigenscape.app.report._placing import placing_data
from eigenscape.app.report._points import as_points, embed, transform_new
from eigenscape.app.report._rules import Case
from eigenscape.app.report._texts import LIMITS, format_seconds
from eigenscape.app.report._verdicts import grades, headline, summarize


def write_report(
    path: str | Path,
    model: BaseEstimator,
    table_or_X: Any,
    *,
    held_out: Any = None,
    labels: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    extra: Mapping[str, ArrayLike] | None = None,
    images: ArrayLike | None = None,
    max_points: int | None = 50_000,
    compact: int | bool | None = None,
    command: str | None = None,
    timings: Mapping[str, float] | None = None,
    memory: float | None = None,
    seed: int = 0,
    force: bool = False,
) -> Path:
    """Write an HTML report on a fitted model: an interactive map, its quality, and its parameters.

    The file is self-contained. Of more than ``max_points`` points a random sample is drawn. Measures that
    need further fits use at most 2000 points. Measures that are not defined for the model are listed with the
    reason.

    Parameters
    ----------
    path : str or Path
        The HTML file to write. It is written atomically.
    model : fitted estimator
        An estimator with ``transform``.
    table_or_X : Table, array-like, sparse array, list of objects, or stream
        The training data: the result of :func:`eigenscape.read`, or data in the form that ``fit`` accepts.
    held_out : Table, array-like or None, default=None
        New points in the form that ``transform`` accepts. They are drawn as rings and used for the held-out
        loss. If None, a further model is fitted to four fifths of the points, and the loss is measured on the
        others.
    labels : array-like of shape (n_samples,) or None, default=None
        Labels of the points. If None, the labels of the table.
    ids : array-like of shape (n_samples,) or None, default=None
        Identifiers of the points. If None, the identifiers of the table.
    extra : dict of str to array-like of shape (n_samples,) or None, default=None
        Further columns by which the map can be coloured, of any type. None and NaN are missing values.
    images : array-like of shape (n_samples, height, width[, 3]) or None, default=None
        Images of the samples, shown next to the cursor; numbers of any range. If None, the images of a table
        of images. They are reduced to at most 3 MB together.
    max_points : int or None, default=50000
        Maximum number of points drawn; None for all. A million points take about 6 MB, and 3 MB for each
        column of numbers.
    compact : int, bool or None, default=None
        Number of training rows, or True to choose it, of a compact map (see :func:`eigenscape.save`) by which
        the page itself places rows that are pasted into it. Linear models and compact maps need none: their
        pages always place rows. Columns that the fit standardised are scaled by the page.
    command : str or None, default=None
        The command that created the model, to be shown.
    timings : dict of stage to seconds, or None, default=None
        Duration of the stages of the fit.
    memory : float or None, default=None
        Peak memory of the fit in bytes. If None, the peak memory of this process is shown.
    seed : int, default=0
        Seed of the samples and the further fits.
    force : bool, default=False
        Whether to replace an existing file.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    FileExistsError
        If the file exists and ``force=False``.
    ValueError
        If the data do not match the model, or a column has the wrong length.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA
    >>> from eigenscape.report import write_report
    >>> X, y = load_iris(return_X_y=True)
    >>> file = write_report(tempfile.mkdtemp() + "/iris.html", PCA(2).fit(X), X, labels=y)
    >>> file.name
    'iris.html'
    """
    check_report(path, force)
    start = time.perf_counter()
    points = as_points(table_or_X, labels, ids, extra)
    drawing = Drawing.from_points(points, held_out, images, max_points, seed)
    rows, name = drawing.rows, type(model).__name__
    embedding, how = embed(model, points)
    new = transform_new(model, drawing.new)
    placing, placing_remark = placing_data(model, points, compact)
    measures = measure(model, points, embedding, drawing.new, seed)

    drawn = embedding[rows] if new is None else np.concatenate([embedding[rows], new])
    d, axes = embedding.shape[1], coordinate_axes(min(LIMITS.coordinates, embedding.shape[1]))
    values = [pack_numbers(drawn[:, axis["axis"]]) for axis in axes]
    inputs, input_remark = drawing.input_columns(model, embedding)
    columns: list[Any] = drawing.given_columns() + drawing.model_columns(model, measures)
    maps = [{"name": name, "axes": [axis["name"] for axis in axes], "values": values}]
    data, omitted_remark = drawing.script_data(maps, [*columns, *axes, *inputs], placing)
    remarks = [drawing.remark, input_remark, drawing.image_remark, placing_remark, omitted_remark]

    seconds, case = dict(timings or {}), Case(measures, model, d, points)
    names = {**case.names, "grades": grades(measures)}
    reasons = measures.omitted | ({} if measures.graph else {"graph": f"{name} uses no neighbourhood graph"})
    measuring, peak = time.perf_counter() - start, peak_memory() if memory is None else None
    return write_page(
        path,
        force,
        "report.html",
        points,
        remarks,
        model=model,
        data=data,
        placing=placing is not None,
        summary=summarize(case, 0 if drawing.new is None else drawing.new.n, how),
        names=names,
        headline=headline(case),
        charts=report_charts(measures, d),
        omitted=reasons,
        command=command,
        stages=[(stage, format_seconds(duration)) for stage, duration in seconds.items()],
        costs={"fit": sum(seconds.values()), "measuring": measuring, "memory": memory, "peak": peak},
    )
