"""Distance of points from the span of the eigenfunctions, in feature space (Ouimet sec. 3)."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._typing import Rows
from eigenscape.dictionary.low_rank import LowRankKernel
from eigenscape.dictionary.source import kernel_source
from eigenscape.eigenfunctions import Embedding
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.kernels.base import BoundKernel, as_float64, n_points
from eigenscape.kernels.distance import GeodesicKernel, HalfSquaredDistance
from eigenscape.kernels.pairwise import BoundPairwise, Precomputed
from eigenscape.normalize import CenteredKernel, DividedKernel, inverse_power
from eigenscape.pieces import PiecewiseEmbedding

#: Relative error of a squared distance from the span; 2e-14 was measured.
_ROUNDING = 1e-12


def span_distances(embedding: Embedding | PiecewiseEmbedding, Y: Rows) -> np.ndarray:
    """Return the squared distances (n_new,) of points from the span of the eigenfunctions in feature space.

    ``k_m(x, x) - sum_r lambda_r f_r(x)^2`` with ``lambda_r = l_r / m``, ``m`` the total weight, over all
    computed eigenfunctions, including the constant one: what the expansion leaves out of a point
    (Ouimet eq. 5; the reconstruction error of kernel PCA). It may be negative for a kernel that is not
    positive semi-definite.

    Parameters
    ----------
    embedding : Embedding or PiecewiseEmbedding
        The fitted map.
    Y : array-like of shape (n_new, n_features)
        Any points.

    Raises
    ------
    UndefinedKernelError
        If the similarity of a new point to itself is not defined (graph affinities, precomputed matrices), or
        if several components are embedded separately.
    """
    if isinstance(embedding, PiecewiseEmbedding):
        piece = embedding.pieces[0]
        if len(embedding.pieces) > 1 or piece.embedding is None:
            raise UndefinedKernelError(
                f"{len(embedding.pieces)} components are embedded separately, so that a point has no single"
                " span; use on_disconnected='connect' or 'largest'"
            )
        return span_distances(piece.embedding, piece.restrict(Y))
    functions = embedding.eigenfunctions
    lambdas = functions.pairs.values / functions.mass
    parts = []
    for rows in row_blocks(n_points(Y), 32 * min(functions.n_train, 100_000)):
        own = self_similarity(functions.kernel, Y[rows])
        parts.append(own - np.square(functions(Y[rows])) @ lambdas)
    return np.concatenate(parts)


def rounding_of_span(embedding: Embedding | PiecewiseEmbedding, Y: Rows) -> float:
    """Return the size of :func:`span_distances` that is due to rounding alone."""
    if isinstance(embedding, PiecewiseEmbedding):
        return rounding_of_span(embedding.pieces[0].embedding, embedding.pieces[0].restrict(Y))  # type: ignore[arg-type]
    kernel = embedding.kernel
    terms = [self_similarity(one, Y) for one in (kernel, getattr(kernel, "base", kernel))]
    return _ROUNDING * float(np.abs(terms).max())


@singledispatch
def self_similarity(kernel: BoundKernel, Y: Rows) -> np.ndarray:  # noqa: ARG001
    """Return ``k_m(y, y)`` (n_new,) of any points."""
    raise UndefinedKernelError(
        f"{type(kernel).__name__} does not define the similarity of a new point to itself; use a kernel of"
        " two rows, such as 'rbf'"
    )


@self_similarity.register
def _(kernel: BoundPairwise, Y: Rows) -> np.ndarray:
    inner = kernel.kernel
    is_table = isinstance(inner, Precomputed) or getattr(inner, "metric", None) == "precomputed"
    if is_table:
        raise UndefinedKernelError(
            "a precomputed matrix does not contain the similarity of a new point to itself; pass rows"
        )
    if isinstance(inner, HalfSquaredDistance):
        return np.zeros(n_points(Y))
    return np.asarray(kernel_source(kernel).diagonal(as_float64(Y), None), dtype=np.float64)


@self_similarity.register
def _(kernel: GeodesicKernel, Y: Rows) -> np.ndarray:  # noqa: ARG001
    return np.zeros(n_points(Y))


@self_similarity.register
def _(kernel: CenteredKernel, Y: Rows) -> np.ndarray:
    """Bengio eq. 10 for a point and itself."""
    return self_similarity(kernel.base, Y) - 2 * kernel.means(Y) + kernel.grand_mean


@self_similarity.register
def _(kernel: DividedKernel, Y: Rows) -> np.ndarray:
    """Bengio eq. 12 for a point and itself."""
    own = self_similarity(kernel.base, Y)
    return own * np.square(inverse_power(kernel.degrees(Y), kernel.power))


@self_similarity.register
def _(kernel: LowRankKernel, Y: Rows) -> np.ndarray:
    """The kernel that the dictionary approximates, so that the approximation is part of the distance."""
    own = kernel.span.source.diagonal(Y, None)
    if kernel.normalization.kind == "divisive":
        return own * np.square(inverse_power(np.maximum(kernel.degrees(Y), 0.0)))
    if kernel.normalization.kind is None:
        return own
    mean = kernel.normalization.mean
    weights = kernel.span.member_weights(mean[None], np.ones(1))[0]  # (m,)
    return own - 2 * kernel.span.values(Y) @ weights + float(mean @ mean)
