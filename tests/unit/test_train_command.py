"""Does `evenhand train nli` read the published forms, refuse what would waste hours, and end the same whether or not it was killed half-way?"""

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
from commands import Outcome, evenhand, files_in

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.protocols import RespondentOptions
from evenhand.core.records import NLI_LABELS, Probe
from evenhand.train.corpus import Pair, read_corpus, read_pairs
from evenhand.train.recipes import NAMED, RECIPES, find_recipe

GOOD = '{"premise": "a", "hypothesis": "b", "label": "neutral"}'
PAIRS = [Pair("A man runs .", "He moves", "entailment"), Pair("She sings", "It rains", "neutral")]
FORMS = {
    "own.jsonl": '{"premise": "A man runs .", "hypothesis": "He moves", "label": "entailment"}\n{"premise": "She sings", "hypothesis": "It rains", "label": "neutral"}\n',
    "snli.jsonl": '{"gold_label": "entailment", "sentence1": "A man runs .", "sentence2": "He moves", "annotator_labels": ["neutral"]}\n'
    '{"gold_label": "-", "sentence1": "A", "sentence2": "B"}\n{"gold_label": "neutral", "sentence1": "She sings", "sentence2": "It rains"}\n',
    "ocnli.json": '{"level": "easy", "sentence1": "A man runs .", "sentence2": "He moves", "label": "entailment", "label0": "neutral"}\n'
    '{"sentence1": "She sings", "sentence2": "It rains", "label": "neutral"}\n{"sentence1": "x", "sentence2": "y", "label": "-"}\n',
    "jsnli.tsv": "entailment\tA man runs .\tHe moves\nneutral\tShe sings\tIt rains\n",
    "glue.tsv": 'index\tsentence1\tsentence2\tgold_label\n0\tA man runs .\tHe moves\tentailment\n1\tShe sings\tIt rains\tneutral\n2\t"A\tB\t-\n',
    "snli.txt": "gold_label\tsentence1\tsentence2\tlabel1\tlabel2\nentailment\tA man runs .\tHe moves\tentailment\t\t\nneutral\tShe sings\tIt rains\tneutral\t\n",
    "anli.jsonl": '{"context": "A man runs .", "hypothesis": "He moves", "label": "e"}\n{"context": "She sings", "hypothesis": "It rains", "label": "n"}\n',
    "table.csv": 'label,premise,hypothesis\nEntailment,A man runs .,He moves\nneutral,"She sings",It rains\n',
}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FORMS)
def test_every_published_form_is_read(tmp_path: Path, name: str) -> None:
    corpus = read_corpus(write(tmp_path / name, FORMS[name]))
    assert list(corpus.pairs) == PAIRS
    undecided = int(name in ("snli.jsonl", "ocnli.json", "glue.tsv"))
    assert corpus.undecided == undecided
    told = corpus.describe()
    assert told["sha256"] == hashlib.sha256(FORMS[name].encode()).hexdigest()
    assert (told["rows"], told["pairs"], told["left out"]) == (2 + undecided, 2, {"label -": 1} if undecided else {})


def test_words_of_jsnli_stay_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "train_w_filtering.tsv", "contradiction\t自転車 で 2 人 の 男性 が 競い ます 。\t「 人々 は 寝て い ます 。\n")
    assert read_pairs([path]) == [Pair("自転車 で 2 人 の 男性 が 競い ます 。", "「 人々 は 寝て い ます 。", "contradiction")]


def test_the_real_files_are_read_whole(data: Path) -> None:
    for name, count in (("ja.jsnli-dev", 3916), ("zh.ocnli-dev", 2950), ("en.mnli-dev-matched", 9814)):
        path = data / "nli" / f"{name}.jsonl"
        assert len(read_pairs([path])) == sum(1 for line in path.read_text(encoding="utf-8").split("\n") if line) == count


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.jsonl", GOOD + '\n{"premise": "a", "label": "neutral"}\n', "row 2: .*'hypothesis' is missing"),
        ("a.jsonl", GOOD + '\n{"premise": "a", "hypothesis": "b"}\n', "row 2: .*'label' is missing"),
        ("a.jsonl", GOOD + '\n{"premise": "a", "hypothesis": "b", "label": "maybe"}\n', "row 2: label 'maybe' is none of"),
        ("a.jsonl", GOOD + '\n{"premise": "a", "hypothesis": "b", "label": 2}\n', "row 2: label 2 is none of .*write the names"),
        ("a.jsonl", GOOD + '\n{"premise": "a", "hypothesis": "b", "label": "not_entailment"}\n', "row 2: .*two labels; three are needed"),
        ("a.jsonl", GOOD + '\n{"premise": " ", "hypothesis": "b", "label": "neutral"}\n', "row 2: the premise is empty"),
        ("a.jsonl", GOOD + '\n{"premise": "a", "hypothesis": null, "label": "neutral"}\n', "row 2: the hypothesis is empty"),
        ("a.jsonl", GOOD + '\n{"premise": ["a"], "hypothesis": "b", "label": "neutral"}\n', "row 2: the premise is no text"),
        ("a.jsonl", '{"sentence1": "a", "sentence2": "b", "label": "-"}\n', "has no labelled pair"),
        ("a.tsv", "neutral\ta\tb\nneutral\ta\n", "row 2: has 2 columns where 3 are due"),
        ("a.tsv", "neutral\ta\tb\nneutral\t\tb\n", "row 2: the premise is empty"),
        ("a.tsv", "one\ttwo\tthree\nneutral\ta\tb\n", "row 1: .*'hypothesis' is missing.*without a head the columns are label, premise"),
        ("a.parquet", "PAR1", "'.parquet' is not a known form"),
    ],
)
def test_a_bad_training_row_is_named(tmp_path: Path, name: str, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=f"{name}.*{reason}"):
        read_pairs([write(tmp_path / name, text)])


def test_recipes_are_those_of_the_papers_and_the_own_ones_are_untouched() -> None:
    told = {name: (r.epochs, r.learning_rate, r.batch_size, r.max_length, r.form) for name, r in NAMED.items()}
    assert told == {
        "nli-coal": (5, 2e-5, 32, 128, "pair"), "sharma": (3, 2e-5, 32, 128, "pair"), "sharma-1e-5": (3, 1e-5, 32, 128, "pair"),
        "supposition": (3, 2e-5, 32, 128, "clean"), "plain": (4, 1e-4, 32, 128, "pair"), "layered": (4, 2e-4, 32, 128, "pair"),
        "polished": (1, 6e-5, 32, 128, "pair"),
    }  # fmt: skip
    sharma = find_recipe("sharma")
    assert (sharma.beta1, sharma.beta2, sharma.weight_decay, sharma.average, sharma.patience) == (0.9, 0.999, 0.01, 0.0, 0)
    assert list(RECIPES) == ["plain", "layered", "polished"] and RECIPES["polished"].start and not find_recipe("polished").start
    with pytest.raises(EvenhandError, match=r"unknown recipe 'sharme'\. Did you mean sharma"):
        find_recipe("sharme")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files to train on, and something that looks like an encoder."""
    monkeypatch.chdir(tmp_path)
    rows = [
        json.dumps({"premise": f"p{i}", "hypothesis": "h", "label": label})
        for i, label in enumerate(("entailment", "neutral", "contradiction"))
    ]
    write(tmp_path / "train.jsonl", "\n".join(rows))
    write(tmp_path / "dev.jsonl", rows[0])
    write(tmp_path / "two.jsonl", "\n".join(rows[:2]))
    for name, files in (("enc", ("config.json", "model.safetensors", "vocab.txt")), ("mute", ("config.json", "model.safetensors"))):
        (tmp_path / name).mkdir()
        for file in files:
            write(tmp_path / name / file, "{}")
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"--recipe": "supposed"}, "unknown recipe 'supposed'. Did you mean supposition or polished?"),
        ({"--epochs": "0"}, "epochs is 0; give a number of at least 1"),
        ({"--batch-size": "0"}, "batch size is 0; give a number of at least 1"),
        ({"--learning-rate": "-1e-5"}, "learning rate is -1e-05; give a number between 0 and 1, such as 2e-5"),
        ({"--form": "cleen"}, "unknown form 'cleen'. Did you mean clean?"),
        ({"--dev": "nowhere.jsonl"}, "nowhere.jsonl: there is no such file"),
        ({"--train": "nowhere.jsonl"}, "nowhere.jsonl: there is no such file"),
        ({"--train": "two.jsonl"}, "two.jsonl: no row is labelled contradiction; three labels are needed"),
        ({"--encoder": "./nowhere"}, "unknown model './nowhere': there is no such folder"),
        ({"--encoder": "mute"}, "mute is no encoder that can be trained: it has no tokenizer"),
        ({"--out": "train.jsonl/x"}, "cannot write train.jsonl"),
    ],
)  # fmt: skip
def test_what_would_waste_hours_is_said_at_once(place: Path, changes: dict[str, str], reason: str) -> None:
    before = files_in(place)
    words = {"--encoder": "enc", "--train": "train.jsonl", "--dev": "dev.jsonl", "--out": "out", **changes}
    said = evenhand("train", "nli", *(word for pair in words.items() for word in pair))
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ") and reason in said.err and said.err.count("\n") == 1
    assert files_in(place) == before


class Room:
    """Files of a small language that a tiny encoder can learn."""

    def __init__(self, folder: Path) -> None:
        tools = pytest.importorskip("test_training", reason="needs the train extra")
        self.folder, self.encoder = folder, tools.save_encoder(folder)
        for name, count, seed in (("train", 330, 1), ("dev", 90, 2)):
            rows = [{"sentence1": p.premise, "sentence2": p.hypothesis, "gold_label": p.label} for p in tools.corpus(count, seed)]
            rows.insert(7, {"sentence1": "w1", "sentence2": "w2", "gold_label": "-"})
            write(folder / f"{name}.jsonl", "\n".join(map(json.dumps, rows)))

    def words(self, out: str, *more: str) -> list[str]:
        """11 steps an epoch, a checkpoint every 4."""
        paths = ["--encoder", str(self.encoder), "--train", str(self.folder / "train.jsonl"), "--dev", str(self.folder / "dev.jsonl")]
        told = [
            "--recipe",
            "plain",
            "--epochs",
            "3",
            "--learning-rate",
            "0.003",
            "--batch-size",
            "30",
            "--checkpoint-every",
            "4",
            "--no-onnx",
        ]
        return ["train", "nli", *paths, "--out", str(self.folder / out), *told, *more]

    def train(self, out: str, *more: str) -> Outcome:
        return evenhand(*self.words(out, *more))

    def weights(self, out: str) -> dict[str, Any]:
        from safetensors.numpy import load_file

        return dict(load_file(self.folder / out / "model.safetensors"))

    def card(self, out: str) -> dict[str, Any]:
        return dict(json.loads((self.folder / out / "training.json").read_text(encoding="utf-8")))

    def is_same(self, one: str, two: str) -> bool:
        a, b = self.weights(one), self.weights(two)
        return all(np.array_equal(a[k], b[k]) for k in a)


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
