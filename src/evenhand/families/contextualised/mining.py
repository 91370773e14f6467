"""Which sentences of raw text ask for a gender that nothing in them settles? Measuring sentences for the suite contextualised.

After Zhu, Du, Zhao, Liu and Liu 2024: sentences with exactly one gender word, a blank in its place, and as many that had the male word as had the
female one. The card counts what was left out and why.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.random import Generator

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, EvenhandWarning
from evenhand.core.probe import BLANK, GENDERS
from evenhand.core.protocols import Language, SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.contextualised.cutting import cut_sentences, read_passages
from evenhand.families.contextualised.gender_words import Swap, find_swap
from evenhand.families.contextualised.mask_probe import mask_probe
from evenhand.languages.names import NameFinder
from evenhand.languages.naming import open_finder

SHORTEST, LONGEST = 9, 119  # characters
PER_WORD = 100
LICENCE = "that of the corpus"


class CardWriter(Protocol):
    """A suite source that can say where its sentences come from."""

    def card(self, language: str, source: str, licence: str) -> SuiteCard:
        """Where the sentences come from."""
        ...


@dataclass(slots=True)
class Found:
    """The sentences that ask, in order, each with its file; how many were read, and what became of the others."""

    swaps: list[tuple[Swap, str]] = field(default_factory=list)
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def account(self) -> str:
        """How many were read, and left out for which reason?"""
        reasons = ", ".join(
            f"{reason} {count}"
            for reason, count in sorted(self.dropped.items(), key=lambda item: (-item[1], item[0]))
        )
        return f"{self.read} sentences read; left out: {reasons or 'none'}"


def mine_sentences(source: CardWriter, language: str, options: SuiteOptions) -> Suite:
    """The suite of measuring sentences that some corpora hold."""
    each = PER_WORD if options.per_word is None else options.per_word
    if each < 1:
        raise EvenhandError(
            f"{each} sentences per gender word were asked for; at least 1 is needed"
        )
    sentences = read_corpora(language, options)
    names = open_finder(language, options.names, [text for text, _ in sentences])
    found = search(catalog.language(language), sentences, names)
    kept = _balance(found, each, np.random.default_rng(options.seed))
    files = ", ".join(dict.fromkeys(path.name for path in options.corpora))
    if not kept:
        raise EvenhandError(
            f"no measuring sentence in {files}: {found.account}. Give a larger corpus; every pair needs sentences of both its words"
        )
    probes = tuple(
        mask_probe(
            identity=f"{language}/c{number:05d}",
            language=language,
            text=swap.text,
            male=swap.male,
            female=swap.female,
            tags={"original": swap.gender, "origin": origin},
        )
        for number, (swap, origin) in enumerate(kept, 1)
    )
    finder = f"; personal names found by {names.name}" if names else ""
    return Suite(
        card=source.card(language, f"cut from {files}; {found.account}{finder}", LICENCE),
        probes=probes,
    )


def read_corpora(language: str, options: SuiteOptions) -> list[tuple[str, str]]:
    """Every sentence with the name of its file, in order."""
    return [
        (text, path.name)
        for path in options.corpora
        for passage in read_passages(path)
        for text in cut_sentences(passage, language)
    ]


def search(
    language: Language, sentences: Sequence[tuple[str, str]], names: NameFinder | None = None
) -> Found:
    """Which sentences ask for a gender? The others are counted."""
    found = Found(read=len(sentences))
    seen: set[str] = set()
    for sentence, origin in sentences:
        swap = "duplicate" if sentence in seen else _judge(language, sentence, names)
        seen.add(sentence)
        if isinstance(swap, Swap):
            found.swaps.append((swap, origin))
        else:
            found.dropped[swap] += 1
    return found


def _judge(language: Language, sentence: str, names: NameFinder | None) -> Swap | str:
    if not SHORTEST <= len(sentence) <= LONGEST:
        return "too short" if len(sentence) < SHORTEST else "too long"
    if BLANK in sentence:
        return "has a blank already"
    swap = find_swap(language, sentence)
    return (
        "personal name"
        if isinstance(swap, Swap) and names is not None and names.has_name(sentence)
        else swap
    )


def _balance(found: Found, each: int, rng: Generator) -> list[tuple[Swap, str]]:
    """As many sentences of the male as of the female word of every pair, chosen at random, in the order of the corpus."""
    places: dict[tuple[str, str], dict[str, list[int]]] = {}
    for place, (swap, _) in enumerate(found.swaps):
        places.setdefault(swap.pair, {gender: [] for gender in GENDERS})[swap.gender].append(place)
    kept: list[int] = []
    short: dict[str, int] = {}
    for pair in sorted(places):
        size = min(each, *map(len, places[pair].values()))
        if size < each:
            short["/".join(pair)] = size
        for gender in GENDERS:
            kept += rng.permutation(places[pair][gender])[:size].tolist()
    if len(kept) < len(found.swaps):
        found.dropped["balance"] += len(found.swaps) - len(kept)
    if short and kept:
        shown = ", ".join(f"{pair} {size}" for pair, size in list(short.items())[:10])
        more = f" and {len(short) - 10} more" if len(short) > 10 else ""
        warnings.warn(
            f"fewer than {each} sentences of each word for {shown}{more}; a larger corpus has more",
            EvenhandWarning,
            stacklevel=3,
        )
    return [found.swaps[place] for place in sorted(kept)]
