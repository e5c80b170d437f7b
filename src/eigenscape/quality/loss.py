"""The loss minimised by all spectral methods (Bengio sec. 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.dictionary.low_rank import LowRankEigenfunctions
from eigenscape.eigenfunctions import Eigenfunctions, Embedding, Functions
from eigenscape.kernels.base import n_points
from eigenscape.pieces import PiecewiseEmbedding


def kernel_loss(embedding: Embedding | PiecewiseEmbedding, Y: Any = None) -> float:
    """Compute the mean squared error of the kernel's reconstruction from its eigenfunctions.

    ``(k_m(x, x_i) - sum_r lambda_r f_r(x) f_r(x_i))^2`` with ``lambda_r = l_r / m``, averaged over the
    points ``x`` of ``Y`` and the training points ``x_i`` (Bengio sec. 4). All computed eigenfunctions are
    used, including the constant one. On the training set the loss is the sum of the squares of the discarded
    eigenvalues over ``m^2``; on held-out points it estimates the generalisation error.

    Parameters
    ----------
    embedding : Embedding or PiecewiseEmbedding
        The embedding of the training points, with its eigenfunctions.
    Y : array-like of shape (n_samples, n_features) or None, default=None
        Points to evaluate. If None, the training points.

    Returns
    -------
    float
        The loss.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import KernelPCA
    >>> from eigenscape.quality import kernel_loss
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> two, three = (KernelPCA(n).fit(X) for n in (2, 3))
    >>> bool(three.loss() < two.loss())  # calls kernel_loss
    True
    """
    if isinstance(embedding, Embedding) and isinstance(embedding.eigenfunctions, LowRankEigenfunctions):
        return embedding.eigenfunctions.loss(Y)
    Y = embedding.kernel.X if Y is None else Y
    total = sum(float(_squared_errors(functions, points)) for functions, points in embedding.parts(Y))
    return total / (n_points(Y) * embedding.n_train)


def _squared_errors(functions: Functions, Y: Any) -> float:
    """Return the sum of the squared errors over ``Y`` and the training points."""
    assert isinstance(functions, Eigenfunctions)
    lambdas = functions.pairs.values / functions.n_train
    training = functions.on_training  # (m, r)
    total = 0.0
    similarity: np.ndarray | sparse.csr_array
    for similarity, values in functions.blocks(Y):
        if sparse.issparse(similarity):
            # |k|^2 - m sum_r lambda_r^2 f_r^2, since the f_r are orthogonal on the training set and
            # k @ f_r = l_r f_r(x).
            squares = np.square(similarity.data).sum() - functions.n_train * np.square(values * lambdas).sum()
            total += max(float(squares), 0.0)
        else:
            total += float(np.square(similarity - (values * lambdas) @ training.T).sum())
    return total
