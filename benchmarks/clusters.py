"""Contenders on dask: the same rows, made block by block where they are used, on one or two processes of this
machine."""

from __future__ import annotations

import atexit
from functools import cache
from typing import Any

import numpy as np

#: Rows of a block, and columns: 40 MB in single precision.
BLOCK, COLUMNS = 500_000, 20


def made_rows(n: int) -> Any:
    """A dask array (n, 20) of float32 rows that are made when used: a random turn of Gaussians of falling
    variance."""
    import dask.array as da
    from dask import delayed

    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    make = delayed(made_block, pure=True)
    return da.concatenate(
        [da.from_delayed(make(i, size), (size, COLUMNS), np.float32) for i, size in enumerate(sizes)]
    )


def made_block(number: int, size: int) -> np.ndarray:
    """The rows of one block."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((COLUMNS, COLUMNS)))[0] * 0.8 ** np.arange(
        COLUMNS
    )
    return np.random.default_rng([1, number]).standard_normal(
        (size, COLUMNS), dtype=np.float32
    ) @ turn.T.astype(np.float32)


@cache
def processes(n_workers: int, memory_limit: str = "auto") -> Any:
    """A client of so many processes of one thread each; the warm-up starts them, the end of the process ends
    them."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        memory_limit=memory_limit,
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
    )
    client = Client(cluster)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client


def forget_peaks(client: Any) -> None:
    """From now on workers count their highest memory anew."""
    from benchmarks.worker import forget_peak, memory

    client.run(forget_peak)
    client.resident = client.run(memory, "VmRSS")


def worker_bytes(client: Any) -> int:
    """What all workers together have had at most, each at its own time, above what they had before."""
    from benchmarks.worker import memory

    return sum(max(0, peak - client.resident[worker]) for worker, peak in client.run(memory, "VmHWM").items())


class OnProcesses:
    """An estimator of dask collections. Rows are made once and stay with the workers; of their embedding only
    the sum comes back."""

    def __init__(self, library: str, n_workers: int, n_components: int = 5) -> None:
        self.library, self.n_workers, self.n_components = library, n_workers, n_components

    def fit(self, X: Any) -> OnProcesses:
        """Fit, and place all rows."""
        if self.library == "dask-ml":
            from dask_ml.decomposition import PCA

            model = PCA(self.n_components, svd_solver="tsqr")
        else:
            from eigenscape import PCA

            model = PCA(self.n_components)
        client = processes(self.n_workers)
        forget_peaks(client)
        with client.as_current():
            X = X.persist()
            self.total_ = model.fit(X).transform(X).sum(axis=0).compute()
        self.worker_bytes_ = worker_bytes(client)
        self.components_ = model.components_
        return self


class OneProcess:
    """eigenscape without dask: all rows made, and held, in this process."""

    def __init__(self, n_components: int = 5) -> None:
        self.n_components = n_components

    def fit(self, X: Any) -> OneProcess:
        """Make the rows, fit, and place them all."""
        from eigenscape import PCA

        rows = np.empty(X.shape, dtype=np.float32)
        for number in range(X.numblocks[0]):
            rows[number * BLOCK : (number + 1) * BLOCK] = made_block(number, X.chunks[0][number])
        model = PCA(self.n_components).fit(rows)
        self.total_ = model.embedding_.sum(axis=0, dtype=np.float64)
        self.components_ = model.components_
        return self
