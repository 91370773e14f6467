"""A supposition is the sentence that it should be, and is asked as one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from models import USUAL, TinyModel, pairs, vocabulary, write_model
from replied import flat

from evenhand import lexicons
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.forms import find_form
from evenhand.respondents.networks.batches import Encoded
from evenhand.respondents.nli import RESPONDENT, NliRespondent

OWN = "It is true that {h} when {p}"


def written(form: str, premise: str, hypothesis: str) -> str:
    supposition = find_form(form)
    assert supposition is not None
    return supposition.write(premise, hypothesis)


def test_a_pair_is_no_supposition() -> None:
    assert find_form(None) is None and find_form("pair") is None


def test_esp_is_what_the_released_code_writes() -> None:
    assert (
        written("esp", "The person is a nurse.", "The person is a male.")
        == "The person is a male. is entailed by The person is a nurse.."
    )
    assert written("esp", " odd text ", "Really?") == "Really? is entailed by  odd text ."


@pytest.mark.parametrize(
    ("premise", "hypothesis", "sentence"),
    [
        (
            "The person is an aunt.",
            "The person is feminine.",
            "The person is feminine is entailed by the person is an aunt.",
        ),
        ("A man sleeps!", "He is tired?", "He is tired is entailed by a man sleeps."),
        ("I left early...", "I left", "I left is entailed by I left early."),
        ("I'm here", "Here I am;", "Here I am is entailed by I'm here."),
        (
            "It rained. It stopped. ",
            "It rained.",
            "It rained is entailed by it rained. It stopped.",
        ),
        ("In May it rained.", "It rained.", "It rained is entailed by in May it rained."),
        ("NASA launched it.", "It flew.", "It flew is entailed by NASA launched it."),
        ("U.S. troops left.", "They left.", "They left is entailed by U.S. troops left."),
        (
            "McDonald had a farm.",
            "There was a farm.",
            "There was a farm is entailed by McDonald had a farm.",
        ),
        ("Anna left.", "She left.", "She left is entailed by anna left."),
        ('"Go," he said.', "He spoke.", 'He spoke is entailed by "Go," he said.'),
        ("a {h} and a {p}.", "The {p}.", "The {p} is entailed by a {h} and a {p}."),
        ("...", "?", "? is entailed by ...."),
        ("Il est là…", "彼は来た。", "彼は来た is entailed by il est là."),
    ],
)
def test_clean_is_one_sentence(premise: str, hypothesis: str, sentence: str) -> None:
    assert written("clean", premise, hypothesis) == sentence


def test_a_text_of_ones_own_takes_the_sentences_as_they_are() -> None:
    assert (
        written(OWN, "It rains.", "It is {p} wet.")
        == "It is true that It is {p} wet. when It rains."
    )
    assert written("{p}\n  so {h}", "a", "b") == "a so b"  # one line, as the signature is


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("esb", "unknown form 'esb'. Did you mean esp? Or write a text with {h} and {p} once each"),
        ("Clear", "unknown form 'Clear'. Did you mean clean?"),
        ("pairs", "Did you mean pair?"),
        (
            "h is entailed by p",
            "Known: pair, supposition, esp, clean. Or write a text with {h} and {p}",
        ),
        ("", "unknown form ''. Known: pair, supposition, esp, clean."),
        (
            "{h} follows",
            "form '{h} follows' has {h}; write {h} (hypothesis, option) and {p} "
            "(premise, context) once each",
        ),
        ("{h} {p} {h}", "has {h}, {p}, {h}; write"),
        ("{hypothesis} if {premise}", "has {hypothesis}, {premise}; write"),
        ("{h} {p} {}", "has {h}, {p}, {}; write"),
    ],
)
def test_other_forms_are_refused_before_the_model_is_loaded(form: str, message: str) -> None:
    with pytest.raises(EvenhandError) as refused:
        RESPONDENT.open("./no-such-model", RespondentOptions(form=form))
    assert message in str(refused.value) and "\n" not in str(refused.value)


def one_text(model: TinyModel, text: str) -> Floats:
    """What the tiny network says to one text: a single segment, one separator."""
    ids = [2, *(vocabulary().get(w, 1) for w in re.findall(r"\w+|[^\w\s]+", text.lower())), 3]
    return np.asarray(
        (model.words[ids] + model.segments[0]).astype(np.float64).mean(axis=0) @ model.weights
        + model.bias
    )


@pytest.mark.parametrize("form", ["esp", "clean", OWN])
def test_a_supposition_is_asked_as_a_single_text(tmp_path: Path, form: str) -> None:
    folder, model = write_model(tmp_path / "tiny", TinyModel(seed=2)), TinyModel(seed=2)
    respondent = RESPONDENT.open(str(folder), RespondentOptions(form=form, batch_size=3))
    asked = pairs("A woman sleeps.", "A man is here", "Nobody is reading a book!")
    expected = [one_text(model, written(form, *p.texts)) for p in asked]
    np.testing.assert_allclose(flat(respondent.answer(asked)), expected, atol=1e-5)
    choice = Probe(
        id="c",
        kind="choice",
        language="en",
        texts=(asked[0].texts[0], *(p.texts[1] for p in asked)),
    )
    np.testing.assert_allclose(
        flat(respondent.answer([choice]))[0], np.concatenate(expected), atol=1e-5
    )
    plain = RESPONDENT.open(str(folder), RespondentOptions(form="pair"))
    assert "form" not in plain.traits and np.abs(flat(plain.answer(asked)) - expected).min() > 1e-4
    assert respondent.traits["form"] == form and {**respondent.traits, "form": ""} == {
        **plain.traits,
        "form": "",
    }


class Oracle:
    """A network that gets the sanity pairs right in one form, in the label order c, e, n.

    Its config does not tell that order.
    """

    name, precision, is_read_alone, width, longest = "oracle", "exact", False, 3, 512
    config: ClassVar[dict[str, Any]] = {"id2label": {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}}

    def __init__(self, form: str | None) -> None:
        supposition = find_form(form)
        self.gold: dict[Any, int] = {}
        for row in lexicons.table("en", "sanity"):
            pair = (row["premise"], row["hypothesis"])
            text = supposition.write(*pair) if supposition else pair
            self.gold[text] = (USUAL.index(row["label"]) + 1) % 3

    def encode(self, texts: Sequence[Any]) -> list[Encoded]:
        return [Encoded((self.gold.get(text, 0),), (0,)) for text in texts]

    def logits(self, batch: list[Encoded]) -> Floats:
        return np.eye(3)[[e.ids[0] for e in batch]]


@pytest.mark.parametrize("form", [None, "esp", "clean"])
def test_labels_are_found_out_with_pairs_in_the_same_form(form: str | None) -> None:
    respondent = NliRespondent("oracle", "1", Oracle(form), RespondentOptions(form=form))
    assert respondent.traits["labels"] == "e1n2c0/sanity"
    other = "clean" if form != "clean" else None
    with pytest.raises(EvenhandError, match="sanity pairs do not tell them apart"):
        NliRespondent("oracle", "1", Oracle(form), RespondentOptions(form=other))


def test_supposition_is_another_name_for_the_clean_form() -> None:
    assert find_form("supposition") == find_form("clean") != find_form("esp")
