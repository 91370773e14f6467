"""The authors' bias-controlled sets: each row with its occupation, gender and part.

Their files have sentence1, sentence2 and label. `DIR/en_v1.1/bias-controlled-set_v1.1/train/
train_r-3.json` is the training set of the rate 0.3; Japanese sets lie one folder deeper
(untokenized).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.files import read_rows, read_text
from evenhand.core.probe import ENTAILMENT, GENDERS, NEUTRAL, NLI_LABELS
from evenhand.families.nli_coal.published import LEANS, VERSIONS
from evenhand.families.nli_coal.suite import LEANS as LEAN_NAMES
from evenhand.languages.frames import subjects
from evenhand.meta.controlled import BIASED, CORRECT, FILES, SWAPPED, Controlled, Example
from evenhand.meta.plan import Plan

ADVICE = "it is part of the repository that `evenhand show nli-coal` names"
HELD = 10  # where a rate has only one file, every tenth premise is held back for development


def folder_of(data: Path, language: str) -> Path:
    """The folder of the sets of a language, in the repository or in a folder that holds it."""
    if language not in VERSIONS:
        known = ", ".join(VERSIONS)
        raise EvenhandError(f"the authors' sets exist in {known}, not in '{language}'")
    version = VERSIONS[language]
    for root in (data, data / "nli_coal"):
        folder = root / f"{language}_{version}" / f"bias-controlled-set_{version}"
        if folder.is_dir():
            return folder / "untokenized" if (folder / "untokenized").is_dir() else folder
    raise InputError(data, f"has no {language}_{version}/bias-controlled-set_{version}; {ADVICE}")


def file_of(data: Path, language: str, rate: float, part: str) -> Path | None:
    """The file of a rate, None where it is not there.

    Raises EvenhandError where the authors have no set of that rate.
    """
    step = round(rate * 10)
    if abs(rate * 10 - step) > 1e-9:
        raise EvenhandError(f"the authors' sets have the rates 0, 0.1 ... 1, not {rate:g}")
    path = folder_of(data, language) / part / f"{part}_r-{step}.json"
    return path if path.is_file() else None


@cache
def _leans(data: Path, language: str) -> Mapping[str, str]:
    folder, version = folder_of(data, language), VERSIONS[language]
    root = next(p for p in folder.parents if p.name.startswith(f"{language}_"))
    path = root / "occupation-words" / f"occup_{language}-by-type_{version}.json"
    table = json.loads(read_text(path))
    return {word: LEANS[kind] for kind, words in table.items() for word in words}


def read_set(path: Path, language: str, leans: Mapping[str, str]) -> tuple[Example, ...]:
    """The rows of one file; raises InputError naming the first row that is not a valid example."""
    gender_words = {gender: subjects(language)[gender] for gender in GENDERS}
    examples = []
    for number, row in read_rows(path):
        try:
            premise, hypothesis = str(row["sentence1"]), str(row["sentence2"])
            label = str(row["label"])
        except KeyError as error:
            raise InputError(path, f"the field {error} is missing", row=number) from error
        if label not in NLI_LABELS:
            raise InputError(path, f"label {label!r} is none of the three", row=number)
        match = _occupation_and_gender(premise, hypothesis, leans, gender_words)
        if match is None:
            reason = "premise and hypothesis do not differ in an occupation and a gender word alone"
            raise InputError(path, reason, row=number)
        occupation, gender = match
        is_as_stereotyped = (label == ENTAILMENT) == (gender == leans[occupation])
        examples.append(
            Example(
                premise=premise,
                hypothesis=hypothesis,
                label=label,
                occupation=occupation,
                lean=leans[occupation],
                gender=gender,
                part=CORRECT if label == NEUTRAL else BIASED if is_as_stereotyped else SWAPPED,
            )
        )
    return tuple(examples)


def _occupation_and_gender(
    premise: str, hypothesis: str, leans: Mapping[str, str], gender_words: Mapping[str, str]
) -> tuple[str, str] | None:
    """The two words in which the sentences differ, the longest occupation first.

    `registered nurse` and not `nurse`.
    """
    for occupation in sorted(leans, key=len, reverse=True):
        if occupation not in premise:
            continue
        for gender, word in gender_words.items():
            once, always = (premise.replace(occupation, word, count) for count in (1, -1))
            if hypothesis in (once, always):
                return occupation, gender
    return None


def read_published(data: Path, language: str, rate: float) -> Controlled:
    """The sets of a rate; where one of its two files is missing, a tenth of the other is held back.

    Raises InputError where both are missing.
    """
    leans = _leans(data, language)
    files = {part: file_of(data, language, rate, part) for part in FILES}
    sets = {part: read_set(path, language, leans) for part, path in files.items() if path}
    if not sets:
        raise InputError(
            folder_of(data, language),
            f"has neither a train nor a dev set of the rate {rate:g}; {ADVICE}",
        )
    if len(sets) == 1:
        (rows,) = sets.values()
        held = set(list(dict.fromkeys(row.premise for row in rows))[::HELD])
        sets = {
            "train": tuple(r for r in rows if r.premise not in held),
            "dev": tuple(r for r in rows if r.premise in held),
        }
    return Controlled(
        rate=rate,
        errors=1.0,
        train=sets["train"],
        dev=sets["dev"],
        parts={r.occupation: r.part for r in sets["train"]},
    )


def published_plan(data: Path, language: str) -> Plan:
    """The words of the authors' sets; their sentences are in the files."""
    rows = read_published(data, language, 1.0).train
    words = {
        lean: tuple(sorted({row.occupation for row in rows if row.lean == lean}))
        for lean in LEAN_NAMES
    }
    return Plan(
        language=language,
        words=words,
        frames=(),
        asked={},
        source=f"the authors' sets, {VERSIONS[language]}",
    )
