"""The first test of the house: machines know no family, suite or measure by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import evenhand
from evenhand.core import catalog

SOURCE = Path(evenhand.__file__).parent
MACHINES = ("core", "stats", "engine", "report", "respondents", "publish", "gate", "view", "cli")
NAMES = frozenset(name for s in ("families", "measures", "suites") for name in catalog.entries(s))


def _docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            yield first.value


def _help_texts(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "help":
            yield from ast.walk(node.value)


def named_in(path: Path) -> list[str]:
    """The names of families, suites and measures that a file has as a string constant."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    excepted = {id(node) for node in (*_docstrings(tree), *_help_texts(tree))}
    return [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.value!r}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in NAMES and id(node) not in excepted
    ]


def test_the_catalog_has_names_to_look_for() -> None:
    assert len(NAMES) > 40 and "nli_coal" in NAMES


@pytest.mark.parametrize("room", MACHINES)
def test_a_machine_names_no_family_suite_or_measure(room: str) -> None:
    files = sorted((SOURCE / room).rglob("*.py"))
    assert files
    assert [name for path in files for name in named_in(path)] == []


def test_a_name_in_a_machine_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("test_house_names.SOURCE", tmp_path)
    path = tmp_path / "bad.py"
    path.write_text('"""nli_coal"""\nX = {"nli_coal": 1}\nf(help="nli_coal")\n', encoding="utf-8")
    assert named_in(path) == ["bad.py:2 'nli_coal'"]
