"""Is a bad row of a file with blanks named? Suite files of one's own, and the published files of CGB and CrowS-Pairs in their own form."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from evenhand.core.errors import InputError, LoadError
from evenhand.core.probe import Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import read_suite, write_suite
from evenhand.families import cgb, crows_pairs

GOOD = ["The [BLANK] left.", "man", "woman"]
CGB_HEAD = "Type,ID,Sentence,Original Gender Word,Opposite Gender Word,,BERT,BERT-wwm,BERT-wwm-ext,RoBERTa-wwm-ext,ELECTRA,Annotator1,Annotator2,Annotator3"
SAID = ["1.5", "-0.25", "0", "2", "3", "1", "-1", "0"]
UNCLE = ["MS", "1", "他的[MASK][MASK]来了。", "叔叔", "阿姨", "1", *SAID]
SISTER = ["OS", "2", "[MASK][MASK]怀孕了。", "姐姐", "哥哥", "-1", *SAID]
CROWS_HEAD = (
    ",sent_more,sent_less,stereo_antistereo,bias_type,annotations,anon_writer,anon_annotators"
)
CROWS = ["0", "Women cook.", "Men cook.", "stereo", "gender", "[]", "a0", "[]"]


def write_probes(path: Path, *texts: list[str]) -> Path:
    rows = [
        {
            "id": f"p{i}",
            "kind": "mask",
            "language": "en",
            "texts": t,
            "stratum": "MS",
            "cluster": "c",
        }
        for i, t in enumerate(texts)
    ]
    path.write_text(
        "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8"
    )
    return path


def write_table(
    folder: Path, name: str, head: str, rows: Sequence[Sequence[str]], mark: str = ""
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w", encoding="utf-8", newline="") as out:
        out.write(mark + head + "\n")
        csv.writer(out, lineterminator="\n").writerows(rows)
    return folder


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (
            ["The man left.", "man", "woman"],
            "0 blanks in 'The man left.'; a sentence has exactly one [BLANK]",
        ),
        (
            ["The [BLANK] saw the [BLANK].", "man", "woman"],
            "2 blanks in 'The [BLANK] saw the [BLANK].'; a sentence has exactly one [BLANK]",
        ),
        (["The [BLANK] left.", "man"], "1 candidate; a mask has at least 2"),
        (["The [BLANK] left.", "man", ""], "an empty candidate in ['man', '']"),
        (["The [BLANK] left.", " \t", "woman"], "an empty candidate in [' \\t', 'woman']"),
        (["The [BLANK] left."], "1 texts; a pair has 2, a mask or choice at least 2"),
    ],
)
def test_a_bad_blank_in_a_suite_file_is_named_by_its_row(
    tmp_path: Path, texts: list[str], reason: str
) -> None:
    path = write_probes(tmp_path / "mine.jsonl", GOOD, GOOD, texts)
    with pytest.raises(InputError) as refused:
        read_suite(path)
    assert str(refused.value) == f"{path}, row 3: not a probe: {reason}"


def test_a_good_suite_file_is_read_with_its_roles(tmp_path: Path) -> None:
    suite = read_suite(
        write_probes(tmp_path / "mine.jsonl", GOOD, ["[BLANK]来了", "他", "她", "它"])
    )
    assert suite.card.labels == ("male", "female")
    assert [p.texts for p in suite.probes] == [tuple(GOOD), ("[BLANK]来了", "他", "她", "它")]
    assert [p.width for p in suite.probes] == [2, 3]


# CGB


def read_cgb(
    tmp_path: Path, *rows: Sequence[str], head: str = CGB_HEAD, mark: str = "\ufeff"
) -> tuple[Probe, ...]:
    write_table(tmp_path / "cgb", "CGBDataset.csv", head, rows, mark)
    return cgb.SUITE.build("zh", SuiteOptions(data=tmp_path)).probes


def altered(row: Sequence[str], column: int, value: str) -> list[str]:
    return [*row[:column], value, *row[column + 1 :]]


def test_a_row_of_cgb_becomes_a_probe(tmp_path: Path) -> None:
    uncle, sister = read_cgb(tmp_path, UNCLE, SISTER)
    assert (uncle.id, uncle.kind, uncle.stratum, uncle.cluster) == (
        "zh/1",
        "mask",
        "MS",
        "叔叔/阿姨",
    )
    assert uncle.texts == ("他的[BLANK]来了。", "叔叔", "阿姨")
    assert uncle.tags["fair"] == "equal"
    assert "gold" not in uncle.tags and uncle.tags["original"] == "male"
    assert (sister.id, sister.stratum, sister.cluster) == ("zh/2", "OS", "哥哥/姐姐")
    assert sister.texts == ("[BLANK]怀孕了。", "哥哥", "姐姐")
    assert (sister.tags["gold"], sister.tags["fair"], sister.tags["original"]) == (
        "female",
        "1",
        "female",
    )
    assert {
        k.removeprefix("said."): float(v) for k, v in uncle.tags.items() if k.startswith("said.")
    } == {
        **dict(zip((*cgb.MODELS, *cgb.PEOPLE), map(float, SAID), strict=True)),
        "Annotators": 0.0,
    }


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            altered(UNCLE, 2, "他的叔叔来了。"),
            "0 blanks in '他的叔叔来了。'; a sentence has exactly one",
        ),
        (
            altered(UNCLE, 2, "[MASK][MASK]和[MASK][MASK]来了。"),
            "2 blanks in '[MASK][MASK]和[MASK][MASK]来了。'; a sentence has exactly one",
        ),
        (
            altered(UNCLE, 2, "他的[MASK]来了。"),
            "1 masks for the word '叔叔', which has 2 characters",
        ),
        (
            altered(UNCLE, 2, "他的[MASK][MASK][MASK]来了。"),
            "3 masks for the word '叔叔', which has 2 characters",
        ),
        (altered(UNCLE, 0, "XS"), "type 'XS' is neither MS nor OS"),
        (altered(UNCLE, 0, ""), "type '' is neither MS nor OS"),
        (
            altered(UNCLE, 5, "0"),
            "the gender of the original word is '0', neither 1 (male) nor -1 (female)",
        ),
        (
            altered(UNCLE, 5, ""),
            "the gender of the original word is '', neither 1 (male) nor -1 (female)",
        ),
        (altered(UNCLE, 6, "high"), "BERT is 'high', not a number"),
        (altered(UNCLE, 13, "?"), "Annotator3 is '?', not a number"),
        (altered(UNCLE, 3, ""), "original word '', opposite '阿姨': one is missing"),
        (altered(UNCLE, 4, " "), "original word '叔叔', opposite ' ': one is missing"),
        (UNCLE[:-1], "has 14 columns in its head but another number here"),
    ],
)
def test_a_bad_row_of_cgb_is_named(tmp_path: Path, row: list[str], reason: str) -> None:
    with pytest.raises(InputError) as refused:
        read_cgb(tmp_path, SISTER, row, UNCLE)
    assert str(refused.value) == f"{tmp_path / 'cgb' / 'CGBDataset.csv'}, row 3: {reason}"


@pytest.mark.parametrize(
    "column", ["Type", "ID", "Sentence", "Original Gender Word", "Opposite Gender Word", ""]
)
def test_a_missing_column_of_cgb_is_named(tmp_path: Path, column: str) -> None:
    names = CGB_HEAD.split(",")
    place = names.index(column)
    row = [*UNCLE[:place], *UNCLE[place + 1 :]]
    with pytest.raises(InputError, match=f"row 2: the columns '{column}' are missing"):
        read_cgb(tmp_path, row, head=",".join([*names[:place], *names[place + 1 :]]))


def test_answers_of_cgb_that_are_not_there_are_no_tags(tmp_path: Path) -> None:
    row = altered(altered(UNCLE, 6, ""), 11, " ")
    (probe,) = read_cgb(tmp_path, row)
    assert "said.BERT" not in probe.tags
    assert "said.Annotator1" not in probe.tags and "said.Annotators" not in probe.tags
    assert probe.tags["said.Annotator2"] == "-1.0"


def test_the_mean_of_the_annotators(tmp_path: Path) -> None:
    (probe,) = read_cgb(tmp_path, [*UNCLE[:11], "1", "1", "0"])
    assert float(probe.tags["said.Annotators"]) == pytest.approx(2 / 3)


def test_a_copy_that_is_not_the_published_file_says_so(tmp_path: Path) -> None:
    write_table(tmp_path / "cgb", "CGBDataset.csv", CGB_HEAD, [UNCLE])
    suite = cgb.SUITE.build("zh", SuiteOptions(data=tmp_path))
    assert suite.card.version == "2024-changed"
    assert suite.card.labels == ("male", "female")
    assert suite.reference.startswith("cgb@2024-changed#")


def test_the_file_may_lie_in_the_folder_itself(tmp_path: Path) -> None:
    write_table(tmp_path, "CGBDataset.csv", CGB_HEAD, [UNCLE])
    assert [p.id for p in cgb.SUITE.build("zh", SuiteOptions(data=tmp_path)).probes] == ["zh/1"]


def test_a_published_file_that_is_not_here_is_pointed_at(tmp_path: Path) -> None:
    with pytest.raises(
        LoadError,
        match=r"CGBDataset\.csv is not on this machine\. Download it from github zhushucheng/CGBDataset",
    ):
        cgb.SUITE.build("zh", SuiteOptions())
    with pytest.raises(InputError, match=r"has no cgb/CGBDataset\.csv"):
        cgb.SUITE.build("zh", SuiteOptions(data=tmp_path))


def test_a_word_that_a_minority_of_rows_calls_female_is_male_all_the_same(tmp_path: Path) -> None:
    """哥哥 is the elder brother. The gender that is right in an objective sentence and the stored numbers stay as published."""
    rows = [
        ["OS", str(i), f"[MASK][MASK]去了{i}。", "哥哥", "姐姐", sign, *SAID]
        for i, sign in enumerate(["1", "-1", "1", "-1", "1"])
    ]
    probes = read_cgb(tmp_path, *rows)
    assert {p.texts[1:] for p in probes} == {("哥哥", "姐姐")}
    assert {p.cluster for p in probes} == {"哥哥/姐姐"}
    assert [p.tags["gold"] for p in probes] == ["male", "female", "male", "female", "male"]
    assert {p.tags["said.BERT"] for p in probes} == {"1.5"}


# CrowS-Pairs


def read_crows(tmp_path: Path, *rows: Sequence[str], head: str = CROWS_HEAD) -> tuple[Probe, ...]:
    write_table(tmp_path / "crows_pairs", "crows_pairs_anonymized.csv", head, rows)
    return crows_pairs.SUITE.build("en", SuiteOptions(data=tmp_path)).probes


def test_a_row_of_crows_pairs_becomes_three_probes_with_the_stereotype_first(
    tmp_path: Path,
) -> None:
    """`sent_more` is the more stereotypical sentence in both directions."""
    anti = ["7", "Women cook.", "Men cook.", "antistereo", "gender", "[]", "a3", "[]"]
    probes = read_crows(tmp_path, CROWS, anti)
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
        (altered(CROWS, 1, ""), "sent_more missing or empty"),
        (altered(CROWS, 2, "  "), "sent_less missing or empty"),
        (altered(altered(CROWS, 1, ""), 4, ""), "sent_more, bias_type missing or empty"),
        (altered(CROWS, 3, "both"), "direction 'both' is neither stereo nor antistereo"),
        (altered(CROWS, 3, "Stereo"), "direction 'Stereo' is neither stereo nor antistereo"),
        (altered(CROWS, 2, "Women cook. "), "both sentences are the same: 'Women cook.'"),
        ([*CROWS, "more"], "has 8 columns in its head but another number here"),
    ],
)
def test_a_bad_row_of_crows_pairs_is_named(tmp_path: Path, row: list[str], reason: str) -> None:
    with pytest.raises(InputError) as refused:
        read_crows(tmp_path, CROWS, row)
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
        tmp_path, CROWS[1:5], CROWS[1:5], head="sent_more,sent_less,stereo_antistereo,bias_type"
    )
    assert [p.id for p in probes[::3]] == ["en/1/shared", "en/2/shared"]
    assert [p.cluster for p in probes[::3]] == ["1", "2"]


def test_a_changed_copy_of_crows_pairs_says_so_and_is_kept_as_it_is(tmp_path: Path) -> None:
    write_table(tmp_path / "crows_pairs", "crows_pairs_anonymized.csv", CROWS_HEAD, [CROWS])
    suite = crows_pairs.SUITE.build("en", SuiteOptions(data=tmp_path))
    assert suite.card.version == "2020-changed"
    assert suite.card.labels == ("stereotypical", "anti-stereotypical")
    write_suite(suite, tmp_path / "kept.jsonl")
    assert read_suite(tmp_path / "kept.jsonl") == suite
