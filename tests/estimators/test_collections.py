"""Dask collections as input of estimators: the parts that do not need a cluster."""

from __future__ import annotations

import sklearn
from sklearn.decomposition import PCA

from eigenscape.distributed.dispatch import _output_container


def test_output_container():
    assert _output_container(PCA()) == "default"
    assert _output_container(PCA().set_output(transform="pandas")) == "pandas"
    assert _output_container(PCA().set_output(transform="default")) == "default"
    with sklearn.config_context(transform_output="pandas"):
        assert _output_container(PCA()) == "pandas"
        assert _output_container(PCA().set_output(transform="default")) == "default"
