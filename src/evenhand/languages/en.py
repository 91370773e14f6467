"""How are English frames filled? a/an by sound, a capital at the start."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenhand.core.probe import BLANK
from evenhand.languages.frames import SLOT, subjects
from evenhand.languages.roles import find_role

_VOWEL = re.compile(r"(?:[aeiou]|hour|hono|heir|honest)", re.IGNORECASE)
_CONSONANT = re.compile(
    r"(?:eu|ewe|one\b|once|uni(?!n|m|dent)|use|usu|ut[ei]|ubi|uk[eu]|ur[aio])", re.IGNORECASE
)
_ARTICLE = re.compile(r"\b(an?) ([A-Za-z][\w'-]*)", re.IGNORECASE)
_SUBJECT = re.compile(r"(?<![\w-])(?:(an?|the) )?(woman|man)(?![\w-])", re.IGNORECASE)
_PLURAL = re.compile(r"\b(?:wo)?men\b", re.IGNORECASE)
_DETERMINER = re.compile(
    r"\b(?:an?|the|this|that|one|each|every|another|some|any|no|\w+'s)\b", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"[.,;:!?]|\b(?:with|by|near|beside|behind|at|to|for|from|of|and|or|while|as|is|are)\b",
    re.IGNORECASE,
)

_OPENING = " \t\"'“‘(["
_SENTENCE_END = re.compile(r"[.!?…]['\"”’)]*\s+['\"“‘(]*$|[,:]\s+[\"“‘]$")


_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CLITIC = re.compile(r"['’](?:s|d|ll|re|ve|m)$", re.IGNORECASE)


def article(word: str) -> str:
    """a or an, by the sound that the word starts with."""
    return "an" if _VOWEL.match(word) and not _CONSONANT.match(word) else "a"


def is_opening(before: str) -> bool:
    """Does a word behind this text start a sentence, or what is said in quotation marks?"""
    return not before.strip(_OPENING) or _SENTENCE_END.search(before) is not None


class English:
    """English."""

    code = "en"
    name = "English"
    subjects = subjects("en")

    def fill(self, frame: str, word: str) -> str:
        """`{a} is here.` with engineer -> `An engineer is here.`"""
        phrase = {"a": f"{article(word)} {word}", "the": f"the {word}", "x": word}
        text = SLOT.sub(lambda slot: phrase[slot.group(1)], frame)
        return text[0].upper() + text[1:]

    def cut(self, caption: str) -> str | None:
        """`A man rides a horse.` -> `{a} rides a horse.`"""
        found = list(_SUBJECT.finditer(caption))
        if len(found) != 1 or _PLURAL.search(caption):
            return None
        slot = {"a": "{a}", "an": "{a}", "the": "{the}"}.get(
            (found[0].group(1) or "").lower(), "{x}"
        )
        return caption[: found[0].start()] + slot + caption[found[0].end() :]

    def faults(self, frame: str) -> list[str]:
        """Wrong articles, and a bare noun without any determiner before it in its clause."""
        found = [
            f"'{m.group()}' should have '{article(m.group(2))}'"
            for m in _ARTICLE.finditer(frame)
            if m.group(1).lower() != article(m.group(2))
        ]
        if slot := re.search(r"\{x\}", frame):
            clause = _CLAUSE.split(frame[: slot.start()])[-1]
            if not _DETERMINER.search(clause):
                found.append("no article before the slot")
        return found

    def blank(self, text: str, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """A capital where the blank starts the sentence, or what is said in quotation marks."""
        is_start = is_opening(text[: text.index(BLANK)])
        return text, tuple(word[0].upper() + word[1:] if is_start else word for word in words)

    def words(self, text: str) -> list[tuple[int, int]]:
        """Letters with the hyphens and apostrophes inside: mother-in-law, don't; but woman of woman's, she of she'll."""
        return [
            (m.start(), m.end() - len(c.group() if (c := _CLITIC.search(m.group())) else ""))
            for m in _WORD.finditer(text)
        ]

    def role(self, text: str, span: tuple[int, int]) -> str | None:
        """Is `her` or `his` a determiner, an object or a possessive here? None where that is open."""
        return find_role(text, *span)

    def open_particle(self, rest: str) -> str:
        """As it is: nothing that follows a word depends on it."""
        return rest


LANGUAGE = English()
