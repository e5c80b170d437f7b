"""Odd tables of distances and similarities for every estimator that accepts them; see test_odd_data.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from eigenscape import estimators

#: The parameters that announce a table, and the kind of table.
TABLES: list[tuple[str, dict[str, Any], str]] = [
    *((name, {"metric": "precomputed"}, "distances") for name in
      ("ClassicalMDS", "LandmarkMDS", "FastMap", "MetricMap", "OrdinalMDS", "Isomap",
       "LocallyLinearEmbedding", "NeighborEmbedding", "PotentialMap")),
    *((name, {"affinity": kind}, of) for name in ("LaplacianEigenmaps", "DiffusionMap", "SpectralClustering")
      for kind, of in (("precomputed", "similarities"), ("precomputed_nearest_neighbors", "distances"))),
    *((name, {"kernel": "precomputed"}, "similarities") for name in ("KernelPCA", "GreedySpectralEmbedding")),
]  # fmt: skip


def odd_table(kind: str, rng: np.random.Generator) -> Any:
    """Return distances or similarities with up to two oddities, in one of several containers."""
    n = int(rng.choice([2, 3, 4, 7, 12, 25, 60]))
    points = rng.standard_normal((n, int(rng.choice([1, 2, 3, 8]))))
    if rng.random() < 0.3:  # twins
        points = points[rng.integers(max(1, n // 2), size=n)]
    table = cdist(points, points, str(rng.choice(["euclidean", "cityblock", "chebyshev"])))
    if kind == "similarities":
        table = points @ points.T if rng.random() < 0.2 else np.exp(-(table**2))
    for number in rng.choice(len(ODDITIES), size=int(rng.integers(0, 3)), replace=False):
        with np.errstate(over="ignore"):
            table = ODDITIES[number](table, rng) if table.size else table
    return _CONTAINERS[rng.choice(len(_CONTAINERS), p=_SHARES)](table)


def _pair(table: np.ndarray, rng: np.random.Generator, value: float) -> np.ndarray:
    """Set an entry and its mirror image."""
    table = table.copy()
    if len(table) > 1:
        i, j = rng.choice(len(table), size=2, replace=False)
        table[i, j % table.shape[1]] = value
        if i < table.shape[1] and j < len(table):
            table[j, i] = value
    return table


def _huge_pair(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return _pair(table, rng, float(rng.choice([1e6, 1e30, 1e59, 1e155, 1e200, np.finfo(float).max])))


def _wrong_pair(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return _pair(table, rng, float(rng.choice([np.nan, np.inf, -np.inf, -1.0, -1e-300])))


def _tiny_pair(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return _pair(table, rng, float(rng.choice([0.0, -0.0, 5e-324, 1e-200, 1e-17])))


def _asymmetric(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    table = table.copy()
    table[0, -1] *= 1 + rng.choice([1e-15, 1e-12, 1e-6, 1.0])
    return table


def _scaled(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return table * 10.0 ** rng.choice([-320, -150, -59, -20, 20, 59, 100, 155, 300])


def _not_square(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (
        table[:, : rng.integers(table.shape[1])] if rng.random() < 0.5 else table[: rng.integers(len(table))]
    )


def _with_diagonal(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    table = table.copy()
    np.fill_diagonal(table, rng.choice([0.0, 1.0, -1.0, 1e-12, 1e9]))
    return table


def _isolated(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    table = table.copy()
    table[0], table[:, 0] = 0.0, 0.0
    return table


def _constant(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.full_like(table, rng.choice([0.0, 1.0, -1.0])) - np.eye(*table.shape) * rng.choice([0.0, 1.0])


def _rounded(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.round(table)


def _no_metric(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.abs(table) ** rng.choice([0.1, 4.0])


def _thin(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Remove most entries, so that the graph may fall apart; infinite ones are not stored if sparse."""
    kept = rng.random(table.shape) < 0.2
    kept = kept | kept.T if table.shape[0] == table.shape[1] else kept
    return np.where(kept | np.eye(*table.shape, dtype=bool), table, rng.choice([0.0, np.inf]))


ODDITIES = (
    _huge_pair, _wrong_pair, _tiny_pair, _asymmetric, _scaled, _not_square, _with_diagonal, _isolated,
    _constant, _rounded, _no_metric, _thin,
)  # fmt: skip


def _single(table: np.ndarray) -> Any:
    with np.errstate(over="ignore"):
        return table.astype(np.float32)


def _integers(table: np.ndarray) -> Any:
    return np.nan_to_num(np.clip(table, -1e9, 1e9)).astype(np.int64)


def _stored(table: np.ndarray, reverse: bool = False) -> sparse.csr_array:
    """Return a sparse matrix that stores zeros, and no infinite entries; with unsorted indices if asked."""
    rows, columns = np.nonzero(table != np.inf)
    order = np.lexsort((-columns if reverse else columns, rows))
    pointers = np.searchsorted(rows, np.arange(len(table) + 1))
    columns = columns[order]
    return sparse.csr_array((table[rows, columns], columns, pointers), shape=table.shape)


_CONTAINERS = (
    lambda table: table,
    _single,
    _integers,
    _stored,
    lambda table: sparse.csc_matrix(_stored(_single(table))),
    lambda table: _stored(table, reverse=True),
    lambda table: table.tolist(),
    lambda table: table.astype(str),
    lambda table: table.astype(complex),
    lambda table: table.astype(object),
    lambda table: np.asfortranarray(table)[::-1][::-1],
)
_SHARES = np.array([0.4, 0.1, 0.06, 0.2, 0.06, 0.06, 0.03, 0.02, 0.02, 0.02, 0.03])


def draw_estimator(case: int) -> tuple[type, dict[str, Any], str]:
    """Return an estimator, the parameters that announce a table, and its kind."""
    name, params, kind = TABLES[case % len(TABLES)]
    return getattr(estimators, name), dict(params), kind
