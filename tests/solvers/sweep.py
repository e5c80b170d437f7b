"""Eigenproblems of graphs of all kinds, solved by default and compared with references.

    python tests/solvers/sweep.py --cases 100 --points 10000 300000 --seed 1

prints one line for each graph: the method, its processor time beside the fastest of SciPy's ``eigsh``,
Lanczos iteration, sparse factors and the hierarchy, the angle that was promised, and the residual.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from eigenscape.exceptions import NotConvergedError, NotConvergedWarning
from eigenscape.graph.components import component_labels, connect
from eigenscape.graph.neighborhood import nearest_neighbor_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.operators import SparseOperator
from eigenscape.solvers import EigenPairs, SemidefiniteProblem, SolverConfig, smallest
from eigenscape.solvers.width import graph_shape, hierarchy_fill

Points = Callable[[int, np.random.Generator], np.ndarray]


def roll(n: int, rng: np.random.Generator) -> np.ndarray:
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    return np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)])


def two_rolls(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([roll(n // 2, rng), roll(n - n // 2, rng) + np.array([80, 0, 0])])


def strip(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((n, 2)) * [30, 1]


def sheet(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((n, 2))


def ball(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((n, 3))


def line(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.column_stack([rng.random(n), 1e-3 * rng.normal(size=n)])


def ring(n: int, rng: np.random.Generator) -> np.ndarray:
    t = 2 * np.pi * rng.random(n)
    return np.column_stack([np.cos(t), np.sin(t)]) + 0.01 * rng.normal(size=(n, 2))


def tree(n: int, rng: np.random.Generator) -> np.ndarray:
    X = 0.002 * rng.normal(size=(n, 10))
    X[np.arange(n), rng.integers(10, size=n)] += rng.random(n)
    return X


def clusters(n: int, rng: np.random.Generator, distance: float = 10.0) -> np.ndarray:
    centers = distance * rng.normal(size=(20, 30))
    return centers[rng.integers(20, size=n)] + rng.normal(size=(n, 30))


def touching(n: int, rng: np.random.Generator) -> np.ndarray:
    return clusters(n, rng, distance=0.8)


def nested(n: int, rng: np.random.Generator) -> np.ndarray:
    centers = 30 * rng.normal(size=(4, 1, 5)) + 4 * rng.normal(size=(4, 5, 5))
    return centers.reshape(20, 5)[rng.integers(20, size=n)] + rng.normal(size=(n, 5))


def cloud(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(n, 20))


def duplicates(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.round(rng.random((n, 2)) * np.sqrt(n) / 3)


POINTS: dict[str, Points] = {
    kind.__name__: kind
    for kind in (
        roll,
        two_rolls,
        strip,
        sheet,
        ball,
        line,
        ring,
        tree,
        clusters,
        touching,
        nested,
        cloud,
        duplicates,
    )
}


def star(n: int, rng: np.random.Generator) -> sparse.csr_array:
    """Arms of random lengths around one vertex."""
    parent = np.where(rng.random(n - 1) < 20 / n, 0, np.arange(n - 1))
    return symmetric(np.arange(1, n), parent, rng.uniform(0.5, 1, n - 1), n)


def hubs(n: int, rng: np.random.Generator) -> sparse.csr_array:
    """A ring whose vertices are also joined to a few hubs."""
    i = np.arange(n)
    joined = i[rng.random(n) < 0.3]
    rows, columns = (
        np.concatenate([i, joined]),
        np.concatenate([(i + 1) % n, rng.integers(5, size=len(joined))]),
    )
    return symmetric(rows, columns, np.where(np.arange(len(rows)) < n, 1.0, 0.01), n)


def power_law(n: int, rng: np.random.Generator) -> sparse.csr_array:
    """Each vertex is joined to three earlier ones, mostly to early ones."""
    i = np.repeat(np.arange(1, n), 3)
    return symmetric(i, (i * rng.random(len(i)) ** 2).astype(int), rng.uniform(0.1, 1, len(i)), n)


def weakly_joined(n: int, rng: np.random.Generator) -> sparse.csr_array:
    """Three strips that edges of weights down to 1e-12 join."""
    W = symmetric(np.arange(n - 1), np.arange(1, n), np.ones(n - 1), n).tolil()
    for cut in (n // 3, n // 2):
        W[cut, cut + 1] = W[cut + 1, cut] = 10.0 ** -rng.integers(3, 13)
    return sparse.csr_array(W)


GRAPHS: dict[str, Callable[[int, np.random.Generator], sparse.csr_array]] = {
    kind.__name__: kind for kind in (star, hubs, power_law, weakly_joined)
}


def symmetric(rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, n: int) -> sparse.csr_array:
    keep = rows != columns
    W = sparse.csr_array((weights[keep], (rows[keep], columns[keep])), shape=(n, n))
    return sparse.csr_array(W + W.T)


@dataclass(frozen=True, eq=False)
class Graph:
    """The normalised Laplacian of a connected graph."""

    matrix: sparse.csr_array
    problem: SemidefiniteProblem
    parts: np.ndarray | None


def graph_of(kind: str, n: int, seed: int, weights: str = "ones") -> Graph:
    """Return a graph of about ``n`` vertices; components of neighbourhood graphs are connected."""
    rng = np.random.default_rng([seed, n])
    parts = None
    if kind in GRAPHS:
        W = GRAPHS[kind](n, rng)
    else:
        index = neighbor_index(np.unique(POINTS[kind](n, rng), axis=0))
        graph = nearest_neighbor_graph(index, 10)
        labels = component_labels(graph.distances)
        if labels.max() > 0:
            graph, parts = connect(graph, labels), labels
        W = sparse.csr_array(graph.distances)
        W = sparse.csr_array(W.maximum(W.T))
        width = np.median(W.data)
        W.data = np.ones_like(W.data) if weights == "ones" else np.exp(-((W.data / width) ** 2)) + 1e-12
    return laplacian(W, parts)


def laplacian(W: sparse.csr_array, parts: np.ndarray | None = None) -> Graph:
    """Return the normalised Laplacian of a weighted graph."""
    degree = np.asarray(W.sum(axis=1)).ravel()
    root = sparse.diags_array(1 / np.sqrt(degree))
    L = sparse.csr_array(sparse.eye_array(len(degree)) - root @ W @ root)
    return Graph(L, SemidefiniteProblem(SparseOperator(L), np.sqrt(degree / degree.sum()), 2.0), parts)


@dataclass(frozen=True)
class Answer:
    """Pairs, the promised angle, and the seconds of processor time."""

    pairs: EigenPairs
    promised: float
    seconds: float


def solve(graph: Graph, count: int, method: str = "auto", tol: float = 1e-10) -> Answer:
    """Solve as estimators do."""
    began = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        pairs = smallest(graph.problem, count, SolverConfig(method, tol=tol, parts=graph.parts))
    seconds = time.process_time() - began
    slack = [str(one.message) for one in caught if issubclass(one.category, NotConvergedWarning)]
    promised = float(slack[0].split("about ")[1].split()[0]) if slack else tol
    return Answer(pairs, promised, seconds)


def angle_to(vectors: np.ndarray, values: np.ndarray, pairs: EigenPairs) -> float:
    """Return the largest angle of a subspace of the pairs to reference vectors, of which there may be more.

    Eigenvalues that differ by little belong to one subspace, which may extend beyond the pairs.
    """
    count, worst, first = len(pairs), 0.0, 0
    while first < count:
        last = first + 1
        while last < len(values) and values[last] - values[last - 1] < 1e-4 * values[last] + 1e-13:
            last += 1
        ours, theirs = pairs.vectors[:, first : min(last, count)], vectors[:, first:last]
        worst = max(worst, float(np.max(subspace_angles(ours, theirs))))
        first = last
    return worst


def reference(graph: Graph, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and eigenvectors next to the null vector, by LAPACK."""
    null = graph.problem.null
    values, vectors = np.linalg.eigh(graph.matrix.toarray() + 4 * np.outer(null, null))
    return values[:count], vectors[:, :count]


class TimeUp(BaseException):  # not an Exception, which NumPy replaces by others
    """Raised when the time of a method is over."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeUp after so many seconds of processor time."""

    def stop(number: int, frame: object) -> None:
        raise TimeUp

    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def best_time(graph: Graph, count: int, limit: float) -> tuple[float, str]:
    """Return the shortest time of the single methods that take less than ``limit``, and its name."""
    shifted = 2 * sparse.eye_array(graph.matrix.shape[0]) - graph.matrix
    methods: dict[str, Callable[[], object]] = {
        "eigsh": lambda: eigsh(shifted, count + 1, which="LA", ncv=max(40, 2 * count), maxiter=300)
    }
    # Methods that fill in are left out: they are slower, and compiled code cannot be interrupted.
    levels, factors = hierarchy_fill(graph.matrix) <= 20, graph_shape(graph.matrix).is_thin
    for name in ("lanczos", *["multilevel"] * levels, *["shift-invert"] * factors):
        methods[name] = partial(solve, graph, count, name)
    best, fastest = limit, "auto"
    for name, method in methods.items():
        began = time.process_time()
        # Compiled code that is interrupted raises SystemError.
        with (
            suppress(ArpackNoConvergence, NotConvergedError, MemoryError, TimeUp, SystemError),
            limited(best),
        ):
            method()
            best, fastest = time.process_time() - began, name
    return best, fastest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--points", type=int, nargs=2, default=(10_000, 300_000))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compare", action="store_true", help="run the single methods too")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    kinds = [*POINTS, *GRAPHS]
    failed = 0
    for case in range(options.cases):
        kind, n = kinds[case % len(kinds)], int(np.exp(rng.uniform(*np.log(options.points))))
        count, weights = int(rng.choice([1, 2, 3, 10])), str(rng.choice(["ones", "heat"]))
        graph = graph_of(kind, n, int(rng.integers(10**6)), weights)
        try:
            answer = solve(graph, count)
        except Exception as error:
            failed += 1
            print(f"{kind:14} {n:7} {weights:5} {count:3} FAILED {type(error).__name__}: {error}", flush=True)
            continue
        beside = ""
        if options.compare:
            shortest, name = best_time(graph, count, answer.seconds)
            beside = f"  {answer.seconds / shortest:5.2f} x {name}"
        print(
            f"{kind:14} {n:7} {weights:5} {count:3} {answer.pairs.solver:13} {answer.seconds:7.2f} s"
            f"  promised {answer.promised:.0e}  residual {answer.pairs.residuals.max():.0e}{beside}",
            flush=True,
        )
    print(f"{options.cases - failed} of {options.cases} answered")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
