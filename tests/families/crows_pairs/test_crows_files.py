"""The published file of CrowS-Pairs: what a row becomes, and that a bad one is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from published_tables import altered, write_table

from evenhand.core.errors import InputError
from evenhand.core.probe import Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import read_suite, write_suite
from evenhand.families.crows_pairs.suite import SUITE

HEAD = ",sent_more,sent_less,stereo_antistereo,bias_type,annotations,anon_writer,anon_annotators"
PAIR = ["0", "Women cook.", "Men cook.", "stereo", "gender", "[]", "a0", "[]"]


def read_crows(tmp_path: Path, *rows: Sequence[str], head: str = HEAD) -> tuple[Probe, ...]:
    write_table(tmp_path / "crows_pairs", "crows_pairs_anonymized.csv", head, rows)
    return SUITE.build("en", SuiteOptions(data=tmp_path)).probes


def test_a_row_of_crows_pairs_becomes_three_probes_with_the_stereotype_first(
    tmp_path: Path,
) -> None:
    """`sent_more` is the more stereotypical sentence in both directions."""
    anti = ["7", "Women cook.", "Men cook.", "antistereo", "gender", "[]", "a3", "[]"]
    probes = read_crows(tmp_path, PAIR, anti)
    assert [p.id for p in probes] == [
        f"en/{n}/{rule}" for n in (0, 7) for rule in ("shared", "changed", "whole")
    ]
    assert {p.texts for p in probes} == {("", "Women cook.", "Men cook.")}
    assert (
        [p.stratum for p in probes]
        == [p.tags["scoring"] for p in probes]
        == ["shared", "changed", "whole"] * 2
    )
    assert [p.tags["direction"] for p in probes] == ["stereo"] * 3 + ["antistereo"] * 3
    assert [p.cluster for p in probes] == ["a0"] * 3 + ["a3"] * 3
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
    assert [p.id for p in probes[::3]] == ["en/1/shared", "en/2/shared"]
    assert [p.cluster for p in probes[::3]] == ["1", "2"]


def test_a_changed_copy_of_crows_pairs_says_so_and_is_kept_as_it_is(tmp_path: Path) -> None:
    write_table(tmp_path / "crows_pairs", "crows_pairs_anonymized.csv", HEAD, [PAIR])
    suite = SUITE.build("en", SuiteOptions(data=tmp_path))
    assert suite.card.version == "2020-changed"
    assert suite.card.options == ("stereotypical", "anti-stereotypical")
    write_suite(suite, tmp_path / "kept.jsonl")
    assert read_suite(tmp_path / "kept.jsonl") == suite
