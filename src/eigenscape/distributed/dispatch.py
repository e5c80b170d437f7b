"""Methods of fitted estimators on dask collections, applied to blocks of rows on the workers."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenscape import distributed
from eigenscape.distributed import is_collection, is_lazy
from eigenscape.quality.pair_moments import n_pairs

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from eigenscape.distributed import Blocks

#: Attributes that are not sent to the workers: they are not needed, or refer to the collection itself.
_NOT_SENT = ("embedding_", "_embedding_", "labels_", "transduction_", "_kept_", "feature_names_in_")


def map_rows(
    estimator: Any,
    method: str,
    X: Any,
    columns: str | None,
    of: str,
    dtype: DTypeLike | None,
    like: str,
    ready: str,
) -> Any:
    """Return a method of rows as a lazy dask array with the row chunks of ``X``.

    For the parameters see :func:`eigenscape.estimators._collections.rowwise`.
    """
    check_is_fitted(estimator)
    if _output_container(estimator) != "default":
        raise ValueError(
            "set_output(transform=...) is not supported for dask collections, for which the output is a dask"
            " array; leave it 'default'"
        )
    if ready:
        getattr(estimator, ready)()
    if of == "n_features_in_":
        blocks = validate_blocks(estimator, X, reset=False)
    else:
        blocks = distributed.as_blocks(X)
        if blocks.n_features != getattr(estimator, of):
            raise ValueError(
                f"X has {blocks.n_features} coordinates, but {type(estimator).__name__} has"
                f" {getattr(estimator, of)} components"
            )
    width = getattr(estimator, columns) if columns else None
    tail = () if width is None else (int(width),)
    kind = getattr(estimator, like).dtype if like else dtype
    return distributed.map_blocks(
        _MethodCall(method), blocks, tail, kind or blocks.dtype, _for_workers(estimator)
    )


def mean_over_rows(estimator: Any, method: str, X: Any) -> Any:
    """Return a mean over the rows of ``X``: the weighted mean of the means of its blocks."""
    check_is_fitted(estimator)
    blocks = validate_blocks(estimator, X, reset=False)
    n_rows, total = distributed.reduce_blocks(_WeightedMean(method), blocks, _add, _for_workers(estimator))
    return total / n_rows


def losses_of_pairs(estimator: Any, X: Any, whole: bool) -> np.ndarray:
    """Return the losses for 1, ..., n_components coordinates, or only the last one unless ``whole``.

    They are sums over all pairs of blocks; or, if the sums over pairs follow from sums over rows
    (``_has_pair_moments``), over blocks.
    """
    check_is_fitted(estimator)
    blocks, model = validate_blocks(estimator, X, reset=False), _for_workers(estimator)
    if estimator._has_pair_moments():
        moments = distributed.reduce_blocks(_MethodCall("_pair_moments"), blocks, _add, model)
        return moments.mean_squares()[-estimator._n_features_out :]
    n_rows = int(distributed.count_rows(blocks).sum())
    squares = distributed.reduce_pairs(_PairSquares(whole), blocks, _add, model)
    return squares / n_pairs(n_rows)


def validate_blocks(estimator: BaseEstimator, X: Any, reset: bool) -> Blocks:
    """Return the blocks of a collection after checking its columns.

    With ``reset`` the number and names of the features are stored, otherwise they are compared.
    """
    dense = not get_tags(estimator).input_tags.sparse
    blocks = distributed.as_blocks(X, missing=bool(getattr(estimator, "_missing", False)), dense=dense)
    if blocks.array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got a {blocks.array.ndim}D dask collection instead; X must have rows"
            " and columns"
        )
    columns = np.empty((0, blocks.n_features)) if blocks.names is None else X._meta
    validate_data(estimator, columns, reset=reset, skip_check_array=True)  # number and names of the features
    return blocks


def weight_blocks(sample_weight: ArrayLike | None) -> list[Blocks]:
    """Return the blocks of sample weights, an empty list for None."""
    if sample_weight is None:
        return []
    if not is_collection(sample_weight) or np.ndim(sample_weight) != 1:
        raise TypeError(
            f"X is a dask collection, and sample_weight is a {type(sample_weight).__name__}; pass a"
            " one-dimensional dask array with the row chunks of X"
        )
    return [distributed.as_blocks(sample_weight, name="sample_weight")]


def check_weight(total: float, sample_weight: ArrayLike | None) -> None:
    """Raise ValueError unless there are at least two rows, or weights with a sum above one."""
    if total > 1:
        return
    if sample_weight is None:
        raise ValueError(f"Found a dask collection with {total:g} sample(s) while a minimum of 2 is required")
    raise ValueError(
        f"the sum of sample_weight must exceed 1, got {total:g}; a weight of 2 is equivalent to repeating the"
        " sample, so scale the weights up"
    )


def check_in_memory(estimator: BaseEstimator, X: Any) -> None:
    """Raise TypeError for a dask object where all rows must be in memory."""
    if is_collection(X):
        raise TypeError(
            f"{type(estimator).__name__} needs all rows in memory here, and X is a dask collection; pass"
            " X.compute(), or fit on some of its rows and call transform on the collection"
        )
    if is_lazy(X):
        raise TypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}, which has no rows and columns; convert it to a"
            " dask array (dask.array.from_delayed) or dataframe (to_dataframe), or compute it"
        )


class _MethodCall:
    """A call of a method by its name, which is pickled in place of the function."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, block: Any, model: BaseEstimator) -> Any:
        return getattr(model, self.__name__)(block)


class _WeightedMean(_MethodCall):
    """The number of rows of a block, and the mean of the block times that number."""

    def __call__(self, block: Any, model: BaseEstimator) -> np.ndarray:
        return np.array([block.shape[0], block.shape[0] * super().__call__(block, model)])


class _PairSquares:
    """The sums of the squared errors over the ordered pairs of different rows of two blocks."""

    def __init__(self, curve: bool) -> None:
        self.curve = curve

    def __call__(self, block: Any, other: Any, same: bool, model: Any) -> np.ndarray:
        squares = model._pair_squares(block, other, same=same, curve=self.curve)
        return squares if same else 2 * squares


def _add(first: Any, second: Any) -> Any:
    return first + second


def _for_workers(estimator: BaseEstimator) -> Any:
    """Return a copy of the fitted model to be sent to the workers, single-threaded and silent."""
    model = copy(estimator)
    for name in _NOT_SENT:
        vars(model).pop(name, None)
    options = {"n_jobs": 1, "verbose": False}
    vars(model).update({name: value for name, value in options.items() if name in vars(model)})
    return model


def _output_container(estimator: BaseEstimator) -> str:
    """Return the container set by ``set_output(transform=...)`` or by the global configuration."""
    configured = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    return str(configured or get_config()["transform_output"])
