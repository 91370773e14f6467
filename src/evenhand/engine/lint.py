"""Faults of a suite: gender-dependent frames, duplicates, unequal twins, broken grammar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.probe import BLANK, Probe, check_blank
from evenhand.languages.frames import gender_cues


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with one probe."""

    rule: str
    probe: str
    detail: str


@cache
def _frame_findings(language: str, frame: str) -> tuple[tuple[str, str], ...]:
    # first: an unknown language is then an error that names the known ones
    speaker = catalog.language(language)
    cues = [("gender cue", cue) for cue in gender_cues(language, frame)]
    return (*cues, *(("grammar", fault) for fault in speaker.faults(frame)))


def _differ_only(mine: str, theirs: str, my_word: str, their_word: str) -> bool:
    """Whether replacing one, or every, `my_word` of one text by `their_word` gives the other."""
    mine, theirs = mine.casefold(), theirs.casefold()
    places = [i for i in range(len(mine)) if mine.startswith(my_word, i)]
    return theirs == mine.replace(my_word, their_word) or any(
        theirs == mine[:i] + their_word + mine[i + len(my_word) :] for i in places
    )


def _twin_faults(probe: Probe, twin: Probe | None) -> Iterator[str]:
    if twin is None:
        yield f"its twin '{probe.twin}' is not in the suite"
    elif twin.twin != probe.id:
        yield f"its twin '{twin.id}' names another twin"
    elif twin.texts[0] != probe.texts[0]:
        yield f"its twin '{twin.id}' has another first text"
    elif "word" in probe.tags and not _differ_only(
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
    is_open = probe.tags.get("fair") == "equal"  # nothing in it may give the gender away
    if is_open and lexicons.has_table(probe.language, "cues"):
        for cue in gender_cues(probe.language, probe.texts[0].replace(BLANK, "{x}")):
            yield "gender cue", f"{cue} in: {probe.texts[0]}"


def lint(probes: Sequence[Probe]) -> list[Finding]:
    """Everything that is wrong, in the order of the probes; a frame is reported once."""
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
        template = probe.tags.get("template", "")
        if template and template not in frames:
            frames.add(template)
            findings += [
                Finding(rule, probe.id, f"{detail} in: {template}")
                for rule, detail in _frame_findings(probe.language, template)
            ]
    return findings
