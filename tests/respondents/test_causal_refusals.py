"""What is no causal model, and what is not asked of one: each refused in one line."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from causal_models import build, made, refusal
from masked_models import DISCRIMINATOR
from masked_models import build as build_masked

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.probe import Probe
from evenhand.engine.ask import ask
from evenhand.respondents.causal import RESPONDENT


def test_rules_of_masked_models_are_refused() -> None:
    with pytest.raises(EvenhandError, match=r"^scoring 'together' is a rule of masked models"):
        made(scoring="together")
    with pytest.raises(UnknownNameError, match="rule for words of unequal length 'meen'"):
        made(length="meen")


def test_pairs_are_refused() -> None:
    pair = Probe(id="p", kind="pair", language="en", texts=("A nurse sleeps.", "A woman sleeps."))
    with pytest.raises(EvenhandError, match="cannot answer pair probes"):
        ask(made(), [pair])


def test_the_source_is_in_the_catalog_and_claims_its_prefix_only() -> None:
    assert catalog.respondents()["causal"] is RESPONDENT
    assert [
        RESPONDENT.claims(r)
        for r in ("causal:gpt2", "causal:./x", "gpt2", "./causal", "fixed:random")
    ] == [
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("name", ["", "./nowhere", "/nowhere/at/all", "a/b/c", "no such model"])
def test_what_is_neither_folder_nor_hub_id(name: str) -> None:
    assert refusal(f"causal:{name}") == (
        f"unknown model 'causal:{name}': there is no such folder. Looked for: a folder '{name}' "
        "here, one of the names smollm, a hub id such as causal:org/model."
    )


def test_folders_without_a_model(tmp_path: Path) -> None:
    assert refusal(f"causal:{tmp_path}") == (
        f"{tmp_path} is no model folder: it has neither a config.json nor a .gguf file "
        "(found: nothing)"
    )
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).touch()
    assert (
        refusal(f"causal:{tmp_path}")
        == f"{tmp_path} has 2 .gguf files (a.gguf, b.gguf); give a folder with one of them"
    )


def test_a_gguf_file_without_its_packages_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.gguf").touch()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert refusal(f"causal:{tmp_path}") == (
        f"{tmp_path / 'a.gguf'} is a GGUF file; to read it, install what unpacks it: "
        "pip install gguf accelerate"
    )


def test_without_torch_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert refusal(f"causal:{tmp_path}").endswith(
        "needs torch and transformers, which are not installed: pip install 'evenhand[hf]'"
    )


@pytest.mark.torch
@pytest.mark.parametrize("family", ["bert", "roberta", "electra"])
def test_a_masked_model_is_no_causal_model(tmp_path: Path, family: str) -> None:
    folder = build_masked(tmp_path / family, family)
    message = refusal(f"causal:{folder}")
    assert (
        message.startswith(f"'{folder}' (")
        and "ForMaskedLM) reads to the left and to the right: it is no causal language model"
        in message
    )


@pytest.mark.torch
@pytest.mark.parametrize("family", ["encoder", DISCRIMINATOR])
def test_a_model_without_a_head_is_refused(tmp_path: Path, family: str) -> None:
    folder = build_masked(tmp_path / family, family)
    assert "has no trained head that predicts the next token (" in refusal(f"causal:{folder}")


@pytest.mark.torch
def test_other_refusals(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    hub = pytest.importorskip("transformers")
    body = build(tmp_path / "body", "llama")
    hub.LlamaModel.from_pretrained(body).save_pretrained(body)
    assert (
        "has no trained head that predicts the next token (lm_head.weight not among its weights)"
        in refusal(f"causal:{body}")
    )
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "config.json").write_text('{"model_type": "gpt2"}', encoding="utf-8")
    assert refusal(f"causal:{tmp_path / 'empty'}").startswith(
        f"cannot load '{tmp_path / 'empty'}' as a causal language model: "
    )
    assert refusal("causal:no-one/has-this").endswith(
        "check the name and the network, or download the model and name its folder."
    )
