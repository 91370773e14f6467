"""How the tokens of a candidate are scored: named rules, a plan of lookups, and their sum or mean.

together       all tokens of the word are masked at once and each is predicted alone; their
               log-probabilities are summed. One reading serves all candidates with as many tokens.
               The rule of Zhu et al. (2024), who mask every character of a Chinese word;
               whole-word pseudo-likelihood. The default.
left-to-right  one mask at a time: the first token is predicted, put in, and the next one is
               predicted at a mask after it. The model does not see how long the word will be.
within-word    the token that is predicted and the tokens of the word to its right are masked,
               those to its left are there (Kauf and Ivanova 2023).
one-by-one     only the token that is predicted is masked, the rest of the word is there (Salazar
               et al. 2020). Flatters words of several tokens; for comparison.

Length: `sum` adds the log-probabilities of a word's tokens, `mean` divides by their number.
`auto`, the default, gives every candidate of a probe the length of the shortest one: the mean of
its log-probabilities, times the number of tokens of the shortest. A longer word has a smaller
product whatever the sentence says; so it is not at a disadvantage. Where all candidates have as
many tokens this is the sum, and everywhere it has the unit of a sum: no score mixes sums and
means. The signature calls it `shortest`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from evenhand.core.answers import Replies, Silence
from evenhand.core.errors import EvenhandWarning, UnknownNameError
from evenhand.core.probe import Floats, Probe
from evenhand.respondents.candidates import Span
from evenhand.respondents.networks.batches import Encoded, Lookup, cut_batches
from evenhand.respondents.replies import collect

RULES = ("together", "left-to-right", "within-word", "one-by-one")
LENGTHS = ("auto", "sum", "mean")
LENGTH_NAMES = {"auto": "shortest", "sum": "sum", "mean": "mean"}  # in the signature
Ids = tuple[int, ...]


class TokenNetwork(Protocol):
    """A network that looks up tokens in texts."""

    name: str
    precision: str
    is_read_alone: bool  # the batch changes its answers, so each text is read alone
    tokenizer: Any
    unknown: int | None  # the id of an unknown word; None where every text can be written
    longest: int

    def log_probabilities(self, batch: Sequence[Encoded], lookups: Sequence[Lookup]) -> Floats:
        """The log-probability of each (row, position, token)."""
        ...


class Scored(NamedTuple):
    """Which numbers of a plan make up the score of each candidate of a probe."""

    numbers: list[list[int]]  # for each candidate, which numbers of the plan
    length: str  # how they are added up


def check_rules(scoring: str, length: str) -> None:
    """Raise UnknownNameError that suggests close names where a rule is unknown."""
    if scoring not in RULES:
        raise UnknownNameError("scoring of masked words", scoring, RULES)
    if length not in LENGTHS:
        raise UnknownNameError("rule for words of unequal length", length, LENGTHS)


class LookupPlan:
    """What is to be read: every text once, every token looked up once."""

    def __init__(self) -> None:
        self.texts: dict[Ids, int] = {}
        self.lookups: dict[Lookup, int] = {}

    def look_up(self, ids: Ids, position: int, token: int) -> int:
        """The number of the log-probability of `token` at `position` of the text `ids`."""
        text = self.texts.setdefault(ids, len(self.texts))
        return self.lookups.setdefault((text, position, token), len(self.lookups))

    def read(self, network: TokenNetwork, batch_size: int | None) -> Floats:
        """Every number of the plan, in batches of similar length."""
        numbers = np.full(len(self.lookups), np.nan)
        texts = list(self.texts)
        by_text: dict[int, list[tuple[int, int, int]]] = {}
        for (text, position, token), number in self.lookups.items():
            by_text.setdefault(text, []).append((position, token, number))
        for batch in cut_batches([len(t) for t in texts], batch_size):
            lookups = [
                (row, position, token, number)
                for row, text in enumerate(batch)
                for position, token, number in by_text[text]
            ]
            rows = [Encoded(texts[i], (0,) * len(texts[i])) for i in batch]
            places = [number for *_, number in lookups]
            numbers[places] = network.log_probabilities(rows, [key[:3] for key in lookups])
        return numbers


def masked_texts(span: Span, mask: int, rule: str) -> Iterator[tuple[Ids, int, int]]:
    """Text, position and token for each token of the word, by the rule."""
    ids, start, end = span
    word, before, after = ids[start:end], ids[:start], ids[end:]
    for k, token in enumerate(word):
        if rule == "together":
            shown = (mask,) * len(word)
        elif rule == "left-to-right":
            shown = (*word[:k], mask)
        elif rule == "within-word":
            shown = (*word[:k], *(mask,) * (len(word) - k))
        else:
            shown = (*word[:k], mask, *word[k + 1 :])
        yield (*before, *shown, *after), start + k, token


def add_up(values: Floats, numbers: Sequence[Sequence[int]], length: str) -> Floats:
    """One number per candidate, from the log-probabilities of its tokens."""
    shortest = min(len(n) for n in numbers)

    def divisor(count: int) -> float:
        return {"sum": 1.0, "mean": count, "auto": count / shortest}[length]

    return np.asarray([values[list(n)].sum() / divisor(len(n)) for n in numbers])


def score_probes(
    probes: Sequence[Probe], scored: Sequence[Scored | Silence], values: Floats
) -> Replies:
    """One number per candidate of each probe, from the numbers of a plan."""
    answers = [
        s if isinstance(s, Silence) else add_up(values, s.numbers, s.length)[:, np.newaxis]
        for s in scored
    ]
    return collect(probes, 1, answers)


def warn_of_unknown(identity: str, probes: Sequence[str]) -> None:
    """Name the probes that have characters that the tokeniser cannot write."""
    warnings.warn(
        f"some sentences have characters that the tokeniser of {identity} does not know, the "
        f"first: {', '.join(probes[:5])}; they are asked as the model sees them, unless the "
        "candidate itself is unknown",
        EvenhandWarning,
        stacklevel=3,
    )
