"""The server comes and goes as a service manager expects, and leaves a database to be copied."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")

import httpx
from study_site import open_place

SERVE = [sys.executable, "-m", "evenhand", "annotate", "serve"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_server_closes_its_store(tmp_path: Path, stop: signal.Signals) -> None:
    place = open_place(tmp_path)
    _, link = place.invite()
    place.store.close()
    port = free_port()
    server = subprocess.Popen(
        [*SERVE, str(tmp_path / "small.toml"), "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        assert (
            server.stderr.readline()
            == f"serving http://127.0.0.1:{port} (owner: http://127.0.0.1:{port}/owner); "
            "stop with Ctrl-C\n"
        )
        deadline = time.monotonic() + 60
        while True:  # it listens; it may not yet answer
            try:
                page = httpx.get(f"http://127.0.0.1:{port}{link}", follow_redirects=True)
                break
            except httpx.TransportError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        assert page.url.path == "/consent"
        server.send_signal(stop)
        server.wait(timeout=60)
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()
    assert [file.name for file in tmp_path.glob("small.db*")] == [
        "small.db"
    ]  # no write-ahead log is left: the file alone is the whole study


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    open_place(tmp_path).store.close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*SERVE, str(tmp_path / "small.toml"), "--port", str(port)],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert (
        f"error: cannot listen on 127.0.0.1 port {port}: Address already in use; choose another"
        in done.stderr
    )
