"""An encoder that cannot be trained is refused at once; what starts at random is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from training_room import Room

from evenhand.core.errors import LoadError

torch = pytest.importorskip("torch", reason="needs the train extra")
pytestmark = pytest.mark.torch
SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "vocab_size": 208,
    "max_position_embeddings": 64,
}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Room:
    return Room(tmp_path_factory.mktemp("room"))


def save(room: Room, folder: Path, model: Any) -> Path:
    """The model, with the tokenizer of the room."""
    from transformers import AutoTokenizer

    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(room.encoder).save_pretrained(folder)
    return folder


def test_a_model_of_pictures_is_no_encoder_of_texts(room: Room, tmp_path: Path) -> None:
    from transformers import ViTConfig, ViTModel

    config = ViTConfig(
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=16,
        patch_size=8,
    )
    folder = save(room, tmp_path / "vit", ViTModel(config))
    done = room.train("vit", "--encoder", str(folder))
    assert (
        done.code == 2
        and f"'{folder}' is of the kind 'vit', which has no form that classifies texts" in done.err
    )
    assert not (room.folder / "vit").exists()


def test_a_model_without_padding_is_refused_before_anything_is_written(
    room: Room, tmp_path: Path
) -> None:
    from transformers import AutoTokenizer, GPT2Config, GPT2Model

    folder = save(
        room,
        tmp_path / "gpt",
        GPT2Model(GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=208, n_positions=64)),
    )
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.pad_token = None
    tokenizer.save_pretrained(folder)
    done = room.train("gpt", "--encoder", str(folder))
    assert (
        done.code == 2
        and "has no token for padding; name an encoder of the kind of BERT or RoBERTa" in done.err
    )
    assert not (room.folder / "gpt").exists()


def test_a_missing_pooler_is_refused_or_on_request_named_and_trained(
    room: Room, tmp_path: Path
) -> None:
    from transformers import BertConfig, BertModel

    folder = save(room, tmp_path / "bare", BertModel(BertConfig(**SMALL), add_pooling_layer=False))
    refused = room.train("bare", "--encoder", str(folder), "--epochs", "1")
    assert refused.code == 2
    names = "bert.pooler.dense.bias, bert.pooler.dense.weight"
    reason = f"'{folder}' was saved without {names}, which the classifier reads"
    assert f"{reason}; give --fresh-pooler" in refused.err
    done = room.train("bare", "--encoder", str(folder), "--epochs", "1", "--fresh-pooler")
    assert done.code == 0, done.err
    assert f"warning: {folder} has no weights for {names}; they start at random" in done.out
    assert room.card("bare")["new weights"] == [
        "bert.pooler.dense.bias",
        "bert.pooler.dense.weight",
        "classifier.bias",
        "classifier.weight",
    ]
    done = room.train("usual", "--epochs", "1")
    assert (
        done.code == 0
        and "warning" not in done.out
        and room.card("usual")["new weights"] == ["classifier.bias", "classifier.weight"]
    )
    again = room.train("again", "--encoder", str(room.folder / "usual"), "--epochs", "1")
    assert again.code == 0 and room.card("again")["new weights"] == []


def test_weights_that_do_not_belong_to_the_configuration_are_refused(
    room: Room, tmp_path: Path
) -> None:
    from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel

    from evenhand.train.encoders import open_classifier
    from evenhand.train.recipes import Recipe

    folder = save(
        room,
        tmp_path / "other",
        DistilBertModel(
            DistilBertConfig(
                dim=32,
                n_layers=2,
                n_heads=2,
                hidden_dim=64,
                vocab_size=208,
                max_position_embeddings=64,
            )
        ),
    )
    BertConfig(**SMALL).save_pretrained(folder)
    with pytest.raises(
        LoadError,
        match=r"35 of the 39 weights of a bert are not in its files \(but transformer\.layer\.0\.",
    ):
        open_classifier(folder, Recipe(name="t"))
    folder = save(room, tmp_path / "short", BertModel(BertConfig(**SMALL)))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": 300}), encoding="utf-8")
    name = r"bert\.embeddings\.word_embeddings\.weight"
    reason = rf"{name} is \[208, 32\] in its weights, \[300, 32\] by its config"
    with pytest.raises(LoadError, match=reason):
        open_classifier(folder, Recipe(name="t"))


@pytest.mark.parametrize("kind", ["bart", "gpt2", "t5"])
def test_other_kinds_that_have_a_head_are_trained(room: Room, tmp_path: Path, kind: str) -> None:
    """A decoder needs to know the padding, an encoder-decoder the end of the text."""
    import transformers as hf

    special = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 2}
    model = {
        "bart": lambda: hf.BartModel(
            hf.BartConfig(
                vocab_size=208,
                d_model=32,
                encoder_layers=1,
                decoder_layers=1,
                encoder_attention_heads=2,
                decoder_attention_heads=2,
                encoder_ffn_dim=64,
                decoder_ffn_dim=64,
                max_position_embeddings=64,
                **special,
            )
        ),
        "gpt2": lambda: hf.GPT2Model(
            hf.GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=208, n_positions=64)
        ),
        "t5": lambda: hf.T5Model(
            hf.T5Config(
                vocab_size=208, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2, **special
            )
        ),
    }[kind]()
    folder = save(room, tmp_path / kind, model)
    for more in ((), ("--lora", "4")):
        done = room.train(f"{kind}{len(more)}", "--encoder", str(folder), "--epochs", "1", *more)
        assert done.code == 0, done.err + done.out
        assert room.card(f"{kind}{len(more)}")["accuracy"]["dev"] >= 0


def test_weights_beside_the_folder_that_an_index_names_belong_to_the_encoder(
    tmp_path: Path,
) -> None:
    from evenhand.train.encoders import weight_files

    folder = tmp_path / "model"
    folder.mkdir()
    index = {"weight_map": {"a": "../model-1.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    for name in ("../model-1.safetensors", "model-2.safetensors"):
        (folder / name).write_bytes(b"weights")
    names = [path.name for path in weight_files(folder)]
    assert names == ["model-1.safetensors", "model-2.safetensors"]
