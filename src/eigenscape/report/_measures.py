"""What is measured of a map, and in one line each why something is not."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigenscape.quality import (
    Estimate,
    coranking_curve,
    linear_alignment,
    neighbor_purity,
    perturbation_stability,
    residual_variance,
    sampled_continuity,
    sampled_trustworthiness,
)
from eigenscape.report._refits import (
    REFIT_POINTS,
    REFUSALS,
    Loss,
    Smaller,
    Stopwatch,
    first_line,
    fitted_again,
    has_kernel,
    losses,
    quiet_clone,
    smaller,
    wider,
)
from eigenscape.report._spaces import Truth, truth_of
from eigenscape.report._subject import Points, has_rows, is_pairwise

#: Neighbours that count, where there are enough points.
NEIGHBORS = 10
#: Points whose neighbours are compared.
_ASKED = 1000
#: Up to so many points the whole spectrum of the distances is computed for its negative part.
_WHOLE_SPECTRUM = 3000


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues, those of the map's coordinates first, and what they say."""

    values: np.ndarray
    kept: int  # how many of them are coordinates of the map
    negative: float | None  # share of the whole spectrum that is negative
    words: str

    @property
    def gap_after(self) -> int | None:
        """After which coordinate the eigenvalues fall farthest, None where too few are known."""
        if len(self.values) < 3 or not np.isfinite(self.values).all():
            return None
        falls = np.abs(self.values[:-1]) - np.abs(self.values[1:])
        return int(np.argmax(falls)) + 1 if falls.max() > 0 else None


@dataclass(frozen=True, eq=False)
class Residual:
    """Residual variance by number of coordinates."""

    counts: np.ndarray
    values: np.ndarray
    words: str


@dataclass(frozen=True, eq=False)
class Movement:
    """How far points move when the training points change, as a share of the map's spread; NaN where not known."""

    per_point: np.ndarray
    words: str

    @property
    def median(self) -> float:
        known = self.per_point[np.isfinite(self.per_point)]
        return float(np.median(known)) if len(known) else float("nan")

    @property
    def mean(self) -> Estimate:
        """Mean with its interval over points."""
        known = self.per_point[np.isfinite(self.per_point)]
        half = 1.96 * float(np.std(known)) / np.sqrt(len(known))
        return Estimate(float(np.mean(known)), float(np.mean(known)) - half, float(np.mean(known)) + half)


@dataclass(eq=False)
class Measures:
    """Everything measured. What is None stands in ``left_out`` with its reason."""

    n_neighbors: int = NEIGHBORS
    trust: Estimate | None = None
    continuity: Estimate | None = None
    curve: tuple[np.ndarray, np.ndarray] | None = None
    purity: Any = None
    spectrum: Spectrum | None = None
    residual: Residual | None = None
    loss: Loss | None = None
    reconstruction: float | None = None
    movement: Movement | None = None
    nearness: str = ""
    n_compared: int = 0  # points that the data's neighbours were looked for among
    left_out: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def measure(
    model: Any,
    points: Points,
    embedding: np.ndarray,
    held_out: Points | None,
    seed: int,
    shown: np.ndarray,
    truth: Truth | str | None = None,
) -> Measures:
    """All measures of a map; ``shown`` are the points whose stability is wanted where not all can have it."""
    made, watch = Measures(), Stopwatch()
    made.n_neighbors = max(1, min(NEIGHBORS, (points.n - 2) // 2))
    if truth is None:
        truth = watch.time("data for comparison", truth_of, model, points, seed)
    watch.time("neighbours kept", _neighbors, made, truth, embedding, points, seed)
    some = smaller(model, points, seed)
    wide = some if isinstance(some, str) else watch.time("fit with more coordinates", wider, model, some, _width(model, points))
    watch.time("spectrum", _spectrum, made, model, wide, some)
    watch.time("residual variance", _residual, made, model, truth, embedding, wide, some, seed)
    _keep(made, "loss", watch.time("loss", losses, model, points, held_out, seed))
    _keep(made, "movement", watch.time("stability", movement, model, points, some, shown, seed))
    watch.time("reconstruction", _reconstruction, made, model, points)
    made.seconds = watch.seconds
    return made


def _keep(made: Measures, name: str, found: Any) -> None:
    if isinstance(found, str):
        made.left_out[name] = found
    else:
        setattr(made, name, found)


def _width(model: Any, points: Points) -> int | None:
    return int(points.X.shape[1]) if has_rows(model, points) and not points.stream else None


def _neighbors(made: Measures, truth: Truth | str, embedding: np.ndarray, points: Points, seed: int) -> None:
    if points.labels is not None:
        _purity(made, embedding, points.labels, seed)
    if isinstance(truth, str):
        made.left_out["neighbours"] = truth
        return
    picture = truth.of(embedding)
    made.nearness, made.n_compared = truth.words, len(picture)
    if not np.isfinite(picture).all():
        made.left_out["neighbours"] = "some points have no finite coordinates"
        return
    asked: dict[str, Any] = {"n_samples": _ASKED, "random_state": seed, "metric": truth.metric}
    made.trust = sampled_trustworthiness(truth.data, picture, made.n_neighbors, **asked)
    made.continuity = sampled_continuity(truth.data, picture, made.n_neighbors, **asked)
    made.curve = coranking_curve(truth.data, picture, **asked)


def _purity(made: Measures, embedding: np.ndarray, labels: np.ndarray, seed: int) -> None:
    known = np.array([value is not None and value == value for value in labels], dtype=bool)
    rows = np.flatnonzero(known)
    if len(rows) > 20_000:
        rows = np.sort(np.random.default_rng(seed).choice(rows, 20_000, replace=False))
    names, counts = np.unique(labels[rows].astype(str), return_counts=True)
    if len(rows) < 3 or len(names) < 2 or len(names) > len(rows) / 2:
        made.left_out["purity"] = "labels are all different or all the same" if len(rows) >= 3 else "labels are missing"
        return
    if labels.dtype.kind == "f" and len(names) > 50:
        made.left_out["purity"] = "labels are numbers on a scale, not names"
        return
    count = int(max(1, min(NEIGHBORS, len(rows) - 1, np.max(counts) - 1)))
    made.purity = neighbor_purity(embedding[rows], labels[rows].astype(str), count)


# --- spectrum ---------------------------------------------------------------------------------------------------------------


def _spectrum(made: Measures, model: Any, wide: Any, some: Smaller | str) -> None:
    own = vars(model).get("eigenvalues_")
    if own is None:
        made.left_out["spectrum"] = f"{type(model).__name__} is no eigenproblem, and has no spectrum"
        return
    values = np.asarray(own, dtype=np.float64)
    kept, words = values.shape[-1], ""
    if values.ndim == 2:
        words = f"The data are in {len(values)} pieces, embedded each by itself; this is the spectrum of the largest."
        values = values[0]
    elif not isinstance(wide, str) and np.ndim(vars(wide).get("eigenvalues_", 0)) == 1:
        further = np.asarray(wide.eigenvalues_, dtype=np.float64)
        assert isinstance(some, Smaller)
        if some.words == "all points":
            values, words = further, "Grey bars are coordinates that the map leaves out."
        else:
            values, words = further, f"From a fit to {some.words}; grey bars are coordinates that the map leaves out."
    elif isinstance(wide, str):
        words = f"Only the coordinates of the map are known ({wide})."
    negative = _negative_share(model)
    if isinstance(negative, str):
        made.left_out["negative part"] = negative
    made.spectrum = Spectrum(values, kept, None if isinstance(negative, str) else negative, words)


def _negative_share(model: Any) -> float | str:
    spectrum = vars(model).get("_spectrum")
    if spectrum is None or not hasattr(type(model), "negative_fraction_"):
        return "its kernel is positive semi-definite or its whole spectrum is not looked at"
    if len(model.embedding_) > _WHOLE_SPECTRUM and "landmarks_" not in vars(model):
        return f"beyond {_WHOLE_SPECTRUM} points the whole spectrum costs more than the map; ask for negative_fraction_"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(model.negative_fraction_)


# --- distances and rows -----------------------------------------------------------------------------------------------------


def _residual(made: Measures, model: Any, truth: Truth | str, embedding: np.ndarray, wide: Any, some: Smaller | str, seed: int) -> None:
    if isinstance(truth, str):
        made.left_out["residual variance"] = truth
        return
    geodesic = _is_geodesic(model, truth)
    options: dict[str, Any] = {"metric": truth.metric, "random_state": seed}
    words = truth.words.replace("nearness in the data is ", "distances in the data: ")
    if geodesic:
        options = {"metric": "geodesic", "n_neighbors": vars(model).get("n_neighbors_", NEIGHBORS), "random_state": seed}
        words = "distances in the data are measured along the neighbourhood graph, as the method does"
    nested = not isinstance(wide, str) and isinstance(some, Smaller) and has_kernel(wide)
    if nested and (truth.rows is None or len(some.rows) == len(truth.rows)):
        data = _part(truth, some)
        coordinates = np.asarray(wide.embedding_, dtype=np.float64)
    else:
        data, coordinates = truth.data, truth.of(embedding)
    counts = np.arange(1, coordinates.shape[1] + 1) if nested else np.array([coordinates.shape[1]])
    try:
        values = [residual_variance(data, coordinates[:, :count], **options) for count in counts]
    except REFUSALS as error:
        made.left_out["residual variance"] = first_line(error)
        return
    made.residual = Residual(counts, np.array(values), words)


def _part(truth: Truth, some: Smaller) -> Any:
    if truth.rows is not None or len(some.rows) == _length(truth.data):
        return truth.data
    return truth.data[some.rows][:, some.rows] if truth.metric == "precomputed" else truth.data[some.rows]


def _length(data: Any) -> int:
    return data.shape[0]


def _is_geodesic(model: Any, truth: Truth) -> bool:
    return type(model).__name__ == "Isomap" and truth.metric == "euclidean" and truth.rows is None


def _reconstruction(made: Measures, model: Any, points: Points) -> None:
    """How well rows are made again from their coordinates."""
    if "inverse_error_" not in dir(type(model)):
        made.left_out["reconstruction error"] = f"{type(model).__name__} has no way back from coordinates to rows"
        return
    if not has_rows(model, points) or points.stream:
        made.left_out["reconstruction error"] = "there are no rows at hand to go back to"
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.reconstruction = float(model.inverse_error_)
    except REFUSALS as error:
        made.left_out["reconstruction error"] = first_line(error)


# --- stability --------------------------------------------------------------------------------------------------------------


def movement(model: Any, points: Points, some: Smaller | str, shown: np.ndarray, seed: int, n_repeats: int = 3) -> Movement | str:
    """How far points move when training points are exchanged (Bengio sec. 5.3); beyond some thousand points, between maps of samples."""
    if isinstance(some, str):
        return some
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if len(some.rows) == points.n:
                found = perturbation_stability(
                    quiet_clone(model), some.X, fraction=0.1, n_repeats=n_repeats, n_left_out=0, random_state=seed
                )
                words = f"in {n_repeats} trials a tenth of the training points was exchanged and the maps laid over each other"
                return Movement(found.per_point, words)
            return _between_samples(model, points, shown, seed)
    except REFUSALS as error:
        return first_line(error)


def _between_samples(model: Any, points: Points, shown: np.ndarray, seed: int) -> Movement | str:
    """Two maps of samples without a common point, on which all points shown are placed."""
    order = np.random.default_rng(seed).permutation(points.n)[: 2 * REFIT_POINTS]
    halves = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    if is_pairwise(model):
        pairs = [(points.X[rows][:, rows], points.X[shown][:, rows]) for rows in halves]
    else:
        placed = points.take(shown)
        pairs = [(points.take(rows), placed) for rows in halves]
    first, second = (np.asarray(fitted_again(model, own).transform(others), dtype=np.float64) for own, others in pairs)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return "maps of samples have no finite coordinates for some points"
    moved = np.linalg.norm(linear_alignment(second, first).aligned - first, axis=1)
    spread = np.sqrt(np.mean(np.square(first - first.mean(axis=0)).sum(axis=1)))
    per_point = np.full(points.n, np.nan)
    per_point[shown] = moved / spread
    words = f"all points drawn were placed on two maps, each learnt from {len(halves[0])} other points, and the maps laid over each other"
    return Movement(per_point, words)
