"""ordinary-nli: plain and hard pairs with three labels, and a user's own file of such pairs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evenhand import lexicons
from evenhand.core.corpora import Pair, read_corpus
from evenhand.core.probe import NEUTRAL, NLI_LABELS, NOT_ENTAILMENT, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.ordinary.measures import STRATUM


class OrdinaryNli:
    """The pairs whose accuracy is reported with every bias score.

    plain: any competent model gets them right. hard: conditionals, quantities, time, negation.
    """

    name = "ordinary-nli"
    version = "2.0"
    kind: Kind = "pair"
    languages: tuple[str, ...] = ("en", "ja", "zh")
    variants: tuple[str, ...] = ("plain", "hard")
    is_published = False
    licence = "Apache-2.0"
    citation = "evenhand"
    description = (
        "Clear NLI pairs that do not turn on gender, to tell a biased model from one that does "
        "not understand: plain ones, and hard ones with conditionals, quantities, time."
    )
    options: type[SuiteOptions] = SuiteOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The plain or the hard pairs of one language."""
        variant = options.variant or self.variants[0]
        probes = tuple(
            Probe(
                id=f"{language}/{row['id']}",
                kind="pair",
                language=language,
                texts=(row["premise"], row["hypothesis"]),
                stratum=STRATUM,
                cluster=row["id"],
                tags={**_gold_tags(row["label"]), "phenomenon": row["phenomenon"]},
            )
            for row in lexicons.table(language, f"pairs_{variant}")
        )
        card = SuiteCard(
            name=f"{self.name}:{variant}",
            version=self.version,
            language=language,
            source="lexicons of evenhand",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
            factors=("pair",),
        )
        return Suite(card=card, probes=probes)


def _gold_tags(label: str) -> dict[str, str]:
    right = NEUTRAL if label == NOT_ENTAILMENT else label
    return {"gold": label, "fair": right, "stereotyped": right}


def pair_probes(name: str, pairs: Iterable[Pair], language: str) -> tuple[Probe, ...]:
    """Labelled pairs as probes; those that share a premise are one cluster."""
    return tuple(
        Probe(
            id=f"{name}/{place}",
            kind="pair",
            language=language,
            texts=(pair.premise, pair.hypothesis),
            stratum=STRATUM,
            cluster=pair.premise,
            tags=_gold_tags(pair.label),
        )
        for place, pair in enumerate(pairs)
    )


def read_labelled(path: Path, language: str) -> Suite:
    """A file of labelled pairs as a suite that has the name of the file.

    Raises InputError naming the first row that is not a labelled pair.
    """
    corpus = read_corpus(path, (*NLI_LABELS, NOT_ENTAILMENT))
    card = SuiteCard(
        name=path.name,
        version="file",
        language=language,
        source=f"{path.name}, SHA-256 {corpus.digest}",
        licence="that of the file",
        citation="that of the file",
        description="held-out pairs with their gold labels",
        factors=("premise",),
    )
    return Suite(card=card, probes=pair_probes(path.name, corpus.pairs, language))


SUITE = OrdinaryNli()
