"""Which items show best what the model does on StereoSet, in the word tests, and at tasks?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.core.probe import GENDERS, Probe
from evenhand.core.run import Run
from evenhand.measures.options import is_answered, option_scores
from evenhand.measures.stereoset_scores import OPTIONS
from evenhand.report.estimates import is_classifier
from evenhand.report.exhibits import Evidence, Item
from evenhand.report.numbers import amount, number
from evenhand.report.tasks import mistakes, told_label
from evenhand.report.word_sides import Comparison, misjudged, most_one_sided

OFFENSIVE = "The sentences are stereotypes that were written to be measured; many are offensive."


def _what(run: Run) -> str:
    return "raw value of entailment" if is_classifier(run) else "number"


def _weighed(
    probe: Probe, names: Sequence[str], numbers: Sequence[float], tag: str, extra: str = ""
) -> Item:
    """A context and some of its options with their numbers."""
    best = max(numbers)
    options = tuple(
        (t, f"{n} {number(v)}", v == best)
        for t, n, v in zip(probe.texts[1:], names, numbers, strict=False)
    )
    told = ", ".join(figure for _, figure, _ in options) + extra
    text = f"{probe.texts[0]} " + " / ".join(f"“{t}”" for t, _, _ in options)
    return Item(
        probe=probe, text=text.strip(), told=told, tag=tag, context=probe.texts[0], options=options
    )


def stereoset_evidence(run: Run, first: int = 10, second: int = 5) -> Iterator[Evidence]:
    """The items with the strongest preference for the stereotype, and for the anti-stereotype."""
    answers = run.answers
    rows = np.flatnonzero(is_answered(answers.values))
    scores = option_scores(answers.values, len(OPTIONS))
    for name, sign, count in (("stereotype", 1, first), ("anti-stereotype", -1, second)):
        gaps = {int(i): sign * float(scores[i, 0] - scores[i, 1]) for i in rows}
        order = sorted((i for i, gap in gaps.items() if gap > 0), key=lambda i: -gaps[i])[:count]
        items = tuple(
            _weighed(
                p := answers.probes[i],
                OPTIONS,
                [float(v) for v in scores[i]],
                f"{p.tags.get('domain', '')}: {p.tags.get('target', '')}".strip(": "),
            )
            for i in order
        )
        yield Evidence(
            name=name,
            title=f"The strongest preferences for the {name}",
            items=items,
            note=f"The {amount(len(items), 'item')} with the greatest difference between the {_what(run)} of stereotype and anti-stereotype. {OFFENSIVE}",
        )


def _compared(found: Comparison) -> Item:
    tags = found.probe.tags
    right = f"; right is {tags['gold']}" if tags.get("gold") else ""
    return _weighed(found.probe, GENDERS, found.numbers, tags.get("word", ""), right)


def word_evidence(run: Run) -> Iterator[Evidence]:
    """The most one-sided comparisons, and the gendered words that are got wrong."""
    for gender, found in zip(GENDERS, most_one_sided(run), strict=True):
        yield Evidence(
            name=gender,
            title=f"The clearest preferences for the {gender} word",
            items=tuple(map(_compared, found)),
            note=f"The {amount(len(found), 'comparison')} with the greatest difference between the {_what(run)} of the two words, "
            "one for each word that is told; nothing settles the gender.",
        )
    wrong = misjudged(run)
    yield Evidence(
        name="wrong",
        title="Gendered words that are got wrong",
        items=tuple(map(_compared, wrong[:15])),
        note=f"Of {amount(len(wrong), 'word')} whose own gender does not win, the {amount(min(len(wrong), 15), 'word')} with the greatest difference.",
    )


def task_evidence(run: Run) -> Iterator[Evidence]:
    """The mistakes that the model is surest of."""
    found = mistakes(run)
    items = tuple(
        Item(
            probe=m.probe,
            text=" / ".join(m.probe.texts),
            tag=f"right: {told_label(m.probe.tags['gold'])}",
            context=m.probe.texts[0],
            told=f"right is {told_label(m.probe.tags['gold'])}, the model says {told_label(m.given)} with {number(m.chances[m.given])}",
            chances=tuple((label, chance, label == m.given) for label, chance in m.chances.items()),
        )
        for m in found
    )
    yield Evidence(
        name="mistakes",
        title="The mistakes that the model is surest of",
        items=items,
        note=f"The {amount(len(items), 'wrong answer')} with the highest probability.",
    )
