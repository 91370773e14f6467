"""Does a run of `evenhand train nli` say what was done, and end the same whether or not it was killed half-way?"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import evenhand
from training_room import Room, write

from evenhand.core.protocols import RespondentOptions
from evenhand.core.records import NLI_LABELS, Probe
from evenhand.train.corpus import read_pairs


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """With one run that nothing disturbed, `whole`."""
    found = Room(tmp_path_factory.mktemp("room"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_OFFLINE", "1")
        said = found.train("whole")
    assert said.code == 0, said.err
    assert "330 pairs, 1 rows without a gold label left out" in said.out
    yield found


@pytest.mark.torch
def test_the_run_card_says_what_was_done(room: Room) -> None:
    card, path = room.card("whole"), room.folder / "train.jsonl"
    assert card["recipe"] | {"epochs": 3, "learning_rate": 0.003, "batch_size": 30, "name": "plain", "is_best_kept": True} == card["recipe"]
    assert card["data"]["train"] == [
        {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "rows": 331, "pairs": 330, "left out": {"label -": 1}}
    ]
    assert (card["form"], card["steps"], card["pairs"], card["processes"], len(card["dev accuracy by epoch"])) == ("pair", 33, 330, 1, 3)
    by_epoch = card["dev accuracy by epoch"]
    assert card["kept epoch"] == 1 + by_epoch.index(max(by_epoch)) and card["accuracy"] == {"dev": max(by_epoch)}
    assert card["accuracy"]["dev"] > 0.6
    bounds = card["interval"]["dev"]
    assert bounds["low"] < card["accuracy"]["dev"] <= bounds["high"] and bounds["pairs"] == 90
    assert {"python", "torch", "transformers"} <= set(card["versions"])
    assert not (room.folder / "whole" / "checkpoint").exists()
    assert json.loads((room.folder / "whole" / "config.json").read_text(encoding="utf-8"))["evenhand_form"] == "pair"


@pytest.mark.torch
def test_a_finished_run_is_not_trained_again_and_another_one_not_mixed_with_it(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.train.tuning.fit", None)
    said = room.train("whole")
    assert said.code == 0 and "is finished, nothing is trained" in said.out
    other = room.train("whole", "--epochs", "4")
    assert other.code == 2 and "holds a run with other settings (recipe.epochs: 3, now 4); start anew with --no-resume" in other.err
    copy = room.folder / "copy.jsonl"
    copy.write_bytes((room.folder / "train.jsonl").read_bytes())
    assert "is the same file as" in room.train("new", "--dev", str(copy)).err
    assert "is the folder of the encoder" in evenhand(*room.words("x"), "--out", room.encoder).err
    (room.folder / "foreign").mkdir()
    write(room.folder / "foreign" / "model.safetensors", "")
    assert "holds a model that this command did not make" in room.train("foreign").err


KILLED = """
import os, signal, sys
import torch
torch.set_num_threads(1)
from evenhand.cli.main import run
from evenhand.train import checkpoints, loop

kind, at = sys.argv.pop(1), int(sys.argv.pop(1))
def die():
    os.kill(os.getpid(), signal.SIGKILL)
step, save = loop.Run._step, torch.save
def short_step(self, rows):
    step(self, rows)
    if kind == "step" and self.at.step == at:
        die()
count = 0
def short_save(thing, path):
    global count
    save(thing, path)
    count += 1
    if kind == "save" and count == at:
        with open(path, "r+b") as stream:
            stream.truncate(os.path.getsize(path) // 2)
        die()
loop.Run._step, torch.save = short_step, short_save
run()
"""


@pytest.mark.torch
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("kind", "at", "last"), [("step", 18, 16), ("save", 5, 11)])
def test_a_killed_run_goes_on_and_ends_with_the_same_weights(room: Room, kind: str, at: int, last: int) -> None:
    out = f"killed-{kind}"
    process = subprocess.run(
        [sys.executable, "-c", KILLED, kind, str(at), *room.words(out)], capture_output=True, text=True, env=dict(os.environ), check=False
    )
    assert process.returncode == -signal.SIGKILL, process.stderr
    assert not (room.folder / out / "training.json").exists()
    other = room.train(out, "--seed", "5")
    assert other.code == 2 and "recipe.seed: 13, now 5" in other.err
    said = room.train(out)
    assert said.code == 0 and f"goes on from step {last} of 33" in said.out
    assert room.is_same("whole", out)
    same = ("accuracy", "interval", "steps", "kept epoch", "dev accuracy by epoch")
    assert {k: room.card(out)[k] for k in same} == {k: room.card("whole")[k] for k in same}
    assert not list(room.folder.glob(f"{out}/.checkpoint*")) and not (room.folder / out / "checkpoint").exists()


@pytest.mark.torch
def test_ctrl_c_says_how_to_go_on(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.train.loop import Run

    step = Run._step
    for at, kept in ((3, "there is no checkpoint yet"), (10, "the same command goes on from the last checkpoint")):

        def press(self: Any, rows: Any, at: int = at) -> None:
            step(self, rows)
            if self.at.step == at:
                raise KeyboardInterrupt

        monkeypatch.setattr(Run, "_step", press)
        said = room.train("pressed")
        assert (said.code, said.err.strip()) == (130, f"stopped: {kept}")
    monkeypatch.setattr(Run, "_step", step)
    (room.folder / "pressed" / "checkpoint" / "state.pt").write_bytes(b"PK torn")
    torn = room.train("pressed")
    assert torn.code == 2 and "state.pt cannot be read" in torn.err and "--no-resume" in torn.err
    assert room.train("pressed", "--no-resume").code == 0
    assert room.is_same("whole", "pressed")


@pytest.mark.torch
@pytest.mark.parametrize("form", ["esp", "clean", "{p} => {h}"])
def test_a_model_of_suppositions_is_as_right_when_asked_in_its_form_as_its_card_says(room: Room, form: str) -> None:
    from evenhand.respondents.nli import NliSource

    out = f"form-{form[0]}"
    said = room.train(out, "--recipe", "supposition", "--form", form, "--epochs", "8", "--limit", "300", "--onnx")
    assert said.code == 0, said.err
    for folder in (out, f"{out}/onnx"):
        assert json.loads((room.folder / folder / "config.json").read_text(encoding="utf-8"))["evenhand_form"] == form
    card = room.card(out)
    assert (card["form"], card["recipe"]["form"], card["pairs"], card["limit"], card["steps"]) == (form, form, 300, 300, 80)
    dev = read_pairs([room.folder / "dev.jsonl"])
    probes = [Probe(id=str(i), kind="pair", language="en", texts=(p.premise, p.hypothesis)) for i, p in enumerate(dev)]
    found = {}
    for asked in (form, "pair"):
        respondent = NliSource().open(str(room.folder / out / "onnx"), RespondentOptions(form=asked))
        found[asked] = respondent.answer(probes)
    right = [NLI_LABELS[k] == p.label for k, p in zip(found[form].argmax(axis=1), dev, strict=True)]
    assert np.mean(right) == card["accuracy"]["dev"] > 0.6
    assert np.abs(found[form] - found["pair"]).max() > 0.01  # the form is no matter of indifference


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("accelerate") is None, reason="needs accelerate")
def test_two_processes_end_with_the_weights_of_one(room: Room, tmp_path: Path) -> None:
    """Without dropout, whose units differ; the batch size 31 leaves parts of unequal size, the last batch of 1 row leaves one process without a part."""
    script = write(tmp_path / "shared.py", SHARED)
    env = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    launch = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29617"]
    for name, how in (("one", []), ("two", launch)):
        command = [sys.executable, *how, str(script), str(room.encoder), str(room.folder / "train.jsonl"), str(room.folder / name)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    one, two = room.weights("one"), room.weights("two")
    assert max(float(np.abs(one[k] - two[k]).max()) for k in one) < 1e-4
    assert room.card("two")["processes"] == 2 and room.card("two")["accuracy"] == room.card("one")["accuracy"]


SHARED = """
import sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from evenhand.train.corpus import read_pairs
from evenhand.train.fit import fit
from evenhand.train.processes import open_processes
from evenhand.train.recipes import Recipe

encoder, data, out = map(Path, sys.argv[1:])
pairs = read_pairs([data])[:311]
recipe = Recipe(name="shared", epochs=1, batch_size=31, learning_rate=1e-3, dropout=0.0, has_frozen_words=False, is_best_kept=True)
fit(encoder, pairs, {"dev": pairs[:70]}, recipe, out, processes=open_processes(), every=5)
"""
