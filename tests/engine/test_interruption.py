"""Being stopped in the middle costs at most one chunk, and not one digit of the result."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from models import write_model

from evenhand.engine.ask import CHUNK

SCRIPT = Path(__file__).parent.parent / "support" / "slow_audit.py"
LIMIT = 4 * CHUNK + 88
SUITE = [CHUNK] * 4 + [88]
ORDINARY = [CHUNK, 156 - CHUNK, CHUNK, 174 - CHUNK]  # plain pairs, then hard ones

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


class Session:
    """A folder with a model, in which audits are started and stopped."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = write_model(folder / "tiny")

    def start(self, name: str, cache: str, hang_at: int = 0, *words: str) -> subprocess.Popen[str]:
        """An audit that writes its report to the folder `name`."""
        env = {
            **os.environ,
            "EVENHAND_CACHE": str(self.folder / cache),
            "ASKED": str(self.folder / f"{name}.log"),
            "HANG_AT": str(hang_at),
        }
        command = [
            sys.executable,
            str(SCRIPT),
            "audit",
            str(self.model),
            "--suite",
            "occupation-nli",
            "--limit",
            str(LIMIT),
            "--resamples",
            "100",
        ]
        return subprocess.Popen(
            [*command, "--out", str(self.folder / name), *words],
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def asked(self, name: str) -> list[int]:
        """How many probes each chunk had."""
        log = self.folder / f"{name}.log"
        return (
            [int(line) for line in log.read_text(encoding="utf-8").splitlines()]
            if log.exists()
            else []
        )

    def stop(
        self, name: str, process: subprocess.Popen[str], at: int, how: signal.Signals
    ) -> tuple[int, str]:
        """Wait until the audit hangs in chunk `at`, send a signal; exit code and standard error."""
        deadline = time.monotonic() + 60
        while len(self.asked(name)) < at:
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.02)
        # a signal that falls into a destructor is lost, to a user's key as well: press again
        for _ in range(6):
            process.send_signal(how)
            try:
                return process.wait(timeout=10), process.communicate()[1]
            except subprocess.TimeoutExpired:
                continue
        raise AssertionError("the audit does not stop")

    def finish(self, name: str, cache: str) -> bytes:
        """Run to the end; results.json without its times."""
        process = self.start(name, cache)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        raw = (self.folder / name / "results.json").read_bytes()
        cut, count = re.subn(rb'"timing": \{[^}]*\}', b"", raw)
        assert count == 1
        return cut


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_audit_goes_on_where_it_was_stopped_and_ends_as_if_it_never_was(
    tmp_path: Path, how: signal.Signals
) -> None:
    session = Session(tmp_path)
    code, err = session.stop("first", session.start("first", "cache", hang_at=3), 3, how)
    if how == signal.SIGKILL:
        assert code == -signal.SIGKILL
    else:
        assert code == 130
        assert (
            err.strip() == "stopped: what was answered is kept; the same command goes on from there"
        )
    assert session.asked("first") == SUITE[:3]
    assert not (tmp_path / "first").exists()

    resumed = session.finish("second", "cache")
    # the chunk that was being asked, and the rest
    assert session.asked("second") == SUITE[2:] + ORDINARY
    undisturbed = session.finish("third", "other-cache")
    assert session.asked("third") == SUITE + ORDINARY
    assert resumed == undisturbed
    assert (tmp_path / "second" / "answers.parquet").read_bytes() == (
        tmp_path / "third" / "answers.parquet"
    ).read_bytes()
    again = session.finish("fourth", "cache")
    assert session.asked("fourth") == []
    assert again == undisturbed


def test_without_a_cache_the_message_says_that_nothing_is_kept(tmp_path: Path) -> None:
    session = Session(tmp_path)
    process = session.start("first", "cache", 1, "--no-cache")
    code, err = session.stop("first", process, 1, signal.SIGINT)
    assert code == 130
    assert err.strip() == "stopped: nothing was kept (--no-cache)"
    assert not (tmp_path / "cache").exists()


def test_an_audit_of_several_suites_goes_on_in_the_suite_where_it_was_killed(
    tmp_path: Path,
) -> None:
    session = Session(tmp_path)
    both = ("--suite", "occupation-nli,gendered-entailment")
    second = len(SUITE + ORDINARY) + 2  # the second chunk of the second suite
    process = session.start("first", "cache", second, *both)
    code, _ = session.stop("first", process, second, signal.SIGKILL)
    assert code == -signal.SIGKILL
    folder = tmp_path / "first"
    assert (folder / "occupation-nli" / "results.json").is_file()
    assert not (folder / "overview.json").exists()

    process = session.start("first", "cache", 0, *both)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert session.asked("first") == SUITE + ORDINARY + SUITE[:2] + SUITE[1:]
    assert (folder / "overview.json").is_file()
    assert (folder / "gendered-entailment" / "answers.parquet").is_file()
