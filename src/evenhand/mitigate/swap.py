"""How does a corpus get its gender-swapped copies? Debiasing by gender swap (Sharma, Dey and Sinha 2021): the pairs, then the swapped ones with their labels.

OUT.jsonl holds premise, hypothesis, label and source (original or swapped); paired, every original row with its swapped twin instead, for logit
pairing. OUT.swaps.json beside it says what was swapped, what was left and why.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core.errors import EvenhandWarning, InputError
from evenhand.core.files import require_writable, write_atomic
from evenhand.core.protocols import Language
from evenhand.languages.gender_words import NameSwap
from evenhand.languages.swapping import SwappedPair, require_swappable, swap_pair
from evenhand.mitigate.methods import names_occupation
from evenhand.train.corpus import TWIN_FIELDS, Corpus, Pair, read_corpus

ORIGINAL, SWAPPED = "original", "swapped"
NO_GENDER, NO_OCCUPATION = "no gender word", "no occupation"
_EVERY = 500  # pairs between two reports of progress
Tick = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapReport:
    """What became of a corpus."""

    corpus: Corpus
    out: Path
    language: str
    written: int  # rows of OUT
    swapped: int  # pairs
    unswapped: Counter[str]  # pairs that have no swapped copy, by reason
    changes: Counter[tuple[str, str]]  # words, old and new
    left: Counter[tuple[str, str]]  # words and reasons
    options: dict[str, Any]

    @property
    def path(self) -> Path:
        """Where the account of it stands."""
        return self.out.with_name(f"{self.out.stem}.swaps.json")

    def describe(self) -> dict[str, Any]:
        """The account, as it is written."""
        return {
            "file": self.corpus.describe(),
            "out": self.out.name,
            "language": self.language,
            "options": self.options,
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
    *,
    names: NameSwap | None = None,
    only_occupations: bool = False,
    paired: bool = False,
    has_biology: bool = False,
    tick: Tick | None = None,
) -> SwapReport:
    """The corpus with its swapped copies, written as OUT, and the account of it beside it; whole or not at all."""
    require_swappable(language)
    _require_out(path, out)
    corpus = read_corpus(path)
    require_writable(out.parent)
    is_named = names_occupation(language.code) if only_occupations else None
    made: list[SwappedPair | None] = []
    unswapped: Counter[str] = Counter()
    changes: Counter[tuple[str, str]] = Counter()
    left: Counter[tuple[str, str]] = Counter()
    for place, pair in enumerate(corpus.pairs, 1):
        found = swap_pair(
            language, pair.premise, pair.hypothesis, names=names, has_biology=has_biology
        )
        is_wanted = found.is_changed and (is_named is None or is_named(pair))
        made.append(found if is_wanted else None)
        left.update((word.lower(), reason) for word, reason in found.left)
        if is_wanted:
            changes.update(found.changes)
        else:
            unswapped[
                NO_OCCUPATION
                if found.is_changed
                else found.left[-1][1]
                if found.left
                else NO_GENDER
            ] += 1
        if tick is not None and (place % _EVERY == 0 or place == len(corpus.pairs)):
            tick(place, len(corpus.pairs), 0)
    rows = _pair_rows(corpus.pairs, made) if paired else _append_rows(corpus.pairs, made)
    report = SwapReport(
        corpus=corpus,
        out=out,
        language=language.code,
        written=len(rows),
        swapped=sum(m is not None for m in made),
        unswapped=unswapped,
        changes=changes,
        left=left,
        options={
            "names": "swap" if names else "keep",
            "only": "occupations" if only_occupations else "all",
            "paired": paired,
            "biology": has_biology,
        },
    )
    if not report.swapped:
        warnings.warn(
            f"no pair of {path} was swapped ({_account(unswapped)}); is the file in {language.name}?",
            EvenhandWarning,
            stacklevel=2,
        )
    write_atomic(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    write_atomic(report.path, json.dumps(report.describe(), ensure_ascii=False, indent=1) + "\n")
    return report


def _append_rows(pairs: tuple[Pair, ...], made: list[SwappedPair | None]) -> list[dict[str, str]]:
    """The pairs, and behind them the swapped ones in the same order."""
    rows = [
        {"premise": p.premise, "hypothesis": p.hypothesis, "label": p.label, "source": ORIGINAL}
        for p in pairs
    ]
    rows += [
        {"premise": m.premise, "hypothesis": m.hypothesis, "label": p.label, "source": SWAPPED}
        for p, m in zip(pairs, made, strict=True)
        if m is not None
    ]
    return rows


def _pair_rows(pairs: tuple[Pair, ...], made: list[SwappedPair | None]) -> list[dict[str, str]]:
    """Every pair once, with its twin where it has one."""
    return [
        {"premise": p.premise, "hypothesis": p.hypothesis, "label": p.label, "source": ORIGINAL}
        | ({} if m is None else dict(zip(TWIN_FIELDS, (m.premise, m.hypothesis), strict=True)))
        for p, m in zip(pairs, made, strict=True)
    ]


def _require_out(path: Path, out: Path) -> None:
    if out.suffix.lower() != ".jsonl":
        raise InputError(out, f"'{out.suffix}' is no form that is written; name a .jsonl file")
    if out.exists() and path.exists() and out.samefile(path):
        raise InputError(out, "is the file that is read; name another one, nothing is overwritten")


def _account(unswapped: Counter[str]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in unswapped.most_common())
