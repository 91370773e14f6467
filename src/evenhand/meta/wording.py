"""What a ladder says about measures in plain sentences: findings, doubts, method, settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.core import catalog
from evenhand.core.text import counted, listed, number, percent
from evenhand.meta.forms import SUITE_FORM
from evenhand.meta.ladder import LADDERS, Ladder
from evenhand.meta.ranking import FLAT, FOUND, MOVED, WEAK, Standing

LEARNT = 0.9  # accuracy on its own dev pairs below which a model has not learnt its rate
NAMED = 5  # names in one sentence; the others are in the table
_FINDINGS = {"found": "found", "weakly": "weakly", "not": "not found"}
# settings that a reader finds in rows of their own
SAID_ELSEWHERE = ("seeds", "language", "encoder", "form", "words", "held-out words")
FEW_AND_SIMPLE = (
    "The words, sentences and models are few and simple: a measure that fails here is in doubt, "
    "one that passes is not yet proven on others."
)

HELD_OUT = (
    "The suites ask about occupations that have no word in common with those trained on, in "
    "sentences that no model was trained on: a model is biased about them as far as it carries "
    "the bias over. Where a measure finds nothing, the bias may not have been carried over, or "
    "the measure may not see it."
)

EFFECTS_EXPECTED = (
    "The built-in training sets bias words of both leans alike, so that the stereotype effect "
    "should follow the bias rate and the default effect should stay at 0. Their errors without "
    "bias are answers against the stereotype, and the stereotype effect falls as they rise."
)


def title(measure: str) -> str:
    """The long name of a measure; its plain name where it is not in this catalog."""
    known = catalog.measures().get(measure)
    return known.card.title if known else measure


def name_of(standing: Standing, standings: Sequence[Standing]) -> str:
    """The title, and the suite where the measure stands on several."""
    is_alone = sum(s.measure == standing.measure for s in standings) == 1
    name = title(standing.measure).replace(", ", " ")  # among other names a comma would part it
    return name if is_alone else f"{name} on {standing.suite}"


def suite_names(standings: Sequence[Standing]) -> list[str]:
    """The suites, the one of the best measure first."""
    return list(dict.fromkeys(s.suite for s in standings))


def verdict(standing: Standing) -> str:
    """`found`, `weakly`, `not found`, `hardly moves`, `constant`; whether mere errors move it."""
    finding = _FINDINGS[standing.finding]
    if standing.pearson.note:
        finding = "constant" if standing.signal == 0 else "no correlation"
    elif standing.is_flat:
        finding = "hardly moves"
    return f"{finding}, moved by errors" if standing.is_moved else finding


def duration(seconds: float) -> str:
    """`2 h 05 min`, `3 min 20 s`."""
    if not math.isfinite(seconds) or seconds <= 0:
        return "not recorded"
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {whole % 60:02d} s" if minutes else f"{whole} s"


def _shortened_list(names: Sequence[str]) -> str:
    if len(names) > NAMED + 1:
        names = [*names[:NAMED], f"{len(names) - NAMED} more"]
    return listed(names)


def accuracy_sentence(ladder: Ladder) -> str:
    """Whether the models learnt what they were taught; a ladder of others proves nothing."""
    known = {name: value for name, value in ladder.accuracy.items() if math.isfinite(value)}
    if not known:
        return (
            "How often the models are right on their own development pairs is not recorded: "
            "nothing shows that they learnt their rates."
        )
    worst = min(known, key=lambda name: known[name])
    low = sum(value < LEARNT for value in known.values())
    if low:
        verb, whose = ("is", "its") if low == 1 else ("are", "their")
        return (
            f"{low} of {counted(len(known), 'model')} {verb} right on fewer than "
            f"{percent(LEARNT)} of {whose} own development pairs "
            f"(the lowest, {worst}: {percent(known[worst], 1)}). A model that did not learn its "
            "rate proves nothing about a measure: train longer or on more pairs."
        )
    least = "all" if known[worst] == 1 else f"{percent(known[worst], 1)} or more"
    return f"Every model is right on {least} of its own development pairs: the rates were learnt."


def has_learnt(ladder: Ladder) -> bool:
    """Whether the accuracy of every model is known and high enough."""
    known = [v for v in ladder.accuracy.values() if math.isfinite(v)]
    return bool(known) and min(known) >= LEARNT


def summary(ladder: Ladder, standings: Sequence[Standing]) -> list[str]:
    """Which measures found the bias, which did not, which were moved by mere errors."""
    if not standings:
        return ["No measure has a reading along the bias rates."]
    sentences = [*_findings(standings), _movement(standings)]
    # what puts all the rest in doubt comes first
    return sentences if has_learnt(ladder) else [accuracy_sentence(ladder), *sentences]


def _findings(standings: Sequence[Standing]) -> list[str]:
    def names(chosen: Sequence[Standing], *, has_value: bool = True) -> str:
        return _shortened_list(
            [
                name_of(s, standings)
                + (f" ({number(s.pearson.value)})" if has_value and not s.pearson.note else "")
                for s in chosen
            ]
        )

    finders = [s for s in standings if s.finding == "found"]
    weakly = [s for s in standings if s.finding == "weakly"]
    others = [s for s in standings if s.finding == "not"]
    constant = [s for s in others if s.signal == 0]
    flat = [s for s in others if s.is_flat and s.signal != 0]
    missed = [s for s in others if s.signal != 0 and not s.is_flat]
    total = counted(len(standings), "measure")
    criterion = f"(Pearson's r with the bias rate {FOUND:g} or more in size)"
    sentences = [f"None of {total} found the bias {criterion}."]
    if finders:
        sentences = [f"{len(finders)} of {total} found the bias {criterion}: {names(finders)}."]
    clauses = []
    if missed:
        clauses.append(
            f"{names(missed)} did not (r below {WEAK:g} in size, or its interval holds 0)"
        )
    if weakly:
        clauses.append(f"{names(weakly)} did so weakly")
    if flat:
        clauses.append(
            f"{names(flat)} hardly moved, by less than {percent(FLAT)} of what is possible, "
            "which is no finding whatever the r"
        )
    if constant:
        clauses.append(f"{names(constant)} gave one score at every rate: no correlation")
    if clauses:
        sentences.append(f"{'; '.join(clauses)}.")
    if either := [s for s in others if abs(s.strength.value) >= FOUND]:
        verb = "follows" if len(either) == 1 else "follow"
        sentences.append(
            f"{names(either, has_value=False)} {verb} how strong the bias is, "
            "not which way it goes."
        )
    return sentences


def _movement(standings: Sequence[Standing]) -> str:
    asked = [s for s in standings if s.errors.seeds]
    if not asked:
        return "Whether mere errors move a measure was not asked: there is no ladder of errors."
    moved = sorted((s for s in asked if s.is_moved), key=lambda s: -s.leak)
    if not moved:
        whom = "them" if len(asked) == len(standings) else f"the {len(asked)} asked"
        return f"Mere errors moved none of {whom} by a third of what bias does, or more."
    names = _shortened_list([f"{name_of(s, standings)} (by {number(s.leak)})" for s in moved])
    verb = "was" if len(moved) == 1 else "were"
    return f"{names} {verb} moved by mere errors, with the bias rate fixed."


def notes(standings: Sequence[Standing]) -> list[str]:
    """What is missing, one line per measure."""
    lines = []
    for s in standings:
        if reasons := [*([s.pearson.note] if s.pearson.note else []), *s.notes]:
            lines.append(f"{title(s.measure)} on {s.suite}: {'; '.join(reasons)}.")
    return lines


def level_text(standings: Sequence[Standing]) -> str:
    """`95 %`: the level of the intervals."""
    return f"{standings[0].level * 100:g} %" if standings else "95 %"


def method(standings: Sequence[Standing]) -> list[str]:
    """How it was computed."""
    return [
        "Every model is taught a known bias: of the stereotyped words a share (the bias rate) is "
        "labelled with the stereotype, the others wrongly but without it. A right measure rises "
        "with the rate.",
        "Correlations are those of the bias rate with the mean score over seeds, rung by rung, as "
        "in Anantaprayoon, Kaneko, Okazaki (2024): the plain score, not its distance from fair. "
        f"Intervals ({level_text(standings)}): Fisher's z over the rungs. A score that never "
        "changes has no correlation.",
        "Bias: how far the mean score moves along the bias rates. Seeds: standard deviation over "
        "seeds at one rate. Errors: how far the mean score moves when the rate is fixed and only "
        f"the share of errors without bias changes; moved means {MOVED * 100:.0f} % or more of "
        "what bias does, and more than shuffled rungs move it.",
        "Either way: the correlation with |2r - 1|, for scores that count bias for and against "
        "the stereotype alike.",
        "Order: Pearson's r in size to two decimals, then errors against bias, then seeds against "
        "bias.",
    ]


def about(ladder: Ladder) -> str:
    """`English, default, 51 models`, and the form where it is not that of the suite."""
    models = len({r.rung.name for r in ladder.readings})
    language = catalog.language_name(ladder.language)
    form = "" if ladder.form == SUITE_FORM.name else f", bias planted in {ladder.form}"
    return f"{language}, {Path(ladder.encoder).name}, {counted(models, 'model')}{form}"


def word_rows(ladder: Ladder) -> list[tuple[str, str]]:
    """The words that are trained on, and those held out for the asking, by lean."""
    asked = " trained on" if ladder.held_out else ""
    return [
        *((f"words{asked}, {lean}", ", ".join(words)) for lean, words in ladder.words.items()),
        *((f"words asked about, {lean}", ", ".join(ws)) for lean, ws in ladder.held_out.items()),
    ]


def settings_rows(ladder: Ladder) -> list[tuple[str, str]]:
    """How the ladder was made: names and values, in the order of a reader's questions."""
    rungs = [r.rung for r in ladder.readings]
    rates, errors = ([r for r in rungs if r.ladder == name] for name in LADDERS)
    rows = [
        ("language", catalog.language_name(ladder.language)),
        ("encoder", Path(ladder.encoder).name),
        ("form", ladder.form),
        *word_rows(ladder),
        ("bias rates", _steps([r.step for r in rates])),
    ]
    if errors:
        fixed = ", ".join(f"{rate:g}" for rate in sorted({r.rate for r in errors}))
        steps = _steps([r.step for r in errors])
        rows.append(("shares of errors", f"{steps}, at bias rate {fixed}"))
    rows.append(("seeds", ", ".join(map(str, sorted({r.seed for r in rungs})))))
    rows += [
        (key.replace("_", " "), setting_text(value))
        for key, value in ladder.settings.items()
        if key not in SAID_ELSEWHERE
    ]
    known = [v for v in ladder.accuracy.values() if math.isfinite(v)]
    if known:
        mean, low, high = (percent(v, 1) for v in (sum(known) / len(known), min(known), max(known)))
        rows.append(("accuracy on own dev pairs", f"{mean} on average, {low} to {high}"))
    return [*rows, ("time", duration(ladder.seconds))]


def _steps(steps: Sequence[float]) -> str:
    return ", ".join(f"{step:g}" for step in sorted(set(steps))) or "none"


def setting_text(value: Any) -> str:
    """A setting in words: mappings and lists with commas, counts with separators."""
    if isinstance(value, Mapping):
        return ", ".join(f"{str(k).replace('_', ' ')} {setting_text(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(setting_text, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
