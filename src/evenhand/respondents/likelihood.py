"""How likely is an option to a language model? The text that is read for each option, and the tokens of it that count.

Words: a choice whose tags name a `sentence` (the context with one or more blanks) and its `words` (one an option, `|` between them) is asked as a mask probe
       is. A masked model is asked for the words, by the user's rules for words (`weighing.py`). Of several blanks each gets the word, and all tokens of it are
       masked together, whatever the rule: in a word that stands elsewhere in the sentence a model has only to look.
Options: after any other context, every token of the option counts. The text is `context option`, with one space between them and none in Chinese and Japanese. A
       masked model is asked for each token with that token masked alone (Salazar et al. 2020). Options are sentences of any length, so `auto` is the mean over an
       option's tokens here, always; `--length sum` adds them up.
Sentences: two of them without a context are compared by the rule that the probe names (`sentences.py`).

Where an option starts is told by the cut of the whole text. Where a token reaches from the context into one option, or the options make the end of the context
be cut differently, all options of that probe start there: what comes before is the same for all.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from evenhand.core.errors import EvenhandWarning
from evenhand.core.probe import BLANK, Floats, Probe
from evenhand.respondents.blanks import (
    Filling,
    Unanswerable,
    count_shared,
    filled,
    find_places,
    find_touching,
    find_words,
)
from evenhand.respondents.encoding import Encoded, cut_batches
from evenhand.respondents.weighing import Plan, Want, masked_texts

if TYPE_CHECKING:
    from evenhand.respondents.masked_routes import MaskedRoute

Wanted = list[list[int]]  # for each candidate, which numbers of the plan it is made of
UNSPACED = frozenset({"ja", "zh"})  # languages that put no space between sentences


class Reader(Protocol):
    """Whoever looks up tokens in texts."""

    def log_probabilities(self, batch: Sequence[Encoded], wants: Sequence[Want]) -> Floats:
        """The log-probability of each wanted (row, position, token)."""
        ...


def blank_texts(probe: Probe) -> tuple[str, ...] | None:
    """The sentence with its blanks and the words for them; None where the probe is not about words."""
    if probe.kind == "mask":
        return probe.texts
    is_told = "sentence" in probe.tags and "words" in probe.tags
    return (probe.tags["sentence"], *probe.tags["words"].split("|")) if is_told else None


def is_continued(probe: Probe) -> bool:
    """Is an option read behind its context? Not where the probe names a rule for sentences that stand alone."""
    return (
        probe.kind == "choice"
        and blank_texts(probe) is None
        and bool(probe.texts[0].strip())
        and "scoring" not in probe.tags
    )


def shown_texts(probe: Probe) -> list[str]:
    """What the model reads, one text a candidate or option."""
    if blanks := blank_texts(probe):
        return filled(blanks)
    if not is_continued(probe):
        return list(probe.texts[1:])
    space = "" if probe.language.partition("-")[0] in UNSPACED else " "
    return [f"{probe.texts[0].strip()}{space}{option.strip()}" for option in probe.texts[1:]]


def check_words(probe: Probe) -> Unanswerable | None:
    """Why the words in the tags of a choice cannot be those of its options; None where they can."""
    count = len(blank_texts(probe) or probe.texts) - 1
    return (
        Unanswerable(
            f"{count} words for {probe.width} options; the tag `words` has one an option, `|` between them"
        )
        if count != probe.width
        else None
    )


def find_options(
    probe: Probe, encodings: Sequence[Any], unknown: int | None
) -> list[Filling] | Unanswerable:
    """Where each option stands behind its context, or why that cannot be told."""
    ids, touched = [tuple(e.ids) for e in encodings], []
    for option, text, encoding in zip(probe.texts[1:], shown_texts(probe), encodings, strict=True):
        found = find_touching(encoding, len(text) - len(option.strip()), len(text))
        if not found:
            return Unanswerable(f"the option '{option}' has no tokens")
        if all(encoding.ids[k] == unknown for k in found):
            return Unanswerable(f"the tokeniser knows no character of the option '{option}'")
        touched.append(found)
    start = min(count_shared(ids), *(found[0] for found in touched))
    return [Filling(text, start, found[-1] + 1) for text, found in zip(ids, touched, strict=True)]


def ask_words(
    probe: Probe, encodings: Sequence[Any], plan: Plan, route: MaskedRoute, rule: str
) -> Wanted | Unanswerable:
    """What a masked model is to read for words in one or more blanks."""
    texts = blank_texts(probe) or probe.texts
    if wrong := check_words(probe):
        return wrong
    if texts[0].count(BLANK) == 1:
        words = find_words(texts, encodings, route.unknown)
        return (
            words
            if isinstance(words, Unanswerable)
            else [_wants(plan, route, word, rule) for word in words]
        )
    found = find_places(texts, encodings, route.unknown)
    if isinstance(found, Unanswerable):
        return found
    wants = []
    for ids, places in found:
        hidden = set() if route.is_discriminator else set(places)
        shown = tuple(route.mask if i in hidden else token for i, token in enumerate(ids))
        wants.append([plan.want(shown, k, ids[k]) for k in places])
    return wants


def ask_options(
    probe: Probe, encodings: Sequence[Any], plan: Plan, route: MaskedRoute
) -> Wanted | Unanswerable:
    """What a masked model is to read for options behind a context."""
    options = find_options(probe, encodings, route.unknown)
    return (
        options
        if isinstance(options, Unanswerable)
        else [_wants(plan, route, option, "one-by-one") for option in options]
    )


def _wants(plan: Plan, route: MaskedRoute, part: Filling, rule: str) -> list[int]:
    ids, start, end = part
    if route.is_discriminator:
        return [plan.want(ids, k, ids[k]) for k in range(start, end)]
    return [plan.want(*found) for found in masked_texts(part, route.mask, rule)]


def warn_of_unknown(identity: str, strange: Sequence[str]) -> None:
    """Say which probes have characters that the tokeniser cannot write."""
    warnings.warn(
        f"some sentences have characters that the tokeniser of {identity} does not know, the first: {', '.join(strange[:5])}; "
        "they are asked as the model sees them, unless the candidate itself is unknown",
        EvenhandWarning,
        stacklevel=3,
    )


def read_plan(plan: Plan, route: Reader, batch_size: int | None) -> Floats:
    """Every number of the plan, in batches of similar length."""
    numbers = np.full(len(plan.wants), np.nan)
    texts = list(plan.readings)
    by_reading: dict[int, list[tuple[int, int, int]]] = {}
    for (reading, position, token), number in plan.wants.items():
        by_reading.setdefault(reading, []).append((position, token, number))
    for batch in cut_batches([len(t) for t in texts], batch_size):
        wants = [
            (row, position, token, number)
            for row, i in enumerate(batch)
            for position, token, number in by_reading[i]
        ]
        rows = [Encoded(texts[i], (0,) * len(texts[i])) for i in batch]
        numbers[[w[3] for w in wants]] = route.log_probabilities(rows, [w[:3] for w in wants])
    return numbers
