"""Family: all that belongs to one published family of measures, declared in its own folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core.answers import Answers
from evenhand.core.document import Badge, Exhibit, Section
from evenhand.core.estimate import Breakdown, Estimate
from evenhand.core.measure import Measure
from evenhand.core.protocols import SuiteSource
from evenhand.core.reference import Reference
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """A way to break measures down: by the values of one tag, resampling those of another."""

    by: str
    unit: str
    needs: str = ""  # another tag that the probes must have


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRule:
    """A measure that is set, group by group, against a figure that the groups carry as a tag."""

    measure: str
    by: str
    against: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreGroup:
    """Scores that count in the same way; numbers of different groups do not compare."""

    title: str
    rule: str  # what is counted, in a sentence
    estimates: tuple[Estimate, ...]
    is_brief: bool = False  # only its first score is put into words


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRule:
    """A breakdown that the first screen sums up, and the section that shows it."""

    by: str
    noun: str  # of a group: `occupation`
    section: str
    measure: str = ""  # by default the headline


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a report says about a run; None stands for the common wording of `core.account`."""

    sections: Callable[[Run], Sequence[Section]] | None = None  # between scores and method
    verdict: Callable[[Run, Estimate], str] | None = None  # what the model did, in a sentence
    understanding: Callable[[Run], str] | None = None  # whether the score can be read as bias
    method: Callable[[Run, str], Sequence[str]] | None = None  # (run, how intervals were drawn)
    limits: Callable[[Run], Sequence[str]] | None = None  # what the number does not say
    notes: Callable[[Run], Sequence[str]] | None = None  # what else a reader must know
    constant: Callable[[Run], str] | None = None  # what the constant respondent answers
    respondent: Callable[[Run], str] | None = None  # who answered, in a legend: `this model`
    ties: Callable[[Run, Estimate], str] | None = None  # how many ties, and how they count
    standing: Callable[[Run, Estimate], str] | None = None  # compared with fair and guessing
    score_groups: Callable[[Run], Sequence[ScoreGroup]] | None = None  # ways of counting
    footing: Callable[[Sequence[tuple[str, Answers]]], str] | None = None  # why two do not compare
    strata: dict[str, str] = field(default_factory=dict)  # stratum -> noun of its probes
    # the first screen: the verdict in one plain sentence; to which side, empty where nothing can
    # be said, and the measure that says so; a typical probe that shows it; whether the respondent
    # understands what it is asked
    plain: Callable[[Run], str] | None = None
    direction: Callable[[Run], tuple[str, str]] | None = None
    example: Callable[[Run], Exhibit | None] | None = None
    validity: Callable[[Run], Badge | None] | None = None
    findings: tuple[FindingRule, ...] = ()
    places: dict[str, str] = field(default_factory=dict)  # measure -> section, if not the scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One published family: what is asked, how it is scored, what is said about it."""

    name: str
    title: str
    measures: tuple[Measure, ...]  # in the order of a report; the first of a run is its headline
    suites: tuple[SuiteSource, ...] = ()  # the first is what `audit` asks by default
    unit: str = "clusters"  # what is resampled for an interval, in the plural: `occupations`
    several: str = "probes of"  # how several probes share a unit: `sentences about`
    groupings: tuple[Grouping, ...] = ()
    relations: tuple[RelationRule, ...] = ()
    references: tuple[str, ...] = ()  # baselines in addition to random and constant
    is_default: bool = False  # its first suite is asked where the user names none
    is_check: bool = False  # asked with other suites, to see whether the respondent understands
    # reads a user's file of labelled probes, in a language, as a suite of this family
    read_labelled: Callable[[Path, str], Suite] | None = None
    is_checked: bool = True  # whether such a check says something about runs of this family
    examine: Callable[[Suite, Answers, Settings], Sequence[Breakdown]] | None = None
    read_predictions: Callable[[Path, Suite], Answers | None] | None = None  # None: not its form
    literature: tuple[Reference, ...] = ()  # the works that its citations name
    account: Account = field(default_factory=Account)

    def measure_rank(self, name: str) -> int:
        """The place of a measure in a report; those of other families come last."""
        names = [m.name for m in self.measures]
        return names.index(name) if name in names else len(names)
