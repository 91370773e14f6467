"""A run of `evenhand train nli` says what was done, and ends the same when it was killed."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import evenhand
from training_room import Room, kill, write

from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.train.corpus import read_pairs


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """With one run that nothing disturbed, `whole`."""
    made = Room(tmp_path_factory.mktemp("room"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_OFFLINE", "1")
        done = made.train("whole")
    assert done.code == 0, done.err
    assert "330 pairs, 1 rows without a gold label left out" in done.out
    yield made


@pytest.mark.torch
def test_the_run_card_says_what_was_done(room: Room) -> None:
    card, path = room.card("whole"), room.folder / "train.jsonl"
    assert (
        card["recipe"]
        | {
            "epochs": 3,
            "learning_rate": 0.003,
            "batch_size": 30,
            "name": "plain",
            "is_best_kept": True,
        }
        == card["recipe"]
    )
    assert card["data"]["train"] == [
        {
            "file": str(path),
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "rows": 331,
            "pairs": 330,
            "left out": {"label -": 1},
        }
    ]
    assert (
        card["form"],
        card["steps"],
        card["pairs"],
        card["processes"],
        len(card["dev accuracy by epoch"]),
    ) == ("pair", 33, 330, 1, 3)
    by_epoch = card["dev accuracy by epoch"]
    assert card["kept epoch"] == 1 + by_epoch.index(max(by_epoch)) and card["accuracy"] == {
        "dev": max(by_epoch)
    }
    assert card["accuracy"]["dev"] > 0.6
    bounds = card["interval"]["dev"]
    assert bounds["low"] < card["accuracy"]["dev"] <= bounds["high"] and bounds["pairs"] == 90
    assert {"python", "torch", "transformers"} <= set(card["versions"])
    assert not (room.folder / "whole" / "checkpoint").exists()
    assert (
        json.loads((room.folder / "whole" / "config.json").read_text(encoding="utf-8"))[
            "evenhand_form"
        ]
        == "pair"
    )


@pytest.mark.torch
def test_a_finished_run_is_not_trained_again_and_another_one_not_mixed_with_it(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.train.fine_tuning.fit", None)
    done = room.train("whole")
    assert done.code == 0 and "is finished, nothing is trained" in done.out
    other = room.train("whole", "--epochs", "4")
    assert (
        other.code == 2
        and "holds a run with other settings (recipe.epochs: 3, now 4); start anew with --no-resume"
        in other.err
    )
    copy = room.folder / "copy.jsonl"
    copy.write_bytes((room.folder / "train.jsonl").read_bytes())
    assert "is the same file as" in room.train("new", "--dev", str(copy)).err
    assert "is the folder of the encoder" in evenhand(*room.words("x"), "--out", room.encoder).err
    (room.folder / "foreign").mkdir()
    write(room.folder / "foreign" / "model.safetensors", "")
    assert "holds a model that this command did not make" in room.train("foreign").err


@pytest.mark.torch
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("kind", "at", "last"), [("step", 18, 16), ("save", 5, 11)])
def test_a_killed_run_goes_on_and_ends_with_the_same_weights(
    room: Room, kind: str, at: int, last: int
) -> None:
    out = f"killed-{kind}"
    kill(kind, at, room.words(out))
    assert not (room.folder / out / "training.json").exists()
    other = room.train(out, "--seed", "5")
    assert other.code == 2 and "recipe.seed: 13, now 5" in other.err
    done = room.train(out)
    assert done.code == 0 and f"goes on from step {last} of 33" in done.out
    assert room.is_same("whole", out)
    same = ("accuracy", "interval", "steps", "kept epoch", "dev accuracy by epoch")
    assert {k: room.card(out)[k] for k in same} == {k: room.card("whole")[k] for k in same}
    assert (
        not list(room.folder.glob(f"{out}/.checkpoint*"))
        and not (room.folder / out / "checkpoint").exists()
    )


@pytest.mark.torch
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_killed_run_of_adapters_and_twins_goes_on_too(room: Room) -> None:
    """The checkpoint holds adapters and head, and nothing of the encoder."""
    import torch

    words = ("--train", str(room.folder / "train-paired.jsonl"), "--lora", "4", "--pairing", "0.5")
    done = room.train("lora", *words)
    assert done.code == 0, done.err
    kill("step", 30, room.words("lora-killed", *words))
    state = torch.load(room.folder / "lora-killed" / "checkpoint" / "state.pt", weights_only=True)
    assert sum(w.numel() for w in state["weights"]) == room.card("lora")["parameters"]["trained"]
    done = room.train("lora-killed", *words)
    assert done.code == 0 and "goes on from step" in done.out
    assert room.is_same("lora", "lora-killed")
    assert {room.card(name)["accuracy"]["dev"] for name in ("lora", "lora-killed")} == {
        room.card("lora")["accuracy"]["dev"]
    }
    one, two = (
        room.folder / name / "adapter" / "adapter_model.safetensors"
        for name in ("lora", "lora-killed")
    )
    assert one.read_bytes() == two.read_bytes()
    assert (room.card("lora")["lora"], room.card("lora")["pairs with a twin"]) == (
        {"rank": 4, "alpha": 8.0},
        164,
    )


@pytest.mark.torch
def test_a_finished_or_half_done_run_of_before_is_not_refused_for_what_it_did_not_know(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenhand.core.errors import EvenhandError
    from evenhand.train.run_cards import require_same

    path = room.folder / "whole" / "training.json"
    now = path.read_text(encoding="utf-8")
    card = json.loads(now)
    for name in ("pairing", "lora", "lora_alpha"):
        del card["recipe"][name]
    write(path, json.dumps(card))
    monkeypatch.setattr("evenhand.train.fine_tuning.fit", None)
    assert "is finished, nothing is trained" in room.train("whole").out
    other = room.train("whole", "--lora", "8")
    assert other.code == 2 and "(recipe.lora: 0, now 8)" in other.err
    write(path, now)
    old = {"recipe": card["recipe"], "limit": None}
    require_same(path, old, {"recipe": json.loads(now)["recipe"], "limit": None})
    with pytest.raises(EvenhandError, match=r"recipe\.pairing: 0\.0, now 1\.0"):
        require_same(path, old, {"recipe": card["recipe"] | {"pairing": 1.0}, "limit": None})


@pytest.mark.torch
def test_two_runs_in_one_folder_are_one_too_many(room: Room) -> None:
    from evenhand.core.errors import EvenhandError
    from evenhand.train.checkpoints import LOCK, locked

    out = room.folder / "locked"
    out.mkdir()
    with locked(out):
        done = room.train("locked")
        assert (
            done.code == 2
            and f"another run is training in {out} (process {os.getpid()} on " in done.err
        )
        with pytest.raises(EvenhandError), locked(out):
            pass
    assert not (out / LOCK).exists()
    write(
        out / LOCK, "1 on a machine that was switched off"
    )  # nobody holds it: the process is dead
    with locked(out):
        assert (out / LOCK).read_text(encoding="utf-8").startswith(f"{os.getpid()} on ")
    assert not (out / LOCK).exists() and not (room.folder / "whole" / LOCK).exists()


@pytest.mark.torch
def test_ctrl_c_says_how_to_go_on(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.train.loop import TrainingRun

    step = TrainingRun._step
    for at, kept in (
        (3, "there is no checkpoint yet"),
        (10, "the same command goes on from the last checkpoint"),
    ):

        def press(self: Any, rows: Any, at: int = at) -> None:
            step(self, rows)
            if self.at.step == at:
                raise KeyboardInterrupt

        monkeypatch.setattr(TrainingRun, "_step", press)
        done = room.train("pressed")
        assert (done.code, done.err.strip()) == (130, f"stopped: {kept}")
    monkeypatch.setattr(TrainingRun, "_step", step)
    (room.folder / "pressed" / "checkpoint" / "state.pt").write_bytes(b"PK torn")
    torn = room.train("pressed")
    assert torn.code == 2 and "state.pt cannot be read" in torn.err and "--no-resume" in torn.err
    assert room.train("pressed", "--no-resume").code == 0
    assert room.is_same("whole", "pressed")


@pytest.mark.torch
@pytest.mark.parametrize("form", ["esp", "clean", "{p} => {h}"])
def test_a_model_of_suppositions_is_as_right_when_asked_in_its_form_as_its_card_says(
    room: Room, form: str
) -> None:
    from evenhand.respondents.nli import NliSource

    out = f"form-{form[0]}"
    done = room.train(
        out,
        "--recipe",
        "supposition",
        "--supposition",
        form,
        "--epochs",
        "8",
        "--train-limit",
        "300",
        "--onnx",
    )
    assert done.code == 0, done.err
    for folder in (out, f"{out}/onnx"):
        assert (
            json.loads((room.folder / folder / "config.json").read_text(encoding="utf-8"))[
                "evenhand_form"
            ]
            == form
        )
    card = room.card(out)
    assert (card["form"], card["recipe"]["form"], card["pairs"], card["limit"], card["steps"]) == (
        form,
        form,
        300,
        300,
        80,
    )
    dev = read_pairs([room.folder / "dev.jsonl"])
    probes = [
        Probe(id=str(i), kind="pair", language="en", texts=(p.premise, p.hypothesis))
        for i, p in enumerate(dev)
    ]
    logits = {}
    for asked in (form, "pair"):
        respondent = NliSource().open(
            str(room.folder / out / "onnx"), RespondentOptions(form=asked)
        )
        logits[asked] = respondent.answer(probes).values[:, 0]
    best = logits[form].argmax(axis=1)
    right = [NLI_LABELS[k] == p.label for k, p in zip(best, dev, strict=True)]
    assert np.mean(right) == card["accuracy"]["dev"] > 0.6
    # the form is no matter of indifference
    assert np.abs(logits[form] - logits["pair"]).max() > 0.01


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("accelerate") is None, reason="needs accelerate")
@pytest.mark.parametrize("more", ["{}", '{"pairing": 2.0}', '{"lora": 4}'])
def test_two_processes_end_with_the_weights_of_one(room: Room, tmp_path: Path, more: str) -> None:
    """Without dropout, whose units differ.

    The batch size 31 leaves parts of unequal size, the last batch of 1 row leaves one process
    without a part.
    """
    script = write(tmp_path / "shared.py", SHARED)
    env = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    launch = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29617"]
    for name, how in (("one", []), ("two", launch)):
        command = [
            sys.executable,
            *how,
            str(script),
            str(room.encoder),
            str(room.folder / "train-paired.jsonl"),
            str(room.folder / name),
            more,
        ]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    one, two = room.weights("one"), room.weights("two")
    assert max(float(np.abs(one[k] - two[k]).max()) for k in one) < 1e-4
    assert (
        room.card("two")["processes"] == 2
        and room.card("two")["accuracy"] == room.card("one")["accuracy"]
    )


SHARED = """
import json, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from evenhand.train.corpus import read_pairs
from evenhand.train.fine_tuning import TrainingData, fit
from evenhand.train.loop import open_processes
from evenhand.train.recipes import Recipe, RunOptions

encoder, data, out = map(Path, sys.argv[1:4])
pairs = read_pairs([data])[:311]
recipe = Recipe(
    name="shared",
    epochs=1,
    batch_size=31,
    learning_rate=1e-3,
    dropout=0.0,
    has_frozen_words=False,
    is_best_kept=True,
    **json.loads(sys.argv[4]),
)
sets = TrainingData(train=pairs, dev={"dev": pairs[:70]})
fit(encoder, sets, recipe, out, RunOptions(checkpoint_every=5), open_processes())
"""
