"""The page of a folder of runs in a real browser: live, and its reports work behind the server."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chromium import IN_BROWSER
from documents import document
from probe_tables import few_pairs

from evenhand.engine.asking_state import state_path
from evenhand.engine.explorer import make_explorer
from evenhand.report.write import write_document
from evenhand.view.server import ViewServer, open_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = IN_BROWSER
SHOTS = os.environ.get("EVENHAND_SHOTS")  # a folder for screenshots to look at


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ViewServer]:
    suite, answers = few_pairs([[3, 0, 0], [0, 3, 0]])
    shown = replace(document(), explorer=make_explorer([(suite, [("model", answers)])]))
    write_document(shown, tmp_path / "runs" / "one")
    (tmp_path / "runs" / "half").mkdir()
    (tmp_path / "runs" / "half" / "results.json").write_text("{", encoding="utf-8")
    write_state(tmp_path / "runs" / "asked", 40)
    with open_server(tmp_path / "runs", port=0) as result:
        threading.Thread(target=result.serve_forever, daemon=True).start()
        yield result
        result.shutdown()


def write_state(folder: Path, done: int) -> None:
    state = {"model": "org/model", "suite": "occupation-nli", "done": done, "total": 90}
    now = {**state, "state": "asking", "updated": time.time()}
    state_path(folder).write_text(json.dumps(now), encoding="utf-8")


def test_the_list_is_live_and_a_report_works_behind_it(
    browser: Browser, server: ViewServer
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(60_000)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
    page.goto(server.address)
    assert page.locator("tbody tr").count() == 3
    assert "40 of 90 probes. asking." in page.inner_text("tbody tr:first-child")
    assert "half-written" in page.inner_text("tbody")
    page.get_by_role("link").first.focus()
    write_state(server.folder.root / "asked", 80)
    page.get_by_text("80 of 90 probes").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "A"  # the focus stays
    page.get_by_role("link").first.click()
    page.wait_for_selector("#probes[data-ready]")
    page.get_by_label("Search in texts, tags and ids").fill("nurse, 1")
    page.wait_for_function("document.querySelector('.count').textContent.startsWith('1 of 2')")
    assert page.url.endswith("/one/report.html#probes?q=nurse%2C%201")
    # a page of a run reaches nothing: no other run, no network
    reached = page.evaluate("fetch('/').then(() => 'reached', () => 'refused')")
    assert reached == "refused" and page.evaluate("origin") == "null"
    assert all("Content Security Policy" in fault for fault in faults)  # that fetch alone
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_the_list_fits_and_axe_finds_nothing_serious(
    browser: Browser, server: ViewServer, width: int, scheme: Any
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    size: Any = {"width": width, "height": 900}
    # axe is put into the page by a script, which the policy of the page forbids otherwise
    context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(server.address)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"view-{width}-{scheme}.png")
    result = axe.Axe().run(page)
    serious = [
        (v["id"], [node["target"] for node in v["nodes"]][:3])
        for v in result.response["violations"]
        if v["impact"] in ("serious", "critical")
    ]
    assert serious == []
    context.close()
