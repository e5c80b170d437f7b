"""Affinities of samples and their Laplacian eigenmaps, from the parameters that these methods share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import check_enough, check_gamma
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import FitResult, width_attributes
from eigenscape.estimators._dictionary import (
    dictionary_attributes,
    dictionary_options,
    fit_by_dictionary,
)
from eigenscape.estimators._graph import (
    Neighborhood,
    SampleGraph,
    given_neighborhood,
    neighborhood_graph,
)
from eigenscape.estimators._method import AffinityLike, KernelLike
from eigenscape.estimators._weights import refuse_weights, vertex_codes
from eigenscape.estimators._work import DIVIDED_PRODUCTS, check_kernel_work
from eigenscape.kernels import Gaussian, Laplace, VariableGaussian, kernel_by_name
from eigenscape.kernels.base import BoundKernel, Kernel, gram_matrix
from eigenscape.kernels.labelled import mix_labels
from eigenscape.methods.dictionary_fit import DictionaryOptions, DictionaryState
from eigenscape.methods.independence import independent_eigenmaps
from eigenscape.methods.laplacian import laplacian_eigenmaps, require_eigenfunctions
from eigenscape.normalize import DividedKernel
from eigenscape.options import GRAPH_NAMES, EdgeWeights, Independence, Option
from eigenscape.pieces import Action, AnyEmbedding, Split, join, split_affinity
from eigenscape.solvers import NAMES, SolverConfig


def given_affinity(estimator: Any, weights: EdgeWeights = "binary") -> Neighborhood | None:
    """Return the graph that the affinity is, with ``weights`` by default; None for a kernel."""
    affinity = estimator.affinity
    if estimator.metric == "precomputed":
        raise ValueError(
            "metric='precomputed' is not supported; use affinity='precomputed_nearest_neighbors' (X"
            " contains distances) or 'precomputed' (similarities)"
        )
    if isinstance(affinity, Option) or (isinstance(affinity, str) and affinity in GRAPH_NAMES):
        return given_neighborhood(estimator, name="affinity", weights=weights)
    check_gamma(affinity, estimator.gamma)
    return None


def affinity_kernel(affinity: KernelLike, gamma: float | None) -> Kernel:
    """Return the kernel between all samples."""
    if isinstance(affinity, str) and affinity in ("rbf", "gaussian"):
        return Gaussian(gamma, scale="local")
    if isinstance(affinity, str) and affinity in ("laplacian", "laplace"):
        return Laplace(gamma, scale="local")
    return kernel_by_name(affinity, "affinity", GRAPH_NAMES, gamma=gamma)


def bind_affinity(
    estimator: Any,
    X: Any,
    neighborhood: Neighborhood | None,
    n_components: int,
    weights: np.ndarray | None = None,
    *,
    whole: bool = False,
) -> SampleGraph | KernelSamples:
    """Return samples, which may have ``weights``, with their graph, or the kernel between all of them.

    ``whole`` states whether the whole matrix of the kernel is needed in memory."""
    if neighborhood is not None:
        return neighborhood_graph(X, neighborhood, n_components, weights)
    check_enough("n_components", n_components, n_components + 1, X.shape[0])
    affinity = estimator.affinity
    named = isinstance(affinity, (str, VariableGaussian)) and affinity != "precomputed"
    kernel = affinity_kernel(affinity, estimator.gamma)
    remedy = "use affinity='nearest_neighbors', or fit a sample and transform the rest"
    remedy = f"set assign_labels='kmeans', or {remedy}" if whole else remedy
    check_kernel_work(estimator, kernel, X, DIVIDED_PRODUCTS, remedy, whole=whole)
    return KernelSamples(kernel.bind(X), named, estimator.n_jobs, weights)


@dataclass(frozen=True, eq=False)
class KernelSamples:
    """Samples with a kernel between all of them; it may have a ``floor`` that connects them."""

    kernel: BoundKernel
    floor: bool
    n_jobs: int | None
    weights: np.ndarray | None

    def split(self, on_disconnected: Action, max_components: int | None = None) -> Split:
        """Split a kernel that is zero between groups; see :func:`eigenscape.pieces.split_affinity`."""
        kernel, n_jobs = self.kernel, self.n_jobs
        return split_affinity(kernel, on_disconnected, max_components, floor=self.floor, n_jobs=n_jobs)

    def result(
        self, maps: Sequence[AnyEmbedding], split: Split, n_components: int, attributes: dict[str, Any]
    ) -> FitResult:
        """Join the embeddings of the parts; return the fit result, with further fitted attributes."""
        embedding = join(maps, split, n_components, self.weights)
        labels, described = split.labels, width_attributes(self.kernel)
        components = {"component_labels_": labels, "n_connected_components_": int(labels.max()) + 1}
        return FitResult(embedding, {**components, **described, **attributes})


class AffinityMixin:
    """Input and eigensolvers of estimators that divide the affinity given by ``affinity`` by its sums."""

    _objects = True
    _eigenvalues_below_one = True
    _solvers: tuple[str, ...] = NAMES
    _pairwise_parameter: str | None = "affinity"
    affinity: AffinityLike
    _pairwise: Any

    def _precomputed_kind(self) -> str:
        return "affinity" if self.affinity == "precomputed" else "distance"


@property  # type: ignore[misc]
def affinity_matrix(self: Any) -> Any:
    """Affinities (m, m) of the ``m`` distinct training samples, computed at each access.

    Sparse if the affinity is a graph. Not available with a dictionary or if components are embedded
    separately.
    """
    check_is_fitted(self, "n_iter_")
    kernel = self.kernel_
    if not isinstance(kernel, DividedKernel):
        raise AttributeError(
            "affinity_matrix_ is not available with a dictionary or if components are embedded"
            " separately; kernel_ has the divided affinities"
        )
    matrix = gram_matrix(kernel.base)
    return kernel.base(kernel.base.X) if matrix is None else matrix


def check_eigenmaps(
    estimator: Any,
    neighborhood: Neighborhood | None,
    weights: np.ndarray | None,
    labels: np.ndarray | None,
) -> Independence | None:
    """Return the criterion for independent eigenvectors, or None if all are used.

    Raise ValueError for weights, labels or an approximation that the affinity or the criterion does not
    support."""
    if labels is not None and neighborhood is None:
        raise ValueError(
            f"target_weight={estimator.target_weight!r} needs a graph, but affinity={estimator.affinity!r} is"
            " a kernel between all samples; use affinity='nearest_neighbors', or set target_weight=0"
        )
    if not estimator.include_diagonal and neighborhood is None:
        refuse_weights(
            weights,
            "include_diagonal=False",
            "w equal samples have other similarities than one sample of weight w to itself",
        )
    if not estimator.independent:
        return None
    refuse_weights(weights, "independent=True", "eigenvectors are compared by unweighted predictions")
    if (approximation := getattr(estimator, "approximation", None)) is not None:
        raise ValueError(
            "independent=True needs eigenvectors of all samples, which"
            f" approximation={approximation!r} does not have; leave out one of them"
        )
    criterion = estimator.independent if isinstance(estimator.independent, Independence) else Independence()
    if criterion.n_candidates is not None and criterion.n_candidates < estimator.n_components:
        raise ValueError(
            f"n_candidates={criterion.n_candidates} is less than n_components={estimator.n_components}; raise"
            " n_candidates"
        )
    return criterion


def eigenmaps_of_parts(
    split: Split,
    measures: Sequence[np.ndarray | None],
    n_components: int,
    solver: SolverConfig,
    criterion: Independence | None,
    *,
    diagonal: bool,
    nonzero: bool = False,
) -> tuple[list[Embedding], dict[str, Any]]:
    """Return the Laplacian eigenmaps of all parts, under the measure of each, and the fitted attributes.

    ``nonzero`` states whether the ``n_components`` of a whole graph must have nonzero eigenvalues.
    """
    solver = replace(solver, parts=split.joined)
    if criterion is None:
        maps = [
            laplacian_eigenmaps(
                part.kernel, n_components, solver, diagonal=diagonal, operator=part.operator, measure=measure
            )
            for part, measure in zip(split.parts, measures, strict=True)
        ]
        if split.is_whole:
            require_eigenfunctions(maps[0], n_components, nonzero)
        return maps, {}
    selections = [
        independent_eigenmaps(
            part.kernel, n_components, solver, criterion, diagonal=diagonal, operator=part.operator
        )
        for part in split.parts
    ]
    if split.is_whole:
        require_eigenfunctions(selections[0].embedding, 1)
    kept = [selection.kept for selection in selections]
    residuals = [selection.residuals for selection in selections]
    one = len(selections) == 1
    attributes = {"kept_": kept[0] if one else kept, "independence_": residuals[0] if one else residuals}
    return [selection.embedding for selection in selections], attributes


def with_labels(
    split: Split, samples: SampleGraph | KernelSamples, labels: np.ndarray, target_weight: float, seed: int
) -> Split:
    """Return the parts of a graph with the classes of its samples mixed into their affinities."""
    assert isinstance(samples, SampleGraph)  # checked by check_eigenmaps
    codes = vertex_codes(labels, samples.vertex)
    members = [np.arange(len(codes))] if split.is_whole else [some for some in split.members if len(some) > 1]
    parts = tuple(
        replace(part, kernel=mix_labels(part.kernel, codes[some], target_weight, seed))
        if (codes[some] >= 0).any()
        else part
        for part, some in zip(split.parts, members, strict=True)
    )
    return replace(split, parts=parts)


def fit_affinity_dictionary(
    estimator: Any, rows: Any, n_components: int
) -> tuple[DictionaryState, DictionaryOptions, dict[str, Any]]:
    """Fit a dictionary to training rows for the kernel ``affinity``; also return attributes."""
    neighborhood, options = given_affinity(estimator), dictionary_options(estimator, "divisive")
    if neighborhood is not None:
        raise ValueError(
            "a dictionary needs a kernel between all samples, such as affinity='rbf'; the graph"
            f" {neighborhood.option!r} is sparse and needs no dictionary"
        )
    if not getattr(estimator, "include_diagonal", True):
        raise ValueError(
            "include_diagonal=False needs the similarity of each sample to itself, which a dictionary does"
            " not store; leave it True"
        )
    check_enough("n_components", n_components, n_components + 1, rows.n_rows)
    kernel = rows.bind(affinity_kernel(estimator.affinity, estimator.gamma))
    state = fit_by_dictionary(estimator, kernel, rows, options)
    return state, options, {**dictionary_attributes(state, options, rows.stored), **width_attributes(kernel)}
