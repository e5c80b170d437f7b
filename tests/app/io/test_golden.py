"""Model files of earlier versions are opened and compute the same values; sizes of model files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.io.golden import write as golden

import eigenscape
from eigenscape import io

EXPECTED = np.load(golden.EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED.files))
def test_golden_files_compute_the_same_values(name: str) -> None:
    """Never write a golden file again: code that reads the old attributes must stay, or be added."""
    found = golden.compute(eigenscape.load(golden.FOLDER / f"{name}.eigenscape"), name)
    expected = EXPECTED[name]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * np.abs(expected).max())
    assert io.describe(golden.FOLDER / f"{name}.eigenscape")["notes"] == f"golden file {name}"


def test_a_golden_file_for_every_estimator() -> None:
    from cases import CASES, MAPS, WITHOUT_KERNEL

    methods = {type(case.make()).__name__ for case in [*CASES, *WITHOUT_KERNEL, *MAPS]}
    assert methods <= {golden.MODELS[name][0] for name in EXPECTED.files}
    assert (
        {path.stem for path in golden.FOLDER.glob("*.eigenscape")} == set(EXPECTED.files) == {*golden.MODELS}
    )


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
