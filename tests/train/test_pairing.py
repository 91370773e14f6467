"""The logits of a pair and of its twin are pulled together, exactly as the formula says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import evenhand
from hypothesis import given
from hypothesis import strategies as st
from training_room import save_encoder, small_corpus, write

from evenhand.core.corpora import Pair, read_corpus
from evenhand.core.errors import InputError
from evenhand.train.corpus import read_corpora, read_pairs
from evenhand.train.recipes import Recipe, RunOptions

ROW = {"premise": "He runs", "hypothesis": "A man moves", "label": "entailment"}
TWIN = {"twin_premise": "She runs", "twin_hypothesis": "A woman moves"}


def test_twins_are_read_from_rows_and_tables(tmp_path: Path) -> None:
    there, none = (
        Pair("He runs", "A man moves", "entailment", ("She runs", "A woman moves")),
        Pair("He runs", "A man moves", "entailment"),
    )
    rows = [ROW | TWIN, ROW, ROW | {"twin_premise": None, "twin_hypothesis": None}]
    assert read_pairs([write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))]) == [
        there,
        none,
        none,
    ]
    table = (
        "premise,hypothesis,label,twin_premise,twin_hypothesis\n"
        "He runs,A man moves,entailment,She runs,A woman moves\n"
        "He runs,A man moves,entailment,,\n"
    )
    assert read_pairs([write(tmp_path / "a.csv", table)]) == [there, none]


@pytest.mark.parametrize(
    ("twin", "reason"),
    [
        ({"twin_premise": "She runs"}, "row 1: the twin_hypothesis is empty"),
        ({"twin_premise": " ", "twin_hypothesis": "A"}, "row 1: the twin_premise is empty"),
        ({"twin_premise": ["She"], "twin_hypothesis": "A"}, "row 1: the twin_premise is no text"),
    ],
)
def test_half_a_twin_is_an_error(tmp_path: Path, twin: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read_corpus(write(tmp_path / "a.jsonl", json.dumps(ROW | twin)))


def test_pairing_without_twins_says_how_to_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.train.require_packages", lambda: None)
    rows = [ROW | {"label": label} for label in ("entailment", "neutral", "contradiction")]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    reason = r"a\.jsonl: no row has a twin .*`evenhand mitigate swap FILE --paired`"
    with pytest.raises(InputError, match=reason):
        read_corpora([path], []).require_twins()
    files = ("--encoder", "default", "--train", path, "--dev", path, "--out", tmp_path / "out")
    done = evenhand("train", "nli", *files, "--pairing", "1")
    assert (done.code, done.out) == (2, "") and "mitigate swap FILE --paired" in done.err
    done = evenhand("train", "nli", *files, "--pairing", "-1")
    assert "pairing is -1.0; give a number of at least 0" in done.err
    assert not (tmp_path / "out").exists()


def slow_loss(
    logits: list[list[float]], twins: dict[int, list[float]], labels: list[int], weight: float
) -> float:
    """Cross entropy, and the mean over pairs with a twin and labels of the squared difference."""
    entropy = [
        float(np.log(np.exp(row).sum()) - row[label])
        for row, label in zip(map(np.asarray, logits), labels, strict=True)
    ]
    apart = [
        sum((a - b) ** 2 for a, b in zip(logits[i], twin, strict=True)) / len(twin)
        for i, twin in twins.items()
    ]
    return sum(entropy) / len(entropy) + (weight * sum(apart) / len(apart) if apart else 0.0)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """A tiny model without dropout, and its tokenizer."""
    pytest.importorskip("torch", reason="needs the train extra")
    from transformers import AutoTokenizer

    from evenhand.train.encoders import open_classifier

    folder = save_encoder(tmp_path_factory.mktemp("encoder"))
    model = open_classifier(folder, Recipe(name="t")).model.eval()
    return model, AutoTokenizer.from_pretrained(folder)


def one_by_one(model: Any, tokenizer: Any, premise: str, hypothesis: str) -> list[float]:
    import torch

    with torch.no_grad():
        encoded = tokenizer(premise, hypothesis, return_tensors="pt")
        return list(model(**encoded).logits[0].tolist())


@pytest.mark.torch
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_the_loss_of_a_batch_is_that_of_a_slow_computation(
    tools: tuple[Any, Any], share: float
) -> None:
    import torch

    from evenhand.train.batches import EncodedPairs, logits_of, paired_loss

    model, tokenizer = tools
    rng = np.random.default_rng(3)

    def some(count: int) -> str:
        return " ".join(f"w{n}" for n in rng.integers(0, 200, size=count))

    labels = ("entailment", "neutral", "contradiction")
    pairs = [
        Pair(
            some(2 + i % 5),
            some(3),
            labels[i % 3],
            (some(2 + i % 7), some(3)) if rng.random() < share else None,
        )
        for i in range(20)
    ]
    data = EncodedPairs(tokenizer, pairs, 64, has_twins=True)
    assert len(data) == len(data.lengths) == 20 and int((data.twins >= 0).sum()) == sum(
        p.twin is not None for p in pairs
    )
    rows = np.asarray([3, 19, 0, 7, 8, 11, 2])
    call = logits_of(model, torch.device("cpu"))
    loss = paired_loss(call, data, torch.nn.CrossEntropyLoss(), 0.7)
    logits = [one_by_one(model, tokenizer, pairs[i].premise, pairs[i].hypothesis) for i in rows]
    twins = {
        k: one_by_one(model, tokenizer, *twin)
        for k, i in enumerate(rows)
        if (twin := pairs[i].twin)
    }
    slow = slow_loss(logits, twins, [labels.index(pairs[i].label) for i in rows], 0.7)
    assert float(loss(rows, rows).detach()) == pytest.approx(slow, abs=1e-5)


@pytest.mark.torch
@given(has_twin=st.lists(st.booleans(), min_size=1, max_size=9), count=st.integers(1, 4))
def test_the_parts_of_several_processes_make_up_the_whole(has_twin: list[bool], count: int) -> None:
    """The mean over processes, weighted as the loop does, is the loss of the whole batch."""
    torch = pytest.importorskip("torch")
    from evenhand.train.batches import paired_loss

    n, rng = len(has_twin), np.random.default_rng(len(has_twin))

    class Few:
        labels = rng.integers(0, 3, size=n)
        twins = np.where(has_twin, n - 1 + np.cumsum(has_twin), -1)
        table = torch.from_numpy(rng.normal(size=(2 * n, 3)))

        def inputs(self, rows: Any) -> Any:
            return self.table[torch.from_numpy(rows)]

    loss = paired_loss(lambda inputs: inputs, Few(), torch.nn.CrossEntropyLoss(), 2.0)  # type: ignore[arg-type]
    rows = np.arange(n)
    parts = [rows[k::count] for k in range(count)]
    mean = (
        sum(float(loss(part, rows)) * len(part) * count / n for part in parts if len(part)) / count
    )
    assert mean == pytest.approx(float(loss(rows, rows)), abs=1e-9)


@pytest.mark.torch
def test_a_heavy_weight_brings_twins_together(tmp_path: Path) -> None:
    """Where a word decides that its twin lacks: with pairing the two answers come closer by far."""
    torch = pytest.importorskip("torch", reason="needs the train extra")
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from evenhand.train.fine_tuning import TrainingData, fit

    encoder = save_encoder(tmp_path)
    pairs = [
        Pair(p.premise, p.hypothesis, p.label, (p.premise, "w1 maybe"))
        for p in small_corpus(300, 1)
    ]
    apart = {}
    for weight in (0.0, 5.0):
        out = tmp_path / str(weight)
        recipe = Recipe(name="t", epochs=3, learning_rate=3e-3, average=0.0, pairing=weight)
        data = TrainingData(train=pairs, dev={"dev": pairs[:60]})
        card = fit(encoder, data, recipe, out, RunOptions(say=lambda _: None))
        assert card.facts.get("pairs with a twin") == (300 if weight else None)
        model, tokenizer = (
            AutoModelForSequenceClassification.from_pretrained(out).eval(),
            AutoTokenizer.from_pretrained(out),
        )
        with torch.no_grad():
            one, two = (
                model(**tokenizer(*texts, padding=True, return_tensors="pt")).logits
                for texts in (
                    ([p.premise for p in pairs], [p.hypothesis for p in pairs]),
                    ([p.premise for p in pairs], ["w1 maybe"] * 300),
                )
            )
        apart[weight] = float((one - two).square().mean())
    assert apart[5.0] < apart[0.0] / 10
