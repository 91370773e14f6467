"""A BART classifier as ONNX gives the logits of torch, alone and in a batch of any shape."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("onnx", reason="needs the train extra")
pytestmark = pytest.mark.torch
PAIRS = [
    ("a dog runs", "an animal moves"),
    ("two cats sleep here .", "they are awake"),
    ("the man", "a"),
    ("a dog runs here two cats sleep .", "the man . person moves an animal moves"),
]
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random BART classifier with a tokeniser of BART's form."""
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel
    from tokenizers.processors import TemplateProcessing
    from transformers import BartConfig, BartForSequenceClassification, PreTrainedTokenizerFast

    place = tmp_path_factory.mktemp("bart") / "model"
    words = sorted({word for pair in PAIRS for text in pair for word in text.split()})
    vocabulary = {word: i for i, word in enumerate((*SPECIAL, *words))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(place)
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=len(vocabulary),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        num_labels=3,
        init_std=0.3,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    BartForSequenceClassification(config).save_pretrained(place)
    return place


def test_the_graph_gives_the_logits_of_torch(folder: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from evenhand.respondents.locate import locate
    from evenhand.respondents.networks.onnx import OnnxClassifier
    from evenhand.train.export import export_onnx, pack

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracer
        graph = export_onnx(folder, tmp_path / "onnx")
    pack(graph)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    expected = []
    for premise, hypothesis in PAIRS:
        encoded = tokenizer(premise, hypothesis, return_tensors="pt", return_token_type_ids=False)
        with torch.no_grad():
            expected.append(model(**encoded).logits[0].numpy())
    assert np.ptp(np.array(expected), axis=0).min() > 0.1  # the pairs do differ
    network = OnnxClassifier(locate(str(tmp_path / "onnx")))
    encoded_pairs = network.encode(PAIRS)
    alone = np.concatenate([network.logits([pair]) for pair in encoded_pairs])
    together = network.logits(encoded_pairs)
    np.testing.assert_allclose(alone, expected, atol=1e-5)
    np.testing.assert_allclose(together, expected, atol=1e-5)
    assert network.is_read_alone is False
