"""Categories among labels: which have a colour of their own, and what becomes of the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenscape.plot._common import MUTED, PALETTE
from eigenscape.quality._validation import missing_labels

#: More categories than this cannot be told apart by colour: the most frequent keep theirs.
MOST = 20
#: Of points whose category has no colour of its own, and of those that have none.
OTHER, MISSING = "#777777", "#CCCCCC"


class Categories(NamedTuple):
    """Names of the categories, the number of that of each point, and colours; ``own`` of them stand for one
    category each."""

    names: list[str]
    codes: np.ndarray  # (n,)
    colors: list[Any]
    own: int


def categories(labels: Any) -> Categories | None:
    """Categories where labels are such: texts, booleans, or at most 20 different whole numbers. None for
    values.

    Of more than 20 the most frequent have a colour, all others one grey together; missing labels (None, NaN)
    have another."""
    labels = np.asarray(labels)
    if labels.dtype.kind not in "OUSTbiu":
        return None
    gaps = missing_labels(labels)
    known = labels[~gaps]
    found, codes, counts = np.unique(
        known if labels.dtype.kind in "iu" else known.astype(str), return_inverse=True, return_counts=True
    )
    if labels.dtype.kind in "iu" and len(found) > MOST:
        return None
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST])
    names, colors = [str(name) for name in found[kept]], category_colors(len(kept))
    number = np.full(len(found), len(kept))
    number[kept] = np.arange(len(kept))
    if len(found) > len(kept):
        names.append(f"other ({len(found) - len(kept)})")
        colors.append(OTHER)
    placed = np.full(len(labels), len(names))
    placed[~gaps] = number[codes]
    if gaps.any():
        names.append("missing")
        colors.append(MISSING)
    return Categories(names, placed, colors, len(kept))


def category_colors(count: int) -> list[Any]:
    """Colours for ``count`` categories that everyone can tell apart while there are such, then evenly spaced
    hues."""
    for palette in (PALETTE, MUTED):
        if count <= len(palette):
            return list(palette[:count])
    from matplotlib import colormaps

    wheel = colormaps["turbo"]
    return [wheel(x) for x in np.linspace(0.03, 0.97, count)]
