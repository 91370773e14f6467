"""Predictions made elsewhere score like the run they came from; a bad file names its row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from models import write_model
from quick import FEW, Opening, load, quick_audit

from evenhand.core.errors import InputError
from evenhand.core.probe import NLI_LABELS, Floats
from evenhand.core.run import Run
from evenhand.engine.audit import judge
from evenhand.engine.predictions import read_predictions

Rows = list[dict[str, object]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = write_model(tmp_path_factory.mktemp("models") / "tiny")
    return quick_audit(str(folder), load(limit=90), Opening(cache=False))


def shares(run: Run) -> Floats:
    powers = np.exp(run.answers.values[:, 0])
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def probabilities(run: Run) -> Rows:
    return [
        {"id": p.id, **dict(zip(NLI_LABELS, row.tolist(), strict=True))}
        for p, row in zip(run.suite.probes, shares(run), strict=True)
    ]


def labels(run: Run, column: str = "label") -> Rows:
    best = run.answers.values[:, 0].argmax(axis=1)
    return [
        {"id": p.id, column: NLI_LABELS[b]} for p, b in zip(run.suite.probes, best, strict=True)
    ]


def logits(run: Run) -> Rows:
    names = [f"logit_{n}" for n in NLI_LABELS]
    return [
        {"id": p.id, **dict(zip(names, row.tolist(), strict=True))}
        for p, row in zip(run.suite.probes, run.answers.values[:, 0], strict=True)
    ]


def write(path: Path, rows: Rows, encoding: str = "utf-8", newline: str = "\n") -> Path:
    if path.suffix == ".jsonl":
        text = "".join(json.dumps(r) + newline for r in rows)
    else:
        out = io.StringIO()
        writer = csv.DictWriter(
            out,
            list(rows[0]),
            delimiter="\t" if path.suffix == ".tsv" else ",",
            lineterminator=newline,
        )
        writer.writeheader()
        writer.writerows(rows)
        text = out.getvalue()
    path.write_bytes(text.encode(encoding))
    return path


def scores(run: Run) -> dict[str, tuple[float, float, float, int]]:
    return {e.measure: (e.value, e.low, e.high, e.probes) for e in run.estimates}


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.jsonl"])
@pytest.mark.parametrize(
    "form", [probabilities, labels, logits], ids=["probabilities", "labels", "logits"]
)
def test_the_same_scores_as_the_run(
    run: Run, tmp_path: Path, name: str, form: Callable[[Run], Rows]
) -> None:
    answers = read_predictions(write(tmp_path / name, form(run)), run.suite)
    again = judge(run.suite, answers, FEW)
    assert scores(again) == scores(run)
    assert 0 < again.estimates[0].value < 1
    assert answers.coverage == 1
    assert answers.unanswered == {}
    assert answers.respondent == f"file:{name}"


def test_logits_come_back_raw_and_probabilities_as_their_logarithm(
    run: Run, tmp_path: Path
) -> None:
    answers = read_predictions(write(tmp_path / "p.jsonl", logits(run)), run.suite)
    np.testing.assert_array_equal(answers.values, run.answers.values)
    assert answers.scale == "logits"
    answers = read_predictions(write(tmp_path / "p.csv", probabilities(run)), run.suite)
    np.testing.assert_allclose(np.exp(answers.values[:, 0]), shares(run))
    assert answers.scale == "log-probabilities"


@pytest.mark.parametrize(
    ("encoding", "newline"),
    [("utf-8-sig", "\n"), ("utf-8", "\r\n"), ("utf-8-sig", "\r\n"), ("utf-8", "\r")],
)
@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_byte_order_marks_and_any_line_ending_are_accepted(
    run: Run, tmp_path: Path, name: str, encoding: str, newline: str
) -> None:
    path = write(tmp_path / name, probabilities(run), encoding, newline)
    values = read_predictions(path, run.suite).values[:, 0]
    np.testing.assert_allclose(np.exp(values), shares(run))


def test_order_of_rows_and_columns_and_further_columns_do_not_matter(
    run: Run, tmp_path: Path
) -> None:
    rows: Rows = [{"note": "x", **dict(reversed(r.items()))} for r in reversed(probabilities(run))]
    answers = read_predictions(write(tmp_path / "p.csv", rows), run.suite)
    np.testing.assert_allclose(np.exp(answers.values[:, 0]), shares(run))


def test_labels_in_other_spellings_and_columns(run: Run, tmp_path: Path) -> None:
    rows: Rows = [
        {**r, "prediction": str(r["prediction"]).upper()} for r in labels(run, "prediction")
    ]
    answers = read_predictions(write(tmp_path / "p.csv", rows), run.suite)
    best = run.answers.values.argmax(axis=2)
    np.testing.assert_array_equal(answers.values.argmax(axis=2), best)


def test_probabilities_rounded_to_three_decimals_are_accepted_and_zero_is_an_answer(
    run: Run, tmp_path: Path
) -> None:
    rows = probabilities(run)
    rows[0].update(entailment=0.333, neutral=0.333, contradiction=0.333)
    rows[1].update(entailment=0, neutral=1, contradiction=0)
    answers = read_predictions(write(tmp_path / "p.csv", rows), run.suite)
    assert answers.coverage == 1
    assert answers.values[1].argmax() == 1


def test_missing_ids_lower_the_coverage_and_are_counted(run: Run, tmp_path: Path) -> None:
    answers = read_predictions(write(tmp_path / "p.csv", probabilities(run)[9:]), run.suite)
    assert answers.coverage == pytest.approx(81 / 90)
    assert answers.unanswered == {"no row in the predictions file": 9}
    assert np.isnan(answers.values[:9]).all()
    assert all(e.coverage < 1 for e in judge(run.suite, answers, FEW).estimates)


def refusal(path: Path, run: Run) -> str:
    with pytest.raises(InputError) as refused:
        read_predictions(path, run.suite)
    assert "\n" not in str(refused.value)
    return str(refused.value).removeprefix(str(path))


BAD: list[tuple[dict[str, object], str]] = [
    (
        {"neutral": 0.9, "entailment": 0.9, "contradiction": 0.1},
        ", row 4: probabilities 0.9, 0.9, 0.1 do not sum to one (sum 1.9)",
    ),
    (
        {"neutral": 1.5, "entailment": -0.5, "contradiction": 0},
        ", row 4: probabilities -0.5, 1.5, 0 do not sum to one",
    ),
    ({"neutral": "high"}, ", row 4: entailment, neutral, contradiction should be numbers"),
    ({"neutral": "nan"}, "not finite"),
    (
        {"id": "en/nobody"},
        ", row 4: the id 'en/nobody' is not in occupation-nli (its ids look like 'en/",
    ),
]


@pytest.mark.parametrize(("change", "reason"), BAD)
def test_a_bad_row_is_named(
    run: Run, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    rows = probabilities(run)
    rows[2].update(change)
    assert reason in refusal(write(tmp_path / "p.csv", rows), run)


def test_a_repeated_id_names_both_rows(run: Run, tmp_path: Path) -> None:
    rows = probabilities(run)
    rows[5]["id"] = rows[1]["id"]
    assert (
        refusal(write(tmp_path / "p.csv", rows), run)
        == f", row 7: the id '{rows[1]['id']}' was already used in row 3"
    )
    assert ", row 6: the id" in refusal(write(tmp_path / "p.jsonl", rows), run)


@pytest.mark.parametrize("word", ["LABEL_0", "positive", "0", "not_entailment", ""])
def test_a_label_that_is_none_is_refused(run: Run, tmp_path: Path, word: str) -> None:
    rows = labels(run)
    rows[0]["label"] = word
    assert f", row 2: label {word!r} is none of entailment, neutral, contradiction" in refusal(
        write(tmp_path / "p.csv", rows), run
    )


def test_a_row_of_jsonl_that_lacks_a_field_is_named(run: Run, tmp_path: Path) -> None:
    rows = probabilities(run)
    del rows[3]["neutral"]
    assert ", row 4: the field 'neutral' is missing" in refusal(
        write(tmp_path / "p.jsonl", rows), run
    )


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"id,label\n", "has a head but no rows"),
        (b"name,label\nx,entailment\n", "has the columns name, label; a column 'id' is needed"),
        (b"id,score\nx,1\n", "needed are entailment, neutral, contradiction (probabilities)"),
        (b"id,label\nx,entailment\n\xe9\xe8,neutral\n", ", row 3: byte 0xe9 is not UTF-8"),
        (b"id,label\nx\n", ", row 2: has 2 columns in its head"),
    ],
)
def test_files_that_are_no_predictions(run: Run, tmp_path: Path, raw: bytes, reason: str) -> None:
    (tmp_path / "p.csv").write_bytes(raw)
    assert reason in refusal(tmp_path / "p.csv", run)
