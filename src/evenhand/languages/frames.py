"""Frames, sentences with one slot: `{a}` (a nurse), `{the}` (the nurse) or `{x}` (nurse)."""

from __future__ import annotations

import re
from functools import cache

from evenhand import lexicons

SLOT = re.compile(r"\{(a|the|x)\}")
PERSON = "＿"  # stands for the slot in the patterns of cues.tsv


def subjects(language: str) -> dict[str, str]:
    """The gender words of the paper: female, male, and the non-binary third."""
    first = lexicons.table(language, "gender")[0]
    return {"female": first["female"], "male": first["male"], "nonbinary": first["neutral"]}


@cache
def _cues(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(row["pattern"], re.IGNORECASE), row["kind"])
        for row in lexicons.table(language, "cues")
    )


def slot_faults(frame: str) -> list[str]:
    """Says that a frame has several slots, for two persons of one kind; else nothing."""
    count = len(SLOT.findall(frame))
    return [f"{count} slots instead of one"] if count > 1 else []


def gender_cues(language: str, frame: str) -> list[str]:
    """What in a frame gives away the gender of its subject: `beard (body)`, `his (pronoun)`."""
    text = SLOT.sub(PERSON, frame)
    return [
        f"{match.group().strip()} ({kind})"
        for pattern, kind in _cues(language)
        if (match := pattern.search(text))
    ]
