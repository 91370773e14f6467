"""Published answers come back as they were published; missing ones are counted."""

from __future__ import annotations

import numpy as np
import pytest
from quick import quick_audit
from replied import flat, reasons

from evenhand.core.answers import Status
from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.probe import Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.ask import ask, ask_suite
from evenhand.families.contextualised.measures import log_odds
from evenhand.respondents.locate import open_respondent
from evenhand.respondents.stored import RESPONDENT, StoredRespondent

CARD = SuiteCard(
    name="published",
    version="1",
    language="zh",
    source="here",
    licence="none",
    citation="none",
    description="",
    options=("male", "female"),
)


def stored(
    identity: str, text: str = "[BLANK]来了。", stratum: str = "MS", **numbers: str
) -> Probe:
    tags = {"gold": "male", **{f"said.{name}": value for name, value in numbers.items()}}
    return Probe(
        id=identity,
        kind="mask",
        language="zh",
        texts=(text, "他", "她"),
        stratum=stratum,
        cluster=identity,
        tags=tags,
    )


PROBES = (
    stored("a", BERT="1.5", Alice="0.0"),
    stored("b", BERT="-0.25", Alice="-1.0"),
    stored("c", Alice="2.0"),
    stored("d", BERT="", Alice="1.0"),
)


def opened(name: str) -> StoredRespondent:
    respondent = open_respondent(f"stored:{name}", "mask", RespondentOptions())
    assert isinstance(respondent, StoredRespondent)
    return respondent


def test_the_stored_number_is_the_log_odds() -> None:
    values = opened("Alice").answer(PROBES).values
    assert values[:, :, 0].tolist() == [[0.0, 0.0], [-1.0, 0.0], [2.0, 0.0], [1.0, 0.0]]
    assert log_odds(values).tolist() == [0.0, -1.0, 2.0, 1.0]


def test_a_missing_number_is_no_answer_and_counted() -> None:
    respondent = opened("BERT")
    replies = respondent.answer(PROBES)
    values = flat(replies)
    assert values[:2].tolist() == [[1.5, 0.0], [-0.25, 0.0]]
    assert np.isnan(values[2:]).all()
    assert reasons(replies) == {"no stored answer": 2}
    assert {s.status for s in replies.silences.values()} == {Status.NO_ANSWER}
    again = respondent.answer(PROBES[2:] + PROBES[:1])
    assert reasons(again) == {"no stored answer": 2}


def test_a_zero_is_an_answer() -> None:
    respondent = opened("Alice")
    replies = respondent.answer(PROBES[:1])
    assert flat(replies).tolist() == [[0.0, 0.0]]
    assert not replies.silences


def test_nobody_asked_is_nothing_answered() -> None:
    assert opened("BERT").answer([]).values.shape == (0, 1, 1)


def test_an_unknown_column_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(LoadError) as refused:
        flat(opened("BART").answer(PROBES))
    assert str(refused.value) == "the suite has no stored answers of 'BART'. It has: Alice, BERT"


def test_a_suite_without_stored_answers_is_an_error_that_names_one_that_has_some() -> None:
    with pytest.raises(
        LoadError, match=r"no stored answers of 'BERT'\. It has: none; try --suite cgb"
    ):
        flat(opened("BERT").answer([stored("a")]))


def test_the_identity_and_the_traits_say_that_nothing_was_asked() -> None:
    respondent = opened("BERT")
    assert respondent.identity == "stored:BERT"
    assert respondent.traits == {"scoring": "as published", "precision": "as published"}
    assert RESPONDENT.claims("stored:x") and not RESPONDENT.claims("BERT")


def test_only_blanks_have_stored_answers() -> None:
    with pytest.raises(
        LoadError,
        match="'stored:BERT' is a respondent of the kind 'stored' and cannot answer pair probes",
    ):
        open_respondent("stored:BERT", "pair", RespondentOptions())
    with pytest.raises(EvenhandError, match="cannot answer choice probes"):
        ask(opened("BERT"), [Probe(id="c", kind="choice", language="en", texts=("", "a", "b"))])


def test_one_sentence_with_two_answers_keeps_both() -> None:
    """Equal probes are asked once elsewhere; a published file may hold the same sentence twice."""
    suite = Suite(card=CARD, probes=(stored("a", BERT="1.0"), stored("b", BERT="3.0"), stored("c")))
    answers = ask_suite(opened("BERT"), suite)
    assert answers.values[:2, :, 0].tolist() == [[1.0, 0.0], [3.0, 0.0]]
    assert answers.unanswered == {"no stored answer": 1}
    assert answers.coverage == pytest.approx(2 / 3)


def test_a_whole_audit_of_stored_answers() -> None:
    probes = (
        *PROBES,
        stored("e", stratum="OS", BERT="2.0"),
        stored("f", stratum="OS", BERT="-2.0"),
        stored("g", stratum="OS", BERT="0.0"),
    )
    run = quick_audit("stored:BERT", Suite(card=CARD, probes=probes))
    values = {e.measure: e.value for e in run.estimates}
    assert values["pb_bias"] == pytest.approx((1.5 + 0.25) / 2)
    assert values["pb_lean"] == pytest.approx((1.5 - 0.25) / 2)
    assert values["objective_accuracy"] == pytest.approx(0.5)
    assert run.answers.unanswered == {"no stored answer": 2}
