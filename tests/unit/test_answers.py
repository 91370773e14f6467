"""Do answers survive on the disk? Raw, with their meaning beside them, and refused where the file was touched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from models import TinyModel, write_model

import evenhand as eh
from evenhand.core.answer_files import read_answers, suite_of, to_table, write_answers
from evenhand.core.answers import Answers
from evenhand.core.errors import InputError
from evenhand.core.run import Run
from evenhand.engine.audit import judge


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = write_model(tmp_path_factory.mktemp("models") / "tiny", longest=30)
    return eh.audit(str(folder), limit=90, resamples=100, cache=False)


@pytest.fixture
def path(run: Run, tmp_path: Path) -> Path:
    write_answers(run.answers, tmp_path / "answers.parquet")
    return tmp_path / "answers.parquet"


def test_everything_comes_back_to_the_last_bit(run: Run, path: Path) -> None:
    back = read_answers(path)
    assert back.values.tobytes() == run.answers.values.tobytes()
    assert back.probes == run.answers.probes
    for name in ("respondent", "suite", "labels", "scale", "traits", "unanswered"):
        assert getattr(back, name) == getattr(run.answers, name), name
    assert 0 < back.coverage == run.answers.coverage < 1
    assert sum(back.unanswered.values()) == int(np.isnan(back.values[:, 0]).sum())


def test_values_are_the_raw_logits_of_the_model(run: Run, path: Path) -> None:
    table, model = pl.read_parquet(path), TinyModel()
    for row in table.to_dicts():
        told = [row[label] for label in ("entailment", "neutral", "contradiction")]
        if row["answer"] is None:
            assert np.isnan(told).all()
        else:
            logits = model.forward(*row["texts"])
            assert told == pytest.approx(logits, abs=1e-5)
            assert row["answer"] == run.answers.labels[int(logits.argmax())]
    assert table["answer"].null_count() > 0
    assert min(table["contradiction"].drop_nans().to_list()) < 0  # signs are kept


def test_estimates_and_signatures_are_those_of_the_run(run: Run, path: Path) -> None:
    said = read_answers(path)
    again = judge(suite_of(said), said, resamples=100)
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
    told = pl.read_parquet_metadata(path)["evenhand"]
    to_table(run.answers).drop("neutral", "tags").write_parquet(
        tmp_path / "less.parquet", metadata={"evenhand": told}
    )
    with pytest.raises(InputError, match="lacks the columns tags, neutral"):
        read_answers(tmp_path / "less.parquet")


def test_coverage_of_nothing_is_not_a_number() -> None:
    empty = Answers(respondent="x", suite="s", labels=("a",), probes=(), values=np.zeros((0, 1)))
    assert np.isnan(empty.coverage)
