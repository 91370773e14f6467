"""What does a study ask, of whom, how often? A study file in TOML, checked line by line, and the defaults for all that it leaves out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from evenhand.people.inventories import Inventory
from evenhand.core.errors import EvenhandError
from evenhand.core.suite import Suite

LANGUAGES = ("zh", "en", "ja")
TYPES = ("type1", "type2")
TRIAL_SIZE, BATCH_SIZE = 200, 2000
NAME = re.compile(r"[\w-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Everything that the owner decided."""

    name: str
    title: Mapping[str, str] = field(default_factory=dict)  # language -> text
    languages: tuple[str, ...] = LANGUAGES  # of the interface
    suite: str = "contextualised"
    suite_language: str = "zh"
    data: Path | None = None
    limit: int | None = None
    types: tuple[str, ...] = TYPES
    trial: int = TRIAL_SIZE  # questions, controls among them; 0: no trial
    batch: int = BATCH_SIZE
    batches: int | None = None  # None: as many as the sentences need
    accuracy_controls: float = (
        0.1  # share of the questions, but no more than leave others for a second attempt
    )
    consistency_controls: float = 0.1  # share of the questions that ask a sentence a second time; no pairs where there is one type only
    least_accuracy: float = 0.8
    least_consistency: float = 0.6
    apart: int | None = (
        None  # how many places lie between the two of a pair at least; None: 50, or a fifth of a smaller part
    )
    inventories: tuple[Inventory, ...] = ()
    pay: Mapping[str, str] = field(default_factory=dict)
    consent: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    store: str = ""  # SQLAlchemy URL; of a file: <study>.db beside it
    secret_file: Path | None = None  # of a file: <study>.secret beside it
    source: Path | None = None  # the study file


def open_study(path: str | Path) -> tuple[Study, Suite]:
    """The study in a file and its sentences; InputError with the line of the first mistake."""
    from evenhand.study.study_file import (
        read_study,
    )  # it needs the plan of the questions, which needs Study

    return read_study(Path(path))


def load_study(path: str | Path) -> Study:
    """The study in a file, checked against its sentences."""
    return open_study(path)[0]


def template(name: str) -> str:
    """A commented, valid study file to start from."""
    if not NAME.fullmatch(name):
        raise EvenhandError(
            f"'{name}' is no name for a study; use letters, digits, - and _, at most 64"
        )
    return (
        (files(__package__) / "study_template.toml")
        .read_text(encoding="utf-8")
        .replace("NAME", name)
    )
