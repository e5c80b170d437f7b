"""The criterion that all these methods minimise (Bengio sec. 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.dictionary.low_rank import LowRankEigenfunctions
from eigenscape.eigenfunctions import Eigenfunctions, Embedding, Functions
from eigenscape.kernels.base import n_points
from eigenscape.pieces import PiecewiseEmbedding


def kernel_loss(embedding: Embedding | PiecewiseEmbedding, Y: Any = None) -> float:
    """Mean of ``(k_m(x, x_i) - sum_r lambda_r f_r(x) f_r(x_i))^2`` over the points ``x`` of ``Y`` and the
    training points ``x_i``.

    None for ``Y`` means the training points themselves.

    ``lambda_r = l_r / m``. All eigenfunctions found take part, the trivial one too. On the training set this
    is the sum of the squares of the discarded eigenvalues over ``m^2``; on held-out points it estimates the
    generalisation error."""
    if isinstance(embedding, Embedding) and isinstance(embedding.eigenfunctions, LowRankEigenfunctions):
        return embedding.eigenfunctions.loss(Y)
    Y = embedding.kernel.X if Y is None else Y
    total = sum(float(_squared_errors(functions, points)) for functions, points in embedding.parts(Y))
    return total / (n_points(Y) * embedding.n_train)


def _squared_errors(functions: Functions, Y: Any) -> float:
    """Squared errors summed over ``Y`` and the training points."""
    assert isinstance(functions, Eigenfunctions)
    lambdas = functions.pairs.values / functions.n_train
    training = functions.on_training  # (m, r)
    total = 0.0
    for similarity, values in functions.blocks(Y):
        if sparse.issparse(similarity):
            # |k|^2 - m sum_r lambda_r^2 f_r^2, since the f_r are orthogonal on the training set and k @ f_r =
            # l_r f_r(x).
            squares = np.square(similarity.data).sum() - functions.n_train * np.square(values * lambdas).sum()
            total += max(float(squares), 0.0)
        else:
            total += float(np.square(similarity - (values * lambdas) @ training.T).sum())
    return total
