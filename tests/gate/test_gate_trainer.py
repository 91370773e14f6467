"""The callback: what a real Trainer logs to TensorBoard, MLflow and W&B, without a network."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gate_runs import estimated, nothing
from models import build_classifier
from quick import load

from evenhand.core.errors import EvenhandError, EvenhandWarning, LabelError
from evenhand.core.settings import Settings

pytestmark = pytest.mark.torch
FEW = Settings(resamples=100)
NAME = "evenhand_nli_coal"


class Rows:
    """A data set of a few pairs, tokenised."""

    def __init__(self, tokenizer: Any, count: int = 8) -> None:
        words = [f"A {noun} sleeps." for noun in ("nurse", "soldier", "teacher", "driver")]
        self.rows = [
            {**tokenizer(words[i % 4], words[(i + 1) % 4], truncation=True), "labels": i % 3}
            for i in range(count)
        ]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self.rows[place]


def train(folder: Path, report_to: str, **options: Any) -> tuple[Any, Any]:
    """A Trainer after two epochs with an evaluation after each, and its callback."""
    import torch
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        Trainer,
        TrainingArguments,
    )

    from evenhand.gate.trainer_callback import AuditCallback

    torch.set_num_threads(1)
    source = build_classifier(folder / "model", "bert")
    tokenizer = AutoTokenizer.from_pretrained(source)
    rows: Any = Rows(tokenizer)
    trainer = Trainer(
        model=AutoModelForSequenceClassification.from_pretrained(source),
        args=TrainingArguments(
            output_dir=str(folder / "out"),
            num_train_epochs=2,
            per_device_train_batch_size=4,
            eval_strategy="epoch",
            save_strategy="no",
            report_to=report_to,
            use_cpu=True,
            disable_tqdm=True,
            run_name="tiny",
        ),
        train_dataset=rows,
        eval_dataset=rows,
        processing_class=tokenizer,
    )
    callback = AuditCallback(trainer, load(limit=60), settings=FEW, **options)
    trainer.add_callback(callback)
    trainer.train()
    return trainer, callback


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is logged lies in the folder of the test."""
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "tensorboard"))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def expected(trainer: Any) -> list[float]:
    """The values that the Trainer itself kept, one per evaluation."""
    return [row[f"eval_{NAME}"] for row in trainer.state.log_history if f"eval_{NAME}" in row]


def test_the_estimates_stand_in_tensorboard(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    trainer, callback = train(tmp_path, "tensorboard")
    (file,) = tmp_path.rglob("events.out.tfevents.*")
    events = accumulator.EventAccumulator(str(file.parent)).Reload()
    for end in ("", "_low", "_high", "_coverage"):
        assert len(events.Scalars(f"eval/{NAME}{end}")) == 2
    logged = events.Scalars(f"eval/{NAME}")
    assert [event.step for event in logged] == [2, 4]
    assert [event.value for event in logged] == pytest.approx(expected(trainer), rel=1e-6)
    last = callback.run.estimate("nli_coal")
    assert logged[-1].value == pytest.approx(last.value, rel=1e-6)
    assert events.Scalars(f"eval/{NAME}_low")[-1].value == pytest.approx(last.low, rel=1e-6)
    assert callback.run.answers.respondent.endswith("@step-4")


def test_the_callback_asks_the_model_itself_and_leaves_it_as_it_was(tmp_path: Path) -> None:
    import torch

    trainer, callback = train(tmp_path, "none")
    model = trainer.model
    model.train()
    metrics = trainer.evaluate()
    assert metrics[f"eval_{NAME}"] == callback.run.estimate("nli_coal").value
    model.train()
    probes = callback.suite.probes[:5]
    before = callback._respondent(4)
    replies = before.answer(probes)
    assert model.training
    model.eval()
    tokenizer = trainer.processing_class
    for place, probe in enumerate(probes):
        with torch.no_grad():
            logits = model(**tokenizer(*probe.texts, return_tensors="pt")).logits.numpy()[0]
        np.testing.assert_allclose(replies.values[place, 0], logits, atol=1e-5)


def test_two_evaluations_at_one_step_are_one_audit(tmp_path: Path) -> None:
    trainer, callback = train(tmp_path, "none")
    count = len(expected(trainer))
    first = callback.run
    trainer.evaluate()
    assert callback.run is first and len(expected(trainer)) == count == 2


def test_the_estimates_stand_in_mlflow(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    trainer, _ = train(tmp_path, "mlflow")
    mlflow.flush_async_logging()
    mlflow.end_run()
    client = mlflow.MlflowClient()
    (run,) = client.search_runs([e.experiment_id for e in client.search_experiments()])
    history = client.get_metric_history(run.info.run_id, f"eval_{NAME}")
    assert [(m.step, m.value) for m in history] == list(zip((2, 4), expected(trainer), strict=True))


def test_the_estimates_stand_in_wandb(tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb")
    trainer, _ = train(tmp_path, "wandb")
    assert wandb.run.settings._offline
    assert wandb.run.summary[f"eval/{NAME}"] == expected(trainer)[-1]
    wandb.finish()
    (file,) = tmp_path.rglob("*.wandb")
    wanted = f"eval/{NAME}_high".encode()
    for _ in range(60):  # a process of its own writes the file, and may do so after finish()
        if wanted in file.read_bytes():
            break
        time.sleep(0.5)
    assert wanted in file.read_bytes()


def test_what_has_no_value_is_warned_of_and_not_logged() -> None:
    from evenhand.gate.trainer_callback import logged_numbers

    nan = float("nan")
    known = estimated("nli_coal", 0.4, nan, nan)
    with pytest.warns(EvenhandWarning, match="same_label is not logged: no answer in PS"):
        numbers = logged_numbers([known, nothing("same_label", "no answer in PS")])
    assert numbers == {f"eval_{NAME}": 0.4, f"eval_{NAME}_coverage": 1.0}


def test_a_model_that_does_not_name_its_labels_needs_a_map(tmp_path: Path) -> None:
    from transformers import BertConfig

    from evenhand.gate.trainer_callback import _columns

    plain = BertConfig(num_labels=3)
    with pytest.raises(LabelError, match="give the callback a label_map"):
        _columns(plain, None)
    assert _columns(plain, {"contradiction": 0, "neutral": 1, "entailment": 2}) == [2, 1, 0]
    two = BertConfig(num_labels=2, id2label={0: "entailment", 1: "not_entailment"})
    with pytest.raises(LabelError, match="asks models that give entailment, neutral"):
        _columns(two, None)


def test_a_trainer_without_a_tokenizer_is_named() -> None:
    from types import SimpleNamespace

    from transformers import BertConfig

    from evenhand.gate.trainer_callback import AuditCallback

    names = {0: "entailment", 1: "neutral", 2: "contradiction"}
    model = SimpleNamespace(config=BertConfig(num_labels=3, id2label=names))
    trainer = SimpleNamespace(model=model, processing_class=None)
    callback = AuditCallback(trainer, load(limit=60))
    with warnings.catch_warnings(), pytest.raises(EvenhandError, match="has no tokenizer"):
        callback._respondent(0)
