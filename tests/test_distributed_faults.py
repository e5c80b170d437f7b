"""Faults on a real cluster with processes of its own: the same numbers in the end, or a clear error and nothing half done."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest
from deadly import PHASES, Deadly, made_rows, unlucky_rows
from dask.delayed import delayed
from distributed import Client, LocalCluster

from eigenscape import KernelPCA

PARTS, ROWS = 5, 300


@pytest.fixture(scope="module")
def client():
    config = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.worker.memory.terminate": 0.95,
        "distributed.worker.memory.monitor-interval": "50ms",
        "distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1, "MKL_NUM_THREADS": 1},
    }
    with (
        dask.config.set(config),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, memory_limit="900MB", host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def collection(read=made_rows, *args):
    parts = [da.from_delayed(delayed(read, pure=False)(number, ROWS, *args), (ROWS, 3), float) for number in range(PARTS)]
    return da.concatenate(parts)


def numbers_of(model):
    return model.eigenvalues_, model.dictionary_, model.embedding_.compute(retries=3)


def model_with(**misfortune):
    return KernelPCA(kernel=Deadly(gamma=0.5, **misfortune), dictionary_size=30)


@pytest.fixture(scope="module")
def undisturbed(client):
    return numbers_of(model_with().fit(collection()))


def assert_same(found, expected):
    for now, before in zip(found, expected, strict=True):
        np.testing.assert_array_equal(now, before)


def test_the_number_of_workers_changes_nothing(client, undisturbed):
    """One worker, two, or none: dask's own threads."""
    one = next(iter(client.nthreads()))
    with dask.config.set({"optimization.fuse.active": False}), dask.annotate(workers=[one]):
        assert_same(numbers_of(model_with().fit(collection())), undisturbed)
    with dask.config.set(scheduler="threads"):
        assert_same(numbers_of(model_with().fit(collection())), undisturbed)


@pytest.mark.parametrize("phase", PHASES)
def test_a_worker_killed_changes_nothing(client, undisturbed, tmp_path, phase):
    assert_same(numbers_of(model_with(phase=phase, marker=str(tmp_path)).fit(collection())), undisturbed)
    assert list(tmp_path.iterdir())  # it was killed indeed


def test_a_worker_out_of_memory_changes_nothing(client, undisturbed, tmp_path):
    assert_same(numbers_of(model_with(phase="accumulation", marker=str(tmp_path), how="memory").fit(collection())), undisturbed)
    assert list(tmp_path.iterdir())


def test_a_read_that_fails_twice_is_tried_again(client, undisturbed, tmp_path):
    assert_same(numbers_of(model_with().fit(collection(unlucky_rows, str(tmp_path), 2))), undisturbed)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_read_that_always_fails_is_an_error(client, tmp_path):
    model = model_with()
    with pytest.raises(OSError, match="read error number"):
        model.fit(collection(unlucky_rows, str(tmp_path), 100))
    assert not hasattr(model, "eigenvalues_")


def test_rows_that_kill_every_worker_are_an_error(client, tmp_path):
    from distributed import KilledWorker

    model = model_with(phase="accumulation", marker=str(tmp_path), times=100)
    with dask.config.set({"eigenscape.retries": 0}), pytest.raises(KilledWorker):
        model.fit(collection())
    assert not hasattr(model, "eigenvalues_")
