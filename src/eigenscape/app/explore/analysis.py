"""Answers about the points of maps: neighbours, differences of maps, spectra, selections.

They are handlers of requests, as in :mod:`eigenscape.app.explore.answers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenscape.app.errors import CommandError
from eigenscape.app.explore.data import Dataset, moments
from eigenscape.app.explore.maps import ExploredMap
from eigenscape.app.explore.requests import MaskBody, PointBody, parse_index, parse_mask, parse_rows
from eigenscape.app.explore.session import Session
from eigenscape.app.explore.tuning import TUNING
from eigenscape.quality import procrustes


def missing_neighbors(session: Session, entry: ExploredMap, row: int) -> dict[str, np.ndarray]:
    """Return the neighbours in the data that are not near on the map, and the reverse, nearest first."""
    plane = entry.coordinates[:, :2]
    near = _nearest(session.distances.from_row(row, entry.scaler), row)
    shown = _nearest(np.linalg.norm(plane - plane[row], axis=1), row)
    return {"missing": near[~np.isin(near, shown)], "false": shown[~np.isin(shown, near)]}


def _nearest(lengths: np.ndarray, row: int) -> np.ndarray:
    lengths[row] = np.inf
    k = min(TUNING.n_neighbors, len(lengths) - 1)
    found = np.argpartition(lengths, k - 1)[:k]
    return found[np.argsort(lengths[found], kind="stable")]


def compare_maps(session: Session, entry: ExploredMap, other: str, axes: str = "0,1") -> np.ndarray:
    """Return two coordinates of another map aligned to a map, and the movement (n, 3).

    The other map is drawn along the same axes, or along its first two if it has fewer. The movement
    is relative to the spread of the map.
    """
    second = session.find_map(other)
    chosen = [0, 1] if axes == "0,1" else parse_rows(axes, entry.n_components, 2)
    if len(chosen) != 2:
        raise CommandError(f"axes must be two coordinates, such as 0,1, got {axes!r}")
    target = _plane(entry.coordinates, chosen)
    source = _plane(second.coordinates, chosen if max(chosen) < second.n_components else [0, 1])
    if not (np.isfinite(target).all() and np.isfinite(source).all()):
        raise CommandError("maps with points that have no finite coordinates cannot be compared")
    aligned = procrustes(source, target).aligned
    spread = float(np.sqrt(np.square(target - target.mean(axis=0)).sum(axis=1).mean())) or 1.0
    moved = np.linalg.norm(aligned - target, axis=1) / spread
    return np.column_stack([aligned, moved]).astype("<f4")


def _plane(coordinates: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    plane = coordinates[:, [axis for axis in axes if axis < coordinates.shape[1]]]
    return plane if plane.shape[1] == 2 else np.column_stack([plane, np.zeros(len(plane))])


def describe_spectrum(_: Session, entry: ExploredMap) -> dict[str, Any]:
    """Return eigenvalues with their gaps, residuals and losses."""
    values, losses = entry.spectrum.get("eigenvalues"), entry.measures.get("losses")
    return {
        **entry.spectrum,
        **(losses or {"held_out_reason": "the losses are being computed"}),
        "gaps": None if values is None else np.abs(np.diff(values)),
    }


def eigenfunction_grid(session: Session, entry: ExploredMap, component: str) -> dict[str, Any]:
    """Return a coordinate of the map as a function of the plane of two-dimensional data."""
    data, index = session.data, parse_index(component, entry.n_components, "component")
    if data.d != 2:
        raise CommandError(f"eigenfunctions are shaded for data of two columns only, these have {data.d}")
    if entry.transform_reason is not None:
        raise CommandError(f"the eigenfunction cannot be evaluated: {entry.transform_reason}")
    low, high = np.nanmin(data.take(slice(None)), axis=0), np.nanmax(data.take(slice(None)), axis=0)
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    x, y = np.linspace(low - margin, high + margin, TUNING.grid).T
    points = np.stack(np.meshgrid(x, y), axis=2).reshape(-1, 2)  # rows of the grid from y[0] upwards
    values = np.asarray(entry.model.transform(points), dtype=np.float64)[:, index]
    return {"nx": len(x), "ny": len(y), "extent": [x[0], x[-1], y[0], y[-1]], "values": values}


def invert(session: Session, entry: ExploredMap, body: PointBody) -> dict[str, Any]:
    """Return the row at a point of a map, or the reason why it is refused."""
    data, point = session.data, body.point
    components = body.components or list(range(min(2, entry.n_components)))
    if len(set(components)) != len(components) or not set(components) <= set(range(entry.n_components)):
        raise CommandError(
            f"components must be different integers from 0 to {entry.n_components - 1}, got {components[:9]}"
        )
    if len(point) != len(components):
        raise CommandError(f"point must have {len(components)} finite numbers, got {len(point)}")
    if entry.inverse_reason is not None:
        return {"refused": entry.inverse_reason}
    tree, limit = entry.plane(tuple(components))
    distance, row = tree.query(point)
    found: dict[str, Any] = {"nearest": row, "distance": distance}
    if distance > limit:
        reason = f"the nearest point is {distance:.3g} away, and the inverse is shown up to {limit:.3g}"
        return {**found, "refused": f"no data are near: {reason}"}
    full = entry.coordinates[row].copy()
    full[components] = point
    values = np.asarray(entry.estimator.inverse_transform(full[None, :]), dtype=np.float64)
    values = (values if entry.scaler is None else entry.scaler.inverse_transform(values))[0]
    is_image = data.image_shape is not None
    return {
        **found,
        "image": data.to_pixels(values) if is_image else None,
        "columns": [] if is_image else _profile(values, data),
        "error": entry.measures.get("inverse_error"),
    }


def _profile(values: np.ndarray, data: Dataset) -> list[dict[str, Any]]:
    """Return a row and the mean, the largest standardised deviations first if there are many columns."""
    mean, deviation = data.moments
    shown = np.arange(len(values))
    if len(values) > TUNING.max_shown:
        scaled = np.abs(values - mean) / np.where(deviation > 0, deviation, 1.0)
        shown = np.argsort(-scaled, kind="stable")[: TUNING.max_shown]
    return [
        {"name": data.names[j], "value": values[j], "mean": mean[j], "deviation": deviation[j]} for j in shown
    ]


def explain_selection(session: Session, body: MaskBody) -> dict[str, Any]:
    """Return the columns and labels that set the selected rows apart from the others."""
    data = session.data
    mask = parse_mask(body.mask, data.n)
    empty: dict[str, Any] = {"columns": [], "labels": [], "image_mean": None, "image_difference": None}
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
        for code in map(int, np.flatnonzero(inside)):
            ratio = inside[code] / outside[code] if outside[code] else None
            shares = {"inside": inside[code], "outside": outside[code], "ratio": ratio}
            found.append({"name": column.name, "label": column.categories[code], **shares})
    return sorted(found, key=lambda one: -(one["inside"] - one["outside"]))[: TUNING.explained]
