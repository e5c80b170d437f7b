"""Work of the process that fits: maps and their measures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenscape import quality
from eigenscape._progress import stage
from eigenscape._typing import is_sparse
from eigenscape.app.explore.suggestions import suggestions
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.io.models import load, save, split_scaler
from eigenscape.app.methods import estimator_class, make_estimator, needs_labels
from eigenscape.app.report._measures import Measures, compare_neighbors, measure_purity, reconstruction_error
from eigenscape.app.report._points import ReferenceData, as_points
from eigenscape.app.report._rules import Case
from eigenscape.app.report._verdicts import headline
from eigenscape.app.report.dominance import find_dominance
from eigenscape.graph.neighbors import neighbor_index

Request = Mapping[str, Any]
#: Errors of a measure that are shown as its result.
_EXPECTED = (ValueError, TypeError, RuntimeError, ArithmeticError, AttributeError, MemoryError)


class WorkerData:
    """The rows of the server, mapped from its files, and standardised rows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._neighbors: dict[bool, np.ndarray] = {}

    @cached_property
    def X(self) -> Any:
        """The rows; an array in the file is not copied."""
        if (self.folder / "X.npz").exists():
            return sparse.csr_array(sparse.load_npz(self.folder / "X.npz"))
        return np.asarray(np.load(self.folder / "X.npy", mmap_mode="r", allow_pickle=False))

    @cached_property
    def labels(self) -> np.ndarray | None:
        """The labels, if there are any."""
        path = self.folder / "labels.npy"
        return np.load(path, allow_pickle=False) if path.exists() else None

    @property
    def classes(self) -> np.ndarray | None:
        """The labels as classes: a missing text is None."""
        if self.labels is None or self.labels.dtype.kind != "U":
            return self.labels
        return np.array([label or None for label in self.labels], dtype=object)

    @cached_property
    def scaler(self) -> Any:
        """The scaler of the rows; sparse rows are not centred."""
        return StandardScaler(with_mean=not is_sparse(self.X)).fit(self.X)

    @cached_property
    def _scaled(self) -> Any:
        return self.scaler.transform(self.X)

    def rows(self, standardize: bool) -> Any:
        """Return the rows, standardised if requested."""
        return self._scaled if standardize else self.X

    def neighbors(self, standardize: bool) -> np.ndarray:
        """Return the nearest neighbours (n, 10) of every row, searched once."""
        if standardize not in self._neighbors:
            with stage("neighbours in the data"):
                self._neighbors[standardize] = nearest_others(self.rows(standardize))
        return self._neighbors[standardize]


def nearest_others(X: Any) -> np.ndarray:
    """Return the indices (n, 10) of the nearest other rows of every row."""
    rows = X if is_sparse(X) else np.ascontiguousarray(X, dtype=np.float64)
    lists = neighbor_index(rows).nearest_others_graph(min(TUNING.n_neighbors, X.shape[0] - 1))
    return lists.indices.reshape(X.shape[0], -1)


def fit_map(data: WorkerData, request: Request) -> dict[str, Any]:
    """Fit a method; write the model and its coordinates to the folder of the map."""
    X, cls = data.rows(request["standardize"]), estimator_class(request["method"])
    estimator: Any = make_estimator(cls, request["parameters"])
    groups = data.labels if cls._method.groups else data.classes
    labels = groups if needs_labels(request["method"], request["parameters"]) else None
    began = time.perf_counter()
    estimator.fit(X, *(() if labels is None else (labels,)))
    seconds = time.perf_counter() - began
    fitted = vars(estimator)
    with stage("coordinates"):
        embedding = fitted["embedding_"] if "embedding_" in fitted else estimator.transform(X)
    folder = Path(request["target"])
    folder.mkdir(exist_ok=True)
    np.save(folder / "coordinates.npy", np.asarray(embedding, dtype=np.float64))
    if cls._method.clusters:
        clusters = fitted["labels_"] if "labels_" in fitted else estimator.predict(X)
        np.save(folder / "clusters.npy", np.asarray(clusters).astype(np.uint16))
    model = make_pipeline(data.scaler, estimator) if request["standardize"] else estimator
    with stage("saving the model"):
        save(model, folder / "model.eigenscape", force=True)
    return {"seconds": seconds, "spectrum": spectrum(estimator)}


def spectrum(estimator: Any) -> dict[str, Any]:
    """Return eigenvalues and residuals of a fitted estimator, or of the largest piece of its graph."""
    found = {}
    for name in ("eigenvalues", "residuals"):
        values = vars(estimator).get(f"{name}_")
        known = values is not None and not isinstance(values, list | tuple)
        found[name] = np.atleast_2d(np.asarray(values, dtype=np.float64))[0].tolist() if known else None
    return found


def measure_map(data: WorkerData, request: Request) -> dict[str, Any]:
    """Measure neighbours kept, trustworthiness, losses and the error of the inverse of a map."""
    folder = Path(request["target"])
    X = data.rows(request["standardize"])
    plane = np.load(folder / "coordinates.npy", allow_pickle=False)[:, :2]
    result = _sampled_measures(data, request, X, plane)
    n, d = X.shape
    unasked = float(n) ** 2 * (d + 64.0) <= TUNING.max_operations
    if n > 2 and np.isfinite(plane).all() and (request.get("per_point") or unasked):
        with stage("neighbours on the map"):
            on_map = nearest_others(plane)
        near = data.neighbors(request["standardize"]).T
        kept = np.mean([(on_map == each[:, None]).any(axis=1) for each in near], axis=0)
        np.save(folder / "kept.npy", kept.astype(np.float32))
        result["kept_mean"] = float(kept.mean())
    result["inverse_error"] = _inverse_error(folder, X)
    result["losses"] = _losses(request, X)
    return {"measures": result}


def _sampled_measures(data: WorkerData, request: Request, X: Any, plane: np.ndarray) -> dict[str, Any]:
    """Return the share of neighbours kept and the verdict of reports, or the reason why there are none."""
    n, measures = X.shape[0], Measures(max(1, min(TUNING.n_neighbors, (X.shape[0] - 2) // 2)))
    try:
        with stage("neighbours kept"):
            reference = ReferenceData(X, "euclidean", np.arange(n), "")
            vars(measures).update(compare_neighbors(measures, reference, plane, 0))
    except _EXPECTED as error:
        return {"kept_mean": None, "reason": str(error), "verdict": str(error)}
    with suppress(*_EXPECTED):  # labels that are no groups
        vars(measures).update(measure_purity(plane, data.labels, 0))
    measures.localized = quality.localized_coordinates(plane)
    if request["method"] is not None:
        estimator = make_estimator(estimator_class(request["method"]), request["parameters"])
        measures.dominance = find_dominance(estimator, X, request["names"])
    known: Any = measures
    verdict = headline(Case(measures))
    return {"kept_mean": known.kept.share.value, "trust": known.trust.value, "verdict": verdict}


def _inverse_error(folder: Path, X: Any) -> float | None:
    """Return the root mean square error of reconstructed rows, relative to their spread; None if unknown."""
    path = folder / "model.eigenscape"
    with stage("error of the inverse"), suppress(*_EXPECTED):
        if path.exists():  # otherwise the model cannot be saved
            return reconstruction_error(split_scaler(load(path))[1], as_points(X), 0)
    return None


def _losses(request: Request, X: Any) -> dict[str, Any]:
    """Return the losses on training and held-out rows of a further fit to some of the rows."""
    found: dict[str, Any] = dict.fromkeys(("loss_training", "loss_held_out", "held_out_reason"))
    method, n = request["method"], X.shape[0]
    if method is None or not hasattr(estimator_class(method), "loss_curve"):
        return found | {"held_out_reason": "the method has no kernel, so it has no loss"}
    if needs_labels(method, request["parameters"]):
        return found | {"held_out_reason": "the method cannot be fitted again without labels"}
    if n < 10:
        return found | {"held_out_reason": f"{n} rows are too few to hold some out"}
    order = np.random.default_rng(0).permutation(n)[: TUNING.refit_rows]
    n_test = max(2, round(TUNING.held_out * len(order)))
    train, test = X[np.sort(order[n_test:])], X[np.sort(order[:n_test])]
    with stage("losses"):
        try:
            model = make_estimator(estimator_class(method), request["parameters"]).fit(train)
            found |= {"loss_training": model.loss_curve(), "loss_held_out": model.loss_curve(test)}
        except _EXPECTED as error:
            found["held_out_reason"] = str(error)
    return found


def measure_movement(data: WorkerData, request: Request) -> dict[str, Any]:
    """Measure the movement of each point when training points are exchanged (Bengio sec. 5.3)."""
    if request["method"] is None or needs_labels(request["method"], request["parameters"]):
        raise ValueError("the map cannot be fitted again to other rows, so movement is not measured")
    X = data.rows(request["standardize"])
    estimator = make_estimator(estimator_class(request["method"]), request["parameters"])
    found = quality.perturbation_stability(estimator, X, fraction=0.1, n_repeats=2, n_left_out=0)
    np.save(Path(request["target"]) / "movement.npy", found.per_point.astype(np.float32))
    return {}


def score_rows(data: WorkerData, request: Request) -> dict[str, Any]:
    """Compute the log density of the rows on the map, and how unusual they are."""
    from eigenscape import EigenspaceDensity

    folder, X = Path(request["target"]), data.rows(request["standardize"])
    if not (folder / "model.eigenscape").exists():
        raise ValueError("the model cannot be saved, so its density is not measured")
    with stage("density on the map"):
        embedder = split_scaler(load(folder / "model.eigenscape"))[1]
        density = EigenspaceDensity(embedder, prefit=True).fit(X)
        np.save(folder / "density.npy", density.score_samples(X).astype(np.float32))
        np.save(folder / "novelty.npy", -density.decision_function(X).astype(np.float32))
    return {}


def predict_classes(data: WorkerData, request: Request) -> dict[str, Any]:
    """Predict the class of every row from the labels and eigenfunctions of all rows."""
    from eigenscape import EigenfunctionClassifier

    X = data.rows(request["standardize"])
    with stage("eigenfunctions"):
        model = EigenfunctionClassifier().fit(X, data.classes)
        codes = np.searchsorted(model.classes_, model.predict(X))
    np.save(Path(request["target"]) / "predicted.npy", codes.astype(np.uint16))
    return {"classes": [str(name) for name in model.classes_]}


def suggest(data: WorkerData, request: Request) -> dict[str, Any]:
    """Return suggestions: dimension, neighbours and columns to standardise."""
    return {"suggestions": suggestions(data.X, request["names"])}


TASKS: dict[str, Callable[[WorkerData, Request], dict[str, Any]]] = {
    "fit": fit_map,
    "measure": measure_map,
    "movement": measure_movement,
    "scores": score_rows,
    "predicted": predict_classes,
    "suggestions": suggest,
}
