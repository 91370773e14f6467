"""Where a model is looked for, what its files say of it, and what is said where that is wrong."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import huggingface_hub
import huggingface_hub.constants
import pytest
from masked_models import write_masked
from models import TinyModel, build_classifier, open_model, pairs, write_model
from replied import flat

from evenhand.core import catalog
from evenhand.core.errors import EvenhandWarning, LoadError
from evenhand.core.probe import KINDS, Kind
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.respondents import locate as locating
from evenhand.respondents.fixed import FixedRespondent
from evenhand.respondents.function import FunctionRespondent
from evenhand.respondents.locate import ModelSource, locate, open_respondent
from evenhand.respondents.location import UNKNOWN, Location, default_folder
from evenhand.respondents.nli import NliRespondent
from evenhand.respondents.packages import KNOWN_NAMES, PACKAGES
from evenhand.respondents.stored import StoredRespondent

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def refusal(reference: object, kind: Kind = "pair", **options: Any) -> str:
    with pytest.raises(LoadError) as refused:
        open_respondent(str(reference), kind, RespondentOptions(**options))
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_folder_is_one_record(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", architectures=["BertForSequenceClassification"])
    location = locate(str(folder))
    assert (location.name, location.place) == ("tiny", str(folder))
    assert (location.graph, location.runtime) == (folder / "model.onnx", "onnxruntime")
    assert (location.head, location.architecture) == ("labels", "BertForSequenceClassification")
    assert location.revision == open_model(folder).identity.removeprefix("tiny@")
    assert location.languages == ()


def test_weights_without_a_graph_go_through_transformers(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    for name in ("b.gguf", "a.bin", "c.safetensors"):
        (tmp_path / name).write_bytes(name.encode())
    location = locate(str(tmp_path))
    assert location.runtime == "transformers"
    assert [p.name for p in location.weights] == ["a.bin", "c.safetensors"]
    before = location.revision
    (tmp_path / "a.bin").write_bytes(b"other")
    assert locate(str(tmp_path)).revision != before


def test_every_model_source_says_which_heads_it_can_use() -> None:
    sources = catalog.respondents()
    heads = {name: s.heads for name, s in sources.items() if isinstance(s, ModelSource)}
    assert heads == {
        "causal": {"text"},
        "encoder": {"vectors"},
        "masked": {"words"},
        "next-sentence": {"next"},
        "nli": {"labels"},
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_a_hub_id_without_torch_never_reaches_for_the_network(
    monkeypatch: pytest.MonkeyPatch, kind: Kind, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setattr(
        huggingface_hub, "hf_hub_download", lambda *_, **__: pytest.fail("asked the network")
    )
    references = ["org/model"]
    if kind == "choice":
        references += ["encoder:org/model", "nsp:org/model", "causal:org/model"]
    for reference in references:
        assert (
            "there is no folder 'org/model' here, and as a model of the hub 'org/model' needs "
            "torch and transformers, which are not installed: pip install 'evenhand[hf]'"
        ) in refusal(reference, kind)


def test_what_is_nowhere_says_what_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refusal("./nowhere") == (
        "unknown model './nowhere': there is no such folder. Looked for: a folder './nowhere' "
        "here, one of the names default, a hub id such as org/model."
    )
    assert refusal("defualt", "choice").startswith(
        "unknown model 'defualt': there is no such folder. Did you mean default? "
        "Looked for: a folder 'defualt' here, one of the names minilm, universal, albert-tiny-zh, "
    )
    assert refusal("no such model", "mask").endswith("a hub id such as org/model.")
    assert refusal("casual:gpt2", "mask").startswith(
        "unknown model 'casual:gpt2'. Did you mean causal:gpt2? Known forms: "
    )


def test_a_folder_beside_it_with_nearly_the_same_name_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_model(tmp_path / "my-model")
    monkeypatch.chdir(tmp_path)
    assert "Did you mean ./my-model?" in refusal("./my-modle")
    assert f"Did you mean {tmp_path}/my-model?" in refusal(f"{tmp_path}/my_model")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert refusal("my-modle").endswith("Did you mean my-model?")


def test_the_embedded_model_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.respondents.location.files", lambda _: tmp_path)
    assert "install evenhand again" in refusal("default")


def hub_folder(root: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of the hub as its client keeps it, with one model `org/tiny`."""
    repository = root / "models--org--tiny"
    shutil.copytree(model, repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(root))


def test_a_model_of_the_hub_is_located_by_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = write_model(tmp_path / "model", architectures=["BertForSequenceClassification"])
    hub_folder(tmp_path / "hub", model, monkeypatch)
    monkeypatch.setattr(locating, "lacks_torch", lambda: False)
    location = locate("org/tiny")
    assert (location.name, location.place, location.folder) == ("org/tiny", "org/tiny", None)
    assert (location.commit, location.revision) == (COMMIT, COMMIT[:12])
    assert (location.head, location.runtime) == ("labels", "transformers")
    with pytest.raises(
        LoadError, match=r"^cannot load 'org/other': .* check the name and the network"
    ):
        locate("org/other")


@pytest.mark.torch
def test_a_model_of_the_hub_answers_like_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build_classifier(tmp_path / "tiny", "bert")
    hub_folder(tmp_path / "hub", folder, monkeypatch)
    respondent = open_respondent("org/tiny", "pair", RespondentOptions())
    assert respondent.identity == f"org/tiny@{COMMIT[:12]}"
    assert respondent.is_cacheable
    asked = pairs("A woman sleeps.", "A man sleeps.")
    assert (
        flat(respondent.answer(asked)).tolist() == flat(open_model(folder).answer(asked)).tolist()
    )


def test_a_revision_names_a_commit_a_branch_or_a_tag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = write_model(tmp_path / "model", architectures=["BertForSequenceClassification"])
    hub_folder(tmp_path / "hub", model, monkeypatch)
    monkeypatch.setattr(locating, "lacks_torch", lambda: False)
    repository = tmp_path / "hub" / "models--org--tiny"
    older = "0" * 39 + "1"
    shutil.copytree(repository / "snapshots" / COMMIT, repository / "snapshots" / older)
    (repository / "refs" / "v1").write_text(older, encoding="utf-8")
    monkeypatch.setenv("EVENHAND_OFFLINE", "1")
    assert locate("org/tiny").commit == COMMIT
    assert locate("org/tiny", revision="v1").commit == older
    assert locate("org/tiny", revision=older).commit == older
    with pytest.raises(LoadError, match=r"^cannot load 'org/tiny' at the revision 'v9': "):
        locate("org/tiny", revision="v9")
    for name in (str(model), "default"):
        with pytest.raises(LoadError, match="is not on the hub, so it has no revision 'v1'"):
            locate(name, revision="v1")
    assert "no revision 'v1'" in refusal("fixed:fair", revision="v1")


def test_another_dtype_needs_torch(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny")
    assert refusal(folder, dtype="bf16").endswith(
        "is asked through onnxruntime, in the numbers of its file; --dtype bf16 is for models "
        "that torch runs. Leave it out"
    )
    assert refusal(folder, dtype="int4") == "dtype 'int4': use fp32, bf16, fp16"


@pytest.mark.torch
def test_the_signature_names_the_dtype(tmp_path: Path) -> None:
    folder = build_classifier(tmp_path / "tiny", "bert")
    asked = pairs("A woman sleeps.", "A man sleeps.")
    whole, half = (
        open_respondent(str(folder), "pair", RespondentOptions(dtype=dtype))
        for dtype in ("fp32", "bf16")
    )
    assert (whole.traits["precision"], half.traits["precision"]) == ("fp32", "bf16")
    exact, rounded = flat(whole.answer(asked)), flat(half.answer(asked))
    assert exact.tolist() != rounded.tolist()
    # eight bits a number: how the sums are rounded depends on the processor
    assert rounded == pytest.approx(exact, abs=0.1)
    assert abs(exact[0] - exact[1]).max() > 0.3


def test_what_may_be_kept_is_what_a_revision_names(tmp_path: Path) -> None:
    respondent = open_model(write_model(tmp_path / "tiny"))
    assert respondent.is_cacheable
    nameless = Location(name="org/tiny", hub_id="org/tiny")
    assert nameless.revision == UNKNOWN
    hub = NliRespondent("org/tiny", nameless.revision, respondent.network, RespondentOptions())
    others: list[Respondent] = [
        FixedRespondent("random"),
        StoredRespondent("BERT"),
        FunctionRespondent(lambda asked: [[0.0, 0.0, 0.0]] * len(asked)),
    ]
    assert not any(r.is_cacheable for r in (hub, *others))
    assert [r.reads_tags for r in others] == [True, True, False]
    assert all(isinstance(r, Respondent) for r in (respondent, *others))


def test_a_device_that_is_not_here_is_refused(tmp_path: Path) -> None:
    """A graph runs on the cpu: `cuda` was passed over in silence."""
    folder = write_model(tmp_path / "tiny")
    assert refusal(folder, device="cuda:7").startswith("device 'cuda:7' is not here; there is cpu")
    for device in ("auto", "cpu"):
        open_respondent(str(folder), "pair", RespondentOptions(device=device))
    assert refusal("default", device="gpu").endswith(
        "Leave out --device to take the best there is, or name one of them"
    )


def test_a_device_that_a_graph_does_not_use_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_model(tmp_path / "tiny")
    monkeypatch.setattr(locating, "devices_here", lambda: ["cpu", "cuda", "cuda:0"])
    with pytest.warns(
        EvenhandWarning,
        match=r"^tiny@\w{12} is asked through onnxruntime, which runs on the cpu; the device "
        "'cuda' is not used$",
    ):
        open_respondent(str(folder), "pair", RespondentOptions(device="cuda"))
    assert "device 'cuda:1' is not here; there is cpu, cuda and cuda:0." in refusal(
        folder, device="cuda:1"
    )


@pytest.mark.torch
def test_a_gpu_that_is_not_there_is_no_error_of_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    folder = build_classifier(tmp_path / "tiny", "bert")
    assert refusal(folder, device="cuda") == (
        "device 'cuda' is not here; there is cpu. "
        "Leave out --device to take the best there is, or name one of them"
    )


def warned(reference: object, language: str, kind: Kind = "pair") -> str:
    with pytest.warns(EvenhandWarning) as caught:
        open_respondent(str(reference), kind, RespondentOptions(language=language))
    return str(caught[0].message)


def test_an_english_model_that_is_asked_in_japanese_is_named() -> None:
    assert warned("default", "ja") == (
        "the model default is said to know en; it is asked in ja: what it answers may show a lack "
        "of the language rather than bias"
    )
    for language in ("en", "en-GB", ""):
        open_respondent("default", "pair", RespondentOptions(language=language))  # no warning


def test_every_known_name_has_its_languages() -> None:
    assert locate("default").languages == ("en",)
    assert Location(name="copy", folder=default_folder()).languages == ("en",)
    known = {name: p.languages for name, p in PACKAGES.items()}
    assert known["albert-tiny-zh"] == ("zh",) and known["albert-kor-base"] == ("ko",)
    assert {"en", "ja", "ko", "zh"} < set(known["universal"])
    assert all(known.values()) and set(known) == set(KNOWN_NAMES) - {"default"}


@pytest.mark.parametrize(
    ("card", "languages"),
    [
        ("---\nlanguage: en\nlicense: mit\n---\n# A model\n", ("en",)),
        ("---\r\nlanguage: en\r\n---\r\n", ("en",)),
        ("---\nlicense: mit\nlanguage:\n- en\n- ja # Japanese\ntags:\n- nli\n---\n", ("en", "ja")),
        ("---\nlanguage:\n  - zh-Hans\n  - kor\n---\n", ("zh", "ko")),
        ('---\nlanguage: ["eng", de]\n---\n', ("en", "de")),
        ("---\nlanguage: multilingual\n---\n", ()),
        ("---\nlanguage:\n- en\n- code\n---\n", ()),
        ("---\nlicense: mit\n---\nlanguage: en\n", ()),
        ("language: en\n", ()),
    ],
)
def test_the_model_card_names_the_languages(
    tmp_path: Path, card: str, languages: tuple[str, ...]
) -> None:
    folder = write_model(tmp_path / "tiny")
    (folder / "README.md").write_bytes(card.encode())
    assert locate(str(folder)).languages == languages


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("field", [{"language": "en"}, {"languages": ["en", "en-GB"]}])
def test_config_and_tokeniser_name_them_too(
    tmp_path: Path, file: str, field: dict[str, object]
) -> None:
    folder = write_masked(tmp_path / "tiny")
    path = folder / file
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**before, **field}), encoding="utf-8")
    assert warned(folder, "zh", "mask").startswith("the model tiny is said to know en; ")


def test_a_model_that_says_nothing_is_not_suspected(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", TinyModel())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_respondent(str(folder), "pair", RespondentOptions(language="ja"))
