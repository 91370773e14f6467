"""The marked word of Type 2, and reasons in the annotators' own words."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from study_site import Place, answer, hidden, open_place, page_text, place, send  # noqa: F401

from evenhand.study.pages import LONGEST_REASON, read_reason
from evenhand.study.serving import open_store
from evenhand.study.study import open_study

# ruff: noqa: F811  (fixtures are arguments)


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Place]:
    """A study that asks for reasons."""
    path = tmp_path / "small.toml"
    open_place(tmp_path).store.close()
    text = path.read_text("utf-8").replace('name = "small"', 'name = "small"\nreasons = true')
    path.write_text(text, "utf-8")
    study, suite = open_study(path)
    result = Place(study, suite, open_store(study, suite))
    yield result
    result.store.close()


def test_the_swapped_word_is_marked_and_its_context_asked_about(place: Place) -> None:
    name, client, page = place.person()
    seen = 0
    while (asked := place.store.next_question(name)) is not None:
        question = asked.question
        marked = [html.unescape(m) for m in re.findall(r"<mark>(.*?)</mark>", page.text)]
        if question.type == "type2":
            seen += 1
            probe = next(p for p in place.suite.probes if p.id == question.probe)
            assert marked == [probe.texts[1 + ("male", "female").index(question.gender)]]
            assert "How likely is the marked word in this context?" in page_text(page)
            assert question.shown in re.sub("<[^>]*>", "", html.unescape(page.text))
        else:
            assert marked == []
        page = answer(client, page)
    assert seen > 0  # how many is drawn anew for each person


def test_a_reason_is_kept_with_its_answer_and_may_be_left_out(asking: Place) -> None:
    _, client, page = asking.person()
    assert f'maxlength="{LONGEST_REASON}"' in page.text
    given = {"first": 1, "second": 2} if 'data-type="type1"' in page.text else {"value": 4}
    page = answer(client, page, **given, reason=" <b>she</b> sews\r\nwell ")
    previous = client.get("/previous")
    assert "&lt;b&gt;she&lt;/b&gt; sews\nwell</textarea>" in previous.text
    answer(client, page)
    first, second = asking.store.answers_table()["reason"].to_list()
    assert (first, second) == ("<b>she</b> sews\nwell", "")
    table = asking.store.answers_table()
    assert all("reason" not in payload for payload in table["payload"].to_list())


def test_a_reason_survives_a_mistake(asking: Place) -> None:
    _, client, page = asking.person()
    again = send(client, page, "/question", shown=hidden(page, "shown"), reason="because")
    assert again.status_code == 422
    assert "because</textarea>" in again.text
    assert asking.store.answers_table().is_empty()


def test_no_reason_is_taken_where_none_is_asked_for(place: Place) -> None:
    _, client, page = place.person()
    assert "<textarea" not in page.text
    given = {"first": 1, "second": 2} if 'data-type="type1"' in page.text else {"value": 4}
    assert answer(client, page, **given, reason="because").status_code == 422
    assert place.store.answers_table().is_empty()


def test_a_reason_is_cut_and_cleaned() -> None:
    assert read_reason("  a\0b\r\nc ") == "ab\nc"
    assert len(read_reason("字" * 5000)) == LONGEST_REASON
