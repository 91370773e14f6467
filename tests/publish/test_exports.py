"""Exports are valid by the schema or library of their owner, and have the numbers of the run."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from published_runs import run_of

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.plain import to_json
from evenhand.core.run import Run
from evenhand.core.suite import write_suite
from evenhand.engine.suites import load_suite
from evenhand.publish.croissant import croissant_fields
from evenhand.publish.every_eval_ever import Record, is_lower_better, record_fields
from evenhand.publish.hub import yaml_text
from evenhand.publish.hub_results import result_entries

RECORD = Record(created=1763430000.25, name="org/mine", organization="Lab")
RUNS = (
    ("stereotyped", "occupation-nli", 120),
    ("random", "gendered-entailment", 60),
    ("stereotyped", "contextualised", 40),
    ("stereotyped", "profession", 60),
)


@pytest.fixture(scope="session")
def schemas(data: Path) -> Path:
    """The schemas of others, which lie with the real data."""
    folder = data / "schemas"
    if not folder.is_dir():
        pytest.skip("the schemas are not in the folder schemas of the real data")
    return folder


def read_again(fields: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_json(fields))
    return found


@pytest.mark.parametrize(("model", "suite", "limit"), RUNS)
def test_every_eval_ever_takes_the_record(
    schemas: Path, model: str, suite: str, limit: int
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    path = schemas / "every_eval_ever" / "every_eval_ever" / "schemas" / "eval.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    run = run_of(model, suite, limit)
    record = read_again(record_fields(run, RECORD))
    assert schema["version"] == record["schema_version"]
    jsonschema.Draft7Validator(schema).validate(record)
    assert_record(run, record)


def assert_record(run: Run, record: dict[str, Any]) -> None:
    assert record["evaluation_id"] == f"{run.suite.card.name}/org/mine/1763430000.25"
    assert record["eval_library"]["version"] == __version__
    assert record["model_info"]["id"] == "org/mine"
    assert record["model_info"]["additional_details"]["identity"] == run.answers.respondent
    known = [e for e in run.estimates if math.isfinite(e.value)]
    rows = record["evaluation_results"]
    assert [r["metric_config"]["metric_id"] for r in rows] == [
        f"evenhand.{e.measure}" for e in known
    ]
    for row, e in zip(rows, known, strict=True):
        assert row["score_details"]["score"] == e.value
        uncertainty = row["score_details"]["uncertainty"]
        assert uncertainty["num_samples"] == round(e.probes * e.coverage)
        if e.interval.has_bounds:
            interval = uncertainty["confidence_interval"]
            assert (interval["lower"], interval["upper"]) == (e.low, e.high)
            assert interval["confidence_level"] == e.level
            assert ("num_bootstrap_samples" in uncertainty) == e.has_variation
        assert row["metric_config"]["metric_parameters"]["best"] == catalog.measure(e.measure).fair


def test_which_way_is_better() -> None:
    wanted = {
        "nli_coal": True,  # 0 is fair, 1 the worst
        "same_label": False,  # 1 is fair
        "stereotype_preference": True,  # one half is fair, 1 the worst
        "accuracy": False,
        "pb_bias": True,  # 0 is fair, without an end
        "ss_esp_discrete": False,  # one half is fair, 0 the worst
    }
    assert {name: is_lower_better(name) for name in wanted} == wanted


def test_what_has_no_value_is_left_out_with_its_reason() -> None:
    with pytest.raises(EvenhandError, match="no number that could be published"):
        record_fields(run_of("silent"), RECORD)
    with pytest.raises(EvenhandError, match="'friend' is not a relationship; use first_party"):
        Record(created=0, relationship="friend")


def test_the_hub_reads_its_eval_results() -> None:
    hub = pytest.importorskip("huggingface_hub")
    run = run_of("stereotyped")
    text = yaml_text(result_entries(run, "org/benchmark", date="2026-11-18"))
    entries = hub.parse_eval_result_entries(yaml.safe_load(text))
    known = [e for e in run.estimates if math.isfinite(e.value)]
    assert [(e.task_id, e.value) for e in entries] == [(e.measure, e.value) for e in known]
    assert {(e.dataset_id, e.date) for e in entries} == {("org/benchmark", "2026-11-18")}
    notes = entries[0].notes
    assert f"[{run.headline.low:.3f}, {run.headline.high:.3f}] about new items" in notes
    assert notes.endswith(run.headline.signature)
    (one,) = result_entries(run, "org/benchmark", measures=["nli_coal"], task="gender")
    assert one["dataset"] == {"id": "org/benchmark", "task_id": "gender"}


def test_eval_results_have_the_keys_of_the_specification(schemas: Path) -> None:
    pytest.importorskip("huggingface_hub")
    text = (schemas / "hf_eval_results" / "eval_results.yaml").read_text(encoding="utf-8")
    for entry in result_entries(run_of("stereotyped"), "org/benchmark", date="2026-11-18"):
        assert {"dataset", "value"} <= set(entry)
        assert all(f"  {key}:" in text or f"- {key}:" in text for key in entry)


@pytest.mark.parametrize("dataset", ["benchmark", "a/b/c", "org/bad name", ""])
def test_a_dataset_that_the_hub_cannot_have_is_refused(dataset: str) -> None:
    pytest.importorskip("huggingface_hub")
    with pytest.raises(EvenhandError, match="give owner/name"):
        result_entries(run_of("stereotyped"), dataset)


def test_a_task_has_one_measure_that_the_run_has() -> None:
    pytest.importorskip("huggingface_hub")
    run = run_of("stereotyped")
    with pytest.raises(EvenhandError, match="choose one with --measure"):
        result_entries(run, "org/benchmark", task="gender")
    with pytest.raises(EvenhandError, match="no value of 'accuracy'; it has values of nli_coal"):
        result_entries(run, "org/benchmark", measures=["accuracy"])


@pytest.mark.parametrize("name", ["occupation-nli", "contextualised"])
def test_croissant_loads_the_probes(tmp_path: Path, name: str) -> None:
    croissant = pytest.importorskip("mlcroissant")
    suite = load_suite(name, limit=20)
    write_suite(suite, tmp_path / "probes.jsonl")
    path = tmp_path / "probes.croissant.json"
    path.write_text(to_json(croissant_fields(suite, "probes.jsonl")), encoding="utf-8")
    dataset = croissant.Dataset(jsonld=path)
    assert list(dataset.metadata.issues.errors) == []
    assert dataset.metadata.name == suite.card.name
    assert str(dataset.metadata.version) == "1.0.0"
    rows = list(dataset.records("probes"))
    assert len(rows) == 20
    for row, probe in zip(rows, suite.probes, strict=True):
        assert row["probes/id"].decode() == probe.id
        assert row["probes/stratum"].decode() == probe.stratum
        assert [text.decode() for text in row["probes/texts"]] == list(probe.texts)
        tags = {k.split("/")[2]: v for k, v in row.items() if k.startswith("probes/tags/")}
        assert {k: v.decode() for k, v in tags.items() if v is not None} == probe.tags
