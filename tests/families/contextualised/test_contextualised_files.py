"""Files with blanks: a bad row is named, in suite files and in the published file of CGB."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from published_tables import altered, write_table

from evenhand.core.answers import Answers
from evenhand.core.errors import InputError, LoadError
from evenhand.core.probe import GENDERS, SCORE, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import read_suite
from evenhand.families.contextualised import published
from evenhand.families.contextualised.published import is_people

GOOD = ["The [BLANK] left.", "man", "woman"]
HEAD = (
    "Type,ID,Sentence,Original Gender Word,Opposite Gender Word,,BERT,BERT-wwm,BERT-wwm-ext,"
    "RoBERTa-wwm-ext,ELECTRA,Annotator1,Annotator2,Annotator3"
)
STORED = ["1.5", "-0.25", "0", "2", "3", "1", "-1", "0"]
UNCLE = ["MS", "1", "他的[MASK][MASK]来了。", "叔叔", "阿姨", "1", *STORED]
SISTER = ["OS", "2", "[MASK][MASK]怀孕了。", "姐姐", "哥哥", "-1", *STORED]


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
    assert suite.card.options == ("male", "female")
    assert [p.texts for p in suite.probes] == [tuple(GOOD), ("[BLANK]来了", "他", "她", "它")]
    assert [p.option_count for p in suite.probes] == [2, 3]


def read_cgb(
    tmp_path: Path, *rows: Sequence[str], head: str = HEAD, mark: str = "\ufeff"
) -> tuple[Probe, ...]:
    write_table(tmp_path / "cgb", "CGBDataset.csv", head, rows, mark)
    return published.SUITE.build("zh", SuiteOptions(data=tmp_path)).probes


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
        **dict(zip((*published.MODELS, *published.PEOPLE), map(float, STORED), strict=True)),
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
    names = HEAD.split(",")
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
    write_table(tmp_path / "cgb", "CGBDataset.csv", HEAD, [UNCLE])
    suite = published.SUITE.build("zh", SuiteOptions(data=tmp_path))
    assert suite.card.version == "2024-changed"
    assert suite.card.options == ("male", "female")
    assert suite.reference.startswith("cgb@2024-changed#")


def test_the_file_may_lie_in_the_folder_itself(tmp_path: Path) -> None:
    write_table(tmp_path, "CGBDataset.csv", HEAD, [UNCLE])
    assert [p.id for p in published.SUITE.build("zh", SuiteOptions(data=tmp_path)).probes] == [
        "zh/1"
    ]


def test_a_published_file_that_is_not_here_is_pointed_at(tmp_path: Path) -> None:
    with pytest.raises(
        LoadError,
        match=(
            r"CGBDataset\.csv is not on this machine\. "
            "Download it from github zhushucheng/CGBDataset"
        ),
    ):
        published.SUITE.build("zh", SuiteOptions())
    with pytest.raises(InputError, match=r"has no cgb/CGBDataset\.csv"):
        published.SUITE.build("zh", SuiteOptions(data=tmp_path))


def test_a_word_that_a_minority_of_rows_calls_female_is_male_all_the_same(tmp_path: Path) -> None:
    """哥哥 is the elder brother; the right gender and the stored numbers stay as published."""
    rows = [
        ["OS", str(i), f"[MASK][MASK]去了{i}。", "哥哥", "姐姐", sign, *STORED]
        for i, sign in enumerate(["1", "-1", "1", "-1", "1"])
    ]
    probes = read_cgb(tmp_path, *rows)
    assert {p.texts[1:] for p in probes} == {("哥哥", "姐姐")}
    assert {p.cluster for p in probes} == {"哥哥/姐姐"}
    assert [p.tags["gold"] for p in probes] == ["male", "female", "male", "female", "male"]
    assert {p.tags["said.BERT"] for p in probes} == {"1.5"}


@pytest.mark.parametrize(
    ("respondent", "expected"),
    [
        ("stored:Annotator1", True),
        ("stored:Annotators", True),
        ("people:pilot", True),
        ("people:pilot/annotator-2", True),
        ("stored:BERT", False),
        ("bert-base-uncased@main", False),
        ("fixed:random", False),
    ],
)
def test_people_are_told_from_models_by_their_name(respondent: str, expected: bool) -> None:
    answers = Answers(
        respondent=respondent,
        suite="",
        probes=(),
        options=GENDERS,
        labels=(SCORE,),
        values=np.zeros((0, 2, 1)),
    )
    assert is_people(answers) is expected
