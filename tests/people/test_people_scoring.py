"""Every answer is scored as Zhu et al. 2024 (appendix B) score it; all else is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from math import isnan
from pathlib import Path

import pytest

from evenhand.core.errors import EvenhandError, InputError
from evenhand.people.inventories import Inventory, Item, Score, read_items, score_inventory
from evenhand.people.questions import Option, Question
from evenhand.people.scoring import (
    COARSE,
    FINE,
    AnswerError,
    Judgement,
    Ranking,
    Scored,
    Share,
    annotator_scores,
    coarse,
    consistency,
    control_accuracy,
    fine,
    label,
    parse_answer,
    sentence_scores,
)

WORDS = (Option("female", "she"), Option("neutral", "they"), Option("male", "he"))
TYPE1 = Question(id="1", probe="p", type="type1", role="measure", shown="____ came.", options=WORDS)
LEVELS = tuple(Option(str(k), "") for k in range(1, 6))
TYPE2 = {
    g: Question(
        id="2", probe="p", type="type2", role="measure", shown="x", options=LEVELS, gender=g
    )
    for g in ("male", "female")
}

RANKED = {
    ("male", "neutral"): 1.5,
    ("male", "female"): 1.0,
    ("neutral", "male"): 0.5,
    ("neutral", "female"): -0.5,
    ("female", "male"): -1.0,
    ("female", "neutral"): -1.5,
}
EQUAL = {
    frozenset({"male", "neutral"}): 1.0,
    frozenset({"male", "female"}): 0.0,
    frozenset({"female", "neutral"}): -1.0,
}


@pytest.mark.parametrize(("first", "second"), list(permutations(("male", "female", "neutral"), 2)))
def test_type_1(first: str, second: str) -> None:
    ranked, equal = Ranking(first, second, False), Ranking(first, second, True)
    assert fine(TYPE1, ranked) == RANKED[first, second]
    assert fine(TYPE1, equal) == EQUAL[frozenset({first, second})]
    assert coarse(TYPE1, ranked) == (1.5 if RANKED[first, second] > 0 else -1.5)
    assert coarse(TYPE1, equal) == 1.5 * EQUAL[frozenset({first, second})]


@pytest.mark.parametrize(
    ("gender", "value", "score", "sign"),
    [
        ("male", 1, -1.5, -1.0),
        ("male", 2, -0.75, -1.0),
        ("male", 3, 0.0, 0.0),
        ("male", 4, 0.75, 1.0),
        ("male", 5, 1.5, 1.0),
        ("female", 1, 1.5, 1.0),
        ("female", 2, 0.75, 1.0),
        ("female", 3, 0.0, 0.0),
        ("female", 4, -0.75, -1.0),
        ("female", 5, -1.5, -1.0),
    ],
)
def test_type_2(gender: str, value: int, score: float, sign: float) -> None:
    choice = parse_answer(TYPE2[gender], {"value": value})
    assert choice == Judgement(value, gender)
    assert (fine(TYPE2[gender], choice), coarse(TYPE2[gender], choice)) == (score, sign)
    assert str(fine(TYPE2[gender], choice)) != "-0.0"


def test_exactly_the_published_values_appear() -> None:
    ranked = [
        Ranking(*pair, equal)
        for pair, equal in product(permutations(("male", "female", "neutral"), 2), (True, False))
    ]
    judged = [(TYPE2[g], Judgement(v, g)) for g in TYPE2 for v in range(1, 6)]
    assert (
        tuple(sorted({fine(TYPE1, c) for c in ranked}))
        == FINE["type1"]
        == (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
    )
    assert (
        tuple(sorted({fine(q, c) for q, c in judged}))
        == FINE["type2"]
        == (-1.5, -0.75, 0.0, 0.75, 1.5)
    )
    assert tuple(sorted({coarse(TYPE1, c) for c in ranked})) == COARSE["type1"] == (-1.5, 0.0, 1.5)
    assert tuple(sorted({coarse(q, c) for q, c in judged})) == COARSE["type2"] == (-1.0, 0.0, 1.0)


def test_answers_are_read() -> None:
    assert parse_answer(TYPE1, {"first": "male", "second": "neutral", "equal": False}) == Ranking(
        "male", "neutral", False
    )
    assert parse_answer(TYPE1, {"first": "female", "second": "male", "equal": True}) == Ranking(
        "female", "male", True
    )
    assert parse_answer(TYPE1, {"first": "female", "second": "male"}) == Ranking(
        "female", "male", False
    )


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({}, "0 words were chosen; choose exactly two"),
        ({"first": "male"}, "1 word was chosen; choose exactly two"),
        ({"first": "male", "second": ""}, "1 word was chosen"),
        ({"first": "male", "second": "male"}, "the same word was chosen twice"),
        (
            {"first": "male", "second": "female", "third": "neutral"},
            "'third' is no part of an answer; choose exactly two",
        ),
        ({"first": "male", "second": "both"}, "'both' is none of the words"),
        ({"first": ["male", "female"], "second": "neutral"}, "is none of the words"),
        ({"first": "male", "second": "female", "equal": "yes"}, "equal is 'yes'"),
        ({"value": 3}, "'value' is no part of an answer"),
        (["male", "female"], "an answer is an object"),
        (None, "an answer is an object, not None"),
        ({"first": "x" * 10_000, "second": "male"}, r"'x{36}\.\.\. is none of the words"),
    ],
)
def test_wrong_rankings_are_refused(payload: object, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        parse_answer(TYPE1, payload)


@pytest.mark.parametrize("value", [0, 6, -1, 3.5, 3.0, "3", True, None, [3], float("nan"), 10**30])
def test_wrong_judgements_are_refused(value: object) -> None:
    with pytest.raises(AnswerError, match="was given; give a whole number from 1 to 5"):
        parse_answer(TYPE2["male"], {"value": value})


def test_a_choice_of_the_other_type_is_refused() -> None:
    with pytest.raises(AnswerError, match="'first' is no part"):
        parse_answer(TYPE2["male"], {"first": "male", "second": "female"})
    with pytest.raises(AnswerError, match="a type1 question has no judgement"):
        fine(TYPE1, Judgement(3, "male"))
    with pytest.raises(AnswerError, match="a type2 question has no ranking"):
        coarse(TYPE2["male"], Ranking("male", "female", False))


def row(
    annotator: str, probe: str, kind: str, score: float, role: str = "measure", attempt: int = 1
) -> Scored:
    return Scored(
        annotator, probe, kind, role, score, float((score > 0) - (score < 0)), "batch-1", attempt
    )


def test_a_sentence_is_the_mean_over_types_then_over_people() -> None:
    rows = [
        row("a", "p", "type1", 1.5),
        row("a", "p", "type2", -0.75),
        row("b", "p", "type1", -1.0),
        row("b", "q", "type2", 0.75),
    ]
    assert annotator_scores(rows) == {("a", "p"): 0.375, ("b", "p"): -1.0, ("b", "q"): 0.75}
    assert sentence_scores(rows) == {"p": -0.3125, "q": 0.75}
    assert sentence_scores(rows, "coarse") == {"p": -0.5, "q": 1.0}
    assert [label(s) for s in (*sentence_scores(rows).values(), 0.0, float("nan"))] == [
        "female",
        "male",
        "neutral",
        "",
    ]
    assert sentence_scores([]) == {}


def test_accuracy_is_the_share_of_right_signs_and_nothing_is_wrong() -> None:
    gold = {"m": "male", "f": "female"}
    rows = [
        row("a", p, k, s, "accuracy")
        for p, k, s in (
            ("m", "type1", 0.5),
            ("f", "type2", -1.5),
            ("m", "type2", 0.0),
            ("f", "type1", 1.0),
        )
    ]
    assert control_accuracy([*rows, row("a", "x", "type1", 1.5)], gold) == Share(0.5, 4)
    nothing = control_accuracy([row("a", "x", "type1", 1.5)], gold)
    assert isnan(nothing.value)
    assert nothing[1:] == (0, "no accuracy question was answered")


def test_consistency_is_the_same_sign_in_both_types() -> None:
    pairs = {"same": (1.5, 0.75), "other": (0.5, -0.75), "none": (0.0, 0.0), "half": (0.0, 0.75)}
    rows = [
        row("a", p, k, s, "consistency")
        for p, both in pairs.items()
        for k, s in zip(("type1", "type2"), both, strict=True)
    ]
    assert consistency(rows) == Share(0.5, 4)  # 0 and 0 agree, 0 and 0.75 do not
    assert consistency([*rows, row("a", "open", "type1", 1.0, "consistency")]) == Share(0.5, 4)
    again = [row("a", "half", k, 1.0, "consistency", attempt=2) for k in ("type1", "type2")]
    assert consistency(rows + again) == Share(0.6, 5)
    assert consistency([])[1:] == (0, "no sentence was answered in both types")


ITEMS = tuple(Item(str(k), {"en": f"item {k}"}) for k in range(1, 5))
INVENTORY = Inventory(
    name="i",
    file=Path("i.csv"),
    items=ITEMS,
    low=0,
    high=5,
    subscales={"a": ("1", "2"), "b": ("3",)},
    reversed=frozenset({"2", "4"}),
)


def test_an_inventory_turns_its_reversed_items() -> None:
    assert score_inventory(INVENTORY, {"1": 5, "2": 1, "3": 2, "4": 0}) == {
        "a": Score(4.5),
        "b": Score(2.0),
        "total": Score(4.0),
    }
    assert score_inventory(INVENTORY, {"1": 0, "2": 5, "3": 0, "4": 5})["total"] == Score(0.0)
    one_to_five = replace(INVENTORY, low=1)
    assert score_inventory(one_to_five, {"1": 5, "2": 1, "3": 2, "4": 4}) == {
        "a": Score(5.0),
        "b": Score(2.0),
        "total": Score(3.5),
    }


def test_a_missing_item_is_nan_with_its_reason() -> None:
    scores = score_inventory(INVENTORY, {"1": 5, "3": 2, "4": 0})
    assert scores["b"] == Score(2.0)
    assert isnan(scores["a"].value)
    assert scores["a"].note == "1 of 2 items not answered: 2"
    assert scores["total"].note == "1 of 4 items not answered: 2"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"9": 1}, "has no item '9'"),
        ({"1": 6}, "was rated 6"),
        ({"1": True}, "True"),
        ({"1": "3"}, "'3'"),
    ],
)
def test_wrong_ratings_are_refused(given: dict[str, object], reason: str) -> None:
    with pytest.raises(EvenhandError, match=reason):
        score_inventory(INVENTORY, given)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("i.csv", "id,en,zh\n1,one,一\n2,two,二\n"),
        ("i.tsv", "id\ten\tzh\n1\tone\t一\n2\ttwo\t二\n"),
        ("i.jsonl", '{"id": 1, "en": "one", "zh": "一"}\n{"id": "2", "en": "two", "zh": "二"}\n'),
    ],
)
def test_items_come_from_any_table(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_items(tmp_path / name, ("en", "zh")) == (
        Item("1", {"en": "one", "zh": "一"}),
        Item("2", {"en": "two", "zh": "二"}),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("id,en\n1,\n", "row 2: no text in the column 'en'"),
        ("id,en\n1,a\n1,b\n", "row 3: the id '1'"),
        ("n,en\n1,a\n", "'id'"),
    ],
)
def test_bad_items_name_their_row(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "i.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=reason):
        read_items(tmp_path / "i.csv", ("en",))
