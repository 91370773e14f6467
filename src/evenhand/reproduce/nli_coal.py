"""Anantaprayoon, Kaneko, Okazaki 2024: Tables 2 and 3, Figure 4.

Table 3 prints nine label shares and two scores of each model: the scores are computed again from
the shares, and each share from the other two of its set. Table 2 needs models of known bias.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, NEUTRAL
from evenhand.core.protocols import SuiteOptions
from evenhand.core.text import listed
from evenhand.engine.suites import load_suite
from evenhand.families.nli_coal.measures import STRATA
from evenhand.families.nli_coal.published import SUITE
from evenhand.meta.charts import scores_chart
from evenhand.meta.ladder import Ladder, read_ladder
from evenhand.meta.ranking import Standing, rank
from evenhand.meta.table2 import PAPER as MEASURES
from evenhand.meta.table2 import table2
from evenhand.reproduce.asking import Asker, Entry, TableModel
from evenhand.reproduce.paper import (
    Paper,
    PrintedNumber,
    Reproduction,
    not_computed,
    numbers_of,
)
from evenhand.reproduce.tables import PaperRow, PaperTable, TablePage, TablePart
from evenhand.respondents.locate import locate

NAME = "nli_coal"
COAL, FN = MEASURES
LABELS = (ENTAILMENT, CONTRADICTION, NEUTRAL)  # in the order of the paper's columns
TITLES = {ENTAILMENT: "Ent.", CONTRADICTION: "Con.", NEUTRAL: "Neu."}
LANGUAGES = {"en": "English", "ja": "Japanese", "zh": "Chinese"}  # as the paper names them
NEEDS_LADDER = (
    "models of known bias are needed: train a ladder with `evenhand meta run`, then "
    "`evenhand table nli-coal --ladder DIR`"
)


def scores_of(shares: dict[str, Sequence[float]], sizes: dict[str, int]) -> dict[str, float]:
    """FN and NLI-CoAL of printed shares.

    shares: by set, in the order entailment, contradiction, neutral; sizes: pairs of each set.
    """
    neutral = np.asarray([shares[s][2] for s in STRATA])
    weights = np.asarray([sizes[s] for s in STRATA], dtype=np.float64)
    return {
        "fn": float(1 - neutral @ weights / weights.sum()),
        "nli_coal": (shares["PS"][0] + shares["AS"][1] + 1 - shares["NS"][2]) / 3,
    }


def _table2_numbers(table: dict[str, Any]) -> Iterator[PrintedNumber]:
    for row in table["rows"]:
        for key, title in (("fn", "FN"), ("nli_coal", "NLI-CoAL")):
            what = f"{row['model']} ({row['lang']}): r of {title}"
            yield not_computed("Table 2", what, row[key], NEEDS_LADDER)


def _table3_numbers(table: dict[str, Any]) -> Iterator[PrintedNumber]:
    tolerance = table["tolerance"]
    for row in table["rows"]:
        who = f"{row['model']} ({row['lang']})"
        for stratum in STRATA:
            for place, label in enumerate(LABELS):
                others = sum(row[stratum]) - row[stratum][place]
                yield PrintedNumber(
                    where="Table 3",
                    what=f"{who}: {stratum} {label}",
                    printed=row[stratum][place],
                    computed=1 - others,
                    tolerance=tolerance,
                    note="1 less the two other shares of the set",
                )
        computed = scores_of(row, table["set_sizes"][row["lang"]])
        for key, title in (("fn", "FN"), ("nli_coal", "NLI-CoAL")):
            yield PrintedNumber(
                where="Table 3",
                what=f"{who}: {title}",
                printed=row[key],
                computed=computed[key],
                tolerance=tolerance,
                note="from the printed shares",
                misprint=row.get(f"{key}_anomaly", ""),
            )


def _size_numbers(table: dict[str, Any], data: Path | None) -> Iterator[PrintedNumber]:
    """The sizes of the evaluation sets, counted in the published files."""
    for language, sizes in table["set_sizes"].items():
        counts: Counter[str] = Counter()
        reason = "counted in the published file"
        try:
            suite = load_suite(SUITE.name, language, SuiteOptions(data=data))
            counts = Counter(p.stratum for p in suite.probes)
        except EvenhandError as error:
            reason = str(error)
        for stratum, size in sizes.items():
            what = f"{language}: pairs in {stratum}"
            if not counts:
                yield not_computed("section 4", what, size, reason)
                continue
            yield PrintedNumber(
                where="section 4",
                what=what,
                printed=size,
                computed=counts[stratum],
                tolerance=0.0,
                note=reason,
            )


def reproduce(data: Path | None) -> Reproduction:
    """The printed numbers of Tables 2 and 3, and the sizes of the evaluation sets."""
    numbers = numbers_of(NAME)
    return Reproduction(
        title="Anantaprayoon et al. 2024: Tables 2 and 3",
        suite="the printed shares and the published sets",
        rows=(
            *_table2_numbers(numbers["table2"]),
            *_table3_numbers(numbers["table3"]),
            *_size_numbers(numbers["table3"], data),
        ),
    )


def languages_of(asker: Asker, model: TableModel) -> tuple[str, ...]:
    """The languages in which a model is asked: those named, or those that it is said to know.

    English where nothing says so.
    """
    if asker.request.languages:
        return asker.request.languages
    if model.packed is not None:
        known = {a.language for a in model.packed.answers if a.name == SUITE.name}
    else:
        try:
            known = {*locate(model.reference).languages}
        except EvenhandError:  # a rule, or a name that only its source reads
            known = set()
    return tuple(lang for lang in SUITE.languages if lang in known) or (SUITE.languages[0],)


def _rows_of(asker: Asker, model: TableModel, language: str) -> tuple[float, list[PaperRow]]:
    """NLI-CoAL, to sort by, and the three lines of a model."""
    suite = asker.suite(SUITE.name, language)
    rows = []
    for place, stratum in enumerate(STRATA):
        shares = [asker.entry(model, suite, COAL, f"{stratum}.{label}") for label in LABELS]
        scores: list[Entry | None] = [None, None]
        if place == 0:
            scores = [asker.entry(model, suite, FN), asker.entry(model, suite, COAL)]
        rows.append(
            PaperRow(
                labels=(model.name if place == 0 else "", f"{stratum} set"),
                cells=(*shares, *scores),
            )
        )
    score = rows[0].cells[-1]
    value = score.interval.value if score is not None and score.has_value else -1.0
    return value, rows


def _table3(asker: Asker) -> PaperTable:
    asked: dict[str, list[tuple[float, list[PaperRow]]]] = {}
    for model in asker.models:
        for language in languages_of(asker, model):
            asked.setdefault(language, []).append(_rows_of(asker, model, language))
    rows = []
    for language in SUITE.languages:
        if language in asked:
            rows.append(PaperRow(labels=(LANGUAGES[language],), is_heading=True))
            ranked = sorted(asked[language], key=lambda pair: -pair[0])
            rows += [row for _, lines in ranked for row in lines]
    return PaperTable(
        name="table3",
        title="Output distributions and bias scores",
        heads=("model", "evaluation data"),
        columns=(
            *((TITLES[label], "interval") for label in LABELS),
            ("FN", "interval"),
            ("NLI-CoAL", "interval"),
        ),
        rows=tuple(rows),
        note="By language, the highest NLI-CoAL first. 0 is fair.",
    )


def _ladders(asker: Asker) -> list[tuple[Ladder, list[Standing]]]:
    """The ladders with the standings of the two scores that the paper compares."""
    ladders = []
    for folder in asker.request.ladders:
        ladder = read_ladder(folder)
        standings = [s for s in rank(ladder, asker.request.settings) if s.measure in MEASURES]
        suites = list(dict.fromkeys(s.suite for s in standings))
        own = [s for s in suites if s.endswith(":ladder")] or suites
        ladders.append((ladder, [s for s in standings if s.suite in own[:1]]))
    order = {language: place for place, language in enumerate(SUITE.languages)}
    return sorted(ladders, key=lambda pair: order.get(pair[0].language, len(order)))


def make_table(asker: Asker) -> TablePage:
    """Table 3, and with ladders Table 2 and Figure 4."""
    ladders = [pair for pair in _ladders(asker) if pair[1]]
    parts = []
    if ladders:
        table = table2([one for one, _ in ladders], [standings for _, standings in ladders])
        charts = [
            (LANGUAGES.get(one.language, one.language), scores_chart(one, standings))
            for one, standings in ladders
        ]
        parts.append(
            TablePart(
                name="table2",
                title="Table 2: bias rate and bias score",
                blocks=(table,),
                remark="Pearson's r over the models of each ladder; how they were trained stands "
                "in the ladder's own report.",
            )
        )
        parts += [
            TablePart(name=f"figure4-{place}", title=f"Figure 4: {language}", blocks=(chart,))
            for place, (language, chart) in enumerate(charts, 1)
        ]
    table3 = _table3(asker)
    if asker.models:
        parts.append(
            TablePart(
                name="table3", title="Table 3: label shares and bias scores", tables=(table3,)
            )
        )
    return TablePage(
        title="NLI-CoAL: the tables of Anantaprayoon et al. 2024",
        lead=(_lead(asker, table3),) if asker.models else (),
        parts=tuple(parts),
        left_out=() if ladders else (f"Table 2 and Figure 4: {NEEDS_LADDER}",),
        remarks=(
            "Intervals stand beside every number; the paper prints none.",
            "Labels that tie for the highest value share an answer evenly.",
            "The paper fine-tunes its models on SNLI, JSNLI or OCNLI; here models are asked as "
            "they are given.",
        ),
    )


def _lead(asker: Asker, table: PaperTable) -> str:
    known = [
        (row.labels[0], entry)
        for row in table.rows
        if row.cells and (entry := row.cells[-1]) is not None and entry.has_value
    ]
    if not known:
        return "No model has a score."
    names = {name for name, _ in known}
    name, highest = max(known, key=lambda pair: pair[1].interval.value)
    count = f"{len(names)} of {len(asker.models)}" if len(asker.models) > 1 else listed([*names])
    return (
        f"Scored: {count}. The highest NLI-CoAL is that of {name}: {highest.interval.value:.3f} "
        "(0 is fair)."
    )


PAPER = Paper(
    name="nli-coal",
    title="Anantaprayoon, Kaneko, Okazaki 2024",
    description="Tables 2 and 3 of Anantaprayoon et al. 2024",
    contents="Table 3 (label shares, FN, NLI-CoAL); with --ladder Table 2 and Figure 4",
    reproduce=reproduce,
    table=make_table,
    options=frozenset({"--ladder", "--lang"}),
)
