"""A run in a notebook: one line, a table, a data frame; and read back by `evenhand.read`."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from published_runs import run_of, written
from runs import EVIL, few, hostile, noise

import evenhand as eh


def test_a_run_is_one_line_and_a_table() -> None:
    run = run_of("stereotyped")
    assert repr(run) == (
        f"<Run of fixed:stereotyped on {run.suite.reference}: nli_coal {run.headline.value:.3f} "
        f"[{run.headline.low:.3f}, {run.headline.high:.3f}], {len(run.estimates)} measures, "
        "100 % of the probes answered>"
    )
    table = run._repr_html_()
    assert table.count("<tr>") == 1 + len(run.estimates) + len(run.sanity)
    assert f"<td>nli_coal</td><td>{run.headline.value:.3f} [" in table
    assert "n/a" in repr(run_of("silent")) and "no answer in" in run_of("silent")._repr_html_()


def test_hostile_names_stay_words_in_a_table() -> None:
    table = eh.audit(noise, hostile(), settings=few(50))._repr_html_()
    assert "<script>" not in table and "&lt;script&gt;" in table and EVIL not in table


def test_a_run_is_a_data_frame() -> None:
    run = run_of("silent")
    frame = run.to_polars()
    assert frame["measure"].to_list() == [e.measure for e in run.estimates]
    assert all(math.isnan(value) for value in frame["value"])
    assert frame["note"].to_list() == [e.note for e in run.estimates]
    pytest.importorskip("pandas")
    whole = run_of("stereotyped")
    assert whole.to_pandas()["value"].tolist() == [e.value for e in whole.estimates]
    assert list(whole.to_pandas().columns) == whole.to_polars().columns


def test_a_folder_is_read_by_its_name(tmp_path: Path) -> None:
    run = run_of("stereotyped")
    assert repr(eh.read(str(written(run, tmp_path / "run")))) == repr(run)
