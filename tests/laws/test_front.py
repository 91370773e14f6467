"""Every sentence of the first screen of a report is true, in runs answered in many ways."""

from __future__ import annotations

import pytest
from claims import Place
from front_claims import check_badge, check_example, check_finding, check_front_line
from hypothesis import given, settings
from hypothesis import strategies as st
from random_runs import random_runs, rooms

from evenhand.engine.audit_document import audit_document


@pytest.mark.parametrize("name", list(rooms()))
@settings(max_examples=12)
@given(data=st.data())
def test_every_sentence_of_the_first_screen_is_true(name: str, data: st.DataObject) -> None:
    run = data.draw(random_runs(name))
    document = audit_document(run)
    front, place = document.front, Place(run, run.headline)
    assert front is not None and document.headline is not None
    check_front_line(place, front.verdict)
    if front.direction is not None:
        check_front_line(place, front.direction.text)
        assert "at chance" not in front.direction.reasons
    if front.badge is not None:
        check_badge(run, front.badge)
    if front.example is not None:
        check_example(run, front.example)
    sections = {section.name for section in document.sections}
    counts = [bool(finding.reasons) for finding in front.findings]
    assert counts == sorted(counts) and len(counts) >= 1
    for finding in front.findings:
        assert finding.section in sections
        check_finding(run, finding)
    first = next(f for f in front.findings if f.text.startswith(f"{document.headline.title} "))
    assert bool(first.reasons) == bool(document.headline.reasons)
