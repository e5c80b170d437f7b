"""Functions for estimators that are made from another fitted estimator, the embedder."""

from __future__ import annotations

from typing import Any


def copy_features(target: Any, embedder: Any) -> None:
    """Copy the number and names of the features of a fitted embedder."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(embedder, name):
            setattr(target, name, getattr(embedder, name))
