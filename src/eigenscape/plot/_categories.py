"""Categories among labels, and their colours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._checks import missing_labels
from eigenscape._format import escape_controls
from eigenscape._palette import MAX_CATEGORIES, MISSING, OTHER, category_colors, legend_order


class Categories(NamedTuple):
    """Categories of the points.

    The first ``n_own`` names are categories with their own colour; ``other`` and ``missing`` may follow.
    """

    names: list[str]
    codes: np.ndarray  # (n,) index of each point's name
    colors: list[str]
    n_own: int


def find_categories(labels: ArrayLike) -> Categories | None:
    """Return the categories of labels, or None if the labels are continuous values.

    Strings, booleans and at most 20 different integers are categories. Of more than 20 categories the most
    frequent have their own colours and the rest share one grey; missing labels (None, NaN) have another.
    """
    labels = np.asarray(labels)
    if labels.dtype.kind not in "OUSTbiu":
        return None
    missing = missing_labels(labels)
    known = labels[~missing]
    integers = labels.dtype.kind in "iu"
    values, codes, counts = np.unique(
        known if integers else known.astype(str), return_inverse=True, return_counts=True
    )
    if integers and len(values) > MAX_CATEGORIES:
        return None
    order = np.asarray(np.arange(len(values)) if integers else legend_order(values.tolist()), dtype=np.intp)
    values, counts, codes = values[order], counts[order], np.argsort(order)[codes]
    kept = np.sort(np.argsort(-counts, kind="stable")[:MAX_CATEGORIES])
    names, colors = [escape_controls(str(name)) for name in values[kept]], category_colors(len(kept))
    index = np.full(len(values), len(kept))
    index[kept] = np.arange(len(kept))
    if len(values) > len(kept):
        names.append(f"other ({len(values) - len(kept)})")
        colors.append(OTHER)
    all_codes = np.full(len(labels), len(names))
    all_codes[~missing] = index[codes]
    if missing.any():
        names.append("missing")
        colors.append(MISSING)
    return Categories(names, all_codes, colors, len(kept))
