"""Model files of every released version open, and stored attributes do not change unnoticed."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.io.golden import write as golden

import eigenscape
from eigenscape.app.io import describe
from eigenscape.app.io.archive import FORMAT

FILES = [
    (archive.stem, name.removesuffix(".skops"))
    for archive in sorted(golden.FOLDER.glob("*.zip"))
    for name in zipfile.ZipFile(archive).namelist()
    if name.endswith(".skops")
]


def golden_file(version: str, name: str, folder: Path) -> tuple[Path, dict[str, np.ndarray]]:
    """Return a model file of an earlier version, and what that version computed with it."""
    with zipfile.ZipFile(golden.FOLDER / f"{version}.zip") as archive:
        (folder / name).write_bytes(archive.read(f"{name}.skops"))
        return folder / name, dict(np.load(io.BytesIO(archive.read(f"{name}.npz"))))


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], tol: float) -> None:
    assert found.keys() == expected.keys()
    for part, values in expected.items():
        scale = max(float(np.abs(values).max()), 1e-300)
        np.testing.assert_allclose(found[part], values, rtol=0, atol=tol * scale, err_msg=part)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("version", "name"), FILES, ids=["-".join(file) for file in FILES])
def test_files_of_every_version_open(version: str, name: str, tmp_path: Path) -> None:
    """Points are where the version that wrote the file placed them, and the model can be saved again."""
    file, expected = golden_file(version, name, tmp_path)
    assert describe(file)["version"] == version
    model = eigenscape.load(file)
    assert_same(golden.places(model, name), expected, 1e-6)
    eigenscape.save(model, tmp_path / "again")
    assert describe(tmp_path / "again")["format"] == FORMAT
    assert_same(golden.places(eigenscape.load(tmp_path / "again"), name), golden.places(model, name), 1e-12)


def test_every_estimator_of_a_version_has_a_golden_file() -> None:
    """The estimators of 0.1."""
    methods = {golden.MODELS[name][0] for version, name in FILES if version == "0.1.0"}
    assert len(methods) == 20


def test_a_stream_of_an_earlier_version_continues(tmp_path: Path) -> None:
    file, _ = golden_file("0.1.0", "GreedySpectralEmbedding-stream", tmp_path)
    train, new = golden.data("rows")
    fresh = golden.fit("GreedySpectralEmbedding-stream").partial_fit(new)
    model = eigenscape.load(file).partial_fit(new)
    assert model.n_samples_seen_ == len(train) + len(new)
    np.testing.assert_allclose(model.transform(new), fresh.transform(new), atol=1e-9)
    assert model.loss(train) == pytest.approx(fresh.loss(train), rel=1e-6)


@pytest.mark.parametrize("name", ["KernelPCA", "Isomap", "KernelEigenmap", "GreedySpectralEmbedding"])
def test_inverses_of_an_earlier_version(name: str, tmp_path: Path) -> None:
    file, _ = golden_file("0.1.0", name, tmp_path)
    model, new = eigenscape.load(file), golden.data(golden.MODELS[name][2])[1]
    expected = golden.fit(name)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(new)),
        expected.inverse_transform(expected.transform(new)),
        atol=1e-6,
    )


def test_golden_files_are_small() -> None:
    assert sum(archive.stat().st_size for archive in golden.FOLDER.glob("*.zip")) < 1e6


@pytest.fixture(scope="module")
def schemas() -> dict[str, str]:
    return golden.schemas()


@pytest.mark.parametrize("method", sorted({method for method, _, _ in golden.MODELS.values()}))
def test_stored_attributes_are_those_of_the_schema(method: str, schemas: dict[str, str]) -> None:
    """A change needs a migration: raise FORMAT (or REVISION, if files without it are read as before), add it
    to migrations.py, and run ``python tests/app/io/golden/write.py schemas``."""
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


@pytest.mark.parametrize(
    ("make", "share"),
    [
        (lambda: eigenscape.KernelPCA(), 1.3),
        (lambda: eigenscape.LaplacianEigenmaps(n_neighbors=5), 2.0),
        (lambda: eigenscape.LocallyLinearEmbedding(n_neighbors=5), 2.5),
    ],
    ids=["KernelPCA", "LaplacianEigenmaps", "LocallyLinearEmbedding"],
)
def test_rows_in_single_precision_are_stored_once(make: Any, share: float, tmp_path: Path) -> None:
    X = np.random.default_rng(0).random((400, 64)).astype(np.float32)
    model = make().fit(X)
    assert size(model, tmp_path) < share * X.nbytes
    loaded = eigenscape.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(loaded.embedding_, model.embedding_)


def test_images_are_stored_in_a_byte_each(tmp_path: Path) -> None:
    X = np.random.default_rng(0).integers(0, 256, (300, 100)).astype(np.float64)
    model = eigenscape.KernelPCA().fit(X)
    assert size(model, tmp_path) < 2 * X.size
    np.testing.assert_array_equal(eigenscape.load(tmp_path / "m").transform(X), model.transform(X))


@pytest.mark.long
def test_a_dictionary_is_stored_as_two_triangles(tmp_path: Path) -> None:
    """The Cholesky factor and the second moments; it was four squares."""
    X, m = np.random.default_rng(0).random((600, 8)), 300
    model = eigenscape.GreedySpectralEmbedding(dictionary_size=m, gamma=2.0).fit(X)
    assert size(model, tmp_path) < 1.2 * 8 * m * m + 2 * X.nbytes
    again = eigenscape.load(tmp_path / "m")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.loss() == model.loss()
    assert size(model, tmp_path, compact=True) < 0.6 * 8 * m * m + 2 * X.nbytes
    np.testing.assert_array_equal(eigenscape.load(tmp_path / "m").transform(X), model.transform(X))
