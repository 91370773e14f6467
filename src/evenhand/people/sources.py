"""Where people's scores come from: the published file, a study, or answers exported from one."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from evenhand.core.answer_files import read_answers
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError, LoadError
from evenhand.core.protocols import SuiteOptions
from evenhand.engine.ask import ask_suite
from evenhand.engine.opened import open_model
from evenhand.engine.suites import load_suite
from evenhand.families.contextualised.published import EVERYBODY, PEOPLE
from evenhand.families.contextualised.published import SUITE as PUBLISHED
from evenhand.people.scores import STORED, PeopleScores, from_answers

Source = str | Path | PeopleScores | Sequence[Answers]
# looked up by name: `study` may import this room but not the reverse, and it needs an extra
_STUDY_READER = "evenhand.study.scores:read_scores"


def published_people(data: Path | None = None) -> PeopleScores:
    """The three annotators of the published CGB file.

    data: the folder of published data.
    """
    suite = load_suite(PUBLISHED.name, PUBLISHED.languages[0], SuiteOptions(data=data))
    names = [f"{STORED}{name}" for name in PEOPLE]
    answers = [ask_suite(open_model(name, suite), suite) for name in names]
    return from_answers(answers, f"{STORED}{EVERYBODY}")


def _study_people(path: Path) -> PeopleScores:
    try:
        read: Callable[[Path], PeopleScores] = pkgutil.resolve_name(_STUDY_READER)
    except ImportError as error:
        raise LoadError(
            f"a study needs the extra `annotate` ({error}): pip install 'evenhand[annotate]'; "
            "exported answers do not"
        ) from error
    return read(path)


def _with_each(path: Path) -> list[Answers]:
    """The answers in a file and, if they are of all people together, those of each beside it."""
    together = read_answers(path)
    patterns = (f"{path.stem}-annotator-*.parquet", "annotator-*.parquet")
    files = {file for pattern in patterns for file in path.parent.glob(pattern)} - {path}
    each = (read_answers(file) for file in sorted(files))
    return [together, *(a for a in each if a.respondent.startswith(f"{together.respondent}/"))]


def read_people(source: Source, data: Path | None = None) -> PeopleScores:
    """The people that a name or file stands for.

    source: `cgb`, a study file (.toml), a file of answers (.parquet), a folder of them, or what was
    read already. data: the folder of published data. Raises InputError for anything else.
    """
    if isinstance(source, PeopleScores):
        return source
    if not isinstance(source, str | Path):
        return from_answers(source)
    if str(source) == PUBLISHED.name:
        return published_people(data)
    path = Path(source).expanduser()
    if path.suffix.lower() == ".toml":
        return _study_people(path)
    if path.suffix.lower() == ".parquet":
        return from_answers(_with_each(path))
    if path.is_dir():
        files = sorted(path.glob("*.parquet"))
        if not files:
            raise InputError(
                path,
                "no .parquet file in this folder; export the study with "
                "`evenhand annotate export --form answers`",
            )
        return from_answers([read_answers(file) for file in files])
    raise InputError(
        path,
        f"is neither {PUBLISHED.name}, nor a study file (.toml), nor answers (.parquet) or a "
        "folder of them",
    )


def of_language(people: PeopleScores, lang: str | None) -> PeopleScores:
    """The sentences of one language; all where none is named.

    Raises EvenhandError where people answered no sentence in it.
    """
    if lang is None:
        return people
    languages = sorted({p.language for p in people.suite.probes})
    if lang not in languages:
        known = ", ".join(languages)
        raise EvenhandError(
            f"the people answered no sentence in '{lang}'; they answered in {known}"
        )
    rows = [i for i, p in enumerate(people.suite.probes) if p.language == lang]
    return people.select(rows, lang)


def answered_only(people: PeopleScores) -> PeopleScores:
    """The sentences that somebody answered; EvenhandError where there is none."""
    rows = [int(i) for i in np.flatnonzero(np.isfinite(people.final))]
    if not rows:
        raise EvenhandError(
            f"{people.identity}: nobody answered a sentence in {people.suite.card.language} yet"
        )
    return people.select(rows)
