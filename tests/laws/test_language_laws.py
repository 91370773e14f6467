"""Laws of languages: filled frames are whole sentences, a caption cut from one is the frame."""

from __future__ import annotations

import re

import pytest

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.protocols import Language
from evenhand.languages.frames import SLOT, gender_cues

LANGUAGES: dict[str, Language] = catalog.entries("languages")
every_language = pytest.mark.parametrize(
    "code", [code for code in LANGUAGES if lexicons.has_table(code, "frames")]
)
_AN_DESPITE_CONSONANT, _A_DESPITE_VOWEL = (
    ("hour", "honest", "heir", "honor"),
    ("uni", "use", "eu", "one", "uro", "uti"),
)


def frames(code: str) -> list[str]:
    return [row["text"] for row in lexicons.table(code, "frames")]


def words(code: str) -> list[str]:
    return [
        *(row["word"] for row in lexicons.table(code, "occupations")),
        *LANGUAGES[code].subjects.values(),
    ]


def test_the_languages_are_there() -> None:
    assert {"en", "ja", "ko", "zh"} <= set(LANGUAGES)
    assert {code: dict(LANGUAGES[code].subjects) for code in ("en", "ja", "ko", "zh")} == {
        "en": {"female": "woman", "male": "man", "nonbinary": "person"},
        "ko": {"female": "여자", "male": "남자", "nonbinary": "사람"},
        "ja": {"female": "女性", "male": "男性", "nonbinary": "人"},
        "zh": {"female": "女人", "male": "男人", "nonbinary": "人"},
    }


@every_language
def test_every_frame_has_one_slot_and_neither_fault_nor_cue(code: str) -> None:
    assert len(frames(code)) == len(set(frames(code))) >= 40
    for frame in frames(code):
        assert len(SLOT.findall(frame)) == 1, frame
        assert LANGUAGES[code].faults(frame) == [] and gender_cues(code, frame) == [], frame


@every_language
def test_filling_leaves_no_slot_and_puts_the_word_in(code: str) -> None:
    language = LANGUAGES[code]
    for frame in frames(code):
        before, after = (frame[: frame.index("{")], frame[frame.index("}") + 1 :])
        for word in words(code):
            text = language.fill(frame, word)
            assert "{" not in text and "}" not in text
            assert text.endswith(f"{word}{after}") and text.casefold().startswith(before.casefold())
            assert code != "en" or text[0].isupper()


@every_language
def test_cutting_what_was_filled_gives_the_frame_again(code: str) -> None:
    language = LANGUAGES[code]
    for frame in frames(code):
        for gender in ("female", "male"):
            assert language.cut(language.fill(frame, language.subjects[gender])) == frame


@every_language
def test_an_occupation_is_no_gender_word(code: str) -> None:
    language = LANGUAGES[code]
    for row in lexicons.table(code, "occupations"):
        assert language.cut(language.fill(frames(code)[0], row["word"])) is None
        assert gender_cues(code, row["word"]) == [], row["word"]


def test_english_articles_follow_the_sound() -> None:
    # by a rule of the test's own: the first letter, and the words where letter and sound disagree
    for word in words("en"):
        is_vowel = (
            word[0] in "aeiou" and not word.startswith(_A_DESPITE_VOWEL)
        ) or word.startswith(_AN_DESPITE_CONSONANT)
        assert (
            LANGUAGES["en"].fill("{a} left.", word) == f"{'An' if is_vowel else 'A'} {word} left."
        )
        assert (
            LANGUAGES["en"].fill("Here comes {a}.", word)
            == f"Here comes {'an' if is_vowel else 'a'} {word}."
        )


def test_chinese_nouns_have_their_measure_word() -> None:
    counters = {row["word"]: row["counter"] for row in lexicons.table("zh", "occupations")}
    assert set(counters.values()) <= {"位", "名", "个"}
    assert (counters["律师"], counters["收银员"], counters["木匠"]) == ("位", "名", "个")
    for word in words("zh"):
        counter = counters.get(word, "个")  # 一个女人, 一个人
        assert LANGUAGES["zh"].fill("{a}来了。", word) == f"一{counter}{word}来了。"
        assert LANGUAGES["zh"].fill("{the}来了。", word) == f"这{counter}{word}来了。"
    for frame in frames("zh"):
        for word in words("zh"):
            assert not re.search(
                rf"[一这那]{word}", LANGUAGES["zh"].fill(frame, word)
            )  # never a number without one


def test_korean_particles_follow_the_last_sound() -> None:
    korean = LANGUAGES["ko"]
    for word, forms in (
        ("남편", "이은을과으로"),
        ("아내", "가는를와로"),
        ("아들", "이은을과로"),
        ("누나", "가는를와로"),
        ("형", "이은을과으로"),
    ):
        made = [
            korean.fill("{x}{" + form + "} 왔다.", word)
            for form in ("이/가", "은/는", "을/를", "과/와", "으로/로")
        ]
        wanted = [forms[0], forms[1], forms[2], forms[3], forms[4:]]
        assert made == [f"{word}{particle} 왔다." for particle in wanted]
        assert korean.blank("우리 [BLANK]{이/가} 왔다.", (word,)) == (
            "우리 [BLANK] 왔다.",
            (word + forms[0],),
        )
    assert korean.blank("[BLANK]의 책.", ("남자", "여자")) == ("[BLANK]의 책.", ("남자", "여자"))
    assert (
        korean.cut("남자가 달린다.") == "{x}{이/가} 달린다."
        and korean.cut("남자와 여자가 달린다.") is None
    )
    assert (
        korean.faults("{x}가 달린다.")
        == ["'가' after the slot fits some nouns only; write {이/가}"]
        and korean.faults("{x}{이/가} 달린다.") == []
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[BLANK] left.", "She"),
        ("Then [BLANK] left.", "she"),
        ('"[BLANK] left," they said.', "She"),
        ('They said, "[BLANK] left."', "She"),
        ('They praised "[BLANK] courage."', "she"),
        ("It rained. [BLANK] left.", "She"),
        ("Dr. Smith, [BLANK] said, left.", "she"),
        ("(“[BLANK]”)", "She"),
    ],
)
def test_an_english_blank_at_the_start_has_a_capital(text: str, shown: str) -> None:
    assert LANGUAGES["en"].blank(text, ("he", "she")) == (
        text,
        (shown.replace("S", "").replace("s", "").capitalize() if shown[0] == "S" else "he", shown),
    )
