"""Shared by all tests."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def single_threaded_blas():
    """Tests run side by side and on small matrices, where threads of the linear algebra only get in each
    other's way."""
    with threadpool_limits(1):
        yield
