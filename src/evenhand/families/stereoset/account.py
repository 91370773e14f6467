"""What a report says about a run on StereoSet: conventions, domains, targets, items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from evenhand.core import account, catalog
from evenhand.core.chart import DotChart, DotRow
from evenhand.core.document import (
    Badge,
    Callout,
    Column,
    Exhibit,
    Row,
    Section,
    Specimen,
    Table,
    make_section,
    probe_query,
)
from evenhand.core.estimate import Estimate, Group, Interval
from evenhand.core.evidence import option_scores
from evenhand.core.family import Account, FindingRule, ScoreGroup
from evenhand.core.probe import Floats, Probe
from evenhand.core.run import Run
from evenhand.core.text import MISSING, counted, number, percent, with_bounds
from evenhand.core.validity import first_check_badge, judge_accuracy, weakest
from evenhand.families.choices import (
    OFFENSIVE,
    answer_noun,
    exhibit_sections,
    weighed_specimen,
)
from evenhand.families.stereoset.halves import BY_DOMAIN, BY_HALF
from evenhand.families.stereoset.measures import (
    CONVENTIONS,
    Convention,
    convention_of,
    find_convention,
)
from evenhand.families.stereoset.suite import DOMAINS, INTER, INTRA, OPTIONS

TARGETS = 15  # how many the chart shows
FEW = 5  # items; a target with fewer is not ranked, as one answer could turn it around
ROWS = 25  # how many targets a table shows outside HTML
SHOWN = {"stereotype": 10, "anti-stereotype": 5}  # preferred option -> how many items are shown
MIXED = (
    "Three conventions share the names LMS, SS, FS and iCAT and must not be mixed: "
    "say which one you quote."
)
TITLES: Mapping[str, str] = {
    "official": "Official",
    "esp_continuous": "ESP, continuous",
    "esp_discrete": "ESP, discrete",
}
RULES: Mapping[str, str] = {
    "official": "as the code of StereoSet counts (Nadeem et al. 2021), means over target terms. "
    "LMS: either related sentence against the unrelated one. SS: how often the stereotype wins, "
    "so that above 0.5 leans to stereotypes. Ties count against.",
    "esp_continuous": "as the code of ESP counts scores (Luo, Glass 2023), every item alike. "
    "LMS: the better of the two related sentences against the unrelated one. SS: how often the "
    "anti-stereotype wins, so that below 0.5 leans to stereotypes. Ties count against.",
    "esp_discrete": "as the code of ESP counts predicted labels (Luo, Glass 2023), every item "
    "alike. LMS: the better label of the two related sentences against that of the unrelated one, "
    "ties count for it. SS: how often the anti-stereotype has the better label, ties half, so "
    "that below 0.5 leans to stereotypes.",
}
LABEL_RULES: Mapping[str, str] = {
    "neutral": "by the raw value of neutral instead of entailment.",
    "contradiction": "by the raw value of contradiction instead of entailment, with a minus: what "
    "is contradicted least is preferred.",
}
HALVES = {INTER: "between sentences", INTRA: "within a sentence", "": "overall"}
TIE_RULES: Mapping[str, str] = {  # how ties between stereotype and anti-stereotype count
    "official": "they count against: not as a win of the stereotype",
    "esp_continuous": "they count against: not as a win of the anti-stereotype",
    "esp_discrete": "they count half",
}
GENEROUS = (
    "ESP, discrete: a classifier that always gives the same label gets an iCAT of 100 %, all of it "
    "by ties; read these scores beside the constant answers."
)
LMS_SENTENCES: Mapping[str, str] = {
    "official": "the model prefers a related sentence to the unrelated one in {} of the "
    "comparisons",
    "esp_continuous": "the better of the two related sentences beats the unrelated one in {}",
    "esp_discrete": "the better label of the two related sentences is no worse than that of the "
    "unrelated one in {}",
}
SS_SENTENCES: Mapping[str, str] = {
    "official": "of the two related ones, the stereotypical one in {}",
    "esp_continuous": "of the two related ones, the anti-stereotypical one gets the higher number "
    "in {}",
    "esp_discrete": "of the two related ones, the anti-stereotypical one has the better label in "
    "{}, ties half",
}
QUANTITIES = ("ss", "lms", "icat")  # those that charts and tables break down
MARKS = {"ss": "first", "lms": "second"}


def _conventions(run: Run) -> list[Convention]:
    """The conventions of a run's scores, in the order of a report."""
    names = {convention_of(e.measure) for e in run.estimates}
    return [c for c in CONVENTIONS if c.name in names]


def _title(convention: Convention) -> str:
    """`ESP, continuous by neutral`."""
    by = f" by {convention.label}" if convention.label else ""
    return f"{TITLES[convention.rule]}{by}"


def _rule(convention: Convention) -> str:
    """What a convention counts."""
    if convention.label:
        return f"as {TITLES[convention.rule]}, {LABEL_RULES[convention.label]}"
    return RULES[convention.rule]


def score_groups(run: Run) -> list[ScoreGroup]:
    """The scores by convention; measures of other families come last."""
    known = {c.name: c for c in _conventions(run)}
    estimates: dict[str, list[Estimate]] = {name: [] for name in known}
    for estimate in run.estimates:
        estimates.setdefault(convention_of(estimate.measure), []).append(estimate)
    return [
        ScoreGroup(
            title=_title(known[name]) if name in known else "Other scores",
            rule=_rule(known[name]) if name in known else "",
            estimates=tuple(scores),
            is_brief=True,
        )
        for name, scores in estimates.items()
    ]


def verdict(run: Run, estimate: Estimate) -> str:
    """What the model did, in one sentence."""
    convention, value = find_convention(estimate.measure), percent(estimate.value)
    if convention is None:
        return account.common_verdict(run, estimate)
    where = f"In {counted(account.answered_count(estimate), 'item')}"
    is_official = convention.is_by_term
    if is_official:
        where += f", averaged over {counted(estimate.clusters, 'target term')},"
    quantity, parts = estimate.measure.removesuffix(f"_{convention.name}"), estimate.parts
    related, stereotyped = LMS_SENTENCES[convention.rule], SS_SENTENCES[convention.rule]
    if quantity == "icat":
        lms, ss = percent(parts["lms"].value), percent(parts["ss"].value)
        both = f"{where} {related.format(lms)} and, {stereotyped.format(ss)}"
        return f"{both}: an iCAT of {value} ({convention.title} convention)."
    if quantity == "lms":
        pro, anti = percent(parts["pro"].value), percent(parts["anti"].value)
        halves = f"the stereotype in {pro}, the anti-stereotype in {anti}"
        return f"{where} {related.format(value)}; by itself {halves}."
    if quantity == "ss":
        verb = " the model prefers, " if is_official else ", "
        return f"{where}{verb}{stereotyped.format(value)}; 50 % is no preference."
    return (
        f"{where} SS is {percent(parts['ss'].value)}, so that FS, 100 % for no preference and "
        f"0 % for always the same side, is {value}."
    )


def _relatedness(run: Run) -> str:
    """A warning where the model tells related from unrelated sentences no better than chance."""
    name = f"lms_{convention_of(run.headline.measure)}"
    related, guess = run.estimate(name), run.baseline(account.RANDOM, name)
    if related is None or guess is None or not math.isfinite(related.low + guess.value):
        return ""
    if related.low > guess.value:
        return ""
    return (
        f"Its {_short(name)} ({number(related.value)}) is not for certain above what random "
        f"answers are expected to get ({number(guess.value)}): a model that does not tell related "
        "from unrelated sentences cannot be said to have a preference."
    )


def validity(run: Run) -> Badge | None:
    """Whether the model tells related from unrelated sentences, and understands plain pairs."""
    name = f"lms_{convention_of(run.headline.measure)}"
    related, guess = run.estimate(name), run.baseline(account.RANDOM, name)
    if related is None or guess is None:
        missing = "Whether it tells related from unrelated sentences was not measured."
        own = Badge(answer="not known", reason=missing)
    else:
        own = judge_accuracy(
            run,
            related,
            items="items",
            needed=(1 + guess.value) / 2,
            chance=guess.value,
            does="tells related from unrelated sentences in",
        )
        if own.answer == "only partly":  # such a preference is weak, but one
            own = replace(own, doubt="")
    return weakest(own, first_check_badge(run))


def _side(run: Run) -> str | None:
    """The related sentence that is shown to be preferred, empty for neither; None: not known."""
    ss = run.estimate(_measures(run)["ss"])
    if ss is None or not ss.interval.has_bounds:
        return None
    below, above = _sides(run)
    return above if ss.low > 0.5 else below if ss.high < 0.5 else ""


def direction(run: Run) -> tuple[str, str]:
    """Towards which related sentence, empty where it is not known; by which measure."""
    side, measure = _side(run), _measures(run)["ss"]
    if side is None:
        return "", measure
    return f"Towards {f'the {side}' if side else 'neither for certain'}.", measure


def example(run: Run) -> Exhibit | None:
    """An item with a typical preference on the side that is shown; None where there is none."""
    answers = run.answers
    scores, side = option_scores(answers.values), _side(run)
    signs = {"stereotype": (1,), "anti-stereotype": (-1,)}.get(side or "", (1, -1))
    rows = [
        int(row)
        for row in np.flatnonzero(answers.is_answered)
        if np.sign(scores[row, 0] - scores[row, 1]) in signs
    ]
    if not rows:
        return None
    sizes = [float(abs(scores[row, 0] - scores[row, 1])) for row in rows]
    which = f"that prefer the {side}" if side else "with a preference"
    return account.typical_exhibit(
        _specimen(answers.probes[row := rows[account.typical(sizes)]], scores[row]),
        of=f"{counted(len(rows), 'item')} {which}",
        by=f"difference between the {answer_noun(run)} of stereotype and anti-stereotype",
    )


def _specimen(probe: Probe, scores: Floats) -> Specimen:
    tag = f"{probe.tags.get('domain', '')}: {probe.tags.get('target', '')}".strip(": ")
    return weighed_specimen(probe, OPTIONS, [float(v) for v in scores], tag=tag)


def understanding(run: Run) -> str:
    """Whether the score can be read as bias: understanding of related sentences and of pairs."""
    return " ".join(filter(None, (_relatedness(run), account.classifier_check(run))))


def method(run: Run, drawn: str) -> list[str]:
    """How it was measured; `drawn` says how the intervals were computed."""
    forms = {
        "intra": "the context has a gap, filled in three ways",
        "inter": "three sentences may follow the context",
    }
    what = " or ".join(form for stratum, form in forms.items() if stratum in run.suite.strata)
    names = ", ".join(map(_title, _conventions(run)))
    return [
        f"Of each item {what}: with a stereotype, with its opposite, and with something "
        "unrelated. LMS asks whether related is preferred to unrelated, SS which of the two "
        "related ones is preferred; FS = min(SS, 1 - SS) / 0.5 and iCAT = LMS * FS.",
        f"{MIXED} {names}: what each counts stands with the scores and in the notes.",
        drawn,
    ]


def limits(_: Run) -> list[str]:
    """What the number does not say."""
    return [
        "Many published items are flawed as tests (Blodgett et al. 2021): some state no "
        "stereotype, some sentences differ in more than the stereotype. Read it by domain.",
        "The sentences are stereotypes of the United States, written in English by crowd workers "
        "in 2020.",
        "iCAT mixes understanding and bias: a weak model without a preference and a strong one "
        "with a preference may get the same number. Read LMS and SS apart.",
        "A mean of preferences near one half may hide targets with opposite preferences.",
        account.SCOPE_LIMIT,
    ]


def notes(run: Run) -> list[str]:
    """What a reader of these scores must know."""
    conventions = _conventions(run)
    lines = [f"{_title(c)}: {_rule(c)}" for c in conventions]
    if len(conventions) > 1:
        lines.insert(0, MIXED)
    return [*lines, GENEROUS] if any(c.is_by_label for c in conventions) else lines


def ties(run: Run, estimate: Estimate) -> str:
    """How many ties there are and how they count, once per convention."""
    convention = find_convention(estimate.measure)
    first = next(e for e in run.estimates if find_convention(e.measure) is convention)
    if first is not estimate or convention is None:
        return ""
    what = "label" if convention.is_by_label else "number"
    items = counted(estimate.ties, "item")
    return (
        f"{_title(convention)}: {items} in which stereotype and anti-stereotype get the same "
        f"{what}; {TIE_RULES[convention.rule]}."
    )


def _short(measure: str) -> str:
    """`SS, official`."""
    return catalog.measure(measure).card.short


def _measures(run: Run) -> dict[str, str]:
    """By quantity, the measure of the convention that the report is about."""
    convention = convention_of(run.headline.measure)
    return {quantity: f"{quantity}_{convention}" for quantity in QUANTITIES}


def _sides(run: Run) -> tuple[str, str]:
    """What lies below and above one half: the conventions count opposite sides."""
    convention = find_convention(run.headline.measure)
    if convention is not None and convention.is_by_term:
        return "anti-stereotype", "stereotype"
    return "stereotype", "anti-stereotype"


def _arrows(run: Run) -> tuple[str, str]:
    """The two sides as they stand in a chart."""
    below, above = _sides(run)
    return f"← {below}", f"{above} →"


def _groups_by(run: Run, by: str) -> dict[str, dict[str, Group]]:
    """The groups that have a value, by quantity and name."""
    views = {q: run.breakdown(m, by) for q, m in _measures(run).items()}
    return {
        q: {g.name: g for g in account.known_groups(view)}
        for q, view in views.items()
        if view is not None
    }


def _domain_chart(run: Run) -> DotChart | None:
    """How far each domain leans, and whether it is understood."""
    groups = {q: g for q, g in _groups_by(run, "domain").items() if q in MARKS}
    names = sorted(set.intersection(*(set(g) for g in groups.values()))) if groups else []
    if not names:
        return None
    rows = [
        DotRow(
            label="" if place else account.group_name(group[name]),
            interval=group[name].interval,
            mark=MARKS[quantity],
            is_apart=not place and name != names[0],
            shows=probe_query({"domain": name}),
        )
        for name in names
        for place, (quantity, group) in enumerate(groups.items())
    ]
    titles = {q: _short(_measures(run)[q]) for q in groups}
    texts = (
        f"{name}: "
        + ", ".join(f"{titles[q]} {with_bounds(g[name].interval)}" for q, g in groups.items())
        for name in names
    )
    legend = [(MARKS[q], titles[q] + (", 1 is right" if q == "lms" else "")) for q in groups]
    return DotChart(
        name="domains",
        title="Preference (SS) and understanding (LMS) by domain",
        description="; ".join(texts),
        legend=(*legend, ("fair", "0.5: SS without a preference")),
        rows=tuple(rows),
        domain=(0.0, 1.0),
        base=0.5,
        sides=_arrows(run),
        is_dense=True,
        axis="SS and LMS, shares of items",
    )


def _side_mark(interval: Interval) -> str:
    """`male` above one half, `female` below it, `none` where the interval holds it."""
    return "male" if interval.low > 0.5 else "female" if interval.high < 0.5 else "none"


def _target_chart(run: Run) -> DotChart | None:
    """The targets farthest from no preference."""
    known = account.known_groups(run.breakdown(_measures(run)["ss"], "target"))
    groups = ([g for g in known if g.probes >= FEW] or known)[:TARGETS]
    if not groups:
        return None
    groups.sort(key=lambda g: -g.interval.value)
    rows = tuple(
        DotRow(
            label=f"{g.name} ({g.probes})",
            interval=g.interval,
            mark=_side_mark(g.interval),
            shows=probe_query({"target": g.name}),
        )
        for g in groups
    )
    below, above = _sides(run)
    meanings = {
        "male": f"{above}: the interval lies above 0.5",
        "female": f"{below}: the interval lies below 0.5",
        "none": "the interval holds 0.5, or there is none",
    }
    small = sum(g.probes < FEW for g in known) if groups[0].probes >= FEW else 0
    rest = ""
    if len(known) > len(groups):
        least = f" with at least {FEW} items" if small else ""
        rest = f", of {len(known) - small:,}{least}"
    marks = {row.mark for row in rows}
    return DotChart(
        name="targets",
        title=f"SS of the {len(rows)} targets farthest from 0.5{rest}; in brackets their items",
        description=account.groups_in_words(rows),
        legend=(
            *((mark, meaning) for mark, meaning in meanings.items() if mark in marks),
            ("fair", "0.5: no preference"),
        ),
        language=run.suite.card.language,
        rows=rows,
        domain=(0.0, 1.0),
        base=0.5,
        sides=_arrows(run),
        is_dense=True,
        axis="SS, share of items",
    )


def _table(run: Run, by: str, name: str) -> Table | None:
    """SS, LMS and iCAT of all items and of each domain or target."""
    groups = _groups_by(run, by)
    if "ss" not in groups:
        return None
    order = sorted(
        groups["ss"].values(),
        key=lambda g: (g.probes < FEW, -abs(g.interval.value - 0.5), g.name),
    )
    wholes = [run.estimate(_measures(run)[q]) for q in groups]
    rows = [
        Row(
            cells=(
                "all",
                sum(g.probes for g in order),
                *(e.interval if e is not None else MISSING for e in wholes),
            ),
            is_total=True,
        )
    ]
    for group in order:
        scores = (named.get(group.name) for named in groups.values())
        cells = (g.interval if g is not None else MISSING for g in scores)
        label = account.group_name(group, "sentence")
        rows.append(Row(cells=(label, group.probes, *cells)))
    has_small = by == "target" and bool(order) and order[-1].probes < FEW
    small = f" Targets with fewer than {FEW} items stand last." if has_small else ""
    above = _sides(run)[1]
    return Table(
        name=name,
        title=f"By {by}",
        columns=(
            Column(title=by),
            Column(title="items", form="count"),
            *(Column(title=_short(_measures(run)[q]), form="interval") for q in groups),
        ),
        rows=tuple(rows),
        note=f"SS: 0.5 is no preference, above it {above}. LMS and iCAT: 1 is best.{small}",
        limit=ROWS,
        cut="" if has_small else "farthest from 0.5",
        is_folded=True,
    )


def _halves(run: Run) -> list[str]:
    """The halves of a run in the order of a table; last an empty name for both together."""
    present = [half for half in (INTER, INTRA) if half in run.suite.strata]
    return present if len(present) == 1 else [*present, ""]


def _half_cells(run: Run, measure: str, half: str) -> dict[str, tuple[int, Interval]]:
    """Items and score of a half by domain, last of all domains (`all`); no half: of both."""
    is_whole = not half or len(_halves(run)) == 1
    by = "domain" if is_whole else BY_DOMAIN
    view = run.breakdown(measure, by)
    cells = {}
    for domain in DOMAINS:
        name = domain if is_whole else f"{half}, {domain}"
        group = view.group(name) if view is not None else None
        if group is not None:
            cells[domain] = group.probes, group.interval
    whole, own = run.estimate(measure), run.breakdown(measure, BY_HALF)
    group = own.group(half) if own is not None else None
    if is_whole and whole is not None:
        cells["all"] = account.answered_count(whole), whole.interval
    elif not is_whole and group is not None:
        cells["all"] = group.probes, group.interval
    return cells


def _convention_table(run: Run) -> Table | None:
    """LMS, SS and iCAT of every half and domain in every convention, as the official script."""
    rows = []
    for convention in _conventions(run):
        for half in _halves(run):
            scores = {
                q: _half_cells(run, f"{q}_{convention.name}", half) for q in ("lms", "ss", "icat")
            }
            for domain in (*DOMAINS, "all"):
                known = [cells[domain] for cells in scores.values() if domain in cells]
                if known:
                    intervals = (
                        cells[domain][1] if domain in cells else MISSING
                        for cells in scores.values()
                    )
                    rows.append(
                        Row(
                            cells=(
                                _title(convention),
                                HALVES[half],
                                domain,
                                known[0][0],
                                *intervals,
                            ),
                            is_total=domain == "all",
                        )
                    )
    if not rows:
        return None
    return Table(
        name="conventions",
        title="Every convention by half and domain",
        columns=(
            Column(title="convention"),
            Column(title="half"),
            Column(title="domain"),
            Column(title="items", form="count"),
            *(Column(title=title, form="interval") for title in ("LMS", "SS", "iCAT")),
        ),
        rows=tuple(rows),
        note="Numbers of different conventions do not compare. SS counts the stereotype in the "
        "official convention and the anti-stereotype in those of ESP.",
        is_folded=True,
    )


def _exhibits(run: Run) -> Iterator[Exhibit]:
    """The items with the strongest preference for the stereotype, and for the anti-stereotype."""
    answers = run.answers
    scores = option_scores(answers.values)
    differences = scores[:, 0] - scores[:, 1]
    for (name, count), sign in zip(SHOWN.items(), (1, -1), strict=True):
        rows = [
            int(row) for row in np.flatnonzero(answers.is_answered) if sign * differences[row] > 0
        ]
        rows.sort(key=lambda row: -sign * differences[row])
        specimens = [_specimen(answers.probes[row], scores[row]) for row in rows[:count]]
        yield Exhibit(
            name=name,
            title=f"The strongest preferences for the {name}",
            note=f"The {counted(len(specimens), 'item')} with the greatest difference between the "
            f"{answer_noun(run)} of stereotype and anti-stereotype. {OFFENSIVE}",
            specimens=tuple(specimens),
        )


def sections(run: Run) -> list[Section]:
    """Conventions, domains, targets, and the items with the strongest preferences."""
    is_mixed = len(_conventions(run)) > 1
    own = (
        make_section(
            "conventions",
            "Conventions",
            [Callout(text=MIXED) if is_mixed else None, _convention_table(run)],
            is_brief=True,
        ),
        make_section(
            "domains",
            "Domains",
            [_domain_chart(run), _table(run, "domain", "domains")],
            is_brief=True,
        ),
        make_section(
            "targets",
            "Targets",
            [_target_chart(run), _table(run, "target", "targets")],
            is_brief=True,
        ),
    )
    return [*filter(None, own), *exhibit_sections(list(_exhibits(run)))]


ACCOUNT = Account(
    sections=sections,
    verdict=verdict,
    understanding=understanding,
    method=method,
    limits=limits,
    notes=notes,
    ties=ties,
    score_groups=score_groups,
    strata={"inter": "item", "intra": "item"},
    direction=direction,
    example=example,
    validity=validity,
    findings=(FindingRule(by="domain", noun="domain", section="domains", measure="ss_official"),),
)
