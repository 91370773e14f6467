"""The texts that a language model reads for the options of a probe, and the tokens that count.

Words: a mask probe, or a choice whose tags name a `sentence` (the context with one or more
    blanks) and its `words` (one per option, `|` between them). The tokens of a word are those of
    the filled-in sentence that touch it, as the tokeniser itself cuts the whole sentence. So a
    leading space, a capital, a quotation mark before the blank or a particle attached to it need
    no rule of their own. Where the cut of one candidate reaches into the neighbouring text (Korean
    그는 is one token, 그녀 + 는 two), or the candidates make the rest of the sentence be cut
    differently, the blank widens for every candidate until what is left around it is the same:
    only then are two probabilities about the same question.
Options: after any other context, every token of the option counts. The text is `context option`,
    with one space between them and none in Chinese and Japanese. Where a token reaches from the
    context into one option, or the options make the end of the context be cut differently, all
    options of that probe start there: what comes before is the same for all.
Sentences: without a context, or where the probe names a rule for sentences, each option is read
    alone.
Premises: where the probe names the rule `options as premises`, a classifier or a next-sentence head
    reads every option before the context and not after it; a similarity has no direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from evenhand.core.answers import Silence
from evenhand.core.probe import BLANK, Probe
from evenhand.respondents.replies import no_answer

TURNED = "options as premises"
PREMISES = no_answer(
    "the options of this probe are premises: a classifier, a next-sentence head or a similarity "
    "answers it"
)
UNSPACED = frozenset({"ja", "zh"})  # languages that put no space between sentences


class Span(NamedTuple):
    """A text as tokens; what is scored is ids[start:end]."""

    ids: tuple[int, ...]
    start: int
    end: int


def blank_texts(probe: Probe) -> tuple[str, ...] | None:
    """The sentence with its blanks and the words for them; None where it is not about words."""
    if probe.kind == "mask":
        return probe.texts
    if "sentence" in probe.tags and "words" in probe.tags:
        return (probe.tags["sentence"], *probe.tags["words"].split("|"))
    return None


def pairs_of(probe: Probe) -> list[tuple[str, str]]:
    """What is read first and second, for every option: the context first, unless it is turned."""
    context, *options = probe.texts
    if probe.tags.get("scoring") == TURNED:
        return [(option, context) for option in options]
    return [(context, option) for option in options]


def is_continued(probe: Probe) -> bool:
    """Whether an option is read after its context and not as a sentence that stands alone."""
    return (
        probe.kind == "choice"
        and blank_texts(probe) is None
        and bool(probe.texts[0].strip())
        and "scoring" not in probe.tags
    )


def fill_blanks(texts: Sequence[str]) -> list[str]:
    """The sentence with each candidate in its blank, or in all its blanks."""
    return [texts[0].replace(BLANK, word) for word in texts[1:]]


def texts_to_read(probe: Probe) -> list[str]:
    """What the model reads, one text per candidate or option."""
    if blanks := blank_texts(probe):
        return fill_blanks(blanks)
    if not is_continued(probe):
        return list(probe.texts[1:])
    space = "" if probe.language.partition("-")[0] in UNSPACED else " "
    return [f"{probe.texts[0].strip()}{space}{option.strip()}" for option in probe.texts[1:]]


def check_words(probe: Probe) -> Silence | None:
    """Why the words in the tags of a choice cannot be those of its options; None if they can."""
    words = (blank_texts(probe) or probe.texts)[1:]
    count = len(words)
    if count == probe.option_count and all(word.strip() for word in words):
        return None
    if count == probe.option_count:
        return no_answer("an option is not the sentence with a word in its blank")
    return no_answer(
        f"{count} words for {probe.option_count} options; "
        "the tag `words` has one an option, `|` between them"
    )


def touching_tokens(encoding: Any, start: int, end: int) -> list[int]:
    """The positions of the tokens that share a character with text[start:end]."""
    marks = zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
    return [
        i
        for i, ((low, high), is_special) in enumerate(marks)
        if not is_special and low < end and high > start
    ]


def count_shared(ids: Sequence[Sequence[int]]) -> int:
    """How many tokens all of them start with."""
    return next(
        (k for k, column in enumerate(zip(*ids, strict=False)) if len(set(column)) > 1),
        min(map(len, ids)),
    )


def _rests(
    texts: Sequence[str], encodings: Sequence[Any], unknown: int | None
) -> list[list[tuple[int, int]]] | Silence:
    """For each candidate, where the stretches of tokens between its blanks start and end."""
    rests = []
    for word, encoding in zip(texts[1:], encodings, strict=True):
        edges, at = [0], 0
        for before in texts[0].split(BLANK)[:-1]:
            at += len(before)
            touching = touching_tokens(encoding, at, at + len(word))
            if not touching:
                return no_answer(f"the candidate '{word}' has no tokens")
            first, last = touching[0], touching[-1]
            if unknown is not None and unknown in encoding.ids[first : last + 1]:
                return no_answer(
                    f"the candidate '{word}' has characters that the tokeniser does not know"
                )
            edges += [first, last + 1]
            at += len(word)
        edges.append(len(encoding.ids))
        rests.append(list(zip(edges[::2], edges[1::2], strict=True)))
    return rests


def find_blanks(
    texts: Sequence[str], encodings: Sequence[Any], unknown: int | None
) -> list[tuple[tuple[int, ...], list[int]]] | Silence:
    """Each filled-in sentence and the positions of its candidate in all of the blanks.

    texts: the sentence with its blanks, and the candidates. A silence where they cannot be found.
    """
    if BLANK not in texts[0]:
        return no_answer(f"no {BLANK} in '{texts[0]}'")
    ids = [tuple(e.ids) for e in encodings]
    rests = _rests(texts, encodings, unknown)
    if isinstance(rests, Silence):
        return rests
    kept: list[set[int]] = [set() for _ in ids]
    last = len(rests[0]) - 1
    for k in range(last + 1):
        stretches = [text[rest[k][0] : rest[k][1]] for text, rest in zip(ids, rests, strict=True)]
        head, tail = count_shared(stretches), count_shared([s[::-1] for s in stretches])
        # the stretch between two blanks is shortened at one end only: that blank widens
        is_head = k == 0 or (k < last and head >= tail)
        for held, rest in zip(kept, rests, strict=True):
            low, high = rest[k]
            held.update(range(low, low + head) if is_head else range(high - tail, high))
    return [
        (text, [i for i in range(len(text)) if i not in held])
        for text, held in zip(ids, kept, strict=True)
    ]


def find_words(
    texts: Sequence[str], encodings: Sequence[Any], unknown: int | None
) -> list[Span] | Silence:
    """Where each candidate stands in its filled-in sentence with one blank."""
    blanks = find_blanks(texts, encodings, unknown)
    if isinstance(blanks, Silence):
        return blanks
    return [Span(ids, positions[0], positions[-1] + 1) for ids, positions in blanks]


def find_options(
    probe: Probe, encodings: Sequence[Any], unknown: int | None
) -> list[Span] | Silence:
    """Where each option stands after its context."""
    ids, touched = [tuple(e.ids) for e in encodings], []
    texts = texts_to_read(probe)
    for option, text, encoding in zip(probe.texts[1:], texts, encodings, strict=True):
        touching = touching_tokens(encoding, len(text) - len(option.strip()), len(text))
        if not touching:
            return no_answer(f"the option '{option}' has no tokens")
        if all(encoding.ids[k] == unknown for k in touching):
            return no_answer(f"the tokeniser knows no character of the option '{option}'")
        touched.append(touching)
    start = min(count_shared(ids), *(touching[0] for touching in touched))
    return [
        Span(text, start, touching[-1] + 1) for text, touching in zip(ids, touched, strict=True)
    ]
