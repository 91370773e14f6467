"""The first screen in every form of a report: what does not count says so next to itself."""

from __future__ import annotations

from dataclasses import replace

from documents import document, exhibit
from runs import printed

from evenhand.core.document import (
    Badge,
    Column,
    Document,
    Exhibit,
    Finding,
    Front,
    Row,
    Section,
    Table,
)
from evenhand.report.html import to_html
from evenhand.report.markdown import to_markdown

EXAMPLE = replace(
    exhibit(), title="For example", note="Typical.", specimens=exhibit().specimens[:1]
)


def front(*, is_counted: bool = True, example: Exhibit | None = EXAMPLE) -> Front:
    """A first screen whose second finding does not count."""
    return Front(
        verdict="It tilts in 45 % of cases where nothing settles it.",
        badge=Badge(answer="only partly", reason="It is right on half of them."),
        direction=Finding(
            text="Towards men in male-typed jobs.",
            reasons=() if is_counted else ("weak understanding",),
        ),
        example=example,
        findings=(
            Finding(text="Tilt is 0.452.", section="scores"),
            Finding(text="Words lean.", section="words", reasons=("at chance", "rough interval")),
        ),
    )


def paper(*, is_counted: bool = True) -> Document:
    """A document with a first screen."""
    whole = document()
    assert whole.headline is not None
    reasons = () if is_counted else ("the interval holds 0.444",)
    return replace(
        whole, front=front(is_counted=is_counted), headline=replace(whole.headline, reasons=reasons)
    )


def test_a_page_shows_badge_verdict_direction_example_and_findings() -> None:
    page = to_html(paper())
    head = page.partition('<section class="head">')[2].partition("<section>")[0]
    places = [
        head.index(text)
        for text in (
            '<p class="value">0.452</p>',
            "<p>It tilts in 45\u00a0% of cases where nothing settles it.</p>",
            "<p><b>Direction.</b> Towards men in male-typed jobs.</p>",
            '<p class="badge only-partly"><b>Does it understand what it is asked? Only partly.</b> '
            "It is right on half of them.</p>",
            "<h3>For example</h3>",
            "A nurse waits.",
            '<li><a href="#section-scores">Tilt is 0.452.</a></li>',
            '<li class="quiet"><a href="#section-words">Words lean.</a> <span class="why">'
            "does not count: at chance; rough interval</span></li>",
            "It tilts in 45\u00a0% of cases. 0 is fair.</p>",
        )
    ]
    assert places == sorted(places)
    assert '<h2 id="section-scores">Scores</h2>' in page


def test_a_headline_that_does_not_count_is_grey_and_says_why() -> None:
    page = to_html(paper(is_counted=False))
    number = page.index('<p class="value missing">0.452</p>')
    reason = '<span class="why">does not count: the interval holds 0.444</span>'
    assert 0 < page.index(reason) - number < 100
    assert '<p class="quiet">It tilts in 45' in page
    assert (
        '<p class="quiet"><b>Direction.</b> Towards men in male-typed jobs. <span class="why">'
        "does not count: weak understanding</span></p>"
    ) in page
    assert "does not count: the interval" not in to_html(paper())


def test_a_row_that_does_not_count_is_grey() -> None:
    rows = (Row(cells=("a", 0.5), is_quiet=True), Row(cells=("b", 0.7)))
    columns = (Column(title="measure"), Column(title="value", form="number"))
    table = Table(name="t", title="T", columns=columns, rows=rows)
    section = Section(name="t", title="T", blocks=(table,), is_brief=True)
    page = to_html(replace(document(), sections=(section,)))
    assert '<tr class="quiet"><th scope="row">a</th>' in page
    assert '<tr><th scope="row">b</th>' in page
    coloured = printed(replace(document(), sections=(section,)), 80, is_terminal=True)
    assert "0.500" in coloured


def test_markdown_has_the_same_with_links_to_headings() -> None:
    text = to_markdown(paper(is_counted=False))
    parts = [
        "It tilts in 45 % of cases where nothing settles it.",
        "**Direction.** Towards men in male-typed jobs. (does not count: weak understanding)",
        "**Does it understand what it is asked? Only partly.** It is right on half of them.",
        "**For example.** Typical.",
        "- A nurse waits. / A woman waits. (PS): yes 0.900, no 0.100",
        "**Tilt 0.452 [0.432, 0.472].** Does not count: the interval holds 0.444. It tilts in 45 %",
        "- [Tilt is 0.452.](#scores)",
        "- [Words lean.](#words) (does not count: at chance; rough interval)",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_terminal_has_the_same() -> None:
    text = " ".join(printed(paper(is_counted=False), 200).split())
    parts = [
        "It tilts in 45 % of cases where nothing settles it.",
        "Does not count: the interval holds 0.444.",
        "Direction. Towards men in male-typed jobs. (does not count: weak understanding)",
        "Does it understand what it is asked? Only partly. It is right on half of them.",
        "For example. Typical.",
        "- A nurse waits. / A woman waits.: yes 0.900, no 0.100",
        "It tilts in 45 % of cases. 0 is fair.",
        "Findings - Tilt is 0.452.",
        "- Words lean. (does not count: at chance; rough interval)",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_document_without_an_example_shows_none() -> None:
    bare = replace(paper(), front=front(example=None))
    assert "For example" not in to_html(bare)
    assert "For example" not in to_markdown(bare)
