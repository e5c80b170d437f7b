"""Measures used by several experiments."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Return the absolute value of Spearman's rank correlation, as signs of eigenvectors are arbitrary."""
    return float(abs(spearmanr(a, b).statistic))
