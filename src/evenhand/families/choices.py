"""What families of choices share: scores by a label, and how options are shown in a report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.core.document import Answer, Exhibit, Section, Specimen
from evenhand.core.errors import MeasureError
from evenhand.core.probe import CONTRADICTION, NLI_LABELS, Floats, Probe
from evenhand.core.run import Run
from evenhand.core.text import number

OFFENSIVE = "The sentences are stereotypes that were written to be measured; many are offensive."


def label_scores(values: Floats, label: str) -> Floats:
    """The raw value of one label for every option (n, options), the higher the more preferred.

    That of contradiction counts with a minus. A row in which any number is missing is NaN
    throughout. Raises MeasureError unless every option has three numbers.
    """
    if values.shape[2] != len(NLI_LABELS):
        raise MeasureError(
            f"{values.shape[2]} numbers an option; a score by {label} needs {len(NLI_LABELS)} "
            f"({', '.join(NLI_LABELS)}): ask a classifier with three labels"
        )
    is_complete = np.asarray(np.isfinite(values).all(axis=(1, 2)), dtype=bool)
    sign = -1.0 if label == CONTRADICTION else 1.0
    scores = sign * values[:, :, NLI_LABELS.index(label)]
    return np.where(is_complete[:, np.newaxis], scores, np.nan)


def answer_noun(run: Run) -> str:
    """What the numbers of the options are called."""
    return "raw value of entailment" if run.answers.is_classifier else "number"


def weighed_specimen(
    probe: Probe, options: Sequence[str], numbers: Sequence[float], *, tag: str, right: str = ""
) -> Specimen:
    """A context and its options with their numbers, the highest emphasised.

    right: the name of the right option, if there is one.
    """
    best = max(numbers)
    answers = [
        Answer(label=option, text=f"{option} {number(value)}", is_chosen=value == best)
        for option, value in zip(options, numbers, strict=True)
    ]
    summary = ", ".join(answer.text for answer in answers)
    if right:
        answers.append(Answer(label="right", text=f"right: {right}"))
        summary += f"; right is {right}"
    contexts = [probe.texts[0]] if probe.texts[0] else []
    lines = (*contexts, *probe.texts[1 : 1 + len(options)])
    chosen = (place for place, answer in enumerate(answers, len(contexts)) if answer.is_chosen)
    return Specimen(
        id=probe.id,
        language=probe.language,
        lines=lines,
        summary=summary,
        answers=tuple(answers),
        tag=tag,
        strong=frozenset(chosen),
        quiet=frozenset(range(len(contexts))),
    )


def exhibit_sections(exhibits: Sequence[Exhibit]) -> list[Section]:
    """One section for each exhibit that is not empty."""
    return [Section(name=e.name, title=e.title, blocks=(e,)) for e in exhibits if e.specimens]
