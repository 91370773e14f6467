"""What is noticed of answers: too fast, straight lines, alternating patterns; and what is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenhand.people.inventories import Inventory, Item, score_inventory
from evenhand.people.inventory_keys import INVENTORY_KEYS
from evenhand.people.quality import (
    ALTERNATING,
    FAST,
    STRAIGHT,
    Pressed,
    Reply,
    count_flags,
    flag_answers,
    least_seconds,
    pressed_places,
)
from evenhand.people.questions import LIKELIHOODS, Option, Question
from evenhand.people.scoring import reached_percent


def replies(pressed: list[Pressed], seconds: float = 5.0, kind: str = "type2") -> list[Reply]:
    return [
        Reply(
            annotator="a",
            part="batch-1",
            attempt=1,
            question=f"{kind}.{place}",
            type=kind,
            text="x" * 60,
            seconds=seconds,
            pressed=answer,
        )
        for place, answer in enumerate(pressed)
    ]


def flagged(pressed: list[Pressed], kind: str = "type2") -> dict[str, list[int]]:
    """Flag -> the places of the answers that have it."""
    found: dict[str, list[int]] = {}
    flags = flag_answers(replies(pressed, kind=kind), "en")
    for (_, question), names in flags.items():
        for name in names:
            found.setdefault(name, []).append(int(question.partition(".")[2]))
    return {name: sorted(places) for name, places in found.items()}


def drawn(shares: dict[int, float], count: int, seed: int = 0) -> list[Pressed]:
    rng = np.random.default_rng(seed)
    return [(str(v),) for v in rng.choice(list(shares), count, p=list(shares.values()))]


@pytest.mark.parametrize(
    ("language", "characters", "seconds"),
    [("zh", 40, 2.0), ("ja", 40, 2.0), ("ko", 40, 2.0), ("en", 120, 2.0), ("de", 60, 1.0)],
)
def test_nobody_reads_faster(language: str, characters: int, seconds: float) -> None:
    assert least_seconds("字" * characters, language) == pytest.approx(seconds)


def test_only_what_is_faster_than_reading_is_fast() -> None:
    assert flag_answers(replies([("1",), ("2",)], seconds=1.0), "en") == {}
    fast = flag_answers(replies([("1",), ("2",)], seconds=0.99), "en")
    assert fast == {("a", "type2.0"): (FAST,), ("a", "type2.1"): (FAST,)}
    assert len(flag_answers(replies([("1",)], seconds=2.9), "zh")) == 1  # 60 ideographs take 3 s


def test_somebody_who_always_presses_the_same_is_in_a_straight_line() -> None:
    assert flagged([("3",)] * 12) == {STRAIGHT: list(range(12))}
    assert flagged([("3",)] * 11) == {}


def test_a_long_run_within_varied_answers_is_a_straight_line() -> None:
    varied = drawn({1: 0.2, 2: 0.2, 3: 0.2, 4: 0.2, 5: 0.2}, 100)
    assert flagged(varied) == {}
    varied[40:60] = [("4",)] * 20
    places = flagged(varied)[STRAIGHT]
    assert set(range(40, 60)) <= set(places)
    assert len(places) <= 22


@pytest.mark.parametrize("seed", range(20))
def test_an_opinion_that_is_mostly_one_answer_is_not_flagged(seed: int) -> None:
    """Two thirds of the sentences are judged possible: long runs of 3 come by themselves."""
    assert flagged(drawn({3: 0.67, 2: 0.2, 4: 0.13}, 1000, seed)) == {}


@pytest.mark.parametrize("cycle", [[1, 5], [1, 2, 3], [2, 4], [1, 1, 5]])
def test_a_pattern_that_comes_again_and_again_is_alternating(cycle: list[int]) -> None:
    pressed: list[Pressed] = [(str(cycle[i % len(cycle)]),) for i in range(30)]
    assert flagged(pressed) == {ALTERNATING: list(range(30))}
    assert flagged(pressed[:11]) == {}


def test_each_type_is_looked_at_by_itself() -> None:
    """Both types in turn, each answered in its own straight line."""
    ranked, judged = replies([("1", "2", "")] * 15, kind="type1"), replies([("3",)] * 15)
    mixed = [reply for both in zip(ranked, judged, strict=True) for reply in both]
    flags = flag_answers(mixed, "en")
    assert set(flags.values()) == {(STRAIGHT,)}
    assert count_flags(mixed, flags) == {("a", "batch-1", 1): {STRAIGHT: 30}}


def test_words_count_by_their_place_on_the_screen() -> None:
    options = tuple(Option(key, key) for key in ("neutral", "female", "male"))
    question = Question(
        id="q", probe="p", type="type1", role="measure", shown="____", options=options
    )
    payload = {"first": "male", "second": "neutral", "equal": True}
    assert pressed_places(question, payload) == ("3", "1", "=")
    judged = Question(
        id="q",
        probe="p",
        type="type2",
        role="measure",
        shown="x",
        options=tuple(Option(key, "") for key in LIKELIHOODS),
    )
    assert pressed_places(judged, {"value": 4}) == ("4",)


@pytest.mark.parametrize(("name", "items"), [("modern-sexism", 8), ("ambivalent-sexism", 22)])
def test_published_keys_are_whole(name: str, items: int) -> None:
    key = INVENTORY_KEYS[name]
    assert key.ids == tuple(str(n) for n in range(1, items + 1))
    covered = {number for scale in key.subscales.values() for number in scale}
    assert covered == set(range(1, items + 1))
    assert set(key.reversed) <= covered


def test_scales_of_the_published_keys() -> None:
    """Agreement with everything: reversed items count as the low end."""
    key = INVENTORY_KEYS["ambivalent-sexism"]
    hostile, benevolent = (set(key.subscales[s]) for s in ("hostile", "benevolent"))
    assert (len(hostile), len(benevolent), hostile & benevolent) == (11, 11, set())
    parts = ("protective paternalism", "complementary gender differentiation")
    intimacy = set(key.subscales["heterosexual intimacy"])
    assert {n for part in parts for n in key.subscales[part]} | intimacy == benevolent
    inventory = Inventory(
        name=key.name,
        file=Path("items.csv"),
        items=tuple(Item(i, {}) for i in key.ids),
        low=key.low,
        high=key.high,
        subscales={s: tuple(map(str, n)) for s, n in key.subscales.items()},
        reversed=frozenset(map(str, key.reversed)),
    )
    scores = score_inventory(inventory, dict.fromkeys(key.ids, 5))
    assert scores["hostile"].value == pytest.approx(5 * 8 / 11)  # 7, 18, 21 are turned round
    assert scores["benevolent"].value == pytest.approx(5 * 8 / 11)  # 3, 6, 13
    assert scores["total"].value == pytest.approx(5 * 16 / 22)


@pytest.mark.parametrize(
    ("share", "shown"), [(0.8, 80), (0.7999, 79), (0.29, 29), (1.0, 100), (0.999, 99), (0.0, 0)]
)
def test_a_share_below_a_threshold_is_not_printed_as_the_threshold(
    share: float, shown: int
) -> None:
    assert reached_percent(share) == shown
