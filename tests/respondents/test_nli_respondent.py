"""An ONNX folder answers what its network says, at any batch size, in any order."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from models import TinyModel, open_model, pairs, write_model, write_tokenizer
from quick import quick_audit
from replied import flat, reasons

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.suite import Suite
from evenhand.engine.suites import load_suite
from evenhand.respondents.locate import open_respondent
from evenhand.respondents.networks.batches import cut_batches, find_longest
from evenhand.respondents.nli import RESPONDENT

LONG = " ".join(["very"] * 200)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def probes() -> tuple[Probe, ...]:
    return load_suite("occupation-nli", "en", limit=150).probes


def by_hand(probes: tuple[Probe, ...], model: TinyModel | None = None) -> Floats:
    model = model or TinyModel()
    return np.asarray([model.forward(p.texts[0], p.texts[1]) for p in probes])


@pytest.mark.parametrize("batch_size", [1, 7, 64, None])
def test_batch_size_and_padding_change_nothing(
    folder: Path, probes: tuple[Probe, ...], batch_size: int | None
) -> None:
    values = flat(open_model(folder, batch_size=batch_size).answer(probes))
    np.testing.assert_allclose(values, by_hand(probes), atol=1e-5)
    assert {0, 1, 2} == set(values.argmax(axis=1))


def test_order_changes_nothing(folder: Path, probes: tuple[Probe, ...]) -> None:
    order = np.random.default_rng(3).permutation(len(probes))
    respondent = open_model(folder, batch_size=7)
    np.testing.assert_allclose(
        flat(respondent.answer([probes[i] for i in order])),
        flat(respondent.answer(probes))[order],
        atol=1e-5,
    )


def test_what_lies_under_the_padding_does_not_matter(
    tmp_path: Path, folder: Path, probes: tuple[Probe, ...]
) -> None:
    other = write_model(tmp_path / "other", pad_token_id=9)
    np.testing.assert_allclose(
        flat(open_model(other, batch_size=64).answer(probes)),
        flat(open_model(folder).answer(probes)),
        atol=1e-5,
    )


def test_label_order_moves_the_columns(tmp_path: Path, probes: tuple[Probe, ...]) -> None:
    names = ("CONTRADICTION", "ENTAILMENT", "NEUTRAL")
    turned = open_model(write_model(tmp_path / "turned", labels=names))
    assert turned.traits["labels"] == "e1n2c0/config"
    np.testing.assert_allclose(
        flat(turned.answer(probes)), by_hand(probes)[:, [1, 2, 0]], atol=1e-5
    )


@pytest.mark.parametrize("batch_size", [1, 7, None])
def test_batches_hold_every_position_once_and_keep_to_their_size(batch_size: int | None) -> None:
    lengths = [int(n) for n in np.random.default_rng(0).integers(1, 900, 300)]
    batches = list(cut_batches(lengths, batch_size))
    assert sorted(i for b in batches for i in b) == list(range(300))
    if batch_size:
        assert {len(b) for b in batches[:-1]} == {batch_size}
    else:
        assert [len(b) for b in cut_batches([20] * 130, None)] == [64, 64, 2]
        assert max(len(b) * max(lengths[i] for i in b) for b in batches) <= 2048


def test_a_pair_that_is_too_long_is_not_cut_but_left_unanswered(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "short", longest=40)
    edge = " ".join(
        ["very"] * (40 - 3 - 4)
    )  # [CLS] a nurse sleeps . [SEP] ... [SEP] is just as long as it may be
    probes = pairs("A woman sleeps.", LONG, edge, f"{edge} very", LONG + " late")
    respondent = open_model(folder, batch_size=2)
    replies = respondent.answer(probes)
    values = flat(replies)
    assert np.isnan(values).all(axis=1).tolist() == [False, True, False, True, True]
    np.testing.assert_allclose(values[[0, 2]], by_hand((probes[0], probes[2])), atol=1e-5)
    assert reasons(replies) == {"longer than the model's 40 tokens": 3}


def test_unanswered_pairs_lower_the_coverage_of_the_run(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "short", longest=40)
    suite = load_suite("occupation-nli", "en", limit=60)
    longer = tuple(
        Probe.from_json({**p.to_json(), "texts": [p.texts[0], LONG + p.texts[1]]})
        if i % 10 == 0
        else p
        for i, p in enumerate(suite.probes)
    )
    run = quick_audit(str(folder), Suite(card=suite.card, probes=longer))
    assert run.answers.coverage == pytest.approx(54 / 60)
    assert run.answers.unanswered == {"longer than the model's 40 tokens": 6}
    coal = next(e for e in run.estimates if e.measure == "nli_coal")
    read = [p for p in longer if p.stratum != "NB"]
    answered = sum(LONG not in p.texts[1] for p in read)
    assert coal.probes == len(read)
    assert coal.coverage == pytest.approx(answered / len(read))
    assert answered < len(read)


@pytest.mark.parametrize("length", [16, 24])
def test_a_graph_of_fixed_length_is_padded_to_it(
    tmp_path: Path, probes: tuple[Probe, ...], length: int
) -> None:
    respondent = open_model(
        write_model(tmp_path / "fixed", longest=None, length=length), batch_size=7
    )
    asked = (*probes, *pairs("A woman sleeps.", "A man sleeps now.", LONG))
    replies = respondent.answer(asked)
    values = flat(replies)
    fits = np.isfinite(values[:, 0])
    assert respondent.network.longest == length
    assert fits[-3:].tolist() == [True, True, False]
    assert 2 <= fits.sum() < len(probes)
    np.testing.assert_allclose(values[fits], by_hand(asked)[fits], atol=1e-5)
    assert reasons(replies) == {f"longer than the model's {length} tokens": int((~fits).sum())}


def test_a_graph_that_does_not_tell_its_width_is_asked_for_it(
    tmp_path: Path, probes: tuple[Probe, ...]
) -> None:
    folder = write_model(tmp_path / "vague")
    graph = onnx.load(str(folder / "model.onnx"))
    graph.graph.output[0].type.tensor_type.shape.dim[1].dim_param = "labels"
    onnx.save(graph, str(folder / "model.onnx"))
    np.testing.assert_allclose(
        flat(open_model(folder).answer(probes[:9])), by_hand(probes[:9]), atol=1e-5
    )


def test_a_graph_may_lie_in_a_folder_onnx_or_bear_another_name(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "nested")
    plain = flat(open_model(folder).answer(pairs("A man sleeps.")))
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    np.testing.assert_array_equal(flat(open_model(folder).answer(pairs("A man sleeps."))), plain)
    (folder / "onnx" / "model.onnx").rename(folder / "network.onnx")
    np.testing.assert_array_equal(flat(open_model(folder).answer(pairs("A man sleeps."))), plain)


@pytest.mark.parametrize(
    ("config", "limits", "longest"),
    [
        ({"max_position_embeddings": 512, "model_type": "bert"}, (), 512),
        ({"max_position_embeddings": 514, "model_type": "roberta", "pad_token_id": 1}, (), 512),
        ({"max_position_embeddings": 130, "model_type": "roberta", "pad_token_id": 1}, (), 128),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta"}, (), 512),
        ({"max_position_embeddings": 512, "model_type": "bert"}, (128,), 128),
        ({"max_position_embeddings": 64, "model_type": "bert"}, (int(1e30), None), 64),
        ({}, (), 512),
    ],
)
def test_how_long_a_pair_may_be(
    config: dict[str, object], limits: tuple[object, ...], longest: int
) -> None:
    assert find_longest(config, *limits) == longest


def test_the_identity_changes_with_weights_tokeniser_and_config_and_with_nothing_else(
    tmp_path: Path, folder: Path
) -> None:
    same = open_model(write_model(tmp_path / "tiny")).identity
    assert same == open_model(folder).identity
    assert same.startswith("tiny@")
    assert len(same) == len("tiny@") + 12
    weights = open_model(write_model(tmp_path / "w" / "tiny", TinyModel(seed=1))).identity
    config = open_model(write_model(tmp_path / "c" / "tiny", longest=64)).identity
    write_tokenizer(write_model(tmp_path / "t" / "tiny") / "tokenizer.json", lowercase=False)
    tokeniser = open_model(tmp_path / "t" / "tiny").identity
    assert len({same, weights, config, tokeniser}) == 4


def refusal(reference: object) -> str:
    with pytest.raises(LoadError) as refused:
        open_respondent(str(reference), "pair", RespondentOptions())
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_what_cannot_be_loaded_is_a_load_error_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert (
        "is no model folder: it has neither an .onnx file nor a config.json (found: nothing)"
        in refusal(tmp_path / "empty")
    )

    wordless = write_model(tmp_path / "wordless")
    (wordless / "tokenizer.json").unlink()
    assert "has neither tokenizer.json nor vocab.txt" in refusal(wordless)

    broken = write_model(tmp_path / "broken")
    (broken / "model.onnx").write_bytes((broken / "model.onnx").read_bytes()[:500])
    assert f"{broken} cannot be loaded" in refusal(broken)

    garbled = write_model(tmp_path / "garbled")
    (garbled / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert f"{garbled} cannot be loaded" in refusal(garbled)

    noconfig = write_model(tmp_path / "noconfig")
    (noconfig / "config.json").write_text("{not json", encoding="utf-8")
    assert "config.json is not JSON" in refusal(noconfig)

    assert "wants the inputs position_ids" in refusal(
        write_model(tmp_path / "extra", extra_input="position_ids")
    )


def test_a_tokeniser_of_another_model_is_a_load_error_not_a_crash(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "mixed")
    words = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    words["model"]["vocab"] = {
        w: i if i < 4 else i + 100_000 for w, i in words["model"]["vocab"].items()
    }
    (folder / "tokenizer.json").write_text(json.dumps(words), encoding="utf-8")
    with pytest.raises(LoadError, match=r"model\.onnx cannot be run"):
        flat(open_model(folder).answer(pairs("A man sleeps.")))


def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    assert "unknown model 'defualt': there is no such folder. Did you mean default?" in refusal(
        "defualt"
    )
    assert f"unknown model '{tmp_path}/nowhere': there is no such folder" in refusal(
        f"{tmp_path}/nowhere"
    )
    assert "unknown model './nowhere'" in refusal("./nowhere")
    message = refusal("openai:gpt")
    assert (
        "unknown model 'openai:gpt'. Known forms: " in message
        and "fixed:random" in message
        and "default" in message
    )


def test_a_kind_that_no_classifier_answers_is_a_load_error(folder: Path) -> None:
    assert RESPONDENT.claims(str(folder))
    with pytest.raises(LoadError, match="has no mask token"):
        open_respondent(str(folder), "mask", RespondentOptions())
