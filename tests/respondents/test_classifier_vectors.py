"""The vector of a classifier is what its last layer reads, of ONNX and through torch."""

from __future__ import annotations

from pathlib import Path

import pytest
from models import TinyModel, build_classifier, open_model, vocabulary, write_model

from evenhand.core.errors import LoadError
from evenhand.respondents.vectors import head_reader


def test_the_vector_is_what_the_last_layer_of_an_onnx_graph_reads(tmp_path: Path) -> None:
    tiny = TinyModel()
    texts = ["The person is a nurse.", "The man is sleeping in the kitchen.", "Nurse."]
    respondent = open_model(write_model(tmp_path / "m", tiny), batch_size=2)
    vectors = head_reader(respondent)(texts)
    for text, vector in zip(texts, vectors, strict=True):
        ids = [2, *(vocabulary().get(w, 1) for w in text.lower().replace(".", " .").split()), 3]
        assert vector == pytest.approx((tiny.words[ids] + tiny.segments[0]).mean(axis=0), abs=1e-5)
    logits = respondent.network.logits(
        respondent.network.encode(texts)
    )  # all that the labels are made of
    assert vectors @ tiny.weights + tiny.bias == pytest.approx(logits, abs=1e-4)


def test_a_sentence_longer_than_the_model_is_named(tmp_path: Path) -> None:
    read = head_reader(open_model(write_model(tmp_path / "m", longest=8)))
    with pytest.raises(LoadError, match=r"'nurse nurse .*' has 12 tokens; m@.* takes 8"):
        read(["nurse " * 10])


@pytest.mark.torch
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_the_vector_is_what_the_last_layer_of_a_torch_model_reads(
    tmp_path: Path, family: str
) -> None:
    pytest.importorskip("torch")
    respondent = open_model(build_classifier(tmp_path / "m", family), batch_size=2)
    texts = ["The person is a nurse.", "The man is sleeping in the kitchen.", "A nurse sleeps."]
    vectors = head_reader(respondent)(texts)
    model = respondent.network.model  # type: ignore[attr-defined]
    head = model.classifier if family == "bert" else model.classifier.out_proj
    weight, bias = (p.detach().numpy() for p in (head.weight, head.bias))
    for text, vector in zip(texts, vectors, strict=True):
        alone = respondent.network.logits(respondent.network.encode([text]))[0]
        assert vector @ weight.T + bias == pytest.approx(alone, abs=1e-4)
