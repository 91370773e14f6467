"""Several runs as one LaTeX table: models by measures, with notes for what does not count."""

from __future__ import annotations

import dataclasses
import math
import re

import pytest
from published_runs import run_of

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.text import with_bounds
from evenhand.core.validity import reservation_texts
from evenhand.publish.models_table import models_document, table_fields
from evenhand.report.latex import escaped, to_latex


def test_a_row_for_each_model_and_a_column_for_each_measure() -> None:
    runs = [run_of("stereotyped"), run_of("fair"), run_of("random")]
    (table,) = table_fields(models_document(runs, ["nli_coal", "fraction_neutral"]))
    shorts = [catalog.measure(m).card.short for m in ("nli_coal", "fraction_neutral")]
    assert table["columns"] == ["model", *(f"{short} (0 is fair)" for short in shorts)]
    assert [row[0] for row in table["rows"]] == ["fixed:stereotyped", "fixed:fair", "fixed:random"]
    text = to_latex(models_document(runs, ["nli_coal", "fraction_neutral"]))
    for run in runs:
        estimate = run.estimate("nli_coal")
        assert estimate is not None and escaped(with_bounds(estimate.interval)) in text
    assert text.count(r"\begin{tabular}{lrr}") == 1
    assert "% signature measure:nli_coal|" in text


def test_a_number_that_does_not_count_has_a_note() -> None:
    runs = [run_of("fair"), run_of("random"), run_of("silent")]
    (table,) = table_fields(models_document(runs, ["nli_coal"]))
    cells = [row[1] for row in table["rows"]]
    assert re.fullmatch(r"n/a \(\d\)", cells[2])
    number = cells[2][-2]
    assert f"({number}) not computed: no answer in AS, NS, PS." in table["note"]
    weak = re.search(r"\((\d)\) the model gives the right label on 0\.\d+", table["note"])
    assert weak is not None and f"({weak[1]})" in cells[1]
    fair = cells[0] if isinstance(cells[0], str) else ""
    assert f"({weak[1]})" not in fair


def test_a_check_without_a_value_is_a_reservation() -> None:
    run = run_of("fair")
    unknown = dataclasses.replace(run.sanity[0], value=math.nan, note="no answer")
    run = dataclasses.replace(run, sanity=(unknown,))
    assert "whether the model understands is not known: no answer" in reservation_texts(
        run, run.headline
    )


def test_suites_that_differ_get_a_table_each() -> None:
    runs = [run_of("stereotyped"), run_of("stereotyped", "gendered-entailment", 60)]
    tables = table_fields(models_document(runs))
    assert [t["name"] for t in tables] == ["models-1", "models-2"]
    assert tables[0]["title"].startswith("1 model on occupation-nli 1.0, English, 120 probes")
    text = to_latex(models_document(runs))
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert labels == ["tab:evenhand-models-models-1", "tab:evenhand-models-models-2"]


def test_settings_that_differ_are_said() -> None:
    one, other = run_of("stereotyped"), run_of("fair")
    changed = dataclasses.replace(other, settings=dataclasses.replace(other.settings, seed=7))
    (table,) = table_fields(models_document([one, changed], ["nli_coal"]))
    assert "The runs differ in seed." in table["note"]


def test_the_same_run_twice_and_a_measure_that_none_has_are_refused() -> None:
    run = run_of("stereotyped")
    with pytest.raises(EvenhandError, match="two of the runs are the same"):
        models_document([run, run])
    with pytest.raises(EvenhandError, match="none of the runs has 'accuracy'; they have nli_coal"):
        models_document([run], ["accuracy"])
