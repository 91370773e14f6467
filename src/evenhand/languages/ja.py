"""Japanese: nouns are filled in unchanged, as frames have the particle; words by UniDic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from evenhand.core.errors import LoadError
from evenhand.languages.frames import SLOT, subjects
from evenhand.languages.gender_words import gender_words, join_pieces

_SUBJECT = re.compile(r"(?:女性|男性)")
_COMPOUND = re.compile(r"(?:女性|男性)(?:用|的|誌|器|ホルモン|向け|専用|らし|同士)")
_PARTICLE = re.compile(
    r"\{x\}(?:たち|達|ら|さん)?(?:が|は|を|に|の|と|も|で|へ|や|から|まで|、|。|$)"
)
_GROUP = re.compile(
    r"(?:二|三|四|五|数|何|[2-9２-９])\s*(?:人|名)か?の\{x\}"
    r"|\{x\}が?(?:二|三|数|何|[2-9２-９])\s*(?:人|名)"
    r"|(?:複数|数名|大勢)の\{x\}|\{x\}の(?:グループ|集団|群れ|チーム)"
)


@cache
def tagger() -> Any:
    """The tagger that cuts Japanese into morphemes.

    Raises LoadError where fugashi or its dictionary is not installed.
    """
    try:
        import fugashi

        return fugashi.Tagger()
    except (ImportError, RuntimeError) as error:  # RuntimeError: its dictionary is not there
        raise LoadError(
            "Japanese words are found with fugashi and unidic-lite, which are not installed: "
            "pip install 'evenhand[ja]'"
        ) from error


def _morphemes(text: str) -> Iterator[tuple[int, int]]:
    place = 0
    for morpheme in tagger()(text):
        start = text.index(morpheme.surface, place)
        place = start + len(morpheme.surface)
        yield start, place


class Japanese:
    """Japanese."""

    code = "ja"
    name = "日本語"
    subjects = subjects("ja")

    def fill(self, frame: str, word: str) -> str:
        """`公園で{x}が歩いている。` -> `公園で看護師が歩いている。`"""
        return SLOT.sub(word, frame)

    def cut(self, caption: str) -> str | None:
        """`男性が馬に乗っている。` -> `{x}が馬に乗っている。`"""
        if len(_SUBJECT.findall(caption)) != 1 or _COMPOUND.search(caption):
            return None
        return _SUBJECT.sub("{x}", caption)

    def faults(self, frame: str) -> list[str]:
        """A slot that no particle follows, or that a counter makes plural."""
        faults = [] if _PARTICLE.search(frame) else ["no particle after the slot"]
        if _GROUP.search(frame):
            faults.append("the slot is several persons")
        return faults

    def blank(self, text: str, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """As they are."""
        return text, tuple(words)

    def words(self, text: str) -> list[tuple[int, int]]:
        """By UniDic, with the morphemes of a gender word joined: 女の子, お母さん, 彼女たち.

        夫婦 does not contain the word 夫.
        """
        return join_pieces(text, _morphemes(text), gender_words("ja"))

    def open_particle(self, rest: str) -> str:
        """As it is: nothing that follows a word depends on it."""
        return rest


LANGUAGE = Japanese()
