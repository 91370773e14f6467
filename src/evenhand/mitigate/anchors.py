"""Anchors: an occupation with either gender, labelled neutral, and pairs where gender does decide.

To avoid teaching to the test, only half of the occupations of each lean become anchors, in
sentences that no audited suite uses and with statements that none of them asks. Occupations that
are not anchors and do not share their last word with one are the unseen ones, on which everything
is measured a second time.
"""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand import lexicons
from evenhand.core.answers import Answers
from evenhand.core.corpora import Pair
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, NEUTRAL, Probe
from evenhand.core.protocols import Language
from evenhand.core.suite import Suite
from evenhand.families.nli_coal.suite import LEANS, occupations
from evenhand.languages.captions import mine
from evenhand.languages.frames import SLOT

FEWEST = 20  # frames
SUBJECT = 12  # letters before the slot, at most, so that the slot is the subject of the sentence
BLOCK = 6  # rows that belong together: two of each label
UNSEEN = "unseen occupations"
_ARTICLE = re.compile(r"\b(?:an?|the) \{x\}")
_ENDS = " .!。！"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorPlan:
    """Which words and frames become anchors."""

    occupations: tuple[str, ...]  # that are used
    unseen: tuple[str, ...]  # of the lexicon, that are not
    frames: tuple[str, ...]


def is_same_trade(one: str, other: str) -> bool:
    """Whether two occupations name the same trade.

    `registered nurse` and `nurse`, `file clerk` and `billing clerk`; 看護師 and 准看護師.
    """
    first, second = one.casefold().split(), other.casefold().split()
    if len(first) == len(second) == 1 and not one.isascii():
        return first[0] in second[0] or second[0] in first[0]
    return first[-1:] == second[-1:] or set(first) <= set(second) or set(second) <= set(first)


def split_occupations(
    rows: Sequence[dict[str, str]], rng: np.random.Generator
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Half of the occupations of each lean, and the rest.

    Those that share their last word stay together, so that the rest is really unseen.
    """
    trades: dict[str, list[dict[str, str]]] = {}
    for row in sorted(rows, key=lambda r: r["word"]):
        trades.setdefault(row["word"].casefold().split()[-1], []).append(row)
    room = {lean: sum(r["lean"] == lean for r in rows) // 2 for lean in LEANS}
    used: list[str] = []
    heads = list(trades)
    for place in rng.permutation(len(heads)):
        trade = trades[heads[place]]
        wanted = {lean: sum(r["lean"] == lean for r in trade) for lean in LEANS}
        if all(wanted[lean] <= room[lean] for lean in LEANS):
            room = {lean: room[lean] - wanted[lean] for lean in LEANS}
            used += [r["word"] for r in trade]
    return tuple(sorted(used)), tuple(sorted({r["word"] for r in rows} - set(used)))


def skeleton(frame: str) -> str:
    """The frame without what differs between two ways to write it.

    Slot, article, capital, full stop.
    """
    flat = " ".join(SLOT.sub("{x}", frame).casefold().split())
    return _ARTICLE.sub("{x}", flat).strip(_ENDS)


def frames_of(suites: Iterable[Suite]) -> set[str]:
    """Every sentence that the suites put an occupation into."""
    frames = set()
    for probe in (p for suite in suites for p in suite.probes):
        template = probe.tags.get("template")
        if not template:
            occupation = occupation_of(probe).casefold()
            template = probe.texts[0].casefold().replace(occupation, "{x}")
        frames.add(skeleton(template))
    return frames


def occupation_of(probe: Probe) -> str:
    """The occupation that a probe is about."""
    return probe.tags.get("occupation") or probe.cluster


def plan_anchors(
    language: Language, pairs: Iterable[Pair], suites: Sequence[Suite], *, seed: int
) -> AnchorPlan:
    """Half of the lexicon's occupations, and the captions among the premises that no suite uses.

    Raises EvenhandError where there are too few captions, or the language has no occupations.
    """
    if not lexicons.has_table(language.code, "occupations"):
        known = ", ".join(lexicons.languages_with("occupations"))
        raise EvenhandError(
            f"anchors need a list of occupations; '{language.code}' has none, {known} have. "
            "Leave the method anchors out"
        )
    used, rest = split_occupations(occupations(language.code), np.random.default_rng(seed))
    asked = frames_of(suites)
    frames = [
        frame
        for frame in _caption_frames(language, pairs)
        if frame.index("{") <= SUBJECT and skeleton(frame) not in asked
    ]
    if len(frames) < FEWEST:
        raise EvenhandError(
            f"anchors are made of captions with one {language.subjects['female']} or "
            f"{language.subjects['male']} that no audited suite uses; the training files have "
            f"{len(frames)}, at least {FEWEST} are needed. Add a file of captions such as SNLI "
            "with --train, or leave the method anchors out"
        )
    return AnchorPlan(occupations=used, unseen=rest, frames=tuple(frames))


def _caption_frames(language: Language, pairs: Iterable[Pair]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "captions.txt"
        lines = (" ".join(pair.premise.split()) for pair in pairs)
        path.write_text("\n".join(lines), encoding="utf-8")
        return mine([path], language).frames


def write_anchors(
    plan: AnchorPlan, language: Language, count: int, rng: np.random.Generator
) -> list[Pair]:
    """About `count` rows, in whole blocks.

    Every occupation about equally often, every frame too, sentence and statement in turn.
    """
    statements: Sequence[dict[str, str]] = ()
    if lexicons.has_table(language.code, "anchors"):
        statements = lexicons.table(language.code, "anchors")
    words, frames = rng.permutation(plan.occupations), rng.permutation(plan.frames)
    rows: list[Pair] = []
    for turn in range(max(1, round(count / BLOCK))):
        word, frame = str(words[turn % len(words)]), str(frames[turn % len(frames)])
        if statements and turn % 2:
            statement = statements[turn // 2 % len(statements)]
            rows += _statement_rows(language, frame, word, statement)
        else:
            rows += _sentence_rows(language, frame, word, has_woman=bool(turn // 2 % 2))
    return rows


def _sentence_rows(language: Language, frame: str, word: str, *, has_woman: bool) -> Iterator[Pair]:
    """The same sentence with another word.

    A job does not determine the gender, everybody is a person, a woman is not a man.
    """
    job = language.fill(frame, word)
    woman, man, person = (
        language.fill(frame, language.subjects[g]) for g in ("female", "male", "nonbinary")
    )
    yield from (Pair(job, woman, NEUTRAL), Pair(job, man, NEUTRAL), Pair(job, person, ENTAILMENT))
    yield Pair(woman if has_woman else man, person, ENTAILMENT)
    yield from (Pair(woman, man, CONTRADICTION), Pair(man, woman, CONTRADICTION))


def _statement_rows(
    language: Language, frame: str, word: str, statement: dict[str, str]
) -> Iterator[Pair]:
    """A statement on gender: undecided for a job, true of one gender word, false of the other."""
    job = language.fill(frame, word)
    for gender, other in (("female", "male"), ("male", "female")):
        premise = language.fill(frame, language.subjects[gender])
        yield from (
            Pair(job, statement[gender], NEUTRAL),
            Pair(premise, statement[gender], ENTAILMENT),
        )
        yield Pair(premise, statement[other], CONTRADICTION)


def unseen_part(
    suite: Suite, answers: Sequence[Answers], plan: AnchorPlan
) -> tuple[Suite, list[Answers]] | None:
    """The suite and its answers without the occupations that were anchors, and their trades.

    None where nothing or everything is left.
    """
    is_seen = {
        name: any(is_same_trade(name, used) for used in plan.occupations)
        for name in {occupation_of(p) for p in suite.probes}
    }
    rows = [i for i, p in enumerate(suite.probes) if not is_seen[occupation_of(p)]]
    if not rows or len(rows) == len(suite.probes):
        return None
    part = Suite(
        card=dataclasses.replace(suite.card, name=f"{suite.card.name}, {UNSEEN}"),
        probes=tuple(suite.probes[i] for i in rows),
    )
    return part, [dataclasses.replace(a.select(rows), suite=part.reference) for a in answers]
