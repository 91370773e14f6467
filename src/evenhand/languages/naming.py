"""Which sentences name somebody, whose name gives a gender away? A finder for each language that has one, named on the suite's card."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evenhand.core.errors import EvenhandError
from evenhand.languages.en import LANGUAGE as ENGLISH
from evenhand.languages.en import is_opening
from evenhand.languages.spans import gender_words
from evenhand.languages.names import NameFinder, find_names

LARGE = 5000  # sentences; in fewer, that a word is never seen in lower case says nothing
_PLACED = frozenset(
    "the in from near at across through throughout around inside outside towards toward".split()
)
_NOBODY = frozenset(
    "I Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November "
    "December Christmas Easter English French German Spanish Italian American British Chinese Japanese Russian Asian African European Indian "
    "Mexican Canadian Greek Dutch Irish Jewish Christian Muslim Catholic Internet".split()
)
# Words that jieba's dictionary tags as names of persons and texts hardly ever use so.
_CHINESE_WORDS = frozenset(
    "沙滩 白衬衫 麦克风 戴眼镜 田野 望远镜 滑雪 秋千 小提琴 马拉松 冰淇淋 阳光 体操 戴帽子 显微镜 巧克力 滑冰 金发碧眼 安静 明白 白宫 滑雪板 红帽子 小狗 花园里 小溪 "
    "高尔夫球 喝咖啡 青少年 毛巾 雪山 连帽衫 万圣节 常青树 麦当劳 小丑 高高的 萨克斯 萨克斯管 沃尔玛 法律援助 玉米 苏打水 保守派 白发 托运 荣誉 冷清 时髦 友谊 道德 凤凰 "
    "保持沉默 太久 敬畏 沙龙 藏青色 沙拉 西红柿 车库里 体育锻炼 宝宝 顾问 老虎 桑拿浴 才华 白雪 波士顿 红白 小睡 阳光明媚 蓝白 宝藏 张开 祖先 马匹 吉普车 黑狗 谢谢 但凡 温顺 "
    "雷同 公正 灵光 今天下午 饶恕 封建思想 子孙后代 马赛克 令人 顾客 牛仔 老家人 师母 保姆 白白".split()
)


class CapitalisedNames:
    """English: what a finder of names knows, and capitals inside a sentence that are no place, people or day.

    In a large corpus a first word that is nowhere written in lower case is a name too.
    """

    def __init__(self, finder: NameFinder | None, sentences: Sequence[str]) -> None:
        self._finder = finder
        lower = (
            text[start:end]
            for text in sentences
            for start, end in ENGLISH.words(text)
            if text[start].islower()
        )
        self._seen = frozenset(lower) if len(sentences) >= LARGE else None
        self.name = f"{finder.name} and capital letters" if finder else "capital letters"

    def has_name(self, text: str) -> bool:
        """Is a person named in it?"""
        if self._finder is not None and self._finder.has_name(text):
            return True
        before = ""
        for start, end in ENGLISH.words(text):
            word = text[start:end]
            if (
                word[0].isupper()
                and word not in _NOBODY
                and not (word.isupper() and len(word) > 1)
                and not word.startswith(("I'", "I’"))
            ):
                is_first = is_opening(text[:start])
                if (not is_first and before not in _PLACED) or (
                    is_first and self._seen is not None and word.lower() not in self._seen
                ):
                    return True
            before = word.lower()
        return False


class TaggedWords:
    """Chinese or Japanese: words that the segmenter tags as names of persons."""

    def __init__(
        self, name: str, tag: Callable[[str], Iterable[str]], known: frozenset[str]
    ) -> None:
        self.name = name
        self._tag = tag
        self._known = known

    def has_name(self, text: str) -> bool:
        """Is a person named in it?"""
        return any(len(word) > 1 and word not in self._known for word in self._tag(text))


def open_finder(
    language: str, preferred: str | None, sentences: Sequence[str]
) -> NameFinder | None:
    """Who tells names in this language? None where nobody does."""
    if language == "en":
        try:
            return CapitalisedNames(find_names(preferred), sentences)
        except EvenhandError:
            if preferred is not None:
                raise
            return CapitalisedNames(None, sentences)
    if language == "zh":
        return TaggedWords("jieba", _open_chinese(), _CHINESE_WORDS | gender_words("zh"))
    return TaggedWords("UniDic", _tag_japanese, gender_words("ja")) if language == "ja" else None


def _open_chinese() -> Callable[[str], Iterable[str]]:
    from evenhand.languages.zh import segmenter

    own = segmenter()
    from jieba import posseg

    tagger: Any = posseg.POSTokenizer(own)
    return lambda text: (pair.word for pair in tagger.cut(text) if pair.flag.startswith("nr"))


def _tag_japanese(text: str) -> Iterable[str]:
    from evenhand.languages.ja import tagger

    return (
        m.surface
        for m in tagger()(text)
        if m.feature.pos3 == "人名" and not re.fullmatch(r"[一-龯]", m.surface)
    )
