"""Refusal of requests that do not come from the explorer's own page.

The address has a random token as its first part, Host and Origin must be those of this server, and requests
that change something need a header that other sites cannot send without the server's consent.

See docs/decisions/app-explorer.md.
"""

from __future__ import annotations

import hmac
import re
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eigenscape.app.explore.tuning import TUNING

#: Largest body of a request with a file, and of any other.
MAX_UPLOAD, MAX_JSON = 64 * 2**20, 8 * 2**20
#: Headers of every answer.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:"
    " blob:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
_METHODS = ("GET", "HEAD", "POST", "DELETE")
_PATH = re.compile(rb"[A-Za-z0-9_\-./%]*")
_NOTHING = "there is nothing at this address"


class Connections:
    """Connections of a server that have not yet sent a request with the token, the oldest first.

    Those that wait too long are closed, and the oldest if there are too many, so that they leave descriptors
    to the owner of the token, whose connections are not counted.
    """

    def __init__(self) -> None:
        self._waiting: dict[Any, Any] = {}  # transports by the address of the client

    def protocol(self) -> type:
        """Return uvicorn's protocol with these limits."""
        from uvicorn.protocols.http.h11_impl import H11Protocol

        connections = self

        class LimitedProtocol(H11Protocol):
            def connection_made(self, transport: Any) -> None:
                super().connection_made(transport)
                connections._add(self.client, transport)
                self.loop.call_later(TUNING.waiting_seconds, connections._expire, self.client, transport)

            def connection_lost(self, error: Exception | None) -> None:
                connections.forget(self.client)
                super().connection_lost(error)

        return LimitedProtocol

    def forget(self, client: Any) -> None:
        """Stop counting a connection: it belongs to the owner, or is closed."""
        self._waiting.pop(client, None)

    def _add(self, client: Any, transport: Any) -> None:
        self._waiting[client] = transport
        if len(self._waiting) > TUNING.waiting_connections:
            oldest, waiting = next(iter(self._waiting.items()))
            self.forget(oldest)
            waiting.abort()

    def _expire(self, client: Any, transport: Any) -> None:
        if self._waiting.get(client) == transport:  # the address may have another connection by now
            transport.abort()


class Guard:
    """ASGI middleware that passes on only requests of the explorer's own page.

    Parameters
    ----------
    app : ASGI application
        Receives requests with the path after the token.
    token : str
        First part of every path.
    hosts : tuple of str
        Accepted values of the Host header, with the port.
    connections : Connections, optional
        Told of connections whose requests are accepted.
    """

    def __init__(
        self, app: ASGIApp, token: str, hosts: tuple[str, ...], connections: Connections | None = None
    ) -> None:
        self.app, self.token, self.hosts = app, token, tuple(host.lower() for host in hosts)
        self.connections = Connections() if connections is None else connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            path = self._check(scope)
        except HTTPException as refused:
            closing = {"connection": "close"} if refused.status_code == 413 else {}
            answer = JSONResponse({"error": refused.detail}, refused.status_code, {**HEADERS, **closing})
            await answer(scope, receive, send)
            return
        self.connections.forget(scope.get("client"))
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        await self.app(inner, _limited(receive, path), _with_headers(send))  # its handlers answer errors

    def _check(self, scope: Scope) -> str:
        """Return the path after the token; raise HTTPException for any other request."""
        headers = Headers(scope=scope)
        hosts = [host.lower() for host in headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            raise HTTPException(403, "the Host header does not name this server")
        if any(origin.lower() != f"http://{hosts[0]}" for origin in headers.getlist("origin")):
            raise HTTPException(403, "the Origin header does not name this server")
        if scope["method"] not in _METHODS:
            raise HTTPException(405, f"the method must be one of {', '.join(_METHODS)}")
        path = self._check_path(scope)
        _check_site(headers, is_page=path == "/" and scope["method"] == "GET")
        if scope["method"] in ("POST", "DELETE") and "1" not in headers.getlist("x-eigenscape"):
            raise HTTPException(
                403, "the header X-Eigenscape is missing: the request is not from the explorer's page"
            )
        lengths = headers.getlist("content-length")
        if len(lengths) > 1 or not all(
            each.isdecimal() and int(each[:20]) <= max_body(path) for each in lengths
        ):
            raise _too_large(path)
        return path

    def _check_path(self, scope: Scope) -> str:
        raw = (scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0]
        if not _PATH.fullmatch(raw) or len(raw) > 2000:
            raise HTTPException(404, _NOTHING)
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        if not hmac.compare_digest(first.encode(), self.token.encode()):
            raise HTTPException(
                403, "the token in the address is missing or wrong; use the address that was printed"
            )
        if any(part in (".", "..") for part in rest.split("/")) or "\\" in rest or "\0" in rest:
            raise HTTPException(404, _NOTHING)
        if not scope["path"].startswith(f"/{self.token}/"):
            raise HTTPException(404, "the address ends with a slash")
        return f"/{rest}"


def _check_site(headers: Headers, is_page: bool) -> None:
    """Refuse requests that the browser attributes to other sites, except for a link to the page."""
    fetch = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
    if is_page and fetch == ("navigate", "document"):
        return
    if any(site not in ("same-origin", "none") for site in headers.getlist("sec-fetch-site")):
        raise HTTPException(403, "the request comes from another site")


def max_body(path: str) -> int:
    """Return the largest body of a request in bytes."""
    return MAX_UPLOAD if path.endswith("/place") else MAX_JSON


def _too_large(path: str) -> HTTPException:
    return HTTPException(413, f"the body is larger than {max_body(path) // 2**20} MiB; send less")


def _limited(receive: Receive, path: str) -> Receive:
    """Refuse the body of a request when it exceeds the limit."""
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > max_body(path):
            raise _too_large(path)
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
