"""FastMap and MetricMap: Nystrom with another factor of the same matrix (Burges sec. 3; Platt 2005).

All three landmark methods place a point by the inner products ``b`` with a few points: ``y = W' b``. With
``A`` the matrix of the inner products between these, ``W W'`` stands for ``A^-1`` (Burges eq. 1.22), and the
methods differ in where the origin is and in ``W``:

============  ====================
======================================================================================= landmark MDS  mean of
landmarks     ``U L^-1/2``: eigenvectors of ``A`` MetricMap     one landmark          eigenvectors of ``A``
too, largest in magnitude, but solved for from as many reference points as
                                    there are coordinates
FastMap       one end of each line  ``T^-1'``: the triangular factor of ``A``, between pairs of pivots, found
by deflation ============  ====================
======================================================================================="""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from eigenscape._progress import stage
from eigenscape.eigenfunctions import Eigenfunctions, Embedding, Landmarks, ShiftedScale
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import BoundKernel
from eigenscape.methods.kernel_pca import leading_pairs
from eigenscape.normalize import center
from eigenscape.operators import CenteredOperator, gram
from eigenscape.solvers import EigenPairs, SolverConfig
from eigenscape.solvers.pairs import canonical_signs

_EPS = np.finfo(np.float64).eps
#: Where distances are not Euclidean, deflation may leave a point with none: so many others are tried.
STARTS = 20


def choose_pivots(
    row: Callable[[int], np.ndarray], n: int, n_components: int, n_rounds: int, seed: int
) -> np.ndarray:
    """FastMap's pairs of pivots (n_components, 2): each far apart in what the lines through the pairs before
    it leave.

    From a random point to the farthest, from there to the farthest, ``n_rounds`` times; then the distances
    are deflated, ``d^2(x, y) - (y_r(x) - y_r(y))^2``. Two rows of distances a round, O(n) memory a
    coordinate."""
    placed = np.zeros((n, n_components))
    pivots = np.empty((n_components, 2), dtype=np.intp)
    rng = np.random.default_rng(seed)
    scale = 0.0
    with stage("pivots", total=n_components) as advance:
        for r in range(n_components):

            def left(i: int, r: int = r) -> np.ndarray:
                return row(i) - np.square(placed[:, :r] - placed[i, :r]).sum(axis=1)

            for _ in range(STARTS):
                a, b, from_b = _far_pair(left, int(rng.integers(n)), n_rounds)
                if a != b and from_b[a] > 100 * n_components * _EPS * scale:
                    break
            else:
                raise RankError(
                    f"n_components={n_components}, but after {r} of them no pair of points is found with any distance left (those that are"
                    " not Euclidean may turn negative); lower n_components, or use LandmarkMDS"
                )
            squared = from_b[a]
            scale = max(scale, squared)
            pivots[r] = a, b
            placed[:, r] = (left(a) + squared - from_b) / (2 * np.sqrt(squared))
            advance(1)
    return pivots


def _far_pair(row: Callable[[int], np.ndarray], a: int, n_rounds: int) -> tuple[int, int, np.ndarray]:
    """Two points far from each other, found by walking to the farthest and back, and the row of the
    second."""
    for _ in range(n_rounds):
        b = int(np.argmax(row(a)))
        from_b = row(b)
        a = int(np.argmax(from_b))
    return a, b, from_b


def fastmap(
    distance: BoundKernel, which: np.ndarray, pivots: np.ndarray, n_jobs: int | None = None
) -> Embedding:
    """Coordinates along the lines through ``pivots`` (p, 2), each orthogonal to those before it.

    ``distance`` is bound to the points ``which``, among which the pivots are. With ``d_r = b_r - a_r`` the
    matrix ``A`` of the inner products of the ``d_r`` is ``T T'``, and coordinate ``r`` is row ``r`` of ``T^-1
    [<x - a_r, d_s>]_s``: deflation is the Cholesky factorisation of ``A``, and the pivots' remaining squared
    distances are the squares on the diagonal of ``T``."""
    p, m = len(pivots), len(which)
    start, end = np.searchsorted(which, pivots[:, 0]), np.searchsorted(which, pivots[:, 1])
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
    return _projection(kernel, K, pairs, Landmarks(None, which), start)


def metric_map(
    distance: BoundKernel,
    which: np.ndarray,
    n_components: int,
    solver: SolverConfig,
    order: str = "magnitude",
) -> tuple[Embedding, np.ndarray]:
    """Eigenvectors of the inner products around one landmark, solved for from ``n_components`` reference
    points.

    Also the numbers, among ``which``, of the origin and the reference points: those that a pivoted QR
    factorisation of the landmarks' coordinates ``Y`` takes first. With ``S`` the signs of the eigenvalues,
    ``b = Y S y`` on them gives ``y``."""
    half_squares = gram(distance, n_jobs=solver.n_jobs)
    kernel = center(distance, half_squares, np.eye(len(which))[0])
    operator = CenteredOperator(half_squares, kernel.weights)
    pairs = leading_pairs(operator, n_components, order, solver)
    Y = pairs.vectors * np.sqrt(np.abs(pairs.values))  # (q, p), pseudo-Euclidean coordinates
    references = linalg.qr(Y.T, mode="r", pivoting=True)[1][:n_components]
    W = np.zeros_like(Y)
    W[references] = np.linalg.inv(Y[references].T) * np.sign(pairs.values)
    found = EigenPairs(pairs.values, W, pairs.residuals, pairs.solver, pairs.n_iter)
    K = operator.matrix()
    assert K is not None  # few points
    model = _projection(kernel, K, found, Landmarks(None, which), np.zeros(n_components, dtype=np.intp))
    return model, np.concatenate([[0], np.sort(references)])


def _projection(
    kernel: BoundKernel, K: np.ndarray, found: EigenPairs, landmarks: Landmarks, start: np.ndarray
) -> Embedding:
    """The embedding ``y = W' k(x)``, ``W`` the vectors of ``found``, in which landmark ``start[r]`` has
    coordinate ``r`` zero.

    Written as eigenfunctions, so that one formula serves: ``f_r = sqrt(m) / l_r sum_i v_ri k(., x_i)``, ``v =
    W sqrt(|l|)`` up to the sign of ``l``, which are not orthonormal here."""
    m, p = found.vectors.shape
    values = K @ found.vectors
    W = found.vectors * np.where((canonical_signs(values) == values).all(axis=0), 1.0, -1.0)
    values = K @ W  # coordinates of the landmarks around the kernel's origin
    factors = np.sqrt(np.abs(found.values) / m)
    pairs = EigenPairs(
        found.values,
        W * np.sqrt(np.abs(found.values)) * np.sign(found.values),
        found.residuals,
        found.solver,
        found.n_iter,
    )
    return Embedding(
        Eigenfunctions(kernel, pairs, values / factors),
        ShiftedScale(factors, values[start, np.arange(p)]),
        landmarks=landmarks,
    )
