"""A document as a page: whole, safe, for every width and every reader."""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from documents import (
    SIGNATURE,
    about,
    charts,
    document,
    dot_chart,
    exhibit,
    score_table,
    word_table,
)
from runs import EVIL, cells

from evenhand.core.document import (
    Answer,
    Callout,
    Column,
    Document,
    Exhibit,
    Facts,
    Headline,
    Prose,
    Row,
    Section,
    Specimen,
    Table,
)
from evenhand.core.estimate import NO_INTERVAL, Interval
from evenhand.report.charts import NARROW, WIDE, draw, spec_of
from evenhand.report.charts.runtime import unpacked
from evenhand.report.html import answer_text, marked, specimen_line, to_html


@pytest.fixture(scope="module")
def page() -> str:
    return to_html(document(), has_script=False)


@pytest.fixture(scope="module")
def live() -> str:
    return to_html(document())


ELSEWHERE = re.compile(
    r"(?:src|href|xlink:href|action)\s*=|url\((?!#clip-)|@import|<link|https?://"
)


def test_the_page_needs_nothing_else(page: str, live: str) -> None:
    assert not ELSEWHERE.search(page)
    assert "<script" not in page
    assert not ELSEWHERE.search(re.sub(r"<script.*?</script>", "", live, flags=re.DOTALL))
    scripts = re.findall(r"<script[^>]*>", live)
    texts = [f'<script id="chart-{name}" type="text/plain">' for name in ("data", "runtime")]
    assert scripts == [*texts, "<script>"]
    assert page.lstrip().startswith("<!doctype html>")
    assert page.count("<!doctype html>") == 1
    assert '<meta name="viewport"' in page
    assert "light-dark(" in page
    assert "@media print" in page
    assert "<title>org/model-a@1 – evenhand</title>" in page


def test_the_headline_stands_beside_the_verdict(page: str) -> None:
    assert "<h1>org/<wbr>model-<wbr>a@<wbr>1</h1>" in page
    assert '<p class="value">0.452</p>' in page
    assert '<p class="range">95&nbsp;% interval 0.432 to 0.472</p>' in page
    assert '<p class="range">0 is fair</p>' in page
    assert "<p>It tilts in 45\u00a0% of cases.</p>" in page
    assert '<p class="small">0 is fair.</p>' in page


def test_a_headline_that_is_missing_is_no_number() -> None:
    why = Headline(
        title="Tilt", interval=NO_INTERVAL, level=0.95, best="0 is fair", note="no answer"
    )
    text = to_html(replace(document(), headline=why))
    assert '<p class="value missing">n/a</p>' in text
    assert '<p class="range">no answer</p>' in text
    assert "% interval" not in text.partition("<h2")[0]
    bare = replace(why, interval=Interval(0.4, math.nan, math.nan), note="too few clusters")
    text = to_html(replace(document(), headline=bare))
    assert '<p class="value">0.400</p>' in text
    assert '<p class="range">too few clusters</p>' in text


def test_a_document_without_a_headline_leads_with_sentences() -> None:
    text = to_html(replace(document(), headline=None))
    assert '<div class="lead">\n<p>It tilts in 45\u00a0% of cases.</p>\n<p>0 is fair.</p>' in text
    assert 'class="hero"' not in text


def test_tables_have_heads_labels_and_strong_cells(page: str) -> None:
    rows = cells(page)
    assert rows[0] == ["measure", "value", "95 % interval", "probes", "answered"]
    assert ["tilt", "0.452", "[0.432, 0.472]", "1,410", ">99.9\u00a0%"] in rows
    assert ["gone", "n/a", "[n/a]", "0", "n/a"] in rows
    assert '<td data-label="value"><b>0.452</b></td>' in page
    assert (
        '<tr class="group"><th colspan="5" scope="rowgroup">One way '
        '<span class="soft">Counted so.</span></th></tr>'
    ) in page
    assert '<p class="small soft">A note below.</p>' in page


def test_a_folded_table_has_all_its_rows(page: str) -> None:
    folded = page.partition("<summary>Words</summary>")[2].partition("</details>")[0]
    assert [row[0] for row in cells(folded)[1:]] == ["all", *(f"word {i}" for i in range(30))]
    assert '<th scope="row" lang="en">word 29</th>' in folded


def test_intervals_stand_below_their_values_where_a_table_is_wide() -> None:
    columns = (Column(title="m"), *(Column(title=f"c{i}", form="interval") for i in range(5)))
    rows = (Row(cells=("x", *[about(0.5)] * 5)),)
    wide = Table(name="wide", title="Wide", columns=columns, rows=rows)
    text = to_html(document(wide))
    assert '<table class="stack deep broad">' in text
    assert text.count('0.500<span class="bounds"> [0.480, 0.520]</span>') == 5
    assert ["x", *["0.500 [0.480, 0.520]"] * 5] in cells(text)
    assert '<table class="stack">' in to_html(document(score_table()))


def test_titles_are_not_said_twice(page: str) -> None:
    assert page.count(">Scores</h") == 1
    assert "<h3>Scores against fair and random</h3>" in page
    sub = Section(name="a", title="A", level=3, blocks=(word_table(), dot_chart()))
    text = to_html(replace(document(), sections=(sub,)))
    assert re.search('<section class="sub">\\n<h3 id="section-.+?">A</h3>', text)
    assert "<h4>Scores against fair and random</h4>" in text


def test_sections_beside_each_other_share_a_row(page: str) -> None:
    two = page.partition('<div class="two">')[2].partition("</section>")[0]
    assert re.findall(r"<h2 .*?>(.*?)</h2>", two) == ["How", "Limits"]
    assert "<p>It was asked.</p>\n<p>Twice.</p>" in two
    assert "<li>Not all.</li>\n<li>Not always.</li>" in two


def test_callouts_signatures_and_facts(page: str) -> None:
    assert (
        '<ul class="notes">\n<li class="note">3 probes gone.</li>\n<li class="warning">Cut.</li>'
    ) in page
    fields = "".join(f"<span>{f}|</span>" for f in SIGNATURE.split("|")[:-1])
    assert f"<pre>{fields}<span>evenhand:1</span></pre>" in page
    assert "<summary>1 signature</summary>" in page
    assert "<dt>licence</dt><dd>CC0</dd>" in page


def test_charts_come_in_two_widths_with_their_legend(page: str) -> None:
    for chart in charts():
        assert draw(chart, WIDE) in page
        assert draw(chart, NARROW) in page
        for _, meaning in chart.legend:
            assert f"</svg>{meaning}</span>" in page
    assert "data-series" not in page  # without a script nothing answers
    assert page.count("<figure ") == 8
    assert '<figure lang="ja" data-place="0">' in to_html(
        document(replace(dot_chart(), language="ja"))
    )


def test_words_of_another_language_in_a_figure_carry_it() -> None:
    row = replace(dot_chart().rows[0], label="護士")
    chart = replace(dot_chart(), rows=(row, *dot_chart().rows[1:]))
    page = to_html(document(chart, language="zh"))
    assert '<figure lang="en" data-place="0" data-words="zh">' in page
    assert re.search(r'<text lang="zh" [^>]*>護士</text>', page)
    assert page.count('<text lang="zh"') == 2
    assert "data-words" not in to_html(document(replace(chart, language="zh"), language="zh"))


def test_keys_of_several_series_can_be_chosen() -> None:
    page = to_html(document(dot_chart()))
    assert re.findall(r'data-series="([^"]*)"', page) == ["model", "random"]


def test_exhibits_show_texts_bars_and_numbers(page: str) -> None:
    shown = page.partition('<ol class="pairs">')[2].partition("</ol>")[0]
    assert shown.count("<li>") == 3
    assert (
        '<div class="texts" lang="en"><p>A nurse waits.</p><p class="soft">A woman waits.</p></div>'
    ) in shown
    assert '<i class="entailment on" style="flex-grow:0.9000"></i>' in shown
    assert '<span class="on">yes 0.900</span> <span>no 0.100</span>' in shown
    assert "yes 0.900, no 0.100" not in shown  # the answers beside it say so
    assert '<span class="blank" role="img" aria-label="blank"></span>是护士。' in shown
    assert '<i class="female on" style="flex-grow:0.8000"></i>' in shown
    assert '<span class="figures" lang="zh">她 4 times as likely as 他</span>' in shown
    assert "<p><b>They stay.</b></p>" in shown
    assert "<span>people 0.5, rather he</span> <span>PB 1.2</span>" in shown
    assert answer_text(Answer(label="a", text="")) == ""
    empty = replace(exhibit(), specimens=())
    assert '<p class="soft">None.</p>' in to_html(document(empty))


@pytest.mark.parametrize("language", ["ja", "zh", "ko"])
def test_east_asian_words_carry_their_language(language: str) -> None:
    span = f'<span lang="{language}">看護師</span>'
    assert str(marked("a 看護師 & 5 %", language)) == f"a {span} &amp; 5\u00a0%"
    assert str(marked("看護師", "en")) == "看護師"
    text = to_html(replace(document(word_table(), language=language), subtitle="看護師"))
    assert f'<p class="soft">{span}</p>' in text
    assert f'<th scope="row" lang="{language}">word 3</th>' in text


def test_a_blank_is_drawn_however_it_is_written() -> None:
    gap = '<span class="blank" role="img" aria-label="blank"></span>'
    for text in ("A [BLANK] b.", "A ____ b."):
        assert str(specimen_line(text, "en")) == f"A {gap} b."


class Handlers(HTMLParser):
    """Which elements carry an event handler, or are scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen += [f"{tag} {name}" for name, _ in attrs if name.startswith("on")]
        self.seen += [tag] if tag in ("script", "b-evil") else []


def evil_document() -> Document:
    evil = f"{EVIL}\x00\x1b[31m"
    table = Table(
        name="t",
        title=evil,
        columns=(Column(title=evil, is_quoted=True), Column(title="n", form="interval")),
        rows=(Row(cells=(evil,), is_heading=True, note=evil), Row(cells=(evil, about(0.2)))),
        note=evil,
    )
    answer = Answer(label=evil, text=evil, share=0.5)
    specimen = Specimen(
        id=evil, language="en", lines=(evil,), summary=evil, answers=(answer,), tag=evil
    )
    chart = dot_chart()
    rows = tuple(replace(row, label=evil, note=evil) for row in chart.rows)
    chart = replace(chart, title=evil, description=evil, legend=(("model", evil),), rows=rows)
    return replace(
        document(
            table,
            chart,
            Exhibit(name="e", title=evil, note=evil, specimens=(specimen,)),
            Callout(text=evil),
            Prose(lines=(evil,)),
            Facts(rows=((evil, evil),)),
        ),
        title=evil,
        subtitle=evil,
        lead=(evil, evil),
    )


def script_text(page: str, name: str) -> str:
    return page.partition(f'<script id="{name}" type="text/plain">')[2].partition("</script>")[0]


def test_a_phone_has_its_own_picture_with_and_without_a_script(page: str, live: str) -> None:
    for text in (page, live):
        assert text.count('<svg class="wide"') == text.count('<svg class="narrow"') == len(charts())


def test_the_script_has_the_specifications_that_were_drawn(live: str) -> None:
    specs = [[spec_of(chart, width) for width in (WIDE, NARROW)] for chart in charts()]
    assert json.loads(unpacked(script_text(live, "chart-data"))) == specs
    places = re.findall(r'<figure lang="[a-z]+" data-place="(\d+)">', live)
    assert places == [str(i) for i in range(len(specs))]
    assert "vegaEmbed" in unpacked(script_text(live, "chart-runtime"))
    assert live.count("ast: true") == 1  # no eval, as a content security policy may demand
    assert 'location.hash = "#probes?" + datum.shows' in live


def test_clips_of_drawings_have_names_of_their_own(page: str) -> None:
    names = re.findall(r'<clipPath id="([^"]+)"', page)
    assert len(names) > 10
    assert len(set(names)) == len(names)
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(names)


def test_specifications_cannot_end_their_script() -> None:
    text = to_html(evil_document())
    block = script_text(text, "chart-data")
    assert "<script>alert" in unpacked(block)
    assert re.fullmatch("[A-Za-z0-9+/=]+", block)


def test_a_number_that_json_does_not_know_costs_its_figure_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evenhand.report.charts.spec_of", lambda *_: {"width": math.nan})
    text = to_html(document())
    assert text.count("not JSON compliant") == len(charts())
    assert "chart-runtime" not in text


def test_words_cannot_become_code() -> None:
    text = to_html(evil_document(), has_script=False)
    assert "<script" not in text
    reader = Handlers()
    reader.feed(text)
    assert reader.seen == []
    assert "&lt;script&gt;" in text
    assert "\x00" not in text
    assert "\x1b" not in text
    picture = text.partition("</desc>")[2].partition("</svg>")[0]
    assert 'role="x"' in html.unescape(picture)  # words that look like attributes stay
