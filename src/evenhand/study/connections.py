"""How long may somebody take to say what they want? A connection that sends no end of headers, or none, is closed.

uvicorn with httptools sets no limit to either (with h11 it limits the size by itself): a few thousand idle connections, or one that never ends its headers,
would stop a study that stands on the internet without a proxy.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST = 64 * 1024  # bytes of headers
SECONDS = (
    20.0  # from the connection, or the first byte of a further request, to the end of the headers
)
_TOO_MUCH = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Connection(HttpToolsProtocol):  # type: ignore[misc, unused-ignore]
    """A connection that has to come to the point."""

    _size = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override, unused-ignore]
        """The clock starts."""
        super().connection_made(transport)
        self._wait()

    def on_message_begin(self) -> None:
        """A request starts; so does the clock, unless it is running."""
        super().on_message_begin()
        self._size = 0
        self._wait()

    def on_headers_complete(self) -> None:
        """All headers are there."""
        self._stop()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Read on; what belongs to a body is limited elsewhere."""
        super().data_received(data)
        if self._timer is not None:  # still in the headers
            self._size += len(data)
            if self._size > MOST and not self.transport.is_closing():
                self.transport.write(_TOO_MUCH)
                self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody waits any more."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
