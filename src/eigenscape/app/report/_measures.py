"""Measures of a map, each with the reason if it could not be computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from eigenscape import quality
from eigenscape._roles import missing_labels
from eigenscape.app.io.guards import first_line
from eigenscape.app.report import _points, _refits
from eigenscape.app.report._points import Points, ReferenceData, UnmeasuredError, has_rows, sample_rows
from eigenscape.app.report._refits import EXPECTED_ERRORS, Loss, Movement, Subset
from eigenscape.app.report._texts import LIMITS
from eigenscape.app.report.dominance import Dominance, find_dominance, find_reference_dominance
from eigenscape.estimators._inverse import InverseMixin
from eigenscape.estimators._method import described
from eigenscape.quality import Estimate, LocalizedCoordinate, NeighborsKept, Purity
from eigenscape.quality.residual import geodesic_blocks


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues; the first ones belong to the coordinates of the map."""

    values: np.ndarray
    n_kept: int  # number of coordinates of the map
    negative: float | None  # share of the whole spectrum that is negative
    text: str

    def gap_after(self, factor: float = 1.0) -> int | None:
        """Return the number of coordinates before the largest eigengap.

        None if fewer than three values are known, or if it is not ``factor`` times the second largest.
        """
        if len(self.values) < 3 or not np.isfinite(self.values).all():
            return None
        gaps = -np.diff(np.abs(self.values))
        second, largest = np.sort(gaps)[-2:]
        return int(np.argmax(gaps)) + 1 if largest > 0 and largest >= factor * second else None


@dataclass(frozen=True, eq=False)
class Residual:
    """Residual variance by number of coordinates."""

    counts: np.ndarray
    values: np.ndarray
    text: str

    def at(self, n_coordinates: int) -> float:
        """Return the residual variance with ``n_coordinates``, or the last one if it is not known."""
        index = np.flatnonzero(self.counts == n_coordinates)
        return float(self.values[index[0] if len(index) else -1])


@dataclass(frozen=True, eq=False)
class GraphDetails:
    """The neighbourhood graph of a model."""

    sizes: np.ndarray  # number of points of each connected component, descending
    degrees: np.ndarray | None = None  # number of edges of each point


@dataclass(eq=False)
class Measures:
    """All measures. A measure that is None is listed in ``omitted`` with the reason."""

    n_neighbors: int = LIMITS.n_neighbors
    kept: NeighborsKept | None = None
    trust: Estimate | None = None
    continuity: Estimate | None = None
    curve: tuple[np.ndarray, np.ndarray] | None = None
    purity: Purity | None = None
    spectrum: Spectrum | None = None
    residual: Residual | None = None
    loss: Loss | None = None
    reconstruction: float | None = None
    movement: Movement | None = None
    graph: GraphDetails | None = None
    localized: list[LocalizedCoordinate] = field(default_factory=list)  # coordinates that few points carry
    dominance: Dominance | None = None  # columns that have most of the variance
    # columns that dominate the reference distances, from which the map is not computed
    reference_dominance: Dominance | None = None
    rank: int | None = None  # number of dimensions of the rows
    uneven_rows: bool = False  # whether the totals of the rows differ by large factors; if few points carry
    reference: str = ""  # how distances in the data are measured
    n_sampled: int = 0  # number of points whose neighbours were compared
    n_compared: int = 0  # number of points among which the neighbours were searched
    omitted: dict[str, str] = field(default_factory=dict)


def measure(
    model: BaseEstimator,
    points: Points,
    embedding: np.ndarray,
    held_out: Points | None,
    seed: int,
    metric: str | None = None,
    brief: bool = False,
) -> Measures:
    """Compute all measures or, if ``brief``, those that are comparable between models.

    ``metric`` is the metric of the data, by default the one of the model.
    """
    measures = Measures(max(1, min(LIMITS.n_neighbors, (points.n - 2) // 2)))
    reference = _attempt(lambda: _points.reference_distances(model, points, seed, metric))
    subset = _attempt(lambda: _refits.refit_subset(model, points, seed))
    wide = "" if brief else _attempt(lambda: _refits.refit_wider(model, points, _known(subset)))
    vars(measures).update(_faults(model, points, embedding, reference, seed))
    measures.graph = None if brief else _graph_details(model)
    steps: dict[str, Callable[[], dict[str, Any]]] = {
        "purity": lambda: measure_purity(embedding, points.labels, seed),
        "neighbours": lambda: compare_neighbors(measures, _known(reference), embedding, seed),
        "spectrum": lambda: _spectrum(measures, model, wide, subset),
        "reconstruction error": lambda: {"reconstruction": reconstruction_error(model, points, seed)},
        "residual variance": lambda: _residual(model, _known(reference), embedding, wide, subset, seed),
        "loss": lambda: {"loss": _refits.compute_loss(model, points, held_out, seed)},
        "movement": lambda: {"movement": _refits.movement(model, points, _known(subset), seed)},
    }
    for name, compute in steps.items():
        if brief and name in ("spectrum", "reconstruction error"):
            continue
        found = _attempt(compute)
        if isinstance(found, str):
            measures.omitted[name] = found
        else:
            vars(measures).update(found)
    return measures


def _attempt(compute: Callable[[], Any]) -> Any:
    """Return a result, or the reason why there is none."""
    try:
        return compute()
    except EXPECTED_ERRORS as error:
        return first_line(error)


def _known(found: Any) -> Any:
    """Return a result of :func:`_attempt`, or raise its reason."""
    if isinstance(found, str):
        raise UnmeasuredError(found)
    return found


def _faults(
    model: BaseEstimator, points: Points, embedding: np.ndarray, reference: Any, seed: int
) -> dict[str, Any]:
    """Return coordinates that few points carry, and columns that dominate the distances."""
    localized = quality.localized_coordinates(embedding)
    found: dict[str, Any] = {"localized": localized}
    if not has_rows(model, points):
        return found
    rows = sample_rows(points.n, LIMITS.max_labelled if points.stream else points.n, seed)
    X = points.take(rows) if points.stream else points.X
    found |= {"rank": _rank(X, seed), "dominance": find_dominance(model, X, points.names, embedding[rows])}
    if isinstance(reference, ReferenceData):
        dominance = find_reference_dominance(model, reference.metric, X, points.names)
        found["reference_dominance"] = dominance
    if localized:
        totals = np.asarray(X.sum(axis=1)).ravel()
        uneven = totals.max() > LIMITS.uneven * max(float(np.median(totals)), 0.0)
        found["uneven_rows"] = bool(X.min() >= 0 and uneven)
    return found


def _rank(X: Any, seed: int) -> int:
    """Return the rank of the centred rows, from a sample; the number of columns if it is not computed."""
    n_columns = int(X.shape[1])
    if n_columns > LIMITS.rank_columns:
        return n_columns
    rows = _points.as_dense(X[sample_rows(X.shape[0], max(1000, LIMITS.rank_rows * n_columns), seed)])
    finite = np.isfinite(rows).all()
    return int(np.linalg.matrix_rank(StandardScaler().fit_transform(rows))) if finite else n_columns


def compare_neighbors(
    measures: Measures, reference: ReferenceData, embedding: np.ndarray, seed: int
) -> dict[str, Any]:
    """Return the neighbours kept, trustworthiness, continuity and the co-ranking curve."""
    embedded, n = reference.select(embedding), len(reference.rows)
    measures.reference, measures.n_compared = reference.text, n
    if not np.isfinite(embedded).all():
        raise UnmeasuredError("some points have no finite coordinates")
    measures.n_sampled = min(n, int(np.clip(LIMITS.max_distances // n, 100, LIMITS.n_samples)))
    sizes = np.unique(np.geomspace(1, min(n - 1, LIMITS.max_neighborhood), 30).round().astype(np.intp))
    options: Any = {"n_samples": measures.n_sampled, "random_state": seed, "metric": reference.metric}
    data, k = (reference.data, embedded), measures.n_neighbors
    return {
        "kept": quality.neighbors_kept(*data, k, **options),
        "trust": quality.sampled_trustworthiness(*data, k, **options),
        "continuity": quality.sampled_continuity(*data, k, **options),
        "curve": quality.coranking_curve(*data, sizes, **options),
    }


def measure_purity(embedding: np.ndarray, labels: np.ndarray | None, seed: int) -> dict[str, Any]:
    """Return the label purity, if there are labels."""
    if labels is None or not np.isfinite(embedding).all():
        return {}
    rows = np.flatnonzero(~missing_labels(labels))
    rows = rows[sample_rows(len(rows), LIMITS.max_labelled, seed)]
    names, counts = np.unique(labels[rows].astype(str), return_counts=True)
    if labels.dtype.kind == "f" and len(names) > 50:
        raise UnmeasuredError("the labels are continuous values")
    if len(rows) < 3 or len(names) < 2 or len(names) > len(rows) / 2:
        raise UnmeasuredError("the labels are missing, all equal, or almost all different")
    count = max(1, min(LIMITS.n_neighbors, len(rows) - 1, int(counts.max()) - 1))
    return {"purity": quality.neighbor_purity(embedding[rows], labels[rows].astype(str), count)}


# --- spectrum -----------------------------------------------------------------------------------------------


def _spectrum(measures: Measures, model: BaseEstimator, wide: Any, subset: Any) -> dict[str, Any]:
    """Return the eigenvalues of the model, or of the fit ``wide`` with more coordinates."""
    eigenvalues = vars(model).get("eigenvalues_")
    if eigenvalues is None:
        raise UnmeasuredError(f"{type(model).__name__} solves no eigenproblem")
    values = np.asarray(eigenvalues, dtype=np.float64)
    n_kept, text = values.shape[-1], ""
    if values.ndim == 2:
        text = (
            f"Each of the {len(values)} components of the graph was embedded separately; these are the"
            " eigenvalues of the largest."
        )
        values = values[0]
    elif isinstance(wide, str):
        text = f"Only the eigenvalues of the map's coordinates are known ({wide})."
    elif np.ndim(vars(wide).get("eigenvalues_", 0)) == 1:
        values = np.asarray(wide.eigenvalues_, dtype=np.float64)
        text = "" if subset.text == "all points" else f"Computed by a fit to {subset.text}. "
        text += "Grey bars are coordinates that the map does not contain."
    return {"spectrum": Spectrum(values, n_kept, _negative_share(measures, model), text)}


def _negative_share(measures: Measures, model: BaseEstimator) -> float | None:
    if not hasattr(type(model), "negative_fraction_"):
        return None
    reason = f"not computed for more than {LIMITS.max_spectrum} points; see the attribute negative_fraction_"
    if len(model.embedding_) <= LIMITS.max_spectrum or "landmarks_" in vars(model):
        try:
            with _points.without_warnings():
                return float(model.negative_fraction_)
        except (*EXPECTED_ERRORS, AttributeError) as error:  # a loaded or an ordinal model has no spectrum
            reason = first_line(error)
    measures.omitted["negative part"] = reason
    return None


# --- distances and rows -------------------------------------------------------------------------------------


def _residual(
    model: BaseEstimator, reference: ReferenceData, embedding: np.ndarray, wide: Any, subset: Any, seed: int
) -> dict[str, Any]:
    """Return the residual variance by number of coordinates, from the fit ``wide`` if there is one."""
    metric, text = reference.metric, reference.text
    data, coordinates = reference.data, reference.select(embedding)
    nested = not isinstance(wide, str) and _refits.has_kernel(wide)
    if isinstance(subset, Subset):
        data, chosen = subset.X, np.arange(len(subset.rows))
        if metric == "precomputed":
            _, i, chosen = np.intersect1d(reference.rows, subset.rows, return_indices=True)
            data = reference.data[i][:, i]
        coordinates = np.asarray(wide.embedding_)[chosen] if nested else embedding[subset.rows[chosen]]
        if getattr(described(model), "geodesic", False) and metric == "euclidean":
            n = data.shape[0]
            n_neighbors = min(vars(model).get("n_neighbors_", LIMITS.n_neighbors), n - 1)
            # geodesics are computed once for all numbers of coordinates
            data = np.concatenate([block for _, block in geodesic_blocks(data, np.arange(n), n_neighbors)])
            metric, text = "precomputed", "distances in the data are geodesic, along the neighbourhood graph"
    d = coordinates.shape[1]
    counts = np.arange(1 if nested else d, d + 1)
    values = [
        quality.residual_variance(data, coordinates[:, :c], metric=metric, random_state=seed) for c in counts
    ]
    return {"residual": Residual(counts, np.array(values), text)}


def reconstruction_error(model: BaseEstimator, points: Points, seed: int) -> float:
    """Return the root mean square distance between rows and their reconstruction, over their spread."""
    if not has_rows(model, points):
        raise UnmeasuredError("the data are not rows of features")
    if not callable(getattr(model, "inverse_transform", None)):
        raise UnmeasuredError(f"{type(model).__name__} has no inverse_transform")
    with _points.without_warnings():
        if isinstance(model, InverseMixin):
            return float(model.inverse_error_)  # leave-one-out
        X = points.take(sample_rows(points.n, LIMITS.n_samples, seed))
        again, rows = model.inverse_transform(model.transform(X)), _points.as_dense(X)
        known = np.isfinite(rows)
        spread = np.square(np.where(known, rows - np.nanmean(rows, axis=0), 0.0)).sum()
        error = np.square(np.where(known, rows - again, 0.0)).sum()
        return float(np.sqrt(error / spread)) if spread > 0 else 0.0


def _graph_details(model: BaseEstimator) -> GraphDetails | None:
    """Return the components and degrees of the graph, or None if the model uses no graph."""
    fitted = vars(model)
    if fitted.get("component_labels_") is None:
        return None
    degrees = fitted.get("degrees_")
    if degrees is None and sparse.issparse(fitted.get("graph_")):
        degrees = np.diff(fitted["graph_"].indptr)
    sizes = -np.sort(-np.bincount(fitted["component_labels_"]))
    return GraphDetails(sizes, None if degrees is None else np.asarray(degrees))
