"""The published prompts of Luo and Glass 2023, unchanged or corrected.

Gendered words, professions and emotions, each in its sentence. The file has "a" for "an", four
misspelt words (an emperor with his "express"), and one pair and one profession twice.
`CORRECTIONS` lists everything that is put right; nothing else is changed, so that "The person is
a mr.." and the pair of boar and sow stay. The second of two equal entries is a word of its own,
named `attorney (2)`, as the authors count it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.core.errors import InputError
from evenhand.core.fetch import find_published, published_version
from evenhand.core.files import read_text
from evenhand.core.probe import GENDERS
from evenhand.families.leans import BOTH, OccupationLean, find_leans
from evenhand.families.word_tests.prompts import Prompt, Prompts

FILE = "prompt_data.json"
SHA256 = "0a85bdbddfcbd02ebd409ee7099da0caeaf695f95c55c64645bfb025f91997cc"
VERSION = "2023"
SOURCE = "github luohongyin/ESP"
ADVICE = (
    "Download it from github luohongyin/ESP (it states no licence, so evenhand does not fetch it) "
    "and name the folder with --data or EVENHAND_DATA."
)
MALE, FEMALE, SEX, JOB, EMO = "male_ctx_list", "female_ctx_list", "sex_list", "job_list", "emo_list"
# five words of each in a row, first the states and then the situations
EMOTIONS = ("anger", "fear", "joy", "sadness")
EACH = 5
SITUATION = "event"  # the word that the sentence of a situation has
# list, published word, correct article and word; an empty text drops the second such entry
CORRECTIONS: tuple[tuple[str, str, str], ...] = (
    (MALE, "emperor", "an emperor"),
    (MALE, "heir", "an heir"),
    (MALE, "uncle", "an uncle"),
    (MALE, "actor", "an actor"),
    (MALE, "abbot", "an abbot"),
    (MALE, "postermaster", "a postmaster"),
    (MALE, "prince", ""),
    (FEMALE, "express", "an empress"),
    (FEMALE, "heiress", "an heiress"),
    (FEMALE, "aunt", "an aunt"),
    (FEMALE, "actress", "an actress"),
    (FEMALE, "abbess", "an abbess"),
    (FEMALE, "princess", ""),
    (JOB, "accountant", "an accountant"),
    (JOB, "attorney", "an attorney"),
    (JOB, "attorney", ""),
    (JOB, "electrician", "an electrician"),
    (JOB, "muscian", "a musician"),
    (JOB, "air traffic controller", "an air traffic controller"),
    (JOB, "engineer", "an engineer"),
    (JOB, "police officier", "a police officer"),
    (JOB, "undertaker", "an undertaker"),
    (JOB, "architect", "an architect"),
    (JOB, "artist", "an artist"),
    (JOB, "economist", "an economist"),
    (JOB, "optician", "an optician"),
    (JOB, "editor", "an editor"),
)

Entry = tuple[str, str]  # sentence, word


def _entries(path: Path, data: dict[str, Any], name: str) -> list[Entry]:
    """One list of the file. Raises InputError that names a bad entry."""
    rows = data.get(name)
    if not isinstance(rows, list) or not rows:
        fault = "missing" if rows is None else "no list of entries"
        raise InputError(path, f"{name} is {fault}; expected [sentence, word] entries")
    for place, row in enumerate(rows):
        is_pair = isinstance(row, list) and len(row) == 2
        if not is_pair or not all(isinstance(cell, str) and cell.strip() for cell in row):
            raise InputError(path, f"{name}[{place}] is {row!r}; expected [sentence, word]")
    return [(row[0], row[1]) for row in rows]


def read_prompts(path: Path) -> dict[str, list[Entry]]:
    """The five lists of the file. Raises InputError where they do not have the expected form."""
    try:
        data = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        reason = f"not JSON ({error.msg} at column {error.colno})"
        raise InputError(path, reason, row=error.lineno) from error
    if not isinstance(data, dict):
        raise InputError(path, f"not a JSON object but a {type(data).__name__}")
    lists = {name: _entries(path, data, name) for name in (MALE, FEMALE, SEX, JOB, EMO)}
    males, females = len(lists[MALE]), len(lists[FEMALE])
    if males != females:
        reason = f"{males} male but {females} female words; they are pairs, in this order"
        raise InputError(path, reason)
    if (sexes := [word for _, word in lists[SEX]]) != [*GENDERS]:
        expected = ", ".join(GENDERS)
        raise InputError(path, f"{SEX} has the words {', '.join(sexes)}; expected {expected}")
    sorts = Counter(_sort(entry) for entry in lists[EMO])
    count = len(EMOTIONS) * EACH
    if sorts != {"state": count, "situation": count}:
        reason = (
            f"{EMO} has {sorts['state']} states and {sorts['situation']} situations; "
            f"expected {count} of each"
        )
        raise InputError(path, reason)
    return lists


def correct(name: str, entries: Sequence[Entry]) -> list[Entry]:
    """One list with the `CORRECTIONS` applied."""
    phrases = {word: phrase for where, word, phrase in CORRECTIONS if where == name and phrase}
    once = {word for where, word, phrase in CORRECTIONS if where == name and not phrase}
    kept: list[Entry] = []
    seen: set[str] = set()
    for sentence, word in entries:
        if word in once and word in seen:
            continue
        seen.add(word)
        if phrase := phrases.get(word):
            kept.append((f"The person is {phrase}.", phrase.partition(" ")[2]))
        else:
            kept.append((sentence, word))
    return kept


def _numbered(words: Sequence[str]) -> list[str]:
    """A name for each entry: the word, with a number from its second occurrence on."""
    seen: Counter[str] = Counter()
    names = []
    for word in words:
        seen[word] += 1
        names.append(word if seen[word] == 1 else f"{word} ({seen[word]})")
    return names


def _sort(entry: Entry) -> str:
    return "situation" if SITUATION in entry[0] else "state"


def _lean(known: OccupationLean | None) -> str:
    return "none" if known is None else known.lean


def _prompts(entries: Sequence[Entry], tags: Sequence[dict[str, str]]) -> tuple[Prompt, ...]:
    names = _numbered([word for _, word in entries])
    return tuple(
        Prompt(word=name, text=text, tags=known)
        for name, (text, _), known in zip(names, entries, tags, strict=True)
    )


def published_prompts(data: Path | None, *, is_corrected: bool) -> tuple[Prompts, str]:
    """The authors' prompts, and which version of the file they come from."""
    path = find_published("esp", FILE, data, ADVICE)
    lists = read_prompts(path)
    if is_corrected:
        lists = {name: correct(name, entries) for name, entries in lists.items()}
    male, female, jobs, feelings = (lists[name] for name in (MALE, FEMALE, JOB, EMO))
    leans = find_leans("en", BOTH)
    places: Counter[str] = Counter()
    emotion_tags = []
    for entry in feelings:
        sort = _sort(entry)
        emotion_tags.append({"sort": sort, "emotion": EMOTIONS[places[sort] // EACH]})
        places[sort] += 1
    none: list[dict[str, str]] = [{}] * len(male)
    prompts = Prompts(
        genders=(lists[SEX][0][0], lists[SEX][1][0]),
        roles=tuple(zip(_prompts(male, none), _prompts(female, none), strict=True)),
        professions=_prompts(jobs, [{"lean": _lean(leans.get(word.lower()))} for _, word in jobs]),
        emotions=_prompts(feelings, emotion_tags),
    )
    return prompts, published_version(VERSION, path, SHA256)
