"""The server of a folder of runs, attacked: it reads that folder and does nothing else."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.core.errors import EvenhandError, InputError
from evenhand.view.server import ViewServer, is_loopback, open_server

SECRET = "not for you"
PAGE = "<!doctype html><title>a report</title>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewServer]:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text(SECRET, encoding="utf-8")
    root = outside / "runs"
    run = root / "my run"
    run.mkdir(parents=True)
    (run / "report.html").write_text(PAGE, encoding="utf-8")
    (run / "answers.parquet").write_bytes(b"PAR1")
    (run / ".draft.html").write_text(SECRET, encoding="utf-8")
    (root / ".m.asking.json").write_text("{}", encoding="utf-8")
    (run / "link.txt").symlink_to(outside / "secret.txt")
    (root / "away").symlink_to(outside, target_is_directory=True)
    (root / "inner").symlink_to(run, target_is_directory=True)
    (root / "no page").mkdir()
    (root / "no page" / "other.html").symlink_to(outside / "secret.txt")
    os.mkfifo(run / "pipe.txt")
    with open_server(root, port=0) as result:
        threading.Thread(target=result.serve_forever, daemon=True).start()
        yield result
        result.shutdown()


def ask(
    server: ViewServer, path: str, method: str = "GET", host: str | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body, of a path that is sent as it is."""
    client = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    client.putrequest(method, path, skip_host=host is not None)
    if host is not None:
        client.putheader("Host", host)
    client.endheaders()
    answer = client.getresponse()
    body = answer.read()
    client.close()
    return answer.status, dict(answer.getheaders()), body


def test_the_index_links_to_the_reports(server: ViewServer) -> None:
    status, headers, body = ask(server, "/")
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    assert b'<a href="/my%20run/report.html">' in body
    assert "connect-src 'self'" in headers["Content-Security-Policy"]
    assert SECRET.encode() not in body
    assert ask(server, "/?x=1")[0] == 200


def test_a_report_is_served_without_any_rights(server: ViewServer) -> None:
    status, headers, body = ask(server, "/my%20run/report.html")
    assert (status, body.decode()) == (200, PAGE)
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and policy.endswith("sandbox allow-scripts")
    assert "connect-src" not in policy and "allow-same-origin" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    status, headers, body = ask(server, "/my%20run/")
    assert (status, headers["Location"]) == (302, "/my%20run/report.html")
    status, headers, body = ask(server, "/my%20run/answers.parquet")
    assert (status, body) == (200, b"PAR1")
    assert headers["Content-Type"] == "application/octet-stream"


def test_head_has_the_headers_alone(server: ViewServer) -> None:
    for path in ("/", "/my%20run/report.html"):
        status, headers, body = ask(server, path, "HEAD")
        assert status == 200 and body == b"" and int(headers["Content-Length"]) > 10


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/my%20run/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e%2fsecret.txt",
        "/..%5csecret.txt",
        "/my%20run/..%2f..%2fsecret.txt",
        "//secret.txt",
        "/./../secret.txt",
        "/my%20run/link.txt",  # a link out of the folder
        "/away/secret.txt",
        "/away",
        "/no%20page",  # its only page is a link out
        "/no%20page/other.html",
        "/my%20run/.draft.html",  # hidden
        "/.m.asking.json",
        "/my%20run/pipe.txt",  # would never end
        "/my%20run/report.html%00.txt",
        "/%ff%fe",
        "/my%20run/report.html/x",
        "/" + "a" * 5000,
        "/" + "a/" * 3000,
        "/missing",
        "/etc/passwd",
        "*",
        "http://elsewhere/secret.txt",
    ],
)
def test_nothing_else_is_served(server: ViewServer, path: str) -> None:
    status, _, body = ask(server, path)
    assert status in {404, 421}
    assert SECRET.encode() not in body and b"root:" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(server: ViewServer, method: str) -> None:
    status, headers, _ = ask(server, "/my%20run/report.html", method)
    assert status == 405 and headers["Allow"] == "GET, HEAD"
    assert (server.folder.root / "my run" / "report.html").read_text(encoding="utf-8") == PAGE


def test_a_name_of_a_stranger_is_refused(server: ViewServer) -> None:
    port = server.server_port
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "[bad"):
        assert ask(server, "/", host=host)[0] == 421, host
    for host in ("localhost", f"localhost:{port}", "127.0.0.1", f"[::1]:{port}"):
        assert ask(server, "/", host=host)[0] == 200, host


def test_what_is_not_http_does_not_end_it(server: ViewServer) -> None:
    for raw in (b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01"):
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as client:
            client.sendall(raw)
    assert ask(server, "/")[0] == 200


def test_a_link_within_the_folder_is_followed(server: ViewServer) -> None:
    assert ask(server, "/inner/report.html")[0] == 200


def test_only_this_machine_is_the_default(tmp_path: Path) -> None:
    with open_server(tmp_path, port=0) as server:
        assert server.server_address[0] == "127.0.0.1" and server.server_port > 0
        assert server.address == f"http://127.0.0.1:{server.server_port}/"
        with pytest.raises(EvenhandError, match="choose another --port or --host"):
            open_server(tmp_path, port=server.server_port)
    assert is_loopback("::1") and is_loopback("localhost")
    assert not is_loopback("0.0.0.0") and not is_loopback("example.org")


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        open_server(tmp_path / "runs", port=0)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is not a folder"):
        open_server(tmp_path / "file", port=0)


def test_the_command_says_where_it_is_and_ends_cleanly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evenhand", "view", str(tmp_path), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[1]
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert b"Nothing here yet." in answer.read()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert (out, errors) == ("", "stopped\n")
