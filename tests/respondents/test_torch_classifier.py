"""A model through torch says what transformers alone makes it say, and as ONNX too."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import POSITIONS, build_classifier, open_model, pairs
from quick import quick_audit
from replied import flat, reasons

from evenhand.core.errors import LabelError, LoadError
from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.suites import load_suite
from evenhand.respondents.nli import RESPONDENT

LENGTH = {"bert": POSITIONS, "roberta": POSITIONS - 2}  # behind the padding index


@pytest.mark.parametrize("name", ["torch", "transformers"])
def test_without_torch_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Runs everywhere: where torch is installed it is hidden."""
    (tmp_path / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    monkeypatch.setitem(sys.modules, name, None)
    for reference in (str(tmp_path), "org/model"):
        with pytest.raises(
            LoadError,
            match=rf"'{reference}' needs torch and transformers.*pip install 'evenhand\[hf\]'",
        ):
            RESPONDENT.open(reference, RespondentOptions())


@pytest.fixture(scope="module", params=["bert", "roberta"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_classifier(
        tmp_path_factory.mktemp("models") / str(request.param), str(request.param)
    )


@pytest.fixture(scope="module")
def probes() -> tuple[Probe, ...]:
    return load_suite("occupation-nli", "en", limit=60).probes


def one_at_a_time(folder: Path, probes: tuple[Probe, ...]) -> Floats:
    """What a user of transformers gets who asks pair by pair."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    words, network = (
        hub.AutoTokenizer.from_pretrained(folder),
        hub.AutoModelForSequenceClassification.from_pretrained(folder).eval(),
    )
    with torch.no_grad():
        logits = [
            network(**words(p.texts[0], p.texts[1], return_tensors="pt")).logits[0].numpy()
            for p in probes
        ]
    return np.asarray(logits, dtype=np.float64)


@pytest.mark.torch
@pytest.mark.parametrize("batch_size", [1, 7, 64, None])
def test_the_logits_are_those_of_transformers_at_any_batch_size(
    folder: Path, probes: tuple[Probe, ...], batch_size: int | None
) -> None:
    values = flat(open_model(folder, batch_size=batch_size).answer(probes))
    expected = one_at_a_time(folder, probes)
    np.testing.assert_allclose(values, expected, atol=1e-5)
    assert np.ptp(expected, axis=0).min() > 0.1  # the network does tell pairs apart


@pytest.mark.torch
def test_order_changes_nothing(folder: Path, probes: tuple[Probe, ...]) -> None:
    respondent, order = (
        open_model(folder, batch_size=7),
        np.random.default_rng(1).permutation(len(probes)),
    )
    np.testing.assert_allclose(
        flat(respondent.answer([probes[i] for i in order])),
        flat(respondent.answer(probes))[order],
        atol=1e-5,
    )


@pytest.mark.torch
def test_labels_in_another_order_move_the_columns(
    tmp_path: Path, probes: tuple[Probe, ...]
) -> None:
    turned = build_classifier(tmp_path / "turned", "bert", ("CONTRADICTION", "Entail", "neutral"))
    respondent = open_model(turned)
    assert respondent.traits["labels"] == "e1n2c0/config"
    np.testing.assert_allclose(
        flat(respondent.answer(probes)), one_at_a_time(turned, probes)[:, [1, 2, 0]], atol=1e-5
    )


@pytest.mark.torch
def test_generic_labels_are_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(LabelError, match="sanity pairs do not tell them apart"):
        open_model(
            build_classifier(tmp_path / "generic", "bert", ("LABEL_0", "LABEL_1", "LABEL_2"))
        )


@pytest.mark.torch
def test_the_longest_pair_is_answered_and_a_longer_one_is_not_cut(folder: Path) -> None:
    longest = LENGTH[folder.name]
    edge = " ".join(["very"] * (longest - 3 - 4))  # [CLS] a nurse sleeps . [SEP] ... [SEP]
    probes = pairs(edge, f"{edge} very", "A man sleeps.")
    respondent = open_model(folder)
    replies = respondent.answer(probes)
    values = flat(replies)
    assert np.isnan(values[:, 0]).tolist() == [False, True, False]
    np.testing.assert_allclose(
        values[[0, 2]], one_at_a_time(folder, (probes[0], probes[2])), atol=1e-5
    )
    assert reasons(replies) == {f"longer than the model's {longest} tokens": 1}


@pytest.mark.torch
def test_a_whole_audit_of_the_folder(folder: Path) -> None:
    run = quick_audit(str(folder))
    np.testing.assert_allclose(
        run.answers.values[:, 0], one_at_a_time(folder, run.suite.probes), atol=1e-5
    )
    assert run.answers.traits == {
        "labels": "e0n1c2/config",
        "scoring": "argmax",
        "precision": "fp32",
        "route": "transformers",
    }
    assert run.answers.coverage == 1


@pytest.mark.torch
def test_the_identity_changes_with_the_weights_and_the_words(folder: Path, tmp_path: Path) -> None:
    identity = open_model(folder).identity
    copy = Path(shutil.copytree(folder, tmp_path / folder.name))
    assert open_model(copy).identity == identity
    words = (copy / "tokenizer.json").read_text(encoding="utf-8")
    (copy / "tokenizer.json").write_text(words.replace('"nurse":', '"nurze":'), encoding="utf-8")
    other = open_model(copy).identity
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    network = hub.AutoModelForSequenceClassification.from_pretrained(copy)
    with torch.no_grad():
        network.classifier.bias.add_(
            1
        ) if folder.name == "bert" else network.classifier.out_proj.bias.add_(1)
    network.save_pretrained(copy)
    assert len({identity, other, open_model(copy).identity}) == 3


@pytest.mark.torch
def test_the_same_network_as_onnx_says_the_same(
    folder: Path, probes: tuple[Probe, ...], tmp_path: Path
) -> None:
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    pytest.importorskip("onnxscript", reason="torch.onnx.export needs it")
    target = tmp_path / folder.name
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("*.safetensors"))
    network = hub.AutoModelForSequenceClassification.from_pretrained(
        folder, attn_implementation="eager"
    ).eval()
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if folder.name == "bert" else [])]

    class Plain(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *columns: Any) -> Any:
            return self.network(**dict(zip(names, columns, strict=True))).logits

    example = tuple(
        torch.ones((2, 9), dtype=torch.int64)
        if n != "token_type_ids"
        else torch.zeros((2, 9), dtype=torch.int64)
        for n in names
    )
    axes = {n: {0: "batch", 1: "length"} for n in names} | {"logits": {0: "batch"}}
    torch.onnx.export(
        Plain(),
        example,
        str(target / "model.onnx"),
        input_names=names,
        output_names=["logits"],
        dynamic_axes=axes,
        dynamo=False,
        opset_version=17,
    )
    respondent = open_model(target, batch_size=7)
    assert respondent.traits["route"] == "onnxruntime"
    assert respondent.network.longest == LENGTH[folder.name]
    np.testing.assert_allclose(
        flat(respondent.answer(probes)), one_at_a_time(folder, probes), atol=1e-4
    )


@pytest.mark.torch
@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "EVENHAND_OFFLINE"])
def test_a_hub_id_without_network_is_a_load_error_that_names_the_network(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    pytest.importorskip("torch")
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("EVENHAND_OFFLINE", "0")
    monkeypatch.setenv(variable, "1")
    if variable == "HF_HUB_OFFLINE":
        monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(
        LoadError,
        match=r"cannot load 'no-such-org/no-such-model': .*check the name and the network",
    ) as refused:
        RESPONDENT.open("no-such-org/no-such-model", RespondentOptions())
    assert "\n" not in str(refused.value)


@pytest.mark.torch
def test_a_folder_with_broken_weights_is_a_load_error(tmp_path: Path) -> None:
    folder = build_classifier(tmp_path / "broken", "bert")
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(LoadError, match=f"cannot load '{folder}': ") as refused:
        open_model(folder)
    assert "network" not in str(refused.value)
