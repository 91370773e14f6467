"""A study under load: 200 simulated annotators, 20,000 answers, the server killed in the middle.

The server is a process of its own, the annotators are this one. Each reads a question, thinks,
sends the form and waits for the next question, as a browser does (POST, redirect, GET). The server
is killed (kill -9) and started again; what fails while it is down is sent again, the same form with
the same key. At the end the store is held against what was acknowledged: nothing lost, nothing
stored twice.

    python benchmarks/study_load.py                       # 200 annotators, 20,000 answers
    python benchmarks/study_load.py --annotators 20 --answers 200 --think 0.05 --json
"""

from __future__ import annotations

import argparse
import asyncio
import html
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from evenhand.people.questions import plan_questions
from evenhand.study.serving import open_store, secret_of
from evenhand.study.steps import READY
from evenhand.study.study import open_study
from evenhand.study.tokens import Tokens

STUDY = """
name = "load"
languages = ["en"]
suite = "contextualised"
suite_language = "en"
trial = 0
batch = {size}
batches = 1
{store}"""
SERVER = """
import sys
from pathlib import Path
from evenhand.study.serving import serve
serve(Path(sys.argv[1]), port=int(sys.argv[2]))
"""
FIELD = re.compile(r'name="(csrf|shown)" value="([^"]*)"')


@dataclass
class Record:
    """What the annotators saw."""

    answers: list[float] = field(
        default_factory=list
    )  # seconds from sending an answer to having the next question
    posts: list[float] = field(default_factory=list)
    gets: list[float] = field(default_factory=list)
    acknowledged: dict[str, int] = field(
        default_factory=dict
    )  # annotator -> answers that the server said it had stored
    retries: int = 0
    refused: int = 0


class Server:
    """The study's server as a process."""

    def __init__(self, study: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._study = study
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", SERVER, str(self._study), str(self.port)],
            env={**os.environ, "EVENHAND_OFFLINE": "1"},
        )

    def kill(self) -> None:
        """kill -9, and start again."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = self._start()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: list[tuple[str, str]]
    text: str


class Line:
    """One kept connection, as little as HTTP needs.

    A full client library takes more processor time than the server that it measures.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, cookies: str, body: bytes) -> Answer:
        if self._ends is None:
            self._ends = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._ends
        kind = (
            f"content-type: application/x-www-form-urlencoded\r\ncontent-length: {len(body)}\r\n"
            if method == "POST"
            else ""
        )
        try:
            first = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            writer.write(f"{first}cookie: {cookies}\r\n{kind}\r\n".encode() + body)
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = [
                (name.lower(), value)
                for name, _, value in (line.partition(": ") for line in head[1:] if line)
            ]
            text = await reader.readexactly(int(dict(headers).get("content-length", 0)))
        except (OSError, EOFError):
            self.close()
            raise
        return Answer(int(head[0].split()[1]), headers, text.decode())

    def close(self) -> None:
        if self._ends is not None:
            self._ends[1].close()
            self._ends = None


class Person:
    """One simulated annotator."""

    def __init__(self, name: str, link: str, line: Line, record: Record, think: float) -> None:
        self.name, self.link, self.line, self.record, self.think = name, link, line, record, think
        self.rng = random.Random(name)
        self.cookies: dict[str, str] = {}
        self.retries = 0

    async def send(
        self,
        method: str,
        path: str,
        times: list[float] | None = None,
        data: dict[str, str] | None = None,
    ) -> Answer:
        """A request, again and again until the server is there."""
        while True:
            begun = time.perf_counter()
            try:
                cookies = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
                answer = await self.line.ask(method, path, cookies, urlencode(data or {}).encode())
            except (OSError, EOFError):
                self.record.retries += 1
                self.retries += 1
                await asyncio.sleep(0.2 + 0.3 * self.rng.random())
                continue
            if answer.status == 429:
                self.record.refused += 1
                await asyncio.sleep(float(dict(answer.headers)["retry-after"]))
                continue
            if times is not None:
                times.append(time.perf_counter() - begun)
            for name, part in answer.headers:
                if name == "set-cookie":
                    key, _, value = part.partition(";")[0].partition("=")
                    self.cookies[key] = value
            return answer

    async def live(self) -> None:
        """Answer everything."""
        await asyncio.sleep(self.think * self.rng.random())
        await self.send("GET", self.link)
        page = await self.send("GET", "/question")
        while "data-type" in page.text:
            await asyncio.sleep(self.think * (0.5 + self.rng.random()))
            form = {name: html.unescape(value) for name, value in FIELD.findall(page.text)}
            is_ranking = 'data-type="type1"' in page.text
            first, second = self.rng.sample("123", 2)
            form |= (
                {"first": first, "second": second}
                if is_ranking
                else {"value": self.rng.choice("12345")}
            )
            begun, before = time.perf_counter(), self.retries
            answer = await self.send("POST", "/question", self.record.posts, form)
            if answer.status != 303:
                raise SystemExit(f"an answer was refused: {answer.status} {answer.text[:2000]}")
            self.record.acknowledged[self.name] = self.record.acknowledged.get(self.name, 0) + 1
            page = await self.send("GET", "/question", self.record.gets)
            if self.retries == before:  # the time without a server says nothing about the server
                self.record.answers.append(time.perf_counter() - begun)


async def _live(
    people: list[tuple[str, str]],
    server: Server,
    record: Record,
    think: float,
    total: int,
    is_killed: bool,
) -> float:
    lines = [Line(server.port) for _ in people]
    begun = time.perf_counter()
    work = asyncio.gather(
        *(
            Person(name, link, line, record, think).live()
            for (name, link), line in zip(people, lines, strict=True)
        )
    )
    while is_killed and not work.done() and sum(record.acknowledged.values()) < total // 2:
        await asyncio.sleep(0.02)
    if is_killed:
        server.kill()
    await work
    for line in lines:
        line.close()
    return time.perf_counter() - begun


def _child_seconds() -> float:
    """Processor time of all servers so far, their start included.

    A busy machine does not lengthen it as it does the time on the clock.
    """
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def percentile(times: list[float], share: float) -> float:
    """In milliseconds."""
    return 1000 * sorted(times)[min(len(times) - 1, int(share * len(times)))]


def load(
    folder: Path, annotators: int, answers: int, think: float, store_url: str, is_killed: bool
) -> dict[str, Any]:
    """The whole run and what the store says afterwards."""
    path, size = folder / "load.toml", answers // annotators
    path.write_text(
        STUDY.format(size=size, store=f'store = "{store_url}"\n' if store_url else ""),
        encoding="utf-8",
    )
    study, suite = open_study(path)
    record, people = Record(), []
    with open_store(study, suite) as store:
        tokens = Tokens(secret_of(study))
        for _ in range(annotators):
            person = store.add_annotator()
            store.set_state(person, READY)
            store.begin_part(
                person, "batch-1", 1, plan_questions(study, suite, person, "batch-1", 1)
            )
            people.append((person, f"/i/{tokens.invite(store.invite(person, 1))}"))
        size = store.parts(people[0][0])[0].size
        server = Server(path)
        try:
            seconds = asyncio.run(
                _live(people, server, record, think, annotators * size, is_killed)
            )
        finally:
            server.stop()
        table = store.answers_table()
    stored = {name: 0 for name, _ in people} | dict(table.group_by("annotator").len().iter_rows())
    return {
        "annotators": annotators,
        "answers": table.height,
        "expected": annotators * size,
        "questions": table.select("annotator", "question").n_unique(),
        "acknowledged": sum(record.acknowledged.values()),
        "lost": sum(max(0, record.acknowledged.get(n, 0) - stored[n]) for n in stored),
        "doubled": table.height - table.select("annotator", "question").n_unique(),
        "retries": record.retries,
        "refused": record.refused,
        "server_cpu_ms_an_answer": round(1000 * _child_seconds() / max(1, table.height), 2),
        "seconds": round(seconds, 1),
        "answers_a_second": round(table.height / seconds, 1),
        **{
            f"{what}_p{round(100 * share)}_ms": round(percentile(times, share), 1)
            for what, times in (
                ("answer", record.answers),
                ("post", record.posts),
                ("get", record.gets),
            )
            for share in (0.5, 0.99)
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument(
        "--think", type=float, default=1.0, help="mean seconds between a question and its answer"
    )
    parser.add_argument(
        "--store",
        default="",
        help="SQLAlchemy URL of an empty database [default: SQLite in a scratch folder]",
    )
    parser.add_argument("--no-kill", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evenhand-load-") as folder:
        result = load(
            Path(folder),
            arguments.annotators,
            arguments.answers,
            arguments.think,
            arguments.store,
            not arguments.no_kill,
        )
    print(
        json.dumps(result)
        if arguments.json
        else "\n".join(f"{name:>18}: {value}" for name, value in result.items())
    )
    sys.exit(
        0
        if result["lost"] == result["doubled"] == 0 and result["answers"] == result["expected"]
        else 1
    )


if __name__ == "__main__":
    main()
