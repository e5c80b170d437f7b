"""Addresses of the explorer and what they answer.

Handlers are functions of the session and the request that run in threads, so that long ones do not delay
others; errors of input become answers with status 400 and one sentence.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from eigenscape._format import to_json
from eigenscape.app.errors import CommandError
from eigenscape.app.explore import analysis
from eigenscape.app.explore.exporting import export_table
from eigenscape.app.explore.inversion import check_point, invert
from eigenscape.app.explore.placing import place_file, place_text
from eigenscape.app.explore.requests import parse_index, parse_json, parse_mask, parse_rows, read_json
from eigenscape.app.explore.security import Refused
from eigenscape.app.explore.session import MissingError, Session
from eigenscape.app.explore.tuning import TUNING

#: Numbers of rows in answers.
_MAX_IMAGES, _MAX_FOUND = 256, 1000
#: Values of each row that are computed on request, and the jobs that compute them.
_MEASURED = {"movement": "movement", "density": "scores", "novelty": "scores", "predicted": "predicted"}
#: Types of the files of the page; no other file is served.
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".html": "text/html; charset=utf-8",
}
_PAGE = "explorer.html"
_NO_PAGE = b"<!doctype html><html lang='en'><title>eigenscape</title><p>The page is not installed."

Handler = Callable[[Request], Awaitable[Response]]


def as_json(value: Any, status: int = 200) -> Response:
    """Return a value as JSON; numbers that JSON does not have become null."""
    text = json.dumps(to_json(value), allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def as_bytes(array: np.ndarray | bytes, dtype: str = "<f4") -> Response:
    """Return an array as little-endian bytes."""
    if not isinstance(array, bytes):
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(array, dtype=dtype).tobytes()
    return Response(array, media_type="application/octet-stream")


class Api:
    """Handlers of all addresses for one session."""

    def __init__(self, session: Session) -> None:
        self.session, self.data = session, session.data
        self.distances = session.distances
        self.assets = page_files()

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/", self._answer(self.page), methods=["GET"]),
            Route("/assets/{name:path}", self._answer(self.asset), methods=["GET"]),
            Route("/api/state", self._answer(self.state), methods=["GET"]),
            Route("/api/columns/{index}", self._answer(self.column), methods=["GET"]),
            Route("/api/rows/{row}", self._answer(self.row), methods=["GET"]),
            Route("/api/images", self._answer(self.images), methods=["GET"]),
            Route("/api/search", self._answer(self.search), methods=["GET"]),
            Route("/api/distances/{row}", self._answer(self.distances_from), methods=["GET"]),
            Route("/api/events", self.events, methods=["GET"]),
            Route("/api/fits", self._answer(self.fit, body=True), methods=["POST"]),
            Route("/api/fits/{job}", self._answer(self.cancel), methods=["DELETE"]),
            Route("/api/maps/{id}", self._answer(self.remove_map), methods=["DELETE"]),
            Route("/api/maps/{id}/coordinates", self._answer(self.coordinates), methods=["GET"]),
            Route("/api/maps/{id}/kept", self._answer(self.kept), methods=["GET"]),
            Route("/api/maps/{id}/clusters", self._answer(self.clusters), methods=["GET"]),
            *(
                Route(f"/api/maps/{{id}}/{name}", self._answer(partial(self.measured, name)), methods=["GET"])
                for name in _MEASURED
            ),
            Route("/api/maps/{id}/missing/{row}", self._answer(self.missing), methods=["GET"]),
            Route("/api/maps/{id}/spectrum", self._answer(self.spectrum), methods=["GET"]),
            Route("/api/maps/{id}/eigenfunction/{component}", self._answer(self.grid), methods=["GET"]),
            Route("/api/maps/{id}/compare/{other}", self._answer(self.compare), methods=["GET"]),
            Route("/api/maps/{id}/inverse", self._answer(self.inverse, body=True), methods=["POST"]),
            Route("/api/maps/{id}/place", self.place, methods=["POST"]),
            Route("/api/explain", self._answer(self.explain, body=True), methods=["POST"]),
            Route("/api/annotations", self._answer(self.annotate, body=True), methods=["POST"]),
            Route("/api/annotations/{name:path}", self._answer(self.annotation), methods=["GET"]),
            Route("/api/annotations/{name:path}", self._answer(self.remove_annotation), methods=["DELETE"]),
            Route("/api/export", self._answer(self.export, body=True), methods=["POST"]),
        ]

    def _answer(self, handler: Callable[..., Response], body: bool = False) -> Handler:
        """Return a handler that runs in a thread and answers errors of input with one sentence."""

        async def answer(request: Request) -> Response:
            try:
                arguments = (await read_json(request),) if body else ()
                return await run_in_threadpool(handler, request, *arguments)
            except Exception as error:
                return failure(error)

        return answer

    # --- page and data ----------------------------------------------------------------------------------

    def page(self, request: Request) -> Response:
        found = self.assets.get(_PAGE)
        return Response(_NO_PAGE if found is None else found.read_bytes(), media_type="text/html")

    def asset(self, request: Request) -> Response:
        found = self.assets.get(request.path_params["name"])
        if found is None:
            raise MissingError("there is no such file")
        return Response(found.read_bytes(), media_type=_TYPES[found.suffix])

    def state(self, request: Request) -> Response:
        return as_json(self.session.state())

    def column(self, request: Request) -> Response:
        text = request.path_params["index"]
        count = len(self.data.columns)
        if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) < count):
            raise MissingError(f"there is no column {text[:20]!r}; there are {count}, counted from 0")
        return as_bytes(self.data.column_bytes(int(text)))

    def row(self, request: Request) -> Response:
        return as_json(self.data.describe_row(self._row(request)))

    def images(self, request: Request) -> Response:
        if self.data.image_shape is None:
            raise CommandError("the rows are not images; name their size with --images HEIGHTxWIDTH")
        rows = parse_rows(request.query_params.get("rows", ""), self.data.n, _MAX_IMAGES)
        return as_bytes(self.data.to_pixels(self.data.rows(rows)).tobytes())

    def search(self, request: Request) -> Response:
        rows, total = self.data.search(request.query_params.get("q", "")[:200], _MAX_FOUND)
        return as_json({"rows": rows, "total": total})

    def distances_from(self, request: Request) -> Response:
        map_id = request.query_params.get("map")
        scaler = None if map_id is None else self.session.find_map(map_id).scaler
        return as_bytes(analysis.distances_from(self.data, self.distances, self._row(request), scaler))

    async def events(self, request: Request) -> Response:
        subscription = self.session.events.subscribe()

        async def stream() -> AsyncIterator[str]:
            try:
                yield ": connected\n\n"
                while (event := await subscription.next(TUNING.event_seconds)) is not None:
                    yield event
            finally:
                self.session.events.unsubscribe(subscription)

        return StreamingResponse(stream(), media_type="text/event-stream")

    # --- jobs -------------------------------------------------------------------------------------------

    def fit(self, request: Request, body: dict[str, Any]) -> Response:
        return as_json({"job": self.session.fit(body).id})

    def cancel(self, request: Request) -> Response:
        job = request.path_params["job"]
        if not self.session.jobs.cancel(job):
            raise MissingError(f"no job {job[:20]!r} is running")
        return as_json({"cancelled": job})

    # --- maps -------------------------------------------------------------------------------------------

    def _map(self, request: Request, name: str = "id") -> Any:
        return self.session.find_map(request.path_params[name])

    def _row(self, request: Request) -> int:
        return parse_index(request.path_params["row"], self.data.n)

    def remove_map(self, request: Request) -> Response:
        self.session.remove_map(request.path_params["id"])
        return as_json({"removed": request.path_params["id"]})

    def coordinates(self, request: Request) -> Response:
        entry, asked = self._map(request), request.query_params.get("components")
        if asked is None:
            return as_bytes(entry.coordinates)
        return as_bytes(entry.coordinates[:, parse_rows(asked, entry.n_components, entry.n_components)])

    def kept(self, request: Request) -> Response:
        entry = self._map(request)
        found = entry.array("kept")
        if found is not None:
            return as_bytes(found)
        if entry.measures.get("reason"):
            raise CommandError(f"neighbours kept cannot be measured: {entry.measures['reason']}")
        return as_json({"job": self.session.measure(entry, per_point=True).id}, 202)

    def clusters(self, request: Request) -> Response:
        found = self._map(request).array("clusters")
        if found is None:
            raise MissingError("the map has no clusters; fit spectral-clustering or mixture-ppca")
        return as_bytes(found, "<u2")

    def measured(self, name: str, request: Request) -> Response:
        entry = self._map(request)
        found = entry.array(name)
        if found is not None:
            return as_bytes(found, "<u2" if name == "predicted" else "<f4")
        if name == "predicted" and self.data.labels is None:
            raise CommandError("the rows have no labels, from which classes could be learnt")
        return as_json({"job": self.session.measure_rows(entry, _MEASURED[name]).id}, 202)

    def missing(self, request: Request) -> Response:
        row = self._row(request)
        return as_json(analysis.missing_neighbors(self._map(request), self.data, self.distances, row))

    def spectrum(self, request: Request) -> Response:
        return as_json(analysis.describe_spectrum(self._map(request)))

    def grid(self, request: Request) -> Response:
        entry = self._map(request)
        component = parse_index(request.path_params["component"], entry.n_components, "component")
        return as_json(analysis.eigenfunction_grid(entry, self.data, component))

    def compare(self, request: Request) -> Response:
        first, asked = self._map(request), request.query_params.get("axes")
        axes = (0, 1) if asked is None else [int(axis) for axis in parse_rows(asked, first.n_components, 2)]
        if len(axes) != 2:
            raise CommandError(f"axes must be two coordinates, such as 0,1, got {asked!r}")
        return as_bytes(analysis.compare_maps(first, self._map(request, "other"), axes))

    def inverse(self, request: Request, body: dict[str, Any]) -> Response:
        entry = self._map(request)
        default = list(range(min(2, entry.n_components)))
        checked = check_point(body.get("point"), body.get("components", default), entry.n_components)
        return as_json(invert(entry, self.data, *checked))

    async def place(self, request: Request) -> Response:
        try:
            name = request.headers.get("x-filename")
            name = None if name is None else unquote(name)
            body = await request.body()
            return await run_in_threadpool(self._place, request, name, body)
        except Exception as error:
            return failure(error)

    def _place(self, request: Request, name: str | None, body: bytes) -> Response:
        entry = self._map(request)
        if name is None:
            found = place_text(self.session, entry, parse_json(body).get("text"))
        else:
            found = place_file(self.session, entry, name, body)
        return as_json(found)

    # --- selections -------------------------------------------------------------------------------------

    def explain(self, request: Request, body: dict[str, Any]) -> Response:
        return as_json(analysis.explain_selection(self.data, parse_mask(body.get("mask"), self.data.n)))

    def annotate(self, request: Request, body: dict[str, Any]) -> Response:
        mask = parse_mask(body.get("mask"), self.data.n)
        self.session.annotations.set(body.get("name"), body.get("label"), mask)
        return self._annotations_changed()

    def annotation(self, request: Request) -> Response:
        codes = self.session.annotations.codes(request.path_params["name"])
        if codes is None:
            raise MissingError("there is no annotation of this name")
        return as_bytes(codes, "<u2")

    def remove_annotation(self, request: Request) -> Response:
        if not self.session.annotations.remove(request.path_params["name"]):
            raise MissingError("there is no annotation of this name")
        return self._annotations_changed()

    def _annotations_changed(self) -> Response:
        described = self.session.annotations.describe()
        self.session.events.publish("annotations", described)
        return as_json({"annotations": described, "missing": TUNING.missing})

    def export(self, request: Request, body: dict[str, Any]) -> Response:
        path, name = export_table(self.session, body)
        cleanup = BackgroundTask(shutil.rmtree, path.parent, ignore_errors=True)
        return FileResponse(path, media_type="text/csv", filename=name, background=cleanup)


def failure(error: Exception) -> Response:
    """Return the answer for an error: 404, 400 with its message, or 500 for an error of programming."""
    if isinstance(error, Refused):
        return as_json({"error": str(error)}, error.status)
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, MissingError):
        return as_json({"error": text}, 404)
    if isinstance(error, ValueError | TypeError | OSError | RuntimeError | ArithmeticError | AttributeError):
        return as_json({"error": text}, 400)
    if isinstance(error, MemoryError):
        return as_json({"error": "the request needs more memory than is available"}, 400)
    return as_json({"error": f"{type(error).__name__}: {text}"}, 500)


def page_files() -> dict[str, Path]:
    """Return the files of the page by name; only these are served."""
    folder = Path(str(files("eigenscape"))) / "app" / "page"
    return {
        file.relative_to(folder).as_posix(): file
        for file in sorted(folder.rglob("*"))
        if file.suffix in _TYPES and file.is_file()
    }


def build_app(session: Session) -> Starlette:
    """Return the application without the checks of :class:`~eigenscape.app.explore.security.Guard`."""

    async def http_error(_: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 500)
        reasons = {404: "there is nothing at this address", 405: "the method is not allowed at this address"}
        return as_json({"error": reasons.get(status, "the request failed")}, status)

    app = Starlette(routes=Api(session).routes(), exception_handlers={HTTPException: http_error})
    app.router.redirect_slashes = False
    return app
