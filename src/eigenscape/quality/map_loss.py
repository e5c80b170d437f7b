"""The loss of a map whose coordinates are not those of the Nystrom formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.eigenfunctions import Embedding, InvertibleScale
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.kernels.base import n_points
from eigenscape.pieces import PiecewiseEmbedding
from eigenscape.quality.loss import kernel_columns, squares_of_expansion
from eigenscape.quality.pair_moments import n_pairs


def map_loss(embedding: Embedding | PiecewiseEmbedding, Y: Any, coordinates: np.ndarray) -> float:
    """Compute the loss of other coordinates of held-out points, for example from a regression.

    The coordinates are converted to functions ``f_r`` by the scale of the embedding, and the kernel is
    compared with ``sum_r lambda_r f_r(x) f_r(y)`` over all pairs of two different points, as in
    :func:`~eigenscape.quality.kernel_loss`. Functions that are no coordinates (the constant one) are those of
    the embedding. For the coordinates of the embedding itself the two losses are equal.

    Parameters
    ----------
    embedding : Embedding or PiecewiseEmbedding
        The fitted map, with its kernel.
    Y : array-like of shape (n_new, n_features)
        Held-out points, at least 2.
    coordinates : ndarray of shape (n_new, n_components)
        Their coordinates, in the scale of the embedding.

    Returns
    -------
    float
    """
    if isinstance(embedding, PiecewiseEmbedding):
        piece = embedding.pieces[0]
        if len(embedding.pieces) > 1 or piece.embedding is None:
            raise UndefinedKernelError(
                f"the loss of another map is not defined for {len(embedding.pieces)} components that are"
                " embedded separately; use on_disconnected='connect' or 'largest'"
            )
        return map_loss(piece.embedding, piece.restrict(Y), coordinates)
    functions = embedding.eigenfunctions
    scale: Any = embedding.scale
    if not isinstance(scale, InvertibleScale):
        raise UndefinedKernelError(
            f"coordinates scaled by {type(scale).__name__} do not determine the eigenfunctions"
        )
    values = functions(Y)
    values[:, embedding.trivial :] = scale.invert(np.asarray(coordinates, np.float64), values, Y)
    kernel, n = kernel_columns(functions, Y), n_points(Y)
    weighted, total = values * (functions.pairs.values / functions.mass), 0.0
    counts = np.array([values.shape[1]])
    with stage("loss", total=n) as advance:
        for block in row_blocks(n, 32 * max(n, functions.n_train)):
            similarity = kernel(Y[block])
            total += float(squares_of_expansion(similarity, weighted[block], values, counts, block.start)[0])
            advance(block.stop - block.start)
    return total / n_pairs(n)
