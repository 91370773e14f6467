"""There is one order of the genders: `core.probe.GENDERS`."""

from __future__ import annotations

import ast
from pathlib import Path

import evenhand
from evenhand.core.probe import GENDERS

ROOT = Path(evenhand.__file__).parent


def constants(path: Path) -> list[tuple[str, tuple[object, ...]]]:
    """The module's names for a sequence of just the two genders, and anything called GENDERS."""
    found: list[tuple[str, tuple[object, ...]]] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        parts = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else []
        words = tuple(part.value for part in parts if isinstance(part, ast.Constant))
        name = ast.unparse(target)
        if set(words) == set(GENDERS) or name.strip("_") == "GENDERS":
            found.append((name, words))
    return found


def test_no_module_has_another_order_or_another_constant_of_that_name() -> None:
    found = [
        (str(path.relative_to(ROOT)), name, words)
        for path in ROOT.rglob("*.py")
        for name, words in constants(path)
    ]
    assert [path for path, name, _ in found if name.strip("_") == "GENDERS"] == ["core/probe.py"]
    assert {words for _, _, words in found} == {GENDERS} == {("male", "female")}
