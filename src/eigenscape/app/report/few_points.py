"""Sentences on coordinates that a handful of points determine, for reports and for the command line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenscape._roles import missing_labels
from eigenscape.app.report._texts import LIMITS, TABLES, fill, shorten
from eigenscape.quality import LocalizedCoordinate


def few_points_sentences(
    localized: Sequence[LocalizedCoordinate], n: int, ids: np.ndarray | None, labels: np.ndarray | None
) -> list[str]:
    """Return a sentence for each set of points that carries coordinates of a map of ``n`` points."""
    groups: dict[tuple[int, ...], list[LocalizedCoordinate]] = {}
    for found in localized:
        groups.setdefault(tuple(sorted(found.points.tolist())), []).append(found)
    return [_sentence(group, n, ids, labels) for group in groups.values()]


def point_name(index: int, ids: np.ndarray | None) -> str:
    """Return the id of a point, or the number of its row, counted from 1."""
    return shorten(ids[index]) if ids is not None else f"row {index + 1}"


def _sentence(
    group: list[LocalizedCoordinate], n: int, ids: np.ndarray | None, labels: np.ndarray | None
) -> str:
    points = group[0].points
    who = ", ".join(point_name(int(i), ids) for i in points[: LIMITS.named])
    names = {"group": group, "n": n, "count": len(points), "who": who, "label": _label(points, labels)}
    return fill(TABLES["few_points"], {**names, "limits": LIMITS})


def _label(points: np.ndarray, labels: np.ndarray | None) -> str:
    """Return the label that all points share, if they do."""
    if labels is None or missing_labels(labels[points]).any():
        return ""
    shared = {str(label) for label in labels[points]}
    return shorten(shared.pop()) if len(shared) == 1 else ""
