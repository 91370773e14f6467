"""How a ladder is run, with models that are not trained: no torch, and families of plug-ins."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import evenhand
from document_text import table_rows
from ladders import quick_rank
from models import write_model
from plugin_family import FAMILY

from evenhand.core import catalog
from evenhand.core.errors import LoadError
from evenhand.core.probe import GENDERS, NLI_LABELS, Kind
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.meta import run
from evenhand.meta.controlled import CORRECT, build_sets, label_of
from evenhand.meta.document import ladder_document
from evenhand.meta.ladder import read_ladder
from evenhand.meta.options import LadderOptions, SetOptions
from evenhand.meta.plan import asked_suite, make_plan, suites_of
from evenhand.meta.run import Execution, run_ladder
from evenhand.respondents.locate import open_respondent

QUICK = LadderOptions(
    train=24, dev=8, words=2, seeds=(0,), rates=(0.0, 0.5, 1.0), errors=(), limit=40
)
SILENT = Execution(say=lambda _: None)

FEW = "--rates 0,0.5,1 --seeds 1 --train-pairs 24 --dev-pairs 8 --occupations 2 --limit 10"


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every model answers as a rule does: at the rate 0 fair, then stereotyped."""

    def open_rule(reference: str, kind: Kind, options: RespondentOptions) -> Respondent:
        is_fair = "rate-0.00" in reference
        labels = NLI_LABELS if kind == "choice" else ()
        rule = "fixed:fair" if is_fair else "fixed:stereotyped"
        return open_respondent(rule, kind, replace(options, labels=labels))

    monkeypatch.setattr(run, "open_respondent", open_rule)
    monkeypatch.setattr(run, "train", lambda job: 0.99)
    monkeypatch.setattr(run, "trained_labels", lambda model: {})
    monkeypatch.setattr(run, "require_packages", lambda: None)


@pytest.fixture
def towns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The family of another package in the catalog."""
    load_group = catalog._load_group

    def with_towns(group: str) -> dict[str, object]:
        own = {FAMILY.name: FAMILY} if group == "families" else {}
        return {**load_group(group), **own}

    monkeypatch.setattr(catalog, "_load_group", with_towns)
    caches = (catalog.entries, catalog.owners)
    for cached in caches:
        cached.cache_clear()
    yield
    monkeypatch.undo()
    for cached in caches:
        cached.cache_clear()


def test_the_labels_of_a_model_are_those_of_its_training(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", labels=("contradiction", "entailment", "neutral"))
    assert run.trained_labels(folder) == {"contradiction": 0, "entailment": 1, "neutral": 2}


def test_both_ladders_share_a_model() -> None:
    steps = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    rungs = LadderOptions(seeds=(0, 1), errors=steps).rungs()
    assert len(rungs) == 2 * (11 + 6)
    assert len({rung.name for rung in rungs}) == 2 * (11 + 5)
    assert len(LadderOptions(seeds=(0, 1), errors=steps, error_seeds=1).rungs()) == 2 * 11 + 6


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize(
    ("more", "models"), [((), 3), (("--errors", "none"), 3), (("--errors", "0,1"), 5)]
)
def test_three_rates_are_three_models_unless_errors_are_asked_for(
    tmp_path: Path, more: tuple[str, ...], models: int
) -> None:
    few = FEW.split()
    done = evenhand(
        "meta", "run", *few, "--suites", "ordinary-nli", "--out", tmp_path, *more, "--json"
    )
    assert done.code == 0, done.err
    assert len(list((tmp_path / "models").iterdir())) == models


@pytest.mark.usefixtures("untrained")
def test_several_forms_get_a_ladder_each_and_one_report_on_all(tmp_path: Path) -> None:
    few = FEW.split()
    words = ("meta", "run", *few, "--planted", "captions,coreference", "--suites", "ordinary-nli")
    done = evenhand(*words, "--out", tmp_path, "--json")
    assert done.code == 0, done.err
    fields = json.loads(done.out)
    assert fields == json.loads((tmp_path / "forms.json").read_text(encoding="utf-8"))
    assert fields["forms"] == ["captions", "coreference"]
    coal = next(row for row in fields["measures"] if row["measure"] == "nli_coal")
    # the rule is fair at the rate 0, and stereotyped at 0.5 and 1
    assert {form: cell["moved"] for form, cell in coal["by_form"].items()} == {
        "captions": 1.0,
        "coreference": 1.0,
    }
    effects = fields["learning"]["coreference"]["stereotype_effect"]
    assert effects["held-out words"]["means"] == [0.0, 1.0, 1.0]
    for form in ("captions", "coreference"):
        ladder = read_ladder(tmp_path / form)
        assert (ladder.form, len(list((tmp_path / form / "models").iterdir()))) == (form, 3)
        assert {r.suite for r in ladder.checks} == {
            f"{form}, trained words",
            f"{form}, held-out words",
        }
        assert not {r.suite for r in ladder.readings} & {r.suite for r in ladder.checks}
    for form in ("html", "md", "tex"):
        assert "coreference" in (tmp_path / f"forms.{form}").read_text(encoding="utf-8")
    again = evenhand(*words, "--out", tmp_path, "--json")
    assert again.err.count("3 of 3 models are done already") == 2
    other = evenhand(
        *words[:-1], "gendered-entailment", "--planted", "suite", "--out", tmp_path / "captions"
    )
    assert other.code == 2
    assert "holds a ladder with other settings (form: captions, now suite" in other.err


@pytest.mark.usefixtures("untrained")
def test_every_measure_that_fits_is_read_of_every_model(tmp_path: Path) -> None:
    options = replace(QUICK, suites=("ordinary-nli", "gendered-entailment"))
    lines: list[str] = []
    ticks: list[tuple[int, int, int]] = []
    execution = Execution(say=lines.append, tick=lambda *counts: ticks.append(counts))
    ladder = run_ladder(options, tmp_path, execution)
    coal = {r.rung.rate: r.value for r in ladder.readings if r.measure == "nli_coal"}
    assert coal == {0.0: 0.0, 0.5: 1.0, 1.0: 1.0}
    assert {r.measure for r in ladder.readings if r.suite == "gendered-entailment"} == {
        m.name for m in catalog.family("gendered_entailment").measures
    }
    assert ticks == [(0, 3, 0), (1, 3, 0), (2, 3, 0), (3, 3, 0)]
    assert "1 of 3: rate-0.00-errors-1.00-seed-0, dev accuracy 99.0%" in lines[0]
    again = run_ladder(options, tmp_path, replace(execution, tick=None))
    assert lines[-1] == "3 of 3 models are done already"
    assert again.readings == ladder.readings


@pytest.mark.usefixtures("towns", "untrained")
def test_a_family_of_another_package_gets_a_ladder(tmp_path: Path) -> None:
    plan = make_plan("en", words=2)
    assert "towns" in [suite.card.name for suite in suites_of(plan, limit=40)]
    ladder = run_ladder(replace(QUICK, suites=("towns",)), tmp_path, SILENT)
    scores = {r.rung.rate: r.value for r in ladder.readings if r.measure == "town_preference"}
    assert scores == {0.0: 0.5, 0.5: 1.0, 1.0: 1.0}
    document = ladder_document(ladder, quick_rank(ladder))
    rows = {row[0]: row for row in table_rows(document, "standings")}
    assert rows["Town preference"][2:4] == ["towns", "0.866 [n/a]"]
    assert "suite-towns" in [chart.name for chart in document.charts]


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.mark.usefixtures("no_torch")
def test_a_ladder_without_torch_says_what_to_install_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    done = evenhand("meta", "run", "--out", tmp_path / "out")
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == (
            "error: training needs torch and transformers (torch not installed): "
            "pip install 'evenhand[train]'\n"
        )
        or "torch and transformers not installed" in done.err
    )
    assert done.err.count("\n") == 1
    assert time.monotonic() - began < 5
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("untrained")
def test_a_finished_ladder_is_measured_again_without_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(QUICK, suites=("ordinary-nli",))
    run_ladder(options, tmp_path, SILENT)

    def refuse() -> None:
        raise LoadError("no torch")

    monkeypatch.setattr(run, "require_packages", refuse)
    # four measures of occupations, one of persons, one of ordinary pairs
    assert len(run_ladder(options, tmp_path, SILENT).readings) == 3 * 6
    with pytest.raises(LoadError, match="no torch"):  # another suite: the models must answer it
        run_ladder(replace(options, suites=("gendered-entailment",)), tmp_path, SILENT)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rates", "0,1.5,1"], "--rates is 1.5; give a share between 0 and 1"),
        (["--rates", "0,x"], "--rates is '0,x'; give numbers with commas"),
        (["--rates", "0,1"], "a ladder needs at least one seed and three different rates"),
        (["--engine", "spark"], "--engine is 'spark'; there are local, ray"),
        (["--recipe", "papper"], "Did you mean paper?"),
    ],
)
def test_bad_options_are_refused_before_torch_is_looked_for(
    tmp_path: Path, words: list[str], message: str
) -> None:
    done = evenhand("meta", "run", "--out", tmp_path / "out", *words)
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_effects_of_models_that_learnt_their_rate_perfectly(language: str) -> None:
    """The stereotype effect is the balance of biased and swapped words; there is no default."""
    plan = make_plan(language)
    suite = asked_suite(plan)
    for rate, errors in ((0.0, 1.0), (0.3, 1.0), (0.3, 0.0), (0.5, 1.0), (1.0, 1.0)):
        parts = build_sets(plan, rate, SetOptions(train=1200, dev=240, errors=errors)).parts
        values = np.zeros((len(suite.probes), 1, 3))
        for row, probe in enumerate(suite.probes):
            gender, part = probe.tags["gender"], parts[probe.cluster]
            is_about_gender = gender in GENDERS and part != CORRECT
            label = label_of(probe.tags["lean"], gender, part) if is_about_gender else "neutral"
            values[row, 0, NLI_LABELS.index(label)] = 1.0
        scores = {}
        for name in ("stereotype_effect", "default_effect"):
            measure = catalog.measure(name)
            scores[name] = float(
                measure.combine(measure.evidence(suite.probes, values).sum(axis=0))
            )
        expected = rate - (1 - rate) * errors
        assert scores == pytest.approx({"stereotype_effect": expected, "default_effect": 0.0})


@pytest.mark.usefixtures("untrained")
def test_both_effects_stand_on_every_ladder(tmp_path: Path) -> None:
    ladder = run_ladder(QUICK, tmp_path, SILENT)
    measured = {(r.suite.partition(":")[0], r.measure): r for r in ladder.readings}
    for suite, names in {
        "occupation-nli": ("stereotype_effect", "default_effect"),
        "gendered-entailment": ("stereotype_effect_probability", "default_effect_probability"),
        "profession": ("profession_stereotype_effect", "profession_default_effect"),
    }.items():
        for name in names:
            reading = measured[suite, name]
            assert reading.value == (1.0 if "stereotype" in name else 0.0), reading.note
    document = ladder_document(ladder, quick_rank(ladder))
    assert "effects" in {s.name for s in document.sections}
