"""Negative eigenvalues of a kernel, and the test for Euclidean distances."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from eigenscape.operators import ComplementOperator, Operator
from eigenscape.solvers import SolverConfig, principal

#: Up to this many points the whole spectrum is computed.
_EXACT_POINTS = 3000
_PROBES, _STEPS = 12, 40


def lowest_eigenvalue(operator: Operator) -> float:
    """Return the smallest eigenvalue, or 0 if none is negative."""
    matrix = operator.matrix() if operator.shape[0] <= _EXACT_POINTS else None
    if matrix is not None:
        return min(float(linalg.eigvalsh(matrix)[0]), 0.0)
    largest = float(
        np.abs(principal(operator, 1, "magnitude", SolverConfig(method="lanczos", tol=1e-6)).values[0])
    )
    # largest I - K: a smallest eigenvalue of zero is then accurate to rounding relative to the largest.
    shifted = principal(
        ComplementOperator(operator, largest), 1, "value", SolverConfig(method="lanczos", tol=1e-10)
    )
    return min(largest - float(shifted.values[0]), 0.0)


def is_euclidean(operator: Operator, tol: float = 1e-9) -> bool:
    """Return whether distances are Euclidean: whether the centred ``-d^2 / 2`` is positive semi-definite.

    This is the distance-matrix theorem (Burges sec. 2.2).

    Parameters
    ----------
    operator : Operator
        The double-centred matrix ``-d^2 / 2``.
    tol : float, default=1e-9
        Tolerance for negative eigenvalues, relative to the largest.

    Returns
    -------
    bool
        Whether no eigenvalue is below ``-tol`` times the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.operators import DenseOperator
    >>> from eigenscape.quality import is_euclidean
    >>> is_euclidean(DenseOperator(np.diag([2.0, 1.0, 0.0])))
    True
    >>> is_euclidean(DenseOperator(np.diag([2.0, -1.0])))
    False
    """
    matrix = operator.matrix() if operator.shape[0] <= _EXACT_POINTS else None
    if matrix is not None:
        values = linalg.eigvalsh(matrix)
        return bool(values[0] >= -tol * max(values[-1], -values[0]))
    largest = principal(operator, 1, "magnitude", SolverConfig(method="lanczos", tol=1e-6)).values[0]
    return bool(largest >= 0 and lowest_eigenvalue(operator) >= -tol * largest)


def negative_fraction(operator: Operator, seed: int = 0) -> float:
    """Compute the share of negative eigenvalues in the sum of the absolute eigenvalues.

    Parameters
    ----------
    operator : Operator
        A symmetric operator. Up to 3000 points its whole spectrum is computed; beyond, both sums are
        estimated by stochastic Lanczos quadrature (12 probes, 40 steps) with an error of about 0.01.
    seed : int, default=0
        Seed of the probes.

    Returns
    -------
    float
        ``sum |negative eigenvalues| / sum |eigenvalues|``, or 0 for the zero operator.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.operators import DenseOperator
    >>> from eigenscape.quality import negative_fraction
    >>> negative_fraction(DenseOperator(np.diag([3.0, -1.0])))
    0.25
    """
    m = operator.shape[0]
    matrix = operator.matrix() if m <= _EXACT_POINTS else None
    values, weights = (
        (linalg.eigvalsh(matrix), np.ones(m)) if matrix is not None else _quadrature(operator, seed)
    )
    total = float(weights @ np.abs(values))
    return float(weights @ np.maximum(-values, 0.0)) / total if total > 0 else 0.0


def _quadrature(operator: Operator, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights with ``E[sum weights f(nodes)] = trace f(K)``: Lanczos from random signs."""
    m = operator.shape[0]
    q = np.random.default_rng(seed).choice([-1.0, 1.0], size=(m, _PROBES)) / np.sqrt(m)
    basis, diagonal, off = [q], [], []
    for _ in range(min(_STEPS, m)):
        w = operator.matmat(basis[-1])
        diagonal.append(np.einsum("ij,ij->j", w, basis[-1]))
        for _ in range(2):  # full reorthogonalisation, each probe against its own basis
            for b in basis:
                w = w - b * np.einsum("ij,ij->j", b, w)
        norms = np.linalg.norm(w, axis=0)
        exhausted = norms <= 1e-12 * np.max(np.abs(diagonal), axis=0)  # the Krylov space is invariant
        off.append(np.where(exhausted, 0.0, norms))
        basis.append(np.where(exhausted, 0.0, w / np.where(exhausted, 1.0, norms)))
    nodes, weights = [], []
    for probe in range(_PROBES):
        values, vectors = linalg.eigh_tridiagonal([d[probe] for d in diagonal], [o[probe] for o in off[:-1]])
        nodes.append(values)
        weights.append(m / _PROBES * vectors[0] ** 2)
    return np.concatenate(nodes), np.concatenate(weights)
