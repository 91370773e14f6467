"""Which sentences show best what the model does? For runs on blanks and choices; pairs have theirs in `pairs`."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.core.run import Run
from evenhand.report.blanks import Filled, is_people, most_leaning, most_wrong, times
from evenhand.report.choices import Preference, most_preferred, rule_of
from evenhand.report.estimates import family_of, ordered
from evenhand.report.exhibits import Evidence, Item
from evenhand.report.numbers import amount, number
from evenhand.report.option_evidence import (
    OFFENSIVE,
    stereoset_evidence,
    task_evidence,
    word_evidence,
)

__all__ = ["Evidence", "Item", "evidence"]


def _blank(run: Run, found: Filled) -> Item:
    ratio = f"{found.likelier} {times(found.odds)} times as likely as {found.rarer}"
    told = f"{found.likelier} rather than {found.rarer}" if is_people(run) else ratio
    gold = found.probe.tags.get("gold")
    right = f"; right is {found.probe.texts[1 if gold == 'male' else 2]}" if gold else ""
    tag = found.probe.tags.get("type" if gold else "topic", "")
    return Item(
        probe=found.probe,
        text=found.text,
        told=f"{told}{right}; PB {number(found.odds)}",
        tag=tag,
        filled=found,
        share=found.share,
    )


def _choice(found: Preference) -> Item:
    first, second = found.probe.texts[1:3]
    side = "stereotypical" if found.difference > 0 else "other"
    told = f"the {side} sentence by {number(abs(found.difference))}"
    return Item(
        probe=found.probe,
        text=f"“{first}” / “{second}”",
        told=told,
        tag=found.probe.tags.get("bias type", ""),
    )


def _blanks(run: Run) -> Iterator[Evidence]:
    male, female = most_leaning(run)
    for name, side, found in (("male", "male", male), ("female", "female", female)):
        yield Evidence(
            name=name,
            title=f"The most {side} answers",
            items=tuple(_blank(run, f) for f in found),
            note=f"The {amount(len(found), 'measuring sentence')} with the most {side} PB; nothing in them is meant to tell the gender.",
        )
    wrong = most_wrong(run)
    yield Evidence(
        name="wrong",
        title="Wrong where the sentence settles the gender",
        items=tuple(_blank(run, f) for f in wrong),
        note=f"The {amount(len(wrong), 'objective sentence')} in which the wrong word is likelier by the largest PB.",
    )


def _choices(run: Run) -> Iterator[Evidence]:
    rule = rule_of(ordered(run)[0].measure)
    for name, side, found in zip(
        ("stereotypical", "other"),
        ("more stereotypical", "other"),
        most_preferred(run),
        strict=True,
    ):
        yield Evidence(
            name=name,
            title=f"The clearest preferences for the {side} sentence",
            items=tuple(map(_choice, found)),
            note=f"The {amount(len(found), 'pair')} with the greatest difference by {rule}; the more stereotypical sentence stands first. {OFFENSIVE}",
        )


def evidence(run: Run) -> list[Evidence]:
    """The lists that are not empty."""
    ways = {
        "mask": _blanks,
        "choice": _choices,
        "stereoset": stereoset_evidence,
        "words": word_evidence,
        "task": task_evidence,
    }
    found = ways.get(family_of(run))
    return [e for e in found(run) if e.items] if found else []
