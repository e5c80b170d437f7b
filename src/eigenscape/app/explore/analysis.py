"""Answers about the points of maps: neighbours, distances, differences of maps, spectra, selections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenscape._typing import is_sparse
from eigenscape.app.errors import CommandError
from eigenscape.app.explore.data import Dataset
from eigenscape.app.explore.distances import Distances, row_blocks
from eigenscape.app.explore.maps import ExploredMap
from eigenscape.app.explore.tuning import TUNING
from eigenscape.quality import procrustes


def distances_from(data: Dataset, distances: Distances, row: int, scaler: Any = None) -> np.ndarray:
    """Return the distances in the data from a row, exactly zero for itself."""
    found = distances.between(data.rows(np.array([row]), filled=True), scaler)[0]
    found[row] = 0.0
    return found


def missing_neighbors(
    entry: ExploredMap, data: Dataset, distances: Distances, row: int
) -> dict[str, list[int]]:
    """Return the neighbours in the data that are not near on the map, and the reverse."""
    k = max(1, min(TUNING.n_neighbors, data.n - 1))
    from_row = distances_from(data, distances, row, entry.scaler)
    plane = entry.coordinates[:, :2]
    near, shown = _nearest(from_row, row, k), _nearest(np.linalg.norm(plane - plane[row], axis=1), row, k)
    return {
        "missing": [one for one in near if one not in set(shown)],
        "false": [one for one in shown if one not in set(near)],
    }


def _nearest(lengths: np.ndarray, row: int, k: int) -> list[int]:
    lengths = lengths.copy()
    lengths[row] = np.inf
    found = np.argpartition(lengths, k - 1)[:k] if k < len(lengths) else np.arange(len(lengths))
    return [int(one) for one in found[np.argsort(lengths[found], kind="stable")] if one != row]


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
    values = entry.spectrum.get("eigenvalues")
    losses = entry.measures.get("losses")
    known = losses or {"reason": "the losses are being computed"}
    return {
        "eigenvalues": values,
        "residuals": entry.spectrum.get("residuals"),
        "gaps": None if values is None else np.abs(np.diff(np.asarray(values, dtype=np.float64))),
        "further_eigenvalues": known.get("eigenvalues"),
        "loss_training": known.get("training"),
        "loss_held_out": known.get("held_out"),
        "held_out_reason": known.get("reason"),
        "loss_text": known.get("text"),
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
    n_inside, n_outside = int(mask.sum()), int((~mask).sum())
    result: dict[str, Any] = {
        "n": n_inside,
        "columns": [],
        "labels": [],
        "image_mean": None,
        "image_difference": None,
    }
    if n_outside == 0:
        return result
    inside, outside = _moments(data.X, mask), _moments(data.X, ~mask)
    if data.image_shape is not None:
        result["image_mean"] = data.to_pixels(inside[0])
        low, high = data.image_range
        difference = 255 * (inside[0] - outside[0]) / (high - low)
        result["image_difference"] = np.rint(np.clip(difference, -255, 255)).astype(int)
    names = list(data.names)
    means, variances, counts = (list(map(np.asarray, pair)) for pair in zip(inside, outside, strict=True))
    for column in data.columns:
        if column.kind == "number" and column.values is not None:
            parts = [column.values[rows] for rows in (mask, ~mask)]
            parts = [part[np.isfinite(part)] for part in parts]
            if min(map(len, parts)) > 0:
                names.append(column.name)
                for i, part in enumerate(parts):
                    means[i] = np.append(means[i], part.mean())
                    variances[i] = np.append(variances[i], part.var())
                    counts[i] = np.append(counts[i], len(part))
    result["columns"] = _effects(names, means, variances, counts)
    result["labels"] = _enrichment(data, mask)
    return result


def _moments(X: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, variance and number of the known values of each column in some rows."""
    which = np.flatnonzero(rows)
    if is_sparse(X):
        part = X[which].astype(np.float64)
        mean = np.asarray(part.mean(axis=0)).ravel()
        square = np.asarray(part.multiply(part).mean(axis=0)).ravel()
        return mean, np.maximum(square - mean**2, 0.0), np.full(X.shape[1], len(which))
    total, count = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    blocks = row_blocks(len(which), X.shape[1])
    for block in blocks:
        values = np.asarray(X[which[block]], dtype=np.float64)
        total += np.nansum(values, axis=0)
        count += np.isfinite(values).sum(axis=0)
    mean = total / np.maximum(count, 1)
    squares = np.zeros(X.shape[1])
    for block in blocks:
        squares += np.nansum(np.square(np.asarray(X[which[block]], dtype=np.float64) - mean), axis=0)
    return mean, squares / np.maximum(count, 1), count


def _effects(
    names: list[str], means: list[np.ndarray], variances: list[np.ndarray], counts: list[np.ndarray]
) -> list[dict[str, Any]]:
    """Return standardised mean differences (Cohen's d) with 95 % intervals, the largest first."""
    (m1, m2), (v1, v2), (n1, n2) = means, variances, counts
    freedom = np.maximum(n1 + n2 - 2, 1)
    pooled = np.sqrt((n1 * v1 + n2 * v2) / freedom)
    scale = np.maximum(np.abs(m1), np.abs(m2))
    usable = (pooled > 1e-12 * scale) & (pooled > 0) & (n1 > 0) & (n2 > 0)
    effect = np.where(usable, (m1 - m2) / np.where(usable, pooled, 1.0), 0.0)
    with np.errstate(divide="ignore"):
        variance = 1 / n1 + 1 / n2 + np.square(effect) / (2 * (n1 + n2))  # Hedges and Olkin 1985
    half = TUNING.normal * np.sqrt(variance)
    order = [int(j) for j in np.argsort(-np.abs(effect), kind="stable") if usable[j]]
    return [
        {
            "name": names[j],
            "inside": float(m1[j]),
            "outside": float(m2[j]),
            "effect": float(effect[j]),
            "low": float(effect[j] - half[j]),
            "high": float(effect[j] + half[j]),
        }
        for j in order[: TUNING.explained]
    ]


def _enrichment(data: Dataset, mask: np.ndarray) -> list[dict[str, Any]]:
    """Return the shares of each label inside and outside, the most enriched first."""
    found: list[dict[str, Any]] = []
    for column in data.columns:
        if column.kind != "category" or column.values is None:
            continue
        width = len(column.categories)
        counts = [
            np.bincount(codes[codes < width], minlength=width)
            for codes in (column.values[mask], column.values[~mask])
        ]
        totals = [max(1, int(count.sum())) for count in counts]
        for code, label in enumerate(column.categories):
            inside, outside = (int(count[code]) / total for count, total in zip(counts, totals, strict=True))
            if inside > 0:
                ratio = inside / outside if outside > 0 else None
                found.append(
                    {
                        "name": column.name,
                        "label": label,
                        "inside": inside,
                        "outside": outside,
                        "ratio": ratio,
                    }
                )
    return sorted(found, key=lambda one: -(one["inside"] - one["outside"]))[: TUNING.explained]
