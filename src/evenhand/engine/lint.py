"""Faults of a suite: gender-dependent frames, duplicates, unequal twins or texts, grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.probe import BLANK, Probe, check_blank
from evenhand.languages.frames import gender_cues


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one probe."""

    rule: str
    probe: str
    detail: str


@cache
def _frame_findings(language: str, frame: str) -> tuple[tuple[str, str], ...]:
    rules = catalog.language(language)  # comes first: its error names the known languages
    cues = [("gender cue", cue) for cue in gender_cues(language, frame)]
    return (*cues, *(("grammar", fault) for fault in rules.faults(frame)))


def _differ_only_in(first: str, second: str, first_word: str, second_word: str) -> bool:
    """Whether one text becomes the other when one, or every, `first_word` is replaced."""
    first, second = first.casefold(), second.casefold()
    places = [i for i in range(len(first)) if first.startswith(first_word, i)]
    return second == first.replace(first_word, second_word) or any(
        second == first[:i] + second_word + first[i + len(first_word) :] for i in places
    )


def _more_than_a_word(probe: Probe) -> bool:
    """Whether premise and hypothesis differ in more than the occupation and the gender word.

    An English article may follow its noun.
    """
    occupation, word = probe.tags.get("occupation"), probe.tags.get("word")
    if probe.kind != "pair" or not occupation or not word:
        return False
    premise, hypothesis = probe.texts
    if probe.language == "en":
        premise, hypothesis = (re.sub(r"(?i)\ban\b", "a", text) for text in probe.texts)
    return not _differ_only_in(premise, hypothesis, occupation.casefold(), word)


def _twin_faults(probe: Probe, twin: Probe | None) -> Iterator[str]:
    if twin is None:
        yield f"its twin '{probe.twin}' is not in the suite"
    elif twin.twin != probe.id:
        yield f"its twin '{twin.id}' names another twin"
    elif twin.texts[0] != probe.texts[0]:
        yield f"its twin '{twin.id}' has another first text"
    elif "word" in probe.tags and not _differ_only_in(
        probe.texts[1], twin.texts[1], probe.tags["word"], twin.tags.get("word", "")
    ):
        yield f"differs from its twin '{twin.id}' in more than the gender word"


def _mask_findings(probe: Probe) -> Iterator[tuple[str, str]]:
    """What is wrong with a sentence with a blank."""
    try:
        check_blank(probe.texts)
    except ValueError as error:
        yield "blank", str(error)
        return
    if len(set(probe.texts[1:])) < len(probe.texts) - 1:
        yield "equal candidates", ", ".join(probe.texts[1:])
    must_be_neutral = probe.tags.get("fair") == "equal"  # no cue may give the gender away
    if must_be_neutral and lexicons.has_table(probe.language, "cues"):
        for cue in gender_cues(probe.language, probe.texts[0].replace(BLANK, "{x}")):
            yield "gender cue", f"{cue} in: {probe.texts[0]}"


def lint(probes: Sequence[Probe]) -> list[Finding]:
    """All faults, in the order of the probes; those of a frame are reported once."""
    findings: list[Finding] = []
    by_id = {p.id: p for p in probes}
    asked: dict[tuple[str, ...], str] = {}
    frames: set[str] = set()
    for probe in probes:
        question = (*probe.texts, probe.tags.get("scoring", ""))
        if question in asked:
            findings.append(Finding("duplicate", probe.id, f"asks the same as '{asked[question]}'"))
        asked.setdefault(question, probe.id)
        if any(not t.strip() for t in (probe.texts[1:] if probe.kind == "choice" else probe.texts)):
            findings.append(Finding("empty text", probe.id, "one of its texts is empty"))
        if probe.kind == "mask":
            findings += [Finding(rule, probe.id, detail) for rule, detail in _mask_findings(probe)]
        if probe.twin is not None:
            findings += [
                Finding("unequal twins", probe.id, fault)
                for fault in _twin_faults(probe, by_id.get(probe.twin))
            ]
        if _more_than_a_word(probe):
            detail = "premise and hypothesis differ in more than one word"
            findings.append(Finding("unequal texts", probe.id, detail))
        template = probe.tags.get("template", "")
        if template and template not in frames:
            frames.add(template)
            findings += [
                Finding(rule, probe.id, f"{detail} in: {template}")
                for rule, detail in _frame_findings(probe.language, template)
            ]
    return findings
