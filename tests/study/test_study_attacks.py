"""What an attacker gets: floods, forged hosts, endless requests, guessing, a look at the disk."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")

import uvicorn
from starlette.applications import Starlette
from starlette.testclient import TestClient
from study_site import PASSWORD, Place, open_place, page_text, send

from evenhand.core.errors import StorageError
from evenhand.study import serving
from evenhand.study.app import THREADS, make_app
from evenhand.study.limits import Buckets, Limits, Rate
from evenhand.study.owner import hash_password
from evenhand.study.security import address_of
from evenhand.study.serving import secret_of
from evenhand.study.site import go
from evenhand.study.store import Store


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    result = open_place(tmp_path)
    result.store.set_owner("lab", hash_password(PASSWORD))
    yield result
    result.store.close()


def app_of(place: Place, **limits: Any) -> Starlette:
    return make_app(
        place.study, place.store, place.suite, secret_of(place.study), limits=Limits(**limits)
    )


def visitor(app: Starlette, address: str = "192.0.2.1", **settings: Any) -> TestClient:
    return TestClient(app, client=(address, 40000), **settings)


def log_in(client: TestClient, name: str, password: str) -> Any:
    return send(client, client.get("/owner/login"), "/owner/login", name=name, password=password)


def test_a_flood_of_refusals_fills_no_disk(place: Place) -> None:
    now = 0.0
    place.store._lines = Buckets(Rate(burst=5, per_second=0.1), clock=lambda: now)
    client = visitor(app_of(place, address=Rate(burst=3, per_second=0.001)))
    codes = [client.get("/").status_code for _ in range(20)]
    codes += [client.post("/owner/login", data={"csrf": "x"}).status_code for _ in range(20)]
    codes += [client.post("/", content=b"x" * 70_000).status_code for _ in range(20)]
    assert (codes.count(401), codes.count(429), codes.count(413)) == (3, 37, 20)
    assert len(place.store.events()) == 5
    now = 10.0
    client.get("/")
    assert place.store.events()[0].detail.endswith("(and 55 before it, too many to write down)")
    person = place.store.add_annotator()
    place.store.log(
        "odd", person, "x"
    )  # a flood of strangers hides nothing that somebody with a link does
    assert place.store.events()[0].annotator == person


def test_one_address_locks_no_owner_out(place: Place) -> None:
    app = app_of(place)
    thief, owner = visitor(app, "192.0.2.66"), visitor(app)
    codes = [log_in(thief, "lab", f"guess {i}").status_code for i in range(8)]
    assert codes == [401] * 5 + [429] * 3
    assert log_in(owner, "lab", PASSWORD).url.path == "/owner"


def test_many_addresses_guess_one_name_no_faster(place: Place) -> None:
    app = app_of(place, name=Rate(burst=6, per_second=0.001))
    codes = [log_in(visitor(app, f"192.0.2.{i}"), "lab", "guess").status_code for i in range(8)]
    assert codes == [401] * 6 + [429] * 2


def test_passwords_are_checked_two_at_a_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    hold, begun = threading.Event(), threading.Semaphore(0)

    def check(*_: object) -> bool:
        begun.release()
        return not hold.wait(20)

    monkeypatch.setattr("evenhand.study.owner.is_right", check)
    app, codes = app_of(place), []
    threads = [
        threading.Thread(
            target=lambda: codes.append(log_in(visitor(app), "lab", "guess").status_code)
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
        begun.acquire(timeout=20)
    assert log_in(visitor(app), "lab", "guess").status_code == 429
    hold.set()
    for thread in threads:
        thread.join()
    assert codes == [401, 401]


def test_an_owner_is_logged_out_in_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    client = visitor(app_of(place))
    assert log_in(client, "lab", PASSWORD).status_code == 200
    monkeypatch.setattr("evenhand.study.tokens.OWNER_SECONDS", -1)
    assert client.get("/owner").url.path == "/owner/login"


def test_the_log_holds_no_secret(place: Place) -> None:
    app = app_of(place)
    log_in(visitor(app), "a password in the wrong field", "x")
    _, link = place.invite()
    visitor(app).get(link[:-1])
    visitor(app).post(link, content=b"x" * 70_000)
    log = " ".join(f"{e.kind}: {e.detail}." for e in place.store.events()[::-1])
    assert "password" not in log
    assert link[3:20] not in log
    assert "192.0.2.1" not in log
    assert log.count("/i/...") == 2


def test_a_forged_host_leads_nowhere(place: Place) -> None:
    app = app_of(place)
    client = visitor(app, base_url="http://evil.example")
    for path in (
        "/consent/",
        "/owner/",
        "/static",
        "//evil.example/",
        "/\\evil.example/",
        "/i/x%0d%0aset-cookie:a=b/",
        "/i/x?lang=zh",
    ):
        result = client.get(path, follow_redirects=False)
        assert not result.headers.get("location", "/").startswith(("http", "//", "/\\")), path
        assert "a" not in result.cookies
    assert client.get("/owner/", follow_redirects=False).headers["location"] == "/owner"
    assert [go(path).headers["location"] for path in ("//evil.example", "/\\evil.example")] == [
        "/evil.example"
    ] * 2
    page = send(client, log_in(client, "lab", PASSWORD), "/owner/invite", days=7)
    assert page.status_code == 200
    assert 'data-path="/i/' in page.text
    assert "evil.example" not in page.text  # the link is made whole in the owner's browser


@pytest.mark.parametrize(
    "path",
    ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "..%5capp.py", "/etc/passwd", "%00", "a" * 300],
)
def test_static_files_are_the_static_files(place: Place, path: str) -> None:
    client = visitor(app_of(place))
    result = client.get(f"/static/{path}")
    assert result.status_code == 404
    assert result.headers["cache-control"] == "no-store"
    assert client.get("/static/keys.js").headers["cache-control"] == "public, max-age=3600"


def test_addresses_of_one_network_count_as_one() -> None:
    def told_by(host: str) -> str:
        return address_of(type("Request", (), {"client": type("Client", (), {"host": host})})())

    assert told_by("2001:db8::1") == told_by("2001:db8::ffff:2") == "2001:db8::/64"
    assert told_by("2001:db8:0:1::1") != told_by("2001:db8::1")
    assert told_by("::ffff:192.0.2.1") != told_by("::ffff:192.0.2.2")
    assert told_by("192.0.2.1") == "192.0.2.1"
    assert told_by("testclient") == "testclient"


def test_a_body_that_does_not_come_is_not_waited_for(place: Place) -> None:
    app, sent = app_of(place, patience=0.05), []

    async def receive() -> Any:
        await asyncio.sleep(60)

    async def send_it(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/question",
        "query_string": b"",
        "headers": [(b"content-length", b"10")],
        "scheme": "http",
        "server": ("x", 80),
        "client": ("192.0.2.1", 1),
        "root_path": "",
        "http_version": "1.1",
    }
    asyncio.run(asyncio.wait_for(app(scope, receive, send_it), 20))
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
    assert [e.kind for e in place.store.events()] == ["too slow"]


def test_a_mistake_of_the_program_tells_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError("a detail of the program")

    monkeypatch.setattr("evenhand.study.pages.next_step", fail)
    client = visitor(app_of(place), raise_server_exceptions=False)
    result = client.get(place.invite()[1])
    assert result.status_code == 500
    assert "could not store this just now" in page_text(result)
    assert "detail of the program" not in result.text
    assert "default-src 'none'" in result.headers["content-security-policy"]
    assert place.store.events()[0].kind == "broken"


def test_a_refusal_that_cannot_be_written_down_is_still_one(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(Store, "log", refuse)
    result = visitor(app_of(place)).get("/i/forged")
    assert result.status_code == 403
    assert "not valid" in page_text(result)


def test_few_threads_work(place: Place) -> None:
    with visitor(app_of(place)) as client:
        assert client.get("/health").text == "ok"
        assert client.portal is not None
        assert (
            client.portal.call(
                lambda: anyio.to_thread.current_default_thread_limiter().total_tokens
            )
            == THREADS
            == 10
        )


def test_only_its_user_reads_the_answers(place: Place, tmp_path: Path) -> None:
    place.invite()
    files = sorted(tmp_path.glob("small.db*"))
    assert len(files) >= 2  # with the write-ahead log
    assert [file.stat().st_mode & 0o077 for file in files] == [0] * len(files)


@contextmanager
def serve(app: Starlette) -> Iterator[int]:
    """The port of a real server, set up as for a study."""
    config = serving.uvicorn_config(app)
    config.host, config.port = "127.0.0.1", 0
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    end = time.monotonic() + 60
    while not server.started and time.monotonic() < end:
        time.sleep(0.02)
    try:
        yield int(server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()


def ask(port: int, *pieces: bytes) -> bytes:
    """What a server says to raw bytes, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        reply = b""
        try:
            for piece in pieces:
                line.sendall(piece)
            while result := line.recv(65536):
                reply += result
        except ConnectionError:  # closed while there was still more to send
            pass
        return reply


def test_headers_come_soon_and_end(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    connections = pytest.importorskip("evenhand.study.connections", reason="needs httptools")
    monkeypatch.setattr(connections, "SECONDS", 0.5)
    start = b"GET /health HTTP/1.1\r\nHost: x\r\n"
    with serve(app_of(place)) as port:
        assert ask(port, start, *[b"X-%d: %s\r\n" % (i, b"a" * 8000) for i in range(9)]).startswith(
            b"HTTP/1.1 431 "
        )
        assert ask(port, start, b"X: ", *[b"a" * 8000] * 9).startswith(b"HTTP/1.1 431 ")
        assert ask(port) == ask(port, start) == b""  # closed after half a second
        twice = ask(
            port, (start + b"\r\n") * 2 + start
        )  # two whole requests are answered, the third never ends
        assert twice.count(b"HTTP/1.1 200 OK") == 2
        large = (
            b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10000000\r\n\r\n"
        )
        assert ask(port, large).startswith(b"HTTP/1.1 413 ")  # before anything of it was sent


def test_a_proxy_on_this_machine_is_believed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "192.0.2.77")
    app = app_of(place, address=Rate(burst=2, per_second=0.001))
    # another one, and only that
    assert serving.uvicorn_config(app).forwarded_allow_ips == "192.0.2.77"
    monkeypatch.delenv("FORWARDED_ALLOW_IPS")
    assert serving.uvicorn_config(app).forwarded_allow_ips == "127.0.0.1,::1"
    with serve(app) as port:
        end = b" HTTP/1.1\r\nHost: study.example\r\nConnection: close\r\n"
        result = ask(
            port,
            b"GET "
            + place.invite()[1].encode()
            + end
            + b"X-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.9\r\n\r\n",
        ).lower()
        assert b"; secure" in result
        assert b"strict-transport-security" in result
        assert b"\r\nserver:" not in result
        for address, codes in ((b"192.0.2.9", [b"401", b"429"]), (b"192.0.2.8", [b"401", b"401"])):
            assert [
                ask(port, b"GET /" + end + b"X-Forwarded-For: " + address + b"\r\n\r\n")[9:12]
                for _ in range(2)
            ] == codes
        upgrade = (
            b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        )
        assert ask(port, upgrade).startswith(b"HTTP/1.1 200")  # no such thing here
