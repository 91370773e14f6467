"""What must a new measure, suite, respondent or language offer? One file with one of these, and nothing else is edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from evenhand.core.records import Floats, Kind, Probe, Suite


@runtime_checkable
class Respondent(Protocol):
    """Whoever answers probes: a model, a person, a rule."""

    identity: str  # name@revision; part of the cache key
    kinds: frozenset[Kind]
    labels: tuple[str, ...]
    traits: Mapping[str, str]  # what the signature says of it: label order, precision, scoring
    unanswered: dict[str, int]  # reason -> how many probes got NaN for it

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """One row of raw values per probe; NaN where it cannot answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RespondentOptions:
    """How a respondent is opened."""

    language: str = "en"
    label_map: Mapping[str, int] | None = None
    batch_size: int | None = None  # None: as many as fit a budget of tokens
    device: str = "auto"
    seed: int = 0
    scoring: str | None = None  # how a masked model scores a word of several tokens; None: its default
    length: str = "auto"  # how words of unequal length are compared
    form: str | None = None  # how a classifier is shown a context and an option: as a pair, or as a supposition; None: as a pair
    pooling: str | None = None  # how an encoder makes one vector of a sentence; None: what its own folder says, else the mean
    similarity: str = "cosine"  # how an encoder compares two vectors
    spread: int = 1  # how many numbers a rule gives for each option of a choice: one, or one a label


@runtime_checkable
class RespondentSource(Protocol):
    """A way to come by respondents: a file in `respondents/` has one as RESPONDENT."""

    name: str
    kinds: frozenset[Kind]
    description: str
    examples: tuple[str, ...]

    def claims(self, reference: str) -> bool:
        """Is `reference` (what the user typed for MODEL) one of this source's?"""
        ...

    def open(self, reference: str, options: RespondentOptions) -> Respondent:
        """The respondent behind `reference`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureCard:
    """What a measure is, for `evenhand show` and the docs."""

    title: str
    question: str
    formula: str
    range: tuple[float, float]
    citation: str
    caveat: str


@runtime_checkable
class Measure(Protocol):
    """Answers to one number. A file in `measures/` has one as MEASURE.

    `evidence` and `combine` are apart because sums add up: shards add to the whole, and a bootstrap is `combine(weights @ evidence)`.
    """

    name: str
    kind: Kind
    fair: float  # the value of a fair respondent
    worst: float | None  # the value of a fully stereotyped one; None: it says nothing about bias
    strata: frozenset[str]  # the strata it reads; empty: all
    labels: frozenset[str]  # the labels it needs
    card: MeasureCard

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """One row per probe, summable; a row of zeros for a probe that does not count."""
        ...

    def combine(self, totals: Floats) -> Floats:
        """Sums (..., k) to scores (...); NaN where a needed stratum is empty."""
        ...

    def parts(self, totals: Floats) -> Mapping[str, Floats]:
        """The named shares that the score is made of, from the same sums."""
        ...

    def partial(self, totals: Floats) -> Floats:
        """The score of a group that may lack strata: the mean of the components that it has."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """How a suite is built."""

    variant: str = ""
    seed: int = 0
    data: Path | None = None
    captions: tuple[Path, ...] = field(default=())
    premises: tuple[Path, ...] = field(default=())  # corpora to mine premises from
    per_occupation: int | None = None
    names: str | None = None  # what finds personal names in mined premises
    shares: Path | None = None  # occupation, share of women; None: the built-in figures
    dominance: float = 70.0  # percent of the workers that make an occupation dominated
    corpora: tuple[Path, ...] = field(default=())  # raw text to cut sentences with a gender word from
    per_word: int | None = None  # sentences of each gender word, at most


@runtime_checkable
class SuiteSource(Protocol):
    """A way to come by a suite: a file in `suites/` has one as SUITE."""

    name: str
    version: str
    kind: Kind
    languages: tuple[str, ...]
    variants: tuple[str, ...]  # the first is the default
    is_published: bool  # others' data, fetched or pointed at; else built from the lexicons
    licence: str
    citation: str
    description: str

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The suite in one language."""
        ...


@runtime_checkable
class Language(Protocol):
    """What must be known of a language to write probes in it. A file in `languages/` has one as LANGUAGE."""

    code: str
    name: str
    subjects: Mapping[str, str]  # female, male, nonbinary -> the word of the paper

    def fill(self, frame: str, word: str) -> str:
        """The frame with the word in its slot: article, measure word and capital as they should be."""
        ...

    def cut(self, caption: str) -> str | None:
        """The frame that a caption with exactly one subject word, once, becomes; None where it becomes none."""
        ...

    def faults(self, frame: str) -> list[str]:
        """What is grammatically wrong with a frame? Articles, measure words, particles."""
        ...

    def blank(self, text: str, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """A sentence with a blank and the words for it as they are asked: capitals and particles as each word wants them."""
        ...

    def open_particle(self, rest: str) -> str:
        """What follows a gender word in a sentence, written so that it fits every word: Korean `이 온다.` -> `{이/가} 온다.`"""
        ...

    def words(self, text: str) -> list[tuple[int, int]]:
        """Where does each word of a text start and end? A gender word of the lexicon is one word."""
        ...
