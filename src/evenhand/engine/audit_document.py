"""The Document of an audit: the common frame around what the run's family says."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from evenhand import __version__
from evenhand.core import account, catalog
from evenhand.core.account import BASELINES, RANDOM, checks
from evenhand.core.document import (
    Block,
    Callout,
    Cell,
    Column,
    Document,
    Facts,
    Headline,
    Prose,
    Row,
    Section,
    Signatures,
    Table,
)
from evenhand.core.estimate import Estimate, Interval
from evenhand.core.run import Run
from evenhand.core.settings import TARGETS
from evenhand.core.suite import Suite
from evenhand.core.text import bounds, counted, listed, sentence_case
from evenhand.core.validity import discounts
from evenhand.engine.explorer import make_explorer
from evenhand.engine.front import make_front
from evenhand.engine.results import environment

COMPARABLE = (
    "Two numbers are comparable if their signatures differ only in what describes the model."
)
CHECK_RULE = "As a classifier, on pairs of sentences without a stereotype."


def suite_line(suite: Suite) -> str:
    """`occupation-nli 1.0, English, 4,230 probes`."""
    card = suite.card
    rest = " of a larger suite" if suite.limit is not None else ""
    probes = counted(len(suite.probes), "probe")
    return f"{card.name} {card.version}, {catalog.language_name(card.language)}, {probes}{rest}"


def _headline(run: Run) -> Headline:
    first = run.headline
    return Headline(
        title=account.title(first.measure),
        interval=first.interval,
        level=first.level,
        best=account.best_value(first.measure),
        note=first.note,
        reasons=tuple(r.text for r in discounts(run, first)),
    )


def _baseline_cells(run: Run, estimate: Estimate) -> list[Cell]:
    rules = [run.baseline(rule, estimate.measure) for rule in BASELINES]
    return [b.value if b is not None else "–" for b in rules]


def _baselines(run: Run) -> Section:
    """What every rule scores by every measure, with the range of single random respondents."""
    random = run.baselines[RANDOM]
    others = {rule: scores for rule, scores in run.baselines.items() if rule != RANDOM}
    rows = [
        Row(
            cells=(
                account.title(drawn.measure),
                drawn.value,
                Interval(drawn.value, drawn.low, drawn.high),
                *(scores[place].value for scores in others.values()),
            )
        )
        for place, drawn in enumerate(random)
    ]
    most = max(drawn.draws for drawn in random)
    middle = f"the middle {run.settings.level * 100:g} %"
    drawing = (
        f"Random: the mean of {most:,} random respondents and the range of {middle} of them. "
        if most
        else ""
    )
    table = Table(
        name="baselines",
        title="What rules without a model score",
        columns=(
            Column(title="measure"),
            Column(title=account.rule_title(RANDOM), form="number"),
            Column(title=middle, form="bounds"),
            *(Column(title=account.rule_title(rule), form="number") for rule in others),
        ),
        rows=tuple(rows),
        note=f"On the probes that were answered. {drawing}The other rules are free of chance. "
        f"{_missing_baselines(run, run.baselines)}".strip(),
    )
    return Section(name="baselines", title="Baselines", blocks=(table,))


def _missing_baselines(run: Run, rules: Collection[str]) -> str:
    """Why these rules have no score by some measures; empty where all have one."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for rule in rules:
        for score in run.baselines[rule]:
            if score.note:
                key = account.rule_title(rule), score.note
                reasons.setdefault(key, []).append(account.title(score.measure))
    lines = (f"{rule}, {listed(names)}: {note}" for (rule, note), names in reasons.items())
    return f"N/a: {'; '.join(lines)}." if reasons else ""


def target_words(run: Run) -> str:
    """What the intervals are about, in words."""
    if run.settings.target == "this set":
        return account.this_set(run)
    return f"new {listed([f'{factor}s' for factor in run.headline.levels])}"


def _bounds_cell(estimate: Estimate) -> Cell:
    """The bounds of an estimate, followed by what must be said beside them."""
    if not estimate.note or not math.isfinite(estimate.value):
        return estimate.interval
    return f"{bounds(estimate.interval)} {estimate.note}"


def _score_row(run: Run, estimate: Estimate) -> Row:
    is_check = estimate in run.sanity
    measure = catalog.measure(estimate.measure)
    return Row(
        cells=(
            _score_name(run, estimate),
            estimate.value,
            _bounds_cell(estimate),
            measure.fair,
            *(["–"] * len(BASELINES) if is_check else _baseline_cells(run, estimate)),
        ),
        strong=frozenset({1}),
        is_quiet=bool(discounts(run, estimate)),
    )


def _score_name(run: Run, estimate: Estimate) -> str:
    """The name of a score; where it does not count, with that and why: `(... at chance)`."""
    name, reasons = account.title_of(estimate), [r.short for r in discounts(run, estimate)]
    return f"{name} ({account.UNCOUNTED}: {listed(reasons)})" if reasons else name


def _scores_table(run: Run) -> Table:
    groups = account.score_groups(run)
    rows: list[Row] = []
    for group in groups:
        if len(groups) > 1:
            rows.append(Row(cells=(group.title,), is_heading=True, note=sentence_case(group.rule)))
        rows += [_score_row(run, e) for e in group.estimates]
    if checks(run) and len(groups) > 1:
        rows.append(Row(cells=("Understanding",), is_heading=True, note=CHECK_RULE))
    rows += [_score_row(run, e) for e in checks(run)]
    level = run.headline.level
    return Table(
        name="scores",
        title="Scores",
        columns=(
            Column(title="measure"),
            Column(title="value", form="number"),
            Column(title=f"{level * 100:g} % interval", form="bounds"),
            Column(title=account.best_word(run), form="short"),
            *(Column(title=head, form="number") for head in BASELINES.values()),
        ),
        rows=tuple(rows),
        note=f"Intervals are for {target_words(run)}. {_missing_baselines(run, BASELINES)}".strip(),
    )


def _other_verdicts(run: Run) -> list[str]:
    """Sentences about the scores other than the headline."""
    lines = []
    for group in account.score_groups(run):
        for estimate in group.estimates[:1] if group.is_brief else group.estimates:
            if estimate is not run.headline:
                sentence = account.verdict(run, estimate)
                is_known = math.isfinite(estimate.value)
                name = account.title(estimate.measure)
                lines.append(f"{name}: {sentence}" if is_known else sentence)
    return lines


def _scores(run: Run) -> Section:
    quiet = {e.measure for e in run.estimates if discounts(run, e)}
    blocks: list[Block] = [account.score_chart(run, quiet=quiet)]
    if lines := _other_verdicts(run):
        blocks.append(Prose(lines=tuple(lines), is_quiet=True))
    return Section(
        name="scores", title="Scores", blocks=(*blocks, _scores_table(run)), is_brief=True
    )


def _levels(estimate: Estimate) -> str:
    """What a score rests on: `141 occupations, 70 templates`."""
    return ", ".join(counted(count, factor) for factor, count in estimate.levels.items())


def _coverage(run: Run) -> Section:
    other = next(target for target in TARGETS if target != run.settings.target)
    rows = tuple(
        Row(cells=(account.title_of(e), e.probes, _levels(e), e.coverage, e.ties, e.targets[other]))
        for e in (*run.estimates, *checks(run))
    )
    table = Table(
        name="coverage",
        title="Coverage",
        columns=(
            Column(title="measure"),
            Column(title="probes", form="count"),
            Column(title="rests on, at least"),
            Column(title="answered", form="percent"),
            Column(title="ties", form="count"),
            Column(title=f"interval for {other}", form="bounds"),
        ),
        rows=rows,
    )
    blocks: list[Block] = [Callout(text=note) for note in account.notes(run)]
    if not blocks:
        whole = "Every probe was answered, and there were no ties."
        blocks = [Prose(lines=(whole,), is_quiet=True)]
    return Section(name="coverage", title="Coverage", blocks=(table, *blocks), is_brief=True)


def _sources(run: Run) -> Section:
    card = run.suite.card
    facts: list[tuple[str, str]] = [
        ("suite", card.description),
        ("source", card.source),
        ("licence", card.licence),
        ("citation", card.citation),
        ("digest", run.suite.digest),
    ]
    for name in dict.fromkeys(e.measure for e in (*run.estimates, *checks(run))):
        measure = catalog.measure(name).card
        source = f"{measure.citation.rstrip('.')}."
        facts.append((measure.title, f"{measure.formula}. {source} {measure.caveat}"))
    facts += list(run.answers.traits.items())
    facts.append(("seed", f"{run.settings.seed}, {run.settings.resamples:,} resamples"))
    facts += list(environment().items())
    facts += [(k.removesuffix("_seconds"), f"{v} s") for k, v in run.timing.items()]
    files = "the same numbers are in results.json, the probes in suite.jsonl, every answer in "
    facts.append(("evenhand", f"{__version__}; {files}answers.parquet"))
    return Section(
        name="sources", title="Sources and surroundings", blocks=(Facts(rows=tuple(facts)),)
    )


def prose_section(
    name: str, title: str, lines: Sequence[str], *, is_list: bool = False, is_beside: bool = False
) -> Section:
    """A section of paragraphs, or of the points of a list."""
    return Section(
        name=name,
        title=title,
        blocks=(Prose(lines=tuple(lines), is_list=is_list),),
        is_beside=is_beside,
    )


def signature_section(lines: Sequence[str], more: Sequence[str] = ()) -> Section:
    """A section of signature lines; `more` of them are collapsed in HTML."""
    blocks: list[Block] = [
        Prose(lines=(COMPARABLE,), is_quiet=True),
        Signatures(lines=tuple(lines)),
    ]
    if more:
        blocks.append(Signatures(lines=tuple(more), is_folded=True))
    return Section(name="signatures", title="Signatures", blocks=tuple(blocks), is_brief=True)


def audit_document(run: Run) -> Document:
    """Everything that the report of an audit says and shows."""
    own = catalog.family(run.family).account.sections
    signatures = [e.signature for e in (*run.estimates, *checks(run))]
    facts: Mapping[str, str] = {"model": run.answers.respondent}
    sections = (
        _scores(run),
        *(own(run) if own else ()),
        _baselines(run),
        prose_section("method", "How it was measured", account.method(run)),
        prose_section(
            "limits",
            "What this number does not say",
            account.limits(run),
            is_list=True,
            is_beside=True,
        ),
        _coverage(run),
        signature_section(signatures),
        _sources(run),
    )
    return Document(
        name="report",
        title=run.answers.respondent,
        subtitle=suite_line(run.suite),
        headline=_headline(run),
        front=make_front(run, frozenset(section.name for section in sections)),
        lead=account.summary(run),
        sections=sections,
        language=run.suite.card.language,
        facts=facts,
        explorer=make_explorer([(run.suite, [(run.answers.respondent, run.answers)])]),
    )
