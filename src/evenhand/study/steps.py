"""Steps of an annotator: consent, inventories, trial, batches.

A part below its thresholds is offered again with fresh controls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evenhand.people.scoring import Scored, consistency, control_accuracy, is_enough
from evenhand.study.registry import INVITED
from evenhand.study.site import Site
from evenhand.study.store import Verdict
from evenhand.study.tables import FAILED, PASSED, Part, RefusedError

CONSENTED, READY, DONE = "consented", "ready", "done"


class Offer(NamedTuple):
    """A part that somebody may begin."""

    part: str
    attempt: int


def offer(parts: Sequence[str], begun: Sequence[Part]) -> Offer | None:
    """The first part that was not passed, one attempt further; None where all were."""
    passed = {p.part for p in begun if p.state == PASSED}
    for part in parts:
        if part not in passed:
            return Offer(part, 1 + max((p.attempt for p in begun if p.part == part), default=0))
    return None


def next_step(site: Site, annotator: str) -> str:
    """The path of the page that this annotator sees next."""
    state = site.store.annotator(annotator).state
    if state == INVITED:
        return "/consent"
    if state == CONSENTED and site.study.inventories:
        return "/inventory"
    begun = site.store.parts(annotator)
    if any(p.is_open for p in begun):
        return "/question"
    return "/start" if offer(site.parts, begun) is not None else "/done"


def finish(site: Site, annotator: str, part: Part) -> None:
    """Close a part whose questions are all answered, passed or failed by its control questions."""

    def judge(rows: Sequence[Scored]) -> Verdict:
        accuracy, same = control_accuracy(rows, site.gold).value, consistency(rows).value
        is_passed = is_enough(site.study, part.part, accuracy, same)
        return Verdict(PASSED if is_passed else FAILED, accuracy, same)

    try:
        site.store.judge_part(annotator, part.part, part.attempt, judge)
    except RefusedError as refusal:
        if refusal.kind != "no open part":  # another device, or a second click, was faster
            raise
    if offer(site.parts, site.store.parts(annotator)) is None:
        site.store.set_state(annotator, DONE)
