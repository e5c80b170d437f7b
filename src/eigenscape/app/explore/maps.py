"""A map of the history: coordinates, model and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from eigenscape.app.explore.data import spread_rows
from eigenscape.app.io.models import split_scaler

#: The inverse is refused farther from the nearest point than this share of the diagonal of the map, and than
#: this multiple of the distances between nearest points.
_MAX_SHARE, _MAX_MULTIPLE = 0.05, 4.0


def missing_reason(estimator: Any, name: str) -> str | None:
    """Return why an estimator has no method ``name``; None if it has one."""
    if not hasattr(type(estimator), name):
        return f"{type(estimator).__name__} has no {name}; PCA, Isomap and LaplacianEigenmaps have one"
    try:
        getattr(estimator, name)
    except AttributeError as error:
        return str(error)
    return None


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
        self.scaler, self.estimator = split_scaler(self.model)
        self.transform_reason = missing_reason(self.estimator, "transform")
        self.inverse_reason = missing_reason(self.estimator, "inverse_transform")
        if self.inverse_reason is None and not np.isfinite(self.coordinates).all():
            self.inverse_reason = "some points have no finite coordinates, so the inverse is not defined"
        self._planes: dict[tuple[int, ...], tuple[cKDTree, float]] = {}

    @property
    def n_components(self) -> int:
        """Number of coordinates."""
        return int(self.coordinates.shape[1])

    def array(self, name: str) -> np.ndarray | None:
        """Return the array ``name`` (kept, density, ...) that was written for the map, if it exists."""
        path = self.folder / f"{name}.npy"
        return np.load(path, allow_pickle=False) if path.exists() else None

    def describe(self) -> dict[str, Any]:
        """Return the map for JSON, without values of rows."""
        shown = ["id", "name", "method", "parameters", "standardize", "n_components", "classes", "seconds"]
        shown += ["inverse_reason", "transform_reason", "warnings", "python", "command"]
        clusters = self.array("clusters")
        return {
            **{name: getattr(self, name) for name in shown},
            **{name: self.measures.get(name) for name in ("kept_mean", "trust", "verdict")},
            "n_clusters": 0 if clusters is None else int(clusters.max()) + 1,
            "explained": self._explained(),
            "eigenvalues": self.spectrum.get("eigenvalues") is not None,
            "has_inverse": self.inverse_reason is None,
            "has_transform": self.transform_reason is None,
        }

    def _explained(self) -> str:
        n, c = self.coordinates.shape
        text = f"{n} points, {c} coordinate{'s' if c != 1 else ''}"
        ratio = vars(self.estimator).get("explained_variance_ratio_")
        if ratio is not None:
            which = "it has" if c == 1 else "the first two have"
            text += f"; {which} {100 * float(np.sum(ratio[:2])):.0f} % of the variance"
        return text if self.seconds is None else f"{text}; fitted in {self.seconds:.2g} s"

    def plane(self, components: tuple[int, ...]) -> tuple[cKDTree, float]:
        """Return a k-d tree of the points in some coordinates, and the distance that is far from the data."""
        if components not in self._planes:
            points = np.ascontiguousarray(self.coordinates[:, list(components)])
            tree = cKDTree(points, balanced_tree=False)
            low, high = np.quantile(points, [0.005, 0.995], axis=0)
            lengths = tree.query(points[spread_rows(len(points), 2000)], k=[2])[0]
            multiple = _MAX_MULTIPLE * float(np.quantile(lengths, 0.99))
            limit = max(_MAX_SHARE * float(np.linalg.norm(high - low)), multiple)
            self._planes[components] = tree, limit
        return self._planes[components]
