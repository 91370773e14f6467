"""A run is read back as it was written; a folder that is not whole is refused by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from published_runs import run_of, written
from random_runs import random_runs, rooms

from evenhand.core.checksums import MANIFEST, manifest_text
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.plain import plain
from evenhand.core.run import Run
from evenhand.engine.audit_document import audit_document
from evenhand.engine.read_run import read_run
from evenhand.engine.results import run_fields
from evenhand.report.markdown import to_markdown


def assert_same(found: Run, run: Run) -> None:
    for name in ("estimates", "sanity", "baselines", "breakdowns", "relations", "settings"):
        assert plain(getattr(found, name)) == plain(getattr(run, name)), name
    assert (found.family, found.refused, found.timing) == (run.family, run.refused, run.timing)
    assert found.suite.card == run.suite.card and found.suite.reference == run.suite.reference
    np.testing.assert_array_equal(found.answers.values, run.answers.values)
    assert found.answers.statuses == run.answers.statuses
    assert [e.is_exact for e in found.estimates] == [e.is_exact for e in run.estimates]


@pytest.mark.parametrize("name", sorted(rooms()))
def test_every_run_is_read_as_it_was_written(name: str) -> None:
    @settings(max_examples=2, phases=[Phase.generate])
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        run = data.draw(random_runs(name))
        with TemporaryDirectory() as folder:
            found = read_run(written(run, Path(folder) / "run"))
        assert_same(found, run)
        document, again = audit_document(run), audit_document(found)
        assert to_markdown(again) == to_markdown(document)
        fields = run_fields(found, again)
        assert fields == run_fields(run, document)

    check()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(run_of("stereotyped"), tmp_path / "run")


def rewrite_manifest(folder: Path) -> None:
    """A manifest that fits what lies in the folder now."""
    files = {p.name: p.read_bytes() for p in folder.iterdir() if p.name != MANIFEST}
    (folder / MANIFEST).unlink(missing_ok=True)
    (folder / MANIFEST).write_text(manifest_text(folder, files), encoding="utf-8")


def change_results(folder: Path, change: Callable[[dict[str, object]], object]) -> None:
    path = folder / "results.json"
    fields = json.loads(path.read_text(encoding="utf-8"))
    change(fields)
    path.write_text(json.dumps(fields), encoding="utf-8")
    rewrite_manifest(folder)


@pytest.mark.parametrize("name", ["answers.parquet", "suite.jsonl", "suite.card.json"])
def test_a_file_that_is_gone_or_changed_is_named(folder: Path, name: str) -> None:
    raw = (folder / name).read_bytes()
    (folder / name).write_bytes(raw[:-3])
    with pytest.raises(InputError, match=rf"{name}: is not the file that was written"):
        read_run(folder)
    (folder / name).unlink()
    with pytest.raises(InputError, match=rf"{name}: is missing"):
        read_run(folder)
    rewrite_manifest(folder)
    with pytest.raises(InputError, match=f"does not list {name}"):
        read_run(folder)


def test_a_half_written_folder_is_refused(folder: Path) -> None:
    (folder / MANIFEST).unlink()
    with pytest.raises(InputError, match=r"has no manifest\.json"):
        read_run(folder)
    (folder / "results.json").unlink()
    with pytest.raises(InputError, match=r"has no results\.json"):
        read_run(folder)
    with pytest.raises(InputError, match="is not the folder of a run"):
        read_run(folder / "nowhere")


def test_a_run_of_another_version_is_refused(folder: Path) -> None:
    change_results(folder, lambda fields: fields.update(evenhand="9.9.9"))
    with pytest.raises(InputError, match=r"written by evenhand 9\.9\.9.*run it again"):
        read_run(folder)


@pytest.mark.parametrize("key", ["estimates", "settings", "breakdowns", "suite", "model"])
def test_results_that_lack_something_are_refused(folder: Path, key: str) -> None:
    change_results(folder, lambda fields: fields.pop(key))
    with pytest.raises(InputError, match=f"is not what this version writes.*{key}"):
        read_run(folder)


def test_a_measure_that_is_not_installed_is_named(folder: Path) -> None:
    text = (folder / "results.json").read_text(encoding="utf-8")
    changed = text.replace('"measure": "nli_coal"', '"measure": "nli_koal"')
    (folder / "results.json").write_text(changed, encoding="utf-8")
    rewrite_manifest(folder)
    with pytest.raises(EvenhandError, match="not installed here: unknown measure 'nli_koal'"):
        read_run(folder)


def test_files_of_two_runs_are_told_apart(folder: Path, tmp_path: Path) -> None:
    other = written(run_of("fair"), tmp_path / "other")
    shutil.copy(other / "answers.parquet", folder / "answers.parquet")
    rewrite_manifest(folder)
    with pytest.raises(InputError, match=r"the model is fixed:stereotyped here, fixed:fair there"):
        read_run(folder)
