"""Categories among labels, and their colours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._format import escape_controls
from eigenscape._palette import MAX_CATEGORIES, MISSING, OTHER, category_colors
from eigenscape._roles import category_codes, column_role, plain_values


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

    :func:`eigenscape._roles.column_role` decides. Of more than 20 categories the most frequent have their own
    colours and the rest share one grey; missing labels (None, NaN, empty) have another.
    """
    values = plain_values(np.asarray(labels))
    if column_role(values) != "category":
        return None
    codes, found, counts = category_codes(values)
    kept = np.sort(np.argsort(-np.array(counts), kind="stable")[:MAX_CATEGORIES])
    names, colors = [escape_controls(found[i]) for i in kept], category_colors(len(kept))
    index = np.full(len(found) + 1, len(kept))  # the last entry is the code -1, of missing labels
    index[kept] = np.arange(len(kept))
    if len(found) > len(kept):
        names.append(f"other ({len(found) - len(kept)})")
        colors.append(OTHER)
    index[-1] = len(names)
    if (codes < 0).any():
        names.append("missing")
        colors.append(MISSING)
    return Categories(names, index[codes], colors, len(kept))
