"""Every sentence of a report is true: its numbers and claims against the estimates and answers.

Each sentence of the lead, of the scores and of the notes must fit one of the templates in `claims`,
whose check finds the numbers again. A sentence that fits none is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import pytest
from claims import COUNT, TEMPLATES, Place, count_of, name_of
from hypothesis import given, settings
from hypothesis import strategies as st
from random_runs import FEW, MISSING, WAYS, answered, random_runs, rooms

from evenhand.core import catalog
from evenhand.core.chart import DotChart
from evenhand.core.document import Callout, Document, Exhibit, Prose
from evenhand.core.run import Run
from evenhand.engine.audit import estimate_all
from evenhand.engine.audit_document import audit_document
from evenhand.engine.compare import Comparison, Contestant, adjust, compare_answers
from evenhand.engine.compare_document import comparison_document


def lines_of(document: Document, run: Run) -> Iterator[tuple[Place, str]]:
    """The lead, the sentences about the other scores, the notes, each with its estimate."""
    for line in document.lead:
        yield Place(run, run.headline), line
    sections = {section.name: section for section in document.sections}
    for block in sections["scores"].blocks:
        for line in block.lines if isinstance(block, Prose) else ():
            yield from _about_a_score(run, line)
    for block in sections["coverage"].blocks:
        if isinstance(block, Callout):
            yield Place(run, run.headline), block.text
        for line in block.lines if isinstance(block, Prose) else ():
            yield Place(run, run.headline), line


def _about_a_score(run: Run, line: str) -> Iterator[tuple[Place, str]]:
    named = [e for e in run.estimates if line.startswith(f"{name_of(e)}: ")]
    if named:
        estimate = max(named, key=lambda e: len(name_of(e)))
        yield Place(run, estimate), line.removeprefix(f"{name_of(estimate)}: ")
    else:
        yield Place(run, run.headline), line


def check_line(place: Place, line: str) -> None:
    """Fit the line with templates from its start to its end, and check what they claim."""
    rest = line
    while rest:
        fits = [(m, check) for pattern, check in TEMPLATES if (m := pattern.match(rest))]
        assert fits, f"no template for: {rest!r}"
        found, check = max(fits, key=lambda fit: fit[0].end())
        try:
            check(place, found)
        except AssertionError as error:
            raise AssertionError(f"false: {found[0]!r} of {place.subject}") from error
        rest = rest[found.end() :].lstrip()


def check_shown(document: Document, run: Run) -> None:
    """That exhibits and charts show as many as they say, and those that they say."""
    for block in (b for s in document.sections for b in s.blocks):
        if isinstance(block, Exhibit) and (found := re.match(rf"The ({COUNT}) ", block.note)):
            assert count_of(found[1]) == len(block.specimens) > 0
        if isinstance(block, DotChart):
            _check_chart(block, run)


def _check_chart(chart: DotChart, run: Run) -> None:
    """That no group lies farther from the best value than those that are shown."""
    farthest = re.match(rf"The ({COUNT}) ([a-z ]+?)s? farthest from .+, of ({COUNT})$", chart.title)
    if farthest:
        by = {"occupation": "occupation", "sentence frame": "template"}[farthest[2]]
        view = run.breakdown(run.headline.measure, by)
        assert view is not None and count_of(farthest[3]) == len(view.groups)
        assert count_of(farthest[1]) == len(chart.rows)
        known = [g.interval.value for g in view.groups if math.isfinite(g.interval.value)]
        best = catalog.measure(view.measure).fair
        distances = sorted((abs(v - best) for v in known), reverse=True)
        shown = sorted((abs(r.interval.value - best) for r in chart.rows), reverse=True)
        assert shown == distances[: len(shown)]
    if targets := re.match(
        rf"SS of the ({COUNT}) targets farthest from 0\.5(?:, of ({COUNT})( with .+)?)?;",
        chart.title,
    ):
        assert count_of(targets[1]) == len(chart.rows)
        items = [int(re.findall(r"\((\d+)\)", row.label)[0]) for row in chart.rows]
        assert not targets[3] or min(items) >= 5


def check_method(run: Run, lines: Sequence[str]) -> None:
    """That the interval was computed as is said, and that there is one where it is said."""
    text, first = " ".join(lines), run.headline
    assert ("There is no interval" in text) == (not first.interval.has_bounds)
    assert ("it is exact" in text) == (first.is_exact and first.interval.has_bounds)
    if first.interval.has_bounds and first.target == "new items":
        assert ("No resample differs" in text) == (not first.has_variation)
        assert (f"{run.settings.resamples} resamples" in text) == first.has_variation
    if pairs := re.search(rf"There (?:is|are) ({COUNT}) word pairs?(, and .+ rough)?\.", text):
        measured = run.estimate("pb_bias") or first
        assert count_of(pairs[1]) == measured.clusters
        assert bool(pairs[2]) == (measured.clusters < 30)


@pytest.mark.parametrize("name", list(rooms()))
@settings(max_examples=12)
@given(data=st.data())
def test_every_sentence_of_a_report_is_true(name: str, data: st.DataObject) -> None:
    run = data.draw(random_runs(name))
    document = audit_document(run)
    for place, line in lines_of(document, run):
        check_line(place, line)
    check_shown(document, run)
    (method,) = (s for s in document.sections if s.name == "method")
    check_method(run, [line for b in method.blocks if isinstance(b, Prose) for line in b.lines])


# comparisons


def compared(name: str, seeds: tuple[int, int], ways: tuple[str, str], missing: str) -> Comparison:
    """Two random respondents on one suite."""
    room = rooms()[name]
    contestants = []
    for place, (seed, way) in enumerate(zip(seeds, ways, strict=True)):
        answers = answered(room.suite, room.labels[0], way, missing if place else "nothing", seed)
        estimates = estimate_all(room.suite, answers, FEW)
        contestants.append(Contestant(name=f"model-{place}", answers=answers, estimates=estimates))
    return adjust([compare_answers(room.suite, contestants, FEW)])[0]


def _check_verdict(comparison: Comparison, line: str) -> None:
    """The sentence that leads a comparison, against the adjusted p values."""
    known = [d for d in comparison.differences if math.isfinite(d.p)]
    shown = [d for d in known if d.adjusted <= 0.05 + 1e-12]
    if found := re.fullmatch(
        rf"model-1 differs from model-0 in ({COUNT}) of ({COUNT}) measures? \(adjusted p at most "
        r"0\.05\)\.",
        line,
    ):
        assert (count_of(found[1]), count_of(found[2])) == (len(shown), len(known)) and shown
    elif found := re.fullmatch(
        rf"No difference between model-1 and model-0 is shown in ({COUNT}) measures? \(adjusted p "
        r"above 0\.05\); that does not prove them equal\.",
        line,
    ):
        assert count_of(found[1]) == len(known) and not shown
    else:
        assert re.fullmatch(r"model-1 could not be compared with model-0(: .+)?\.", line), line
        assert not known


def _check_nearness(comparison: Comparison, text: str) -> None:
    """Which model is said to be nearer to the best value, against the paired distances."""
    for words, names in re.findall(r"It is ((?:nearer to|farther from) \w+) in (.+?\))\.", text):
        for title, change in re.findall(r"(\S.*?) \(([+-]?[\d.]+)\)(?:, | and |$)", names):
            (d,) = (d for d in comparison.differences if titled(d.measure) == title)
            best = catalog.measure(d.measure)
            assert words.split()[-1] == best.best and d.adjusted <= 0.05 + 1e-12
            assert float(change) == pytest.approx(d.difference.value, abs=0.0005)
            gap = abs(d.other.value - best.fair) - abs(d.reference.value - best.fair)
            assert (gap < 0) == words.startswith("nearer")
            assert d.distance.high < 0 if gap < 0 else d.distance.low > 0


def titled(measure: str) -> str:
    return catalog.measure(measure).card.title


@pytest.mark.parametrize("name", list(rooms()))
@settings(max_examples=5)
@given(
    seeds=st.tuples(*[st.integers(0, 2**32 - 1)] * 2),
    ways=st.tuples(*[st.sampled_from(WAYS)] * 2),
    missing=st.sampled_from(MISSING),
)
def test_every_claim_of_a_comparison_is_true(
    name: str, seeds: tuple[int, int], ways: tuple[str, str], missing: str
) -> None:
    comparison = compared(name, seeds, ways, missing)
    document = comparison_document([comparison])
    (line,) = document.lead
    _check_verdict(comparison, line)
    (section,) = (s for s in document.sections if s.name == "pair-1-1")
    for block in section.blocks:
        for text in block.lines if isinstance(block, Prose) else ():
            _check_nearness(comparison, text)
