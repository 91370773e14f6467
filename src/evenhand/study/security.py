"""Security: what is refused before a page looks at a request, and what a browser may do with one.

Limits are kept in memory, per session and per address; no address is written anywhere.
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable, Mapping

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenhand.study.limits import Buckets

HEADERS: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex, nofollow",
}


class PageError(Exception):
    """A request that is answered with a message and logged.

    message: the key of its text; detail: what the log says; wait: seconds until it may be tried
    again.
    """

    def __init__(self, status: int, message: str, detail: str = "", *, wait: int = 0) -> None:
        super().__init__(detail or message)
        self.status, self.message, self.detail, self.wait = status, message, detail or message, wait


class LoginError(PageError):
    """A request of an owner who is not, or no longer, logged in."""

    def __init__(self, detail: str) -> None:
        super().__init__(401, "no_owner", detail)


def address_of(request: Request) -> str:
    """Where a request comes from, only for a limit in memory.

    Whoever has one IPv6 address has 2^64 of them, so these count as one.
    """
    host = request.client.host if request.client else "unknown"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address) or address.ipv4_mapped:
        return host
    return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))


def check_rate(buckets: Buckets, key: str, message: str = "too_fast") -> None:
    """Raise PageError 429 with the seconds to wait where a key asks too often."""
    if (wait := buckets.take(key)) > 0:
        raise PageError(429, message, "too many requests", wait=math.ceil(wait))


class BodyLimit:
    """Refuses a body that is too large or does not arrive.

    Too large by its declared length, or as soon as the limit is passed.
    """

    def __init__(
        self,
        app: ASGIApp,
        most: int,
        patience: float,
        refuse: Callable[[Request, PageError], ASGIApp],
    ) -> None:
        self._app, self._most, self._patience, self._refuse = app, most, patience, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, its body at most as long as allowed."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            await self._app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
        except PageError as refusal:
            # in a thread, as it writes to the log
            answer = await run_in_threadpool(self._refuse, Request(scope), refusal)
            await answer(scope, receive, send)
            return
        if body is not None:
            scope["evenhand.body"] = body  # so that pages need not wait for it
            await self._app(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None where the sender went away."""
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        body, is_more = b"", True
        is_large = not declared.isdigit() or int(declared) > self._most
        with anyio.move_on_after(self._patience):
            while is_more and not is_large:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                is_more, is_large = message.get("more_body", False), len(body) > self._most
        if is_large:
            raise PageError(413, "too_large", f"a body of more than {self._most} bytes")
        if is_more:
            raise PageError(408, "too_slow", f"a body that took more than {self._patience} s")
        return body


class SafeHeaders:
    """Puts the headers on every answer.

    Pages are never stored by a browser or a proxy, styles and scripts are for an hour.
    """

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
                is_kept = scope["path"].startswith("/static/") and message["status"] in {200, 304}
                headers["cache-control"] = "public, max-age=3600" if is_kept else "no-store"
                if message["status"] == 408:
                    headers["connection"] = "close"  # a client that is too slow is not waited for
                if scope["scheme"] == "https":
                    headers["strict-transport-security"] = "max-age=31536000"
            await send(message)

        await self._app(scope, receive, send_safely)
