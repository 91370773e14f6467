"""Objective sentences judged in a real browser: a rater by keys, one by touch, and the owner."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import evenhand

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from study_room import CHROMIUM, Room, free_port
from test_study_walk import PASSWORD, PHONE, Reader

from evenhand.study.owner import hash_password
from evenhand.study.serving import open_store
from evenhand.study.study import open_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]
TEXT = """
Seven months pregnant, she could no longer bend down to tie a shoelace.
For forty years my grandfather wore a bushy beard, which tickled all of us children in summer.
The actress was so tired that she fell asleep.
"""
DESK = {"viewport": {"width": 1280, "height": 800}}
NARROW = {**PHONE, "viewport": {"width": 400, "height": 720}}


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """A served study of the three candidates in the text."""
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    path = tmp_path / "rate.toml"
    done = evenhand(
        "annotate", "objective", "new", path, "--text", tmp_path / "text.txt", "--lang", "en"
    )
    assert done.code == 0, done.err
    study, suite = open_study(path)
    with open_store(study, suite) as store:
        result = Room(path, study, suite, store, free_port())
        result.start()
        try:
            yield result
        finally:
            if result.process is not None:
                result.stop(signal.SIGKILL)


def judge(reader: Reader, said: tuple[str, ...], *, by_touch: bool) -> None:
    """Judge every candidate: the verdicts in the order of the suite."""
    ids = [probe.id for probe in reader.room.suite.probes]
    while (asked := reader.room.store.next_question(reader.name)) is not None:
        reader.look("verdict")
        keys = [option.key for option in asked.question.options]
        given = {"value": keys.index(said[ids.index(asked.question.probe)]) + 1}
        (reader.tap if by_touch else reader.press)(given)
    reader.look("finish")
    reader.click(".row button", "/result")
    reader.look("rated")


def test_two_raters_and_the_owner(browser: Browser, room: Room) -> None:
    plans = (
        (DESK, ("female", "male", "female"), False),
        (NARROW, ("female", "both", "both"), True),
    )
    for settings, said, by_touch in plans:
        name, link = room.invite()
        reader = Reader(room, browser, name, **settings)
        reader.page.goto(link)
        reader.look("rating-consent")
        reader.page.check("input[name=agree]")
        reader.click("form button", "/start")
        reader.look("rating-start")
        reader.click("form button", "/question")
        if not by_touch:
            reader.page.keyboard.press("Enter")  # nothing is chosen: nothing is sent
            status = reader.page.locator(".status")
            assert status.inner_text() == "Please choose one of the four."
            reader.page.keyboard.press("3")
            assert status.inner_text() == "Chosen: 3, both would do."
            reader.page.keyboard.press("Backspace")
        judge(reader, said, by_touch=by_touch)
        assert reader.faults == []

    room.store.set_owner("lab", hash_password(PASSWORD))
    for settings, left in ((DESK, 1), (NARROW, 0)):
        owner = Reader(room, browser, "", **settings)
        owner.page.goto(f"{room.address}/owner/login")
        owner.page.fill("input[name=name]", "lab")
        owner.page.fill("input[name=password]", PASSWORD)
        owner.click("form.sheet button", "/owner")
        owner.look("rating-owner", is_long=True)
        with owner.page.expect_navigation():
            owner.page.locator(".disputes button[value=male]").first.click()
        assert f"Disagreements to resolve: {left}" in owner.page.inner_text("main")
        room.stop(signal.SIGKILL)  # without warning: the decision is on disk
        room.start()
        owner.page.reload()
        assert f"Disagreements to resolve: {left}" in owner.page.inner_text("main")
        owner.page.locator("details summary").click()
        owner.look("rating-resolved", is_long=True)
        assert owner.faults == []
    assert set(room.store.resolutions().values()) == {"male"}
