"""Training learns, repeats itself, and packs what it learnt without changing it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training_room import save_encoder, small_corpus

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.probe import Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.train.recipes import Recipe, RunOptions
from evenhand.train.run_cards import RunCard, accuracy_interval

torch = pytest.importorskip("torch", reason="needs the train extra")
pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("encoder"))


def train(encoder: Path, out: Path, seed: int = 13) -> RunCard:
    from evenhand.train.fine_tuning import TrainingData, fit

    recipe = Recipe(
        name="tiny", epochs=5, learning_rate=3e-3, average=0.9, has_frozen_words=False, seed=seed
    )
    data = TrainingData(train=small_corpus(600, 1), dev={"dev": small_corpus(90, 2)})
    return fit(encoder, data, recipe, out, RunOptions(say=lambda _: None))


def test_an_encoder_learns_names_its_labels_and_repeats_itself(
    encoder: Path, tmp_path: Path
) -> None:
    from safetensors.numpy import load_file

    card = train(encoder, tmp_path / "one")
    assert card.accuracy == {"dev": pytest.approx(1.0, abs=0.05)}
    config = json.loads((tmp_path / "one" / "config.json").read_text(encoding="utf-8"))
    assert config["id2label"] == {"0": "entailment", "1": "neutral", "2": "contradiction"}
    train(encoder, tmp_path / "two")
    train(encoder, tmp_path / "three", seed=14)
    one, two, three = (
        load_file(tmp_path / n / "model.safetensors") for n in ("one", "two", "three")
    )
    assert all(np.array_equal(one[k], two[k]) for k in one)
    assert not np.array_equal(one["classifier.weight"], three["classifier.weight"])


def test_batches_hold_every_pair_once_and_hardly_any_padding(encoder: Path) -> None:
    from transformers import AutoTokenizer

    from evenhand.train.batches import EncodedPairs, shuffled

    data = EncodedPairs(AutoTokenizer.from_pretrained(encoder), small_corpus(2000, 3), 64)
    batches = shuffled(data.lengths, 32, np.random.default_rng(0))
    assert sorted(int(i) for rows in batches for i in rows) == list(range(2000))
    filled, padded = (
        sum(int(data.lengths[r].sum()) for r in batches),
        sum(int(data.lengths[r].max()) * len(r) for r in batches),
    )
    assert filled / padded > 0.95
    assert [list(r) for r in batches] != [
        list(r) for r in shuffled(data.lengths, 32, np.random.default_rng(1))
    ]
    inputs, labels = data.batch(batches[0])
    assert (
        int(inputs["attention_mask"].sum()) == int(data.lengths[batches[0]].sum())
        and labels.tolist() == data.labels[batches[0]].tolist()
    )


def test_lower_layers_learn_slower_and_frozen_words_not_at_all(encoder: Path) -> None:
    from evenhand.train.encoders import open_classifier
    from evenhand.train.loop import parameter_groups

    recipe = Recipe(name="layers", learning_rate=1.0, layer_decay=0.5, head_rate=3.0)
    groups = parameter_groups(open_classifier(encoder, recipe).model, recipe)
    assert sorted({g["lr"] for g in groups}) == [0.25, 0.5, 1.0, 3.0]
    assert {g["weight_decay"] for g in groups if all(p.ndim == 1 for p in g["params"])} == {0.0}
    assert all(g["params"][0].shape != (208, 64) for g in groups)


@pytest.mark.parametrize(("large", "share", "close"), [(0, 0.45, 0.15), (2_000_000, 0.65, 0.02)])
def test_the_packed_file_is_small_close_and_blind_to_the_batch(
    encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    large: int,
    share: float,
    close: float,
) -> None:
    from evenhand.respondents.nli import NliSource
    from evenhand.train.default import average_weights
    from evenhand.train.export import export_onnx, pack

    train(encoder, tmp_path / "model")
    graph = export_onnx(tmp_path / "model", tmp_path / "onnx")
    probes = [
        Probe(id=str(i), kind="pair", language="en", texts=(p.premise, p.hypothesis))
        for i, p in enumerate(small_corpus(60, 4))
    ]
    folder = str(tmp_path / "onnx")
    before = NliSource().open(folder, RespondentOptions()).answer(probes).values[:, 0]
    size = graph.stat().st_size
    monkeypatch.setattr("evenhand.train.export.LARGE", large)
    pack(graph)
    assert graph.stat().st_size < share * size
    packed = [
        NliSource().open(folder, RespondentOptions(batch_size=b)).answer(probes).values[:, 0]
        for b in (1, 7, 60)
    ]
    assert np.abs(packed[0] - before).max() < close
    assert (packed[0].argmax(1) == before.argmax(1)).all()
    assert all(np.abs(other - packed[0]).max() < 1e-5 for other in packed[1:])
    mean = average_weights([tmp_path / "model", tmp_path / "model"]).state_dict()
    again = average_weights([tmp_path / "model"]).state_dict()
    assert all(torch.equal(mean[k], again[k]) for k in mean)


def test_the_embedded_model_is_chosen_on_the_first_halves_of_the_dev_files() -> None:
    from evenhand.train.default import chosen_by, in_halves

    pairs = small_corpus(5, 4)
    halves = in_halves("dev", pairs)
    assert halves == {"dev, first half": pairs[:2], "dev, second half": pairs[2:]}
    scores = {
        "a": {"x, first half": 0.8, "x, second half": 0.9, "y, first half": 0.7},
        "b": {"x, first half": 0.9, "x, second half": 0.1, "y, first half": 0.7},
    }
    assert chosen_by(scores) == "b"


def test_training_files_are_found_packed_or_not(tmp_path: Path) -> None:
    from evenhand.train.default import corpus_paths

    (tmp_path / "one.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "two.jsonl.gz").write_bytes(b"")
    assert corpus_paths(tmp_path, ["one", "two"]) == {
        "one": tmp_path / "one.jsonl",
        "two": tmp_path / "two.jsonl.gz",
    }
    with pytest.raises(InputError, match=r"three\.jsonl.*--data names the folder"):
        corpus_paths(tmp_path, ["one", "three"])


def test_quantised_weights_are_within_half_a_step() -> None:
    from evenhand.train.export import quantise

    weight = np.random.default_rng(0).normal(size=(64, 96)).astype(np.float32)
    packed, scale = quantise(weight)
    assert (
        packed.dtype == np.int8 and np.abs(packed * scale - weight).max() <= scale.max() / 2 + 1e-6
    )


def slow_interval(
    right: list[bool], premises: list[str], z: float = 1.959963984540054
) -> tuple[float, float]:
    """Both ends of Wilson's interval: where the score test of a share is just not significant.

    With the variance that clusters of premises give.
    """
    n, share = len(right), sum(right) / len(right)
    by_premise: dict[str, float] = {}
    for is_right, premise in zip(right, premises, strict=True):
        by_premise[premise] = by_premise.get(premise, 0.0) + (is_right - share)
    spread = sum(v * v for v in by_premise.values()) / n**2
    looks = min(n, share * (1 - share) / spread) if spread else n
    inside = [
        p
        for p in np.linspace(0, 1, 200_001)
        if (share - p) ** 2 <= z * z * p * (1 - p) / looks + 1e-15
    ]
    return inside[0], inside[-1]


@pytest.mark.parametrize("a_premise", [1, 3])
@pytest.mark.parametrize("odds", [0.7, 1.0])
def test_the_interval_of_the_accuracy_is_wilsons_and_wider_where_pairs_share_premises(
    a_premise: int, odds: float
) -> None:
    rng = np.random.default_rng(3)
    right = np.repeat(rng.random(60) < odds, a_premise)
    premises = [str(i // a_premise) for i in range(len(right))]
    interval = accuracy_interval(right, premises)
    assert interval.value == right.mean()
    assert interval[1:] == pytest.approx(slow_interval(right.tolist(), premises), abs=1e-5)
    alone = accuracy_interval(right, [str(i) for i in range(len(right))])
    if odds < 1 and a_premise == 3:  # thrice the same look is one look
        assert (interval.high - interval.low) / (alone.high - alone.low) == pytest.approx(
            3**0.5, rel=0.05
        )
    if odds < 1 and a_premise == 1:
        assert interval.low == pytest.approx(alone.low)


def test_an_nli_model_keeps_the_order_of_its_labels(encoder: Path, tmp_path: Path) -> None:
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    names = dict(enumerate(("CONTRADICTION", "neutral", "Entailment")))
    config = AutoConfig.from_pretrained(
        encoder, num_labels=3, id2label=names, label2id={v: k for k, v in names.items()}
    )
    AutoModelForSequenceClassification.from_pretrained(encoder, config=config).save_pretrained(
        tmp_path / "mnli"
    )
    AutoTokenizer.from_pretrained(encoder).save_pretrained(tmp_path / "mnli")
    card = train(tmp_path / "mnli", tmp_path / "out")
    config = json.loads((tmp_path / "out" / "config.json").read_text(encoding="utf-8"))
    assert config["id2label"] == {"0": "contradiction", "1": "neutral", "2": "entailment"}
    assert card.accuracy == {"dev": pytest.approx(1.0, abs=0.05)}


def test_without_an_average_the_weights_are_those_of_the_last_step(encoder: Path) -> None:
    """Against a loop as plain as can be, on a model without dropout."""
    from transformers import AutoTokenizer

    from evenhand.train.batches import EncodedPairs, shuffled
    from evenhand.train.encoders import open_classifier
    from evenhand.train.loop import RunHooks, TrainingRun

    recipe = Recipe(
        name="t",
        epochs=2,
        learning_rate=1e-3,
        warmup=0.0,
        average=0.0,
        dropout=0.0,
        has_frozen_words=False,
        weight_decay=0.0,
        batch_size=20,
    )
    data = EncodedPairs(AutoTokenizer.from_pretrained(encoder), small_corpus(90, 1), 64)
    ends = []
    for is_plain in (False, True):
        torch.manual_seed(1)
        rng = np.random.default_rng(1)
        model = open_classifier(encoder, recipe).model

        def loss_of(rows: Any, _: Any = None, model: Any = model) -> Any:
            inputs, labels = data.batch(rows)
            return torch.nn.functional.cross_entropy(model(**inputs).logits, labels)

        if is_plain:
            model.train()
            optimizer = torch.optim.AdamW(
                model.parameters(), lr=1e-3, betas=(0.9, 0.999), weight_decay=0.0
            )
            for step, rows in enumerate(
                rows for _ in range(2) for rows in shuffled(data.lengths, 20, rng)
            ):
                for group in optimizer.param_groups:
                    group["lr"] = 1e-3 * (10 - step) / 10
                optimizer.zero_grad()
                loss_of(rows).backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
        else:
            draw = partial(shuffled, data.lengths, 20, rng)
            TrainingRun(model, len(data), loss_of, recipe).go(draw, RunHooks(say=lambda _: None))
        ends.append(model.state_dict())
    assert all(torch.allclose(ends[0][k], ends[1][k], atol=1e-5) for k in ends[0])


def test_the_best_epoch_is_kept_and_training_stops_when_none_is_better(encoder: Path) -> None:
    from transformers import AutoTokenizer

    from evenhand.train.batches import EncodedPairs, shuffled
    from evenhand.train.encoders import open_classifier
    from evenhand.train.loop import RunHooks, TrainingRun

    data = EncodedPairs(AutoTokenizer.from_pretrained(encoder), small_corpus(64, 1), 64)
    judged = [0.4, 0.8, 0.8, 0.7, 0.9]
    for patience, epochs, best in ((2, 4, 2), (0, 5, 5)):
        recipe = Recipe(
            name="t",
            epochs=5,
            learning_rate=1e-3,
            average=0.5,
            has_frozen_words=False,
            is_best_kept=True,
            patience=patience,
        )
        torch.manual_seed(0)
        model = open_classifier(encoder, recipe).model
        seen: list[dict[str, Any]] = []
        draw = partial(shuffled, data.lengths, 8, np.random.default_rng(0))

        def judge(model: Any = model, seen: Any = seen) -> float:
            seen.append({k: v.clone() for k, v in model.state_dict().items()})
            return judged[len(seen) - 1]

        def loss_of(rows: Any, _: Any = None, model: Any = model) -> Any:
            inputs, labels = data.batch(rows)
            return torch.nn.functional.cross_entropy(model(**inputs).logits, labels)

        run = TrainingRun(model, len(data), loss_of, recipe)
        run.go(draw, RunHooks(say=lambda _: None, judge=judge))
        assert (run.at.epoch, run.at.best, run.at.scores) == (epochs, best, judged[:epochs])
        kept = model.state_dict()
        assert [all(torch.equal(kept[k], at[k]) for k in kept) for at in seen] == [
            n == best for n in range(1, epochs + 1)
        ]


def test_a_loss_that_is_no_number_stops_the_run(encoder: Path) -> None:
    from evenhand.train.encoders import open_classifier
    from evenhand.train.loop import RunHooks, TrainingRun

    recipe = Recipe(name="t", epochs=1)
    model = open_classifier(encoder, recipe).model

    def loss_of(rows: Any, _: Any) -> Any:
        return model.classifier.bias.sum() * float("nan")

    reason = r"no number any more at step 1 of 3; give a lower learning rate than 0\.0001"
    with pytest.raises(EvenhandError, match=reason):
        TrainingRun(model, 90, loss_of, recipe).go(
            lambda: [np.arange(32)] * 3, RunHooks(say=lambda _: None)
        )
