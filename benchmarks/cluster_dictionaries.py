"""Contenders on dask that learn a dictionary, or the sample of Nystrom's method that dask-ml has: kernel PCA
and spectral clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clusters import forget_peaks, processes, worker_bytes

#: Rows of a block, columns, groups; members of the dictionary and rows of dask-ml's sample.
BLOCK, COLUMNS, GROUPS, MEMBERS = 100_000, 20, 8, 100
#: Width of the Gaussian: rows of a group are similar, those of two are not.
GAMMA = 0.02


def made_groups(n: int) -> Any:
    """A dask array (n, 20) of float32 rows around eight centres, made when used."""
    import dask.array as da
    from dask import delayed

    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    make = delayed(made_block, pure=True)
    return da.concatenate(
        [da.from_delayed(make(i, size), (size, COLUMNS), np.float32) for i, size in enumerate(sizes)]
    )


def made_block(number: int, size: int) -> np.ndarray:
    """The rows of one block."""
    centres = 4 * np.random.default_rng(0).standard_normal((GROUPS, COLUMNS), dtype=np.float32)
    rng = np.random.default_rng([2, number])
    return centres[rng.integers(GROUPS, size=size)] + rng.standard_normal((size, COLUMNS), dtype=np.float32)


def true_groups(n: int) -> np.ndarray:
    """Which centre each row is around."""
    return np.concatenate(
        [
            np.random.default_rng([2, i]).integers(GROUPS, size=min(BLOCK, n - start))
            for i, start in enumerate(range(0, n, BLOCK))
        ]
    )


class GroupsOnProcesses:
    """Spectral clustering of a dask collection, whose labels come back. Rows are made in every pass."""

    def __init__(self, library: str, n_workers: int) -> None:
        self.library, self.n_workers = library, n_workers

    def fit(self, X: Any) -> GroupsOnProcesses:
        """Fit, and label all rows."""
        if self.library == "dask-ml":
            from dask_ml.cluster import SpectralClustering

            # Its own k-means ends with a KeyError in most runs, and is slower where it does not.
            model = SpectralClustering(
                GROUPS, gamma=GAMMA, n_components=MEMBERS, random_state=0, assign_labels="sklearn-kmeans"
            )
        else:
            from eigenscape import SpectralClustering

            model = SpectralClustering(GROUPS, affinity="rbf", gamma=GAMMA, dictionary_size=MEMBERS, n_init=1)
        client = processes(self.n_workers)
        forget_peaks(client)
        with client.as_current():
            self.labels_ = np.asarray(model.fit(X).labels_)
        self.worker_bytes_ = worker_bytes(client)
        return self


class KernelOnProcesses:
    """Kernel PCA of a dask collection with a dictionary; of the embedding only the sum comes back. No
    workers: no dask at all."""

    def __init__(self, n_workers: int, members: int = MEMBERS, memory_limit: str = "auto") -> None:
        self.n_workers, self.members, self.memory_limit = n_workers, members, memory_limit

    def fit(self, X: Any) -> KernelOnProcesses:
        """Fit, and place all rows; where memory is limited these are made anew in every pass."""
        from eigenscape import KernelPCA

        model = KernelPCA(2, gamma=GAMMA, dictionary_size=self.members)
        if self.n_workers == 0:
            rows = np.concatenate([made_block(number, size) for number, size in enumerate(X.chunks[0])])
            self.total_ = model.fit(rows).embedding_.sum(axis=0)
            self.dictionary_ = model.dictionary_
            return self
        client = processes(self.n_workers, self.memory_limit)
        forget_peaks(client)
        with client.as_current():
            X = X.persist() if self.memory_limit == "auto" else X
            self.total_ = model.fit(X).embedding_.sum(axis=0).compute()
        self.worker_bytes_ = worker_bytes(client)
        self.dictionary_ = model.dictionary_
        return self
