"""Colours of categories and of values in figures, reports and the explorer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

#: Okabe and Ito's colours, distinguishable with any colour vision; the pale yellow last.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
#: Tol's muted colours and black, for nine or ten categories.
MUTED = (
    *("#332288", "#DDCC77", "#117733", "#CC6677", "#88CCEE"),
    *("#882255", "#44AA99", "#999933", "#AA4499", "#000000"),
)
#: For up to twenty categories.
MANY = (
    *("#0072B2", "#E07B00", "#009E73", "#CC3311", "#7B4FB5", "#8C5A2B", "#D65FA5", "#5B6770", "#A3A500"),
    *("#17A5C4", "#1F3A93", "#F2B134", "#5FBF6A", "#F08A7E", "#B39DDB", "#C9A27C", "#F3B6D5", "#A8B2B9"),
    *("#5C6B00", "#8FD3E8"),
)
#: At most this many categories have their own colour, the most frequent ones.
MAX_CATEGORIES = len(MANY)
#: Colours of all other categories, and of missing labels.
OTHER, MISSING = "#777777", "#CCCCCC"
#: Colour map of values, perceptually uniform.
VALUES = "viridis"
#: Above this many points the density is shown.
DENSE = 50_000


def legend_order(names: Sequence[str] | np.ndarray) -> list[int]:
    """Return the order of categories in legends: whole numbers by value, other names as strings.

    Examples
    --------
    >>> legend_order(["10", "9"]), legend_order(["b", "a", "10"])
    ([1, 0], [2, 1, 0])
    """
    if all(name.isdecimal() for name in names):
        return sorted(range(len(names)), key=lambda i: int(names[i]))
    return sorted(range(len(names)), key=lambda i: names[i])


def category_colors(count: int) -> list[str]:
    """Return ``count`` colours, at most twenty; up to ten they are from a colour-blind safe palette.

    Examples
    --------
    >>> category_colors(2)
    ['#0072B2', '#E69F00']
    """
    return list(next((one for one in (OKABE_ITO, MUTED) if count <= len(one)), MANY)[:count])
