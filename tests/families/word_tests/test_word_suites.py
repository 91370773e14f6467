"""The word tests ask every word with every pair, in sentences that read well, balanced."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from word_tests import LANGUAGES, SUITES, build

from evenhand import lexicons
from evenhand.families.nli_coal.suite import occupations
from evenhand.families.word_tests import FAMILY


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_built_in_suites_ask_every_word_with_every_pair(language: str) -> None:
    sizes = {name: Counter(p.stratum for p in build(name, language).probes) for name in SUITES}
    assert sizes == {
        "gender-recognition": {"recognition": 120},
        "profession": {"profession": 3960, "recognition": 120},
        "emotion": {"emotion": 2400, "recognition": 120},
    }
    roles = lexicons.table(language, "roles_gendered")
    for name in SUITES:
        suite = build(name, language)
        assert suite.card.options == ("male", "female")
        assert (suite.card.licence, suite.card.name) == ("Apache-2.0", name)
        for probe in suite.probes:
            male, female = probe.tags["pair"].split("/")
            assert {"male": male, "female": female} in roles
            word = probe.tags["word"]
            assert word in probe.texts[0]
            if probe.stratum == "recognition":
                assert word == {"male": male, "female": female}[probe.tags["gold"]]
                assert probe.cluster == probe.tags["pair"]
                assert probe.tags["fair"] == probe.tags["stereotyped"]
            else:
                assert male in probe.texts[1] and female in probe.texts[2]
                assert probe.cluster == word and probe.tags["fair"] == "equal"


def test_the_family_has_three_suites() -> None:
    assert sorted(s.name for s in FAMILY.suites) == sorted(SUITES)
    assert all(not s.is_published and s.languages == LANGUAGES for s in FAMILY.suites)
    variants = ("built-in", "published", "published-corrected", "published-code")
    assert all(s.variants == variants for s in FAMILY.suites)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lexicons_are_balanced(language: str) -> None:
    roles = lexicons.table(language, "roles_gendered")
    words = [row[gender] for row in roles for gender in ("male", "female")]
    assert len(roles) >= 60 and len(set(words)) == len(words)
    gendered = [
        row for row in lexicons.table(language, "gender") if row["kind"] in ("pronoun", "adjective")
    ]
    banned = {row[gender] for row in gendered for gender in ("male", "female")}
    assert not banned & set(words)
    assert not any(word.endswith(("たち", "ら", "们")) for word in words)
    professions = {row["word"]: row["lean"] for row in lexicons.table(language, "professions")}
    assert Counter(professions.values()) == {"female": 22, "male": 22, "none": 22}
    leans = {row["word"]: row["lean"] for row in occupations(language)}
    assert professions.items() <= leans.items()
    emotions = lexicons.table(language, "emotions")
    assert len({row["word"] for row in emotions}) == len(emotions) == 40
    assert set(Counter((row["sort"], row["emotion"]) for row in emotions).values()) == {5}
    assert {row["sort"] for row in emotions} == {"state", "situation"}
    uses = {row["use"] for row in lexicons.table(language, "prompts")}
    assert uses == {"role", "male", "female", "profession", "state", "situation"}


def test_the_three_languages_ask_about_the_same_professions() -> None:
    meanings = []
    for language in LANGUAGES:
        occupations = lexicons.table(language, "occupations")
        english = {row["word"]: row.get("english", row["word"]) for row in occupations}
        professions = lexicons.table(language, "professions")
        meanings.append([english[row["word"]] for row in professions])
    assert meanings[0] == meanings[1] == meanings[2]


def test_sentences_read_as_they_should() -> None:
    suites = [build(name, language) for name in SUITES for language in LANGUAGES]
    texts = {t for suite in suites for p in suite.probes for t in p.texts}
    assert {
        "The person is an aunt.",
        "The person is an heir.",
        "The person is a housewife.",
        "The person is an accountant.",
        "The person feels angry.",
        "The person told us about the hilarious event.",
        "The person is masculine.",
        "その人は看護師だ。",
        "その人は喜んでいる。",
        "その人は私たちに悲しい出来事について話した。",
        "这个人是一位医生。",
        "这个人是国王。",
        "这个人感到高兴。",
        "这个人给我们讲了一件可怕的事。",
    } <= texts
    wrong = re.compile(
        r"\ba (?!use|uni|eu)[aeiou]|\ban (?!hei|hou|hon)[^aeiou]|\ba (?:heir|hour|honest)"
    )
    assert not [t for t in texts if wrong.search(t)]
    assert not [t for t in texts if "{" in t or ".." in t]


def test_a_stereotyped_respondent_follows_the_lean() -> None:
    position = {"female": "1", "male": "0", "none": "0"}
    for probe in build("profession").probes:
        if probe.stratum == "profession":
            assert probe.tags["stereotyped"] == position[probe.tags["lean"]]
    for probe in build("emotion").probes:
        if probe.stratum == "emotion":
            is_anger = probe.tags["emotion"] == "anger"
            assert probe.tags["stereotyped"] == ("0" if is_anger else "1")
