"""A classifier on sentence vectors learns; what is written down is what was trained."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoder_models import write_encoder

from evenhand.core.corpora import Corpus, read_corpus
from evenhand.core.errors import EvenhandError, InputError, LoadError, UnknownNameError
from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.encoder import EncoderRespondent
from evenhand.respondents.locate import open_respondent
from evenhand.respondents.vector_nli import (
    WEIGHTS,
    features,
    open_sentences,
    read_head,
    write_head,
)
from evenhand.train.corpus import Corpora
from evenhand.train.recipes import HeadRecipe, RunOptions

pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("transformers", reason="needs the train extra")
pytestmark = pytest.mark.torch

SILENT = RunOptions(say=lambda _: None)
SUBJECTS, VERBS = (
    ("the man", "the woman", "the boy", "the girl", "the nurse", "the doctor", "he", "she"),
    ("left", "sleeps", "runs", "sing"),
)


def write_pairs(path: Path, count: int, seed: int) -> Path:
    """The same subject: entailment; one of the two is a nurse: contradiction; else neutral."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        one, other = (SUBJECTS[i] for i in rng.integers(len(SUBJECTS), size=2))
        other = one if rng.random() < 0.3 else other
        label = (
            "entailment"
            if one == other
            else "contradiction"
            if "the nurse" in (one, other)
            else "neutral"
        )
        verbs = [VERBS[i] for i in rng.integers(len(VERBS), size=2)]
        rows.append(
            {"premise": f"{one} {verbs[0]}", "hypothesis": f"{other} {verbs[1]}", "label": label}
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Room:
    """A tiny encoder, and files that it can learn."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.encoder = folder, write_encoder(folder / "encoder")
        self.train, self.dev, self.more = (
            read_corpus(write_pairs(folder / f"{n}.jsonl", c, s))
            for n, c, s in (("a", 600, 1), ("b", 90, 2), ("c", 60, 3))
        )

    def fit(
        self,
        out: str,
        *,
        start: str = "",
        train: Corpus | None = None,
        encoder: str = "",
        options: RunOptions = SILENT,
        **changes: Any,
    ) -> dict[str, Any]:
        """Train a head; `changes` are of the recipe. The facts of the run card."""
        from evenhand.train.vector_heads import HeadBasis, fit_head

        recipe = HeadRecipe(
            hidden=None if start else 64,
            epochs=12,
            learning_rate=0.01,
            batch_size=30,
            dropout=0.1,
        )
        basis = HeadBasis(
            encoder=encoder or str(self.encoder),
            start=self.folder / start if start else None,
            vectors=self.folder / "vectors",
        )
        corpora = Corpora((train or self.train,), (self.dev,))
        recipe = replace(recipe, **changes)
        return dict(fit_head(basis, corpora, recipe, self.folder / out, options).facts)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Room:
    import torch

    torch.set_num_threads(1)
    made = Room(tmp_path_factory.mktemp("room"))
    made.fit("head")
    return made


def weights(folder: Path) -> list[bytes]:
    head = read_head(folder)
    return [
        getattr(head, name).tobytes()
        for name in ("shift", "scale", "inner", "inner_bias", "outer", "outer_bias")
    ]


def test_it_learns_and_the_card_tells_what_the_folder_answers(room: Room) -> None:
    card = json.loads((room.folder / "head" / "training.json").read_text(encoding="utf-8"))
    gold = [p.label for p in room.dev.pairs]
    probes = [
        Probe(id=str(i), kind="pair", language="en", texts=(p.premise, p.hypothesis))
        for i, p in enumerate(room.dev.pairs)
    ]
    respondent = open_respondent(str(room.folder / "head"), "pair", RespondentOptions())
    best = respondent.answer(probes).values[:, 0].argmax(axis=1)
    share = np.mean([NLI_LABELS[i] == label for i, label in zip(best, gold, strict=True)])
    assert card["accuracy"] == {"b": pytest.approx(share)}
    assert (
        share
        > 0.9
        > card["majority"]["b"]
        == max(gold.count(label) for label in NLI_LABELS) / len(gold)
    )
    assert card["interval"]["b"]["low"] < share < card["interval"]["b"]["high"]
    assert (
        card["pairs"],
        card["steps"],
        card["hidden"],
        card["kept epoch"],
        len(card["dev accuracy by epoch"]),
    ) == (600, 240, 64, 12, 12)
    assert card["sentences"] == len(
        {t for c in (room.train, room.dev) for p in c.pairs for t in (p.premise, p.hypothesis)}
    )
    assert card["data"]["train"][0]["sha256"] == room.train.describe()["sha256"]
    assert {"seconds", "torch", "versions", "recipe", "encoder", "limit", "start"} <= set(card)


def test_the_same_seed_gives_the_same_weights(room: Room) -> None:
    import torch

    torch.manual_seed(5)
    before = torch.get_rng_state()
    room.fit("again")
    assert torch.equal(torch.get_rng_state(), before)  # the caller's random numbers are left alone
    assert weights(room.folder / "again") == weights(room.folder / "head")
    room.fit("other", seed=1)
    assert weights(room.folder / "other") != weights(room.folder / "head")


def test_a_finished_folder_is_left_alone(room: Room) -> None:
    lines: list[str] = []
    before = (room.folder / "head" / WEIGHTS).stat().st_mtime_ns
    card = room.fit("head", options=RunOptions(say=lines.append))
    assert card["accuracy"]["b"] > 0.9 and "is finished, nothing is trained" in lines[0]
    assert (room.folder / "head" / WEIGHTS).stat().st_mtime_ns == before
    with pytest.raises(EvenhandError, match=r"other settings \(recipe.epochs: 12, now 2\)"):
        room.fit("head", epochs=2)
    with pytest.raises(EvenhandError, match="other settings"):
        room.fit("head", options=replace(SILENT, limit=300))


def test_a_run_without_a_card_is_trained_again(room: Room) -> None:
    card = room.fit("killed", epochs=1)
    (room.folder / "killed" / "training.json").unlink()
    assert room.fit("killed", epochs=1)["accuracy"] == card["accuracy"]
    assert (
        room.fit("killed", epochs=2, options=replace(SILENT, is_resumed=False))["kept epoch"] == 2
    )


def test_it_goes_on_from_another_head(room: Room) -> None:
    """Sixty pairs are enough after six hundred, and too few without them."""
    short: dict[str, Any] = {"epochs": 3, "train": room.more, "learning_rate": 0.001}
    onward, fresh = room.fit("onward", start="head", **short), room.fit("fresh", **short)
    assert onward["accuracy"]["b"] > 0.9 > fresh["accuracy"]["b"] + 0.1
    one, two = read_head(room.folder / "head"), read_head(room.folder / "onward")
    np.testing.assert_array_equal(one.shift, two.shift)
    np.testing.assert_array_equal(one.scale, two.scale)
    assert (two.hidden, onward["hidden"]) == (64, 64)
    assert (
        onward["start"]["revision"]
        == open_respondent(
            str(room.folder / "head"), "pair", RespondentOptions()
        ).identity.partition("@")[2]
    )
    with pytest.raises(EvenhandError, match=r"other settings \(start: \w+, now None\)"):
        room.fit("onward", hidden=None, **short)


def test_labels_keep_their_outputs(room: Room) -> None:
    """A head whose outputs come in another order is trained further in that order."""
    head = read_head(room.folder / "head")
    turned = replace(
        head,
        labels=head.labels[::-1],
        outer=head.outer[:, ::-1].copy(),
        outer_bias=head.outer_bias[::-1].copy(),
    )
    (room.folder / "turned").mkdir()
    write_head(turned, room.folder / "turned")
    short: dict[str, Any] = {"epochs": 1, "train": room.more, "learning_rate": 1e-5}
    assert room.fit("turned-on", start="turned", **short)["accuracy"]["b"] > 0.9
    assert read_head(room.folder / "turned-on").labels == NLI_LABELS[::-1]


def test_sentences_are_read_once_for_all_runs(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.fit("first", epochs=1, seed=3)
    asked: list[str] = []
    embed = EncoderRespondent.embed

    def counted(self: EncoderRespondent, texts: Sequence[str]) -> Any:
        asked.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr(EncoderRespondent, "embed", counted)
    room.fit("second", epochs=1, seed=4)
    assert asked == []
    rows = (room.folder / "c.jsonl").read_text(encoding="utf-8")
    new = room.folder / "new.jsonl"
    new.write_text(
        rows + '{"premise": "they left", "hypothesis": "they sing", "label": "neutral"}\n',
        encoding="utf-8",
    )
    room.fit("third", epochs=1, train=read_corpus(new))
    assert asked == ["they left", "they sing"]


def test_kept_vectors_are_the_encoders(room: Room) -> None:
    from evenhand.train.sentence_vectors import SentenceVectors

    encoder = open_sentences(str(room.encoder))
    texts = ["he left", "she left", "he left", "the boy runs"]
    for attempt in range(3):
        store = SentenceVectors(encoder, room.folder / "kept")
        places, rows = store.read(texts)
        assert list(places) == ["he left", "she left", "the boy runs"]
        np.testing.assert_allclose(
            rows[[places[t] for t in texts]], encoder.embed(texts), atol=1e-6
        )
        if attempt == 1:
            store.path.write_bytes(b"spoilt")
    with pytest.raises(
        EvenhandError, match=r"has no vector for 'he he .* they are longer than its 40 tokens"
    ):
        store.read(["he " * 50])


def test_vectors_of_another_encoder_and_damaged_ones_are_computed_again(room: Room) -> None:
    """A flipped bit in the file, or the file of another encoder, was trained on."""
    from evenhand.train.sentence_vectors import SentenceVectors

    encoder = open_sentences(str(room.encoder))
    texts = ["he left", "she left", "the boy runs"]
    store = SentenceVectors(encoder, room.folder / "checked")
    expected = store.read(texts)[1]
    raw = store.path.read_bytes()
    place = raw.index(expected.astype("<f4").tobytes())
    for spoilt in (place, place + 40, place + expected.nbytes - 1):
        store.path.write_bytes(raw[:spoilt] + bytes([raw[spoilt] ^ 64]) + raw[spoilt + 1 :])
        np.testing.assert_array_equal(store.read(texts)[1], expected)
        assert store.path.read_bytes()[place : place + 8] == raw[place : place + 8]
    other = write_encoder(room.folder / "other encoder", longest=39)
    copied = SentenceVectors(open_sentences(str(other)), room.folder / "checked")
    assert copied.path != store.path
    copied.path.write_bytes(raw)
    assert copied._stored() == {} and len(store._stored()) == 3


def test_inputs_are_scaled_by_what_they_vary(room: Room) -> None:
    head = read_head(room.folder / "head")
    encoder = open_sentences(str(room.encoder))
    inputs = features(
        *(
            encoder.embed([getattr(p, side) for p in room.train.pairs])
            for side in ("premise", "hypothesis")
        )
    )
    scaled = (inputs - head.shift) * head.scale
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(scaled.std(axis=0)[inputs.std(axis=0) > 1e-6], 1, atol=1e-3)
    room.fit("plain", epochs=1, scaling="none")
    plain = read_head(room.folder / "plain")
    assert (plain.shift == 0).all() and (plain.scale == 1).all() and plain.scaling == "none"


def test_the_best_epoch_is_kept_where_the_recipe_says_so(room: Room) -> None:
    card = room.fit("best", learning_rate=0.1, epochs=6, is_best_kept=True)
    assert card["accuracy"]["b"] == pytest.approx(max(card["dev accuracy by epoch"]))
    assert card["kept epoch"] == 1 + int(np.argmax(card["dev accuracy by epoch"]))


def test_progress_is_reported(room: Room) -> None:
    ticks: list[tuple[int, int, int]] = []
    options = RunOptions(say=lambda _: None, tick=lambda *step: ticks.append(step))
    room.fit("ticked", epochs=2, options=options)
    assert ticks[0] == (1, 40, 0) and ticks[-1] == (40, 40, 0) and len(ticks) == 40


def test_what_cannot_be_trained_is_refused_first(room: Room, tmp_path: Path) -> None:
    with pytest.raises(
        LoadError, match=r"holds no classifier on sentence vectors: it has no vector_nli.json"
    ):
        room.fit("x", start="encoder")
    with pytest.raises(
        EvenhandError, match="is the folder of the head to start from, which would be overwritten"
    ):
        room.fit("head", start="head")
    with pytest.raises(
        EvenhandError, match="has 64 hidden units and cannot go on with 32; leave out --hidden"
    ):
        room.fit("x", start="head", hidden=32)
    with pytest.raises(LoadError, match=r"stands on the encoder .* not on the one named now"):
        room.fit("x", start="head", encoder=str(write_encoder(tmp_path / "e", longest=30)))
    with pytest.raises(InputError, match="is the same file as"):
        room.fit("x", train=room.dev)
    with pytest.raises(EvenhandError, match="holds a model that this command did not make"):
        room.fit("encoder")
    with pytest.raises(
        UnknownNameError, match=r"unknown scaling 'standart'. Did you mean standard\?"
    ):
        HeadRecipe(scaling="standart")
    for values, message in (
        ({"epochs": 0}, "epochs is 0"),
        ({"learning_rate": 0.0}, "learning rate is 0.0"),
        ({"dropout": 1.0}, "dropout is 1.0"),
    ):
        with pytest.raises(EvenhandError, match=message):
            HeadRecipe(**values)


def test_the_command_trains_and_tells(room: Room, capsys: pytest.CaptureFixture[str]) -> None:
    from evenhand.cli.train_vectors import vectors

    out = room.folder / "command"
    vectors(
        train=[room.train.path],
        dev=[room.dev.path],
        out=out,
        encoder=str(room.encoder),
        hidden=32,
        epochs=2,
        cache=room.folder / "vectors",
    )
    printed = capsys.readouterr().out
    assert (
        "dev accuracy on b: " in printed
        and "90 pairs; the most frequent label: " in printed
        and f"model: {out}" in printed
    )
    vectors(
        train=[room.train.path],
        dev=[room.dev.path],
        out=out,
        encoder=str(room.encoder),
        hidden=32,
        epochs=2,
        as_json=True,
    )
    again = capsys.readouterr()
    assert json.loads(again.out)["hidden"] == 32 and "is finished" in again.err
