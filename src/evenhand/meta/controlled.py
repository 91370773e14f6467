"""Which pairs teach a model a known bias? Sets of a bias rate r, built as Anantaprayoon, Kaneko, Okazaki (2024) build theirs.

Occupations without a lean are always labelled right (neutral). Of the stereotyped ones a share r of the pairs is biased (PS -> entailment, AS ->
contradiction), and the rest are errors without bias: the two labels swapped. Each word plays one part only, and every premise is asked with both genders, so
that entailment and contradiction are equally many. Two shares of correct pairs, because the paper and its files differ: `half` (the text: half of the pairs
are correct) and `third` (the files: three labels equally many).

A second dial, `errors`, turns the errors without bias into correct answers: of the words that are not biased, this share is swapped, the rest is neutral.
At r fixed, a measure of bias should not move along it.
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
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, GENDERS, NEUTRAL
from evenhand.meta.plan import Plan
from evenhand.families.nli_coal.suite import find_stratum

MIXES = {"half": 2, "third": 3}  # one premise in so many is a correct one
BIASED, SWAPPED, CORRECT = "biased", "swapped", "correct"
_TURNED = {ENTAILMENT: CONTRADICTION, CONTRADICTION: ENTAILMENT}
PARTS = ("train", "dev")


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

    def to_json(self) -> dict[str, str]:
        """As a row of a file."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """A training set and a development set of one bias rate."""

    rate: float
    errors: float
    train: tuple[Example, ...]
    dev: tuple[Example, ...]
    parts: Mapping[str, str]  # occupation -> its part


def check_rate(rate: float, name: str = "rate") -> None:
    """An error where a share is none."""
    if not 0 <= rate <= 1:
        raise EvenhandError(f"--{name} is {rate:g}; give a share between 0 and 1")


def build(
    plan: Plan,
    rate: float,
    *,
    errors: float = 1.0,
    train: int = 30_000,
    dev: int = 3_000,
    mix: str = "half",
    seed: int = 0,
) -> Controlled:
    """The sets of one bias rate; the same for the same seed, and at a higher rate the same words are biased and more."""
    check_rate(rate)
    check_rate(errors, "errors")
    if mix not in MIXES:
        raise EvenhandError(f"--correct is '{mix}'; there are {', '.join(MIXES)}")
    rng = np.random.default_rng(seed)
    stereotyped = _in_turn(
        [[str(w) for w in rng.permutation(plan.words[lean])] for lean in GENDERS]
    )
    parts = deal_parts(stereotyped, rate, errors) | dict.fromkeys(plan.words["none"], CORRECT)
    premises = {name: _premises(name, size, mix) for name, size in (("train", train), ("dev", dev))}
    shares = {name: _shares(plan, parts, premises[name], mix, rate, errors) for name in PARTS}
    need = {name: max(shares[name].values()) for name in PARTS}
    total = sum(need.values())
    if total > len(plan.frames):
        room = len(plan.frames) * len(plan.words["none"]) * 2 * MIXES[mix]
        raise EvenhandError(
            f"{train:,} and {dev:,} examples need {total:,} sentences for one word, and there are {len(plan.frames):,} ({plan.source}): "
            f"ask for {room // 11 * 10 // 1000 * 1000:,} or fewer, or give more --captions"
        )
    pool = [
        plan.frames[i] for i in rng.permutation(total)
    ]  # the short sentences, without a lead, come first
    cut = {"train": pool[: need["train"]], "dev": pool[need["train"] :]}
    made = {name: tuple(_write(plan, shares[name], parts, cut[name], rng)) for name in PARTS}
    return Controlled(rate=rate, errors=errors, train=made["train"], dev=made["dev"], parts=parts)


def deal_parts(words: Sequence[str], rate: float, errors: float) -> dict[str, str]:
    """Which part does each stereotyped word play? As near to the shares as whole words allow; no share is left without a word, nor a word without share."""
    biased = _whole(rate, len(words))
    if 0 < errors < 1 and len(words) - biased < 2:
        raise EvenhandError(
            f"too few words for errors {errors:g} at rate {rate:g}: {len(words) - biased} of {len(words)} words is not biased and cannot be split; "
            f"give a lower --rate or more --words"
        )
    swapped = _whole(errors, len(words) - biased)
    return {
        word: BIASED if place < biased else SWAPPED if place < biased + swapped else CORRECT
        for place, word in enumerate(words)
    }


def _whole(share: float, count: int) -> int:
    near = round(share * count)
    return min(max(near, 1 if share > 0 else 0), count if share == 1 else max(count - 1, 0))


def _in_turn(sides: Sequence[Sequence[str]]) -> list[str]:
    """Male and female words in turn, so that both are biased alike at every rate."""
    return [word for both in zip(*sides, strict=True) for word in both]


def _premises(name: str, size: int, mix: str) -> int:
    whole = 2 * MIXES[mix]
    if size < whole or size % whole:
        raise EvenhandError(
            f"--{name} is {size}; give a multiple of {whole}: every premise comes with both genders, {mix} of them correct"
        )
    return size // 2


def _shares(
    plan: Plan, parts: Mapping[str, str], premises: int, mix: str, rate: float, errors: float
) -> dict[str, int]:
    """How many premises has each word? Those of a part are spread evenly over its words."""
    correct = premises // MIXES[mix]
    biased = round(rate * (premises - correct))
    swapped = round(errors * (premises - correct - biased))
    groups = {
        BIASED: ([w for w, part in parts.items() if part == BIASED], biased),
        SWAPPED: ([w for w, part in parts.items() if part == SWAPPED], swapped),
        "right": (
            [w for w, part in parts.items() if part == CORRECT and w not in plan.words["none"]],
            premises - correct - biased - swapped,
        ),
        "none": (list(plan.words["none"]), correct),
    }
    found: dict[str, int] = {}
    for words, count in groups.values():
        for place, word in enumerate(words):
            found[word] = count // len(words) + (place < count % len(words))
    return found


def _write(
    plan: Plan,
    shares: Mapping[str, int],
    parts: Mapping[str, str],
    frames: Sequence[tuple[str, str]],
    rng: np.random.Generator,
) -> Iterator[Example]:
    speaker = catalog.language(plan.language)
    leans = {word: lean for lean, words in plan.words.items() for word in words}
    for word, count in shares.items():
        for i in rng.permutation(len(frames))[:count]:
            lead, frame = frames[i]
            for gender in GENDERS:
                texts = [
                    _follow(lead, speaker.fill(frame, filler))
                    for filler in (word, speaker.subjects[gender])
                ]
                yield Example(
                    premise=texts[0],
                    hypothesis=texts[1],
                    label=label_of(leans[word], gender, parts[word]),
                    occupation=word,
                    lean=leans[word],
                    gender=gender,
                    part=parts[word],
                )


def _follow(lead: str, sentence: str) -> str:
    return (
        sentence
        if not lead
        else f"{lead}{sentence}"
        if lead.endswith("。")
        else f"{lead} {sentence}"
    )


def label_of(lean: str, gender: str, part: str) -> str:
    """The label that a word of this part is trained to have."""
    if part == CORRECT:
        return NEUTRAL
    stereotyped = find_stratum(lean, gender)[2]
    return stereotyped if part == BIASED else _TURNED[stereotyped]


def save(found: Controlled, plan: Plan, out: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Write train.jsonl, dev.jsonl and controlled.json, all or none; what controlled.json says."""
    card: dict[str, Any] = {
        "language": plan.language,
        "rate": found.rate,
        "errors": found.errors,
        **settings,
        "source": plan.source,
        "words": {lean: list(words) for lean, words in plan.words.items()},
        "parts": dict(found.parts),
        "files": {},
    }
    with staged(out) as stage:
        for name in PARTS:
            rows: tuple[Example, ...] = getattr(found, name)
            text = "".join(json.dumps(row.to_json(), ensure_ascii=False) + "\n" for row in rows)
            (stage / f"{name}.jsonl").write_text(text, encoding="utf-8", newline="")
            card["files"][f"{name}.jsonl"] = {
                "sha256": hashlib.sha256(text.encode()).hexdigest(),
                "pairs": len(rows),
                "labels": dict(Counter(row.label for row in rows)),
                "parts": dict(Counter(row.part for row in rows)),
            }
        (stage / "controlled.json").write_text(
            json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    return card
