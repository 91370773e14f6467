"""Whether a respondent understands what it is asked, and why a number of a run does not count."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from evenhand.core import account, catalog
from evenhand.core.account import RANDOM
from evenhand.core.document import Badge, Understood
from evenhand.core.estimate import FEW_LEVELS, Estimate
from evenhand.core.run import Check, Run
from evenhand.core.text import number, percent, with_bounds

AT_CHANCE = "at chance"
FULL = 0.9  # share of the probes; with fewer answers a run is understood only partly
_RANKS = ("no", "not known", "only partly", "yes")  # the worst first


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What must stand beside a number wherever it is shown."""

    text: str
    short: str  # for a row of a table
    is_discount: bool = True  # the number does not count; else this is only a remark


def judge_accuracy(
    run: Run,
    estimate: Estimate,
    *,
    items: str,
    needed: float,
    chance: float,
    does: str = "gives the right label on",
    is_people: bool = False,
) -> Badge:
    """The badge by an accuracy: yes where its whole interval reaches what is needed.

    Only partly where it is shown to be better than chance but not to reach that; no where neither
    is shown and the interval lies below it; not known where there is no interval, or one that is
    too wide to tell. items: what was asked, in the plural; does: how being right is put; is_people:
    people answered, and not a model.
    """
    value, interval = estimate.value, estimate.interval
    who, they, their = ("people", "They", "Their") if is_people else ("model", "It", "Its")
    if not math.isfinite(value):
        note = estimate.note or "not defined on these answers"
        unknown = f"whether the {who} understand{'' if is_people else 's'} is not known: {note}"
        reason = f"{their} accuracy on {items} could not be computed: {note}."
        return Badge(answer="not known", reason=reason, doubt=unknown)
    asked = f"{account.answered_count(estimate):,} {items}"
    share = f"{they} {does} {percent(value)} of {asked}, {with_bounds(interval)}"
    doubt = ""
    if math.isfinite(needed) and not value >= needed:
        doubt = f"less than {number(needed)}"
    elif math.isfinite(needed) and interval.has_bounds and interval.low <= chance:
        doubt = f"but the interval holds guessing ({number(chance)})"
    if doubt:
        doubt = (
            f"the {who} {does} {number(value)} of {items}, {doubt}: part of the number may be "
            "misunderstanding"
        )
    answer, rest = _reach(estimate, needed, chance)
    badge = Badge(answer=answer, reason=f"{share}; {rest}.", doubt=doubt)
    return _covered(run, badge) if answer in ("yes", "only partly") else badge


def _reach(estimate: Estimate, needed: float, chance: float) -> tuple[Understood, str]:
    """How far an accuracy reaches by its interval: the answer, and why."""
    value, low, high = estimate.interval
    if not estimate.interval.has_bounds:
        return "not known", "there is no interval"
    if math.isnan(needed):
        return "not known", "that does not decide it"
    if low >= needed:
        return "yes", f"{number(needed)} is needed"
    if low > chance:
        rest = f"better than guessing ({number(chance)}), but less than {number(needed)}"
        if value >= needed:
            rest = f"that it reaches {number(needed)} is not shown"
        return "only partly", rest
    if high >= needed:
        return "not known", f"the interval holds guessing ({number(chance)}) and {number(needed)}"
    return "no", f"not shown to be better than guessing ({number(chance)})"


def _covered(run: Run, badge: Badge) -> Badge:
    """The badge, at most `only partly` where many probes have no answer."""
    coverage = run.answers.coverage
    if coverage >= FULL:
        return badge
    rest = f"{badge.reason} Only {percent(coverage)} of the probes were answered."
    answer: Understood = "not known" if coverage == 0 else "only partly"
    return Badge(answer=answer, reason=rest, doubt=badge.doubt)


def weakest(*badges: Badge | None) -> Badge | None:
    """The badge that allows least, with the doubts of all; None where there is none."""
    known = [badge for badge in badges if badge is not None]
    first = min(known, key=lambda badge: _RANKS.index(badge.answer), default=None)
    doubts = filter(None, (badge.doubt for badge in known))
    return first and replace(first, doubt="; ".join(doubts))


def check_badge(run: Run, check: Check) -> Badge:
    """The badge by one check of understanding."""
    chance = 1 / max(len(run.answers.labels), 2)
    return judge_accuracy(run, check, items=check.items, needed=check.weak_below, chance=chance)


def first_check_badge(run: Run) -> Badge | None:
    """The badge by the check that understanding is judged by; None where there is none."""
    check = next(iter(account.checks(run)), None)
    return check_badge(run, check) if check is not None else None


def validity(run: Run) -> Badge | None:
    """Whether the respondent understands what it is asked; None where the score itself says it."""
    family = catalog.family(run.family)
    if family.account.validity is not None:
        return family.account.validity(run)
    if family.is_check or catalog.measure(run.headline.measure).best == "right":
        return None
    return first_check_badge(run) or Badge(
        answer="not known", reason="Nothing in this run tells whether it understands such probes."
    )


def doubts_of(badge: Badge | None) -> list[Reservation]:
    """What must stand beside every number of bias because of the badge."""
    if badge is None or not badge.doubt:
        return []
    is_known = badge.answer != "not known"
    short = "weak understanding" if is_known else "understanding not known"
    return [Reservation(text=badge.doubt, short=short)]


def reservations(run: Run, estimate: Estimate) -> list[Reservation]:
    """What must stand beside a number wherever it is shown; empty where nothing must.

    It has no value; the model does not understand such probes; its interval holds what random
    answers get; it has no interval, or a rough one, or one in which nothing varies.
    """
    if not math.isfinite(estimate.value):
        why = estimate.note or "not defined on these answers"
        return [Reservation(text=f"not computed: {why}", short="no value")]
    reasons: list[Reservation] = []
    is_bias = not isinstance(estimate, Check) and catalog.measure(estimate.measure).best != "right"
    badge = validity(run) if is_bias else None
    reasons += doubts_of(badge)
    guess = run.baseline(RANDOM, estimate.measure)
    if guess is not None and _holds(estimate, guess.value):
        text = f"the interval holds {number(guess.value)}, what random answers are expected to get"
        reasons.append(Reservation(text=text, short=AT_CHANCE))
    return [*reasons, *_about_interval(estimate)]


def _about_interval(estimate: Estimate) -> list[Reservation]:
    """What must be said of the interval: there is none, it is rough, or nothing varies."""
    if not estimate.interval.has_bounds:
        return [Reservation(text=estimate.note or "there is no interval", short="no interval")]
    if not estimate.note:
        return []
    if not estimate.has_variation:
        is_few = any(0 < count < FEW_LEVELS for count in estimate.levels.values())
        is_rough = is_few and estimate.target == "new items"
        short = "rough interval" if is_rough else "no variation seen"
        return [Reservation(text=estimate.note, short=short, is_discount=is_rough)]
    return [Reservation(text=estimate.note, short="rough interval")]


def _holds(estimate: Estimate, value: float) -> bool:
    has_range = estimate.interval.has_bounds and not estimate.is_exact
    return has_range and math.isfinite(value) and estimate.low <= value <= estimate.high


def reservation_texts(run: Run, estimate: Estimate) -> list[str]:
    """The texts of all reservations about a number."""
    return [reservation.text for reservation in reservations(run, estimate)]


def discounts(run: Run, estimate: Estimate) -> list[Reservation]:
    """Why a number does not count; empty where it does."""
    return [r for r in reservations(run, estimate) if r.is_discount]
