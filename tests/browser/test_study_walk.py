"""A whole study in a real browser, by keys and by touch, on two devices, without scripts too."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chromium import IN_BROWSER

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")
from study_room import Room, open_room

from evenhand.study.owner import hash_password

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = IN_BROWSER
PASSWORD = "a long enough password"
PHONE = {"viewport": {"width": 390, "height": 700}, "has_touch": True, "is_mobile": True}
SHOTS = os.environ.get("EVENHAND_SHOTS")  # a folder for screenshots to look at
# What a page must keep to: nothing to scroll, targets of 44 px, contrast of 4.5.
MEASURE = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const bend = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => {
    const [r, g, b] = c.match(/[\\d.]+/g).map(Number).slice(0, 3).map(bend);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(c)) return c;
    }
    return "rgb(255,255,255)";
  };
  const seen = (e) => e.getClientRects().length > 0 && !e.closest(".unseen, .skip");
  const targets = all("a, button, label, input[type=number]")
    .filter((e) => seen(e) && !e.closest(".link"));
  const hasText = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const texts = all("body *").filter((e) => seen(e) && hasText(e));
  const contrast = (e) => {
    const pair = [getComputedStyle(e).color, ground(e)];
    const [a, b] = pair.map(light).sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  return {
    height: document.documentElement.scrollHeight,
    width: document.documentElement.scrollWidth,
    target: Math.min(...targets.map((e) => e.getBoundingClientRect().height)),
    contrast: Math.min(...texts.map(contrast)),
    unlabelled: all("input:not([type=hidden])").filter((i) => !i.labels.length).length,
  };
}"""


class Reader:
    """Somebody before a browser; every page on the way is measured."""

    def __init__(self, room: Room, browser: Browser, name: str, **settings: Any) -> None:
        self.room, self.name = room, name
        self.context = browser.new_context(reduced_motion="reduce", **settings)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on(
            "console", lambda line: self.faults.append(line.text) if line.type == "error" else None
        )
        self.size = self.page.viewport_size or {"width": 0, "height": 0}

    def look(self, name: str, *, is_long: bool = False) -> None:
        """The page keeps to what was promised."""
        result = self.page.evaluate(MEASURE)
        assert result["width"] <= self.size["width"], (name, result)
        assert is_long or result["height"] <= self.size["height"], (
            name,
            result,
        )  # never more than one screen
        assert result["target"] >= 43.5, (name, result)
        assert result["contrast"] >= 4.5, (name, result)
        assert result["unlabelled"] == 0, (name, result)
        if SHOTS:
            language = self.page.get_attribute("html", "lang")
            self.page.screenshot(
                path=Path(SHOTS) / f"{language}-{self.size['width']}-{name}.png", full_page=True
            )

    def press(self, given: dict[str, Any]) -> None:
        """Answer by keys."""
        keys = (
            [str(given["value"])]
            if "value" in given
            else [str(given["first"]), str(given["second"]), *(["q"] if given["equal"] else [])]
        )
        for key in keys:
            self.page.keyboard.press(key)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def tap(self, given: dict[str, Any]) -> None:
        """Answer by touch."""
        if "value" in given:
            self.page.locator(".level").nth(given["value"] - 1).tap()
        else:
            for place in (given["first"], given["second"]):
                self.page.locator(".card").nth(place - 1).tap()
            if given["equal"]:
                self.page.locator(".equal").tap()
        with self.page.expect_navigation():
            self.page.locator(".confirm").tap()

    def answer(self, count: int, *, is_wrong: bool = False, by_touch: bool = False) -> None:
        """The next questions."""
        for _ in range(count):
            asked = self.room.store.next_question(self.name)
            assert asked is not None
            self.look(f"question-{asked.question.type}")
            given = self.room.wrong_answer(asked) if is_wrong else self.room.right_answer(asked)
            (self.tap if by_touch else self.press)(given)

    def click(self, selector: str, path: str) -> None:
        with self.page.expect_navigation():
            self.page.click(selector)
        assert self.page.url.endswith(path), self.page.url

    def finish(self) -> str:
        """Finish the part by Enter; how it ended."""
        self.look("finish")
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
        self.look("result")
        part = self.room.store.parts(self.name)[-1]
        assert f"{round(100 * (part.accuracy or 0))}\N{NO-BREAK SPACE}%" in self.page.inner_text(
            "main"
        )
        return part.state


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
def test_a_whole_study(browser: Browser, tmp_path: Path, language: str) -> None:
    others = tuple(code for code in ("en", "zh", "ja") if code != language)
    with open_room(tmp_path, languages=(language, *others), sentences=language) as room:
        name, link = room.invite()
        desk = Reader(room, browser, name, viewport={"width": 1280, "height": 800})
        desk.page.goto(link)
        desk.look("consent")
        desk.page.check("input[name=agree]")
        desk.click("form button", "/inventory")
        desk.look("inventory")
        desk.page.keyboard.press("4")
        with desk.page.expect_navigation():
            desk.page.keyboard.press("Enter")
        desk.click("button[name=skip]", "/start")
        desk.look("start")
        desk.click("form button", "/question")
        desk.answer(6, is_wrong=True)
        assert desk.finish() == "failed"
        desk.click(".row a", "/start")
        desk.click("form button", "/question")
        desk.answer(6)
        assert desk.finish() == "passed"
        desk.click(".row a", "/start")
        desk.click("form button", "/question")
        desk.answer(3)
        desk.click("a[href='/pause']", "/pause")
        desk.look("pause")

        room.stop(signal.SIGKILL)  # in the middle, without warning
        room.start()
        phone = Reader(room, browser, name, **PHONE)
        phone.page.goto(link)
        assert phone.page.url.endswith("/question")  # where the other device had stopped
        assert [p.answered for p in room.store.progress()] == [6, 6, 3]
        phone.answer(2, by_touch=True)
        phone.click("a[href='/previous']", "/previous")
        phone.look("previous")
        phone.click("a[href='/question']", "/question")
        phone.answer(3, by_touch=True)
        assert phone.finish() == "passed"
        phone.click(".row a", "/done")
        phone.look("done")
        assert desk.faults == phone.faults == []

        look_as_owner(room, browser)
        assert room.stop() in (0, -signal.SIGTERM)  # gracefully


def look_as_owner(room: Room, browser: Browser) -> None:
    """Log in, see the three parts, download the answers."""
    room.store.set_owner("lab", hash_password(PASSWORD))
    owner = Reader(
        room, browser, "", viewport={"width": 1280, "height": 800}, accept_downloads=True
    )
    owner.page.goto(f"{room.address}/owner/login")
    owner.look("login")
    owner.page.fill("input[name=name]", "lab")
    owner.page.fill("input[name=password]", PASSWORD)
    owner.click("form.sheet button", "/owner")
    owner.look("owner", is_long=True)
    assert owner.page.locator("tbody tr").count() >= 3  # two trials and a batch
    with owner.page.expect_download() as result:
        owner.page.click("a[href='/owner/export/csv']")
    assert Path(result.value.path()).read_text(encoding="utf-8").count("\n") == 21
    with owner.page.expect_navigation():
        owner.page.click("form[action='/owner/invite'].row button")
    assert owner.page.input_value("input[data-path]").startswith(
        f"{room.address}/i/"
    )  # whole, by the address of the page
    assert owner.faults == []


def test_every_page_fits_a_phone(browser: Browser, tmp_path: Path) -> None:
    with open_room(tmp_path) as room:
        name, link = room.invite()
        phone = Reader(room, browser, name, **PHONE)
        phone.page.goto(link)
        for paths, way in (
            (["/consent"], "/inventory"),
            (["/inventory"], "/inventory?at=1"),
            (["/inventory?at=1"], "/start"),
            (["/start"], "/question"),
            (["/question", "/pause", "/break", "/i/forged", "/nowhere"], ""),
        ):
            for language in ("zh", "ja", "en"):
                phone.page.goto(f"{room.address}/pause?lang={language}")
                for path in paths:
                    phone.page.goto(room.address + path)
                    assert phone.page.get_attribute("html", "lang") == language
                    phone.look(f"phone{path.replace('/', '-').replace('?', '-')}")
            if way:
                if way == "/inventory":
                    phone.page.check("input[name=agree]")
                phone.click("button[name=skip]" if "inventory" in paths[0] else "form button", way)


def test_without_scripts_and_in_the_dark(browser: Browser, tmp_path: Path) -> None:
    with open_room(tmp_path) as room:
        name, link = room.invite()
        room.store.set_state(name, "ready")
        plain = Reader(room, browser, name, **PHONE, java_script_enabled=False, color_scheme="dark")
        plain.page.goto(link)
        plain.click("form button", "/question")
        for _ in range(6):
            asked = room.store.next_question(name)
            assert asked is not None
            for field, value in room.right_answer(asked).items():
                if field == "equal":
                    plain.page.set_checked("input[name=equal]", value)
                else:
                    plain.page.check(f"input[name={field}][value='{value}']")
            if SHOTS:
                plain.page.screenshot(
                    path=Path(SHOTS) / f"plain-{asked.question.type}.png", full_page=True
                )
            with plain.page.expect_navigation():
                plain.page.click(".confirm")
        assert [p.answered for p in room.store.progress()] == [6]
        dark = Reader(room, browser, name, **PHONE, color_scheme="dark")
        dark.page.goto(link)
        dark.look("dark-finish")
        dark.click("a[href='/previous']", "/previous")
        dark.look("dark-previous")


def test_keys_choose_undo_and_announce(browser: Browser, tmp_path: Path) -> None:
    with open_room(tmp_path) as room:
        name, link = room.invite()
        room.store.set_state(name, "ready")
        reader = Reader(room, browser, name, viewport={"width": 1280, "height": 800})
        page = reader.page
        page.goto(link)
        reader.click("form button", "/question")
        while (
            asked := room.store.next_question(name)
        ) is not None and asked.question.type != "type1":
            reader.press(room.right_answer(asked))
        assert asked is not None
        words = [option.text for option in asked.question.options]
        status = page.locator(".status")
        page.keyboard.press("Enter")  # nothing is chosen: nothing is sent
        assert status.inner_text() == "Please choose exactly two different words."
        page.keyboard.press("2")
        assert status.inner_text() == f"First: {words[1]}. Now choose the second word."
        page.keyboard.press("1")
        assert status.inner_text() == f"First: {words[1]}. Second: {words[0]}."
        page.keyboard.press("q")
        assert status.inner_text() == f"Equal: {words[1]} and {words[0]}."
        page.keyboard.press("q")
        page.keyboard.press("2")  # once more takes it back
        assert status.inner_text() == f"First: {words[0]}. Now choose the second word."
        page.keyboard.press("3")
        page.keyboard.press("Backspace")
        assert status.inner_text() == f"First: {words[0]}. Now choose the second word."
        page.keyboard.press("3")
        assert page.locator(".card[aria-pressed=true]").count() == 2
        page.locator(".card").first.focus()
        page.keyboard.press("Tab")  # the next card, by keys: it shows
        assert page.evaluate("getComputedStyle(document.activeElement).outline").startswith(
            ("rgb(27, 77, 209) solid 3px", "solid 3px")
        )
        with page.expect_navigation():
            page.keyboard.press("Enter")
        result = room.store.question(name, asked.question.id)
        assert result.payload == {
            "first": asked.question.options[0].key,
            "second": asked.question.options[2].key,
            "equal": False,
        }
        page.keyboard.press("Backspace")  # nothing is chosen here: the question before
        page.wait_for_url("**/previous")
        assert page.locator(".card[aria-pressed=true]").count() == 2
        page.locator(".keys button").click()  # keys of one letter can be turned off, and stay off
        page.keyboard.press("Backspace")
        page.reload()
        page.keyboard.press("Backspace")
        assert page.locator(".card[aria-pressed=true]").count() == 2
        assert page.locator(".keys button").inner_text() == "Keys 1 2 3 Q: off"
        assert reader.faults == []
