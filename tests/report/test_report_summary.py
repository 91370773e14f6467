"""The summary on a terminal: at most twenty lines, whatever the width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from evenhand import Settings, audit, load_suite
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.audit_document import audit_document
from evenhand.report.summary import LINES, print_summary
from evenhand.report.terminal import print_document


@pytest.mark.parametrize("suite", ["occupation-nli", "gendered-entailment", "contextualised"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_at_most_twenty_lines(suite: str, width: int) -> None:
    opening = RespondentOptions(seed=1)
    settings = Settings(resamples=100)
    run = audit("fixed:random", load_suite(suite, limit=40), opening=opening, settings=settings)
    document = audit_document(run)
    short, whole = (io.StringIO(), io.StringIO())
    print_summary(document, Console(file=short, width=width))
    print_document(document, Console(file=whole, width=width))
    lines = short.getvalue().splitlines()
    assert len(lines) < LINES  # one more names the report
    assert len(whole.getvalue().splitlines()) > 2 * LINES
    assert lines[0].startswith("fixed:random@1")
    assert any(line.startswith("More: --verbose") for line in lines)
    assert "signature" not in short.getvalue() and "measure:" not in short.getvalue()
