"""The prompts of the word tests: a word in its sentence, from the lexicons of evenhand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evenhand import lexicons
from evenhand.core import catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A word in its sentence, and what is known of it."""

    word: str
    text: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """Everything that the three suites ask about."""

    genders: tuple[str, str]  # the masculine and the feminine sentence
    roles: tuple[tuple[Prompt, Prompt], ...]  # male, female
    professions: tuple[Prompt, ...]
    emotions: tuple[Prompt, ...]


def built_in_prompts(language: str) -> Prompts:
    """The prompts of the lexicons."""
    fill = catalog.language(language).fill
    frames = {row["use"]: row["text"] for row in lexicons.table(language, "prompts")}

    def prompt(use: str, word: str, **tags: str) -> Prompt:
        return Prompt(word=word, text=fill(frames[use], word), tags=tags)

    return Prompts(
        genders=(frames["male"], frames["female"]),
        roles=tuple(
            (prompt("role", row["male"]), prompt("role", row["female"]))
            for row in lexicons.table(language, "roles_gendered")
        ),
        professions=tuple(
            prompt("profession", row["word"], lean=row["lean"])
            for row in lexicons.table(language, "professions")
        ),
        emotions=tuple(
            prompt(row["sort"], row["word"], sort=row["sort"], emotion=row["emotion"])
            for row in lexicons.table(language, "emotions")
        ),
    )
