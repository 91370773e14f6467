"""Estimates: what an interval is about, what it rests on, and what is said beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evenhand.core import catalog
from evenhand.core.answer_files import answer_bytes, read_answers, suite_of
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Estimate
from evenhand.core.family import Grouping
from evenhand.core.probe import CLUSTER, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.settings import Settings
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite, read_suite, write_suite
from evenhand.engine.ask import ask_suite
from evenhand.engine.audit import audit, estimate_all
from evenhand.engine.compare import compare
from evenhand.engine.estimate import break_down, estimate
from evenhand.engine.suites import limited, load_suite
from evenhand.respondents.locate import open_respondent

FAST = Settings(resamples=1000)


@pytest.fixture(scope="module")
def asked() -> tuple[Suite, Answers]:
    """The embedded model on the built-in suite."""
    suite = load_suite("occupation-nli")
    return suite, ask_suite(open_respondent("default", "pair", RespondentOptions()), suite)


def coal(suite: Suite, answers: Answers, settings: Settings = FAST) -> Estimate:
    return estimate(catalog.measure("nli_coal"), suite, answers, settings)


def test_sentence_frames_count_beside_occupations(asked: tuple[Suite, Answers]) -> None:
    """Occupations alone gave an interval two thirds as wide as one for new sentences needs."""
    suite, answers = asked
    both = coal(suite, answers)
    alone = coal(replace(suite, card=replace(suite.card, factors=("occupation",))), answers)
    assert both.value == alone.value
    assert (both.high - both.low) / (alone.high - alone.low) > 1.3
    assert both.levels == {"occupation": 47, "template": 70}
    assert "|target:new items|ci:bca95x1000/occupation x template|" in both.signature
    assert "|ci:bca95x1000/occupation|" in alone.signature


def test_words_and_pairs_count_in_the_word_tests() -> None:
    """Professions alone gave [0.695, 0.769] where both factors give [0.617, 0.808]."""
    suite = load_suite("profession")
    answers = ask_suite(open_respondent("default", "choice", RespondentOptions()), suite)
    measure = catalog.measure("profession_fairness")
    both = estimate(measure, suite, answers, FAST)
    alone = estimate(
        measure, replace(suite, card=replace(suite.card, factors=("word",))), answers, FAST
    )
    assert both.value == alone.value
    assert (both.high - both.low) > 1.8 * (alone.high - alone.low)
    # every comparison has a row of its own, so that pairs can be reweighted
    evidence = measure.evidence(suite.probes, answers.values)
    professions = [p for p in suite.probes if p.stratum == "profession"]
    assert np.any(evidence != 0, axis=1).sum() == len(professions)


def test_this_set_with_everything_asked_is_exact(asked: tuple[Suite, Answers]) -> None:
    suite, answers = asked
    new, this = (coal(suite, answers, replace(FAST, target=t)) for t in ("new items", "this set"))
    assert this.is_exact and (this.low, this.high) == (new.value, new.value)
    assert new.targets["this set"] == this.interval and new.interval == this.targets["new items"]
    assert "|target:this set|" in this.signature
    assert Signature.parse(new.signature).differences(Signature.parse(this.signature)) == {
        "target": ("new items", "this set")
    }


def test_this_set_cut_to_a_limit_is_about_the_whole_suite(asked: tuple[Suite, Answers]) -> None:
    suite, answers = asked
    whole = coal(suite, answers).value
    row_of = {p.id: row for row, p in enumerate(answers.probes)}
    hits, widths = 0, []
    for seed in range(40):
        part = limited(suite, 900, seed)
        assert part.whole == len(suite.probes)
        rows = [row_of[p.id] for p in part.probes]
        some = replace(
            answers,
            probes=part.probes,
            values=answers.values[rows],
            suite=part.reference,
            whole=part.whole,
        )
        found = coal(part, some, Settings(resamples=100, target="this set"))
        hits += found.low <= whole <= found.high
        widths.append(found.high - found.low)
        assert found.low < found.value < found.high
    assert hits >= 34  # 95 % of 40 is 38
    assert max(widths) < 0.12


def test_a_comparison_is_about_new_items() -> None:
    with pytest.raises(EvenhandError, match="the target is 'this set'"):
        compare(["fixed:random", "fixed:fair"], settings=Settings(target="this set"))


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(EvenhandError, match="'that set' is not a target; use new items or this"):
        Settings(target="that set")  # type: ignore[arg-type]


def test_factors_survive_files(asked: tuple[Suite, Answers], tmp_path: Path) -> None:
    suite, answers = asked
    write_suite(suite, tmp_path / "suite.jsonl")
    again = read_suite(tmp_path / "suite.jsonl")
    assert (again.card.factors, again.card.within) == (("occupation", "template"), "lean")
    (tmp_path / "answers.parquet").write_bytes(answer_bytes(answers))
    read = read_answers(tmp_path / "answers.parquet")
    assert coal(suite_of(read), read).interval == coal(suite, answers).interval


def _suites() -> list[Suite]:
    return [
        load_suite(source.name, source.languages[0])
        for family in catalog.families().values()
        for source in family.suites
        if not source.is_published
    ]


@pytest.mark.parametrize("suite", _suites(), ids=lambda s: s.card.name)
def test_every_suite_declares_factors_that_its_probes_have(suite: Suite) -> None:
    first, *crossed = suite.card.factors
    assert first != CLUSTER, "the clusters of a built-in suite have a name"
    assert len(crossed) <= 1
    for tag in (*crossed, *filter(None, [suite.card.within])):
        assert any(tag in p.tags for p in suite.probes)


def item(target: int, place: int, domain: str) -> Probe:
    return Probe(
        id=f"{target}/{place}",
        kind="choice",
        language="en",
        texts=(f"context {target} {place}", "a", "b", "c"),
        stratum="intra",
        cluster=f"target {target}",
        tags={"items": "4", "target": f"target {target}", "domain": domain},
    )


def few_targets() -> tuple[Suite, Answers]:
    """Three targets of religion, twelve of race."""
    probes = tuple(
        item(target, place, "religion" if target < 3 else "race")
        for target in range(15)
        for place in range(4)
    )
    card = replace(
        load_suite("profession").card,
        name="stereoset",
        options=("stereotype", "anti-stereotype", "unrelated"),
        factors=("target",),
        within="",
    )
    values = np.random.default_rng(0).normal(size=(len(probes), 3, 1))
    suite = Suite(card=card, probes=probes)
    answers = Answers(
        respondent="x",
        suite=suite.reference,
        probes=probes,
        options=card.options,
        labels=("score",),
        values=values,
    )
    return suite, answers


def test_few_levels_are_said_beside_the_number() -> None:
    suite, answers = few_targets()
    measure = catalog.measure("ss_official")
    groups = break_down(measure, suite, answers, Grouping(by="domain", unit="target"), FAST)
    religion = groups.group("religion")
    assert religion is not None and religion.levels == {"target": 3}
    rows = [row for row, p in enumerate(suite.probes) if p.tags["domain"] == "religion"]
    part = Suite(card=suite.card, probes=tuple(suite.probes[r] for r in rows))
    alone = estimate(measure, part, replace(answers.select(rows), suite=part.reference), FAST)
    assert alone.note == "only 3 targets: the interval is rough"
    assert estimate(measure, suite, answers, FAST).note == ""


def test_no_variation_is_said_with_what_cannot_be_excluded() -> None:
    """Every answer alike gave [0.000, 0.000]."""
    run = audit("fixed:fair", settings=Settings(resamples=200))
    first = run.headline
    share = 1 - 0.05 ** (1 / 47)
    assert (first.value, first.low) == (0.0, 0.0)
    assert first.high == pytest.approx(share)
    assert not first.has_variation
    assert first.note == (
        "no variation seen among 141 occupations: the bounds are what so many cannot exclude"
    )


def test_a_signature_says_what_was_read_of_a_classifier() -> None:
    """dP read probabilities but said `argmax`."""
    suite = load_suite("gendered-entailment", limit=200)
    answers = ask_suite(open_respondent("default", "pair", RespondentOptions()), suite)
    scoring = {
        e.measure: dict(Signature.parse(e.signature).fields)["scoring"]
        for e in estimate_all(suite, answers, Settings(resamples=100))
    }
    assert scoring["neutral_share"] == "argmax"
    assert scoring["entailment_gap"] != "argmax"


def test_only_what_is_read_is_counted() -> None:
    """`B, dominated` said 3,800 probes for 24 of 38 occupations."""
    suite = load_suite("gendered-entailment")
    answers = ask_suite(open_respondent("fixed:random", "pair", RespondentOptions()), suite)
    found = estimate(catalog.measure("dominated_preference"), suite, answers, FAST)
    dominated = [p for p in suite.probes if p.tags["lean"] != "none"]
    assert 0 < len(dominated) < len(suite.probes)
    assert found.probes == len(dominated)
    assert found.clusters == len({p.cluster for p in dominated})
