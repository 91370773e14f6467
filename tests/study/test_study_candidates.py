"""Candidates for objective sentences: found by cue, marked, and never a measuring sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, InputError, UnknownNameError
from evenhand.core.probe import BLANK, Probe
from evenhand.core.suite import Suite, write_suite
from evenhand.languages.names import open_finder
from evenhand.study.candidates import (
    candidates_in_suite,
    candidates_in_text,
    find_candidate,
    marks_of,
)
from evenhand.study.objective import pieces_of

# a sentence with what is blanked in brackets; the word pair, the cues, the kind of the surest one
SENTENCES = [
    ("en", "Seven months pregnant, [she] could not bend down.", "he/she", "pregnant", "body"),
    ("en", "My [uncle] wore a beard and a moustache.", "uncle/aunt", "beard … moustache", "body"),
    ("en", "Polish is our [mother] tongue.", "father/mother", "tongue", "phrase"),
    ("en", "That is just an old [wives]' tale.", "husbands/wives", "old … tale", "phrase"),
    ("en", "The baby drank some [mother]'s milk.", "father/mother", "milk", "situation"),
    ("en", "The actress fell asleep when [she] sat.", "he/she", "actress", "same gender"),
    ("en", "When the policeman came, my aunt saw [him].", "him/her", "policeman", "same gender"),
    ("en", "Vincent painted [himself] in the garden.", "himself/herself", "Vincent", "name"),
    ("zh", "[姐姐]十三岁那年来了第一次月经。", "哥哥/姐姐", "月经", "body"),
    ("zh", "心目中的白马[王子]始终没有出现。", "王子/公主", "白马", "phrase"),
    ("zh", "身为父亲，[他]一直后悔没有多陪孩子。", "他/她", "父亲", "same gender"),
    ("ja", "妊娠八か月の[彼女]は、ゆっくり階段を上った。", "彼/彼女", "妊娠", "body"),
    ("ja", "肉じゃがは、いわゆる[おふくろ]の味である。", "おやじ/おふくろ", "の味", "phrase"),
    ("ja", "母の妹にあたる[叔母]は、とてもやさしい。", "叔父/叔母", "母 … 妹", "same gender"),
]


@pytest.mark.parametrize(("language", "sentence", "pair", "cue", "kind"), SENTENCES)
def test_a_cue_is_found_and_marked(
    language: str, sentence: str, pair: str, cue: str, kind: str
) -> None:
    text = sentence.replace("[", "").replace("]", "")
    found = find_candidate(catalog.language(language), text, open_finder(language, None, [text]))
    assert found is not None
    assert found.text == re.sub(r"\[.*?\]", BLANK, sentence)
    assert f"{found.male}/{found.female}" == pair
    assert (found.tags["cue"], found.kind) == (cue, kind)


@pytest.mark.parametrize(
    "sentence",
    [
        "He took the bus.",  # nothing tells
        "The nurse took the bus and she was late.",  # a stereotype is no cue
        "The table was laid.",
        "Ladies and gentlemen, the show begins.",
        f"She saw {BLANK} and was pregnant.",
    ],
)
def test_what_is_no_candidate(sentence: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(sentence, encoding="utf-8")
    found = candidates_in_text("en", [tmp_path / "text.txt"], 10)
    assert found.probes == []


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_no_measuring_sentence_is_a_candidate(language: str) -> None:
    rows = [r for r in lexicons.table(language, "contextualised") if r["stratum"] == "MS"][:60]
    texts = [r["text"].replace(BLANK, r["female"]) for r in rows]
    names = open_finder(language, None, texts)
    own = catalog.language(language)
    assert [t for t in texts if find_candidate(own, t[0].upper() + t[1:], names)] == []


TEXT = """
Seven months pregnant, she could no longer bend down. The woman gave birth to a baby at noon.
For forty years my grandfather wore a bushy beard. Polish is our mother tongue and always was.
The actress was so tired that she fell asleep. The monk was nineteen when he entered the monastery.
The actress was so tired that she fell asleep. The clerk said that she was late this morning.
"""


def write(folder: Path, text: str = TEXT) -> Path:
    path = folder / "news.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_candidates_of_a_text_have_no_stratum_and_say_where_they_come_from(tmp_path: Path) -> None:
    suite = candidates_in_text("en", [write(tmp_path)], 200).suite("en")
    assert [(p.id, p.stratum, p.tags["original"], p.tags["cue kind"]) for p in suite.probes] == [
        ("en/x00001", "", "female", "body"),
        ("en/x00002", "", "female", "body"),
        ("en/x00003", "", "male", "body"),
        ("en/x00004", "", "female", "phrase"),
        ("en/x00005", "", "female", "same gender"),
        ("en/x00006", "", "male", "same gender"),
    ]
    assert not any("fair" in p.tags or "gold" in p.tags for p in suite.probes)
    assert suite.card.source.startswith(
        "news.txt; 8 sentences read; by cue: body 3, phrase 1, same gender 2"
    )
    marked = [[(p.text, p.is_gap, p.is_cue) for p in pieces_of(one)] for one in suite.probes[2:4]]
    assert marked == [
        [
            ("For forty years my ", False, False),
            ("", True, False),
            (" wore a bushy ", False, False),
            ("beard", False, True),
            (".", False, False),
        ],
        [
            ("Polish is our ", False, False),
            ("", True, False),
            (" ", False, False),
            ("tongue", False, True),
            (" and always was.", False, False),
        ],
    ]


def test_a_limit_takes_kinds_and_genders_in_turn(tmp_path: Path) -> None:
    few = candidates_in_text("en", [write(tmp_path)], 4)
    kinds = [(p.tags["cue kind"], p.tags["original"]) for p in few.probes]
    assert kinds == [
        ("body", "female"),
        ("body", "male"),
        ("phrase", "female"),
        ("same gender", "female"),
    ]


def test_candidates_of_a_suite_keep_their_ids_and_leave_objective_ones_out(tmp_path: Path) -> None:
    texts = ("Mary said that [BLANK] was late.", "The cook said that [BLANK] was late.")
    probes = [
        Probe(
            id=f"en/c{n}",
            kind="mask",
            language="en",
            texts=(text, "he", "she"),
            stratum=stratum,
            cluster="he/she",
            tags={"pair": "he/she", "fair": "equal"},
        )
        for n, (text, stratum) in enumerate(
            [(texts[0], "MS"), (texts[1], "MS"), ("Pregnant, [BLANK] left.", "OS")]
        )
    ]
    card = candidates_in_text("en", [write(tmp_path)], 9).suite("en").card
    write_suite(Suite(card=card, probes=tuple(probes)), tmp_path / "built.jsonl")
    language, found = candidates_in_suite(tmp_path / "built.jsonl", 10)
    assert (language, found.read) == ("en", 2)
    [probe] = found.probes
    assert (probe.id, probe.texts[0], probe.stratum) == ("en/c0", texts[0], "")
    assert (probe.tags["cue"], probe.tags["cue kind"], "fair" in probe.tags) == (
        "Mary",
        "name",
        False,
    )


def test_what_cannot_be_searched_is_refused(tmp_path: Path) -> None:
    empty = write(tmp_path, "The table was laid for dinner.")
    with pytest.raises(EvenhandError, match="no candidate among the 1 sentences of"):
        candidates_in_text("en", [empty], 9).suite("en")
    with pytest.raises(UnknownNameError, match="unknown language of a study 'ko'"):
        candidates_in_text("ko", [empty], 9)
    with pytest.raises(EvenhandError, match="0 candidates were asked for"):
        candidates_in_text("en", [write(tmp_path)], 0)
    pair = Probe(id="a", kind="pair", language="en", texts=("a", "b"))
    card = candidates_in_text("en", [write(tmp_path)], 9).suite("en").card
    write_suite(Suite(card=card, probes=(pair,)), tmp_path / "pairs.jsonl")
    with pytest.raises(InputError, match="no suite of sentences with a blank"):
        candidates_in_suite(tmp_path / "pairs.jsonl", 9)


@pytest.mark.parametrize(
    "marks", ["", "x", "5-2", "0-99999", "1-2-3", "-1-4", "٣-٤", "999999999999-1", "0-" + "9" * 500]
)
def test_marks_that_make_no_sense_mark_nothing(marks: str, tmp_path: Path) -> None:
    probe = Probe(
        id="a",
        kind="mask",
        language="en",
        texts=(f"A {BLANK} b.", "he", "she"),
        tags={"marks": marks},
    )
    assert marks_of(probe) == []
    assert "".join(piece.text for piece in pieces_of(probe)) == "A  b."


def test_marks_on_the_gap_or_on_each_other_lose_nothing() -> None:
    probe = Probe(
        id="a",
        kind="mask",
        language="en",
        texts=(f"One two {BLANK} three.", "he", "she"),
        tags={"marks": "0-3 1-5 6-12 16-21"},
    )
    pieces = pieces_of(probe)
    assert "".join("____" if p.is_gap else p.text for p in pieces) == "One two ____ three."
    assert [p.text for p in pieces if p.is_cue] == ["One", "three"]
