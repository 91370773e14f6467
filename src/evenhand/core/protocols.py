"""What a new respondent, suite or language must offer, and how each is opened or built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from evenhand.core.answers import Replies
from evenhand.core.probe import Kind, Probe
from evenhand.core.suite import Suite


@runtime_checkable
class Respondent(Protocol):
    """Whoever answers probes: a model, a person, a rule."""

    identity: str  # name@revision; part of the cache key
    kinds: frozenset[Kind]
    traits: Mapping[str, str]  # what its signature names: label order, precision, scoring
    is_cacheable: bool  # its identity alone decides what it answers to a text
    reads_tags: bool  # it answers by the tags, so equal texts may get different answers

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """What the numbers of one option stand for: three labels, or the single `score`."""
        ...

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """Raw values (probe, option, label), and the reason where there is no answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOptions:
    """How a respondent that is asked in words is asked."""

    chat: str = "auto"  # whether the model's chat template is used: auto, on, off
    prompts: Path | None = None  # a file of wordings; None: the one of the language
    readings: int = 1  # how often a probe is asked, each time in another wording and order
    all_orders: bool = False  # every wording in every order, instead of a balanced assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """How a model behind an HTTP endpoint is asked, and what it may cost at the most."""

    base_url: str | None = None
    logprobs: str = "auto"  # auto: asked for, and replies are drawn where there are none; on; off
    draws: int = 5  # replies that are drawn per reading where there are no log-probabilities
    temperature: float = 1.0
    concurrency: int = 16  # requests under way at the most
    timeout: float = 60.0  # seconds that one request may take
    max_requests: int | None = None
    max_tokens: int | None = None  # of all requests and replies together
    max_cost: float | None = None
    input_price: float | None = None  # per million tokens
    output_price: float | None = None  # per million tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class RespondentOptions:
    """How a respondent is opened."""

    language: str = "en"
    label_map: Mapping[str, int] | None = None
    batch_size: int | None = None  # None: as many as fit into a budget of tokens
    device: str = "auto"
    dtype: str = "fp32"  # the numbers that torch computes in: fp32, bf16, fp16
    revision: str | None = None  # commit, branch or tag of a model on the hub; None: its newest
    seed: int = 0
    scoring: str | None = None  # how a word of several tokens, or an option, is scored
    length: str = "auto"  # how words of unequal length are compared
    form: str | None = None  # how a classifier is shown two texts: pair (None) or supposition
    pooling: str | None = None  # how an encoder makes one vector; None: what its folder says
    similarity: str = "cosine"  # how an encoder compares two vectors
    trust_remote_code: bool = False  # run a model's own code and open its pickled weights
    labels: tuple[str, ...] = ()  # the labels a rule gives the options of a choice; (): one score
    prompting: PromptOptions = PromptOptions()
    endpoint: EndpointOptions = EndpointOptions()


@runtime_checkable
class RespondentSource(Protocol):
    """A way to open respondents: a file in `respondents/` has one as RESPONDENT."""

    name: str
    kinds: frozenset[Kind]
    description: str
    examples: tuple[str, ...]

    def claims(self, reference: str) -> bool:
        """Whether `reference` (what the user typed for MODEL) belongs to this source."""
        ...

    def open(self, reference: str, options: RespondentOptions) -> Respondent:
        """The respondent behind `reference`."""
        ...


def option(default: Any, text: str) -> Any:
    """A field of an option object with the help text that the command line shows."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """How a suite is built; a suite with options of its own has a subclass of this."""

    variant: str = ""
    seed: int = 0
    data: Path | None = None  # the folder of published data


class FileOptions(SuiteOptions):
    """The options of a suite whose `data` may also be one of its files."""


@runtime_checkable
class SuiteSource(Protocol):
    """A way to build a suite; a family lists its own."""

    name: str
    version: str
    kind: Kind
    languages: tuple[str, ...]
    variants: tuple[str, ...]  # the first is the default
    is_published: bool  # published data of others; False: built from the lexicons
    licence: str
    citation: str
    description: str
    options: type[SuiteOptions]  # what `build` takes

    def build(self, language: str, options: Any) -> Suite:
        """The suite in one language; `options` is an instance of the class `options`."""
        ...


@runtime_checkable
class Language(Protocol):
    """What must be known of a language to write probes in it.

    A file in `languages/` has one as LANGUAGE.
    """

    code: str
    name: str
    subjects: Mapping[str, str]  # female, male, nonbinary -> the word of the paper

    def fill(self, frame: str, word: str) -> str:
        """The frame with the word in its slot: article, measure word and capital right."""
        ...

    def cut(self, caption: str) -> str | None:
        """The frame that a caption with exactly one subject word becomes; None if it does not."""
        ...

    def faults(self, frame: str) -> list[str]:
        """What is grammatically wrong with a frame: articles, measure words, particles."""
        ...

    def blank(self, text: str, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """The sentence with its blank, and the words for it, capitals and particles corrected."""
        ...

    def open_particle(self, rest: str) -> str:
        """What follows a gender word, written so that it fits every word.

        Korean: `이 온다.` -> `{이/가} 온다.`
        """
        ...

    def words(self, text: str) -> list[tuple[int, int]]:
        """Where each word of a text starts and ends; a gender word of the lexicon is one word."""
        ...
