"""Dask collections as input of estimators: the parts that do not need a cluster."""

from __future__ import annotations

import sys

import pytest
import sklearn
from sklearn.decomposition import PCA

from eigenscape.distributed.dispatch import _output_container


@pytest.mark.parametrize("private", [True, False], ids=["private", "fallback"])
def test_output_container_with_and_without_the_private_function_of_sklearn(private, monkeypatch):
    if not private:
        monkeypatch.setitem(sys.modules, "sklearn.utils._set_output", None)  # importing it raises ImportError
    assert _output_container(PCA()) == "default"
    assert _output_container(PCA().set_output(transform="pandas")) == "pandas"
    assert _output_container(PCA().set_output(transform="default")) == "default"
    with sklearn.config_context(transform_output="pandas"):
        assert _output_container(PCA()) == "pandas"
        assert _output_container(PCA().set_output(transform="default")) == "default"
