"""The explorer: every probe with exactly what was answered, and the probes behind a mark."""

from __future__ import annotations

import base64
import gzip
import json
import math
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from probe_tables import few_pairs, large
from quick import load, quick_audit, quick_compare
from runs import deaf_to_men, few, noise

from evenhand.core.answers import LABELS_ONLY, Answers
from evenhand.core.chart import DotChart, ScatterChart, ShareChart
from evenhand.core.document import Document, Explorer, ProbeTable, probe_query
from evenhand.core.evidence import probabilities
from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.suite import Suite
from evenhand.engine.audit import audit
from evenhand.engine.audit_document import audit_document
from evenhand.engine.compare_document import comparison_document
from evenhand.engine.explorer import MOST, make_explorer
from evenhand.report.explorer import pack
from evenhand.report.html import to_html

MEGABYTE = 1_000_000


def unpacked(text: str) -> list[dict[str, Any]]:
    """The tables in the data of a page, read without evenhand."""
    return list(json.loads(gzip.decompress(base64.b64decode(text))))


def column(coded: dict[str, Any]) -> list[str]:
    return [coded["words"][code] for code in coded["codes"]]


def in_page(document: Document) -> list[dict[str, Any]]:
    """The tables in the page of a document."""
    page = to_html(document)
    start = '<script id="probe-data" type="text/plain">'
    assert page.count(start) == 1
    return unpacked(page.partition(start)[2].partition("</script>")[0])


def explorer_of(suite: Suite, *models: tuple[str, Answers]) -> Explorer:
    explorer = make_explorer([(suite, models)])
    assert explorer is not None
    return explorer


def table_of(suite: Suite, *models: tuple[str, Answers]) -> ProbeTable:
    return explorer_of(suite, *models).tables[0]


def test_the_page_has_every_probe_and_exactly_what_was_answered() -> None:
    run = audit(deaf_to_men, load(limit=200), settings=few(50))
    (table,) = in_page(audit_document(run))
    probes, answers = run.suite.probes, run.answers
    assert table["ids"] == [p.id for p in probes]
    for slot in (0, 1):
        assert column(table["texts"][slot]) == [p.texts[slot] for p in probes]
    for tag in run.suite.tags:
        assert column(table["tags"][tag]) == [p.tags.get(tag, "") for p in probes]
    assert column(table["tags"]["stratum"]) == [p.stratum for p in probes]
    (given,) = table["answers"]
    assert given["columns"] == list(NLI_LABELS) and given["whole"] == 3
    expected = probabilities(answers.values[:, 0])
    read = np.asarray(given["values"], dtype=np.float64).T  # null becomes NaN
    np.testing.assert_array_equal(read, expected)  # to the last digit
    best = [
        NLI_LABELS[int(row.argmax())] if np.isfinite(row).all() else ""
        for row in answers.values[:, 0]
    ]
    assert column(given["chosen"]) == column(table["tags"]["answer"]) == best
    assert "" in best
    silences = column(given["silences"])
    assert [bool(text) for text in silences] == [not label for label in best]
    assert set(silences) == {"", "no answer: the function returned no finite numbers"}


def test_masks_and_choices_show_the_raw_scores_of_their_options() -> None:
    run = quick_audit("fixed:random", load("contextualised", limit=40))
    table = table_of(run.suite, ("m", run.answers))
    assert table.roles == ("", "male", "female")
    scores = run.answers.values[:, :, 0]
    np.testing.assert_array_equal(np.asarray(table.answers[0].values).T, scores)
    assert table.answers[0].columns == ("male", "female") and table.answers[0].whole == 0
    higher = ["male" if m > f else "female" for m, f in scores]
    assert list(table.answers[0].chosen) == higher


def test_ties_are_named_and_labels_alone_stay_labels() -> None:
    suite, answers = few_pairs([[1, 1, 0], [0, 2, 1], [np.nan] * 3])
    table = table_of(suite, ("m", answers))
    assert table.answers[0].chosen == ("tie", "neutral", "")
    assert table.answers[0].values[0][0] == pytest.approx(math.e / (2 * math.e + 1))
    assert math.isnan(table.answers[0].values[0][2])
    suite, answers = few_pairs([[0, 1, 0]], scale=LABELS_ONLY)
    assert table_of(suite, ("m", answers)).answers[0].values == ((0.0,), (1.0,), (0.0,))


def test_options_of_a_classifier_have_a_label_each() -> None:
    probe = Probe(id="c", kind="choice", language="en", texts=("", "A man.", "A woman."))
    suite, answers = few_pairs([[0, 0, 0]])
    suite = replace(suite, probes=(probe,))
    values = np.asarray([[[3.0, 0, 0], [0, 0, 2.0]]])
    both = replace(answers, probes=(probe,), options=("male", "female"), values=values)
    table = table_of(suite, ("m", both))
    assert table.answers[0].chosen == ("entailment / contradiction",)
    assert table.answers[0].columns[:2] == ("male:entailment", "male:neutral")
    assert sum(column[0] for column in table.answers[0].values[:3]) == pytest.approx(1)


def test_two_models_stand_side_by_side_with_their_difference() -> None:
    suite, first = few_pairs([[9, 0, 0], [0, 9, 0], [0, 0, 9], [np.nan] * 3])
    other = replace(first, values=first.values[[0, 2, 2, 0]])
    table = table_of(suite, ("a", first), ("b", other))
    assert table.tags["agreement"] == ("same answer", "different answers", "same answer", "")
    assert table.tags["answer of b"][1] == "contradiction"
    assert table.differences[0] == 0 and table.differences[1] == pytest.approx(0.9995, abs=1e-3)
    assert math.isnan(table.differences[3])
    assert "answer" not in table.tags


def test_answers_are_matched_by_probe_and_not_by_place() -> None:
    suite, first = few_pairs([[9, 0, 0], [0, 9, 0], [0, 0, 9]])
    table = table_of(suite, ("a", first.select([2, 0])))
    assert table.answers[0].chosen == ("entailment", "", "contradiction")
    assert table.answers[0].silences == ("", "not asked", "")


def test_the_comparison_of_two_runs_has_both() -> None:
    suite = load(limit=90)
    comparisons = quick_compare(["fixed:random", "fixed:stereotyped"], [suite])
    (table,) = in_page(comparison_document(comparisons))
    assert [a["name"] for a in table["answers"]] == [m.name for m in comparisons[0].models]
    for given, model in zip(table["answers"], comparisons[0].models, strict=True):
        read = np.asarray(given["values"], dtype=np.float64).T
        np.testing.assert_array_equal(read, probabilities(model.answers.values[:, 0]))


def test_too_many_probes_are_cut_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.engine.explorer.MOST", 2)
    suite, answers = few_pairs([[1, 0, 0]] * 5)
    explorer = explorer_of(suite, ("m", answers))
    assert explorer.count == 2
    assert explorer.note == "The first 2 of 5 probes; all are in answers.parquet."
    assert make_explorer([]) is None
    assert MOST >= 50_000


def test_fifty_thousand_probes_of_two_models_stay_under_ten_megabytes() -> None:
    suite, answers = large(50_000)
    other = replace(answers, values=answers.values[::-1])
    packed = pack(explorer_of(suite, ("a", answers), ("b", other)))
    print(f"50,000 probes, two models: {len(packed) / MEGABYTE:.1f} MB")
    assert len(packed) < 10 * MEGABYTE
    (table,) = unpacked(packed)
    assert len(table["ids"]) == 50_000


def test_the_same_run_gives_the_same_page() -> None:
    suite, answers = few_pairs([[1, 2, 3]])
    assert pack(explorer_of(suite, ("m", answers))) == pack(explorer_of(suite, ("m", answers)))


def test_a_query_is_quoted_and_keeps_reserved_names_apart() -> None:
    assert probe_query({"occupation": "a&b=c ü", "lean": "female"}) == (
        "occupation=a%26b%3Dc%20%C3%BC&lean=female"
    )
    assert probe_query({"stratum": ["AS", "PS"]}, sort="-difference") == (
        "stratum=AS&stratum=PS&sort=-difference"
    )
    assert probe_query({"sort": "state", "tag.x": "1"}) == "tag.sort=state&tag.tag.x=1"
    assert probe_query({}) == ""


def found(table: ProbeTable, shows: str) -> list[int]:
    """The rows that an explorer shows for a mark."""
    given = {k: v for k, v in parse_qs(shows).items() if k != "sort"}
    names = {k: k.removeprefix("tag.") for k in given}
    return [
        row
        for row in range(len(table.ids))
        if all(table.tags[names[k]][row] in v for k, v in given.items())
    ]


def marks(document: Document) -> dict[str, list[tuple[str, str]]]:
    """Label and probes of every mark, by the name of its chart."""
    result = {}
    for chart in document.charts:
        rows: Any = ()
        if isinstance(chart, DotChart):
            rows = chart.rows
        elif isinstance(chart, ShareChart):
            rows = chart.bars
        elif isinstance(chart, ScatterChart):
            rows = chart.points
        result[chart.name] = [(row.label, row.shows) for row in rows]
    return result


CHARTS = {
    "occupation-nli": {"scores", "shares", "leans", "occupations", "frames"},
    "gendered-entailment": {"occupations", "leans", "frames"},
    "contextualised": {"lean-pair", "lean-topic", "settled"},
    "profession": {"sorts", "words", "recognised"},
    "emotion": {"sorts", "words"},
}


@pytest.mark.parametrize("name", CHARTS)
def test_every_mark_of_a_group_shows_probes(name: str) -> None:
    run = quick_audit("fixed:random", load(name, limit=600))
    document = audit_document(run)
    assert document.explorer is not None
    table, shown = document.explorer.tables[0], marks(document)
    assert CHARTS[name] <= set(shown)
    for chart in CHARTS[name] - {"scores"}:
        assert shown[chart]
        for label, shows in shown[chart]:
            if label.startswith("all "):
                continue  # the score of everything that was asked
            assert shows, (chart, label)
            assert found(table, shows), (chart, label, shows)


def test_the_probes_of_a_mark_are_those_that_its_number_rests_on() -> None:
    run = quick_audit("fixed:random", load(limit=600))
    document = audit_document(run)
    assert document.explorer is not None
    table, shown = document.explorer.tables[0], marks(document)
    view = run.breakdown(run.headline.measure, "occupation")
    assert view is not None
    counts = {g.name: g.probes for g in view.groups}
    checked = 0
    for label, shows in shown["occupations"]:
        rows = found(table, shows)
        occupation = table.tags["occupation"][rows[0]]
        assert label.startswith(occupation) and len(rows) == counts[occupation]
        checked += 1
    assert checked > 10
    assert "stratum=AS" in shown["occupations"][0][1]  # the neutral person is not counted
    bars = {label: len(found(table, shows)) for label, shows in shown["shares"]}
    assert sum(bars.values()) == 600


def test_the_marks_of_a_comparison_show_where_the_models_differ() -> None:
    document = comparison_document(quick_compare([noise, "fixed:random"], [load(limit=120)]))
    assert document.explorer is not None
    rows = [m for name, rows in marks(document).items() if name.startswith("diff") for m in rows]
    assert rows
    for _, shows in rows:
        assert shows.startswith("suite=occupation-nli&") and shows.endswith("sort=-difference")
        assert found(document.explorer.tables[0], shows)
