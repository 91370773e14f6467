"""Answers on the disk: raw, with their meaning, and refused where the file was touched."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from models import TinyModel, write_model
from quick import FEW, Opening, load, quick_audit

from evenhand.core.answer_files import (
    read_answers,
    readings_path,
    suite_of,
    to_table,
    write_answers,
)
from evenhand.core.answers import Answers, Readings, Silence, Status
from evenhand.core.errors import InputError
from evenhand.core.probe import Probe
from evenhand.core.run import Run
from evenhand.engine.audit import judge


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = write_model(tmp_path_factory.mktemp("models") / "tiny", longest=30)
    return quick_audit(str(folder), load(limit=90), Opening(cache=False))


@pytest.fixture
def path(run: Run, tmp_path: Path) -> Path:
    write_answers(run.answers, tmp_path / "answers.parquet")
    return tmp_path / "answers.parquet"


def test_everything_comes_back_to_the_last_bit(run: Run, path: Path) -> None:
    back = read_answers(path)
    assert back.values.tobytes() == run.answers.values.tobytes()
    assert back.probes == run.answers.probes
    for name in ("respondent", "suite", "options", "labels", "scale", "traits", "silences"):
        assert getattr(back, name) == getattr(run.answers, name), name
    assert 0 < back.coverage == run.answers.coverage < 1
    assert sum(back.unanswered.values()) == int(np.isnan(back.values[:, 0, 0]).sum())
    assert back.statuses == run.answers.statuses
    assert set(back.statuses) == {Status.ANSWERED, Status.TOO_LONG}


def test_values_are_the_raw_logits_of_the_model(run: Run, path: Path) -> None:
    table, model = pl.read_parquet(path), TinyModel()
    for row in table.to_dicts():
        logits = [row[label] for label in ("entailment", "neutral", "contradiction")]
        if row["answer"] is None:
            assert np.isnan(logits).all()
        else:
            expected = model.forward(*row["texts"])
            assert logits == pytest.approx(expected, abs=1e-5)
            assert row["answer"] == run.answers.labels[int(expected.argmax())]
    assert table["answer"].null_count() > 0
    assert min(table["contradiction"].drop_nans().to_list()) < 0  # signs are kept


def test_estimates_and_signatures_are_those_of_the_run(run: Run, path: Path) -> None:
    answers = read_answers(path)
    again = judge(suite_of(answers), answers, FEW)
    assert repr(again.estimates) == repr(run.estimates)
    assert again.suite.reference == run.suite.reference
    groups = [
        [
            (b.measure, b.by, g.name, dict(g.tags), repr(g.interval))
            for b in r.breakdowns
            for g in b.groups
        ]
        for r in (run, again)
    ]
    assert groups[0] == groups[1]


def test_a_changed_probe_is_found_by_the_digest(run: Run, tmp_path: Path) -> None:
    first = run.answers.probes[0]
    touched = replace(
        run.answers,
        probes=(replace(first, texts=(first.texts[0], "A woman works.")), *run.answers.probes[1:]),
    )
    write_answers(touched, tmp_path / "touched.parquet")
    with pytest.raises(
        InputError, match=rf"but were asked as {run.suite.digest}: the file was changed"
    ):
        suite_of(read_answers(tmp_path / "touched.parquet"))


def test_a_missing_row_is_found_by_the_digest(run: Run, tmp_path: Path) -> None:
    fewer = replace(run.answers, probes=run.answers.probes[1:], values=run.answers.values[1:])
    write_answers(fewer, tmp_path / "fewer.parquet")
    with pytest.raises(InputError, match="the file was changed"):
        suite_of(read_answers(tmp_path / "fewer.parquet"))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.95])
def test_a_cut_file_is_an_input_error(path: Path, share: float) -> None:
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])
    with pytest.raises(InputError, match=r"answers\.parquet: is not a Parquet file") as refused:
        read_answers(path)
    assert "\n" not in str(refused.value)


def test_garbage_a_missing_file_and_a_folder_are_input_errors(tmp_path: Path) -> None:
    (tmp_path / "garbage.parquet").write_bytes(b"PAR1" + b"\x07" * 900 + b"PAR1")
    with pytest.raises(InputError, match="is not a Parquet file"):
        read_answers(tmp_path / "garbage.parquet")
    with pytest.raises(InputError, match="there is no such file"):
        read_answers(tmp_path / "nowhere.parquet")
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(InputError, match=r"folder\.parquet"):
        read_answers(tmp_path / "folder.parquet")


def test_a_parquet_file_of_others_is_refused_by_its_columns(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a"], "score": [1.0]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(InputError, match="was not written by evenhand; its columns are id, score"):
        read_answers(tmp_path / "other.parquet")


def test_a_dropped_column_is_named(run: Run, path: Path, tmp_path: Path) -> None:
    metadata = pl.read_parquet_metadata(path)["evenhand"]
    to_table(run.answers).drop("neutral", "tags").write_parquet(
        tmp_path / "less.parquet", metadata={"evenhand": metadata}
    )
    with pytest.raises(InputError, match="lacks the columns tags, neutral"):
        read_answers(tmp_path / "less.parquet")


def test_coverage_of_nothing_is_not_a_number() -> None:
    empty = Answers(
        respondent="x",
        suite="s",
        probes=(),
        options=("hypothesis",),
        labels=("a",),
        values=np.zeros((0, 1, 1)),
    )
    assert np.isnan(empty.coverage)


def choices(counts: tuple[int, ...], labels: int) -> Answers:
    """Choices with so many options each, all answered."""
    probes = tuple(
        Probe(id=f"{i}", kind="choice", language="en", texts=("c", *(f"o{j}" for j in range(n))))
        for i, n in enumerate(counts)
    )
    values = np.full((len(counts), max(counts), labels), np.nan)
    for row, count in zip(values, counts, strict=True):
        row[:count] = 1.0
    return Answers(
        respondent="m",
        suite="s@1#0",
        probes=probes,
        options=tuple(f"option {i}" for i in range(max(counts))),
        labels=tuple("abc"[:labels]),
        values=values,
    )


@pytest.mark.parametrize("labels", [1, 3])
def test_a_probe_with_fewer_options_is_answered(labels: int) -> None:
    answers = choices((3, 2, 3), labels)
    assert answers.is_answered.tolist() == [True, True, True]
    assert answers.coverage == 1.0  # ragged options had a coverage of 2/3 although all was answered
    values = answers.values.copy()
    values[1, 0, 0] = values[2, -1, -1] = np.nan
    broken = replace(answers, values=values)
    assert broken.is_answered.tolist() == [True, False, False]
    assert broken.coverage == pytest.approx(1 / 3)


def test_the_columns_of_a_classifier_are_named_by_option_and_label() -> None:
    assert choices((2,), 3).columns == (
        "option 0:a",
        "option 0:b",
        "option 0:c",
        "option 1:a",
        "option 1:b",
        "option 1:c",
    )
    assert choices((2,), 1).columns == ("option 0", "option 1")


def test_ragged_answers_and_their_readings_come_back(tmp_path: Path) -> None:
    answers = choices((3, 2), 1)
    readings = Readings(
        probe=np.asarray([0, 0, 1]),
        conditions=({"order": "ab"}, {"order": "ba"}, {"order": "ab"}),
        values=np.asarray([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [5.0, 6.0, np.nan]])[:, :, None],
    )
    silences = {1: Silence(status=Status.REFUSED, reason="it would not say")}
    kept = replace(answers, values=readings.mean(2), readings=readings, silences=silences)
    write_answers(kept, tmp_path / "a.parquet")
    back = read_answers(tmp_path / "a.parquet")
    assert back.values[0, :, 0].tolist() == [2.0, 2.0, 2.0]
    assert back.values[1, :2, 0].tolist() == [5.0, 6.0] and np.isnan(back.values[1, 2, 0])
    assert back.readings is not None
    np.testing.assert_array_equal(back.readings.values, readings.values)
    assert back.readings.conditions == readings.conditions
    assert back.readings.probe.tolist() == [0, 0, 1]


def test_answers_that_are_taken_away_say_why() -> None:
    answers = choices((2, 2), 1)
    rest = answers.only(np.asarray([True, False]), "not answered by the other")
    assert rest.statuses == (Status.ANSWERED, Status.NOT_ASKED)
    assert rest.unanswered == {"not answered by the other": 1}
    assert rest.select([1]).unanswered == {"not answered by the other": 1}


def test_a_file_of_an_older_version_is_an_input_error(run: Run, path: Path) -> None:
    """Without a digest, damage cannot be told from what was measured."""
    meaning = json.loads(pl.read_parquet_metadata(path)["evenhand"])
    del meaning["digest"]
    old = {"evenhand": json.dumps(meaning)}
    to_table(run.answers).write_parquet(path, metadata=old)
    with pytest.raises(
        InputError, match="was written by an older version of evenhand and has no digest"
    ):
        read_answers(path)


def test_damaged_bytes_never_give_other_answers(run: Run, path: Path) -> None:
    """200 damaged bytes gave a score of 0.811 and the exit code 0."""
    raw = path.read_bytes()
    rng = np.random.default_rng(0)
    reasons = set()
    for count in [1, 20, 200] * 20:
        start = int(rng.integers(4, len(raw) - count))
        noise = rng.integers(1, 256, count, dtype=np.uint8)
        part = np.frombuffer(raw[start : start + count], np.uint8) ^ noise
        path.write_bytes(raw[:start] + part.tobytes() + raw[start + count :])
        try:
            back = read_answers(path)
        except InputError as refused:
            reasons.add(str(refused).partition(": ")[2].partition(" (")[0])
        else:
            assert back.values.tobytes() == run.answers.values.tobytes()
            assert (back.probes, back.traits) == (run.answers.probes, run.answers.traits)
    assert reasons == {"is not a Parquet file", "is damaged or was changed"}


CHANGES: dict[str, dict[str, Any]] = {
    "labels": {"labels": ["contradiction", "neutral", "entailment"]},
    "scale": {"scale": "log-probabilities"},
    "respondent": {"respondent": "other@1"},
    "suite": {"suite": "other@1#0"},
    "traits": {"traits": {"labels": "e2n1c0/config"}},
    "factors": {"factors": ["nothing"]},
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_changed_meaning_is_found_by_the_digest(run: Run, path: Path, field: str) -> None:
    meaning = {**json.loads(pl.read_parquet_metadata(path)["evenhand"]), **CHANGES[field]}
    to_table(run.answers).write_parquet(path, metadata={"evenhand": json.dumps(meaning)})
    with pytest.raises(InputError, match="is damaged or was changed"):
        read_answers(path)


@pytest.mark.parametrize(
    "change",
    [
        pl.col("entailment") + 1e-9,
        pl.col("texts").list.reverse(),
        pl.col("stratum").str.replace("PS", "AS"),
        pl.lit("refused").alias("status"),
    ],
    ids=["value", "texts", "stratum", "status"],
)
def test_a_changed_cell_is_found_by_the_digest(path: Path, change: pl.Expr) -> None:
    metadata = {"evenhand": pl.read_parquet_metadata(path)["evenhand"]}
    pl.read_parquet(path).with_columns(change).write_parquet(path, metadata=metadata)
    with pytest.raises(InputError, match="is damaged or was changed"):
        read_answers(path)


def read_twice(seed: int) -> Answers:
    """Answers to two choices, each read twice."""
    values = np.random.default_rng(seed).normal(size=(4, 2, 1))
    readings = Readings(
        probe=np.asarray([0, 0, 1, 1]), conditions=({"order": "ab"},) * 4, values=values
    )
    return replace(choices((2, 2), 1), values=readings.mean(2), readings=readings)


def test_readings_of_other_answers_are_refused(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_answers(read_twice(seed), tmp_path / f"{seed}.parquet")
    one, other = (readings_path(tmp_path / f"{seed}.parquet") for seed in (1, 2))
    one.write_bytes(other.read_bytes())
    with pytest.raises(InputError, match=r"does not hold the readings behind 1\.parquet"):
        read_answers(tmp_path / "1.parquet")
    one.write_bytes(b"no table")
    with pytest.raises(InputError, match=r"1\.readings\.parquet: is damaged or was changed"):
        read_answers(tmp_path / "1.parquet")
    one.unlink()
    with pytest.raises(InputError, match=r"is missing; it belongs to 1\.parquet"):
        read_answers(tmp_path / "1.parquet")
    assert read_answers(tmp_path / "2.parquet").readings is not None


def test_readings_that_an_earlier_run_left_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    write_answers(read_twice(1), path)
    write_answers(replace(read_twice(2), readings=None), path)
    assert readings_path(path).exists() and read_answers(path).readings is None


def test_a_run_without_its_manifest_is_refused(run: Run, path: Path) -> None:
    """A run folder whose manifest was lost took the answers of any other run."""
    (path.parent / "results.json").write_text("{}", encoding="utf-8")
    for given in (path, path.parent):
        with pytest.raises(InputError, match=r"has results\.json but no manifest\.json"):
            read_answers(given)
    alone = path.rename(path.with_name("mine.parquet"))
    assert read_answers(alone).values.tobytes() == run.answers.values.tobytes()
