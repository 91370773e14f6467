"""`--no-script`: a page without a script, from audit and compare."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import QUICK, evenhand

AUDIT = ("audit", "fixed:random", "--suite", "occupation-nli")
COMPARE = ("compare", "fixed:random", "fixed:constant", "--permutations", "100")


@pytest.mark.parametrize(("words", "page"), [(AUDIT, "report"), (COMPARE, "comparison")])
def test_a_page_has_its_explorer_unless_told_otherwise(
    tmp_path: Path, words: tuple[str, ...], page: str
) -> None:
    for name, more in (("with", ()), ("without", ("--no-script",))):
        outcome = evenhand(*words, *QUICK, "--out", tmp_path / name, *more)
        assert outcome.code == 0, outcome.err
    with_it, without = (
        (tmp_path / name / f"{page}.html").read_text(encoding="utf-8")
        for name in ("with", "without")
    )
    assert "<script" in with_it and 'id="probe-data"' in with_it
    assert "<script" not in without and 'id="probes"' not in without
    for form in ("md", "tex"):
        one, other = (tmp_path / name / f"{page}.{form}" for name in ("with", "without"))
        assert "probe-data" not in one.read_text(encoding="utf-8") and other.exists()
