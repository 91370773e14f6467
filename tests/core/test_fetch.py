"""Does published data come onto this machine once, whole and checked?"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evenhand.core.errors import LoadError
from evenhand.core.fetch import fetch, text_digest
from evenhand.core.files import cache_folder
from evenhand.core.protocols import SuiteOptions
from evenhand.engine.suites import load_suite
from evenhand.families.nli_coal.published import COMMIT, REPOSITORY, paths_of

TEXT = b'{"id": 0}\n{"id": 1}\n'
DIGEST = hashlib.sha256(TEXT).hexdigest()
ADVICE = "Download it by other means."


class Mirror:
    """A web server of this machine: what it has, and what it was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirror.asked.append(self.path)
                found = mirror.files.get(self.path)
                self.send_response(200 if found is not None else 404)
                self.end_headers()
                self.wfile.write(found or b"")

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Keep the terminal quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    served = Mirror()
    monkeypatch.setenv("EVENHAND_MIRROR", f"{served.address}/")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("EVENHAND_OFFLINE")
    thread = threading.Thread(target=served.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.server.shutdown()
    served.server.server_close()
    thread.join()


def get(sha256: str = DIGEST) -> Path:
    return fetch("who/what", "0123456789abcdef", "some/file.json", sha256, advice=ADVICE)


def kept() -> list[Path]:
    return [p for p in cache_folder().rglob("*") if p.is_file()]


def test_a_file_is_fetched_once_and_kept(mirror: Mirror) -> None:
    mirror.files["/who/what/0123456789abcdef/some/file.json"] = TEXT
    path = get()
    assert path == cache_folder() / "data" / "who--what" / "0123456789ab" / "some" / "file.json"
    assert path.read_bytes() == TEXT
    assert get() == path
    assert mirror.asked == ["/who/what/0123456789abcdef/some/file.json"]


def test_a_broken_copy_is_fetched_again(mirror: Mirror) -> None:
    mirror.files["/who/what/0123456789abcdef/some/file.json"] = TEXT
    get().write_bytes(TEXT[:5])
    assert get().read_bytes() == TEXT
    assert len(mirror.asked) == 2


def test_wrong_content_is_refused_and_not_kept(mirror: Mirror) -> None:
    mirror.files["/who/what/0123456789abcdef/some/file.json"] = b"<html>please log in</html>"
    with pytest.raises(
        LoadError, match=rf"SHA-256 [0-9a-f]{{16}}\.\.\., expected {DIGEST[:16]}.*{ADVICE}"
    ):
        get()
    assert kept() == []


def test_a_missing_file_is_a_load_error(mirror: Mirror) -> None:
    with pytest.raises(LoadError, match=rf"cannot fetch {mirror.address}/who/what.*404.*{ADVICE}"):
        get()
    assert kept() == []


def test_nobody_there_is_a_load_error(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = Mirror()
    closed.server.server_close()  # the port is known to be free
    monkeypatch.setenv("EVENHAND_MIRROR", closed.address)
    with pytest.raises(LoadError, match=rf"cannot fetch {closed.address}.*{ADVICE}"):
        get()


@pytest.mark.parametrize("address", ["http://[broken", "mirror.example"])
def test_a_mirror_that_is_no_address_is_a_load_error(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("EVENHAND_MIRROR", address)
    monkeypatch.delenv("EVENHAND_OFFLINE")
    with pytest.raises(LoadError, match="cannot fetch"):
        get()


def test_offline_is_respected(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror.files["/who/what/0123456789abcdef/some/file.json"] = TEXT
    monkeypatch.setenv("EVENHAND_OFFLINE", "1")
    with pytest.raises(LoadError, match="EVENHAND_OFFLINE=1 forbids fetching it"):
        get()
    assert mirror.asked == []
    monkeypatch.delenv("EVENHAND_OFFLINE")
    path = get()
    monkeypatch.setenv("EVENHAND_OFFLINE", "1")
    assert get() == path  # what is here may be used


def test_the_digest_is_that_of_the_text() -> None:
    assert (
        text_digest(TEXT) == text_digest(b"\xef\xbb\xbf" + TEXT.replace(b"\n", b"\r\n")) == DIGEST
    )
    assert text_digest(TEXT + b"\n") != DIGEST


def test_the_whole_published_suite_is_fetched(data: Path, mirror: Mirror) -> None:
    paths = list(paths_of("en", "downsampled").values())
    for path in paths:
        mirror.files[f"/{REPOSITORY}/{COMMIT}/{path}"] = (data / "nli_coal" / path).read_bytes()
    fetched = load_suite("nli-coal:downsampled", "en")
    named = load_suite("nli-coal:downsampled", "en", SuiteOptions(data=data))
    assert fetched.digest == named.digest
    assert mirror.asked == [f"/{REPOSITORY}/{COMMIT}/{path}" for path in paths]
