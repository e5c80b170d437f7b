"""Functions for estimators that are made from another estimator, the embedder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from eigenscape.distributed import PREFIT, check_in_memory


def check_embedder(estimator: Any, X: Any, attribute: str, expected: str) -> None:
    """Raise an error unless the parameter ``embedder`` has ``attribute``, and is fitted if ``prefit``.

    ``X`` must be in memory. ``expected`` describes the embedder in errors; None is the default one.
    """
    embedder = estimator.embedder
    is_wrong = isinstance(embedder, type) or not hasattr(embedder, attribute)
    if is_wrong and (embedder is not None or estimator.prefit):
        raise TypeError(f"embedder={embedder!r} must be {expected}")
    if estimator.prefit:
        check_is_fitted(embedder)
    check_in_memory(estimator, X, PREFIT)


def fit_embedder(estimator: Any, X: Any, default: Callable[[], Any]) -> tuple[Any, Any]:
    """Return the embedder, fitted to ``X`` unless ``prefit``, and its coordinates of ``X``.

    ``default`` returns the embedder to fit if the parameter ``embedder`` is None.
    """
    if estimator.prefit:
        return estimator.embedder, estimator.embedder.transform(X)
    embedder = (default() if estimator.embedder is None else clone(estimator.embedder)).fit(X)
    known = getattr(embedder, "embedding_", None)
    return embedder, embedder.transform(X) if known is None else known


def copy_features(target: Any, embedder: Any) -> None:
    """Copy the number and names of the features of a fitted embedder."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(embedder, name):
            setattr(target, name, getattr(embedder, name))
