"""How likely is a word of one or more tokens? Named rules; each says which masked texts are read and which tokens are looked up in them.

together       all tokens of the word are masked at once and each is predicted alone; their log-probabilities are summed. One reading serves all candidates
               with as many tokens. The rule of Zhu et al. (2024), who mask every character of a Chinese word; whole-word pseudo-likelihood. The default.
left-to-right  one mask at a time: the first token is predicted, put in, and the next one is predicted at a mask behind it. How long the word will be is not told.
within-word    the token that is predicted and the tokens of the word to its right are masked, those to its left are there (Kauf and Ivanova 2023).
one-by-one     only the token that is predicted is masked, the rest of the word is there (Salazar et al. 2020). Flatters words of several tokens; for comparison.

Length: `sum` adds the log-probabilities of a word's tokens, `mean` divides by their number. `auto`, the default, sums where all candidates of the probe have
the same number of tokens and takes the mean where they have not, because a longer word has a smaller product whatever the sentence says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.core.errors import UnknownNameError
from evenhand.core.probe import Floats
from evenhand.respondents.blanks import Filling

RULES = ("together", "left-to-right", "within-word", "one-by-one")
LENGTHS = ("auto", "sum", "mean")
Ids = tuple[int, ...]
Want = tuple[int, int, int]  # reading, position, token


def check_rules(scoring: str, length: str) -> None:
    """An error that suggests close names where a rule is unknown."""
    if scoring not in RULES:
        raise UnknownNameError("scoring of masked words", scoring, RULES)
    if length not in LENGTHS:
        raise UnknownNameError("rule for words of unequal length", length, LENGTHS)


class Plan:
    """What is to be read: every text once, every token looked up once."""

    def __init__(self) -> None:
        self.readings: dict[Ids, int] = {}
        self.wants: dict[Want, int] = {}

    def want(self, ids: Ids, position: int, token: int) -> int:
        """The number under which the log-probability of `token` at `position` of `ids` will be found."""
        reading = self.readings.setdefault(ids, len(self.readings))
        return self.wants.setdefault((reading, position, token), len(self.wants))


def masked_texts(filling: Filling, mask: int, rule: str) -> Iterator[tuple[Ids, int, int]]:
    """Text, position and token for each token of the word, by the rule."""
    ids, start, end = filling
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


def weigh(values: Floats, wants: Sequence[Sequence[int]], length: str) -> Floats:
    """One number a candidate, from the log-probabilities of its tokens."""
    is_mean = length == "mean" or (length == "auto" and len({len(w) for w in wants}) > 1)
    return np.asarray([values[list(w)].sum() / (len(w) if is_mean else 1) for w in wants])
