"""How does a study run for months? One server process that stops gracefully and writes down no address."""

from __future__ import annotations

from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from evenhand.annotate.app import make_app
from evenhand.annotate.security import Limits
from evenhand.annotate.store import Store
from evenhand.annotate.study import Study, open_study
from evenhand.annotate.tokens import load_secret
from evenhand.core.errors import EvenhandError
from evenhand.core.records import Suite

GRACE = 10  # seconds for what is being answered when the server is told to stop


def open_store(study: Study, suite: Suite) -> Store:
    """The study's store, which remembers what it belongs to."""
    store = Store.open(study.store)
    try:
        store.keep_study(
            study.name, suite.reference, {"trial": study.trial, "batch": study.batch, "types": study.types, "seed": study.seed}
        )
    except BaseException:
        store.close()
        raise
    return store


def secret_of(study: Study) -> bytes:
    """The study's secret, made at the first call."""
    if study.secret_file is None:
        raise EvenhandError(f"the study '{study.name}' names no secret_file; add one to its file")
    return load_secret(study.secret_file)


def serve(path: Path, *, host: str = "127.0.0.1", port: int = 8000, limits: Limits | None = None) -> None:
    """Serve the study in a file until told to stop (Ctrl-C or SIGTERM)."""
    study, suite = open_study(path)
    with open_store(study, suite) as store:
        run(make_app(study, store, suite, secret_of(study), limits=limits), host, port)


def run(app: Starlette, host: str, port: int) -> None:
    """Run an application; behind a proxy on this machine, https and addresses are taken from its headers."""
    uvicorn.run(
        app, host=host, port=port, access_log=False, log_level="warning", server_header=False, timeout_graceful_shutdown=GRACE,
        proxy_headers=True, forwarded_allow_ips="127.0.0.1,::1",
    )  # fmt: skip
