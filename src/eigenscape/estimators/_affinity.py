"""The affinity vocabulary shared by Laplacian eigenmaps, diffusion maps and spectral clustering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import FitResult, spectral_attributes, spectral_result
from eigenscape.estimators._dictionary import (
    bind,
    check_dictionary,
    dictionary_options,
    embed_by_dictionary,
    warn_if_disconnected,
)
from eigenscape.estimators._graph import Neighborhood, embed_on_graph
from eigenscape.estimators._validation import check_choice, check_count, check_gamma, check_positive
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels import Gaussian, Laplace, kernel_by_name
from eigenscape.kernels.affinity import GraphAffinity, edge_weight
from eigenscape.kernels.base import BoundKernel, Kernel
from eigenscape.methods.components import embed_affinity
from eigenscape.methods.dictionary_fit import DictionaryOptions, DictionaryState
from eigenscape.methods.independence import Independence
from eigenscape.operators import Operator

GRAPHS = ("nearest_neighbors", "radius", "mst", "mst_nearest_neighbors", "precomputed_nearest_neighbors")


def embed_by_affinity(
    estimator: Any,
    X: Any,
    embed: Callable[[BoundKernel, Operator | None, bool], Embedding],
    n_components: int,
    on_disconnected: str,
    embed_dictionary: Callable[[DictionaryState, DictionaryOptions, int | None, Any], Embedding]
    | None = None,
    most_pieces: int | None = None,
    rbf: Kernel | None = None,
    blocks: Any = None,
) -> FitResult:
    """Embed ``X`` by the affinity that the estimator's parameters describe, or by a dictionary for it where
    it knows one.

    ``rbf`` is what affinity="rbf" means, where it is not a Gaussian of one width; ``blocks`` are those of a
    collection, of which ``X`` are a few rows."""
    check_choice("weights", estimator.weights, ("binary", "heat", "inverse"))
    check_positive("t", estimator.t, optional=True)
    check_gamma(estimator.affinity, estimator.gamma)
    if not isinstance(estimator.include_diagonal, bool):
        raise ValueError(f"include_diagonal={estimator.include_diagonal!r} must be True or False")
    if estimator.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' is said by affinity='precomputed_nearest_neighbors' (distances) or 'precomputed' (similarities); a"
            " spanning tree needs rows, or a precomputed graph that has it"
        )
    by_dictionary = embed_dictionary is not None and check_dictionary(
        estimator.dictionary_size, estimator.dictionary_tol
    )
    if not isinstance(estimator.affinity, str) or estimator.affinity not in GRAPHS:
        affinity, attributes = _full_kernel(estimator, X, n_components, rbf, blocks)
        if by_dictionary:
            fitted = _embed_by_dictionary(
                estimator, X, affinity, n_components, on_disconnected, embed_dictionary, blocks
            )
        else:
            fitted = _embed_by_kernel(estimator, affinity, embed, n_components, on_disconnected, most_pieces)
        return fitted.with_attributes(attributes)
    if by_dictionary:
        raise ValueError(
            f"dictionary_size and dictionary_tol need a kernel between all points, such as affinity='rbf'; the graph of"
            f" affinity={estimator.affinity!r} is sparse and needs no dictionary"
        )
    if estimator.affinity == "radius" and estimator.radius is None:
        raise ValueError("affinity='radius' needs the parameter radius")
    settled: dict[str, Any] = {}

    def embed_piece(graph: NeighborGraph, fewer: bool) -> Embedding:
        weight = edge_weight(estimator.weights, graph.distances.data, estimator.t)
        if estimator.weights == "heat":
            settled.setdefault("t_", weight.scale)
        return embed(GraphAffinity(graph, weight), None, fewer)

    neighborhood = Neighborhood(
        estimator.n_neighbors,
        estimator.radius if estimator.affinity == "radius" else None,
        "precomputed" if estimator.affinity == "precomputed_nearest_neighbors" else estimator.metric,
        estimator.metric_params,
        estimator.neighbors,
        estimator.n_jobs,
        estimator.joined,
        estimator.affinity if estimator.affinity.startswith("mst") else "nearest_neighbors",
    )
    fitted = embed_on_graph(X, embed_piece, n_components, neighborhood, on_disconnected, most_pieces)
    return fitted.with_attributes({**spectral_attributes(fitted.embedding), **settled})


def independence_wish(estimator: Any) -> Independence | None:
    """The rule by which eigenvectors are passed over, or None for all of them."""
    if not isinstance(estimator.independent, bool):
        raise ValueError(f"independent={estimator.independent!r} must be True or False")
    threshold = estimator.independence_threshold
    check_positive("independence_threshold", threshold)
    if threshold >= 1:
        raise ValueError(
            f"independence_threshold={threshold!r} must be below 1, the residual of an eigenvector that is all new"
        )
    if (
        estimator.n_candidates is not None
        and check_count("n_candidates", estimator.n_candidates) < estimator.n_components
    ):
        raise ValueError(
            f"n_candidates={estimator.n_candidates} is less than n_components={estimator.n_components}; look at more eigenvectors than are"
            " wanted"
        )
    return Independence(threshold, estimator.n_candidates) if estimator.independent else None


def independence_found(fitted: FitResult, rule: Independence | None) -> FitResult:
    """The fit with what was kept: arrays, or lists of them where there are several pieces."""
    if rule is None:
        return fitted
    one = len(rule.kept) == 1
    found: dict[str, np.ndarray | list[np.ndarray]] = {
        "kept_": rule.kept[0] if one else rule.kept,
        "independence_": rule.residuals[0] if one else rule.residuals,
    }
    return fitted.with_attributes(found)


def _full_kernel(
    estimator: Any, X: Any, n_components: int, rbf: Kernel | None, blocks: Any
) -> tuple[BoundKernel, dict[str, Any]]:
    """A kernel between all points, and the width it settled for."""
    if blocks is None and X.shape[0] < n_components + 1:
        raise ValueError(
            f"n_components={n_components} needs at least {n_components + 1} samples, got n_samples={X.shape[0]}; lower n_components"
        )
    name = estimator.affinity if isinstance(estimator.affinity, str) else None
    if name in ("rbf", "gaussian"):
        kernel: Any = rbf or Gaussian(estimator.gamma, scale="local")
    elif name in ("laplacian", "laplace"):
        kernel = Laplace(estimator.gamma, scale="local")
    else:
        kernel = kernel_by_name(estimator.affinity, "affinity", GRAPHS, gamma=estimator.gamma)
    affinity = bind(kernel, X, blocks)
    settled = getattr(getattr(affinity, "kernel", None), "gamma", None)
    return affinity, {} if settled is None else {"gamma_": settled}


def _embed_by_kernel(
    estimator: Any,
    affinity: BoundKernel,
    embed: Callable,
    n_components: int,
    on_disconnected: str,
    most_pieces: int | None,
) -> FitResult:
    may_be_floored = isinstance(estimator.affinity, str) and estimator.affinity != "precomputed"
    model, label = embed_affinity(
        affinity,
        embed,
        n_components,
        on_disconnected,  # type: ignore[arg-type]
        most_pieces,
        may_be_floored,
        estimator.n_jobs,
    )
    return spectral_result(
        model, attributes={"component_labels_": label, "n_connected_components_": int(label.max()) + 1}
    )


def _embed_by_dictionary(
    estimator: Any,
    X: Any,
    affinity: BoundKernel,
    n_components: int,
    on_disconnected: str,
    make: Callable,
    blocks: Any,
) -> FitResult:
    if not estimator.include_diagonal:
        raise ValueError(
            "include_diagonal=False needs every point's similarity to itself apart, which a dictionary does not keep; leave it True"
        )
    fitted = embed_by_dictionary(
        affinity, X, dictionary_options(estimator, "divisive"), n_components, make, blocks
    )
    warn_if_disconnected(fitted.embedding, on_disconnected)
    return fitted
