"""Events sent to all open pages."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

from eigenscape.app.explore.tuning import TUNING


class Subscription:
    """Events for one page, received in its event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    def push(self, text: str | None) -> None:
        """Add an event; called from any thread. None ends the events."""
        try:
            self._loop.call_soon_threadsafe(self._put, text)
        except RuntimeError:  # the loop is closed
            return

    def _put(self, text: str | None) -> None:
        if self._queue.qsize() < TUNING.waiting_events or text is None:
            self._queue.put_nowait(text)
        else:
            self._queue.put_nowait(None)

    async def next(self, seconds: float) -> str | None:
        """Return the next event, or a comment if there is none for some seconds; None at the end."""
        try:
            return await asyncio.wait_for(self._queue.get(), seconds)
        except TimeoutError:
            return ": waiting\n\n"


class Events:
    """All subscriptions of a server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscriptions: set[Subscription] = set()
        self._closed = False

    def subscribe(self) -> Subscription:
        """Return a new subscription."""
        subscription = Subscription()
        with self._lock:
            self._subscriptions.add(subscription)
            closed = self._closed
        if closed:
            subscription.push(None)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription."""
        with self._lock:
            self._subscriptions.discard(subscription)

    def publish(self, event: str, value: Any) -> None:
        """Send an event to all pages; called from any thread."""
        text = f"event: {event}\ndata: {json.dumps(value, allow_nan=False)}\n\n"
        with self._lock:
            subscriptions = list(self._subscriptions)
        for subscription in subscriptions:
            subscription.push(text)

    def close(self) -> None:
        """End all subscriptions."""
        with self._lock:
            self._closed = True
            subscriptions = list(self._subscriptions)
        for subscription in subscriptions:
            subscription.push(None)
