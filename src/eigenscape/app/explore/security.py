"""Refusal of requests that do not come from the explorer's own page.

The address has a random token as its first part, Host and Origin must be those of this server, and requests
that change something need a header that other sites cannot send without the server's consent.

See docs/decisions/app-explorer.md.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

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
_MARKER = (b"x-eigenscape", b"1")


class Refused(Exception):  # noqa: N818
    """A request that is refused, with a status and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


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
    """

    def __init__(self, app: App, token: str, hosts: tuple[str, ...]) -> None:
        self.app, self.token, self.hosts = app, token, tuple(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        try:
            path = self._check(scope)
        except Refused as refused:
            await _refuse(send, refused)
            return
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}
        await self._limited(inner, receive, _with_headers(send))

    def _check(self, scope: Scope) -> str:
        """Return the path after the token; raise Refused for any other request."""
        headers = [(name.lower(), value) for name, value in scope["headers"]]
        self._check_host(headers)
        if scope["method"] not in _METHODS:
            raise Refused(405, f"the method must be one of {', '.join(_METHODS)}")
        path = self._check_path(scope)
        self._check_site(headers, is_page=path == "/" and scope["method"] == "GET")
        if scope["method"] in ("POST", "DELETE") and _MARKER not in headers:
            raise Refused(
                403, "the header X-Eigenscape is missing: the request is not from the explorer's page"
            )
        lengths = [value for name, value in headers if name == b"content-length"]
        limit = max_body(path)
        if len(lengths) > 1 or (lengths and (not lengths[0].isdigit() or int(lengths[0][:20]) > limit)):
            raise Refused(413, f"the body is larger than {limit // 2**20} MiB; send less")
        return path

    def _check_host(self, headers: list[tuple[bytes, bytes]]) -> None:
        def values(wanted: bytes) -> list[str]:
            return [value.decode("latin-1").lower() for name, value in headers if name == wanted]

        hosts = values(b"host")
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            raise Refused(403, "the Host header is not that of this server")
        origins = values(b"origin")
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            raise Refused(403, "the Origin header is not that of this server")

    def _check_site(self, headers: list[tuple[bytes, bytes]], is_page: bool) -> None:
        """Refuse requests that the browser attributes to other sites, except for a link to the page."""
        fetch = {name: value for name, value in headers if name.startswith(b"sec-fetch-")}
        followed = fetch.get(b"sec-fetch-mode") == b"navigate" and fetch.get(b"sec-fetch-dest") == b"document"
        if is_page and followed:
            return
        sites = [value for name, value in headers if name == b"sec-fetch-site"]
        if any(site not in (b"same-origin", b"none") for site in sites):
            raise Refused(403, "the request comes from another site")

    def _check_path(self, scope: Scope) -> str:
        raw = scope.get("raw_path") or scope["path"].encode()
        raw = raw.partition(b"?")[0]
        if not _PATH.fullmatch(raw) or len(raw) > 2000:
            raise Refused(404, "there is nothing at this address")
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        if not hmac.compare_digest(first.encode(), self.token.encode()):
            raise Refused(
                403, "the token in the address is missing or wrong; use the address that was printed"
            )
        if any(part in (".", "..") for part in rest.split("/")) or "\\" in rest or "\0" in rest:
            raise Refused(404, "there is nothing at this address")
        if not scope["path"].startswith(f"/{self.token}/"):
            raise Refused(404, "the address ends with a slash")
        return f"/{rest}"

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, and refuse its body when it exceeds the limit."""
        limit, size = max_body(scope["path"]), 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal size
            message = await receive()
            if message["type"] == "http.request":
                size += len(message.get("body", b""))
                if size > limit:
                    raise Refused(413, f"the body is larger than {limit // 2**20} MiB; send less")
            return message

        await self.app(scope, counted, send)  # its handlers answer Refused


def max_body(path: str) -> int:
    """Return the largest body of a request in bytes."""
    return MAX_UPLOAD if path.endswith("/place") else MAX_JSON


def _with_headers(send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message.get("headers", [])}
            added = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in present]
            message = {**message, "headers": [*message.get("headers", []), *added]}
        await send(message)

    return sent


async def _refuse(send: Send, refused: Refused) -> None:
    body = json.dumps({"error": str(refused)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refused.status == 413:
        headers.append((b"connection", b"close"))
    await _with_headers(send)({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
