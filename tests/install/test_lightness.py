"""Is the program light to start? What is heavy is imported when it is used, not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

import evenhand
from evenhand import __version__

HEAVY = (
    "torch",
    "transformers",
    "polars",
    "vl_convert",
    "onnxruntime",
    "tokenizers",
    "numpy",
    "scipy",
    "httpx",
    "jinja2",
    "ray",
)
SECONDS = 0.5


def imported(code: str, *words: str) -> set[str]:
    """The top-level packages that a fresh Python imports for `code`."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-500:]
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rsplit("|", 1)[1].strip().partition(".")[0] for line in lines}


def test_the_import_is_light() -> None:
    found = imported("import evenhand")
    assert "evenhand" in found
    assert not found & {*HEAVY, "rich", "typer"}


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("audit", "--help")])
def test_help_is_light(words: tuple[str, ...]) -> None:
    found = imported("from evenhand.cli.main import run; run()", *words)
    assert "typer" in found
    assert not found & set(HEAVY)


def test_a_default_audit_needs_no_torch() -> None:
    code = (
        "import evenhand; suite = evenhand.load_suite('occupation-nli', limit=30); "
        "settings = evenhand.Settings(resamples=100); "
        "print(evenhand.audit('fixed:fair', suite, settings=settings).headline.value)"
    )
    found = imported(code)
    assert "numpy" in found
    assert not found & {"torch", "transformers", "vl_convert", "ray"}


def test_the_measures_are_there_as_functions_without_the_rest() -> None:
    code = (
        "from evenhand.measures import nli_coal; "
        "rows = [[1, 0, 0], [0, 0, 1], [0, 1, 0]]; "
        "assert nli_coal(rows, ['PS', 'AS', 'NS']) == 2 / 3"
    )
    assert not imported(code) & {"torch", "transformers", "polars", "vl_convert", "onnxruntime"}


def test_public_names_are_there_and_come_when_used() -> None:
    names = {n: getattr(evenhand, n).__name__ for n in evenhand.__all__ if n != "__version__"}
    assert names == {
        "Settings": "Settings",
        "audit": "audit",
        "audit_all": "audit_all",
        "compare": "compare",
        "compare_people": "compare_people",
        "function": "function",
        "load_suite": "load_suite",
        "measures": "evenhand.measures",
        "read": "read_run",
    }
    assert dir(evenhand) == sorted(evenhand.__all__)
    with pytest.raises(AttributeError, match="module 'evenhand' has no attribute 'metrics'"):
        _ = evenhand.metrics
    found = imported(
        "from evenhand import compare_people; assert compare_people.__name__ == 'compare_people'"
    )
    assert not found & {
        "torch",
        "transformers",
        "vl_convert",
        "ray",
        "jinja2",
        "sqlalchemy",
        "starlette",
    }  # a study's database is an extra


def seconds(*words: str) -> float:
    """The processor time of `evenhand WORDS`, which a busy machine does not lengthen as it does the
    time on the clock.
    """
    resource = pytest.importorskip("resource", reason="POSIX only")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "evenhand", *words], check=True, capture_output=True, timeout=60
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def test_help_takes_less_than_half_a_second_of_processor_time() -> None:
    assert min(seconds("--help") for _ in range(5)) < SECONDS


def test_python_m_evenhand_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == f"evenhand {__version__}\n"


@pytest.mark.parametrize(
    "words", [("list", "measures"), ("list", "measures", "--json"), ("--version",)]
)
def test_the_end_of_a_pipe_is_no_error(words: tuple[str, ...]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "evenhand", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    told = process.stderr.read()
    assert process.wait(timeout=60) == 0
    assert told == b""
