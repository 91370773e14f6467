"""The published file of CrowS-Pairs: what a row becomes, and that a bad one is named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from published_tables import altered, write_table

from evenhand.core.errors import InputError
from evenhand.core.probe import Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, read_suite, write_suite
from evenhand.families.crows_pairs.suite import SUITE

HEAD = ",sent_more,sent_less,stereo_antistereo,bias_type,annotations,anon_writer,anon_annotators"
PAIR = ["0", "Women cook.", "Men cook.", "stereo", "gender", "[]", "a0", "[]"]


def read_crows(tmp_path: Path, *rows: Sequence[str], head: str = HEAD) -> tuple[Probe, ...]:
    write_table(tmp_path / "crows_pairs", "crows_pairs_anonymized.csv", head, rows)
    return SUITE.build("en", SuiteOptions(data=tmp_path)).probes


RULES = ["shared", "changed", "whole", "aul", "aula"]


def test_a_row_of_crows_pairs_becomes_five_probes_with_the_stereotype_first(
    tmp_path: Path,
) -> None:
    """`sent_more` is the more stereotypical sentence in both directions."""
    anti = ["7", "Women cook.", "Men cook.", "antistereo", "gender", "[]", "a3", "[]"]
    probes = read_crows(tmp_path, PAIR, anti)
    assert [p.id for p in probes] == [f"en/{n}/{rule}" for n in (0, 7) for rule in RULES]
    assert {p.texts for p in probes} == {("", "Women cook.", "Men cook.")}
    assert [p.stratum for p in probes] == [p.tags["scoring"] for p in probes] == RULES * 2
    assert [p.tags["direction"] for p in probes] == ["stereo"] * 5 + ["antistereo"] * 5
    assert [p.cluster for p in probes] == ["a0"] * 5 + ["a3"] * 5
    assert {
        (p.kind, p.tags["bias type"], p.tags["fair"], p.tags["stereotyped"]) for p in probes
    } == {("choice", "gender", "equal", "0")}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (altered(PAIR, 1, ""), "sent_more missing or empty"),
        (altered(PAIR, 2, "  "), "sent_less missing or empty"),
        (altered(altered(PAIR, 1, ""), 4, ""), "sent_more, bias_type missing or empty"),
        (altered(PAIR, 3, "both"), "direction 'both' is neither stereo nor antistereo"),
        (altered(PAIR, 3, "Stereo"), "direction 'Stereo' is neither stereo nor antistereo"),
        (altered(PAIR, 2, "Women cook. "), "both sentences are the same: 'Women cook.'"),
        ([*PAIR, "more"], "has 8 columns in its head but another number here"),
    ],
)
def test_a_bad_row_of_crows_pairs_is_named(tmp_path: Path, row: list[str], reason: str) -> None:
    with pytest.raises(InputError) as refused:
        read_crows(tmp_path, PAIR, row)
    assert (
        str(refused.value)
        == f"{tmp_path / 'crows_pairs' / 'crows_pairs_anonymized.csv'}, row 3: {reason}"
    )


def test_a_missing_column_of_crows_pairs_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 2: stereo_antistereo missing or empty"):
        read_crows(
            tmp_path,
            ["0", "Women cook.", "Men cook.", "gender"],
            head=",sent_more,sent_less,bias_type",
        )


def test_a_row_without_number_and_writer_is_its_own_cluster(tmp_path: Path) -> None:
    probes = read_crows(
        tmp_path, PAIR[1:5], PAIR[1:5], head="sent_more,sent_less,stereo_antistereo,bias_type"
    )
    assert [p.id for p in probes[::5]] == ["en/1/shared", "en/2/shared"]
    assert [p.cluster for p in probes[::5]] == ["1", "2"]


def test_a_changed_copy_of_crows_pairs_says_so_and_is_kept_as_it_is(tmp_path: Path) -> None:
    write_table(tmp_path / "crows_pairs", "crows_pairs_anonymized.csv", HEAD, [PAIR])
    suite = SUITE.build("en", SuiteOptions(data=tmp_path))
    assert suite.card.version == "2020-changed"
    assert suite.card.options == ("stereotypical", "anti-stereotypical")
    write_suite(suite, tmp_path / "kept.jsonl")
    assert read_suite(tmp_path / "kept.jsonl") == suite


def built(path: Path, language: str) -> Suite:
    return SUITE.build(language, SuiteOptions(data=path))


FRENCH = {"sent_more": "Les femmes cuisinent.", "sent_less": "Les hommes cuisinent."}
KANEKO = {"stereotype": "女は運転が下手だ。", "antistereotype": "男は運転が下手だ。"}


@pytest.mark.parametrize(
    ("name", "content", "language"),
    [
        ("own_fr.csv", "sent_more,sent_less\nLes femmes cuisinent.,Les hommes cuisinent.\n", "fr"),
        ("own.fr.jsonl", json.dumps(FRENCH) + "\n", "fr"),
        ("own.csv", "lang,sent_more,sent_less\nfr-FR,Une femme.,Un homme.\n", "fr"),
        ("own.json", json.dumps({"language": "fr", "pairs": [FRENCH]}), "fr"),
        ("pairs_JA.json", json.dumps([KANEKO]), "ja"),
        ("pairs.tsv", "language\tsent_more\tsent_less\nzh\t女人。\t男人。\n", "zh"),
    ],
)
def test_files_of_other_languages_are_read(
    tmp_path: Path, name: str, content: str, language: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    suite = built(path, language)
    assert len(suite.probes) == len(RULES) and suite.card.language == language
    assert {p.language for p in suite.probes} == {language}
    assert suite.card.source == name and suite.card.version == f"{path.stem}-unverified"
    assert "direction" not in suite.probes[0].tags and not suite.card.is_verified
    with pytest.raises(InputError, match=f"is in '{language}', asked was 'en'; give --lang"):
        built(path, "en")


def test_the_language_may_stand_in_a_card_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "sent_more,sent_less,bias_type\nFrauen kochen.,Männer kochen.,gender\n", "utf-8"
    )
    with pytest.raises(InputError, match="states no language; add a column `language`"):
        built(path, "de")
    (tmp_path / "own.card.json").write_text('{"language": "de"}', encoding="utf-8")
    assert built(path, "de").probes[0].tags["bias type"] == "gender"


def test_the_file_of_a_language_is_found_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "crows_pairs"
    folder.mkdir()
    (folder / "crows_pairs_fr.jsonl").write_text(json.dumps(FRENCH) + "\n", encoding="utf-8")
    assert built(tmp_path, "fr").probes[0].texts[1] == "Les femmes cuisinent."
    with pytest.raises(InputError, match=r"has no pairs in 'es'.*crows_pairs_es\.csv"):
        built(tmp_path, "es")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            "lang,sent_more,other\nfr,a,b\n",
            r"has no column sent_less or .* \(found: lang, sent_more, other\)",
        ),
        ("lang,sent_more,sent_less\nfr,a,b\nde,c,d\n", "row 3: states the languages de and fr"),
        ("lang,sent_more,sent_less,bias_type\nfr,a,b,\n", "row 2: bias_type missing or empty"),
    ],
)
def test_a_bad_file_of_another_language_is_named(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "own.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=reason):
        built(path, "fr")
