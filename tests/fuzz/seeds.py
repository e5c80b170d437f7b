"""Small valid files of every format that can be read, and of models."""

from __future__ import annotations

import bz2
import gzip
import io
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

N = 24


def _table() -> Any:
    import pyarrow as pa

    rng = np.random.default_rng(0)
    return pa.table(
        {
            "id": pa.array([f"r{i:02d}" for i in range(N)]),
            "x": pa.array(
                [None if i == 5 else float(np.round(v, 3)) for i, v in enumerate(rng.normal(size=N))]
            ),
            "n": pa.array(rng.integers(0, 100, N)),
            "v": pa.array(np.round(rng.normal(size=(N, 2)), 3).tolist(), pa.list_(pa.float32())),
            "flag": pa.array([i % 3 == 0 for i in range(N)]),
            "kind": pa.array(["ab"[i % 2] for i in range(N)]).dictionary_encode(),
        }
    )


def _texts(delimiter: str) -> list[bytes]:
    rng = np.random.default_rng(1)
    rows = np.round(rng.normal(size=(N, 3)), 3)
    plain = [delimiter.join(map(str, row)) for row in rows]
    named = [delimiter.join([f"r{i}", *map(str, row), "ab"[i % 2]]) for i, row in enumerate(rows)]
    quoted = [
        delimiter.join([f'"r{i}"', f'"{i}"', "" if i == 4 else str(i / 4), '"a ""b"""']) for i in range(N)
    ]
    heads = [
        None,
        delimiter.join(["id", "x", "y", "z", "kind"]),
        delimiter.join(['"id"', "n", "q", '"label"']),
    ]
    tables = [
        "\n".join([*([] if head is None else [head]), *lines]) + "\n"
        for head, lines in zip(heads, (plain, named, quoted), strict=True)
    ]
    return [
        *(text.encode() for text in tables),
        tables[1].replace("\n", "\r\n").encode(),
        tables[1].encode("utf-16"),
    ]


def _parquet() -> list[bytes]:
    from pyarrow import parquet

    files = []
    for options in (
        {"row_group_size": 9},
        {"compression": "none", "use_dictionary": False},
        {"compression": "zstd"},
    ):
        buffer = io.BytesIO()
        parquet.write_table(_table(), buffer, **options)
        files.append(buffer.getvalue())
    return files


def _arrow() -> list[bytes]:
    from pyarrow import feather

    files = []
    for compression in ("uncompressed", "lz4", "zstd"):
        buffer = io.BytesIO()
        feather.write_feather(_table(), buffer, compression=compression, chunksize=9)
        files.append(buffer.getvalue())
    return files


def _ipc() -> list[bytes]:
    import pyarrow as pa

    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, _table().schema) as writer:
        writer.write_table(_table(), max_chunksize=9)
    return [buffer.getvalue()]


def _npy() -> list[bytes]:
    rng = np.random.default_rng(2)
    arrays = [rng.normal(size=(N, 3)), rng.integers(0, 9, (N, 4)), rng.random((6, 3, 3)).astype("f4")]
    files = []
    for array in arrays:
        buffer = io.BytesIO()
        np.save(buffer, array)
        files.append(buffer.getvalue())
    return files


def _npz() -> list[bytes]:
    from scipy import sparse

    rng = np.random.default_rng(3)
    files = []
    for save in (np.savez, np.savez_compressed):
        buffer = io.BytesIO()
        save(
            buffer,
            X=rng.normal(size=(N, 2)),
            labels=np.array(["a", "b"] * (N // 2)),
            names=np.array(["p", "q"]),
        )
        files.append(buffer.getvalue())
    for kind in ("csr", "csc", "coo"):
        buffer = io.BytesIO()
        sparse.save_npz(
            buffer, sparse.random_array((N, 5), density=0.4, format=kind, random_state=0), compressed=False
        )
        files.append(buffer.getvalue())
    return files


def _mtx() -> list[bytes]:
    from scipy import sparse
    from scipy.io import mmwrite

    files = []
    matrix = sparse.random_array((N, 5), density=0.4, random_state=0)
    square = sparse.csr_array(np.round(np.diag(np.ones(5)) + 0.5, 2))
    for content, options in ((matrix, {}), (matrix.toarray(), {}), (square, {"symmetry": "symmetric"})):
        buffer = io.BytesIO()
        mmwrite(buffer, content, precision=4, **options)
        files.append(buffer.getvalue())
    return files


def _edges() -> list[bytes]:
    rng = np.random.default_rng(4)
    pairs = rng.integers(0, 9, (N, 2))
    with_blanks = "\n".join(f"{a} {b} {a + b + 1}" for a, b in pairs)
    return [
        b"# edges\n" + with_blanks.encode(),
        b"source,target\n" + "\n".join(f"{a},{b}" for a, b in pairs).encode(),
    ]


def _distances() -> list[bytes]:
    points = np.random.default_rng(5).normal(size=(8, 2))
    matrix = np.linalg.norm(points[:, None] - points[None], axis=2)
    return ["\n".join(",".join(map(repr, row.tolist())) for row in matrix).encode()]


def _h5ad() -> list[bytes]:
    import anndata
    import pandas as pd
    from scipy import sparse

    files = []
    rng = np.random.default_rng(6)
    for X in (rng.normal(size=(9, 3)), sparse.csr_matrix(rng.poisson(1, (9, 4)).astype(float))):
        obs = pd.DataFrame({"kind": pd.Categorical(list("ababababc"))}, index=[f"c{i}" for i in range(9)])
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            anndata.AnnData(X, obs=obs).write_h5ad(Path(folder) / "t.h5ad")
            files.append((Path(folder) / "t.h5ad").read_bytes())
    return files


def _folder(write: Callable[[Path], None]) -> bytes:
    """Return a folder as a zip archive without compression."""
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        with zipfile.ZipFile(buffer, "w") as archive:
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(folder).as_posix())
    return buffer.getvalue()


def _zarr() -> list[bytes]:
    import zarr

    array = np.random.default_rng(7).normal(size=(N, 3))
    formats = (2, 3)
    return [
        _folder(lambda folder, number=number: zarr.save_array(str(folder), array, zarr_format=number))
        for number in formats
    ]


def _images() -> list[bytes]:
    from PIL import Image

    levels = np.random.default_rng(8).integers(0, 256, (3, 6, 5)).astype(np.uint8)

    def write(folder: Path, suffix: str) -> None:
        for i, image in enumerate(levels):
            Image.fromarray(image).save(folder / f"{i}.{suffix}")

    return [
        _folder(lambda folder, suffix=suffix: write(folder, suffix))
        for suffix in ("png", "jpg", "tif", "gif", "bmp", "pgm", "webp")
    ]


def rows() -> np.ndarray:
    """Return the rows that models are fitted to."""
    return np.random.default_rng(9).normal(size=(30, 3))


def _models() -> list[bytes]:
    import eigenscape

    models = [
        eigenscape.PCA(2),
        eigenscape.LaplacianEigenmaps(2, n_neighbors=5),
        eigenscape.Isomap(2, n_neighbors=5),
        eigenscape.KernelPCA(2, kernel="rbf"),
        eigenscape.LocallyLinearEmbedding(2, n_neighbors=5),
    ]
    files = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            eigenscape.save(model.fit(rows()), Path(folder) / "m.eigenscape", force=True)
            files.append((Path(folder) / "m.eigenscape").read_bytes())
    return files


def _compressed(compress: Callable[[bytes], bytes]) -> list[bytes]:
    return [compress(text) for text in _texts(",")]


def zstd(data: bytes) -> bytes:
    """Compress by pyarrow's zstd, as a stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "csv.gz": lambda data: gzip.compress(data, mtime=0),
    "csv.bz2": bz2.compress,
    "csv.zst": zstd,
}
#: Valid files by format; folders and models are zip archives.
SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "csv": lambda: _texts(",") + _texts(";"),
    "tsv": lambda: _texts("\t"),
    "txt": lambda: (
        _texts("|") + [text for i, text in enumerate(_texts(" ")) if i != 2]
    ),  # 2 has blanks in cells
    **{name: lambda compress=compress: _compressed(compress) for name, compress in COMPRESS.items()},
    "edges": _edges,
    "distances": _distances,
    "parquet": _parquet,
    "arrow": _arrow,
    "ipc": _ipc,
    "npy": _npy,
    "npz": _npz,
    "mtx": _mtx,
    "h5ad": _h5ad,
    "zarr": _zarr,
    "images": _images,
    "model": _models,
}
