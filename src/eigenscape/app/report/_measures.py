"""What is measured of a map, and in one line each why something is not."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.app.report._movement import Movement, movement
from eigenscape.app.report._refits import (
    REFUSALS,
    Loss,
    Smaller,
    Stopwatch,
    first_line,
    has_kernel,
    losses,
    smaller,
    wider,
)
from eigenscape.app.report._spaces import Truth, sampled_rows, truth_of
from eigenscape.app.report._subject import Points, has_rows
from eigenscape.estimators._distances import DistanceSpectrumMixin
from eigenscape.estimators._inverse import InverseMixin
from eigenscape.quality import (
    Estimate,
    coranking_curve,
    neighbor_purity,
    residual_variance,
    sampled_continuity,
    sampled_trustworthiness,
)
from eigenscape.quality.residual import geodesic_blocks

#: Neighbours that count, where there are enough points.
NEIGHBORS = 10
#: Points whose neighbours are compared.
_ASKED = 1000
#: Distances from them to all others at most: of very many points, fewer are asked.
_MOST_COMPARED = 3 * 10**7
#: The largest neighbourhood that the co-ranking curve looks at.
_LARGEST = 2000
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
    n_asked: int = 0  # points whose neighbours were compared
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
    brief: bool = False,
) -> Measures:
    """All measures of a map, or (``brief``) those by which maps compare.

    ``shown`` are the points whose stability is wanted where not all can have it.
    """
    made, watch = Measures(), Stopwatch()
    made.n_neighbors = max(1, min(NEIGHBORS, (points.n - 2) // 2))
    if truth is None:
        truth = watch.time("data for comparison", truth_of, model, points, seed)
    watch.time("neighbours kept", _neighbors, made, truth, embedding, points, seed)
    some = smaller(model, points, seed)
    wide: Any = "not asked for"
    if not brief:
        wide = (
            some
            if isinstance(some, str)
            else watch.time("fit with more coordinates", wider, model, some, _width(model, points))
        )
        watch.time("spectrum", _spectrum, made, model, wide, some)
        watch.time("reconstruction", _reconstruction, made, model, points, seed)
    watch.time("residual variance", _residual, made, model, truth, embedding, wide, some, seed)
    _keep(made, "loss", watch.time("loss", losses, model, points, held_out, seed))
    _keep(made, "movement", watch.time("stability", movement, model, points, some, shown, seed))
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
    if points.labels is not None and np.isfinite(embedding).all():
        _purity(made, embedding, points.labels, seed)
    if isinstance(truth, str):
        made.left_out["neighbours"] = truth
        return
    picture = truth.of(embedding)
    made.nearness, made.n_compared = truth.words, len(picture)
    if not np.isfinite(picture).all():
        made.left_out["neighbours"] = "some points have no finite coordinates"
        return
    made.n_asked = min(len(picture), int(np.clip(_MOST_COMPARED // len(picture), 100, _ASKED)))
    asked: dict[str, Any] = {"n_samples": made.n_asked, "random_state": seed, "metric": truth.metric}
    sizes = np.unique(np.geomspace(1, min(len(picture) - 1, _LARGEST), 30).round().astype(np.intp))
    try:
        trust = sampled_trustworthiness(truth.data, picture, made.n_neighbors, **asked)
        continuity = sampled_continuity(truth.data, picture, made.n_neighbors, **asked)
        made.curve = coranking_curve(truth.data, picture, sizes, **asked)
    except REFUSALS as error:
        made.left_out["neighbours"] = first_line(error)
        return
    made.trust, made.continuity = trust, continuity


def _purity(made: Measures, embedding: np.ndarray, labels: np.ndarray, seed: int) -> None:
    known = np.array([value is not None and value == value for value in labels], dtype=bool)
    rows = np.flatnonzero(known)
    if len(rows) > 20_000:
        rows = np.sort(np.random.default_rng(seed).choice(rows, 20_000, replace=False))
    names, counts = np.unique(labels[rows].astype(str), return_counts=True)
    if labels.dtype.kind == "f" and len(names) > 50:
        made.left_out["purity"] = "labels are numbers on a scale, not names"
        return
    if len(rows) < 3 or len(names) < 2 or len(names) > len(rows) / 2:
        made.left_out["purity"] = "labels are missing, all the same, or nearly all different"
        return
    count = max(1, min(NEIGHBORS, len(rows) - 1, int(counts.max()) - 1))
    made.purity = neighbor_purity(embedding[rows], labels[rows].astype(str), count)


# --- spectrum -----------------------------------------------------------------------------------------------


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
            values, words = (
                further,
                f"From a fit to {some.words}; grey bars are coordinates that the map leaves out.",
            )
    elif isinstance(wide, str):
        words = f"Only the coordinates of the map are known ({wide})."
    negative = _negative_share(model) if isinstance(model, DistanceSpectrumMixin) else None
    if isinstance(negative, str):
        made.left_out["negative part"], negative = negative, None
    made.spectrum = Spectrum(values, kept, negative, words)


def _negative_share(model: Any) -> float | str:
    if vars(model).get("_spectrum_") is None:
        return "a graph embedded in pieces has no common distances"
    if len(model.embedding_) > _WHOLE_SPECTRUM and "landmarks_" not in vars(model):
        return f"beyond {_WHOLE_SPECTRUM} points the whole spectrum costs more than the map; ask for negative_fraction_"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(model.negative_fraction_)
    except REFUSALS as error:  # a model from a file has left its distances behind
        return first_line(error)


# --- distances and rows -------------------------------------------------------------------------------------


def _residual(
    made: Measures,
    model: Any,
    truth: Truth | str,
    embedding: np.ndarray,
    wide: Any,
    some: Smaller | str,
    seed: int,
) -> None:
    if isinstance(truth, str):
        made.left_out["residual variance"] = truth
        return
    options: dict[str, Any] = {"metric": truth.metric, "random_state": seed}
    words = truth.words.replace("nearness in the data is ", "distances in the data: ")
    nested = not isinstance(wide, str) and isinstance(some, Smaller) and has_kernel(wide)
    data, coordinates = truth.data, truth.of(embedding)
    if isinstance(some, Smaller):
        data = _part(truth, some)
        coordinates = np.asarray(wide.embedding_, dtype=np.float64) if nested else embedding[some.rows]
    if type(model).__name__ == "Isomap" and truth.metric == "euclidean" and isinstance(some, Smaller):
        data, options = (
            _geodesics(data, vars(model).get("n_neighbors_", NEIGHBORS)),
            {"metric": "precomputed", "random_state": seed},
        )
        words = "distances in the data are measured along the neighbourhood graph, as the method does"
    counts = np.arange(1, coordinates.shape[1] + 1) if nested else np.array([coordinates.shape[1]])
    try:
        values = [residual_variance(data, coordinates[:, :count], **options) for count in counts]
    except REFUSALS as error:
        made.left_out["residual variance"] = first_line(error)
        return
    made.residual = Residual(counts, np.array(values), words)


def _geodesics(X: Any, n_neighbors: int) -> np.ndarray:
    """Lengths (n, n) of the shortest paths between some points, once for every number of coordinates."""
    n = X.shape[0]
    return np.concatenate(
        [lengths for _, lengths in geodesic_blocks(X, np.arange(n), min(n_neighbors, n - 1))]
    )


def _part(truth: Truth, some: Smaller) -> Any:
    """The data of the points that further fits were made with."""
    if truth.metric != "precomputed":
        return some.X
    return truth.data if truth.data.shape[0] == len(some.rows) else truth.data[some.rows][:, some.rows]


def _reconstruction(made: Measures, model: Any, points: Points, seed: int) -> None:
    """How well rows are made again from their coordinates."""
    if not has_rows(model, points):
        made.left_out["reconstruction error"] = "there are no rows to go back to"
        return
    if not callable(getattr(model, "inverse_transform", None)):
        made.left_out["reconstruction error"] = (
            f"{type(model).__name__} has no way back from coordinates to rows"
        )
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(model, InverseMixin):
                made.reconstruction = float(model.inverse_error_)  # each row left out in turn
            else:
                made.reconstruction = _error_of_inverse(
                    model, points.take(sampled_rows(points.n, _ASKED, seed))
                )
    except REFUSALS as error:
        made.left_out["reconstruction error"] = first_line(error)


def _error_of_inverse(model: Any, X: Any) -> float:
    """Root mean square distance of rows from those made again, over the rows' spread."""
    rows = np.asarray(X.todense()) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    again = np.asarray(model.inverse_transform(model.transform(X)), dtype=np.float64)
    known = np.isfinite(rows)
    spread = np.square(np.where(known, rows - np.nanmean(rows, axis=0), 0.0)).sum()
    return float(np.sqrt(np.square(np.where(known, rows - again, 0.0)).sum() / spread))
