"""What do all models say to the same questions, and how far are they from the first and from the control? Paired, cluster by cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from evenhand.core.answers import Answers
from evenhand.core.probe import Probe
from evenhand.core.protocols import Respondent
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.asking import Progress
from evenhand.engine.audit import question
from evenhand.engine.differing import Comparison, Contestant, adjust, compare_answers
from evenhand.engine.estimating import choose, estimate
from evenhand.measures.correctness import STRATUM
from evenhand.mitigate.anchors import AnchorPlan, restrict
from evenhand.mitigate.records import ACCURACY, Asked, Change, Part, Score
from evenhand.train.corpus import Corpus

# what is read of each suite: the measures of the papers, and whether a job is still seen to be a person's
MEASURES = (
    "nli_coal",
    "fraction_neutral",
    "entailment_gap",
    "same_label",
    "stereotype_preference",
    "person_entailment",
    ACCURACY,
)
MANY = 2000  # resamples at most where there are thousands of clusters: held-out pairs, each with a premise of its own
Watch = Callable[[str], AbstractContextManager[Progress | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One suite, and what the models said to it, in their order."""

    name: str
    part: Part
    suite: Suite
    answers: tuple[Answers, ...]
    is_published: bool = False

    def describe(self) -> Asked:
        """What the record says of it."""
        return Asked(
            name=self.name,
            part=self.part,
            reference=self.suite.reference,
            probes=len(self.suite.probes),
            clusters=len({p.cluster for p in self.suite.probes}),
            is_published=self.is_published,
        )


def held_out(name: str, corpus: Corpus, language: str) -> Suite:
    """Ordinary pairs as a suite; those that share a premise are one cluster."""
    card = SuiteCard(
        name=name,
        version="1",
        language=language,
        source=corpus.path.name,
        licence="that of the file",
        citation="that of the file",
        description="held-out pairs with their gold labels",
    )
    probes = tuple(
        Probe(
            id=f"{name}/{i}",
            kind="pair",
            language=language,
            texts=(pair.premise, pair.hypothesis),
            stratum=STRATUM,
            cluster=pair.premise,
            tags={"gold": pair.label, "fair": pair.label, "stereotyped": pair.label},
        )
        for i, pair in enumerate(corpus.pairs)
    )
    return Suite(card=card, probes=probes)


def ask_all(
    models: Sequence[tuple[str, Callable[[], Respondent]]],
    suites: Sequence[tuple[str, Part, Suite, bool]],
    plan: AnchorPlan | None,
    watch: Watch | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[Sheet]:
    """Every model on every suite, one model open at a time; then the suites without what was an anchor."""
    said: list[list[Answers]] = [[] for _ in suites]
    probes = sum(len(suite.probes) for _, _, suite, _ in suites)
    for number, (name, opened) in enumerate(models, 1):
        say(f"asking {number} of {len(models)}: {name}, {probes:,} pairs")
        respondent = opened()
        for place, (title, _, suite, _) in enumerate(suites):
            with watch(f"asking {name}: {title}") if watch else nullcontext() as progress:
                said[place].append(question(respondent, suite, progress=progress))
    found = []
    for (title, part, suite, is_published), answers in zip(suites, said, strict=True):
        found.append(
            Sheet(
                name=title,
                part=part,
                suite=suite,
                answers=tuple(answers),
                is_published=is_published,
            )
        )
        if plan is not None and part == "all" and (rest := restrict(suite, answers, plan)):
            found.append(
                Sheet(
                    name=title,
                    part="unseen",
                    suite=rest[0],
                    answers=tuple(rest[1]),
                    is_published=is_published,
                )
            )
    return found


def _contestants(
    sheet: Sheet, names: Sequence[str], measures: Sequence[str], settings: dict[str, Any]
) -> list[Contestant]:
    return [
        Contestant(
            name=name,
            answers=answers,
            estimates=tuple(
                estimate(m, sheet.suite, answers, **settings)
                for m in choose(sheet.suite, answers.labels, measures)
            ),
        )
        for name, answers in zip(names, sheet.answers, strict=True)
    ]


def compare_sheets(
    sheets: Sequence[Sheet],
    names: Sequence[str],
    control: str | None,
    *,
    permutations: int,
    **settings: Any,
) -> tuple[list[Score], list[Change], int]:
    """Every value; every change against the first model and, where there is one, against the control; how many p values were adjusted together."""
    against_first: list[Comparison] = []
    against_control: list[Comparison] = []
    for sheet in sheets:
        fitting = [
            m.name for m in choose(sheet.suite, sheet.answers[0].labels, None) if m.name in MEASURES
        ]
        told = {
            **settings,
            "resamples": min(settings["resamples"], MANY)
            if sheet.part == "dev"
            else settings["resamples"],
        }
        contestants = _contestants(sheet, names, fitting, told)
        against_first.append(
            compare_answers(
                sheet.suite, contestants, measures=fitting, permutations=permutations, **told
            )
        )
        if control in names and len(names) > 2:
            others = [c for c in contestants if c.name not in (names[0], control)]
            first = next(c for c in contestants if c.name == control)
            against_control.append(
                compare_answers(
                    sheet.suite,
                    [first, *others],
                    measures=fitting,
                    permutations=permutations,
                    **told,
                )
            )
    compared = [adjust(family) for family in (against_first, against_control) if family]
    scores = [
        _score(sheet, contestant.name, e)
        for sheet, comparison in zip(sheets, compared[0], strict=True)
        for contestant in comparison.models
        for e in contestant.estimates
    ]
    changes = [
        _change(sheet, d, comparison.reference.name)
        for family in compared
        for sheet, comparison in zip(sheets, family, strict=True)
        for d in comparison.differences
    ]
    return scores, changes, compared[0][0].tests


def _score(sheet: Sheet, model: str, found: Any) -> Score:
    return Score(
        asked=sheet.name,
        part=sheet.part,
        measure=found.measure,
        model=model,
        value=found.value,
        low=found.low,
        high=found.high,
        signature=found.signature,
        note=found.note,
    )


def _change(sheet: Sheet, found: Any, against: str) -> Change:
    return Change(
        asked=sheet.name,
        part=sheet.part,
        measure=found.measure,
        model=found.model,
        against=against,
        value=found.difference.value,
        low=found.difference.low,
        high=found.difference.high,
        nearer_low=found.distance.low,
        nearer_high=found.distance.high,
        p=found.p,
        adjusted=found.adjusted,
        note=found.note,
    )
