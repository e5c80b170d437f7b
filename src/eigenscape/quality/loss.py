"""The loss minimised by all spectral methods (Bengio sec. 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._typing import is_sparse
from eigenscape.dictionary.anchored import AnchoredEigenfunctions
from eigenscape.dictionary.low_rank import LowRankEigenfunctions, LowRankKernel
from eigenscape.eigenfunctions import Eigenfunctions, Embedding, Functions, InvertibleScale, Part
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.kernels.base import Columns, n_points
from eigenscape.pieces import PiecewiseEmbedding, sub_table
from eigenscape.quality.pair_moments import n_pairs


def kernel_loss(embedding: Embedding | PiecewiseEmbedding, Y: Any = None, between: Any = None) -> float:
    """Compute the mean squared error of the kernel's reconstruction from its eigenfunctions.

    ``(k_m(x, y) - sum_r lambda_r f_r(x) f_r(y))^2`` with ``lambda_r = l_r / m`` (Bengio sec. 4). All computed
    eigenfunctions are used, including the constant one.

    On the training set the mean is over all pairs of training points, and is the sum of the squares of the
    discarded eigenvalues over ``m^2``. On held-out points the mean is over all pairs of two different
    held-out points: an unbiased estimate of the generalisation error, the expectation over two independent
    points (a U-statistic; pairs of a point with itself, in which ``k_m(x, x)`` would dominate, are left out).
    Its time is proportional to the square of the number of held-out points.

    The training loss decreases with every further eigenfunction, to 0 for all ``m``. The held-out loss does
    not: for a positive semi-definite kernel it decreases to the error of the projection on the span of the
    training points; for an indefinite or noisy kernel it increases again where eigenfunctions are not
    determined by the training points.

    If the kernel is approximated by a dictionary, the training loss refers to the approximated kernel, which
    has no more eigenfunctions than the dictionary has members: it does not contain the error of the
    approximation. The held-out loss does: ``k_m`` is the kernel itself, normalised by the means or sums that
    the model has estimated with its dictionary, after a stream or a dask collection as well. The error
    between two points is then the error of the expansion of the approximated kernel plus what the
    approximation leaves out.

    Parameters
    ----------
    embedding : Embedding or PiecewiseEmbedding
        The embedding of the training points, with its eigenfunctions.
    Y : array-like of shape (n_samples, n_features) or None, default=None
        Held-out points, at least 2. If None, the training points.
    between : array-like of shape (n_samples, n_samples) or None, default=None
        Similarities or distances among the held-out points, if those to the training points are precomputed.

    Returns
    -------
    float
        The loss.

    Raises
    ------
    UndefinedKernelError
        If the kernel is not defined between two new points (LLE).

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
    if Y is None:
        return _training_loss(embedding)
    n_ordered = n_pairs(n_points(Y))
    return float(squared_errors_between(embedding, Y, Y, between, same=True)[-1]) / n_ordered


def kernel_loss_curve(
    embedding: Embedding | PiecewiseEmbedding, Y: Any = None, between: Any = None
) -> np.ndarray:
    """Compute the loss of the first ``N`` coordinates for ``N = 1, ..., n_components``, from one fit.

    Parameters
    ----------
    embedding : Embedding or PiecewiseEmbedding
        The embedding of the training points, with its eigenfunctions.
    Y : array-like of shape (n_samples, n_features) or None, default=None
        Held-out points. If None, the training points.
    between : array-like of shape (n_samples, n_samples) or None, default=None
        Similarities or distances among the held-out points, if those to the training points are precomputed.

    Returns
    -------
    ndarray of shape (n_components,)
        Losses. The last is :func:`kernel_loss`. Trivial eigenfunctions, which are no coordinates, are
        included in all of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import KernelPCA
    >>> X = load_iris().data
    >>> KernelPCA(3).fit(X[::2]).loss_curve(X[1::2]).shape  # by this function
    (3,)
    """
    if Y is None:
        return _training_curve(embedding)
    n_ordered = n_pairs(n_points(Y))
    return squared_errors_between(embedding, Y, Y, between, same=True, curve=True) / n_ordered


def squared_errors_between(
    embedding: Embedding | PiecewiseEmbedding,
    Y: Any,
    Z: Any,
    table: Any = None,
    *,
    same: bool,
    curve: bool = False,
) -> np.ndarray:
    """Return the sums of the squared errors over all pairs of a point of ``Y`` and a point of ``Z``.

    If ``same``, the two are the same points, and pairs of a point with itself are left out. One sum, or with
    ``curve`` one for each number of coordinates.
    ``table`` are similarities or distances of the pairs, if those to the training points are precomputed. The
    kernel and its expansion are zero between points of different pieces.
    """
    n_components = np.shape(embedding.eigenvalues)[-1]
    columns = {id(part.functions): part for part in embedding.parts(Z)}
    total = np.zeros(n_components if curve else 1)
    for rows in embedding.parts(Y):
        theirs = columns.get(id(rows.functions))
        if theirs is not None:
            n_functions = len(rows.functions.pairs)
            counts = np.minimum(rows.trivial + np.arange(1, n_components + 1), n_functions)
            some = sub_table(table, rows.which, theirs.which)
            total += _squares_of_part(rows, theirs, some, counts if curve else counts[-1:], same)
    return total


def _squares_of_part(rows: Part, columns: Part, table: Any, counts: np.ndarray, same: bool) -> np.ndarray:
    """Return the sums of the squared errors of the first ``counts`` functions of one piece, by blocks."""
    functions = rows.functions
    lambdas = functions.pairs.values / functions.mass
    kernel, right = kernel_columns(functions, columns.points), functions(columns.points)  # (n_Z, r)
    total, n_columns = np.zeros(len(counts)), len(right)
    every = np.arange(n_columns)
    with stage("loss", total=n_points(rows.points)) as advance:
        for block in row_blocks(n_points(rows.points), 32 * max(n_columns, _n_columns(functions))):
            some = sub_table(table, np.arange(block.start, block.stop), every)
            values, left = kernel(rows.points[block], some), functions(rows.points[block])
            total += squares_of_expansion(
                values, left * lambdas, right, counts, block.start if same else None
            )
            advance(block.stop - block.start)
    return total


def kernel_columns(functions: Functions, Z: Any) -> Columns:
    """Return the kernel that the functions expand, between any points and ``Z``.

    Of a model with a dictionary it is the kernel that the dictionary approximates: the approximation is part
    of the error.
    """
    if isinstance(functions.kernel, LowRankKernel):
        return functions.kernel.exact_to(Z)
    return functions.kernel.to(Z)


def _n_columns(functions: Functions) -> int:
    """Return the number of points to which kernel values are computed for the functions at a point."""
    return functions.kernel.span.size if isinstance(functions, LowRankEigenfunctions) else functions.n_train


def squares_of_expansion(
    values: Any, left: np.ndarray, right: np.ndarray, counts: np.ndarray, diagonal: int | None
) -> np.ndarray:
    """Return the sums of the squares of ``values - left right'`` with the first ``counts`` columns of both.

    If ``diagonal`` is given, row ``i`` and column ``i + diagonal`` are the same point and left out.
    """
    sums = np.empty(len(counts))
    error, start = None, 0
    for place, stop in enumerate(counts):
        step = left[:, start:stop] @ right[:, start:stop].T
        if error is None:
            error = (values.toarray() if is_sparse(values) else values) - step
        else:
            error -= step
        if diagonal is not None:
            own = np.arange(len(error))
            error[own, own + diagonal] = 0.0
        sums[place] = np.vdot(error, error)
        start = stop
    return sums


def _training_loss(embedding: Embedding | PiecewiseEmbedding) -> float:
    """Return the loss over all pairs of training points."""
    total = sum(
        _training_squares(part.functions, part.points) for part in embedding.parts(embedding.kernel.X)
    )
    return total / embedding.mass**2


def _training_squares(functions: Functions, X: Any) -> float:
    """Return the weighted sum of the squared errors over all pairs of training points."""
    if isinstance(functions, (LowRankEigenfunctions, AnchoredEigenfunctions)):
        return functions.training_loss() * functions.mass**2
    assert isinstance(functions, Eigenfunctions)
    lambdas = functions.pairs.values / functions.mass
    training = functions.on_training  # (m, r)
    weights = np.ones(functions.n_train) if functions.weights is None else functions.weights
    total, done = 0.0, 0
    similarity: np.ndarray | sparse.csr_array
    for similarity, values in functions.blocks(X):
        own = weights[done : done + len(values)]
        done += len(values)
        if sparse.issparse(similarity):
            # |k|^2 - m sum_r lambda_r^2 f_r^2, since the f_r are orthogonal on the training set and
            # k @ f_r = l_r f_r(x).
            squares = similarity.power(2) @ weights - functions.mass * np.square(values * lambdas).sum(axis=1)
            total += max(float(own @ squares), 0.0)
        else:
            error = similarity - (values * lambdas) @ training.T
            total += float(own @ (np.square(error) @ weights))
    return total


def _training_curve(embedding: Embedding | PiecewiseEmbedding) -> np.ndarray:
    """Return the training loss of the first coordinates: the loss of all, and the squares left out."""
    n_components = np.shape(embedding.eigenvalues)[-1]
    curve = np.full(n_components, _training_loss(embedding))
    for part in embedding.parts(embedding.kernel.X):
        functions = part.functions
        if isinstance(functions, Eigenfunctions) and functions.training is not None:
            return _projection_curve(functions, n_components)
        squares = np.square(functions.pairs.values[part.trivial :])
        left_out = np.append(np.cumsum(squares[::-1])[::-1][1:], 0.0)  # after N = 1, 2, ...
        curve[: len(left_out)] += left_out / embedding.mass**2
    return curve


def _projection_curve(functions: Eigenfunctions, n_components: int) -> np.ndarray:
    """Return the training loss of functions that are no eigenfunctions (FastMap, MetricMap)."""
    lambdas, training = functions.pairs.values / functions.n_train, functions.on_training
    counts, total = np.arange(1, n_components + 1), np.zeros(n_components)
    for similarity, values in functions.blocks(functions.kernel.X):
        total += squares_of_expansion(similarity, values * lambdas, training, counts, None)
    return total / functions.n_train**2


def map_loss(embedding: Embedding | PiecewiseEmbedding, Y: Any, coordinates: np.ndarray) -> float:
    """Compute the loss of other coordinates of held-out points, for example of a regression.

    The coordinates are converted to functions ``f_r`` by the scale of the embedding, and the kernel is
    compared with ``sum_r lambda_r f_r(x) f_r(y)`` over all pairs of two different points, as in
    :func:`~eigenscape.quality.kernel_loss`. Functions that are no coordinates (the constant one) are taken
    from the embedding. For the coordinates of the embedding itself the two losses are equal.

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
