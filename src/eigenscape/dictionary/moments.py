"""Sums over all points of their coordinates in a span: what the eigenfunctions of a low-rank kernel are made
from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenscape.dictionary.span import Projected, Span


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted sums ``sum w``, ``sum w (z - o)`` and ``sum w (z - o)(z - o)'``, about an origin ``o`` near
    the mean.

    Also how far the points are from the span: the largest error and the mean of its roots.
    """

    origin: np.ndarray  # (m,)
    count: int = 0
    mass: float = 0.0
    first: np.ndarray | None = None  # (m,)
    second: np.ndarray | None = None  # (m, m)
    worst_error: float = 0.0
    root_errors: float = 0.0  # sum of sqrt(delta)
    longest: float = 0.0  # largest squared length of a point in feature space
    lost: int = 0  # points whose average similarity came out zero or less: they have no weight
    least: float = np.inf  # the lowest of these averages

    @classmethod
    def about_mean_of(cls, Z: np.ndarray) -> Moments:
        """No points yet; the origin is the mean of some of those to come, so that a large common part costs
        no digits."""
        return cls(Z.mean(axis=0))

    @property
    def size(self) -> int:
        return len(self.origin)

    def add(self, seen: Projected, averages: np.ndarray | None = None) -> Moments:
        """With the points of one more block, weighted by one over their ``averages``. The coordinates are
        used up."""
        Z = seen.Z
        Z -= self.origin
        weights, lost, least = None, 0, np.inf
        if averages is not None:
            placed = averages > 0
            weights = np.divide(1.0, averages, out=np.zeros_like(averages), where=placed)
            lost, least = int(len(placed) - placed.sum()), float(averages.min(initial=np.inf))
        part = replace(
            Moments(self.origin),
            count=len(Z),
            mass=float(len(Z)) if weights is None else float(weights.sum()),
            first=Z.sum(axis=0) if weights is None else weights @ Z,
            worst_error=float(seen.error.max(initial=0.0)),
            root_errors=float(np.sqrt(seen.error).sum()),
            longest=float(seen.length.max(initial=0.0)),
            lost=lost,
            least=least,
        )
        if weights is not None:
            Z *= np.sqrt(weights)[:, None]
        return self.merged(replace(part, second=Z.T @ Z))

    def merged(self, other: Moments) -> Moments:
        """Of the points of both, which have the same origin."""
        if self.first is None or other.first is None:
            return self if other.first is None else other
        return Moments(
            self.origin,
            self.count + other.count,
            self.mass + other.mass,
            self.first + other.first,
            None if self.second is None or other.second is None else self.second + other.second,
            max(self.worst_error, other.worst_error),
            self.root_errors + other.root_errors,
            max(self.longest, other.longest),
            self.lost + other.lost,
            min(self.least, other.least),
        )

    def padded(self, size: int) -> Moments:
        """For a dictionary that has grown: points seen before it did have no part in the new directions."""
        more = size - self.size
        if more == 0:
            return self
        first = None if self.first is None else np.pad(self.first, (0, more))
        second = None if self.second is None else np.pad(self.second, (0, more))
        return replace(self, origin=np.pad(self.origin, (0, more)), first=first, second=second)

    def mean(self, span: Span) -> np.ndarray:
        """Mean ``E[p]`` of the features (Ouimet prop. 2)."""
        assert self.first is not None
        return span.features((self.origin + self.first / self.mass)[None])[0]

    def about(self, center: np.ndarray, span: Span) -> np.ndarray:
        """``sum w (p - c)(p - c)'``, (m, m)."""
        assert self.first is not None
        assert self.second is not None
        middle = self.origin + self.first / self.mass
        inner = self.second - np.outer(self.first, self.first) / self.mass  # about the mean of z
        normal = span.normal
        inner -= np.outer(normal, normal @ inner)  # p = z - (u . z) u + const
        inner -= np.outer(inner @ normal, normal)
        offset = span.features(middle[None])[0] - center
        return inner + self.mass * np.outer(offset, offset)
