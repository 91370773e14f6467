"""Charts in a real browser: drawn anew by the bundled script, clicked, and walked by keyboard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from chromium import IN_BROWSER
from documents import charts, document, dot_chart, share_chart
from probe_tables import few_pairs

from evenhand.engine.explorer import make_explorer
from evenhand.report.html import to_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = IN_BROWSER
# No eval, no network: what the strictest policy leaves to a page of one file.
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">"
)
SHOWS = "occupation=nurse&lean=female"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of all charts, and one whose first row and bar name their probes.

    The latter with an explorer and without.
    """
    folder = tmp_path_factory.mktemp("live")
    row = replace(dot_chart().rows[0], shows=SHOWS)
    bar = replace(share_chart().bars[0], shows="stratum=PS")
    chosen = document(
        replace(dot_chart(), rows=(row, *dot_chart().rows[1:])),
        replace(share_chart(), bars=(bar,)),
    )
    suite, answers = few_pairs([[3, 0, 0], [0, 3, 0]])
    whole = replace(chosen, explorer=make_explorer([(suite, [("model", answers)])]))
    for name, shown in (("all", document(*charts())), ("shows", whole), ("bare", chosen)):
        strict = to_html(shown).replace("<head>", f"<head>{POLICY}", 1)
        (folder / f"{name}.html").write_text(strict, encoding="utf-8")
    return folder


def opened(browser: Browser, path: Path, width: int) -> tuple[Page, list[str]]:
    """The page with all its charts alive, and what its console said."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(path.as_uri())
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".live svg").wait_for(timeout=60_000)
    return page, told


@pytest.mark.parametrize("width", [1280, 400])
def test_every_chart_comes_to_life_under_a_strict_policy(
    browser: Browser, pages: Path, width: int
) -> None:
    page, told = opened(browser, pages / "all.html", width)
    assert page.locator("figure.is-live").count() == len(charts())
    assert page.locator("figure > svg:visible").count() == 0  # one drawing, not two
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert told == []
    page.close()


def test_a_mark_leads_to_its_probes_by_click_and_by_keyboard(browser: Browser, pages: Path) -> None:
    page, told = opened(browser, pages / "shows.html", 1280)
    leads = page.locator("figure .live [tabindex]")
    assert leads.first.get_attribute("role") == "link"
    labels = [lead.get_attribute("aria-label") for lead in leads.all()]
    assert "tilt: 0.400 [0.380, 0.420], show its probes" in labels
    page.locator('[aria-label^="tilt: 0.400"]').click()
    assert page.evaluate("location.hash") == f"#probes?{SHOWS}"
    page.locator('[aria-label^="PS: entailment"]').focus()
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#probes?stratum=PS"
    assert not any(label and label.startswith("lean") for label in labels)  # nothing behind it
    page.locator('[aria-label^="tilt: 0.400"]').hover()
    tooltip = page.locator("#vg-tooltip-element")
    tooltip.wait_for()
    assert "0.400" in tooltip.inner_text()
    assert told == []
    page.close()


def test_without_an_explorer_no_mark_is_a_link(browser: Browser, pages: Path) -> None:
    page, told = opened(browser, pages / "bare.html", 1280)
    assert page.locator("figure .live [tabindex]").count() == 0
    page.locator('[aria-label^="tilt: 0.400"]').click()
    assert page.evaluate("location.hash") == ""
    assert told == []
    page.close()


def test_a_series_stands_out_by_its_key_and_under_the_pointer(
    browser: Browser, pages: Path
) -> None:
    page, told = opened(browser, pages / "bare.html", 1280)
    figure = page.locator("figure").first
    model = figure.locator('.live [aria-label^="tilt: 0.400"]')
    key = figure.locator('.key[data-series="random"]')
    assert model.get_attribute("opacity") in (None, "1")
    key.focus()
    page.keyboard.press("Enter")
    assert key.get_attribute("aria-pressed") == "true"
    pale = figure.locator('.live [aria-label^="tilt: 0.400"][opacity="0.15"]')
    pale.wait_for()
    model.hover()  # the series under the pointer comes first
    pale.wait_for(state="detached")
    key.click()
    assert key.get_attribute("aria-pressed") == "false"
    page.mouse.move(0, 0)
    page.wait_for_timeout(200)
    assert pale.count() == 0
    assert told == []
    page.close()
