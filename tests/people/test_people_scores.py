"""One record of people's scores, to answers and back; the same people are the same everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from people_room import make_people, make_suite, say

from evenhand.core import catalog
from evenhand.core.answer_files import read_answers, suite_of, write_answers
from evenhand.core.answers import Status
from evenhand.core.errors import InputError
from evenhand.core.settings import Settings
from evenhand.engine.ask import ask_suite
from evenhand.engine.audit import judge
from evenhand.engine.estimate import estimate
from evenhand.engine.opened import open_model
from evenhand.families.contextualised.published import FILE, is_people
from evenhand.people.compare import compare_people
from evenhand.people.scores import TRAITS, PeopleScores, from_answers, to_answers
from evenhand.people.sources import published_people

SUITE = make_suite()
QUICK = Settings(resamples=100)


def made_up() -> PeopleScores:
    fine = from_answers(make_people(SUITE)).fine.copy()
    fine[0, :5], fine[:, 7] = np.nan, np.nan
    known = np.isfinite(fine).any(axis=0)
    final = np.where(known, np.nansum(fine, axis=0) / np.isfinite(fine).sum(axis=0).clip(1), np.nan)
    return PeopleScores(
        identity="people:s",
        suite=SUITE,
        annotators=tuple(f"people:s/annotator-{i}" for i in (1, 2, 3)),
        fine=fine,
        final=final,
    )


def test_scores_become_answers_and_come_back(tmp_path: Path) -> None:
    people = made_up()
    answers = to_answers(people)
    assert [a.respondent for a in answers] == [people.identity, *people.annotators]
    assert all(is_people(a) for a in answers)
    assert answers[0].values.shape == (48, 2, 1)
    assert (answers[0].options, answers[0].labels) == (("male", "female"), ("score",))
    assert (answers[0].scale, dict(answers[0].traits)) == ("fine scores", dict(TRAITS))
    assert answers[0].unanswered == {"not answered yet": 1}
    assert answers[1].unanswered == {"not answered yet": 6}
    assert answers[1].statuses[0] is Status.NOT_ASKED
    for number, one in enumerate(answers):
        write_answers(one, tmp_path / f"{number}.parquet")
    read = [read_answers(tmp_path / f"{number}.parquet") for number in range(4)]
    for back in (from_answers(answers), from_answers(read), from_answers(answers[1:])):
        assert (back.identity, back.annotators) == (people.identity, people.annotators)
        assert back.names == ("annotator-1", "annotator-2", "annotator-3")
        assert back.suite.reference == SUITE.reference
        assert dict(back.traits) == dict(TRAITS)
        np.testing.assert_array_equal(back.fine, people.fine)
        np.testing.assert_allclose(back.final, people.final)
    alone = from_answers(answers[:1])
    assert (alone.identity, alone.annotators, alone.fine.shape) == ("people:s", (), (0, 48))
    np.testing.assert_array_equal(alone.final, people.final)


def test_measure_and_compare_people_sign_the_same_people_alike() -> None:
    people = made_up()
    compared = compare_people(people, [say(SUITE, "model", np.arange(48.0))], settings=QUICK)
    for answers, accuracy in zip(to_answers(people), compared.accuracies, strict=True):
        measured = judge(suite_of(answers), answers, QUICK).estimate("objective_accuracy")
        assert measured is not None
        assert accuracy.signature == measured.signature
        assert accuracy.interval == measured.interval
        assert f"model:{answers.respondent}|scoring:fine score|precision:as answered" in (
            accuracy.signature
        )


def test_another_language_is_another_suite() -> None:
    people = made_up()
    part = people.select(range(40), "en")
    assert (part.suite.limit, len(part.final), part.fine.shape) == (40, 40, (3, 40))
    assert part.suite.reference != people.suite.reference
    assert people.select(range(48)) is people


def test_published_people_are_those_that_an_audit_asks(data: Path) -> None:
    if not (data / "cgb" / FILE).exists():
        pytest.skip(f"{FILE} is not beside the project")
    people = published_people(data)
    assert people.identity == "stored:Annotators"
    assert people.annotators == tuple(f"stored:Annotator{i}" for i in (1, 2, 3))
    assert people.names == ("Annotator1", "Annotator2", "Annotator3")
    compared = compare_people(people, ["stored:ELECTRA"], settings=QUICK)
    suite, measure = people.suite, catalog.measure("objective_accuracy")
    names = (people.identity, *people.annotators)
    for name, accuracy in zip(names, compared.accuracies, strict=True):
        asked = ask_suite(open_model(name, suite), suite)
        audited = estimate(measure, suite, asked, QUICK)
        assert f"model:{name}|scoring:as published|precision:as published" in audited.signature
        assert (accuracy.signature, accuracy.interval) == (audited.signature, audited.interval)


def test_what_are_no_scores_of_people_is_refused() -> None:
    with pytest.raises(InputError, match=r"one is 3\. Is it a model\?"):
        from_answers([say(SUITE, "people:x/annotator-1", np.full(48, 3.0))])
