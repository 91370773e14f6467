"""Training sets of a known bias rate r, as Anantaprayoon, Kaneko, Okazaki (2024) build theirs.

Occupations without a lean are always labelled right (neutral). Of the pairs about stereotyped
occupations a share r is biased (PS -> entailment, AS -> contradiction); the rest are errors without
bias, with the two labels swapped. Each word plays one part only, and every premise comes with both
genders, so that entailment and contradiction are equally frequent. There are two shares of correct
pairs, because the paper and its files differ: `half` (the text: half of the pairs are correct) and
`third` (the files: the three labels are equally frequent).

A second parameter, `errors`, turns errors without bias into correct answers: of the stereotyped
words that are not biased, this share has its labels swapped and the rest is neutral. With r fixed,
a measure of bias should not react to it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.files import staged
from evenhand.core.plain import plain, to_json
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, GENDERS, NEUTRAL
from evenhand.families.nli_coal.suite import find_stratum
from evenhand.meta.forms import Frame
from evenhand.meta.options import SetOptions, check_share
from evenhand.meta.plan import NO_LEAN, Plan

MIXES = {"half": 2, "third": 3}  # one premise in 2, or in 3, is a correct one
BIASED, SWAPPED, CORRECT = "biased", "swapped", "correct"
FILES = ("train", "dev")
CARD = "controlled.json"
_SWAPPED_LABEL = {ENTAILMENT: CONTRADICTION, CONTRADICTION: ENTAILMENT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One pair to train on, and why it has its label."""

    premise: str
    hypothesis: str
    label: str
    occupation: str
    lean: str
    gender: str
    part: str  # biased, swapped, correct


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """A training set and a development set of one bias rate."""

    rate: float
    errors: float
    train: tuple[Example, ...]
    dev: tuple[Example, ...]
    parts: Mapping[str, str]  # occupation -> its part


def build_sets(plan: Plan, rate: float, options: SetOptions | None = None) -> Controlled:
    """The sets of one bias rate; the same for the same seed.

    At a higher rate the words that are biased at a lower one are biased too. Raises EvenhandError
    where an option is not a share, or there are too few sentences.
    """
    options = options or SetOptions()
    check_share(rate)
    check_share(options.errors, "errors")
    if options.mix not in MIXES:
        raise EvenhandError(f"--correct is '{options.mix}'; there are {', '.join(MIXES)}")
    rng = np.random.default_rng(options.seed)
    shuffled = [[str(w) for w in rng.permutation(plan.words[lean])] for lean in GENDERS]
    # male and female words in turn, so that both are biased alike at every rate
    stereotyped = [word for both in zip(*shuffled, strict=True) for word in both]
    parts = deal_parts(stereotyped, rate, options.errors)
    parts |= dict.fromkeys(plan.words[NO_LEAN], CORRECT)
    sizes = {"train": options.train, "dev": options.dev}
    shares = {
        name: _premises_of_words(
            plan, parts, _premises(name, sizes[name], options.mix), rate, options
        )
        for name in FILES
    }
    needed = {name: max(shares[name].values()) for name in FILES}
    total = sum(needed.values())
    if total > len(plan.frames):
        room = len(plan.frames) * len(plan.words[NO_LEAN]) * 2 * MIXES[options.mix]
        more = "--occupations" if plan.held_out else "--captions"
        raise EvenhandError(
            f"{options.train:,} and {options.dev:,} examples need {total:,} sentences for one "
            f"word, and there are {len(plan.frames):,} ({plan.source}): "
            f"ask for {room // 11 * 10 // 1000 * 1000:,} or fewer, or give more {more}"
        )
    # frames are ordered: short sentences, without a lead, come first
    pool = [plan.frames[i] for i in rng.permutation(total)]
    cut = {"train": pool[: needed["train"]], "dev": pool[needed["train"] :]}
    made = {name: tuple(_write(plan, shares[name], parts, cut[name], rng)) for name in FILES}
    return Controlled(
        rate=rate, errors=options.errors, train=made["train"], dev=made["dev"], parts=parts
    )


def deal_parts(words: Sequence[str], rate: float, errors: float) -> dict[str, str]:
    """The part of each stereotyped word, as near to the shares as whole words allow.

    A share above 0 gets at least one word, and one below 1 leaves at least one. Raises
    EvenhandError where there are too few words.
    """
    biased = _whole(rate, len(words))
    if 0 < errors < 1 and len(words) - biased < 2:
        raise EvenhandError(
            f"too few words for errors {errors:g} at rate {rate:g}: {len(words) - biased} of "
            f"{len(words)} words is not biased and cannot be split; "
            "give a lower --rate or more --occupations"
        )
    swapped = _whole(errors, len(words) - biased)
    return {
        word: BIASED if place < biased else SWAPPED if place < biased + swapped else CORRECT
        for place, word in enumerate(words)
    }


def _whole(share: float, count: int) -> int:
    near = round(share * count)
    return min(max(near, 1 if share > 0 else 0), count if share == 1 else max(count - 1, 0))


def _premises(name: str, size: int, mix: str) -> int:
    whole = 2 * MIXES[mix]
    if size < whole or size % whole:
        raise EvenhandError(
            f"--{name}-pairs is {size}; give a multiple of {whole}: "
            f"every premise comes with both genders, {mix} of them correct"
        )
    return size // 2


def _premises_of_words(
    plan: Plan, parts: Mapping[str, str], premises: int, rate: float, options: SetOptions
) -> dict[str, int]:
    """How many premises each word has; those of a part are distributed evenly over its words."""
    correct = premises // MIXES[options.mix]
    biased = round(rate * (premises - correct))
    swapped = round(options.errors * (premises - correct - biased))
    without_lean = plan.words[NO_LEAN]
    groups = (
        ([w for w, part in parts.items() if part == BIASED], biased),
        ([w for w, part in parts.items() if part == SWAPPED], swapped),
        (
            [w for w, part in parts.items() if part == CORRECT and w not in without_lean],
            premises - correct - biased - swapped,
        ),
        (list(without_lean), correct),
    )
    return {
        word: count // len(words) + (place < count % len(words))
        for words, count in groups
        for place, word in enumerate(words)
    }


def _write(
    plan: Plan,
    shares: Mapping[str, int],
    parts: Mapping[str, str],
    frames: Sequence[Frame],
    rng: np.random.Generator,
) -> Iterator[Example]:
    language = catalog.language(plan.language)
    leans = {word: lean for lean, words in plan.words.items() for word in words}
    for word, count in shares.items():
        for i in rng.permutation(len(frames))[:count]:
            for gender in GENDERS:
                premise, hypothesis = frames[i].fill(language, word, gender)
                yield Example(
                    premise=premise,
                    hypothesis=hypothesis,
                    label=label_of(leans[word], gender, parts[word]),
                    occupation=word,
                    lean=leans[word],
                    gender=gender,
                    part=parts[word],
                )


def label_of(lean: str, gender: str, part: str) -> str:
    """The label that a word of this part is trained to have."""
    if part == CORRECT:
        return NEUTRAL
    _, _, stereotyped = find_stratum(lean, gender)
    return stereotyped if part == BIASED else _SWAPPED_LABEL[stereotyped]


def save_sets(
    sets: Controlled, plan: Plan, out: Path, *, seed: int, correct: str
) -> dict[str, Any]:
    """Write train.jsonl, dev.jsonl and controlled.json, all or none.

    Returns the content of controlled.json; `correct` names the share of correct pairs.
    """
    files = {}
    with staged(out) as stage:
        for name, rows in (("train", sets.train), ("dev", sets.dev)):
            text = "".join(json.dumps(plain(row), ensure_ascii=False) + "\n" for row in rows)
            (stage / f"{name}.jsonl").write_text(text, encoding="utf-8", newline="")
            files[f"{name}.jsonl"] = {
                "sha256": hashlib.sha256(text.encode()).hexdigest(),
                "pairs": len(rows),
                "labels": dict(Counter(row.label for row in rows)),
                "parts": dict(Counter(row.part for row in rows)),
            }
        card = {
            "language": plan.language,
            "form": plan.form,
            "rate": sets.rate,
            "errors": sets.errors,
            "seed": seed,
            "correct": correct,
            "source": plan.source,
            "words": {lean: list(words) for lean, words in plan.words.items()},
            "held_out": {lean: list(words) for lean, words in plan.held_out.items()},
            "parts": dict(sets.parts),
            "files": files,
        }
        (stage / CARD).write_text(to_json(card), encoding="utf-8")
    return card
