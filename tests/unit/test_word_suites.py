"""Do the word tests ask what they should? Every word with every pair, in sentences that read well, from balanced lists."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from word_tests import LANGUAGES, SUITES, build

from evenhand import lexicons
from evenhand.families.nli_coal.suite import occupations


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
        assert (
            suite.card.labels == ("male", "female")
            and suite.card.licence == "Apache-2.0"
            and suite.card.name == name
        )
        for probe in suite.probes:
            male, female = probe.tags["pair"].split("/")
            assert {"male": male, "female": female} in roles
            if probe.stratum == "recognition":
                assert (
                    probe.tags["word"] == {"male": male, "female": female}[probe.tags["gold"]]
                    and probe.tags["word"] in probe.texts[0]
                )
                assert (
                    probe.cluster == probe.tags["pair"]
                    and probe.tags["fair"] == probe.tags["stereotyped"]
                )
            else:
                assert (
                    probe.tags["word"] in probe.texts[0]
                    and male in probe.texts[1]
                    and female in probe.texts[2]
                )
                assert probe.cluster == probe.tags["word"] and probe.tags["fair"] == "equal"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lexicons_are_balanced(language: str) -> None:
    roles = lexicons.table(language, "roles_gendered")
    words = [row[gender] for row in roles for gender in ("male", "female")]
    assert len(roles) >= 60 and len(set(words)) == len(words)
    banned = {
        row[g]
        for row in lexicons.table(language, "gender")
        if row["kind"] in ("pronoun", "adjective")
        for g in ("male", "female")
    }
    assert not banned & set(words)
    assert not any(word.endswith(("たち", "ら", "们")) for word in words)
    professions = {row["word"]: row["lean"] for row in lexicons.table(language, "professions")}
    assert Counter(professions.values()) == {"female": 22, "male": 22, "none": 22}
    assert (
        professions.items() <= {row["word"]: row["lean"] for row in occupations(language)}.items()
    )
    emotions = lexicons.table(language, "emotions")
    assert len({row["word"] for row in emotions}) == len(emotions) == 40
    assert set(Counter((row["sort"], row["emotion"]) for row in emotions).values()) == {5}
    assert {row["sort"] for row in emotions} == {"state", "situation"}
    assert {row["use"] for row in lexicons.table(language, "prompts")} == {
        "role",
        "male",
        "female",
        "profession",
        "state",
        "situation",
    }


def test_the_three_languages_ask_about_the_same_professions() -> None:
    meant = []
    for language in LANGUAGES:
        english = {
            row["word"]: row.get("english", row["word"])
            for row in lexicons.table(language, "occupations")
        }
        meant.append([english[row["word"]] for row in lexicons.table(language, "professions")])
    assert meant[0] == meant[1] == meant[2]


def test_sentences_read_as_they_should() -> None:
    texts = {
        t
        for name in SUITES
        for language in LANGUAGES
        for p in build(name, language).probes
        for t in p.texts
    }
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
    assert all(
        p.tags["stereotyped"] == position[p.tags["lean"]]
        for p in build("profession").probes
        if p.stratum == "profession"
    )
    feelings = [p for p in build("emotion").probes if p.stratum == "emotion"]
    assert all(
        p.tags["stereotyped"] == ("0" if p.tags["emotion"] == "anger" else "1") for p in feelings
    )
