"""State of an explorer: data, history of maps, jobs and annotations, shared by all pages."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from eigenscape import __version__
from eigenscape._format import to_json
from eigenscape._typing import is_sparse
from eigenscape.app.errors import CommandError
from eigenscape.app.explore.annotations import Annotations
from eigenscape.app.explore.data import Dataset
from eigenscape.app.explore.distances import Distances
from eigenscape.app.explore.events import Events
from eigenscape.app.explore.forms import describe_methods, parse_request
from eigenscape.app.explore.inversion import split_model
from eigenscape.app.explore.jobs import Job, JobRunner
from eigenscape.app.explore.maps import ExploredMap, warm_up
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.io.atomic import is_running
from eigenscape.app.methods import class_name
from eigenscape.estimators._method import described
from eigenscape.exceptions import ModelFileError
from eigenscape.options import Option, flattened

#: Prefix of the folders of servers, followed by the number of their process.
_PREFIX = "eigenscape-explore-"


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
        remove_stale_folders()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self.jobs = JobRunner(self.folder)
        self._has_files = False
        self._thread = threading.Thread(target=self._run_jobs, name="eigenscape jobs", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the process that fits and remove all temporary files."""
        self.events.close()
        self.jobs.close()
        self._thread.join(timeout=10)
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- state ------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything that a page needs at first, without values of rows."""
        return {
            "title": f"{self.data.name} - eigenscape",
            "version": __version__,
            "data": self.data.describe(),
            "maps": [entry.describe() for entry in list(self.maps.values())],
            "jobs": [job.describe() for job in list(self.jobs.jobs.values())],
            "annotations": self.annotations.describe(),
            "methods": self.methods,
            "suggestions": self.suggestions,
        }

    @cached_property
    def methods(self) -> list[dict[str, Any]]:
        """Forms of all methods."""
        return describe_methods(self.data.n, self.data.labels is not None)

    def find_map(self, map_id: str) -> ExploredMap:
        """Return a map; raise MissingError if there is none."""
        entry = self.maps.get(map_id)
        if entry is None:
            raise MissingError(f"there is no map {map_id[:20]!r}; it may have been removed from the history")
        return entry

    def remove_map(self, map_id: str) -> None:
        """Remove a map from the history."""
        entry = self.find_map(map_id)
        self.maps.pop(map_id, None)
        for job in list(self.jobs.jobs.values()):
            if job.map == map_id and self.jobs.cancel(job.id) is not None:
                self.events.publish("job", job.describe())
        shutil.rmtree(entry.folder, ignore_errors=True)
        self.events.publish("removed", {"map": map_id})

    # --- jobs -------------------------------------------------------------------------------------------

    def fit(
        self,
        method: str,
        parameters: Mapping[str, Any],
        standardize: bool = False,
        fewer_components: bool = False,
    ) -> Job:
        """Start a fit of a method, given the fields of its form.

        With ``fewer_components`` the map has as many coordinates as the data if these are fewer.
        """
        method, chosen = parse_request(method, parameters, self.data.n, self.data.labels is not None)
        if len(self.maps) >= TUNING.max_maps:
            raise CommandError(f"the history has {TUNING.max_maps} maps; remove some before the next fit")
        target = self.folder / f"m{next(self._numbers)}"
        request = _fit_request(method, chosen, standardize, target)
        return self._submit("fit", {**request, "fewer_components": fewer_components}, method)

    def measure(self, entry: ExploredMap, kind: str = "measure", per_point: bool = False) -> Job:
        """Start a measure of a map, or return the job that computes it already.

        Kinds are "measure" of the map as a whole, and for each row "movement" of points when rows are
        exchanged, "scores" (density and novelty) and "predicted" (classes).
        """
        request = _fit_request(entry.method, entry.parameters, entry.standardize, entry.folder)
        running = self.jobs.running(kind, entry.id)
        return running or self._submit(kind, {**request, "per_point": per_point}, entry.method, entry.id)

    def suggest(self) -> Job:
        """Start the search for suggestions."""
        return self._submit("suggestions", {"names": list(self.data.names)})

    def _submit(self, *arguments: Any) -> Job:
        self._write_data()
        job = self.jobs.submit(*arguments)
        self.events.publish("job", job.describe())
        return job

    def cancel(self, job_id: str) -> None:
        """Cancel a job; raise MissingError if it does not run."""
        job = self.jobs.cancel(job_id)
        if job is None:
            raise MissingError(f"no job {job_id[:20]!r} is running")
        self.events.publish("job", job.describe())

    def _run_jobs(self) -> None:
        """Run the jobs, use their results and publish their changes."""
        for job, result in self.jobs.run():
            if result is not None:
                try:
                    self._use(job, result)
                    job.set(status="done", stage="done", fraction=1.0, remaining=None)
                except Exception as error:  # a result that cannot be used fails its job, not the server
                    job.set(status="failed", error=str(error) or type(error).__name__)
            self.events.publish("job", job.describe())

    def _use(self, job: Job, result: dict[str, Any]) -> None:
        """Add the result of a job to the session."""
        if job.kind == "fit":
            job.map = self._add_fitted(job.request, result).id
        elif job.kind == "suggestions":
            self.suggestions = result["suggestions"]
            self.events.publish("suggestions", self.suggestions)
        elif job.map in self.maps and job.kind in ("measure", "predicted"):
            entry = self.maps[job.map]
            if job.kind == "measure":
                entry.measures = result
            else:
                entry.classes = result["classes"]
            self.events.publish("map", entry.describe())

    # --- maps -------------------------------------------------------------------------------------------

    def _add_fitted(self, request: Mapping[str, Any], result: Mapping[str, Any]) -> ExploredMap:
        from eigenscape.app.io.models import load

        folder, method, standardize = Path(request["target"]), request["method"], request["standardize"]
        parameters = result["parameters"]
        words = [f"{key}={value}" for key, value in parameters.items()]
        words += ["standardized"] if standardize else []
        return self._add(
            ExploredMap(
                folder.name,
                class_name(method) + (f" ({', '.join(words)})" if words else ""),
                method,
                parameters,
                standardize,
                load(folder / "model.eigenscape"),
                np.load(folder / "coordinates.npy", allow_pickle=False),
                folder,
                self.data.origin.python(method, parameters, standardize),
                self.data.origin.command(method, parameters, standardize),
                seconds=result["seconds"],
                spectrum=result["spectrum"],
                warnings=result["warnings"],
            )
        )

    def add_model(self, model: Any) -> ExploredMap:
        """Add the map of a fitted model, or of a pipeline of a StandardScaler and one."""
        from eigenscape.app.explore.tasks import spectrum
        from eigenscape.app.io.saving import save

        estimator, scaler = split_model(model)
        if isinstance(model, Pipeline) and (len(model.steps) != 2 or not hasattr(scaler, "scale_")):
            raise ValueError("a pipeline must consist of a StandardScaler and a fitted estimator")
        coordinates, origin = vars(estimator).get("embedding_"), self.data.origin
        # rows of a file need not be the training rows
        other_rows = origin.model is not None and hasattr(estimator, "transform")
        if coordinates is None or len(coordinates) != self.data.n or other_rows:
            coordinates = model.transform(self.data.X)
        coordinates = np.asarray(coordinates, dtype=np.float64)
        folder = self.folder / f"m{next(self._numbers)}"
        folder.mkdir()
        np.save(folder / "coordinates.npy", coordinates)
        with contextlib.suppress(ModelFileError, ValueError, TypeError):  # its inverse is then not measured
            save(model, folder / "model.eigenscape")
        description = described(estimator)
        method = description.name if description is not None and description.command == "embed" else None
        parameters, standardize = _changed_parameters(estimator), scaler is not None
        if method is not None and origin.model is None:
            python = origin.python(method, parameters, standardize)
            command = origin.command(method, parameters, standardize)
        else:
            python, command = origin.python_of_model(), origin.command_of_model()
        given = (
            folder.name,
            type(estimator).__name__,
            method,
            parameters,
            standardize,
            model,
            coordinates,
            folder,
        )
        return self._add(ExploredMap(*given, python, command, spectrum=spectrum(estimator)))

    def _add(self, entry: ExploredMap) -> ExploredMap:
        self.maps[entry.id] = entry
        self.events.publish("map", entry.describe())
        self.measure(entry)
        threading.Thread(target=warm_up, args=(entry, self.distances), daemon=True).start()
        return entry

    def _write_data(self) -> None:
        """Write the rows for the process that fits, once."""
        with self._lock:
            if self._has_files:
                return
            X, labels = self.data.X, self.data.labels
            if is_sparse(X):
                sparse.save_npz(self.folder / "X.npz", X, compressed=False)
            else:
                np.save(self.folder / "X.npy", X)
            if labels is not None:
                labels = labels.astype(str) if labels.dtype.kind == "O" else labels
                np.save(self.folder / "labels.npy", labels)
            self._has_files = True


def _fit_request(
    method: str | None, parameters: Mapping[str, Any], standardize: bool, folder: Path
) -> dict[str, Any]:
    return {
        "method": method,
        "parameters": to_json(parameters),
        "standardize": standardize,
        "target": str(folder),
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
