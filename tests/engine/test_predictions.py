"""Predictions made elsewhere score like the run they came from; a bad file names its row."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from document_text import document_text
from models import write_model
from quick import FEW, Opening, load, quick_audit, quick_compare

from evenhand.core import catalog
from evenhand.core.answer_files import read_answers, suite_of, write_answers
from evenhand.core.document import Exhibit
from evenhand.core.errors import InputError, LabelError
from evenhand.core.estimate import ExactInterval
from evenhand.core.probe import NLI_LABELS, Floats
from evenhand.core.protocols import SuiteOptions
from evenhand.core.run import Run
from evenhand.engine.audit import judge
from evenhand.engine.audit_document import audit_document
from evenhand.engine.compare_document import comparison_document
from evenhand.engine.predictions import read_predictions
from evenhand.engine.results import run_fields
from evenhand.engine.suites import load_suite

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


def test_a_stored_file_has_the_intervals_of_the_file(run: Run, tmp_path: Path) -> None:
    """Scored again, it had lost the crossed factors and that the suite was cut."""
    answers = read_predictions(write(tmp_path / "p.csv", probabilities(run)), run.suite)
    card = run.suite.card
    assert (answers.factors, answers.within) == (card.factors, card.within)
    assert card.factors == ("occupation", "template")
    assert answers.whole == run.suite.whole == len(load_suite("occupation-nli").probes)
    write_answers(answers, tmp_path / "answers.parquet")
    stored = read_answers(tmp_path / "answers.parquet")
    first, again = judge(run.suite, answers, FEW), judge(suite_of(stored), stored, FEW)
    assert [(e.signature, e.targets, e.levels) for e in again.estimates] == [
        (e.signature, e.targets, e.levels) for e in first.estimates
    ]
    assert "/occupation x template|" in again.estimates[0].signature
    assert not isinstance(again.estimates[0].targets["this set"], ExactInterval)


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


@pytest.mark.parametrize("word", ["positive", "not_entailment", ""])
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
        (  # the right label may stand beside the predicted one
            b"id,label,prediction\nx,neutral,entailment\n",
            "has the columns label and prediction; keep the one that holds the model's labels",
        ),
    ],
)
def test_files_that_are_no_predictions(run: Run, tmp_path: Path, raw: bytes, reason: str) -> None:
    (tmp_path / "p.csv").write_bytes(raw)
    assert reason in refusal(tmp_path / "p.csv", run)


ORDER = {"contradiction": 0, "entailment": 1, "neutral": 2}


def numbered(run: Run, form: Callable[[int], object]) -> Rows:
    """The labels as the numbers of ORDER."""
    return [{**r, "label": form(ORDER[str(r["label"])])} for r in labels(run)]


@pytest.mark.parametrize("form", [int, str, float, "LABEL_{}".format])
@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_labels_as_numbers_by_a_label_map(
    run: Run, tmp_path: Path, name: str, form: Callable[[int], object]
) -> None:
    path = write(tmp_path / name, numbered(run, form))
    answers = read_predictions(path, run.suite, ORDER)
    np.testing.assert_array_equal(answers.values.argmax(axis=2), run.answers.values.argmax(axis=2))
    assert answers.traits["labels"] == "e1n2c0/user"
    shown = "--label-map entailment=0,neutral=1,contradiction=2"
    assert f"is a number; say what the numbers mean with {shown}" in refusal(path, run)


def test_a_label_map_must_be_whole_and_of_use(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", numbered(run, int))
    with pytest.raises(LabelError, match="is not a permutation"):
        read_predictions(path, run.suite, {"entailment": 0, "neutral": 1})
    for form in (labels, probabilities):
        words = write(tmp_path / "words.csv", form(run))
        with pytest.raises(InputError, match="has no labels that are numbers; leave --label-map"):
            read_predictions(words, run.suite, ORDER)
    rows = numbered(run, int)
    rows[1]["label"] = 3
    with pytest.raises(InputError, match=r"row 3: label '3' is not in the label map"):
        read_predictions(write(tmp_path / "p.csv", rows), run.suite, ORDER)


def test_probabilities_of_two_decimals_are_normalised_and_said(run: Run, tmp_path: Path) -> None:
    rows = probabilities(run)
    rows[0].update(entailment=0.33, neutral=0.33, contradiction=0.33)
    rows[1].update(entailment=0.34, neutral=0.34, contradiction=0.33)
    rows[2].update(entailment=0.00, neutral=1.00, contradiction=0.00)
    path = write(tmp_path / "p.csv", rows)
    answers = read_predictions(path, run.suite)
    np.testing.assert_allclose(np.exp(answers.values[:, 0]).sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(answers.values[1, 0]), [34 / 101, 34 / 101, 33 / 101])
    assert answers.remarks == (
        "The probabilities of 2 of 90 rows do not sum to exactly 1, as after rounding; they were "
        "divided by their sum.",
        "In 1 of 90 rows two probabilities are 0; a measure that compares the two takes them as "
        "equal.",
    )
    again = judge(run.suite, answers, FEW)
    assert answers.remarks[0] in document_text(audit_document(again))
    assert read_predictions(write(tmp_path / "q.csv", probabilities(run)), run.suite).remarks == ()
    for sums in ((0.33, 0.33, 0.32), (0.34, 0.34, 0.34)):
        rows[3].update(zip(NLI_LABELS, sums, strict=True))
        assert ", row 5: probabilities 0.3" in refusal(write(path, rows), run)


def by_texts(rows: Rows, run: Run, names: tuple[str, str] = ("premise", "hypothesis")) -> Rows:
    """The rows with the texts of their probes instead of ids."""
    texts = {p.id: p.texts for p in run.suite.probes}
    return [
        {**dict(zip(names, texts[str(r["id"])], strict=True)), **{k: r[k] for k in r if k != "id"}}
        for r in rows
    ]


@pytest.mark.parametrize("names", [("premise", "hypothesis"), ("sentence1", "sentence2")])
def test_texts_instead_of_ids(run: Run, tmp_path: Path, names: tuple[str, str]) -> None:
    rows = by_texts(probabilities(run), run, names)
    rows[0][names[0]] = f"  {rows[0][names[0]]} ".replace(" ", "  ")  # white space is no difference
    answers = read_predictions(write(tmp_path / "p.csv", rows[::-1]), run.suite)
    np.testing.assert_allclose(np.exp(answers.values[:, 0]), shares(run))
    assert scores(judge(run.suite, answers, FEW)) == scores(run)


def test_texts_that_fit_no_probe_several_or_one_twice_are_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    rows = by_texts(probabilities(run), run)
    for row in (1, 4):
        rows[row]["premise"] = "Nobody asked this."
    text = refusal(write(path, rows), run)
    assert text.startswith(", row 3: premise 'Nobody asked this.', hypothesis '")
    assert "is not in occupation-nli (its texts look like premise '" in text
    assert text.endswith("; the same holds for 1 other row: 6")
    rows = by_texts(probabilities(run), run)
    rows[5] = dict(rows[2])
    assert refusal(write(path, rows), run).endswith("was already used in row 4")
    assert "a column 'id' is needed, or premise and hypothesis with the texts" in refusal(
        write(path, [{"premise": "x", "label": "neutral"}]), run
    )


def test_texts_of_several_probes_need_an_id_or_the_stratum(data: Path, tmp_path: Path) -> None:
    suite = load_suite("crows-pairs", "en", SuiteOptions(data=data), limit=60)
    texts = [
        dict(zip(("text_stereotypical", "text_anti-stereotypical"), p.texts[1:], strict=True))
        for p in suite.probes
    ]
    rows: Rows = [{**t, "stereotypical": -9.5, "anti-stereotypical": -9.0} for t in texts]
    with pytest.raises(InputError, match=r"row 2: text_stereotypical .* fits 5 probes of crows"):
        read_predictions(write(tmp_path / "p.csv", rows), suite)
    for row, probe in zip(rows, suite.probes, strict=True):
        row["stratum"] = probe.stratum
    answers = read_predictions(write(tmp_path / "p.csv", rows), suite)
    assert answers.coverage == 1
    assert judge(suite, answers, FEW).estimates[0].value == 0


def test_blanks_by_their_sentence(tmp_path: Path) -> None:
    suite = load("contextualised")
    rows: Rows = [{"sentence": p.texts[0], "pb": i / 10} for i, p in enumerate(suite.probes)]
    answers = read_predictions(write(tmp_path / "p.csv", rows), suite)
    np.testing.assert_allclose(answers.values[:, 0, 0], np.arange(len(rows)) / 10)
    with pytest.raises(InputError, match="a column 'id' is needed, or sentence, or text_male"):
        read_predictions(write(tmp_path / "p.csv", [{"pb": 1.0}]), suite)


@pytest.fixture
def gendered(tmp_path: Path) -> tuple[Run, Path]:
    """A run on gendered entailment, and a file with its labels alone."""
    run = quick_audit("fixed:random", load("gendered-entailment", limit=200))
    return run, write(tmp_path / "labels.csv", labels(run))


NEEDS_NUMBERS = {"entailment_gap", "same_label", "stereotype_preference", "signed_gap"}
REASON = "it reads probabilities or scores, and only labels were given"


def test_labels_alone_have_no_probabilities(gendered: tuple[Run, Path], tmp_path: Path) -> None:
    run, path = gendered
    answers = read_predictions(path, run.suite)
    assert answers.is_labels_only
    assert (answers.scale, answers.traits["given"]) == ("labels", "labels only")
    assert set(np.unique(answers.values)) == {0.0, 1.0}
    write_answers(answers, tmp_path / "answers.parquet")
    stored = read_answers(tmp_path / "answers.parquet")
    assert stored.is_labels_only
    assert stored.remarks == answers.remarks
    for given in (answers, stored):
        again = judge(run.suite, given, FEW)
        for estimate in again.estimates:
            if catalog.measure(estimate.measure).needs_numbers:
                assert math.isnan(estimate.value), estimate.measure
                assert estimate.note == REASON
                assert "given:labels only" in estimate.signature
            else:
                whole = run.estimate(estimate.measure)
                assert whole is not None
                assert estimate.value == whole.value
        assert {e.measure for e in again.estimates if math.isnan(e.value)} >= NEEDS_NUMBERS
        assert not math.isnan(
            next(e.value for e in again.estimates if e.measure == "neutral_share")
        )
        assert all(
            math.isnan(group.interval.value)
            for view in again.breakdowns
            if view.measure in NEEDS_NUMBERS
            for group in view.groups
        )
        assert again.relations == ()


def test_the_report_of_labels_alone_says_why(gendered: tuple[Run, Path]) -> None:
    run, path = gendered
    again = judge(run.suite, read_predictions(path, run.suite), FEW)
    document = audit_document(again)
    text = document_text(document)
    assert f"dP, entailment gap: {REASON}." in text
    assert "Only labels were given: what reads probabilities cannot be computed from them." in text
    fields = run_fields(again, document)
    gap = next(e for e in fields["estimates"] if e["measure"] == "entailment_gap")
    assert (gap["value"], gap["note"]) == (None, REASON)
    view = next(b for b in fields["breakdowns"] if b["measure"] == "entailment_gap")
    assert {(g["value"], g["note"]) for g in view["groups"]} == {(None, REASON)}
    assert fields["model"]["scale"] == "labels"
    assert len(fields["model"]["remarks"]) == 1


def test_no_exhibit_prints_a_probability_of_labels_alone(run: Run, tmp_path: Path) -> None:
    answers = read_predictions(write(tmp_path / "p.csv", labels(run)), run.suite)
    document = audit_document(judge(run.suite, answers, FEW))
    (exhibit,) = (b for s in document.sections for b in s.blocks if isinstance(b, Exhibit))
    assert exhibit.title == "Biased answers"
    for specimen in exhibit.specimens:
        assert specimen.summary in ("entailment", "neutral", "contradiction")
        assert [answer.share for answer in specimen.answers] == [None]
    whole = audit_document(run)
    (probable,) = (b for s in whole.sections for b in s.blocks if isinstance(b, Exhibit))
    assert probable.specimens[0].summary.startswith("entailment 0.")


def test_a_comparison_with_labels_alone_has_no_difference_of_probabilities(
    gendered: tuple[Run, Path],
) -> None:
    run, path = gendered
    answers = read_predictions(path, run.suite)
    (comparison,) = quick_compare([run.answers, answers])
    by_measure = {d.measure: d for d in comparison.differences}
    assert math.isnan(by_measure["entailment_gap"].difference.value)
    assert by_measure["entailment_gap"].note == f"file:labels.csv: {REASON}"
    assert by_measure["neutral_share"].difference.value == 0
    assert "file:labels.csv: Only labels were given" in document_text(
        comparison_document([comparison])
    )
