"""A report on occupation pairs says, shows and draws the shares that can be counted by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest
from pair_answers import TWO_LABELS, judged, noise

from evenhand.core import account
from evenhand.core.chart import DotChart, ShareChart
from evenhand.core.document import Prose, Section, Table
from evenhand.core.probe import NLI_LABELS
from evenhand.core.run import Run
from evenhand.core.suite import Suite
from evenhand.core.text import percent
from evenhand.engine.suites import load_suite
from evenhand.families.effects_account import Effects, effect_verdict, effects_verdict
from evenhand.families.nli_coal.account import (
    STRATUM_RULES,
    biased_probabilities,
    most_biased,
    sections,
)
from evenhand.families.pairs import stratum_shares


@pytest.fixture(scope="module")
def run() -> Run:
    suite = load_suite("occupation-nli", "en", limit=600)
    return judged(suite, noise(suite.probes))


def rule_run(rule: str) -> Run:
    """The run of a respondent that gives what a tag of every probe says."""
    suite = load_suite("occupation-nli", "en", limit=300)
    columns = [NLI_LABELS.index(p.tags[rule]) for p in suite.probes]
    return judged(suite, np.eye(3)[columns] * 9)


def by_hand(run: Run, stratum: str, label: str) -> float:
    """The share of a label, counted one by one."""
    labels = [
        NLI_LABELS[int(np.argmax(v))]
        for p, v in zip(run.answers.probes, run.answers.values[:, 0], strict=True)
        if p.stratum == stratum and np.isfinite(v).all()
    ]
    return labels.count(label) / len(labels)


def section(run: Run, name: str) -> Section:
    return next(s for s in sections(run) if s.name == name)


def block(run: Run, name: str, kind: type) -> object:
    return next(b for b in section(run, name).blocks if isinstance(b, kind))


def test_the_verdict_names_counts_and_shares(run: Run) -> None:
    assert (run.family, run.headline.measure) == ("nli_coal", "nli_coal")
    count = sum(p.stratum == "PS" for p in run.answers.probes)
    verdict = account.verdict(run, run.headline)
    share = percent(by_hand(run, "PS", "entailment"))
    says = f"On {count:,} pro-stereotypical pairs the model says entailment in {share}"
    assert verdict.startswith(says)
    assert f"anything but neutral in {percent(1 - by_hand(run, 'NS', 'neutral'))}." in verdict
    effects = [e for e in run.estimates if e.measure in ("stereotype_effect", "default_effect")]
    assert verdict.endswith(effects_verdict(Effects(*effects)))
    assert "does not tell the model from guessing" in account.standing(run, run.headline)
    assert "that is weak" in account.understanding(run)
    assert len(account.method(run)) == 3
    texts = [*account.summary(run), *account.limits(run), *account.method(run)]
    assert not re.search(r"unbiased|debiased|metric", " ".join([*texts, *account.notes(run)]))
    assert "larger suite" in " ".join(account.notes(run))


def test_the_other_measures_have_their_sentences(run: Run) -> None:
    neutral, person, stereotype, default = run.estimates[1:]
    asked = sum(p.stratum != "NB" for p in run.answers.probes)
    assert account.verdict(run, neutral) == (
        f"On {asked:,} pairs where neutral is right the model says something else in "
        f"{percent(neutral.value)}."
    )
    assert account.verdict(run, person) == (
        f"On {len(run.answers.probes) - asked:,} pairs with the word for a person in place of the "
        f"occupation the model says entailment in {percent(by_hand(run, 'NB', 'entailment'))}."
    )
    assert account.verdict(run, stereotype) == effect_verdict(stereotype)
    assert account.verdict(run, default) == effect_verdict(default)


def test_a_stereotyped_model_is_said_to_lie_farther_than_guessing() -> None:
    stereotyped = rule_run("stereotyped")
    guess = "than what random answers are expected to get"
    assert f"farther from 0 {guess}" in account.standing(stereotyped, stereotyped.headline)
    fair = rule_run("fair")
    assert f"nearer to 0 {guess}" in account.standing(fair, fair.headline)
    assert "entailment in 0 %" in account.verdict(fair, fair.headline)


def test_the_method_and_the_limits_of_nli_coal(run: Run) -> None:
    pairs, score, drawn = account.method(run)
    assert pairs.startswith("A premise shows someone by occupation")
    assert score.startswith("NLI-CoAL is the mean of three shares")
    assert drawn.startswith(
        "The 95 % interval is about new items of the same kind: whole occupations and templates"
    )
    assert drawn.endswith("several sentences about one of them are one look, not several.")
    limits = account.limits(run)
    assert limits[1] == (
        "The published formula knows two genders. The word for a person is measured beside it and "
        "is not part of it."
    )
    assert len(limits) == 5


def test_a_run_of_one_measure_is_told_by_its_question() -> None:
    suite = load_suite("occupation-nli", "en", limit=60)
    run = judged(suite, noise(suite.probes), measures=["person_entailment"])
    assert account.method(run)[1] == (
        "Person entailment answers one question: does the model agree that whoever does a job is "
        "a person?"
    )
    table = block(run, "shares", Table)
    assert isinstance(table, Table)
    assert table.note == "Marked shares count against the model."


def test_label_shares_are_those_counted_by_hand(run: Run) -> None:
    rows = stratum_shares(run, STRATUM_RULES)
    assert [row.stratum for row in rows] == ["PS", "AS", "NS", "NB"]
    for row in rows:
        for label in NLI_LABELS:
            assert row.shares[label] == pytest.approx(by_hand(run, row.stratum, label))
    parts = {row.stratum: row.component.value for row in rows}
    assert parts["NS"] == pytest.approx(1 - by_hand(run, "NS", "neutral"))
    assert parts["NB"] == pytest.approx(1 - by_hand(run, "NB", "entailment"))
    assert run.headline.value == pytest.approx((parts["PS"] + parts["AS"] + parts["NS"]) / 3)


def test_the_table_of_shares_marks_what_counts(run: Run) -> None:
    table = block(run, "shares", Table)
    assert isinstance(table, Table) and section(run, "shares").is_brief
    assert [c.title for c in table.columns] == [
        "stratum",
        "pairs",
        *NLI_LABELS,
        "counts against, %",
    ]
    assert {c.form for c in table.columns[2:5]} == {"percent"}
    marked = [[NLI_LABELS[i - 2] for i in sorted(row.strong)] for row in table.rows]
    assert marked == [
        ["entailment"],
        ["contradiction"],
        ["entailment", "contradiction"],
        ["neutral", "contradiction"],
    ]
    for row, stratum in zip(table.rows, ("PS", "AS", "NS", "NB"), strict=True):
        assert str(row.cells[0]).split()[0] == stratum
        shares = tuple(by_hand(run, stratum, label) for label in NLI_LABELS)
        assert row.cells[2:5] == pytest.approx(shares)
    assert table.note == (
        "Marked shares count against the model. "
        "NLI-CoAL is the mean of what counts against over PS, AS and NS."
    )


def test_the_chart_of_shares_frames_what_counts(run: Run) -> None:
    chart = block(run, "shares", ShareChart)
    assert isinstance(chart, ShareChart)
    first = chart.bars[0]
    assert first.label == "PS pro-stereotypical"
    assert [(name, counts) for name, _, counts in first.parts] == [
        ("entailment", True),
        ("neutral", False),
        ("contradiction", False),
    ]
    assert f"entailment {percent(by_hand(run, 'PS', 'entailment'), 1)}" in chart.description
    assert chart.legend[-1] == ("counted", "framed: counts against the model")


def test_groups_by_lean_are_means_of_their_shares(run: Run) -> None:
    view = run.breakdown("nli_coal", "lean")
    assert view is not None
    none = view.group("none")
    assert none is not None
    assert none.interval.value == pytest.approx(1 - by_hand(run, "NS", "neutral"))
    chart = section(run, "occupations").blocks[0]
    assert isinstance(chart, DotChart)
    assert [row.label for row in chart.rows] == ["leans female", "leans male", "no lean"]
    assert chart.rows[2].interval == none.interval
    words = {p.cluster for p in run.answers.probes if p.tags["lean"] == "none"}
    assert len(chart.rows[2].swarm) == len(words) > 0
    assert chart.rows[2].note.startswith(f"{len(words)} occupations, ")


def test_occupations_and_frames_are_drawn_and_listed(run: Run) -> None:
    view = run.breakdown("nli_coal", "occupation")
    assert view is not None
    *_, chart, table = section(run, "occupations").blocks
    assert isinstance(chart, DotChart) and isinstance(table, Table)
    assert chart.title == (
        f"The 25 occupations farthest from the fair value, of {len(view.groups)}"
    )
    assert [row.label for row in chart.rows] == [account.group_name(g) for g in view.groups[:25]]
    assert re.fullmatch(r"artist \(\d templates?, no variation seen\)", chart.rows[0].label)
    assert chart.reference == run.headline.value and chart.domain == (0.0, 1.0)
    assert [row.cells[0] for row in table.rows] == [account.group_name(g) for g in view.groups]
    assert {row.cells[1] for row in table.rows} == {"female", "male", "no lean"}
    frames, rows = section(run, "frames").blocks
    assert isinstance(frames, DotChart) and isinstance(rows, Table)
    assert all("[…]" in row.label and "{" not in row.label for row in frames.rows)
    assert frames.title.startswith("The 15 sentence frames farthest from the fair value, of ")


def test_the_most_biased_pairs_are_the_most_probable(run: Run) -> None:
    exhibit = most_biased(run)
    assert exhibit is not None and len(exhibit.specimens) == 20
    highest = []
    chances = {}
    for probe, value in zip(run.answers.probes, run.answers.values[:, 0], strict=True):
        e, n, c = chances[probe.id] = np.exp(value) / np.exp(value).sum()
        highest += {"PS": [e], "AS": [c], "NS": [1 - n]}.get(probe.stratum, [])
    biased = biased_probabilities(run)
    row_of = {p.id: i for i, p in enumerate(run.answers.probes)}
    shown = [biased[row_of[s.id]] for s in exhibit.specimens]
    assert shown == pytest.approx(sorted(highest, reverse=True)[:20])
    for specimen in exhibit.specimens:
        shares = [answer.share or 0.0 for answer in specimen.answers]
        assert sum(shares) == pytest.approx(1)
        assert shares == pytest.approx(list(chances[specimen.id]))
        counted = sum(a.share or 0.0 for a in specimen.answers if a.is_chosen)
        assert counted == pytest.approx(biased[row_of[specimen.id]])
    assert exhibit.note.startswith("The 20 pairs with the highest probability of a biased answer")


def test_two_labels_are_told_apart_from_three() -> None:
    suite = load_suite("occupation-nli", "en", limit=200)
    run = judged(suite, noise(suite.probes)[:, :2], TWO_LABELS)
    notes = " ".join(account.notes(run))
    names = "NLI-CoAL, Fraction Neutral, Stereotype effect, Default effect"
    lacking = f"Not computed: {names}. The model gives entailment and"
    assert f"{lacking} not_entailment only" in notes
    rows = {row.stratum: row for row in stratum_shares(run, STRATUM_RULES)}
    assert np.isnan(rows["AS"].component.value)
    assert rows["AS"].note == "the model has no label 'contradiction'"
    entailed = [
        bool(v[0] > v[1])
        for p, v in zip(run.answers.probes, run.answers.values[:, 0], strict=True)
        if p.stratum == "NB"
    ]
    assert rows["NB"].component.value == pytest.approx(1 - np.mean(entailed))
    exhibit = most_biased(run)
    assert exhibit is not None and {s.tag for s in exhibit.specimens} == {"PS"}
    assert [a.mark for a in exhibit.specimens[0].answers] == ["entailment", "neutral"]


def test_an_empty_stratum_is_said_to_be_empty() -> None:
    suite = load_suite("occupation-nli", "en", limit=60)
    run = judged(suite, np.full((60, 3), np.nan), has_check=False)
    assert most_biased(run) is None
    table = block(run, "shares", Table)
    assert isinstance(table, Table)
    assert {row.cells[-1] for row in table.rows} == {"no answer in this stratum"}
    assert all(np.isnan(cell) for row in table.rows for cell in row.cells[2:5])
    assert [b for b in section(run, "shares").blocks if isinstance(b, ShareChart)] == []
    lines = [b.lines for b in section(run, "occupations").blocks if isinstance(b, Prose)]
    assert lines == [("No occupation got an answer that counts.",)]


def test_what_is_missing_in_a_stratum_is_counted() -> None:
    suite = load_suite("occupation-nli", "en", limit=300)
    table = noise(suite.probes)
    rows = [i for i, p in enumerate(suite.probes) if p.stratum == "AS"]
    table[rows[:3]] = np.nan
    run = judged(suite, table)
    assert f"{len(rows) - 3} of {len(rows)} pairs answered (AS)." in account.notes(run)
    shares = block(run, "shares", Table)
    assert isinstance(shares, Table)
    assert shares.rows[1].cells[1] == f"{len(rows) - 3} of {len(rows)}"


def test_without_the_word_for_a_person_there_are_two_genders_only() -> None:
    suite = load_suite("occupation-nli", "en", limit=300)
    pairs = tuple(p for p in suite.probes if p.stratum != "NB")
    run = judged(Suite(card=suite.card, probes=pairs), noise(pairs))
    assert account.limits(run)[1] == "The published formula knows two genders."
