"""Attributes that model files contain do not change unnoticed, and sizes of model files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.io.golden import write as golden

import eigenscape


@pytest.fixture(scope="module")
def schemas() -> dict[str, str]:
    return golden.schemas()


@pytest.mark.parametrize("method", sorted({method for method, _, _ in golden.MODELS.values()}))
def test_stored_attributes_are_those_of_the_schema(method: str, schemas: dict[str, str]) -> None:
    """After a change raise FORMAT (or REVISION, if files without the change load as before) and run
    ``python tests/app/io/golden/write.py schemas``."""
    expected = (golden.FOLDER / "schemas" / f"{method}.txt").read_text()
    assert schemas[method].splitlines() == expected.splitlines()


def test_a_schema_for_every_estimator() -> None:
    from cases import CASES, MAPS, WITHOUT_KERNEL

    methods = {type(case.make()).__name__ for case in [*CASES, *WITHOUT_KERNEL, *MAPS]}
    assert methods <= {path.stem for path in (golden.FOLDER / "schemas").glob("*.txt")}


# --- sizes --------------------------------------------------------------------------------------------------


def size(model: Any, folder: Path, **options: Any) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eigenscape.save(model, folder / "m", force=True, **options)
    return (folder / "m").stat().st_size


def test_rows_in_single_precision_are_stored_once(tmp_path: Path) -> None:
    X = np.random.default_rng(0).random((400, 64)).astype(np.float32)
    model = eigenscape.LaplacianEigenmaps(n_neighbors=5).fit(X)
    assert size(model, tmp_path) < 2 * X.nbytes
    loaded = eigenscape.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(loaded.embedding_, model.embedding_)
