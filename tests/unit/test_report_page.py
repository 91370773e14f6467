"""Is the page whole, safe and for everyone?"""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from test_report import hostile, noise, printed

import evenhand as eh
from evenhand.core.run import Run
from evenhand.report.figures import draw
from evenhand.report.html import to_html
from evenhand.report.latex import to_latex
from evenhand.report.markdown import to_markdown
from evenhand.report.pairs import most_biased
from evenhand.report.svg import COLOURS
from evenhand.report.wording import ordered


@pytest.fixture(scope="module")
def run() -> Run:
    return eh.audit(noise, limit=600, resamples=200)


@pytest.fixture(scope="module")
def page(run: Run) -> str:
    return to_html(run)


def test_the_page_needs_nothing_else(page: str) -> None:
    assert not re.search(
        r"(?:src|href|xlink:href|action)\s*=|url\(|@import|<script|<link|https?://", page
    )
    assert page.count("<!doctype html>") == 1
    assert '<meta name="viewport"' in page
    assert "light-dark(" in page
    assert "@media print" in page


def test_figures_come_in_two_widths_with_words_and_variables(run: Run, page: str) -> None:
    figures = draw(run)
    assert set(figures) == {"scores", "shares", "leans", "occupations", "frames"}
    for figure in figures.values():
        assert re.match(
            r'<svg class="wide" viewBox="0 0 720 \d+" width="720" role="img" aria-label="[^"]+"><title>[^<]+</title><desc>',
            figure.wide,
        )
        assert figure.narrow.startswith('<svg class="narrow" viewBox="0 0 340 ')
        assert figure.wide in page
        assert figure.narrow in page
    for name, (marker, _) in COLOURS.items():
        assert marker not in page, name
    coal = ordered(run)[0]
    assert f">{coal.value:.3f} [{coal.low:.3f}, {coal.high:.3f}]</text>" in figures["scores"].wide
    worst = next(
        b for b in run.breakdowns if b.measure == "nli_coal" and b.by == "occupation"
    ).groups[0]
    assert f">{worst.name}</text>" in figures["occupations"].wide
    assert f"{worst.name} {worst.interval.value:.3f}" in figures["occupations"].wide


@pytest.mark.parametrize("lang", ["ja", "zh"])
def test_words_are_marked_with_their_language(lang: str) -> None:
    found = eh.audit("fixed:stereotyped", lang=lang, limit=90, resamples=50)
    page = to_html(found)
    assert f'<div class="texts" lang="{lang}"><p>' in page
    assert f'<figure lang="{lang}">' in page
    assert html.escape(most_biased(found)[0].probe.texts[0]) in page
    assert all(line.isascii() for line in to_latex(found).splitlines() if not line.startswith("%"))


class Handlers(HTMLParser):
    """Which elements carry an event handler?"""

    @classmethod
    def of(cls, page: str) -> list[str]:
        reader = cls()
        reader.found = []
        reader.feed(page)
        return reader.found

    found: list[str]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [f"{tag} {name}" for name, _ in attrs if name.startswith("on")]


def test_words_cannot_become_code() -> None:
    found = eh.audit(noise, suite=hostile(), resamples=50)
    page = to_html(found)
    assert "<script" not in page
    assert "<b>female" not in page
    assert not Handlers.of(page)
    assert "&lt;script&gt;" in page
    assert 'role="x"' in html.unescape(
        draw(found)["frames"].wide.partition("</desc>")[2]
    )  # words that look like attributes stay
    tex = [line for line in to_latex(found).splitlines() if not line.startswith("%")]
    assert not any(r"\input" in line for line in tex)
    assert "<script" not in to_markdown(found).partition("```")[0].replace("\\<", "")
    assert "alert('x')" in printed(found, 120)
