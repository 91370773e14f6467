"""The explorer in a real browser: search, filter, sort, keys, deep links, no error, axe-core."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from chromium import IN_BROWSER
from documents import document
from probe_tables import few_pairs, large

from evenhand.core.answers import Answers
from evenhand.core.document import probe_query
from evenhand.core.evidence import probabilities
from evenhand.core.probe import Probe
from evenhand.core.suite import Suite
from evenhand.core.text import number
from evenhand.engine.explorer import make_explorer
from evenhand.report.html import to_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = IN_BROWSER
SHOTS = os.environ.get("EVENHAND_SHOTS")  # a folder for screenshots to look at
EVIL = "</script><img src=x onerror=\"document.title='owned'\"><b>&amp;"
COUNT = 120  # probes of the walks: three pages


def walk_suite() -> tuple[Suite, Answers]:
    """Nurses and soldiers, a hostile occupation, and numbers that are all different."""
    jobs = ("nurse", "soldier", EVIL)
    probes = tuple(
        Probe(
            id=f"en/{row:03d}",
            kind="pair",
            language="en",
            texts=(f"The {jobs[row % 3]} sleeps, {row}.", f"The woman sleeps, {row}."),
            stratum=("PS", "AS", "NS")[row % 3],
            cluster=jobs[row % 3],
            tags={
                "occupation": jobs[row % 3],
                "lean": ("female", "male", "none")[row % 3],
                "sort": ("state", "situation")[row % 2],
            },
        )
        for row in range(COUNT)
    )
    suite, answers = few_pairs([[0, 0, 0]])
    values = np.random.default_rng(0).normal(scale=2, size=(COUNT, 1, 3))
    values[7] = np.nan
    return replace(suite, probes=probes), replace(answers, probes=probes, values=values)


SUITE, FIRST = walk_suite()
SECOND = replace(FIRST, values=FIRST.values[::-1])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of one model, of two, and one without a script."""
    folder = tmp_path_factory.mktemp("pages")
    one = replace(document(), explorer=make_explorer([(SUITE, [("model", FIRST)])]))
    models = [("first", FIRST), ("second", SECOND)]
    two = replace(document(), explorer=make_explorer([(SUITE, models)]))
    (folder / "one.html").write_text(to_html(one), encoding="utf-8")
    (folder / "two.html").write_text(to_html(two), encoding="utf-8")
    (folder / "bare.html").write_text(to_html(one, has_script=False), encoding="utf-8")
    (folder / "before.html").write_text(to_html(document(), has_script=False), encoding="utf-8")
    return folder


class Reader:
    """Somebody before the explorer of a page; errors and requests are noted."""

    def __init__(self, browser: Browser, file: Path, hash_text: str = "", **settings: Any) -> None:
        self.context = browser.new_context(reduced_motion="reduce", **settings)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on(
            "console", lambda line: self.faults.append(line.text) if line.type == "error" else None
        )
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri() + hash_text)
        self.page.wait_for_selector("#probes[data-ready]", state="attached")

    @property
    def count(self) -> str:
        return str(self.page.inner_text("#probes .count"))

    @property
    def ids(self) -> list[str]:
        return list(self.page.locator("#probes tbody summary").all_inner_texts())

    @property
    def hash(self) -> str:
        return str(self.page.evaluate("location.hash"))

    @property
    def focus(self) -> str:
        """The name, id or text of what has the focus."""
        script = "(e => e.name || e.id || e.textContent)(document.activeElement)"
        return str(self.page.evaluate(script))

    def wait(self, count: str) -> None:
        """Wait until so many probes are shown."""
        self.page.wait_for_function(
            "text => document.querySelector('#probes .count').textContent.startsWith(text)",
            arg=count,
        )

    def leave(self) -> None:
        """Close the page; nothing went wrong, and nothing was fetched."""
        assert self.faults == []
        assert len(self.requests) == 1
        assert self.page.title() != "owned"
        self.context.close()


@pytest.fixture
def reader(browser: Browser, pages: Path) -> Iterator[Reader]:
    result = Reader(browser, pages / "one.html")
    yield result
    result.leave()


def shown_figures(page: Page) -> list[list[str]]:
    cells = page.locator("#probes tbody td").all()
    return [cell.locator(".figures > span").all_inner_texts() for cell in cells]


def test_every_number_on_the_page_is_that_of_the_answers(reader: Reader) -> None:
    expected = [
        [f"{label} {number(chance)}" for label, chance in zip(FIRST.labels, row, strict=True)]
        if np.isfinite(row).all()
        else []
        for row in probabilities(FIRST.values[:, 0])
    ]
    seen = shown_figures(reader.page)
    for _ in range(2):
        reader.page.get_by_role("button", name="Next").click()
        seen += shown_figures(reader.page)
    assert seen == expected
    assert reader.page.get_by_role("button", name="Next").is_disabled()


def test_search_filter_sort_and_pages(reader: Reader) -> None:
    page = reader.page
    assert reader.count == "All 120 probes, 1 to 50 shown"
    assert reader.ids == [f"en/{row:03d}" for row in range(50)]
    page.get_by_label("Search in texts, tags and ids").fill("NURSE sleeps, 11")
    reader.wait("3 of 120")  # 111, 114 and 117: each word counts, wherever it stands
    assert reader.ids == ["en/111", "en/114", "en/117"]
    assert reader.hash == "#probes?q=NURSE%20sleeps%2C%2011"
    page.get_by_label("Search in texts, tags and ids").fill("")
    reader.wait("All 120")
    page.get_by_label("Filter by tag").select_option("lean")
    values = page.get_by_label("with the value")
    assert values.locator("option").all_inner_texts() == [
        "choose",
        "female (40)",
        "male (40)",
        "none (40)",
    ]
    values.select_option("male")
    assert reader.count == "40 of 120 probes"
    assert reader.hash == "#probes?lean=male"
    page.get_by_label("Sort by").select_option("-contradiction")
    chances = probabilities(FIRST.values[:, 0])[:, 2]
    order = sorted((r for r in range(1, COUNT, 3) if r != 7), key=lambda r: -chances[r])
    assert reader.ids == [f"en/{row:03d}" for row in (*order, 7)]  # without an answer: last
    assert page.locator("#probes tbody td").last.inner_text() == "no answer"
    page.get_by_role("button", name="Remove the filter lean: male").click()
    assert reader.count.startswith("All 120")
    assert reader.focus == "q"
    page.get_by_role("button", name="Next").click()
    assert reader.hash == "#probes?sort=-contradiction&page=2"
    assert reader.count == "All 120 probes, 51 to 100 shown"


def test_a_click_on_a_mark_shows_its_probes(reader: Reader) -> None:
    reader.page.evaluate("shows => location.hash = '#probes?' + shows", "occupation=nurse&q=9")
    reader.wait("7 of 120")
    assert reader.focus == "probes-title"
    assert reader.page.locator("#probes-title").bounding_box() is not None
    top = reader.page.evaluate("document.getElementById('probes').getBoundingClientRect().top")
    assert abs(top) < 100  # it was moved to
    hostile = probe_query({"occupation": EVIL, "sort": "state"})
    reader.page.evaluate("shows => location.hash = '#probes?' + shows", hostile)
    reader.wait("20 of 120")
    assert reader.page.locator("#probes .filters li").all_inner_texts() == [
        f"occupation: {EVIL} ×",
        "sort: state ×",
    ]
    reader.page.evaluate("location.hash = '#probes?occupation=unknown'")
    reader.wait("0 of 120")
    assert reader.ids == []


def test_a_deep_link_opens_what_it_names(browser: Browser, pages: Path) -> None:
    link = "#probes?stratum=PS&stratum=AS&lean=female&sort=-entailment&q=nurse"
    reader = Reader(browser, pages / "one.html", link)
    assert reader.count == "40 of 120 probes"
    assert reader.page.get_by_label("Sort by").input_value() == "-entailment"
    assert reader.page.get_by_label("Search in texts, tags and ids").input_value() == "nurse"
    assert reader.focus == "probes-title"
    chances = probabilities(FIRST.values[:, 0])[:, 0]
    order = sorted(range(0, COUNT, 3), key=lambda r: -chances[r])
    assert reader.ids == [f"en/{row:03d}" for row in order]
    reader.leave()


def test_tags_of_a_probe_lead_to_those_that_share_them(reader: Reader) -> None:
    first = reader.page.locator("#probes tbody tr").first
    first.locator("summary").click()
    first.get_by_role("link", name="PS", exact=True).click()
    reader.wait("40 of 120")
    assert reader.hash == "#probes?stratum=PS"
    reader.page.locator("#probes tbody tr").first.locator("summary").click()
    reader.page.get_by_role("link", name="state").first.click()
    reader.wait("60 of 120")
    assert reader.hash == "#probes?tag.sort=state"  # not taken for the order


def test_keys_alone_suffice(reader: Reader) -> None:
    keys = reader.page.keyboard
    keys.press("/")
    assert reader.focus == "q"
    keys.type("soldier/")  # in the field it is a letter
    reader.wait("0 of 120")
    keys.press("Escape")
    reader.wait("All 120")
    keys.press("ArrowDown")
    assert reader.focus == "en/000"
    keys.press("ArrowDown")
    assert reader.focus == "en/001"
    keys.press("Enter")
    assert reader.page.locator("#probes tbody details[open]").count() == 1
    keys.press("ArrowRight")
    assert reader.focus == "en/050"
    keys.press("ArrowLeft")
    keys.press("ArrowUp")
    assert reader.focus == "q"
    reader.page.evaluate("location.hash = '#probes?lean=none'")
    reader.wait("40 of 120")
    keys.press("Escape")
    reader.wait("All 120")
    assert reader.hash == "#probes"


def test_two_models_stand_side_by_side(browser: Browser, pages: Path) -> None:
    reader = Reader(browser, pages / "two.html", "#probes?sort=-difference")
    heads = reader.page.locator("#probes thead th").all_inner_texts()
    assert heads == ["probe", "first", "second"]
    gaps = np.abs(probabilities(FIRST.values[:, 0]) - probabilities(SECOND.values[:, 0]))
    most = np.where(np.isnan(gaps).any(axis=1), -1, gaps.max(axis=1))
    assert reader.ids[0] in {f"en/{row:03d}" for row in np.flatnonzero(most == most.max())}
    row = int(reader.ids[0][3:])
    seen = shown_figures(reader.page)[:2]
    for answers, figures in zip((FIRST, SECOND), seen, strict=True):
        chances = probabilities(answers.values[:, 0])[row]
        assert [text.split()[1] for text in figures] == [number(c) for c in chances]
    reader.page.get_by_label("Filter by tag").select_option("agreement")
    reader.page.get_by_label("with the value").select_option("different answers")
    assert reader.hash.startswith("#probes?agreement=different%20answers")
    reader.leave()


def test_words_of_a_suite_stay_words(reader: Reader) -> None:
    reader.page.get_by_label("Search in texts, tags and ids").fill("onerror")
    reader.wait("40 of 120")
    assert reader.page.locator("#probes tbody th p").first.inner_text() == f"The {EVIL} sleeps, 2."
    assert reader.page.locator("img").count() == 0
    reader.page.wait_for_timeout(100)
    assert reader.page.title() != "owned"


def test_without_a_script_the_page_is_what_it_was(browser: Browser, pages: Path) -> None:
    bare = (pages / "bare.html").read_text(encoding="utf-8")
    assert bare == (pages / "before.html").read_text(encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((pages / "one.html").as_uri())
    assert not page.locator("#probes").is_visible()
    assert not page.locator(".explore").is_visible()
    context.close()


def test_an_old_browser_is_told_what_it_lacks(browser: Browser, pages: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto((pages / "one.html").as_uri())
    page.wait_for_selector("#probes")
    text = page.inner_text("#probes")
    assert "it has no DecompressionStream" in text and "answers.parquet" in text
    assert not page.locator("#probes form").is_visible()
    context.close()


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]
)
@pytest.mark.parametrize("name", ["one", "two"])
def test_it_fits_and_axe_finds_nothing_serious(
    browser: Browser, pages: Path, name: str, width: int, scheme: Any
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    size = {"width": width, "height": 900}
    link = "#probes?lean=female"
    reader = Reader(browser, pages / f"{name}.html", link, viewport=size, color_scheme=scheme)
    reader.page.locator("#probes tbody summary").first.click()
    assert reader.page.evaluate("document.documentElement.scrollWidth") == width
    if SHOTS:
        reader.page.screenshot(path=Path(SHOTS) / f"explorer-{name}-{width}-{scheme}.png")
    result = axe.Axe().run(reader.page, context="#probes")
    serious = [
        (v["id"], [node["target"] for node in v["nodes"]][:3])
        for v in result.response["violations"]
        if v["impact"] in ("serious", "critical")
    ]
    assert serious == []
    reader.leave()


def test_fifty_thousand_probes_open(browser: Browser, tmp_path: Path) -> None:
    suite, answers = large(50_000)
    other = replace(answers, values=answers.values[::-1])
    explorer = make_explorer([(suite, [("first", answers), ("second", other)])])
    page = to_html(replace(document(), explorer=explorer))
    assert len(page.encode()) < 10_000_000
    file = tmp_path / "large.html"
    file.write_text(page, encoding="utf-8")
    reader = Reader(browser, file, "#probes?lean=female&sort=-difference")
    session = reader.context.new_cdp_session(reader.page)
    session.send("Performance.enable")
    metrics = session.send("Performance.getMetrics")["metrics"]
    seconds = next(m["value"] for m in metrics if m["name"] == "ProcessTime")
    print(f"50,000 probes, {len(page) / 1e6:.1f} MB: {seconds:.2f} s of processor time")
    assert reader.count == "16,667 of 50,000 probes, 1 to 50 shown"
    reader.leave()
