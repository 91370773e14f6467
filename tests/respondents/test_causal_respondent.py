"""Causal models: the numbers they would give by themselves, token by token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from causal_models import (
    BATCHES,
    BLANKS,
    OPTIONS,
    PAIRS,
    PROBES,
    START,
    Predict,
    TinyCausal,
    build,
    choice,
    made,
    padded,
    slowly,
)
from masked_models import byte_pairs, mask_probe, pieces
from replied import flat, reasons

from evenhand.core.errors import EvenhandWarning
from evenhand.core.probe import Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.causal import RESPONDENT, CausalRespondent
from evenhand.respondents.networks import causal as causal_networks


@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
@pytest.mark.parametrize("batch_size", BATCHES)
def test_against_one_token_at_a_time(length: str, batch_size: int | None) -> None:
    route = TinyCausal()
    respondent = made(route, length=length, batch_size=batch_size)
    expected = padded([slowly(byte_pairs(), route.after, START, p, length) for p in PROBES])
    replies = respondent.answer(PROBES)
    np.testing.assert_allclose(flat(replies), expected, atol=1e-9)
    assert reasons(replies) == {}


def test_a_blank_is_the_ratio_of_two_sentences() -> None:
    """What stands before the blank is the same for both and cancels; what is behind does not."""
    route = TinyCausal()
    (both,) = flat(made(route).answer([BLANKS[0]]))
    texts = [
        [START, *byte_pairs().encode(f"The nurse said {w} left.", add_special_tokens=False).ids]
        for w in ("he", "she")
    ]
    first = next(k for k, (a, b) in enumerate(zip(*texts, strict=False)) if a != b)
    parts = [sum(route.after(t[:k])[t[k]] for k in range(first, len(t))) for t in texts]
    assert both[0] - both[1] == pytest.approx(parts[0] - parts[1])


def test_the_first_word_counts_behind_the_start_token() -> None:
    route = TinyCausal()
    (values,) = flat(made(route).answer([choice("", "he", "she")]))
    he, she = (byte_pairs().token_to_id(w) for w in ("he", "she"))
    assert values.tolist() == pytest.approx([route.after([START])[he], route.after([START])[she]])


def test_every_text_is_read_once() -> None:
    route = TinyCausal()
    again = [
        choice("The nurse left.", "She was here.", "They left."),
        mask_probe("The nurse said [BLANK].", "he left", "they left"),
    ]
    flat(made(route).answer([*PROBES, *again, *PROBES]))
    assert len(route.seen) == len(set(route.seen))


def test_the_context_is_read_and_not_scored() -> None:
    short, long = flat(
        made().answer(
            [
                choice("He left.", "She left.", "He runs."),
                choice("He left. " * 6, "She left.", "He runs."),
            ]
        )
    )
    assert np.abs(short - long).max() < 2  # means over the same tokens, whatever stands before
    assert not np.allclose(short, long)


def test_a_word_that_grows_together_with_the_context_widens_all_options() -> None:
    """A token has the end of 医 and the start of 生: 男 is scored from the same byte on."""
    route, words = TinyCausal(), byte_pairs()
    (values,) = flat(
        made(route, length="sum").answer([choice("她是医", "生。", "男。", language="zh")])
    )
    texts = [words.encode(t, add_special_tokens=False).ids for t in ("她是医生。", "她是医男。")]
    whole = len(words.encode("她是", add_special_tokens=False).ids) + 1  # and the first byte of 医
    assert texts[0][:whole] == texts[1][:whole] and words.id_to_token(texts[0][whole]) == "»çĶ"
    expected = [
        sum(route.after([START, *t[:k]])[t[k]] for k in range(whole, len(t))) for t in texts
    ]
    assert values.tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        (choice("He left. " * 20, "He left.", "She left."), "longer than the model's 60 tokens"),
        (choice("He left.", "She left.", " "), "the option ' ' has no tokens"),
        (choice("", "She left.", ""), "a sentence has no tokens"),
        (
            choice("", "He left.", "She left.", scoring="shared"),
            "a causal model weighs sentences without a context as a whole, "
            "not by the rule 'shared'",
        ),
        (
            choice("", "He left.", "She left.", scoring="changed"),
            "a causal model weighs sentences without a context as a whole, "
            "not by the rule 'changed'",
        ),
        (
            choice("He what.", "He left.", "He runs.", sentence="He [BLANK].", words="left"),
            "1 words for 2 options; the tag `words` has one an option, `|` between them",
        ),
    ],
    ids=["long", "empty option", "empty sentence", "shared", "changed", "words"],
)
def test_what_cannot_be_answered_says_why(probe: Probe, reason: str) -> None:
    respondent = made(TinyCausal(longest=60))
    replies = respondent.answer([probe, BLANKS[0]])
    values = flat(replies)
    assert np.isnan(values[0]).all() and np.isfinite(values[1]).all()
    assert reasons(replies) == {reason: 1}


def test_the_start_token_takes_a_place() -> None:
    text = choice("", "he left", "she left")
    needed = (
        max(len(byte_pairs().encode(t, add_special_tokens=False).ids) for t in text.texts[1:]) + 1
    )
    assert np.isfinite(flat(made(TinyCausal(longest=needed)).answer([text]))).all()
    assert np.isnan(flat(made(TinyCausal(longest=needed - 1)).answer([text]))).all()


def test_without_a_start_token_only_what_has_something_before_it_is_answered() -> None:
    route = TinyCausal(start=None)
    respondent = made(route)
    replies = respondent.answer([BLANKS[0], OPTIONS[0], PAIRS[0]])
    values = flat(replies)
    assert np.isnan(values).all(axis=1).tolist() == [True, False, True]
    assert reasons(replies) == {
        "the tokeniser has no token for the start of a text, and nothing predicts the first word": 2
    }
    assert respondent.traits["start"] == "none"
    ids = byte_pairs().encode("The nurse left. Nobody", add_special_tokens=False).ids
    skipped = len(
        byte_pairs().encode("The nurse left. ", add_special_tokens=False).ids
    )  # here a space is a token of its own before a capital
    assert values[1, 2] == pytest.approx(
        np.mean([route.after(ids[:k])[ids[k]] for k in range(skipped, len(ids))])
    )


def test_a_word_that_the_tokeniser_cannot_write_is_not_answered() -> None:
    respondent = made(TinyCausal(pieces(), start=2))
    probes = [
        mask_probe("The [BLANK] left.", "man", "zebra"),
        choice("He left.", "zebra", "She left."),
        choice("He left.", "zebra left", "She"),
    ]
    with pytest.warns(EvenhandWarning, match="the tokeniser of tiny@1 does not know"):
        values = flat(respondent.answer(probes))
    assert np.isnan(values).all(axis=1).tolist() == [True, True, False]


def test_the_signature_names_start_and_rule() -> None:
    respondent = made(length="sum")
    assert respondent.identity == "tiny@1"
    assert respondent.traits == {
        "scoring": "likelihood",
        "length": "sum",
        "start": "<s>",
        "precision": "fp64",
        "route": "numpy",
    }
    assert made().answer([]).values.shape == (0, 1, 1)
    assert made().labels_for("mask") == made().labels_for("choice") == ("score",)
    assert made().is_cacheable


FAMILIES = ("gpt2", "llama", "neox")


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("causal")
    return {family: build(root / family, family) for family in FAMILIES}


def opened(folder: Path, **options: Any) -> CausalRespondent:
    return RESPONDENT.open(f"causal:{folder}", RespondentOptions(**options))


def network(folder: Path) -> Predict:
    """What plain transformers says after one text, without padding."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = hub.AutoModelForCausalLM.from_pretrained(folder).eval()

    def predict(ids: list[int]) -> Any:
        with torch.no_grad():
            return torch.log_softmax(model(torch.tensor([ids])).logits[0, -1].double(), -1).numpy()

    return predict


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
def test_against_plain_transformers(families: dict[str, Path], family: str, length: str) -> None:
    predict = network(families[family])
    respondent = opened(families[family], length=length)
    replies = respondent.answer(PROBES)
    values = flat(replies)
    np.testing.assert_allclose(
        values,
        padded([slowly(byte_pairs(), predict, START, p, length) for p in PROBES]),
        atol=1e-4,
        rtol=1e-5,
    )
    assert reasons(replies) == {} and np.ptp(values[:, 0]) > 1
    assert respondent.traits["start"] == "<s>" and respondent.network.longest == 96


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
def test_batches_change_nothing(
    families: dict[str, Path], family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, *others = (
        flat(opened(families[family], batch_size=size).answer(PROBES)) for size in BATCHES
    )
    monkeypatch.setattr(
        causal_networks, "MOST_LOGITS", 20 * byte_pairs().get_vocab_size()
    )  # so that every batch is halved, and halved again
    for values in (*others, flat(opened(families[family]).answer(PROBES))):
        np.testing.assert_allclose(values, one, atol=1e-4)


@pytest.mark.torch
def test_where_there_is_no_start_token_the_one_that_parts_texts_stands_in(tmp_path: Path) -> None:
    folder = build(tmp_path / "gpt2", "gpt2", marks=False)
    respondent = opened(folder)
    assert respondent.traits["start"] == "</s>"
    expected = padded([slowly(byte_pairs(), network(folder), 2, p) for p in PROBES])
    np.testing.assert_allclose(flat(respondent.answer(PROBES)), expected, atol=1e-4, rtol=1e-5)


@pytest.mark.torch
def test_the_identity_changes_with_the_weights(tmp_path: Path, families: dict[str, Path]) -> None:
    same = {opened(families["gpt2"]).identity for _ in range(2)}
    other = opened(build(tmp_path / "gpt2", "gpt2", marks=False)).identity
    assert (
        len(same) == 1 and other not in same and all(i.startswith("gpt2@") for i in (*same, other))
    )
