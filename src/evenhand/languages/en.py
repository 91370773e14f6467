"""English: a or an by sound, capitals, word borders, and the role of `her` and `his`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from evenhand import lexicons
from evenhand.core.probe import BLANK
from evenhand.languages.frames import SLOT, slot_faults, subjects

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
_DENIED = re.compile(
    r"\b(?:no|not an?|nor|neither|without an?) (?:[\w-]+ ){0,2}\{\w+\}", re.IGNORECASE
)
_COMPOUND = re.compile(  # a woman tennis player, a statue of a man, dressed as a woman
    r"\{\w+\}(?: (?!with\b|on\b|in\b|and\b|or\b)[\w-]+)? (?:player|rider|surfer|skier|skater|"
    r"snowboarder|skateboarder|runner|performer|athlete|golfer|artist|vendor|worker|statue)s?\b"
    r"|\b(?:statue|sculpture|mannequin|dummy|doll)s? of (?:an? |the )?(?:[\w-]+ ){0,2}\{\w+\}"
    r"|\b(?:dressed|disguised) (?:up )?(?:as|like) \{\w+\}",
    re.IGNORECASE,
)
_OPENING = " \t\"'“‘(["
_SENTENCE_END = re.compile(r"[.!?…]['\"”’)]*\s+['\"“‘(]*$|[,:]\s+[\"“‘]$")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CLITIC = re.compile(r"['’](?:s|d|ll|re|ve|m)$", re.IGNORECASE)

END = ""  # the token after the last one
_TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|[^\w\s]")
_OPEN = frozenset("\"“‘'([{$£€/&#*")
_QUOTE_OR_PRICE = frozenset("\"“‘'$£€")
_CLAUSE_WORDS = frozenset("that if when where what who how why because".split())
_TIMES = frozenset(
    "night week month year time summer winter spring fall autumn day days weekend morning evening "
    "afternoon term semester".split()
)
_PREPOSITIONS = frozenset(
    "in on at of by from into for under during to about near since behind".split()
)
_HIS_OPEN = frozenset("that all both like so inside outside down above can do".split())
_ADVERBS = frozenset("just still already always now even then".split())
_NOUNS_BEHIND_PREPOSITION = frozenset("back home right left best first little own".split())
_FRIEND_OF = re.compile(
    r"(?i)\b(?:friends?|buddy|buddies|colleagues?|acquaintances?|relatives?) of $"
)


def article(word: str) -> str:
    """a or an, by the sound that the word starts with."""
    return "an" if _VOWEL.match(word) and not _CONSONANT.match(word) else "a"


def is_opening(before: str) -> bool:
    """Whether a word after this text starts a sentence, or a quotation."""
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
        matches = list(_SUBJECT.finditer(caption))
        if len(matches) != 1 or _PLURAL.search(caption):
            return None
        (match,) = matches
        determiner = (match.group(1) or "").lower()
        slot = {"a": "{a}", "an": "{a}", "the": "{the}"}.get(determiner, "{x}")
        return caption[: match.start()] + slot + caption[match.end() :]

    def faults(self, frame: str) -> list[str]:
        """Wrong articles, no determiner, several slots, a slot that is denied or part of a noun."""
        faults = slot_faults(frame)
        if _DENIED.search(frame):
            faults.append("the slot is denied, so that nothing wider follows")
        if _COMPOUND.search(frame):
            faults.append("the slot is part of another noun, or not a person")
        faults += [
            f"'{m.group()}' should have '{article(m.group(2))}'"
            for m in _ARTICLE.finditer(frame)
            if m.group(1).lower() != article(m.group(2))
        ]
        if slot := re.search(r"\{x\}", frame):
            clause = _CLAUSE.split(frame[: slot.start()])[-1]
            if not _DETERMINER.search(clause):
                faults.append("no article before the slot")
        return faults

    def blank(self, text: str, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """A capital where the blank starts the sentence, or a quotation."""
        is_start = is_opening(text[: text.index(BLANK)])
        return text, tuple(word[0].upper() + word[1:] if is_start else word for word in words)

    def words(self, text: str) -> list[tuple[int, int]]:
        """Letters with the hyphens and apostrophes inside: mother-in-law, don't.

        Clitics are left out: woman of woman's, she of she'll.
        """
        spans = []
        for match in _WORD.finditer(text):
            clitic = _CLITIC.search(match.group())
            spans.append((match.start(), match.end() - (len(clitic.group()) if clitic else 0)))
        return spans

    def role(self, text: str, span: tuple[int, int]) -> str | None:
        """determiner, object or possessive for a `her` or `his`; None where it is unclear."""
        return find_role(text, *span)

    def open_particle(self, rest: str) -> str:
        """As it is: nothing that follows a word depends on it."""
        return rest


@cache
def role_words(kind: str) -> frozenset[str]:
    """The words of one class of roles.tsv."""
    return frozenset(row["word"] for row in lexicons.table("en", "roles") if row["kind"] == kind)


def tokens_around(text: str, start: int, end: int) -> tuple[list[str], list[str]]:
    """The tokens before and after a place in lower case, END beyond the text's ends."""

    def tokens(part: str) -> list[str]:
        return [token.lower().replace("’", "'") for token in _TOKEN.findall(part)]

    before = [END, END, *tokens(text[max(0, start - 40) : start])]
    return before, [*tokens(text[end : end + 60]), END, END]


def find_role(text: str, start: int, end: int) -> str | None:
    """The role of the `her` or `his` at this place, by the words around it, without a parser.

    `determiner` (his/her book), `object` (saw him/her), `possessive` (is his/hers), or None where
    the neighbouring words do not decide it; then it should not be guessed.
    """
    before, after = tokens_around(text, start, end)
    if text[start:end].lower() == "his":
        return _judge_his(after, is_friend=_FRIEND_OF.search(text[:start]) is not None)
    return _judge_her(before[-1], after)


def _judge_his(after: list[str], *, is_friend: bool) -> str | None:
    word, then = after[0], after[1]
    if word in _OPEN:
        return "determiner" if word in _QUOTE_OR_PRICE and then else None
    if _is_end(word):
        return "possessive"
    if word in _HIS_OPEN or word in role_words("letter") or is_friend:
        return "determiner" if is_friend and word in role_words("owned") else None
    if word in role_words("object"):
        return "possessive"
    if word in _ADVERBS:
        return None
    return None if word in role_words("verb") else "determiner"


def _judge_her(before: str, after: list[str]) -> str | None:
    word, then = after[0], after[1]
    # a noun phrase would have to end with `word`
    is_last = _is_end(then) or then in role_words("object") | _CLAUSE_WORDS
    is_taker = before in role_words("giver") | role_words("causer")
    has_ending = word not in role_words("noun")  # its ending shows what kind of word it is
    is_only_causer = before in role_words("causer") - role_words("giver")
    is_plural_seen = is_only_causer and re.search(r"[^su]s$", word) is not None  # saw her eyes
    is_own = word == "own" or (word == "very" and then in {"own", "first", "last", "best"})
    is_closed = _is_end(word) or word in role_words("object") or before in role_words("letter")
    rules: tuple[tuple[bool, str | None], ...] = (  # the first that holds decides
        (word in _OPEN, None),
        (is_closed, "object"),
        (is_own, "determiner"),
        (word == "very" and then == "much", "object"),
        (before == "against" and word == "will", "determiner"),
        (word in role_words("unclear"), None),
        (word in role_words("owned"), "determiner"),
        (word in role_words("verb"), "object" if is_taker or is_last else None),
        (
            word in role_words("wavering") or word[:1].isdigit(),
            _judge_wavering(before, word, then, is_last=is_last, is_taker=is_taker),
        ),
        (has_ending and word.endswith("ly"), "object" if is_last else None),
        (has_ending and word.endswith("ing"), None),
        (has_ending and word.endswith("ed") and (is_last or is_taker), None),
        (is_taker and not is_plural_seen, None),
    )
    return next((role for is_met, role in rules if is_met), "determiner")


def _judge_wavering(
    before: str, word: str, then: str, *, is_last: bool, is_taker: bool
) -> str | None:
    is_behind_preposition = before in _PREPOSITIONS
    if word in {"last", "next", "first"} and then in _TIMES:
        return "determiner" if is_behind_preposition else None
    if is_last:
        is_noun = word in _NOUNS_BEHIND_PREPOSITION and is_behind_preposition
        return "determiner" if is_noun else None
    return None if is_taker else "determiner"


def _is_end(token: str) -> bool:
    return token == END or not (token[0].isalnum() or token in _OPEN)


LANGUAGE = English()
