"""Gender-swapped copies of a corpus (Sharma, Dey and Sinha 2021): the pairs, then the swapped ones.

OUT.jsonl holds premise, hypothesis, label and source (original or swapped). With `is_paired` it
holds every original row with its swapped twin instead, for logit pairing; with `sample` only some
that have one, drawn at random, for a reader. OUT.swaps.json beside it says what was swapped, what
was left and why.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand import __version__
from evenhand.core.corpora import TWIN_FIELDS, Corpus, Pair, read_corpus
from evenhand.core.document import Column, Document, Row, Table, make_section
from evenhand.core.errors import EvenhandWarning, InputError
from evenhand.core.files import require_writable, write_atomic
from evenhand.core.plain import to_json
from evenhand.core.protocols import Language
from evenhand.languages.gender_words import NameSwap
from evenhand.languages.names import AUTO, find_people
from evenhand.languages.swapping import SwappedPair, require_swappable, swap_pair
from evenhand.mitigate.methods import names_occupation

ORIGINAL, SWAPPED = "original", "swapped"
NO_GENDER, NO_OCCUPATION = "no gender word", "no occupation"
SHOWN = 12  # word pairs on a terminal; the account has all
_EVERY = 500  # pairs between two reports of progress
Tick = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapOptions:
    """What is swapped, and how it is written."""

    names: NameSwap | None = None  # how first names are swapped; None: they stay
    name_finder: str = AUTO  # what finds named persons
    is_occupations_only: bool = False  # only pairs that name an occupation
    is_paired: bool = False  # twins in the rows of their pairs instead of copies after them
    has_biology: bool = False  # bearded men and pregnant women too
    sample: int | None = None  # only so many swapped pairs, each with its twin
    seed: int = 0  # of the sample

    def describe(self) -> dict[str, Any]:
        """The options as the account says them."""
        return {
            "names": "swap" if self.names else "keep",
            "only": "occupations" if self.is_occupations_only else "all",
            "paired": self.is_paired,
            "biology": self.has_biology,
            "sample": self.sample,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapReport:
    """What a swap did to a corpus."""

    corpus: Corpus
    out: Path
    language: str
    written: int  # rows of OUT
    swapped: int  # pairs
    unswapped: Counter[str]  # pairs that have no swapped copy, by reason
    changes: Counter[tuple[str, str]]  # words, old and new
    left: Counter[tuple[str, str]]  # words and reasons
    options: SwapOptions
    finder: str  # what found named persons

    @property
    def path(self) -> Path:
        """The file of the account."""
        return self.out.with_name(f"{self.out.stem}.swaps.json")

    def describe(self) -> dict[str, Any]:
        """The account as plain data, the content of OUT.swaps.json."""
        return {
            "file": self.corpus.describe(),
            "out": self.out.name,
            "language": self.language,
            "options": self.options.describe(),
            "names found by": self.finder,
            "pairs": len(self.corpus.pairs),
            "swapped": self.swapped,
            "written": self.written,
            "not swapped": dict(self.unswapped.most_common()),
            "changes": [
                {"old": old, "new": new, "count": count}
                for (old, new), count in self.changes.most_common()
            ],
            "left": [
                {"word": word, "reason": reason, "count": count}
                for (word, reason), count in self.left.most_common()
            ],
            "evenhand": __version__,
        }


def swap_file(
    path: Path,
    language: Language,
    out: Path,
    options: SwapOptions | None = None,
    tick: Tick | None = None,
) -> SwapReport:
    """Write the corpus with its swapped copies to OUT; returns the account, written beside it.

    Raises EvenhandError where the language cannot be swapped or a file cannot be read or written;
    then nothing is written.
    """
    options = options or SwapOptions()
    require_swappable(language)
    _require_out(path, out)
    corpus = read_corpus(path)
    require_writable(out.parent)
    is_named = names_occupation(language.code) if options.is_occupations_only else None
    texts = [text for pair in corpus.pairs for text in (pair.premise, pair.hypothesis)]
    people = find_people(language.code, options.name_finder, texts)
    twins: list[SwappedPair | None] = []
    unswapped: Counter[str] = Counter()
    changes: Counter[tuple[str, str]] = Counter()
    left: Counter[tuple[str, str]] = Counter()
    for place, pair in enumerate(corpus.pairs, 1):
        twin = swap_pair(
            language,
            pair.premise,
            pair.hypothesis,
            names=options.names,
            people=people,
            has_biology=options.has_biology,
        )
        is_wanted = twin.is_changed and (is_named is None or is_named(pair))
        twins.append(twin if is_wanted else None)
        left.update((word.lower(), reason) for word, reason in twin.left)
        if is_wanted:
            changes.update(twin.changes)
        else:
            unswapped[_reason(twin)] += 1
        if tick is not None and (place % _EVERY == 0 or place == len(corpus.pairs)):
            tick(place, len(corpus.pairs), 0)
    make_rows = _paired_rows if options.is_paired else _appended_rows
    rows = make_rows(corpus.pairs, twins)
    if options.sample is not None:
        rows = _sample(corpus.pairs, twins, options.sample, options.seed)
    report = SwapReport(
        corpus=corpus,
        out=out,
        language=language.code,
        written=len(rows),
        swapped=sum(twin is not None for twin in twins),
        unswapped=unswapped,
        changes=changes,
        left=left,
        options=options,
        finder=people.name,
    )
    if not report.swapped:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in unswapped.most_common())
        warnings.warn(
            f"no pair of {path} was swapped ({reasons}); is the file in {language.name}?",
            EvenhandWarning,
            stacklevel=2,
        )
    write_atomic(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    write_atomic(report.path, to_json(report.describe()))
    return report


def swap_document(report: SwapReport) -> Document:
    """What was swapped and what was left, as a document."""
    total = len(report.corpus.pairs)
    undecided = ""
    if report.corpus.undecided:
        undecided = f" ({report.corpus.undecided:,} rows without a gold label left out)"
    sections = (
        make_section("left", "Not swapped", (_reasons_table(report),), is_brief=True),
        make_section("words", "Words that were swapped", (_words_table(report),), is_brief=True),
    )
    return Document(
        name="swaps",
        title=str(report.corpus.path),
        subtitle=f"{total:,} pairs{undecided}, {report.swapped:,} swapped",
        lead=(),
        sections=tuple(section for section in sections if section is not None),
        language=report.language,
    )


def _reasons_table(report: SwapReport) -> Table | None:
    if not report.unswapped:
        return None
    total = len(report.corpus.pairs)
    return Table(
        name="reasons",
        title="Not swapped",
        columns=(
            Column(title="not swapped"),
            Column(title="pairs", form="count"),
            Column(title="share", form="percent"),
        ),
        rows=tuple(
            Row(cells=(reason, count, count / total))
            for reason, count in report.unswapped.most_common()
        ),
    )


def _words_table(report: SwapReport) -> Table | None:
    if not report.changes:
        return None
    return Table(
        name="words",
        title="Words that were swapped",
        columns=(
            Column(title="word", is_quoted=True),
            Column(title="becomes", is_quoted=True),
            Column(title="times", form="count"),
        ),
        rows=tuple(
            Row(cells=(old, new, count)) for (old, new), count in report.changes.most_common()
        ),
        limit=SHOWN,
        cut="most frequent",
    )


def _reason(twin: SwappedPair) -> str:
    """Why a pair has no swapped copy."""
    if twin.is_changed:
        return NO_OCCUPATION
    return twin.left[-1][1] if twin.left else NO_GENDER


def _row(premise: str, hypothesis: str, label: str, source: str) -> dict[str, str]:
    return {"premise": premise, "hypothesis": hypothesis, "label": label, "source": source}


def _appended_rows(
    pairs: Sequence[Pair], twins: Sequence[SwappedPair | None]
) -> list[dict[str, str]]:
    """The pairs, and after them the swapped ones in the same order."""
    rows = [_row(p.premise, p.hypothesis, p.label, ORIGINAL) for p in pairs]
    return rows + [
        _row(twin.premise, twin.hypothesis, pair.label, SWAPPED)
        for pair, twin in zip(pairs, twins, strict=True)
        if twin is not None
    ]


def _paired_rows(
    pairs: Sequence[Pair], twins: Sequence[SwappedPair | None]
) -> list[dict[str, str]]:
    """Every pair once, with its twin where it has one."""
    rows = []
    for pair, twin in zip(pairs, twins, strict=True):
        row = _row(pair.premise, pair.hypothesis, pair.label, ORIGINAL)
        if twin is not None:
            row |= zip(TWIN_FIELDS, (twin.premise, twin.hypothesis), strict=True)
        rows.append(row)
    return rows


def _sample(
    pairs: Sequence[Pair], twins: Sequence[SwappedPair | None], size: int, seed: int
) -> list[dict[str, str]]:
    """Some of the swapped pairs with their twins, all of them where there are fewer."""
    swapped = [place for place, twin in enumerate(twins) if twin is not None]
    order = np.random.default_rng(seed).permutation(len(swapped))[:size]
    drawn = [swapped[place] for place in order]
    return _paired_rows([pairs[place] for place in drawn], [twins[place] for place in drawn])


def _require_out(path: Path, out: Path) -> None:
    if out.suffix.lower() != ".jsonl":
        raise InputError(out, f"'{out.suffix}' is no form that is written; name a .jsonl file")
    if out.exists() and path.exists() and out.samefile(path):
        raise InputError(out, "is the file that is read; name another one, nothing is overwritten")
