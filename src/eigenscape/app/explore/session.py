"""State of an explorer: data, history of maps, jobs and annotations, shared by all pages."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape import __version__
from eigenscape._format import to_json
from eigenscape._typing import is_sparse
from eigenscape.app.errors import CommandError
from eigenscape.app.explore.annotations import Annotations
from eigenscape.app.explore.data import Dataset
from eigenscape.app.explore.distances import Distances
from eigenscape.app.explore.events import Events
from eigenscape.app.explore.forms import describe_methods, parse_request
from eigenscape.app.explore.jobs import Job, JobRunner
from eigenscape.app.explore.maps import ExploredMap, warm_up
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.io.atomic import is_running
from eigenscape.app.methods import class_name
from eigenscape.exceptions import ModelFileError
from eigenscape.options import Option, flattened

#: Prefix of the folders of servers, followed by the number of their process.
_PREFIX = "eigenscape-explore-"
#: Measures of each row that are computed on request.
ROW_MEASURES = ("movement", "scores", "predicted")


class MissingError(LookupError):
    """Raised if a map, a row or an annotation does not exist."""


class Session:
    """Everything that an explorer knows; its methods may be called from several threads.

    Parameters
    ----------
    data : Dataset
        The rows.
    annotations : Annotations
        Named selections.
    """

    def __init__(self, data: Dataset, annotations: Annotations | None = None) -> None:
        self.data = data
        self.annotations = Annotations(data) if annotations is None else annotations
        self.distances = Distances(data)
        self.events = Events()
        self.maps: dict[str, ExploredMap] = {}
        self.suggestions: list[dict[str, Any]] = []
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._methods: list[dict[str, Any]] | None = None
        self._methods_lock = threading.Lock()
        remove_stale_folders()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self.jobs = JobRunner(self.folder, self._job_changed)
        self._has_files = False

    def close(self) -> None:
        """End the process that fits and remove all temporary files."""
        self.events.close()
        self.jobs.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- state ------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything that a page needs at first, without values of rows."""
        with self._lock:
            maps = [entry.describe() for entry in self.maps.values()]
            suggestions = list(self.suggestions)
        return {
            "title": f"{self.data.name} - eigenscape",
            "version": __version__,
            "data": self.data.describe(),
            "maps": maps,
            "jobs": [job.describe() for job in list(self.jobs.jobs.values())],
            "annotations": self.annotations.describe(),
            "methods": self.methods(),
            "suggestions": suggestions,
        }

    def methods(self) -> list[dict[str, Any]]:
        """Return the forms of all methods."""
        with self._methods_lock:
            if self._methods is None:
                has_labels = self.data.labels is not None
                self._methods = to_json(describe_methods(self.data.n, has_labels))
            return self._methods

    def find_map(self, map_id: str) -> ExploredMap:
        """Return a map; raise MissingError if there is none."""
        with self._lock:
            entry = self.maps.get(map_id)
        if entry is None:
            raise MissingError(f"there is no map {map_id[:20]!r}; it may have been removed from the history")
        return entry

    def remove_map(self, map_id: str) -> None:
        """Remove a map from the history."""
        entry = self.find_map(map_id)
        with self._lock:
            self.maps.pop(map_id, None)
        for kind in ("measure", *ROW_MEASURES):
            job = self.jobs.running(kind, map_id)
            if job is not None:
                self.jobs.cancel(job.id)
        shutil.rmtree(entry.folder, ignore_errors=True)
        self.events.publish("removed", {"map": map_id})

    # --- jobs -------------------------------------------------------------------------------------------

    def fit(self, request: Mapping[str, Any], fewer_components: bool = False) -> Job:
        """Start a fit of a method, given the fields of its form.

        With ``fewer_components`` the map has as many coordinates as the data if these are fewer.
        """
        method, parameters = parse_request(request, self.data.n, self.data.labels is not None)
        standardize = request.get("standardize", False)
        if not isinstance(standardize, bool):
            raise CommandError(f"standardize must be true or false, got {str(standardize)[:60]!r}")
        with self._lock:
            if len(self.maps) >= TUNING.max_maps:
                raise CommandError(f"the history has {TUNING.max_maps} maps; remove some before the next fit")
            map_id = f"m{next(self._numbers)}"
        self._write_data()
        target = self.folder / map_id
        sent = {
            "method": method,
            "parameters": parameters,
            "standardize": standardize,
            "target": str(target),
            "fewer_components": fewer_components,
        }

        def on_done(result: dict[str, Any]) -> str:
            self._add_fitted(map_id, {**sent, "parameters": result["parameters"]}, target, result)
            return map_id

        return self.jobs.submit("fit", sent, on_done, method)

    def _add_fitted(
        self, map_id: str, sent: Mapping[str, Any], target: Path, result: Mapping[str, Any]
    ) -> None:
        from eigenscape.app.io.models import load

        method, parameters, standardize = sent["method"], sent["parameters"], sent["standardize"]
        entry = ExploredMap(
            map_id,
            self._name(method, parameters, standardize),
            method,
            dict(parameters),
            standardize,
            load(target / "model.eigenscape"),
            np.load(target / "coordinates.npy", allow_pickle=False),
            target,
            self.data.origin.python(method, parameters, standardize),
            self.data.origin.command(method, parameters, standardize),
            seconds=result["seconds"],
            spectrum=result["spectrum"],
            warnings=result["warnings"],
        )
        self._add(entry)

    def add_model(self, model: Any, coordinates: np.ndarray, method: str | None, name: str) -> ExploredMap:
        """Add a map of a fitted model with the coordinates of all rows."""
        from eigenscape.app.explore.inversion import split_model
        from eigenscape.app.explore.tasks import spectrum
        from eigenscape.app.io.saving import save

        map_id = f"m{next(self._numbers)}"
        target = self.folder / map_id
        target.mkdir()
        np.save(target / "coordinates.npy", np.asarray(coordinates, dtype=np.float64))
        with contextlib.suppress(ModelFileError, ValueError, TypeError):  # its inverse is then not measured
            save(model, target / "model.eigenscape")
        estimator, scaler = split_model(model)
        origin = self.data.origin
        parameters = _changed_parameters(estimator)
        standardize = scaler is not None
        fitted_here = method is not None and origin.model is None
        entry = ExploredMap(
            map_id,
            name,
            method,
            parameters,
            standardize,
            model,
            np.asarray(coordinates, dtype=np.float64),
            target,
            origin.python(str(method), parameters, standardize) if fitted_here else origin.python_of_model(),
            origin.command(str(method), parameters, standardize)
            if fitted_here
            else origin.command_of_model(),
            spectrum=to_json(spectrum(estimator)),
        )
        self._add(entry)
        return entry

    def _add(self, entry: ExploredMap) -> None:
        with self._lock:
            self.maps[entry.id] = entry
        self.events.publish("map", entry.describe())
        self.measure(entry)
        threading.Thread(target=warm_up, args=(entry, self.distances), daemon=True).start()

    def _name(self, method: str, parameters: Mapping[str, Any], standardize: bool) -> str:
        words = [f"{key}={value}" for key, value in parameters.items()]
        words += ["standardized"] if standardize else []
        return class_name(method) + (f" ({', '.join(words)})" if words else "")

    def measure(self, entry: ExploredMap, per_point: bool = False) -> Job:
        """Start the measures of a map, or return the job that computes them already."""
        running = self.jobs.running("measure", entry.id)
        if running is not None:
            return running
        self._write_data()
        sent = {**_refit_request(entry), "per_point": per_point}

        def on_done(result: dict[str, Any]) -> str | None:
            entry.measures = dict(result)
            self.events.publish("map", entry.describe())
            return entry.id

        return self.jobs.submit("measure", sent, on_done, entry.method, entry.id)

    def measure_rows(self, entry: ExploredMap, kind: str) -> Job:
        """Start a measure of each row, or return the job that computes it already.

        Kinds are "movement" of points when rows are exchanged, "scores" (density and novelty) and "predicted"
        (classes)."""
        running = self.jobs.running(kind, entry.id)
        if running is not None:
            return running
        self._write_data()

        def on_done(result: dict[str, Any]) -> str:
            if "classes" in result:
                entry.classes = list(result["classes"])
                self.events.publish("map", entry.describe())
            return entry.id

        return self.jobs.submit(kind, _refit_request(entry), on_done, entry.method, entry.id)

    def suggest(self) -> Job:
        """Start the search for suggestions."""
        self._write_data()

        def on_done(result: dict[str, Any]) -> None:
            with self._lock:
                self.suggestions = result["suggestions"]
            self.events.publish("suggestions", self.suggestions)

        return self.jobs.submit("suggestions", {"names": list(self.data.names)}, on_done)

    def _job_changed(self, job: Job) -> None:
        self.events.publish("job", to_json(job.describe()))

    def _write_data(self) -> None:
        """Write the rows for the process that fits, once."""
        with self._lock:
            if self._has_files:
                return
            X = self.data.X
            if is_sparse(X):
                sparse.save_npz(self.folder / "X.npz", X, compressed=False)
            else:
                np.save(self.folder / "X.npy", X)
            if self.data.labels is not None:
                labels = self.data.labels
                np.save(
                    self.folder / "labels.npy", labels.astype(str) if labels.dtype.kind == "O" else labels
                )
            self._has_files = True


def _refit_request(entry: ExploredMap) -> dict[str, Any]:
    return {
        "method": entry.method,
        "parameters": to_json(entry.parameters),
        "standardize": entry.standardize,
        "target": str(entry.folder),
    }


def _changed_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that differ from their defaults and can be written as JSON.

    Fields of option objects are listed instead of the objects.
    """
    import inspect

    if not hasattr(estimator, "get_params"):
        return {}
    given = estimator.get_params(deep=False)
    flat, signature = flattened(given), inspect.signature(type(estimator)).parameters
    defaults: dict[str, Any] = {}
    for name, option in given.items():
        if isinstance(option, Option):
            defaults |= {other: getattr(type(option), field, None) for field, other in option._flat.items()}
            if flat[name] is None or (flat[name] is True and signature[name].default is None):
                del flat[name]  # its fields make it again
    defaults |= {name: each.default for name, each in signature.items()}
    return {
        name: value
        for name, value in flat.items()
        if name not in ("verbose", "n_jobs")
        and isinstance(value, bool | int | float | str | None)
        and value != defaults.get(name)
    }


def remove_stale_folders() -> None:
    """Remove the temporary folders of servers that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        number = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if number.isdecimal() and int(number) != os.getpid() and not is_running(int(number)):
            shutil.rmtree(folder, ignore_errors=True)  # folders of other users cannot be removed
