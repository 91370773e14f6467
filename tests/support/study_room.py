"""A served study in tests: a small study file, a real server process, the right answers."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.suite import Suite
from evenhand.people.plan import TYPE1, gold_genders
from evenhand.people.questions import ACCURACY
from evenhand.study.serving import open_store, secret_of
from evenhand.study.store import Store
from evenhand.study.study import Study, open_study
from evenhand.study.tables import Asked
from evenhand.study.tokens import Tokens

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
ITEMS = (
    "id,zh,en,ja\n"
    "1,我喜欢安静的早晨。,I like quiet mornings.,静かな朝が好きだ。\n"
    "2,我常常改变主意。,I often change my mind.,よく気が変わる。\n"
)
FILE = """
name = "small"
languages = [{languages}]
suite = "contextualised"
suite_language = "{sentences}"
trial = 6
batch = 8
batches = 1
accuracy_controls = 0.2
consistency_controls = 0.15
apart = 1
least_consistency = 0.6
[pay]
zh = "完成后付 100 元。"
en = "100 yuan when it is done."
ja = "終わりましたら100元をお支払いします。"
[[inventory]]
name = "mornings"
file = "items.csv"
low = 0
high = 5
"""


def write_study(
    folder: Path, *, languages: tuple[str, ...] = ("en", "zh", "ja"), sentences: str = "en"
) -> Path:
    """A study of a trial of 6 and a batch of 8 questions."""
    (folder / "items.csv").write_text(ITEMS, encoding="utf-8")
    path = folder / "small.toml"
    path.write_text(
        FILE.format(languages=", ".join(f'"{code}"' for code in languages), sentences=sentences),
        encoding="utf-8",
    )
    return path


@dataclass
class Room:
    """A study that is being served."""

    path: Path
    study: Study
    suite: Suite
    store: Store
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where the pages are."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        command = [
            sys.executable,
            "-m",
            "evenhand",
            "annotate",
            "serve",
            str(self.path),
            "--port",
            str(self.port),
        ]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "EVENHAND_OFFLINE": "1"},
        )
        end = time.monotonic() + 240  # on a busy machine
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"{self.address}/health", timeout=2):
                    return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        raise AssertionError(
            f"the server did not come up on port {self.port} (exit code {self.process.poll()})"
        )

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stop it, gently or with kill -9; the exit code."""
        assert self.process is not None
        self.process.send_signal(how)
        code = self.process.wait(timeout=30)
        self.process = None
        return code

    def invite(self) -> tuple[str, str]:
        """A new annotator and the link."""
        person = self.store.add_annotator()
        token = Tokens(secret_of(self.study)).invite(self.store.invite(person, 30))
        return person, f"{self.address}/i/{token}"

    def right_answer(self, asked: Asked) -> dict[str, Any]:
        """What somebody who reads answers: places of the words, or a probability."""
        question, gold = asked.question, gold_genders(self.suite)
        wanted = gold.get(question.probe, "")
        if question.type == TYPE1:
            places = {option.key: place for place, option in enumerate(question.options, start=1)}
            first, second = (wanted, "neutral") if wanted else ("male", "female")
            return {"first": places[first], "second": places[second], "equal": not wanted}
        return {"value": 3 if question.role != ACCURACY else 5 if question.gender == wanted else 1}

    def wrong_answer(self, asked: Asked) -> dict[str, Any]:
        """What fails an accuracy question."""
        right = self.right_answer(asked)
        if "value" in right:
            return {"value": 6 - right["value"]}
        other = next(place for place in (1, 2, 3) if place not in (right["first"], right["second"]))
        return {"first": other, "second": right["second"], "equal": False}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def open_room(folder: Path, **settings: Any) -> Iterator[Room]:
    """A served study; server and store are closed afterwards."""
    path = write_study(folder, **settings)
    study, suite = open_study(path)
    with open_store(study, suite) as store:
        room = Room(path, study, suite, store, free_port())
        room.start()
        try:
            yield room
        finally:
            if room.process is not None:
                room.stop(signal.SIGKILL)
