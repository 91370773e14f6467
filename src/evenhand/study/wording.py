"""The texts of the interface, from words/LANGUAGE.toml; every language has the same keys."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from evenhand.core.errors import UnknownNameError

LANGUAGES = ("zh", "en", "ja")


@cache
def texts(language: str) -> Mapping[str, str]:
    """All texts of a language."""
    if language not in LANGUAGES:
        raise UnknownNameError("language of the interface", language, LANGUAGES)
    file = resources.files("evenhand.study") / "words" / f"{language}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


class Words:
    """The texts of one language, to be called with a key and what to fill in."""

    def __init__(self, language: str) -> None:
        self.language, self._texts = language, texts(language)

    def __call__(self, key: str, **values: object) -> str:
        """The text with its {…} filled in."""
        return self._texts[key].format(**values) if values else self._texts[key]

    def part(self, name: str) -> str:
        """What a part is called: the trial, or a numbered part."""
        _, _, number = name.partition("-")
        return self("batch", number=number) if number else self("trial")


def language_names(languages: tuple[str, ...]) -> dict[str, str]:
    """Code -> the language's own name, for the switch."""
    return {code: texts(code)["language_name"] for code in languages}
