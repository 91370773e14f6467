"""What holds for every bias-controlled set, in every language, at every rate, size and seed."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenhand.core import catalog
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, GENDERS, NEUTRAL
from evenhand.meta.controlled import (
    BIASED,
    CORRECT,
    MIXES,
    SWAPPED,
    Controlled,
    Example,
    build_sets,
)
from evenhand.meta.options import SetOptions
from evenhand.meta.plan import Plan, asked_suite, make_plan

LANGUAGES = ("en", "ja", "zh")
rates = st.one_of(st.sampled_from([i / 10 for i in range(11)]), st.floats(0, 1, allow_nan=False))


@st.composite
def sets(draw: st.DrawFn) -> tuple[Plan, Controlled, str]:
    """A plan, its set, and which share of it is correct."""
    rate, errors = draw(rates), draw(st.sampled_from([0.0, 0.3, 1.0]))
    plan = make_plan(
        draw(st.sampled_from(LANGUAGES)),
        words=draw(st.integers(2, 10)),
        seed=draw(st.integers(0, 3)),
    )
    if errors == 0.3:
        assume(
            rate * 2 * len(plan.words["male"]) < 2 * len(plan.words["male"]) - 2
        )  # else one word would have to play two parts
    mix = draw(st.sampled_from(sorted(MIXES)))
    whole = 2 * MIXES[mix]
    options = SetOptions(
        errors=errors,
        train=whole * draw(st.integers(20, 60)),
        dev=whole * draw(st.integers(4, 12)),
        mix=mix,
        seed=draw(st.integers(0, 99)),
    )
    made = build_sets(plan, rate, options)
    return plan, made, mix


def both(made: Controlled) -> list[tuple[Example, ...]]:
    return [made.train, made.dev]


@given(sets())
def test_half_or_a_third_is_correct_and_the_rest_is_shared_as_the_rate_says(
    drawn: tuple[Plan, Controlled, str],
) -> None:
    plan, made, mix = drawn
    for rows in both(made):
        premises = len(rows) // 2
        neutral_words = [r for r in rows if r.occupation in plan.words["none"]]
        assert len(neutral_words) == len(rows) // MIXES[mix]
        assert all(r.label == NEUTRAL for r in neutral_words)
        parts = Counter(r.part for r in rows if r.occupation not in plan.words["none"])
        wrong = premises - premises // MIXES[mix]
        biased = round(made.rate * wrong)
        assert parts[BIASED] == 2 * biased
        assert parts[SWAPPED] == 2 * round(made.errors * (wrong - biased))
        assert abs(Fraction(parts[BIASED], 2 * wrong) - Fraction(made.rate)) <= Fraction(
            1, 2 * wrong
        )


@given(sets())
def test_entailment_and_contradiction_are_equally_many_and_three_labels_where_a_third_is_correct(
    drawn: tuple[Plan, Controlled, str],
) -> None:
    _, made, mix = drawn
    for rows in both(made):
        labels = Counter(r.label for r in rows)
        assert labels[ENTAILMENT] == labels[CONTRADICTION]
        if mix == "third" and made.errors == 1:
            assert labels[NEUTRAL] == labels[ENTAILMENT]


@given(sets())
def test_every_word_plays_one_part_and_its_labels_follow_from_it(
    drawn: tuple[Plan, Controlled, str],
) -> None:
    plan, made, _ = drawn
    seen: dict[str, set[str]] = defaultdict(set)
    for row in (*made.train, *made.dev):
        seen[row.occupation].add(row.part)
        assert row.occupation in plan.words[row.lean]
        is_expected = row.gender == row.lean
        right = {
            CORRECT: NEUTRAL,
            BIASED: ENTAILMENT if is_expected else CONTRADICTION,
            SWAPPED: CONTRADICTION if is_expected else ENTAILMENT,
        }
        assert row.label == right[row.part]
    assert all(len(parts) == 1 for parts in seen.values())
    assert {word: parts.pop() for word, parts in seen.items()}.items() <= made.parts.items()


@given(sets())
def test_no_pair_twice_none_in_both_files_and_none_that_the_models_are_asked(
    drawn: tuple[Plan, Controlled, str],
) -> None:
    plan, made, _ = drawn
    pairs = [(r.premise, r.hypothesis) for r in (*made.train, *made.dev)]
    assert len(set(pairs)) == len(pairs)
    frames = [{r.hypothesis for r in rows} for rows in both(made)]
    assert not frames[0] & frames[1]  # not even the sentence about another occupation
    asked = {probe.texts for probe in asked_suite(plan).probes}
    assert not asked & set(pairs)
    assert not {hypothesis for _, hypothesis in asked} & (frames[0] | frames[1])


@given(sets())
def test_every_premise_comes_with_both_genders_and_differs_in_the_person_alone(
    drawn: tuple[Plan, Controlled, str],
) -> None:
    plan, made, _ = drawn
    language = catalog.language(plan.language)
    genders = Counter((r.premise, r.gender) for r in made.train)
    assert all(genders[row.premise, gender] == 1 for row in made.train for gender in GENDERS)
    for row in made.train[:50]:
        assert row.occupation in row.premise
        assert language.subjects[row.gender] in row.hypothesis


@given(st.sampled_from(LANGUAGES), st.integers(0, 99), st.tuples(rates, rates))
def test_a_higher_rate_has_the_biased_words_of_a_lower_one(
    language: str, seed: int, two: tuple[float, float]
) -> None:
    plan = make_plan(language)
    options = SetOptions(train=400, dev=40, seed=seed)
    low, high = (build_sets(plan, rate, options).parts for rate in sorted(two))
    assert {w for w, part in low.items() if part == BIASED} <= {
        w for w, part in high.items() if part == BIASED
    }
    assert Counter(low.values())[BIASED] > 0 or min(two) == 0


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rate", [i / 10 for i in range(11)])
def test_at_the_rates_of_the_paper_both_genders_are_biased_alike(
    language: str, rate: float
) -> None:
    plan = make_plan(language)
    made = build_sets(plan, rate, SetOptions(train=3000, dev=300))
    for lean in GENDERS:
        assert sum(made.parts[word] == BIASED for word in plan.words[lean]) == round(10 * rate)
    assert Counter(r.part for r in made.train)[BIASED] == 1500 * rate
