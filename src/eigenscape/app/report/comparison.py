"""The comparison of several maps of the same points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from eigenscape._memory import peak_memory
from eigenscape.app.report._charts import curve_chart, timing_chart
from eigenscape.app.report._columns import Column, pack_numbers
from eigenscape.app.report._conclusion import ComparedModel, conclude, measures_table
from eigenscape.app.report._details import Timings, seconds_by_stage
from eigenscape.app.report._map_data import Drawing
from eigenscape.app.report._measures import measure
from eigenscape.app.report._page import check_report, write_page
from eigenscape.app.report._points import as_points, check_model, embed, transform_new
from eigenscape.options import flattened
from eigenscape.quality import procrustes


def write_comparison(
    path: str | Path,
    models: Mapping[str, BaseEstimator],
    table_or_X: Any,
    *,
    held_out: Any = None,
    labels: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    extra: Mapping[str, ArrayLike] | None = None,
    images: ArrayLike | None = None,
    max_points: int | None = 50_000,
    command: str | None = None,
    timings: Mapping[str, float | Timings] | None = None,
    memory: Mapping[str, float] | float | None = None,
    seed: int = 0,
    force: bool = False,
) -> Path:
    """Write an HTML comparison of fitted models: linked maps, a table of measures, and a conclusion.

    The first two coordinates of each map are aligned to the first map by
    :func:`eigenscape.quality.procrustes`. Points selected in one map are highlighted in all. The measures use
    the same neighbours in the data for all models; losses are shown as ratios, since they are not comparable
    between models.

    Parameters
    ----------
    path : str or Path
        The HTML file to write. It is written atomically.
    models : dict of str to fitted estimator
        At least two models, fitted to the same points.
    table_or_X : Table, array-like, sparse array, list of objects, or stream
        The training data: the result of :func:`eigenscape.read`, or data in the form that ``fit`` accepts.
    held_out : Table, array-like or None, default=None
        New points in the form that ``transform`` accepts. They are drawn as diamonds and used for the
        held-out loss. If None, a further model is fitted to four fifths of the points, and the loss is
        measured on the others.
    labels : array-like of shape (n_samples,) or None, default=None
        Labels of the points. If None, the labels of the table.
    ids : array-like of shape (n_samples,) or None, default=None
        Identifiers of the points. If None, the identifiers of the table.
    extra : dict of str to array-like of shape (n_samples,) or None, default=None
        Further columns by which the maps can be coloured, of any type. None and NaN are missing values.
    images : array-like of shape (n_samples, height, width[, 3]) or None, default=None
        Images of the samples, shown next to the cursor; numbers of any range. If None, the images of a table
        of images. They are reduced to at most 3 MB together.
    max_points : int or None, default=50000
        Maximum number of points drawn, a random sample; None for all.
    command : str or None, default=None
        The command that created the models, to be shown.
    timings : dict of model name to seconds or to seconds by stage, or None, default=None
        Duration of each fit.
    memory : dict of model name to bytes, float or None, default=None
        Peak memory of each fit, or of all fits. If None, the peak memory of this process is shown.
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
        If there are fewer than two models, the data do not match the models, or a column has the wrong
        length.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA, Isomap
    >>> from eigenscape.report import write_comparison
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"PCA": PCA(2).fit(X), "Isomap": Isomap(n_neighbors=30).fit(X)}
    >>> write_comparison(tempfile.mkdtemp() + "/iris.html", models, X, labels=y).name
    'iris.html'
    """
    check_report(path, force)
    if not isinstance(models, Mapping):
        raise TypeError(f"models must be a dict of name to fitted estimator, got {type(models).__name__}")
    if len(models) < 2:
        raise ValueError(f"a comparison needs at least two models, got {len(models)}; use write_report")
    points = as_points(table_or_X, labels, ids, extra)
    drawing = Drawing.from_points(points, held_out, images, max_points, seed)
    compared = _compare(models, drawing, timings, memory, seed)
    first = compared[0]

    inputs, input_remark = drawing.input_columns(first.model, first.embedding)
    columns = [*drawing.given_columns(), *_model_columns(compared, drawing), *inputs]
    data, omitted_remark = drawing.script_data(_aligned_maps(compared, drawing.rows), columns)
    aligned = "Every map is rotated, reflected and scaled to match the first."
    remarks = [drawing.remark, aligned, input_remark, drawing.image_remark, omitted_remark]
    curves = {one.name: one.m.curve for one in compared if one.m.curve is not None}
    seconds = {one.name: one.seconds for one in compared if one.seconds is not None}
    charts = {"chart-curve": curve_chart(curves, first.m.n_compared)} if curves else {}
    charts |= {"chart-timing": timing_chart(seconds)} if seconds else {}
    return write_page(
        path,
        force,
        "comparison.html",
        points,
        remarks,
        models=compared,
        data=data,
        conclusion=conclude(compared, points),
        columns=measures_table(compared),
        charts=charts,
        command=command,
        peak=memory if isinstance(memory, (int, float)) else peak_memory(),
    )


def _compare(
    models: Mapping[str, BaseEstimator],
    drawing: Drawing,
    timings: Mapping[str, float | Timings] | None,
    memory: Mapping[str, float] | float | None,
    seed: int,
) -> list[ComparedModel]:
    """Compute the measures of every model, all with the same metric of the data."""
    for model in models.values():
        check_model(model)
    parameters = [flattened(model.get_params(deep=False)) for model in models.values()]
    metrics = {str(each.get("metric", "euclidean")) for each in parameters}
    metric = None if len(metrics) == 1 else "euclidean"
    points, held_out, compared = drawing.points, drawing.new, []
    for name, model in models.items():
        embedding, _ = embed(model, points)
        new = transform_new(model, held_out)
        measures = measure(model, points, embedding, held_out, seed, drawing.rows, metric, brief=True)
        taken = (timings or {}).get(name)
        seconds = sum(seconds_by_stage(taken).values()) if isinstance(taken, Iterable) else taken
        used = memory.get(name) if isinstance(memory, Mapping) else None
        compared.append(ComparedModel(str(name), model, embedding, new, measures, seconds, used))
    return compared


def _aligned_maps(compared: list[ComparedModel], rows: np.ndarray) -> list[dict[str, Any]]:
    """Return two coordinates of each map, aligned to the first map."""
    target = _two_coordinates(compared[0].embedding)[rows]
    maps = []
    for one in compared:
        source = _two_coordinates(one.embedding)[rows]
        aligned = procrustes(source, target).aligned
        if one.new is not None:  # the alignment is an affine map: estimate it, and apply it to the new points
            means = source.mean(axis=0), aligned.mean(axis=0)
            linear = np.linalg.lstsq(source - means[0], aligned - means[1], rcond=None)[0]
            aligned = np.concatenate([aligned, (_two_coordinates(one.new) - means[0]) @ linear + means[1]])
        values = [pack_numbers(aligned[:, 0]), pack_numbers(aligned[:, 1])]
        maps.append({"name": one.name, "axes": ["coordinate 1", "coordinate 2"], "values": values})
    return maps


def _two_coordinates(embedding: np.ndarray) -> np.ndarray:
    """Return the first two coordinates; a missing second one is zero."""
    return np.pad(embedding[:, :2], ((0, 0), (0, max(0, 2 - embedding.shape[1]))))


def _model_columns(compared: list[ComparedModel], drawing: Drawing) -> list[Column]:
    """Return the columns of each model, prefixed with its name."""
    columns = []
    for one in compared:
        columns += drawing.model_columns(one.model, one.m, None, f"{one.name}: ")
        for i, values in enumerate(one.embedding[:, :2].T):
            columns.append(drawing.column(f"{one.name}: coordinate {i + 1}", values, "model"))
    return columns
