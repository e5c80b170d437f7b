"""Spectral properties of the distances of distance methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.kernels.pairwise import BoundPairwise
from eigenscape.normalize import uniform_weights
from eigenscape.operators import CenteredOperator, Operator, gram, weighted
from eigenscape.options import Metric
from eigenscape.quality.spectra import is_euclidean, negative_fraction


def bind_distance(metric: Metric, metric_params: dict[str, Any] | None, X: Any) -> BoundPairwise:
    """Return the kernel ``-d^2 / 2`` bound to ``X``, after validating ``metric_params``."""
    distance = HalfSquaredDistance(metric, dict(metric_params or {})).bind(X)
    assert isinstance(distance, BoundPairwise)
    return distance


@dataclass(eq=False)
class DistanceSpectrum:
    """Properties of the spectrum of the centred ``-d^2/2``, computed on first access."""

    distance: BoundKernel
    weights: np.ndarray | None = None  # of the points in the empirical measure; None if all are 1

    def _operator(self) -> Operator:
        weights = self.weights
        if weights is None:
            return CenteredOperator(gram(self.distance), uniform_weights(n_points(self.distance.X)))
        return weighted(CenteredOperator(gram(self.distance), weights / weights.sum()), weights)

    @cached_property
    def negative_fraction(self) -> float:
        return negative_fraction(self._operator())

    @cached_property
    def is_euclidean(self) -> bool:
        return is_euclidean(self._operator())


class DistanceSpectrumMixin:
    """``negative_fraction_`` and ``is_euclidean_`` for estimators that set ``_spectrum_`` in ``fit``."""

    _spectrum_: DistanceSpectrum | None

    @property
    def negative_fraction_(self) -> float:
        """Negative share ``sum |l < 0| / sum |l|`` of the spectrum, computed on first access.

        Negative eigenvalues are counted before they are treated (see ``indefinite``)."""
        return self._whole_spectrum().negative_fraction

    @property
    def is_euclidean_(self) -> bool:
        """Whether the distances are Euclidean (Burges sec. 2.2), computed on first access."""
        return self._whole_spectrum().is_euclidean

    def _whole_spectrum(self) -> DistanceSpectrum:
        check_is_fitted(self)
        if getattr(self, "ordinal", False):
            raise AttributeError("an ordinal map has no spectrum; see stress_, or set ordinal=False")
        if self._spectrum_ is None:
            raise AttributeError(
                "several components were embedded separately and have no common distances; see eigenvalues_"
            )
        return self._spectrum_
