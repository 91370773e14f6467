"""The embedded model, unpacked for training, is the model that answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evenhand.core.probe import NLI_LABELS
from evenhand.train.corpus import read_pairs

torch = pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("onnx", reason="needs the train extra")
pytestmark = pytest.mark.torch


def test_the_unpacked_model_has_the_logits_of_the_embedded_one(data: Path) -> None:
    import onnxruntime
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from evenhand.train.encoders import find_encoder, unpacked_default

    torch.set_num_threads(1)
    folder = find_encoder("default")
    assert Path(folder) == unpacked_default() and find_encoder("./default") == "./default"
    model, report = AutoModelForSequenceClassification.from_pretrained(
        folder, output_loading_info=True
    )
    assert not report["missing_keys"] and not report["mismatched_keys"]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    pairs = read_pairs([data / "nli" / "en.snli-dev.jsonl"])[:48]
    encoded = tokenizer(
        [p.premise for p in pairs], [p.hypothesis for p in pairs], padding=True, return_tensors="pt"
    )
    with torch.inference_mode():
        own = model.eval()(**encoded).logits.numpy()
    from importlib.resources import files

    graph = Path(str(files("evenhand") / "models" / "default" / "model.onnx"))
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    asked = {given.name: encoded[given.name].numpy() for given in session.get_inputs()}
    assert np.abs(own - session.run(None, asked)[0]).max() < 1e-4
    right = np.mean(
        [NLI_LABELS[k] == p.label for k, p in zip(own.argmax(axis=1), pairs, strict=True)]
    )
    assert right > 0.6


def test_damaged_weights_are_unpacked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The unpacked copy was known by the size of the graph alone, and never looked at again."""
    from evenhand.core.checksums import file_sha256, sum_faults
    from evenhand.train.encoders import unpacked_default

    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    folder = unpacked_default()
    weights = folder / "model.safetensors"
    digest, written = file_sha256(weights), weights.stat().st_mtime_ns
    assert unpacked_default() == folder and weights.stat().st_mtime_ns == written
    raw = bytearray(weights.read_bytes())
    raw[-1000] ^= 1
    weights.write_bytes(bytes(raw))
    assert sum_faults(folder) and unpacked_default() == folder
    assert file_sha256(weights) == digest and not sum_faults(folder)


def test_another_model_is_unpacked_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph of the same size was taken for the one before it."""
    from evenhand.core.checksums import write_sums
    from evenhand.respondents import location
    from evenhand.train import encoders
    from evenhand.train.export import MODEL_FILES

    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    monkeypatch.setattr(location, "files", lambda _: tmp_path)
    monkeypatch.setattr(encoders, "unpack", lambda graph, out: out.write_bytes(graph.read_bytes()))
    folder = tmp_path / "models" / "default"
    folder.mkdir(parents=True)
    seen = []
    for content in (b"one", b"two"):
        for name in MODEL_FILES:
            (folder / name).write_bytes(content if name == "model.onnx" else b"{}")
        write_sums(folder, MODEL_FILES)
        location.require_intact.cache_clear()
        seen.append((encoders.unpacked_default() / "model.safetensors").read_bytes())
    assert seen == [b"one", b"two"]


def test_training_starts_from_it_by_name(data: Path, tmp_path: Path) -> None:
    """A learning rate of 0 leaves the model as it is: the export answers like the embedded one."""
    from commands import evenhand

    from evenhand.core.probe import Probe
    from evenhand.core.protocols import RespondentOptions
    from evenhand.respondents.nli import NliSource

    torch.set_num_threads(1)
    lines = (data / "nli" / "en.snli-dev.jsonl").read_text(encoding="utf-8").split("\n")
    for name, part in (("train", lines[:64]), ("dev", lines[64:128])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(part), encoding="utf-8")
    files = ("--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl")
    words = ("--encoder", "default", *files, "--out", tmp_path / "out")
    done = evenhand("train", "nli", *words, "--epochs", "1", "--learning-rate", "0")
    assert done.code == 0, done.err
    card = json.loads((tmp_path / "out" / "training.json").read_text(encoding="utf-8"))
    assert card["encoder"]["name"] == "default" and card["new weights"] == []
    assert card["parameters"]["trained"] == card["parameters"]["all"] > 20_000_000
    probes = [
        Probe(id=str(i), kind="pair", language="en", texts=(p.premise, p.hypothesis))
        for i, p in enumerate(read_pairs([tmp_path / "dev.jsonl"]))
    ]
    answers = [
        NliSource().open(name, RespondentOptions()).answer(probes).values
        for name in ("default", str(tmp_path / "out" / "onnx"))
    ]
    assert np.abs(answers[0] - answers[1]).max() < 1e-4
