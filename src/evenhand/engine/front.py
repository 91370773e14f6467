"""The first screen of the report of one run: badge, verdict, direction, example, findings."""

from __future__ import annotations

import math
from collections.abc import Iterator

from evenhand.core import account, catalog
from evenhand.core.document import Finding, Front
from evenhand.core.estimate import Estimate, Interval
from evenhand.core.family import FindingRule
from evenhand.core.run import Run
from evenhand.core.text import counted, short_number, with_bounds
from evenhand.core.validity import AT_CHANCE, discounts, doubts_of, validity

SCORES = "scores"  # the section that shows every estimate


def make_front(run: Run, sections: frozenset[str]) -> Front:
    """The first screen of a run. sections: the names of those that the document has."""
    own, badge = account.account_of(run), validity(run)
    is_known = math.isfinite(run.headline.value)
    verdict = account.verdict(run, run.headline)
    if own.plain is not None and is_known:
        verdict = own.plain(run)
    doubts = tuple(doubt.short for doubt in doubts_of(badge))
    findings = [
        *(_score_finding(run, e, sections) for e in _first_scores(run)),
        *(f for rule in own.findings if (f := _group_finding(run, rule, sections, doubts))),
    ]
    return Front(
        verdict=verdict,
        badge=badge,
        direction=_direction(run),
        example=own.example(run) if own.example is not None and is_known else None,
        findings=tuple(sorted(findings, key=lambda finding: bool(finding.reasons))),
    )


def _direction(run: Run) -> Finding | None:
    """To which side; None where the family cannot tell.

    It goes by intervals of its own, so that it counts where its measure does not differ from chance
    on the whole.
    """
    own = account.account_of(run).direction
    text, measure = own(run) if own is not None else ("", "")
    estimate = run.estimate(measure)
    if not text or estimate is None:
        return None
    reasons = (r.short for r in discounts(run, estimate) if r.short != AT_CHANCE)
    return Finding(text=text, reasons=tuple(reasons))


def _first_scores(run: Run) -> Iterator[Estimate]:
    """The estimates; of ways of counting that are told briefly, the first."""
    for group in account.score_groups(run):
        yield from group.estimates[:1] if group.is_brief else group.estimates


def _score_finding(run: Run, estimate: Estimate, sections: frozenset[str]) -> Finding:
    name = account.title(estimate.measure)
    place = account.account_of(run).places.get(estimate.measure, SCORES)
    text = f"{name} is {with_bounds(estimate.interval)}; {account.best_value(estimate.measure)}."
    if not math.isfinite(estimate.value):
        text = f"{name} has no value."
    return Finding(
        text=text,
        section=place if place in sections else SCORES,
        reasons=tuple(r.short for r in discounts(run, estimate)),
    )


def _group_finding(
    run: Run, rule: FindingRule, sections: frozenset[str], doubts: tuple[str, ...]
) -> Finding | None:
    """How many groups of a breakdown lie apart from the best value; None without groups."""
    measure = rule.measure or run.headline.measure
    groups = account.known_groups(run.breakdown(measure, rule.by))
    if not groups or rule.section not in sections:
        return None
    best = catalog.measure(measure).fair
    apart = sum(_lies_apart(group.interval, best) for group in groups)
    first, value = groups[0], short_number(best)
    have = "has" if apart == 1 else "have"
    text = (
        f"{account.title(measure)}: {apart:,} of {counted(len(groups), rule.noun)} {have} an "
        f"interval that does not hold {value}; farthest from it is {first.name}, "
        f"{with_bounds(first.interval)}."
    )
    nothing = () if apart else (f"every interval holds {value}, or there is none",)
    return Finding(text=text, section=rule.section, reasons=(*doubts, *nothing))


def _lies_apart(interval: Interval, best: float) -> bool:
    return interval.has_bounds and not interval.low <= best <= interval.high
