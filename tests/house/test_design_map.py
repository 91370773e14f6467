"""The third test of the house: what docs/design.md names is there, and every room is named in it.

A file is named as `engine/ask.py`, from src/evenhand or from the project's root; a function,
method or class as `ask()` or `AnswerCache.put()`, which must be defined in a file that the same
paragraph names, where it names one; a type as `Answers`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import evenhand
from evenhand.engine.ask import Asking, ask_suite
from evenhand.engine.opened import open_model
from evenhand.engine.suites import load_suite
from evenhand.families.nli_coal.measures import NLI_COAL

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(evenhand.__file__).parent
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
TEXT = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)  # without code blocks
PARAGRAPHS = [p for block in TEXT.split("\n\n") for p in re.split(r"\n(?=\||- |\d\. )", block)]
MARKED = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w/]+\.py")
CALLED = re.compile(r"(?:(\w+)\.)?(\w+)\(\)")
TYPE = re.compile(r"[A-Z][a-z]+\w*")
OF_EVERY_FAMILY = {"__init__.py", "suite.py", "measures.py", "account.py", "published.py"}


def located(name: str) -> Path | None:
    """The file or folder that the page means."""
    places = (SOURCE / name, ROOT / name)
    return next((place for place in places if place.exists()), None)


@cache
def defined(path: Path) -> frozenset[str]:
    """The functions, classes and methods of a file: `ask`, `AnswerCache`, `AnswerCache.put`."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{n.name}" for n in node.body if isinstance(n, ast.FunctionDef)}
    return frozenset(names)


@cache
def defined_anywhere() -> frozenset[str]:
    return frozenset(name for path in SOURCE.rglob("*.py") for name in defined(path))


def missing(paragraph: str) -> Iterator[str]:
    """What a paragraph names that is not there."""
    marked = MARKED.findall(paragraph)
    files = [name for name in marked if FILE.fullmatch(name) and name not in OF_EVERY_FAMILY]
    yield from (name for name in files if located(name) is None)
    yield from (name for name in marked if re.fullmatch(r"[\w/]+/", name) and located(name) is None)
    paths = [path for name in files if (path := located(name)) is not None]
    here = frozenset(name for path in paths for name in defined(path)) or defined_anywhere()
    for name in marked:
        if (call := CALLED.fullmatch(name)) and name.removesuffix("()") not in here:
            yield f"{call[0]} in {' or '.join(files) or 'any file'}"
        if TYPE.fullmatch(name) and name not in defined_anywhere():
            yield f"the type {name}"


@pytest.mark.parametrize("paragraph", PARAGRAPHS)
def test_what_the_page_names_exists(paragraph: str) -> None:
    assert list(missing(paragraph)) == []


def test_the_page_names_enough_to_be_checked() -> None:
    marked = MARKED.findall(TEXT)
    assert sum(FILE.fullmatch(name) is not None for name in marked) > 60
    assert sum(CALLED.fullmatch(name) is not None for name in marked) > 50


@pytest.mark.parametrize(
    "paragraph",
    [
        "`engine/asking.py`",
        "`engine/nothing/`",
        "`engine/ask.py` `audit()`",
        "`engine/cache.py` `AnswerCache.ask()`",
        "`no_such_function()`",
        "`NoSuchType`",
    ],
)
def test_what_does_not_exist_would_be_seen(paragraph: str) -> None:
    assert len(list(missing(paragraph))) == 1


def test_every_room_and_every_family_has_a_line() -> None:
    folders = [p.parent for p in SOURCE.glob("*/__init__.py")]
    folders += [p.parent for p in SOURCE.glob("families/*/__init__.py")]
    rooms = {f"`{folder.relative_to(SOURCE).as_posix()}/`" for folder in folders}
    assert {room for room in rooms if f"\n| {room} |" not in PAGE} == set()


def test_the_way_of_one_probe_has_the_values_of_the_program() -> None:
    suite = load_suite("occupation-nli")
    assert f"one of {len(suite.probes):,} probes" in PAGE and f"`{suite.reference}`" in PAGE
    rows = [
        row
        for row, p in enumerate(suite.probes)
        if p.cluster == "soldier" and p.stratum in NLI_COAL.strata
    ]
    respondent = open_model("default", suite)
    assert f"`{respondent.identity}`" in PAGE
    few = type(suite)(card=suite.card, probes=tuple(suite.probes[row] for row in rows))
    answers = ask_suite(respondent, few, Asking(cache=False))
    row = [p.id for p in few.probes].index("en/soldier/f24/female")
    assert all(text in PAGE for text in few.probes[row].texts)
    logits = zip(answers.labels, answers.values[row, 0], strict=True)
    assert "   ".join(f"{label} {value:.3f}" for label, value in logits) in PAGE
    evidence = NLI_COAL.evidence(few.probes, answers.values)
    for counts in (evidence[row], evidence.sum(axis=0)):
        strata = ("  ".join(f"{count:g}" for count in part) for part in counts.reshape(3, 3))
        assert "       ".join(strata) in PAGE
    assert f"{float(NLI_COAL.of_group(evidence.sum(axis=0))):.3f} [" in PAGE
