"""State of an explorer: data, history of maps, jobs and annotations, shared by all pages."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape import __version__
from eigenscape._format import to_json
from eigenscape._roles import missing_labels
from eigenscape._typing import is_sparse
from eigenscape.app.errors import CommandError
from eigenscape.app.explore.annotations import Annotations
from eigenscape.app.explore.data import Dataset, Distances, MissingError
from eigenscape.app.explore.events import Events
from eigenscape.app.explore.forms import describe_methods, parse_request
from eigenscape.app.explore.jobs import Job, JobRunner
from eigenscape.app.explore.maps import ExploredMap
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.io.atomic import is_running
from eigenscape.app.io.models import load, save, split_scaler
from eigenscape.app.methods import class_name, make_estimator
from eigenscape.estimators._method import described
from eigenscape.exceptions import ModelFileError
from eigenscape.options import flattened

#: Prefix of the folders of servers, followed by the number of their process.
_PREFIX = "eigenscape-explore-"


class Session:
    """Everything that an explorer knows; its methods may be called from several threads.

    Parameters
    ----------
    data : Dataset
        The rows.
    annotations : Annotations
        Named selections.
    """

    def __init__(self, data: Dataset, annotations: Annotations) -> None:
        self.data, self.annotations = data, annotations
        self.distances, self.events = Distances(data), Events()
        self.maps: dict[str, ExploredMap] = {}
        self.suggestions: list[dict[str, Any]] = []
        self._numbers, self._announcing = itertools.count(1), threading.Lock()
        _remove_stale_folders()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self.jobs = JobRunner(self.folder)
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

    def remove_map(self, map_id: str) -> dict[str, str]:
        """Remove a map from the history, and cancel its jobs."""
        entry = self.find_map(map_id)
        self.maps.pop(map_id, None)
        for job in list(self.jobs.jobs.values()):
            if job.map == map_id and self.jobs.cancel(job.id) is not None:
                self._announce(job)
        shutil.rmtree(entry.folder, ignore_errors=True)
        self.events.publish("removed", {"map": map_id})
        return {"removed": map_id}

    # --- jobs -------------------------------------------------------------------------------------------

    def write_rows(self) -> None:
        """Write rows and labels for the process that fits."""
        X, labels = self.data.X, self.data.labels
        if is_sparse(X):
            sparse.save_npz(self.folder / "X.npz", X, compressed=False)
        else:
            np.save(self.folder / "X.npy", X)
        if labels is not None:
            if labels.dtype.kind == "O":
                labels = np.where(missing_labels(labels), "", labels.astype(str))
            np.save(self.folder / "labels.npy", labels)

    def fit(self, method: str, parameters: Mapping[str, Any], standardize: bool = False) -> Job:
        """Start a fit of a method, given the fields of its form."""
        method, chosen = parse_request(method, parameters, self.data.n, self.data.labels is not None)
        if len(self.maps) >= TUNING.max_maps:
            raise CommandError(f"the history has {TUNING.max_maps} maps; remove some before the next fit")
        request = {"method": method, "parameters": to_json(chosen), "standardize": standardize}
        return self._submit("fit", {**request, "target": str(self._new_folder())})

    def measure(self, entry: ExploredMap, kind: str = "measure", per_point: bool = False) -> Job:
        """Start a measure of a map, or return the job that computes it already.

        Kinds are "measure" of the map as a whole, and for each row "movement" of points when rows are
        exchanged, "scores" (density and novelty) and "predicted" (classes).
        """
        for job in list(self.jobs.jobs.values()):
            if (job.kind, job.map, job.status) == (kind, entry.id, "running"):
                return job
        request = {"method": entry.method, "parameters": to_json(entry.parameters)}
        request |= {"standardize": entry.standardize, "target": str(entry.folder), "per_point": per_point}
        request["names"] = list(self.data.names)
        return self._submit(kind, request, entry.id)

    def suggest(self) -> Job:
        """Start the search for suggestions."""
        return self._submit("suggestions", {"names": list(self.data.names)})

    def _submit(self, *arguments: Any) -> Job:
        job = self.jobs.submit(*arguments)
        self._announce(job)
        return job

    def _announce(self, job: Job) -> None:
        """Publish the state of a job. The lock keeps an older state from following a newer one."""
        with self._announcing:
            self.events.publish("job", job.describe())

    def cancel(self, job: str) -> dict[str, str]:
        """Cancel a job; raise MissingError if it does not run."""
        cancelled = self.jobs.cancel(job)
        if cancelled is None:
            raise MissingError(f"no job {job[:20]!r} is running")
        self._announce(cancelled)
        return {"cancelled": job}

    def _run_jobs(self) -> None:
        """Run the jobs, use their results and publish their changes."""
        for job, result in self.jobs.run():
            if result is not None:
                try:
                    self._use(job, result)
                    job.set(status="done", stage="done", fraction=1.0, remaining=None)
                except Exception as error:  # a result that cannot be used fails its job, not the server
                    job.set(status="failed", error=str(error) or type(error).__name__)
            self._announce(job)

    def _use(self, job: Job, result: dict[str, Any]) -> None:
        """Add the result of a job to the session."""
        if job.kind == "fit":
            job.map = self._add_fitted(job.request, result).id
        elif job.kind == "suggestions":
            self.suggestions = result["suggestions"]
            self.events.publish("suggestions", self.suggestions)
        elif job.map in self.maps:  # measures or classes, if any
            vars(self.maps[job.map]).update(result)
            self.events.publish("map", self.maps[job.map].describe())

    # --- maps -------------------------------------------------------------------------------------------

    def _new_folder(self) -> Path:
        return self.folder / f"m{next(self._numbers)}"

    def _add_fitted(self, request: Mapping[str, Any], result: Mapping[str, Any]) -> ExploredMap:
        folder, method, standardize = Path(request["target"]), request["method"], request["standardize"]
        parameters, origin = request["parameters"], self.data.origin
        words = [f"{key}={value}" for key, value in parameters.items()]
        words += ["standardized"] if standardize else []
        entry = ExploredMap(
            folder.name,
            class_name(method) + (f" ({', '.join(words)})" if words else ""),
            method,
            parameters,
            standardize,
            load(folder / "model.eigenscape"),
            np.load(folder / "coordinates.npy", allow_pickle=False),
            folder,
            origin.python(method, parameters, standardize),
            origin.command(method, parameters, standardize),
            **{name: result[name] for name in ("seconds", "spectrum", "warnings")},
        )
        return self._add(entry)

    def add_model(self, model: Any) -> ExploredMap:
        """Add the map of a fitted model, or of a pipeline of a StandardScaler and one."""
        from eigenscape.app.explore.tasks import spectrum

        scaler, estimator = split_scaler(model)
        coordinates, origin = vars(estimator).get("embedding_"), self.data.origin
        # rows of a file need not be the training rows
        other_rows = origin.model is not None and hasattr(estimator, "transform")
        if coordinates is None or len(coordinates) != self.data.n or other_rows:
            coordinates = model.transform(self.data.X)
        coordinates = np.asarray(coordinates, dtype=np.float64)
        folder = self._new_folder()
        folder.mkdir()
        np.save(folder / "coordinates.npy", coordinates)
        with suppress(ModelFileError, ValueError, TypeError):  # its inverse is then not measured
            save(model, folder / "model.eigenscape")
        description, parameters = described(estimator), _changed_parameters(estimator)
        method = description.name if description is not None and description.command == "embed" else None
        again = method if origin.model is None else None, parameters, scaler is not None
        texts = (origin.python(*again), origin.command(*again))
        head = (folder.name, type(estimator).__name__, method, parameters, scaler is not None)
        found = spectrum(estimator)
        return self._add(ExploredMap(*head, model, coordinates, folder, *texts, spectrum=found))

    def _add(self, entry: ExploredMap) -> ExploredMap:
        self.maps[entry.id] = entry
        self.events.publish("map", entry.describe())
        self.measure(entry)
        return entry


def _changed_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters that make an estimator again, without those that have their defaults.

    Fields of option objects are listed instead of the objects.
    """
    cls = type(estimator)
    flat = {
        name: value
        for name, value in flattened(estimator.get_params(deep=False)).items()
        if name not in ("verbose", "n_jobs") and isinstance(value, bool | int | float | str | None)
    }
    wanted = repr(make_estimator(cls, flat))
    for name in list(flat):
        fewer = {key: value for key, value in flat.items() if key != name}
        with suppress(ValueError):  # the other parameters need this one
            flat = fewer if repr(make_estimator(cls, fewer)) == wanted else flat
    return flat


def _remove_stale_folders() -> None:
    """Remove the temporary folders of servers that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        number = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if number.isdecimal() and int(number) != os.getpid() and not is_running(int(number)):
            shutil.rmtree(folder, ignore_errors=True)  # folders of other users cannot be removed
