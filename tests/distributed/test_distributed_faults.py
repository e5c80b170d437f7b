"""A real cluster with processes of its own. Faults: the same numbers in the end, or a clear error and nothing
half done."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import dask
import dask.array as da
import numpy as np
import pyarrow as pa
import pytest
from covering import PRODUCT
from dask.delayed import delayed
from deadly import PHASES, Deadly, die_when_joining, made_rows, peak_megabytes, unlucky_rows, wide_rows
from distributed import Client, LocalCluster
from pyarrow import parquet

from eigenscape import KernelPCA
from eigenscape.app.cli.app import app
from eigenscape.app.methods import all_methods
from eigenscape.dictionary import partitions
from eigenscape.distributed import dictionary, write_parts
from eigenscape.distributed.cluster import connect
from eigenscape.exceptions import WriteError
from eigenscape.options import Dictionary
from eigenscape.quality import aligned_error

pytestmark = pytest.mark.dask

PARTS, ROWS = 5, 300


@pytest.fixture(scope="module")
def client(forked_workers):
    config = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.worker.memory.terminate": 0.95,
        "distributed.worker.memory.monitor-interval": "50ms",
        "distributed.nanny.pre-spawn-environ": {
            "OMP_NUM_THREADS": 1,
            "OPENBLAS_NUM_THREADS": 1,
            "MKL_NUM_THREADS": 1,
        },
    }
    with (
        dask.config.set(config),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            memory_limit="900MB",
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module", autouse=True)
def parts_are_asked():
    """Few rows are at hand, and few come together, so that partitions are asked."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(partitions, "_MIN_HEAD", 64)
        patched.setattr(dictionary, "pool_size", lambda _: 200)
        yield


def collection(read=made_rows, *args):
    parts = [
        da.from_delayed(delayed(read, pure=False)(number, ROWS, *args), (ROWS, 3), float)
        for number in range(PARTS)
    ]
    return da.concatenate(parts)


def numbers_of(model):
    return model.eigenvalues_, model.dictionary_, model.embedding_.compute(retries=3)


def model_with(**misfortune):
    return KernelPCA(kernel=Deadly(gamma=0.5, **misfortune), approximation=Dictionary(15))


@pytest.fixture(scope="module")
def undisturbed(client):
    return numbers_of(model_with().fit(collection()))


def assert_same(found, expected):
    for now, before in zip(found, expected, strict=True):
        np.testing.assert_array_equal(now, before)


@pytest.mark.product
def test_the_number_of_workers_changes_nothing(client, undisturbed):
    """One worker, two, or none: dask's own threads."""
    one = next(iter(client.nthreads()))
    with dask.config.set({"optimization.fuse.active": False}), dask.annotate(workers=[one]):
        assert_same(numbers_of(model_with().fit(collection())), undisturbed)
    with dask.config.set(scheduler=dask.threaded.get):  # old releases warn if it is given by its name
        assert_same(numbers_of(model_with().fit(collection())), undisturbed)


# --- the command line ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows") / "BIG"
    folder.mkdir()
    for number in range(3):
        table = pa.table(dict(zip("abc", made_rows(number, ROWS).T, strict=True)))
        parquet.write_table(table, folder / f"{number}.parquet", row_group_size=150)
    return folder


def run(*words):
    with pytest.raises(SystemExit) as ended:
        app([str(word) for word in words])
    return ended.value.code


def test_a_folder_is_embedded_part_by_part(client, folder, tmp_path, capsys):
    out, model, again = tmp_path / "OUT", tmp_path / "a.model", tmp_path / "AGAIN"
    address = client.scheduler.address
    words = ["-m", "kernel-pca", "--dictionary-size", 15, "--gamma", 0.5, "--dask", address]
    assert run("embed", folder, *words, "-o", out, "--save", model) == 0
    said = capsys.readouterr().err
    assert "900 rows in 6 partitions on 2 core(s): about" in said
    assert "dask dashboard: http" in said
    assert sorted(file.name for file in out.iterdir()) == [
        f"part-{number:05d}.parquet" for number in range(6)
    ]
    found = np.concatenate(
        [parquet.read_table(file).to_pandas().to_numpy() for file in sorted(out.iterdir())]
    )
    alone = KernelPCA(gamma=0.5, approximation=Dictionary(15)).fit(
        np.concatenate([made_rows(number, ROWS) for number in range(3)])
    )
    assert aligned_error(found, alone.embedding_) < 1e-3
    assert run("transform", model, folder, "--dask", address, "-o", again) == 0
    placed = np.concatenate(
        [parquet.read_table(file).to_pandas().to_numpy() for file in sorted(again.iterdir())]
    )
    np.testing.assert_allclose(placed, found, atol=1e-10)
    assert run("embed", folder, *words, "-o", out) == 2  # it is there
    assert "exists already" in capsys.readouterr().err
    assert run("embed", folder, *words, "-o", out, "--force", "--quiet") == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["AGAIN", "OUT", "a.model"]


def test_a_failure_leaves_no_part_of_the_output(client, folder, tmp_path, capsys):
    broken = tmp_path / "BROKEN"
    shutil.copytree(folder, broken)
    rows = made_rows(1, ROWS)
    rows[7, 2] = np.nan
    parquet.write_table(pa.table(dict(zip("abc", rows.T, strict=True))), broken / "3.parquet")
    model, out = tmp_path / "a.model", tmp_path / "OUT"
    address = client.scheduler.address
    assert (
        run("embed", folder, "-m", "kernel-pca", "--dictionary-size", 20, "--dask", address, "--save", model)
        == 0
    )
    assert run("transform", model, broken, "--dask", address, "-o", out) == 2
    assert "partition 6 of X: row(s) 7" in capsys.readouterr().err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["BROKEN", "a.model"]


def test_what_does_not_go_with_dask_is_refused_before_any_work(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(connect, "__defaults__", (0.5,))  # seconds to wait for an answer
    assert (
        run(
            "embed",
            folder,
            "-m",
            "pca",
            "--dask",
            "tcp://127.0.0.1:9",
            "-o",
            tmp_path / "OUT",
            "--plot",
            tmp_path / "a.png",
        )
        == 2
    )
    assert "--plot needs the rows in memory" in capsys.readouterr().err
    assert run("embed", folder, "-m", "pca", "--dask", "tcp://127.0.0.1:9", "-o", tmp_path / "OUT") != 0
    assert "no dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err
    assert run("embed", folder, "-m", "pca", "--dask", "local", "-o", tmp_path / "no" / "OUT") == 2
    assert "does not exist; create it first" in capsys.readouterr().err


def test_a_folder_of_other_files_is_never_overwritten(folder, tmp_path, capsys):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "part-00000.parquet").write_text("old")
    (precious / "thesis.tex").write_text("years of work")
    words = ["embed", folder, "-m", "pca", "--dask", "tcp://127.0.0.1:9", "--force"]
    assert run(*words, "-o", precious) == 2
    assert "contains thesis.tex, which is not a part-NNNNN.parquet file" in capsys.readouterr().err
    with pytest.raises(WriteError, match=r"thesis\.tex"):
        write_parts(precious, da.zeros((3, 2)), ["a", "b"], force=True)
    assert (precious / "thesis.tex").read_text() == "years of work"


def test_the_output_lies_apart_from_what_is_read_and_saved(folder, tmp_path, capsys):
    words = ["-m", "pca", "--dask", "tcp://127.0.0.1:9", "--force", "-o"]
    inputs, model = tmp_path / "IN" / "BIG", tmp_path / "M" / "a.model"
    shutil.copytree(folder, inputs)
    model.parent.mkdir()
    model.write_text("a model")
    (tmp_path / "link").symlink_to(inputs)
    for out, how in [
        (inputs, "is also"),
        (tmp_path / "link", "is also"),
        (inputs / "OUT", "is inside"),
        (inputs.parent, "contains"),
    ]:
        assert run("embed", inputs, *words, out) == 2
        assert f"{how} the input" in capsys.readouterr().err
        assert run("transform", model, inputs, *words[2:], out) == 2
        assert f"{how} the input" in capsys.readouterr().err
    assert run("transform", model, inputs, *words[2:], model.parent) == 2
    assert "contains the model" in capsys.readouterr().err
    assert run("embed", inputs, *words, tmp_path / "M", "--save", model) == 2
    assert "contains the target of --save" in capsys.readouterr().err
    assert sorted(file.name for file in inputs.iterdir()) == ["0.parquet", "1.parquet", "2.parquet"]


def test_a_folder_comes_back_when_its_successor_does_not(tmp_path, monkeypatch):
    out = tmp_path / "OUT"
    assert write_parts(out, da.zeros((3, 2)), ["a", "b"]) == 3
    rename, calls = os.rename, []

    def killed(source, target):
        calls.append(source)
        if len(calls) == 2:
            raise KeyboardInterrupt
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            write_parts(out, da.ones((4, 2)), ["a", "b"], force=True)
    assert parquet.read_table(out).num_rows == 3
    rename(out, tmp_path / ".OUT.0123.eigenscape-part-old")  # what a kill at that moment would leave
    with pytest.raises(FileExistsError, match="exists already"):
        write_parts(out, da.ones((4, 2)), ["a", "b"])
    assert parquet.read_table(out).num_rows == 3
    assert [each.name for each in tmp_path.iterdir()] == ["OUT"]


def test_what_cannot_be_done_is_refused_before_there_is_a_cluster(folder, tmp_path, capsys):
    nowhere = ["--dask", "tcp://127.0.0.1:9", "-o", tmp_path / "OUT"]
    for method in (name for name, cls in all_methods().items() if not cls._method.collections):
        assert run("embed", folder, "-m", method, *nowhere) == 2
        assert (
            f"{method} needs all rows in memory, so it does not work with --dask; embed some"
            in capsys.readouterr().err
        )
    table = tmp_path / "rows.csv"
    table.write_text("a,b\n1,2\n3,4\n")
    assert run("embed", table, "-m", "pca", *nowhere) == 2
    assert (
        "rows.csv cannot be divided into partitions for several machines; store it as parquet, zarr or npy"
        in capsys.readouterr().err
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
def test_an_interrupt_is_quiet(tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).random((1_500_000, 10), dtype=np.float32))
    words = ["-m", "greedy", "--dictionary-size", "400", "--dask", "local", "-o", "OUT"]
    code = "from eigenscape.app.cli.app import app\nif __name__ == '__main__':\n    app()\n"
    (tmp_path / "command.py").write_text(code)
    command = [sys.executable, "command.py", "embed", "rows.npy", *words]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        said = [process.stderr.readline(), process.stderr.readline()]
        assert "dask dashboard" in said[0]
        assert "rows in" in said[1]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: workers too
        assert process.stderr.read() == "interrupted; no file was left half-written\n"
    assert process.returncode == 130
    assert sorted(file.name for file in tmp_path.iterdir()) == ["command.py", "rows.npy"]


# --- memory -------------------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_the_rows(client):
    """400 000 rows of 20 float32 and a dictionary of 80: the values between them would take 256 MB. In
    proportion to 10^7 rows in 1 GB."""
    rows, before = 50_000, client.run(peak_megabytes)
    X = da.concatenate(
        [
            da.from_delayed(delayed(wide_rows, pure=False)(number, rows), (rows, 20), np.float32)
            for number in range(8)
        ]
    )
    model = KernelPCA(gamma=0.1, approximation=Dictionary(80, tol=1e-4)).fit(X)
    assert np.abs(model.embedding_.mean(axis=0).compute()).max() < 1e-3
    peaks = client.run(peak_megabytes)
    assert all(peaks[worker] - before[worker] < 100 for worker in peaks)


# --- faults -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", PHASES if PRODUCT else ["selection"])
def test_a_worker_killed_changes_nothing(client, undisturbed, tmp_path, phase):
    assert_same(numbers_of(model_with(phase=phase, marker=str(tmp_path)).fit(collection())), undisturbed)
    assert list(tmp_path.iterdir())  # it was killed indeed


@pytest.mark.product
def test_a_worker_killed_when_results_are_joined_changes_nothing(client, undisturbed, tmp_path):
    client.run(die_when_joining, str(tmp_path))
    assert_same(numbers_of(model_with().fit(collection())), undisturbed)
    assert list(tmp_path.iterdir())


@pytest.mark.product
def test_a_worker_out_of_memory_changes_nothing(client, undisturbed, tmp_path):
    assert_same(
        numbers_of(model_with(phase="accumulation", marker=str(tmp_path), how="memory").fit(collection())),
        undisturbed,
    )
    assert list(tmp_path.iterdir())


def test_a_read_that_fails_twice_is_tried_again(client, undisturbed, tmp_path):
    assert_same(numbers_of(model_with().fit(collection(unlucky_rows, str(tmp_path), 2))), undisturbed)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_read_that_always_fails_is_an_error(client, tmp_path):
    model = model_with()
    with pytest.raises(OSError, match="read error number"):
        model.fit(collection(unlucky_rows, str(tmp_path), 100))
    assert not hasattr(model, "eigenvalues_")


@pytest.mark.product
def test_rows_that_kill_every_worker_are_an_error(client, tmp_path):
    from distributed import KilledWorker

    model = model_with(phase="accumulation", marker=str(tmp_path), times=100)
    with dask.config.set({"eigenscape.retries": 0}), pytest.raises(KilledWorker):
        model.fit(collection())
    assert not hasattr(model, "eigenvalues_")
