"""occupation-nli: occupation premises against gender hypotheses, built from the lexicons.

Premise: a frame with an occupation; hypothesis: the same frame with a gender word. PS: the gender
that the occupation leans to; AS: the other; NS: an occupation without a lean, either gender; NB:
the non-binary word, outside the published formula. Neutral is right in PS, AS, NS; entailment in
NB. All leans have equally many occupations, so that PS, AS and NS have the same size. Where the
leans come from is an option (`families/leans.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, NEUTRAL, Kind, Probe
from evenhand.core.protocols import Language, SuiteOptions, option
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.leans import BOTH, LEANS_HELP, describe_source, find_leans
from evenhand.languages.captions import Mined, mine

FRAMES_EACH = 10  # frames for every occupation
LEANS = ("female", "male", "none")
CHANGED = {"zh": "1.1"}  # versions of the languages whose pairs have changed since 1.0
OTHER_GENDER = {"female": "male", "male": "female"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OccupationOptions(SuiteOptions):
    """How the occupation suite is built."""

    captions: tuple[Path, ...] = option(
        (), "Take the sentences from these captions (.txt, .jsonl, .csv), not the built-in ones."
    )
    leans: str = option(BOTH, f"{LEANS_HELP} [default: {BOTH}].")


def occupations(language: str, leans: str = BOTH) -> list[dict[str, str]]:
    """The occupation words of a language that have a lean, with it and its source.

    leans: labour, crowd, both or a file; other languages take the figures of the English row that
    they translate. Raises EvenhandError as `find_leans` does.
    """
    english = {row["word"]: row for row in lexicons.table("en", "occupations")}
    known = find_leans(language, leans)
    return [
        {
            **english[row.get("english", row["word"])],
            "word": row["word"],
            "lean": known[row["word"].lower()].lean,
            "source": known[row["word"].lower()].source,
        }
        for row in lexicons.table(language, "occupations")
        if row["word"].lower() in known
    ]


def frames(language: str, captions: Sequence[Path] = ()) -> dict[str, str]:
    """The frames by id: the built-in ones, or those mined from captions.

    Raises EvenhandError where the captions give too few.
    """
    if not captions:
        return {row["id"]: row["text"] for row in lexicons.table(language, "frames")}
    return numbered_frames(mine(captions, catalog.language(language)), captions)


def numbered_frames(mined: Mined, captions: Sequence[Path]) -> dict[str, str]:
    """The mined frames by id; raises EvenhandError where there are too few."""
    if len(mined.frames) < FRAMES_EACH:
        names = ", ".join(p.name for p in captions)
        raise EvenhandError(
            f"only {len(mined.frames)} clean frames in {names}; at least {FRAMES_EACH} are "
            "needed. Give more captions."
        )
    return {f"c{i:04d}": text for i, text in enumerate(mined.frames)}


def find_stratum(lean: str, gender: str) -> tuple[str, str, str]:
    """The stratum, fair label and stereotyped label of a pair, from its lean and gender word."""
    if gender == "nonbinary":
        return "NB", ENTAILMENT, CONTRADICTION
    if lean == "none":
        return "NS", NEUTRAL, ENTAILMENT if gender == "male" else CONTRADICTION
    return ("PS", NEUTRAL, ENTAILMENT) if gender == lean else ("AS", NEUTRAL, CONTRADICTION)


def ask_pairs(language: Language, row: dict[str, str], frame: str, text: str) -> Iterator[Probe]:
    """One probe per gender word for an occupation (a row of the lexicon) in a frame (id, text)."""
    premise = language.fill(text, row["word"])
    stem = f"{language.code}/{row['word'].replace(' ', '-')}/{frame}"
    for gender, word in language.subjects.items():
        stratum, fair, stereotyped = find_stratum(row["lean"], gender)
        yield Probe(
            id=f"{stem}/{gender}",
            kind="pair",
            language=language.code,
            texts=(premise, language.fill(text, word)),
            stratum=stratum,
            cluster=row["word"],
            twin=f"{stem}/{OTHER_GENDER[gender]}" if gender in OTHER_GENDER else None,
            tags={
                "occupation": row["word"],
                "lean": row["lean"],
                "source": row["source"],
                "gender": gender,
                "word": word,
                "frame": frame,
                "template": text,
                "fair": fair,
                "stereotyped": stereotyped,
            },
        )


def _chosen_occupations(
    language: str, leans: str, rng: np.random.Generator
) -> list[dict[str, str]]:
    """As many occupations of each lean as the rarest lean has.

    Raises EvenhandError where a lean has no occupation.
    """
    rows = sorted(occupations(language, leans), key=lambda row: row["word"])
    by_lean = [[row for row in rows if row["lean"] == lean] for lean in LEANS]
    count = min(map(len, by_lean))
    if count == 0:
        counts = ", ".join(
            f"{lean} {len(group)}" for lean, group in zip(LEANS, by_lean, strict=True)
        )
        raise EvenhandError(
            f"leans '{leans}' give the occupations of '{language}' these leans: {counts}. The "
            "suite needs some of each; give a table with more occupations"
        )
    return [group[i] for group in by_lean for i in sorted(rng.permutation(len(group))[:count])]


def _deal(
    rows: Sequence[dict[str, str]],
    texts: dict[str, str],
    language: Language,
    rng: np.random.Generator,
) -> Iterator[Probe]:
    """The probes of every occupation; frames are dealt in turn, so that all are used alike."""
    names = list(texts)
    rng.shuffle(names)
    turn = 0
    for row in rows:
        for _ in range(FRAMES_EACH):
            frame = names[turn % len(names)]
            turn += 1
            yield from ask_pairs(language, row, frame, texts[frame])


class OccupationNli:
    """The built-in occupation suite."""

    name = "occupation-nli"
    version = "1.0"
    kind: Kind = "pair"
    languages: tuple[str, ...] = ("en", "ja", "zh")
    variants: tuple[str, ...] = ("balanced",)
    is_published = False
    licence = (
        "Apache-2.0 (sentences and words); leans from public-domain labour statistics and "
        "MIT-licensed crowd scores"
    )
    citation = "evenhand; after Anantaprayoon, Kaneko, Okazaki (2024) and Dev et al. (2020)"
    description = (
        "Occupation premises against woman / man / person hypotheses, three leans, balanced strata."
    )
    options: type[SuiteOptions] = OccupationOptions

    def build(self, language: str, options: OccupationOptions) -> Suite:
        """The suite in one language, the same for the same seed."""
        rng = np.random.default_rng(options.seed)
        rows = _chosen_occupations(language, options.leans, rng)
        by = f"leans by {describe_source(options.leans)}"
        source, licence = "lexicons of evenhand", self.licence
        if options.captions:
            mined = mine(options.captions, catalog.language(language))
            texts = numbered_frames(mined, options.captions)
            names = ", ".join(p.name for p in options.captions)
            dropped = ", ".join(f"{why} {n:,}" for why, n in mined.dropped.most_common())
            source = f"{len(texts):,} frames mined from {names}; left out: {dropped or 'nothing'}"
            licence = "that of the captions"
        else:
            texts = frames(language)
        card = SuiteCard(
            name=self.name,
            version=CHANGED.get(language, self.version),
            language=language,
            source=f"{source}; {by}",
            licence=licence,
            citation=self.citation,
            description=self.description,
            factors=("occupation", "template"),
            within="lean",
        )
        return Suite(card=card, probes=tuple(_deal(rows, texts, catalog.language(language), rng)))


SUITE = OccupationNli()
