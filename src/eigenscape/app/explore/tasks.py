"""Work of the process that fits: maps, their measures, and suggestions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._progress import stage
from eigenscape._typing import is_sparse
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.methods import estimator_class, make_estimator, needs_labels

#: Texts of missing labels.
_NO_LABEL = ("", "None", "nan", "NaN", "<NA>")
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

    @cached_property
    def classes(self) -> np.ndarray:
        """The labels as classes, None or NaN for rows without a label."""
        if self.labels is None:
            raise ValueError("the rows have no labels, from which classes could be learnt")
        if self.labels.dtype.kind != "U":
            return self.labels
        classes = self.labels.astype(object)
        classes[np.isin(self.labels, _NO_LABEL)] = None
        return classes

    @cached_property
    def scaler(self) -> Any:
        """The scaler of the rows."""
        return fit_scaler(self.X)

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
                self._neighbors[standardize] = nearest_others(self.rows(standardize), TUNING.n_neighbors)
        return self._neighbors[standardize]


def fit_scaler(X: Any) -> Any:
    """Fit a StandardScaler; sparse rows are not centred."""
    from sklearn.preprocessing import StandardScaler

    return StandardScaler(with_mean=not is_sparse(X)).fit(X)


def nearest_others(X: Any, k: int) -> np.ndarray:
    """Return the indices (n, k) of the nearest other rows of every row."""
    from eigenscape.graph.neighbors import neighbor_index

    n = X.shape[0]
    k = max(1, min(k, n - 1))
    rows = X if is_sparse(X) else np.ascontiguousarray(X, dtype=np.float64)
    indices = neighbor_index(rows).nearest(rows, k + 1)[1]
    own = indices == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True  # many equal rows: the last neighbour instead
    return indices[~own].reshape(n, k)


def fit_map(data: WorkerData, request: Mapping[str, Any]) -> dict[str, Any]:
    """Fit a method; write the model and its coordinates to the folder of the map."""
    from sklearn.pipeline import make_pipeline

    from eigenscape.app.io.saving import save

    X = data.rows(request["standardize"])
    began = time.perf_counter()
    estimator, parameters = _fitted(data, request, X)
    seconds = time.perf_counter() - began
    fitted = vars(estimator)
    with stage("coordinates"):
        embedding = fitted["embedding_"] if "embedding_" in fitted else estimator.transform(X)
    folder = Path(request["target"])
    folder.mkdir(exist_ok=True)
    np.save(folder / "coordinates.npy", np.asarray(embedding, dtype=np.float64))
    if estimator_class(request["method"])._method.clusters:
        clusters = fitted["labels_"] if "labels_" in fitted else estimator.predict(X)
        np.save(folder / "clusters.npy", np.asarray(clusters).astype(np.uint16))
    model = make_pipeline(data.scaler, estimator) if request["standardize"] else estimator
    with stage("saving the model"):
        save(model, folder / "model.eigenscape", force=True)
    return {"seconds": seconds, "spectrum": spectrum(estimator), "parameters": parameters}


def _fitted(data: WorkerData, request: Mapping[str, Any], X: Any) -> tuple[Any, dict[str, Any]]:
    """Return a fitted estimator and its parameters, with fewer coordinates if the request allows fewer."""
    parameters = dict(request["parameters"])
    targets: tuple[Any, ...] = ()
    cls = estimator_class(request["method"])
    if needs_labels(request["method"], parameters):
        targets = (data.labels if cls._method.groups else data.classes,)
    fewer = range(1, parameters.get("n_components", 3)) if request.get("fewer_components") else ()
    try:
        return make_estimator(cls, parameters).fit(X, *targets), parameters
    except ValueError:
        for count in reversed(fewer):
            with suppress(ValueError):
                parameters["n_components"] = count
                return make_estimator(cls, parameters).fit(X, *targets), parameters
        raise


def spectrum(estimator: Any) -> dict[str, Any]:
    """Return eigenvalues and residuals of a fitted estimator, or of the largest piece of its graph."""
    fitted = vars(estimator)

    def values(name: str) -> list[float] | None:
        found = fitted.get(name)
        if found is None or isinstance(found, list | tuple):
            return None
        array = np.asarray(found, dtype=np.float64)
        return (array[0] if array.ndim == 2 else np.atleast_1d(array)).tolist()

    return {"eigenvalues": values("eigenvalues_"), "residuals": values("residuals_")}


def measure_map(data: WorkerData, request: Mapping[str, Any]) -> dict[str, Any]:
    """Measure neighbours kept, trustworthiness, losses and the error of the inverse of a map."""
    folder = Path(request["target"])
    X = data.rows(request["standardize"])
    plane = np.load(folder / "coordinates.npy", allow_pickle=False)[:, :2]
    result: dict[str, Any] = {"per_point": False, **_sampled_measures(X, plane)}
    n, d = X.shape
    operations = float(n) ** 2 * (d + 64.0)
    if (
        n > 2
        and np.isfinite(plane).all()
        and (request.get("per_point") or operations <= TUNING.max_operations)
    ):
        kept = kept_shares(data.neighbors(request["standardize"]), plane)
        np.save(folder / "kept.npy", kept)
        result |= {"per_point": True, "kept_mean": float(kept.mean())}
    result["inverse_error"], result["inverse_reason"] = _inverse_error(folder, data.X)
    result["losses"] = _losses(request, X)
    return result


def _sampled_measures(X: Any, plane: np.ndarray) -> dict[str, Any]:
    from eigenscape.app.report._measures import Measures
    from eigenscape.app.report._verdicts import neighborhood_grade
    from eigenscape.quality import neighbors_kept, sampled_continuity, sampled_trustworthiness

    n = X.shape[0]
    k = max(1, min(TUNING.n_neighbors, (n - 2) // 2))
    options: dict[str, Any] = {"n_samples": min(n, int(np.clip(TUNING.max_distances // n, 100, 1000)))}
    try:
        with stage("neighbours kept"):
            kept = neighbors_kept(X, plane, k, **options)
            trust = sampled_trustworthiness(X, plane, k, **options)
            continuity = sampled_continuity(X, plane, k, **options)
    except _EXPECTED as error:
        return {"kept_mean": None, "trust": None, "grade": None, "reason": str(error)}
    measures = Measures(k, kept=kept, trust=trust, continuity=continuity)
    return {
        "kept_mean": kept.share.value,
        "chance": kept.chance,
        "n_neighbors": k,
        "trust": trust.value,
        "continuity": continuity.value,
        "grade": neighborhood_grade(measures),
    }


def kept_shares(neighbors: np.ndarray, plane: np.ndarray) -> np.ndarray:
    """Return the share of each point's neighbours in the data that are neighbours on the map."""
    with stage("neighbours on the map"):
        on_map = nearest_others(np.ascontiguousarray(plane, dtype=np.float64), neighbors.shape[1])
    shares = np.empty(len(plane), dtype=np.float32)
    for start in range(0, len(plane), 65536):
        block = slice(start, start + 65536)
        shares[block] = (neighbors[block][:, :, None] == on_map[block][:, None, :]).any(axis=2).mean(axis=1)
    return shares


def _inverse_error(folder: Path, X: Any) -> tuple[float | None, str | None]:
    """Return the relative error of the inverse on training rows, or None and the reason."""
    from eigenscape.app.explore.inversion import inverse_error, split_model
    from eigenscape.app.io.models import load

    if not (folder / "model.eigenscape").exists():
        return None, "the model cannot be saved, so its inverse is not measured"
    with stage("error of the inverse"):
        try:
            return inverse_error(*split_model(load(folder / "model.eigenscape")), X), None
        except _EXPECTED as error:
            return None, str(error)


def _losses(request: Mapping[str, Any], X: Any) -> dict[str, Any]:
    """Return the losses on training and held-out rows of a further fit to some of the rows."""
    nothing: dict[str, Any] = {"training": None, "held_out": None, "eigenvalues": None}
    if request["method"] is None or not hasattr(estimator_class(request["method"]), "loss_curve"):
        return {**nothing, "reason": "the method has no kernel, so it has no loss"}
    if needs_labels(request["method"], request["parameters"]):
        return {**nothing, "reason": "the method cannot be fitted again without labels"}
    n = X.shape[0]
    if n < 10:
        return {**nothing, "reason": f"{n} rows are too few to hold some out"}
    order = np.random.default_rng(0).permutation(n)[: TUNING.refit_rows]
    n_test = max(2, round(TUNING.held_out * len(order)))
    train, test = X[np.sort(order[n_test:])], X[np.sort(order[:n_test])]
    given = request["parameters"].get("n_components")  # an integer, a share of the variance, a rule or None
    count = max(TUNING.n_losses, given) if isinstance(given, int) else TUNING.n_losses
    reason = None
    with stage("losses"):
        for changes in ({"n_components": count}, {}):
            parameters = {**request["parameters"], **changes}
            try:
                model = make_estimator(estimator_class(request["method"]), parameters).fit(train)
                found = {"training": model.loss_curve(), "eigenvalues": spectrum(model)["eigenvalues"]}
            except _EXPECTED as error:
                reason = str(error)
                continue
            try:
                found |= {"held_out": model.loss_curve(test), "reason": reason}
            except _EXPECTED as error:
                found |= {"held_out": None, "reason": str(error)}
            return {**found, "text": f"{len(order) - n_test} rows with {n_test} held out"}
    return {**nothing, "reason": reason}


def measure_movement(data: WorkerData, request: Mapping[str, Any]) -> dict[str, Any]:
    """Measure the movement of each point when training points are exchanged (Bengio sec. 5.3)."""
    from eigenscape.quality import perturbation_stability

    if request["method"] is None or needs_labels(request["method"], request["parameters"]):
        raise ValueError("the map cannot be fitted again to other rows, so movement is not measured")
    X = data.rows(request["standardize"])
    estimator = make_estimator(estimator_class(request["method"]), request["parameters"])
    found = perturbation_stability(estimator, X, fraction=0.1, n_repeats=2, n_left_out=0)
    np.save(Path(request["target"]) / "movement.npy", found.per_point.astype(np.float32))
    return {"median": float(np.nanmedian(found.per_point))}


def score_rows(data: WorkerData, request: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the log density of the rows on the map, and how unusual they are."""
    from eigenscape import EigenspaceDensity
    from eigenscape.app.explore.inversion import split_model
    from eigenscape.app.io.models import load

    folder, X = Path(request["target"]), data.rows(request["standardize"])
    if not (folder / "model.eigenscape").exists():
        raise ValueError("the model cannot be saved, so its density is not measured")
    with stage("density on the map"):
        embedder = split_model(load(folder / "model.eigenscape"))[0]
        density = EigenspaceDensity(embedder, prefit=True).fit(X)
        np.save(folder / "density.npy", density.score_samples(X).astype(np.float32))
        np.save(folder / "novelty.npy", -density.decision_function(X).astype(np.float32))
    return {"n_mixtures": density.n_mixtures_}


def predict_classes(data: WorkerData, request: Mapping[str, Any]) -> dict[str, Any]:
    """Predict the class of every row from the labels and eigenfunctions of all rows."""
    from eigenscape import EigenfunctionClassifier

    X = data.rows(request["standardize"])
    with stage("eigenfunctions"):
        model = EigenfunctionClassifier().fit(X, data.classes)
        codes = np.searchsorted(model.classes_, model.predict(X))
    np.save(Path(request["target"]) / "predicted.npy", codes.astype(np.uint16))
    return {"classes": [str(name) for name in model.classes_]}


def suggest(data: WorkerData, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return suggestions: dimension, neighbours and columns to standardise."""
    from eigenscape.app.explore.suggestions import suggestions

    return {"suggestions": suggestions(data.X, request["names"])}


TASKS: dict[str, Callable[[WorkerData, Mapping[str, Any]], dict[str, Any]]] = {
    "fit": fit_map,
    "measure": measure_map,
    "movement": measure_movement,
    "scores": score_rows,
    "predicted": predict_classes,
    "suggestions": suggest,
}
