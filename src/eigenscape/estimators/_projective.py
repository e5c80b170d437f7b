"""Training rows and the number of components of PCA and its probabilistic variants."""

from __future__ import annotations

import numbers
from typing import Any

from eigenscape import distributed
from eigenscape.distributed import is_collection
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._collections import check_weight, validate_blocks, weight_blocks
from eigenscape.estimators._validation import (
    check_choice,
    check_count,
    check_input,
    check_weights,
    standing_rows,
)
from eigenscape.methods.missing import observed
from eigenscape.methods.ppca_fit import PPCASamples, WeightedSamples


def training_rows(estimator: Estimator, X: Any, sample_weight: Any) -> PPCASamples:
    """The rows that a probabilistic model is learnt from, in memory or in blocks elsewhere."""
    if is_collection(X):
        rows = distributed.BlockRows(validate_blocks(estimator, X, reset=True), weight_blocks(sample_weight))
        check_weight(rows.weight, sample_weight)
        return rows
    X = check_input(estimator, X, reset=True)
    X, weights = standing_rows(X, check_weights(sample_weight, X))
    return WeightedSamples(observed(X, training=True), weights)


def components_wish(wish: Any, n: int, d: int) -> int | float | str | None:
    """The number of components asked for, or how to find it; refused before any work where there cannot be so
    many."""
    if wish is None:
        return None
    if isinstance(wish, str):
        check_choice("n_components", wish, ("mle",))
        if d < 2 or n <= d:
            needs = "at least 2 features" if d < 2 else "more samples than features"
            raise ValueError(
                f"n_components='mle' needs {needs}, got n_samples={n}, n_features={d}; give a number"
            )
        return wish
    if isinstance(wish, numbers.Real) and not isinstance(wish, numbers.Integral):
        if 0 < wish < 1:
            return float(wish)
        raise ValueError(
            f"n_components={wish!r} as a share of the variance must lie between 0 and 1; pass an integer for a number"
        )
    wish = check_count("n_components", wish)
    if wish > min(n - 1, d):
        needs = f"n_components={wish} needs at least {wish + 1} samples and {wish} features"
        raise ValueError(f"{needs}, got n_samples={n}, n_features={d}; lower n_components")
    return wish
