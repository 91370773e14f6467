"""Japanese: nouns are filled in unchanged, as frames have the particle; words by UniDic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from evenhand.core.errors import LoadError
from evenhand.languages.frames import SLOT, slot_faults, subjects
from evenhand.languages.gender_words import gender_words, join_pieces

_SUBJECT = re.compile(r"(?:女性|男性)")
_COMPOUND = re.compile(r"(?:女性|男性)(?:用|的|誌|器|ホルモン|向け|専用|らし|同士)")
_PARTICLE = re.compile(
    r"\{x\}(?:たち|達|ら|さん)?(?:が|は|を|に|の|と|も|で|へ|や|から|まで|、|。|$)"
)
_GROUP = re.compile(
    r"(?:二|三|四|五|六|数|何|[2-9２-９])\s*(?:人|名)か?の[^、。]{0,12}\{x\}"
    r"|(?:ふたり|みんな)の[^、。]{0,8}\{x\}|\{x\}(?:たち|達|ら(?=が|は|を|に|の|と|も))"
    r"|\{x\}[^、。]{0,20}(?:話し合|並んで|競い合|殴り合)"
    r"|\{x\}が?(?:二|三|数|何|[2-9２-９])\s*(?:人|名)"
    r"|(?:複数|数名|大勢)の\{x\}|\{x\}の(?:グループ|集団|群れ|チーム)"
)
_DENIED = re.compile(r"\{x\}(?:は|が|も)?(?:[一1１]人も|誰も|い(?:ない|ません)|おら)|\{x\}ではな")
_IN_NOUN = re.compile(  # アジア女性, 女性のテニス選手, 女性の像
    r"[ァ-ヶー一-龥A-Za-z]\{x\}"
    r"|\{x\}の[^、。]{0,8}(?:選手|プレ[イー]ヤー|ダンサー|歌手|ランナー|バーテンダー|労働者|作業員"
    r"|店員|客|学生|教師|大人|チーム|像|写真|絵)"
    r"|\{x\}[^、。]{0,6}(?:描かれ|デザインされ)"
    r"|\{x\}でいっぱい"
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
        """No particle after the slot, several slots, a slot that is plural, denied or in a noun."""
        faults = slot_faults(frame)
        if not _PARTICLE.search(frame):
            faults.append("no particle after the slot")
        if _GROUP.search(frame):
            faults.append("the slot is several persons")
        if _DENIED.search(frame):
            faults.append("the slot is denied, so that nothing wider follows")
        if _IN_NOUN.search(frame):
            faults.append("the slot is part of another noun, or not a person")
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
