"""The tokens that each of the three rules of CrowS-Pairs counts, and their sum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from masked_models import TinyMasked, open_masked, pieces, write_masked
from replied import flat, reasons

from evenhand.core import catalog
from evenhand.core.probe import Floats, Probe
from evenhand.respondents.masked import SENTENCE_RULES, token_parts

A, B, C, D, X, Y, Z = range(10, 17)
MASK = 4
PAIRS = {
    "replaced": ("The nurse said he left.", "The nurse said she left."),
    "longer": ("The man said he left.", "The fire woman said he left."),
    "ends": ("Boy runs.", "The nurse runs here!"),
    "twice": ("He said he left.", "She said she left."),
    "turned": ("the man left the woman", "the woman left the man"),
}


@pytest.mark.parametrize(
    ("first", "second", "shared", "changed"),
    [
        ((A, X, B), (A, Y, B), ([1, 3], [1, 3]), ([2], [2])),
        ((A, X, B), (A, Y, Z, X, B), ([1, 2, 3], [1, 4, 5]), ([], [2, 3])),
        ((A, X, B), (A, Y, Z, Y, B), ([1, 3], [1, 5]), ([2], [2, 3, 4])),
        ((X, A, B), (Y, A, B), ([2, 3], [2, 3]), ([1], [1])),
        ((A, B, X), (A, B, Y, Z), ([1, 2], [1, 2]), ([3], [3, 4])),
        ((X, A, Y), (Z, A, D), ([2], [2]), ([1, 3], [1, 3])),
        ((A, B), (C, D), ([], []), ([1, 2], [1, 2])),
        ((A, B, C), (A, B, C), ([1, 2, 3], [1, 2, 3]), ([], [])),
        ((A, A, B), (A, B, B), ([1, 3], [1, 3]), ([2], [2])),
    ],
    ids=[
        "one",
        "inserted",
        "one for three",
        "start",
        "end",
        "both ends",
        "nothing",
        "everything",
        "repeated",
    ],
)
def test_which_tokens_count(
    first: tuple[int, ...],
    second: tuple[int, ...],
    shared: tuple[list[int], list[int]],
    changed: tuple[list[int], list[int]],
) -> None:
    """Positions count the mark at the start, which is 0; neither mark is ever scored."""
    parts = token_parts((2, *first, 3), (2, *second, 3))
    assert parts["changed"] == changed
    assert parts["shared"] == shared
    assert parts["whole"] == (list(range(1, len(first) + 1)), list(range(1, len(second) + 1)))


some_tokens = st.lists(st.integers(10, 13), min_size=1, max_size=8).map(tuple)


@given(first=some_tokens, second=some_tokens)
def test_every_token_is_shared_or_changed_and_the_shared_ones_are_the_same(
    first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    texts = (2, *first, 3), (2, *second, 3)
    parts = token_parts(*texts)
    for side in (0, 1):
        assert (
            sorted(parts["shared"][side] + parts["changed"][side])
            == parts["whole"][side]
            == list(range(1, len(texts[side]) - 1))
        )
    assert [texts[0][i] for i in parts["shared"][0]] == [texts[1][i] for i in parts["shared"][1]]


def pair(
    rule: str, texts: tuple[str, str], identity: str = "c", context: str = "", **tags: str
) -> Probe:
    return Probe(
        id=identity,
        kind="choice",
        language="en",
        texts=(context, *texts),
        stratum=rule,
        cluster=identity,
        tags={"scoring": rule, **tags},
    )


def alone(model: TinyMasked, ids: tuple[int, ...], position: int) -> float:
    """log p of a token that is masked alone."""
    shown = [MASK if i == position else t for i, t in enumerate(ids)]
    return float(model.log_probabilities(shown)[position, ids[position]])


def slowly(model: TinyMasked, rule: str, texts: tuple[str, str]) -> list[float]:
    """By the longest common run, then the same left and right of it, as difflib does."""
    ids = [tuple(pieces().encode(t).ids) for t in texts]

    def common(a: tuple[int, int], b: tuple[int, int]) -> list[tuple[int, int]]:
        runs = [
            (n, i, j)
            for i in range(*a)
            for j in range(*b)
            for n in range(1, min(a[1] - i, b[1] - j) + 1)
            if ids[0][i : i + n] == ids[1][j : j + n]
        ]
        if not runs:
            return []
        n, i, j = max(runs, key=lambda run: (run[0], -run[1], -run[2]))
        return [
            *common((a[0], i), (b[0], j)),
            *((i + k, j + k) for k in range(n)),
            *common((i + n, a[1]), (j + n, b[1])),
        ]

    both = common((0, len(ids[0])), (0, len(ids[1])))
    numbers = []
    for side, text in enumerate(ids):
        inner = range(1, len(text) - 1)
        shared = {pairing[side] for pairing in both}
        counted = [i for i in inner if rule == "whole" or (i in shared) == (rule == "shared")]
        total = sum(alone(model, text, i) for i in counted)
        numbers.append(total / len(counted) if rule == "changed" else total)
    return numbers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_masked(tmp_path_factory.mktemp("sentences") / "tiny")


@pytest.mark.parametrize("rule", SENTENCE_RULES)
@pytest.mark.parametrize("name", PAIRS)
def test_the_rules_against_a_slow_implementation(folder: Path, rule: str, name: str) -> None:
    values = flat(open_masked(folder).answer([pair(rule, PAIRS[name])]))
    assert values[0].tolist() == pytest.approx(slowly(TinyMasked(), rule, PAIRS[name]), abs=1e-5)


def test_the_three_rules_are_three_different_questions(folder: Path) -> None:
    values = flat(
        open_masked(folder).answer([pair(rule, PAIRS["longer"], rule) for rule in SENTENCE_RULES])
    )
    assert len({round(float(v), 3) for v in values[:, 1]}) == 3
    shared, changed, whole = values
    assert whole[0] == pytest.approx(shared[0] + changed[0] * 1)  # one token: man
    assert whole[1] == pytest.approx(shared[1] + changed[1] * 2)  # two: fire woman


def test_mask_and_choice_probes_are_answered_together(folder: Path) -> None:
    blank = Probe(
        id="m",
        kind="mask",
        language="en",
        texts=("The [BLANK] left.", "man", "woman", "nurse"),
        stratum="MS",
        cluster="m",
    )
    probes = [pair("whole", PAIRS["ends"]), blank, pair("changed", PAIRS["ends"])]
    values = flat(open_masked(folder, batch_size=2).answer(probes))
    assert np.isnan(values).tolist() == [
        [False, False, True],
        [False, False, False],
        [False, False, True],
    ]
    for row, probe in zip(values, probes, strict=True):
        np.testing.assert_allclose(
            row[: probe.option_count], flat(open_masked(folder).answer([probe]))[0], atol=1e-6
        )


def test_the_users_rules_for_words_do_not_touch_sentences(folder: Path) -> None:
    probes = [pair(rule, PAIRS["longer"], rule) for rule in SENTENCE_RULES]
    other = flat(open_masked(folder, scoring="left-to-right", length="mean").answer(probes))
    np.testing.assert_array_equal(other, flat(open_masked(folder).answer(probes)))


@pytest.mark.parametrize(
    "texts", [("The man left.", "The man left here."), ("The man left here.", "The man left.")]
)
def test_a_sentence_that_only_adds_words_has_no_changed_tokens_of_its_own(
    folder: Path, texts: tuple[str, str]
) -> None:
    respondent = open_masked(folder)
    replies = respondent.answer(
        [pair(rule, texts, rule) for rule in ("shared", "changed", "whole")]
    )
    values = flat(replies)
    assert np.isnan(values).all(axis=1).tolist() == [False, True, False]
    assert reasons(replies) == {
        "no token counts under the rule 'changed': one sentence only adds words to the other": 1
    }


def test_sentences_without_a_common_token_share_nothing(folder: Path) -> None:
    respondent = open_masked(folder)
    replies = respondent.answer(
        [pair(rule, ("he left", "she runs"), rule) for rule in ("shared", "changed", "whole")]
    )
    values = flat(replies)
    assert np.isnan(values).all(axis=1).tolist() == [True, False, False]
    assert reasons(replies) == {
        "no token counts under the rule 'shared': the sentences have none in common": 1
    }


@pytest.mark.parametrize(
    "probe",
    [
        pair("nonsense", PAIRS["ends"]),
        pair("whole", PAIRS["ends"], context="It was late."),
        Probe(
            id="three",
            kind="choice",
            language="en",
            texts=("", "he left", "she left", "they left"),
            tags={"scoring": "whole"},
        ),
    ],
    ids=["rule", "context", "three options"],
)
def test_what_is_no_choice_between_two_sentences_is_not_answered(
    folder: Path, probe: Probe
) -> None:
    respondent = open_masked(folder)
    replies = respondent.answer([probe])
    assert np.isnan(replies.values).all()
    assert reasons(replies) == {
        "a masked model compares two sentences without a context, "
        "by the rule shared, changed or whole": 1
    }


def test_a_choice_that_names_no_rule_is_about_whole_sentences(folder: Path) -> None:
    bare = Probe(id="b", kind="choice", language="en", texts=("", *PAIRS["ends"]))
    np.testing.assert_array_equal(
        flat(open_masked(folder).answer([bare])),
        flat(open_masked(folder).answer([pair("whole", PAIRS["ends"])])),
    )


def test_sentences_that_are_the_same_to_the_model_tie(folder: Path) -> None:
    """The tokeniser does not see capitals. A tie counts half, and in the published form against."""
    same, other = ("He left.", "he LEFT."), PAIRS["replaced"]
    respondent = open_masked(folder)
    for rule in ("shared", "whole"):
        probes = [
            pair(rule, same, "a"),
            pair(rule, other, "b"),
            pair(rule, (other[1], other[0]), "c"),
        ]
        replies = respondent.answer(probes)
        values = flat(replies)
        assert values[0, 0] == values[0, 1]
        assert values[1].tolist() == pytest.approx(values[2][::-1].tolist())
        measure = catalog.measure(f"crows_{rule}")
        totals: Floats = measure.evidence(probes, replies.values).sum(axis=0)
        assert float(measure.combine(totals)) == 0.5
        assert float(measure.parts(totals)["official"]) == pytest.approx(1 / 3)
    assert not replies.silences
    assert np.isnan(flat(respondent.answer([pair("changed", same)]))).all()


def test_a_discriminator_reads_the_sentence_as_it_is(tmp_path: Path) -> None:
    folder, model = write_masked(tmp_path / "electra", form="discriminator"), TinyMasked()
    values = flat(open_masked(folder).answer([pair("whole", PAIRS["ends"])]))
    for value, text in zip(values[0], PAIRS["ends"], strict=True):
        ids = pieces().encode(text).ids
        assert value == pytest.approx(-np.log1p(np.exp(model.replaced(ids)[1:-1])).sum(), abs=1e-5)
