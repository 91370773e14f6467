"""What does a comparison of models say in plain words and as plain data, and where does it go?"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.estimate import Estimate, Interval
from evenhand.engine.differing import Comparison, Contestant, Difference
from evenhand.people.beside import is_of_people
from evenhand.report.estimates import FIRST, fair, good, title
from evenhand.report.json_values import json_interval, json_number
from evenhand.report.numbers import MISSING, amount, bounds, number, percent, plain
from evenhand.report.results import environment
from evenhand.report.writing import write_files


def signed(value: float) -> str:
    """A difference: with its sign, nothing without one, `n/a` for what was not measured."""
    text = number(value)
    return f"+{text}" if value > 0 and text not in (MISSING, "0.000") else text


def chance(p: float) -> str:
    """A p value: three decimals, and never as nothing."""
    return MISSING if not math.isfinite(p) else "<0.001" if p < 0.001 else f"{p:.3f}"


def is_shown(comparison: Comparison, found: Difference) -> bool:
    """Is the difference shown, after the correction for all that were looked at?"""
    return math.isfinite(found.adjusted) and found.adjusted <= 1 - comparison.level


def nearness(found: Difference) -> str:
    """Is the other nearer to fair? Only where the whole interval says so."""
    low, high = found.distance.low, found.distance.high
    if not math.isfinite(low + high):
        return MISSING
    best = good(found.measure)
    return (
        f"nearer to {best}"
        if high < 0
        else f"farther from {best}"
        if low > 0
        else "equally far"
        if low == high == 0
        else "open"
    )


def ordered(comparison: Comparison, name: str) -> list[Difference]:
    """The differences of one model, the measures in the order of the reports."""
    return sorted(
        comparison.against(name),
        key=lambda d: FIRST.index(d.measure) if d.measure in FIRST else len(FIRST),
    )


def measures_of(comparison: Comparison) -> list[str]:
    """Every measure that some model has, in the order of the reports."""
    names = dict.fromkeys(e.measure for c in comparison.models for e in c.estimates)
    return sorted(names, key=lambda m: FIRST.index(m) if m in FIRST else len(FIRST))


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def footing(comparison: Comparison, name: str) -> str:
    """Are the numbers of two models of one sort? Empty where they are."""
    pair = [comparison.reference, *(c for c in comparison.models[1:] if c.name == name)]
    people = [c.name for c in pair if is_of_people(c.answers)]
    if len(people) != 1 or pair[0].answers.probes[0].kind != "mask":
        return ""
    return f"{people[0]} gives the scores of people and the other logarithms of ratios: only what counts right answers compares, not how far either leans."


def summary(comparison: Comparison, name: str) -> str:
    """What can be said of one model against the reference, in two or three sentences?"""
    found, first = ordered(comparison, name), comparison.reference.name
    known = [d for d in found if math.isfinite(d.p)]
    if not known:
        return f"{name} could not be compared with {first}{': ' + found[0].note if found else ''}."
    alpha = f"{1 - comparison.level:.2g}"
    apart = [d for d in known if is_shown(comparison, d)]
    if not apart:
        known_in = f"No difference between {name} and {first} is shown in {amount(len(known), 'measure')} (adjusted p above {alpha})"
        return f"{known_in}; that does not prove them equal. {footing(comparison, name)}".strip()
    said = [
        f"{name} differs from {first} in {len(apart)} of {amount(len(known), 'measure')} (adjusted p at most {alpha})."
    ]
    for told in (
        f"{word} {best}" for word in ("nearer to", "farther from") for best in ("fair", "right")
    ):
        if names := [
            f"{title(d.measure)} ({signed(d.difference.value)})"
            for d in apart
            if nearness(d) == told
        ]:
            said.append(f"It is {told} in {_listed(names)}.")
    if names := [
        f"{title(d.measure)} ({signed(d.difference.value)})"
        for d in apart
        if nearness(d) in ("open", "equally far")
    ]:
        said.append(f"Which of the two is nearer stays open in {_listed(names)}.")
    return " ".join((*said, footing(comparison, name))).strip()


def method(comparison: Comparison) -> list[str]:
    """How was it compared?"""
    level = f"{comparison.level * 100:g} %"
    return [
        f"Every model is compared with {comparison.reference.name} on the probes that both answered. Difference: the other's value minus that of {comparison.reference.name}.",
        f"Intervals ({level}): clusters are drawn with replacement {comparison.resamples:,} times, the same ones for both models; "
        "they are not corrected for the number of comparisons.",
        f"p: the answers of the two models are swapped at random, cluster by cluster, {comparison.permutations:,} times; p is the share of swaps (the observed one counted) "
        f"that leaves them at least as far apart, in either direction.",
        f"Adjusted p: Benjamini-Hochberg over {amount(comparison.tests, 'comparison')} of this call. At most {1 - comparison.level:.2g} counts as shown here.",
        "Nearer to fair: the distance of a value from the fair one, the other's minus the reference's, and its paired interval lies wholly below 0; open where it holds 0.",
    ]


def notes(comparison: Comparison) -> list[str]:
    """What is missing, rough, or not on one footing?"""
    said = []
    for d in comparison.differences:
        if d.note:
            said.append(f"{title(d.measure)}, {d.model}: {d.note}.")
    for left in comparison.left_out:
        said.append(f"{title(left.measure)} is not compared with {left.model}: it {left.reason}.")
    for c in comparison.models:
        if c.answers.coverage < 1:
            reasons = "; ".join(f"{why} ({count:,})" for why, count in c.answers.unanswered.items())
            said.append(
                f"{c.name} answered {percent(c.answers.coverage, 1)} of the probes{': ' + reasons if reasons else ''}."
            )
    if comparison.suite.limit is not None:
        said.append(
            f"Only {amount(len(comparison.suite.probes), 'probe')} of a larger suite; the values do not compare with those of the whole suite."
        )
    return said


def differing(comparison: Comparison, name: str) -> dict[str, tuple[str, str]]:
    """In which fields, besides the measure, do the signatures of the two models differ?"""
    found = {k: v for d in comparison.against(name) for k, v in d.differing_fields.items()}
    return {k: (a or "–", b or "–") for k, (a, b) in found.items()}


def signatures(comparison: Comparison) -> dict[str, list[str]]:
    """The signatures of all numbers, each once: `differences`, and `values` with the accuracy on ordinary pairs."""
    values = [e.signature for c in comparison.models for e in (*c.estimates, *c.sanity)]
    both = [e.signature for d in comparison.differences for e in (d.reference, d.other)]
    return {
        "differences": [d.signature for d in comparison.differences],
        "values": list(dict.fromkeys((*values, *both))),
    }


def accuracy(contestant: Contestant) -> str:
    """How many ordinary pairs does it get right? Nothing where it was not asked."""
    found = next(iter(contestant.sanity), None)
    return (
        ""
        if found is None
        else f"{number(found.value)} {bounds(Interval(found.value, found.low, found.high))}"
    )


def _estimate(found: Estimate) -> dict[str, Any]:
    return {
        "measure": found.measure,
        **json_interval(found),
        "probes": found.probes,
        "clusters": found.clusters,
        "coverage": json_number(found.coverage),
        "note": found.note,
        "signature": found.signature,
    }


def _difference(comparison: Comparison, found: Difference) -> dict[str, Any]:
    return {
        "measure": found.measure,
        "fair": fair(found.measure),
        "reference": {"name": comparison.reference.name, **_estimate(found.reference)},
        "other": {"name": found.model, **_estimate(found.other)},
        "difference": json_interval(found.difference),
        "distance": json_interval(found.distance),
        "nearness": nearness(found),
        "p": json_number(found.p),
        "adjusted": json_number(found.adjusted),
        "is_shown": is_shown(comparison, found),
        "probes": found.probes,
        "clusters": found.clusters,
        "note": found.note,
        "signature": found.signature,
        "signatures_differ": {k: list(v) for k, v in found.differing_fields.items()},
    }


def _model(found: Contestant) -> dict[str, Any]:
    return {
        "name": found.name,
        "identity": found.answers.respondent,
        "labels": list(found.answers.labels),
        "traits": dict(sorted(found.answers.traits.items())),
        "coverage": json_number(found.answers.coverage),
        "unanswered": dict(sorted(found.answers.unanswered.items())),
        "estimates": [_estimate(e) for e in found.estimates],
        "sanity": [_estimate(e) for e in found.sanity],
    }


def to_json(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """The comparisons as plain data, keys in a fixed order."""
    first = comparisons[0]
    return {
        "evenhand": __version__,
        "seed": first.seed,
        "resamples": first.resamples,
        "permutations": first.permutations,
        "level": first.level,
        "method": first.method,
        "correction": "benjamini-hochberg",
        "tests": first.tests,
        "suites": [
            {
                "suite": {
                    "name": c.suite.card.name,
                    "version": c.suite.card.version,
                    "language": c.suite.card.language,
                    "reference": c.suite.reference,
                    "probes": len(c.suite.probes),
                    "limit": c.suite.limit,
                },
                "reference": c.reference.name,
                "models": [_model(m) for m in c.models],
                "differences": [_difference(c, d) for d in c.differences],
                "left_out": [
                    {"measure": x.measure, "model": x.model, "reason": x.reason} for x in c.left_out
                ],
                "notes": notes(c),
            }
            for c in comparisons
        ],
        "environment": environment(),
    }


def comparison_text(comparisons: Sequence[Comparison]) -> str:
    """The same as text: UTF-8, one space of indent, a line break at the end."""
    return json.dumps(to_json(comparisons), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def write_comparison(comparisons: Sequence[Comparison], folder: Path) -> Path:
    """Write comparison.html, .md, .tex and .json, all or none; returns the path of the page to open."""
    from evenhand.report.comparison_page import to_html
    from evenhand.report.comparison_tables import to_latex, to_markdown

    texts = {
        "comparison.html": to_html(comparisons),
        "comparison.md": to_markdown(comparisons),
        "comparison.tex": to_latex(comparisons),
        "comparison.json": comparison_text(comparisons),
    }
    write_files(folder, texts)
    return folder / "comparison.html"


def best_of(measure: str) -> str:
    """`0 is fair`, `1 is right`."""
    return f"{plain(catalog.measure(measure).fair)} is {good(measure)}"
