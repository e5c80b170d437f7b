"""Clusters that are lost during a computation, and encrypted ones."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

import dask
import dask.array as da
import numpy as np
import pytest
from deadly import run_quietly
from distributed.utils import get_mp_context

from eigenscape import PCA
from eigenscape.distributed import cluster as cluster_module
from eigenscape.distributed.cluster import connect, watched
from eigenscape.exceptions import SchedulerError

pytestmark = [pytest.mark.dask, pytest.mark.usefixtures("forked_workers")]


class Cluster(NamedTuple):
    address: str
    scheduler: BaseProcess
    worker: BaseProcess


@contextmanager
def cluster(folder: Path, protocol: str = "tcp", options: str = "") -> Iterator[Cluster]:
    """Start a scheduler and a worker that is not started again when it ends."""
    file = folder / "scheduler.json"
    shared = f"--protocol {protocol} --no-dashboard --scheduler-file {file} {options}"

    def start(module: str, arguments: str) -> BaseProcess:
        words = [f"distributed.cli.{module}", *shlex.split(arguments)]
        process: BaseProcess = get_mp_context().Process(target=run_quietly, args=(folder, words))
        process.start()
        return process

    scheduler = start("dask_scheduler", f"{shared} --host 127.0.0.1 --port 0")
    worker = start("dask_worker", f"{shared} --no-nanny --nthreads 1")
    try:
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        yield Cluster(json.loads(file.read_text())["address"], scheduler, worker)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.join()


def test_a_lost_scheduler_is_one_error(tmp_path):
    with cluster(tmp_path) as processes, connect(processes.address, timeout=30) as client:
        client.wait_for_workers(1, timeout=60)
        waiting = client.submit(time.sleep, 120)
        processes.scheduler.kill()
        with pytest.raises(SchedulerError, match="was lost"), watched(client, processes.address, print):
            waiting.result(timeout=60)


def test_the_loss_of_all_workers_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "_PERIOD", 0.2)
    messages: list[str] = []
    with cluster(tmp_path) as processes, connect(processes.address, timeout=30) as client:
        client.wait_for_workers(1, timeout=60)
        waiting = client.submit(time.sleep, 120)
        with watched(client, processes.address, messages.append):
            processes.worker.kill()
            for _ in range(300):
                if messages:
                    break
                time.sleep(0.1)
            waiting.cancel()
    assert len(messages) == 1
    assert "no worker is left" in messages[0]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make certificates")
def test_an_encrypted_cluster(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout {key}"
    subprocess.run(shlex.split(f"{command} -out {certificate}"), check=True, capture_output=True)
    options = f"--tls-ca-file {certificate} --tls-cert {certificate} --tls-key {key}"
    tls = {
        "distributed.comm.tls.ca-file": str(certificate),
        "distributed.comm.tls.client.cert": str(certificate),
        "distributed.comm.tls.client.key": str(key),
    }
    X = np.random.default_rng(0).random((200, 5))
    with cluster(tmp_path, "tls", options) as processes, dask.config.set(tls):
        assert processes.address.startswith("tls://")
        with connect(processes.address, timeout=30) as client:
            client.wait_for_workers(1, timeout=60)
            found = PCA(2).fit(da.from_array(X, chunks=(50, 5)))
    np.testing.assert_allclose(found.eigenvalues_, PCA(2).fit(X).eigenvalues_, rtol=1e-10)
