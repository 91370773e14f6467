"""Japanese and Chinese texts with their genders swapped: words as a segmenter finds them.

The spaces that a corpus put between words stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from evenhand.core.protocols import Language
from evenhand.languages.gender_words import (
    NAME,
    STOPPING,
    Edit,
    Findings,
    Left,
    Limit,
    NameSwap,
    expression_reason,
    find_limits,
    partners,
)
from evenhand.languages.zh import segmenter

# male by form, of any gender by use
PLURALS_OF_ANY_GENDER = frozenset({"他们", "他们的", "彼ら", "彼等"})
_MOST_PIECES = 7  # no gender word falls into more pieces, spaces counted
_LED = re.compile(
    r"(?:一个|一名|一位|两个|三个|这个|那个|中年|年轻|青年|老年|小|老|大|他|她|我|你|咱|亲)$"
)
# Gender words that the segmenter's dictionary joins with what precedes them: 中年男子, 王先生.
_TAILS = frozenset(
    "男子 女子 男孩 女孩 男人 女人 男生 女生 男性 女性 姐妹 兄弟 妻子 丈夫 儿子 女儿 "
    "妈妈 爸爸 母亲 父亲 小姐 先生 太太 女士 老婆 老公".split()
)
# Dictionary words that contain a pronoun.
_PHRASES = frozenset(
    "但他却 这他 协议对他 拜他为师 非他莫属 非他不可 非她莫属 非她不可 他用 他杀".split()
)
_KIN = frozenset("妈爸娘爹姐哥妹弟")
_OWNED = re.compile(  # what precedes a kinship word: my brother, Brother Pan
    r"(?:^|[我你他她咱您的老二三大有没叫喊问给跟和，,。：:；“]"
    r"|(?:^|[^一-鿿]|[是说叫请问跟和与给对找让的了在后像看识])"
    r"[窦潘张王李赵刘陈杨黄周吴徐孙马朱胡林郭何高罗])\s*$"
)
_PREDICATE = re.compile(r"(?:是|成为|作为|像)[^，,。；;]{0,8}$")
_PART_OF_WORD = re.compile(r"[男女儿子父母妇处仙少][男女]|[男女][男女]")


def find_ja_zh(language: Language, text: str, names: NameSwap | None) -> Findings:
    """Every edit of a Japanese or Chinese text, and what stays.

    PLURALS_OF_ANY_GENDER are among the edits; the caller may still drop those.
    """
    limits = find_limits(language.code, text)
    stops = [Left(text[a:b], reason) for a, b, reason in limits if reason in STOPPING]
    edits: list[Edit] = []
    left: list[Left] = []
    words = list(_words(language, text))
    for start, end in words:
        old = text[start:end]
        partner = partners(language.code).get(_bare(old))
        if partner is None:
            continue
        if reason := _objection(language.code, text, start, end, limits):
            left.append(Left(_bare(old), reason))
        else:
            new = _spaced_like(language.code, old, partner.word)
            edits.append(Edit(start, end, new, partner.gender, partner.kind))
    if names is not None:
        starts, ends = {start for start, _ in words}, {end for _, end in words}
        edits += [
            Edit(start, end, new, NAME)
            for start, end, new in names.find(text)
            if start in starts and end in ends
        ]
    return Findings(edits=edits, left=left, stops=stops)


def is_about_named_zh(text: str, edit: Edit) -> bool:
    """Whether a Chinese noun says what somebody is: 是女的, 是一个漂亮的女人."""
    return edit.kind in {"noun", "subject"} and _PREDICATE.search(text[: edit.start]) is not None


def has_candidates(code: str, text: str) -> bool:
    """Whether there could be a gender word in it."""
    return not _first_characters(code).isdisjoint(text)


def _objection(code: str, text: str, start: int, end: int, limits: list[Limit]) -> str:
    """What speaks against the partner in this place; empty where nothing does."""
    covering = (
        limit.reason
        for limit in limits
        if limit.start <= start
        and end <= limit.end
        and limit.end - limit.start > end - start
        and limit.reason not in STOPPING
    )
    if reason := next(covering, "") or expression_reason(code, text, start, end):
        return reason
    word, before = text[start:end], text[:start]
    if code != "zh":
        return ""
    if word in _KIN:
        return "" if _OWNED.search(before) else "other word"
    around = text[max(0, start - 1) : end + 1]
    is_inside = word in {"男", "女"} and _PART_OF_WORD.search(around) is not None
    return "other word" if is_inside else ""


def _words(language: Language, text: str) -> Iterator[tuple[int, int]]:
    """Pieces of the segmenter, joined where they form a gender word, with spaces or without."""
    pieces = list(_pieces(language, text))
    known, firsts = partners(language.code), _first_characters(language.code)
    place = 0
    while place < len(pieces):
        start = pieces[place][0]
        most = min(_MOST_PIECES, len(pieces) - place) if text[start] in firsts else 0
        sizes = range(most, 0, -1)
        size = next((n for n in sizes if _bare(text[start : pieces[place + n - 1][1]]) in known), 1)
        yield start, pieces[place + size - 1][1]
        place += size


def _pieces(language: Language, text: str) -> Iterator[tuple[int, int]]:
    if language.code != "zh":
        yield from language.words(text)
        return
    # with its guesses (HMM) on, 他会 and 他哥 would be words
    for word, start, end in segmenter().tokenize(text, HMM=False):
        if word in _PHRASES:
            yield from ((place, place + 1) for place in range(start, end))
            continue
        cut = _lead_length(word)
        if cut:
            yield start, start + cut
        if word.strip():
            yield start + cut, end


def _lead_length(word: str) -> int:
    """How many characters go before the gender word that a Chinese word ends with."""
    known = partners("zh")
    if word in known:
        return 0
    if len(word) > 2 and word[-2:] in _TAILS:
        return len(word) - 2
    cuts = range(1, len(word))
    return next((n for n in cuts if word[n:] in known and _LED.search(word[:n])), 0)


@cache
def _first_characters(code: str) -> frozenset[str]:
    """The characters that gender words start with; a text without any has no gender word."""
    return frozenset(word[0] for word in partners(code))


def _bare(text: str) -> str:
    return "".join(text.split())


def _spaced_like(code: str, old: str, new: str) -> str:
    """The new word with spaces where the old one had them: 彼女 たち -> 彼 ら."""
    parts = old.split()
    if len(parts) == 1:
        return new
    gap = re.search(r"\s+", old)
    between = gap.group() if gap else " "
    known, rest, made = partners(code), new, []
    for part in parts[:-1]:
        partner = known.get(part)
        is_partner = partner is not None and rest.startswith(partner.word)
        size = len(partner.word) if partner is not None and is_partner else len(part)
        made.append(rest[:size])
        rest = rest[size:]
    return between.join(filter(None, [*made, rest]))
