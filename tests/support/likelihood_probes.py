"""Options after a context and words in blanks, and a slow reading of each text, by characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from masked_models import TinyMasked, byte_pairs, open_masked, pieces, write_masked
from tokenizers import Tokenizer

from evenhand.core.probe import BLANK, Floats, Probe
from evenhand.respondents.candidates import fill_blanks
from evenhand.respondents.masked import MaskedRespondent

Predict = Callable[[list[int]], Any]  # the table of log-probabilities of one text


def choice(
    context: str, *options: str, language: str = "en", identity: str = "c", **tags: str
) -> Probe:
    return Probe(
        id=identity,
        kind="choice",
        language=language,
        texts=(context, *options),
        stratum="inter",
        cluster=identity,
        tags=tags,
    )


def intra(sentence: str, *words: str, identity: str = "w", language: str = "en") -> Probe:
    """As the suite makes them: the options filled in, sentence and words in the tags."""
    texts = (sentence.replace(BLANK, "what"), *fill_blanks((sentence, *words)))
    return Probe(
        id=identity,
        kind="choice",
        language=language,
        texts=texts,
        stratum="intra",
        tags={"sentence": sentence, "words": "|".join(words)},
    )


WORDS = (
    intra("The [BLANK] left.", "man", "woman", "nurse", identity="one"),
    intra("The [BLANK] said he left.", "fireman", "firewoman", "nurse", identity="long"),
    intra("[BLANK] said the doctor is here.", "He", "She", "They", identity="first"),
    intra('The nurse said "[BLANK] left".', "he", "she", "they", identity="quoted"),
    intra("The fire[BLANK] left.", "man", "woman", "men", identity="glued behind"),
    intra("The [BLANK]er runs.", "sing", "nurse", "doctor", identity="glued before"),
    intra("The nurse said [BLANK].", "he left", "she left", "the fireman runs", identity="phrase"),
)
SEVERAL = (
    intra("[BLANK] said [BLANK] left.", "he", "she", "the nurse", identity="two"),
    intra(
        "The [BLANK] is a [BLANK], the [BLANK] left.",
        "fireman",
        "man",
        "firewoman",
        identity="three",
    ),
    intra("The [BLANK], [BLANK]!", "doctor", "singer", "boy", identity="near"),
)
OPTIONS = (
    choice(
        "The nurse left.",
        "She was here.",
        "He was here, he said.",
        "The boy sleeps!",
        identity="o0",
    ),
    choice("The doctor is here. ", " He said the fireman left.", "She runs.", identity="o1"),
    choice("他是医生。", "她是护士。", "他在说。", "男孩是人", language="zh", identity="o2"),
    choice("The doctor is here.", "The doctor is here.", "The doctor", identity="o3"),
)


def write(
    folder: Path, tokenizer: Tokenizer, form: str = "positions", longest: int = 300
) -> MaskedRespondent:
    return open_masked(write_masked(folder, tokenizer=tokenizer, form=form, longest=longest))


def opened(folder: Path, **options: Any) -> MaskedRespondent:
    return open_masked(folder, **options)


def cutter(name: str) -> Tokenizer:
    return pieces() if name == "pieces" else byte_pairs()


def mask_of(tokenizer: Tokenizer) -> int:
    masks = [tokenizer.token_to_id(t) for t in ("[MASK]", "<mask>")]
    return next(int(i) for i in masks if i is not None)


def predictor(tokenizer: Tokenizer) -> Predict:
    return TinyMasked(size=tokenizer.get_vocab_size()).log_probabilities


Parts = list[tuple[str, bool]]  # a text in pieces: is each of the word?


def parts_of(sentence: str, word: str) -> Parts:
    """The sentence with the word in its blanks."""
    rests = sentence.split(BLANK)
    return [
        (rests[0], False),
        *(part for rest in rests[1:] for part in ((word, True), (rest, False))),
    ]


def inside(encoding: Any, parts: Parts) -> list[list[int]]:
    """For each word among the parts the tokens with at least one of its characters."""
    names = [k if is_word else None for k, (text, is_word) in enumerate(parts) for _ in text]
    return [
        [i for i, (a, b) in enumerate(encoding.offsets) if k in names[a:b]]
        for k, (_, is_word) in enumerate(parts)
        if is_word
    ]


def slow_places(encodings: Sequence[Any], texts: Sequence[Parts]) -> list[list[int]]:
    """The tokens of the words in each text, and as many more as make the rest the same.

    Of each stretch of rest the most that all texts have at its start, or at its end if that is
    more; by trying. What stands before the first word is kept from its start, what is behind the
    last to its end.
    """
    rests = []
    for encoding, parts in zip(encodings, texts, strict=True):
        words = inside(encoding, parts)
        starts = [0, *(w[-1] + 1 for w in words)]
        ends = [*(w[0] for w in words), len(encoding.ids)]
        rests.append([list(range(a, b)) for a, b in zip(starts, ends, strict=True)])
    kept: list[list[int]] = [[] for _ in texts]
    for k in range(len(rests[0])):
        stretches = [rest[k] for rest in rests]
        tries = [
            cut
            for n in range(min(map(len, stretches)), -1, -1)
            for side, cut in (
                (0, [s[:n] for s in stretches]),
                (1, [s[len(s) - n :] for s in stretches]),
            )
            if not (side == 1 and k == 0) and not (side == 0 and k == len(rests[0]) - 1)
        ]
        same = next(
            t
            for t in tries
            if len({tuple(e.ids[i] for i in cut) for e, cut in zip(encodings, t, strict=True)}) == 1
        )
        for held, cut in zip(kept, same, strict=True):
            held.extend(cut)
    return [
        [i for i in range(len(e.ids)) if i not in held]
        for e, held in zip(encodings, kept, strict=True)
    ]


def add(logs: list[list[float]], length: str) -> list[float]:
    times = {"sum": None, "mean": 1, "auto": min(map(len, logs))}[length]
    return [sum(part) if times is None else times * sum(part) / len(part) for part in logs]


def read(tokenizer: Tokenizer, probe: Probe) -> list[tuple[list[int], list[int]]]:
    """The text of each option and the places that count."""
    if "words" in probe.tags:
        texts = [parts_of(probe.tags["sentence"], word) for word in probe.tags["words"].split("|")]
    else:
        context = probe.texts[0].strip() + ("" if probe.language == "zh" else " ")
        texts = [[(context, False), (option.strip(), True)] for option in probe.texts[1:]]
    encodings = [tokenizer.encode("".join(text for text, _ in parts)) for parts in texts]
    counted = slow_places(
        encodings, texts if "words" in probe.tags else [[*parts, ("", False)] for parts in texts]
    )
    return [(list(e.ids), places) for e, places in zip(encodings, counted, strict=True)]


def slow_words(
    tokenizer: Tokenizer, predict: Predict, probe: Probe, rule: str, length: str
) -> list[float]:
    logs = []
    for ids, places in read(tokenizer, probe):
        of_word = []
        for k, place in enumerate(places):
            hidden = {
                "together": places,
                "left-to-right": [place],
                "within-word": places[k:],
                "one-by-one": [place],
            }[rule]
            gone = places[k + 1 :] if rule == "left-to-right" else []
            shown = [
                mask_of(tokenizer) if i in hidden else t for i, t in enumerate(ids) if i not in gone
            ]
            of_word.append(float(predict(shown)[place, ids[place]]))
        logs.append(of_word)
    return add(logs, length)


def slow_options(tokenizer: Tokenizer, predict: Predict, probe: Probe, length: str) -> list[float]:
    logs = []
    for ids, places in read(tokenizer, probe):
        shown = [
            [mask_of(tokenizer) if i == place else t for i, t in enumerate(ids)] for place in places
        ]
        logs.append(
            [
                float(predict(text)[place, ids[place]])
                for text, place in zip(shown, places, strict=True)
            ]
        )
    return add(logs, "sum" if length == "sum" else "mean")


def padded(rows: list[list[float]]) -> Floats:
    return np.asarray([[*row, *[np.nan] * (max(map(len, rows)) - len(row))] for row in rows])


def spied(respondent: MaskedRespondent) -> list[tuple[int, ...]]:
    """Every text that the network is given from now on."""
    texts: list[tuple[int, ...]] = []
    ask = respondent.network.log_probabilities

    def listen(batch: Any, lookups: Any) -> Floats:
        texts.extend(e.ids for e in batch)
        return ask(batch, lookups)

    respondent.network.log_probabilities = listen  # type: ignore[method-assign]
    return texts


def write_folders(root: Path) -> dict[str, Path]:
    return {
        name: write_masked(root / name, tokenizer=cut(), longest=300)
        for name, cut in (("pieces", pieces), ("bytes", byte_pairs))
    }
