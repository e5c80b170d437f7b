"""The server of an explorer: in this thread, or in its own thread next to a notebook or script."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
import webbrowser
from typing import Any

from eigenscape._extras import optional_import
from eigenscape.app.errors import CommandError
from eigenscape.app.explore.session import Session
from eigenscape.app.explore.tuning import TUNING

#: Addresses of this machine only.
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Explorer:
    """A running explorer.

    Attributes
    ----------
    url : str
        Address of the page, with its token.
    """

    def __init__(self, session: Session, host: str = "127.0.0.1", port: int = 0) -> None:
        self.session = session
        try:
            for name in ("starlette", "msgspec"):
                optional_import(name, "the explorer")
            uvicorn = optional_import("uvicorn", "the explorer")
            self._socket = _bind(host, port)
        except (CommandError, ImportError):
            session.close()
            raise
        from eigenscape.app.explore.api import build_app
        from eigenscape.app.explore.security import Connections, Guard

        self.port = int(self._socket.getsockname()[1])
        self.token = secrets.token_urlsafe(24)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.port}/{self.token}/"
        names = {shown, *(("127.0.0.1", "localhost", "[::1]") if host in LOOPBACK else ())}
        hosts, connections = tuple(f"{name}:{self.port}" for name in names), Connections()
        app = Guard(build_app(session), self.token, hosts, connections)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="critical",  # addresses contain the token
                access_log=False,
                server_header=False,
                lifespan="off",
                ws="none",
                http=connections.protocol(),
                backlog=TUNING.backlog,
                timeout_graceful_shutdown=TUNING.grace_seconds,
                timeout_keep_alive=30,
                h11_max_incomplete_event_size=64 * 1024,
            )
        )
        serving = {"sockets": [self._socket]}
        self._thread = threading.Thread(target=self._server.run, kwargs=serving, daemon=True)

    def run(self, open_browser: bool = True) -> None:
        """Serve until Ctrl-C or :meth:`close`, then end all processes and remove temporary files."""
        with contextlib.suppress(KeyboardInterrupt), self:
            self.start(open_browser)
            while self._thread.is_alive():
                self._thread.join(timeout=0.2)

    def start(self, open_browser: bool = False) -> None:
        """Serve in a thread."""
        self._thread.start()  # the socket accepts connections already
        if open_browser:
            threading.Thread(target=webbrowser.open, args=[self.url], daemon=True).start()

    def close(self) -> None:
        """End the server, its processes, and remove its temporary files."""
        self.session.events.close()  # streams of events would be waited for
        self._server.should_exit = True
        try:
            if self._thread.is_alive():
                self._thread.join(timeout=TUNING.grace_seconds + 10)
        finally:
            self.session.close()
            self._socket.close()

    @property
    def annotations(self) -> dict[str, Any]:
        """Annotations by name: arrays of labels, "" for rows without one."""
        return self.session.annotations.as_dict()

    def __enter__(self) -> Explorer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Explorer({self.url!r})"


def _bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise CommandError if the address cannot be used."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise CommandError(
            f"port {port} of {host} cannot be used: {error.strerror or error}; choose another --port"
        ) from error
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it
    return listener
