"""What does a Japanese or Chinese text become when its genders are swapped? Words as a segmenter finds them, with the spaces that a corpus put between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from evenhand.core.protocols import Language
from evenhand.languages.swap_names import NameSwap
from evenhand.languages.swap_words import (
    NAME,
    STOPPING,
    Edit,
    Findings,
    Left,
    Limit,
    find_expression,
    find_limits,
    partners,
)
from evenhand.languages.zh import segmenter

MIXED = frozenset({"他们", "他们的", "彼ら", "彼等"})  # male by form, of any gender by use
_PIECES = 7  # no gender word falls into more pieces, spaces counted
_LED = re.compile(
    r"(?:一个|一名|一位|两个|三个|这个|那个|中年|年轻|青年|老年|小|老|大|他|她|我|你|咱|亲)$"
)
# What the segmenter's dictionary has in one with what goes before: 中年男子, 王先生.
_TAILS = frozenset(
    "男子 女子 男孩 女孩 男人 女人 男生 女生 男性 女性 姐妹 兄弟 妻子 丈夫 儿子 女儿 妈妈 爸爸 母亲 父亲 小姐 先生 太太 女士 老婆 老公".split()
)
_PHRASES = frozenset(
    "但他却 这他 协议对他 拜他为师 非他莫属 非他不可 非她莫属 非她不可 他用 他杀".split()
)  # and these hold a pronoun
_RELATED = frozenset("妈爸娘爹姐哥妹弟")
_OWNED = re.compile(  # my brother, or Brother Pan
    r"(?:^|[我你他她咱您的老二三大有没叫喊问给跟和，,。：:；“]"
    r"|(?:^|[^一-鿿]|[是说叫请问跟和与给对找让的了在后像看识])[窦潘张王李赵刘陈杨黄周吴徐孙马朱胡林郭何高罗])\s*$"
)
_NO_SINGLE = re.compile(r"[男女儿子父母妇处仙少][男女]|[男女][男女]")


def find_ideographs(language: Language, text: str, names: NameSwap | None) -> Findings:
    """Every place that changes, and what stays; MIXED words are edits that the caller may still take back."""
    limits = find_limits(language.code, text)
    stops = [Left(text[a:b], reason) for a, b, reason in limits if reason in STOPPING]
    edits: list[Edit] = []
    left: list[Left] = []
    words = list(_words(language, text))
    for start, end in words:
        bare = _bare(text[start:end])
        partner = partners(language.code).get(bare)
        if partner is None:
            continue
        if reason := _object(language.code, text, start, end, limits):
            left.append(Left(bare, reason))
        else:
            edits.append(
                Edit(
                    start,
                    end,
                    _space(language.code, text[start:end], partner.word),
                    partner.gender,
                    partner.kind,
                )
            )
    if names is not None:
        starts, ends = {start for start, _ in words}, {end for _, end in words}
        edits += [
            Edit(start, end, new, NAME)
            for start, end, new in names.find(text)
            if start in starts and end in ends
        ]
    return Findings(edits, left, stops)


def _object(code: str, text: str, start: int, end: int, limits: list[Limit]) -> str:
    covering = (
        limit
        for limit in limits
        if limit.start <= start and end <= limit.end and limit.end - limit.start > end - start
    )
    if reason := next(
        (limit.reason for limit in covering if limit.reason not in STOPPING), ""
    ) or find_expression(code, text, start, end):
        return reason
    word, before = text[start:end], text[:start]
    if code == "zh" and word in _RELATED:
        return "" if _OWNED.search(before) else "other word"
    is_inside = (
        code == "zh"
        and word in {"男", "女"}
        and _NO_SINGLE.search(text[max(0, start - 1) : end + 1]) is not None
    )
    return "other word" if is_inside else ""


def _words(language: Language, text: str) -> Iterator[tuple[int, int]]:
    """Pieces of the segmenter, several of them in one where they are a gender word, spaces between them or not."""
    pieces = list(_pieces(language, text))
    known, firsts = partners(language.code), first_characters(language.code)
    place = 0
    while place < len(pieces):
        sizes = (
            range(min(_PIECES, len(pieces) - place), 0, -1)
            if text[pieces[place][0]] in firsts
            else ()
        )
        size = next(
            (n for n in sizes if _bare(text[pieces[place][0] : pieces[place + n - 1][1]]) in known),
            1,
        )
        yield pieces[place][0], pieces[place + size - 1][1]
        place += size


def _pieces(language: Language, text: str) -> Iterator[tuple[int, int]]:
    if language.code != "zh":
        yield from language.words(text)
        return
    known = partners("zh")
    for word, start, end in segmenter().tokenize(
        text, HMM=False
    ):  # with its guesses on, 他会 and 他哥 would be words
        if word in _PHRASES:
            yield from ((place, place + 1) for place in range(start, end))
            continue
        is_tail = word not in known and len(word) > 2 and word[-2:] in _TAILS
        leads = range(1, len(word)) if word not in known else ()
        cut = (
            len(word) - 2
            if is_tail
            else next((n for n in leads if word[n:] in known and _LED.search(word[:n])), 0)
        )
        if cut:
            yield start, start + cut
        if word.strip():
            yield start + cut, end


@cache
def first_characters(code: str) -> frozenset[str]:
    """What every gender word starts with: a text without any of them has none."""
    return frozenset(word[0] for word in partners(code))


def has_candidates(code: str, text: str) -> bool:
    """Could there be a gender word in it?"""
    return not first_characters(code).isdisjoint(text)


def _bare(text: str) -> str:
    return "".join(text.split())


def _space(code: str, old: str, new: str) -> str:
    """The new word with a space where the old one had one: 女 の 子 -> 男 の 子, 彼女 たち -> 彼 ら."""
    parts = old.split()
    if len(parts) == 1:
        return new
    gap = re.search(r"\s+", old)
    between = gap.group() if gap else " "
    known, rest, made = partners(code), new, []
    for part in parts[:-1]:
        there = known.get(part)
        size = len(there.word) if there is not None and rest.startswith(there.word) else len(part)
        made.append(rest[:size])
        rest = rest[size:]
    return between.join(filter(None, [*made, rest]))
