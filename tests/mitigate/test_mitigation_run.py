"""Does one command train, ask and compare, and does it do nothing twice? With a tiny model made here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from training_room import Room
from typer.testing import CliRunner

from evenhand.core.probe import NLI_LABELS
from evenhand.mitigate.preparing import Wish, recipe_of
from evenhand.mitigate.records import ACCURACY, BEFORE
from evenhand.mitigate.running import CORPUS, RECORD, mitigate, write_corpus
from evenhand.train.corpus import Pair, read_corpus

pytest.importorskip("torch", reason="needs the train extra")
pytestmark = pytest.mark.torch
DOING = ("holding", "carrying", "lifting", "dropping", "washing")
THINGS = ("a ball", "a drum", "a rope", "a kite", "a lamp", "a cup", "a box", "a map")


@pytest.fixture(scope="module")
def wish(tmp_path_factory: pytest.TempPathFactory) -> Wish:
    """A tiny NLI model, captions to train on, other ones held out."""
    folder = tmp_path_factory.mktemp("mitigation")
    room = Room(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_OFFLINE", "1")
        assert room.train("model", "--epochs", "1").code == 0
    captions = [
        f"A {who} is {doing} {thing}."
        for who in ("man", "woman")
        for doing in DOING
        for thing in THINGS
    ]
    pairs = [
        Pair(text, f"w{i} {('yes', 'maybe', 'no')[i % 3]}", NLI_LABELS[i % 3])
        for i, text in enumerate(captions)
    ]
    write_corpus(folder / "captions.jsonl", pairs[:70])
    write_corpus(folder / "held.jsonl", pairs[70:])
    return Wish(
        model=str(folder / "model"),
        train=[folder / "captions.jsonl"],
        dev=[folder / "held.jsonl"],
        out=folder / "out",
        recipe=recipe_of(batch_size=16),
        methods="none,swap,pairing+anchors",
        suites=["occupation-nli", "gendered-entailment"],
        anchors=0.2,
        resamples=100,
        permutations=100,
    )


def test_all_of_it_and_nothing_twice(wish: Wish, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    found = mitigate(wish, say=said.append)
    assert [t.method for t in found.trained] == ["none", "swap", "pairing+anchors"]
    assert [(t.pairs, t.added, t.twins) for t in found.trained] == [
        (70, 0, 0),
        (140, 70, 0),
        (82, 12, 81),
    ]  # a job that is a person's has no gender to swap
    assert {(a.name, a.part) for a in found.asked} == {
        (name, part)
        for name in ("occupation-nli", "gendered-entailment")
        for part in ("all", "unseen")
    } | {("held", "dev")}
    rows = read_corpus(wish.out / "pairing+anchors" / CORPUS).pairs
    words = found.occupations["anchors"]
    neutral = [p for p in rows[70:] if p.label == "neutral"]
    assert len(neutral) == 4 and all(any(word in p.premise for word in words) for p in neutral)
    for t in found.trained:
        card = json.loads((wish.out / t.method / "training.json").read_text(encoding="utf-8"))
        score = found.score("held", "dev", ACCURACY, t.method)
        assert score is not None and score.value == pytest.approx(
            card["accuracy"]["held"], abs=1e-9
        )  # asked anew, by another route
        assert card["recipe"]["pairing"] == (
            1.0 if t.method.startswith("pairing") else 0.0
        ) and t.identity.startswith(f"{t.method}@")
    assert len({s.model for s in found.scores}) == 4 and {c.against for c in found.changes} == {
        BEFORE,
        "none",
    }
    monkeypatch.setattr("evenhand.train.tuning.fit", None)  # would be an error if it were called
    again = mitigate(wish, say=said.append)
    assert (again.scores, again.changes, again.occupations) == (
        found.scores,
        found.changes,
        found.occupations,
    )
    assert sum("is finished, nothing is trained" in line for line in said) == 3


def test_the_command_writes_the_report_and_says_how_to_go_on(
    wish: Wish, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenhand.cli.mitigate_run import run

    app = typer.Typer()
    app.command()(run)
    out = wish.out.parent / "told"
    words = [
        wish.model,
        "--train",
        str(wish.train[0]),
        "--dev",
        str(wish.dev[0]),
        "--out",
        str(out),
        "--methods",
        "swap",
        "--limit",
        "40",
        "--batch-size",
        "16",
        "--suites",
        "gendered-entailment",
        "--resamples",
        "100",
        "--permutations",
        "100",
    ]
    with monkeypatch.context() as patch:
        patch.setattr("evenhand.mitigate.running.ask_all", _interrupt)
        stopped = CliRunner().invoke(app, words)
    assert (
        stopped.exit_code == 130
        and "the same command goes on from the last checkpoint" in stopped.output
    )
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert (
        "is finished, nothing is trained" in done.output
        and f"report: {out / 'mitigation.html'}" in done.output.replace("\n", "")
    )
    assert len(read_corpus(out / "swap" / CORPUS).pairs) == 80
    assert {"mitigation.html", "mitigation.md", "mitigation.tex", RECORD} <= {
        p.name for p in out.iterdir()
    }
    as_json = CliRunner().invoke(app, [*words, "--json"])
    assert json.loads(as_json.stdout)["trained"][0]["method"] == "swap"


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_another_recipe_is_not_mixed_with_what_is_there(wish: Wish) -> None:
    from evenhand.core.errors import EvenhandError

    mitigate(replace(wish, methods="none", out=wish.out.parent / "mixed"), say=lambda _: None)
    with pytest.raises(
        EvenhandError, match=r"holds a run with other settings \(recipe.epochs: 1, now 2\)"
    ):
        mitigate(
            replace(
                wish,
                methods="none",
                out=wish.out.parent / "mixed",
                recipe=recipe_of(batch_size=16, epochs=2),
            ),
            say=lambda _: None,
        )


def test_a_model_without_weights_is_refused_before_anything_is_read(
    wish: Wish, tmp_path: Path
) -> None:
    from evenhand.core.errors import LoadError
    from evenhand.mitigate.preparing import _require_trainable

    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(LoadError, match="has no weights that can be trained"):
        _require_trainable(str(tmp_path))
