"""How far the scores of a run depend on where the leans come from.

The same answers are scored again with the leans of each built-in source, on the occupations that
the source knows, and on those that all sources know. `score_by_source` does so before a report;
the section below only reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from evenhand.core.account import title
from evenhand.core.answers import Answers, answered_rows
from evenhand.core.document import Column, Prose, Row, Section, Table, make_section
from evenhand.core.estimate import NO_INTERVAL, Breakdown, Group
from evenhand.core.measure import Measure
from evenhand.core.probe import Probe
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.core.text import counted
from evenhand.families.effects import LEANS, lean_of
from evenhand.families.leans import CROWD, LABOUR, SOURCES, US_FIGURES, find_leans
from evenhand.stats.bootstrap import generator, group_settings
from evenhand.stats.crossed import EvidenceTable, Factor, Rows
from evenhand.stats.intervals import crossed_intervals

LEAN_SOURCE = "lean source"  # the `by` of these breakdowns, which is not a tag
IN_COMMON = ", words of all sources"  # ends the name of a group of the common occupations
BETWEEN = "; "  # words of a group's tags

Leans = Mapping[str, str]  # occupation as the probes write it -> lean
Retag = Callable[[Probe, str], Probe]


def known_leans(suite: Suite, source: str) -> dict[str, str]:
    """The lean of each occupation of a suite by a built-in source, where it knows the word."""
    leans = find_leans(suite.card.language, source)
    words = dict.fromkeys(p.tags["occupation"] for p in suite.probes if "occupation" in p.tags)
    return {word: leans[word.lower()].lean for word in words if word.lower() in leans}


def score_by_source(
    measures: Sequence[Measure],
    answers: Answers,
    settings: Settings,
    sources: Mapping[str, Leans],
    retag: Retag,
) -> tuple[Breakdown, ...]:
    """Each measure under each source of leans; a group's tags list the words of each lean.

    retag: a probe as it would be if its occupation had this lean. Empty where a source knows no
    occupation.
    """
    if not all(sources.values()):
        return ()
    common = set.intersection(*(set(leans) for leans in sources.values()))
    groups = dict(sources)
    if common and any(len(leans) > len(common) for leans in sources.values()):
        for source, leans in sources.items():
            groups[source + IN_COMMON] = {w: lean for w, lean in leans.items() if w in common}
    return tuple(
        Breakdown(
            measure=measure.name,
            by=LEAN_SOURCE,
            unit="occupation",
            groups=tuple(
                _score(measure, answers, settings, name, leans, retag)
                for name, leans in groups.items()
            ),
        )
        for measure in measures
        if measure.labels <= {*answers.labels}
    )


def _score(
    measure: Measure, answers: Answers, settings: Settings, name: str, leans: Leans, retag: Retag
) -> Group:
    """One measure with these leans, occupations and templates resampled."""
    every = measure.readable_values(answers)
    rows, probes = [], []
    for row, probe in enumerate(answers.probes):
        lean = leans.get(probe.tags.get("occupation", ""))
        turned = retag(probe, lean) if lean else probe
        if lean and turned.stratum in measure.strata and measure.reads(turned):
            rows.append(row)
            probes.append(turned)
    values = every[rows]
    tags = {
        lean: BETWEEN.join(sorted(word for word, own in leans.items() if own == lean))
        for lean in LEANS
    }
    if not probes:
        return Group(name=name, tags=tags, interval=NO_INTERVAL, probes=0)
    evidence = measure.evidence(probes, values)
    about = Rows(
        counts=np.any(evidence != 0, axis=1).tolist(),
        parts=[measure.part_of(p) for p in probes],
        strata=[lean_of(p) for p in probes],
    )
    factors = [
        Factor.of("occupation", [p.cluster for p in probes], about),
        Factor.of("template", [p.tags.get("template", "") for p in probes], about),
    ]
    score = crossed_intervals(
        EvidenceTable(rows=evidence),
        factors,
        lambda sums: {"": measure.combine(sums)},
        generator(settings.seed, f"{measure.name}/{name}"),
        group_settings(settings),
        {"": measure.card.range},
    )[""]
    return Group(
        name=name,
        tags=tags,
        interval=score.interval,
        probes=int(answered_rows(probes, values).sum()),
        levels={factor.name: factor.smallest for factor in factors},
        has_variation=score.has_variation,
    )


def _words(group: Group) -> dict[str, str]:
    """The lean of each occupation of a group."""
    return {
        word: lean for lean in LEANS for word in group.tags.get(lean, "").split(BETWEEN) if word
    }


def disagreements(views: Sequence[Breakdown]) -> tuple[int, dict[str, tuple[str, str]]]:
    """How many occupations labour and crowd both know; those on which they disagree, with leans."""
    groups = {group.name: _words(group) for view in views[:1] for group in view.groups}
    labour, crowd = groups.get(LABOUR, {}), groups.get(CROWD, {})
    common = [word for word in labour if word in crowd]
    return len(common), {
        word: (labour[word], crowd[word]) for word in common if labour[word] != crowd[word]
    }


def _score_table(run: Run, views: Sequence[Breakdown], asked: str) -> Table:
    estimates = [run.estimate(view.measure) for view in views]
    leans = {p.tags["occupation"]: lean_of(p) for p in run.suite.probes if "occupation" in p.tags}

    def counts(words: Mapping[str, str]) -> str:
        return " / ".join(str(sum(own == lean for own in words.values())) for lean in LEANS)

    rows = [
        Row(
            cells=(
                f"as asked ({asked})",
                counts(leans),
                *(e.interval if e is not None else NO_INTERVAL for e in estimates),
            )
        )
    ]
    for place, group in enumerate(views[0].groups):
        scores = (view.groups[place].interval for view in views)
        rows.append(Row(cells=(group.name, counts(_words(group)), *scores)))
    return Table(
        name="lean-sources",
        title="Scores under each source of leans",
        columns=(
            Column(title="leans by"),
            Column(title="occupations: female / male / none"),
            *(Column(title=title(view.measure), form="interval") for view in views),
        ),
        rows=tuple(rows),
        note="The same answers throughout; only the leans differ, and which occupations have one.",
    )


def _disagreement_table(views: Sequence[Breakdown]) -> Table | None:
    _, words = disagreements(views)
    if not words:
        return None
    return Table(
        name="lean-disagreements",
        title="Occupations on which the sources disagree",
        columns=(
            Column(title="occupation", is_quoted=True),
            Column(title=LABOUR),
            Column(title=CROWD),
        ),
        rows=tuple(Row(cells=(word, *leans)) for word, leans in sorted(words.items())),
    )


def lean_source_section(run: Run, asked: str) -> Section | None:
    """The scores under each source of leans beside each other; None where they were not computed.

    asked: what the leans of the suite rest on.
    """
    views = [v for v in run.breakdowns if v.by == LEAN_SOURCE and run.estimate(v.measure)]
    if not views:
        return None
    common, words = disagreements(views)
    lines = [f"{source}: {SOURCES[source]}." for source in (LABOUR, CROWD)]
    lines.append(
        f"The two know {counted(common, 'occupation')} of this suite in common and disagree on "
        f"{len(words)} of them."
    )
    blocks = (
        Prose(lines=tuple(lines), is_quiet=True),
        _score_table(run, views, asked),
        _disagreement_table(views),
    )
    return make_section("lean-sources", "Where the leans come from", blocks)


def lean_limits(run: Run, is_american: bool) -> list[str]:
    """That the figures are those of the United States, where the language is another."""
    return [US_FIGURES] if is_american and run.suite.card.language != "en" else []
