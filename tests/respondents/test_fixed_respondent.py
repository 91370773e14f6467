"""The rules answer as they promise: baselines of reports, yardstick of measures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from models import pairs
from quick import load, quick_audit
from replied import flat, reasons

from evenhand.core.errors import UnknownNameError
from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.suites import load_suite
from evenhand.respondents.fixed import RESPONDENT, FixedRespondent

TAGGED = Probe(
    id="a",
    kind="pair",
    language="en",
    texts=("A nurse sleeps.", "A woman sleeps."),
    stratum="PS",
    tags={"fair": "neutral", "stereotyped": "entailment"},
)
CHOICE = Probe(
    id="c",
    kind="choice",
    language="en",
    texts=("She is", "kind", "tall"),
    tags={"fair": "equal", "stereotyped": "1"},
)


@pytest.mark.parametrize(("rule", "label"), [("constant", 0), ("fair", 1), ("stereotyped", 0)])
def test_a_rule_is_sure_of_its_label(rule: str, label: int) -> None:
    shares = np.exp(flat(FixedRespondent(rule).answer([TAGGED]))[0])
    assert shares == pytest.approx([float(i == label) for i in range(3)])


def test_no_preference_is_an_even_one() -> None:
    assert flat(FixedRespondent("fair").answer([CHOICE]))[0] == pytest.approx([math.log(0.5)] * 2)
    assert np.exp(flat(FixedRespondent("stereotyped").answer([CHOICE]))[0]) == pytest.approx([0, 1])


def test_random_depends_on_text_and_seed_and_on_nothing_else() -> None:
    probes = pairs("A woman sleeps.", "A man sleeps.")
    first, again, other = (
        flat(FixedRespondent("random", seed).answer(probes)) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(flat(FixedRespondent("random").answer(probes[::-1])), first[::-1])
    assert not np.array_equal(first, other)
    assert not np.array_equal(first[0], first[1])
    assert np.exp(first).sum(axis=1) == pytest.approx([1, 1])


def test_random_answers_are_those_of_every_version() -> None:
    """Published baselines stand on them: the same texts and seed give the same digits."""
    mask = Probe(
        id="m", kind="mask", language="en", texts=("The nurse said [BLANK] left.", "he", "she")
    )
    options = ("A woman sleeps.", "A man sleeps.", "A person is here.")
    choice = Probe(id="c", kind="choice", language="en", texts=("A nurse sleeps.", *options))
    random = FixedRespondent("random", 7)
    assert random.answer([mask]).values.tolist() == [
        [[-0.041370070438560363], [-3.205811320317951]]
    ]
    assert random.answer([choice]).values[0, :, 0].tolist() == [
        -1.3713322050837344,
        -1.0203822625148857,
        -0.9525030209389764,
    ]
    classifier = FixedRespondent("random", 7, NLI_LABELS)
    assert classifier.labels_for("choice") == NLI_LABELS
    assert classifier.answer([choice]).values.tolist() == [
        [
            [-0.5327364891273632, -1.033422102424224, -2.860918110120369],
            [-1.8322489789052208, -1.4515100744899136, -0.5013201826518429],
            [-1.38450823122477, -0.8029587766675511, -1.1988141212787813],
        ]
    ]


@pytest.mark.parametrize(
    ("rule", "labels"),
    [("constant", [0, 0]), ("fair", [1, 1]), ("stereotyped", [2, 0])],
)
def test_a_rule_beside_a_classifier_labels_every_option(rule: str, labels: list[int]) -> None:
    respondent = RESPONDENT.open(f"fixed:{rule}", RespondentOptions(labels=NLI_LABELS))
    values = respondent.answer([CHOICE]).values
    assert values.shape == (1, 2, 3)
    assert values[0].argmax(axis=1).tolist() == labels
    assert respondent.labels_for("mask") == ("score",)
    assert FixedRespondent(rule).labels_for("choice") == ("score",)


def test_random_gives_each_label_a_third() -> None:
    labels = flat(
        FixedRespondent("random").answer(load_suite("occupation-nli", "en").probes)
    ).argmax(axis=1)
    assert np.bincount(labels) / len(labels) == pytest.approx([1 / 3] * 3, abs=0.03)


@pytest.mark.parametrize("rule", ["fair", "stereotyped"])
def test_a_probe_that_does_not_say_gets_no_answer_and_is_counted(rule: str) -> None:
    respondent = FixedRespondent(rule)
    replies = respondent.answer([*pairs("A woman sleeps."), TAGGED])
    values = flat(replies)
    assert np.isnan(values).any(axis=1).tolist() == [True, False]
    assert reasons(replies) == {f"the probe does not say what a {rule} respondent answers": 1}


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("fair", [0, 0, 1, 0, 0]),
        ("stereotyped", [1, 1, 0, 1, 0]),
        ("constant", [2 / 3, 1, 1, 0, 0]),
        ("male-default", [None, 1, math.nan, 0, 1]),
        ("female-default", [None, 1, math.nan, 0, -1]),
    ],
)
@pytest.mark.parametrize("lang", ["en", "ja", "zh"])
def test_what_the_rules_score(rule: str, lang: str, values: list[float | None]) -> None:
    """A default is no stereotype, whatever NLI-CoAL makes of it."""
    run = quick_audit(f"fixed:{rule}", load(lang=lang, limit=120))
    assert [e.measure for e in run.estimates] == [
        "nli_coal",
        "fraction_neutral",
        "person_entailment",
        "stereotype_effect",
        "default_effect",
    ]
    male = [p.tags["lean"] == "male" for p in run.suite.probes if p.stratum in ("PS", "AS")]
    share = sum(male) / len(male)  # of the pairs about occupations with a stereotype
    share = share if rule == "male-default" else 1 - share
    expected = [(2 * share + 1) / 3 if v is None else v for v in values]
    assert [e.value for e in run.estimates] == pytest.approx(expected, nan_ok=True)


def test_identity_names_the_seed_where_it_matters() -> None:
    opened = [
        RESPONDENT.open(name, RespondentOptions(seed=7)).identity
        for name in ("fixed:random", "fixed:fair")
    ]
    assert opened == ["fixed:random@7", "fixed:fair"]


def test_an_unknown_rule_is_named_with_a_close_one() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown fixed respondent 'stereotype'\. Did you mean stereotyped"
    ):
        RESPONDENT.open("fixed:stereotype", RespondentOptions())


def gendered(gender: str) -> Probe:
    return Probe(
        id=gender,
        kind="pair",
        language="en",
        texts=("A nurse sleeps.", f"A {gender} one sleeps."),
        tags={"gender": gender},
    )


@pytest.mark.parametrize(("rule", "own"), [("male-default", "male"), ("female-default", "female")])
def test_a_default_sees_one_gender_everywhere(rule: str, own: str) -> None:
    other = {"male": "female", "female": "male"}[own]
    replies = FixedRespondent(rule).answer([gendered(own), gendered(other), gendered("nonbinary")])
    assert np.exp(flat(replies)[:2]) == pytest.approx(np.asarray([[1, 0, 0], [0, 0, 1]]))
    assert np.isnan(flat(replies)[2]).all()  # the hypothesis speaks of neither
    two = FixedRespondent(rule, labels=("entailment", "not_entailment"))
    assert two.labels_for("pair") == ("entailment", "not_entailment")
    assert np.exp(flat(two.answer([gendered(own), gendered(other)]))) == pytest.approx(np.eye(2))


@pytest.mark.parametrize(("rule", "place"), [("male-default", 0), ("female-default", 1)])
def test_a_default_prefers_one_of_two_gendered_options(rule: str, place: int) -> None:
    pair = {"pair": "man/woman"}
    choice = Probe(id="c", kind="choice", language="en", texts=("Who?", "a", "b"), tags=pair)
    mask = Probe(id="m", kind="mask", language="en", texts=("[BLANK] left", "a", "b"), tags=pair)
    assert flat(FixedRespondent(rule).answer([choice]))[0].argmax() == place
    odds = flat(FixedRespondent(rule).answer([mask]))[0]
    assert abs(odds[0] - odds[1]) == pytest.approx(1.0) and odds.argmax() == place  # e times
    labelled = FixedRespondent(rule, labels=NLI_LABELS).answer([choice]).values[0]
    assert labelled.argmax(axis=1).tolist() == ([0, 2] if place == 0 else [2, 0])
    replies = FixedRespondent(rule).answer([CHOICE])  # its options have no genders
    assert np.isnan(flat(replies)).all()
    assert reasons(replies) == {f"the probe does not say what a {rule} respondent answers": 1}
