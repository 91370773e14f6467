"""Serving a study: one server process that stops gracefully and logs no address."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import sqlalchemy as sa
import uvicorn
from starlette.applications import Starlette

from evenhand.core.errors import EvenhandError
from evenhand.core.suite import Suite
from evenhand.study.app import make_app
from evenhand.study.limits import Limits
from evenhand.study.store import Store
from evenhand.study.study import SQLITE, Study, open_study
from evenhand.study.tokens import load_secret

GRACE = 10  # seconds for what is being answered when the server is told to stop


def open_store(study: Study, suite: Suite) -> Store:
    """The study's store, which remembers what it belongs to.

    A new file can be read by its user alone.
    """
    if study.store.startswith(SQLITE):
        place = str(sa.make_url(study.store).database)
        with suppress(OSError):  # it is there already, or the store says what is wrong
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    store = Store.open(study.store)
    settings = {
        "trial": study.trial,
        "batch": study.batch,
        "types": study.types,
        "seed": study.seed,
    }
    try:
        store.keep_study(study.name, suite.reference, settings)
    except BaseException:
        store.close()
        raise
    return store


def secret_of(study: Study) -> bytes:
    """The study's secret, made at the first call."""
    if study.secret_file is None:
        raise EvenhandError(f"the study '{study.name}' names no secret_file; add one to its file")
    return load_secret(study.secret_file)


def serve(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: Limits | None = None,
    begin: Callable[[], None] = lambda: None,
) -> None:
    """Serve the study in a file until told to stop (Ctrl-C or SIGTERM).

    begin: called when everything is in place.
    """
    study, suite = open_study(path)
    # uvicorn ends its work at SIGTERM and then sends it again: by default that would end the
    # process before the store is closed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with open_store(study, suite) as store, claim(host, port) as listening:
        app = make_app(study, store, suite, secret_of(study), limits=limits)
        begin()
        uvicorn.Server(uvicorn_config(app)).run(sockets=[listening])


def claim(host: str, port: int) -> socket.socket:
    """A listening socket; raises EvenhandError where the port cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise EvenhandError(
            f"cannot listen on {host} port {port}: {reason}; choose another --port or --host"
        ) from error


def uvicorn_config(app: Starlette) -> uvicorn.Config:
    """How uvicorn serves.

    Behind a proxy on this machine, https and addresses are taken from its headers, and from nobody
    else's; a proxy on another machine is named in FORWARDED_ALLOW_IPS, as uvicorn calls it. Its own
    log holds errors only: a line for each request that is not HTTP would let anybody fill the disk.
    """
    return uvicorn.Config(
        app,
        http=_protocol(),
        ws="none",
        access_log=False,
        log_level="error",
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        proxy_headers=True,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1,::1"),
    )


def _protocol() -> type[asyncio.Protocol] | Literal["h11"]:
    try:
        from evenhand.study.connections import Connection
    except ImportError:
        # without httptools, which is faster, uvicorn takes h11, which limits headers itself
        return "h11"
    return Connection
