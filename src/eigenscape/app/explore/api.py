"""The application: addresses, files of the page, events; answers and errors become responses here only.

Handlers (:mod:`eigenscape.app.explore.answers`) run in threads, so that long ones do not delay others.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
import numpy as np
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from eigenscape.app.explore.answers import HANDLERS
from eigenscape.app.explore.data import MissingError
from eigenscape.app.explore.events import encode
from eigenscape.app.explore.jobs import Job
from eigenscape.app.explore.requests import parse_index
from eigenscape.app.explore.session import Session
from eigenscape.app.page import MEDIA_TYPES, asset, asset_names


def as_response(answer: Any, status: int = 200) -> Response:
    """Return the response for an answer: little-endian bytes of an array, a file, or JSON."""
    if isinstance(answer, Response):
        return answer
    if isinstance(answer, Job):
        return as_response({"job": answer.id}, 202)
    if isinstance(answer, Path):
        cleanup = BackgroundTask(shutil.rmtree, answer.parent, ignore_errors=True)
        return FileResponse(answer, media_type="text/csv", filename=answer.name, background=cleanup)
    if isinstance(answer, np.ndarray):
        with np.errstate(over="ignore"):
            answer = answer.astype("<u2" if answer.dtype.kind == "u" else "<f4").tobytes()
    if isinstance(answer, bytes):
        return Response(answer, media_type="application/octet-stream")
    return Response(encode(answer), status, media_type="application/json")


def failure(error: Exception) -> Response:
    """Return the response for an error: 404, 400 with its message, or 500 for an error of programming."""
    text = " ".join(str(error).split()) or type(error).__name__
    match error:
        case HTTPException():
            status, text = error.status_code, error.detail
        case MissingError():
            status = 404
        case msgspec.DecodeError():
            status, text = 400, f"the request is not valid: {text}"
        case ValueError() | TypeError() | AttributeError() | ArithmeticError() | RuntimeError():
            status = 400
        case OSError() | MemoryError():
            status, text = 400, f"the request failed: {text}"
        case _:
            status, text = 500, f"{type(error).__name__}: {text}"
    return as_response({"error": text}, status)


def endpoint(session: Session, handler: Callable[..., Any]) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a handler: arguments from the request, response from the answer."""
    parameters = inspect.signature(handler, eval_str=True).parameters
    body = parameters["body"].annotation if "body" in parameters else None

    async def respond(request: Request) -> Response:
        name = request.headers.get("x-filename")
        given = {**request.query_params, **request.path_params, "filename": name and unquote(name)}
        arguments: dict[str, Any] = {key: given[key] for key in list(parameters)[1:] if key in given}
        try:
            if "entry" in parameters:
                arguments["entry"] = session.find_map(given["map_id"])
            if "row" in parameters:
                arguments["row"] = parse_index(given["row"], session.data.n)
            if body is not None:
                raw = await request.body()
                is_json = issubclass(body, msgspec.Struct)
                arguments["body"] = msgspec.json.decode(raw, type=body) if is_json else raw
            return as_response(await run_in_threadpool(handler, session, **arguments))
        except Exception as error:
            return failure(error)

    return respond


def page_file(_: Session, name: str = "explorer.html") -> Response:
    """Return a file of the page; no other file is served."""
    if name not in asset_names():
        raise MissingError("there is no such file")
    return Response(asset(name), media_type=MEDIA_TYPES[Path(name).suffix])


def build_app(session: Session) -> Starlette:
    """Return the application without the checks of :class:`~eigenscape.app.explore.security.Guard`."""

    async def events(_: Request) -> Response:
        return StreamingResponse(session.events.subscribe(), media_type="text/event-stream")

    async def http_error(_: Request, error: Exception) -> Response:
        return failure(error)

    handlers = {("GET", "/"): page_file, ("GET", "/assets/{name:path}"): page_file, **HANDLERS}
    routes = [
        Route(address, endpoint(session, handler), methods=[method])
        for (method, address), handler in handlers.items()
    ]
    routes.append(Route("/api/events", events, methods=["GET"]))
    app = Starlette(routes=routes, exception_handlers={HTTPException: http_error})
    app.router.redirect_slashes = False
    return app
