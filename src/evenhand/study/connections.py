"""Connections to the server, closed where headers are too long or do not arrive in time.

uvicorn with httptools limits neither (with h11 it limits the size by itself): a few
thousand idle connections, or one that never ends its headers, would stop a study that stands on the
internet without a proxy.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST = 64 * 1024  # bytes of headers
# from the connection, or the first byte of a further request, to the end of the headers
SECONDS = 20.0
_TOO_MUCH = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class Connection(HttpToolsProtocol):  # type: ignore[misc, unused-ignore]
    """A connection with limits of time and size on its headers."""

    _size = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override, unused-ignore]
        self, transport: asyncio.Transport
    ) -> None:
        """Start the clock."""
        super().connection_made(transport)
        self._wait()

    def on_message_begin(self) -> None:
        """Start the clock for a further request, unless it is running."""
        super().on_message_begin()
        self._size = 0
        self._wait()

    def on_headers_complete(self) -> None:
        """Stop the clock: all headers are there."""
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
        """Stop the clock."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
