"""Compact models: a fitted map approximated by functions of a few training rows."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, NoReturn

import numpy as np

from eigenscape._warnings import warn
from eigenscape.dictionary.anchored import AnchoredKernel
from eigenscape.dictionary.low_rank import LowRankEigenfunctions, LowRankKernel
from eigenscape.dictionary.source import ShiftedLinear
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._embedder import copy_features
from eigenscape.estimators._inverse import is_euclidean_metric
from eigenscape.estimators.parametric_map import ParametricMap
from eigenscape.exceptions import ToleranceWarning
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.kernels.pairwise import BoundPairwise, Linear, PairwiseKernel
from eigenscape.methods.compact import compact_functions
from eigenscape.methods.local_affine import training_points
from eigenscape.methods.ordinal import OrdinalEmbedding
from eigenscape.methods.tuning import TUNING
from eigenscape.pieces import PiecewiseEmbedding


class CompactMap(Estimator):
    """A map saved by ``save(..., compact=...)``: functions of few training rows that approximate it.

    ``y(x) = sum_j a_j k(x, d_j) + b`` with the dictionary ``d``. It has only ``transform``; it is made from a
    fitted estimator, not by ``fit``.

    Parameters
    ----------
    method : str
        Name of the estimator that it was made from.
    parameters : dict or None
        Parameters of that estimator.
    verbose : bool
        Whether to report the progress of each stage.

    Attributes
    ----------
    dictionary_ : array of shape (m, n_features)
        The training rows that are kept.
    compact_error_ : float
        Root mean square error on training rows, each predicted without itself, relative to the spread of the
        map. The error may be larger for new rows that are unlike the training rows.
    """

    def __init__(
        self, method: str = "", parameters: dict[str, Any] | None = None, verbose: bool = False
    ) -> None:
        self.method = method
        self.parameters = parameters
        self.verbose = verbose

    def fit(self, X: Any, y: object = None) -> NoReturn:
        """Raise TypeError: a compact map cannot be fitted."""
        raise TypeError(f"a compact map cannot be fitted; fit {self.method} and save it")

    @property
    def _n_features_out(self) -> int:
        return len(self._model_.origin)


class CompactModel(NamedTuple):
    """A model to be saved, a description of its compression, and arrays that need not be saved."""

    model: Any
    facts: dict[str, Any]
    omitted: tuple[Any, ...] = ()


def make_compact(model: Any, size: int | None) -> CompactModel:
    """Return the model with ``size`` of its training rows, or none of them if ``transform`` needs none."""
    if not hasattr(model, "transform"):
        raise ValueError(f"{type(model).__name__} has no transform to approximate; save it without compact")
    if isinstance(model, ParametricMap):
        return CompactModel(_without_embedder(model), {"size": None, "error": 0.0})
    unused = _unused_rows(model)
    if unused is not None:
        return CompactModel(model, {"size": None, "error": 0.0}, unused)
    return make_compact_map(model, size)


def make_compact_map(model: Any, size: int | None) -> CompactModel:
    """Return a :class:`CompactMap` of ``size`` training rows; None for as many as are worth their size."""
    name, parameters = type(model).__name__, model.get_params(deep=False)
    if any(isinstance(value, str) and value.startswith("precomputed") for value in parameters.values()):
        raise ValueError(
            f"this {name} is fitted to a precomputed matrix and has no rows; save it without compact"
        )
    inner = vars(model).get("_model_")
    if not isinstance(inner, (Embedding, PiecewiseEmbedding, OrdinalEmbedding)):
        raise ValueError(f"{name} does not contain its training rows; save it without compact")
    rows, coordinates = _rows_and_coordinates(inner)
    if np.ndim(rows) != 2:
        raise ValueError(
            f"{name} was fitted to objects that are not rows of numbers; save it without compact"
        )
    kernel, n_jobs = _pairwise_kernel(model._model_), getattr(model, "n_jobs", None)
    approximation = compact_functions(rows, coordinates, kernel, size, n_jobs)
    if not approximation.reached:
        warn(
            f"{approximation.size} of {rows.shape[0]} rows represent the map with an error of"
            f" {100 * approximation.error:.2g} % on training rows, not {100 * TUNING.compact_error:g} %; set"
            " a larger compact, or save all rows",
            ToleranceWarning,
        )
    compact = CompactMap(name, parameters)
    compact._model_, compact.dictionary_ = approximation.functions, approximation.functions.members
    compact.compact_error_, compact.n_iter_ = approximation.error, 0
    copy_features(compact, model)
    return CompactModel(compact, {"size": approximation.size, "error": approximation.error})


def _without_embedder(model: ParametricMap) -> ParametricMap:
    """Return a parametric map without the embedder that it was learnt from, which contains training rows."""
    small = copy(model)
    if "embedder_" in vars(small):
        del small.embedder_
    small.embedder = None if model.prefit else model.embedder  # a fitted one would be stored
    return small


def _unused_rows(model: Any) -> tuple[Any, ...] | None:
    """Return training rows and moments that ``transform`` does not use; None if it needs the rows."""
    inner = vars(model).get("_model_")
    if isinstance(inner, Embedding) and isinstance(inner.kernel, LowRankKernel):
        assert isinstance(inner.eigenfunctions, LowRankEigenfunctions)
        # The moments are used for the loss, and to continue a stream.
        return (inner.kernel.X, inner.eigenfunctions.moments.second)
    if isinstance(inner, Embedding) and isinstance(inner.kernel, AnchoredKernel):
        return (inner.kernel.X, inner.kernel.inner)
    if "components_" in vars(model) or not isinstance(
        inner, (Embedding, PiecewiseEmbedding, OrdinalEmbedding)
    ):
        kept = [vars(model).get("_rows_"), getattr(inner, "kernel", None)]
        return tuple(thing.X for thing in kept if thing is not None)
    if not isinstance(inner, Embedding) or inner.landmarks is None or inner.n_train >= len(model.embedding_):
        return None
    if not isinstance(_innermost(inner.kernel), BoundPairwise):
        return None
    spectrum = vars(model).get("_spectrum_")
    kept = [inner.landmarks.X, None if spectrum is None else spectrum.distance.X]
    return tuple(rows for rows in kept if rows is not None and n_points(rows) > inner.n_train)


def _innermost(kernel: Any) -> Any:
    """Return the kernel before it was centred, divided, clipped or shifted."""
    while "base" in vars(kernel):
        kernel = kernel.base
    return kernel


def _rows_and_coordinates(inner: Any) -> tuple[Any, np.ndarray]:
    """Return the training rows of a fitted map and their coordinates."""
    if isinstance(inner, Embedding):
        return training_points(inner)
    rows = inner.X if isinstance(inner, PiecewiseEmbedding) else inner.points.X
    return rows, inner.transform(rows)


def _pairwise_kernel(inner: Any) -> PairwiseKernel | None:
    """Return the pairwise kernel of a fitted map, if any; for Euclidean distances the kernel of PCA."""
    bound = _innermost(inner.kernel) if isinstance(inner, Embedding) else None
    if not isinstance(bound, BoundPairwise):
        return None
    kernel, X = bound.kernel, bound.X
    if isinstance(kernel, HalfSquaredDistance) and not is_euclidean_metric(kernel):
        return None
    if isinstance(kernel, HalfSquaredDistance | Linear):
        return ShiftedLinear(X.mean(axis=0)) if isinstance(X, np.ndarray) else Linear()
    return kernel
