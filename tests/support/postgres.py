"""A real PostgreSQL for tests: the Debian binaries, in a temporary folder, stopped at the end."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import pytest

pytest.importorskip("sqlalchemy", reason="a store needs evenhand[annotate]")

from evenhand.people.questions import Option, Question
from evenhand.study.store import Store
from evenhand.study.tables import GivenAnswer

USER = "postgres"  # initdb refuses to run as root


def _binaries() -> Path:
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3])
    )
    if not installed:
        pytest.skip(
            "PostgreSQL is not installed: no /usr/lib/postgresql/*/bin/initdb "
            "(Debian package postgresql)"
        )
    pytest.importorskip("psycopg", reason="PostgreSQL needs psycopg: install evenhand[postgres]")
    return installed[-1].parent


def _run(*command: str | Path) -> None:
    words = [str(word) for word in command]
    if os.geteuid() == 0:
        words = ["runuser", "-u", USER, "--", *words]
    done = subprocess.run(words, capture_output=True, text=True, cwd="/", check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"


class Server:
    """A running PostgreSQL that listens on a socket in its own folder and nowhere else."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self.binaries, self.folder = binaries, folder

    def create_database(self) -> str:
        """The URL of a new, empty database."""
        name = f"study_{uuid4().hex}"
        _run(self.binaries / "createdb", "-h", self.folder, "-U", USER, name)
        return f"postgresql+psycopg://{USER}@/{name}?host={quote(str(self.folder))}"

    def stop(self, mode: str = "fast") -> None:
        _run(self.binaries / "pg_ctl", "-D", self.folder / "data", "-w", "-m", mode, "stop")

    def start(self) -> None:
        settings = f"-k {self.folder} -c listen_addresses='' -c max_connections=100"
        _run(
            self.binaries / "pg_ctl",
            "-D",
            self.folder / "data",
            "-w",
            "-l",
            self.folder / "log",
            "-o",
            settings,
            "start",
        )


@contextmanager
def serving() -> Iterator[Server]:
    """A server for as long as the block lasts."""
    binaries = _binaries()
    # its own short path: a socket's may have at most 107 letters, and pytest's folders are closed
    # to the user postgres
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
        _run(
            binaries / "initdb",
            "-D",
            folder / "data",
            "-U",
            USER,
            "-A",
            "trust",
            "--no-locale",
            "-E",
            "UTF8",
            "--no-sync",
        )
        server = Server(binaries, folder)
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


WORDS = (Option("neutral", "人"), Option("male", "他"), Option("female", "她"))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/study.db"
    running: Server = request.getfixturevalue("server")
    return running.create_database()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened


def ask(annotator: str, count: int, part: str = "trial", attempt: int = 1) -> list[Question]:
    """So many questions for somebody, with ids of their own."""
    return [
        Question(
            id=f"{annotator}.{part}.{attempt}.{i}",
            probe=f"p{i}",
            type="type1",
            role="measure",
            shown=f"{i}: ____ 说。",
            options=WORDS,
            span=(3, 7),
        )
        for i in range(count)
    ]


def begin(store: Store, count: int, part: str = "trial") -> str:
    """A new annotator who has so many questions to answer."""
    annotator = store.add_annotator()
    assert store.begin_part(annotator, part, 1, ask(annotator, count, part))
    return annotator


def answer(
    store: Store, annotator: str, question: str, *, key: str, fine: float = 1.5, first: str = "male"
) -> bool:
    """An answer with usual values."""
    payload = {"first": first, "second": "neutral", "equal": False}
    given = GivenAnswer(
        payload=payload, fine=fine, coarse=1.5 if fine > 0 else -1.5, seconds=2.25, key=key
    )
    return store.give_answer(annotator, question, given)
