"""Does the training code learn, repeat itself, and pack what it learnt without changing it? On a tiny encoder made here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evenhand.core.errors import InputError
from evenhand.core.protocols import RespondentOptions
from evenhand.core.records import NLI_LABELS, Probe
from evenhand.train.corpus import Pair, read_pairs

torch = pytest.importorskip("torch", reason="needs the train extra")
pytestmark = pytest.mark.torch
WORDS = {"entailment": "yes", "neutral": "maybe", "contradiction": "no"}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("encoder")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS.values(), *(f"w{i}" for i in range(200))]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128, max_position_embeddings=64
    )
    BertModel(config).save_pretrained(folder)
    return folder


def corpus(count: int, seed: int) -> list[Pair]:
    rng = np.random.default_rng(seed)
    found: list[Pair] = []
    for i in range(count):
        label = NLI_LABELS[i % 3]
        noise = " ".join(f"w{n}" for n in rng.integers(0, 200, size=rng.integers(2, 20)))
        found.append(Pair(noise, f"w{rng.integers(200)} {WORDS[label]}", label))
    return found


def train(encoder: Path, out: Path, **changes: object) -> dict[str, object]:
    from evenhand.train.fit import fit
    from evenhand.train.recipes import Recipe

    recipe = Recipe(**{"name": "tiny", "epochs": 5, "learning_rate": 3e-3, "average": 0.9, "has_frozen_words": False, **changes})  # type: ignore[arg-type]
    return fit(encoder, corpus(600, 1), {"dev": corpus(90, 2)}, recipe, out, say=lambda _: None)


def test_an_encoder_learns_names_its_labels_and_repeats_itself(encoder: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    card = train(encoder, tmp_path / "one")
    assert card["accuracy"] == {"dev": pytest.approx(1.0, abs=0.05)}
    config = json.loads((tmp_path / "one" / "config.json").read_text(encoding="utf-8"))
    assert config["id2label"] == {"0": "entailment", "1": "neutral", "2": "contradiction"}
    train(encoder, tmp_path / "two")
    train(encoder, tmp_path / "three", seed=14)
    one, two, three = (load_file(tmp_path / n / "model.safetensors") for n in ("one", "two", "three"))
    assert all(np.array_equal(one[k], two[k]) for k in one)
    assert not np.array_equal(one["classifier.weight"], three["classifier.weight"])


def test_batches_hold_every_pair_once_and_hardly_any_padding(encoder: Path) -> None:
    from transformers import AutoTokenizer

    from evenhand.train.batching import Encoded, shuffled

    data = Encoded(AutoTokenizer.from_pretrained(encoder), corpus(2000, 3), 64)
    batches = shuffled(data.lengths, 32, np.random.default_rng(0))
    assert sorted(int(i) for rows in batches for i in rows) == list(range(2000))
    filled, padded = sum(int(data.lengths[r].sum()) for r in batches), sum(int(data.lengths[r].max()) * len(r) for r in batches)
    assert filled / padded > 0.95
    assert [list(r) for r in batches] != [list(r) for r in shuffled(data.lengths, 32, np.random.default_rng(1))]
    inputs, labels = data.batch(batches[0])
    assert (
        int(inputs["attention_mask"].sum()) == int(data.lengths[batches[0]].sum()) and labels.tolist() == data.labels[batches[0]].tolist()
    )


def test_lower_layers_learn_slower_and_frozen_words_not_at_all(encoder: Path) -> None:
    from evenhand.train.fit import open_classifier
    from evenhand.train.loop import parameter_groups
    from evenhand.train.recipes import Recipe

    recipe = Recipe(name="layers", learning_rate=1.0, layer_decay=0.5, head_rate=3.0)
    groups = parameter_groups(open_classifier(encoder, recipe), recipe)
    assert sorted({g["lr"] for g in groups}) == [0.25, 0.5, 1.0, 3.0]
    assert {g["weight_decay"] for g in groups if all(p.ndim == 1 for p in g["params"])} == {0.0}
    assert all(g["params"][0].shape != (208, 64) for g in groups)


@pytest.mark.parametrize(("large", "share", "close"), [(0, 0.45, 0.15), (2_000_000, 0.65, 0.02)])
def test_the_packed_file_is_small_close_and_blind_to_the_batch(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int, share: float, close: float
) -> None:
    from evenhand.respondents.nli import NliSource
    from evenhand.train.default import average_weights
    from evenhand.train.export import export_onnx, pack

    train(encoder, tmp_path / "model")
    graph = export_onnx(tmp_path / "model", tmp_path / "onnx")
    probes = [Probe(id=str(i), kind="pair", language="en", texts=(p.premise, p.hypothesis)) for i, p in enumerate(corpus(60, 4))]
    before = NliSource().open(str(tmp_path / "onnx"), RespondentOptions()).answer(probes)
    size = graph.stat().st_size
    monkeypatch.setattr("evenhand.train.export.LARGE", large)
    pack(graph)
    assert graph.stat().st_size < share * size
    packed = [NliSource().open(str(tmp_path / "onnx"), RespondentOptions(batch_size=b)).answer(probes) for b in (1, 7, 60)]
    assert np.abs(packed[0] - before).max() < close and (packed[0].argmax(1) == before.argmax(1)).all()
    assert np.abs(packed[1] - packed[0]).max() < 1e-5 and np.abs(packed[2] - packed[0]).max() < 1e-5
    mean = average_weights([tmp_path / "model", tmp_path / "model"]).state_dict()
    again = average_weights([tmp_path / "model"]).state_dict()
    assert all(torch.equal(mean[k], again[k]) for k in mean)


def test_quantised_weights_are_within_half_a_step() -> None:
    from evenhand.train.export import quantise

    weight = np.random.default_rng(0).normal(size=(64, 96)).astype(np.float32)
    packed, scale = quantise(weight)
    assert packed.dtype == np.int8 and np.abs(packed * scale - weight).max() <= scale.max() / 2 + 1e-6


@pytest.mark.parametrize(
    ("line", "reason"),
    [('{"premise": "a", "label": "neutral"}', "'hypothesis' is missing"), ('{"premise": "a", "hypothesis": "b", "label": "maybe"}', "label 'maybe' is none of"),
     ('{"premise": " ", "hypothesis": "b", "label": "neutral"}', "is empty")],
)  # fmt: skip
def test_a_bad_training_row_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"premise": "a", "hypothesis": "b", "label": "neutral"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"row 2: .*{reason}"):
        read_pairs([path])
