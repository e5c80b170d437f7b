"""From the map back to the space of the data (Brand eq. 19)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg, sparse

from eigenscape import _memory
from eigenscape._memory import row_blocks
from eigenscape.methods.kernel_eigenmap import KernelBasis
from eigenscape.methods.mixture import AffineMixture, EllipticKernels, RoundKernels, inverse_root, shares
from eigenscape.solvers import whiten

#: Directions that the map shrinks to less than this share of the most stretched one are not undone.
_FLAT = 1e-3
#: Rows that an inverse is fitted to, at most; more where it has many coefficients.
_ROWS = 5000
#: Directions of the coefficients with less than this share of the largest eigenvalue are not determined by
#: the rows.
_UNSEEN = 1e-8


def rows_to_invert(X: Any, Y: np.ndarray, n_kernels: int) -> tuple[Any, np.ndarray]:
    """Some rows, evenly spaced, and their coordinates: enough to fit an inverse of so many kernels to."""
    wanted = max(_ROWS, 8 * (Y.shape[1] + 1) * n_kernels)
    some = np.linspace(0, len(Y) - 1, min(len(Y), wanted)).astype(np.intp)
    return X[some], Y[some]


def fitted_inverse(
    forward: AffineMixture | None, X: Any, Y: np.ndarray, refine: bool
) -> tuple[AffineMixture, float]:
    """The inverse of a map that brings ``X`` to ``Y``, and its round-trip error, both from these rows.

    A map that is no mixture (None) is undone by an affine regression.
    """
    X = X.toarray() if sparse.issparse(X) else X
    inverse = single_inverse(X, Y) if forward is None else inverse_by_blocks(forward)
    if refine or forward is None:
        inverse = refined(inverse, X, Y)
    return inverse, round_trip_error(inverse, X, Y)


def inverse_by_blocks(forward: AffineMixture) -> AffineMixture:
    """Eq. 19: each kernel's mean and covariance are mapped, and its affine map is undone by a pseudo-inverse.

    The paper takes the blocks ``G_k`` of ``G``; but overlapping kernels share a slope between them in any
    way, and only their mixture means something. So the affine map of a kernel is the tangent of the mixture
    at its centre: mean ``y(mu_k)``, covariance ``sigma^2 J_k J_k'``, inverse ``mu_k + J_k^+ (y - y(mu_k))``.
    """
    kernels = forward.kernels
    assert isinstance(kernels, RoundKernels)
    means, tangents = forward(kernels.centers), forward.jacobian(kernels.centers)  # (K, d), (K, d, D)
    covariances = kernels.sigma**2 * tangents @ tangents.transpose(0, 2, 1)
    floor = _FLAT**2 * float(np.trace(covariances, axis1=1, axis2=2).mean())
    roots = np.array(
        [inverse_root(covariance, max(floor, np.finfo(float).tiny)) for covariance in covariances]
    )
    undone = np.array([linalg.pinv(tangent, rtol=_FLAT) for tangent in tangents])  # (K, D, d)
    slopes = np.ascontiguousarray(undone.transpose(0, 2, 1))
    return AffineMixture(
        EllipticKernels(means, roots), slopes, kernels.centers, np.zeros(kernels.centers.shape[1])
    )


def single_inverse(X: np.ndarray, Y: np.ndarray) -> AffineMixture:
    """One kernel for the whole map: where ``y`` is, ``x`` is the mean. The start of an affine regression."""
    kernels = EllipticKernels(
        Y.mean(axis=0)[None], inverse_root(np.cov(Y.T).reshape(Y.shape[1], -1), np.finfo(float).tiny)[None]
    )
    D = X.shape[1]
    return AffineMixture(kernels, np.zeros((1, Y.shape[1], D)), X.mean(axis=0)[None], np.zeros(D))


def refined(inverse: AffineMixture, X: np.ndarray, Y: np.ndarray) -> AffineMixture:
    """The same mixture with the slopes and offsets that bring ``Y`` nearest to ``X``: least squares for what
    eq. 19 leaves over.

    The mean squared error on these points cannot rise; directions that they do not determine stay as they
    were."""
    members = shares(inverse.kernels, Y)
    basis = KernelBasis(Y, inverse.kernels, members)
    n, p = len(Y), basis.n_columns
    _memory.require(
        8.0 * min(n * (p + 3.0 * n), 4.0 * p * p), f"an inverse of {p} coefficients", "set inverse='blocks'"
    )
    rest = X - inverse.mix(Y, members)
    change = basis.mixture(_by_rows(basis, rest) if p > n else _by_columns(basis, rest))
    return replace(inverse, slopes=inverse.slopes + change.slopes, offsets=inverse.offsets + change.offsets)


def _by_columns(basis: KernelBasis, rest: np.ndarray) -> np.ndarray:
    """``(Z'Z)^+ Z' rest`` (p, D), the columns of ``Z`` measured in units of their length."""
    gram, moment = np.zeros((basis.n_columns, basis.n_columns)), np.zeros((basis.n_columns, rest.shape[1]))
    order = basis.order
    for rows in row_blocks(len(rest), 1, 768):
        Z, columns = basis.block(order[rows])
        gram[np.ix_(columns, columns)] += Z.T @ Z
        moment[columns] += Z.T @ rest[order[rows]]
    whitener = whiten(gram, _UNSEEN).whitener
    return whitener @ (whitener.T @ moment)


def _by_rows(basis: KernelBasis, rest: np.ndarray) -> np.ndarray:
    """The same as ``Z' (Z Z')^+ rest``, which is the smaller problem where there are more columns than
    rows."""
    Z = np.zeros((len(rest), basis.n_columns))
    some, columns = basis.block(np.arange(len(rest)))
    Z[:, columns] = some
    size = np.linalg.norm(Z, axis=0)
    size = np.where(size > np.finfo(float).eps * size.max(), size, 1.0)
    Z /= size
    values, vectors = linalg.eigh(Z @ Z.T)
    seen = values > _UNSEEN * values[-1]
    weights = vectors[:, seen] @ ((vectors[:, seen].T @ rest) / values[seen][:, None])
    return (Z.T @ weights) / size[:, None]


def round_trip_error(inverse: AffineMixture, X: np.ndarray, Y: np.ndarray) -> float:
    """Median distance between ``x`` and where the inverse puts its ``y``, in units of the diameter of the
    data.

    The diameter is the largest distance from the point farthest from the mean.
    """
    error = np.linalg.norm(inverse(Y) - X, axis=1)
    diameter = np.linalg.norm(X - X[np.argmax(np.linalg.norm(X - X.mean(axis=0), axis=1))], axis=1).max()
    return float(np.median(error) / diameter)
