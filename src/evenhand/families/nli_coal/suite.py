"""Does a model conclude the gender of a person from the job? Built from the lexicons, in every language that has them.

Premise: a frame with an occupation; hypothesis: the same frame with a gender word. PS: the gender that the occupation leans to; AS: the other; NS: an
occupation without a lean, either gender; NB: the non-binary word, outside the published formula. Neutral is right in PS, AS, NS; entailment in NB.
As many occupations of each lean, so that PS, AS and NS are of one size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, NEUTRAL, Kind, Probe
from evenhand.core.protocols import Language, SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.languages.captions import mine

FRAMES_EACH = 10
LEANS = ("female", "male", "none")
OTHER = {"female": "male", "male": "female"}


def occupations(language: str) -> list[dict[str, str]]:
    """The occupation words of a language with lean and its source; other languages take both from the English row they translate."""
    english = {row["word"]: row for row in lexicons.table("en", "occupations")}
    return [
        {**english[row.get("english", row["word"])], "word": row["word"]}
        for row in lexicons.table(language, "occupations")
    ]


def frames(language: str, options: SuiteOptions) -> dict[str, str]:
    """The frames by id: the built-in ones, or those mined from captions."""
    if options.captions:
        found = mine(options.captions, catalog.language(language)).frames
        if len(found) < FRAMES_EACH:
            names = ", ".join(p.name for p in options.captions)
            raise EvenhandError(
                f"only {len(found)} clean frames in {names}; at least {FRAMES_EACH} are needed. Give more captions."
            )
        return {f"c{i:04d}": text for i, text in enumerate(found)}
    return {row["id"]: row["text"] for row in lexicons.table(language, "frames")}


def find_stratum(lean: str, gender: str) -> tuple[str, str, str]:
    """Stratum, fair label and stereotyped label of an occupation against a gender word."""
    if gender == "nonbinary":
        return "NB", ENTAILMENT, CONTRADICTION
    if lean == "none":
        return "NS", NEUTRAL, ENTAILMENT if gender == "male" else CONTRADICTION
    return ("PS", NEUTRAL, ENTAILMENT) if gender == lean else ("AS", NEUTRAL, CONTRADICTION)


def ask_pairs(language: Language, row: dict[str, str], frame: str, text: str) -> Iterator[Probe]:
    """An occupation in a frame against every gender word."""
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
            twin=f"{stem}/{OTHER[gender]}" if gender in OTHER else None,
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


def _deal(
    words: Sequence[dict[str, str]],
    texts: dict[str, str],
    language: Language,
    rng: np.random.Generator,
) -> Iterator[Probe]:
    """Frames go round like cards, so that each is used about equally often."""
    names = list(texts)
    rng.shuffle(names)
    turn = 0
    for row in words:
        for _ in range(FRAMES_EACH):
            frame = names[turn % len(names)]
            turn += 1
            yield from ask_pairs(language, row, frame, texts[frame])


class OccupationNli:
    """The built-in occupation suite."""

    name = "occupation-nli"
    version = "1.0"
    kind: Kind = "pair"
    languages = ("en", "ja", "zh")
    variants = ("balanced",)
    is_published = False
    licence = "Apache-2.0 (sentences and words); leans from public-domain labour statistics and MIT-licensed crowd scores"
    citation = "evenhand; after Anantaprayoon, Kaneko, Okazaki (2024) and Dev et al. (2020)"
    description = (
        "Occupation premises against woman / man / person hypotheses, three leans, balanced strata."
    )

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The suite in one language, the same for the same seed."""
        speaker = catalog.language(language)
        rng = np.random.default_rng(options.seed)
        by_lean = {
            lean: sorted(
                (r for r in occupations(language) if r["lean"] == lean), key=lambda r: r["word"]
            )
            for lean in LEANS
        }
        count = min(len(rows) for rows in by_lean.values())
        chosen = [
            rows[i] for rows in by_lean.values() for i in sorted(rng.permutation(len(rows))[:count])
        ]
        texts = frames(language, options)
        source = (
            "lexicons of evenhand"
            if not options.captions
            else f"frames mined from {', '.join(p.name for p in options.captions)}"
        )
        card = SuiteCard(
            name=self.name,
            version=self.version,
            language=language,
            source=source,
            licence=self.licence if not options.captions else "that of the captions",
            citation=self.citation,
            description=self.description,
        )
        return Suite(card=card, probes=tuple(_deal(chosen, texts, speaker, rng)))


SUITE = OccupationNli()
