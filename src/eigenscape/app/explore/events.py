"""Events sent to all open pages, and JSON."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from eigenscape.app.explore.tuning import TUNING

Queue = asyncio.Queue[str | None]


def encode(value: Any) -> bytes:
    """Return a value with NumPy arrays and scalars as JSON; numbers that JSON does not have become null."""
    import msgspec

    return msgspec.json.encode(value, enc_hook=lambda other: other.tolist())


class Events:
    """Queues of events, one for each page; :meth:`publish` may be called from any thread."""

    def __init__(self) -> None:
        self._queues: dict[Queue, asyncio.AbstractEventLoop] = {}

    def subscribe(self) -> AsyncIterator[str]:
        """Return the events from now on, with a comment after some seconds without one."""
        queue: Queue = asyncio.Queue()
        self._queues[queue] = asyncio.get_running_loop()
        return self._stream(queue)

    async def _stream(self, queue: Queue) -> AsyncIterator[str]:
        text: str | None = ": connected\n\n"
        try:
            while text is not None:
                yield text
                try:
                    text = await asyncio.wait_for(queue.get(), TUNING.event_seconds)
                except TimeoutError:
                    text = ": waiting\n\n"
        finally:
            del self._queues[queue]

    def publish(self, event: str, value: Any) -> None:
        """Send an event to all pages."""
        self._send(f"event: {event}\ndata: {encode(value).decode()}\n\n")

    def close(self) -> None:
        """End the events of all pages."""
        self._send(None)

    def _send(self, text: str | None) -> None:
        for queue, loop in list(self._queues.items()):
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_put, queue, text)


def _put(queue: Queue, text: str | None) -> None:
    queue.put_nowait(text if queue.qsize() < TUNING.waiting_events else None)
