"""Chinese: nouns with their measure word (一位医生, 一名护士, 一个女人); words by jieba.

Frames of pairs have `一个{x}` or `这个{x}`, as 个 fits every person: premise and hypothesis
differ in the noun alone. `{a}` and `{the}` are for single sentences, where each noun has its usual
measure word.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

from evenhand import lexicons
from evenhand.core.errors import LoadError
from evenhand.languages.frames import SLOT, slot_faults, subjects
from evenhand.languages.gender_words import gender_words, join_pieces

_SUBJECT = re.compile(r"(?:(一|这|那)(?:个|位|名))?(?:女人|男人)")
_COMPOUND = re.compile(r"(?:女人|男人)(?:们|味|气|装)|(?:老|小|大|好|坏)(?:女人|男人)")
_BARE_COUNT = re.compile(r"[一这那两二三四五六几]\{x\}")
_GROUP = re.compile(
    r"(?:两|二|三|四|五|六|几|些|群|对)(?:个|位|名)?(?:(?![一这那][个位名])[^，。]){0,12}的?\{x\}"
    r"|(?:两|三|四|五|六|几)(?:个|位|名)(?:在|正|穿|戴|坐|站|拿|骑|年轻|老)[^，。]*\{x\}|\{x\}们"
    r"|(?:许多|很多|众多|不少)[^，。]*\{x\}"
)
_DENIED = re.compile(r"(?:没有?|无|不是)(?:任何|一[个位名])?\{x\}")
_LOOSE = re.compile(r"[，,、；：]\s*\{x\}|人\{x\}|\{x\}(?:雕像|塑像|选手|运动员)")
_NAMED = re.compile(r".{1,2}(?:先生|女士|太太|小姐)")


@cache
def segmenter() -> Any:
    """The tokenizer that cuts Chinese into words; LoadError where jieba is not installed."""
    try:
        with warnings.catch_warnings():
            # jieba uses what newer versions of Python and setuptools deprecate
            warnings.simplefilter("ignore")
            import jieba
    except ImportError as error:
        raise LoadError(
            "Chinese words are found with jieba, which is not installed: pip install 'evenhand[zh]'"
        ) from error
    jieba.setLogLevel(logging.WARNING)
    # separate from jieba's shared one, so that words added to that one elsewhere change no suite
    return jieba.Tokenizer()


class Chinese:
    """Chinese, simplified characters."""

    code = "zh"
    name = "中文"
    subjects = subjects("zh")

    def fill(self, frame: str, word: str) -> str:
        """`{a}在公园里散步。` with 医生 -> `一位医生在公园里散步。`"""
        counter = next(
            (row["counter"] for row in lexicons.table("zh", "occupations") if row["word"] == word),
            "个",
        )
        phrase = {"a": f"一{counter}{word}", "the": f"这{counter}{word}", "x": word}
        return SLOT.sub(lambda slot: phrase[slot.group(1)], frame)

    def cut(self, caption: str) -> str | None:
        """`一位男人在骑马。` -> `一个{x}在骑马。`"""
        matches = list(_SUBJECT.finditer(caption))
        if len(matches) != 1 or _COMPOUND.search(caption):
            return None
        (match,) = matches
        counted = f"{match.group(1)}个" if match.group(1) else ""
        return f"{caption[: match.start()]}{counted}{{x}}{caption[match.end() :]}"

    def faults(self, frame: str) -> list[str]:
        """No measure word, several slots, a slot that is plural, denied or not a noun alone."""
        faults = slot_faults(frame)
        faults += [f"no measure word in '{m.group()}'" for m in _BARE_COUNT.finditer(frame)]
        if _GROUP.search(frame):
            faults.append("the slot is several persons")
        if _DENIED.search(frame):
            faults.append("the slot is denied, so that nothing wider follows")
        if _LOOSE.search(frame):
            faults.append("the slot has no noun phrase of its own")
        return faults

    def blank(self, text: str, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """As they are."""
        return text, tuple(words)

    def words(self, text: str) -> list[tuple[int, int]]:
        """By jieba, with a title separated from its surname.

        他 is a word in 他走了 but not in 吉他 or 其他; 先生 is one in 王先生.
        """
        known = gender_words("zh")
        pieces: list[tuple[int, int]] = []
        for word, start, end in segmenter().tokenize(text):
            is_named = word not in known and _NAMED.fullmatch(word) is not None
            pieces += [(start, end - 2), (end - 2, end)] if is_named else [(start, end)]
        return join_pieces(text, pieces, known)

    def open_particle(self, rest: str) -> str:
        """As it is: nothing that follows a word depends on it."""
        return rest


LANGUAGE = Chinese()
