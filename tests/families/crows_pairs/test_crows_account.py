"""Reports on CrowS-Pairs: the right numbers in the right words."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from document_text import NLI_WORDS, chart_texts, document_text, estimate_of, exhibit, table_rows
from preference_runs import preference_run

from evenhand.core.account import method, notes, standing, understanding, verdict
from evenhand.core.answers import Answers
from evenhand.core.chart import DotChart
from evenhand.core.document import Document
from evenhand.core.probe import NLI_LABELS, PREFERENCES
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.engine.audit import judge
from evenhand.engine.audit_document import audit_document
from evenhand.engine.results import run_fields
from evenhand.report.write import write_document


@pytest.fixture(scope="module")
def run() -> Run:
    return preference_run()


@pytest.fixture(scope="module")
def document(run: Run) -> Document:
    return audit_document(run)


def test_ties_are_counted_as_the_score_does(run: Run, document: Document) -> None:
    shared, changed, whole = run.estimates
    assert [e.measure for e in run.estimates] == ["crows_shared", "crows_changed", "crows_whole"]
    assert shared.value == pytest.approx((2 + 0.5) / 4)  # 0.0002 is a tie to three decimals
    assert changed.value == pytest.approx(3 / 4)
    assert table_rows(document, "outcomes") == [
        ["shared tokens", "4", "2", "1", "1"],
        ["changed tokens", "4", "3", "0", "1"],
        ["whole sentences", "0", "0", "0", "0"],
    ]
    assert [e.ties for e in run.estimates] == [1, 0, 0]
    fields = run_fields(run, document)
    assert [e["ties"] for e in fields["estimates"]] == [1, 0, 0]
    assert "In 62 % of 4 pairs" in verdict(run, shared)
    assert "1 tie counts half" in verdict(run, shared)
    assert "could not be computed" in verdict(run, whole)
    assert (
        "CrowS-Pairs, shared tokens: 1 pair in which both sentences get the same number to 3 "
        "decimals; they count half, against in its official form." in notes(run)
    )


def test_ties_of_estimates_results_and_tables_are_the_same(run: Run) -> None:
    """Also of a classifier: three numbers an option, of which the first is compared."""
    numbers = run.answers.values
    classified = Answers(
        respondent="classifier",
        suite=run.suite.reference,
        options=PREFERENCES,
        labels=NLI_LABELS,
        probes=run.suite.probes,
        values=np.concatenate([numbers, numbers * 0, numbers * 0 + 1.0], axis=2),
    )
    judged = judge(run.suite, classified, Settings(resamples=50))
    document = audit_document(judged)
    counts = {e.measure: e.ties for e in judged.estimates}
    assert counts == {"crows_shared": 1, "crows_changed": 0, "crows_whole": 0}
    assert [e["ties"] for e in run_fields(judged, document)["estimates"]] == [1, 0, 0]
    assert [row[3] for row in table_rows(document, "outcomes")] == ["1", "0", "0"]
    assert [row[4] for row in table_rows(document, "coverage")] == ["1", "0", "0"]


def test_the_document_tells_that_three_scores_share_a_name(run: Run, document: Document) -> None:
    text = document_text(document)
    assert "hree different scores" in text
    assert not NLI_WORDS.search(text), NLI_WORDS.search(text)
    assert not re.search(r"\bnan\b", text, flags=re.IGNORECASE)
    assert "No answer for 4 probes: c0/whole, c1/whole, c2/whole, c3/whole." in text
    assert "0 of 4 pairs answered (whole sentences)." in text
    assert all(name in text for name in ("official", "stereo", "antistereo", "age", "gender"))
    assert "0.625" in text
    assert exhibit(document, "stereotypical").note.startswith(
        "The 2 pairs with the greatest difference by the summed log-probability of the tokens "
        "that both sentences share"
    )
    assert text.index("Old sentence 3.") < text.index("Old sentence 0.")
    assert text.index("Old sentence 0.") < text.index("Old sentence 2.")
    texts = chart_texts(document)
    assert set(texts) == {"scores", "types"}
    assert "age (2 clusters): CrowS-Pairs, shared tokens 0.750" in texts["types"]
    assert understanding(run) == (
        "Three different scores go by the name CrowS-Pairs; this is that of Nangia et al. 2020. "
        "Measured beside it, and not to be compared: changed tokens "
        "(bias-bench, Meade et al. 2022) 0.750 and whole sentences (Salazar et al. 2020) n/a."
    )


def test_writers_are_drawn(run: Run) -> None:
    assert (
        "whole writers are taken as drawn at random (BCa bootstrap, 100 resamples)"
        in method(run)[2]
    )
    assert "because several pairs by one of them are one look" in method(run)[2]


def test_kinds_of_bias_stand_in_one_chart_and_one_table(document: Document) -> None:
    chart = next(c for c in document.charts if c.name == "types")
    assert isinstance(chart, DotChart)
    assert [(r.label, r.mark, r.is_apart) for r in chart.rows] == [
        ("", "first", False),
        ("age (2 clusters)", "second", False),
        ("", "third", False),
        ("", "first", True),
        ("gender (2 clusters)", "second", False),
        ("", "third", False),
    ]
    assert (chart.base, chart.sides) == (0.5, ("← other", "stereotypical →"))
    types = table_rows(document, "types")
    assert [row[:2] for row in types] == [
        ["age (2 clusters)", "2"],
        ["gender (2 clusters)", "2"],
    ]
    assert [row[2].partition(" ")[0] for row in types] == ["0.750", "0.500"]
    parts = table_rows(document, "parts")
    assert [row[0] for row in parts] == ["shared tokens", "changed tokens", "whole sentences"]
    assert parts[0][1].startswith("0.500 [")


def test_the_pairs_shown_are_those_with_the_clearest_preference(document: Document) -> None:
    more, less = exhibit(document, "stereotypical"), exhibit(document, "other")
    assert [s.id for s in more.specimens] == ["c3/shared", "c0/shared"]  # 0.0002 is a tie
    assert [s.id for s in less.specimens] == ["c2/shared"]
    assert more.specimens[0].summary == "the stereotypical sentence by 4.000"
    assert less.specimens[0].summary == "the other sentence by 1.000"
    assert more.specimens[0].lines == ("Old sentence 3.", "Young sentence 3.")
    assert more.specimens[0].tag == "age"


def test_every_form_is_written(document: Document, tmp_path: Path) -> None:
    write_document(document, tmp_path / "r", has_script=False)
    markdown, page = ((tmp_path / "r" / f"report.{e}").read_text("utf-8") for e in ("md", "html"))
    assert "- Old sentence 3. / Young sentence 3. (age): the stereotypical sentence by 4.000" in (
        markdown
    )
    assert page.count("Young sentence 3.") == 1
    for text in (markdown, page, (tmp_path / "r" / "report.tex").read_text("utf-8")):
        assert all(part in text for part in ("0.625", "official", "antistereo"))


def test_the_constant_respondent_of_pairs_of_sentences_is_told_as_it_is(
    run: Run, document: Document
) -> None:
    assert "the same number for both sentences gets 0.500" in standing(
        run, estimate_of(run, "crows_shared")
    )
    assert "always the more stereotypical" not in document_text(document)
