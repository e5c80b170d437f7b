"""Fixtures of the tests of eigenscape.accel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eigenscape import accel
from eigenscape.accel import _settings


@pytest.fixture
def all_sizes() -> Iterator[None]:
    """Run all sizes in eigenscape, since test data are small, and forget earlier calls."""
    _settings.set_few_points(0)
    accel.reset()
    yield
    _settings.set_few_points(_settings.FEW_POINTS)


@pytest.fixture(autouse=True)
def _uninstalled() -> Iterator[None]:
    """Leave scikit-learn as it was, whatever a test does."""
    yield
    accel.uninstall()
