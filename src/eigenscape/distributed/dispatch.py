"""Methods of fitted estimators on dask collections, applied to blocks of rows on the workers."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenscape.distributed._presence import is_collection
from eigenscape.distributed.blocks import Blocks, as_blocks
from eigenscape.distributed.reduce import count_rows, map_blocks, reduce_blocks, reduce_pairs
from eigenscape.options import flattened
from eigenscape.quality.pair_moments import n_pairs

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Attributes that are not sent to the workers: they are not needed, or refer to the collection itself.
_NOT_SENT = ("embedding_", "_embedding_", "labels_", "transduction_", "_kept_", "feature_names_in_")


def map_rows(
    estimator: Any,
    method: str,
    X: Any,
    columns: str | None = "_n_features_out",
    of: str = "n_features_in_",
    dtype: DTypeLike | None = None,
    like: str = "",
    ready: str = "",
) -> da.Array:
    """Return the result of a method, one row per row of ``X``, as a lazy dask array with the same row chunks.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator.
    method : str
        Name of the method.
    X : dask collection
        The rows.
    columns : str or None
        Name of the attribute with the number of output columns; None, or an attribute that is None, for one
        value per row.
    of : str
        Name of the attribute with the number of input columns.
    dtype : dtype or None
        The dtype of the output. If None, the dtype of the input.
    like : str
        Name of the attribute that has the dtype of the output, if this dtype depends on the fit.
    ready : str
        Name of a method that computes what the first call would compute: on the client, not once per block.
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
        blocks = as_blocks(X)
        if blocks.n_features != getattr(estimator, of):
            raise ValueError(
                f"X has {blocks.n_features} coordinates, but {type(estimator).__name__} has"
                f" {getattr(estimator, of)} components"
            )
    width = getattr(estimator, columns) if columns else None
    tail = () if width is None else (int(width),)
    kind = getattr(estimator, like).dtype if like else dtype
    return map_blocks(_MethodCall(method), blocks, tail, kind or blocks.dtype, _for_workers(estimator))


def mean_over_rows(estimator: Any, method: str, X: Any, *given: Any, **named: Any) -> Any:
    """Return a mean over the rows of ``X``: the weighted mean of the means of its blocks."""
    if any(value is not None for value in (*given, *named.values())):
        raise ValueError(f"{method} of a dask collection does not support sample_weight; leave it out")
    check_is_fitted(estimator)
    blocks = validate_blocks(estimator, X, reset=False)
    n_rows, total = reduce_blocks(_WeightedMean(method), blocks, _for_workers(estimator))
    return total / n_rows


def losses_of_pairs(estimator: Any, method: str, X: Any, between: None = None) -> Any:
    """Return ``loss_curve``, the losses for 1, ..., n_components coordinates, or ``loss``, the last of them.

    They are sums over all pairs of blocks; or, if the sums over pairs follow from sums over rows
    (``_has_pair_moments``), over blocks.
    """
    if between is not None:
        raise ValueError(f"{method} of a dask collection does not support between; leave it out")
    check_is_fitted(estimator)
    blocks, model, curve = (
        validate_blocks(estimator, X, reset=False),
        _for_workers(estimator),
        method != "loss",
    )
    if estimator._has_pair_moments():
        moments = reduce_blocks(_MethodCall("_pair_moments"), blocks, model)
        losses = moments.mean_squares()[-estimator._n_features_out :]
    else:
        n_rows = int(count_rows(blocks).sum())
        losses = reduce_pairs(_pair_squares, blocks, model, curve) / n_pairs(n_rows)
    return losses if curve else float(losses[-1])


def validate_blocks(estimator: BaseEstimator, X: Any, reset: bool) -> Blocks:
    """Return the blocks of a collection after checking its columns.

    With ``reset`` the number and names of the features are stored, otherwise they are compared.
    """
    dense = not get_tags(estimator).input_tags.sparse
    blocks = as_blocks(X, missing=bool(getattr(estimator, "_missing", False)), dense=dense)
    if blocks.array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got a {blocks.array.ndim}D dask collection instead; X must have rows"
            " and columns"
        )
    columns = np.empty((0, blocks.n_features)) if blocks.names is None else X._meta
    validate_data(estimator, columns, reset=reset, skip_check_array=True)  # number and names of the features
    return blocks


def check_not_precomputed(estimator: BaseEstimator) -> None:
    """Raise ValueError if the parameters require a precomputed matrix, which a collection cannot be."""
    for name, value in flattened(estimator.get_params(deep=False)).items():
        precomputed = isinstance(value, str) and value.startswith("precomputed")
        if precomputed and name in ("affinity", "kernel", "metric"):
            raise ValueError(
                f"{name}={value!r} needs the whole matrix in memory, and X is a dask collection; pass rows of"
                " features, or X.compute()"
            )


def weight_blocks(sample_weight: ArrayLike | None) -> list[Blocks]:
    """Return the blocks of sample weights, an empty list for None."""
    if sample_weight is None:
        return []
    if not is_collection(sample_weight) or np.ndim(sample_weight) != 1:
        raise TypeError(
            f"X is a dask collection, and sample_weight is a {type(sample_weight).__name__}; pass a"
            " one-dimensional dask array with the row chunks of X"
        )
    return [as_blocks(sample_weight, name="sample_weight")]


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


def _pair_squares(block: Any, other: Any, same: bool, model: Any, curve: bool) -> np.ndarray:
    """Return the sums of the squared errors over the ordered pairs of different rows of two blocks."""
    squares = model._pair_squares(block, other, same=same, curve=curve)
    return squares if same else 2 * squares


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
