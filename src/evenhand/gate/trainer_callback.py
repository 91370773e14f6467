"""A callback for the Trainer of transformers: an audit at each evaluation, in its own reporting.

    trainer = Trainer(model=..., processing_class=tokenizer, ...)
    trainer.add_callback(AuditCallback(trainer, limit=600))

The estimates go where the Trainer's other numbers go (TensorBoard, W&B, MLflow ...), as
`eval_evenhand_MEASURE`, with `_low`, `_high` and `_coverage`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, EvenhandWarning, LabelError
from evenhand.core.estimate import Estimate
from evenhand.core.probe import NLI_LABELS, Floats
from evenhand.core.protocols import SuiteOptions
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.ask import Asking
from evenhand.engine.audit import audit
from evenhand.engine.suites import load_suite
from evenhand.respondents.function import FunctionRespondent
from evenhand.respondents.labels import example_map, from_config, from_user

try:
    import torch
    from transformers import TrainerCallback
except ImportError as error:
    raise EvenhandError(
        "the callback needs torch and transformers, which are not installed: "
        "pip install 'evenhand[hf]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "eval_evenhand_"


class AuditCallback(TrainerCallback):  # type: ignore[misc]
    """Audits the model that is being trained whenever the Trainer evaluates.

    trainer: whose reporting is used. suite: a Suite, or the name of one in English; the default
    suite where there is none; limit: the most probes to ask of it. measures: names, None for all
    that fit. label_map: which output means which label, where the model's config does not say.
    The last run is kept as `run`.
    """

    def __init__(
        self,
        trainer: Any,
        suite: str | Suite | None = None,
        *,
        limit: int | None = 600,
        measures: Sequence[str] | None = None,
        settings: Settings | None = None,
        label_map: Mapping[str, int] | None = None,
        batch_size: int = 64,
    ) -> None:
        self.trainer = trainer
        self.measures, self.batch_size = measures, batch_size
        self.settings = settings or Settings(resamples=2000)
        self.label_map = label_map
        if not isinstance(suite, Suite):
            options = SuiteOptions(seed=self.settings.seed)
            suite = load_suite(suite or catalog.default_suite(), options=options, limit=limit)
        self.suite = suite
        self.run: Run | None = None
        self.step = -1  # of the training, when it was made

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: dict[str, float] | None = None, **_: Any
    ) -> None:
        """Audit, and log the estimates. They are added to `metrics`, which evaluate() returns."""
        if not state.is_world_process_zero:
            return
        is_new = self.run is None or self.step != state.global_step
        if self.run is None or is_new:  # several evaluation sets are evaluated at one step
            self.run, self.step = self._audit(state.global_step), state.global_step
        numbers = logged_numbers(self.run.estimates)
        if metrics is not None:
            metrics.update(numbers)
        if is_new:
            self.trainer.log(dict(numbers))

    def _audit(self, step: int) -> Run:
        return audit(
            self._respondent(step),
            self.suite,
            measures=self.measures,
            settings=self.settings,
            asking=Asking(cache=False),
        )

    def _respondent(self, step: int) -> FunctionRespondent:
        model = self.trainer.model
        columns = _columns(model.config, self.label_map)
        tokenizer = self.trainer.processing_class
        if tokenizer is None:
            raise EvenhandError("the Trainer has no tokenizer; give it one as processing_class")

        def scores(pairs: list[tuple[str, str]]) -> Floats:
            with _evaluating(model):
                batches = [
                    _logits(model, tokenizer, pairs[start : start + self.batch_size])
                    for start in range(0, len(pairs), self.batch_size)
                ]
            return np.concatenate(batches)[:, columns]

        respondent = FunctionRespondent(scores)
        respondent.identity = f"{model.config.name_or_path or 'model'}@step-{step}"
        return respondent


def logged_numbers(estimates: Sequence[Estimate]) -> dict[str, float]:
    """The numbers of estimates by the names under which they are logged.

    What is not finite is left out; a value that is not is warned of, with its reason.
    """
    numbers: dict[str, float] = {}
    for estimate in estimates:
        if not math.isfinite(estimate.value):
            warnings.warn(
                f"{estimate.measure} is not logged: {estimate.note or 'it has no value'}",
                EvenhandWarning,
                stacklevel=2,
            )
            continue
        name = f"{PREFIX}{estimate.measure}"
        numbers[name] = estimate.value
        ends = {"low": estimate.low, "high": estimate.high, "coverage": estimate.coverage}
        numbers |= {f"{name}_{k}": v for k, v in ends.items() if math.isfinite(v)}
    return numbers


def _columns(config: Any, label_map: Mapping[str, int] | None) -> list[int]:
    """Which output of the model means entailment, neutral and contradiction."""
    count = int(config.num_labels)
    if label_map is not None:
        order = from_user(label_map, count)
    else:
        stated = from_config({int(k): str(v) for k, v in config.id2label.items()}, count)
        if stated is None:
            raise LabelError(
                "the config of the model does not name its labels; give the callback a label_map "
                f"({example_map(NLI_LABELS)}), or the model an id2label"
            )
        order = stated
    if order.labels != NLI_LABELS:
        raise LabelError(
            f"the model gives {', '.join(order.labels)}; the callback asks models that give "
            f"{', '.join(NLI_LABELS)}"
        )
    return list(order.columns)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """The model in its evaluation mode, without gradients; afterwards as it was."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


def _logits(model: Any, tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> Floats:
    """The outputs of the model; NaN for a pair that is longer than it can read."""
    lengths = [len(tokenizer(first, second)["input_ids"]) for first, second in pairs]
    fitting = [row for row, length in enumerate(lengths) if length <= tokenizer.model_max_length]
    logits = np.full((len(pairs), int(model.config.num_labels)), np.nan)
    if fitting:
        firsts, seconds = zip(*(pairs[row] for row in fitting), strict=True)
        batch = tokenizer(list(firsts), list(seconds), padding=True, return_tensors="pt")
        outputs = model(**{name: values.to(model.device) for name, values in batch.items()})
        logits[fitting] = outputs.logits.detach().float().cpu().numpy()
    return logits
