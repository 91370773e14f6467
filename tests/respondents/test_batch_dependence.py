"""A network whose answers depend on the batch is found out, and asked one probe at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoder_models import PROBES as CHOICES
from encoder_models import opened, write_encoder, write_next
from int8_models import make_int8, round_output
from masked_models import open_masked, write_masked
from masked_probes import PROBES as BLANKS
from models import TinyModel, open_model, write_model
from quick import Opening, load, quick_audit
from replied import flat

from evenhand.core.probe import Floats, Probe
from evenhand.engine.audit_document import audit_document
from evenhand.report.markdown import to_markdown
from evenhand.respondents.networks.batches import Encoded, depends_on_batch
from evenhand.respondents.networks.onnx import OnnxNetwork

BATCHES = (1, 3, 64, None)
SEED = 14
PAIRS = load().probes
NEXT = tuple(
    Probe(id=p.id, kind="choice", language="en", texts=p.texts, stratum="S", cluster=p.id)
    for p in PAIRS
)


def nli(folder: Path) -> Path:
    return make_int8(write_model(folder, TinyModel(seed=SEED)))


MODELS: dict[str, tuple[Callable[[Path], Path], Callable[..., Any], tuple[Probe, ...]]] = {
    "nli": (nli, open_model, PAIRS),
    "masked at positions": (lambda f: make_int8(write_masked(f)), open_masked, tuple(BLANKS)),
    "masked": (
        lambda f: make_int8(write_masked(f, form="plain")),
        open_masked,
        tuple(BLANKS),
    ),
    "encoder of tokens": (lambda f: round_output(write_encoder(f)), opened, CHOICES),
    "encoder of sentences": (
        lambda f: round_output(write_encoder(f, "sentence")),
        opened,
        CHOICES,
    ),
    "next sentence": (
        lambda f: make_int8(write_next(f)),
        lambda f, **options: opened(f"nsp:{f}", **options),
        NEXT,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_probes_asked_alone(tmp_path: Path, name: str) -> None:
    write, open_it, given = MODELS[name]
    probes = [p for p in given if p.option_count == given[0].option_count]
    folder = write(tmp_path / "int8")
    alone = open_it(folder, batch_size=1)
    expected = np.concatenate([flat(alone.answer([p])) for p in probes])
    for batch_size in BATCHES:
        respondent = open_it(folder, batch_size=batch_size)
        answered = flat(respondent.answer(probes))
        np.testing.assert_array_equal(answered, expected)
        assert respondent.traits["batch"] == "one by one"
        assert respondent.traits["precision"] == "int8/dynamic"


def test_the_network_itself_answers_otherwise_in_a_batch(tmp_path: Path) -> None:
    network = open_model(nli(tmp_path / "int8")).network
    encoded = network.encode([(p.texts[0], p.texts[1]) for p in PAIRS])
    alone = np.concatenate([network.logits([e]) for e in encoded])
    assert np.abs(alone - network.logits(encoded)).max() > 0.01


def test_the_scores_of_an_audit_do_not_depend_on_the_batch_size(tmp_path: Path) -> None:
    folder = nli(tmp_path / "int8")
    suite = load(limit=1000)
    runs = [
        quick_audit(str(folder), suite, Opening(batch_size=size, cache=False)) for size in (1, 64)
    ]
    values = [[e.value for e in run.estimates] for run in runs]
    np.testing.assert_array_equal(values, [values[0]] * len(runs))
    assert all("|batch:one by one|" in e.signature for run in runs for e in run.estimates)
    text = to_markdown(audit_document(runs[-1]))
    assert (
        "changes with the other probes of its batch (precision int8/dynamic), so each was asked "
        "alone." in text
    )


def test_the_order_of_the_labels_is_tested_one_pair_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    run = OnnxNetwork.run

    def counting(self: OnnxNetwork, batch: list[Encoded], **more: Any) -> list[Any]:
        sizes.append(len(batch))
        return run(self, batch, **more)

    monkeypatch.setattr(OnnxNetwork, "run", counting)
    open_model(nli(tmp_path / "int8"), batch_size=64)
    assert sizes == [1] * 6 + [6] + [1] * 36  # six texts alone and together, the sanity pairs


@pytest.mark.parametrize(
    "folder",
    [
        lambda f: open_model(write_model(f, TinyModel(seed=SEED))),
        lambda f: open_masked(write_masked(f)),
        lambda f: opened(write_encoder(f)),
        lambda f: opened(f"nsp:{write_next(f)}"),
    ],
)
def test_a_network_of_floating_point_numbers_is_asked_in_batches(
    tmp_path: Path, folder: Callable[[Path], Any]
) -> None:
    respondent = folder(tmp_path / "tiny")
    assert "batch" not in respondent.traits and respondent.batch_size is None
    assert respondent.traits["precision"] == "fp32"


def test_a_graph_for_one_pair_is_asked_one_pair_at_a_time(tmp_path: Path) -> None:
    respondent = open_model(write_model(tmp_path / "one", batch=1), batch_size=8)
    assert respondent.traits["batch"] == "one by one"
    expected = [TinyModel().forward(p.texts[0], p.texts[1]) for p in PAIRS]
    np.testing.assert_allclose(flat(respondent.answer(PAIRS)), expected, atol=1e-5)


TEXTS = [Encoded(tuple(range(2, n)), (0,) * (n - 2)) for n in (5, 9, 4)]


@pytest.mark.parametrize(
    ("change", "is_found"), [(0.0, False), (0.9e-5, False), (1.1e-5, True), (np.nan, True)]
)
def test_only_what_is_more_than_rounding_counts(change: float, is_found: bool) -> None:
    def read(batch: list[Encoded]) -> Floats:
        rows = np.asarray([[3.0, 4.0 * len(e.ids) / 7] for e in batch])  # the longest: size 5
        rows[0, 0] += 5 * change * (len(batch) > 1)
        return rows

    assert depends_on_batch(read, TEXTS, 512) is is_found


def test_a_network_that_answers_nothing_is_no_matter_of_the_batch() -> None:
    assert not depends_on_batch(lambda batch: np.full((len(batch), 3), np.nan), TEXTS, 512)


def test_where_nothing_can_be_compared_each_text_is_read_alone() -> None:
    assert depends_on_batch(lambda batch: np.zeros((len(batch), 3)), TEXTS, 2)
