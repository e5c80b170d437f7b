"""Kernel PCA and spectral clustering on dask, with a dictionary (eigenscape) or a random sample (dask-ml)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clusters import local_client, reset_peak_memory_of_workers, worker_bytes
from eigenscape.options import Dictionary

#: Rows per block, columns, groups, and size of the dictionary and of the sample of dask-ml.
BLOCK, COLUMNS, GROUPS, MEMBERS = 100_000, 20, 8, 100
#: Coefficient of the Gaussian kernel: rows of the same group are similar, rows of different groups are not.
GAMMA = 0.02


def generate_groups(n: int) -> Any:
    """Return a dask array (n, 20) of float32 rows around eight centres, generated lazily."""
    import dask.array as da
    from dask import delayed

    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    make = delayed(generate_block, pure=True)
    return da.concatenate(
        [da.from_delayed(make(i, size), (size, COLUMNS), np.float32) for i, size in enumerate(sizes)]
    )


def generate_block(number: int, size: int) -> np.ndarray:
    """Return the rows of one block."""
    centres = 4 * np.random.default_rng(0).standard_normal((GROUPS, COLUMNS), dtype=np.float32)
    rng = np.random.default_rng([2, number])
    return centres[rng.integers(GROUPS, size=size)] + rng.standard_normal((size, COLUMNS), dtype=np.float32)


def true_groups(n: int) -> np.ndarray:
    """Return the group of each row."""
    return np.concatenate(
        [
            np.random.default_rng([2, i]).integers(GROUPS, size=min(BLOCK, n - start))
            for i, start in enumerate(range(0, n, BLOCK))
        ]
    )


class DaskSpectralClustering:
    """Spectral clustering of a dask array. Rows are generated anew in each pass over the data."""

    def __init__(self, library: str, n_workers: int) -> None:
        self.library, self.n_workers = library, n_workers

    def fit(self, X: Any) -> DaskSpectralClustering:
        """Fit and compute the labels of all rows."""
        if self.library == "dask-ml":
            from dask_ml.cluster import SpectralClustering

            # The k-means of dask-ml raises a KeyError in most runs, and is slower in the others.
            model = SpectralClustering(
                GROUPS, gamma=GAMMA, n_components=MEMBERS, random_state=0, assign_labels="sklearn-kmeans"
            )
        else:
            from eigenscape import SpectralClustering

            model = SpectralClustering(
                GROUPS, affinity="rbf", gamma=GAMMA, n_init=1, approximation=Dictionary(MEMBERS)
            )
        client = local_client(self.n_workers)
        reset_peak_memory_of_workers(client)
        with client.as_current():
            self.labels_ = np.asarray(model.fit(X).labels_)
        self.worker_bytes_ = worker_bytes(client)
        return self


class DaskKernelPCA:
    """Kernel PCA of a dask array with a dictionary; only the sum of the embedding is computed.

    With ``n_workers=0`` dask is not used.
    """

    def __init__(self, n_workers: int, members: int = MEMBERS, memory_limit: str = "auto") -> None:
        self.n_workers, self.members, self.memory_limit = n_workers, members, memory_limit

    def fit(self, X: Any) -> DaskKernelPCA:
        """Fit and embed all rows; if memory is limited, rows are generated anew in each pass."""
        from eigenscape import KernelPCA

        model = KernelPCA(2, gamma=GAMMA, approximation=Dictionary(self.members))
        if self.n_workers == 0:
            rows = np.concatenate([generate_block(number, size) for number, size in enumerate(X.chunks[0])])
            self.total_ = model.fit(rows).embedding_.sum(axis=0)
            self.dictionary_ = model.dictionary_
            return self
        client = local_client(self.n_workers, self.memory_limit)
        reset_peak_memory_of_workers(client)
        with client.as_current():
            X = X.persist() if self.memory_limit == "auto" else X
            self.total_ = model.fit(X).embedding_.sum(axis=0).compute()
        self.worker_bytes_ = worker_bytes(client)
        self.dictionary_ = model.dictionary_
        return self
