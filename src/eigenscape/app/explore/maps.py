"""A map of the history: coordinates, model and what is computed from them on demand."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from eigenscape.app.explore.distances import Distances
from eigenscape.app.explore.inversion import PlaneIndex, inverse_reason, split_model

_GRADES = {
    "good": "Neighbourhoods are preserved well",
    "fair": "Neighbourhoods are preserved in part",
    "poor": "Neighbourhoods are preserved poorly",
}


@dataclass(eq=False)
class ExploredMap:
    """A fitted map of all rows.

    Attributes
    ----------
    method : str or None
        Name of the method; None for a model of another package.
    parameters : dict
        Parameters that differ from their defaults.
    measures : dict
        Results of the measures; empty until they are known.
    classes : list of str
        Names of the predicted classes; empty until they are known.
    """

    id: str
    name: str
    method: str | None
    parameters: dict[str, Any]
    standardize: bool
    model: Any
    coordinates: np.ndarray  # (n, n_components)
    folder: Path
    python: str
    command: str
    seconds: float | None = None
    spectrum: Mapping[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    measures: dict[str, Any] = field(default_factory=dict)
    classes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.estimator, self.scaler = split_model(self.model)
        self.inverse_reason = inverse_reason(self.estimator)
        if self.inverse_reason is None and not np.isfinite(self.coordinates).all():
            self.inverse_reason = "some points have no finite coordinates, so the inverse is not defined"
        self.transform_reason = _transform_reason(self.estimator)
        self._planes: dict[tuple[int, ...], PlaneIndex] = {}
        self._lock = threading.Lock()

    @property
    def n_components(self) -> int:
        """Number of coordinates."""
        return int(self.coordinates.shape[1])

    def plane_index(self, components: tuple[int, ...]) -> PlaneIndex:
        """Return the index of the nearest points in some coordinates."""
        with self._lock:
            if components not in self._planes:
                self._planes[components] = PlaneIndex(self.coordinates, components)
            return self._planes[components]

    def array(self, name: str) -> np.ndarray | None:
        """Return the array ``name`` (kept, density, ...) that was written for the map, if it exists."""
        path = self.folder / f"{name}.npy"
        return np.load(path, allow_pickle=False) if path.exists() else None

    def describe(self) -> dict[str, Any]:
        """Return the map for JSON, without values of rows."""
        shown = ["id", "name", "method", "parameters", "standardize", "n_components", "classes", "seconds"]
        shown += ["inverse_reason", "transform_reason", "warnings", "python", "command"]
        return {
            **{name: getattr(self, name) for name in shown},
            **{name: self.measures.get(name) for name in ("inverse_error", "kept_mean", "trust")},
            "n_clusters": self._n_clusters(),
            "explained": self._explained(),
            "eigenvalues": self.spectrum.get("eigenvalues") is not None,
            "has_inverse": self.inverse_reason is None,
            "has_transform": self.transform_reason is None,
            "verdict": self._verdict(),
        }

    def _n_clusters(self) -> int:
        clusters = self.array("clusters")
        return 0 if clusters is None else int(clusters.max()) + 1

    def _explained(self) -> str:
        n, c = self.coordinates.shape
        text = f"{n} points, {c} coordinate{'s' if c != 1 else ''}"
        ratio = vars(self.estimator).get("explained_variance_ratio_")
        if ratio is not None:
            which = "it has" if c == 1 else "the first two have"
            text += f"; {which} {100 * float(np.sum(ratio[:2])):.0f} % of the variance"
        return text if self.seconds is None else f"{text}; fitted in {self.seconds:.2g} s"

    def _verdict(self) -> str | None:
        grade, kept = self.measures.get("grade"), self.measures.get("kept_mean")
        if kept is None:
            return self.measures.get("reason")
        k, chance = self.measures.get("n_neighbors"), self.measures.get("chance") or 0.0
        text = f"{_GRADES.get(str(grade), 'Neighbourhoods are not graded')}: {100 * kept:.0f} % of the {k}"
        text += f" nearest neighbours are kept on the first two coordinates ({100 * chance:.1g} % by chance)."
        return text


def _transform_reason(estimator: Any) -> str | None:
    try:
        return None if callable(estimator.transform) else "it has no transform"
    except AttributeError as error:
        return str(error)


def warm_up(entry: ExploredMap, distances: Distances) -> None:
    """Compute what the first request for an inverse or a new point would wait for."""
    first = tuple(range(min(2, entry.n_components)))
    if not np.isfinite(entry.coordinates).all():
        return
    entry.plane_index(first)
    try:
        if entry.transform_reason is None:
            entry.model.transform(distances.data.X[:1])
            distances.index(entry.scaler)
        if entry.inverse_reason is None:
            entry.estimator.inverse_transform(entry.coordinates[:1])
    except (ValueError, RuntimeError, ArithmeticError):  # the request itself gives the reason
        return
