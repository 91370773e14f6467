"""The scores of a study's people: as they answered, and the same people wherever they appear."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from commands import evenhand

pytest.importorskip("sqlalchemy", reason="needs the annotate extra")

from evenhand.core.answer_files import read_answers, suite_of
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.settings import Settings
from evenhand.engine.audit import judge
from evenhand.people.compare import compare_people
from evenhand.people.questions import plan_questions
from evenhand.people.scores import from_answers
from evenhand.people.scoring import coarse, fine, parse_answer
from evenhand.people.sources import read_people
from evenhand.study.export import export
from evenhand.study.store import Store, Verdict
from evenhand.study.study import open_study, template
from evenhand.study.tables import GivenAnswer

ByType = dict[str, dict[str, list[float]]]
QUICK = Settings(resamples=100)


def write_study(folder: Path) -> Path:
    path = folder / "small.toml"
    lines = 'suite_language = "en"\ntrial = 0\nbatch = 40'
    path.write_text(template("small", "en").replace('suite_language = "en"', lines), "utf-8")
    return path


def answer_batch(path: Path, people: int = 3) -> list[ByType]:
    """So many made-up people answer one batch; type -> sentence -> the scores they gave."""
    study, suite = open_study(path)
    rng = np.random.default_rng(0)
    everybody: list[ByType] = []
    with Store.open(study.store) as store:
        for _ in range(people):
            person = store.add_annotator()
            scores: ByType = {"type1": {}, "type2": {}}
            questions = plan_questions(study, suite, person, "batch-1")
            store.begin_part(person, "batch-1", 1, questions)
            for number, question in enumerate(questions):
                keys = [o.key for o in question.options]
                first, second = rng.permutation(keys)[:2].tolist()
                payload = (
                    {"first": first, "second": second, "equal": False}
                    if question.type == "type1"
                    else {"value": int(rng.integers(1, 6))}
                )
                choice = parse_answer(question, payload)
                score = fine(question, choice)
                scores[question.type].setdefault(question.probe, []).append(score)
                given = GivenAnswer(
                    payload=payload,
                    fine=score,
                    coarse=coarse(question, choice),
                    seconds=1.0,
                    key=f"{person}-{number}",
                )
                store.give_answer(person, question.id, given)
            store.finish_part(person, "batch-1", 1, Verdict("passed", math.nan, math.nan))
            everybody.append(scores)
        export(store, study, suite, path.parent / "exported", "answers")
    return everybody


def test_a_study_is_read_from_its_store(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    with pytest.raises(InputError, match="nobody has answered yet"):
        read_people(path)
    study, suite = open_study(path)
    Store.open(study.store).close()
    with pytest.raises(EvenhandError, match="nobody has answered anything"):
        read_people(path)
    everybody = answer_batch(path)
    comparison = compare_people(path, ["fixed:random"], settings=QUICK)
    assert comparison.people.identity == "people:small"
    assert comparison.people.names == ("annotator-1", "annotator-2", "annotator-3")
    for row, scores in zip(comparison.people.fine, everybody, strict=True):
        for probe, score in zip(comparison.people.suite.probes, row, strict=True):
            by_type = [np.mean(x[probe.id]) for x in scores.values() if probe.id in x]
            is_same = by_type and score == pytest.approx(np.mean(by_type))
            assert is_same or (not by_type and math.isnan(score))
    again = compare_people(tmp_path / "exported", ["fixed:random"], settings=QUICK)
    assert again.people.fine == pytest.approx(comparison.people.fine, nan_ok=True)
    assert again.models[0].pearson == comparison.models[0].pearson
    # only what people answered is asked of a model
    assert comparison.people.suite.limit == len(comparison.people.suite.probes) < len(suite.probes)


def test_the_same_people_have_one_identity_and_signature(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    answer_batch(path)
    exported = tmp_path / "exported"
    files = [exported / f"{n}.parquet" for n in ("answers", *(f"annotator-{i}" for i in (1, 2, 3)))]
    measured = []
    for file in files:
        answers = read_answers(file)
        run = judge(suite_of(answers), answers, QUICK)
        accuracy = run.estimate("objective_accuracy")
        assert accuracy is not None
        measured.append((answers.respondent, accuracy.signature, accuracy.interval))
    identities = ["people:small", *(f"people:small/annotator-{i}" for i in (1, 2, 3))]
    assert [identity for identity, *_ in measured] == identities
    for source in (path, exported, exported / "answers.parquet"):
        comparison = compare_people(source, ["fixed:random"], settings=QUICK)
        assert [comparison.people.identity, *comparison.people.annotators] == identities
        assert [(e.signature, e.interval) for e in comparison.accuracies] == [
            m[1:] for m in measured
        ]
    done = evenhand("annotate", "score", path, "--resamples", 100, "--json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["annotators"]
    assert [row["identity"] for row in rows] == [*identities[1:], identities[0]]
    means = {row["name"]: row["mean"]["value"] for row in rows}
    people = from_answers([read_answers(file) for file in files])
    is_measuring = np.asarray([s == "MS" for s in people.strata])
    assert means["everybody"] == pytest.approx(np.nanmean(people.final[is_measuring]), abs=1e-6)
