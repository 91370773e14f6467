"""What is no masked model, and what it cannot answer: each refused in one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from masked_models import build, open_masked, save_words, write_masked
from masked_probes import SINGLE, refusal
from models import open_model, write_model, write_tokenizer

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Probe
from evenhand.engine.ask import ask
from evenhand.respondents.packages import MASKED_NAMES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_masked(tmp_path_factory.mktemp("masked") / "tiny")


def test_a_classifier_is_no_masked_model(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "classifier")
    assert "has no mask token ([MASK], <mask>)" in refusal(folder)
    words = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    words["model"]["vocab"]["[MASK]"] = len(words["model"]["vocab"])
    (folder / "tokenizer.json").write_text(json.dumps(words), encoding="utf-8")
    message = refusal(folder)
    assert (
        f"{folder / 'model.onnx'} has an output of shape ['batch', 3], no vocabulary of about"
        in message
    )
    assert message.endswith("it is no masked language model")


def test_a_tokeniser_without_mask_is_refused(tmp_path: Path) -> None:
    folder = write_masked(tmp_path / "maskless")
    write_tokenizer(folder / "tokenizer.json")
    assert refusal(folder) == (
        "the tokeniser of 'maskless' has no mask token ([MASK], <mask>): "
        "it is no masked language model"
    )


def test_folders_that_hold_no_model(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert (
        "is no model folder: it has neither an .onnx file nor a config.json (found: nothing)"
        in refusal(tmp_path / "empty")
    )
    wordless = write_masked(tmp_path / "wordless")
    (wordless / "tokenizer.json").unlink()
    assert f"{wordless} has neither tokenizer.json nor vocab.txt" in refusal(wordless)
    garbled = write_masked(tmp_path / "garbled")
    (garbled / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert f"the tokeniser of {garbled} cannot be loaded" in refusal(garbled)
    extra = write_model(tmp_path / "extra", extra_input="position_ids")
    assert (
        "wants the inputs position_ids; "
        "evenhand gives input_ids, attention_mask, token_type_ids, positions" in refusal(extra)
    )


def test_the_embedded_classifier_answers_no_blanks_and_the_error_names_who_does() -> None:
    message = refusal("default")
    assert message.startswith(
        "'default' is a respondent of the kind 'nli' and cannot answer mask probes. These can: "
    )
    assert set(message.partition("These can: ")[2].split(", ")) >= {
        "fixed:random",
        "stored:BERT",
        *MASKED_NAMES,
    }
    assert "default" not in message.partition("These can: ")[2].split(", ")


def test_a_mask_probe_asked_of_an_nli_model_is_refused(tmp_path: Path) -> None:
    classifier = open_model(write_model(tmp_path / "classifier"))
    with pytest.raises(EvenhandError, match=rf"^{classifier.identity} cannot answer mask probes$"):
        ask(classifier, SINGLE)


def test_a_pair_asked_of_a_masked_model_is_refused(folder: Path) -> None:
    pair = Probe(id="p", kind="pair", language="en", texts=("A nurse sleeps.", "A woman sleeps."))
    with pytest.raises(EvenhandError, match="cannot answer pair probes"):
        ask(open_masked(folder), [pair])


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {"bert": build(tmp_path_factory.mktemp("families") / "bert", "bert")}


@pytest.mark.torch
def test_an_encoder_without_mask_head_is_refused(tmp_path: Path) -> None:
    folder = build(tmp_path / "bare", "encoder")
    assert f"'{folder}' has no trained mask head (cls.predictions" in refusal(folder)


@pytest.mark.torch
def test_a_classifier_in_transformers_form_is_refused(tmp_path: Path) -> None:
    hub = pytest.importorskip("transformers")
    folder = tmp_path / "classifier"
    words = save_words(folder, "bert")
    shape = {
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    }
    hub.BertForSequenceClassification(
        hub.BertConfig(vocab_size=words.get_vocab_size(), **shape)
    ).save_pretrained(folder)
    assert "has no trained mask head" in refusal(folder)


@pytest.mark.torch
def test_without_torch_the_error_names_the_extra(
    families: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "pip install 'evenhand[hf]'" in refusal(families["bert"])
