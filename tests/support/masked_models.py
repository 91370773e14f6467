"""Tiny masked models: one as ONNX with its arithmetic in numpy, and one of each family."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE, WordPiece
from tokenizers.processors import RobertaProcessing, TemplateProcessing
from tokenizers.trainers import BpeTrainer

from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.masked import RESPONDENT, MaskedRespondent

FAMILIES = ("bert", "roberta", "albert", "electra", "distilbert")  # with a vocabulary as output
DISCRIMINATOR = "discriminator"
POSITIONS = 48  # how many tokens the transformers models take
HIDDEN = 6
# of the random weights: large enough that words differ by whole units of log-probability
WEIGHT_STD = 0.4
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PIECES = (
    *SPECIAL,
    *". , ! \" '".split(),
    *"a the he she him her they nurse doctor man woman boy girl is was here left said to".split(),
    *"runs sleeps sing ##er fire police ##man ##wo ##men".split(),
    *"他她男女孩子怀孕了。，是医生护士哥姐在说我的人",
    *"그는 그녀 그 ##녀 ##는 ##데 ##는데 ##가 의사 ##이다 간호사 학교 ##에 갔다".split(),
)
SENTENCES = (
    *(
        "The nurse said he left.",
        "The nurse said she left.",
        "He said the doctor is here.",
        "She said the doctor is here.",
        '"he runs" and "she runs"',
    ),
    *(
        "he left, she left, he runs, she runs",
        "The man and the woman said he is here and she is here.",
    ),
    *("他是医生。", "她是护士。", "男孩说他在这里。", "女孩说她在这里。"),
)


def pieces() -> Tokenizer:
    """A lower-case WordPiece tokeniser as BERT has it; Korean syllables stay whole."""
    tokenizer = Tokenizer(WordPiece({w: i for i, w in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer


@cache
def _learnt() -> str:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=330,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    # it stands for a word and the space before it
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return str(tokenizer.to_str())


def byte_pairs() -> Tokenizer:
    """A byte-level BPE tokeniser as RoBERTa has it: a word after a space is another token."""
    return Tokenizer.from_str(_learnt())


def mask_probe(
    text: str, *candidates: str, identity: str = "p", language: str = "en", **tags: str
) -> Probe:
    """A measuring sentence."""
    return Probe(
        id=identity,
        kind="mask",
        language=language,
        texts=(text, *candidates),
        stratum="MS",
        cluster=identity,
        tags=tags,
    )


def open_masked(reference: Path | str, **options: Any) -> MaskedRespondent:
    """The respondent in a folder."""
    return RESPONDENT.open(str(reference), RespondentOptions(**options))


@dataclass(frozen=True)
class TinyMasked:
    """hidden = tanh(word + place + mean word of the text); logits = hidden @ out + bias."""

    seed: int = 0
    size: int = len(PIECES)
    words: Floats = field(init=False)
    places: Floats = field(init=False)
    out: Floats = field(init=False)
    bias: Floats = field(init=False)
    column: Floats = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        shapes = {
            "words": (self.size, HIDDEN),
            "places": (512, HIDDEN),
            "out": (HIDDEN, self.size),
            "bias": (self.size,),
            "column": (HIDDEN, 1),
        }
        for name, shape in shapes.items():
            object.__setattr__(self, name, rng.normal(size=shape).astype(np.float32))

    def hidden(self, ids: Sequence[int]) -> Floats:
        """What stands before the last layer, one row a token."""
        words = self.words[list(ids)].astype(np.float64)
        return np.asarray(np.tanh(words + self.places[1 : len(ids) + 1] + words.mean(axis=0)))

    def log_probabilities(self, ids: Sequence[int]) -> Floats:
        """log p of each token of the vocabulary at each position, without padding."""
        logits = self.hidden(ids) @ self.out + self.bias
        return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))

    def replaced(self, ids: Sequence[int]) -> Floats:
        """The logit of the discriminator at each position."""
        return np.asarray(self.hidden(ids) @ self.column)[:, 0]

    def graph(self, form: str = "positions", length: int | str = "length") -> onnx.ModelProto:
        """The network as an ONNX graph.

        form: `positions` (vocabulary at the input of that name), `plain` (everywhere) or
        `discriminator`.
        """
        inputs = [
            helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", length])
            for n in ("input_ids", "attention_mask")
        ]
        constants = {
            "words": self.words,
            "places": self.places,
            "out": self.out,
            "bias": self.bias,
            "column": self.column,
            "middle": np.asarray([1], dtype=np.int64),
            "last": np.asarray([2], dtype=np.int64),
            "flat": np.asarray([-1, HIDDEN], dtype=np.int64),
        }
        nodes = [
            helper.make_node("Gather", ["words", "input_ids"], ["w"]),
            helper.make_node("CumSum", ["attention_mask", "middle"], ["place"]),
            helper.make_node("Gather", ["places", "place"], ["p"]),
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
            helper.make_node("Mul", ["w", "wide"], ["kept"]),
            helper.make_node("ReduceSum", ["kept", "middle"], ["sum"], keepdims=1),
            helper.make_node("ReduceSum", ["wide", "middle"], ["count"], keepdims=1),
            helper.make_node("Div", ["sum", "count"], ["mean"]),
            helper.make_node("Add", ["w", "p"], ["both"]),
            helper.make_node("Add", ["both", "mean"], ["all"]),
            helper.make_node("Tanh", ["all"], ["hidden"]),
        ]
        shape: list[int | str] = ["batch", length]
        if form == "discriminator":
            nodes += [
                helper.make_node("MatMul", ["hidden", "column"], ["high"]),
                helper.make_node("Squeeze", ["high", "last"], ["logits"]),
            ]
        else:
            shape, read = [*shape, self.size], "hidden"
            if form == "positions":
                shape, read = ["asked", self.size], "picked"
                inputs.append(
                    helper.make_tensor_value_info("positions", TensorProto.INT64, ["asked"])
                )
                nodes += [
                    helper.make_node("Reshape", ["hidden", "flat"], ["rows"]),
                    helper.make_node("Gather", ["rows", "positions"], ["picked"]),
                ]
            nodes += [
                helper.make_node("MatMul", [read, "out"], ["product"]),
                helper.make_node("Add", ["product", "bias"], ["logits"]),
            ]
        held = [numpy_helper.from_array(value, name) for name, value in constants.items()]
        output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape)
        built = helper.make_graph(nodes, "tiny", inputs, [output], initializer=held)
        return helper.make_model(built, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def write_masked(
    folder: Path,
    model: TinyMasked | None = None,
    *,
    form: str = "positions",
    length: int | str = "length",
    longest: int | None = 40,
    tokenizer: Tokenizer | None = None,
    **config: object,
) -> Path:
    """A model folder: model.onnx, tokenizer.json, config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    words = tokenizer or pieces()
    model = model or TinyMasked(size=words.get_vocab_size())
    onnx.save(model.graph(form, length), str(folder / "model.onnx"))
    words.save(str(folder / "tokenizer.json"))
    heads = {"architectures": ["ElectraForPreTraining"]} if form == "discriminator" else {}
    settings = {"max_position_embeddings": longest, "pad_token_id": 0, **heads, **config}
    (folder / "config.json").write_text(
        json.dumps({k: v for k, v in settings.items() if v is not None}), encoding="utf-8"
    )
    return folder


def save_words(folder: Path, family: str) -> Tokenizer:
    """The tokeniser of a family, saved as transformers saves it."""
    hub = pytest.importorskip("transformers")
    words = byte_pairs() if family == "roberta" else pieces()
    special = (
        {
            "bos_token": "<s>",
            "cls_token": "<s>",
            "eos_token": "</s>",
            "sep_token": "</s>",
            "pad_token": "<pad>",
            "unk_token": "<unk>",
            "mask_token": AddedToken("<mask>", lstrip=True, special=True),
        }
        if family == "roberta"
        else {
            "pad_token": "[PAD]",
            "unk_token": "[UNK]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "mask_token": "[MASK]",
        }
    )
    names = [
        "input_ids",
        "attention_mask",
        *([] if family in ("roberta", "distilbert") else ["token_type_ids"]),
    ]
    hub.PreTrainedTokenizerFast(
        tokenizer_object=words, model_input_names=names, **special
    ).save_pretrained(folder)
    return words


def build(folder: Path, family: str) -> Path:
    """A tiny network of a family with random weights, saved as transformers saves it."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder.mkdir(parents=True, exist_ok=True)
    words = save_words(folder, family)
    # on a busy machine two threads wait for each other longer than so small a network takes
    torch.set_num_threads(1)
    torch.manual_seed(len(family))
    pad = 1 if family == "roberta" else 0
    config, network = {
        "bert": (hub.BertConfig, hub.BertForMaskedLM),
        "roberta": (hub.RobertaConfig, hub.RobertaForMaskedLM),
        "albert": (hub.AlbertConfig, hub.AlbertForMaskedLM),
        "electra": (hub.ElectraConfig, hub.ElectraForMaskedLM),
        "distilbert": (hub.DistilBertConfig, hub.DistilBertForMaskedLM),
        DISCRIMINATOR: (hub.ElectraConfig, hub.ElectraForPreTraining),
        "encoder": (hub.BertConfig, hub.BertModel),
    }[family]
    size = {
        "vocab_size": words.get_vocab_size(),
        "pad_token_id": pad,
        "initializer_range": WEIGHT_STD,
        "max_position_embeddings": POSITIONS + (2 if pad else 0),
    }
    if family == "distilbert":
        shape = {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64}
    else:
        shape = {
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
        }
    if family in ("albert", "electra", DISCRIMINATOR):
        shape["embedding_size"] = 16
    model = network(config(**size, **shape))
    with torch.no_grad():  # biases start as nothing, and what is nothing cannot be forgotten
        for name, value in model.named_parameters():
            if name.endswith("bias"):
                value.normal_(std=WEIGHT_STD)
    model.save_pretrained(folder)
    return folder
