"""A classifier on sentence vectors is asked as it is written down, counted by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoder_models import BATCHES, TEXTS, choice, vector, write_encoder
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from masked_models import HIDDEN
from replied import flat, reasons

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, LabelError, LoadError
from evenhand.core.probe import NLI_LABELS, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.locate import open_respondent
from evenhand.respondents.vector_nli import (
    SETTINGS,
    WEIGHTS,
    Head,
    VectorNliRespondent,
    features,
    open_sentences,
    read_head,
    settle_reference,
    write_head,
)
from evenhand.respondents.vectors import open_vectors

UNITS = 5
ORDER = ("contradiction", "entailment", "neutral")  # not the usual one: what is written down counts


def make_head(place: Path, seed: int = 0, **changed: Any) -> Head:
    rng = np.random.default_rng(seed)
    shapes = {
        "shift": (4 * HIDDEN,),
        "scale": (4 * HIDDEN,),
        "inner": (4 * HIDDEN, UNITS),
        "inner_bias": (UNITS,),
        "outer": (UNITS, 3),
        "outer_bias": (3,),
    }
    told: dict[str, Any] = {
        name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()
    }
    told |= {
        "encoder": str(place),
        "revision": open_sentences(str(place)).identity.rpartition("@")[2],
        "labels": ORDER,
        "scaling": "standard",
    }
    return Head(**{**told, **changed})


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture
def folder(encoder: Path, tmp_path: Path) -> Path:
    (tmp_path / "head").mkdir()
    write_head(make_head(encoder), tmp_path / "head")
    return tmp_path / "head"


def opened(folder: Path, kind: Kind = "pair", **options: Any) -> Any:
    return open_respondent(str(folder), kind, RespondentOptions(**options))


def pair(premise: str, hypothesis: str) -> Probe:
    return Probe(
        id=f"{premise}|{hypothesis}", kind="pair", language="en", texts=(premise, hypothesis)
    )


PAIRS = [pair(a, b) for a in TEXTS for b in TEXTS[::-1]]


def slowly(head: Head, premise: str, hypothesis: str) -> list[float]:
    """The three labels of a pair in the standard order, number by number."""
    u, v = vector(premise), vector(hypothesis)
    parts = [
        *u,
        *v,
        *(abs(a - b) for a, b in zip(u, v, strict=True)),
        *(a * b for a, b in zip(u, v, strict=True)),
    ]
    inputs = [
        (x - float(m)) * float(s) for x, m, s in zip(parts, head.shift, head.scale, strict=True)
    ]
    hidden = [
        max(
            0.0,
            sum(x * float(w) for x, w in zip(inputs, head.inner[:, j], strict=True))
            + float(head.inner_bias[j]),
        )
        for j in range(UNITS)
    ]
    said = {
        label: sum(h * float(w) for h, w in zip(hidden, head.outer[:, k], strict=True))
        + float(head.outer_bias[k])
        for k, label in enumerate(ORDER)
    }
    return [said[label] for label in NLI_LABELS]


@pytest.mark.parametrize("size", BATCHES)
def test_answers_are_those_counted_by_hand(folder: Path, size: int | None) -> None:
    expected = [slowly(read_head(folder), *p.texts) for p in PAIRS]
    np.testing.assert_allclose(
        flat(opened(folder, batch_size=size).answer(PAIRS)), expected, atol=1e-4
    )


def test_order_and_repetition_change_nothing(folder: Path) -> None:
    whole = flat(opened(folder).answer(PAIRS))
    respondent = opened(folder)
    np.testing.assert_allclose(flat(respondent.answer(PAIRS[::-1]))[::-1], whole, atol=1e-9)
    np.testing.assert_allclose(
        np.concatenate([flat(respondent.answer([p])) for p in PAIRS]), whole, atol=1e-9
    )
    assert respondent.answer([]).values.shape == (0, 1, 3)


def test_choices_are_pairs_of_context_and_option(folder: Path) -> None:
    probe = choice(TEXTS[0], TEXTS[1], TEXTS[2])
    logits = flat(opened(folder).answer([pair(TEXTS[0], TEXTS[1]), pair(TEXTS[0], TEXTS[2])]))
    np.testing.assert_allclose(
        flat(opened(folder, "choice").answer([probe])), logits.reshape(1, -1), atol=1e-9
    )
    scored = opened(folder, "choice", scoring="contradiction")
    assert scored.labels_for("choice") == ("score",)
    np.testing.assert_allclose(flat(scored.answer([probe]))[0], -logits[:, 2], atol=1e-9)


def test_its_name_and_traits_say_what_it_is(folder: Path, encoder: Path) -> None:
    respondent = opened(folder)
    assert isinstance(respondent, VectorNliRespondent)
    assert respondent.identity.startswith("head@")
    assert respondent.labels_for("pair") == respondent.labels_for("choice") == NLI_LABELS
    identity = open_sentences(str(encoder)).identity
    assert dict(respondent.traits) == {
        "labels": "e1n2c0/config",
        "scoring": "argmax",
        "precision": "fp32",
        "route": "vectors",
        "encoder": identity,
    }
    write_head(make_head(encoder, seed=1), folder)
    assert opened(folder).identity != respondent.identity
    before = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    (folder / SETTINGS).write_text(
        json.dumps({**before, "labels": list(NLI_LABELS)}), encoding="utf-8"
    )
    assert dict(opened(folder).traits)["labels"] == "e0n1c2/config"


def test_what_is_written_is_read_again(folder: Path, encoder: Path) -> None:
    head, again = make_head(encoder), read_head(folder)
    for name in Head.__slots__:
        np.testing.assert_array_equal(getattr(again, name), getattr(head, name))
    assert (again.width, again.hidden) == (HIDDEN, UNITS)


numbers = arrays.arrays(
    np.float64, st.tuples(st.just(3), st.just(4)), elements=st.floats(-2, 2, width=32)
)


@given(first=numbers, second=numbers)
def test_two_parts_of_the_inputs_do_not_see_who_comes_first(first: Any, second: Any) -> None:
    one, other = features(first, second), features(second, first)
    np.testing.assert_array_equal(one[:, 8:], other[:, 8:])
    np.testing.assert_array_equal(one[:, :4], other[:, 4:8])
    np.testing.assert_array_equal(features(first, first)[:, 8:12], 0.0)


def test_a_sentence_too_long_for_the_encoder_is_not_answered(folder: Path) -> None:
    assert np.isnan(flat(opened(folder).answer([pair("he " * 60, "she " * 60)]))).all()
    respondent = opened(folder)
    replies = respondent.answer([pair("he " * 60, "he"), pair("he", "she")])
    values = flat(replies)
    assert np.isnan(values).all(axis=1).tolist() == [True, False]
    assert reasons(replies) == {"longer than the model's 40 tokens": 1}


def test_it_is_claimed_by_one_source_and_claims_nothing_else(
    folder: Path, encoder: Path, tmp_path: Path
) -> None:
    source = catalog.respondents()["vector-nli"]
    assert source.kinds == {"pair", "choice"}
    assert source.claims(str(folder))
    assert not any(
        source.claims(name)
        for name in (
            "default",
            "minilm",
            "universal",
            str(encoder),
            str(tmp_path),
            "org/model",
            "fixed:fair",
        )
    )
    with pytest.raises(
        LoadError, match="is a respondent of the kind 'vector-nli' and cannot answer mask probes"
    ):
        opened(folder, "mask")
    assert isinstance(opened(folder, "choice"), VectorNliRespondent)


def test_its_picture_is_that_of_the_encoder(folder: Path, encoder: Path) -> None:
    found = open_vectors(str(folder), RespondentOptions())
    assert (found.identity, found.about) == (opened(folder).identity, "sentence vector")
    np.testing.assert_allclose(
        found.embed(TEXTS[:2]), [vector(text) for text in TEXTS[:2]], atol=1e-5
    )


def test_there_is_no_supposition(folder: Path) -> None:
    with pytest.raises(
        EvenhandError,
        match="reads premise and hypothesis apart, so it cannot be asked the supposition 'clean'; "
        "leave out --supposition",
    ):
        opened(folder, form="supposition")


def test_a_label_map_is_followed(folder: Path) -> None:
    told = flat(
        opened(folder, label_map={"entailment": 0, "neutral": 1, "contradiction": 2}).answer(
            PAIRS[:3]
        )
    )
    np.testing.assert_allclose(told, flat(opened(folder).answer(PAIRS[:3]))[:, [2, 0, 1]])
    with pytest.raises(LabelError, match="is not a permutation"):
        opened(folder, label_map={"entailment": 0})


def test_another_encoder_is_refused(folder: Path, encoder: Path) -> None:
    write_head(make_head(encoder, revision="0123456789ab"), folder)
    with pytest.raises(
        LoadError, match=r"was trained on the vectors of '.*tiny' at 0123456789ab, and here that is"
    ):
        opened(folder)
    write_head(make_head(encoder, encoder="./gone"), folder)
    with pytest.raises(
        LoadError,
        match=r"stands on the encoder './gone', which cannot be opened: unknown model './gone'",
    ):
        opened(folder)
    write_head(make_head(encoder, encoder=f"nsp:{encoder}"), folder)
    with pytest.raises(LoadError, match="stands on the encoder"):
        opened(folder)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"width": 7}, r"does not fit vector_nli.json \(width 7, hidden 5\): shift"),
        ({"features": ["u", "v"]}, r"has the features \['u', 'v'\]"),
        ({"scaling": "magic"}, "scaled by 'magic'"),
        (
            {"labels": ["LABEL_0", "LABEL_1", "LABEL_2"]},
            "does not say which labels the outputs mean",
        ),
        (
            {"encoder": "universal"},
            r"does not describe a classifier on sentence vectors \(TypeError",
        ),
        ({"hidden": None}, "TypeError"),
    ],
)
def test_a_broken_description_is_named(folder: Path, changed: dict[str, Any], message: str) -> None:
    before = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    (folder / SETTINGS).write_text(json.dumps({**before, **changed}), encoding="utf-8")
    with pytest.raises(LoadError, match=message):
        opened(folder)


@pytest.mark.parametrize("content", [b"", b"no weights"])
def test_broken_weights_are_named(folder: Path, content: bytes) -> None:
    (folder / WEIGHTS).write_bytes(content)
    with pytest.raises(LoadError, match=r"head.npz cannot be read"):
        opened(folder)


def test_the_folder_of_an_encoder_is_named_in_full(
    encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(encoder.parent)
    told: Sequence[str] = [
        settle_reference(name) for name in ("tiny", "encoder:tiny", "universal", "org/model")
    ]
    assert told == [
        str(encoder.resolve()),
        f"encoder:{encoder.resolve()}",
        "universal",
        "org/model",
    ]
