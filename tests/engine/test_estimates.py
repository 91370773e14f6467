"""Estimates: what an interval is about, what it rests on, and what is said beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from document_text import document_text

from evenhand.core import account, catalog
from evenhand.core.account import group_name
from evenhand.core.answer_files import answer_bytes, read_answers, suite_of
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Estimate, ExactInterval
from evenhand.core.family import Grouping
from evenhand.core.probe import CLUSTER, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.settings import Settings
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite, read_suite, write_suite
from evenhand.engine.ask import ask_suite
from evenhand.engine.audit import audit, estimate_all
from evenhand.engine.audit_document import audit_document
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


def crossed_deviation(answers: Answers) -> float:
    """The standard error of NLI-CoAL over occupations, within leans, and templates, in numpy."""
    biased = {"PS": [0], "AS": [2], "NS": [0, 2]}
    kept = [(p, v.argmax()) for p, v in zip(answers.probes, answers.values[:, 0], strict=True)]
    kept = [(p, label) for p, label in kept if p.stratum in biased]
    rows = np.zeros((len(kept), 2, 3))
    for row, (probe, label) in zip(rows, kept, strict=True):
        row[:, [*biased].index(probe.stratum)] = 1, label in biased[probe.stratum]

    def variance(levels: list[str], groups: list[str]) -> float:
        left_out: dict[str, dict[str, float]] = {}
        for level, group in {*zip(levels, groups, strict=True)}:
            rest = rows[[other != level for other in levels]].sum(axis=0)
            left_out.setdefault(group, {})[level] = float((rest[1] / rest[0]).mean())
        scores = [np.asarray([*of_group.values()]) for of_group in left_out.values()]
        return sum((len(s) - 1) * float(s.var()) for s in scores)

    occupations = [p.cluster for p, _ in kept]
    templates = [p.tags["template"] for p, _ in kept]
    one = [""] * len(kept)
    cells = [f"{o}/{t}" for o, t in zip(occupations, templates, strict=True)]
    parts = (
        variance(occupations, [p.tags["lean"] for p, _ in kept]),
        variance(templates, one),
        -variance(cells, one),
    )
    return float(sum(parts) ** 0.5)


def test_sentence_frames_count_beside_occupations(asked: tuple[Suite, Answers]) -> None:
    """Occupations alone gave an interval too narrow for new sentences: V_a for V_a + V_b - V_ab."""
    suite, answers = asked
    both = coal(suite, answers)
    alone = coal(replace(suite, card=replace(suite.card, factors=("occupation",))), answers)
    assert both.value == alone.value
    spread = 2 * 1.96 * crossed_deviation(answers)  # 1,000 resamples tell it to a few percent
    assert 0.93 * spread < both.high - both.low < 1.12 * spread
    assert alone.high - alone.low < 0.9 * spread
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


def framed() -> tuple[Suite, Answers]:
    """36 occupations in 24 frames, half of either lean; frames sway the answers."""
    probes = tuple(
        Probe(
            id=f"{occupation}/{frame}",
            kind="pair",
            language="en",
            texts=(f"premise {occupation} {frame}", "hypothesis"),
            stratum="PS",
            cluster=f"o{occupation}",
            tags={
                "occupation": f"o{occupation}",
                "template": f"t{frame}",
                "lean": "female" if occupation % 2 else "male",
            },
        )
        for occupation in range(36)
        for frame in range(24)
    )
    suite = Suite(card=load_suite("occupation-nli", limit=8).card, probes=probes)
    rng = np.random.default_rng(5)
    sway = np.tile(rng.normal(size=24), 36) + rng.normal(size=len(probes))
    values = np.stack([sway, np.zeros(len(probes)), np.full(len(probes), -9.0)], axis=1)
    answers = Answers(
        respondent="x",
        suite=suite.reference,
        probes=probes,
        options=suite.card.options,
        labels=("entailment", "neutral", "contradiction"),
        values=values[:, None, :],
    )
    return suite, answers


def test_both_factors_are_random_in_a_group() -> None:
    """A lean resampled its occupations alone, and frames were left out."""
    suite, answers = framed()
    measure = catalog.measure("fraction_neutral")
    leans = break_down(measure, suite, answers, Grouping(by="lean", unit="occupation"), FAST)
    assert leans.unit == "occupation x template"
    for group in leans.groups:
        rows = [r for r, p in enumerate(suite.probes) if p.tags["lean"] == group.name]
        wrong = (answers.values[rows, 0, 0] > 0).reshape(18, 24)
        own, frames = wrong.mean(axis=1), wrong.mean(axis=0)
        variance = own.var(ddof=1) / 18 + frames.var(ddof=1) / 24 - wrong.var(ddof=1) / wrong.size
        half = (group.interval.high - group.interval.low) / 2
        assert group.interval.value == pytest.approx(wrong.mean())
        assert group.levels == {"occupation": 18, "template": 24}
        assert 1.96 * variance**0.5 < half < 1.3 * 1.96 * variance**0.5
        assert half > 2 * 1.96 * (own.var(ddof=1) / 18) ** 0.5
    jobs = break_down(measure, suite, answers, Grouping(by="occupation", unit="template"), FAST)
    assert {tuple(g.levels.items()) for g in jobs.groups} == {(("template", 24),)}


def test_a_lean_with_one_occupation_has_no_interval() -> None:
    suite, answers = framed()
    rows = [r for r, p in enumerate(suite.probes) if p.cluster in ("o0", "o1", "o3")]
    part = replace(suite, probes=tuple(suite.probes[r] for r in rows))
    some = replace(answers.select(rows), suite=part.reference)
    measure, grouping = catalog.measure("fraction_neutral"), Grouping(by="lean", unit="occupation")
    groups = break_down(measure, part, some, grouping, FAST)
    male, female = groups.group("male"), groups.group("female")
    assert male is not None and not male.interval.has_bounds
    assert female is not None and female.interval.has_bounds
    assert group_name(female) == "female (2 occupations)"


def test_groups_have_the_target_of_the_scores() -> None:
    suite, answers = framed()
    settings = replace(FAST, target="this set")
    measure, grouping = catalog.measure("fraction_neutral"), Grouping(by="lean", unit="occupation")
    whole = break_down(measure, suite, answers, grouping, settings)
    assert all(isinstance(g.interval, ExactInterval) for g in whole.groups)
    part = limited(suite, 200, 0)
    row_of = {p.id: row for row, p in enumerate(suite.probes)}
    some = replace(answers.select([row_of[p.id] for p in part.probes]), suite=part.reference)
    cut = break_down(measure, part, some, grouping, settings)
    assert all(g.interval.low < g.interval.value < g.interval.high for g in cut.groups)


def test_words_that_are_asked_with_many_pairs_are_drawn_whole() -> None:
    """Every comparison counted as drawn alone, and 7 of 10 intervals held the whole suite's."""
    suite = load_suite("profession")
    words = sorted({p.cluster for p in suite.probes})
    row_of = {p.id: row for row, p in enumerate(suite.probes)}
    measure, settings = catalog.measure("profession_stereotype_effect"), Settings(resamples=10)
    hits, nature = 0, np.random.default_rng(3)
    for seed in range(20):
        sway = dict(zip(words, nature.normal(size=len(words)), strict=True))
        values = nature.normal(size=(len(suite.probes), 2, 1))
        values[:, 0, 0] += [2 * sway[p.cluster] for p in suite.probes]
        answers = Answers(
            respondent="x",
            suite=suite.reference,
            probes=suite.probes,
            options=suite.card.options,
            labels=("score",),
            values=values,
        )
        part = limited(suite, 400, seed)
        some = replace(answers.select([row_of[p.id] for p in part.probes]), suite=part.reference)
        truth = estimate(measure, suite, answers, settings).value
        found = estimate(measure, part, some, replace(settings, target="this set"))
        hits += found.low <= truth <= found.high
    assert hits >= 18


def test_no_variation_is_said_of_this_set_too() -> None:
    suite, answers = framed()
    alike = replace(answers, values=np.broadcast_to(answers.values[:1], answers.values.shape))
    part = limited(suite, 100, 0)
    row_of = {p.id: row for row, p in enumerate(suite.probes)}
    some = replace(alike.select([row_of[p.id] for p in part.probes]), suite=part.reference)
    measure = catalog.measure("fraction_neutral")
    found = estimate(measure, part, some, replace(FAST, target="this set"))
    assert found.note.startswith("no variation seen among 100 pairs: the bounds are")
    assert found.high - found.low == pytest.approx(1 - 0.05 ** (1 / 100))


def test_no_variation_says_how_little_the_bounds_rest_on() -> None:
    """Bounds that rest on 2 occupations said "among 24 occupations"."""
    suite, answers = framed()
    kept = {"o0", "o2", *(f"o{odd}" for odd in range(1, 36, 2))}
    rows = [r for r, p in enumerate(suite.probes) if p.cluster in kept]
    probes = tuple(
        replace(suite.probes[r], stratum="PS" if suite.probes[r].tags["lean"] == "male" else "NS")
        for r in rows
    )
    part = replace(suite, probes=probes)
    alike = np.broadcast_to(answers.values[:1], (len(rows), 1, 3))
    some = replace(answers.select(rows), probes=probes, suite=part.reference, values=alike)
    found = estimate(catalog.measure("fraction_neutral"), part, some, FAST)
    assert found.note == (
        "no variation seen among 20 occupations, only 2 occupations in the smallest part: the "
        "bounds are what so many cannot exclude"
    )
    assert found.high - found.low == pytest.approx(1 - 0.05**0.5)


def test_a_report_on_this_set_says_what_is_exact() -> None:
    """It spoke of the whole interval of an exact value, and printed shares as [22.7, 22.7]."""
    suite = load_suite("occupation-nli", limit=60)
    whole = replace(suite, limit=None, whole=None)
    settings = Settings(resamples=50, target="this set")
    text = document_text(audit_document(audit("fixed:random", whole, settings=settings)))
    assert "The whole interval" not in text and "it is exact" in text
    assert not re.search(r"(\d+\.\d) \[\1, \1\]", text)
    cut = document_text(audit_document(audit("fixed:random", suite, settings=settings)))
    assert "Intervals are for all 4,230 probes of the suite." in cut
    assert "exactly these probes" not in cut and "do not compare" not in cut


def test_few_levels_and_no_variation_stand_beside_the_verdict() -> None:
    """The lead printed the bounds of 7 words without a word on it."""
    run = audit("fixed:male-default", "occupation-nli", settings=Settings(resamples=50))
    text = document_text(audit_document(run))
    assert "No variation seen among 141 occupations: the bounds are" in " ".join(
        account.summary(run)
    )
    assert "100.0 [93.8, 100.0] no variation seen" in text  # what counts against in NS


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
