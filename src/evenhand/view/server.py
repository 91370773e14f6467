"""A server that shows a folder of runs and can do nothing else: it reads, and only that folder."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from evenhand.core.errors import EvenhandError, InputError
from evenhand.report.run_list import to_run_list
from evenhand.view.folders import RunFolder

PATIENCE = 15  # seconds that a client may take to send or to read
FORMS = {  # what a browser shows; everything else is saved
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".tex": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
_NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
_STYLE = "style-src 'unsafe-inline'; img-src data:; "
INDEX_POLICY = f"{_NOTHING}{_STYLE}script-src 'unsafe-inline'; connect-src 'self'"
# the page of a run comes from whoever wrote the folder: it has no network, and no access to others
PAGE_POLICY = f"{_NOTHING}{_STYLE}script-src 'unsafe-inline' 'unsafe-eval'; sandbox allow-scripts"


class ViewServer(ThreadingHTTPServer):
    """Serves one folder of runs."""

    daemon_threads = True

    def __init__(self, folder: RunFolder, host: str, port: int) -> None:
        self.folder, self.host = folder, host
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), Handler)

    @property
    def address(self) -> str:
        """The address of the index."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.server_port}/"

    def accepts(self, host: str) -> bool:
        """Whether a request for this host is meant for this server.

        On this machine alone, other names are refused: a page of a stranger could have its own
        name lead here.
        """
        name = urlsplit(f"//{host}").hostname or ""
        return name in {"localhost", self.host} or is_loopback(name) or not is_loopback(self.host)


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD; everything else is refused."""

    server: ViewServer
    timeout = PATIENCE
    server_version, sys_version = "evenhand", ""

    def do_GET(self) -> None:
        """Answer with the index, or with a file of a run."""
        try:
            self._answer()
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True  # the reader has left

    do_HEAD = do_GET  # noqa: N815

    def _refuse(self) -> None:
        self._send_text(HTTPStatus.METHOD_NOT_ALLOWED, "This server only reads.\n")

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _refuse  # noqa: N815

    def _answer(self) -> None:
        try:
            is_meant = self.server.accepts(self.headers.get("Host", self.server.host))
        except ValueError:
            is_meant = False
        if not is_meant:
            self._send_text(HTTPStatus.MISDIRECTED_REQUEST, "This is another server.\n")
            return
        folder = self.server.folder
        place = urlsplit(self.path).path if self.path.startswith("/") else ""
        if place in {"/", "/index.html"}:
            page = to_run_list(folder.lines(), folder.root.name or str(folder.root))
            self._send(HTTPStatus.OK, page.encode(), FORMS[".html"], INDEX_POLICY)
            return
        path = self._located(place)
        if path is not None and path.is_dir():
            page_path = folder.page_of(path)
            if page_path is not None:
                self._redirect(f"/{quote(page_path.relative_to(folder.root).as_posix())}")
                return
        if path is None or not path.is_file():
            self._send_text(HTTPStatus.NOT_FOUND, "There is no such file in this folder.\n")
            return
        self._send_file(path)

    def _located(self, place: str) -> Path | None:
        """The file or folder that an address means; None where it is not in the folder."""
        try:
            parts = unquote(place, errors="strict").strip("/").split("/")
        except UnicodeDecodeError:
            return None
        if any(part == "" or part[0] == "." or set(part) & set("\\\0") for part in parts):
            return None
        return self.server.folder.within(self.server.folder.root.joinpath(*parts))

    def _send_file(self, path: Path) -> None:
        try:
            with path.open("rb") as stream:
                size = os.fstat(stream.fileno()).st_size
                form = FORMS.get(path.suffix.lower(), "application/octet-stream")
                self._head(HTTPStatus.OK, size, form, PAGE_POLICY)
                if self.command != "HEAD":
                    shutil.copyfileobj(stream, self.wfile)
        except PermissionError:
            self._send_text(HTTPStatus.FORBIDDEN, "This file cannot be read.\n")

    def _redirect(self, address: str) -> None:
        self.send_response(HTTPStatus.FOUND)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send_text(self, status: HTTPStatus, text: str) -> None:
        self._send(status, text.encode(), FORMS[".txt"], PAGE_POLICY)

    def _send(self, status: HTTPStatus, content: bytes, form: str, policy: str) -> None:
        self._head(status, len(content), form, policy)
        if self.command != "HEAD":
            self.wfile.write(content)

    def _head(self, status: HTTPStatus, size: int, form: str, policy: str) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": form,
            "Content-Length": str(size),
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = "GET, HEAD"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is logged: a line for each request would let anybody fill the disk."""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def open_server(folder: Path, host: str = "127.0.0.1", port: int = 8765) -> ViewServer:
    """A server of the folder that listens already; port 0: any that is free.

    Raises InputError where there is no such folder, EvenhandError where the port cannot be used.
    """
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "there is no such folder"
        raise InputError(folder, f"{what}; give the folder that holds your runs, such as runs/")
    try:
        return ViewServer(RunFolder(folder), host, port)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise EvenhandError(
            f"cannot listen on {host} port {port}: {reason}; choose another --port or --host"
        ) from error


def serve(server: ViewServer, begin: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. begin: called with the address when everything is in place."""
    with server:
        begin(server.address)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
