"""Whole words are hidden, as often as is said, and an encoder learns to guess them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from masked_models import mask_probe, open_masked, save_words

from evenhand.core.corpora import Pair
from evenhand.train.recipes import Recipe

torch = pytest.importorskip("torch", reason="needs the train extra")
pytestmark = pytest.mark.torch
MASK = 4
NAMES = tuple(f"n{i}" for i in range(24))
TEXTS = (
    "The fireman said the firewoman left.",
    "a policeman runs here",
    "The singer is here, the policeman said to the firewoman, the nurse sleeps.",
    "he",
    "The nurse said he left, she said the doctor was here, he sleeps.",
)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("words")
    save_words(folder, "bert")
    (folder / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    return AutoTokenizer.from_pretrained(folder)


def batches(
    tokenizer: Any, times: int, *, is_training: bool, texts: tuple[str, ...] = TEXTS
) -> list[tuple[Any, Any, Any, Any, Any]]:
    """Original ids, words, shown ids, where hidden, and targets, of the sentences `times` times."""
    from evenhand.train.masked import Sentences

    data, rng, rows = (
        Sentences(tokenizer, texts, 64),
        np.random.default_rng(0),
        np.arange(len(texts)),
    )
    made = []
    for _ in range(times):
        inputs, hidden, target = data.batch(rows, rng, is_training=is_training)
        made.append((data.ids, data.words, inputs, hidden.numpy(), target.numpy()))
    return made


def test_sentences_appear_once_in_the_order_in_which_they_come() -> None:
    from evenhand.train.masked import sentences_of

    pairs = [
        Pair("b", " a ", "neutral"),
        Pair("a", "c", "neutral"),
        Pair("b", "d\n", "entailment"),
        Pair("B", "c", "neutral"),
    ]
    assert sentences_of(pairs) == ["b", "a", "c", "d", "B"]


@pytest.mark.parametrize("is_training", [True, False])
def test_a_word_is_hidden_with_all_its_tokens_or_not_at_all(
    tokenizer: Any, is_training: bool
) -> None:
    seen = set()
    for ids, words, inputs, hidden, target in batches(tokenizer, 200, is_training=is_training):
        assert inputs["input_ids"].shape == hidden.shape == (len(TEXTS), max(map(len, ids)))
        for row, (own, word) in enumerate(zip(ids, words, strict=True)):
            mine = hidden[row, : len(own)]
            chosen = {int(w) for w, is_hidden in zip(word, mine, strict=True) if is_hidden}
            assert -1 not in chosen  # neither the marks at the ends
            assert not hidden[row, len(own) :].any()  # nor the padding
            assert mine.tolist() == [int(w) in chosen for w in word]
            assert len(chosen) == max(1, round(0.2 * len({int(w) for w in word if w >= 0})))
            assert inputs["attention_mask"][row].tolist() == [1] * len(own) + [0] * (
                hidden.shape[1] - len(own)
            )
            seen |= {(row, w) for w in chosen}
        assert target.tolist() == [
            int(own[k]) for row, own in enumerate(ids) for k in range(len(own)) if hidden[row, k]
        ]
    assert seen == {
        (row, int(w)) for row, word in enumerate(words) for w in word if w >= 0
    }  # each word has its turn
    assert (
        max(np.bincount(words[0][words[0] >= 0])) == 3
    )  # fire ##wo ##man: there are words of several tokens


def test_about_a_fifth_of_the_words_is_hidden(tokenizer: Any) -> None:
    text = " ".join(["fireman nurse runs he left"] * 6)  # 30 words, of which 6 have two tokens
    shares = [
        len({int(w) for w in words[0][hidden[0]]}) / 30
        for _, words, _, hidden, _ in batches(tokenizer, 50, is_training=True, texts=(text,))
    ]
    assert set(shares) == {0.2}


def test_outside_training_all_that_is_hidden_is_a_mask(tokenizer: Any) -> None:
    for ids, _, inputs, hidden, _ in batches(tokenizer, 50, is_training=False):
        shown = inputs["input_ids"].numpy()
        assert (shown[hidden] == MASK).all()
        for row, own in enumerate(ids):
            assert (
                shown[row, : len(own)][~hidden[row, : len(own)]].tolist()
                == own[~hidden[row, : len(own)]].tolist()
            )
            assert (shown[row, len(own) :] == 0).all()


def test_in_training_eight_of_ten_are_masks_one_is_another_token_and_one_stays(
    tokenizer: Any,
) -> None:
    counts = {"mask": 0, "other": 0, "same": 0}
    for ids, _, inputs, hidden, target in batches(tokenizer, 1500, is_training=True):
        shown = inputs["input_ids"].numpy()
        for token, was in zip(shown[hidden], target, strict=True):
            counts["mask" if token == MASK else "same" if token == was else "other"] += 1
        for row, own in enumerate(ids):
            assert (
                shown[row, : len(own)][~hidden[row, : len(own)]].tolist()
                == own[~hidden[row, : len(own)]].tolist()
            )
    total = sum(counts.values())
    assert total > 10_000
    assert {k: v / total for k, v in counts.items()} == pytest.approx(
        {"mask": 0.8, "other": 0.1, "same": 0.1}, abs=0.015
    )


def test_other_words_are_hidden_each_time_and_the_same_with_the_same_seed(tokenizer: Any) -> None:
    one, two = (batches(tokenizer, 2, is_training=True) for _ in range(2))
    assert (one[0][3] != one[1][3]).any()
    for (_, _, a, b, c), (_, _, x, y, z) in zip(one, two, strict=True):
        assert torch.equal(a["input_ids"], x["input_ids"]) and (b == y).all() and (c == z).all()


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("encoder")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *NAMES]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder)
    # on a busy machine two threads wait for each other longer than so small a network takes
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=32,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def language() -> tuple[list[str], list[str]]:
    """A sentence says one name again and again, three to ten times; every fourth is held out."""
    texts = [" ".join([name] * count) for name in NAMES for count in range(3, 11)]
    return [t for i, t in enumerate(texts) if i % 4], texts[::4]


def train(encoder: Path, out: Path, epochs: int, **changes: Any) -> dict[str, Any]:
    from evenhand.train.masked import fit_masked

    recipe = Recipe(
        name="tiny",
        epochs=epochs,
        learning_rate=8e-3,
        average=0.9,
        batch_size=16,
        has_frozen_words=False,
    )
    texts, held = language()
    dev = {"held out": held}
    card = fit_masked(encoder, texts, dev, replace(recipe, **changes), out, lambda _: None)
    return dict(card.facts)


def test_an_encoder_learns_a_trivial_language(encoder: Path, tmp_path: Path) -> None:
    untrained = train(encoder, tmp_path / "untrained", 1, learning_rate=0.0)
    assert untrained["masked accuracy"]["held out"] < 0.3
    card = train(encoder, tmp_path / "trained", 8)
    assert card["masked accuracy"]["held out"] > 0.9
    assert json.loads((tmp_path / "trained" / "training.json").read_text(encoding="utf-8")) == card
    texts, held = language()
    assert card["sentences"] == len(texts) and not set(texts) & set(held)
    respondent = open_masked(tmp_path / "trained")  # and it is a model that can be asked
    probes = [mask_probe(f"{name} {name} [BLANK] {name}", *NAMES, identity=name) for name in NAMES]
    best = respondent.answer(probes).values[:, :, 0].argmax(axis=1)
    assert (best == np.arange(len(NAMES))).mean() > 0.9


def test_the_same_seed_gives_the_same_weights_and_another_one_others(
    encoder: Path, tmp_path: Path
) -> None:
    from safetensors.numpy import load_file

    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        train(encoder, tmp_path / name, 1, seed=seed)
    one, two, three = (
        load_file(tmp_path / n / "model.safetensors") for n in ("one", "two", "three")
    )
    assert all(np.array_equal(one[k], two[k]) for k in one)
    assert not np.array_equal(
        one["cls.predictions.transform.dense.weight"],
        three["cls.predictions.transform.dense.weight"],
    )


def test_frozen_words_stay_as_they_are(encoder: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    train(encoder, tmp_path / "frozen", 1, has_frozen_words=True)
    train(encoder, tmp_path / "free", 1)
    before = load_file(encoder / "model.safetensors")["embeddings.word_embeddings.weight"]
    after = {
        n: load_file(tmp_path / n / "model.safetensors")["bert.embeddings.word_embeddings.weight"]
        for n in ("frozen", "free")
    }
    assert np.array_equal(after["frozen"], before)
    assert not np.array_equal(after["free"], before)
