"""Limits of correct results, and measures that several methods share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import Data

#: Largest relative residual of a correct result.
MAX_RESIDUAL = 1e-3
#: Largest aligned error of a result that is accurate enough for a comparison of times.
MAX_ALIGNED_ERROR = 1e-6
#: Largest residual of an eigenvalue of zero of a graph with several components.
MAX_ZERO_RESIDUAL = 1e-9
#: Smallest recall of a correct neighbour search.
MIN_RECALL = 0.9


def is_right(error: dict[str, Any]) -> bool:
    """Return whether a result is accurate enough to be compared by its time."""
    excess = error.get("excess", error.get("residual", 0.0) / MAX_RESIDUAL)
    recall = error.get("recall")
    return bool(excess <= 1 and (recall is None or recall >= MIN_RECALL))


def is_eigenscape(model: Any) -> bool:
    """Return whether a model is an estimator of eigenscape."""
    return type(model).__module__.startswith("eigenscape")


def coefficient(embedding: np.ndarray, coordinates: np.ndarray | None) -> list[float] | None:
    """Return r^2 of each known coordinate after linear regression on the embedding."""
    if coordinates is None:
        return None
    design = np.column_stack(
        [np.ones(len(embedding)), embedding / np.maximum(np.abs(embedding).max(axis=0), 1e-300)]
    )
    rest = coordinates - design @ np.linalg.lstsq(design, coordinates, rcond=None)[0]
    return (1 - rest.var(axis=0) / coordinates.var(axis=0)).tolist()


def known_coordinates(model: Any, data: Data) -> dict[str, Any]:
    """Return r^2 of the known coordinates."""
    return {"r2": coefficient(model.embedding_, data.coordinates)}


def no_measure(_model: Any, _data: Data) -> dict[str, Any]:
    """Return no error measure, for jobs whose time is only a reference."""
    return {}


def own_residual(model: Any) -> float:
    """Return the largest residual that a model of eigenscape reports, relative to ``1 - eigenvalue``."""
    gaps = np.maximum(np.abs(1 - model.eigenvalues_), MAX_ZERO_RESIDUAL / MAX_RESIDUAL)
    return float((model.residuals_ / gaps).max())


def principal(
    model: Any, product: Callable[[np.ndarray], np.ndarray], embedding: np.ndarray | None = None
) -> float:
    """Return the largest ``|K v - l v| / l`` of the centred ``K``, given the product with the uncentred."""
    V = np.asarray(model.embedding_ if embedding is None else embedding, dtype=np.float64)
    V = V / np.linalg.norm(V, axis=0)
    KV = product(V - V.mean(axis=0))
    KV = KV - KV.mean(axis=0)
    values = (V * KV).sum(axis=0)
    return float((np.linalg.norm(KV - values * V, axis=0) / values).max())
