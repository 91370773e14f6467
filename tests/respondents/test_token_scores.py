"""The texts that each rule reads, against an implementation too plain to be wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from masked_models import mask_probe, open_masked, write_masked
from replied import flat

from evenhand.core.errors import UnknownNameError
from evenhand.respondents.candidates import Span
from evenhand.respondents.token_scores import (
    LENGTH_NAMES,
    LENGTHS,
    RULES,
    LookupPlan,
    add_up,
    check_rules,
    masked_texts,
)

MASK = 99
WORD = Span((1, 5, 7, 8, 9, 6, 2), 2, 5)  # the word is 7 8 9


def slowly(span: Span, rule: str) -> list[tuple[tuple[int, ...], int, int]]:
    """One token after the other, each text built as a list that is changed in place."""
    expected = []
    for position in range(span.start, span.end):
        text = list(span.ids)
        if rule == "together":
            for i in range(span.start, span.end):
                text[i] = MASK
        if rule == "left-to-right":
            text[position] = MASK
            del text[position + 1 : span.end]
        if rule == "within-word":
            for i in range(position, span.end):
                text[i] = MASK
        if rule == "one-by-one":
            text[position] = MASK
        expected.append((tuple(text), position, span.ids[position]))
    return expected


def test_each_rule_on_a_word_of_three_tokens() -> None:
    assert {rule: [text for text, _, _ in masked_texts(WORD, MASK, rule)] for rule in RULES} == {
        "together": [(1, 5, 99, 99, 99, 6, 2)] * 3,
        "left-to-right": [(1, 5, 99, 6, 2), (1, 5, 7, 99, 6, 2), (1, 5, 7, 8, 99, 6, 2)],
        "within-word": [(1, 5, 99, 99, 99, 6, 2), (1, 5, 7, 99, 99, 6, 2), (1, 5, 7, 8, 99, 6, 2)],
        "one-by-one": [(1, 5, 99, 8, 9, 6, 2), (1, 5, 7, 99, 9, 6, 2), (1, 5, 7, 8, 99, 6, 2)],
    }
    for rule in RULES:
        assert [(k, token) for _, k, token in masked_texts(WORD, MASK, rule)] == [
            (2, 7),
            (3, 8),
            (4, 9),
        ]


some_ids = st.lists(st.integers(0, 5), max_size=4).map(tuple)


@given(
    before=some_ids,
    word=st.lists(st.integers(0, 5), min_size=1, max_size=5).map(tuple),
    after=some_ids,
    rule=st.sampled_from(RULES),
)
def test_the_rules_read_what_the_slow_implementation_reads(
    before: tuple[int, ...], word: tuple[int, ...], after: tuple[int, ...], rule: str
) -> None:
    span = Span((*before, *word, *after), len(before), len(before) + len(word))
    assert list(masked_texts(span, MASK, rule)) == slowly(span, rule)


@given(before=some_ids, token=st.integers(0, 5), after=some_ids)
def test_all_rules_are_one_for_a_word_of_one_token(
    before: tuple[int, ...], token: int, after: tuple[int, ...]
) -> None:
    span = Span((*before, token, *after), len(before), len(before) + 1)
    expected = [((*before, MASK, *after), len(before), token)]
    assert all(list(masked_texts(span, MASK, rule)) == expected for rule in RULES)


@pytest.mark.parametrize(
    ("length", "lookups", "expected"),
    [
        ("sum", [[0], [1, 2]], [-1.0, -6.0]),
        ("mean", [[0], [1, 2]], [-1.0, -3.0]),
        ("auto", [[0], [1, 2]], [-1.0, -3.0]),
        ("sum", [[0, 1], [2, 3]], [-3.0, -12.0]),
        ("mean", [[0, 1], [2, 3]], [-1.5, -6.0]),
        ("auto", [[0, 1], [2, 3]], [-3.0, -12.0]),
        ("auto", [[0, 1], [2, 3], [3]], [-1.5, -6.0, -8.0]),
        ("auto", [[0, 0], [3, 3]], [-2.0, -16.0]),
        # two tokens against three: as if both had two, not one
        ("auto", [[0, 1], [1, 2, 3]], [-3.0, -28.0 / 3]),
    ],
)
def test_words_of_unequal_length(
    length: str, lookups: list[list[int]], expected: list[float]
) -> None:
    scores = add_up(np.asarray([-1.0, -2.0, -4.0, -8.0]), lookups, length)
    assert scores.tolist() == pytest.approx(expected, abs=1e-12)


def test_an_unread_number_makes_the_word_unknown_and_no_other() -> None:
    assert np.isnan(add_up(np.asarray([-1.0, np.nan, -3.0]), [[0, 1], [0, 2]], "sum")).tolist() == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("scoring", "length", "expected"),
    [
        ("togather", "auto", "unknown scoring of masked words 'togather'. Did you mean together?"),
        ("left to right", "auto", "Did you mean left-to-right?"),
        ("one-by-two", "auto", "Did you mean one-by-one?"),
        ("zzz", "auto", "Known: left-to-right, one-by-one, stereoset-code, together"),
        (
            "together",
            "means",
            "unknown rule for words of unequal length 'means'. Did you mean mean?",
        ),
        ("together", "summ", "Did you mean sum?"),
        ("together", "", "Known: auto, mean, sum."),
    ],
)
def test_unknown_rules_suggest_a_close_one(
    tmp_path: Path, scoring: str, length: str, expected: str
) -> None:
    with pytest.raises(UnknownNameError) as refused:
        check_rules(scoring, length)
    assert expected in str(refused.value)
    with pytest.raises(UnknownNameError) as again:
        open_masked(write_masked(tmp_path / "tiny"), scoring=scoring, length=length)
    assert str(again.value) == str(refused.value)


def test_known_rules_are_taken_and_named_in_the_signature(tmp_path: Path) -> None:
    folder = write_masked(tmp_path / "tiny")
    assert open_masked(folder).traits == {
        "scoring": "together",
        "length": "shortest, sentences mean",
        "precision": "fp32",
        "route": "onnxruntime",
    }
    for rule in RULES:
        for length in LENGTHS:
            traits = open_masked(folder, scoring=rule, length=length).traits
            assert (traits["scoring"], traits["length"]) == (rule, LENGTH_NAMES[length])


def test_the_default_rule_counts_every_sentence_in_the_same_unit() -> None:
    """A word of two tokens that is e times likelier per token has PB 2, whatever its partner."""
    values = np.asarray([-1.0, -1.0, -2.0, -2.0, -2.0])
    equal, unequal = ([[0, 1], [2, 3]], [[0, 1], [2, 3, 4]])
    odds = [float(np.subtract(*add_up(values, numbers, "auto"))) for numbers in (equal, unequal)]
    assert odds == [2.0, 2.0]
    assert [float(np.subtract(*add_up(values, n, "mean"))) for n in (equal, unequal)] == [1.0, 1.0]
    assert [float(np.subtract(*add_up(values, n, "sum"))) for n in (equal, unequal)] == [2.0, 4.0]


def test_a_plan_reads_each_text_once_and_looks_up_each_token_once() -> None:
    plan = LookupPlan()
    asked = [
        ((1, 9, 2), 1, 5),
        ((1, 9, 2), 1, 6),
        ((1, 9, 2), 1, 5),
        ((1, 8, 2), 1, 5),
        ((1, 9, 2), 0, 5),
    ]
    assert [plan.look_up(*a) for a in asked] == [0, 1, 0, 2, 3]
    assert plan.texts == {(1, 9, 2): 0, (1, 8, 2): 1}
    assert plan.lookups == {(0, 1, 5): 0, (0, 1, 6): 1, (1, 1, 5): 2, (0, 0, 5): 3}


@given(
    st.lists(
        st.tuples(
            st.sampled_from([(1, 9, 2), (1, 8, 2), (1, 8, 8, 2)]),
            st.integers(0, 2),
            st.integers(0, 3),
        ),
        max_size=30,
    )
)
def test_two_wants_have_one_number_if_and_only_if_they_are_the_same(
    asked: list[tuple[tuple[int, ...], int, int]],
) -> None:
    plan = LookupPlan()
    numbers = [plan.look_up(*a) for a in asked]
    assert len(plan.texts) == len({ids for ids, _, _ in asked})
    assert sorted(plan.lookups.values()) == list(range(len(set(asked))))
    assert all(
        (a == b) == (i == j)
        for a, i in zip(asked, numbers, strict=True)
        for b, j in zip(asked, numbers, strict=True)
    )


@pytest.mark.parametrize(
    ("rule", "texts"),
    [("together", 2), ("left-to-right", 3), ("within-word", 4), ("one-by-one", 4)],
)
def test_the_respondent_reads_each_masked_text_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, texts: int
) -> None:
    """man and boy share a text, fire + man and police + man some, other orders all."""
    respondent = open_masked(write_masked(tmp_path / "tiny"), scoring=rule, batch_size=3)
    read: list[tuple[int, ...]] = []
    run = respondent.network.log_probabilities

    def watch(batch, lookups):  # type: ignore[no-untyped-def]
        read.extend(e.ids for e in batch)
        return run(batch, lookups)

    monkeypatch.setattr(respondent.network, "log_probabilities", watch)
    words = ("man", "boy", "fireman", "policeman")
    probes = [
        mask_probe("The [BLANK] left.", *words, identity="a"),
        mask_probe("The [BLANK] left.", *words[::-1], identity="b"),
    ]
    values = flat(respondent.answer(probes))
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(values[0], values[1][::-1])
    assert len(read) == len(set(read)) == texts
