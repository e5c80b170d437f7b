"""Suggestions before anything is asked: dimension, neighbours, and columns that need standardising."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from eigenscape._progress import stage
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.report._points import sample_rows
from eigenscape.app.report.dominance import find_dominance
from eigenscape.quality import choose_n_neighbors, intrinsic_dimension

#: Number of rows whose neighbours are examined, and of those that are fitted.
_ROWS, _FITTED = 5000, 400
#: Largest number of neighbours tried.
_CANDIDATES = (5, 7, 10, 14, 20)


def suggestions(X: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return suggestions as text, each with the method and the parameters that it applies to, if any."""
    rows = X[sample_rows(X.shape[0], _ROWS, 0)]
    found = []
    for propose in (_scales, _dimension, _neighbors, _clusters):
        # rows that do not admit an estimate
        with stage("suggestions"), suppress(ValueError, RuntimeError, ArithmeticError):
            text, *use = propose(rows, names) or ("",)
            found += [{"text": text, **dict(*use)}] if text else []
    return found


def _scales(rows: Any, names: Sequence[str]) -> Any:
    from eigenscape import PCA

    found = find_dominance(PCA(), rows, names)
    text = "Standardise the columns, unless their units are comparable."
    return found and (f"{found.subject}: a map shows {found.extent}. {text}", {"standardize": True})


def _dimension(rows: Any, _: Sequence[str]) -> Any:
    dimension = intrinsic_dimension(rows)
    if not np.isfinite([dimension.value, dimension.low, dimension.high]).all():
        return None  # too few rows
    text = (
        f"The intrinsic dimension is about {dimension.value:.1f}"
        f" (95 % interval {dimension.low:.1f} to {dimension.high:.1f}, from {rows.shape[0]} rows)"
    )
    if dimension.value < 2.5:
        return (f"{text}: two coordinates can represent the data.",)
    lost = "two coordinates may lose" if dimension.low < 2.5 else "a map of two coordinates cannot keep all"
    return (f"{text}: {lost} distances; look at more coordinates, too.",)


def _neighbors(rows: Any, _: Sequence[str]) -> Any:
    from eigenscape import Isomap

    sample = rows[sample_rows(rows.shape[0], _FITTED, 1)]
    candidates = [k for k in _CANDIDATES if k < 0.8 * sample.shape[0]]
    if not candidates:
        return None
    choice = choose_n_neighbors(Isomap(), sample, candidates, n_repeats=2)
    text = (
        f"n_neighbors={choice.best} is the smallest number of neighbours of {candidates[0]} to"
        f" {candidates[-1]} with a stable Isomap map (of {sample.shape[0]} rows, with a tenth of them"
        " exchanged)."
    )
    return text, {"method": "isomap", "parameters": {"n_neighbors": choice.best}}


def _clusters(rows: Any, _: Sequence[str]) -> Any:
    text = (
        "For a picture of clusters, as UMAP and t-SNE draw: NeighborEmbedding. It usually keeps more"
        " neighbours on two coordinates than spectral maps; distances between clusters mean little."
    )
    many = rows.shape[0] >= TUNING.picture_points
    return (text, {"method": "neighbor-embedding", "parameters": {}}) if many else None
