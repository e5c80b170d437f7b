"""Negative eigenvalues of a kernel, the test for Euclidean distances, and the unexplained fraction."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from eigenscape._numbers import checked_sparse
from eigenscape._parameters import check_count
from eigenscape._typing import is_sparse
from eigenscape.kernels.base import BoundKernel
from eigenscape.operators import ComplementOperator, Operator, as_operator, gram
from eigenscape.solvers import SolverConfig, principal

#: Up to this many points the whole spectrum is computed.
_EXACT_POINTS = 3000


def _small_matrix(operator: Operator) -> np.ndarray | None:
    """Return the dense matrix of an operator whose whole spectrum is computed, otherwise None."""
    matrix = operator.matrix() if operator.shape[0] <= _EXACT_POINTS else None
    return matrix.toarray() if is_sparse(matrix) else matrix


def _extremes(operator: Operator) -> tuple[float, float]:
    """Return the smallest eigenvalue and the largest magnitude of an eigenvalue."""
    matrix = _small_matrix(operator)
    if matrix is not None:
        values = linalg.eigvalsh(matrix)
        return float(values[0]), float(max(values[-1], -values[0]))
    pairs = principal(operator, 1, "magnitude", SolverConfig(method="lanczos", tol=1e-6))
    largest = float(np.abs(pairs.values[0]))
    # largest I - K: a smallest eigenvalue of zero is then accurate to rounding relative to the largest.
    shifted = ComplementOperator(operator, largest)
    pairs = principal(shifted, 1, "value", SolverConfig(method="lanczos", tol=1e-10))
    return largest - float(pairs.values[0]), largest


def lowest_eigenvalue(operator: Operator) -> float:
    """Return the smallest eigenvalue, or 0 if none is negative."""
    return min(_extremes(operator)[0], 0.0)


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
    lowest, largest = _extremes(operator)
    return lowest >= -tol * largest


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
    matrix = _small_matrix(operator)
    values, weights = (
        (linalg.eigvalsh(matrix), np.ones(m)) if matrix is not None else _quadrature(operator, seed)
    )
    total = float(weights @ np.abs(values))
    return float(weights @ np.maximum(-values, 0.0)) / total if total > 0 else 0.0


def unexplained_fraction(
    kernel: ArrayLike | sparse.csr_array | Operator | BoundKernel, n_components: int = 2
) -> float:
    r"""Compute the fraction of the squared lengths that the first coordinates leave out (Burges eq. 1.29).

    With the eigenvalues :math:`\lambda_1 \ge \dots \ge \lambda_r > 0` of a positive semi-definite kernel
    matrix, the vectors :math:`y_i` of kernel PCA or multidimensional scaling and their first ``p``
    coordinates :math:`\hat y_i`,

    .. math:: \frac{\sum_i \|\hat y_i - y_i\|^2}{\sum_i \|y_i\|^2}
              = \frac{\sum_{a=p+1}^r \lambda_a}{\sum_{a=1}^r \lambda_a}.

    For a linear kernel it is the fraction of unexplained variance of PCA.

    Parameters
    ----------
    kernel : bound kernel, Operator, array-like of shape (m, m) or (m,)
        The kernel of a fitted estimator (``kernel_``), a symmetric matrix or operator, or all eigenvalues in
        any order. It should be centred: otherwise the fraction refers to lengths from the origin, not from
        the mean.
    n_components : int, default=2
        Number ``p`` of coordinates. At least the number of positive eigenvalues gives 0.

    Returns
    -------
    float
        The fraction, between 0 and 1.

    Raises
    ------
    ValueError
        If the matrix has negative eigenvalues, for which no such vectors exist.

    Notes
    -----
    Only the trace and the first ``n_components`` eigenvalues of a matrix are computed, and its smallest
    eigenvalue for the test.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import ClassicalMDS
    >>> from eigenscape.quality import unexplained_fraction
    >>> round(unexplained_fraction([6.0, 3.0, 1.0], 2), 3)
    0.1
    >>> X = np.random.default_rng(0).standard_normal((100, 3)) * [3, 2, 1]
    >>> round(unexplained_fraction(ClassicalMDS().fit(X).kernel_, 2), 2)
    0.06
    """
    check_count("n_components", n_components, 0)
    spectrum = _spectrum_or_operator(kernel)
    if isinstance(spectrum, np.ndarray):
        values = np.sort(spectrum)[::-1]
        total, lowest = float(values.sum()), float(values[-1])
    else:
        total, lowest = float(np.sum(spectrum.diagonal())), lowest_eigenvalue(spectrum)
        count = min(max(n_components, 1), spectrum.shape[0])
        values = principal(spectrum, count, "value", SolverConfig(tol=1e-10)).values
    largest = float(values[0])
    if lowest < -1e-8 * max(largest, -lowest):  # negative beyond rounding
        raise ValueError(
            f"kernel has the negative eigenvalue {lowest:g} (the largest is {largest:g}), so it is not the"
            " matrix of inner products of vectors; repair it by a shift or by clipping, or see"
            " negative_fraction"
        )
    if not total > 0:
        raise ValueError(f"the eigenvalues sum to {total:g}, so there is nothing to explain")
    return min(max(1.0 - float(values[:n_components].sum()) / total, 0.0), 1.0)


def _spectrum_or_operator(kernel: Any) -> np.ndarray | Operator:
    """Return eigenvalues (m,) as they are, and anything else as a symmetric operator."""
    if callable(kernel):
        return gram(kernel)
    if hasattr(kernel, "matmat"):
        return cast(Operator, kernel)
    if not is_sparse(kernel):
        kernel = np.asarray(kernel, dtype=np.float64)
    shape = checked_sparse(kernel, "kernel").shape
    if len(shape) not in (1, 2) or shape[0] != shape[-1] or shape[0] == 0:
        raise ValueError(
            f"kernel must be a square matrix or the vector of its eigenvalues, got shape {shape}"
        )
    if not np.isfinite(kernel.data if is_sparse(kernel) else kernel).all():
        raise ValueError("kernel must be finite, but some values are NaN or infinite")
    if len(shape) == 1:
        return np.asarray(kernel)
    difference, largest = abs(kernel - kernel.T).max(), abs(kernel).max()
    if difference > 1e-8 * largest:
        raise ValueError(f"kernel must be symmetric, but differs from its transpose by {difference:g}")
    return as_operator(sparse.csr_array(kernel) if is_sparse(kernel) else kernel)


def _quadrature(operator: Operator, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights with ``E[sum weights f(nodes)] = trace f(K)``: Lanczos from random signs."""
    m, n_probes, n_steps = operator.shape[0], 12, 40
    q = np.random.default_rng(seed).choice([-1.0, 1.0], size=(m, n_probes)) / np.sqrt(m)
    basis, diagonal, off = [q], [], []
    for _ in range(min(n_steps, m)):
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
    for probe in range(n_probes):
        values, vectors = linalg.eigh_tridiagonal([d[probe] for d in diagonal], [o[probe] for o in off[:-1]])
        nodes.append(values)
        weights.append(m / n_probes * vectors[0] ** 2)
    return np.concatenate(nodes), np.concatenate(weights)
