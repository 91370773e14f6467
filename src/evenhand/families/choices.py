"""What accounts of choices share: how a context and the scores of its options are shown."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core.document import Answer, Exhibit, Section, Specimen
from evenhand.core.probe import Probe
from evenhand.core.run import Run
from evenhand.core.text import number

OFFENSIVE = "The sentences are stereotypes that were written to be measured; many are offensive."


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
