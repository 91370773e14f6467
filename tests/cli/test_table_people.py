"""Section 4.4 for a study of one's own: accuracy and consistency of every person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import evenhand
from study_room import write_study

from evenhand.cli.study_quality import study_quality
from evenhand.core.errors import InputError
from evenhand.people.plan import TYPE1, gold_genders
from evenhand.people.questions import ACCURACY, CONSISTENCY, Question, plan_questions
from evenhand.people.scoring import coarse, fine, parse_answer
from evenhand.study.serving import open_store
from evenhand.study.store import Verdict
from evenhand.study.study import open_study
from evenhand.study.tables import GivenAnswer

PART = "batch-1"
OTHER = {"male": "female", "female": "male"}


def payload_of(question: Question, gold: str, *, is_right: bool) -> dict[str, Any]:
    """What somebody says who leans to the right gender, or to the wrong one.

    Sentences that settle nothing: no lean in the first type, and in the second type only of
    somebody who says the same twice.
    """
    if not gold:
        if question.type == TYPE1:
            return {"first": "male", "second": "female", "equal": True}
        return {"value": 3 if is_right else 5}
    wanted = gold if is_right else OTHER[gold]
    if question.type == TYPE1:
        return {"first": wanted, "second": "neutral", "equal": False}
    return {"value": 5 if question.gender == wanted else 1}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two people: one gets everything right, the other everything wrong."""
    path = write_study(tmp_path_factory.mktemp("study"))
    described, suite = open_study(path)
    gold = gold_genders(suite)
    with open_store(described, suite) as store:
        for is_right in (True, False):
            person = store.add_annotator()
            questions = plan_questions(described, suite, person, PART, 1)
            assert {ACCURACY, CONSISTENCY} <= {q.role for q in questions}
            store.begin_part(person, PART, 1, questions)
            while (asked := store.next_question(person)) is not None:
                question = asked.question
                payload = payload_of(question, gold.get(question.probe, ""), is_right=is_right)
                choice = parse_answer(question, payload)
                given = GivenAnswer(
                    payload=payload,
                    fine=fine(question, choice),
                    coarse=coarse(question, choice),
                    seconds=4.0,
                    key=question.id,
                )
                store.give_answer(person, question.id, given)
            store.finish_part(person, PART, 1, Verdict("passed", 0.9, 0.7))
    return path


def test_everybody_and_each_person(study: Path) -> None:
    everybody, right, wrong = study_quality(study)
    assert everybody.name == "everybody"
    assert (right.accuracy, right.consistency) == (1.0, 1.0)
    assert (wrong.accuracy, wrong.consistency) == (0.0, 0.0)
    assert (everybody.accuracy, everybody.consistency) == (0.5, 0.5)
    assert everybody.accuracy_asked == right.accuracy_asked + wrong.accuracy_asked > 0


def test_the_table_has_them_beside_what_they_say(study: Path, tmp_path: Path) -> None:
    found = evenhand(
        "table",
        "cgb",
        "fixed:random",
        "--people",
        study,
        "--resamples",
        100,
        "--out",
        tmp_path,
        "--json",
    )
    assert found.code == 0, found.err
    fields = json.loads(found.out)
    tables = {table["name"]: table for table in fields["tables"]}
    rows = [[cell["value"] for cell in row["cells"][:2]] for row in tables["section44"]["rows"]]
    assert rows == [[0.5, 0.5], [1.0, 1.0], [0.0, 0.0]]
    # the published sentences are not here, and Table 1 says so
    assert all("--data" in cell["reason"] for cell in tables["table1"]["rows"][0]["cells"])
    assert {"people-agreement", "figure4"} <= {*fields["figures"]}


def test_a_study_that_nobody_answered(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    with pytest.raises(InputError, match="nobody has answered yet"):
        study_quality(path)
    found = evenhand("table", "cgb", "fixed:fair", "--people", path, "--out", tmp_path / "out")
    assert (found.code, "nobody has answered yet" in found.err) == (2, True)
