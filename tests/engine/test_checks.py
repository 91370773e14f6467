"""Whether a model understands is judged by plain pairs, or by a file of the user's."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from models import Counting
from quick import FEW, load, quick_audit
from runs import TwoLabels

from evenhand import audit
from evenhand.core import account
from evenhand.core.document import Table
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI_LABELS, NOT_ENTAILMENT
from evenhand.core.run import Run
from evenhand.core.suite import Suite
from evenhand.engine.ask import Asking
from evenhand.engine.audit_document import audit_document
from evenhand.engine.checks import load_dev
from evenhand.engine.compare import ComparisonOptions, compare
from evenhand.engine.compare_document import comparison_document, comparison_fields
from evenhand.engine.opened import Model
from evenhand.engine.results import run_fields
from evenhand.engine.suites import load_suite

GOLD = (ENTAILMENT, ENTAILMENT, NEUTRAL, CONTRADICTION, ENTAILMENT, NEUTRAL, ENTAILMENT, "-")


def write_dev(path: Path, gold: Sequence[str] = GOLD) -> Path:
    """A file of pairs, two for each premise, with these labels."""
    rows = [
        {"sentence1": f"Premise {i // 2}.", "sentence2": f"Hypothesis {i}.", "gold_label": label}
        for i, label in enumerate(gold)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def knows_plain(pairs: list[tuple[str, str]]) -> list[list[float]]:
    """The right label of every plain pair; entailment for any other pair."""
    probes = load_suite("ordinary-nli:plain").probes
    gold = {(p.texts[0], p.texts[1]): NLI_LABELS.index(p.tags["gold"]) for p in probes}
    return [list(np.eye(3)[gold.get(pair, 0)]) for pair in pairs]


def with_dev(model: Model, dev: Path | Suite, *, cache: bool | Path = False) -> Run:
    return audit(model, load(), settings=FEW, asking=Asking(cache=cache), dev=dev)


def test_plain_pairs_judge_and_hard_ones_do_not() -> None:
    run = quick_audit(knows_plain)
    plain, hard = run.sanity
    assert (plain.items, plain.value, plain.probes) == ("plain pairs", 1.0, 156)
    assert hard.value == pytest.approx(1 / 3) and (hard.items, hard.probes) == ("hard pairs", 174)
    assert math.isnan(hard.weak_below) and not hard.is_weak  # never judged by it
    assert not plain.is_weak and "weak" not in account.understanding(run)
    assert account.understanding(run).startswith(
        "It gives the right label on 100 % of 156 plain pairs, 1.000 ["
    )


def test_weak_is_more_than_a_third_of_the_errors_of_one_label_for_all() -> None:
    three = quick_audit("fixed:random").sanity[0]
    assert three.weak_below == pytest.approx(1 - (2 / 3) / 3) and three.is_weak
    two = quick_audit(TwoLabels(), load(), settings=FEW).sanity[0]
    assert two.weak_below == pytest.approx(1 - (1 / 3) / 3)  # `not` alone is right on two thirds
    assert "Below 0.778 that is weak, and a weak model looks biased" in account.understanding(
        quick_audit("fixed:random")
    )


def test_a_file_comes_first_and_judges(tmp_path: Path) -> None:
    dev = write_dev(tmp_path / "my dev.jsonl")
    run = with_dev(knows_plain, dev)
    assert [c.items for c in run.sanity] == ["pairs of my dev.jsonl", "plain pairs", "hard pairs"]
    first = run.sanity[0]
    assert first.value == pytest.approx(4 / 7) and first.probes == 7  # `-` is left out
    assert first.clusters == 4  # premises
    assert first.low < first.value < first.high
    assert replace(first, value=math.nan).is_weak  # what is not known is not good
    # half of the errors of always entailment, which is the best label for all here
    assert first.weak_below == pytest.approx(1 - (3 / 7) / 2)
    assert first.is_weak
    assert "57 % of 7 pairs of my dev.jsonl" in account.understanding(run)
    digest = load_dev(dev, "en").digest
    assert f"|suite:my dev.jsonl@file#{digest}|lang:en|" in first.signature
    assert "/premise|" in first.signature


def test_the_file_is_in_the_report_and_in_the_results(tmp_path: Path) -> None:
    run = with_dev(knows_plain, write_dev(tmp_path / "dev.jsonl"))
    document = audit_document(run)
    fields = run_fields(run, document)["sanity"]
    assert [f["items"] for f in fields] == ["pairs of dev.jsonl", "plain pairs", "hard pairs"]
    assert fields[0]["value"] == pytest.approx(4 / 7) and fields[2]["weak_below"] is None
    blocks = next(s.blocks for s in document.sections if s.name == "scores")
    table = next(b for b in blocks if isinstance(b, Table))
    assert [row.cells[0] for row in table.rows][-3:] == [
        "Accuracy on pairs of dev.jsonl (does not count: rough interval)",
        "Accuracy on plain pairs",
        "Accuracy on hard pairs",
    ]


def test_the_pairs_of_a_file_are_asked_through_the_cache(tmp_path: Path) -> None:
    dev = write_dev(tmp_path / "dev.jsonl")
    first, second = Counting(), Counting()
    runs = [with_dev(model, dev, cache=tmp_path / "cache") for model in (first, second)]
    assert len(first.asked) == 60 + 7 + 156 + 174 and not second.asked
    assert runs[0].sanity[:2] == runs[1].sanity[:2]


def test_a_limit_draws_by_seed_and_is_in_the_signature(tmp_path: Path) -> None:
    dev = write_dev(tmp_path / "dev.jsonl", [ENTAILMENT, NEUTRAL, CONTRADICTION] * 40)
    cut, again, other = (load_dev(dev, "en", limit=30, seed=s) for s in (0, 0, 1))
    assert len(cut.probes) == 30 and cut.probes == again.probes != other.probes
    run = with_dev("fixed:fair", cut)
    assert (run.sanity[0].value, run.sanity[0].probes) == (1.0, 30)
    assert f"#{cut.digest}/30|" in run.sanity[0].signature


def test_two_labels_are_enough_for_a_model_and_for_a_file(tmp_path: Path) -> None:
    gold = [ENTAILMENT, NOT_ENTAILMENT, NOT_ENTAILMENT, "not-entailment"]
    dev = write_dev(tmp_path / "rte.jsonl", gold)
    always = with_dev(lambda pairs: [[0.0, 0.0, 1.0]] * len(pairs), dev)
    assert always.sanity[0].value == 0.75
    two = with_dev(TwoLabels(), write_dev(tmp_path / "dev.jsonl"))
    answers = Counter(p.tags["gold"] for p in load_dev(tmp_path / "dev.jsonl", "en").probes)
    assert two.answers.labels == (ENTAILMENT, NOT_ENTAILMENT) and math.isfinite(two.sanity[0].value)
    constant = max(answers[ENTAILMENT], answers[NEUTRAL] + answers[CONTRADICTION]) / 7
    assert two.sanity[0].weak_below == pytest.approx(1 - (1 - constant) / 2)


def test_a_bad_file_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    model = Counting()
    bad = write_dev(tmp_path / "bad.jsonl", [ENTAILMENT, "maybe"])
    for path, reason in (
        (bad, "row 2: label 'maybe' is none of entailment, neutral, contradiction"),
        (tmp_path / "none.jsonl", "there is no such file"),
    ):
        with pytest.raises(InputError, match=reason):
            with_dev(model, path)
    assert not model.asked


def test_a_model_that_answers_no_pairs_has_no_dev_accuracy(tmp_path: Path) -> None:
    dev = write_dev(tmp_path / "dev.jsonl")
    model = Counting()
    model.kinds = frozenset({"mask"})
    with pytest.raises(EvenhandError, match=r"--dev dev\.jsonl holds pairs: leave --dev out"):
        audit(model, load("contextualised"), settings=FEW, dev=dev)
    assert not model.asked


def test_every_model_of_a_comparison_has_its_accuracy(tmp_path: Path) -> None:
    packed = tmp_path / "dev.jsonl.gz"
    packed.write_bytes(gzip.compress(write_dev(tmp_path / "dev.jsonl").read_bytes()))
    options = ComparisonOptions(suites=(load(),), dev=packed)
    comparisons = compare(["fixed:fair", "fixed:constant"], options, FEW)
    fair, constant = comparisons[0].models
    assert fair.sanity[0].items == "pairs of dev.jsonl.gz"
    assert fair.sanity[0].value == 1.0 and constant.sanity[0].value == pytest.approx(4 / 7)
    models = comparison_fields(comparisons)["suites"][0]["models"]
    assert [m["sanity"][0]["value"] for m in models] == [1.0, pytest.approx(4 / 7)]
    text = str(comparison_document(comparisons))
    assert "Accuracy on pairs of dev.jsonl.gz 1.000 [" in text and "Accuracy on hard pairs" in text
