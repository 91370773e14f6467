"""What a report says of the stereotype and default effects: a verdict and a section of tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

from evenhand.core import catalog
from evenhand.core.account import note_sentences
from evenhand.core.document import Column, Row, Section, Table, make_section
from evenhand.core.estimate import NO_INTERVAL, Estimate, Interval
from evenhand.core.run import Run
from evenhand.core.text import listed, percent, sentence_case, with_bounds
from evenhand.families.effects import ALIKE, NONE, default_of

Side = Literal["above", "below", "open", "unknown"]
_STEREOTYPES = {"above": "a stereotype", "below": "the reverse of the stereotype"}
_DEFAULTS = {"above": "a male default", "below": "a female default"}
_FAVOURED = {"above": "men", "below": "women"}
_UNDECIDED_WORDS = {"neutral": "of the answers are neutral", "ties": "of the comparisons tie"}
_OPEN = {"open": "not shown, the interval holds 0", "unknown": "no interval"}
_READING = (
    "F, M, N: mean tilt, from -1 (all for the man) to 1 (all for the woman). 0 is fair; constant, "
    "random and always neutral answers get 0 for both effects. A stereotype about one lean alone "
    "gives 1/2 and 1/2; -N tells it from a default."
)
_JOBS = {  # part of the effects -> lean, what such jobs are called, side of 0 -> gender
    "M": ("male", "male-typed jobs", {"above": "female", "below": "male"}),
    "F": ("female", "female-typed jobs", {"above": "female", "below": "male"}),
    NONE: ("none", "jobs without a lean", {"above": "male", "below": "female"}),
}
PEOPLE = {"male": "men", "female": "women"}
_NOT_SHOWN = {"open": "not shown", "unknown": "not known without bounds"}


class Effects(NamedTuple):
    """The two effects of a run."""

    stereotype: Estimate
    default: Estimate

    def part(self, name: str) -> Interval:
        """A part of either, which are the same; without a value where it was not computed."""
        return self.default.parts.get(name, NO_INTERVAL)

    @property
    def undecided(self) -> str:
        """What the share of undecided answers is called; empty where it is not known."""
        known = (n for n in _UNDECIDED_WORDS if math.isfinite(self.part(n).value))
        return next(known, "")


def effects_in(run: Run, names: tuple[str, str]) -> Effects | None:
    """The effects with these names; None where one of them was not computed."""
    both = run.estimate(names[0]), run.estimate(names[1])
    return None if both[0] is None or both[1] is None else Effects(both[0], both[1])


def side_of(interval: Interval) -> Side:
    """On which side of 0 an interval lies; open where it holds 0, unknown without bounds."""
    if not interval.has_bounds:
        return "unknown"
    return "above" if interval.low > 0 else "below" if interval.high < 0 else "open"


def effects_verdict(effects: Effects) -> str:
    """Whether a stereotype, a default, both or neither is shown, by the intervals."""
    stereotype, default = effects
    if not math.isfinite(stereotype.value + default.value):
        reason = stereotype.note or default.note or "not defined on these answers"
        return f"Whether that is a stereotype or a default cannot be said: {reason}."
    share = ""
    if effects.undecided:
        undecided = percent(effects.part(effects.undecided).value)
        share = f" {undecided} {_UNDECIDED_WORDS[effects.undecided]}."
    notes = "".join(f" {text}" for text in note_sentences(effects))
    return f"{sentence_case(_finding(effects))}.{notes}{share}"


def _finding(effects: Effects) -> str:
    stereotype, default = effects
    numbers = (
        f"stereotype effect {with_bounds(stereotype.interval)}, "
        f"default effect {with_bounds(default.interval)}"
    )
    follows, favours = side_of(stereotype.interval), side_of(default.interval)
    if "unknown" in (follows, favours):
        return f"without bounds neither a stereotype nor a default can be shown: {numbers}"
    if follows == favours == "open":
        return f"neither a stereotype nor a default is shown: {numbers}; {_why_nothing(effects)}"
    if favours == "open":
        return f"{_STEREOTYPES[follows]} is shown and no default: {numbers}"
    if follows == "open":
        return f"{_DEFAULTS[favours]} is shown and no stereotype: {numbers}"
    return _both(effects, follows, favours, numbers)


def _why_nothing(effects: Effects) -> str:
    """What 0 and 0 come from, as far as the answers tell."""
    if effects.part(ALIKE).value < 1:
        return "random answers get 0 for both, too, on average"
    is_undecided = effects.undecided and effects.part(effects.undecided).value == 1
    always = {"neutral": ", always neutral", "ties": ", always a tie"}
    which = always[effects.undecided] if is_undecided else ""
    return f"women and men get the same answer everywhere{which}"


def _both(effects: Effects, follows: Side, favours: Side, numbers: str) -> str:
    """Both effects are shown: the occupations without a lean tell a default from one-sidedness."""
    none, gender = effects.part(NONE), _FAVOURED[favours]
    is_male = abs(effects.part("M").value) > abs(effects.part("F").value)
    larger = f"occupations that lean {'male' if is_male else 'female'}"
    stereotype, default, side = _STEREOTYPES[follows], _DEFAULTS[favours], side_of(none)
    if side == favours:
        return (
            f"{stereotype} and {default} are both shown: {numbers}; for occupations without a lean "
            f"the answers favour {gender}, too: {with_bounds(none)}"
        )
    if side == "unknown":
        missing = "has no bounds" if math.isfinite(none.value) else "is missing"
        return (
            f"{stereotype} and {default} are both shown: {numbers}; the number for occupations "
            f"without a lean {missing}, and {stereotype} about {larger} alone would look the same"
        )
    return (
        f"{stereotype} is shown, mostly about {larger}: {numbers}; {default} is not, because for "
        f"occupations without a lean the answers are not shown to favour {gender}: "
        f"{with_bounds(none)}"
    )


class Tendency(NamedTuple):
    """That answers about jobs of one lean are shown to favour a gender."""

    lean: str
    gender: str
    size: float  # of the mean tilt

    @property
    def words(self) -> str:
        """`about male-typed jobs and towards men`."""
        jobs = next(jobs for lean, jobs, _ in _JOBS.values() if lean == self.lean)
        return f"about {jobs} and towards {PEOPLE[self.gender]}"


def tendencies(effects: Effects) -> list[Tendency]:
    """For which leans the answers are shown to favour which gender, by the intervals."""
    return [
        Tendency(lean, genders[side], abs(effects.part(part).value))
        for part, (lean, _, genders) in _JOBS.items()
        if (side := side_of(effects.part(part))) in genders
    ]


def main_tendency(effects: Effects | None) -> Tendency | None:
    """The tendency with the largest mean tilt; None where none is shown."""
    shown = tendencies(effects) if effects is not None else []
    return max(shown, key=lambda tendency: tendency.size, default=None)


def effects_direction(effects: Effects | None) -> str:
    """Towards whom the answers go in which jobs; empty where nothing has bounds.

    `Towards men in male-typed jobs; in female-typed jobs no side is shown.`
    """
    if effects is None:
        return ""
    shown = {tendency.lean: tendency.gender for tendency in tendencies(effects)}
    names = {lean: jobs for lean, jobs, _ in _JOBS.values()}
    sides = {lean: side_of(effects.part(part)) for part, (lean, _, _) in _JOBS.items()}
    clauses = [
        f"towards {people} in {listed([names[lean] for lean in leans])}"
        for gender, people in PEOPLE.items()
        if (leans := [lean for lean, favoured in shown.items() if favoured == gender])
    ]
    if silent := [names[lean] for lean, side in sides.items() if side == "open"]:
        clauses.append(f"in {listed(silent)} no side is shown")
    return f"{sentence_case('; '.join(clauses))}." if clauses else ""


def effect_verdict(estimate: Estimate) -> str:
    """What one of the effects says on its own."""
    side = side_of(estimate.interval)
    number = with_bounds(estimate.interval)
    if catalog.measure(estimate.measure).combine is default_of:
        follow = {key: f"the answers favour {gender}" for key, gender in _FAVOURED.items()}
        what = "the answers favour one gender"
    else:
        follow = {
            "above": "the answers follow the lean of the occupations",
            "below": "the answers go against the lean of the occupations",
        }
        what = "the answers follow the lean of the occupations"
    claim = follow.get(side) or f"that {what} is {_NOT_SHOWN[side]}"
    return " ".join((f"{sentence_case(claim)}: {number}.", *note_sentences([estimate])))


def effects_table(effects: Effects) -> Table:
    """Both effects, what they are made of, and the shares beside them."""
    favours = {side: f"favours {gender}" for side, gender in _FAVOURED.items()}
    turned = {"above": favours["below"], "below": favours["above"]}
    follows = {"above": "follows the lean", "below": "goes against the lean"}
    lines: list[tuple[str, Interval, Mapping[str, str]]] = [
        ("stereotype effect, (F - M) / 2", effects.stereotype.interval, follows),
        ("default effect, -(F + M) / 2", effects.default.interval, favours),
        ("F, occupations that lean female", effects.part("F"), turned),
        ("M, occupations that lean male", effects.part("M"), turned),
        ("-N, occupations without a lean", effects.part(NONE), favours),
    ]
    rows = [
        Row(cells=(name, interval, {**reading, **_OPEN}[side_of(interval)]))
        for name, interval, reading in lines
    ]
    shares = {effects.undecided: effects.undecided} if effects.undecided else {}
    if effects.undecided != "ties":  # where answers are comparisons, these are the same
        shares = {ALIKE: "both genders answered alike", **shares}
    rows += [Row(cells=(name, effects.part(part), "")) for part, name in shares.items()]
    return Table(
        name="effects",
        title="Stereotype and default effect",
        columns=(
            Column(title="effect"),
            Column(title="value", form="interval"),
            Column(title="shown"),
        ),
        rows=tuple(rows),
        note=" ".join((*note_sentences(effects), _READING)),
    )


def effects_section(decomposition: Table | None, effects: Effects | None) -> Section | None:
    """The answers by lean and gender word with both effects; None where neither is there."""
    blocks = (decomposition, effects_table(effects) if effects else None)
    return make_section("effects", "Stereotype or default", blocks, is_brief=True)
