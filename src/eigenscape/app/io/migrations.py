"""Model files of earlier formats: classes that were renamed and attributes that changed, format by format.

A change of a class in a model file needs an entry here, with a new ``FORMAT``
(:mod:`eigenscape.app.io.archive`); ``tests/app/io/test_golden.py`` fails without one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from eigenscape.dictionary.feature_moments import FeatureMoments
from eigenscape.dictionary.low_rank import LowRankEigenfunctions
from eigenscape.dictionary.selection import Dictionary
from eigenscape.estimators._base import Estimator
from eigenscape.estimators.distortion_discriminant import DistortionDiscriminantAnalysis
from eigenscape.estimators.greedy_spectral_embedding import GreedySpectralEmbedding
from eigenscape.estimators.kernel_eigenmap import KernelEigenmap
from eigenscape.estimators.lle import LocallyLinearEmbedding
from eigenscape.estimators.spectral_clustering import NearestCenter
from eigenscape.graph.approximate import ApproximateIndex
from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.row_index import RowIndex
from eigenscape.kernels.local import LocalWeights
from eigenscape.kernels.local_gram import local_gram
from eigenscape.kernels.restricted import FlooredKernel
from eigenscape.methods.dictionary_fit import DictionaryState
from eigenscape.methods.distortion_discriminant import Layer
from eigenscape.methods.feature_map import FeatureMap
from eigenscape.methods.mixture_ppca import Mixture
from eigenscape.normalize.repair import ClippedKernel

#: Classes by their full name in files of a format, without the package, and their full name in the next one.
_RENAMED: dict[int, dict[str, str]] = {
    1: {
        "dictionary.greedy.Dictionary": "dictionary.selection.Dictionary",
        "dictionary.moments.Moments": "dictionary.feature_moments.FeatureMoments",
        "dictionary.source.Columns": "dictionary.source.MatrixColumnSource",
        "dictionary.source.LinearAround": "dictionary.source.ShiftedLinear",
        "dictionary.source.Points": "dictionary.source.PairwiseSource",
        "estimators.distortion.DistortionDiscriminantAnalysis": (
            "estimators.distortion_discriminant.DistortionDiscriminantAnalysis"
        ),
        "graph.rows.RowIndex": "graph.row_index.RowIndex",
        "graph.rows.TableRows": "graph.row_index.DistanceRowIndex",
        "graph.tables.PlainReach": "graph.search.RadiusQuery",
        "graph.tables.TableIndex": "graph.precomputed.PrecomputedIndex",
        "graph.tree.TreeReach": "graph.tree.TreeRadiusQuery",
        "kernels.distance.TableLandmarks": "kernels.distance.PrecomputedLandmarks",
        "methods.components.ListedAmong": "pieces.split.StoredDistance",
        "methods.components.NearestVertex": "pieces.split.NearestVertex",
        "methods.components.StrongestAffinity": "pieces.split.StrongestAffinity",
        "methods.distortion.Layer": "methods.distortion_discriminant.Layer",
        "methods.distortion.LayerPlan": "methods.distortion_discriminant.LayerShape",
        "methods.graph_embedding.FeatureMap": "methods.feature_map.FeatureMap",
        "methods.greedy.Learnt": "methods.dictionary_fit.DictionaryState",
        "methods.landmarks.Step": "methods.landmark_mds.LandmarkStep",
        "methods.mixture.RoundKernels": "methods.mixture.IsotropicKernels",
        "operators.rows.CenteredRows": "operators.centered_rows.CenteredRows",
        "pieces.BlockKernel": "pieces.embedding.BlockKernel",
        "pieces.OnePiece": "pieces.embedding.SinglePiece",
        "pieces.Piece": "pieces.embedding.Piece",
        "pieces.PiecewiseEmbedding": "pieces.embedding.PiecewiseEmbedding",
        "pieces.ViewedKernel": "pieces.embedding.PieceKernel",
    },
}

#: Attributes that are dropped before anything is loaded: inverse maps, which are computed again when needed.
DROPPED: dict[int, tuple[str, ...]] = {1: ("_inverse",)}

#: Attributes that were renamed, by class (and its subclasses) and format.
_ATTRIBUTES: dict[int, dict[type, dict[str, str]]] = {
    1: {
        Estimator: {
            name: f"{name}_"
            for name in (
                *("_axes", "_map", "_mixture", "_model", "_moments", "_rows", "_rule", "_scale"),
                *("_spectrum", "_to_invert", "_embedding", "_source"),
            )
        },
        GreedySpectralEmbedding: {"_learnt": "_state_", "_rows_": "_stream_", "_settled": "_fixed_"},
        Dictionary: {"numbers": "indices"},
        FeatureMoments: {
            "least": "min_average",
            "longest": "max_squared_norm",
            "lost": "n_isolated",
            "mass": "weight",
            "root_errors": "sum_root_errors",
            "worst_error": "max_error",
        },
        DictionaryState: {"divided": "weighted_moments"},
        NeighborGraph: {"reach": "radius_query"},
        FlooredKernel: {"least": "floor"},
        FeatureMap: {"answer": "transformation"},
        DistortionDiscriminantAnalysis: {"_layers": "_layers_"},
        Layer: {"plan": "shape"},
        Mixture: {"parts": "models", "shares": "proportions"},
    },
    2: {LowRankEigenfunctions: {"moment": "moments"}},
}


def current_name(name: str, number: int, newest: int) -> str:
    """Return the full name of a class of a file of format ``number``, in the format ``newest``."""
    package = "eigenscape."
    if name.startswith(package):
        for before in range(number, newest):
            name = package + _RENAMED.get(before, {}).get(
                name.removeprefix(package), name.removeprefix(package)
            )
    return name


def migrate(value: Any, number: int, newest: int) -> Any:
    """Bring an object of a file of format ``number`` to the format ``newest``; its parts already are."""
    if isinstance(value, KMeans):  # until format 2 the rule of spectral clustering
        return NearestCenter(value.cluster_centers_)
    state = vars(value)
    for before in range(number, newest):
        for cls, names in _ATTRIBUTES.get(before, {}).items():
            if isinstance(value, cls):
                for old, new in names.items():
                    if old in state:
                        state[new] = state.pop(old)
        for cls, change in _CHANGES.get(before, {}).items():
            if isinstance(value, cls):
                change(state)
    _add_defaults(value, state)
    return value


def _add_defaults(value: Any, state: dict[str, Any]) -> None:
    """Add parameters of an estimator and fields of a data class that are new, with their defaults."""
    if isinstance(value, BaseEstimator):
        for name, parameter in inspect.signature(type(value).__init__).parameters.items():
            if parameter.default is not inspect.Parameter.empty:
                state.setdefault(name, parameter.default)
    elif is_dataclass(value):
        for field in fields(value):
            if field.default is not MISSING:
                state.setdefault(field.name, field.default)


# --- changes that are more than a new name ------------------------------------------------------------------


def _fixed_parameters(state: dict[str, Any]) -> None:
    """``normalize_first`` must not change within a stream."""
    if isinstance(state.get("_fixed_"), dict):
        state["_fixed_"].setdefault("normalize_first", False)


def _block_index(state: dict[str, Any]) -> None:
    """Bounds of distances are computed again."""
    state["known_symmetric"] = isinstance(state["metric"], str)
    _keep(state, ("X", "n_points", "metric", "params", "n_jobs", "known_symmetric", "_euclidean"))


def _approximate_index(state: dict[str, Any]) -> None:
    """faiss's lists are replaced by cells: other points may be missed, with about the same recall."""
    rebuilt = ApproximateIndex(state["X"], state["metric"], state["n_jobs"])
    state.clear()
    state.update(rebuilt.__getstate__())


def _local_weights(state: dict[str, Any]) -> None:
    """Weights were those of Euclidean rows, with ``reg / n_neighbors`` of the trace on the diagonal."""
    graph = state["graph"]
    state["gram"] = local_gram(graph, "euclidean", {})
    state["reg"] = state["reg"] / graph.n_neighbors


def _lle(state: dict[str, Any]) -> None:
    state["reg"] = state["reg"] / (state["n_neighbors"] or state["n_neighbors_"])


def _clipped_kernel(state: dict[str, Any]) -> None:
    """Eigenvalues of the components that are removed were not stored; ``transform`` does not need them."""
    state["values"] = None


def _kernel_eigenmap(state: dict[str, Any]) -> None:
    state["_inverse_"] = {}
    state.setdefault("n_iter_", 1)
    state.setdefault("local_components_", state["n_features_in_"])


def _row_index(state: dict[str, Any]) -> None:
    state["ranked_hashes"] = (state.pop("_order"), state.pop("_sorted"))


def _computed_bounds(state: dict[str, Any]) -> None:
    _keep(state, ("X", "n_points", "metric", "params", "n_jobs", "known_symmetric", "_euclidean"))


def _computed_cells(state: dict[str, Any]) -> None:
    for name in ("_cells", "_points", "_reach"):
        state.pop(name, None)


def _shared_moments(state: dict[str, Any]) -> None:
    """The second moment is computed from the state of the stream, if there is one."""
    model, known = state.get("_model_"), state.get("_state_")
    if model is not None and known is not None:
        functions = model.eigenfunctions
        divisive = functions.kernel.normalization.kind == "divisive"
        vars(functions)["moments"] = known.weighted_moments if divisive else known.moments


def _keep(state: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in set(state) - set(names):
        del state[name]


_CHANGES: dict[int, dict[type, Callable[[dict[str, Any]], None]]] = {
    1: {
        GreedySpectralEmbedding: _fixed_parameters,
        BlockIndex: _block_index,
        ApproximateIndex: _approximate_index,
        LocalWeights: _local_weights,
        LocallyLinearEmbedding: _lle,
        ClippedKernel: _clipped_kernel,
        KernelEigenmap: _kernel_eigenmap,
    },
    2: {
        GreedySpectralEmbedding: _shared_moments,
        BlockIndex: _computed_bounds,
        ApproximateIndex: _computed_cells,
        RowIndex: _row_index,
    },
}
