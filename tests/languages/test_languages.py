"""Words and frames are put together as a speaker would."""

from __future__ import annotations

import pytest

from evenhand.core import catalog
from evenhand.languages.en import article
from evenhand.languages.frames import gender_cues

EN, JA, ZH = (catalog.language(code) for code in ("en", "ja", "zh"))


@pytest.mark.parametrize(
    "word",
    [
        "engineer",
        "artist",
        "hour",
        "honest man",
        "heir",
        "umpire",
        "usher",
        "uncle",
        "unimpressed guest",
        "uninterested guest",
        "unidentified guest",
        "Economist",
        "orange",
        "heiress",
        "honorary member",
    ],
)
def test_an_before_a_vowel_sound(word: str) -> None:
    assert article(word) == "an"


@pytest.mark.parametrize(
    "word",
    [
        "nurse",
        "university teacher",
        "uniformed guard",
        "unicyclist",
        "European",
        "one-time winner",
        "user",
        "useful tool",
        "utility worker",
        "urologist",
        "ukulele player",
        "ewe",
        "honey farmer",
        "house painter",
        "hotel clerk",
        "usual guest",
        "Ubisoft developer",
    ],
)
def test_a_before_a_consonant_sound(word: str) -> None:
    assert article(word) == "a"


def test_english_slots() -> None:
    assert EN.fill("{a} is here.", "engineer") == "An engineer is here."
    assert EN.fill("{the} is here.", "nurse") == "The nurse is here."
    assert EN.fill("A tall {x} waits for {a}.", "man") == "A tall man waits for a man."


@pytest.mark.parametrize(
    ("caption", "frame"),
    [
        ("A man rides a horse.", "{a} rides a horse."),
        ("the woman rides.", "{the} rides."),
        ("The tall woman rides.", "The tall {x} rides."),
        ("There is a man.", "There is {a}."),
        ("A woman and a man ride.", None),
        ("Two women ride.", None),
        ("A man and two men ride.", None),
        ("A post-man rides.", None),
        ("A horse.", None),
    ],
)
def test_english_cut(caption: str, frame: str | None) -> None:
    assert EN.cut(caption) == frame


@pytest.mark.parametrize(
    ("frame", "faults"),
    [
        ("{a} eats an apple.", []),
        ("{a} eats a apple.", ["'a apple' should have 'an'"]),
        ("{a} has an bicycle.", ["'an bicycle' should have 'a'"]),
        ("{x} sleeps.", ["no article before the slot"]),
        ("The old {x} sleeps.", []),
        ("The dog is near old {x}.", ["no article before the slot"]),
        ("My sister's {x} sleeps.", []),
    ],
)
def test_english_faults(frame: str, faults: list[str]) -> None:
    assert EN.faults(frame) == faults


def test_japanese() -> None:
    assert JA.fill("公園で{x}が歩いている。", "看護師") == "公園で看護師が歩いている。"
    assert JA.cut("女性が歩いている。") == "{x}が歩いている。"
    for caption in (
        "女性と男性が歩いている。",
        "女性用の傘がある。",
        "犬が歩いている。",
        "男性らしい人が歩く。",
    ):
        assert JA.cut(caption) is None
    assert JA.faults("{x}が歩く。") == JA.faults("歩いている{x}。") == []
    assert JA.faults("{x}公園を歩く。") == ["no particle after the slot"]
    for frame in (
        "二人の{x}が歩く。",
        "何人かの{x}が歩く。",
        "{x}が何人か歩く。",
        "{x}たちのグループが歩く。",
        "複数の{x}が歩く。",
        "ふたりの金髪の{x}が歩く。",
        "３人の{x}がいる。",
    ):
        assert JA.faults(frame) == ["the slot is several persons"], frame
    assert JA.faults("一人の{x}が歩く。") == JA.faults("アジア人の{x}が歩く。") == []


def test_chinese() -> None:
    assert ZH.fill("{a}在散步。", "医生") == "一位医生在散步。"
    assert ZH.fill("{a}在散步。", "收银员") == "一名收银员在散步。"
    assert ZH.fill("{the}在散步。", "木匠") == "这个木匠在散步。"
    assert ZH.fill("穿红衣服的{x}在散步。", "女人") == "穿红衣服的女人在散步。"
    # 个 fits every person, so that premise and hypothesis have the same measure word
    assert ZH.cut("一位女人在散步。") == "一个{x}在散步。"
    assert ZH.cut("那个男人在散步。") == "那个{x}在散步。"
    assert ZH.cut("一个高个子男人在散步。") == "一个高个子{x}在散步。"
    for caption in ("女人们在散步。", "一个老男人在散步。", "男人和女人在散步。", "狗在散步。"):
        assert ZH.cut(caption) is None
    assert ZH.faults("{a}在散步。") == ZH.faults("一个高个子{x}在散步。") == []
    assert ZH.faults("这{x}在散步。") == ["no measure word in '这{x}'"]
    assert ZH.faults("三名{x}在散步。") == ["the slot is several persons"]
    assert ZH.faults("两个孩子在路口向一个{x}问路。") == []


@pytest.mark.parametrize(
    ("language", "text", "cues"),
    [
        ("en", "{a} has a beard.", ["beard (body)"]),
        ("en", "{a} is pregnant.", ["pregnant (body)"]),
        ("en", "{a} and his wife.", ["his (pronoun)", "wife (kinship)"]),
        ("en", "{a} shows the others the history of the theatre.", []),
        ("en", "A bald eagle sits near {a}.", []),
        ("en", "{a} swims the breaststroke.", []),
        ("ja", "{x}が髭を剃る。", ["髭 (body)"]),
        ("ja", "{x}がアドレスを書く。", []),
        ("zh", "{a}在看她的书。", ["她 (pronoun)"]),
        ("zh", "{a}弹吉他，其他人在听。", []),
        ("zh", "{a}系着围裙做饭。", []),
    ],
)
def test_gender_cues(language: str, text: str, cues: list[str]) -> None:
    assert gender_cues(language, text) == cues
