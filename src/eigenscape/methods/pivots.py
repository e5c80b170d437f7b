"""FastMap and MetricMap as Nystrom methods (Burges sec. 3; Platt 2005).

All landmark methods place a point by its inner products ``b`` with a few points: ``y = W' b``. With ``A`` the
matrix of inner products between these points, ``W W'`` approximates ``A^-1`` (Burges eq. 1.22). The methods
differ in the origin and in ``W``:

============  ===================  ==========================================================================
method        origin               ``W``
============  ===================  ==========================================================================
landmark MDS  mean of landmarks    ``U L^-1/2``: eigenvectors of ``A``
MetricMap     one landmark         eigenvectors of ``A``, largest in magnitude; solved for from as many
                                   reference points as there are coordinates
FastMap       one pivot of a pair  ``T^-1'``: the triangular factor of ``A``, between pairs of pivots
============  ===================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from eigenscape._progress import stage
from eigenscape.eigenfunctions import Eigenfunctions, Embedding, Landmarks, RootScale
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import BoundKernel
from eigenscape.methods.kernel_pca import leading_pairs, with_components
from eigenscape.methods.landmark_mds import OTHER_LANDMARKS
from eigenscape.normalize import center
from eigenscape.operators import CenteredOperator, gram
from eigenscape.solvers import EigenPairs, Order, SolverConfig
from eigenscape.solvers.pairs import column_signs

_EPS = np.finfo(np.float64).eps


def choose_pivots(
    row: Callable[[int], np.ndarray], n: int, n_components: int, n_rounds: int, seed: int
) -> np.ndarray:
    """Choose at most ``n_components`` pairs of pivots for FastMap, each far apart in the deflated distances.

    ``row(i)`` returns the squared distances (n,) of point ``i``. The search for a pair starts at a random
    point and moves to the farthest point ``2 * n_rounds`` times. Then the distances are deflated,
    ``d^2(x, y) - (y_r(x) - y_r(y))^2``, until no two points with a positive distance are found. Two rows of
    distances per round, O(n) memory per coordinate. Returns an array (n_pairs, 2).
    """
    deflated = _DeflatedRows(row, np.zeros((n, 0)))
    pivots = np.empty((n_components, 2), dtype=np.intp)
    rng = np.random.default_rng(seed)
    scale = 0.0
    with stage("pivots", total=n_components) as advance:
        for r in range(n_components):
            for _ in range(20):  # deflated non-Euclidean distances may vanish around a random start
                a, b, from_b = _distant_pair(deflated, int(rng.integers(n)), n_rounds)
                if a != b and from_b[a] > 100 * n_components * _EPS * scale:
                    break
            else:
                return pivots[:r]
            scale = max(scale, from_b[a])
            pivots[r] = a, b
            along = (deflated(a) + from_b[a] - from_b) / (2 * np.sqrt(from_b[a]))
            deflated = _DeflatedRows(row, np.column_stack([deflated.coordinates, along]))
            advance(1)
    return pivots


@dataclass(frozen=True, eq=False)
class _DeflatedRows:
    """Squared distances (n,) of a point minus the squared distances on the map ``coordinates`` (n, r)."""

    row: Callable[[int], np.ndarray]
    coordinates: np.ndarray

    def __call__(self, i: int) -> np.ndarray:
        return self.row(i) - np.square(self.coordinates - self.coordinates[i]).sum(axis=1)


def _distant_pair(row: Callable[[int], np.ndarray], a: int, n_rounds: int) -> tuple[int, int, np.ndarray]:
    """Return two distant points, found by moving to the farthest point repeatedly, and the second's row."""
    for _ in range(n_rounds):
        b = int(np.argmax(row(a)))
        from_b = row(b)
        a = int(np.argmax(from_b))
    return a, b, from_b


def fastmap(
    distance: BoundKernel, landmarks: np.ndarray, pivots: np.ndarray, n_jobs: int | None = None
) -> Embedding:
    """Return coordinates along the lines through ``pivots`` (p, 2), each orthogonal to the earlier ones.

    ``distance`` is bound to the points ``landmarks``, which include the pivots. With ``d_r = b_r - a_r`` the
    matrix ``A`` of the inner products of the ``d_r`` is ``T T'``, and coordinate ``r`` is row ``r`` of
    ``T^-1 [<x - a_r, d_s>]_s``: deflation is the Cholesky factorisation of ``A``, and the deflated squared
    distances of the pivots are the squares on the diagonal of ``T``.
    """
    p, m = len(pivots), len(landmarks)
    start, end = np.searchsorted(landmarks, pivots[:, 0]), np.searchsorted(landmarks, pivots[:, 1])
    half_squares = gram(distance, n_jobs=n_jobs)
    kernel = center(distance, half_squares, np.eye(m)[start[0]])  # Burges sec. 2.2.1, all weight on one point
    K = CenteredOperator(half_squares, kernel.weights).matrix()
    assert K is not None  # few points
    differences = np.zeros((m, p))
    differences[end, np.arange(p)] += 1
    differences[start, np.arange(p)] -= 1
    try:
        T = linalg.cholesky(differences.T @ K @ differences, lower=True)
    except linalg.LinAlgError as error:
        raise RankError(f"the pivots do not span n_components={p} dimensions; lower n_components") from error
    W = linalg.solve_triangular(T, differences.T, lower=True).T  # (m, p)
    residuals = np.linalg.norm(K @ differences - K @ W @ (W.T @ (K @ differences)), axis=0)
    pairs = EigenPairs(np.square(np.diagonal(T)), W, residuals, "deflation")
    return _projection(kernel, K, pairs, Landmarks(None, landmarks), start)


def metric_map(
    distance: BoundKernel,
    landmarks: np.ndarray,
    n_components: int,
    solver: SolverConfig,
    order: Order = "magnitude",
) -> tuple[Embedding, np.ndarray]:
    """Return eigenvectors of the inner products around one landmark, and the points that place others.

    ``distance`` is bound to the points ``landmarks``; the first of them is the origin. The second result are
    the positions in ``landmarks`` of the origin and of the reference points, one per coordinate: those that a
    pivoted QR factorisation of the landmarks' coordinates ``Y`` selects first. With ``S`` the signs of the
    eigenvalues, ``b = Y S y`` on the reference points determines ``y``.
    """
    half_squares = gram(distance, n_jobs=solver.n_jobs)
    kernel = center(distance, half_squares, np.eye(len(landmarks))[0])
    operator = CenteredOperator(half_squares, kernel.weights)
    pairs = leading_pairs(operator, n_components, order, solver)
    Y = pairs.vectors * np.sqrt(np.abs(pairs.values))  # (q, p), pseudo-Euclidean coordinates
    references = linalg.qr(Y.T, mode="r", pivoting=True)[1][: len(pairs)]
    W = np.zeros_like(Y)
    W[references] = np.linalg.inv(Y[references].T) * np.sign(pairs.values)
    K = operator.matrix()
    assert K is not None  # few points
    start = np.zeros(len(pairs), dtype=np.intp)
    model = _projection(kernel, K, replace(pairs, vectors=W), Landmarks(None, landmarks), start)
    model = with_components(model, n_components, order, OTHER_LANDMARKS)
    return model, np.concatenate([[0], np.sort(references)])


def _projection(
    kernel: BoundKernel, K: np.ndarray, pairs: EigenPairs, landmarks: Landmarks, start: np.ndarray
) -> Embedding:
    """Return the embedding ``y = W' k(x)`` in which coordinate ``r`` of landmark ``start[r]`` is zero.

    ``W`` are the vectors of ``pairs``. They are written as eigenfunctions,
    ``f_r = sqrt(m) / l_r sum_i v_ri k(., x_i)`` with ``v = W sqrt(|l|)`` up to the sign of ``l``, so that one
    formula serves all methods; the ``v`` are not orthonormal here.
    """
    m, p = pairs.vectors.shape
    W = pairs.vectors * column_signs(K @ pairs.vectors)
    values = K @ W  # coordinates of the landmarks around the kernel's origin
    factors = np.sqrt(np.abs(pairs.values) / m)
    pairs = replace(pairs, vectors=W * np.sqrt(np.abs(pairs.values)) * np.sign(pairs.values))
    scale = RootScale(factors, values[start, np.arange(p)])
    return Embedding(Eigenfunctions(kernel, pairs, values / factors), scale, landmarks=landmarks)
