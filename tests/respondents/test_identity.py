"""The revision of a model changes with every file that it reads, and with nothing else."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import onnx
import pytest
from encoder_models import PROBES, opened, write_encoder, write_modules
from models import TinyModel, open_model, write_model
from quick import load
from replied import flat

from evenhand.core.checksums import write_sums
from evenhand.core.errors import LoadError
from evenhand.core.probe import ENTAILMENT
from evenhand.engine.ask import Asking, ask_suite
from evenhand.respondents import location as locations
from evenhand.respondents.locate import locate
from evenhand.respondents.location import UNKNOWN, Location, default_folder, require_intact


def write_apart(folder: Path, seed: int, place: str = "weights.bin") -> Path:
    """A model whose weights lie in a file of their own, as the graph says."""
    write_model(folder)
    (folder / place).unlink(missing_ok=True)
    (folder / place).parent.mkdir(exist_ok=True)
    onnx.save(
        TinyModel(seed=seed).graph(),
        str(folder / "model.onnx"),
        save_as_external_data=True,
        location=place,
        size_threshold=64,
    )
    return folder


def revision(folder: Path) -> str:
    return locate(str(folder)).revision


def mean_logit(folder: Path, cache: Path) -> float:
    """The mean logit of entailment over the answers of a model, asked with a cache."""
    suite = load(limit=20)
    answers = ask_suite(open_model(folder), suite, Asking(cache=cache))
    return float(answers.values[:, 0, answers.labels.index(ENTAILMENT)].mean())


@pytest.mark.parametrize("place", ["weights.bin", "parts/rest"])
def test_weights_beside_the_graph_are_part_of_the_model(tmp_path: Path, place: str) -> None:
    """The cache answered with the old model where only the file of its weights was replaced."""
    folder = write_apart(tmp_path / "tiny", seed=1, place=place)
    graph = (folder / "model.onnx").read_bytes()
    before, first = revision(folder), mean_logit(folder, tmp_path / "cache")
    write_apart(tmp_path / "other", seed=2, place=place)
    shutil.copy(tmp_path / "other" / place, folder / place)
    assert (folder / "model.onnx").read_bytes() == graph
    assert revision(folder) != before
    second = mean_logit(folder, tmp_path / "cache")
    assert second == mean_logit(folder, tmp_path / "another cache")
    assert abs(second - first) > 0.01
    shutil.copy(write_apart(tmp_path / "third", seed=1, place=place) / place, folder / place)
    assert revision(folder) == before


def test_weights_that_are_not_there_are_named(tmp_path: Path) -> None:
    folder = write_apart(tmp_path / "tiny", seed=1)
    (folder / "weights.bin").unlink()
    with pytest.raises(LoadError, match=r"model\.onnx has weights in weights\.bin, which is not"):
        locate(str(folder)).revision  # noqa: B018


READ = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "spm.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
    "source.spm",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "qwen.tiktoken",
    "generation_config.json",
    "chat_template.jinja",
    "additional_chat_templates/tool_use.jinja",
    "modules.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    "modeling_own.py",
    "adapter_config.json",
]


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("has_graph", [True, False])
def test_every_file_that_a_model_reads_is_part_of_it(
    tmp_path: Path, name: str, has_graph: bool
) -> None:
    folder = write_model(tmp_path / "tiny")
    if not has_graph:
        (folder / "model.onnx").rename(folder / "model.safetensors")
    write_modules(folder, "Pooling")
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    without = revision(folder)
    content = json.loads(path.read_text("utf-8")) if path.exists() else {"a": 1}
    if isinstance(content, list):
        content[-1]["note"] = "x"
    else:
        content["note"] = "x"
    path.write_text(json.dumps(content), encoding="utf-8")
    with_one = revision(folder)
    path.write_text(json.dumps(content).replace('"x"', '"y"'), encoding="utf-8")
    assert len({without, with_one, revision(folder)}) == 3


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "training.json",
        "trainer_state.json",
        "model.safetensors",
        "report.html",
        ".cache",
    ],
)
def test_what_no_model_reads_changes_nothing(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path / "tiny")
    before = revision(folder)
    (folder / name).write_text("x", encoding="utf-8")
    assert revision(folder) == before


def test_where_it_lies_changes_nothing_and_a_renamed_file_does(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny")
    before = revision(folder)
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert revision(tmp_path / "elsewhere") == before
    (folder / "vocab.txt").write_text("a", encoding="utf-8")
    one = revision(folder)
    (folder / "vocab.txt").rename(folder / "merges.txt")
    assert revision(folder) != one


@pytest.mark.parametrize("place", ["", "0_Transformer"])
def test_a_prompt_is_in_revision_and_signature(tmp_path: Path, place: str) -> None:
    """A changed prompt of an encoder was in neither."""
    folder = tmp_path / "encoder"
    write_encoder(folder / place)
    write_modules(folder, "Pooling", place=place)
    plain = opened(folder)
    assert "prompt" not in plain.traits
    seen = {plain.identity}
    values = [flat(plain.answer(PROBES[:1])).tolist()]
    for prompt in ("he said, ", "she\nsaid, "):
        settings = {"prompts": {"query": prompt}, "default_prompt_name": "query"}
        (folder / "config_sentence_transformers.json").write_text(
            json.dumps(settings), encoding="utf-8"
        )
        prompted = opened(folder)
        assert prompted.traits["prompt"] == json.dumps(prompt)
        assert "\n" not in prompted.traits["prompt"]
        seen.add(prompted.identity)
        values.append(flat(prompted.answer(PROBES[:1])).tolist())
    assert len(seen) == 3
    assert values[0] != values[1] != values[2]


def test_the_pooling_below_a_named_folder_is_part_of_the_encoder(tmp_path: Path) -> None:
    folder = tmp_path / "encoder"
    write_encoder(folder / "0_Transformer")
    write_modules(folder, "Pooling", place="0_Transformer")
    mean = opened(folder)
    write_modules(
        folder, "Pooling", pooling={"pooling_mode_cls_token": True}, place="0_Transformer"
    )
    first = opened(folder)
    assert (mean.traits["scoring"], first.traits["scoring"]) == ("mean/cosine", "cls/cosine")
    assert mean.identity != first.identity


def write_adapter(folder: Path, base: str) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "adapter_model.safetensors").write_bytes(b"narrow matrices")
    settings = {"base_model_name_or_path": base}
    (folder / "adapter_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def test_an_adapter_is_the_model_below_it_too(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "config.json").write_text("{}", encoding="utf-8")
    (base / "model.safetensors").write_bytes(b"one")
    folder = write_adapter(tmp_path / "adapter", str(base))
    before = revision(folder)
    assert revision(folder) == before
    (base / "model.safetensors").write_bytes(b"two")
    between = revision(folder)
    (folder / "adapter_model.safetensors").write_bytes(b"other matrices")
    assert len({before, between, revision(folder)}) == 3


def test_an_adapter_of_a_hub_model_has_its_commit_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_adapter(tmp_path / "adapter", "org/base")
    files = {"0" * 40: tmp_path / "snapshots" / ("0" * 40) / "config.json"}
    files["1" * 40] = tmp_path / "snapshots" / ("1" * 40) / "config.json"
    seen = []
    for path in files.values():
        monkeypatch.setattr(locations, "fetch_file", lambda *_, path=path: path)
        seen.append(revision(folder))
    assert len(set(seen)) == 2 and UNKNOWN not in seen

    def refuse(*_: object) -> Path:
        raise OSError("no network")

    monkeypatch.setattr(locations, "fetch_file", refuse)
    assert revision(folder) == UNKNOWN  # what is not known is not kept in the cache
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: "peft is installed")
    hub = Location(name="org/tiny", hub_id="org/tiny", commit="2" * 40)
    assert hub.revision == "2" * 12


def test_the_embedded_model_is_checked_when_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_model(tmp_path / "models" / "default")
    write_sums(folder, ["model.onnx", "tokenizer.json", "config.json"])
    monkeypatch.setattr("evenhand.respondents.location.files", lambda _: tmp_path)
    assert locate("default").folder == folder
    require_intact.cache_clear()
    config = folder / "config.json"
    config.write_text(config.read_text("utf-8").replace("neutral", "neutrel"), encoding="utf-8")
    with pytest.raises(
        LoadError,
        match=r"is damaged: config\.json has SHA-256 \w{16}\.\.\., expected \w{16}\.\.\.\. Install",
    ):
        locate("default")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(LoadError, match=r"; tokenizer\.json is missing\. Install"):
        locate("default")


@pytest.mark.parametrize("name", ["model.onnx", "config.json", "added_tokens.json"])
def test_what_the_sums_of_the_embedded_model_do_not_list_is_damage(
    tmp_path: Path, name: str
) -> None:
    """Where the line of a file was lost, any other file passed for it."""
    folder = write_model(tmp_path / "tiny")
    names = {"model.onnx", "tokenizer.json", "config.json"}
    write_sums(folder, names)
    require_intact(folder)
    require_intact.cache_clear()
    (folder / name).touch()
    write_sums(folder, names - {name})
    with pytest.raises(LoadError, match=f"is damaged: SHA256SUMS does not list {name}. Install"):
        require_intact(folder)


@pytest.mark.parametrize("place", ["parts/model-1.safetensors", "../model-1.safetensors"])
def test_weights_that_an_index_names_are_part_of_the_model(tmp_path: Path, place: str) -> None:
    """transformers reads them wherever they lie; the revision had those of the folder alone."""
    folder = tmp_path / "model"
    (folder / "parts").mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    index = {"weight_map": {"a.weight": place, "b.weight": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    (folder / "model-2.safetensors").write_bytes(b"rest")
    (folder / place).write_bytes(b"one")
    before = revision(folder)
    assert revision(folder) == before
    (folder / place).write_bytes(b"two")
    assert revision(folder) != before


def test_the_sums_of_the_embedded_model_cover_all_that_it_reads() -> None:
    folder = default_folder()
    lines = (folder / "SHA256SUMS").read_text("utf-8").splitlines()
    names = {line.partition("  ")[2] for line in lines}
    assert names == {p.name for p in folder.iterdir()} - {"SHA256SUMS", "MODEL_CARD.md"}
    require_intact(folder)
