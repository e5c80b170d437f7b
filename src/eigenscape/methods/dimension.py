"""How many principal components: a share of the variance, Minka's evidence, or automatic relevance (Bishop
1999)."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln


def dimension_for_share(variances: np.ndarray, share: float) -> int:
    """The fewest leading components that keep at least ``share`` of the total variance."""
    kept = np.cumsum(variances) / variances.sum()
    return min(int(np.searchsorted(kept, share * (1 - 1e-14))) + 1, len(variances))


def evidence_dimension(variances: np.ndarray, n_samples: float) -> int:
    """Minka's choice: the dimension with the largest Laplace approximation of the evidence of probabilistic
    PCA.

    ``variances`` are all ``d`` eigenvalues of the sample covariance, descending; dimensions 1 to ``d - 1``
    compete."""
    return int(np.argmax(_log_evidence(variances, n_samples))) + 1


def _log_evidence(variances: np.ndarray, n: float) -> np.ndarray:
    """``log p(data | k)`` for ``k = 1 .. d - 1`` (Minka 2000, eq. 30 and 31), up to a constant."""
    d = len(variances)
    tiny = np.finfo(np.float64).eps * variances[0]
    values = np.maximum(variances, tiny)  # (d,)
    k = np.arange(1, d)
    noise = np.cumsum(values[::-1])[::-1][1:] / (d - k)  # v: the mean of what is discarded
    i = np.arange(1, d + 1)
    log_uniform = np.cumsum(gammaln((d - i + 1) / 2) - (d - i + 1) / 2 * np.log(np.pi))[:-1] - k * np.log(
        2
    )  # log p(U)
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
    """``log |A_Z|`` for every ``k``: one factor for each pair ``i <= k``, ``i < j`` of directions that a
    rotation mixes."""
    d = len(values)
    k = np.arange(1, d)
    upper = np.triu(np.ones((d, d), dtype=bool), 1)
    gaps = np.where(upper, np.log(np.maximum(values[:, None] - values, tiny)), 0.0)
    inverse = np.where(
        upper, np.log(np.maximum(1 / values - 1 / values[:, None], tiny / values[0] ** 2)), 0.0
    )
    gap_sum = np.cumsum(gaps.sum(axis=1))[:-1]  # over i <= k and all j > i
    inside = np.cumsum(inverse.sum(axis=0))[:-1]  # over i < j <= k
    above = np.maximum(1 / noise[None, :] - 1 / values[:-1, None], tiny / values[0] ** 2)  # (i, k)
    outside = (d - k) * np.sum(
        np.where(np.arange(1, d)[:, None] <= k, np.log(above), 0.0), axis=0
    )  # i <= k < j
    pairs = d * k - k * (k + 1) / 2
    return gap_sum + inside + outside + pairs * np.log(n)


def relevant_dimension(variances: np.ndarray, n_samples: float) -> int:
    """Automatic relevance determination: how many columns of ``W`` survive the prior ``w_j ~ N(0, 1 /
    alpha_j)``.

    With ``alpha_j = d / |w_j|^2`` (Bishop 1999) every column lies along an eigenvector, and with ``t =
    |w_j|^2`` and noise ``s`` the posterior is stationary where ``n t (l_j - t - s) = d (t + s)^2``. A column
    for which this has no solution is driven to zero. Which columns stay depends on the noise, and that on
    which stay: the iteration is run from both ends (all columns, one column), and where the two differ the
    smaller value of BIC decides. Up to ``d`` samples leave no noise to start from at the far end; then one
    column is the start. At least one component is kept."""
    d = len(variances)
    grown = _grow(variances, n_samples)
    if n_samples <= d:
        return grown
    pruned = _prune(variances, n_samples)
    return min((grown, pruned), key=lambda k: _information_criterion(variances, n_samples, k))


def _grow(variances: np.ndarray, n: float) -> int:
    """From one column up, while the next eigenvalue stands out of the noise beyond it."""
    d = len(variances)
    k = 1
    while k < d - 1 and survives(variances[k], float(variances[k:].mean()), n, d):
        k += 1
    return k


def _prune(variances: np.ndarray, n: float) -> int:
    """From all columns down, until the last one stands out of the noise."""
    d = len(variances)
    k = d - 1
    while k > 1 and not survives(variances[k - 1], float(variances[k:].mean()), n, d):
        k -= 1
    return k


def survives(variance: float, noise: float, n: float, d: int) -> bool:
    """Whether ``n t (l - t - s) = d (t + s)^2`` has a positive root."""
    half = n * (variance - noise) - 2 * d * noise
    return bool(half > 0 and half**2 >= 4 * (n + d) * d * noise**2)


def _information_criterion(variances: np.ndarray, n: float, k: int) -> float:
    """BIC of probabilistic PCA with ``k`` components, up to a constant."""
    d = len(variances)
    noise = max(float(variances[k:].mean()), np.finfo(np.float64).eps * variances[0])
    parameters = d * k - k * (k - 1) / 2 + 1
    return float(n * (np.log(variances[:k]).sum() + (d - k) * np.log(noise)) + parameters * np.log(n))
