"""Every occupation leans as the rule of its source says, by the published figures."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from evenhand import lexicons
from evenhand.families.nli_coal.suite import occupations

LANGUAGES = ("en", "ja", "zh")
ENGLISH = lexicons.table("en", "occupations")


def by_rule(row: dict[str, str]) -> str:
    """The lean by the rule of its source.

    labour: more than 70 % women female, less than 30 % male.
    crowd: definition < 0.5 and stereotype beyond +-0.5.
    """
    if row["source"] == "labour":
        share = float(row["share_women"])
        return "female" if share > 70 else "male" if share < 30 else "none"
    definition, stereotype = float(row["definition"]), float(row["stereotype"])
    if definition < 0.5 and abs(stereotype) > 0.5:
        return "male" if stereotype > 0 else "female"
    return "none"


def test_every_lean_follows_its_source() -> None:
    assert {row["source"] for row in ENGLISH} == {"labour", "crowd"}
    assert {row["word"]: row["lean"] for row in ENGLISH} == {
        row["word"]: by_rule(row) for row in ENGLISH
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_enough_words_of_each_lean(language: str) -> None:
    rows = occupations(language)
    words = [row["word"] for row in rows]
    assert len(words) == len(set(words)) >= 100
    assert min(Counter(row["lean"] for row in rows).values()) >= 40
    assert len(lexicons.table(language, "frames")) >= 40


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_translations_lean_as_their_english_word(language: str) -> None:
    english = {row["word"]: row for row in ENGLISH}
    pairs = {row["word"]: row["english"] for row in lexicons.table(language, "occupations")}
    assert len(set(pairs.values())) == len(pairs)  # no English word twice
    for row in occupations(language):
        origin = english[pairs[row["word"]]]
        assert (row["lean"], row["source"], row["share_women"]) == (
            origin["lean"],
            origin["source"],
            origin["share_women"],
        )


def test_the_shares_are_those_of_the_labour_statistics(data: Path) -> None:
    text = (data / "cps" / "cps2019_share_of_women.jsonl").read_text(encoding="utf-8")
    figures = [json.loads(line) for line in text.splitlines()]
    published = {f["BLS_original_occupation"]: f["BLS_percent_women_2019"] for f in figures}
    rows = [row for row in ENGLISH if row["share_women"]]
    assert len(rows) >= 100
    assert {row["title"]: float(row["share_women"]) for row in rows} == {
        row["title"]: published[row["title"]] for row in rows
    }


def test_the_crowd_scores_are_those_of_the_list(data: Path) -> None:
    text = (data / "bolukbasi" / "professions.json").read_text(encoding="utf-8")
    scores = {word: (d, s) for word, d, s in json.loads(text)}
    rows = [row for row in ENGLISH if row["stereotype"]]
    assert len(rows) >= 18
    for row in rows:
        assert (float(row["definition"]), float(row["stereotype"])) == pytest.approx(
            scores[row["word"].replace(" ", "_")], abs=1e-9
        ), row
