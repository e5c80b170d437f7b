"""Small measures that several experiments share."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's, without its sign: eigenvectors have none."""
    return float(abs(spearmanr(a, b).statistic))
