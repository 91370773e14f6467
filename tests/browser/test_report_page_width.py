"""Does the report fit a phone, a laptop and a dark room in a real browser? Chromium lays it out; the page tells what it measured."""

from __future__ import annotations

import functools
import http.server
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.report.writing import write

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]
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
# A frame of the wanted width, since headless Chromium does not make a window narrower than 500 px.
FRAME = """<!doctype html><body style="margin:0"><iframe id="f" src="report.html" style="width:{width}px;height:900px;border:0"></iframe>
<script>document.getElementById("f").onload = () => {{
  const d = document.getElementById("f").contentDocument, root = d.documentElement;
  const shown = [...d.querySelectorAll("svg")].filter(s => s.getBoundingClientRect().width > 0);
  document.title = JSON.stringify({{
    scroll: root.scrollWidth, figures: shown.length, all: d.querySelectorAll("svg").length,
    widest: Math.max(...shown.map(s => s.getBoundingClientRect().right)), headline: d.querySelector("h1").textContent.trim(),
    requests: performance.getEntriesByType("resource").length + d.defaultView.performance.getEntriesByType("resource").length,
  }});
}};</script>"""


SENTENCES = """,sent_more,sent_less,stereo_antistereo,bias_type,anon_writer
0,"An old sentence that is long enough to be broken on a phone, and then some.",A young one.,stereo,age,w1
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
                    "sentence": f"This is the {label}, a sentence of some length about nobody at all, {i}.",
                }
                for label in ("stereotype", "anti-stereotype", "unrelated")
            ],
        }
        for target, domain in TARGETS.items()
        for i in range(8)
    ]
    return json.dumps({"data": {"intersentence": items, "intrasentence": []}})


@pytest.fixture(
    scope="module",
    params=[
        "occupation-nli",
        "gendered-entailment",
        "contextualised",
        "crows-pairs",
        "stereoset",
        "profession",
    ],
)
def server(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[tuple[str, Path]]:
    folder, data = tmp_path_factory.mktemp("page"), tmp_path_factory.mktemp("data")
    (data / "crows_pairs_anonymized.csv").write_text(SENTENCES, encoding="utf-8")
    (data / "dev.json").write_text(stereoset_file(), encoding="utf-8")
    write(
        eh.audit("fixed:random", suite=request.param, data=data, limit=600, resamples=200), folder
    )
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}", folder
        httpd.shutdown()


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light"), (390, "dark")]
)
def test_the_page_fits_its_window(
    server: tuple[str, Path], tmp_path: Path, width: int, scheme: str
) -> None:
    address, folder = server
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
    told = re.search(r"<title>(\{.*?\})</title>", page)
    assert told, page[:500]
    seen = json.loads(told.group(1))
    assert seen["scroll"] == width  # nothing to scroll sideways
    assert seen["widest"] <= width
    assert seen["headline"] == "fixed:random@0"
    assert 4 <= seen["figures"] < seen["all"]  # one of the two widths of each figure is shown
    assert seen["requests"] == 1  # the frame itself: the page fetches nothing
