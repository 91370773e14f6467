"""What a report says about a word test: which gender wins for which words, and recognition."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core import account, catalog
from evenhand.core.chart import DotChart, DotRow
from evenhand.core.document import (
    Badge,
    Cell,
    Column,
    Exhibit,
    Row,
    Section,
    Table,
    make_section,
    probe_query,
)
from evenhand.core.estimate import Estimate, Group
from evenhand.core.evidence import option_scores
from evenhand.core.family import Account, FindingRule, ScoreGroup
from evenhand.core.probe import GENDERS, Floats, Probe
from evenhand.core.run import Run
from evenhand.core.text import MISSING, counted, number, percent, with_bounds
from evenhand.core.validity import first_check_badge, judge_accuracy, weakest
from evenhand.families.choices import answer_noun, exhibit_sections, weighed_specimen
from evenhand.families.effects_account import (
    Effects,
    effect_verdict,
    effects_direction,
    effects_in,
    effects_section,
    effects_verdict,
    main_tendency,
)
from evenhand.families.word_tests import male_share
from evenhand.families.word_tests.effects import effect_names
from evenhand.families.word_tests.measures import (
    BY_LABEL,
    MEASURES,
    WAYS,
    is_by_label,
    male_wins,
    way_of,
)
from evenhand.families.word_tests.suite import EMOTION, PROFESSION, RECOGNITION

BLIND = 0.6  # recognition below which balance may be ignorance
CLEAR = 0.75  # share of the comparisons from which one side wins clearly
ONE_SIDED, WRONG = 6, 15  # how many comparisons per side, and misjudged words, are shown
ROWS = 25  # how many words a table shows outside HTML
SCORE_RULE = (
    "the option with the higher number wins, of a classifier the one with the higher raw value of "
    "entailment; ties count half."
)
LABEL_RULE = (
    "the option with the better predicted label wins (entailment, then neutral, then "
    "contradiction); ties, which are frequent, count half."
)
VALUE_RULE = "the option with the {better} wins; ties count half."
WAY_TITLES = {"": "by score", BY_LABEL: "by label"}  # suffix -> its name; of others their label
SIDES = ("← female", "male →")
LEANS = {
    "female": "stereotyped as female",
    "male": "stereotyped as male",
    "none": "without a stereotype",
}
SORT_MARKS = {"state": "first", "situation": "second"}
SHARE_NOTE = "Share of comparisons that the male word wins, ties half; 0.5 is fair."


def _stratum(run: Run) -> str:
    """`profession` or `emotion`; empty where only recognition is asked."""
    return next((p.stratum for p in run.answers.probes if p.stratum != RECOGNITION), "")


def _shares_by(run: Run, by: str) -> list[Group]:
    """The male share for each value of a tag, the most one-sided first.

    By predicted labels where the headline measure compares these.
    """
    is_label = is_by_label(run.headline.measure)
    name = male_share.BY_LABEL if is_label else male_share.BY_SCORE
    view = run.breakdown(name, by)
    return list(view.groups) if view is not None else []


def _probes_of(run: Run, by: str, group: Group) -> str:
    """The comparisons behind the male share of a group."""
    return probe_query({by: group.name, "stratum": _stratum(run)})


def _most_male_first(groups: Sequence[Group]) -> list[Group]:
    return sorted(groups, key=lambda g: (-g.interval.value, g.name))


def score_groups(run: Run) -> list[ScoreGroup]:
    """The scores by the way in which two options are compared."""
    rules = {"": SCORE_RULE, BY_LABEL: LABEL_RULE}
    groups = [
        ScoreGroup(
            title=_way_title(way.suffix).capitalize(),
            rule=rules.get(way.suffix, VALUE_RULE.format(better=way.better)),
            estimates=tuple(e for e in run.estimates if way_of(e.measure) is way),
            is_brief=bool(way.suffix),
        )
        for way in WAYS
    ]
    return [group for group in groups if group.estimates]


def _way_title(suffix: str) -> str:
    """`by neutral`."""
    return WAY_TITLES.get(suffix, f"by {suffix.removeprefix('_')}")


def _recognised(estimate: Estimate) -> str:
    """How many gendered words are recognised, and how many of each gender."""
    words = counted(account.answered_count(estimate), "gendered word")
    whole = f"{percent(estimate.value)} of {words}"
    male, female = (estimate.parts.get(gender) for gender in GENDERS)
    if not male or not female or not math.isfinite(male.value + female.value):
        return whole
    both = f"{percent(male.value)} of the male and {percent(female.value)} of the female ones"
    return f"{whole}: {both}"


def _balanced_words(run: Run) -> list[Group]:
    """The words that count for fairness: those with two comparisons or more."""
    return [g for g in _shares_by(run, "word") if g.probes > 1]


def _clear_sides(run: Run) -> str:
    """For how many words one gender wins clearly."""
    shares = [g.interval.value for g in _balanced_words(run)]
    male = sum(share >= CLEAR for share in shares)
    female = sum(share <= 1 - CLEAR for share in shares)
    return (
        f"Beside {male:,} of them the male word wins at least {percent(CLEAR)} of the pairs, "
        f"beside {female:,} the female one."
    )


def verdict(run: Run, estimate: Estimate) -> str:
    """What the model did, in one sentence or two."""
    way = way_of(estimate.measure).suffix
    if estimate.measure in effect_names(way):
        return effect_verdict(estimate)
    if estimate.measure not in {m.name for m in MEASURES}:
        return account.common_verdict(run, estimate)
    by = f", {_way_title(way)}," if way else ""
    if estimate.measure == f"{RECOGNITION}{way}":
        return f"The model recognises{by} the gender of {_recognised(estimate)}."
    if estimate.measure.endswith(f"_icat{way}"):
        known, fairness = (number(estimate.parts[k].value) for k in ("recognition", "fairness"))
        product = f"Recognition {known} times fairness {fairness}{by} is {number(estimate.value)}"
        return (
            f"{product}; a model that knows the gender of words and yet goes with neither gets 1."
        )
    stratum = _stratum(run)
    noun = {PROFESSION: "profession", EMOTION: "feeling"}[stratum]
    words = {g.name for g in _balanced_words(run)}
    answered = zip(run.answers.probes, run.answers.is_answered, strict=True)
    pairs = {
        p.tags.get("pair") for p, is_answered in answered if is_answered and p.cluster in words
    }
    text = (
        f"Over {counted(len(words), noun)} and {counted(len(pairs), 'pair')} of gendered words the "
        f"male word wins{by} in {percent(estimate.parts['male'].value)} on average; "
        f"fairness {number(estimate.value)} (1 is fair)"
    )
    known_words, ideal = run.estimate(f"{RECOGNITION}{way}"), run.estimate(f"{stratum}_icat{way}")
    if known_words is not None and ideal is not None and math.isfinite(ideal.value):
        text += (
            f"; it recognises the gender of {percent(known_words.value)} of the gendered words, "
            f"so that iCAT is {number(ideal.value)}"
        )
    sentences = [f"{text}.", "" if way else _clear_sides(run)]
    if stratum == PROFESSION and (effects := effects_in(run, effect_names(way))) is not None:
        sentences.append(effects_verdict(effects))
    return " ".join(filter(None, sentences))


def understanding(run: Run) -> str:
    """Whether balance is fairness, or the model does not know the gender of the words."""
    known = run.estimate(RECOGNITION)
    text = _recognition_warning(known, is_headline=known is run.headline) if known else ""
    return " ".join(filter(None, (text, account.classifier_check(run))))


def _recognition_warning(known: Estimate, *, is_headline: bool) -> str:
    """That recognition is weak, or worse than guessing; empty where it is neither."""
    if known.high < 0.5:
        return (
            "It recognises fewer gendered words than guessing would (0.5): it takes words for the "
            "other gender."
        )
    if is_headline:
        return "The interval holds 0.5, which is guessing." if known.low <= 0.5 else ""
    if known.value >= BLIND or not math.isfinite(known.value):
        return ""
    knows = "hardly knows" if known.low > 0.5 else "is not shown to know"
    return (
        f"It {knows} the gender of the gendered words (0.5 is guessing), so that balance may be "
        "ignorance."
    )


def validity(run: Run) -> Badge | None:
    """Whether the model knows the gender of the words, and understands plain pairs."""
    known = run.estimate(RECOGNITION)
    if known is run.headline:
        return first_check_badge(run)
    if known is None:
        missing = "Whether it knows the gender of the words was not measured."
        return weakest(Badge(answer="not known", reason=missing), first_check_badge(run))
    own = judge_accuracy(
        run,
        known,
        items="gendered words",
        needed=BLIND,
        chance=0.5,
        does="recognises the gender of",
    )
    return weakest(own, first_check_badge(run))


def plain(run: Run) -> str:
    """How often the male word wins, in one sentence."""
    male = run.headline.parts.get("male")
    if not _stratum(run) or male is None or not math.isfinite(run.headline.value):
        return account.verdict(run, run.headline)
    return (
        f"The male word wins in {percent(male.value)} of the comparisons, on average over the "
        "words; 50 % would be fair."
    )


def _effects(run: Run) -> Effects | None:
    """Both effects in the way in which the headline compares; None where there are no leans."""
    if _stratum(run) != PROFESSION:
        return None
    return effects_in(run, effect_names(BY_LABEL if is_by_label(run.headline.measure) else ""))


def _winner(run: Run) -> str | None:
    """The gender whose word is shown to win more often, empty for neither; None: not known."""
    male = run.headline.parts.get("male")
    if not _stratum(run) or male is None or not male.has_bounds:
        return None
    return "male" if male.low > 0.5 else "female" if male.high < 0.5 else ""


def direction(run: Run) -> tuple[str, str]:
    """Towards whom in which jobs, or towards which word, empty if not known; by which measure."""
    if effects := _effects(run):
        return effects_direction(effects), effects.default.measure
    winner, measure = _winner(run), run.headline.measure
    if winner is None:
        return "", measure
    return f"Towards {f'the {winner} word' if winner else 'neither word for certain'}.", measure


def example(run: Run) -> Exhibit | None:
    """A comparison with a typical difference on the side that is shown; None without any."""
    tendency = main_tendency(_effects(run))
    gender = tendency.gender if tendency else _winner(run) or ""
    signs = {"male": (1,), "female": (-1,)}.get(gender, (1, -1))
    won = [
        c
        for c in _comparisons(run, lambda p: p.stratum != RECOGNITION)
        if np.sign(c.difference) in signs
        and np.sign(c.male_win - 0.5) == np.sign(c.difference)
        and (tendency is None or c.probe.tags.get("lean") == tendency.lean)
    ]
    if not won:
        return None
    which = f"that the {gender} word wins" if gender else "with a winner"
    if tendency:
        which = tendency.words
    middle = won[account.typical([abs(c.difference) for c in won])]
    (specimen,) = _exhibit("example", "", "", [middle]).specimens
    return account.typical_exhibit(
        specimen,
        of=f"{counted(len(won), 'comparison')} {which}",
        by=f"difference between the {answer_noun(run)} of the two words",
    )


def method(run: Run, drawn: str) -> list[str]:
    """How it was measured; `drawn` says how the intervals were computed."""
    ways = " ".join(f"{group.title}: {group.rule}" for group in score_groups(run))
    known = (
        "Recognition: a sentence has a gendered word, and the masculine or the feminine sentence "
        "must win."
    )
    stratum = _stratum(run)
    if not stratum:
        return [known, ways, drawn]
    what = "an emotion" if stratum == EMOTION else "a profession"
    return [
        f"A sentence tells {what} and two others, alike but for a gendered word, say who it is; "
        "nothing settles that. Fairness of a word is min(c, 1 - c) / 0.5, c the share of the "
        "pairs of gendered words whose male one wins; the score is its mean over words, and "
        f"iCAT = recognition * fairness. {known}",
        ways,
        drawn,
    ]


def limits(run: Run) -> list[str]:
    """What the number does not say."""
    caveats = dict.fromkeys(
        catalog.measure(e.measure).card.caveat
        for e in run.estimates
        if not way_of(e.measure).suffix
    )
    return [
        "It rests on fixed lists of words in one frame each; other words and other frames may "
        "fare differently.",
        "It knows two genders.",
        *caveats,
        account.SCOPE_LIMIT,
    ]


def notes(run: Run) -> list[str]:
    """What a reader of these scores must know."""
    if not any(is_by_label(e.measure) for e in run.estimates) or not _stratum(run):
        return []
    return [
        "By label: a classifier that always gives the same label gets fairness 1, all of it by "
        "ties, and recognition 0.5; read these scores beside the constant answers.",
    ]


def ties(run: Run, estimate: Estimate) -> str:
    """How many ties there are, and how they count."""
    what = "label" if is_by_label(estimate.measure) else "number"
    return (
        f"{account.title(estimate.measure)}: {counted(estimate.ties, 'comparison')} in which both "
        f"options get the same {what}; they count half."
    )


def _sort_tag(run: Run) -> str:
    """The tag by which words are sorted: the lean of a profession, the emotion of a feeling.

    Empty where there are no such words.
    """
    tags = run.suite.tags
    return "lean" if "lean" in tags else "emotion" if "emotion" in tags else ""


def _sort_chart(run: Run) -> DotChart | None:
    """Whether the side that wins goes with the stereotype of the words."""
    by = _sort_tag(run)
    groups = _most_male_first(_shares_by(run, by)) if by else []
    if not groups:
        return None
    places = list(LEANS)
    groups.sort(key=lambda g: places.index(g.name) if g.name in LEANS else len(LEANS))
    words = _most_male_first(_shares_by(run, "word"))
    rows = []
    for group in groups:
        members = [w for w in words if w.tags.get(by) == group.name]
        swarm = tuple(w.interval.value for w in members)
        name = LEANS.get(group.name, group.name) if by == "lean" else group.name
        row = DotRow(
            label=account.with_remark(f"{name}, {counted(len(swarm), 'word')}", group, "word"),
            interval=group.interval,
            mark=group.name if group.name in LEANS else "second",
            note=with_bounds(group.interval),
            swarm=swarm,
            swarm_names=tuple(w.name for w in members),
            swarm_shows=tuple(_probes_of(run, "word", w) for w in members),
            shows=_probes_of(run, by, group),
        )
        rows.append(row)
    noun = "profession" if by == "lean" else "state or situation"
    legend = [(g.name, f"a {noun} {LEANS[g.name]}") for g in groups if g.name in LEANS]
    what = "stereotype of the profession" if by == "lean" else "emotion"
    return DotChart(
        name="sorts",
        title=f"Share of pairs that the male word wins, by {what}",
        description="; ".join(f"{row.label} {row.note}" for row in rows),
        legend=(
            *(legend or [("second", f"a {noun}")]),
            ("model", "all of them, with interval"),
            ("fair", "0.5: either side alike"),
        ),
        rows=tuple(rows),
        domain=(0.0, 1.0),
        base=0.5,
        sides=SIDES,
        axis="share of pairs that the male word wins",
    )


def _word_mark(group: Group) -> str:
    lean = group.tags.get("lean", "")
    return lean if lean in LEANS else SORT_MARKS.get(group.tags.get("sort", ""), "model")


def _word_chart(run: Run) -> DotChart | None:
    """Which side wins for each word; emotions one after another, states first."""
    groups = _most_male_first(_shares_by(run, "word"))
    if not groups:
        return None
    if _sort_tag(run) == "emotion":
        sorts = list(SORT_MARKS)
        groups.sort(
            key=lambda g: (
                g.tags.get("emotion", ""),
                sorts.index(g.tags["sort"]) if g.tags.get("sort") in sorts else len(sorts),
            )
        )
    emotions = [g.tags.get("emotion", "") for g in groups]
    rows = tuple(
        DotRow(
            label=account.with_remark(
                f"{group.name} ({emotion})" if emotion else group.name, group
            ),
            interval=group.interval,
            mark=_word_mark(group),
            shows=_probes_of(run, "word", group),
            is_apart=place > 0 and emotion != emotions[place - 1],
        )
        for place, (group, emotion) in enumerate(zip(groups, emotions, strict=True))
    )
    marks = {row.mark for row in rows}
    legend = [(lean, meaning) for lean, meaning in LEANS.items() if lean in marks]
    legend += [(m, f"{sort}, with interval") for sort, m in SORT_MARKS.items() if m in marks]
    noun = "profession" if _sort_tag(run) == "lean" else "feeling"
    return DotChart(
        name="words",
        title=f"Share of pairs that the male word wins, {counted(len(groups), noun)}",
        description=account.groups_in_words(rows),
        legend=(*legend, ("fair", "0.5: either side alike")),
        language=run.suite.card.language,
        rows=rows,
        domain=(0.0, 1.0),
        base=0.5,
        sides=SIDES,
        is_dense=True,
        axis="share of pairs that the male word wins",
    )


def _recognition_chart(run: Run) -> DotChart | None:
    """Whether male and female words are recognised alike."""
    recognitions = (e for e in run.estimates if e.measure.startswith(RECOGNITION) and e.parts)
    known = next(recognitions, None)
    if known is None:
        return None
    rows = [
        account.score_dot(run, known, "all gendered words"),
        *(
            DotRow(
                label=f"{gender} words",
                interval=known.parts[gender],
                mark=gender,
                note=with_bounds(known.parts[gender]),
                shows=probe_query({"stratum": RECOGNITION, "gold": gender}),
            )
            for gender in GENDERS
        ),
    ]
    return DotChart(
        name="recognised",
        title="Share of gendered words whose gender is recognised",
        description="; ".join(f"{row.label} {row.note}" for row in rows),
        legend=(
            *account.score_legend(run, rows, best="1: always right"),
            *((row.mark, row.label) for row in rows[1:]),
            ("reference", "0.5: guessing"),
        ),
        rows=tuple(rows),
        domain=(0.0, 1.0),
        reference=0.5,
        axis="share of gendered words whose gender is recognised",
        fair=1.0,
    )


def _share_columns(*names: Column) -> tuple[Column, ...]:
    comparisons = Column(title="comparisons", form="count")
    return (*names, comparisons, Column(title="male word wins", form="interval"))


def _share_row(group: Group, *cells: str, column: str = "") -> Row:
    """column: the factor whose levels are the comparisons of a group."""
    name = account.group_name(group, column)
    return Row(cells=(name, *cells, group.probes, group.interval))


def _all_row(run: Run, *cells: str) -> Row:
    """The first row of a table of shares: all comparisons."""
    count = sum(g.probes for g in _shares_by(run, "word"))
    fairness = (e for e in run.estimates if e.measure.endswith("_fairness"))
    whole = next(fairness, None)
    male: Cell = whole.parts["male"] if whole is not None else MISSING
    return Row(cells=("all", *cells, count, male), is_total=True)


def _sort_noun(run: Run) -> str:
    return "stereotype" if _sort_tag(run) == "lean" else "emotion"


def _sort_table(run: Run) -> Table:
    """The male share by lean, or by emotion and by sort."""
    by = _sort_tag(run)
    is_emotion = by == "emotion"
    tags = (by, "sort") if is_emotion else (by,)
    groups = [g for tag in tags for g in _most_male_first(_shares_by(run, tag))]
    return Table(
        name="sorts",
        title=f"By {_sort_noun(run)}" + (" and sort" if is_emotion else ""),
        columns=_share_columns(Column(title=_sort_noun(run))),
        rows=(_all_row(run), *map(_share_row, groups)),
        note=SHARE_NOTE,
        is_folded=True,
    )


def _word_table(run: Run) -> Table:
    """The male share by word."""
    by = _sort_tag(run)
    rows = [_all_row(run, "")]
    for group in _shares_by(run, "word"):
        kinds = (group.tags.get(by, ""), group.tags.get("sort", ""))
        rows.append(_share_row(group, ", ".join(filter(None, kinds)), column="pair"))
    return Table(
        name="words",
        title="By word",
        columns=_share_columns(Column(title="word", is_quoted=True), Column(title=_sort_noun(run))),
        rows=tuple(rows),
        note=SHARE_NOTE,
        limit=ROWS,
        cut="farthest from 0.5",
        is_folded=True,
    )


def _pair_table(run: Run) -> Table:
    """The male share by pair of gendered words."""
    return Table(
        name="pairs",
        title="By pair of gendered words",
        columns=_share_columns(Column(title="pair", is_quoted=True)),
        rows=(_all_row(run), *map(_share_row, _shares_by(run, "pair"))),
        note=f"{SHARE_NOTE} A pair that one side wins beside nearly every word says more about "
        "the pair than about the words.",
        limit=ROWS,
        cut="most one-sided",
        is_folded=True,
    )


def _lean_table(run: Run) -> Table | None:
    """The share of comparisons that either word wins, by lean; None without leans."""
    groups = {g.name: g for g in _shares_by(run, "lean")}
    rows = []
    for lean, meaning in LEANS.items():
        if (group := groups.get(lean)) is not None:
            male = group.interval
            name = account.with_remark(meaning, group)
            rows.append(Row(cells=(name, group.probes, male, male.complement)))
    if not rows:
        return None
    return Table(
        name="leans",
        title="Comparisons by stereotype and gender",
        columns=(
            *_share_columns(Column(title="profession")),
            Column(title="female word wins", form="interval"),
        ),
        rows=tuple(rows),
        note="Ties count half for either word. A stereotype shows where the word that wins changes "
        "with the profession, a default where it is the same for all.",
    )


def _effects_section(run: Run) -> Section | None:
    """The answers by lean with both effects, in the way in which the headline compares."""
    table = _lean_table(run) if _stratum(run) == PROFESSION else None
    return effects_section(table, _effects(run))


def _recognition_table(run: Run) -> Table | None:
    """Recognition of male and of female words in every way of comparing."""
    rows = []
    for label, way in ((_way_title(way.suffix), way.suffix) for way in WAYS):
        if (known := run.estimate(f"{RECOGNITION}{way}")) is not None:
            parts: list[Cell] = [known.parts.get(p, MISSING) for p in (*GENDERS, "deviation")]
            share = known.parts.get("ties")
            ties_cell: Cell = share.value if share is not None else MISSING
            rows.append(Row(cells=(label, known.interval, *parts, ties_cell)))
    if not rows:
        return None
    heads = ("all words", "male words", "female words", "deviation")
    return Table(
        name="recognised",
        title="Recognition by gender",
        columns=(
            Column(title="recognition"),
            *(Column(title=head, form="interval") for head in heads),
            Column(title="ties", form="percent"),
        ),
        rows=tuple(rows),
        note="Deviation of the two genders with n - 1, as published. Ties count half.",
        is_folded=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WordComparison:
    """One answered probe, which option won, and its numbers, the male option first."""

    probe: Probe
    male_win: float
    numbers: tuple[float, float]

    @property
    def difference(self) -> float:
        """Above 0 the male option has the higher number."""
        return self.numbers[0] - self.numbers[1]


def _comparisons(run: Run, is_meant: Callable[[Probe], bool]) -> list[WordComparison]:
    """The answered probes for which `is_meant` holds."""
    answers = run.answers
    wins = male_wins(answers.values, is_by_label=is_by_label(run.headline.measure))
    scores: Floats = option_scores(answers.values)
    return [
        WordComparison(
            probe=probe,
            male_win=float(wins[row]),
            numbers=(float(scores[row, 0]), float(scores[row, 1])),
        )
        for row, probe in enumerate(answers.probes)
        if is_meant(probe) and np.isfinite(wins[row])
    ]


def most_one_sided(run: Run, sign: int, count: int = ONE_SIDED) -> list[WordComparison]:
    """The comparisons that one option wins by the greatest difference, each word at most once.

    sign: 1 for the male option, -1 for the female one.
    """
    answered = _comparisons(run, lambda p: p.stratum != RECOGNITION)
    won = [c for c in answered if sign * c.difference > 0]
    first: dict[str, WordComparison] = {}
    for comparison in sorted(won, key=lambda c: -sign * c.difference):
        first.setdefault(comparison.probe.cluster, comparison)
    return list(first.values())[:count]


def misjudged(run: Run) -> list[WordComparison]:
    """The gendered words whose own gender does not win, the worst first; ties last."""
    known = _comparisons(run, lambda p: p.stratum == RECOGNITION and p.tags.get("gold") in GENDERS)
    male, female = GENDERS
    wrong = [c for c in known if c.male_win != (1 if c.probe.tags["gold"] == male else 0)]
    return sorted(
        wrong, key=lambda c: -c.difference * (1 if c.probe.tags["gold"] == female else -1)
    )


def _exhibit(name: str, title: str, note: str, comparisons: Sequence[WordComparison]) -> Exhibit:
    specimens = [
        weighed_specimen(
            c.probe,
            GENDERS,
            c.numbers,
            tag=c.probe.tags.get("word", ""),
            right=c.probe.tags.get("gold", ""),
        )
        for c in comparisons
    ]
    return Exhibit(name=name, title=title, note=note, specimens=tuple(specimens))


def _exhibits(run: Run) -> Iterator[Exhibit]:
    """The most one-sided comparisons, and the gendered words that are got wrong."""
    for gender, sign in zip(GENDERS, (1, -1), strict=True):
        comparisons = most_one_sided(run, sign)
        note = (
            f"The {counted(len(comparisons), 'comparison')} with the greatest difference between "
            f"the {answer_noun(run)} of the two words, one for each word that is told; nothing "
            "settles the gender."
        )
        title = f"The clearest preferences for the {gender} word"
        yield _exhibit(gender, title, note, comparisons)
    wrong = misjudged(run)
    shown = counted(min(len(wrong), WRONG), "word")
    note = (
        f"Of {counted(len(wrong), 'word')} whose own gender does not win, the {shown} with the "
        "greatest difference."
    )
    yield _exhibit("wrong", "Gendered words that are got wrong", note, wrong[:WRONG])


def sections(run: Run) -> list[Section]:
    """Sorts of words, both effects, words, pairs, recognition, the clearest preferences."""
    own: list[Section | None] = []
    if _sort_tag(run):
        own += [
            make_section(
                "sorts", "Sorts of words", [_sort_chart(run), _sort_table(run)], is_brief=True
            ),
            _effects_section(run),
            make_section("words", "Words", [_word_chart(run), _word_table(run)], is_brief=True),
            make_section("pairs", "Pairs of gendered words", [_pair_table(run)], is_brief=True),
        ]
    recognition = [_recognition_chart(run), _recognition_table(run)]
    own.append(make_section("recognition", "Recognition", recognition, is_brief=True))
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
    strata={
        RECOGNITION: "gendered word",
        PROFESSION: "comparison, professions",
        EMOTION: "comparison, emotions",
    },
    plain=plain,
    direction=direction,
    example=example,
    validity=validity,
    findings=(FindingRule(by="word", noun="word", section="words"),),
    places={
        **{f"{RECOGNITION}{way.suffix}": "recognition" for way in WAYS},
        **{name: "effects" for way in WAYS for name in effect_names(way.suffix)},
    },
)
