"""What a report says and shows about a run on CrowS-Pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand.core.account import (
    SCOPE_LIMIT,
    common_verdict,
    group_name,
    read_strata,
    title,
    typical,
    typical_exhibit,
)
from evenhand.core.chart import DotChart, DotRow
from evenhand.core.document import (
    Column,
    Exhibit,
    Row,
    Section,
    Specimen,
    Table,
    make_section,
    probe_query,
)
from evenhand.core.estimate import Breakdown, Estimate, Interval
from evenhand.core.evidence import option_scores
from evenhand.core.family import Account, FindingRule
from evenhand.core.probe import Probe
from evenhand.core.run import Run
from evenhand.core.text import MISSING, counted, number, percent, with_bounds
from evenhand.families.choices import OFFENSIVE, exhibit_sections
from evenhand.families.crows_pairs.measures import SCORINGS, Scoring, outcomes

BY_TYPE = "bias type"
SIDES = ("← other", "stereotypical →")
SCORING_OF = {s.measure_name: s for s in SCORINGS}
MARKS = dict(zip(SCORING_OF, ("first", "second", "third", "series-3", "series-4"), strict=True))
STRATA = {s.stratum: f"pair, {s.title}" for s in SCORINGS}
SHOWN = (10, 5)  # pairs of the exhibits: for the more stereotypical sentence, for the other


# what was answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many pairs went which way."""

    pairs: int
    stereotypical: int  # the more stereotypical sentence is likelier
    ties: int

    @property
    def other(self) -> int:
        """How many times the other sentence is likelier."""
        return self.pairs - self.stereotypical - self.ties


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """One pair of sentences, and by how much the more stereotypical one is likelier."""

    probe: Probe
    difference: float


def tally(run: Run, scoring: Scoring) -> Tally:
    """How many pairs went which way under one scoring."""
    seen = outcomes(scoring, run.answers.probes, run.answers.values)
    return Tally(
        pairs=int(seen.is_counted.sum()),
        stereotypical=int(seen.is_won.sum()),
        ties=int(seen.is_tied.sum()),
    )


def most_preferred(
    run: Run, first: int = SHOWN[0], second: int = SHOWN[1]
) -> tuple[list[Preference], list[Preference]]:
    """The pairs with the clearest preference for the more stereotypical sentence, and the other.

    Compared as the report's first score does it.
    """
    own, answers = _scored_estimates(run), run.answers
    if not own:
        return [], []
    scoring, scores = own[0][1], option_scores(answers.values)
    if scoring.decimals is not None:
        scores = np.round(scores, scoring.decimals)
    preferences = [
        Preference(probe=probe, difference=float(scores[row, 0] - scores[row, 1]))
        for row, probe in enumerate(answers.probes)
        if probe.stratum == scoring.stratum and np.isfinite(scores[row, :2]).all()
    ]
    more = sorted((p for p in preferences if p.difference > 0), key=lambda p: -p.difference)
    less = sorted((p for p in preferences if p.difference < 0), key=lambda p: p.difference)
    return more[:first], less[:second]


def _scored_estimates(run: Run) -> list[tuple[Estimate, Scoring]]:
    """The estimates of this family with their scoring, in the order of the report."""
    return [(e, SCORING_OF[e.measure]) for e in run.estimates if e.measure in SCORING_OF]


# in words


def _constant(_: Run) -> str:
    return "the same number for both sentences"


def _verdict(run: Run, estimate: Estimate) -> str:
    scoring = SCORING_OF.get(estimate.measure)
    if scoring is None:
        return common_verdict(run, estimate)
    count = tally(run, scoring)
    verb = "counts" if count.ties == 1 else "count"
    ties = f"; {counted(count.ties, 'tie')} {verb} half" if count.ties else ""
    return (
        f"In {percent(estimate.value)} of {counted(count.pairs, 'pair')} the more stereotypical "
        f"sentence is the likelier one by {scoring.compared}{ties}."
    )


def _understanding(run: Run) -> str:
    """Which of the scores that share a name the headline is, and the values of the others."""
    own = _scored_estimates(run)
    if not own:
        return ""
    (_, first), *others = own
    which = f"Three different scores go by the name CrowS-Pairs; this is that of {first.source}."
    rest = " and ".join(f"{s.title} ({s.source}) {number(e.value)}" for e, s in others)
    return f"{which} Measured beside it, and not to be compared: {rest}." if rest else which


def _side(run: Run) -> int | None:
    """1 where the more stereotypical sentence is shown to be preferred, -1 the other, 0 neither.

    None where it is not known.
    """
    own = _scored_estimates(run)
    if not own or not own[0][0].interval.has_bounds:
        return None
    low, high = own[0][0].interval[1:]
    return 1 if low > 0.5 else -1 if high < 0.5 else 0


def _direction(run: Run) -> tuple[str, str]:
    sides = {1: "the more stereotypical sentence", -1: "the less stereotypical sentence"}
    side, measure = _side(run), run.headline.measure
    if side is None:
        return "", measure
    return f"Towards {sides.get(side, 'neither sentence for certain')}.", measure


def _example(run: Run) -> Exhibit | None:
    """A pair with a typical preference on the side that is shown; None where none is preferred."""
    more, less = most_preferred(run, len(run.answers.probes), len(run.answers.probes))
    side = _side(run)
    preferences = {1: more, -1: less}.get(side or 0, [*more, *less])
    if not preferences:
        return None
    sizes = [abs(p.difference) for p in preferences]
    which = {1: "that prefer the more stereotypical sentence", -1: "that prefer the other sentence"}
    return typical_exhibit(
        _specimen(preferences[typical(sizes)]),
        of=f"{counted(len(preferences), 'pair')} {which.get(side or 0, 'with a preference')}",
        by=f"difference by {_scored_estimates(run)[0][1].compared}",
    )


def _method(run: Run, drawn: str) -> list[str]:
    ways = "; ".join(
        f"{s.title} compares {s.compared} ({s.source})" for _, s in _scored_estimates(run)
    )
    return [
        "The two sentences of a pair differ in the group of people that they name; a model that "
        "weighs the groups alike prefers the more stereotypical sentence in half of the pairs.",
        f"Three different scores share the name CrowS-Pairs. Measured here: {ways}. Ties count "
        "half; `official` counts them against, as the code of Nangia et al. does, and stereo and "
        "antistereo take the pairs written as stereotypes and against them apart, without ties.",
        drawn,
    ]


def _limits(run: Run) -> list[str]:
    return [
        "Many of the published pairs are flawed as tests (Blodgett et al. 2021): some state no "
        "stereotype, some differ in more than the group. Read it by kind of bias.",
        "The sentences are stereotypes of the United States, written in English by crowd workers "
        "in 2020."
        if run.suite.card.language == "en"
        else "The pairs are only as good as their file: many are translations of stereotypes of "
        "the United States, which another country may not hold.",
        "How often a group is named in the training text moves the scores over changed tokens and "
        "whole sentences, whatever the stereotype.",
        SCOPE_LIMIT,
    ]


def _notes(_: Run) -> list[str]:
    return ["Three different scores share the name CrowS-Pairs: say which one you quote."]


def _ties(_: Run, estimate: Estimate) -> str:
    scoring = SCORING_OF.get(estimate.measure)
    decimals = scoring.decimals if scoring is not None else None
    how = f" to {decimals} decimals" if decimals is not None else ""
    rest = ", against in its official form" if "official" in estimate.parts else ""
    return (
        f"{title(estimate.measure)}: {counted(estimate.ties, 'pair')} in which both sentences get "
        f"the same number{how}; they count half{rest}."
    )


# charts and tables


def _outcome_table(run: Run) -> Table | None:
    tallies = [(s.title, tally(run, s)) for _, s in _scored_estimates(run)]
    if not tallies:
        return None
    return Table(
        name="outcomes",
        title="What the scores are counted from",
        columns=(
            Column(title="score"),
            Column(title="pairs", form="count"),
            Column(title="stereotypical likelier", form="count"),
            Column(title="ties", form="count"),
            Column(title="other likelier", form="count"),
        ),
        rows=tuple(
            Row(cells=(name, t.pairs, t.stereotypical, t.ties, t.other)) for name, t in tallies
        ),
    )


def _part_table(run: Run) -> Table | None:
    names = list(dict.fromkeys(name for e, _ in _scored_estimates(run) for name in e.parts))
    if not names:
        return None
    return Table(
        name="parts",
        title="The published form and the two directions",
        columns=(
            Column(title="score"),
            *(Column(title=name, form="interval") for name in names),
        ),
        rows=tuple(
            Row(cells=(s.title, *(e.parts.get(name, MISSING) for name in names)))
            for e, s in _scored_estimates(run)
        ),
        note=(
            "official: ties count against. stereo, antistereo: pairs written as stereotypes and "
            "against them, ties left out."
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasType:
    """One kind of bias: how many pairs it has, and its scores by measure."""

    name: str  # with what must be said beside its scores
    tag: str
    pairs: int
    scores: dict[str, Interval]


def bias_types(run: Run) -> list[BiasType]:
    """The kinds of bias that every score has, the largest first."""
    views: list[Breakdown] = [
        view
        for e, _ in _scored_estimates(run)
        if (view := run.breakdown(e.measure, BY_TYPE)) is not None
    ]
    if not views:
        return []
    groups = {view.measure: {g.name: g for g in view.groups} for view in views}
    first, *rest = groups.values()
    names = [name for name in first if all(name in others for others in rest)]
    names.sort(key=lambda name: (-first[name].probes, name))
    return [
        BiasType(
            name=group_name(first[name]),
            tag=name,
            pairs=first[name].probes,
            scores={measure: by_name[name].interval for measure, by_name in groups.items()},
        )
        for name in names
    ]


def _type_chart(run: Run) -> DotChart | None:
    """How often the more stereotypical sentence is preferred, by kind of bias."""
    types = bias_types(run)
    if not types:
        return None
    measures = list(types[0].scores)
    middle = (len(measures) - 1) // 2
    rows = [
        DotRow(
            label=kind.name if place == middle else "",
            interval=interval,
            mark=MARKS[measure],
            is_apart=kind is not types[0] and not place,
            shows=probe_query({BY_TYPE: kind.tag, **read_strata(run.suite, measure)}),
        )
        for kind in types
        for place, (measure, interval) in enumerate(kind.scores.items())
    ]
    scores_in_words = (
        (kind.name, (f"{title(m)} {with_bounds(interval)}" for m, interval in kind.scores.items()))
        for kind in types
    )
    has_intervals = any(math.isfinite(row.interval.low) for row in rows)
    suffix = "with interval" if has_intervals else "no interval"
    return DotChart(
        name="types",
        title="Preference for the more stereotypical sentence by kind of bias",
        description="; ".join(f"{name}: {', '.join(texts)}" for name, texts in scores_in_words),
        legend=(
            *((MARKS[m], f"{SCORING_OF[m].title}, {suffix}") for m in measures),
            ("fair", "0.5: no preference"),
        ),
        rows=tuple(rows),
        domain=(0.0, 1.0),
        base=0.5,
        sides=SIDES,
        is_dense=True,
        axis="share of pairs whose more stereotypical sentence is preferred",
    )


def _type_table(run: Run) -> Table | None:
    types = bias_types(run)
    if not types:
        return None
    return Table(
        name="types",
        title="By kind of bias",
        columns=(
            Column(title="kind of bias"),
            Column(title="pairs", form="count"),
            *(Column(title=SCORING_OF[m].title, form="interval") for m in types[0].scores),
        ),
        rows=tuple(Row(cells=(t.name, t.pairs, *t.scores.values())) for t in types),
        note="0.5 is fair.",
        is_folded=True,
    )


# pairs of sentences


def _specimen(preference: Preference) -> Specimen:
    side = "stereotypical" if preference.difference > 0 else "other"
    return Specimen(
        id=preference.probe.id,
        language=preference.probe.language,
        lines=preference.probe.texts[1:3],
        summary=f"the {side} sentence by {number(abs(preference.difference))}",
        tag=preference.probe.tags.get(BY_TYPE, ""),
        quiet=frozenset({1}),
    )


def _exhibits(run: Run) -> list[Exhibit]:
    """The clearest preferences for the more stereotypical sentence, and for the other."""
    own = _scored_estimates(run)
    if not own:
        return []
    compared = own[0][1].compared
    sides = {"stereotypical": "more stereotypical", "other": "other"}
    return [
        Exhibit(
            name=name,
            title=f"The clearest preferences for the {side} sentence",
            note=(
                f"The {counted(len(preferences), 'pair')} with the greatest difference by "
                f"{compared}; the more stereotypical sentence stands first. {OFFENSIVE}"
            ),
            specimens=tuple(map(_specimen, preferences)),
        )
        for (name, side), preferences in zip(sides.items(), most_preferred(run), strict=True)
    ]


def _sections(run: Run) -> list[Section]:
    tables = [table for table in (_outcome_table(run), _part_table(run)) if table is not None]
    counted_from = [
        Section(name=table.name, title=table.title, blocks=(table,), is_brief=True)
        for table in tables
    ]
    types = make_section(
        "types", "Kinds of bias", [_type_chart(run), _type_table(run)], is_brief=True
    )
    return [*counted_from, *filter(None, [types]), *exhibit_sections(_exhibits(run))]


ACCOUNT = Account(
    sections=_sections,
    verdict=_verdict,
    understanding=_understanding,
    method=_method,
    limits=_limits,
    notes=_notes,
    constant=_constant,
    ties=_ties,
    strata=STRATA,
    direction=_direction,
    example=_example,
    findings=(FindingRule(by=BY_TYPE, noun="bias type", section="types"),),
)
