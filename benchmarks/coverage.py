"""How often intervals hold the truth, for every measure in the catalog: `python coverage.py`.

Answers are simulated: every occupation (or word, target, writer) and every sentence frame (or pair
of gendered words) has an effect of its own, drawn anew in each repetition, and every question has
noise. The truth is the mean score over all repetitions: what another set of the same kind and size
is expected to score. `--out docs/records/coverage.json` writes what docs/intervals.md shows.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.estimate import Interval
from evenhand.core.measure import Measure
from evenhand.core.probe import GENDERS, NLI_LABELS, Floats, Probe
from evenhand.core.settings import Settings
from evenhand.core.suite import SuiteCard
from evenhand.engine.estimate import evidence_table, find_factors, read_mask
from evenhand.stats.crossed import EvidenceTable, Factor
from evenhand.stats.intervals import crossed_intervals

SETTINGS = Settings(resamples=400, level=0.95)
LEANS = ("female", "male", "none")
KINKED = ("fs_", "icat", "fairness")  # parts of the names of measures with a kink
OTHER_LABELS = ("_neutral", "_contradiction")  # the same formulas, read from another label
_COLUMN = {**{label: i for i, label in enumerate(NLI_LABELS)}, "not_entailment": 2}
ONE_WAY_EVERY = 3  # repetitions between two intervals over the clusters alone
NOISE = 0.5  # of a single answer, beside that of the question


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How many levels the factors have, and which of them meet."""

    name: str
    clusters: int  # in each part of the score
    crossed: int  # levels of the second factor
    is_balanced: bool = True
    fewest: int = 0  # clusters of the smallest part; 0: as many as the others

    @property
    def smallest(self) -> int:
        """The fewest levels that any factor has in any part."""
        return min(self.fewest or self.clusters, self.crossed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """How far the answers lean, and how much the levels of each factor differ."""

    name: str
    clusters: float
    crossed: float
    is_at_kink: bool = False


DESIGNS = (
    Design(name="balanced, 20 x 20", clusters=20, crossed=20),
    Design(
        name="unbalanced, 40 x 30, smallest part 20",
        clusters=40,
        crossed=30,
        is_balanced=False,
        fewest=20,
    ),
    Design(name="few, 13 x 12", clusters=13, crossed=12, is_balanced=False),
)
EFFECTS = (
    Effects(name="no effects", clusters=0.0, crossed=0.0),
    Effects(name="clusters differ", clusters=1.0, crossed=0.2),
    Effects(name="frames differ", clusters=0.2, crossed=1.0),
    Effects(name="both differ", clusters=1.0, crossed=1.0),
)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Probes of one kind, and where the effects and the lean enter them."""

    probes: tuple[Probe, ...]
    card: SuiteCard
    cluster: np.ndarray  # level of each probe
    crossed: np.ndarray
    cell: np.ndarray  # probes of one question share its noise
    lean: Floats  # what the score leans by: 1, -1 or 0
    answer: Callable[[Sequence[Probe], Floats, np.random.Generator, bool], Floats]


def _meetings(design: Design, parts: int) -> Iterator[tuple[int, int, int]]:
    """(part, cluster, crossed level) of every question; the same for every simulation."""
    rng = np.random.default_rng(7)
    cluster = 0
    for part in range(parts):
        count = design.fewest if design.fewest and part == 0 else design.clusters
        for place in range(count):
            if design.is_balanced:
                chosen = [(place * 3 + k) % design.crossed for k in range(min(10, design.crossed))]
            else:
                size = int(rng.integers(3, max(4, design.crossed * 2 // 3)))
                chosen = sorted(rng.choice(design.crossed, size=size, replace=False).tolist())
            for level in chosen:
                yield part, cluster, level
            cluster += 1


def _card(factors: tuple[str, ...]) -> SuiteCard:
    """The card of a suite with these factors."""
    return SuiteCard(
        name="simulated",
        version="1",
        language="en",
        source="",
        licence="",
        citation="",
        description="",
        factors=factors,
        within="lean",
    )


def _skeleton(
    design: Design,
    parts: int,
    factors: tuple[str, ...],
    make: Callable[[int, int, int], list[Probe]],
    answer: Callable[[Sequence[Probe], Floats, np.random.Generator, bool], Floats],
) -> Skeleton:
    probes, rows = [], []
    for cell, (part, cluster, level) in enumerate(_meetings(design, parts)):
        for probe in make(part, cluster, level):
            probes.append(probe)
            rows.append((cluster, level, cell, (-1.0, 1.0, 0.0)[part % 3]))
    table = np.asarray(rows)
    return Skeleton(
        tuple(probes),
        _card(factors),
        table[:, 0].astype(int),
        table[:, 1].astype(int),
        table[:, 2].astype(int),
        table[:, 3],
        answer,
    )


def _pair(part: int, cluster: int, level: int, gender: str, stratum: str, twin: str) -> Probe:
    lean = LEANS[part % 3]
    return Probe(
        id=f"{cluster}/{level}/{gender}",
        kind="pair",
        language="en",
        texts=(f"{cluster} {level}", gender),
        stratum=stratum,
        cluster=f"c{cluster}",
        twin=twin,
        tags={
            "lean": lean,
            "majority": "male" if lean == "male" else "female",
            "gender": gender,
            "template": f"t{level}",
            "occupation": f"c{cluster}",
        },
    )


def _occupation_pairs(part: int, cluster: int, level: int) -> list[Probe]:
    lean, stem = LEANS[part % 3], f"{cluster}/{level}"
    strata = {g: "NS" if lean == "none" else "PS" if g == lean else "AS" for g in GENDERS}
    pairs = [
        _pair(part, cluster, level, g, strata[g], f"{stem}/{o}")
        for g, o in zip(GENDERS, reversed(GENDERS), strict=True)
    ]
    return [*pairs, _pair(part, cluster, level, "nonbinary", "NB", "")]


def _gendered_pairs(part: int, cluster: int, level: int) -> list[Probe]:
    stem = f"{cluster}/{level}"
    return [
        _pair(part, cluster, level, g, "gendered", f"{stem}/{o}")
        for g, o in zip(GENDERS, reversed(GENDERS), strict=True)
    ]


def _gold_pairs(part: int, cluster: int, level: int) -> list[Probe]:
    return [
        Probe(
            id=f"{cluster}/{level}",
            kind="pair",
            language="en",
            texts=(f"{cluster}", f"{level}"),
            stratum="ordinary",
            cluster=f"c{cluster}",
            tags={"gold": NLI_LABELS[level % 3]},
        )
    ]


def _tasks(part: int, cluster: int, level: int) -> list[Probe]:
    """An item of a task with three gold labels, and one of a task with two."""
    pair = _gold_pairs(part, cluster, level)[0]
    three = replace(
        pair, id=f"{pair.id}/mnli", stratum="zero-shot", tags={**pair.tags, "task": "mnli"}
    )
    gold = ("entailment", "not_entailment")[level % 2]
    two = replace(pair, id=f"{pair.id}/rte", stratum="two-way", tags={"gold": gold, "task": "rte"})
    return [three, two]


def _masks(part: int, cluster: int, level: int) -> list[Probe]:
    is_objective = level % 2 == 1
    return [
        Probe(
            id=f"{cluster}/{level}",
            kind="mask",
            language="en",
            texts=(f"{cluster} {level} [BLANK]", "he", "she"),
            stratum="OS" if is_objective else "MS",
            cluster=f"c{cluster}",
            tags={"gold": GENDERS[level % 4 // 2]} if is_objective else {},
        )
    ]


def _items(part: int, cluster: int, level: int) -> list[Probe]:
    return [
        Probe(
            id=f"{cluster}/{level}",
            kind="choice",
            language="en",
            texts=(f"{cluster} {level}", "a", "b", "c"),
            stratum="intra",
            cluster=f"c{cluster}",
            tags={"items": "10", "target": f"c{cluster}"},
        )
    ]


def _preferences(part: int, cluster: int, level: int) -> list[Probe]:
    return [
        Probe(
            id=f"{cluster}/{level}/{rule}",
            kind="choice",
            language="en",
            texts=("", f"{cluster}", f"{level}"),
            stratum=rule,
            cluster=f"c{cluster}",
            tags={"direction": "stereo"},
        )
        for rule in ("shared", "changed", "whole", "aul", "aula")
    ]


def _word_tests(part: int, cluster: int, level: int) -> list[Probe]:
    """A word of each test with a pair."""
    return [
        Probe(
            id=f"{stratum}/{cluster}/{level}",
            kind="choice",
            language="en",
            texts=(f"{cluster}", f"m{level}", f"f{level}"),
            stratum=stratum,
            cluster=f"{stratum} {cluster}",
            tags={"pair": f"p{level}", "word": f"{cluster}", "lean": LEANS[part % 3]},
        )
        for stratum in ("profession", "emotion")
    ]


def _recognition(skeleton: Skeleton, design: Design) -> Skeleton:
    """The skeleton with both words of every pair, as probes of recognition."""
    extra = [
        Probe(
            id=f"recognition/{level}/{gender}",
            kind="choice",
            language="en",
            texts=(f"{gender} {level}", "man", "woman"),
            stratum="recognition",
            cluster=f"p{level}",
            tags={"pair": f"p{level}", "gold": gender},
        )
        for level in range(design.crossed)
        for gender in GENDERS
    ]
    count, cells = len(extra), int(skeleton.cell.max()) + 1
    pairs = np.repeat(np.arange(design.crossed), 2)
    return Skeleton(
        (*skeleton.probes, *extra),
        skeleton.card,
        np.concatenate([skeleton.cluster, pairs + int(skeleton.cluster.max()) + 1]),
        np.concatenate([skeleton.crossed, pairs]),
        np.concatenate([skeleton.cell, np.arange(cells, cells + count)]),
        np.concatenate([skeleton.lean, np.zeros(count)]),
        skeleton.answer,
    )


def _answer_pairs(
    probes: Sequence[Probe], tilt: Floats, rng: np.random.Generator, is_classifier: bool
) -> Floats:
    """A pair follows its tilt: to entailment for a man, to contradiction for a woman."""
    gender = np.asarray([{"male": 1.0, "female": -1.0}.get(p.tags["gender"], 0.0) for p in probes])
    evidence = np.where(gender == 0, 0.8 + tilt, gender * tilt)
    noise = rng.normal(0, NOISE, size=(len(probes), 2))
    columns = [evidence + noise[:, 0], np.full(len(probes), 0.4), noise[:, 1] - evidence]
    return np.stack(columns, axis=1)[:, None, :]


def _answer_gold(
    probes: Sequence[Probe], tilt: Floats, rng: np.random.Generator, is_classifier: bool
) -> Floats:
    gold = np.asarray([_COLUMN[p.tags["gold"]] for p in probes])
    values = rng.normal(0, NOISE, size=(len(probes), 3))
    values[np.arange(len(probes)), gold] += 0.7 + tilt
    return values[:, None, :]


def _answer_options(
    probes: Sequence[Probe], tilt: Floats, rng: np.random.Generator, is_classifier: bool
) -> Floats:
    """The first option follows the tilt; where there are three, the last is less likely."""
    gold = np.asarray(
        [{"male": 1.0, "female": -1.0}.get(p.tags.get("gold", ""), 0.0) for p in probes]
    )
    first = np.where(gold == 0, tilt, gold * (0.8 + np.abs(gold) * tilt))
    count = probes[0].option_count
    scores = np.column_stack([first / 2, -first / 2, np.full(len(probes), -0.7)])[:, :count]
    scores = scores + rng.normal(0, NOISE, size=scores.shape)
    if not is_classifier:
        return scores[:, :, None]
    return np.stack([scores, np.full_like(scores, 0.1), -scores], axis=2)


@cache
def skeletons(design: Design) -> dict[str, Skeleton]:
    """The probes of every family for a design."""
    crossed, one = ("occupation", "template"), ("cluster",)
    words = _skeleton(design, 3, ("word", "pair"), _word_tests, _answer_options)
    return {
        "nli_coal": _skeleton(design, 3, crossed, _occupation_pairs, _answer_pairs),
        "gendered_entailment": _skeleton(design, 3, crossed, _gendered_pairs, _answer_pairs),
        "word_tests": _recognition(words, design),
        "stereoset": _skeleton(design, 1, one, _items, _answer_options),
        "crows_pairs": _skeleton(design, 1, one, _preferences, _answer_options),
        "contextualised": _skeleton(design, 1, one, _masks, _answer_options),
        "ordinary": _skeleton(design, 1, one, _gold_pairs, _answer_gold),
        "glue": _skeleton(design, 1, one, _tasks, _answer_gold),
    }


def _family_of(measure: Measure) -> str:
    """The name of the family that a measure belongs to."""
    return next(f.name for f in catalog.families().values() if measure in f.measures)


def is_kinked(measure: str) -> bool:
    """Whether the score of a measure has a kink at its fair value."""
    return any(part in measure for part in KINKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How often the intervals of one measure held the truth."""

    measure: str
    design: str
    effects: str
    is_at_kink: bool
    smallest: int  # levels of the factor with the fewest
    truth: float
    covered: float  # by the interval over all factors
    one_way: float  # by that over the clusters alone
    width: float


def _interval(
    measure: Measure, table: EvidenceTable, factors: Sequence[Factor], rng: np.random.Generator
) -> Interval:
    """The interval of a measure over these factors."""
    return crossed_intervals(
        table,
        factors,
        lambda sums: {"": measure.combine(sums)},
        rng,
        SETTINGS,
        {"": measure.card.range},
    )[""].interval


def simulate(measure: Measure, design: Design, effects: Effects, repetitions: int) -> Coverage:
    """The coverage of one measure in one setting, seeded by the names alone."""
    skeleton = skeletons(design)[_family_of(measure)]
    probes = skeleton.probes
    is_read = read_mask(measure, probes)
    read = [p for p, r in zip(probes, is_read, strict=True) if r]
    seed = [len(measure.name), *f"{measure.name}{design.name}{effects}".encode()]
    rng = np.random.default_rng(seed)
    lean = 0.0 if effects.is_at_kink else 0.8
    default = 0.0 if effects.is_at_kink else 0.3
    spread = effects.crossed if len(skeleton.card.factors) > 1 else 0.0
    scores, bounds, alone = [], [], []
    factors: list[Factor] = []
    for repetition in range(repetitions):
        tilt = (
            default
            + lean * skeleton.lean
            + rng.normal(0, effects.clusters, skeleton.cluster.max() + 1)[skeleton.cluster]
            + rng.normal(0, spread, skeleton.crossed.max() + 1)[skeleton.crossed]
            + rng.normal(0, 1.0, skeleton.cell.max() + 1)[skeleton.cell]
        )
        values = skeleton.answer(probes, tilt, rng, bool(measure.labels))
        evidence = measure.evidence(read, values[is_read])
        table = evidence_table(measure, read, evidence)
        if not factors:  # the same each time: every question is answered
            factors = find_factors(measure, skeleton.card, read, evidence)

        score = _interval(measure, table, factors, rng)
        scores.append(score.value)
        bounds.append((score.low, score.high))
        if len(factors) == 1:
            alone.append(bounds[-1])
        elif repetition % ONE_WAY_EVERY == 0:
            alone.append(_interval(measure, table, factors[:1], rng)[1:])
    truth, edges, narrow = float(np.mean(scores)), np.asarray(bounds), np.asarray(alone)
    return Coverage(
        measure=measure.name,
        design=design.name,
        effects=effects.name,
        is_at_kink=effects.is_at_kink,
        smallest=min(f.smallest for f in factors),
        truth=round(truth, 4),
        covered=float(((edges[:, 0] <= truth) & (truth <= edges[:, 1])).mean()),
        one_way=float(((narrow[:, 0] <= truth) & (truth <= narrow[:, 1])).mean()),
        width=round(float((edges[:, 1] - edges[:, 0]).mean()), 4),
    )


def _task(task: tuple[str, Design, Effects, int]) -> Coverage:
    name, design, effects, repetitions = task
    return simulate(catalog.measure(name), design, effects, repetitions)


def tasks(measures: Sequence[str], repetitions: int) -> list[tuple[str, Design, Effects, int]]:
    """Every measure in every setting; those with a kink at it and away from it."""
    listed = []
    for name, design, effects in itertools.product(measures, DESIGNS, EFFECTS):
        is_crossed = len(skeletons(design)[_family_of(catalog.measure(name))].card.factors) > 1
        if effects.crossed and not is_crossed and effects != EFFECTS[1]:
            continue
        listed.append((name, design, effects, repetitions))
        if is_kinked(name):
            at = Effects(**{**asdict(effects), "is_at_kink": True})
            listed.append((name, design, at, repetitions))
    return listed


def main() -> None:
    """Simulate, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--measure", action="append", help="only this measure (repeatable)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the results as JSON")
    args = parser.parse_args()
    names = args.measure or [n for n in catalog.measures() if not n.endswith(OTHER_LABELS)]
    began, results = time.monotonic(), []
    with ProcessPoolExecutor(args.processes) as pool:
        for result in pool.map(_task, tasks(names, args.repetitions)):
            results.append(result)
            where = f"{result.design}; {result.effects}{'; at the kink' * result.is_at_kink}"
            print(
                f"{result.measure:32} {where:70} {result.covered:.3f} "
                f"(clusters alone {result.one_way:.3f})",
                flush=True,
            )
    print(f"{time.monotonic() - began:.0f} s")
    if args.out:
        record = {
            "what": "How often intervals hold the truth, by simulation",
            "commands": [f"python benchmarks/coverage.py --repetitions {args.repetitions}"],
            "date": time.strftime("%Y-%m-%d"),
            "evenhand": __version__,
            "models": [],
            "numbers": {"repetitions": args.repetitions, "rows": [asdict(r) for r in results]},
        }
        args.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
