"""Files with indices out of range, wrong sizes or too much content are refused before they do harm."""

from __future__ import annotations

import gzip
import io
import pkgutil
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from scipy.io import mmwrite
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenscape
from eigenscape import read
from eigenscape.app.io import guards, text
from eigenscape.app.io.archive import TREE
from eigenscape.app.io.tree import PACKAGES
from eigenscape.exceptions import InputFileError, ModelFileError, NotEnoughMemoryError

RNG = np.random.default_rng(0)


def damaged_csr(change: str) -> dict[str, np.ndarray]:
    matrix = sparse.random_array((40, 12), density=0.3, random_state=np.random.default_rng(0), format="csr")
    data, indices, indptr = matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()
    if change == "large index":
        indices[5] = 10**8
    elif change == "negative index":
        indices[5] = -7
    elif change == "decreasing pointers":
        indptr[4] = indptr[-1]
    else:
        indptr[0] = 3
    return {"data": data, "indices": indices, "indptr": indptr, "shape": np.array([40, 12])}


CHANGES = ["large index", "negative index", "decreasing pointers", "first pointer"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_sparse_npz_with_indices_out_of_range(tmp_path: Path, change: str, layout: str) -> None:
    arrays = damaged_csr(change)
    if layout == "csc":
        arrays["shape"] = arrays["shape"][::-1]
    np.savez(tmp_path / "a.npz", format=np.array(layout.encode()), **arrays)
    with pytest.raises(InputFileError, match=r"a\.npz is damaged"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize("change", CHANGES)
def test_models_with_indices_out_of_range(tmp_path: Path, change: str) -> None:
    model = eigenscape.LaplacianEigenmaps(2, n_neighbors=5).fit(RNG.normal(size=(40, 3)))
    eigenscape.save(model, tmp_path / "good.model")
    with zipfile.ZipFile(tmp_path / "good.model") as archive:
        members = {member.filename: archive.read(member) for member in archive.infolist()}
    matrix = re.search(r'"sparse":"csr_array","shape":\[40,40\],[^}]*', members[TREE].decode())
    assert matrix
    names = dict(re.findall(r'"(data|indices|indptr)":"(\w+\.npy)"', matrix[0]))
    for part, values in damaged_csr(change).items():
        if part in names:
            content = io.BytesIO()
            np.save(content, values)
            members[names[part]] = content.getvalue()
    members[TREE] = members[TREE].replace(
        matrix[0].encode(), matrix[0].replace("[40,40]", "[40,12]").encode()
    )
    write_archive(tmp_path / "bad.model", members)
    with pytest.raises(ModelFileError, match="is damaged"):
        eigenscape.load(tmp_path / "bad.model")


def write_archive(path: Path, members: dict[str, bytes]) -> None:
    """Write a model file whose checksums are right."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"%%MatrixMarket matrix coordinate real general\n2000000000 3 5\n1 1 1\n",
            "5 entries|almost all of them empty|memory",
        ),
        (
            b"%%MatrixMarket matrix coordinate real general\n2000000000 3 1\n1 1 1\n",
            "almost all of them empty",
        ),
        (b"%%MatrixMarket matrix coordinate real general\n20 3 1000000000\n1 1 1\n", "more than"),
        (b"%%MatrixMarket matrix array real general\n200000 300000\n1\n", "more than"),
        (b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\0\n", "binary"),
        (b"%%MatrixMarket matrix coordinate real general\n3 3 1\n7 1 1\n", "damaged or not"),
        (b"not a matrix\n1 2\n", "does not begin"),
        (b"%%MatrixMarket matrix coordinate real general\n", "line of sizes"),
    ],
)
@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_matrix_market_files(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.mtx").write_bytes(content)
    with pytest.raises((InputFileError, NotEnoughMemoryError), match=message):
        read(tmp_path / "a.mtx")


@pytest.mark.usefixtures("readers_here")
def test_matrix_market_round_trip(tmp_path: Path) -> None:
    matrix = sparse.random_array((40, 12), density=0.3, random_state=np.random.default_rng(0))
    for array in (matrix, matrix.toarray(), sparse.csr_array(np.eye(6) + 1), np.zeros((3, 2))):
        mmwrite(tmp_path / "a.mtx", array)
        found = read(tmp_path / "a.mtx").array
        dense = array.toarray() if sparse.issparse(array) else array
        np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, dense)


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_arrow_files_with_wrong_offsets_do_not_end_the_process(tmp_path: Path) -> None:
    """Each of 64 damaged copies is read in one child, which must end by itself."""
    table = pa.table({"x": RNG.normal(size=500), "kind": [f"word {i % 7}" for i in range(500)]})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    content = bytearray((tmp_path / "a.arrow").read_bytes())
    for copy in range(64):
        damaged = bytearray(content)
        for place in RNG.integers(8, len(content), size=6):
            damaged[place] = RNG.integers(256)
        (tmp_path / f"{copy}.arrow").write_bytes(damaged)
    code = (
        "import sys, eigenscape\n"
        "from eigenscape.exceptions import InputFileError, NotEnoughMemoryError\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n"
        "        eigenscape.read(path, missing='keep')\n"
        "    except (InputFileError, NotEnoughMemoryError):\n"
        "        pass\n"
    )
    files = [str(tmp_path / f"{copy}.arrow") for copy in range(64)]
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_parquet_file_of_repeated_values_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"x": np.zeros(10**6), "y": np.ones(10**6)}), tmp_path / "a.parquet")
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: 10**7)
    with pytest.raises(NotEnoughMemoryError, match=r"reading .*a\.parquet needs about 15 MiB.*stream=True"):
        read(tmp_path / "a.parquet")


def test_a_compressed_file_that_expands_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = b"1,2,3\n"
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"x,y,z\n" + row * 10**6))
    monkeypatch.setattr(guards, "_SMALL_BYTES", 2**20)
    with pytest.raises(InputFileError, match="decompresses to more than"):
        read(tmp_path / "a.csv.gz")
    monkeypatch.undo()
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: 10**7)
    with pytest.raises(NotEnoughMemoryError, match="stream=True"):
        read(tmp_path / "a.csv.gz")


LARGE = 2**53 + 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "npy", "npz"])
def test_integers_beyond_double_precision_are_named(tmp_path: Path, suffix: str, stream: bool) -> None:
    rows = np.array([[1, 2], [3, LARGE], [5, 6]])
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        path.write_text("x0,x1\n" + "".join(f"{a},{b}\n" for a, b in rows))
    elif suffix == "parquet":
        pq.write_table(pa.table({"x0": rows[:, 0], "x1": rows[:, 1]}), path)
    elif suffix == "npy":
        np.save(path, rows)
    else:
        np.savez(path, X=rows)
    with pytest.raises(InputFileError, match=r"column 'x1' of .* has integers beyond 2\^53.*--id x1"):
        [*read(path, stream=stream).array]


def test_large_integers_as_ids_are_exact(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"id,x\n{LARGE},1\n{LARGE + 2},2\n")
    for stream in (False, True):
        table = read(tmp_path / "a.csv", stream=stream)
        assert table.ids is not None
        assert [int(name) for name in table.ids] == [LARGE, LARGE + 2]


LONG = {
    "positive": [f"{20 * 10**18 + i}" for i in range(6)],
    "negative": [f"-{20 * 10**18 + i}" for i in range(6)],
    "signed": [f"+{20 * 10**18 + i}" for i in range(6)],
    "one": ["1", "2", "-3", "4", "5", "18446744073709551617"],
    "missing": ["", f"{10**30 + 1}", "NA", "7", "8", "9"],
    "blanks": [" NA ", f" {LARGE} ", "1", "2", "3", "4"],
    "quoted": [f'"{10**25 + i}"' for i in range(6)],
    "infinite": ["inf", *(f"{10**25 + i}" for i in range(5))],
    "hundreds": ["9" * 500, *"12345"],
}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt"])
@pytest.mark.parametrize("kind", LONG)
def test_integers_in_text_that_would_be_rounded_are_named(tmp_path: Path, kind: str, suffix: str) -> None:
    path, cells = tmp_path / f"a.{suffix}", LONG[kind]
    delimiter = "," if suffix == "csv" else "\t"
    rows = [("n", "x"), *((cell, f"{i}.5") for i, cell in enumerate(cells))]
    path.write_text("".join(delimiter.join(row) + "\n" for row in rows))
    plain = ["" if cell.strip() in ("NA", "") else cell.strip(' "') for cell in cells]
    for stream in (False, True):
        for missing in ("error", "keep"):
            with pytest.raises(InputFileError, match=r"column 'n' of .*2\^53.*id='n' \(--id n\)"):
                [*read(path, missing=missing, stream=stream).array]
        assert read(path, exclude="n", stream=stream).names == ("x",)
        for role in ("id", "label"):
            table = read(path, stream=stream, **{role: "n"})
            values = table.ids if role == "id" else table.labels
            assert values is not None
            assert [cell.replace("NA", "") for cell in map(str, values)] == plain


@pytest.mark.parametrize(
    "cells",
    [
        ["0.12345678901234567890", "1.5"],
        ["1e30", "2"],
        ["-1E+20", "12345678901234567890"],  # a column with an exponent or decimals is not of integers
        ["12345678901234567890.0", "12345678901234567890"],
        ["1000000000000000000000", "-9223372036854775808000"],  # represented exactly
        ["9007199254740993", "0.5"],
    ],
)
def test_large_floating_point_numbers_are_read(tmp_path: Path, cells: list[str]) -> None:
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{cell},{i}.5\n" for i, cell in enumerate(cells)))
    for stream in (False, True):
        table = read(tmp_path / "a.csv", stream=stream)
        array = np.concatenate([*table.array]) if stream else table.array
        np.testing.assert_array_equal(array[:, 0], [float(cell) for cell in cells])
        assert table.dtypes[0] == "float"


def test_long_integers_in_one_of_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The types of the blocks differ: integers, floats that are rounded integers, none."""
    monkeypatch.setattr(text, "BLOCK_BYTES", 64)
    cells = [*map(str, range(30)), *(f"{10**20 + i}" for i in range(20)), *[""] * 30]
    (tmp_path / "a.csv").write_text("n,x\n" + "".join(f"{cell},{i}.5\n" for i, cell in enumerate(cells)))
    for stream in (False, True):
        with pytest.raises(InputFileError, match="column 'n' of"):
            read(tmp_path / "a.csv", missing="keep", stream=stream)
        labels = read(tmp_path / "a.csv", label="n", missing="keep", stream=stream).labels
        assert labels is not None
        assert labels.tolist() == cells


def test_long_integers_are_vertices_of_their_own(tmp_path: Path) -> None:
    first = 2 * 10**19
    edges = [(first + i, first + i + 1) for i in range(5)]
    (tmp_path / "a.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in edges))
    table = read(tmp_path / "a.csv", kind="edges")
    assert table.ids is not None
    assert table.ids.tolist() == [str(first + i) for i in range(6)]
    assert table.array.nnz == 10


def write_npz_header(path: Path, shape: tuple[int, ...], version: tuple[int, int]) -> None:
    """Write an archive whose array has 80 bytes, whatever its header declares."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.zeros(10), version=version)
    content = buffer.getvalue()
    declared = f"'shape': {shape}, }}".encode()
    start, end = content.index(b"'shape'"), content.index(b"\n")
    content = content[:start] + declared.ljust(end - start) + content[end:]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", content)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npz_archives_with_less_than_they_declare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int]
) -> None:
    write_npz_header(tmp_path / "good.npz", (5, 2), version)
    assert read(tmp_path / "good.npz").array.shape == (5, 2)
    write_npz_header(tmp_path / "a.npz", (10**9, 8), version)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("the array is allocated"))
    message = r"a\.npz is truncated or damaged: its array 'X' needs 59\.6 GiB, and \d+ bytes are stored"
    with pytest.raises(InputFileError, match=message):
        read(tmp_path / "a.npz")


def test_npz_archives_that_expand_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((10**5, 8)))
    assert read(tmp_path / "a.npz").array.shape == (10**5, 8)
    with monkeypatch.context() as patched:
        patched.setattr("eigenscape._memory.available_bytes", lambda: 10**6)
        with pytest.raises(InputFileError, match=r"needs 6 MiB of memory, more than is available"):
            read(tmp_path / "a.npz")
    monkeypatch.setattr(guards, "_SMALL_BYTES", 2**20)
    with pytest.raises(InputFileError, match="decompresses to more than"):
        read(tmp_path / "a.npz")


def annotated(path: Path) -> Path:
    anndata = pytest.importorskip("anndata")
    import pandas as pd

    matrix = sparse.random_array((60, 12), density=0.3, random_state=np.random.default_rng(0), format="csr")
    obs = pd.DataFrame(
        {"kind": ["a", "b"] * 30, "age": np.arange(60.0)}, index=[f"cell{i}" for i in range(60)]
    )
    anndata.AnnData(sparse.csr_matrix(matrix), obs=obs).write_h5ad(path)
    return path


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_h5ad_is_read_as_written(tmp_path: Path) -> None:
    table = read(annotated(tmp_path / "a.h5ad"))
    expected = sparse.random_array((60, 12), density=0.3, random_state=np.random.default_rng(0), format="csr")
    np.testing.assert_array_equal(table.array.toarray(), expected.toarray())
    assert table.labels is not None
    assert table.labels.tolist() == ["a", "b"] * 30
    assert table.ids is not None
    assert table.ids[:2].tolist() == ["cell0", "cell1"]
    np.testing.assert_array_equal(table.extra["age"], np.arange(60.0))


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_damaged_h5ad_files_are_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = annotated(tmp_path / "a.h5ad")
    with h5py.File(path, "r+") as file:
        file["X/indices"][5] = 10**6
    with pytest.raises(InputFileError, match="damaged"):
        read(path)
    content = bytearray(annotated(tmp_path / "b.h5ad").read_bytes())
    content[len(content) // 3 :] = b"\xff" * (len(content) - len(content) // 3)
    (tmp_path / "c.h5ad").write_bytes(content)
    with pytest.raises(InputFileError, match="damaged"):
        read(tmp_path / "c.h5ad")


def answer(argument: str) -> object:
    """What a parser may do that is read in a child process."""
    import os
    import signal
    import time

    if argument == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if argument == "hang":
        time.sleep(100)
    return np.empty(10**18)


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        ("crash", InputFileError, "ended without a result"),
        ("hang", InputFileError, "could not be read within 1 s"),
        ("memory", NotEnoughMemoryError, "needs more memory"),
    ],
)
def test_a_parser_that_crashes_or_hangs_does_not_end_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, error: type[Exception], message: str
) -> None:
    from eigenscape.app.io import child

    (tmp_path / "a.h5ad").write_bytes(b"")
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setattr(child, "_SECONDS", 1.0 if what == "hang" else 60.0)
    with pytest.raises(error, match=message):
        child.call_child("test_damaged_files", what, tmp_path / "a.h5ad")


def test_threads_of_pyarrow_hold_no_python_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that released it while Python exits aborted 2 of 100 processes with "terminate called"."""
    import pyarrow.csv

    path, calls = tmp_path / "data.csv", []
    path.write_text("a,b\n1,2\n3\n")
    parse = pyarrow.csv.read_csv

    def record(source: object, reading: pa.csv.ReadOptions, parsing: pa.csv.ParseOptions, *others: object):
        is_native = isinstance(source, pa.NativeFile) and not isinstance(source, pa.PythonFile)
        calls.append((reading.use_threads, is_native, parsing.invalid_row_handler))
        return parse(source, reading, parsing, *others)

    monkeypatch.setattr(pyarrow.csv, "read_csv", record)
    with pytest.raises(InputFileError, match="line 3 has 1 cells instead of 2"):
        read(path)
    assert calls[0] == (True, True, None)
    assert not calls[-1][0]


def changed_array(saved: Path, find: Callable[[Any], np.ndarray], change: Callable[[Any], Any]) -> Path:
    """Write a copy of a model file in which an array and its copies are changed; its checksums are right."""
    values = find(eigenscape.load(saved))
    with zipfile.ZipFile(saved) as archive:
        members = {member.filename: archive.read(member) for member in archive.infolist()}
    count = 0
    for name in [name for name in members if name.endswith(".npy")]:
        array = np.load(io.BytesIO(members[name]))
        if array.shape == values.shape and (array == values).all():
            content = io.BytesIO()
            np.save(content, change(array))
            members[name] = content.getvalue()
            count += 1
    assert count
    write_archive(saved.with_suffix(".changed"), members)
    return saved.with_suffix(".changed")


def pca_axes(model: Any) -> np.ndarray:
    return model.components_


def ratios(model: Any) -> np.ndarray:
    return model.explained_variance_ratio_


def means(model: Any) -> np.ndarray:
    return model.kernel_.column_means


def widths(model: Any) -> np.ndarray:
    return model.kernel_.base.base.widths


def landmarks(model: Any) -> np.ndarray:
    return model._model_.landmarks.which


@pytest.mark.parametrize(
    ("estimator", "find", "change", "message"),
    [
        (eigenscape.PCA(2), pca_axes, np.ravel, "directions of its PrincipalAxes has 1 dimensions, not 2"),
        (eigenscape.PCA(2), ratios, lambda a: a[:1], r"explained_variance_ratio_ of its PCA .* \(values=2\)"),
        (eigenscape.PCA(2), pca_axes, lambda a: a.astype("U5"), "has the type <U5, not numbers"),
        (eigenscape.PCA(2), pca_axes, lambda a: a.astype(complex), "has the type complex128, not numbers"),
        (eigenscape.PCA(2), pca_axes, np.transpose, "does not agree with"),
        (eigenscape.DiffusionMap(2, n_neighbors=5), widths, lambda a: a[:0], r"NeighborGraph .* \(n=40\)"),
        (eigenscape.KernelPCA(2), means, lambda a: a[:0], r"its CenteredKernel .* points \(n=40\)"),
        (eigenscape.DiffusionMap(2, n_neighbors=5), widths, lambda a: a[:-1], r"shape \(39,\)"),
        (
            eigenscape.LandmarkMDS(2, n_landmarks=8),
            landmarks,
            lambda a: a + 40,
            r"indices from \d+ to \d+, not below 40",
        ),
        (eigenscape.LandmarkMDS(2, n_landmarks=8), landmarks, lambda a: a + 0.5, "not integers"),
    ],
)
def test_arrays_that_do_not_belong_together(
    tmp_path: Path, estimator: Any, find: Any, change: Any, message: str
) -> None:
    """The file is refused when it is loaded, not by an error of NumPy in ``transform``."""
    model = estimator.fit(np.random.default_rng(1).normal(size=(40, 3)))
    eigenscape.save(model, tmp_path / "a.model")
    with pytest.raises(ModelFileError, match=rf"a\.changed is .* it is inconsistent: .*{message}"):
        eigenscape.load(changed_array(tmp_path / "a.model", find, change))


def test_an_object_without_one_of_its_attributes(tmp_path: Path) -> None:
    model = eigenscape.KernelPCA(2).fit(RNG.normal(size=(20, 3)))
    eigenscape.save(model, tmp_path / "a.model")
    with zipfile.ZipFile(tmp_path / "a.model") as archive:
        members = {member.filename: archive.read(member) for member in archive.infolist()}
    tree, n_removed = re.subn(rb',"grand_mean":[^,}]*', b"", members[TREE])
    assert n_removed
    members[TREE] = tree
    write_archive(tmp_path / "b.model", members)
    with pytest.raises(ModelFileError, match="its CenteredKernel has no grand_mean"):
        eigenscape.load(tmp_path / "b.model")


def test_a_scaler_of_other_features(tmp_path: Path) -> None:
    model = make_pipeline(StandardScaler(), eigenscape.PCA(2)).fit(RNG.normal(size=(20, 3)))
    eigenscape.save(model, tmp_path / "a.model")
    changed = changed_array(tmp_path / "a.model", lambda loaded: loaded[0].scale_, lambda a: a[:2])
    with pytest.raises(ModelFileError, match="scale_ of its StandardScaler"):
        eigenscape.load(changed)


def test_described_attributes_exist() -> None:
    """An attribute that is renamed must be renamed in the description of the shapes too."""
    classes = set()
    for module in pkgutil.walk_packages(eigenscape.__path__, "eigenscape."):
        if module.name.split(".")[1] in PACKAGES:
            values = vars(import_module(module.name)).values()
            classes |= {value for value in values if isinstance(value, type) and "_shapes" in vars(value)}
    assert len(classes) > 50
    for cls in filter(is_dataclass, classes):
        stored = {field.name for field in fields(cls)} | {"<points>"}
        assert {path.split(".")[0] for path in cls._shapes} <= stored, cls


def test_labels_may_be_text(tmp_path: Path) -> None:
    X, y = RNG.normal(size=(40, 3)), np.array(["a", "b"])[np.arange(40) % 2]
    fitted = eigenscape.EigenfunctionClassifier().fit(X, y)
    streamed = eigenscape.EigenfunctionClassifier().partial_fit(X, y)
    for model in (fitted, streamed):
        eigenscape.save(model, tmp_path / "a.model", force=True)
        assert (eigenscape.load(tmp_path / "a.model").predict(X) == model.predict(X)).all()
