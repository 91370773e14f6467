"""Every method makes of the pairs what its name says."""

from __future__ import annotations

import pytest

from evenhand.core import catalog
from evenhand.core.corpora import Pair
from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.mitigate.anchors import AnchorPlan
from evenhand.mitigate.methods import METHODS, Materials, find_methods, names_occupation

PAIRS = (
    Pair("A man walks his dog.", "A man is outside.", "entailment"),
    Pair("A dog sleeps.", "An animal runs.", "contradiction"),
    Pair("The nurse greets the woman.", "A woman is greeted.", "entailment"),
)
PLAN = AnchorPlan(occupations=("baker",), unseen=("cook",), frames=("{a} is holding a kite.",))


def made(names: str) -> list[Pair]:
    (method,) = find_methods(names)
    materials = Materials(language=catalog.language("en"), plan=PLAN, share=2.0)
    return method.apply(PAIRS, materials)


def test_the_control_changes_nothing() -> None:
    assert made("none") == list(PAIRS)


def test_swapped_copies_follow_the_pairs_with_their_labels() -> None:
    copies = [
        Pair("A woman walks her dog.", "A woman is outside.", "entailment"),
        Pair("The nurse greets the man.", "A man is greeted.", "entailment"),
    ]
    assert made("swap") == [*PAIRS, *copies]
    assert made("swap-occupations") == [*PAIRS, copies[1]]  # only pairs that name one


def test_the_words_of_a_named_person_are_not_swapped() -> None:
    class Finder:
        name = "finder"

        def find(self, text: str) -> list[tuple[int, int]]:
            return [(0, 3)] if text.startswith("Jon") else []

        def has_name(self, text: str) -> bool:
            return bool(self.find(text))

    pairs = [Pair("Jon walks his dog.", "A dog walks.", "entailment"), *PAIRS]
    materials = Materials(language=catalog.language("en"), people=Finder())
    (method,) = find_methods("pairing")
    assert [p.twin is None for p in method.apply(pairs, materials)] == [True, False, True, False]


def test_pairing_gives_twins_and_adds_nothing() -> None:
    pairs = made("pairing")
    assert [(p.premise, p.hypothesis, p.label) for p in pairs] == [
        (p.premise, p.hypothesis, p.label) for p in PAIRS
    ]
    assert [p.twin for p in pairs] == [
        ("A woman walks her dog.", "A woman is outside."),
        None,
        ("The nurse greets the man.", "A man is greeted."),
    ]


def test_anchors_come_as_a_share_of_the_pairs_and_their_twins_are_the_other_gender() -> None:
    assert len(made("anchors")) == 3 + 6
    pairs = made("pairing+anchors")
    added = pairs[3:]
    assert len(added) == 6 and [p.twin for p in pairs[:3]] == [p.twin for p in made("pairing")]
    job = {p.hypothesis: p.twin for p in added if p.label == "neutral"}
    assert job == {
        "A woman is holding a kite.": ("A baker is holding a kite.", "A man is holding a kite."),
        "A man is holding a kite.": ("A baker is holding a kite.", "A woman is holding a kite."),
    }
    assert made("anchors+pairing") == pairs
    assert (
        len(made("swap+anchors")) == 3 + 2 + 12
    )  # a share of what swapping left: 5 pairs, twice as many anchors, in whole blocks


def test_names_are_checked_and_kept_as_they_are_written() -> None:
    assert [c.name for c in find_methods("none, swap,pairing+anchors,anchors+pairing,swap")] == [
        "none",
        "swap",
        "pairing+anchors",
    ]
    assert [c.is_paired for c in find_methods("swap,swap+pairing")] == [False, True]
    assert [c.has_anchors for c in find_methods("swap,swap+anchors")] == [False, True]
    with pytest.raises(UnknownNameError, match=r"unknown method 'anchor'. Did you mean anchors\?"):
        find_methods("none,swap+anchor")
    with pytest.raises(EvenhandError, match="write swap,swap-occupations for both apart"):
        find_methods("swap+swap-occupations")
    assert [c.has_twins for c in find_methods("none,anchors,swap,pairing+anchors")] == [
        False,
        False,
        True,
        True,
    ]
    with pytest.raises(EvenhandError, match="none is the control"):
        find_methods("none+swap")
    assert all(method.description for method in METHODS.values())


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Two nurses talk.", True),
        ("en", "A nursery opens.", False),
        ("zh", "收银员在找钱。", True),
        ("ja", "犬が走る。", False),
    ],
)
def test_pairs_that_name_an_occupation_are_found(language: str, text: str, expected: bool) -> None:
    assert names_occupation(language)(Pair(text, "x", "neutral")) is expected
