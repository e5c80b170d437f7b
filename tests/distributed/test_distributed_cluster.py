"""Dask collections on processes of their own, files that workers read, and clusters that are not as they
should be."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose, assert_array_equal

import eigenscape as es
from eigenscape import distributed
from eigenscape.exceptions import InputFileError, SchedulerError, VersionMismatchError, VersionMismatchWarning

pytestmark = pytest.mark.dask

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 3)) @ RNG.standard_normal((3, 6)) + 0.2 * RNG.standard_normal((600, 6))
GAPS = np.where(RNG.random(X.shape) < 0.05, np.nan, X)


@pytest.fixture(scope="module")
def client(forked_workers: None) -> Iterator[Any]:
    """Two processes on this machine."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


def rows(A: np.ndarray = X) -> da.Array:
    return da.from_array(A, chunks=(160, 6))


def test_the_number_of_workers_changes_nothing(client: Any) -> None:
    on_two = es.PCA(2).fit(rows()), es.ProbabilisticPCA(2, tol=1e-2).fit(rows(GAPS))
    with client.as_current():
        embedding = on_two[0].embedding_.compute()
    with dask.config.set(scheduler=dask.get):  # old releases warn if it is given by its name
        on_one = es.PCA(2).fit(rows()), es.ProbabilisticPCA(2, tol=1e-2).fit(rows(GAPS))
        assert_array_equal(on_one[0].embedding_.compute(), embedding)
    assert_array_equal(on_one[0].components_, on_two[0].components_)
    assert_array_equal(on_one[1].loadings_, on_two[1].loadings_)


def test_every_reduction_on_processes(client: Any) -> None:
    assert_allclose(
        es.MixturePPCA(2, 1, n_init=1, tol=1e-3).fit(rows()).means_,
        es.MixturePPCA(2, 1, n_init=1, tol=1e-3).fit(X).means_,
        atol=1e-10,
    )
    lpp = es.LocalityPreservingProjection(2)
    assert_allclose(
        lpp.fit(rows()).embedding_.compute(), es.LocalityPreservingProjection(2).fit(X).embedding_, atol=1e-10
    )
    oriented = es.OrientedPCA(2).fit(rows(), noise=rows()[:, ::-1] * 0.1)
    assert_allclose(
        oriented.components_, es.OrientedPCA(2).fit(X, noise=X[:, ::-1] * 0.1).components_, atol=1e-10
    )


def test_any_model_over_processes(client: Any) -> None:
    model = es.Isomap(2).fit(X[:150])
    assert_allclose(model.transform(rows()).compute(), model.transform(X), atol=1e-10)
    assert model.loss(rows()) == pytest.approx(model.loss(X))


def test_an_error_of_a_worker_arrives(client: Any) -> None:
    spoilt = X.copy()
    spoilt[340, 0] = np.inf
    with pytest.raises(
        ValueError, match=r"partition 2 of X: row\(s\) 20, counted from the start of the partition"
    ):
        es.PCA(2).fit(rows(spoilt))


def test_the_current_client_is_used_by_connect(client: Any) -> None:
    with distributed.connect(client.scheduler.address) as other:
        assert other.scheduler.address == client.scheduler.address
        assert_allclose(es.PCA(2).fit(rows()).components_, es.PCA(2).fit(X).components_, atol=1e-10)


# --- files --------------------------------------------------------------------------------------------------


def test_a_folder_of_parquet_files(tmp_path: Path) -> None:
    import pandas as pd

    names = list("abcdef")
    for number, part in enumerate(np.array_split(X, 3)):
        pd.DataFrame(part, columns=names).assign(kind="x").to_parquet(
            tmp_path / f"part-{number}.parquet", row_group_size=120
        )
    table = es.read(tmp_path, dask=True)
    assert table.array.shape == (600, 6)
    assert table.array.numblocks == (6, 1)
    assert table.names == tuple(names)
    assert_array_equal(table.array.compute(), X)
    assert_allclose(es.PCA(2).fit(table.array).components_, es.PCA(2).fit(X).components_, atol=1e-10)
    assert_array_equal(es.read(tmp_path, columns=["c", "a"], dask=True).array.compute(), X[:, [2, 0]])


def test_arrays_on_disk(tmp_path: Path) -> None:
    import zarr

    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    read = es.read(tmp_path / "rows.npy", dask=True).array
    assert read.dtype == np.float32
    assert_array_equal(read.compute(), X.astype(np.float32))
    stored = zarr.create_array(str(tmp_path / "rows.zarr"), shape=X.shape, chunks=(100, 6), dtype="float64")
    stored[:] = X
    assert_array_equal(es.read(tmp_path / "rows.zarr", dask=True).array.compute(), X)


def test_read_gives_collections_where_they_are_wanted(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", X)
    table = es.read(tmp_path / "rows.npy", dask=True)
    assert isinstance(table.array, da.Array)
    assert_array_equal(table.array.compute(), X)
    assert_array_equal(es.read(tmp_path / "rows.npy").array, X)
    with pytest.raises(TypeError, match="stream is not supported with dask=True"):
        es.read(tmp_path / "rows.npy", dask=True, stream=True)


def test_text_is_refused_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,not a number")
    for path in (tmp_path / "rows.csv", "-"):
        with pytest.raises(InputFileError, match="store it as parquet, zarr or npy"):
            es.read(path, dask=True)


def test_what_cannot_be_read_in_parts(tmp_path: Path) -> None:
    file = tmp_path / "rows.arrow"
    import pyarrow as pa

    table = pa.table({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputFileError, match="store it as parquet, zarr or npy"):
        es.read(file, dask=True)


# --- clusters -----------------------------------------------------------------------------------------------


def test_nobody_answers() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    before = dask.config.get("scheduler", None)
    with pytest.raises(SchedulerError, match=f"no dask scheduler answers at {address} within 1 s"):
        distributed.connect(address, timeout=1)
    for wrong in ("nowhere://", "http://127.0.0.1:8787/status"):
        with pytest.raises(SchedulerError, match=r"has the protocol '.*begins with tcp://, tls://"):
            distributed.connect(wrong, timeout=1)
    assert dask.config.get("scheduler", None) == before  # dask goes on as it did


def test_a_script_without_a_main_part_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from eigenscape import distributed\ndistributed.connect('local')\n")
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert 'SchedulerError: the processes of "local" could not start' in ended.stderr
    assert 'if __name__ == "__main__":' in ended.stderr.splitlines()[-1]


def told(**workers: dict[str, str]) -> dict[str, Any]:
    here = {
        "eigenscape": "1.0",
        "numpy": "2.0",
        "scipy": "1",
        "sklearn": "1",
        "dask": "1",
        "distributed": "1",
    }
    return {
        "client": {"packages": here},
        "workers": {name: {"packages": {**here, **other}} for name, other in workers.items()},
    }


def test_versions_that_differ() -> None:
    distributed.check_versions(told(a={}, b={}))
    with pytest.raises(
        VersionMismatchError,
        match=r"this is eigenscape 1.0, but worker b has 0.9; install the same version there",
    ):
        distributed.check_versions(told(a={}, b={"eigenscape": "0.9"}))
    with pytest.raises(VersionMismatchError, match="worker a has none"):
        distributed.check_versions(told(a={"eigenscape": ""}))
    with pytest.warns(
        VersionMismatchWarning,
        match=r"numpy is 2.0 here, but worker a has 1.26, worker b has 1.26, worker c has 1.26 and 1",
    ):
        distributed.check_versions(told(**{key: {"numpy": "1.26"} for key in "abcd"}))
