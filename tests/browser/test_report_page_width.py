"""The page of a document fits every window: Chromium lays it out and says what it measured."""

from __future__ import annotations

import functools
import http.server
import json
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import CHROMIUM, IN_BROWSER
from documents import document
from quick import load, quick_audit

from evenhand.core.document import Document
from evenhand.engine.audit_document import audit_document
from evenhand.report.write import write_document

pytestmark = IN_BROWSER
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1400,1200",
    "--virtual-time-budget=4000",
)
# A frame of the wanted width, since headless Chromium makes no window narrower than 500 px.
FRAME = """<!doctype html><body style="margin:0">
<iframe id="f" src="report.html" style="width:{width}px;height:900px;border:0"></iframe>
<script>document.getElementById("f").onload = () => {{
  const d = document.getElementById("f").contentDocument, root = d.documentElement;
  d.querySelectorAll("details").forEach(e => e.open = true);
  const shown = [...d.querySelectorAll("figure > svg, figure .live > svg")].filter(
    s => s.getBoundingClientRect().width > 0);
  const boxes = [...d.querySelectorAll("main *")].filter(e => !e.closest("svg, thead"));
  const count = w => w.performance.getEntriesByType("resource").length;
  document.title = JSON.stringify({{
    scroll: root.scrollWidth, figures: shown.length,
    all: d.querySelectorAll("figure > svg").length,
    widest: Math.max(...shown.map(s => s.getBoundingClientRect().right)),
    right: Math.max(...boxes.map(e => e.getBoundingClientRect().right)),
    headline: d.querySelector("h1").textContent.trim(),
    requests: count(window) + count(d.defaultView),
  }});
}};</script>"""


SENTENCES = """,sent_more,sent_less,stereo_antistereo,bias_type,anon_writer
0,"An old sentence that is broken on a phone, and then some.",A young one.,stereo,age,w1
1,Women talk.,Men talk.,stereo,gender,w1
2,"He is from there, so he drinks.","He is from here, so he drinks.",antistereo,nationality,w2
3,The poor are late.,The rich are late.,stereo,socioeconomic,w3
4,They are short.,They are tall.,stereo,physical-appearance,w3
5,Two men kissed.,A man and a woman kissed.,antistereo,sexual-orientation,w4
"""


TARGETS = {
    "Ethiopian": "race",
    "mother-in-law": "gender",
    "a target with a name that is far too long for a phone": "profession",
    "Bible": "religion",
}


def stereoset_file() -> str:
    """Made-up items in the published form."""
    items = [
        {
            "id": f"{target}-{i}",
            "target": target,
            "bias_type": domain,
            "context": f"I met a {target}, and then, for the {i}th time, I met another one.",
            "sentences": [
                {
                    "id": f"{domain}-{i}-{label}",
                    "gold_label": label,
                    "sentence": f"This is the {label}, a sentence of some length, {i}.",
                }
                for label in ("stereotype", "anti-stereotype", "unrelated")
            ],
        }
        for target, domain in TARGETS.items()
        for i in range(8)
    ]
    return json.dumps({"data": {"intersentence": items, "intrasentence": []}})


SUITES = (
    "occupation-nli",
    "gendered-entailment",
    "contextualised",
    "crows-pairs",
    "stereoset",
    "profession",
)


def made(name: str, data: Path) -> Document:
    """The report of an audit of a suite, or a document with every kind of block and chart."""
    if name == "everything":
        return document()
    return audit_document(quick_audit("fixed:random", load(name, limit=600, data=data)))


@pytest.fixture(scope="module", params=["everything", *SUITES])
def server(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[tuple[str, Path, Document]]:
    folder, data = tmp_path_factory.mktemp("page"), tmp_path_factory.mktemp("data")
    (data / "crows_pairs_anonymized.csv").write_text(SENTENCES, encoding="utf-8")
    (data / "dev.json").write_text(stereoset_file(), encoding="utf-8")
    shown = made(request.param, data)
    write_document(shown, folder)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}", folder, shown
        httpd.shutdown()


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (1280, "dark"),
        (768, "light"),
        (767, "light"),
        (400, "light"),
        (320, "dark"),
    ],
)
def test_the_page_fits_its_window(
    server: tuple[str, Path, Document], tmp_path: Path, width: int, scheme: str
) -> None:
    address, folder, shown = server
    (folder / "frame.html").write_text(FRAME.format(width=width), encoding="utf-8")
    dark = ("--force-dark-mode",) if scheme == "dark" else ()
    command = [
        str(CHROMIUM),
        *FLAGS,
        *dark,
        f"--user-data-dir={tmp_path}",
        "--dump-dom",
        f"{address}/frame.html",
    ]
    page = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    measured = re.search(r"<title>(\{.*?\})</title>", page)
    assert measured, page[:500]
    seen = json.loads(measured.group(1))
    assert seen["scroll"] == width  # nothing to scroll sideways
    assert seen["widest"] <= width
    assert seen["right"] <= width  # also not inside a table
    assert seen["headline"] == shown.title
    assert seen["figures"] == len(shown.charts)  # one of the two widths of each chart is shown
    assert seen["all"] == 2 * len(shown.charts)
    assert len(shown.charts) >= 2
    assert seen["requests"] == 1  # the frame itself: the page fetches nothing
