"""Korean: the particle follows the sound of the noun, 남편이 but 아내가.

A frame writes both forms, `{이/가}`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from evenhand.core.probe import BLANK
from evenhand.languages.frames import SLOT, subjects
from evenhand.languages.gender_words import gender_words

_FORMS = re.compile(r"\{([가-힣]+)/([가-힣]+)\}")
_SUBJECT = re.compile(r"(?:남자|여자)(?![가-힣]*(?:들|용|답))")
_FIRST, _FINALS, _RIEUL = 0xAC00, 28, 8  # Hangul is ordered by final consonant, the eighth ㄹ
_DEPENDENT = {
    "이": "이/가",
    "가": "이/가",
    "은": "은/는",
    "는": "은/는",
    "을": "을/를",
    "를": "을/를",
    "과": "과/와",
    "와": "과/와",
}

_FORM_PAIRS = tuple(  # after a consonant, after a vowel; longer ones before their own beginnings
    pair.split("/")
    for pair in (
        "이에요/예요 이지만/지만 이었/였 이랑/랑 이나/나 이라/라 이란/란 이다/다 이며/며 이고/고 "
        "이니/니 이여/여 이시/시 이셨/셨 이신/신 으로/로 과/와 이/가 은/는 을/를"
    ).split()
)
_EOJEOL = re.compile(r"[^\s.,!?…~·:;\"'“”‘’()\[\]「」『』<>《》/]+")
_CASE = (
    "에게서|에게|한테서|한테|께서|께|으로서|로서|으로|로|이랑|랑|이나|나|처럼|같이|보다|까지|부터"
    "|마저|조차|밖에|뿐|만큼|하고|에서|에|과|와|의|도|만|이|가|은|는|을|를|이여|여"
)
_COPULA = (
    "(?:이)?(?:다|라고|라는|라서|라면|라도|란|라|며|고|지만|니까|니)|(?:이었|였)[가-힣]{1,4}"
    "|이에요|예요|입니다|입니까|인데|인|일|임|이?(?:시|셨|신)[가-힣]{0,4}"
)
_TAIL = re.compile(rf"(?:들)?(?:(?:{_CASE})(?:은|는|도|만|의|이|가|을|를)?|{_COPULA})?")
# 그 사람, 그대로, 그만 and 그에 따라 are not `he`
_HE = re.compile(r"[는가를의도]|(?:에게|한테)(?:서|는|도)?")


@cache
def _by_first() -> dict[str, list[str]]:
    words: dict[str, list[str]] = {}
    for word in sorted(gender_words("ko"), key=len, reverse=True):
        words.setdefault(word[0], []).append(word)
    return words


def _match(text: str, start: int) -> tuple[int, int] | None:
    """End of the longest gender word that starts here, and of the particles after it."""
    for word in _by_first().get(text[start], ()):
        if text.startswith(word, start):
            tail = _EOJEOL.match(text, start + len(word))
            particles = tail.group() if tail else ""
            if (_HE if word == "그" else _TAIL).fullmatch(particles):
                return start + len(word), start + len(word) + len(particles)
    return None


def particle(word: str, consonant: str, vowel: str) -> str:
    """The form that goes with the last sound of the word; 로 and not 으로 after ㄹ."""
    final = (ord(word[-1]) - _FIRST) % _FINALS if "가" <= word[-1] <= "힣" else 0
    return vowel if final == 0 or (final == _RIEUL and consonant.startswith("으로")) else consonant


def _settle(text: str) -> str:
    """Every `word{이/가}` with the form that it takes."""
    while form := _FORMS.search(text):
        chosen = particle(text[: form.start()] or " ", *form.groups())
        text = text[: form.start()] + chosen + text[form.end() :]
    return text


class Korean:
    """Korean, which has suites with a blank only."""

    code = "ko"
    name = "한국어"
    subjects = subjects("ko")

    def fill(self, frame: str, word: str) -> str:
        """`{x}{이/가} 달린다.` with 선생님 -> `선생님이 달린다.`"""
        return _settle(SLOT.sub(word, frame))

    def cut(self, caption: str) -> str | None:
        """`남자가 달린다.` -> `{x}{이/가} 달린다.`"""
        matches = list(_SUBJECT.finditer(caption))
        if len(matches) != 1:
            return None
        (match,) = matches
        rest = caption[match.end() :]
        if rest[:1] in _DEPENDENT and not "가" <= rest[1:2] <= "힣":
            rest = "{" + _DEPENDENT[rest[0]] + "}" + rest[1:]
        return caption[: match.start()] + "{x}" + rest

    def faults(self, frame: str) -> list[str]:
        """A particle that fits only some nouns."""
        match = re.search(r"\{x\}([이가은는을를과와])(?![가-힣])", frame)
        if match is None:
            return []
        form = match.group(1)
        return [f"'{form}' after the slot fits some nouns only; write {{{_DEPENDENT[form]}}}"]

    def blank(self, text: str, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """`[BLANK]{이/가}` with 남편, 아내 -> `[BLANK]` with 남편이, 아내가.

        The particle belongs to the candidate.
        """
        end = text.index(BLANK) + len(BLANK)
        form = _FORMS.match(text, end)
        if form is None:
            return text, tuple(words)
        return text[:end] + text[form.end() :], tuple(
            word + particle(word, *form.groups()) for word in words
        )

    def words(self, text: str) -> list[tuple[int, int]]:
        """Spaced units; of a gender word that particles follow, the word: 남편 of 남편에게는."""
        spans: list[tuple[int, int]] = []
        place = 0
        while unit := _EOJEOL.search(text, place):
            end, place = _match(text, unit.start()) or (unit.end(), unit.end())
            # on its own 그 is `that`, and part of what follows
            if text[unit.start() : place] != "그":
                spans.append((unit.start(), end))
        return spans

    def open_particle(self, rest: str) -> str:
        """What follows a word, in the form for every word: `이 온다.` -> `{이/가} 온다.`"""
        unit = _EOJEOL.match(rest)
        tail = unit.group() if unit else ""
        for consonant, vowel in _FORM_PAIRS:
            if form := next((f for f in (consonant, vowel) if tail.startswith(f)), ""):
                return f"{{{consonant}/{vowel}}}{rest[len(form) :]}"
        return rest


LANGUAGE = Korean()
