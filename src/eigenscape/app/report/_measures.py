"""Measures of a map, each with the reason if it could not be computed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.app.report._points import Points, has_rows
from eigenscape.app.report._references import ReferenceData, as_dense, reference_distances, sample_rows
from eigenscape.app.report._refits import (
    EXPECTED_ERRORS,
    Loss,
    Movement,
    Subset,
    compute_loss,
    first_line,
    has_kernel,
    movement,
    refit_subset,
    refit_with_more_coordinates,
)
from eigenscape.app.report._tuning import TUNING
from eigenscape.app.report.scales import (
    Dominance,
    find_dominance,
    find_reference_dominance,
)
from eigenscape.estimators._inverse import InverseMixin
from eigenscape.estimators._method import described
from eigenscape.quality import (
    Estimate,
    LocalizedCoordinate,
    NeighborsKept,
    Purity,
    coranking_curve,
    localized_coordinates,
    neighbor_purity,
    neighbors_kept,
    residual_variance,
    sampled_continuity,
    sampled_trustworthiness,
)
from eigenscape.quality.residual import geodesic_blocks

#: The rank is computed for at most this many columns, and this many rows per column.
_MAX_RANK, _ROWS_PER_COLUMN = 500, 5


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues; the first ones belong to the coordinates of the map."""

    values: np.ndarray
    n_kept: int  # number of coordinates of the map
    negative: float | None  # share of the whole spectrum that is negative
    text: str

    @property
    def gap_after(self) -> int | None:
        """Number of coordinates before the largest eigengap; None if fewer than three values are known."""
        if len(self.values) < 3 or not np.isfinite(self.values).all():
            return None
        gaps = np.abs(self.values[:-1]) - np.abs(self.values[1:])
        return int(np.argmax(gaps)) + 1 if gaps.max() > 0 else None

    @property
    def clear_gap_after(self) -> int | None:
        """Number of coordinates before the largest eigengap if it is twice the second largest, else None."""
        gap = self.gap_after
        if gap is None:
            return None
        gaps = np.abs(self.values[:-1]) - np.abs(self.values[1:])
        return gap if gaps[gap - 1] >= TUNING.clear_gap * np.delete(gaps, gap - 1).max() else None


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


@dataclass(eq=False)
class Measures:
    """All measures. A measure that is None is listed in ``omitted`` with the reason."""

    n_neighbors: int = TUNING.n_neighbors
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
    shown: np.ndarray,
    reference: ReferenceData | str | None = None,
    brief: bool = False,
) -> Measures:
    """Compute all measures or, if ``brief``, those that are comparable between models.

    ``shown`` are the points whose stability is measured if it cannot be measured for all.
    """
    measures = Measures(max(1, min(TUNING.n_neighbors, (points.n - 2) // 2)))
    if reference is None:
        reference = reference_distances(model, points, seed)
    _add_faults(measures, model, points, embedding, reference, seed)
    _add_neighbors(measures, reference, embedding, points, seed)
    subset = refit_subset(model, points, seed)
    wide: Any = "not computed"
    if not brief:
        n_features = int(points.X.shape[1]) if has_rows(model, points) and not points.stream else None
        wide = refit_with_more_coordinates(model, subset, n_features)
        _add_spectrum(measures, model, wide, subset)
        _add_reconstruction(measures, model, points, seed)
    _add_residual(measures, model, reference, embedding, wide, subset, seed)
    _add(measures, "loss", compute_loss(model, points, held_out, seed))
    _add(measures, "movement", movement(model, points, subset, shown, seed))
    return measures


def _add(measures: Measures, name: str, value: Loss | Movement | str) -> None:
    if isinstance(value, str):
        measures.omitted[name] = value
    else:
        setattr(measures, name, value)


def _add_faults(
    measures: Measures,
    model: BaseEstimator,
    points: Points,
    embedding: np.ndarray,
    reference: ReferenceData | str,
    seed: int,
) -> None:
    """Find coordinates that few points carry, and columns that dominate the distances."""
    measures.localized = localized_coordinates(embedding)
    if not has_rows(model, points):
        return
    rows = sample_rows(points.n, TUNING.max_labelled, seed) if points.stream else np.arange(points.n)
    X = points.take(rows) if points.stream else points.X
    measures.rank = _rank(X, seed)
    measures.dominance = find_dominance(model, X, points.names, embedding[rows])
    if isinstance(reference, ReferenceData):
        measures.reference_dominance = find_reference_dominance(model, reference.metric, X, points.names)
    if measures.localized:
        totals = np.asarray(X.sum(axis=1)).ravel()
        uneven = totals.max() > TUNING.uneven * max(float(np.median(totals)), 0.0)
        measures.uneven_rows = bool(X.min() >= 0 and uneven)


def _rank(X: Any, seed: int) -> int:
    """Return the rank of the centred rows, from a sample; the number of columns if it is not computed."""
    n_columns = int(X.shape[1])
    if n_columns > _MAX_RANK:
        return n_columns
    rows = as_dense(X[sample_rows(X.shape[0], max(1000, _ROWS_PER_COLUMN * n_columns), seed)])
    if not np.isfinite(rows).all():
        return n_columns
    centred = rows - rows.mean(axis=0)
    scale = np.abs(centred).max(axis=0)
    return int(np.linalg.matrix_rank(centred / np.where(scale > 0, scale, 1.0)))


def _add_neighbors(
    measures: Measures, reference: ReferenceData | str, embedding: np.ndarray, points: Points, seed: int
) -> None:
    """Compute the label purity, trustworthiness, continuity and the co-ranking curve."""
    if points.labels is not None and np.isfinite(embedding).all():
        _add_purity(measures, embedding, points.labels, seed)
    if isinstance(reference, str):
        measures.omitted["neighbours"] = reference
        return
    embedded = reference.select(embedding)
    measures.reference, measures.n_compared = reference.text, len(embedded)
    if not np.isfinite(embedded).all():
        measures.omitted["neighbours"] = "some points have no finite coordinates"
        return
    n = len(embedded)
    measures.n_sampled = min(n, int(np.clip(TUNING.max_distances // n, 100, TUNING.n_samples)))
    options: dict[str, Any] = {"n_samples": measures.n_sampled, "random_state": seed}
    options["metric"] = reference.metric
    sizes = np.unique(np.geomspace(1, min(n - 1, TUNING.max_neighborhood), 30).round().astype(np.intp))
    try:
        kept = neighbors_kept(reference.data, embedded, measures.n_neighbors, **options)
        trust = sampled_trustworthiness(reference.data, embedded, measures.n_neighbors, **options)
        continuity = sampled_continuity(reference.data, embedded, measures.n_neighbors, **options)
        measures.curve = coranking_curve(reference.data, embedded, sizes, **options)
    except EXPECTED_ERRORS as error:
        measures.omitted["neighbours"] = first_line(error)
        return
    measures.kept, measures.trust, measures.continuity = kept, trust, continuity


def _add_purity(measures: Measures, embedding: np.ndarray, labels: np.ndarray, seed: int) -> None:
    rows = np.flatnonzero([value is not None and value == value for value in labels])
    if len(rows) > TUNING.max_labelled:
        rows = np.sort(np.random.default_rng(seed).choice(rows, TUNING.max_labelled, replace=False))
    names, counts = np.unique(labels[rows].astype(str), return_counts=True)
    if labels.dtype.kind == "f" and len(names) > 50:
        measures.omitted["purity"] = "the labels are continuous values"
        return
    if len(rows) < 3 or len(names) < 2 or len(names) > len(rows) / 2:
        measures.omitted["purity"] = "the labels are missing, all equal, or almost all different"
        return
    count = max(1, min(TUNING.n_neighbors, len(rows) - 1, int(counts.max()) - 1))
    measures.purity = neighbor_purity(embedding[rows], labels[rows].astype(str), count)


# --- spectrum -----------------------------------------------------------------------------------------------


def _add_spectrum(measures: Measures, model: BaseEstimator, wide: Any, subset: Subset | str) -> None:
    """Add the eigenvalues of the model, or of the fit ``wide`` with more coordinates."""
    eigenvalues = vars(model).get("eigenvalues_")
    if eigenvalues is None:
        measures.omitted["spectrum"] = f"{type(model).__name__} solves no eigenproblem"
        return
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
        assert isinstance(subset, Subset)
        values = np.asarray(wide.eigenvalues_, dtype=np.float64)
        text = "Grey bars are coordinates that the map does not contain."
        if subset.text != "all points":
            text = f"Computed by a fit to {subset.text}. {text}"
    negative = _negative_share(model) if hasattr(type(model), "negative_fraction_") else None
    if isinstance(negative, str):
        measures.omitted["negative part"], negative = negative, None
    measures.spectrum = Spectrum(values, n_kept, negative, text)


def _negative_share(model: BaseEstimator) -> float | str:
    if len(model.embedding_) > TUNING.max_spectrum and "landmarks_" not in vars(model):
        return (
            f"not computed for more than {TUNING.max_spectrum} points; see the attribute negative_fraction_"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(model.negative_fraction_)
    except (*EXPECTED_ERRORS, AttributeError) as error:  # a loaded or an ordinal model has no spectrum
        return first_line(error)


# --- distances and rows -------------------------------------------------------------------------------------


def _add_residual(
    measures: Measures,
    model: BaseEstimator,
    reference: ReferenceData | str,
    embedding: np.ndarray,
    wide: Any,
    subset: Subset | str,
    seed: int,
) -> None:
    """Compute the residual variance by number of coordinates, from the fit ``wide`` if there is one."""
    if isinstance(reference, str):
        measures.omitted["residual variance"] = reference
        return
    metric, text = reference.metric, reference.text
    data, coordinates = reference.data, reference.select(embedding)
    nested = not isinstance(wide, str) and isinstance(subset, Subset) and has_kernel(wide)
    if isinstance(subset, Subset):
        data = _restrict(reference, subset)
        coordinates = np.asarray(wide.embedding_, dtype=np.float64) if nested else embedding[subset.rows]
        method = described(model)
        if method is not None and method.geodesic and metric == "euclidean":
            n = data.shape[0]
            n_neighbors = min(vars(model).get("n_neighbors_", TUNING.n_neighbors), n - 1)
            # geodesics are computed once for all numbers of coordinates
            data = np.concatenate([block for _, block in geodesic_blocks(data, np.arange(n), n_neighbors)])
            metric, text = "precomputed", "distances in the data are geodesic, along the neighbourhood graph"
    counts = np.arange(1, coordinates.shape[1] + 1) if nested else np.array([coordinates.shape[1]])
    try:
        values = [
            residual_variance(data, coordinates[:, :count], metric=metric, random_state=seed)
            for count in counts
        ]
    except EXPECTED_ERRORS as error:
        measures.omitted["residual variance"] = first_line(error)
        return
    measures.residual = Residual(counts, np.array(values), text)


def _restrict(reference: ReferenceData, subset: Subset) -> Any:
    """Return the reference data of the points of a subset."""
    if reference.metric != "precomputed":
        return subset.X
    everything = reference.data.shape[0] == len(subset.rows)
    return reference.data if everything else reference.data[subset.rows][:, subset.rows]


def _add_reconstruction(measures: Measures, model: BaseEstimator, points: Points, seed: int) -> None:
    """Compute the error of ``inverse_transform``."""
    if not has_rows(model, points):
        measures.omitted["reconstruction error"] = "the data are not rows of features"
        return
    if not callable(getattr(model, "inverse_transform", None)):
        measures.omitted["reconstruction error"] = f"{type(model).__name__} has no inverse_transform"
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(model, InverseMixin):
                measures.reconstruction = float(model.inverse_error_)  # leave-one-out
            else:
                rows = points.take(sample_rows(points.n, TUNING.n_samples, seed))
                measures.reconstruction = _reconstruction_error(model, rows)
    except EXPECTED_ERRORS as error:
        measures.omitted["reconstruction error"] = first_line(error)


def _reconstruction_error(model: BaseEstimator, X: Any) -> float:
    """Return the root mean square distance between rows and their reconstruction, over their spread."""
    rows = as_dense(X)
    again = np.asarray(model.inverse_transform(model.transform(X)), dtype=np.float64)
    known = np.isfinite(rows)
    spread = np.square(np.where(known, rows - np.nanmean(rows, axis=0), 0.0)).sum()
    return float(np.sqrt(np.square(np.where(known, rows - again, 0.0)).sum() / spread))
