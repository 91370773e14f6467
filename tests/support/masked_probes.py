"""What masked models are asked in their tests, and their answers worked out token by token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from masked_models import DISCRIMINATOR, FAMILIES, build, byte_pairs, mask_probe, pieces

from evenhand.core.errors import LoadError
from evenhand.core.probe import BLANK, Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.respondents.locate import open_respondent

MASK = 4
SINGLE = (
    mask_probe("The nurse said [BLANK] left.", "he", "she", identity="s0"),
    mask_probe("[BLANK] said the doctor is here.", "He", "She", identity="s1"),
    mask_probe('The nurse said "[BLANK] runs".', "he", "she", identity="s2"),
    mask_probe("[BLANK]是医生。", "他", "她", identity="s3", language="zh"),
)
SEVERAL = (
    mask_probe("The [BLANK] said he left.", "fireman", "firewoman", "nurse", identity="m0"),
    mask_probe("The [BLANK] left.", "fireman", "policeman", identity="m1"),
    mask_probe("[BLANK]在说。", "男孩", "女孩", identity="m2", language="zh"),
    mask_probe(
        "A nurse said the doctor was here, he said, [BLANK] left.",
        "the boy",
        "the girl",
        identity="m3",
    ),
    mask_probe("The fire[BLANK] left.", "man", "woman", identity="m4"),
)
PROBES = (*SINGLE, *SEVERAL)


def suite_of(probes: tuple[Probe, ...]) -> Suite:
    """The probes as a suite of male and female words."""
    card = SuiteCard(
        name="blanks",
        version="1",
        language="en",
        source="here",
        licence="none",
        citation="none",
        description="",
        options=("male", "female"),
    )
    return Suite(card=card, probes=probes)


BATCHES = (1, 3, 64, None)


def words_of(tokenizer: Any, probe: Probe) -> list[tuple[list[int], list[int]]]:
    """Ids of each filled-in sentence and the positions of its word.

    From the first to the last token with a character of it, and as many more as it takes for the
    rest to be the same for all, tried out from nothing upwards.
    """
    start, texts, before, after = probe.texts[0].index(BLANK), [], [], []
    for word in probe.texts[1:]:
        encoding = tokenizer.encode(probe.texts[0].replace(BLANK, word))
        inside = [
            i
            for i, (a, b) in enumerate(encoding.offsets)
            if a < b and a < start + len(word) and b > start
        ]
        texts.append(list(encoding.ids))
        before.append(inside[0])
        after.append(len(encoding.ids) - 1 - inside[-1])
    left = max(n for n in range(min(before) + 1) if all(t[:n] == texts[0][:n] for t in texts))
    right = max(
        n
        for n in range(min(after) + 1)
        if all(t[len(t) - n :] == texts[0][len(texts[0]) - n :] for t in texts)
    )
    return [(t, list(range(left, len(t) - right))) for t in texts]


def score(numbers: list[list[float]], length: str = "auto") -> list[float]:
    """Sums, means, or means times the number of tokens of the shortest word."""
    times = {"sum": None, "mean": 1, "auto": min(map(len, numbers))}[length]
    return [sum(n) if times is None else times * sum(n) / len(n) for n in numbers]


def slowly(
    tokenizer: Any, predict: Any, mask: int, probe: Probe, rule: str, length: str = "auto"
) -> list[float]:
    """Text by text, token by token; `predict(ids)` is the table of one text."""
    numbers = []
    for ids, word in words_of(tokenizer, probe):
        logs = []
        for k, position in enumerate(word):
            hidden = {
                "together": word,
                "left-to-right": [position],
                "within-word": word[k:],
                "one-by-one": [position],
            }[rule]
            gone = word[k + 1 :] if rule == "left-to-right" else []
            shown = [mask if i in hidden else t for i, t in enumerate(ids) if i not in gone]
            logs.append(float(predict(shown)[position, ids[position]]))
        numbers.append(logs)
    return score(numbers, length)


def padded(rows: list[list[float]]) -> Floats:
    """A table with NaN where a row is shorter."""
    return np.asarray([[*row, *[np.nan] * (max(map(len, rows)) - len(row))] for row in rows])


def refusal(reference: object) -> str:
    with pytest.raises(LoadError) as refused:
        open_respondent(str(reference), "mask", RespondentOptions())
    assert "\n" not in str(refused.value)
    return str(refused.value)


def own_words(family: str) -> Any:
    return byte_pairs() if family == "roberta" else pieces()


def network(folder: Path, head: str = "AutoModelForMaskedLM") -> Any:
    """What plain transformers says: the table of log-probabilities of one text."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = getattr(hub, head).from_pretrained(folder).eval()

    def predict(ids: list[int]) -> Any:
        with torch.no_grad():
            logits = model(
                input_ids=torch.tensor([ids]),
                attention_mask=torch.ones((1, len(ids)), dtype=torch.int64),
            ).logits[0]
        return (
            logits.double().numpy()
            if head == "ElectraForPreTraining"
            else torch.log_softmax(logits.double(), -1).numpy()
        )

    return predict


def build_families(root: Path) -> dict[str, Path]:
    return {family: build(root / family, family) for family in (*FAMILIES, DISCRIMINATOR)}
