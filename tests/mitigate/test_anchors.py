"""Anchors teach what is right, and nothing that is asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.corpora import Pair
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import NLI_LABELS
from evenhand.core.protocols import SuiteOptions
from evenhand.engine.suites import load_suite
from evenhand.families.nli_coal.suite import LEANS, occupations
from evenhand.mitigate.anchors import (
    BLOCK,
    AnchorPlan,
    frames_of,
    is_same_trade,
    occupation_of,
    plan_anchors,
    skeleton,
    split_occupations,
    unseen_part,
    write_anchors,
)

ENGLISH = catalog.language("en")
THINGS = (
    "a red ball",
    "two bags",
    "a drum",
    "a long rope",
    "a kite",
    "an umbrella",
    "some bread",
    "a box",
    "a chair",
    "a lamp",
    "a map",
    "a cup",
)
CAPTIONS = [
    Pair(f"A man is {doing} {thing}.", "x", "neutral")
    for thing in THINGS
    for doing in ("holding", "carrying")
]
PLAN = AnchorPlan(
    occupations=("baker", "nurse", "pilot"),
    unseen=("cook",),
    frames=("{a} is holding a kite.", "The tall {x} laughs."),
)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("nurse", "registered nurse", True),
        ("file clerk", "billing clerk", True),
        ("Nurse", "nurse", True),
        ("nurse practitioner", "nurse", True),
        ("cook", "cookie maker", False),
        ("baker", "banker", False),
        ("看護師", "准看護師", True),
        ("看護師", "医師", False),
    ],
)
def test_which_occupations_are_of_one_trade(one: str, other: str, expected: bool) -> None:
    assert is_same_trade(one, other) is is_same_trade(other, one) is expected


@given(seed=st.integers(0, 10_000), language=st.sampled_from(["en", "ja", "zh"]))
def test_half_of_each_lean_is_used_and_the_rest_is_new(seed: int, language: str) -> None:
    rows = occupations(language)
    used, rest = split_occupations(rows, np.random.default_rng(seed))
    assert sorted((*used, *rest)) == sorted(r["word"] for r in rows)
    assert not {u.casefold().split()[-1] for u in used} & {r.casefold().split()[-1] for r in rest}
    lean = {r["word"]: r["lean"] for r in rows}
    for name in LEANS:
        whole, part = sum(v == name for v in lean.values()), sum(lean[w] == name for w in used)
        assert whole // 2 - 4 <= part <= whole // 2, (name, part, whole)
    assert split_occupations(rows, np.random.default_rng(seed)) == (used, rest)


def test_a_frame_is_known_however_it_is_written() -> None:
    assert (
        skeleton("{a} rides a horse.")
        == skeleton("The {x} rides a horse")
        == skeleton("{the}  Rides a horse.")
        == "{x} rides a horse"
    )
    assert skeleton("A tall {x} rides.") != skeleton("{a} rides.")


def test_the_plan_uses_no_sentence_of_a_suite_and_no_caption_whose_subject_comes_late() -> None:
    suite = load_suite("occupation-nli", "en")
    asked = [Pair(p.texts[1], "x", "neutral") for p in suite.probes if p.tags["gender"] == "male"]
    late = [Pair("On a bench in the sunny park sits a man with a book.", "x", "neutral")]
    plan = plan_anchors(ENGLISH, [*asked, *CAPTIONS, *late], [suite], seed=3)
    assert sorted(plan.frames) == sorted(p.premise.replace("A man", "{a}") for p in CAPTIONS)
    assert not {skeleton(f) for f in plan.frames} & frames_of([suite])
    assert plan == plan_anchors(ENGLISH, [*asked, *CAPTIONS, *late], [suite], seed=3)
    assert plan.occupations != plan_anchors(ENGLISH, CAPTIONS, [suite], seed=4).occupations
    with pytest.raises(EvenhandError, match="the training files have 0, at least 20 are needed"):
        plan_anchors(ENGLISH, asked, [suite], seed=3)
    with pytest.raises(EvenhandError, match="'ko' has none"):
        plan_anchors(catalog.language("ko"), CAPTIONS, [], seed=3)


def test_published_sentences_count_as_used_without_their_occupation(data: Path) -> None:
    published = frames_of(
        [
            load_suite("sharma2021", "en", SuiteOptions(data=data)),
            load_suite("nli-coal", "en", SuiteOptions(data=data)),
        ]
    )
    assert "{x} is feeding a goat" in published  # printed as "a accountant is feeding a goat."
    assert "{x} preparing food in a kitchen next to two other people" in published


def reference(premise: str, hypothesis: str) -> str:
    """What is right, by the words alone: a man or woman in the premise decides, a job does not."""

    def gender(text: str) -> str | None:
        words = set(text.lower().replace(".", "").split())
        return (
            "female" if words & {"woman", "female"} else "male" if words & {"man", "male"} else None
        )

    mine, theirs = gender(premise), gender(hypothesis)
    return (
        "entailment" if theirs in (None, mine) else "neutral" if mine is None else "contradiction"
    )


@given(count=st.integers(1, 400), seed=st.integers(0, 99))
def test_anchors_are_right_balanced_and_even_between_the_genders(count: int, seed: int) -> None:
    rows = write_anchors(PLAN, ENGLISH, count, np.random.default_rng(seed))
    assert len(rows) == max(BLOCK, BLOCK * round(count / BLOCK))
    for row in rows:
        assert row.label == reference(row.premise, row.hypothesis), row
    labels = Counter(row.label for row in rows)
    assert len(set(labels.values())) == 1 and len(labels) == 3
    neutral = [r for r in rows if r.label == "neutral"]
    female = sum(
        not {"woman", "female"}.isdisjoint(r.hypothesis.lower().replace(".", "").split())
        for r in neutral
    )
    assert female * 2 == len(neutral)
    used = {
        w for w in (*PLAN.occupations, *PLAN.unseen) if any(w in r.premise.lower() for r in rows)
    }
    assert (
        used == set(PLAN.occupations) if len(rows) >= 3 * BLOCK else used <= set(PLAN.occupations)
    )


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_no_statement_of_the_anchors_is_asked_by_a_suite(language: str) -> None:
    asked = {
        row[gender]
        for row in lexicons.table(language, "hypotheses")
        for gender in ("female", "male")
    }
    mine = [
        row[gender] for row in lexicons.table(language, "anchors") for gender in ("female", "male")
    ]
    assert not asked & set(mine) and len(set(mine)) == len(mine) >= 6
    speaker = catalog.language(language)
    frames = tuple(row["text"] for row in lexicons.table(language, "frames"))
    plan = AnchorPlan(
        occupations=tuple(r["word"] for r in occupations(language)[:5]), unseen=(), frames=frames
    )
    assert len(write_anchors(plan, speaker, 60, np.random.default_rng(0))) == 60


def test_unseen_occupations_keep_their_answers() -> None:
    suite = load_suite("occupation-nli", "en")
    values = np.arange(3.0 * len(suite.probes)).reshape(-1, 1, 3)
    answers = Answers(
        respondent="x@1",
        suite=suite.reference,
        probes=suite.probes,
        options=suite.card.options,
        labels=NLI_LABELS,
        values=values,
    )
    plan = AnchorPlan(occupations=("registered nurse", "billing clerk"), unseen=(), frames=())
    unseen = unseen_part(suite, [answers], plan)
    assert unseen is not None
    part, (rest,) = unseen
    expected = [
        i
        for i, p in enumerate(suite.probes)
        if occupation_of(p).split()[-1] not in ("nurse", "clerk")
    ]
    assert 0 < len(expected) < len(suite.probes)
    assert [p.id for p in part.probes] == [
        suite.probes[i].id for i in expected
    ] and rest.probes == part.probes
    np.testing.assert_array_equal(rest.values, values[expected])
    assert rest.suite == part.reference != suite.reference
    none = AnchorPlan(occupations=("alchemist",), unseen=(), frames=())
    assert unseen_part(suite, [answers], none) is None
