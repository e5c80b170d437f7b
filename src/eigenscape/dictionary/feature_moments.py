"""Moments of the coordinates of all points in a span, from which the eigenfunctions are computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from eigenscape.dictionary.span import Span, SpanProjection


@dataclass(frozen=True, eq=False)
class FeatureMoments:
    """Weighted sums ``sum w``, ``sum w (z - o)`` and ``sum w (z - o)(z - o)'`` about an origin ``o``.

    The origin is near the mean, so that little precision is lost by cancellation. Statistics of the
    projection errors ``delta`` (Ouimet eq. 8) are accumulated as well.
    """

    _shapes: ClassVar = {"origin": "m", "first": "m", "second": "m m"}
    origin: np.ndarray  # (m,)
    first: np.ndarray  # (m,)
    second: np.ndarray  # (m, m)
    count: int = 0
    weight: float = 0.0
    max_error: float = 0.0  # largest delta
    sum_root_errors: float = 0.0  # sum of sqrt(delta)
    max_squared_norm: float = 0.0  # largest squared norm of a point in feature space
    n_isolated: int = 0  # points whose average similarity is not positive; their weight is 0
    min_average: float = np.inf  # smallest average similarity

    @staticmethod
    def about(origin: np.ndarray) -> FeatureMoments:
        """Return the moments of no points about an origin (m,)."""
        return FeatureMoments(origin, np.zeros(len(origin)), np.zeros((len(origin), len(origin))))

    def add(self, projection: SpanProjection, averages: np.ndarray | None = None) -> FeatureMoments:
        """Add a block of points with weights ``1 / averages`` (None: 1). Overwrites ``projection.Z``."""
        Z = projection.Z
        Z -= self.origin
        weights, n_isolated, min_average = None, 0, np.inf
        if averages is not None:
            positive = averages > 0
            weights = np.divide(1.0, averages, out=np.zeros_like(averages), where=positive)
            n_isolated = int(len(positive) - positive.sum())
            min_average = float(averages.min(initial=np.inf))
        total = float(len(Z)) if weights is None else float(weights.sum())
        first = Z.sum(axis=0) if weights is None else weights @ Z
        if weights is not None:
            Z *= np.sqrt(weights)[:, None]
        part = FeatureMoments(
            self.origin,
            first,
            Z.T @ Z,
            len(Z),
            total,
            max_error=float(projection.error.max(initial=0.0)),
            sum_root_errors=float(np.sqrt(projection.error).sum()),
            max_squared_norm=float(projection.squared_norm.max(initial=0.0)),
            n_isolated=n_isolated,
            min_average=min_average,
        )
        return self.merge(part)

    def merge(self, other: FeatureMoments) -> FeatureMoments:
        """Return the moments of the points of both, which must have the same origin."""
        return FeatureMoments(
            self.origin,
            self.first + other.first,
            self.second + other.second,
            self.count + other.count,
            self.weight + other.weight,
            max(self.max_error, other.max_error),
            self.sum_root_errors + other.sum_root_errors,
            max(self.max_squared_norm, other.max_squared_norm),
            self.n_isolated + other.n_isolated,
            min(self.min_average, other.min_average),
        )

    def pad(self, size: int) -> FeatureMoments:
        """Extend to a dictionary of ``size`` members; the new coordinates of earlier points count as 0."""
        origin, first, second = (
            np.pad(each, (0, size - len(self.origin))) for each in (self.origin, self.first, self.second)
        )
        return replace(self, origin=origin, first=first, second=second)

    def mean(self, span: Span) -> np.ndarray:
        """Return the mean feature ``E[p]``, (m,) (Ouimet prop. 2)."""
        return span.features((self.origin + self.first / self.weight)[None])[0]

    def second_moment(self, center: np.ndarray, span: Span) -> np.ndarray:
        """Return ``sum w (p - c)(p - c)'``, (m, m)."""
        mean = self.origin + self.first / self.weight
        inner = self.second - np.outer(self.first, self.first) / self.weight  # about the mean of z
        normal = span.normal
        inner -= np.outer(normal, normal @ inner)  # p = z - (u . z) u + const
        inner -= np.outer(inner @ normal, normal)
        offset = span.features(mean[None])[0] - center
        return inner + self.weight * np.outer(offset, offset)
