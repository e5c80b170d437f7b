"""Maps exported to ONNX, compared with ``transform`` by onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenscape
from eigenscape.exceptions import MissingDependencyError, ModelFileError
from eigenscape.io import export_onnx
from eigenscape.options import Dictionary

rng = np.random.default_rng(0)
X = np.tanh(rng.random((120, 3)) @ rng.standard_normal((3, 7))) + 5
NEW = np.tanh(rng.random((17, 3)) @ rng.standard_normal((3, 7))) + 5
LABELS = np.arange(len(X)) % 3


def places(path: Path, rows: np.ndarray) -> np.ndarray:
    """Return what onnxruntime computes."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["Y"], {"X": rows})[0]


def assert_exported(model: Any, path: Path, rows: np.ndarray = NEW, **options: Any) -> None:
    """Compare all rows, one row and no row with ``transform``, in both precisions."""
    pytest.importorskip("onnx", reason="onnx is not installed")
    for dtype in (np.float32, np.float64):
        rows = rows.astype(dtype)
        export_onnx(model, path, dtype=np.dtype(dtype).name, force=True, **options)
        expected = model.transform(rows.astype(np.float64))
        found = places(path, rows)
        assert found.dtype == dtype
        tol = 1e-5 if dtype == np.float32 else 1e-9
        np.testing.assert_allclose(found, expected, rtol=0, atol=tol * np.abs(expected).max())
        np.testing.assert_allclose(places(path, rows[:1]), found[:1], rtol=1e-6, atol=1e-12)
        assert places(path, rows[:0]).shape == (0, expected.shape[1])


@pytest.mark.parametrize(
    "model",
    [
        eigenscape.PCA(2),
        eigenscape.PCA(2, whiten=True),
        eigenscape.ProbabilisticPCA(2),
        eigenscape.FactorAnalysis(2),
        eigenscape.OrientedPCA(2),
        eigenscape.LocalityPreservingProjection(2, n_neighbors=8),
        eigenscape.ProjectionPursuit(2),
        *(
            eigenscape.KernelPCA(3, kernel=kernel)
            for kernel in ("rbf", "linear", "poly", "cosine", "sigmoid")
        ),
        eigenscape.KernelPCA(3, kernel="laplacian"),
        eigenscape.KernelPCA(3, approximation=Dictionary(20)),
        eigenscape.ClassicalMDS(3),
        eigenscape.LandmarkMDS(2, n_landmarks=20),
        eigenscape.GreedySpectralEmbedding(2, dictionary=Dictionary(tol=1e-3)),
        eigenscape.GreedySpectralEmbedding(
            2, normalization=None, kernel="poly", dictionary=Dictionary(tol=1e-3)
        ),
        make_pipeline(StandardScaler(), eigenscape.KernelPCA(2)),
        make_pipeline(StandardScaler(with_mean=False), eigenscape.PCA(2)),
    ],
    ids=lambda model: str(model).replace("\n", "").replace(" ", ""),
)
def test_exported_maps_agree_with_transform(model: Any, tmp_path: Path) -> None:
    assert_exported(model.fit(X, LABELS), tmp_path / "m.onnx")


@pytest.mark.parametrize(
    "model",
    [
        eigenscape.Isomap(n_neighbors=8),
        eigenscape.LaplacianEigenmaps(n_neighbors=8),
        eigenscape.LaplacianEigenmaps(affinity="rbf"),
        eigenscape.GreedySpectralEmbedding(normalization="divisive", dictionary=Dictionary(tol=1e-3)),
        eigenscape.ClassicalMDS(metric="cityblock"),
        eigenscape.SpectralClustering(3, n_neighbors=8),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_maps_need_a_compact_map(model: Any, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    model = model.fit(X)
    with pytest.raises(ModelFileError, match=r"export its CompactMap.*compact=True") as caught:
        export_onnx(model, tmp_path / "m.onnx")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "m.onnx").exists()
    export_onnx(model, tmp_path / "m.onnx", compact=40)
    assert places(tmp_path / "m.onnx", NEW.astype(np.float32)).shape == model.transform(NEW).shape
    if not isinstance(model, eigenscape.GreedySpectralEmbedding):  # stored exactly, without a compact map
        eigenscape.save(model, tmp_path / "m.eigenscape", compact=40)
        assert_exported(eigenscape.load(tmp_path / "m.eigenscape"), tmp_path / "c.onnx")


def test_sparse_training_data_and_a_loaded_model(tmp_path: Path) -> None:
    model = eigenscape.KernelPCA(2, kernel="cosine").fit(sparse.csr_array(np.where(X > 5, X, 0)))
    eigenscape.save(model, tmp_path / "m")
    assert_exported(eigenscape.load(tmp_path / "m"), tmp_path / "m.onnx")


def test_data_far_from_the_origin(tmp_path: Path) -> None:
    assert_exported(eigenscape.KernelPCA(2).fit(X + 1e3), tmp_path / "m.onnx", NEW.round(3) + 1e3)


def test_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    model = eigenscape.PCA(2)
    with pytest.raises(ModelFileError, match="is not fitted"):
        export_onnx(model, tmp_path / "m.onnx")
    model.fit(X)
    with pytest.raises(ValueError, match="dtype='int8' must be"):
        export_onnx(model, tmp_path / "m.onnx", dtype="int8")
    (tmp_path / "m.onnx").write_text("")
    with pytest.raises(FileExistsError):
        export_onnx(model, tmp_path / "m.onnx")
    callable_kernel = eigenscape.KernelPCA(2, kernel=lambda x, y: float(x @ y)).fit(X[:30])
    with pytest.raises(ModelFileError, match="which has no ONNX formula"):
        export_onnx(callable_kernel, tmp_path / "c.onnx")
    density = eigenscape.ManifoldParzen(5, 1, 0.1).fit(X[:30])
    with pytest.raises(ModelFileError, match="ManifoldParzen has no map"):
        export_onnx(density, tmp_path / "d.onnx", compact=10)
    precomputed = eigenscape.KernelPCA(2, kernel="precomputed").fit(X @ X.T)
    with pytest.raises(ModelFileError, match="Precomputed, which has no ONNX formula"):
        export_onnx(precomputed, tmp_path / "p.onnx")


def test_without_onnx_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingDependencyError, match=r"eigenscape\[onnx\]"):
        export_onnx(eigenscape.PCA(2).fit(X), tmp_path / "m.onnx")


@pytest.mark.long
def test_the_command_line_exports(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    from typer.testing import CliRunner

    from eigenscape.app.cli.app import app

    eigenscape.save(eigenscape.Isomap(n_neighbors=8).fit(X), tmp_path / "m.model")
    run = CliRunner()
    target = str(tmp_path / "m.onnx")
    failed = run.invoke(app, ["export", str(tmp_path / "m.model"), "--to", target])
    assert failed.exit_code != 0
    assert "--compact" in failed.output
    failed = run.invoke(app, ["export", str(tmp_path / "m.model"), "--to", str(tmp_path / "m.pb")])
    assert failed.exit_code != 0
    done = run.invoke(app, ["export", str(tmp_path / "m.model"), "--to", target, "--compact", "40"])
    assert done.exit_code == 0, done.output
    assert f"wrote {target} (map)" in done.output
    assert places(tmp_path / "m.onnx", NEW.astype(np.float32)).shape == (17, 2)
