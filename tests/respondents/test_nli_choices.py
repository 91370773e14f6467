"""A classifier that is asked to choose says of every option what it says of the pair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from models import TinyModel, build_classifier, open_model, pairs, write_model
from replied import flat, reasons

from evenhand.core.answers import Status
from evenhand.core.errors import UnknownNameError
from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.ask import Asking, ask_suite
from evenhand.respondents import nli
from evenhand.respondents.networks.batches import Encoded
from evenhand.respondents.nli import RESPONDENT, NliRespondent

CONTEXTS = ("A nurse sleeps.", "A doctor is reading a book.", "Someone is here.")
OPTIONS = ("A woman sleeps.", "A man sleeps.", "A person is reading.", "Nobody is here.")


def choice(*texts: str, identity: str = "") -> Probe:
    return Probe(
        id=identity or " / ".join(texts),
        kind="choice",
        language="en",
        texts=texts,
        stratum="s",
        cluster=texts[0],
    )


PROBES = tuple(choice(c, a, b) for c in CONTEXTS for a in OPTIONS for b in OPTIONS if a != b)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


def opened(folder: Path, scoring: str | None = None, form: str | None = None) -> NliRespondent:
    return RESPONDENT.open(str(folder), RespondentOptions(scoring=scoring, form=form))


def by_hand(probes: Sequence[Probe], model: TinyModel, columns: Sequence[int]) -> Floats:
    """Option by option, label by label."""
    return np.asarray(
        [
            [model.forward(p.texts[0], option)[c] for option in p.texts[1:] for c in columns]
            for p in probes
        ]
    )


class Watched:
    """A route that counts what its network is asked."""

    def __init__(self, respondent: NliRespondent) -> None:
        self.asked = 0
        self.logits = respondent.network.logits
        respondent.network.logits = self  # type: ignore[method-assign]

    def __call__(self, batch: list[Encoded]) -> Floats:
        self.asked += len(batch)
        return self.logits(batch)


@pytest.mark.parametrize("batch_size", [1, 7, None])
@pytest.mark.parametrize("count", [1, 5, len(PROBES)])
def test_every_option_has_the_logits_of_its_pair(
    folder: Path, batch_size: int | None, count: int
) -> None:
    respondent = open_model(folder, batch_size=batch_size)
    assert respondent.kinds == RESPONDENT.kinds == {"pair", "choice"}
    assert respondent.labels_for("choice") == ("entailment", "neutral", "contradiction")
    replies = respondent.answer(PROBES[:count])
    assert replies.values.shape == (count, 2, 3)
    values = flat(replies)
    np.testing.assert_allclose(values, by_hand(PROBES[:count], TinyModel(), (0, 1, 2)), atol=1e-5)
    alone = flat(respondent.answer(pairs(PROBES[0].texts[2], premise=PROBES[0].texts[0])))
    np.testing.assert_allclose(values[0, 3:], alone[0], atol=1e-5)


def test_labels_stand_in_their_order_whatever_the_model_has(tmp_path: Path) -> None:
    turned = open_model(
        write_model(tmp_path / "turned", labels=("CONTRADICTION", "ENTAILMENT", "NEUTRAL"))
    )
    np.testing.assert_allclose(
        flat(turned.answer(PROBES)), by_hand(PROBES, TinyModel(), (1, 2, 0)), atol=1e-5
    )
    two = open_model(write_model(tmp_path / "two", labels=("not_entailment", "entailment")))
    assert two.labels_for("pair") == two.labels_for("choice") == ("entailment", "not_entailment")
    np.testing.assert_allclose(
        flat(two.answer(PROBES)), by_hand(PROBES, TinyModel(outputs=2), (1, 0)), atol=1e-5
    )


def test_a_pair_is_asked_once_over_the_whole_life_of_the_respondent(folder: Path) -> None:
    respondent = open_model(folder)
    route = Watched(respondent)
    first = flat(respondent.answer(PROBES))
    assert route.asked == len(CONTEXTS) * len(OPTIONS)
    np.testing.assert_array_equal(flat(respondent.answer(PROBES[::-1])), first[::-1])
    flat(respondent.answer(pairs(OPTIONS[0], premise=CONTEXTS[0])))
    assert route.asked == len(CONTEXTS) * len(OPTIONS)
    flat(respondent.answer(pairs("A man sleeps for 7 hours.", premise=CONTEXTS[0])))
    assert route.asked == len(CONTEXTS) * len(OPTIONS) + 1


@pytest.mark.parametrize("kept", [0, 5])
def test_what_is_remembered_is_bounded_and_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    expected = flat(open_model(folder).answer(PROBES))
    monkeypatch.setattr(nli, "KEPT", kept)
    respondent = open_model(folder)
    route = Watched(respondent)
    for start in [*range(0, len(PROBES), 4)] * 2:
        np.testing.assert_allclose(
            flat(respondent.answer(PROBES[start : start + 4])),
            expected[start : start + 4],
            atol=1e-5,
        )
        assert len(respondent.known) <= kept
    assert route.asked > len(CONTEXTS) * len(OPTIONS)


def test_what_cannot_be_answered_is_nan_with_its_reason(tmp_path: Path) -> None:
    respondent = open_model(write_model(tmp_path / "short", longest=40))
    long = " ".join(["very"] * 60)
    probes = (
        choice("", "A man left.", "A woman left."),
        choice(" ", "a", "b"),
        choice(CONTEXTS[0], "", "A man."),
        PROBES[0],
        choice(CONTEXTS[0], OPTIONS[0], long),
        choice(CONTEXTS[1], long, f"{long} late"),
    )
    replies = respondent.answer(probes)
    values = flat(replies)
    assert np.isnan(values).all(axis=1).tolist() == [True, True, True, False, True, True]
    assert np.isfinite(values[3]).all()
    assert reasons(replies) == {
        "a classifier needs a context and an option to compare": 3,
        "longer than the model's 40 tokens": 2,
    }
    again = respondent.answer(probes[4:])  # remembered, and counted again
    assert np.isnan(again.values).all()
    assert reasons(again) == {"longer than the model's 40 tokens": 2}
    assert {s.status for s in again.silences.values()} == {Status.TOO_LONG}


def test_a_network_that_gives_no_numbers_is_said_to(folder: Path) -> None:
    respondent = open_model(folder)
    respondent.network.logits = lambda batch: np.full((len(batch), 3), np.nan)  # type: ignore[method-assign]
    replies = respondent.answer(PROBES[:4])
    assert np.isnan(replies.values).all()
    assert reasons(replies) == {"the model's outputs are no finite numbers": 4}


@pytest.mark.parametrize(
    ("scoring", "column", "sign"),
    [("entailment", 0, 1), ("neutral", 1, 1), ("contradiction", 2, -1)],
)
def test_one_label_may_be_the_score(folder: Path, scoring: str, column: int, sign: int) -> None:
    respondent = opened(folder, scoring)
    assert respondent.labels_for("choice") == ("score",)
    assert respondent.labels_for("pair") == ("entailment", "neutral", "contradiction")
    assert respondent.traits["scoring"] == scoring
    np.testing.assert_allclose(
        flat(respondent.answer(PROBES)), sign * by_hand(PROBES, TinyModel(), (column,)), atol=1e-5
    )
    asked = pairs("A woman sleeps.", "A man sleeps.")  # pairs keep all their labels
    np.testing.assert_allclose(
        flat(respondent.answer(asked)), flat(opened(folder).answer(asked)), atol=1e-5
    )


def test_the_score_of_two_labels(tmp_path: Path) -> None:
    two = write_model(tmp_path / "two", labels=("entailment", "not_entailment"))
    np.testing.assert_allclose(
        flat(opened(two, "not_entailment").answer(PROBES)),
        -by_hand(PROBES, TinyModel(outputs=2), (1,)),
        atol=1e-5,
    )
    with pytest.raises(
        UnknownNameError,
        match=r"unknown scoring of a classifier 'contradiction'. Known: entailment, not_entailment",
    ):
        opened(two, "contradiction")


@pytest.mark.parametrize(
    ("scoring", "hint"),
    [
        ("entail", "Did you mean entailment"),
        ("Neutrl", "Did you mean neutral"),
        ("qqq", "Known: contra"),
    ],
)
def test_an_unknown_scoring_is_refused_with_a_close_one(
    folder: Path, scoring: str, hint: str
) -> None:
    with pytest.raises(
        UnknownNameError, match=f"unknown scoring of a classifier '{scoring}'. {hint}"
    ):
        opened(folder, scoring)


def test_pairs_and_choices_of_any_width_are_answered_together(folder: Path) -> None:
    three = choice(CONTEXTS[0], *OPTIONS[:3])
    (pair,) = pairs(OPTIONS[1], premise=CONTEXTS[2])
    replies = open_model(folder).answer([three, pair, PROBES[0]])
    assert replies.values.shape == (3, 3, 3)
    values = flat(replies)
    np.testing.assert_allclose(values[0], by_hand([three], TinyModel(), (0, 1, 2))[0], atol=1e-5)
    np.testing.assert_allclose(values[1, :3], TinyModel().forward(*pair.texts), atol=1e-5)
    assert (
        np.isnan(values[1, 3:]).all()
        and np.isfinite(values[2]).tolist() == [True] * 6 + [False] * 3
    )


def test_the_engine_names_every_number_and_keeps_forms_and_scorings_apart(
    folder: Path, tmp_path: Path
) -> None:
    card = SuiteCard(
        name="x",
        version="1",
        language="en",
        source="",
        licence="",
        citation="",
        description="",
        options=("first", "second"),
    )
    suite = Suite(card=card, probes=PROBES)
    answers_by = {
        (scoring, form): ask_suite(opened(folder, scoring, form), suite, Asking(cache=tmp_path))
        for scoring in (None, "entailment", "contradiction")
        for form in (None, "esp", "clean")
    }
    columns = tuple(
        f"{option}:{label}"
        for option in ("first", "second")
        for label in ("entailment", "neutral", "contradiction")
    )
    for (scoring, form), answers in answers_by.items():
        fresh = ask_suite(opened(folder, scoring, form), suite, Asking(cache=False))
        np.testing.assert_allclose(answers.values, fresh.values, atol=1e-5)
        assert answers.columns == (columns if scoring is None else ("first", "second"))
        assert answers.traits.get("form") == form
    np.testing.assert_allclose(
        answers_by[None, "esp"].values[:, :, :1], answers_by["entailment", "esp"].values, atol=1e-5
    )
    assert np.abs(answers_by[None, "esp"].values - answers_by[None, None].values).max() > 0.1


CLEAR = (
    ("A man is sleeping in his bed.", "A person is asleep.", "A woman is cooking dinner."),
    (
        "Two dogs are running through the snow.",
        "Animals are outside.",
        "Two cats are sleeping on a sofa.",
    ),
    (
        "A girl in a red dress is playing the violin.",
        "A girl is making music.",
        "Nobody is playing an instrument.",
    ),
    (
        "The children are swimming in the lake.",
        "There are children in the water.",
        "The children are at home watching television.",
    ),
    ("An old man is eating an apple.", "A man is eating fruit.", "A man is drinking coffee."),
    ("A crowd is cheering at a football match.", "There are many people.", "The street is empty."),
)


def test_the_default_model_prefers_what_follows() -> None:
    probes = [choice(c, a, b) for c, a, b in CLEAR] + [choice(c, b, a) for c, a, b in CLEAR]
    right = [0] * len(CLEAR) + [1] * len(CLEAR)
    values = flat(RESPONDENT.open("default", RespondentOptions()).answer(probes))
    assert values[:, [0, 3]].argmax(axis=1).tolist() == right
    for scoring in ("entailment", "contradiction"):
        scores = flat(RESPONDENT.open("default", RespondentOptions(scoring=scoring)).answer(probes))
        assert scores.argmax(axis=1).tolist() == right


@pytest.mark.torch
@pytest.mark.parametrize("form", [None, "esp"])
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_torch_model_says_what_transformers_alone_makes_it_say(
    tmp_path: Path, family: str, form: str | None
) -> None:
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    place = build_classifier(tmp_path / family, family)
    words, network = (
        hub.AutoTokenizer.from_pretrained(place),
        hub.AutoModelForSequenceClassification.from_pretrained(place).eval(),
    )

    def logits(context: str, option: str) -> list[float]:
        asked = (f"{option} is entailed by {context}.",) if form else (context, option)
        with torch.no_grad():
            return [float(x) for x in network(**words(*asked, return_tensors="pt")).logits[0]]

    respondent = opened(place, form=form)
    assert respondent.network.encode([]) == []
    expected = [
        [x for option in p.texts[1:] for x in logits(p.texts[0], option)] for p in PROBES[:9]
    ]
    np.testing.assert_allclose(flat(respondent.answer(PROBES[:9])), expected, atol=1e-5)
    assert np.ptp(expected, axis=0).min() > 0.01
