"""Reduction of a dictionary to a given size, with the moments of points projected on it.

Let ``c`` be the projection of a point ``phi`` on the span of all members, and ``P c`` the projection of ``c``
on the span of the members that are kept (on their affine hull, if weights sum to one). The residual ``phi -
c`` is orthogonal to ``c - P c``, so that squared errors add (Pythagoras): ``|phi - P c|^2 = |phi - c|^2 + |c
- P c|^2``.

An earlier point was projected on the members of its time, and its residual is not orthogonal to the members
added since. For the sums ``E`` of ``|phi - c|^2`` and ``D`` of ``|c - P c|^2`` over earlier points the new
error is at most ``(sqrt(E) + sqrt(D))^2 = E + D + 2 sqrt(E D)`` (Minkowski). ``D`` follows from the moments.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import qr

from eigenscape.dictionary.feature_moments import FeatureMoments
from eigenscape.dictionary.selection import Dictionary
from eigenscape.dictionary.span import MAX_ROUNDING, Span, SpanProjection


def on_hull(span: Span, projection: SpanProjection) -> SpanProjection:
    """Return the projection with the coordinates of the nearest points of the affine hull (Ouimet eq. 7).

    These stay the same when members are added, as the coordinates in a linear span do. Without
    ``sum_to_one`` the projection is returned as it is.
    """
    if not span.sum_to_one:
        return projection
    ones = span.ones
    offsets = (1.0 - projection.Z @ ones) / (ones @ ones)
    return replace(projection, Z=projection.Z + np.outer(offsets, ones))


def moments_on_hull(span: Span, moments: FeatureMoments) -> FeatureMoments:
    """Return the moments of the points of the affine hull nearest to those with the given moments."""
    return _transformed(moments, *_onto_hull(span))


def _onto_hull(span: Span) -> tuple[np.ndarray, np.ndarray]:
    """Return ``A`` and ``t`` of the projection ``A z + t`` on the hull (``z`` without ``sum_to_one``)."""
    matrix = np.eye(span.size) - np.outer(span.normal, span.normal)
    return matrix, span.normal / np.linalg.norm(span.ones)


def reduce_dictionary(
    dictionary: Dictionary, moments: FeatureMoments, size: int, earlier: FeatureMoments
) -> tuple[Dictionary, FeatureMoments, float, float]:
    """Keep ``size`` members, chosen greedily so that the projected points move little.

    ``moments`` are moments of points of the span (of the affine hull, if weights sum to one), ``earlier`` of
    some of the points. Returns the smaller dictionary, the moments of the points projected on it, and the
    sums ``D`` of the squared distances ``|c - P c|^2`` for all and for the earlier points. Time is O(m^2
    size) for ``m`` members.
    """
    span = dictionary.span
    kept = choose_members(span, moments, size)
    basis, factor = qr(span.factor[kept].T, mode="economic")  # (m, k) and L' of the kept members
    signs = np.where(np.diagonal(factor) < 0, -1.0, 1.0)
    basis, factor = basis * signs, np.asfortranarray((factor * signs[:, None]).T)
    smaller = replace(span, factor=factor, members=span.members[kept])
    matrix, offset = _onto_hull(smaller)
    matrix = matrix @ basis.T
    rest = np.eye(span.size) - basis @ matrix  # the distance c - P c = rest c - V t
    moved, moved_earlier = (
        _sum_of_squares(part, rest, basis @ offset) if part.count else 0.0 for part in (moments, earlier)
    )
    reduced = replace(dictionary, span=smaller, indices=dictionary.indices[kept])
    return reduced, _transformed(moments, matrix, offset), moved, moved_earlier


def _transformed(moments: FeatureMoments, matrix: np.ndarray, offset: np.ndarray) -> FeatureMoments:
    """Return the moments of ``A c + t``."""
    return replace(
        moments,
        origin=matrix @ moments.origin + offset,
        first=matrix @ moments.first,
        second=matrix @ moments.second @ matrix.T,
    )


def _sum_of_squares(moments: FeatureMoments, matrix: np.ndarray, offset: np.ndarray) -> float:
    """Return ``sum |A c - t|^2``."""
    mean = moments.first / moments.weight
    centered = moments.second - moments.weight * np.outer(mean, mean)
    shift = matrix @ (moments.origin + mean) - offset
    return max(float(moments.weight * (shift @ shift) + np.sum(matrix * (matrix @ centered))), 0.0)


def choose_members(span: Span, moments: FeatureMoments, size: int) -> np.ndarray:
    """Return the sorted positions of the ``size`` members to keep.

    They are fewer if the others depend on them to rounding. Each step adds the member with the largest
    ``v' M v``, where ``v`` is the unit vector it adds to the span of those chosen before and ``M`` the second
    moment of the points. If weights sum to one, the first member is the one nearest to the mean of the
    points, and directions and moments are about it.
    """
    members = span.factor  # coordinates of the members, (m, m)
    chosen: list[int] = []
    if span.sum_to_one:
        mean = moments.origin + moments.first / moments.weight
        chosen = [int(np.argmin(np.square(members - mean).sum(axis=1)))]
    base = members[chosen[0]] if chosen else np.zeros(span.size)
    directions, moment = members - base, _moment_about(moments, base)
    images = directions @ moment  # (m, m)
    norms = np.einsum("ij,ij->i", directions, directions)
    gains = np.einsum("ij,ij->i", images, directions)
    smallest = MAX_ROUNDING * norms
    basis, parts = np.empty((size, span.size)), np.empty((span.size, size))
    free = np.ones(span.size, dtype=bool)
    free[chosen] = False
    for step in range(size - len(chosen)):
        ratios = np.where(free & (norms > smallest), gains / np.maximum(norms, np.finfo(float).tiny), -np.inf)
        best = int(np.argmax(ratios))
        if ratios[best] == -np.inf:
            break
        v = directions[best] - parts[best, :step] @ basis[:step]
        v -= (basis[:step] @ v) @ basis[:step]  # once more, against rounding
        v /= np.linalg.norm(v)
        along, image = directions @ v, moment @ v
        products = images @ v - parts[:, :step] @ (basis[:step] @ image)  # e_i' M v
        norms -= along**2
        gains += along * (along * float(v @ image) - 2 * products)
        basis[step], parts[:, step], free[best] = v, along, False
        chosen.append(best)
    return np.sort(np.array(chosen))


def _moment_about(moments: FeatureMoments, base: np.ndarray) -> np.ndarray:
    """Return ``sum (c - b)(c - b)'``, (m, m)."""
    offset = moments.origin - base
    cross = np.outer(moments.first, offset)
    return moments.second + cross + cross.T + moments.weight * np.outer(offset, offset)
