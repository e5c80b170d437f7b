"""Choice of the number of principal components.

By a ratio of the variance, by Minka's evidence (2000), or by automatic relevance determination (Bishop 1999).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import gammaln

#: A number of components, a ratio of the variance, "mle", or None for all components with nonzero variance.
NComponents = int | float | Literal["mle"] | None


def count_for_ratio(variances: np.ndarray, ratio: float) -> int:
    """Return the smallest number of leading components that keep at least ``ratio`` of the total variance."""
    kept = np.cumsum(variances) / variances.sum()
    return min(int(np.searchsorted(kept, ratio * (1 - 1e-14))) + 1, len(variances))


def count_by_evidence(variances: np.ndarray, n_samples: float) -> int:
    """Return the number of components with the largest Laplace approximation of the evidence (Minka 2000).

    ``variances`` are all ``d`` eigenvalues of the sample covariance in descending order; the numbers 1 to
    ``d - 1`` are compared.
    """
    return int(np.argmax(_log_evidence(variances, n_samples))) + 1


def _log_evidence(variances: np.ndarray, n: float) -> np.ndarray:
    """Compute ``log p(data | k)`` for ``k = 1 .. d - 1`` (Minka 2000, eq. 30 and 31), up to a constant."""
    d = len(variances)
    tiny = np.finfo(np.float64).eps * variances[0]
    values = np.maximum(variances, tiny)  # (d,)
    k = np.arange(1, d)
    noise = np.cumsum(values[::-1])[::-1][1:] / (d - k)  # v: mean discarded variance
    i = np.arange(1, d + 1)
    areas = np.cumsum(gammaln((d - i + 1) / 2) - (d - i + 1) / 2 * np.log(np.pi))[:-1]
    log_uniform = areas - k * np.log(2)  # log p(U)
    fit = -n / 2 * (np.cumsum(np.log(values))[:-1] + (d - k) * np.log(noise))
    parameters = d * k - k * (k + 1) / 2
    return (
        log_uniform
        + fit
        + (parameters + k) / 2 * np.log(2 * np.pi)
        - _log_curvature(values, noise, n, tiny) / 2
        - k / 2 * np.log(n)
    )


def _log_curvature(values: np.ndarray, noise: np.ndarray, n: float, tiny: float) -> np.ndarray:
    """Compute ``log |A_Z|`` for every ``k``: a sum over the pairs of directions ``i <= k``, ``i < j``."""
    d = len(values)
    k = np.arange(1, d)
    upper = np.triu(np.ones((d, d), dtype=bool), 1)
    gaps = np.where(upper, np.log(np.maximum(values[:, None] - values, tiny)), 0.0)
    inverse_gaps = np.maximum(1 / values - 1 / values[:, None], tiny / values[0] ** 2)
    inverse = np.where(upper, np.log(inverse_gaps), 0.0)
    gap_sum = np.cumsum(gaps.sum(axis=1))[:-1]  # over i <= k and all j > i
    inside = np.cumsum(inverse.sum(axis=0))[:-1]  # over i < j <= k
    above = np.maximum(1 / noise[None, :] - 1 / values[:-1, None], tiny / values[0] ** 2)  # (i, k)
    retained = np.arange(1, d)[:, None] <= k  # (i, k)
    outside = (d - k) * np.sum(np.where(retained, np.log(above), 0.0), axis=0)  # i <= k < j
    pairs = d * k - k * (k + 1) / 2
    return gap_sum + inside + outside + pairs * np.log(n)


def count_by_relevance(variances: np.ndarray, n_samples: float) -> int:
    """Return the number of components kept by automatic relevance determination (Bishop 1999), at least one.

    The columns of ``W`` have the prior ``w_j ~ N(0, 1 / alpha_j)``. With ``alpha_j = d / |w_j|^2`` every
    column lies along an eigenvector, and with ``t = |w_j|^2`` and noise ``s`` the posterior is stationary
    where ``n t (l_j - t - s) = d (t + s)^2``. A column for which this has no solution vanishes. Which columns
    remain depends on the noise, which in turn depends on the columns that remain: the iteration is run from
    one column upwards and from all columns downwards, and where the results differ the smaller BIC decides.
    With at most ``d`` samples no noise is left when all columns are kept, so only the first is run.
    """
    d = len(variances)
    grown = _grow(variances, n_samples)
    if n_samples <= d:
        return grown
    pruned = _prune(variances, n_samples)
    return min((grown, pruned), key=lambda k: _information_criterion(variances, n_samples, k))


def _grow(variances: np.ndarray, n: float) -> int:
    """Add columns, starting from one, while the next one is relevant."""
    d = len(variances)
    k = 1
    while k < d - 1 and _is_relevant(variances[k], float(variances[k:].mean()), n, d):
        k += 1
    return k


def _prune(variances: np.ndarray, n: float) -> int:
    """Remove columns, starting from all, until the last one is relevant."""
    d = len(variances)
    k = d - 1
    while k > 1 and not _is_relevant(variances[k - 1], float(variances[k:].mean()), n, d):
        k -= 1
    return k


def _is_relevant(variance: float, noise: float, n: float, d: int) -> bool:
    """Return whether ``n t (l - t - s) = d (t + s)^2`` has a positive root ``t``."""
    half = n * (variance - noise) - 2 * d * noise
    return bool(half > 0 and half**2 >= 4 * (n + d) * d * noise**2)


def _information_criterion(variances: np.ndarray, n: float, k: int) -> float:
    """Compute the BIC of probabilistic PCA with ``k`` components, up to a constant."""
    d = len(variances)
    noise = max(float(variances[k:].mean()), np.finfo(np.float64).eps * variances[0])
    parameters = d * k - k * (k - 1) / 2 + 1
    return float(n * (np.log(variances[:k]).sum() + (d - k) * np.log(noise)) + parameters * np.log(n))
