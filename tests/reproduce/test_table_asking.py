"""Asking the models of a table: what a stopped command asked is not asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from evenhand.core.answers import Answers, Replies
from evenhand.core.errors import InputError, LoadError
from evenhand.core.probe import NLI_LABELS, Kind, Probe
from evenhand.core.settings import Settings
from evenhand.engine.opened import OpenedModel
from evenhand.reproduce import stored_answers
from evenhand.reproduce.asking import Asker, Missing, TableRequest

QUICK = Settings(resamples=100)
SUITE = "occupation-nli"


class Counting:
    """Says neutral, counts what it is asked, and is stopped at one of its chunks."""

    identity = "counting@1"
    kinds: frozenset[Kind] = frozenset({"pair"})
    traits: Mapping[str, str] = {}
    is_cacheable = True
    reads_tags = False
    asked = 0
    stop_after: int | None = None

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        return NLI_LABELS

    def answer(self, probes: Sequence[Probe]) -> Replies:
        if self.stop_after is not None and self.asked >= self.stop_after:
            raise KeyboardInterrupt
        self.asked += len(probes)
        return Replies(values=np.tile([0.0, 1.0, 0.0], (len(probes), 1, 1)))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Counting:
    """What the name `default` opens."""
    one = Counting()
    monkeypatch.setattr(OpenedModel, "respondent", lambda *_: one)
    return one


def asker_of(folder: Path, *models: str, limit: int = 400, **more: object) -> Asker:
    return Asker(
        TableRequest(models=models, limit=limit, settings=QUICK, cache=folder, **more)  # type: ignore[arg-type]
    )


def test_a_stopped_table_goes_on_where_it_was(model: Counting, tmp_path: Path) -> None:
    model.stop_after = 128
    asker = asker_of(tmp_path, "default")
    suite = asker.suite(SUITE)
    assert not isinstance(suite, Missing)
    different = len({probe.texts for probe in suite.probes})
    with pytest.raises(KeyboardInterrupt):
        asker.answers(asker.models[0], suite)
    assert model.asked == 128
    model.stop_after = None
    again = asker_of(tmp_path, "default")
    entry = again.entry(again.models[0], suite, "fraction_neutral")
    assert entry.interval.value == 0.0
    assert model.asked == different  # none of the first 128 twice
    third = asker_of(tmp_path, "default")
    third.entry(third.models[0], suite, "fraction_neutral")
    assert model.asked == different


def test_a_cell_is_asked_once_for_all_its_measures(model: Counting, tmp_path: Path) -> None:
    asker = asker_of(tmp_path, "default", limit=60)
    suite = asker.suite(SUITE)
    for measure in ("nli_coal", "fraction_neutral", "stereotype_effect"):
        assert asker.entry(asker.models[0], suite, measure).interval.value == 0.0
    assert not isinstance(suite, Missing)
    assert model.asked == len({probe.texts for probe in suite.probes})
    assert asker.entry(asker.models[0], suite, "nli_coal", "PS.neutral").interval.value == 1.0


def test_a_missing_suite_and_a_wrong_measure_are_reasons(tmp_path: Path) -> None:
    asker = asker_of(tmp_path, "fixed:fair", limit=60)
    (model,) = asker.models
    missing = asker.suite("sharma2021:snli")
    assert isinstance(missing, Missing)
    entry = asker.entry(model, missing, "same_label")
    assert not entry.has_value
    assert "--data" in entry.reason
    wrong = asker.entry(model, asker.suite(SUITE), "same_label")
    assert not wrong.has_value
    assert "same_label does not apply to occupation-nli" in wrong.reason


def test_unknown_models_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="Did you mean default"):
        asker_of(tmp_path, "fixed:fair", "defualt")
    with pytest.raises(LoadError, match="there is no such folder"):
        asker_of(tmp_path, "./nowhere")


def test_stored_answers_are_rows_like_any_other(tmp_path: Path) -> None:
    first = asker_of(tmp_path, "fixed:random", limit=60)
    suite = first.suite(SUITE)
    asked = first.answers(first.models[0], suite)
    assert isinstance(asked, Answers)
    (pack,) = first.packs()
    folder = tmp_path / "stored"
    folder.mkdir()
    path = folder / stored_answers.file_name(pack.respondent)
    path.write_bytes(stored_answers.packed_bytes(pack))
    both = asker_of(tmp_path, "fixed:fair", limit=60, stored=(folder,))
    assert [m.name for m in both.models] == ["fixed:fair", "fixed:random"]
    assert both.suite(SUITE) == suite
    fair, random = (both.entry(m, suite, "nli_coal").interval.value for m in both.models)
    assert fair == 0.0
    assert random == first.entry(first.models[0], suite, "nli_coal").interval.value
    assert both.packs()[0].respondent == "fixed:fair"  # what was stored is not packed again
    japanese = both.entry(both.models[1], both.suite(SUITE, "ja"), "nli_coal")
    assert "has no answers of it to occupation-nli (ja)" in japanese.reason
    larger = asker_of(tmp_path, limit=120, stored=(folder,))
    reason = larger.entry(larger.models[0], larger.suite(SUITE), "nli_coal").reason
    assert "the same --limit and --seed" in reason
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="is damaged or was changed"):
        asker_of(tmp_path, stored=(folder,))
