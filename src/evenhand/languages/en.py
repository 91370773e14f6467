"""How are English frames filled? a/an by sound, a capital at the start."""

from __future__ import annotations

import re

from evenhand.languages.frames import SLOT, subjects

_VOWEL = re.compile(r"(?:[aeiou]|hour|hono|heir|honest)", re.IGNORECASE)
_CONSONANT = re.compile(r"(?:eu|ewe|one\b|once|uni(?!n|m|dent)|use|usu|ut[ei]|ubi|uk[eu]|ur[aio])", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(an?) ([A-Za-z][\w'-]*)", re.IGNORECASE)
_SUBJECT = re.compile(r"(?<![\w-])(?:(an?|the) )?(woman|man)(?![\w-])", re.IGNORECASE)
_PLURAL = re.compile(r"\b(?:wo)?men\b", re.IGNORECASE)
_DETERMINER = re.compile(r"\b(?:an?|the|this|that|one|each|every|another|some|any|no|\w+'s)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.,;:!?]|\b(?:with|by|near|beside|behind|at|to|for|from|of|and|or|while|as|is|are)\b", re.IGNORECASE)


def article(word: str) -> str:
    """a or an, by the sound that the word starts with."""
    return "an" if _VOWEL.match(word) and not _CONSONANT.match(word) else "a"


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
        slot = {"a": "{a}", "an": "{a}", "the": "{the}"}.get((found[0].group(1) or "").lower(), "{x}")
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


LANGUAGE = English()
