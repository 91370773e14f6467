"""What raters say of candidates together: agreement, disagreements, and the objective stratum.

What two or more raters say alike is settled; what they say differently is decided by the owner.
Sentences that are settled for one gender are the objective stratum (OS) of a suite.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS, Probe
from evenhand.core.suite import Suite
from evenhand.core.text import number, percent
from evenhand.families.contextualised.mask_probe import mask_probe
from evenhand.stats.agreement import Agreement, krippendorff_alpha
from evenhand.study.candidates import CUE_TAG, KIND_TAG, MARKS_TAG, TYPES
from evenhand.study.objective import BOTH, BROKEN, CODES, VERDICT, VERDICTS
from evenhand.study.scores import accepted_answers
from evenhand.study.store import Store

FEWEST = 2  # raters who judge a sentence before it is settled
OWNER = "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was said of one candidate."""

    probe: Probe
    verdicts: Mapping[str, str]  # annotator-1 -> verdict, in the order of coming
    resolution: str = ""  # of the owner

    @property
    def is_shared(self) -> bool:
        """Whether two or more raters judged it."""
        return len(self.verdicts) >= FEWEST

    @property
    def is_alike(self) -> bool:
        """Whether two or more raters judged it and said the same."""
        return self.is_shared and len(set(self.verdicts.values())) == 1

    @property
    def is_disputed(self) -> bool:
        """Whether raters said different things of it."""
        return self.is_shared and not self.is_alike

    @property
    def settled(self) -> str:
        """The verdict that stands: that of all raters, else the owner's, else ""."""
        if self.is_alike:
            return next(iter(self.verdicts.values()))
        return self.resolution if self.is_disputed else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A sentence that raters judged differently, and what the owner decided ("": nothing yet)."""

    id: str
    text: str
    cue: str
    verdicts: Mapping[str, str]
    resolution: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveStatus:
    """How far a study of objective sentences is, and how far its raters agree."""

    study: str
    candidates: int
    raters: tuple[str, ...]  # who has finished a part
    shared: int  # sentences that two or more raters judged
    alike: int  # of these, judged alike by all
    agreement: float  # alike / shared
    alpha: float  # Krippendorff's, nominal, of the four verdicts
    note: str  # why alpha is NaN
    settled: Mapping[str, int]  # verdict -> sentences for which it stands
    resolved: int  # of these, by the owner
    unresolved: int  # disagreements that wait for the owner
    disagreements: tuple[Disagreement, ...]


def judge_candidates(suite: Suite, store: Store) -> list[Judged]:
    """Every candidate with the verdicts of finished parts, in the order of the suite.

    Nothing of anybody who has withdrawn.
    """
    names = {code: verdict for verdict, code in CODES.items()}
    said: dict[str, dict[str, str]] = {}
    for row in accepted_answers(store):
        if row.type == VERDICT:
            said.setdefault(row.probe, {})[row.annotator] = names[row.coarse]
    people, decided = store.annotators(), store.resolutions()
    return [
        Judged(
            probe=probe,
            verdicts={a.name: own[a.id] for a in people if a.id in own},
            resolution=decided.get(probe.id, ""),
        )
        for probe in suite.probes
        for own in (said.get(probe.id, {}),)
    ]


def alpha_of_verdicts(judged: Sequence[Judged]) -> Agreement:
    """Krippendorff's nominal alpha of the four verdicts, or NaN and why."""
    raters = sorted({name for one in judged for name in one.verdicts})
    table = np.full((len(raters), len(judged)), np.nan)
    for column, one in enumerate(judged):
        for name, verdict in one.verdicts.items():
            table[raters.index(name), column] = VERDICTS.index(verdict)
    return krippendorff_alpha(table)


def objective_status(name: str, judged: Sequence[Judged]) -> ObjectiveStatus:
    """Counts and agreement of the study with this name."""
    shared = [one for one in judged if one.is_shared]
    disputed = [one for one in shared if one.is_disputed]
    alike = len(shared) - len(disputed)
    alpha, note = alpha_of_verdicts(judged)
    counts = Counter(one.settled for one in shared)
    unresolved = sum(not one.resolution for one in disputed)
    names = {name for one in judged for name in one.verdicts}
    return ObjectiveStatus(
        study=name,
        candidates=len(judged),
        raters=tuple(sorted(names, key=lambda rater: (len(rater), rater))),
        shared=len(shared),
        alike=alike,
        agreement=alike / len(shared) if shared else math.nan,
        alpha=alpha,
        note=note,
        settled={verdict: counts[verdict] for verdict in VERDICTS},
        resolved=len(disputed) - unresolved,
        unresolved=unresolved,
        disagreements=tuple(
            Disagreement(
                id=one.probe.id,
                text=one.probe.texts[0],
                cue=one.probe.tags.get(CUE_TAG, ""),
                verdicts=one.verdicts,
                resolution=one.resolution,
            )
            for one in disputed
        ),
    )


def objective_suite(name: str, suite: Suite, judged: Sequence[Judged]) -> Suite:
    """The sentences that are settled for one gender, as a suite of the objective stratum.

    Each says in its tags who agreed (annotator-1 ...) or that the owner resolved it. Raises
    EvenhandError where no sentence is settled.
    """
    probes = tuple(_objective_probe(one) for one in judged if one.settled in GENDERS)
    status = objective_status(name, judged)
    if not probes:
        raise EvenhandError(
            f"no sentence of '{name}' is settled for one gender yet: {status.shared} of "
            f"{status.candidates} candidates were judged by two raters, {status.unresolved} "
            "disagreements wait for the owner at /owner. A part counts once it is finished"
        )
    alpha = f"alpha {number(status.alpha)}" if not math.isnan(status.alpha) else status.note
    source = (
        f"{suite.card.source}; study '{name}': {status.shared} of {status.candidates} candidates "
        f"judged by {len(status.raters)} raters, {percent(status.agreement, 1)} alike ({alpha}), "
        f"{status.resolved} disagreements resolved by the owner, {status.unresolved} open; left "
        f"out: {status.settled[BOTH]} where both words would do, {status.settled[BROKEN]} that are "
        "no proper sentences"
    )
    card = replace(
        suite.card,
        name=f"objective:{name}",
        source=source,
        description="Sentences with a blank whose context settles the gender, judged by people.",
    )
    return Suite(card=card, probes=probes)


def _objective_probe(judged: Judged) -> Probe:
    probe = judged.probe
    male, _, female = probe.tags.get("pair", "").partition("/")
    kept = {k: v for k, v in probe.tags.items() if k not in (MARKS_TAG, "fair", "stereotyped")}
    who = {"agreed": " ".join(judged.verdicts)}
    if not judged.is_alike:
        said = (f"{rater} {verdict}" for rater, verdict in judged.verdicts.items())
        who = {"judged": ", ".join(said), "resolved": OWNER}
    return mask_probe(
        identity=probe.id,
        language=probe.language,
        text=probe.texts[0],
        male=male or probe.texts[1],
        female=female or probe.texts[2],
        tags={
            **kept,
            "gold": judged.settled,
            "type": TYPES.get(probe.tags.get(KIND_TAG, ""), "context"),
            **who,
        },
    )


def with_controls(built: Suite, controls: Suite) -> Suite:
    """A built suite with these objective sentences as its controls.

    A measuring sentence that was found objective is no longer among the measuring ones. Raises
    EvenhandError where the languages differ, or an id would stand twice.
    """
    if built.card.language != controls.card.language:
        raise EvenhandError(
            f"the suite '{built.card.name}' is in '{built.card.language}', the objective sentences "
            f"are in '{controls.card.language}'; name a suite of the same language"
        )
    texts = {probe.texts[0] for probe in controls.probes}
    kept = tuple(p for p in built.probes if p.texts[0] not in texts)
    ids = {p.id for p in kept}
    if twice := next((p.id for p in controls.probes if p.id in ids), ""):
        raise EvenhandError(
            f"the id '{twice}' stands in the suite '{built.card.name}' for another sentence; "
            "name the suite that the candidates were found in, or write the objective ones alone"
        )
    moved = len(built.probes) - len(kept)
    source = (
        f"{built.card.source}; {len(controls.probes)} objective sentences ({moved} of them were "
        f"measuring ones) from {controls.card.name}: {controls.card.source}"
    )
    return Suite(card=replace(built.card, source=source), probes=(*kept, *controls.probes))
