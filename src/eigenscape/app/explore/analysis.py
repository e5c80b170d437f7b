"""Answers about the points of maps: neighbours, distances, differences of maps, spectra, selections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenscape.app.errors import CommandError
from eigenscape.app.explore.data import Dataset, Distances, moments
from eigenscape.app.explore.maps import ExploredMap
from eigenscape.app.explore.tuning import TUNING
from eigenscape.quality import procrustes


def missing_neighbors(entry: ExploredMap, distances: Distances, row: int) -> dict[str, np.ndarray]:
    """Return the neighbours in the data that are not near on the map, and the reverse, nearest first."""
    plane = entry.coordinates[:, :2]
    near = _nearest(distances.from_row(row, entry.scaler), row)
    shown = _nearest(np.linalg.norm(plane - plane[row], axis=1), row)
    return {"missing": near[~np.isin(near, shown)], "false": shown[~np.isin(shown, near)]}


def _nearest(lengths: np.ndarray, row: int) -> np.ndarray:
    lengths[row] = np.inf
    k = min(TUNING.n_neighbors, len(lengths) - 1)
    found = np.argpartition(lengths, k - 1)[:k]
    return found[np.argsort(lengths[found], kind="stable")]


def compare_maps(first: ExploredMap, second: ExploredMap, axes: Sequence[int] = (0, 1)) -> np.ndarray:
    """Return two coordinates of the second map aligned to the first map, and the movement (n, 3).

    The second map is drawn along the same axes, or along its first two if it has fewer. The movement
    is relative to the spread of the first map.
    """
    target = _plane(first.coordinates, axes)
    source = _plane(second.coordinates, axes if max(axes) < second.n_components else (0, 1))
    if not (np.isfinite(target).all() and np.isfinite(source).all()):
        raise CommandError("maps with points that have no finite coordinates cannot be compared")
    aligned = procrustes(source, target).aligned
    spread = float(np.sqrt(np.square(target - target.mean(axis=0)).sum(axis=1).mean())) or 1.0
    moved = np.linalg.norm(aligned - target, axis=1) / spread
    return np.column_stack([aligned, moved]).astype("<f4")


def _plane(coordinates: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    plane = coordinates[:, [axis for axis in axes if axis < coordinates.shape[1]]]
    return plane if plane.shape[1] == 2 else np.column_stack([plane, np.zeros(len(plane))])


def describe_spectrum(entry: ExploredMap) -> dict[str, Any]:
    """Return eigenvalues with their gaps, residuals and losses."""
    values, losses = entry.spectrum.get("eigenvalues"), entry.measures.get("losses")
    return {
        **entry.spectrum,
        **(losses or {"held_out_reason": "the losses are being computed"}),
        "gaps": None if values is None else np.abs(np.diff(values)),
        "pending": losses is None,
    }


def eigenfunction_grid(entry: ExploredMap, data: Dataset, component: int) -> dict[str, Any]:
    """Return a coordinate of the map as a function of the plane of two-dimensional data."""
    if data.d != 2:
        raise CommandError(f"eigenfunctions are shaded for data of two columns only, these have {data.d}")
    if entry.transform_reason is not None:
        raise CommandError(f"the eigenfunction cannot be evaluated: {entry.transform_reason}")
    low, high = np.nanmin(data.rows(slice(None)), axis=0), np.nanmax(data.rows(slice(None)), axis=0)
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    x, y = (np.linspace(low[i] - margin[i], high[i] + margin[i], TUNING.grid) for i in range(2))
    # rows of the grid from y[0] upwards
    points = np.column_stack([np.tile(x, TUNING.grid), np.repeat(y, TUNING.grid)])
    values = np.asarray(entry.model.transform(points), dtype=np.float64)[:, component]
    extent = [x[0], x[-1], y[0], y[-1]]
    return {"nx": TUNING.grid, "ny": TUNING.grid, "extent": extent, "values": values}


def explain_selection(data: Dataset, mask: np.ndarray) -> dict[str, Any]:
    """Return the columns and labels that set the selected rows apart from the others."""
    empty = {"columns": [], "labels": [], "image_mean": None, "image_difference": None}
    result: dict[str, Any] = {"n": int(mask.sum()), **empty}
    if mask.all():
        return result
    further = [column for column in data.columns if column.kind == "number"]
    parts = [data.X, *(column.values[:, None] for column in further)]
    inside, outside = (
        np.concatenate([moments(part, np.flatnonzero(rows)) for part in parts], axis=1)
        for rows in (mask, ~mask)
    )
    if data.image_shape is not None:
        low, high = data.image_range
        difference = 255 * (inside[0] - outside[0])[: data.d] / (high - low)
        result["image_mean"] = data.to_pixels(inside[0][: data.d])
        result["image_difference"] = np.rint(np.clip(difference, -255, 255)).astype(int)
    result["columns"] = _effects([*data.names, *(column.name for column in further)], inside, outside)
    result["labels"] = _enrichment(data, mask)
    return result


def _effects(names: list[str], inside: np.ndarray, outside: np.ndarray) -> list[dict[str, Any]]:
    """Return standardised mean differences (Cohen's d) with 95 % intervals, the largest first.

    ``inside`` and ``outside`` are means, variances and numbers of values of each column.
    """
    (m1, v1, n1), (m2, v2, n2) = inside, outside
    freedom = np.maximum(n1 + n2 - 2, 1)
    pooled = np.sqrt((n1 * v1 + n2 * v2) / freedom)
    scale = np.maximum(np.abs(m1), np.abs(m2))
    usable = (pooled > 1e-12 * scale) & (pooled > 0) & (n1 > 0) & (n2 > 0)
    effect = np.where(usable, (m1 - m2) / np.where(usable, pooled, 1.0), 0.0)
    with np.errstate(divide="ignore"):
        variance = 1 / n1 + 1 / n2 + np.square(effect) / (2 * (n1 + n2))  # Hedges and Olkin 1985
    half = TUNING.normal * np.sqrt(variance)
    order = [int(j) for j in np.argsort(-np.abs(effect), kind="stable") if usable[j]]
    keys = ("name", "inside", "outside", "effect", "low", "high")
    values = (names, m1, m2, effect, effect - half, effect + half)
    return [{key: each[j] for key, each in zip(keys, values, strict=True)} for j in order[: TUNING.explained]]


def _enrichment(data: Dataset, mask: np.ndarray) -> list[dict[str, Any]]:
    """Return the shares of each label inside and outside, the most enriched first."""
    found: list[dict[str, Any]] = []
    for column in data.columns:
        if column.kind == "number":
            continue
        width = len(column.categories)
        counts = [
            np.bincount(codes[codes < width], minlength=width)
            for codes in (column.values[mask], column.values[~mask])
        ]
        inside, outside = (count / max(1, count.sum()) for count in counts)
        for code in np.flatnonzero(inside):
            ratio = inside[code] / outside[code] if outside[code] else None
            shares = {"inside": inside[code], "outside": outside[code], "ratio": ratio}
            found.append({"name": column.name, "label": column.categories[code], **shares})
    return sorted(found, key=lambda one: -(one["inside"] - one["outside"]))[: TUNING.explained]
