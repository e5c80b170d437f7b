"""Sentences on coordinates that a handful of points determine, for reports and for the command line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenscape._roles import missing_labels
from eigenscape.app.report._columns import shorten
from eigenscape.app.report._formatting import format_count, format_percent
from eigenscape.app.report._tuning import TUNING
from eigenscape.quality import LocalizedCoordinate


def few_points_sentences(
    localized: Sequence[LocalizedCoordinate], n: int, ids: np.ndarray | None, labels: np.ndarray | None
) -> list[str]:
    """Return a sentence for each set of points that carries coordinates of a map of ``n`` points."""
    groups: dict[tuple[int, ...], list[LocalizedCoordinate]] = {}
    for found in localized:
        groups.setdefault(tuple(sorted(found.points.tolist())), []).append(found)
    return [_sentence(group, n, ids, labels) for group in groups.values()]


def carried_coordinates(localized: Sequence[LocalizedCoordinate]) -> str:
    """Return "coordinate 1" or "coordinates 1 and 3" of the coordinates that few points carry."""
    numbers = [str(found.coordinate + 1) for found in localized]
    if len(numbers) == 1:
        return f"coordinate {numbers[0]}"
    return f"coordinates {', '.join(numbers[:-1])} and {numbers[-1]}"


def point_name(index: int, ids: np.ndarray | None) -> str:
    """Return the id of a point, or the number of its row, counted from 1."""
    return shorten(ids[index]) if ids is not None else f"row {index + 1}"


def _sentence(
    group: list[LocalizedCoordinate], n: int, ids: np.ndarray | None, labels: np.ndarray | None
) -> str:
    points, many = group[0].points, len(group) > 1
    subject = carried_coordinates(group).capitalize()
    count = len(points)
    noun = "1 point" if count == 1 else f"{format_count(count)} points"
    verb, its = ("are", "their") if many else ("is", "its")
    share = format_percent(min(found.share for found in group))
    who = f"{_named(points, ids)}{_label(points, labels)}"
    spread = max(found.spread for found in group)
    if spread <= TUNING.almost_equal:
        others = f"all other points are almost equal in {'them' if many else 'it'}"
    else:
        extent = "at most " if many else ""
        others = (
            f"the standard deviation of all other points is {extent}{format_percent(spread)} of {its} range"
        )
    return (
        f"{subject} {verb} carried by {noun} of {format_count(n)} ({who}):"
        f" {'it has' if count == 1 else 'they have'} {'at least ' if many else ''}{share} of {its} variance,"
        f" and {others}."
    )


def _named(points: np.ndarray, ids: np.ndarray | None) -> str:
    named = ", ".join(point_name(int(i), ids) for i in points[: TUNING.named])
    more = len(points) - TUNING.named
    return named if more <= 0 else f"{named} and {format_count(more)} more"


def _label(points: np.ndarray, labels: np.ndarray | None) -> str:
    """Return the label that all points share, if they do."""
    if labels is None or missing_labels(labels[points]).any():
        return ""
    shared = {str(label) for label in labels[points]}
    if len(shared) > 1:
        return ""
    return f"; {'all ' if len(points) > 1 else ''}labelled “{shorten(shared.pop())}”"
