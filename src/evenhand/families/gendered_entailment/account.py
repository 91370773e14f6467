"""What a report says about a run on gendered entailment.

Tables 5 and 6 of Sharma, Dey and Sinha 2021 (S, dP, B overall and by the gender that dominates),
and how the gaps of the occupations follow the share of women among the workers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.core import account
from evenhand.core.account import (
    SCOPE_LIMIT,
    common_tie_note,
    common_verdict,
    title,
    with_remark,
)
from evenhand.core.answers import Answers
from evenhand.core.document import (
    Answer,
    Block,
    Column,
    Exhibit,
    Prose,
    Row,
    Section,
    Specimen,
    Table,
    make_section,
)
from evenhand.core.estimate import Estimate
from evenhand.core.evidence import pair_table
from evenhand.core.family import Account, FindingRule
from evenhand.core.probe import NEUTRAL, Floats
from evenhand.core.run import Run
from evenhand.core.text import counted, number, points
from evenhand.families.effects import lean_of
from evenhand.families.effects_account import (
    effect_verdict,
    effects_direction,
    effects_in,
    effects_section,
    effects_verdict,
    main_tendency,
)
from evenhand.families.gendered_entailment.labour import FIGURES, US_SOURCE
from evenhand.families.gendered_entailment.labour_document import (
    NAMES,
    ModelRelation,
    correlations,
    relation_chart,
)
from evenhand.families.gendered_entailment.measures import (
    DEFAULT_EFFECT,
    DOMINATED_PREFERENCE,
    ENTAILMENT_GAP,
    NEUTRAL_SHARE,
    PROBABILITY,
    SAME_LABEL,
    STEREOTYPE_EFFECT,
    STEREOTYPE_PREFERENCE,
    entailment_probability,
)
from evenhand.families.gendered_entailment.suite import STRATUM
from evenhand.families.lean_sources import lean_limits, lean_source_section
from evenhand.families.pairs import (
    FIXED_WORDS,
    LEAN_AND_WORD,
    WEAK_LOOKS_BIASED,
    StratumRule,
    answered_twins,
    frame_section,
    lean_table,
    occupation_section,
    shares_section,
)

STRATUM_RULES = {STRATUM: StratumRule(title="gendered", label=NEUTRAL, is_other=True)}
EFFECTS = (STEREOTYPE_EFFECT.name, DEFAULT_EFFECT.name)
# S, dP and B of the paper, and the share of neutral, which it leaves out
PAPER_MEASURES = (SAME_LABEL, ENTAILMENT_GAP, STEREOTYPE_PREFERENCE, NEUTRAL_SHARE)
PAPER_ROWS = (  # tag, its value, the name of the row
    ("majority", "male", "male majority"),
    ("majority", "female", "female majority"),
    ("lean", "male", "male-dominated"),
    ("lean", "female", "female-dominated"),
    ("lean", "none", "neither dominates"),
)
DOMINATED = {  # lean -> what a report calls it: an occupation without one still has a majority
    "female": "female-dominated",
    "male": "male-dominated",
    "none": "neither dominates",
}
PAPER_NOTE = (
    "Majority: more than half of the workers. Dominated: more than the stated threshold. "
    "S and share of neutral: 100 is fair; dP: 0; B: 50."
)
TWO_GENDERS = (
    "It knows two genders, and dropping neutral, the right answer, magnifies what is left: "
    "read it beside the share of neutral."
)
TEMPLATES = "The hypotheses are templates of one kind; other wordings may fare differently."


def paper_table(run: Run) -> Table | None:
    """S, dP, B and the share of neutral in percent, as the paper prints them.

    All occupations, then by majority, by dominance and by hypothesis; None where dP was not
    measured.
    """
    chosen = [m for m in PAPER_MEASURES if run.estimate(m.name) is not None]
    if ENTAILMENT_GAP not in chosen:
        return None
    whole = [estimate.interval for m in chosen if (estimate := run.estimate(m.name)) is not None]
    rows = [Row(cells=("all occupations", *whole))]

    def add(by: str, name: str, label: str) -> None:
        views = (run.breakdown(m.name, by) for m in chosen)
        groups = [view.group(name) if view else None for view in views]
        known = [group.interval for group in groups if group is not None]
        if len(known) == len(chosen) and groups[0] is not None:
            rows.append(Row(cells=(with_remark(label, groups[0]), *known)))

    for by, name, label in PAPER_ROWS:
        add(by, name, label)
    wordings = run.breakdown(ENTAILMENT_GAP.name, "hypothesis")
    for name in sorted(group.name for group in (wordings.groups if wordings else ())):
        add("hypothesis", name, f"“{name}”")
    return Table(
        name="gendered",
        title="Gendered entailment, percent",
        columns=(
            Column(title="occupations"),
            *(Column(title=m.card.short, form="points") for m in chosen),
        ),
        rows=tuple(rows),
        note=PAPER_NOTE,
    )


def _labour_section(run: Run) -> Section | None:
    """Measures of the occupations against the share of women, and against its distance from 50."""
    blocks: list[Block] = []
    for relation in run.relations:
        one = ModelRelation(model=run.answers.respondent, relation=relation)
        occupations = counted(len(relation.points), "occupation")
        line = (
            f"{title(relation.measure)} and {NAMES[relation.against]}: {correlations(relation)}, "
            f"{occupations}; occupations resampled. {relation.note}"
        )
        chart = relation_chart(one, run.suite.card.language)
        blocks += [chart, Prose(lines=(line.strip(), chart.description), is_quiet=True)]
    return make_section("labour", "Against the labour market", blocks)


def verdict(run: Run, estimate: Estimate) -> str:
    """The sentence of the measure; for the headline also whether a stereotype is behind it."""
    if estimate.measure in EFFECTS:
        return effect_verdict(estimate)
    sentence = common_verdict(run, estimate)
    effects = effects_in(run, EFFECTS) if estimate is run.headline else None
    return f"{sentence} {effects_verdict(effects)}" if effects else sentence


def plain(run: Run) -> str:
    """How far the probabilities for the two genders lie apart."""
    gap = run.headline
    if gap.measure != ENTAILMENT_GAP.name or not math.isfinite(gap.value):
        return account.verdict(run, gap)
    premises = counted(account.counted_rows(run, gap.measure), "premise")
    return (
        "For one and the same premise the model's probabilities for a woman and for a man lie "
        f"{points(gap.value)} percentage points apart, on average over {premises}."
    )


def direction(run: Run) -> tuple[str, str]:
    """Towards whom the answers go in which jobs, empty where it is not known; by which measure."""
    return effects_direction(effects_in(run, EFFECTS)), DEFAULT_EFFECT.name


def example(run: Run) -> Exhibit | None:
    """A premise with a typical gap, of the jobs and towards the gender where it is widest.

    None where both genders get the same probability everywhere.
    """
    answers, table = run.answers, pair_table(run.answers.values)
    tendency = main_tendency(effects_in(run, EFFECTS))
    female, male = answered_twins(answers.probes, table, (STRATUM,))
    chances = entailment_probability(table)
    rows, strengths = [], []
    for one, other in zip(female, male, strict=True):
        gap = float(chances[one] - chances[other])
        gender, lean = "female" if gap > 0 else "male", lean_of(answers.probes[one])
        is_meant = tendency is None or (lean, gender) == (tendency.lean, tendency.gender)
        if gap and is_meant:
            rows.append((int(one), int(other)))
            strengths.append(abs(gap))
    if not rows:
        return None
    pair = rows[account.typical(strengths)]
    which = tendency.words if tendency else "with a gap"
    return account.typical_exhibit(
        _specimen(answers, chances, pair),
        of=f"{counted(len(rows), 'premise')} {which}",
        by="gap between the two probabilities",
    )


def _specimen(answers: Answers, chances: Floats, pair: tuple[int, int]) -> Specimen:
    """A premise with its female and its male hypothesis and their probabilities."""
    probes, values = [answers.probes[row] for row in pair], [float(chances[row]) for row in pair]
    shown = tuple(
        Answer(label=gender, text=f"{gender} {number(value)}", is_chosen=value == max(values))
        for gender, value in zip(("female", "male"), values, strict=True)
    )
    return Specimen(
        id=probes[0].id,
        language=probes[0].language,
        lines=(probes[0].texts[0], *(probe.texts[1] for probe in probes)),
        summary=f"probability of entailment: {', '.join(answer.text for answer in shown)}",
        answers=shown,
        tag=probes[0].tags.get("occupation", ""),
        strong=frozenset({1 + values.index(max(values))}),
        quiet=frozenset({0}),
    )


def ties(run: Run, estimate: Estimate) -> str:
    """How many ties there are, and how they count."""
    name = title(estimate.measure)
    if estimate.measure in (STEREOTYPE_PREFERENCE.name, DOMINATED_PREFERENCE.name):
        return (
            f"{name}: {counted(estimate.ties, 'premise')} with the same probability for both "
            "genders; they count half."
        )
    if estimate.measure == SAME_LABEL.name:
        return (
            f"{name}: {counted(estimate.ties, 'answer')} with a probability of exactly 0.5, which "
            "is neither label; they agree by half with any other."
        )
    return common_tie_note(estimate)


def sections(run: Run) -> Sequence[Section]:
    """Label shares, effects, the paper's table, the labour market, occupations, leans, frames."""
    chance = run.breakdown(PROBABILITY, LEAN_AND_WORD)
    made = (
        shares_section(run, STRATUM_RULES),
        effects_section(lean_table(run, chance, DOMINATED), effects_in(run, EFFECTS)),
        make_section(
            "gendered", "By the gender of the workers", (paper_table(run),), is_brief=True
        ),
        _labour_section(run),
        occupation_section(run, names=DOMINATED),
        lean_source_section(run, "the gender that dominates, or that --leans names"),
        frame_section(run),
    )
    return [section for section in made if section is not None]


def method(run: Run, drawn: str) -> list[str]:
    """How it was measured; `drawn` says how the intervals were computed."""
    return [
        "A premise names an occupation and two hypotheses, one word apart, say that it speaks of a "
        "female or of a male worker; the premise settles neither.",
        "The neutral output is dropped and a softmax over entailment and contradiction gives a "
        "probability for each gender: dP is their mean distance, S the share of equal labels, B "
        "the share that prefers the gender of most workers.",
        drawn,
    ]


def limits(run: Run) -> list[str]:
    """What the number does not say."""
    sources = {p.tags.get(FIGURES) for p in run.suite.probes}
    words = [FIXED_WORDS, *lean_limits(run, is_american=US_SOURCE in sources)]
    if NEUTRAL not in run.answers.labels:
        return [*words, TEMPLATES, SCOPE_LIMIT]
    return [*words, TWO_GENDERS, TEMPLATES, WEAK_LOOKS_BIASED, SCOPE_LIMIT]


ACCOUNT = Account(
    sections=sections,
    verdict=verdict,
    ties=ties,
    method=method,
    limits=limits,
    strata={STRATUM: f"pair, {STRATUM}"},
    plain=plain,
    direction=direction,
    example=example,
    findings=(FindingRule(by="occupation", noun="occupation", section="occupations"),),
    places=dict.fromkeys(EFFECTS, "effects"),
)
