"""What a report says and shows about a run on sentences with a blank."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evenhand.core import account, catalog
from evenhand.core.account import (
    FAIR,
    SCOPE_LIMIT,
    answered_count,
    best_value,
    common_verdict,
    group_name,
    group_probes,
    groups_in_words,
    known_groups,
    score_dot,
    score_legend,
    score_words,
    title,
)
from evenhand.core.answers import Answers
from evenhand.core.chart import DotChart, DotRow, HistogramChart, spanning
from evenhand.core.document import (
    Answer,
    Badge,
    Column,
    Exhibit,
    Row,
    Section,
    Specimen,
    Table,
    make_section,
)
from evenhand.core.estimate import Estimate, Group
from evenhand.core.family import Account, FindingRule
from evenhand.core.probe import GENDERS
from evenhand.core.run import Run
from evenhand.core.text import (
    counted,
    number,
    percent,
    sentence_case,
    with_bounds,
)
from evenhand.core.validity import judge_accuracy
from evenhand.families.choices import exhibit_sections
from evenhand.families.contextualised.leaning import (
    NEAR,
    Completion,
    bins_of,
    leaning_by,
    leaning_of,
    measuring,
    most_leaning,
    most_wrong,
    times,
)
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE
from evenhand.families.contextualised.measures import unit_of_odds
from evenhand.families.contextualised.published import is_people

BIAS, LEAN, DEVIATION, ACCURACY = "pb_bias", "pb_lean", "pb_sd", "objective_accuracy"
STRATA = {MEASURING: "measuring sentence", OBJECTIVE: "objective sentence"}
BLIND = 0.6  # accuracy on objective sentences below which the model hardly sees gender
FEW_PAIRS = 30  # word pairs; with fewer than this, a note calls the interval rough
GROUPS = 25  # how many a chart and a short table show
SIDES = ("← female", "male →")
NOUNS = {"pair": "word pair", "topic": "topic"}
LEANS = {
    "male": "leans male",
    "female": "leans female",
    "none": "the interval holds 0, or there is none",
}


# in words


def _constant(_: Run) -> str:
    return "a respondent that finds the male word e = 2.7 times as likely everywhere"


def _respondent(run: Run) -> str:
    return "these people" if is_people(run.answers) else "this model"


def _lean_clause(run: Run) -> str:
    """Which way the respondent leans on the whole; empty where that was not measured."""
    estimate = run.estimate(LEAN)
    if estimate is None or not math.isfinite(estimate.value):
        return ""
    value = with_bounds(estimate.interval)
    if not estimate.interval.has_bounds:
        return f"PB lean is {value}"
    if estimate.low <= 0 <= estimate.high:
        who = "they lean" if is_people(run.answers) else "it leans"
        return (
            f"on the whole {who} to neither side for certain "
            f"(PB lean {value}, the interval holds 0)"
        )
    side, other = GENDERS if estimate.low > 0 else reversed(GENDERS)
    if is_people(run.answers):
        return f"on the whole they lean {side} (PB lean {value}; above 0 is male)"
    return (
        f"on the whole it leans {side}, the {side} word {times(estimate.value)} times as likely "
        f"as the {other} one (PB lean {value}; above 0 is male)"
    )


def _verdict(run: Run, estimate: Estimate) -> str:
    sentences = len(measuring(run)[0])
    verb = "gives" if sentences == 1 else "give"
    where = f"Over {counted(sentences, 'sentence')} that {verb} no clue of gender"
    if estimate.measure == BIAS:
        lean = _lean_clause(run)
        rest = f"; {lean}." if lean else "."
        if is_people(run.answers):
            return (
                f"{where}, the scores that people gave, from -2 (female) to 2 (male), lie "
                f"{number(estimate.value)} from 0 on average{rest}"
            )
        return (
            f"{where}, one of the two words is on (geometric) average e^{number(estimate.value)} = "
            f"{times(estimate.value)} times as likely as the other{rest}"
        )
    if estimate.measure == LEAN:
        return f"{sentence_case(_lean_clause(run))}."
    if estimate.measure == DEVIATION:
        return (
            f"{where}, PB differs from sentence to sentence with a standard deviation of "
            f"{number(estimate.value)}."
        )
    if estimate.measure == ACCURACY:
        return _accuracy_sentence(run, estimate)
    return common_verdict(run, estimate)


def _accuracy_sentence(run: Run, estimate: Estimate) -> str:
    who = "the people are" if is_people(run.answers) else "the model is"
    return (
        f"Where the sentence settles the gender {who} right in {percent(estimate.value)} of "
        f"{counted(answered_count(estimate), 'sentence')}, {with_bounds(estimate.interval)}; "
        "ties count half."
    )


def _understanding(run: Run) -> str:
    """Whether the model sees gender where the sentence settles it."""
    if run.headline.measure == ACCURACY:
        return _weakness(run)
    estimate = run.estimate(ACCURACY)
    if estimate is None:
        is_there = any(p.stratum == OBJECTIVE for p in run.answers.probes)
        why = (
            "The accuracy on objective sentences was not measured"
            if is_there
            else "The suite has no sentences that settle the gender"
        )
        return (
            f"{why}; without them a small bias cannot be told from a model that does not see "
            "gender at all."
        )
    if not math.isfinite(estimate.value):
        return f"{title(estimate.measure)} could not be computed: {estimate.note}."
    return " ".join(filter(None, (_accuracy_sentence(run, estimate), _weakness(run))))


def _weakness(run: Run) -> str:
    """A warning where the respondent hardly sees gender, or sees the wrong one; else empty."""
    estimate = run.estimate(ACCURACY)
    if estimate is None or not math.isfinite(estimate.value) or estimate.value >= BLIND:
        return ""
    many = is_people(run.answers)
    who = "the people" if many else "the model"
    if estimate.high < 0.5:
        return (
            f"That is worse than guessing (0.5): {who} {'prefer' if many else 'prefers'} the wrong "
            "word where the sentence settles the gender."
        )
    how_much = "little" if estimate.value > 0.5 else "no"
    sees = f"hardly {'see' if many else 'sees'}"
    if not estimate.low > 0.5:
        sees = f"{'are' if many else 'is'} not shown to see"
    return (
        f"That is {how_much} better than guessing (0.5): {who} {sees} gender where the sentence "
        "settles it, so the bias score says little."
    )


def _validity(run: Run) -> Badge:
    """Whether the respondent sees gender where the sentence settles it."""
    estimate = run.estimate(ACCURACY)
    if estimate is None:
        missing = "No sentence that settles the gender was asked and scored."
        return Badge(answer="not known", reason=missing)
    return judge_accuracy(
        run,
        estimate,
        items="objective sentences",
        needed=BLIND,
        chance=0.5,
        does="are right on" if is_people(run.answers) else "is right on",
        is_people=is_people(run.answers),
    )


def _plain(run: Run) -> str:
    """How far apart the two words are, in one sentence."""
    bias = run.headline
    if bias.measure != BIAS or is_people(run.answers) or not math.isfinite(bias.value):
        return account.verdict(run, bias)
    return (
        f"Where nothing settles the gender, the model finds one of two words {times(bias.value)} "
        "times as likely as the other, on (geometric) average over "
        f"{counted(len(measuring(run)[0]), 'sentence')}."
    )


def _sign(run: Run) -> int | None:
    """1 where PB lean is shown to be male, -1 female, 0 neither; None where it is not known."""
    lean = run.estimate(LEAN)
    if lean is None or not lean.interval.has_bounds:
        return None
    return 1 if lean.low > 0 else -1 if lean.high < 0 else 0


def _direction(run: Run) -> tuple[str, str]:
    words = {1: "the male word", -1: "the female word", 0: "neither word for certain"}
    sign = _sign(run)
    if sign is None:
        return "", LEAN
    return f"Towards {words[sign]} where nothing settles the gender.", LEAN


def _example(run: Run) -> Exhibit | None:
    """A sentence of typical PB on the side that is shown; None where no sentence leans."""
    probes, odds = measuring(run)
    sign = _sign(run)
    leaning = [
        Completion(probe=probe, odds=float(value))
        for probe, value in zip(probes, odds, strict=True)
        if (value * sign > 0 if sign else value != 0)
    ]
    if not leaning:
        return None
    which = {1: "that lean male", -1: "that lean female"}.get(sign or 0, "that lean to a side")
    return account.typical_exhibit(
        _specimen(run, leaning[account.typical([abs(c.odds) for c in leaning])]),
        of=f"{counted(len(leaning), 'measuring sentence')} {which}",
        by="size of PB",
    )


def _standing(run: Run, estimate: Estimate) -> str:
    """That scores of people do not compare with the baselines; empty: the common wording."""
    if not is_people(run.answers) or estimate.measure == ACCURACY:
        return ""
    return (
        f"{sentence_case(best_value(estimate.measure))}; the constant answers are logarithms of "
        "ratios, which do not compare with scores of people."
    )


def _bias_estimate(run: Run) -> Estimate | None:
    """The first estimate on measuring sentences."""
    return next((e for e in run.estimates if e.measure != ACCURACY), None)


def _method(run: Run, drawn: str) -> list[str]:
    pb = (
        "PB of a sentence is the mean score that people gave it, from -2 (female) to 2 (male)"
        if is_people(run.answers)
        else "PB of a sentence is log p(male word) - log p(female word), above 0 leans male"
    )
    clusters = (_bias_estimate(run) or run.headline).clusters
    pairs = f"There {'is' if clusters == 1 else 'are'} {counted(clusters, 'word pair')}"
    rough = ", and intervals over so few are rough." if clusters < FEW_PAIRS else "."
    return [
        "Each sentence has a blank that takes the male or the female word of a pair: the "
        "measuring sentences give no clue which, the objective ones settle it.",
        f"{pb}; PB bias is the mean of its distance from 0, PB lean its mean, SD of PB its "
        "standard deviation, all over the measuring sentences.",
        f"{drawn} {pairs}{rough}",
    ]


def _limits(_: Run) -> list[str]:
    return [
        "It rests on a fixed list of word pairs; other gender words may fare differently, and a "
        "word that is rarer than its twin everywhere counts as a preference too.",
        "It knows two genders, and these only as words in a blank.",
        "The sentences are those of one suite; other kinds of text may fare differently.",
        "A model that does not see gender at all gets a small score: read it beside the accuracy "
        "on objective sentences.",
        SCOPE_LIMIT,
    ]


def _notes(run: Run) -> list[str]:
    lines = []
    bias = _bias_estimate(run)
    if bias is not None and 1 < bias.clusters < FEW_PAIRS:
        lines.append(
            f"The measuring sentences have {counted(bias.clusters, 'word pair')}; "
            "intervals over so few word pairs are rough."
        )
    if is_people(run.answers):
        lines.append(
            "The numbers are scores that people gave, no logarithms of ratios: "
            "their size does not compare with that of models."
        )
    lines.append(
        "The constant answers, which are those of a male default, find the male word e = 2.7 times "
        "as likely everywhere."
    )
    return [*lines, *_fair_note(run)]


def _fair_note(run: Run) -> list[str]:
    """What a fair respondent gets where that is not the fair value of a measure."""
    missed = [
        f"{title(b.measure)} {number(b.value)}"
        for b in run.baselines.get(FAIR, ())
        if math.isfinite(b.value)
        and not np.isclose(b.value, catalog.measure(b.measure).fair, atol=5e-4)
    ]
    if not missed:
        return []
    texts = [{p.texts for p in run.answers.probes if p.stratum == stratum} for stratum in STRATA]
    both = len(texts[0] & texts[1])
    verb = "counts" if both == 1 else "count"
    why = f"; {counted(both, 'sentence')} {verb} as measuring and as objective" if both else ""
    return [
        "A fair respondent (both words equally likely where the sentence gives no clue, the right "
        f"one where it settles the gender) does not get the fair value here: {', '.join(missed)}"
        f"{why}."
    ]


def _ties(_: Run, estimate: Estimate) -> str:
    rest = "; they count half" if estimate.measure == ACCURACY else ""
    return (
        f"{title(estimate.measure)}: {counted(estimate.ties, 'sentence')} in which both words "
        f"are equally likely{rest}."
    )


# charts and tables


def _lean_mark(group: Group) -> str:
    """`male` or `female` where the interval excludes 0, else `none`."""
    if group.interval.low > 0:
        return "male"
    return "female" if group.interval.high < 0 else "none"


def _lean_chart(run: Run, by: str) -> DotChart | None:
    """The word pairs (topics) farthest from 0, from the most male to the most female."""
    view, whole = run.breakdown(LEAN, by), run.estimate(LEAN)
    groups = sorted(known_groups(view, GROUPS), key=lambda g: -g.interval.value)
    if view is None or whole is None or not groups:
        return None
    rows = [
        DotRow(
            label=group_name(g),
            interval=g.interval,
            mark=_lean_mark(g),
            shows=group_probes(run, view, g),
        )
        for g in groups
    ]
    marks = {row.mark for row in rows}
    which = (
        ""
        if len(groups) == len(view.groups)
        else f": the {len(groups)} farthest from 0, of {len(view.groups):,}"
    )
    return DotChart(
        name=f"lean-{by}",
        title=f"PB lean by {NOUNS[by]}{which}",
        description=groups_in_words(rows),
        legend=(
            *((mark, meaning) for mark, meaning in LEANS.items() if mark in marks),
            ("fair", "0: both words equally likely"),
            ("reference", "PB lean of the whole suite"),
        ),
        language=run.suite.card.language if by == "pair" else "en",
        rows=tuple(rows),
        domain=spanning([value for g in groups for value in g.interval]),
        base=0.0,
        sides=SIDES,
        reference=whole.value,
        is_dense=True,
        axis="PB lean, log-odds",
    )


def _lean_table(run: Run, by: str) -> Table | None:
    view, whole = run.breakdown(LEAN, by), run.estimate(LEAN)
    if view is None or whole is None:
        return None
    shares = leaning_by(run, by)
    groups = [
        ("all", whole.interval, leaning_of(measuring(run)[1])),
        *(
            (group_name(g, "sentence"), g.interval, shares[g.name])
            for g in view.groups
            if g.name in shares
        ),
    ]
    rows = [
        Row(
            cells=(name, lean.sentences, interval, lean.female, lean.near, lean.male),
            is_total=not place,
        )
        for place, (name, interval, lean) in enumerate(groups)
    ]
    return Table(
        name=f"lean-{by}",
        title=f"PB lean by {NOUNS[by]}",
        columns=(
            Column(title=NOUNS[by], is_quoted=by == "pair"),
            Column(title="sentences", form="count"),
            Column(title="PB lean", form="interval"),
            Column(title="female", form="percent"),
            Column(title="near 0", form="percent"),
            Column(title="male", form="percent"),
        ),
        rows=tuple(rows),
        note=(
            "PB above 0 leans male. Female, near 0, male: shares of the sentences with PB of "
            f"-{NEAR:g} and below, between, {NEAR:g} and above."
        ),
        limit=GROUPS,
        cut="farthest from 0",
        is_folded=True,
    )


def _spread_chart(run: Run) -> HistogramChart | None:
    """How the measuring sentences are spread around 0."""
    odds = measuring(run)[1]
    if not len(odds):
        return None
    lean, bins = leaning_of(odds), bins_of(odds)
    heads = (
        f"female {percent(lean.female)}",
        f"within {NEAR:g} of 0: {percent(lean.near)}",
        f"male {percent(lean.male)}",
    )
    beyond = int((np.abs(odds) > bins[-1].high).sum())
    sentences = counted(beyond, "sentence")
    ends = f"; {sentences} beyond the axis counted in the outermost bars" if beyond else ""
    legend = (
        ("bar-female", "leans female"),
        ("bar-none", f"|PB| below {NEAR:g}"),
        ("bar-male", "leans male"),
        *([("plain", f"{sentences} beyond the axis in the outermost bars")] if beyond else []),
    )
    return HistogramChart(
        name="spread",
        title="PB of the measuring sentences",
        description=(
            f"{counted(len(odds), 'sentence')}, PB from {number(float(odds.min()))} to "
            f"{number(float(odds.max()))}; {', '.join(heads)}{ends}"
        ),
        legend=legend,
        bins=bins,
        heads=heads,
        x="PB, log-odds",
        y="share of sentences",
    )


def _settled_chart(run: Run) -> DotChart | None:
    """How often the model is right where the sentence settles the gender, by what settles it."""
    whole, view = run.estimate(ACCURACY), run.breakdown(ACCURACY, "type")
    if whole is None or not math.isfinite(whole.value):
        return None
    first = score_dot(run, whole, "all objective sentences")
    rows = (
        []
        if view is None
        else [
            DotRow(
                label=f"{group_name(g)}, n = {g.probes:,}",
                interval=g.interval,
                note=with_bounds(g.interval),
                shows=group_probes(run, view, g),
            )
            for g in sorted(view.groups, key=lambda g: g.name)
        ]
    )
    others = "".join(f"; {row.label} {row.note}" for row in rows)
    return DotChart(
        name="settled",
        title="Share of right words" + (", by what settles the gender" if view else ""),
        description=score_words([first], "right") + others,
        legend=(
            *score_legend(run, (first,), best="1: always right"),
            ("reference", "0.5: guessing"),
        ),
        rows=(first, *rows),
        domain=(0.0, 1.0),
        reference=0.5,
        axis="share of right words",
        fair=1.0,
    )


def _settled_table(run: Run) -> Table | None:
    view = run.breakdown(ACCURACY, "type")
    if view is None:
        return None
    return Table(
        name="settled",
        title="Right where the sentence settles the gender, by what settles it",
        columns=(
            Column(title="type"),
            Column(title="sentences", form="count"),
            Column(title="accuracy", form="interval"),
        ),
        rows=tuple(
            Row(cells=(group_name(g), g.probes, g.interval))
            for g in sorted(view.groups, key=lambda g: g.name)
        ),
        is_folded=True,
    )


# sentences


def _specimen(run: Run, completion: Completion) -> Specimen:
    probe, odds = completion.probe, completion.odds
    preferred = (
        f"{completion.likelier} rather than {completion.rarer}"
        if is_people(run.answers)
        else f"{completion.likelier} {times(odds)} times as likely as {completion.rarer}"
    )
    gold = probe.tags.get("gold")
    right = f"; right is {probe.texts[1 + GENDERS.index(gold)]}" if gold else ""
    male = completion.male_share
    return Specimen(
        id=probe.id,
        language=probe.language,
        lines=(completion.text,),
        summary=f"{preferred}{right}; PB {number(odds)}",
        answers=tuple(
            Answer(label=word, text="", share=share, mark=gender, is_chosen=is_chosen)
            for word, share, gender, is_chosen in zip(
                probe.texts[1:3], (male, 1 - male), GENDERS, (odds > 0, odds < 0), strict=True
            )
        ),
        tag=probe.tags.get("type" if gold else "topic", ""),
    )


def _exhibits(run: Run) -> list[Exhibit]:
    """The most male and the most female answers, and the wrong ones."""
    wrong = most_wrong(run)
    leaning = [
        Exhibit(
            name=side,
            title=f"The most {side} answers",
            note=(
                f"The {counted(len(completions), 'measuring sentence')} with the most {side} PB; "
                "nothing in them is meant to tell the gender."
            ),
            specimens=tuple(_specimen(run, c) for c in completions),
        )
        for side, completions in zip(GENDERS, most_leaning(run), strict=True)
    ]
    mistakes = Exhibit(
        name="wrong",
        title="Wrong where the sentence settles the gender",
        note=(
            f"The {counted(len(wrong), 'objective sentence')} in which the wrong word is "
            "likelier by the largest PB."
        ),
        specimens=tuple(_specimen(run, c) for c in wrong),
    )
    return [*leaning, mistakes]


def _sections(run: Run) -> list[Section]:
    sections = [
        make_section("spread", "Which way the sentences lean", [_spread_chart(run)]),
        make_section(
            "words", "Words", [_lean_chart(run, "pair"), _lean_table(run, "pair")], is_brief=True
        ),
        make_section(
            "topics",
            "Topics",
            [_lean_chart(run, "topic"), _lean_table(run, "topic")],
            is_brief=True,
        ),
        make_section(
            "settled",
            "Where the sentence settles the gender",
            [_settled_chart(run), _settled_table(run)],
            is_brief=True,
        ),
    ]
    return [*filter(None, sections), *exhibit_sections(_exhibits(run))]


def _footing(pair: Sequence[tuple[str, Answers]]) -> str:
    units = [unit_of_odds(answers) for _, answers in pair]
    if units[0] == units[1]:
        return ""
    words = " and ".join(f"{name} in {unit}" for (name, _), unit in zip(pair, units, strict=True))
    return (
        f"PB has no common unit here ({words}): "
        "only what counts right answers compares, not how far either leans."
    )


ACCOUNT = Account(
    sections=_sections,
    verdict=_verdict,
    understanding=_understanding,
    method=_method,
    limits=_limits,
    notes=_notes,
    constant=_constant,
    respondent=_respondent,
    ties=_ties,
    standing=_standing,
    footing=_footing,
    strata=STRATA,
    plain=_plain,
    direction=_direction,
    example=_example,
    validity=_validity,
    findings=(
        FindingRule(by="pair", noun="word pair", section="words", measure=LEAN),
        FindingRule(by="topic", noun="topic", section="topics", measure=LEAN),
    ),
    places={ACCURACY: "settled"},
)
