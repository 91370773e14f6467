"""The document of a mitigation: what changed, bias against its cost, before and after, limits.

The tables have the shape of Table 7 of Sharma, Dey and Sinha (2021): models down, accuracy and
measures across, percent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.chart import Axis, DotChart, DotRow, Key, Point, ScatterChart, spanning
from evenhand.core.document import (
    Block,
    Cell,
    Column,
    Document,
    Prose,
    Row,
    Section,
    Signatures,
    Table,
)
from evenhand.core.estimate import NO_INTERVAL, Interval
from evenhand.core.text import MISSING, counted, in_points, points
from evenhand.mitigate import wording
from evenhand.mitigate.anchors import UNSEEN
from evenhand.mitigate.records import ACCURACY, BEFORE, FILE, NONE, Asked, Mitigation, Trained
from evenhand.mitigate.wording import measure_of

ROOM = 0.08  # empty space at either end of an axis, as a share of the range of values
METHOD_MARK, UNSEEN_MARK, CONTROL_MARK = "series-0", "series-1", "random"


def mitigation_document(record: Mitigation) -> Document:
    """Everything that the report of a mitigation says and shows."""
    count = counted(len(wording.methods(record)), "method")
    control = " and the control" if NONE in wording.models(record) else ""
    language = catalog.language_name(record.language)
    return Document(
        name=Path(FILE).stem,
        title=f"Mitigation of {record.model}",
        subtitle=f"{language}, {count}{control}; {record.identity}",
        lead=tuple(wording.lead(record)),
        sections=(
            *_trade_off_sections(record),
            *_method_by_method(record),
            *_level_sections(record),
            _list_section("elsewhere", "Does it hold elsewhere?", wording.generality(record)),
            _list_section("limits", "What is not shown", wording.not_shown(record), is_beside=True),
            _training_section(record),
            _method_section(record),
        ),
        language=record.language,
        facts={"model of before": record.identity},
    )


def report_fields(record: Mitigation) -> dict[str, Any]:
    """The record as plain data, with what is said about it; `read_mitigation` reads it back."""
    words = {
        "lead": wording.lead(record),
        "methods": {m: wording.summary(record, m) for m in wording.models(record)[1:]},
        "generality": wording.generality(record),
        "limits": wording.not_shown(record),
    }
    return {**record.to_json(), "words": words}


def _list_section(
    name: str, title: str, lines: Sequence[str], *, is_beside: bool = False
) -> Section:
    return Section(
        name=name,
        title=title,
        blocks=(Prose(lines=tuple(lines), is_list=True),),
        is_brief=True,
        is_beside=is_beside,
    )


def _trade_off_sections(record: Mitigation) -> list[Section]:
    charts = trade_off_charts(record)
    heads = {m for a in wording.suites(record) if (m := wording.headline_on(record, a))}
    is_lower = all(measure_of(m).fair == measure_of(m).card.range[0] for m in heads)
    note = (
        f"{'Lower' if is_lower else 'Nearer to the best value'} is less bias; "
        "left of the upright dashed line, accuracy was lost. "
        f"{record.level * 100:g} % intervals."
    )
    head = Section(
        name="trade-off",
        title="Bias against what it cost",
        blocks=(Prose(lines=(note,), is_quiet=True),),
    )
    parts = (Section(name=c.name, title=c.title, blocks=(c,), level=3) for c in charts)
    return [head, *parts] if charts else []


def _method_by_method(record: Mitigation) -> list[Section]:
    head = Section(name="methods", title="Method by method", blocks=())
    parts = (
        Section(
            name=f"method-{t.method}",
            title=t.method,
            blocks=(
                Prose(lines=(t.description,), is_quiet=True),
                Prose(lines=tuple(wording.summary(record, t.method)), is_list=True),
            ),
            level=3,
        )
        for t in record.trained
        if not t.run
    )
    return [head, *parts]


def _level_sections(record: Mitigation) -> list[Section]:
    tables = list(level_tables(record))
    seeds = wording.seeds(record)
    runs = (
        f" Over seeds: the mean of {seeds} training runs, the lowest and the highest; all else is "
        "of the first run."
    )
    note = (
        "Percent; changes in points against before. In brackets the "
        f"{record.level * 100:g} % interval. Set apart: the change is shown, adjusted p at most "
        f"{1 - record.level:.2g} over {counted(record.tests, 'comparison')}."
        f"{runs if seeds > 1 else ''}"
    )
    before_after = Section(
        name="levels",
        title="Before and after, percent",
        blocks=(*tables, Prose(lines=(note,), is_quiet=True)),
        is_brief=True,
    )
    charts = (
        Section(name=c.name, title=c.title, blocks=(c,), level=3) for c in level_charts(record)
    )
    return [before_after, *charts]


def _training_section(record: Mitigation) -> Section:
    files = [
        f"{part}: {file['file']}, {counted(file['pairs'], 'pair')}, SHA-256 {file['sha256'][:12]}"
        for part in ("train", "dev")
        for file in record.settings[part]
    ]
    blocks: list[Block] = [training_table(record), Prose(lines=tuple(files), is_quiet=True)]
    if words := record.occupations:
        lines = (
            f"Anchors: {', '.join(words['anchors'])}.",
            f"Not anchors: {', '.join(words['unseen'])}.",
        )
        blocks.append(Prose(lines=lines, is_quiet=True))
    return Section(name="training", title="What was trained", blocks=tuple(blocks))


def _method_section(record: Mitigation) -> Section:
    signatures = dict.fromkeys(s.signature for s in record.scores if s.signature)
    identities = "; ".join(f"{_run_label(t)}: {t.identity}" for t in record.trained)
    closing = (
        f"{identities}. evenhand {__version__}, seed {record.settings['seed']}. "
        f"The same numbers are in {FILE}."
    )
    return Section(
        name="method",
        title="Method",
        blocks=(
            Prose(lines=tuple(wording.method(record))),
            Signatures(lines=tuple(signatures), is_folded=True),
            Prose(lines=(closing,), is_quiet=True),
        ),
    )


def level_tables(record: Mitigation) -> Iterator[Table]:
    """One table per suite, then one per suite on unseen occupations.

    Each has the accuracy on the first held-out file; a last table has it for all files.
    """
    held_out = wording.suites(record, "dev")
    for asked in (*wording.suites(record), *wording.suites(record, "unseen")):
        measures = [(asked, m) for m in wording.measures_on(record, asked)]
        columns = [*((first, ACCURACY) for first in held_out[:1]), *measures]
        pairs, clusters = counted(asked.probes, "pair"), counted(asked.clusters, "occupation")
        title = f"{wording.where(asked)}: {pairs}, {clusters}"
        yield _level_table(record, title, columns, [head(m) for _, m in columns])
    if len(held_out) > 1:
        files = ", ".join(f"{a.name} {a.probes:,}" for a in held_out)
        title = f"Accuracy on held-out pairs: {files}"
        columns = [(a, ACCURACY) for a in held_out]
        yield _level_table(record, title, columns, [a.name for a in held_out])


def head(measure: str) -> str:
    """`dP (↓)`: the short name, and which way is better."""
    known = measure_of(measure)
    low, high = known.card.range
    arrow = f"→{known.fair * 100:g}"
    if known.fair == low:
        arrow = "↓"
    elif known.fair == high:
        arrow = "↑"
    return f"{known.card.short} ({arrow})"


def _level_table(
    record: Mitigation,
    title: str,
    columns: Sequence[tuple[Asked, str]],
    heads: Sequence[str],
) -> Table:
    """Models down; for every measure its value and the change against before."""
    has_seeds = wording.seeds(record) > 1
    rows = []
    for model in wording.models(record):
        cells: list[Cell] = [model]
        strong = set()
        for asked, measure in columns:
            score = record.score(asked.name, asked.part, measure, model)
            change = record.change(asked.name, asked.part, measure, model)
            if model == BEFORE:
                cells += [score.interval if score else MISSING, "", *([""] if has_seeds else [])]
                continue
            if change and wording.is_shown(record, change):
                strong.add(len(cells) + 1)
            cells += [score.value if score else MISSING, change.interval if change else ""]
            if has_seeds:
                cells.append(wording.over_seeds(record, asked, measure, model))
        rows.append(Row(cells=tuple(cells), strong=frozenset(strong)))
    return Table(
        name="levels",
        title=title,
        columns=(
            Column(title="model"),
            *(
                column
                for name in heads
                for column in (
                    Column(title=name, form="points"),
                    Column(title="change", form="signed points"),
                    *([Column(title="over seeds")] if has_seeds else []),
                )
            ),
        ),
        rows=tuple(rows),
    )


def training_table(record: Mitigation) -> Table:
    """What was trained: method, pairs, added, twins, steps, minutes."""
    heads = ("pairs", "added", "twins", "steps")
    return Table(
        name="training",
        title="What was trained",
        columns=(
            Column(title="method"),
            *(Column(title=name, form="count") for name in heads),
            Column(title="minutes"),
        ),
        rows=tuple(
            Row(cells=(_run_label(t), t.pairs, t.added, t.twins, t.steps, f"{t.seconds / 60:.1f}"))
            for t in record.trained
        ),
    )


def _run_label(trained: Trained) -> str:
    return f"{trained.method}, seed {trained.run + 1}" if trained.run else trained.method


def _file_name(*parts: str) -> str:
    return "-".join(re.sub(r"[^\w.-]+", "-", part) for part in parts)


def _in_percent(interval: Interval) -> Interval:
    return Interval(*(100 * v for v in interval))


def _label(model: str) -> str:
    return "none (control)" if model == NONE else model


def _mark(model: str) -> str:
    return {BEFORE: "model", NONE: CONTROL_MARK}.get(model, METHOD_MARK)


def _padded(values: Sequence[float], *, least: float = -math.inf) -> tuple[float, float]:
    """All values with some room on either side, nothing below `least`."""
    known = [v for v in values if math.isfinite(v)]
    low, high = min(known), max(known)
    room = (high - low or 1.0) * ROOM
    return max(least, low - room), high + room


def drawn_measures(record: Mitigation, asked: Asked) -> list[str]:
    """The measures of a suite that have a chart.

    What the suite is about, and the scores that can miss fair on either side.
    """
    names = wording.measures_on(record, asked)
    return [
        name
        for name in names
        if name == names[0] or measure_of(name).fair not in measure_of(name).card.range
    ]


def level_charts(record: Mitigation) -> list[DotChart]:
    """Every model by each measure that is drawn, and the same on unseen occupations."""
    return [
        _level_chart(record, asked, measure)
        for asked in wording.suites(record)
        for measure in drawn_measures(record, asked)
    ]


def _level_chart(record: Mitigation, asked: Asked, measure: str) -> DotChart:
    rows = []
    for model in wording.models(record):
        score = record.score(asked.name, "all", measure, model)
        if score is None:
            continue
        rest = record.score(asked.name, "unseen", measure, model)
        is_known = rest is not None and math.isfinite(rest.value)
        rows.append(
            DotRow(
                label=_label(model),
                interval=_in_percent(score.interval),
                mark=_mark(model),
                note=in_points(score.interval),
                others=((100 * rest.value, UNSEEN_MARK),) if rest and is_known else (),
            )
        )
    before = record.score(asked.name, "all", measure, BEFORE)
    best, least = 100 * measure_of(measure).fair, 100 * measure_of(measure).card.range[0]
    values = [v for r in rows for v in (*r.interval, *(x for x, _ in r.others), best)]
    meanings = {
        "model": "before",
        CONTROL_MARK: "control: more training alone",
        METHOD_MARK: "method",
    }
    there = {r.mark for r in rows}
    legend: list[Key] = [(mark, text) for mark, text in meanings.items() if mark in there]
    legend.append(("reference", "value of before"))
    if any(r.others for r in rows):
        legend.append((UNSEEN_MARK, f"on {UNSEEN} only"))
    if best:
        legend.append(("fair", "fair"))
    title = f"{measure_of(measure).card.title} on {asked.name}, percent ({best:g} is fair)"
    return DotChart(
        name=_file_name("levels", measure, asked.name),
        title=title,
        description="; ".join(f"{r.label} {r.note}" for r in rows),
        legend=tuple(legend),
        rows=tuple(rows),
        domain=_padded(values, least=least) if best else spanning(values, low=least),
        base=best or math.nan,
        reference=100 * before.value if before else math.nan,
        is_dense=True,
        axis=f"{measure_of(measure).card.title}, percent",
        fair=best,
    )


def trade_off_charts(record: Mitigation) -> list[ScatterChart]:
    """Bias against the change of accuracy, for what each suite is about and each held-out file."""
    return [
        _trade_off_chart(record, asked, measure, held_out)
        for asked in wording.suites(record)
        if (measure := wording.headline_on(record, asked))
        for held_out in wording.suites(record, "dev")
    ]


def _trade_off_chart(
    record: Mitigation, asked: Asked, measure: str, held_out: Asked
) -> ScatterChart:
    card = measure_of(measure).card
    title = card.title
    chart_points = []
    for model in wording.models(record):
        score = record.score(asked.name, "all", measure, model)
        change = record.change(held_out.name, "dev", ACCURACY, model)
        x = _in_percent(change.interval) if change else NO_INTERVAL
        if model == BEFORE:
            x = Interval(0.0, 0.0, 0.0)
        if score is not None and math.isfinite(score.value + x.value):
            y = _in_percent(score.interval)
            chart_points.append(Point(label=_label(model), x=x, y=y, mark=_mark(model)))
    before = record.score(asked.name, "all", measure, BEFORE)
    words = "; ".join(
        f"{p.label}: accuracy {points(p.x.value / 100, is_signed=True)} points, "
        f"{title} {p.y.value:.1f} %"
        for p in chart_points
    )
    legend: list[Key] = [("model", "before")]
    if any(p.mark == CONTROL_MARK for p in chart_points):
        legend.append((CONTROL_MARK, "control"))
    legend += [
        (METHOD_MARK, "method, with both intervals"),
        ("reference", "before: what changes nothing"),
    ]
    levels = [0.0, *(v for p in chart_points for v in p.y)]
    return ScatterChart(
        name=_file_name("trade-off", measure, asked.name, held_out.name),
        title=f"{title} on {asked.name} against the accuracy that it cost on {held_out.name}",
        description=words,
        legend=tuple(legend),
        points=tuple(chart_points),
        x=Axis(
            title=f"change of accuracy on {held_out.name}, points",
            domain=_padded([v for p in chart_points for v in p.x]) if chart_points else None,
        ),
        y=Axis(title=f"{title}, percent", domain=_padded(levels, least=100 * card.range[0])),
        reference_x=0.0,
        reference_y=100 * before.value if before else math.nan,
    )
