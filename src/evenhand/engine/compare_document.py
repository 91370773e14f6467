"""The Document of a comparison: differences model by model, then every model by measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.account import best_value, read_strata, title, title_of
from evenhand.core.chart import SERIES_COUNT, DotChart, DotRow, spanning
from evenhand.core.document import (
    DIFFERENCE,
    Block,
    Callout,
    Cell,
    Column,
    Document,
    Facts,
    Prose,
    Row,
    Section,
    Table,
    probe_query,
)
from evenhand.core.estimate import NO_INTERVAL, Estimate
from evenhand.core.plain import plain
from evenhand.core.text import (
    counted,
    listed,
    percent,
    signed,
    signed_with_bounds,
    with_bounds,
)
from evenhand.engine.audit_document import prose_section, signature_section, suite_line
from evenhand.engine.compare import Comparison, Contestant, Difference, Nearness
from evenhand.engine.explorer import make_explorer
from evenhand.engine.results import environment, estimate_fields


def nearness_words(comparison: Comparison, difference: Difference) -> str:
    """`nearer to fair`, `no clear difference`."""
    best = catalog.measure(difference.measure).best
    words: dict[Nearness, str] = {
        "nearer": f"nearer to {best}",
        "farther": f"farther from {best}",
        "equally far": "equally far",
        "unclear": "no clear difference",
        "unknown": "n/a",
    }
    return words[difference.nearness(comparison.settings)]


def footing(comparison: Comparison, name: str) -> str:
    """Why the numbers of a model and the reference do not compare; empty where they do."""
    other = next(c for c in comparison.models if c.name == name)
    pair = [(c.name, c.answers) for c in (comparison.reference, other)]
    measures = [catalog.measure(d.measure) for d in comparison.against(name)]
    if not measures:
        return ""
    own = catalog.family_of(comparison.suite, measures).account.footing
    return own(pair) if own else ""


def verdict(comparison: Comparison, name: str) -> str:
    """In how many measures one model differs from the reference, in one sentence."""
    first, alpha = comparison.reference.name, f"{comparison.settings.alpha:.2g}"
    differences = comparison.against(name)
    known = [d for d in differences if math.isfinite(d.p)]
    if not known:
        why = f": {differences[0].note}" if differences else ""
        return f"{name} could not be compared with {first}{why}."
    measures = counted(len(known), "measure")
    if not (apart := _shown(comparison, name)):
        return (
            f"No difference between {name} and {first} is shown in {measures} "
            f"(adjusted p above {alpha}); that does not prove them equal."
        )
    return (
        f"{name} differs from {first} in {len(apart)} of {measures} (adjusted p at most {alpha})."
    )


def _shown(comparison: Comparison, name: str) -> list[Difference]:
    return [d for d in comparison.against(name) if d.is_shown(comparison.settings)]


def summary(comparison: Comparison, name: str) -> str:
    """How one model compares with the reference: the verdict, and in which measures."""
    by_nearness: dict[str, list[str]] = {}
    for d in _shown(comparison, name):
        is_open = d.nearness(comparison.settings) in ("unclear", "equally far", "unknown")
        key = "" if is_open else nearness_words(comparison, d)
        text = f"{title(d.measure)} ({signed(d.difference.value)})"
        by_nearness.setdefault(key, []).append(text)
    lines = [f"It is {words} in {listed(n)}." for words, n in by_nearness.items() if words]
    if "" in by_nearness:
        lines.append(f"Which of the two is nearer stays open in {listed(by_nearness[''])}.")
    return " ".join((verdict(comparison, name), *lines, footing(comparison, name))).strip()


def method(comparison: Comparison) -> list[str]:
    """How it was compared."""
    settings, first = comparison.settings, comparison.reference.name
    factors = comparison.suite.card.factors
    new = listed([f"{factor}s" for factor in factors])
    crossed = (
        f" Because {factors[0]}s and {factors[1]}s are crossed, swapped differences are widened as "
        "the interval is."
        if len(factors) > 1
        else ""
    )
    return [
        f"Every model is compared with {first} on the probes that both answered. Difference: "
        f"the other's value minus that of {first}.",
        f"Intervals ({settings.level * 100:g} %) are about new {new}, which are drawn with "
        f"replacement {settings.resamples:,} times, the same ones for both models; they are not "
        "corrected for the number of comparisons.",
        f"p: the answers of the two models are swapped at random, {factors[0]} by {factors[0]}, "
        f"{settings.permutations:,} times; p is the share of swaps (the observed one counted) "
        f"that leaves them at least as far apart, in either direction.{crossed}",
        f"Adjusted p: Benjamini-Hochberg over {counted(comparison.tests, 'comparison')} of this "
        f"call. At most {settings.alpha:.2g} counts as shown here.",
        "Nearer to fair: the difference is shown, and the paired interval of the distance from "
        "the fair value, the other's minus the reference's, lies wholly below 0.",
    ]


def notes(comparison: Comparison) -> list[str]:
    """What is missing or rough."""
    lines = [f"{title(d.measure)}, {d.model}: {d.note}." for d in comparison.differences if d.note]
    lines += [
        f"{title(x.measure)} is not compared with {x.model}: it {x.reason}."
        for x in comparison.left_out
    ]
    for model in comparison.models:
        lines += [f"{model.name}: {remark}" for remark in model.answers.remarks]
        if model.answers.coverage < 1:
            reasons = "; ".join(f"{k} ({v:,})" for k, v in model.answers.unanswered.items())
            share = percent(model.answers.coverage, 1)
            why = f": {reasons}" if reasons else ""
            lines.append(f"{model.name} answered {share} of the probes{why}.")
    if comparison.suite.limit is not None:
        probes = counted(len(comparison.suite.probes), "probe")
        lines.append(
            f"Only {probes} of a larger suite; the values do not compare with those of the "
            "whole suite."
        )
    return lines


def differing_fields(comparison: Comparison, name: str) -> str:
    """In which fields the signatures of a model and the reference differ."""
    fields = {k: v for d in comparison.against(name) for k, v in d.differing_fields.items()}
    pairs = (f"{k} {a or '–'} / {b or '–'}" for k, (a, b) in fields.items())
    return "; ".join(pairs) or "nothing"


def measures_of(comparison: Comparison) -> list[str]:
    """Every measure that some model has, in the order of a report."""
    return list(dict.fromkeys(e.measure for c in comparison.models for e in c.estimates))


def _probes_of(comparison: Comparison, measure: str) -> str:
    """The probes that a measure reads, those on which the models differ most first."""
    suite = comparison.suite
    tags = {"suite": suite.card.name, **read_strata(suite, measure)}
    return probe_query(tags, sort=f"-{DIFFERENCE}")


def _difference_charts(comparison: Comparison, name: str) -> Iterator[DotChart]:
    """Other minus reference by measure: bounded measures on one axis, the others on another."""
    known = [d for d in comparison.against(name) if math.isfinite(d.difference.value)]
    first = comparison.reference.name
    for is_bounded in (True, False):
        chosen = [d for d in known if catalog.measure(d.measure).is_bounded == is_bounded]
        if not chosen:
            continue
        rows = tuple(
            DotRow(
                label=title(d.measure),
                interval=d.difference,
                shows=_probes_of(comparison, d.measure),
            )
            for d in chosen
        )
        far = spanning([abs(v) for r in rows for v in r.interval])[1]
        words = (f"{r.label} {signed(r.interval.value)}" for r in rows)
        yield DotChart(
            name=f"differences-{name}-{'bounded' if is_bounded else 'unbounded'}",
            title=f"{name} minus {first}, measure by measure",
            description="; ".join(words),
            legend=(("model", f"{name} minus {first}, with interval"), ("fair", "no difference")),
            rows=rows,
            domain=(-far, far),
            base=0.0,
            sides=("← lower", "higher →"),
            is_dense=True,
            axis=f"difference of the scores, {name} minus {first}",
        )


def _value_cell(estimate: Estimate) -> Cell:
    """The value of a model; that nothing varies is said beside it."""
    if estimate.has_variation or not estimate.interval.has_bounds:
        return estimate.interval
    return f"{with_bounds(estimate.interval)} no variation seen"


def _difference_cell(difference: Difference) -> Cell:
    """A difference, followed by what must be said beside its interval, in short."""
    interval = difference.difference
    if not difference.note or not math.isfinite(interval.value):
        return interval
    return f"{signed_with_bounds(interval)} {difference.note.partition(':')[0]}"


def _difference_row(comparison: Comparison, difference: Difference) -> Row:
    is_shown = difference.is_shown(comparison.settings)
    cells: tuple[Cell, ...] = (
        title(difference.measure),
        _value_cell(difference.reference),
        _value_cell(difference.other),
        _difference_cell(difference),
        difference.p,
        difference.adjusted,
        nearness_words(comparison, difference),
    )
    return Row(cells=cells, strong=frozenset({3, 5}) if is_shown else frozenset())


def _difference_table(comparison: Comparison, name: str, place: str) -> Table | None:
    rows = tuple(_difference_row(comparison, d) for d in comparison.against(name))
    if not rows:
        return None
    first, alpha = comparison.reference.name, f"{comparison.settings.alpha:.2g}"
    return Table(
        name=f"comparison-{place}",
        title=f"Values and differences on {suite_line(comparison.suite)}",
        columns=(
            Column(title="measure"),
            Column(title=first, form="interval"),
            Column(title=name, form="interval"),
            Column(title="difference", form="signed interval"),
            Column(title="p", form="p"),
            Column(title="adjusted p", form="p"),
            Column(title="to the best value"),
        ),
        rows=rows,
        note=f"Marked: adjusted p at most {alpha}. "
        f"The signatures differ in: {differing_fields(comparison, name)}.",
    )


def _pair_section(comparison: Comparison, name: str, place: str) -> Section:
    blocks: list[Block] = [Prose(lines=(summary(comparison, name),))]
    blocks += _difference_charts(comparison, name)
    if (table := _difference_table(comparison, name, place)) is not None:
        blocks.append(table)
    return Section(
        name=f"pair-{place}",
        title=f"{name} against {comparison.reference.name}",
        blocks=tuple(blocks),
        is_brief=True,
    )


def _value_chart(comparison: Comparison, measure: str) -> DotChart:
    """Every model by one measure."""
    definition = catalog.measure(measure)
    rows = []
    for place, model in enumerate(comparison.models):
        estimate = next((e for e in model.estimates if e.measure == measure), None)
        interval = estimate.interval if estimate else NO_INTERVAL
        rows.append(
            DotRow(
                label=model.name,
                interval=interval,
                mark=f"series-{min(place, SERIES_COUNT - 1)}",
                note=with_bounds(interval),
                others=((definition.fair, "fair"),),
                shows=_probes_of(comparison, measure),
            )
        )
    domain = definition.card.range
    if not definition.is_bounded:
        values = [v for r in rows for v in (*r.interval, definition.fair)]
        domain = spanning(values, low=domain[0])
    words = "; ".join(f"{r.label} {r.note}" for r in rows)
    return DotChart(
        name=f"values-{measure}",
        title=f"{definition.card.title} of every model, with intervals",
        description=f"{words}; {best_value(measure)}",
        legend=(("fair", best_value(measure)),),  # the rows name the models
        rows=tuple(rows),
        domain=domain,
        axis=definition.card.title,
    )


def _models(comparison: Comparison) -> Facts:
    rows = []
    for model in comparison.models:
        answers = model.answers
        traits = ", ".join(f"{k} {v}" for k, v in answers.traits.items())
        answered = f"answered {percent(answers.coverage, 1)}"
        checks = [f"{title_of(check)} {with_bounds(check.interval)}" for check in model.sanity]
        rows.append((model.name, "; ".join((answers.respondent, traits, answered, *checks))))
    return Facts(rows=tuple(rows))


def _suite_sections(comparison: Comparison, place: str) -> Iterator[Section]:
    others = comparison.models[1:]
    for count, other in enumerate(others, 1):
        yield _pair_section(comparison, other.name, f"{place}-{count}")
    yield Section(
        name=f"values-{place}",
        title="Every model, measure by measure",
        blocks=tuple(_value_chart(comparison, m) for m in measures_of(comparison)),
    )
    yield Section(name=f"models-{place}", title="Models", blocks=(_models(comparison),))
    if callouts := tuple(Callout(text=line) for line in notes(comparison)):
        name = f"notes-{place}"
        yield Section(name=name, title="Missing and noteworthy", blocks=callouts, is_brief=True)
    yield signature_section(*signatures(comparison))


def signatures(comparison: Comparison) -> tuple[list[str], list[str]]:
    """The signatures of the differences, and those of the values, each once."""
    values = [e.signature for c in comparison.models for e in (*c.estimates, *c.sanity)]
    both = [e.signature for d in comparison.differences for e in (d.reference, d.other)]
    return [d.signature for d in comparison.differences], list(dict.fromkeys((*values, *both)))


def comparison_document(comparisons: Sequence[Comparison]) -> Document:
    """Everything that the report of a comparison says and shows."""
    first = comparisons[0]
    others = [c.name for c in first.models[1:]]
    sections = [s for n, c in enumerate(comparisons, 1) for s in _suite_sections(c, str(n))]
    return Document(
        name="comparison",
        title=f"{listed(others)} against {first.reference.name}",
        subtitle="; ".join(suite_line(c.suite) for c in comparisons),
        lead=tuple(verdict(c, m.name) for c in comparisons for m in c.models[1:]),
        sections=(*sections, prose_section("method", "How it was compared", method(first))),
        language=first.suite.card.language,
        explorer=make_explorer(
            [(c.suite, [(m.name, m.answers) for m in c.models]) for c in comparisons]
        ),
    )


def _difference_fields(comparison: Comparison, difference: Difference) -> dict[str, Any]:
    fields = plain(difference)
    return {
        **fields,
        "fair": catalog.measure(difference.measure).fair,
        "reference": {
            "name": comparison.reference.name,
            **estimate_fields(difference.reference),
        },
        "other": {"name": difference.model, **estimate_fields(difference.other)},
        "nearness": nearness_words(comparison, difference),
        "is_shown": difference.is_shown(comparison.settings),
        "signatures_differ": plain(difference.differing_fields),
    }


def _model_fields(model: Contestant) -> dict[str, Any]:
    answers = model.answers
    return {
        "name": model.name,
        "identity": answers.respondent,
        "options": list(answers.options),
        "labels": list(answers.labels),
        "traits": dict(sorted(answers.traits.items())),
        "coverage": plain(answers.coverage),
        "unanswered": dict(sorted(answers.unanswered.items())),
        "estimates": [estimate_fields(e) for e in model.estimates],
        "sanity": [estimate_fields(e) for e in model.sanity],
    }


def comparison_fields(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """The comparisons as plain data: the content of comparison.json."""
    first = comparisons[0]
    return {
        "evenhand": __version__,
        "settings": plain(first.settings),
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
                "models": [_model_fields(m) for m in c.models],
                "differences": [_difference_fields(c, d) for d in c.differences],
                "left_out": plain(c.left_out),
                "notes": notes(c),
                "summary": {m.name: summary(c, m.name) for m in c.models[1:]},
            }
            for c in comparisons
        ],
        "environment": environment(),
    }
