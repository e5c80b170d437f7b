"""The comparison of several maps of the same points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from eigenscape._memory import peak_memory
from eigenscape.app.report._charts import curve_chart, image
from eigenscape.app.report._columns import Column, pack_numbers
from eigenscape.app.report._map_data import Drawing
from eigenscape.app.report._measures import Measures, measure
from eigenscape.app.report._page import check_report, write_page
from eigenscape.app.report._points import Points, as_points, check_model, embed, transform_new
from eigenscape.app.report._rules import Case
from eigenscape.app.report._texts import FORMATS, LIMITS, TABLES, evaluate, fill
from eigenscape.app.report._verdicts import neighborhood_grade
from eigenscape.app.report.dominance import few_points_sentences
from eigenscape.options import flattened
from eigenscape.quality import Estimate
from eigenscape.quality.alignment import similarity


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
    timings: Mapping[str, float] | None = None,
    memory: float | None = None,
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
        New points in the form that ``transform`` accepts. They are drawn as rings and used for the held-out
        loss. If None, a further model is fitted to four fifths of the points, and the loss is measured on the
        others.
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
    timings : dict of model name to seconds, or None, default=None
        Duration of each fit.
    memory : float or None, default=None
        Peak memory of all fits in bytes. If None, the peak memory of this process.
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
    compared = _compare(models, drawing, timings or {}, seed)
    first = compared[0]

    inputs, input_remark = drawing.input_columns(first.model, first.embedding)
    columns = [*drawing.given_columns(), *_model_columns(compared, drawing), *inputs]
    data, omitted_remark = drawing.script_data(_aligned_maps(compared, drawing.rows), columns)
    aligned = "Every map is rotated, reflected and scaled to match the first."
    remarks = [drawing.remark, aligned, input_remark, drawing.image_remark, omitted_remark]
    curves = {one.name: one.m.curve for one in compared if one.m.curve is not None}
    use, conclusion = conclude(compared, points)
    charts = {"chart-curve": image(curve_chart(curves, first.m.n_compared))} if curves else {}
    return write_page(
        path,
        force,
        "comparison.html",
        points,
        remarks,
        models=compared,
        data=data,
        headline=use,
        conclusion=conclusion,
        columns=measures_table(compared),
        charts=charts,
        command=command,
        peak=peak_memory() if memory is None else memory,
    )


def _compare(
    models: Mapping[str, BaseEstimator], drawing: Drawing, timings: Mapping[str, float], seed: int
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
        measures = measure(model, points, embedding, held_out, seed, metric, brief=True)
        compared.append(ComparedModel(str(name), model, embedding, new, measures, timings.get(name)))
    return compared


def _aligned_maps(compared: list[ComparedModel], rows: np.ndarray) -> list[dict[str, Any]]:
    """Return two coordinates of each map, aligned to the first map."""
    target = _two_coordinates(compared[0].embedding)[rows]
    maps = []
    for one in compared:
        source = _two_coordinates(one.embedding)[rows]
        scale, rotation, shift, _ = similarity(source, target)
        drawn = source if one.new is None else np.concatenate([source, _two_coordinates(one.new)])
        aligned = scale * drawn @ rotation + shift
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
        columns += drawing.model_columns(one.model, one.m, f"{one.name}: ")
        for i, values in enumerate(one.embedding[:, :2].T):
            columns.append(drawing.column(f"{one.name}: coordinate {i + 1}", values, "model"))
    return columns


# --- conclusion ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ComparedModel:
    """One of the compared models."""

    name: str
    model: BaseEstimator
    embedding: np.ndarray
    new: np.ndarray | None  # coordinates of the new points
    m: Measures
    seconds: float | None

    @property
    def is_sound(self) -> bool:
        """Whether every coordinate describes more than a handful of points, and distances are comparable."""
        return not self.m.localized and self.m.reference_dominance is None

    @property
    def kept(self) -> Any:
        """Share of the nearest neighbours that are kept, an estimate; None if it is not measured."""
        return None if self.m.kept is None else self.m.kept.share

    @property
    def score(self) -> Any:
        """Mean of trustworthiness and continuity, and of the ends of their intervals; None if unknown."""
        trust, continuity = self.m.trust, self.m.continuity
        if trust is None or continuity is None:
            return None
        return Estimate(*((first + second) / 2 for first, second in zip(trust, continuity, strict=True)))

    @property
    def scores(self) -> str:
        """The measures of the neighbourhoods, for sentences."""
        return fill(TABLES["scores"], {"m": self.m})

    @property
    def moved(self) -> float:
        """Median movement; NaN if it is unknown."""
        median = None if self.m.movement is None else self.m.movement.median
        return float("nan") if median is None else median


def conclude(models: list[ComparedModel], points: Points) -> tuple[str, list[str]]:
    """Return which map to use for what, and sentences on which map preserves neighbourhoods best, and why.

    The best map keeps the most neighbours, and no other has a better mean of trustworthiness and continuity.
    A map with a coordinate that a handful of points determine is not ranked.
    """
    measured = [one for one in models if one.kept is not None and one.score is not None]
    ranked = sorted((one for one in measured if one.is_sound), key=lambda one: -one.kept.value)
    best = _best(ranked) if ranked else []
    reasons = {one.m.omitted.get("neighbours") for one in models}
    moved = [one for one in best if np.isfinite(one.moved)]
    timed = [one for one in best if one.seconds is not None]
    labelled = [one for one in ranked if one.m.purity is not None]
    names: dict[str, Any] = {
        "dominated": [one for one in models if one.m.dominance is not None],
        "reason": "; ".join(sorted(filter(None, reasons))) or "fewer than two maps were measured",
        "poor": bool(best) and neighborhood_grade(best[0].m) == "poor",
        "closest": max(ranked, key=attrgetter("score.value"), default=None),
        "lowest": min(ranked, key=attrgetter("score.value"), default=None),
        "stable": sorted(moved, key=attrgetter("moved", "name")),
        "timed": sorted(timed, key=attrgetter("seconds", "name")),
        "labelled": sorted(labelled, key=attrgetter("m.purity.value"), reverse=True),
    }
    names |= {"models": models, "measured": measured, "ranked": ranked, "best": best, "n": len(models)}
    names |= {"points": points, "limits": LIMITS, "few_points": few_points_sentences}
    lines = [line for line in fill(TABLES["conclusion"], names).splitlines() if line.strip()]
    return fill(TABLES["use"], names | {"uses": _uses(ranked)}).strip(), lines


def _uses(ranked: list[ComparedModel]) -> list[tuple[str, ComparedModel, str, bool]]:
    """Return the best map for each use, its evidence, and whether it is good enough.

    Of maps that hardly differ, the one that keeps more neighbours is the best.
    """
    found, cases = [], [Case(one.m) for one in ranked if one.m.curve is not None]
    for row in TABLES["uses"] if 1 < len(cases) == len(ranked) else ():
        values = np.array([evaluate(row["value"], case.names) for case in cases])
        best = int(np.argmax(values >= values.max() - LIMITS.least_kept))
        evidence = fill(row["evidence"], cases[best].names)
        found.append((row["what"], ranked[best], evidence, values[best] >= row["least"]))
    return found


def _best(ranked: list[ComparedModel]) -> list[ComparedModel]:
    """Return the maps that no other exceeds, neither in neighbours kept nor in the mean score."""
    most = max((one.kept for one in ranked), key=float)
    near = [one for one in ranked if indistinguishable(one.kept, most, LIMITS.least_kept)]
    highest = max((one.score for one in ranked), key=float)
    return [one for one in near if indistinguishable(one.score, highest)]


def indistinguishable(first: Estimate, second: Estimate, least: float = LIMITS.least_score) -> bool:
    """Return whether the intervals of two estimates overlap, or their difference is below ``least``."""
    overlap = first.low <= second.high and second.low <= first.high
    return overlap or abs(first.value - second.value) < least


# --- the table ----------------------------------------------------------------------------------------------


def measures_table(models: list[ComparedModel]) -> list[dict[str, Any]]:
    """Return title, values, format and best values of each measure that is known for a model."""
    columns = []
    for row in TABLES["comparison"]:
        write, best = FORMATS[row["format"]], None
        values = [evaluate(row["value"], {"one": one, "m": one.m}) for one in models]
        ranked = [row.get("cost") or one.is_sound for one in models]
        known = [value for value, may in zip(values, ranked, strict=True) if may and value is not None]
        if known and "best" in row:
            best = (max if row["best"] == "largest" else min)(known, key=float)
        bold = [may and _equals(value, best, write) for value, may in zip(values, ranked, strict=True)]
        if any(value is not None for value in values):
            columns.append({"title": row["title"], "cells": values, "write": write, "best": bold})
    return columns


def _equals(value: Any, best: Any, write: Callable[[float], str]) -> bool:
    """Return whether a value does not differ from the best: its interval overlaps, or it reads the same."""
    if value is None or best is None:
        return False
    return indistinguishable(value, best) if isinstance(value, Estimate) else write(value) == write(best)
