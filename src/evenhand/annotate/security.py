"""What does the program refuse before it looks at a request? Too much, too fast; and what may a browser do with a page?

Limits are kept in memory, per session and per address; no address is written anywhere.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex, nofollow",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """So many at once, then so many a second."""

    burst: int
    a_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is allowed? A laboratory may sit behind one address: requests with a session count for the session alone."""

    session: Rate = Rate(burst=60, a_second=6)
    address: Rate = Rate(burst=300, a_second=5)
    login: Rate = Rate(burst=5, a_second=1 / 60)
    body: int = 64 * 1024


class PageError(Exception):
    """A request that is answered with a message and logged."""

    def __init__(self, status: int, message: str, detail: str = "", *, wait: int = 0) -> None:
        super().__init__(detail or message)
        self.status, self.message, self.detail, self.wait = status, message, detail or message, wait


class Buckets:
    """Is there still room for one more from this key? A leaking bucket for each; full ones that have run empty are forgotten."""

    MOST = 20_000

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._levels: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, key: str) -> float:
        """0 where there was room, else the seconds to wait."""
        now = self._clock()
        with self._lock:
            level, since = self._levels.get(key, (0.0, now))
            level = max(0.0, level - (now - since) * self._rate.a_second)
            if level + 1 > self._rate.burst:
                return (level + 1 - self._rate.burst) / self._rate.a_second
            self._levels[key] = (level + 1, now)
            if len(self._levels) > self.MOST:
                self._forget(now)
        return 0.0

    def _forget(self, now: float) -> None:
        drained = [key for key, (level, since) in self._levels.items() if level <= (now - since) * self._rate.a_second]
        for key in drained or list(self._levels)[: self.MOST // 2]:  # memory stays bounded whatever is sent
            del self._levels[key]


def address_of(request: Request) -> str:
    """Where from? Only for a limit in memory."""
    return request.client.host if request.client else "unknown"


def refuse_haste(buckets: Buckets, key: str, message: str = "too_fast") -> None:
    """429 with the seconds to wait where a key asks too often."""
    if (wait := buckets.take(key)) > 0:
        raise PageError(429, message, "too many requests", wait=math.ceil(wait))


class BodyLimit:
    """Answers 413 as soon as a body is known to be too large: by its declared length, or when the limit is passed while it arrives."""

    def __init__(self, app: ASGIApp, most: int, refuse: Callable[[Request, PageError], ASGIApp]) -> None:
        self._app, self._most, self._refuse = app, most, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, its body at most as long as allowed."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        body, is_more = b"", True
        is_large = not declared.isdigit() or int(declared) > self._most
        while is_more and not is_large:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            is_more, is_large = message.get("more_body", False), len(body) > self._most
        if is_large:
            refusal = PageError(413, "too_large", f"a body of more than {self._most} bytes")
            answer = await run_in_threadpool(self._refuse, Request(scope), refusal)  # it writes to the log
            await answer(scope, receive, send)
            return

        scope["evenhand.body"] = body  # so that pages need not wait for it
        await self._app(scope, receive, send)


class SafeHeaders:
    """Puts the headers on every answer; pages are never stored by a browser or a proxy, styles and scripts are for an hour."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and complete the answer's headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers["cache-control"] = "public, max-age=3600" if scope["path"].startswith("/static/") else "no-store"
                if scope["scheme"] == "https":
                    headers["strict-transport-security"] = "max-age=31536000"
            await send(message)

        await self._app(scope, receive, send_safely)
