"""What does a ladder say about measures, in plain words and as plain data, and where does it go?"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.core import catalog
from evenhand.meta.climb import Climb, Correlation
from evenhand.meta.files import ladder_json, plain_number
from evenhand.meta.ranking import FLAT, FOUND, MOVED, WEAK, Standing
from evenhand.meta.records import Ladder
from evenhand.report.numbers import amount, number, percent
from evenhand.report.writing import write_files

LEARNT = 0.9  # accuracy on its own development pairs below which a model is said not to have learnt its rate
NAMED = 5  # names in one sentence; the others are in the table


def title(measure: str) -> str:
    """The name of a measure as it is printed; its plain name where it is not in this catalog."""
    known = catalog.measures().get(measure)
    return known.card.title if known else measure


def name_of(standing: Standing, standings: Sequence[Standing]) -> str:
    """The title, and the suite where the measure stands on several."""
    is_alone = sum(s.measure == standing.measure for s in standings) == 1
    name = title(standing.measure).replace(", ", " ")  # among other names a comma would part it
    return name if is_alone else f"{name} on {standing.suite}"


def suites_of(standings: Sequence[Standing]) -> list[str]:
    """The suites, that of the best measure first."""
    return list(dict.fromkeys(s.suite for s in standings))


def verdict(standing: Standing) -> str:
    """`found`, `weakly`, `not found`, `hardly moves`, `constant`, and whether mere errors move it."""
    found = {"found": "found", "weakly": "weakly", "not": "not found"}[standing.finding]
    if standing.pearson.note:
        found = "constant" if standing.signal == 0 else "no correlation"
    elif standing.is_flat:
        found = "hardly moves"
    return f"{found}, moved by errors" if standing.is_moved else found


def seconds_told(seconds: float) -> str:
    """`2 h 05 min`, `3 min 20 s`."""
    if not math.isfinite(seconds) or seconds <= 0:
        return "not recorded"
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return (
        f"{hours} h {minutes:02d} min"
        if hours
        else f"{minutes} min {whole % 60:02d} s"
        if minutes
        else f"{whole} s"
    )


def _listed(names: Sequence[str]) -> str:
    shown = (
        [*names[:NAMED], f"{len(names) - NAMED} more"] if len(names) > NAMED + 1 else list(names)
    )
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def accuracy_told(ladder: Ladder) -> str:
    """Did the models learn what they were taught? A ladder whose models did not proves nothing."""
    known = {name: value for name, value in ladder.accuracy.items() if math.isfinite(value)}
    if not known:
        return "How often the models are right on their own development pairs is not recorded: nothing shows that they learnt their rates."
    worst = min(known, key=lambda name: known[name])
    low = sum(value < LEARNT for value in known.values())
    if low:
        return (
            f"{low} of {amount(len(known), 'model')} {'is' if low == 1 else 'are'} right on fewer than {percent(LEARNT)} of {'its' if low == 1 else 'their'} own development pairs "
            f"(the lowest, {worst}: {percent(known[worst], 1)}). A model that did not learn its rate proves nothing about a measure: train longer or on more pairs."
        )
    least = "all" if known[worst] == 1 else f"{percent(known[worst], 1)} or more"
    return f"Every model is right on {least} of its own development pairs: the rates were learnt."


def has_learnt(ladder: Ladder) -> bool:
    """Is the accuracy of every model known and high enough?"""
    known = [v for v in ladder.accuracy.values() if math.isfinite(v)]
    return bool(known) and min(known) >= LEARNT


def summary(ladder: Ladder, standings: Sequence[Standing]) -> list[str]:
    """Which measures found the bias, which did not, and which were moved by mere errors? A sentence each."""
    if not standings:
        return ["No measure has a reading along the bias rates."]

    def names(chosen: Sequence[Standing], has_value: bool = True) -> str:
        return _listed(
            [
                name_of(s, standings)
                + (f" ({number(s.pearson.value)})" if has_value and not s.pearson.note else "")
                for s in chosen
            ]
        )

    by = {kind: [s for s in standings if s.finding == kind] for kind in ("found", "weakly", "not")}
    still = [s for s in by["not"] if s.signal == 0]
    flat = [s for s in by["not"] if s.is_flat and s.signal != 0]
    missed = [s for s in by["not"] if s.signal != 0 and not s.is_flat]
    total = amount(len(standings), "measure")
    said = []
    if found := by["found"]:
        said.append(
            f"{len(found)} of {total} found the bias (Pearson's r with the bias rate {FOUND:g} or more in size): {names(found)}."
        )
    else:
        said.append(
            f"None of {total} found the bias (Pearson's r with the bias rate {FOUND:g} or more in size)."
        )
    gone = (
        [f"{names(missed)} did not (r below {WEAK:g} in size, or its interval holds 0)"]
        if missed
        else []
    )
    gone += [f"{names(by['weakly'])} did so weakly"] if by["weakly"] else []
    gone += (
        [
            f"{names(flat)} hardly moved, by less than {percent(FLAT)} of what is possible, which is no finding whatever the r"
        ]
        if flat
        else []
    )
    gone += [f"{names(still)} gave one score at every rate: no correlation"] if still else []
    if gone:
        said.append(f"{'; '.join(gone)}.")
    if either := [s for s in by["not"] if abs(s.strength.value) >= FOUND]:
        said.append(
            f"{names(either, False)} {'follows' if len(either) == 1 else 'follow'} how strong the bias is, not which way it goes."
        )
    said.append(_moved(standings))
    # what puts all the rest in doubt comes first
    return ([] if has_learnt(ladder) else [accuracy_told(ladder)]) + said


def _moved(standings: Sequence[Standing]) -> str:
    asked = [s for s in standings if s.errors.seeds]
    if not asked:
        return "Whether mere errors move a measure was not asked: there is no ladder of errors."
    moved = [s for s in asked if s.is_moved]
    if not moved:
        return f"Mere errors moved none of {'them' if len(asked) == len(standings) else f'the {len(asked)} asked'} by a third of what bias does, or more."
    names = _listed(
        [
            f"{name_of(s, standings)} (by {number(s.leak)})"
            for s in sorted(moved, key=lambda s: -s.leak)
        ]
    )
    return f"{names} {'was' if len(moved) == 1 else 'were'} moved by mere errors, with the bias rate fixed."


def notes(standings: Sequence[Standing]) -> list[str]:
    """What is missing? One line a measure."""
    said = []
    for s in standings:
        if lines := [*([s.pearson.note] if s.pearson.note else []), *s.notes]:
            said.append(f"{title(s.measure)} on {s.suite}: {'; '.join(lines)}.")
    return said


def method(standings: Sequence[Standing]) -> list[str]:
    """How was it reckoned?"""
    level = f"{standings[0].level * 100:g} %" if standings else "95 %"
    return [
        "Every model is taught a known bias: of the stereotyped words a share (the bias rate) is labelled with the stereotype, the others wrongly but without it. "
        "A right measure rises with the rate.",
        "Correlations are those of the bias rate with the mean score over seeds, rung by rung, as in Anantaprayoon, Kaneko, Okazaki (2024): the plain score, "
        f"not its distance from fair. Intervals ({level}): Fisher's z over the rungs. A score that never changes has no correlation.",
        "Bias: how far the mean score moves along the bias rates. Seeds: standard deviation over seeds at one rate. Errors: how far the mean score moves when the rate is "
        f"fixed and only the share of errors without bias changes; moved means {MOVED * 100:.0f} % or more of what bias does, and more than shuffled rungs move it.",
        "Either way: the correlation with |2r - 1|, for scores that count bias for and against the stereotype alike.",
        "Order: Pearson's r in size to two decimals, then errors against bias, then seeds against bias.",
    ]


def _correlation(found: Correlation) -> dict[str, Any]:
    low, high = found.interval.low, found.interval.high
    return {
        "value": plain_number(found.value),
        "low": plain_number(low),
        "high": plain_number(high),
        "p": plain_number(found.p),
        "by_seed": {str(k): plain_number(v) for k, v in found.by_seed.items()},
        "mean_of_seeds": plain_number(found.mean_of_seeds),
        "note": found.note,
    }


def _climb(found: Climb) -> dict[str, Any]:
    return {
        "steps": list(found.steps),
        "means": [plain_number(v) for v in found.means],
        "seeds": list(found.seeds),
    }


def standing_json(found: Standing) -> dict[str, Any]:
    """A standing as plain data."""
    numbers = {
        k: plain_number(getattr(found, k))
        for k in ("signal", "share", "noise", "leak", "leak_ratio", "noise_ratio", "leak_p")
    }
    correlations = {
        k: _correlation(getattr(found, k))
        for k in ("pearson", "spearman", "kendall", "strength", "leak_pearson")
    }
    return {
        "rank": found.rank,
        "suite": found.suite,
        "measure": found.measure,
        "finding": found.finding,
        "is_moved": found.is_moved,
        "level": found.level,
        **correlations,
        **numbers,
        "rates": _climb(found.rates),
        "errors": _climb(found.errors),
        "notes": list(found.notes),
    }


def report_text(ladder: Ladder, standings: Sequence[Standing]) -> str:
    """Ladder and standings as JSON; `read_ladder` reads the ladder back from it."""
    facts = {**ladder_json(ladder), "standings": [standing_json(s) for s in standings]}
    return json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def slug(text: str) -> str:
    """A text as part of the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def write_ladder_report(ladder: Ladder, standings: Sequence[Standing], out: Path) -> Path:
    """Write ladder.html, .md, .tex and .json and every figure as .svg and .png, all or none; returns the path of the page to open."""
    from evenhand.report.ladder_figures import draw
    from evenhand.report.ladder_page import to_html
    from evenhand.report.ladder_tables import to_latex, to_markdown

    figures = draw(ladder, standings)
    texts = {
        "ladder.html": to_html(ladder, standings, figures),
        "ladder.md": to_markdown(ladder, standings),
        "ladder.tex": to_latex(ladder, standings),
        "ladder.json": report_text(ladder, standings),
    }
    write_files(out, texts, figures)
    return out / "ladder.html"
