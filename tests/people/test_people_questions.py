"""Everybody is asked what the plan says, in an order of their own, with controls that work."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from evenhand import lexicons
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import BLANK, Probe
from evenhand.core.suite import Suite
from evenhand.engine.suites import load_suite
from evenhand.families.contextualised.mask_probe import mask_probe
from evenhand.people.neutral import find_neutral, neutral_word
from evenhand.people.plan import (
    Plan,
    PlanError,
    check_plan,
    count_mix,
    gold_gender,
    gold_genders,
    list_parts,
    most_controls,
)
from evenhand.people.questions import Question, make_question, place_pairs, plan_questions

PLAN = Plan(name="s", trial=50, batch=100)


@cache
def suite(language: str = "en") -> Suite:
    return load_suite("contextualised", language)


def of_role(questions: tuple[Question, ...], role: str) -> set[str]:
    return {q.probe for q in questions if q.role == role}


@pytest.mark.parametrize(
    ("part", "counts"), [("trial", (5, 10, 35)), ("batch-1", (9, 18, 63)), ("batch-3", (9, 18, 63))]
)
def test_a_part_has_its_shares(part: str, counts: tuple[int, int, int]) -> None:
    questions = plan_questions(PLAN, suite(), "ann", part)
    roles = Counter(q.role for q in questions)
    assert (
        roles["accuracy"],
        roles["consistency"],
        roles["measure"],
    ) == counts  # 216 sentences in 3 batches: 72 each, not 80, 80 and 56
    strata = {p.id: p.stratum for p in suite().probes}
    assert all((strata[q.probe] == "OS") == (q.role == "accuracy") for q in questions)
    for role in roles:
        types = Counter(q.type for q in questions if q.role == role)
        assert abs(types["type1"] - types["type2"]) <= 1
    assert (
        len({(q.probe, q.type) for q in questions})
        == len({q.id for q in questions})
        == len(questions)
    )


def test_a_full_part_has_the_size_that_the_study_says() -> None:
    assert len(plan_questions(PLAN, suite(), "ann", "trial")) == 50
    assert len(plan_questions(replace(PLAN, batches=2), suite(), "ann", "batch-2")) == 100
    assert count_mix(Plan(name="s"), 2000, 500) == (200, 200, 1400)
    assert count_mix(Plan(name="s"), 2000, 66) == (66, 200, 1534)
    assert count_mix(Plan(name="s", accuracy_controls=0.0), 20, 1) == (0, 2, 16)


def test_a_sentence_shows_the_neutral_word_that_was_chosen_for_it() -> None:
    first = next(q for q in plan_questions(PLAN, suite(), "ann", "batch-1") if q.type == "type1")
    plan = replace(PLAN, neutral_words={first.probe: "tailor"})
    again = {q.id: q for q in plan_questions(plan, suite(), "ann", "batch-1")}
    shown = {o.key: o.text for o in again[first.id].options}
    assert shown == {**{o.key: o.text for o in first.options}, "neutral": "tailor"}
    assert [o.key for o in again[first.id].options] == [o.key for o in first.options]
    others = [q for q in plan_questions(PLAN, suite(), "ann", "batch-1") if q.probe != first.probe]
    assert others == [q for q in again.values() if q.probe != first.probe]


def test_batches_cover_every_sentence_once() -> None:
    assert list_parts(PLAN, suite()) == ("trial", "batch-1", "batch-2", "batch-3")
    asked = [
        of_role(q, "measure") | of_role(q, "consistency")
        for k in (1, 2, 3)
        for q in [plan_questions(PLAN, suite(), "ann", f"batch-{k}")]
    ]
    assert sum(len(part) for part in asked) == len(asked[0] | asked[1] | asked[2]) == 216
    assert list_parts(replace(PLAN, trial=0), suite())[0] == "batch-1"


def test_questions_are_the_same_again_and_other_for_others() -> None:
    mine = plan_questions(PLAN, suite(), "ann", "batch-1", 1)
    assert plan_questions(PLAN, suite(), "ann", "batch-1", 1) == mine
    others = [("bob", "batch-1", 1), ("ann", "batch-2", 1), ("ann", "batch-1", 2)]
    plans = [plan_questions(PLAN, suite(), *other) for other in others] + [
        plan_questions(replace(PLAN, seed=1), suite(), "ann", "batch-1", 1)
    ]
    assert all({q.id for q in plan}.isdisjoint(q.id for q in mine) for plan in plans)
    assert [q.probe for q in plans[0]] != [q.probe for q in mine]
    sentences = of_role(mine, "measure") | of_role(mine, "consistency")
    assert sentences == of_role(plans[0], "measure") | of_role(
        plans[0], "consistency"
    )  # everybody judges the same ones


def test_the_trial_keeps_away_from_the_batches_while_it_can() -> None:
    plan = replace(PLAN, batches=2)  # 40 sentences of the trial, 160 of the batches, 216 there
    plans = [
        of_role(questions, "measure") | of_role(questions, "consistency")
        for part in list_parts(plan, suite())
        for questions in [plan_questions(plan, suite(), "ann", part)]
    ]
    assert [len(plan) for plan in plans] == [40, 80, 80]
    assert not plans[0] & (plans[1] | plans[2])


def test_everybody_has_controls_of_their_own() -> None:
    one, other = (plan_questions(PLAN, suite(), name, "batch-1") for name in ("ann", "bob"))
    for role in ("accuracy", "consistency"):
        assert of_role(one, role) != of_role(other, role)


def test_another_attempt_has_fresh_controls_and_the_same_sentences() -> None:
    plans = [plan_questions(PLAN, suite(), "ann", "batch-2", attempt) for attempt in (1, 2, 3)]
    for role in ("accuracy", "consistency"):
        controls = [of_role(plan, role) for plan in plans]
        assert len(controls[0] | controls[1] | controls[2]) == 27  # 9 each, none twice
    assert len({frozenset(of_role(p, "measure") | of_role(p, "consistency")) for p in plans}) == 1
    trials = [plan_questions(PLAN, suite(), "ann", "trial", attempt) for attempt in (1, 2)]
    assert not {q.probe for q in trials[0]} & {q.probe for q in trials[1]}


def test_controls_go_on_when_all_had_their_turn() -> None:
    used = [
        of_role(plan_questions(PLAN, suite(), "ann", "batch-1", attempt), "accuracy")
        for attempt in range(1, 9)
    ]
    assert all(len(part) == 9 for part in used)
    assert len(set().union(*used[:6])) == 54  # 5 and 4 of 32 a time: none twice in six attempts
    assert len(set().union(*used)) == 64


@pytest.mark.parametrize(
    ("male", "female", "most"),
    [(67, 148, 66), (32, 32, 32), (5, 9, 4), (1, 9, 5), (0, 9, 4), (1, 0, 1)],
)
def test_a_part_leaves_controls_for_a_second_attempt(male: int, female: int, most: int) -> None:
    gold = iter(["male"] * male + ["female"] * female)
    objective = [
        mask_probe(
            identity=f"o{i}",
            language="en",
            text=f"{i}: {BLANK} came.",
            male="he",
            female="she",
            tags={"gold": g},
        )
        for i, g in enumerate(gold)
    ]
    small = replace(suite(), probes=(*(p for p in suite().probes if p.stratum == "MS"), *objective))
    assert most_controls(small) == most
    plan = replace(PLAN, accuracy_controls=0.7, batch=150, batches=1)
    plans = [plan_questions(plan, small, "ann", "batch-1", attempt) for attempt in (1, 2)]
    used = [[q.probe for q in plan if q.role == "accuracy"] for plan in plans]
    assert len(used[0]) == len(set(used[0])) == most
    if min(male, female) > 1:
        assert not set(used[0]) & set(used[1])
        assert Counter(gold_genders(small)[p] for p in used[1]) == {
            "male": most // 2,
            "female": most // 2,
        }


def test_parts_do_not_share_controls_while_there_are_others() -> None:
    used = [
        of_role(plan_questions(PLAN, suite(), "ann", part), "accuracy")
        for part in list_parts(PLAN, suite())
    ]
    assert [len(part) for part in used] == [5, 9, 9, 9]
    assert len(set().union(*used)) == 32


def test_controls_are_right_for_both_genders() -> None:
    gold = gold_genders(suite())
    for attempt in (1, 2, 3):
        right = Counter(
            gold[q.probe]
            for q in plan_questions(PLAN, suite(), "ann", "batch-1", attempt)
            if q.role == "accuracy"
        )
        assert abs(right["male"] - right["female"]) <= 1


@pytest.mark.parametrize(("apart", "least"), [(None, 18), (30, 30), (81, 81)])
def test_pairs_are_asked_in_both_types_far_apart(apart: int | None, least: int) -> None:
    questions = plan_questions(replace(PLAN, apart=apart, trial=0), suite(), "ann", "batch-1")
    for probe in of_role(questions, "consistency"):
        places = [i for i, q in enumerate(questions) if q.probe == probe]
        assert {questions[i].type for i in places} == {"type1", "type2"}
        assert places[1] - places[0] >= least
    firsts = Counter(
        next(q.type for q in questions if q.probe == probe)
        for probe in of_role(questions, "consistency")
    )
    assert len(firsts) == 2  # neither type always comes first


@pytest.mark.parametrize(
    ("size", "count", "apart"), [(100, 10, 50), (20, 10, 10), (20, 4, 16), (2, 1, 1), (5, 0, 3)]
)
def test_pairs_find_their_places(size: int, count: int, apart: int) -> None:
    for seed in range(30):
        pairs = place_pairs(size, count, apart, np.random.default_rng(seed))
        assert all(0 <= one < other < size and other - one >= apart for one, other in pairs)
        assert len({place for pair in pairs for place in pair}) == 2 * count


def test_type_1_shows_three_words_in_any_order() -> None:
    probe = mask_probe(
        identity="x", language="en", text=f"Yesterday {BLANK} came.", male="he", female="she"
    )
    seen = set()
    for seed in range(60):
        question = make_question(probe, "type1", "measure", np.random.default_rng(seed), "id")
        assert dict(question.options) == {"male": "he", "female": "she", "neutral": "they"}
        assert (question.shown, question.gender) == ("Yesterday ____ came.", "")
        assert question.shown[slice(*question.span)] == "____"
        seen.add(tuple(o.key for o in question.options))
    assert len(seen) == 6


@pytest.mark.parametrize(
    ("original", "shown", "gender"),
    [("male", "She came.", "female"), ("female", "He came.", "male")],
)
def test_type_2_swaps_the_word(original: str, shown: str, gender: str) -> None:
    probe = mask_probe(
        identity="x",
        language="en",
        text=f"{BLANK} came.",
        male="he",
        female="she",
        tags={"original": original},
    )
    question = make_question(probe, "type2", "measure", np.random.default_rng(0), "id")
    assert (question.shown, question.gender, question.span) == (
        shown,
        gender,
        (0, shown.index(" ")),
    )
    assert [o.key for o in question.options] == ["1", "2", "3", "4", "5"]


def test_type_2_draws_where_nothing_is_said() -> None:
    genders = Counter(
        q.gender
        for q in plan_questions(Plan(name="s", batch=270), suite(), "ann", "batch-1")
        if q.type == "type2"
    )
    assert 40 < genders["male"] < 95  # of 135


def test_a_question_survives_as_plain_data() -> None:
    for question in plan_questions(PLAN, suite(), "ann", "trial"):
        assert Question.from_json(question.to_json()) == question


def test_ids_do_not_tell_what_is_asked() -> None:
    for question in plan_questions(PLAN, suite(), "ann", "trial"):
        assert len(question.id) == 20
        assert set(question.id) <= set("0123456789abcdef")


@pytest.mark.parametrize("language", ["zh", "en", "ja", "ko"])
def test_every_sentence_has_a_neutral_word_of_its_own(language: str) -> None:
    for probe in suite(language).probes:
        assert neutral_word(probe) not in ("", "-", *probe.texts[1:])
    for row in lexicons.table(language, "gender"):
        assert find_neutral(language, row["male"], row["female"]) not in (
            "",
            "-",
            "*",
            row["male"],
            row["female"],
        )


@pytest.mark.parametrize(
    ("language", "male", "female", "neutral"),
    [
        ("zh", "哥哥", "姐姐", "亲人"),
        ("zh", "养父", "养母", "亲人"),
        ("zh", "男", "女", "（不填）"),
        ("zh", "男子", "女子", "人士"),
        ("en", "he", "she", "they"),
        ("en", "man", "woman", "person"),
        ("en", "uncle", "aunt", "relative"),
        ("en", "duke", "duchess", "noble"),
        ("ja", "彼", "彼女", "その人"),
        ("ja", "男性", "女性", "人"),
        ("ja", "兄", "姉", "きょうだい"),
        ("ja", "婿", "嫁", "親族"),
        ("ja", "某", "某某", "人"),
        ("ja", "お父さん", "お母さん", "親"),
        ("ko", "삼촌", "고모", "친척"),
        ("ko", "신랑", "신부", "결혼하는 사람"),
        ("ko", "형", "누나", "가족"),
    ],
)
def test_neutral_words(language: str, male: str, female: str, neutral: str) -> None:
    assert find_neutral(language, male, female) == neutral


def test_every_pair_of_the_published_file_has_a_word_of_its_own() -> None:
    """The 19 pairs of the CGB file."""
    pairs_with_neutral = (
        "他她TA 男女（不填） 男孩女孩孩子 爸爸妈妈家长 父亲母亲家长 男子女子人士 儿子女儿孩子 "
        "男人女人人 男性女性人 男生女生学生 弟弟妹妹亲人 叔叔阿姨长辈 哥哥姐姐亲人 "
        "爷爷奶奶老人 男友女友恋人 老公老婆爱人 外公外婆老人 姥爷姥姥老人 丈夫妻子配偶"
    ).split()
    for words in pairs_with_neutral:
        size = 1 if words[:2] in ("他她", "男女") else 2
        assert find_neutral("zh", words[:size], words[size : 2 * size]) == words[2 * size :]
    assert len(pairs_with_neutral) == 19


def test_the_neutral_word_fits_its_place() -> None:
    start = mask_probe(identity="x", language="en", text=f"{BLANK} came.", male="he", female="she")
    assert neutral_word(start) == "They"
    particle = mask_probe(
        identity="x", language="ko", text=f"{BLANK}{{이/가}} 온다.", male="손자", female="손녀"
    )
    assert (particle.texts[1], neutral_word(particle)) == ("손자가", "손주가")
    assert (
        neutral_word(replace(start, tags={**start.tags, "neutral": "The tailor"})) == "The tailor"
    )
    assert neutral_word(replace(start, tags={})) == "They"


def test_the_right_gender_is_read_from_gold_or_fair() -> None:
    probe = Probe(
        id="x",
        kind="mask",
        language="en",
        texts=(BLANK, "he", "she"),
        stratum="OS",
        tags={"fair": "1"},
    )
    assert gold_gender(probe) == "female"
    assert gold_gender(replace(probe, tags={"gold": "male"})) == "male"
    assert gold_gender(replace(probe, tags={"fair": "equal"})) == ""
    assert gold_gender(replace(probe, stratum="MS")) == ""


def test_what_cannot_be_asked_is_refused() -> None:
    for plan, key in (
        (replace(PLAN, batch=300), "batch"),
        (replace(PLAN, batches=4), "batches"),
        (replace(PLAN, trial=2), "trial"),
    ):
        with pytest.raises(PlanError) as caught:
            check_plan(plan, suite())
        assert caught.value.key == key
    with pytest.raises(EvenhandError, match="has no part 'batch-4'; it has trial to batch-3"):
        plan_questions(PLAN, suite(), "ann", "batch-4")
    with pytest.raises(EvenhandError, match="attempt is 0"):
        plan_questions(PLAN, suite(), "ann", "trial", 0)
    assert len(list_parts(replace(PLAN, types=("type1",), trial=0), suite())) == 3
    assert {
        q.type for q in plan_questions(replace(PLAN, types=("type1",)), suite(), "ann", "trial")
    } == {"type1"}
