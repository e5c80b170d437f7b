"""One pass over a stream with a dictionary of bounded size: members are added and replaced."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenscape._progress import stage
from eigenscape.dictionary.budget import moments_on_hull, on_hull, reduce_dictionary
from eigenscape.dictionary.feature_moments import FeatureMoments
from eigenscape.dictionary.readers import ArrayReader, read_blocks
from eigenscape.dictionary.selection import extend
from eigenscape.dictionary.source import PointArray
from eigenscape.dictionary.span import MAX_ROUNDING
from eigenscape.kernels.base import n_points
from eigenscape.methods.dictionary_fit import (
    DictionaryOptions,
    DictionaryState,
    chunk_title,
    mean_of_members,
)

#: Smallest number of rows per block, if the chunk has as many. The gain of a new member is estimated from the
#: rows of its block, since the components of earlier ones in its direction are lost.
_MIN_ROWS = 512


def budget_fit(state: DictionaryState, Y: PointArray, options: DictionaryOptions) -> DictionaryState:
    """Continue with more points; the dictionary has at most ``options.size`` members at the end.

    The points of a block that are not in the span become members. Then ``size`` members are kept, chosen
    greedily for a span near the projected points of the whole stream, and these are projected on it.
    ``total_error`` bounds the sum of the squared distances between the points and their projections.
    """
    assert options.size is not None
    state = _with_total_error(state)
    with stage(chunk_title(options), total=n_points(Y)) as advance:
        reader = ArrayReader(Y, state.moments.count)
        for indices, rows in read_blocks(reader, max(options.size, _MIN_ROWS)):
            state = _add_block(state, rows, indices, options.size)
            advance(len(indices))
    error, moments = state.total_error or 0.0, state.moments
    # Bounds, since the errors of single points are not known after members were replaced; without
    # ``sum_to_one`` no projection is longer than its point.
    worst = error if state.span.sum_to_one else min(error, 4 * moments.max_squared_norm)
    moments = replace(moments, max_error=worst, sum_root_errors=float(np.sqrt(moments.count * error)))
    return replace(
        state, moments=moments, mean=None if options.averages == "implicit" else mean_of_members(state.span)
    )


def _with_total_error(state: DictionaryState) -> DictionaryState:
    """Return the state with an upper bound of the total error if it is that of rows read several times."""
    moments, span = state.moments, state.span
    if state.total_error is not None or moments.count == 0:
        return state
    assert state.exact
    bound = moments.max_error**0.5 * moments.sum_root_errors
    return replace(state, moments=moments_on_hull(span, moments), total_error=bound)


def _add_block(state: DictionaryState, rows: PointArray, indices: np.ndarray, size: int) -> DictionaryState:
    """Extend the dictionary by a block of points, add them to the moments, and reduce it to ``size``."""
    norms = state.span.source.diagonal(rows, indices) + state.span.shift
    dictionary, projection = extend(state.dictionary, rows, indices, MAX_ROUNDING * norms)
    projection = on_hull(dictionary.span, projection)
    before = state.total_error or 0.0
    error = before + float(projection.error.sum())
    is_first = state.moments.count == 0
    earlier = FeatureMoments(projection.Z.mean(axis=0)) if is_first else state.moments.pad(dictionary.size)
    moments = earlier.add(projection)
    if dictionary.size > size:
        dictionary, moments, moved, moved_earlier = reduce_dictionary(dictionary, moments, size, earlier)
        error += moved + 2 * float(np.sqrt(before * moved_earlier))
    return replace(state, dictionary=dictionary, moments=moments, total_error=error, exact=False)
