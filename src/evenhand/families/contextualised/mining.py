"""Measuring sentences cut from raw text, equally many with the male and the female word.

After Zhu, Du, Zhao, Liu and Liu 2024: sentences with exactly one gender word, a blank in its
place. What was left out is counted by reason, for the card of the suite.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from numpy.random import Generator

from evenhand.core.errors import EvenhandError, EvenhandWarning, InputError
from evenhand.core.files import read_rows, read_text
from evenhand.core.probe import BLANK, GENDERS
from evenhand.core.protocols import Language
from evenhand.families.contextualised.gender_words import Swap, find_swap
from evenhand.languages.names import NameFinder

SHORTEST, LONGEST = 9, 119  # characters, as in the published file
COLUMNS = ("text", "sentence", "premise", "hypothesis", "content")
SHORT_PAIRS = 10  # how many pairs a warning names
_TABLES = frozenset({".jsonl", ".json", ".csv", ".tsv"})
_LINE_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_CJK_CLOSERS = "」』”’）】》\"')"
# A Western full stop counts after a Chinese or Japanese character;
# 「行く。」と言った goes on after the quotation.
_CJK_END = re.compile(
    r"(?:[。！？!?…]|(?<=[\u3040-\u30ff\u4e00-\u9fff])[.．]+)++"
    rf"[{_CJK_CLOSERS}]*+(?!(?<=[{_CJK_CLOSERS}])(?:と|って|[、，,]))"
)
_SPACED_END = re.compile(r"[.!?…]+[\"'”’)\]」』]*(?=\s|$|[\"'“‘])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Rev|Gen|Col|Capt|Lt|Sgt|Gov|Sen|Rep|Hon|Mt|vs|etc|Inc"
    r"|Ltd|Co|Corp|Fig|Vol|pp|cf)|(?:^|[\s(\"“'‘.])[A-Za-z])\.$"
)
_PAIRS = (("「", "」"), ("『", "』"), ("“", "”"), ("（", "）"), ("(", ")"), ("[", "]"), ("‘", "’"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedSentence:
    """A measuring sentence and the file that it was cut from."""

    swap: Swap
    origin: str


@dataclass(slots=True)
class Mined:
    """The measuring sentences in order, how many were read, and why others were left out."""

    sentences: list[MinedSentence] = field(default_factory=list)
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> sentences

    @property
    def summary(self) -> str:
        """How many sentences were read, and how many left out for which reason."""
        by_count = sorted(self.dropped.items(), key=lambda item: (-item[1], item[0]))
        reasons = ", ".join(f"{reason} {count}" for reason, count in by_count)
        return f"{self.read} sentences read; left out: {reasons or 'none'}"

    def balance(self, per_word: int, rng: Generator) -> None:
        """Keep as many sentences of the male as of the female word of every pair.

        At most `per_word` of each, chosen at random, in the order of the corpus. Warns where a
        pair has fewer.
        """
        places: dict[tuple[str, str], dict[str, list[int]]] = {}
        for place, sentence in enumerate(self.sentences):
            by_gender = places.setdefault(sentence.swap.pair, {gender: [] for gender in GENDERS})
            by_gender[sentence.swap.gender].append(place)
        kept: list[int] = []
        short: dict[str, int] = {}
        for pair in sorted(places):
            size = min(per_word, *map(len, places[pair].values()))
            if size < per_word:
                short["/".join(pair)] = size
            for gender in GENDERS:
                kept += rng.permutation(places[pair][gender])[:size].tolist()
        if len(kept) < len(self.sentences):
            self.dropped["balance"] += len(self.sentences) - len(kept)
        if short and kept:
            _warn_of_short_pairs(short, per_word)
        self.sentences = [self.sentences[place] for place in sorted(kept)]


def _warn_of_short_pairs(short: dict[str, int], per_word: int) -> None:
    names = ", ".join(f"{pair} {size}" for pair, size in list(short.items())[:SHORT_PAIRS])
    more = f" and {len(short) - SHORT_PAIRS} more" if len(short) > SHORT_PAIRS else ""
    warnings.warn(
        f"fewer than {per_word} sentences of each word for {names}{more}; a larger corpus has more",
        EvenhandWarning,
        stacklevel=4,
    )


def read_corpora(language: str, paths: Sequence[Path]) -> list[tuple[str, str]]:
    """Every sentence of the files with the name of its file, in order."""
    return [
        (text, path.name)
        for path in paths
        for passage in read_passages(path)
        for text in cut_sentences(passage, language)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """How many characters a sentence may have."""

    shortest: int = SHORTEST
    longest: int = LONGEST

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest:
            raise EvenhandError(
                f"sentences of {self.shortest} to {self.longest} characters were asked for; "
                "give a shortest length of at least 1 and a longest that is not below it"
            )


def mine(
    language: Language,
    sentences: Sequence[tuple[str, str]],
    names: NameFinder | None = None,
    lengths: Lengths | None = None,
) -> Mined:
    """The measuring sentences among (sentence, origin); the others are counted by reason."""
    lengths = lengths or Lengths()
    mined = Mined(read=len(sentences))
    seen: set[str] = set()
    for sentence, origin in sentences:
        swap = "duplicate" if sentence in seen else _judge(language, sentence, names, lengths)
        seen.add(sentence)
        if isinstance(swap, Swap):
            mined.sentences.append(MinedSentence(swap=swap, origin=origin))
        else:
            mined.dropped[swap] += 1
    return mined


def _judge(
    language: Language, sentence: str, names: NameFinder | None, lengths: Lengths
) -> Swap | str:
    if not lengths.shortest <= len(sentence) <= lengths.longest:
        return "too short" if len(sentence) < lengths.shortest else "too long"
    if BLANK in sentence:
        return "has a blank already"
    swap = find_swap(language, sentence)
    is_named = isinstance(swap, Swap) and names is not None and names.has_name(sentence)
    return "personal name" if is_named else swap


def read_passages(path: Path) -> list[str]:
    """The text of a file; of a table, the cells of its text columns, row by row.

    Raises InputError where a table has no text column, or no text in it.
    """
    if path.suffix.lower() not in _TABLES:
        return [read_text(path)]
    rows = read_rows(path)
    names = dict.fromkeys(name for _, row in rows for name in row)
    columns = [column for column in COLUMNS if column in names]
    if not columns:
        there = ", ".join(map(str, names)) or "none"
        raise InputError(path, f"has the columns {there}; one of {', '.join(COLUMNS)} is needed")
    passages = [
        cell
        for _, row in rows
        for column in columns
        if isinstance(cell := row.get(column), str) and cell.strip()
    ]
    if not passages:
        plural = "s" if len(columns) > 1 else ""
        raise InputError(path, f"has no text in its column{plural} {', '.join(columns)}")
    return passages


def cut_sentences(text: str, language: str) -> Iterator[str]:
    """The sentences of a text in order, cut at end punctuation and line breaks.

    White space is collapsed, and quotation marks that lost their partner are removed.
    """
    for line in _LINE_BREAK.split(text):
        squeezed = " ".join(line.split())
        start = 0
        for end in _ends(squeezed, is_spaced=language not in {"zh", "ja"}):
            if sentence := _trim(squeezed[start:end].strip()):
                yield sentence
            start = end


def _ends(line: str, *, is_spaced: bool) -> Iterator[int]:
    for stop in (_SPACED_END if is_spaced else _CJK_END).finditer(line):
        if not is_spaced or not _goes_on(line, stop):
            yield stop.end()
    yield len(line)


def _goes_on(line: str, stop: re.Match[str]) -> bool:
    """Whether the stop ends an abbreviation, or lower case follows it."""
    behind = line[stop.end() :].lstrip(" \"'“‘(")
    if behind[:1].islower():
        return True
    is_period = stop.group().startswith(".")
    return is_period and _ABBREVIATION.search(line[: stop.start() + 1]) is not None


def _trim(sentence: str) -> str:
    """The sentence without quotation marks and brackets whose partner is in another sentence.

    Leading punctuation is removed too.
    """
    sentence = sentence.lstrip(" ,，、;；:：.。!！?？")
    for left, right in _PAIRS:
        if sentence.startswith(left) and right not in sentence:
            sentence = sentence[1:].lstrip()
        if sentence.endswith(right) and left not in sentence and right != "’":
            sentence = sentence[:-1].rstrip()
    if sentence.count('"') == 1:
        sentence = sentence.strip('"').strip()
    return sentence
