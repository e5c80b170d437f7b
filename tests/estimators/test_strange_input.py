"""Strange objects as data: converted as scikit-learn does, or refused by an error of the package."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from own_errors import is_own

from eigenscape import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    FastMap,
    GreedySpectralEmbedding,
    KernelEigenmap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    ProbabilisticPCA,
    ProjectionPursuit,
)
from eigenscape.options import Dictionary, KNNGraph

ROWS = np.random.default_rng(0).standard_normal((20, 3))
MASKED = np.ma.masked_array(ROWS, mask=np.arange(60).reshape(20, 3) == 7)
CLASSES = [
    PCA,
    ClassicalMDS,
    FastMap,
    GreedySpectralEmbedding,
    KernelEigenmap,
    KernelPCA,
    LaplacianEigenmaps,
    ProbabilisticPCA,
    ProjectionPursuit,
]
REFUSED: dict[str, Any] = {
    "complex": ROWS + 1j,
    "dates": np.full((20, 3), "2020-01-01", dtype="datetime64[D]"),
    "words": [["a", "b"]] * 5,
    "no columns": ROWS[:, :0],
    "no rows": ROWS[:0],
    "one row": ROWS[:1],
    "equal rows": np.ones((9, 3)),
    "vector": ROWS[:, 0],
    "three dimensions": ROWS[None],
    "None": None,
    "number": 3.0,
    "structured": np.zeros(5, dtype=[("a", float), ("b", int)]),
    "bytes": b"abc",
    "ragged": [[1, 2], [3]],
    "infinite": np.where(ROWS > 1, np.inf, ROWS),
}
CONVERTED: dict[str, Any] = {
    "booleans": ROWS > 0,
    "objects": ROWS.astype(object),
    "text": ROWS.astype(str),
    "half precision": ROWS.astype(np.float16),
    "extended precision": ROWS.astype(np.longdouble),
    "reversed": ROWS[::-1, ::-1],
    "mask of nothing": np.ma.masked_array(ROWS),
    "constant column": np.c_[ROWS, np.ones(20)],
    "two rows": ROWS[:2],
}


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("name", REFUSED)
def test_what_are_no_rows_of_numbers_is_refused(cls: Any, name: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        cls(1).fit(REFUSED[name])
    assert is_own(caught.value), caught.value


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("name", CONVERTED)
def test_what_can_be_converted_is_embedded(cls: Any, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert np.isfinite(cls(1).fit(CONVERTED[name]).transform(CONVERTED[name])).all()


def test_masked_values_are_missing_values() -> None:
    with pytest.raises(ValueError, match=r"1 masked value.*index \(2, 1\).*ProbabilisticPCA"):
        PCA().fit(MASKED)
    missing = np.where(MASKED.mask, np.nan, ROWS)
    found, expected = (ProbabilisticPCA(1).fit(X).transform(X) for X in (MASKED, missing))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_features", [2, 20, 200])
def test_approximate_neighbors_of_few_rows(n_features: int) -> None:
    X = np.random.default_rng(0).standard_normal((12, n_features))
    for cls, name in ((LaplacianEigenmaps, "affinity"), (LocallyLinearEmbedding, "graph")):
        found, exact = (
            cls(1, **{name: KNNGraph(search=how)}).fit(X).embedding_ for how in ("approximate", "exact")
        )
        np.testing.assert_allclose(found, exact, atol=1e-8)


def test_independent_coordinates_of_an_affinity_of_rank_one() -> None:
    X = np.repeat([[1.0, 1.0], [2.0, 2.0]], 3, axis=0)
    with pytest.raises(ValueError, match="eigenvalues of the divided affinity are zero") as caught:
        DiffusionMap(2, affinity="cosine", independent=True).fit(X)
    assert is_own(caught.value)


def test_a_divided_stream_with_the_size_of_a_dictionary_alone_names_the_reason() -> None:
    model = GreedySpectralEmbedding(normalization="divisive", dictionary=Dictionary(500))
    with pytest.raises(AttributeError, match=r"a size without tol replaces members.*set tol"):
        model.partial_fit(ROWS)
    assert not hasattr(model, "partial_fit")
