"""Does a causal model get the numbers that it would give by itself? Token by token, each after what stands before it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from masked_models import DISCRIMINATOR, SPREAD, byte_pairs, mask_probe, pieces
from masked_models import build as build_masked
from tokenizers import Tokenizer

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, EvenhandWarning, LoadError, UnknownNameError
from evenhand.core.protocols import RespondentOptions
from evenhand.core.records import BLANK, Floats, Probe
from evenhand.engine.asking import ask
from evenhand.respondents import causal_routes
from evenhand.respondents.causal import RESPONDENT, CausalRespondent
from evenhand.respondents.encoding import Encoded
from evenhand.respondents.opening import open_respondent
from evenhand.respondents.tokens import find_unknown
from evenhand.respondents.weighing import Want

START = 0  # <s> of the byte-level tokeniser
BATCHES = (1, 3, 64, None)
Said = Callable[[list[int]], Any]  # log p of each token of the vocabulary after a text, the start token included


def choice(context: str, *options: str, language: str = "en", identity: str = "c", **tags: str) -> Probe:
    return Probe(id=identity, kind="choice", language=language, texts=(context, *options), stratum="inter", cluster=identity, tags=tags)


BLANKS = (
    mask_probe("The nurse said [BLANK] left.", "he", "she", identity="b0"),
    mask_probe("[BLANK] said the doctor is here.", "He", "She", identity="b1"),
    mask_probe("The [BLANK] left.", "man", "old woman", "nurse", identity="b2"),
    mask_probe("[BLANK]は医者だ。", "彼", "彼女", identity="b3", language="ja"),
)
TOLD = (
    choice("what said what", "he said he", "she said she", identity="t0", sentence="[BLANK] said [BLANK]", words="he|she"),
    choice("He whated.", "He greeted.", "He berated.", identity="t1", sentence="He [BLANK]ed.", words="greet|berat"),
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
PROBES = (*BLANKS, *TOLD, *OPTIONS, *PAIRS)


class TinyCausal:
    """log p(next) from the words so far, the last of them weighing most: a route in numpy that notes what it reads."""

    name = "numpy"
    precision = "fp64"

    def __init__(self, tokenizer: Tokenizer | None = None, start: int | None = START, longest: int = 200) -> None:
        rng = np.random.default_rng(5)
        self.tokenizer = tokenizer or byte_pairs()
        self.start, self.longest, self.weights = start, longest, list[Path]()
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

    def log_probabilities(self, batch: Sequence[Encoded], wants: Sequence[Want]) -> Floats:
        self.seen += [e.ids for e in batch]
        assert all(position > 0 for _, position, _ in wants)
        return np.asarray([self.after(batch[row].ids[:position])[token] for row, position, token in wants])


def made(route: TinyCausal | None = None, **options: Any) -> CausalRespondent:
    return CausalRespondent("tiny", "1", route or TinyCausal(), RespondentOptions(**options))


def slow_one(tokenizer: Tokenizer, said: Said, start: int, text: str, skipped: int) -> tuple[list[float], list[int]]:
    """log p of each token behind the first `skipped` of a text, one after the other, and all its ids."""
    ids = list(tokenizer.encode(text, add_special_tokens=False).ids)
    return [float(said([start, *ids[:k]])[ids[k]]) for k in range(skipped, len(ids))], ids


def slowly(tokenizer: Tokenizer, said: Said, start: int, probe: Probe, length: str = "auto") -> list[float]:
    told = probe.tags.get("words")
    if probe.kind == "mask" or told:
        sentence, *words = probe.texts if probe.kind == "mask" else (probe.tags["sentence"], *probe.tags["words"].split("|"))
        sums = [slow_one(tokenizer, said, start, sentence.replace(BLANK, w), 0)[0] for w in words]
        return [sum(s) / (len(s) if length == "mean" else 1) for s in sums]
    if not probe.texts[0]:
        return [sum(slow_one(tokenizer, said, start, text, 0)[0]) for text in probe.texts[1:]]
    context = probe.texts[0].strip() + ("" if probe.language in ("zh", "ja") else " ")
    encodings = [tokenizer.encode(context + o.strip(), add_special_tokens=False) for o in probe.texts[1:]]
    # as many tokens as come before the first one with a character of the option, and are the same for every option
    alone = [next(k for k, (a, b) in enumerate(e.offsets) if any(i >= len(context) for i in range(a, b))) for e in encodings]
    skipped = max(n for n in range(min(alone) + 1) if len({tuple(e.ids[:n]) for e in encodings}) == 1)
    sums = [slow_one(tokenizer, said, start, context + o.strip(), skipped)[0] for o in probe.texts[1:]]
    return [sum(s) / (1 if length == "sum" else len(s)) for s in sums]


def padded(rows: list[list[float]]) -> Floats:
    return np.asarray([[*row, *[np.nan] * (max(map(len, rows)) - len(row))] for row in rows])


@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
@pytest.mark.parametrize("batch_size", BATCHES)
def test_against_one_token_at_a_time(length: str, batch_size: int | None) -> None:
    route = TinyCausal()
    respondent = made(route, length=length, batch_size=batch_size)
    expected = padded([slowly(byte_pairs(), route.after, START, p, length) for p in PROBES])
    np.testing.assert_allclose(respondent.answer(PROBES), expected, atol=1e-9)
    assert respondent.unanswered == {}


def test_a_blank_is_the_ratio_of_two_sentences() -> None:
    """What stands before the blank is the same for both and cancels; what stands behind it does not."""
    route = TinyCausal()
    (both,) = made(route).answer([BLANKS[0]])
    texts = [[START, *byte_pairs().encode(f"The nurse said {w} left.", add_special_tokens=False).ids] for w in ("he", "she")]
    first = next(k for k, (a, b) in enumerate(zip(*texts, strict=False)) if a != b)
    parts = [sum(route.after(t[:k])[t[k]] for k in range(first, len(t))) for t in texts]
    assert both[0] - both[1] == pytest.approx(parts[0] - parts[1])


def test_the_first_word_counts_behind_the_start_token() -> None:
    route = TinyCausal()
    (values,) = made(route).answer([choice("", "he", "she")])
    he, she = (byte_pairs().token_to_id(w) for w in ("he", "she"))
    assert values.tolist() == pytest.approx([route.after([START])[he], route.after([START])[she]])


def test_every_text_is_read_once() -> None:
    route = TinyCausal()
    again = [choice("The nurse left.", "She was here.", "They left."), mask_probe("The nurse said [BLANK].", "he left", "they left")]
    made(route).answer([*PROBES, *again, *PROBES])
    assert len(route.seen) == len(set(route.seen))


def test_the_context_is_read_and_not_scored() -> None:
    short, long = made().answer([choice("He left.", "She left.", "He runs."), choice("He left. " * 6, "She left.", "He runs.")])
    assert np.abs(short - long).max() < 2  # means over the same tokens, whatever stands before
    assert not np.allclose(short, long)


def test_a_word_that_grows_together_with_the_context_widens_all_options() -> None:
    """A token has the end of 医 and the start of 生: 男 is scored from the same byte on."""
    route, words = TinyCausal(), byte_pairs()
    (values,) = made(route, length="sum").answer([choice("她是医", "生。", "男。", language="zh")])
    texts = [words.encode(t, add_special_tokens=False).ids for t in ("她是医生。", "她是医男。")]
    whole = len(words.encode("她是", add_special_tokens=False).ids) + 1  # and the first byte of 医
    assert texts[0][:whole] == texts[1][:whole] and words.id_to_token(texts[0][whole]) == "»çĶ"
    expected = [sum(route.after([START, *t[:k]])[t[k]] for k in range(whole, len(t))) for t in texts]
    assert values.tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        (choice("He left. " * 20, "He left.", "She left."), "longer than the model's 60 tokens"),
        (choice("He left.", "She left.", " "), "the option ' ' has no tokens"),
        (choice("", "She left.", ""), "a sentence has no tokens"),
        (
            choice("", "He left.", "She left.", scoring="shared"),
            "a causal model weighs sentences without a context as a whole, not by the rule 'shared'",
        ),
        (
            choice("", "He left.", "She left.", scoring="changed"),
            "a causal model weighs sentences without a context as a whole, not by the rule 'changed'",
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
    values = respondent.answer([probe, BLANKS[0]])
    assert np.isnan(values[0]).all() and np.isfinite(values[1]).all()
    assert respondent.unanswered == {reason: 1}


def test_the_start_token_takes_a_place() -> None:
    text = choice("", "he left", "she left")
    needed = max(len(byte_pairs().encode(t, add_special_tokens=False).ids) for t in text.texts[1:]) + 1
    assert np.isfinite(made(TinyCausal(longest=needed)).answer([text])).all()
    assert np.isnan(made(TinyCausal(longest=needed - 1)).answer([text])).all()


def test_without_a_start_token_only_what_has_something_before_it_is_answered() -> None:
    route = TinyCausal(start=None)
    respondent = made(route)
    values = respondent.answer([BLANKS[0], OPTIONS[0], PAIRS[0]])
    assert np.isnan(values).all(axis=1).tolist() == [True, False, True]
    assert respondent.unanswered == {"the tokeniser has no token for the start of a text, and nothing predicts the first word": 2}
    assert respondent.traits["start"] == "none"
    ids = byte_pairs().encode("The nurse left. Nobody", add_special_tokens=False).ids
    skipped = len(
        byte_pairs().encode("The nurse left. ", add_special_tokens=False).ids
    )  # here a space is a token of its own before a capital
    assert values[1, 2] == pytest.approx(np.mean([route.after(ids[:k])[ids[k]] for k in range(skipped, len(ids))]))


def test_a_word_that_the_tokeniser_cannot_write_is_not_answered() -> None:
    respondent = made(TinyCausal(pieces(), start=2))
    probes = [
        mask_probe("The [BLANK] left.", "man", "zebra"),
        choice("He left.", "zebra", "She left."),
        choice("He left.", "zebra left", "She"),
    ]
    with pytest.warns(EvenhandWarning, match="the tokeniser of tiny@1 does not know"):
        values = respondent.answer(probes)
    assert np.isnan(values).all(axis=1).tolist() == [True, True, False]


def test_the_signature_names_start_and_rule() -> None:
    respondent = made(length="sum")
    assert respondent.identity == "tiny@1"
    assert respondent.traits == {"scoring": "likelihood", "length": "sum", "start": "<s>", "precision": "fp64", "route": "numpy"}
    assert made().answer([]).shape == (0, 0)


def test_rules_of_masked_models_are_refused() -> None:
    with pytest.raises(EvenhandError, match=r"^scoring 'together' is a rule of masked models"):
        made(scoring="together")
    with pytest.raises(UnknownNameError, match="rule for words of unequal length 'meen'"):
        made(length="meen")


def test_pairs_are_refused() -> None:
    pair = Probe(id="p", kind="pair", language="en", texts=("A nurse sleeps.", "A woman sleeps."))
    with pytest.raises(EvenhandError, match="cannot answer pair probes"):
        ask(made(), [pair])


def refusal(reference: object) -> str:
    with pytest.raises(LoadError) as refused:
        open_respondent(str(reference), "mask", RespondentOptions())
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_the_source_is_in_the_catalog_and_claims_its_prefix_only() -> None:
    assert catalog.respondents()["causal"] is RESPONDENT
    assert [RESPONDENT.claims(r) for r in ("causal:gpt2", "causal:./x", "gpt2", "./causal", "fixed:random")] == [
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("name", ["", "./nowhere", "/nowhere/at/all", "a/b/c", "no such model"])
def test_what_is_neither_folder_nor_hub_id(name: str) -> None:
    assert refusal(f"causal:{name}") == (
        f"unknown model 'causal:{name}': there is no such folder. Give causal: and a folder that exists, or a hub id such as causal:gpt2."
    )


def test_folders_without_a_model(tmp_path: Path) -> None:
    assert refusal(f"causal:{tmp_path}") == f"{tmp_path} is no model folder: it has neither a config.json nor a .gguf file (found: nothing)"
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).touch()
    assert refusal(f"causal:{tmp_path}") == f"{tmp_path} has 2 .gguf files (a.gguf, b.gguf); give a folder with one of them"


def test_a_gguf_file_without_its_packages_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.gguf").touch()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert (
        refusal(f"causal:{tmp_path}")
        == f"{tmp_path / 'a.gguf'} is a GGUF file; to read it, install what unpacks it: pip install gguf accelerate"
    )


def test_without_torch_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert refusal(f"causal:{tmp_path}").endswith("needs torch and transformers, which are not installed: pip install 'evenhand[hf]'")


# From here on through torch.

FAMILIES = ("gpt2", "llama", "neox")


def build(folder: Path, family: str, *, marks: bool = True, **more: Any) -> Path:
    """A tiny network with random weights and the byte-level tokeniser, saved as transformers saves it."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder.mkdir(parents=True, exist_ok=True)
    words = byte_pairs()
    told = {"bos_token": "<s>", "eos_token": "</s>"} if marks else {"eos_token": "</s>"}
    hub.PreTrainedTokenizerFast(tokenizer_object=words, **told).save_pretrained(folder)
    torch.set_num_threads(1)
    torch.manual_seed(len(family))
    size = {"vocab_size": words.get_vocab_size(), "initializer_range": SPREAD, "bos_token_id": 0, "eos_token_id": 2, **more}
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 96}
    if family == "gpt2":
        model = hub.GPT2LMHeadModel(hub.GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=96, **size))
    elif family == "llama":
        model = hub.LlamaForCausalLM(hub.LlamaConfig(**shape, **size))
    else:
        model = hub.GPTNeoXForCausalLM(hub.GPTNeoXConfig(**shape, **size))
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("causal")
    return {family: build(root / family, family) for family in FAMILIES}


def opened(folder: Path, **options: Any) -> CausalRespondent:
    return RESPONDENT.open(f"causal:{folder}", RespondentOptions(**options))


def network(folder: Path) -> Said:
    """What plain transformers says after one text, without padding."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = hub.AutoModelForCausalLM.from_pretrained(folder).eval()

    def said(ids: list[int]) -> Any:
        with torch.no_grad():
            return torch.log_softmax(model(torch.tensor([ids])).logits[0, -1].double(), -1).numpy()

    return said


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
def test_against_plain_transformers(families: dict[str, Path], family: str, length: str) -> None:
    said = network(families[family])
    respondent = opened(families[family], length=length)
    values = respondent.answer(PROBES)
    np.testing.assert_allclose(values, padded([slowly(byte_pairs(), said, START, p, length) for p in PROBES]), atol=1e-4, rtol=1e-5)
    assert respondent.unanswered == {} and np.ptp(values[:, 0]) > 1
    assert respondent.traits["start"] == "<s>" and respondent.route.longest == 96


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
def test_batches_change_nothing(families: dict[str, Path], family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, *others = (opened(families[family], batch_size=size).answer(PROBES) for size in BATCHES)
    monkeypatch.setattr(causal_routes, "ROOM", 20 * byte_pairs().get_vocab_size())  # so that every batch is halved, and halved again
    for values in (*others, opened(families[family]).answer(PROBES)):
        np.testing.assert_allclose(values, one, atol=1e-4)


@pytest.mark.torch
def test_where_there_is_no_start_token_the_one_that_parts_texts_stands_in(tmp_path: Path) -> None:
    folder = build(tmp_path / "gpt2", "gpt2", marks=False)
    respondent = opened(folder)
    assert respondent.traits["start"] == "</s>"
    expected = padded([slowly(byte_pairs(), network(folder), 2, p) for p in PROBES])
    np.testing.assert_allclose(respondent.answer(PROBES), expected, atol=1e-4, rtol=1e-5)


@pytest.mark.torch
def test_the_identity_changes_with_the_weights(tmp_path: Path, families: dict[str, Path]) -> None:
    same = {opened(families["gpt2"]).identity for _ in range(2)}
    other = opened(build(tmp_path / "gpt2", "gpt2", marks=False)).identity
    assert len(same) == 1 and other not in same and all(i.startswith("gpt2@") for i in (*same, other))


@pytest.mark.torch
@pytest.mark.parametrize("family", ["bert", "roberta", "electra"])
def test_a_masked_model_is_no_causal_model(tmp_path: Path, family: str) -> None:
    folder = build_masked(tmp_path / family, family)
    said = refusal(f"causal:{folder}")
    assert said.startswith(f"'{folder}' (") and "ForMaskedLM) reads to the left and to the right: it is no causal language model" in said


@pytest.mark.torch
@pytest.mark.parametrize("family", ["encoder", DISCRIMINATOR])
def test_a_model_without_a_head_is_refused(tmp_path: Path, family: str) -> None:
    folder = build_masked(tmp_path / family, family)
    assert "has no trained head that predicts the next token (" in refusal(f"causal:{folder}")


@pytest.mark.torch
def test_other_refusals(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    hub = pytest.importorskip("transformers")
    body = build(tmp_path / "body", "llama")
    hub.LlamaModel.from_pretrained(body).save_pretrained(body)
    assert "has no trained head that predicts the next token (lm_head.weight not among its weights)" in refusal(f"causal:{body}")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "config.json").write_text('{"model_type": "gpt2"}', encoding="utf-8")
    assert refusal(f"causal:{tmp_path / 'empty'}").startswith(f"cannot load '{tmp_path / 'empty'}' as a causal language model: ")
    assert refusal("causal:no-one/has-this").endswith("Check the name and the network, or download the model and name its folder.")
