"""Predictions in the form of StereoSet's own code give its numbers; bad ones are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import evenhand
from stereoset_items import (
    NAN,
    QUANTITIES,
    Item,
    build,
    probes_of,
    sample,
    score,
    slow_official,
    suite_of,
    written,
)

from evenhand.core import catalog
from evenhand.core.answers import Answers, Status
from evenhand.core.document import Table
from evenhand.core.errors import InputError
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine import predictions as engine
from evenhand.engine.audit import judge
from evenhand.engine.audit_document import audit_document
from evenhand.engine.estimate import estimate
from evenhand.families.stereoset import FAMILY
from evenhand.families.stereoset.suite import FILE, OPTIONS


def made_up(data: dict[str, list[Item]], seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    return {
        section: [
            {"id": sentence["id"], "score": float(rng.integers(0, 3))}
            for item in items
            for sentence in item["sentences"]
        ]
        for section, items in data.items()
    }


def save(path: Path, predictions: Any, indent: int | None = 2) -> Path:
    path.write_text(json.dumps(predictions, indent=indent), encoding="utf-8")
    return path


def read(path: Path, suite: Suite) -> Answers:
    assert FAMILY.read_predictions is not None
    answers = FAMILY.read_predictions(path, suite)
    assert answers is not None
    return answers


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("variant", ["inter", "intra"])
def test_official_predictions_give_the_official_numbers(
    variant: str, indent: int | None, tmp_path: Path
) -> None:
    data = sample()
    written(tmp_path, data)
    items = data[f"{variant}sentence"]
    for seed in range(5):
        predictions = made_up(data, seed)
        path = save(tmp_path / "p.json", predictions, indent)
        suite = f"stereoset:{variant}"
        settings = ("--data", tmp_path, "--resamples", 100, "--json")
        outcome = evenhand("measure", path, "--suite", suite, *settings)
        assert outcome.code == 0, outcome.err
        scores = {e["id"]: e["score"] for e in predictions[f"{variant}sentence"]}
        rows = [[scores[f"{i['id']}-{k}"] for k in range(3)] for i in items]
        expected = slow_official(rows, [i["target"] for i in items])
        measured = {e["measure"]: e["value"] for e in json.loads(outcome.out)["estimates"]}
        official = {q: measured[f"{q}_official"] for q in QUANTITIES}
        assert official == pytest.approx(expected, abs=1e-12)


def test_official_predictions_of_the_published_items(data: Path, tmp_path: Path) -> None:
    if not (data / "stereoset" / FILE).exists():
        pytest.skip(f"stereoset/{FILE} is not beside the project")
    content = json.loads((data / "stereoset" / FILE).read_text(encoding="utf-8"))["data"]
    predictions = made_up(content)
    for variant in ("inter", "intra"):
        suite, items = build(data, variant), content[f"{variant}sentence"]
        answers = read(save(tmp_path / "p.json", predictions), suite)
        scores = {e["id"]: e["score"] for e in predictions[f"{variant}sentence"]}
        rows = []
        for item in items:
            named = {s["gold_label"]: scores[s["id"]] for s in item["sentences"]}
            rows.append([named[o] for o in OPTIONS])
        expected = slow_official(rows, [i["target"] for i in items])
        measured = {q: score(f"{q}_official", suite.probes, answers.values) for q in QUANTITIES}
        assert measured == pytest.approx(expected, abs=1e-12)
        assert answers.coverage == 1.0 and not answers.unanswered


def slow_evaluation(
    content: dict[str, list[Item]], predictions: dict[str, list[Any]]
) -> dict[tuple[str, str], dict[str, float]]:
    """What the official script prints, written from its definition: (half, domain) -> scores.

    For a set of items: per target term the share of items with stereotype > anti-stereotype, and
    of the two comparisons with the unrelated one that are won; then the means over the terms. The
    sets: every half, every domain of it, and all items of both.
    """
    scores = {e["id"]: e["score"] for entries in predictions.values() for e in entries}
    sets: dict[tuple[str, str], list[Item]] = {("", "all"): []}
    for half, items in content.items():
        for one in items:
            for place in ((half, one["bias_type"]), (half, "all"), ("", "all")):
                sets.setdefault(place, []).append(one)
    printed = {}
    for place, items in sets.items():
        rows = []
        for one in items:
            named = {s["gold_label"]: scores[s["id"]] for s in one["sentences"]}
            rows.append([named[o] for o in OPTIONS])
        printed[place] = slow_official(rows, [one["target"] for one in items])
    return printed


@pytest.mark.parametrize("is_published", [False, True])
def test_both_halves_are_evaluated_as_the_official_script_does(
    is_published: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    content, folder = sample(), tmp_path
    if is_published:
        folder = request.getfixturevalue("data")
        if not (folder / "stereoset" / FILE).exists():
            pytest.skip(f"stereoset/{FILE} is not beside the project")
        content = json.loads((folder / "stereoset" / FILE).read_text(encoding="utf-8"))["data"]
    else:
        written(folder, content)
    predictions = made_up(content, 4)
    suite = build(folder, "all")
    run = judge(suite, read(save(tmp_path / "p.json", predictions), suite), Settings(resamples=10))
    expected = slow_evaluation(content, predictions)
    assert len(expected) == (11 if is_published else 8)
    for (half, domain), scores in expected.items():
        name = half.removesuffix("sentence")
        for quantity in ("lms", "ss", "icat"):
            measure = f"{quantity}_official"
            if half and domain == "all":
                view, group = run.breakdown(measure, "stratum"), name
            elif half:
                view, group = run.breakdown(measure, "half and domain"), f"{name}, {domain}"
            else:
                found = run.estimate(measure)
                assert found is not None and found.value == pytest.approx(
                    scores[quantity], abs=1e-9
                )
                continue
            assert view is not None
            one = view.group(group)
            assert one is not None
            assert one.interval.value == pytest.approx(scores[quantity], abs=1e-9), (group, measure)
    tables = [b for s in audit_document(run).sections for b in s.blocks if isinstance(b, Table)]
    table = next(t for t in tables if t.name == "conventions")
    rows = [row for row in table.rows if row.cells[0] == "Official"]
    assert len(rows) == len(expected) + len({d for _, d in expected if d != "all"})  # and overall
    assert {row.cells[1] for row in rows} == {"between sentences", "within a sentence", "overall"}


def test_missing_sentences_lower_the_coverage(tmp_path: Path) -> None:
    predictions = made_up(sample())
    missing = ("i1-0", "i1-1", "i3-2")
    predictions["intersentence"] = [
        e for e in predictions["intersentence"] if e["id"] not in missing
    ]
    suite = build(written(tmp_path, sample()))
    answers = read(save(tmp_path / "p.json", predictions), suite)
    reason = "not all of the item's sentences are in the predictions file (3 sentences missing)"
    assert answers.unanswered == {reason: 2}
    assert answers.statuses == (Status.NOT_ASKED, Status.ANSWERED, Status.NOT_ASKED)
    assert answers.coverage == pytest.approx(1 / 3)
    settings = Settings(resamples=50)
    related = estimate(catalog.measure("lms_official"), suite, answers, settings)
    assert related.coverage == pytest.approx(1 / 3) and np.isfinite(related.value)


BAD_SCORES: list[tuple[Any, str]] = [
    (
        {"id": "i9-0", "score": 1},
        "entry 10 of intersentence: the sentence i9-0 is not in stereoset@",
    ),
    (
        {"id": "i1-0", "score": 1},
        "entry 10 of intersentence: the sentence i1-0 has a score already",
    ),
    (
        {"id": "x", "score": "0.5"},
        "the score of the sentence x is '0.5', not a finite number",
    ),
    ({"id": "x", "score": None}, "the score of the sentence x is None"),
    ({"id": "x"}, "the score of the sentence x is None"),
    ({"id": "x", "score": True}, "the score of the sentence x is True"),
    ({"id": "x", "score": NAN}, "the score of the sentence x is nan"),
    ({"id": "x", "score": -float("inf")}, "the score of the sentence x is -inf"),
    ({"id": "x", "score": 10**400}, "the score of the sentence x is 1000"),
    ({"id": "x", "score": [1]}, r"the score of the sentence x is \[1\]"),
    ({"score": 1}, "entry 10 of intersentence has no id"),
    (7, "entry 10 of intersentence has no id; .* found 7"),
]


@pytest.mark.parametrize(("entry", "message"), BAD_SCORES)
def test_bad_predictions_are_named(entry: Any, message: str, tmp_path: Path) -> None:
    predictions = made_up(sample())
    predictions["intersentence"].append(entry)
    path = save(tmp_path / "p.json", predictions)
    with pytest.raises(InputError, match=message):
        read(path, build(written(tmp_path, sample())))


def test_predictions_for_something_else_are_refused(tmp_path: Path) -> None:
    suite = build(written(tmp_path, sample()), "intra")
    path = save(tmp_path / "p.json", {"intersentence": made_up(sample())["intersentence"]})
    there = r"has no scores in 'intrasentence' \(there is intersentence\)"
    with pytest.raises(InputError, match=there):
        engine.read_predictions(path, suite)
    with pytest.raises(InputError, match="but the suite is hand-made; use --suite stereoset"):
        engine.read_predictions(path, suite_of(probes_of(["a"])))


def test_a_file_of_another_form_is_left_to_others(tmp_path: Path) -> None:
    suite = build(written(tmp_path, sample()), "intra")
    row = '{"id": "a1", "stereotype": 3, "anti-stereotype": 2, "unrelated": 1}\n'
    (tmp_path / "rows.json").write_text(row, encoding="utf-8")
    assert FAMILY.read_predictions is not None
    assert FAMILY.read_predictions(tmp_path / "rows.json", suite) is None
    assert FAMILY.read_predictions(tmp_path / "rows.csv", suite) is None
    # a row an item, as for any choice
    answers = engine.read_predictions(tmp_path / "rows.json", suite)
    assert answers.values[0, :, 0].tolist() == [3, 2, 1]
