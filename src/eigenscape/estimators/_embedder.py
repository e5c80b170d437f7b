"""Functions for estimators that are made from another fitted estimator, the embedder."""

from __future__ import annotations

from typing import Any

from eigenscape.distributed import is_collection


def refuse_collection(X: Any, method: str = "fit", rows: str = "rows") -> None:
    """Raise TypeError if ``X`` is a dask collection, which only the embedder accepts."""
    if is_collection(X):
        raise TypeError(
            f"dask collections are not accepted by {method}; fit the embedder to the collection, and this"
            f" estimator with prefit=True to {rows} in memory"
        )


def copy_features(target: Any, embedder: Any) -> None:
    """Copy the number and names of the features of a fitted embedder."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(embedder, name):
            setattr(target, name, getattr(embedder, name))
