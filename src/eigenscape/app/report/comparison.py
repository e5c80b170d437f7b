"""The comparison of several maps of the same points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from eigenscape._format import format_bytes
from eigenscape.app.report._charts import curve_chart, timing_chart
from eigenscape.app.report._columns import Column, pack_numbers
from eigenscape.app.report._conclusion import ComparedModel, conclude, indistinguishable, total_seconds
from eigenscape.app.report._details import (
    Timings,
    data_details,
    memory_details,
    parameter_details,
    version_details,
)
from eigenscape.app.report._formatting import (
    format_count,
    format_number,
    format_percent,
    format_score,
    format_seconds,
)
from eigenscape.app.report._map_data import (
    MAX_DRAWN,
    MAX_NEW,
    all_columns,
    check_max_points,
    coordinate_columns,
    drawn_remark,
    input_columns,
    model_columns,
    omitted_remark,
    script_data,
)
from eigenscape.app.report._measures import measure
from eigenscape.app.report._page import check_report, write_page
from eigenscape.app.report._points import Points, as_points, check_model, embed, transform_new
from eigenscape.app.report._references import reference_distances, sample_rows
from eigenscape.app.report._thumbnails import thumbnails
from eigenscape.options import flattened
from eigenscape.quality import Estimate, procrustes


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
    max_points: int | None = MAX_DRAWN,
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
    new_points = None if held_out is None else as_points(held_out, argument="held_out", min_points=1)
    rows = sample_rows(points.n, check_max_points(max_points, points.n), seed)
    pictures, picture_remark = thumbnails(points, images, rows)
    compared = _compare(models, points, new_points, rows, timings, memory, seed)
    first = compared[0]

    inputs, input_remark = input_columns(first.model, points, rows, first.embedding)
    columns = all_columns(points, _model_columns(compared, points.n), inputs, rows, new_points)
    curves = {one.name: one.measures.curve for one in compared if one.measures.curve is not None}
    seconds = {one.name: one.seconds for one in compared if one.seconds is not None}
    charts = {"chart-curve": curve_chart(curves, first.measures.n_compared)} if curves else {}
    charts |= {"chart-timing": timing_chart(seconds)} if seconds else {}
    maps = _aligned_maps(compared, rows)
    data, omitted = script_data(maps, columns, points, rows, new_points, images=pictures, placing=None)

    aligned = "Every map is rotated, reflected and scaled to match the first."
    remarks = [drawn_remark(points.n, rows), aligned, input_remark, picture_remark, omitted_remark(omitted)]
    total = memory if isinstance(memory, (int, float)) else None
    return write_page(
        path,
        force,
        "comparison.html",
        title="Comparison of maps" + (f" of {Path(points.source).name}" if points.source else ""),
        meta=f"{format_count(points.n)} points · {len(compared)} methods ·"
        f" {len(data['columns'])} columns to colour by",
        data=data,
        remark=" ".join(filter(None, remarks)),
        models=compared,
        conclusion=conclude(compared, points),
        columns=_measures_table(compared),
        charts=charts,
        omitted=[
            (f"{one.name}, {name}", why) for one in compared for name, why in one.measures.omitted.items()
        ],
        command=command,
        parameter_details=[
            (f"{one.name} ({type(one.model).__name__})", *parameter_details(one.model)) for one in compared
        ],
        data_details=data_details(points, first.model) + memory_details(total, "Peak memory of the process"),
        version_details=version_details(),
    )


#: Measures of the table: whether larger is better (None: neither), and the format.
_MEASURES: dict[str, tuple[bool | None, Callable[[float], str]]] = {
    "Neighbours kept": (True, format_percent),
    "Trustworthiness": (True, format_score),
    "Continuity": (True, format_score),
    "Residual variance": (None, format_number),
    "Median movement": (False, format_percent),
    "Held-out ÷ training loss": (None, format_number),
    "Neighbours with equal label": (True, format_percent),
    "Fit": (False, format_seconds),
    "Peak memory": (False, format_bytes),
}
#: Measures of the computation: a map that is not ranked may be the best.
_COSTS = ("Fit", "Peak memory")


def _values(one: ComparedModel) -> tuple[Any, ...]:
    """Return the values of a model, in the order of the measures."""
    found = one.measures
    return (
        one.kept,
        found.trust,
        found.continuity,
        found.residual and found.residual.at(one.embedding.shape[1]),
        found.movement and found.movement.median,
        found.loss and found.loss.ratio,
        one.purity,
        one.seconds,
        one.memory,
    )


def _measures_table(models: list[ComparedModel]) -> list[dict[str, Any]]:
    """Return title, values, format and best values of each measure that is known for a model."""
    columns = []
    for (title, (larger, write)), values in zip(
        _MEASURES.items(), zip(*map(_values, models), strict=True), strict=True
    ):
        ranked = [
            value is not None and (title in _COSTS or one.is_sound)
            for value, one in zip(values, models, strict=True)
        ]
        known = [value for value, may in zip(values, ranked, strict=True) if may]
        best = (max if larger else min)(known, key=float) if known and larger is not None else None
        bold = [may and _equals_best(value, best, write) for value, may in zip(values, ranked, strict=True)]
        if any(value is not None for value in values):
            columns.append({"title": title, "cells": values, "write": write, "best": bold})
    return columns


def _equals_best(value: Any, best: Any, write: Callable[[float], str]) -> bool:
    """Return whether a value does not differ from the best: its interval overlaps, or it reads the same."""
    if best is None:
        return False
    return indistinguishable(value, best) if isinstance(value, Estimate) else write(value) == write(best)


def _compare(
    models: Mapping[str, BaseEstimator],
    points: Points,
    new_points: Points | None,
    rows: np.ndarray,
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
    compared = []
    for name, model in models.items():
        embedding, _ = embed(model, points)
        new = transform_new(model, new_points, MAX_NEW)
        reference = reference_distances(model, points, seed, metric)
        measures = measure(model, points, embedding, new_points, seed, rows, reference, brief=True)
        seconds = total_seconds((timings or {}).get(name))
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
            affine = np.linalg.lstsq(_with_ones(source), aligned, rcond=None)[0]
            aligned = np.concatenate([aligned, _with_ones(_two_coordinates(one.new)) @ affine])
        values = [pack_numbers(aligned[:, 0]), pack_numbers(aligned[:, 1])]
        maps.append({"name": one.name, "axes": ["coordinate 1", "coordinate 2"], "values": values})
    return maps


def _with_ones(coordinates: np.ndarray) -> np.ndarray:
    return np.column_stack([coordinates, np.ones(len(coordinates))])


def _two_coordinates(embedding: np.ndarray) -> np.ndarray:
    """Return the first two coordinates; a missing second one is zero."""
    if embedding.shape[1] > 1:
        return embedding[:, :2]
    return np.column_stack([embedding[:, 0], np.zeros(len(embedding))])


def _model_columns(compared: list[ComparedModel], n: int) -> list[Column]:
    """Return the columns of each model, prefixed with its name."""
    columns = []
    for one in compared:
        derived_columns = model_columns(one.model, n, one.measures, "not shown in a comparison")
        derived_columns += coordinate_columns(one.embedding[:, :2])
        columns += [
            Column(f"{one.name}: {column.name}", column.values, "model") for column in derived_columns
        ]
    return columns
