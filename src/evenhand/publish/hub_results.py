"""A run as `.eval_results` of a model's repository on the Hub: entries of benchmark boards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.core.text import bounds
from evenhand.core.validity import reservation_texts
from evenhand.publish.hub import hub
from evenhand.publish.published import published_estimates


def result_entries(
    run: Run, dataset: str, *, measures: Sequence[str] = (), task: str = "", date: str = ""
) -> list[dict[str, Any]]:
    """The entries of a file in `.eval_results/`, made by `huggingface_hub`.

    dataset: the benchmark's id on the Hub. measures: only these; all with a value by default. task:
    the id of the task in the benchmark's eval.yaml, for one measure; by default the measure's name.
    Raises EvenhandError where the dataset's id is none, or a measure has no value.
    """
    _check_id(dataset)
    chosen = _chosen(run, measures)
    if task and len(chosen) > 1:
        raise EvenhandError(
            f"the task '{task}' has one value, and there are {len(chosen)} measures; "
            "choose one with --measure"
        )
    entries = [
        hub().EvalResultEntry(
            dataset_id=dataset,
            task_id=task or estimate.measure,
            value=estimate.value,
            date=date or None,
            notes=_notes(run, estimate),
        )
        for estimate in chosen
    ]
    plain: list[dict[str, Any]] = hub().eval_result_entries_to_yaml(entries)
    return plain


def _chosen(run: Run, measures: Sequence[str]) -> list[Estimate]:
    known = published_estimates(run)
    names = [e.measure for e in known]
    if unknown := [name for name in measures if name not in names]:
        raise EvenhandError(
            f"the run has no value of '{unknown[0]}'; it has values of {', '.join(names)}"
        )
    return [e for e in known if not measures or e.measure in measures]


def _check_id(dataset: str) -> None:
    """Raise EvenhandError unless this is `owner/name`, as the Hub takes it."""
    hub()
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(dataset)
        is_whole = dataset.count("/") == 1
    except HFValidationError:
        is_whole = False
    if not is_whole:
        raise EvenhandError(
            f"'{dataset}' is not the id of a dataset on the Hub; give owner/name of the benchmark"
        )


def _notes(run: Run, estimate: Estimate) -> str:
    level = f"{estimate.level * 100:g} % interval"
    parts = [f"{level} {bounds(estimate.interval)} about {estimate.target}"]
    return "; ".join([*parts, *reservation_texts(run, estimate), estimate.signature])
