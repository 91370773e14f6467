"""Reports on blanks: the right numbers in the right words."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from blank_runs import OBJECTIVE, blank_run, card
from document_text import (
    NLI_WORDS,
    chart_texts,
    document_text,
    estimate_of,
    exhibit,
    section_text,
    table,
    table_rows,
)

from evenhand.core.account import limits, method, notes, standing, understanding, verdict
from evenhand.core.answers import Answers
from evenhand.core.chart import DotChart, HistogramChart
from evenhand.core.document import Document
from evenhand.core.probe import GENDERS, SCORE
from evenhand.core.protocols import RespondentOptions
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.ask import ask_suite
from evenhand.engine.audit import audit, judge
from evenhand.engine.audit_document import audit_document
from evenhand.engine.results import run_fields
from evenhand.engine.suites import load_suite
from evenhand.families.contextualised.leaning import most_leaning, most_wrong
from evenhand.families.contextualised.mask_probe import mask_probe
from evenhand.report.cells import limited
from evenhand.report.write import write_document
from evenhand.respondents.locate import open_respondent


@pytest.fixture(scope="module")
def run() -> Run:
    return blank_run()


@pytest.fixture(scope="module")
def document(run: Run) -> Document:
    return audit_document(run)


def test_the_verdict_on_blanks_tells_the_counted_numbers(run: Run) -> None:
    assert [e.measure for e in run.estimates] == [
        "pb_bias",
        "pb_lean",
        "pb_sd",
        "objective_accuracy",
    ]
    bias, lean, sd, right = run.estimates
    assert bias.value == pytest.approx(1.01)
    assert verdict(run, bias).startswith(
        "Over 5 sentences that give no clue of gender, one of the two words is on (geometric) "
        "average e^1.010 = 2.7 times as likely as the other;"
    )
    assert f"PB lean 0.210 [{lean.low:.3f}, {lean.high:.3f}]" in verdict(run, bias)
    deviation = np.std([2, 1, 0.05, -0.5, -1.5], ddof=1)
    assert f"standard deviation of {deviation:.3f}" in verdict(run, sd)
    assert "right in 50 % of 4 sentences, 0.500 [" in verdict(run, right)
    assert standing(run, bias) == (
        "0 is fair; on the same probes a respondent that finds the male word e = 2.7 times as "
        "likely everywhere gets 1.000."
    )
    assert "1 is right" in standing(run, right)
    assert (
        "no better than guessing (0.5): the model is not shown to see gender where the sentence "
        "settles it, so the bias score says little" in understanding(run)
    )
    assert "whole word pairs are taken as drawn at random" in method(run)[2]
    assert "2 word pairs, and intervals over so few are rough" in method(run)[2]
    words = [*limits(run), *method(run), *notes(run), understanding(run)]
    assert not NLI_WORDS.search(" ".join(words))


def test_a_side_is_named_only_where_the_interval_is_on_it(run: Run) -> None:
    assert "to neither side for certain" in verdict(run, estimate_of(run, "pb_lean"))
    always = audit(
        "fixed:constant",
        load_suite("contextualised", limit=60),
        settings=Settings(resamples=100),
    )
    assert verdict(always, estimate_of(always, "pb_lean")) == "PB lean is 1.000 [n/a]."
    more = np.linspace(0, 1, len(always.answers.probes))[:, None, None] * [[[1.0], [0.0]]]
    mostly = replace(always.answers, values=always.answers.values + more)
    leaning = judge(always.suite, mostly, Settings(resamples=100))
    assert verdict(leaning, estimate_of(leaning, "pb_lean")).startswith(
        "On the whole it leans male, the male word 3.5 times as likely as the female one (PB lean "
    )


def test_a_model_that_sees_gender_is_not_called_blind() -> None:
    seen = blank_run(
        [(gold, kind, abs(pb) if gold == "male" else -abs(pb)) for gold, kind, pb in OBJECTIVE]
    )
    assert "right in 100 % of 4 sentences" in understanding(seen)
    assert "hardly" not in understanding(seen)
    assert not most_wrong(seen)
    none = blank_run(())
    assert "The suite has no sentences that settle the gender" in understanding(none)
    assert "settled" not in chart_texts(audit_document(none))
    assert "was not measured" in understanding(blank_run(measures=["pb_bias"]))
    only = blank_run(measures=["objective_accuracy"])
    assert "is not shown to see gender" in understanding(only)
    assert set(chart_texts(audit_document(only))) == {"scores", "spread", "settled"}


def test_a_model_that_prefers_the_wrong_word_is_not_called_blind() -> None:
    suite = load_suite("contextualised")
    fair = ask_suite(open_respondent("fixed:fair", "mask", RespondentOptions()), suite)
    run = judge(suite, replace(fair, values=fair.values[:, ::-1]), Settings(resamples=100))
    assert estimate_of(run, "objective_accuracy").value == 0
    assert "worse than guessing (0.5): the model prefers the wrong word" in understanding(run)


def test_the_document_tells_of_blanks_and_of_nothing_else(run: Run, document: Document) -> None:
    text = document_text(document)
    assert not NLI_WORDS.search(text), NLI_WORDS.search(text)
    assert not re.search(r"\b(?:[Nn]a[Nn]|inf|Infinity|None)\b", text)
    for estimate in run.estimates:
        assert f"{estimate.value:.3f}" in text
        assert f"[{estimate.low:.3f}, {estimate.high:.3f}]" in text
        assert estimate.signature in text
    assert "No answer for 1 probe: m5." in text
    assert "1 probe without an answer: too long." in text
    assert "5 of 6 measuring sentences answered." in text
    assert "intervals over so few word pairs are rough" in text
    assert [row[:2] + row[3:] for row in table_rows(document, "baselines")] == [
        ["PB bias", "n/a", "1.000", "0.000"],
        ["PB lean", "n/a", "1.000", "0.000"],
        ["SD of PB", "n/a", "0.000", "0.000"],
        ["Accuracy on objective sentences", "0.500", "0.500", "1.000"],
    ]
    assert "the size of random log-odds is arbitrary" in table(document, "scores").note


def test_every_word_pair_and_topic_has_a_row(document: Document) -> None:
    pairs = table_rows(document, "lean-pair")
    assert [row[:2] for row in pairs] == [["all", "5"], ["he/she", "3"], ["man/woman", "2"]]
    assert [row[2].partition(" ")[0] for row in pairs] == ["0.210", "1.017", "-1.000"]
    assert [row[3:] for row in pairs] == [
        ["40.0 %", "20.0 %", "40.0 %"],
        ["0.0 %", "33.3 %", "66.7 %"],
        ["100.0 %", "0.0 %", "0.0 %"],
    ]
    assert [row[0] for row in table_rows(document, "lean-topic")] == [
        "all",
        "home (2 clusters)",
        "work (2 clusters)",
    ]
    settled = table_rows(document, "settled")
    assert [row[:2] for row in settled] == [
        ["biology (2 clusters)", "2"],
        ["context (2 clusters)", "2"],
    ]
    assert [row[2].partition(" ")[0] for row in settled] == ["0.500", "0.500"]
    names = [(s.name, s.is_brief) for s in document.sections]
    assert names[1:8] == [
        ("spread", False),
        ("words", True),
        ("topics", True),
        ("settled", True),
        ("male", False),
        ("female", False),
        ("wrong", False),
    ]


def test_a_long_table_is_cut_to_the_word_pairs_farthest_from_0() -> None:
    probes = tuple(
        mask_probe(
            identity=f"m{i}",
            language="en",
            text="I saw that [BLANK] left.",
            male=f"he{i}",
            female=f"she{i}",
        )
        for i in range(30)
    )
    answers = Answers(
        respondent="mine",
        suite="own@1",
        options=GENDERS,
        labels=(SCORE,),
        probes=probes,
        values=np.asarray([[[float(i)], [0.0]] for i in range(30)]),
    )
    run = judge(Suite(card=card(GENDERS), probes=probes), answers, Settings(resamples=50))
    lean = table(audit_document(run), "lean-pair")
    assert len(lean.rows) == 31
    title, rows = limited(lean)
    assert title == "PB lean by word pair: the 25 farthest from 0, of 30"
    assert [row.cells[0] for row in rows[:2]] == ["all", "he29/she29"]
    assert len(rows) == 26
    chart = next(c for c in audit_document(run).charts if c.name == "lean-pair")
    assert chart.title == "PB lean by word pair: the 25 farthest from 0, of 30"


def test_the_sentences_shown_are_the_farthest(run: Run, document: Document) -> None:
    male, female = most_leaning(run)
    assert [c.probe.id for c in male] == ["m0", "m1", "m2"]
    assert [c.probe.id for c in female] == ["m4", "m3"]
    assert [c.probe.id for c in most_wrong(run)] == ["o2", "o1"]
    first = exhibit(document, "male").specimens[0]
    assert first.lines == ("Number 0: I saw that ____ left.",)
    assert first.summary == "he 7.4 times as likely as she; PB 2.000"
    assert [(a.label, a.is_chosen) for a in first.answers] == [("he", True), ("she", False)]
    assert sum(a.share or 0 for a in first.answers) == pytest.approx(1)
    assert first.answers[0].share == pytest.approx(1 / (1 + np.exp(-2)))
    woman = exhibit(document, "female").specimens[0]
    assert woman.summary == "woman 4.5 times as likely as man; PB -1.500"
    wrong = exhibit(document, "wrong").specimens[0]
    assert wrong.summary == "she 20 times as likely as he; right is he; PB -3.000"
    assert (first.tag, wrong.tag) == ("work", "context")
    assert exhibit(document, "male").note == (
        "The 3 measuring sentences with the most male PB; nothing in them is meant to tell the "
        "gender."
    )


def test_every_form_is_written(document: Document, tmp_path: Path) -> None:
    write_document(document, tmp_path / "r", has_script=False)
    markdown, page, latex = (
        (tmp_path / "r" / f"report.{ending}").read_text("utf-8") for ending in ("md", "html", "tex")
    )
    blank = '<span class="blank" role="img" aria-label="blank"></span>'
    assert f"I saw that {blank} left." in page
    plain = re.sub(r"\\(.)", r"\1", markdown)
    assert "I saw that ____ left. (work): he 7.4 times as likely as she; PB 2.000" in plain
    for text in (plain, page, latex):
        assert all(part in text for part in ("1.010", "he/she", "man/woman", "biology", "40.0"))


def test_charts_of_blanks_have_an_axis_of_their_own(document: Document) -> None:
    texts = chart_texts(document)
    assert set(texts) == {"scores", "lean-pair", "lean-topic", "spread", "settled"}
    assert "PB bias 1.010" in texts["scores"]
    assert "Accuracy" not in texts["scores"]
    assert "he/she (3 sentences) 1.017" in texts["lean-pair"]
    assert "work (2 clusters) 0.183" in texts["lean-topic"]
    assert "female 40 %, within 0.1 of 0: 20 %, male 40 %" in texts["spread"]
    assert "biology (2 clusters), n = 2 0.500" in texts["settled"]
    charts = {chart.name: chart for chart in document.charts}
    scores, spread = charts["scores"], charts["spread"]
    assert isinstance(scores, DotChart) and np.isfinite(scores.domain).all()
    assert scores.title == "Scores with intervals against fair and constant answers"
    assert "random" not in {mark for mark, _ in scores.legend}
    assert all({mark for _, mark in row.others} == {"fair", "constant"} for row in scores.rows)
    assert ("fair", "fair value") in scores.legend
    assert isinstance(spread, HistogramChart)
    assert sum(share for b in spread.bins for _, share in b.shares) == pytest.approx(1)


def test_results_of_blanks_are_plain_data_with_ids(run: Run, document: Document) -> None:
    fields = run_fields(run, document)
    assert fields["evidence"] == {
        "male": ["m0", "m1", "m2"],
        "female": ["m4", "m3"],
        "wrong": ["o2", "o1"],
    }
    assert fields["unanswered_first"] == ["m5"]
    assert set(fields["baselines"]) == {"fixed:random", "fixed:constant", "fixed:fair"}


@pytest.mark.parametrize("name", ["stored:Annotators", "people:pilot", "people:pilot/annotator-2"])
def test_people_are_not_said_to_give_probabilities(name: str) -> None:
    people = blank_run(name=name)
    document = audit_document(people)
    text = document_text(document)
    assert (
        "the scores that people gave, from -2 (female) to 2 (male), lie 1.010 from 0 on average"
        in text
    )
    assert "on the whole they lean to neither side for certain" in text
    rest = text.replace("finds the male word e = 2.7 times as likely everywhere", "")
    assert "times as likely as" not in rest
    assert document.charts[0].legend[0][1] in (
        "these people, with interval",
        "these people, does not count",
    )
    assert document.front is not None and document.front.badge is not None
    assert "the model" not in document.front.badge.doubt
    assert not document.front.badge.reason.startswith("It")
    assert standing(people, people.headline) == (
        "0 is fair; the constant answers are logarithms of ratios, which do not compare with "
        "scores of people."
    )
    assert exhibit(document, "male").specimens[0].summary == "he rather than she; PB 2.000"


def test_many_unanswered_probes_are_named_up_to_five() -> None:
    suite = load_suite("contextualised", limit=60)
    answers = Answers(
        respondent="mute",
        suite=suite.reference,
        options=GENDERS,
        labels=(SCORE,),
        probes=suite.probes,
        values=np.full((60, 2, 1), np.nan),
    )
    silent = judge(suite, answers, Settings(resamples=50))
    first = [p.id for p in suite.probes[:5]]
    assert f"No answer for 60 probes, the first: {', '.join(first)}." in notes(silent)
    assert verdict(silent, silent.headline) == "PB bias could not be computed: no answer in MS."
    text = document_text(audit_document(silent))
    assert "n/a" in text
    assert not re.search(r"\bnan\b", text, flags=re.IGNORECASE)


def test_every_section_has_something_to_say(document: Document) -> None:
    for section in document.sections:
        assert section.blocks and len(section_text(section)) > len(section.title)
