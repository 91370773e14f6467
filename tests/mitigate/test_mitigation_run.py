"""One command trains, asks and compares, and does nothing twice; with a tiny model made here."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from training_room import Room
from typer.testing import CliRunner

from evenhand.core.corpora import Pair, read_corpus
from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.probe import NLI_LABELS
from evenhand.core.settings import Settings
from evenhand.mitigate.records import ACCURACY, BEFORE, FILE
from evenhand.mitigate.run import (
    CORPUS,
    MitigationOptions,
    mitigate,
    mitigation_recipe,
    require_trainable,
)
from evenhand.train.corpus import write_corpus
from evenhand.train.recipes import RecipeChanges

pytest.importorskip("torch", reason="needs the train extra")
pytestmark = pytest.mark.torch
DOING = ("holding", "carrying", "lifting", "dropping", "washing")
OBJECTS = ("a ball", "a drum", "a rope", "a kite", "a lamp", "a cup", "a box", "a map")


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> MitigationOptions:
    """A tiny NLI model, captions to train on, other ones held out."""
    folder = tmp_path_factory.mktemp("mitigation")
    room = Room(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_OFFLINE", "1")
        assert room.train("model", "--epochs", "1").code == 0
    captions = [
        f"A {who} is {doing} {what}."
        for who in ("man", "woman")
        for doing in DOING
        for what in OBJECTS
    ]
    pairs = [
        Pair(text, f"w{i} {('yes', 'maybe', 'no')[i % 3]}", NLI_LABELS[i % 3])
        for i, text in enumerate(captions)
    ]
    write_corpus(folder / "captions.jsonl", pairs[:70])
    write_corpus(folder / "held.jsonl", pairs[70:])
    return MitigationOptions(
        model=str(folder / "model"),
        train=(folder / "captions.jsonl",),
        dev=(folder / "held.jsonl",),
        out=folder / "out",
        recipe=mitigation_recipe(changes=RecipeChanges(batch_size=16)),
        methods="none,swap,pairing+anchors",
        suites=("occupation-nli", "gendered-entailment"),
        anchors=0.2,
        settings=Settings(resamples=100, permutations=100),
    )


def test_all_of_it_and_nothing_twice(
    options: MitigationOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    record = mitigate(options, lines.append)
    # a job that is a person's has no gender to swap
    assert [(t.method, t.pairs, t.added, t.twins) for t in record.trained] == [
        ("none", 70, 0, 0),
        ("swap", 140, 70, 0),
        ("pairing+anchors", 82, 12, 81),
    ]
    assert {(a.name, a.part) for a in record.asked} == {
        ("occupation-nli", "all"),
        ("occupation-nli", "unseen"),
        ("gendered-entailment", "all"),
        ("gendered-entailment", "unseen"),
        ("held", "dev"),
    }
    rows = read_corpus(options.out / "pairing+anchors" / CORPUS).pairs
    words = record.occupations["anchors"]
    neutral = [p for p in rows[70:] if p.label == "neutral"]
    assert len(neutral) == 4
    assert all(any(word in p.premise for word in words) for p in neutral)
    for t in record.trained:
        card = json.loads((options.out / t.method / "training.json").read_text(encoding="utf-8"))
        score = record.score("held", "dev", ACCURACY, t.method)
        assert score is not None
        # asked anew, by another route
        assert score.value == pytest.approx(card["accuracy"]["held"], abs=1e-9)
        assert card["recipe"]["pairing"] == (1.0 if t.method.startswith("pairing") else 0.0)
        assert t.identity.startswith(f"{t.method}@")
    assert len({s.model for s in record.scores}) == 4
    assert {c.against for c in record.changes} == {BEFORE, "none"}
    # would be an error if it were called
    monkeypatch.setattr("evenhand.train.fine_tuning.fit", None)
    again = mitigate(options, lines.append)
    assert (again.scores, again.changes) == (record.scores, record.changes)
    assert again.occupations == record.occupations
    assert sum("is finished, nothing is trained" in line for line in lines) == 3


def test_further_seeds_are_trained_beside_the_first_run(options: MitigationOptions) -> None:
    lines: list[str] = []
    own = replace(options, methods="none,swap", suites=("gendered-entailment",), seeds=2)
    record = mitigate(own, lines.append)
    # the runs of the first seed are there already
    assert sum("is finished, nothing is trained" in line for line in lines) == 2
    assert [(t.method, t.run, Path(t.folder).name) for t in record.trained] == [
        ("none", 0, "none"),
        ("swap", 0, "swap"),
        ("none", 1, "none.seed1"),
        ("swap", 1, "swap.seed1"),
    ]
    cards = [
        json.loads((Path(t.folder) / "training.json").read_text(encoding="utf-8"))
        for t in record.trained
    ]
    assert [card["recipe"]["seed"] - cards[0]["recipe"]["seed"] for card in cards] == [0, 0, 1, 1]
    scores = record.runs("held", "dev", ACCURACY, "swap")
    assert [s.run for s in scores] == [0, 1] and math.isnan(scores[1].low)
    for score, card in zip(scores, (cards[1], cards[3]), strict=True):
        assert score.value == pytest.approx(card["accuracy"]["held"], abs=1e-9)
    assert {c.model for c in record.changes} == {"none", "swap"}  # first runs only
    assert record.settings["seeds"] == 2


def test_the_command_writes_the_report_and_says_how_to_go_on(
    options: MitigationOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenhand.cli.mitigate_run import run

    app = typer.Typer()
    app.command()(run)
    out = options.out.parent / "command"
    files = ["--train", str(options.train[0]), "--dev", str(options.dev[0]), "--out", str(out)]
    few = "--resamples 100 --permutations 100 --train-limit 40 --batch-size 16".split()
    words = [options.model, *files, *few, "--methods", "swap", "--suites", "gendered-entailment"]
    with monkeypatch.context() as patch:
        patch.setattr("evenhand.mitigate.run.ask_all", _interrupt)
        stopped = CliRunner().invoke(app, words)
    assert stopped.exit_code == 130
    assert "the same command goes on from the last checkpoint" in stopped.output
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "is finished, nothing is trained" in done.output
    assert f"report: {out / 'mitigation.html'}" in done.output.replace("\n", "")
    assert len(read_corpus(out / "swap" / CORPUS).pairs) == 80
    there = {p.name for p in out.iterdir()}
    assert {"mitigation.html", "mitigation.md", "mitigation.tex", FILE} <= there
    as_json = CliRunner().invoke(app, [*words, "--json"])
    assert json.loads(as_json.stdout)["trained"][0]["method"] == "swap"


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_another_recipe_is_not_mixed_with_what_is_there(options: MitigationOptions) -> None:
    mixed = replace(options, methods="none", out=options.out.parent / "mixed")
    mitigate(mixed, lambda _: None)
    longer = mitigation_recipe(changes=RecipeChanges(batch_size=16, epochs=2))
    reason = r"holds a run with other settings \(recipe.epochs: 1, now 2\)"
    with pytest.raises(EvenhandError, match=reason):
        mitigate(replace(mixed, recipe=longer), lambda _: None)


def test_a_model_without_weights_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(LoadError, match="has no weights that can be trained"):
        require_trainable(str(tmp_path))
