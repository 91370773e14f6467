"""Next-sentence heads: the difference of their logits, as ONNX and through torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from encoder_models import BATCHES, PROBES, choice, opened, refusal, save_bert, write_next
from masked_models import build
from models import TinyModel, vocabulary, write_model
from replied import flat, reasons

from evenhand.core.errors import UnknownNameError

NEXT_PROBES = (
    choice("A nurse sleeps.", "A woman sleeps.", "A man sleeps."),
    choice("A nurse is here.", "The man.", "The woman sleeps in a chair.", "A doctor."),
    choice("A doctor sleeps.", "A man sleeps."),
)


@pytest.mark.parametrize("batch_size", BATCHES)
def test_a_next_sentence_graph(tmp_path: Path, batch_size: int | None) -> None:
    assert {"nurse", "woman", "man"} <= set(vocabulary())
    respondent = opened(f"nsp:{write_next(tmp_path / 'next')}", batch_size=batch_size)
    expected = np.full((3, 3), np.nan)
    for row, probe in zip(expected, NEXT_PROBES, strict=True):
        for k, option in enumerate(probe.texts[1:]):
            is_next, is_not = TinyModel(outputs=2).forward(probe.texts[0], option)
            row[k] = is_next - is_not
    np.testing.assert_allclose(flat(respondent.answer(NEXT_PROBES)), expected, atol=1e-5)
    assert respondent.traits == {
        "scoring": "next-sentence/logit 0 (is next) - logit 1 (is not)",
        "precision": "fp32",
        "route": "onnxruntime",
    }
    assert respondent.identity.startswith("nsp:next@")


def test_a_next_sentence_head_says_why_it_does_not_answer(tmp_path: Path) -> None:
    respondent = opened(write_next(tmp_path / "next", max_position_embeddings=10))
    probes = [
        choice("", "A man.", "A woman."),
        choice("A man.", "A man.", " "),
        choice("A man.", "A man.", "A woman sleeps in a chair."),
        choice("A man.", "A man", "A woman"),
    ]
    replies = respondent.answer(probes)
    assert np.isnan(flat(replies)).any(axis=1).tolist() == [True, True, True, False]
    assert reasons(replies) == {
        "there is no context to compare the options with": 1,
        "an option is empty": 1,
        "longer than the model's 10 tokens": 1,
    }
    assert respondent.answer([]).values.shape == (0, 1, 1)


def test_two_outputs_are_not_always_a_next_sentence_head(tmp_path: Path) -> None:
    place = write_model(
        tmp_path / "two",
        labels=["entailment", "not_entailment"],
        architectures=["BertForSequenceClassification"],
    )
    assert "has 2 outputs and its config.json names BertForSequenceClassification" in refusal(
        f"nsp:{place}"
    )


@pytest.mark.torch
@pytest.mark.parametrize("network", ["BertForNextSentencePrediction", "BertForPreTraining"])
def test_a_next_sentence_head_through_torch(tmp_path: Path, network: str) -> None:
    place = save_bert(tmp_path / "next", network)
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model, words = (
        hub.BertForNextSentencePrediction.from_pretrained(place).eval(),
        hub.AutoTokenizer.from_pretrained(place),
    )
    expected = np.full((len(PROBES), 3), np.nan)
    for row, probe in zip(expected, PROBES, strict=True):
        for k, option in enumerate(probe.texts[1:]):
            with torch.no_grad():
                is_next, is_not = (
                    model(**words(probe.texts[0], option, return_tensors="pt")).logits[0].tolist()
                )
            row[k] = is_next - is_not
    assert np.nanstd(expected) > 0.01
    for size in BATCHES:
        np.testing.assert_allclose(
            flat(opened(f"nsp:{place}", batch_size=size).answer(PROBES)), expected, atol=1e-5
        )
    if network == "BertForNextSentencePrediction":
        np.testing.assert_allclose(flat(opened(place).answer(PROBES)), expected, atol=1e-5)


@pytest.mark.torch
def test_models_without_a_next_sentence_head_are_refused(tmp_path: Path) -> None:
    assert "has no trained next-sentence head (cls.seq_relationship" in refusal(
        f"nsp:{build(tmp_path / 'bert', 'bert')}"
    )
    assert "is of the family roberta, which has no next-sentence head; bert, " in refusal(
        f"nsp:{build(tmp_path / 'roberta', 'roberta')}"
    )


@pytest.mark.parametrize(
    ("name", "index"),
    [("bert-base-uncased", 0), ("bertlike", 0), ("roberta-base", 0), ("roberta-large", 1)],
)
def test_the_released_code_takes_its_index_by_the_name(
    tmp_path: Path, name: str, index: int
) -> None:
    folder = write_next(tmp_path / name)
    usual = flat(opened(f"nsp:{folder}").answer(NEXT_PROBES))
    respondent = opened(f"nsp:{folder}", scoring="stereoset-code")
    np.testing.assert_allclose(
        flat(respondent.answer(NEXT_PROBES)), usual if index == 0 else -usual, atol=1e-6
    )
    assert respondent.traits["scoring"] == f"stereoset-code/logit {index} - logit {1 - index}"


def test_a_next_sentence_head_knows_no_other_scoring(tmp_path: Path) -> None:
    folder = write_next(tmp_path / "next")
    message = "unknown scoring of next sentences 'together'"
    with pytest.raises(UnknownNameError, match=message):
        opened(f"nsp:{folder}", scoring="together")
