"""What do the numbers of a task asked as entailment say in plain words, and what do they not say?"""

from __future__ import annotations

from collections import Counter

from evenhand.core import catalog
from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.report.estimates import always, checks, ordered
from evenhand.report.numbers import amount, interval_of, percent, with_bounds

STRATA = {"zero-shot": "item"}
RECALL = "recall."


def constant(run: Run) -> str:
    """What does the constant respondent do?"""
    return always(run)


def task_of(run: Run) -> str:
    """`mnli`; empty where the probes do not say."""
    return next((p.tags.get("task", "") for p in run.answers.probes), "")


def verdict(run: Run, estimate: Estimate) -> str:
    """What did the model do, in one sentence?"""
    items = amount(round(estimate.probes * estimate.coverage), "item")
    each = ", ".join(
        f"{percent(v.value)} of those that are {k.removeprefix(RECALL).replace('_', ' ')}"
        for k, v in estimate.parts.items()
        if k.startswith(RECALL)
    )
    of = f" of {task_of(run).upper()}" if task_of(run) else ""
    return f"The model gives the right label on {percent(estimate.value)} of {items}{of}{f': {each}' if each else ''}."


def understanding(run: Run) -> str:
    """What would guessing get, and what does the model do elsewhere?"""
    golds = Counter(p.tags["gold"] for p in run.answers.probes if p.tags.get("gold"))
    told = []
    if golds:
        label, count = golds.most_common(1)[0]
        told.append(
            f"The most frequent label, {label.replace('_', ' ')}, is right for {percent(count / golds.total())}."
        )
    if found := next((e for e in checks(run) if e.measure == "accuracy"), None):
        told.append(
            f"On {amount(found.probes, 'ordinary pair')} of evenhand the model gives the right label in {percent(found.value)}, {with_bounds(interval_of(found))}."
        )
    return " ".join(told)


def method(run: Run, drawn: str) -> list[str]:
    """How was it measured?"""
    card = catalog.measure(ordered(run)[0].measure).card
    return [
        f"{run.suite.card.description.rstrip('.')}.",
        f"{card.title} is the share of answered items that get their gold label; where the gold label is only “entailment or not”, neutral and contradiction are both “not”.",
        drawn,
    ]


def limits(run: Run) -> list[str]:
    """What does this number not say?"""
    return [
        "It says nothing about bias: it tells a fair model from one that understands nothing.",
        *dict.fromkeys(catalog.measure(e.measure).card.caveat for e in ordered(run)),
        "The task is put into one wording; another wording may fare differently.",
    ]


def notes(_: Run) -> list[str]:
    """What else must a reader know? Nothing of its own."""
    return []


def tied(_: Run, estimate: Estimate) -> str:
    """How many ties, and what becomes of them?"""
    return f"{amount(estimate.ties, 'item')} in which labels tie for the highest value; they share the answer."
