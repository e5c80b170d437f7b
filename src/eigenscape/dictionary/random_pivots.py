"""Dictionaries by randomly pivoted Cholesky (Chen et al. 2022)."""

from __future__ import annotations

import numpy as np

from eigenscape._progress import stage
from eigenscape.dictionary.readers import ArrayReader, read_blocks
from eigenscape.dictionary.selection import Dictionary, extend
from eigenscape.dictionary.source import PointArray
from eigenscape.dictionary.span import RESOLUTION, Span
from eigenscape.kernels.base import n_points

#: Proposals of the first block after the errors were computed, and of the largest; sizes double in between.
FIRST_BLOCK, LAST_BLOCK = 256, 8192


def select_by_random_pivots(dictionary: Dictionary, X: PointArray, size: int, seed: int) -> Dictionary:
    """Select ``size`` members, each with a probability proportional to its projection error.

    Members are those of the algorithm that draws one at a time and updates the errors of all points after
    each: a point is proposed with a probability proportional to its error for an earlier dictionary, and
    accepted with probability (present error) / (earlier error), which is at most 1 (rejection sampling,
    Epperly et al. 2024). Only proposals are projected; the errors of all points are computed again when that
    costs no more than the proposals made with the earlier ones.

    Parameters
    ----------
    dictionary : Dictionary
        A dictionary without members.
    X : array of shape (n_samples, n_features)
        The points.
    size : int
        Number of members; fewer are returned if fewer points are independent.
    seed : int
        Seed of the proposals.

    Returns
    -------
    Dictionary
    """
    n, random = n_points(X), np.random.default_rng(seed)
    indices = np.arange(n)
    norms = dictionary.span.source.diagonal(X, indices)
    errors = np.maximum(norms, 0.0)  # of the empty dictionary; those of an affine hull may be larger
    least = RESOLUTION * float(errors.sum())
    with stage("dictionary", total=size) as advance:
        while dictionary.size < size and errors.sum() > least:
            before, proposed, block = dictionary.size, 0, 1 if dictionary.size == 0 else FIRST_BLOCK
            cumulative = np.cumsum(errors)
            while dictionary.size < size and proposed < n:
                draws = random.random((block, 2))
                chosen = np.searchsorted(cumulative, draws[:, 0] * cumulative[-1], side="right")
                chosen = np.minimum(chosen, n - 1)  # a product rounded up to the sum
                thresholds = draws[:, 1] * errors[chosen]
                dictionary = extend(dictionary, X[chosen], chosen, thresholds, size)[0]
                proposed, block = proposed + block, min(2 * block, LAST_BLOCK)
                if before == 0:  # one member: from here on errors decrease
                    break
            advance(dictionary.size - before)
            if dictionary.size == before:
                break
            if dictionary.size < size:
                errors = _errors(dictionary.span, X)
                errors[dictionary.indices] = 0.0
    return dictionary


def _errors(span: Span, X: PointArray) -> np.ndarray:
    """Return the projection errors (n,) of all points (Ouimet eq. 8)."""
    blocks = read_blocks(ArrayReader(X), LAST_BLOCK)
    return np.concatenate([span.project(Y, rows).error for rows, Y in blocks])
