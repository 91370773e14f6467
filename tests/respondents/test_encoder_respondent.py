"""Encoders get the similarities that their vectors have, as ONNX and through torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoder_models import (
    BATCHES,
    PROBES,
    TEXTS,
    choice,
    opened,
    refusal,
    save_bert,
    slowly,
    vector,
    write_encoder,
)
from masked_models import HIDDEN, build
from replied import flat, reasons

from evenhand.core import catalog
from evenhand.core.errors import EvenhandWarning, LoadError
from evenhand.core.probe import Floats
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.ask import ask
from evenhand.respondents import encoder as encoders
from evenhand.respondents.encoder import EncoderRespondent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("similarity", ["cosine", "dot", "distance"])
def test_every_similarity_is_that_of_the_vectors(
    folder: Path, pooling: str, similarity: str
) -> None:
    respondent = opened(folder, pooling=pooling, similarity=similarity)
    replies = respondent.answer(PROBES)
    np.testing.assert_allclose(flat(replies), slowly(PROBES, pooling, similarity), atol=1e-5)
    assert respondent.traits == {
        "scoring": f"{pooling}/{similarity}",
        "precision": "fp32",
        "route": "onnxruntime",
    }
    assert not replies.silences
    assert respondent.identity.startswith("tiny@") and len(respondent.identity) == len("tiny@") + 12


def test_the_default_is_the_cosine_of_means(folder: Path) -> None:
    np.testing.assert_allclose(
        flat(opened(folder).answer(PROBES)), slowly(PROBES, "mean", "cosine"), atol=1e-5
    )


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_of_texts(folder: Path, pooling: str) -> None:
    vectors = opened(folder, pooling=pooling).embed([*TEXTS, TEXTS[0]])
    np.testing.assert_allclose(vectors, [vector(t, pooling) for t in (*TEXTS, TEXTS[0])], atol=1e-5)
    assert vectors.dtype == np.float64


def test_a_graph_may_give_sentences_at_once(tmp_path: Path) -> None:
    respondent = opened(write_encoder(tmp_path / "sentence", "sentence"))
    np.testing.assert_allclose(
        flat(respondent.answer(PROBES)), slowly(PROBES, "mean", "cosine"), atol=1e-5
    )
    assert respondent.traits["scoring"] == "graph/cosine"
    assert "its pooling cannot be chosen. Leave out --pooling cls." in refusal(
        tmp_path / "sentence", pooling="cls"
    )


@pytest.mark.parametrize("form", ["tokens", "sentence"])
def test_a_graph_of_one_length_is_padded_to_it(tmp_path: Path, form: str) -> None:
    respondent = opened(write_encoder(tmp_path / form, form, length=24))
    np.testing.assert_allclose(
        flat(respondent.answer(PROBES)), slowly(PROBES, "mean", "cosine"), atol=1e-5
    )


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_batches_change_nothing(folder: Path, pooling: str) -> None:
    one, *others = (
        flat(opened(folder, pooling=pooling, batch_size=size, similarity="dot").answer(PROBES))
        for size in BATCHES
    )
    for values in others:
        np.testing.assert_allclose(values, one, atol=1e-5)


def count_texts(respondent: EncoderRespondent, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts the network was given, run by run."""
    seen: list[int] = []
    run = respondent.network.vectors

    def counted(batch: Any) -> Floats:
        seen.append(len(batch))
        return run(batch)

    monkeypatch.setattr(respondent.network, "vectors", counted)
    return seen


def test_a_sentence_is_read_once_over_the_whole_suite(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("nurse", "doctor", "man", "woman", "boy", "girl")
    contexts = [f"the {a} {verb}" for a in words for verb in ("runs", "sleeps", "left")]
    options = [
        (f"the {a} said he {verb}", f"the {a} said she {verb}")
        for a in words
        for verb in ("left", "is here")
    ]
    probes = [choice(c, *pair) for c in contexts for pair in options]
    assert len(probes) == 216  # more than one chunk of the engine
    respondent = opened(folder)
    seen = count_texts(respondent, monkeypatch)
    values = flat(ask(respondent, probes))
    assert sum(seen) == len(contexts) + 2 * len(options)
    np.testing.assert_allclose(values, slowly(probes, "mean", "cosine"), atol=1e-5)


def test_what_is_kept_is_bounded_and_forgets_the_oldest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoders, "KEPT", 4)
    respondent = opened(folder)
    seen = count_texts(respondent, monkeypatch)
    np.testing.assert_allclose(
        flat(respondent.answer(PROBES)), slowly(PROBES, "mean", "cosine"), atol=1e-5
    )
    distinct = list(dict.fromkeys(t for p in PROBES for t in p.texts))
    assert list(respondent.known) == distinct[-4:]
    respondent.embed(distinct[-4:])
    assert sum(seen) == len(distinct)
    respondent.embed(distinct[:1])
    assert sum(seen) == len(distinct) + 1


def test_what_is_too_long_is_not_cut(tmp_path: Path) -> None:
    respondent = opened(write_encoder(tmp_path / "short", longest=8))
    fits, long = (
        "he left he left he left",
        "he left he left he left he",
    )  # with the two marks 8 and 9 tokens
    replies = respondent.answer(
        [choice("he", fits, "she"), choice("he", long, "she"), choice(long, "he", "she")]
    )
    values = flat(replies)
    assert np.isnan(values).tolist() == [[False, False], [True, True], [True, True]]
    assert reasons(replies) == {"longer than the model's 8 tokens": 2}
    vectors = respondent.embed([long, fits])
    assert np.isnan(vectors[0]).all()
    np.testing.assert_allclose(vectors[1], vector(fits), atol=1e-5)


def test_without_a_context_there_is_no_answer(folder: Path) -> None:
    respondent = opened(folder)
    replies = respondent.answer(
        [
            choice("", "he left", "she left"),
            choice("  ", "he left", "she left"),
            choice("he", "she", " "),
            PROBES[0],
        ]
    )
    values = flat(replies)
    assert np.isnan(values).any(axis=1).tolist() == [True, True, True, False]
    assert reasons(replies) == {
        "there is no context to compare the options with": 2,
        "an option is empty": 1,
    }


def test_options_that_look_the_same_to_the_model_are_no_tie(folder: Path) -> None:
    respondent = opened(folder)
    with pytest.warns(EvenhandWarning, match="does not know, the first: 'the zebra left'"):
        replies = respondent.answer(
            [
                choice("he left", "the zebra left", "the giraffe left"),
                choice("he left", "She left", "she left"),
            ]
        )
    assert np.isnan(replies.values).all()
    assert reasons(replies) == {"the tokeniser cannot tell two options apart": 2}
    # the same option twice is a tie
    same = flat(respondent.answer([choice("he left", "she left", "she left")]))
    assert same[0, 0] == same[0, 1]


def test_a_vector_without_length_has_no_angle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    respondent = opened(write_encoder(tmp_path / "nothing"))
    monkeypatch.setattr(respondent.network, "vectors", lambda batch: np.zeros((len(batch), HIDDEN)))
    replies = respondent.answer(PROBES[:1])
    assert np.isnan(replies.values).all()
    assert reasons(replies) == {"a vector has no length, or is not finite": 1}


def test_no_probes_and_no_texts(folder: Path) -> None:
    assert opened(folder).answer([]).values.shape == (0, 1, 1)
    assert opened(folder).embed([]).shape == (0, 0)


def torch_vector(folder: Path) -> Any:
    """Text by text through AutoModel, without padding."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model, words = (
        hub.AutoModel.from_pretrained(folder).eval(),
        hub.AutoTokenizer.from_pretrained(folder),
    )

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
        np.testing.assert_allclose(flat(respondent.answer(PROBES)), expected, atol=1e-5)
    taken = {
        "roberta": "taken out of RobertaForMaskedLM",
        "distilbert": "taken out of DistilBertForMaskedLM",
    }.get(family)
    assert respondents[0].traits.get("encoder") == taken
    assert respondents[0].identity.startswith("encoder:" + family if taken else "encoder@")


@pytest.mark.torch
def test_the_encoder_of_a_classifier_only_by_name(tmp_path: Path) -> None:
    place = save_bert(tmp_path / "labels", "BertForSequenceClassification", num_labels=3)
    respondent = opened(f"encoder:{place}")
    np.testing.assert_allclose(
        flat(respondent.answer(PROBES)),
        slowly(PROBES, "mean", "cosine", torch_vector(place)),
        atol=1e-5,
    )
    assert respondent.traits["encoder"] == "taken out of BertForSequenceClassification"
    with pytest.raises(
        LoadError,
        match=r"is a BertForSequenceClassification, not a sentence encoder\. Write encoder:",
    ):
        catalog.respondents()["encoder"].open(str(place), RespondentOptions())
