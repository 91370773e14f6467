"""Tiny causal models, one in numpy and one of each family, with what is asked of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from masked_models import WEIGHT_STD, byte_pairs, mask_probe
from tokenizers import Tokenizer

from evenhand.core.errors import LoadError
from evenhand.core.probe import BLANK, Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.causal import CausalRespondent
from evenhand.respondents.locate import open_respondent
from evenhand.respondents.networks.batches import Encoded, Lookup
from evenhand.respondents.networks.tokens import find_unknown

START = 0  # <s> of the byte-level tokeniser
BATCHES = (1, 3, 64, None)
# log p of each token of the vocabulary after a text, the start token included
Predict = Callable[[list[int]], Any]


def choice(
    context: str, *options: str, language: str = "en", identity: str = "c", **tags: str
) -> Probe:
    return Probe(
        id=identity,
        kind="choice",
        language=language,
        texts=(context, *options),
        stratum="inter",
        cluster=identity,
        tags=tags,
    )


BLANKS = (
    mask_probe("The nurse said [BLANK] left.", "he", "she", identity="b0"),
    mask_probe("[BLANK] said the doctor is here.", "He", "She", identity="b1"),
    mask_probe("The [BLANK] left.", "man", "old woman", "nurse", identity="b2"),
    mask_probe("[BLANK]は医者だ。", "彼", "彼女", identity="b3", language="ja"),
)
WORDS = (
    choice(
        "what said what",
        "he said he",
        "she said she",
        identity="t0",
        sentence="[BLANK] said [BLANK]",
        words="he|she",
    ),
    choice(
        "He whated.",
        "He greeted.",
        "He berated.",
        identity="t1",
        sentence="He [BLANK]ed.",
        words="greet|berat",
    ),
)
OPTIONS = (
    choice("The nurse left.", "She was here.", "He was here, he said.", "Nobody", identity="o0"),
    choice("The doctor is here. ", " He said 4 left.", "(she)", identity="o1"),
    choice("他是医生。", "她是护士。", "他在说。", language="zh", identity="o2"),
    choice("The doctor is here.", "The doctor is here.", "The doctor", identity="o3"),
    choice("彼は医者だ。", "彼女は看護師だ。", "はい", language="ja", identity="o4"),
)
PAIRS = (
    choice("", "The man said he left.", "The woman said she left.", identity="p0", scoring="whole"),
    choice("", "He left.", "The old woman left.", identity="p1"),
)
PROBES = (*BLANKS, *WORDS, *OPTIONS, *PAIRS)


class TinyCausal:
    """log p(next) from the words so far, the last of them weighing most; notes what it reads."""

    name = "numpy"
    precision = "fp64"
    is_read_alone = False

    def __init__(
        self, tokenizer: Tokenizer | None = None, start: int | None = START, longest: int = 200
    ) -> None:
        rng = np.random.default_rng(5)
        self.tokenizer = tokenizer or byte_pairs()
        self.start, self.longest = start, longest
        self.unknown = find_unknown(self.tokenizer)
        self.words = rng.normal(size=(self.tokenizer.get_vocab_size(), 6))
        self.out = rng.normal(size=(6, self.tokenizer.get_vocab_size()))
        self.seen: list[tuple[int, ...]] = []

    def after(self, ids: Sequence[int]) -> Floats:
        """The table of one text's continuation."""
        hidden = np.zeros(6)
        for i in ids:
            hidden = np.tanh(hidden / 2 + self.words[i])
        logits = hidden @ self.out
        return np.asarray(logits - np.log(np.exp(logits).sum()))

    def log_probabilities(self, batch: Sequence[Encoded], lookups: Sequence[Lookup]) -> Floats:
        self.seen += [e.ids for e in batch]
        assert all(position > 0 for _, position, _ in lookups)
        return np.asarray(
            [self.after(batch[row].ids[:position])[token] for row, position, token in lookups]
        )


def made(network: TinyCausal | None = None, **options: Any) -> CausalRespondent:
    return CausalRespondent("tiny", "1", network or TinyCausal(), RespondentOptions(**options))


def slow_one(
    tokenizer: Tokenizer, predict: Predict, start: int, text: str, skipped: int
) -> tuple[list[float], list[int]]:
    """log p of each token behind the first `skipped` of a text, one by one, and all its ids."""
    ids = list(tokenizer.encode(text, add_special_tokens=False).ids)
    return [float(predict([start, *ids[:k]])[ids[k]]) for k in range(skipped, len(ids))], ids


def slowly(
    tokenizer: Tokenizer, predict: Predict, start: int, probe: Probe, length: str = "auto"
) -> list[float]:
    if probe.kind == "mask" or "words" in probe.tags:
        sentence, *words = (
            probe.texts
            if probe.kind == "mask"
            else (probe.tags["sentence"], *probe.tags["words"].split("|"))
        )
        sums = [
            slow_one(tokenizer, predict, start, sentence.replace(BLANK, w), 0)[0] for w in words
        ]
        return [sum(s) / (len(s) if length == "mean" else 1) for s in sums]
    if not probe.texts[0]:
        return [sum(slow_one(tokenizer, predict, start, text, 0)[0]) for text in probe.texts[1:]]
    context = probe.texts[0].strip() + ("" if probe.language in ("zh", "ja") else " ")
    encodings = [
        tokenizer.encode(context + o.strip(), add_special_tokens=False) for o in probe.texts[1:]
    ]
    # as many tokens as come before the first one with a character of the option, and are the same
    # for every option
    alone = [
        next(k for k, (a, b) in enumerate(e.offsets) if any(i >= len(context) for i in range(a, b)))
        for e in encodings
    ]
    skipped = max(
        n for n in range(min(alone) + 1) if len({tuple(e.ids[:n]) for e in encodings}) == 1
    )
    sums = [
        slow_one(tokenizer, predict, start, context + o.strip(), skipped)[0]
        for o in probe.texts[1:]
    ]
    return [sum(s) / (1 if length == "sum" else len(s)) for s in sums]


def padded(rows: list[list[float]]) -> Floats:
    return np.asarray([[*row, *[np.nan] * (max(map(len, rows)) - len(row))] for row in rows])


def refusal(reference: object) -> str:
    with pytest.raises(LoadError) as refused:
        open_respondent(str(reference), "mask", RespondentOptions())
    assert "\n" not in str(refused.value)
    return str(refused.value)


def build(folder: Path, family: str, *, marks: bool = True, **more: Any) -> Path:
    """A tiny network with random weights and the byte-level tokeniser, as transformers saves it."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder.mkdir(parents=True, exist_ok=True)
    words = byte_pairs()
    ends = {"bos_token": "<s>", "eos_token": "</s>"} if marks else {"eos_token": "</s>"}
    hub.PreTrainedTokenizerFast(tokenizer_object=words, **ends).save_pretrained(folder)
    torch.set_num_threads(1)
    torch.manual_seed(len(family))
    size = {
        "vocab_size": words.get_vocab_size(),
        "initializer_range": WEIGHT_STD,
        "bos_token_id": 0,
        "eos_token_id": 2,
        **more,
    }
    shape = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 96,
    }
    if family == "gpt2":
        model = hub.GPT2LMHeadModel(
            hub.GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=96, **size)
        )
    elif family == "llama":
        model = hub.LlamaForCausalLM(hub.LlamaConfig(**shape, **size))
    else:
        model = hub.GPTNeoXForCausalLM(hub.GPTNeoXConfig(**shape, **size))
    model.save_pretrained(folder)
    return folder
