"""A fitted map made small: a dictionary of training rows in place of all of them."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenscape.dictionary.low_rank import LowRankKernel
from eigenscape.dictionary.source import ShiftedLinear
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import Estimator
from eigenscape.exceptions import ToleranceWarning
from eigenscape.kernels.base import n_points
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.kernels.pairwise import BoundPairwise, Linear, PairwiseKernel
from eigenscape.methods.compact import GOAL, compact_functions
from eigenscape.methods.inverse import training_points
from eigenscape.methods.ordinal import OrdinalEmbedding
from eigenscape.pieces import PiecewiseEmbedding


class CompactMap(Estimator):
    """What ``save(..., compact=...)`` keeps of a map: functions of few training rows that approximate it.

    ``y(x) = sum_j a_j k(x, d_j) + b`` with the dictionary ``d``. It places points and does nothing else; it
    is made from a fitted estimator, not by ``fit``.

    Attributes
    ----------
    method, parameters : str, dict
        Name and parameters of the estimator it was made from.
    dictionary_ : array of shape (m, n_features)
        The training rows kept.
    compact_error_ : float
        Root mean square error on training rows, each predicted without itself, relative to the spread of the
        map. New rows that are unlike the training rows may lose more.
    """

    def __init__(
        self, method: str = "", parameters: dict[str, Any] | None = None, verbose: bool = False
    ) -> None:
        self.method = method
        self.parameters = parameters
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Any:
        """Refused: this is what is left of a map that was fitted."""
        raise TypeError(f"a compact map learns nothing; fit {self.method} again, and save that")

    @property
    def _n_features_out(self) -> int:
        return len(self._model_.origin)


class Small(NamedTuple):
    """What goes to disk of a model, what is said about that, and arrays in it that may be left out."""

    model: Any
    facts: dict[str, Any]
    needless: tuple[Any, ...] = ()


def made_compact(model: Any, size: int | None) -> Small:
    """The model with few of its training rows, or none where ``transform`` does without."""
    needless = _needless_rows(model)
    if needless is not None:
        return Small(model, {"size": None, "error": 0.0}, needless)
    if any(
        isinstance(value, str) and value.startswith("precomputed")
        for value in model.get_params(deep=False).values()
    ):
        raise ValueError(
            f"this {type(model).__name__} has seen a precomputed matrix and has no rows; save it without compact"
        )
    inner = model._model_
    rows, coordinates = _rows_and_coordinates(inner)
    if np.ndim(rows) != 2:
        raise ValueError(
            f"{type(model).__name__} was fitted on objects that are no rows of numbers; save it without compact"
        )
    found = compact_functions(rows, coordinates, _own_kernel(inner), size, getattr(model, "n_jobs", None))
    if not found.reached:
        warnings.warn(
            f"{found.size} of {rows.shape[0]} rows represent the map with an error of {100 * found.error:.2g} % on training rows, not"
            f" {100 * GOAL:g} %; give a larger compact, or save all rows",
            ToleranceWarning,
            stacklevel=3,
        )
    compact = CompactMap(type(model).__name__, model.get_params(deep=False))
    compact._model_, compact.dictionary_, compact.compact_error_ = (
        found.functions,
        found.functions.members,
        found.error,
    )
    compact.n_iter_ = 0
    for name in ("n_features_in_", "feature_names_in_"):
        if name in vars(model):
            setattr(compact, name, vars(model)[name])
    return Small(compact, {"size": found.size, "error": found.error})


def _needless_rows(model: Any) -> tuple[Any, ...] | None:
    """Arrays of training rows that ``transform`` never looks at; None where it needs the rows."""
    inner = vars(model).get("_model_")
    if isinstance(inner, Embedding) and isinstance(inner.kernel, LowRankKernel):
        return (inner.kernel.X,)
    if "components_" in vars(model) or not isinstance(
        inner, (Embedding, PiecewiseEmbedding, OrdinalEmbedding)
    ):
        kept = [vars(model).get("_rows_"), getattr(inner, "kernel", None)]
        return tuple(thing.X for thing in kept if thing is not None)
    by_landmarks = (
        isinstance(inner, Embedding)
        and inner.landmarks is not None
        and isinstance(_innermost(inner.kernel), BoundPairwise)
    )
    if by_landmarks and inner.n_train < len(model.embedding_):
        spectrum = vars(model).get("_spectrum_")
        kept = [inner.landmarks.X, None if spectrum is None else spectrum.distance.X]
        return tuple(rows for rows in kept if rows is not None and n_points(rows) > inner.n_train)
    return None


def _innermost(kernel: Any) -> Any:
    """The kernel before it was centred, divided or repaired."""
    while "base" in vars(kernel):
        kernel = kernel.base
    return kernel


def _rows_and_coordinates(inner: Any) -> tuple[Any, np.ndarray]:
    if isinstance(inner, Embedding):
        return training_points(inner)
    rows = inner.X if isinstance(inner, PiecewiseEmbedding) else inner.points.X
    return rows, inner.transform(rows)


def _own_kernel(inner: Any) -> PairwiseKernel | None:
    """The kernel of two points that the map starts from. Of the distances only Euclidean ones have one: that
    of PCA."""
    found = _innermost(inner.kernel) if isinstance(inner, Embedding) else None
    kernel = found.kernel if isinstance(found, BoundPairwise) else None
    euclidean = (
        isinstance(kernel, HalfSquaredDistance)
        and kernel.metric in ("euclidean", "l2")
        and not kernel.metric_params
    )
    if euclidean or isinstance(kernel, Linear):
        return Linear() if sparse.issparse(found.X) else ShiftedLinear(found.X.mean(axis=0))
    return None if isinstance(kernel, HalfSquaredDistance) else kernel
