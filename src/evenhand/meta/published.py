"""What do the authors' bias-controlled sets hold? Their files (sentence1, sentence2, label), each row with its occupation, gender and part.

`DIR/en_v1.1/bias-controlled-set_v1.1/train/train_r-3.json` is the training set of the rate 0.3; Japanese sets lie one folder deeper (untokenized).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.files import read_rows, read_text
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, NEUTRAL
from evenhand.languages.frames import subjects
from evenhand.meta.controlled import BIASED, CORRECT, PARTS, SWAPPED, Controlled, Example
from evenhand.meta.plan import Plan
from evenhand.families.nli_coal.published import LEANS, VERSIONS

ADVICE = "it is part of the repository that `evenhand show suite nli-coal` names"
HELD = (
    10  # where only one file of a rate is there, every tenth premise is held back for development
)


def folder_of(data: Path, language: str) -> Path:
    """The folder of the sets of a language, in the repository or in a folder that holds it as nli_coal."""
    if language not in VERSIONS:
        raise EvenhandError(
            f"the authors' sets exist in {', '.join(VERSIONS)}, not in '{language}'"
        )
    version = VERSIONS[language]
    for root in (data, data / "nli_coal"):
        folder = root / f"{language}_{version}" / f"bias-controlled-set_{version}"
        if folder.is_dir():
            return folder / "untokenized" if (folder / "untokenized").is_dir() else folder
    raise InputError(data, f"has no {language}_{version}/bias-controlled-set_{version}; {ADVICE}")


def file_of(data: Path, language: str, rate: float, part: str) -> Path | None:
    """The file of a rate, None where it is not there; an error where the authors have no set of that rate."""
    step = round(rate * 10)
    if abs(rate * 10 - step) > 1e-9:
        raise EvenhandError(f"the authors' sets have the rates 0, 0.1 ... 1, not {rate:g}")
    path = folder_of(data, language) / part / f"{part}_r-{step}.json"
    return path if path.is_file() else None


@cache
def _leans(data: Path, language: str) -> Mapping[str, str]:
    import json

    version = VERSIONS[language]
    path = next(
        folder_of(data, language).parents[i]
        for i in (0, 1)
        if folder_of(data, language).parents[i].name.startswith(f"{language}_")
    )
    table = json.loads(
        read_text(path / "occupation-words" / f"occup_{language}-by-type_{version}.json")
    )
    return {word: LEANS[kind] for kind, words in table.items() for word in words}


def read_set(path: Path, language: str, leans: Mapping[str, str]) -> tuple[Example, ...]:
    """The rows of one file; an error names the row that is none."""
    words = {gender: word for gender, word in subjects(language).items() if gender != "nonbinary"}
    found = []
    for number, row in read_rows(path):
        try:
            premise, hypothesis, label = (
                str(row["sentence1"]),
                str(row["sentence2"]),
                str(row["label"]),
            )
        except KeyError as error:
            raise InputError(path, f"the field {error} is missing", row=number) from error
        if label not in (ENTAILMENT, NEUTRAL, CONTRADICTION):
            raise InputError(path, f"label {label!r} is none of the three", row=number)
        # the longest word first: `registered nurse` and not `nurse`
        told = next(
            (
                (occupation, gender)
                for occupation in sorted(leans, key=len, reverse=True)
                if occupation in premise
                for gender, word in words.items()
                if hypothesis
                in (premise.replace(occupation, word), premise.replace(occupation, word, 1))
            ),
            None,
        )
        if told is None:
            raise InputError(
                path,
                "premise and hypothesis do not differ in an occupation and a gender word alone",
                row=number,
            )
        occupation, gender = told
        lean = leans[occupation]
        part = (
            CORRECT
            if label == NEUTRAL
            else BIASED
            if (label == ENTAILMENT) == (gender == lean)
            else SWAPPED
        )
        found.append(
            Example(
                premise=premise,
                hypothesis=hypothesis,
                label=label,
                occupation=occupation,
                lean=lean,
                gender=gender,
                part=part,
            )
        )
    return tuple(found)


def read_published(data: Path, language: str, rate: float) -> Controlled:
    """The sets of a rate; where one of its two files is not there, a tenth of the other is held back instead."""
    leans = _leans(data, language)
    files = {part: file_of(data, language, rate, part) for part in PARTS}
    if not any(files.values()):
        raise InputError(
            folder_of(data, language),
            f"has neither a train nor a dev set of the rate {rate:g}; {ADVICE}",
        )
    sets = {part: read_set(path, language, leans) for part, path in files.items() if path}
    if len(sets) == 1:
        (rows,) = sets.values()
        premises = list(dict.fromkeys(row.premise for row in rows))
        held = set(premises[::HELD])
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
        for lean in ("female", "male", "none")
    }
    return Plan(
        language=language,
        words=words,
        frames=(),
        asked={},
        source=f"the authors' sets, {VERSIONS[language]}",
    )
