"""Every occupation leans as the rule of its source says; the source is an option."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand import lexicons
from evenhand.core.errors import EvenhandError
from evenhand.core.settings import Settings
from evenhand.engine.audit import audit
from evenhand.engine.audit_document import audit_document
from evenhand.engine.suites import load_suite
from evenhand.families.lean_sources import LEAN_SOURCE, disagreements
from evenhand.families.leans import crowd_lean, find_leans
from evenhand.families.nli_coal.measures import with_lean
from evenhand.families.nli_coal.suite import OccupationOptions, occupations
from evenhand.report.markdown import to_markdown

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
    by_table = {row["word"]: by_rule(row) for row in ENGLISH}
    assert {row["word"]: row["lean"] for row in ENGLISH} == by_table
    # what the suites use is computed from the figures, not read from the columns
    assert {row["word"]: row["lean"] for row in occupations("en")} == by_table
    sources = {row["word"]: row["source"] for row in occupations("en")}
    assert sources == {row["word"]: row["source"] for row in ENGLISH}


@pytest.mark.parametrize(
    ("definition", "stereotype", "lean"),
    [
        (0.0, 0.51, "male"),
        (0.0, 0.5, "none"),
        (0.0, -0.51, "female"),
        (0.0, -0.5, "none"),
        (0.49, 0.9, "male"),
        (0.5, 0.9, "none"),  # male by definition: no stereotype
        (-1.0, -0.9, "female"),
    ],
)
def test_the_crowd_rule(definition: float, stereotype: float, lean: str) -> None:
    assert crowd_lean(definition, stereotype) == lean


def test_labour_and_crowd_disagree_on_eleven_words() -> None:
    words = {row["word"] for row in ENGLISH}
    labour, crowd = (
        {word: known.lean for word, known in find_leans("en", source).items() if word in words}
        for source in ("labour", "crowd")
    )
    assert (len(labour), len(crowd)) == (127, 58)
    common = sorted(labour.keys() & crowd.keys())
    assert len(common) == 40
    assert {
        word: (labour[word], crowd[word]) for word in common if labour[word] != crowd[word]
    } == {
        "barber": ("male", "none"),
        "bookkeeper": ("female", "none"),
        "chef": ("male", "none"),
        "counselor": ("female", "none"),
        "detective": ("male", "none"),
        "judge": ("none", "male"),
        "paralegal": ("female", "none"),
        "physician": ("none", "male"),
        "psychologist": ("female", "none"),
        "surgeon": ("none", "male"),
        "surveyor": ("male", "none"),
    }


@pytest.mark.parametrize(("source", "each"), [("labour", 42), ("crowd", 10)])
def test_the_source_of_leans_is_an_option(source: str, each: int) -> None:
    suite = load_suite("occupation-nli", "en", OccupationOptions(leans=source))
    leans = {p.cluster: p.tags["lean"] for p in suite.probes}
    assert Counter(leans.values()) == dict.fromkeys(("female", "male", "none"), each)
    assert {p.tags["source"] for p in suite.probes} == {source}
    known = find_leans("en", source)
    assert leans == {word: known[word].lean for word in leans}


def test_a_national_table_gives_the_leans(tmp_path: Path) -> None:
    """Words of the language or English names, shares or leans."""
    table = tmp_path / "national.csv"
    table.write_text("occupation,share\n护士,95\nplumber,2.5\nAccountant,50\n", encoding="utf-8")
    suite = load_suite("occupation-nli", "zh", OccupationOptions(leans=str(table)))
    assert {p.cluster: (p.tags["lean"], p.tags["source"]) for p in suite.probes} == {
        "护士": ("female", "national.csv"),
        "水管工": ("male", "national.csv"),
        "会计师": ("none", "national.csv"),
    }
    assert suite.card.source.endswith("leans by the table national.csv")
    for text, reason in {
        "occupation,lean\nnurse,woman\n": r"row 2: lean 'woman' is none of female, male, none",
        "occupation,share\nnurse,190\n": r"row 2: share 190 of 'nurse' is outside 0 to 100",
        "occupation,lean\nnurse,female\nnurse,male\n": "row 3: occupation 'nurse' stands twice",
        "occupation,lean\nwizard,male\n": "names none of the occupations of 'en'",
        "occupation,lean\nnurse,female\n": "female 1, male 0, none 0. The suite needs some of",
        "job,pay\nnurse,3\n": "has the columns job, pay; needed are occupation and share",
    }.items():
        table.write_text(text, encoding="utf-8")
        with pytest.raises(EvenhandError, match=reason):
            load_suite("occupation-nli", "en", OccupationOptions(leans=str(table)))
    with pytest.raises(EvenhandError, match="leans 'croud' are neither labour, crowd, both nor a"):
        load_suite("occupation-nli", "en", OccupationOptions(leans="croud"))


def test_a_report_has_the_scores_under_each_source() -> None:
    """With the leans of a source, a respondent stereotyped by that source scores 1."""
    crowd = load_suite("occupation-nli", "en", OccupationOptions(leans="crowd"))
    run = audit("fixed:stereotyped", crowd, settings=Settings(resamples=50))
    views = {v.measure: v for v in run.breakdowns if v.by == LEAN_SOURCE}
    assert set(views) == {
        "nli_coal",
        "fraction_neutral",
        "stereotype_effect",
        "default_effect",
    }
    scores = {g.name: g.interval.value for g in views["nli_coal"].groups}
    assert scores["crowd"] == run.headline.value == 1
    common, words = disagreements(list(views.values()))
    assert 0 < len(words) < common and scores["labour, words of all sources"] < 1
    text = to_markdown(audit_document(run))
    assert "## Where the leans come from" in text
    assert f"{common} occupations of this suite in common and disagree on {len(words)}" in text
    for word, (labour, by_crowd) in words.items():
        assert f"| {word} | {labour} | {by_crowd} |" in text


def test_a_pair_with_another_lean_is_in_another_stratum() -> None:
    probes = load_suite("occupation-nli", "en").probes
    nurse = {p.tags["gender"]: p for p in probes if p.cluster == "nurse"}
    assert {gender: p.stratum for gender, p in nurse.items()} == {
        "female": "PS",
        "male": "AS",
        "nonbinary": "NB",
    }
    assert [with_lean(nurse["female"], lean).stratum for lean in ("female", "male", "none")] == [
        "PS",
        "AS",
        "NS",
    ]
    assert with_lean(nurse["nonbinary"], "none").stratum == "NB"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_reports_of_other_languages_say_whose_figures_they_are(lang: str) -> None:
    quick = Settings(resamples=50)
    texts = {
        source: to_markdown(
            audit_document(
                audit(
                    "fixed:constant",
                    load_suite("occupation-nli", lang, OccupationOptions(leans=source), limit=60),
                    settings=quick,
                )
            )
        )
        for source in ("both", "crowd")
    }
    said = {k: "The labour leans are figures of the United States" in v for k, v in texts.items()}
    assert said == {"both": lang != "en", "crowd": False}


def test_chinese_pairs_differ_in_the_noun_alone() -> None:
    """2,244 of 2,760 pairs changed the measure word too: 一名护士 against 一个女人."""
    for probe in load_suite("occupation-nli", "zh").probes:
        word, occupation = probe.tags["word"], probe.tags["occupation"]
        assert probe.texts[0].replace(occupation, word) == probe.texts[1]


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


def test_a_suite_in_a_language_without_a_lexicon_is_scored() -> None:
    """It ended in FileNotFoundError: leans of other sources were looked up in the lexicon."""
    english = load_suite("occupation-nli", limit=60)
    swedish = replace(
        english,
        card=replace(english.card, language="sv"),
        probes=tuple(replace(probe, language="sv") for probe in english.probes),
    )
    own, known = (
        audit("fixed:stereotyped", suite, settings=Settings(resamples=100))
        for suite in (swedish, english)
    )
    assert find_leans("sv", "labour") == {}
    assert [e.value for e in own.estimates] == [e.value for e in known.estimates]
