"""Published forms of NLI corpora are read as they are, torn rows and stray quotes included."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from evenhand.core.corpora import Pair, find_form, read_corpus, read_sentences
from evenhand.core.errors import InputError
from evenhand.core.probe import NLI_LABELS, NOT_ENTAILMENT


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_snli_and_mnli_lines(tmp_path: Path) -> None:
    rows = [
        {
            "gold_label": "neutral",
            "sentence1": "A nurse sleeps.",
            "sentence2": "A nurse is tired.",
            "pairID": "1",
        },
        {"gold_label": "-", "sentence1": "A nurse sleeps.", "sentence2": "n/a", "pairID": "2"},
        {
            "gold_label": "entailment",
            "sentence1": "Two cooks  talk. ",
            "sentence2": "Cooks talk.",
            "pairID": "3",
        },
    ]
    path = write(tmp_path / "snli_1.0_dev.jsonl", *map(json.dumps, rows))
    assert read_sentences(path) == ["A nurse sleeps.", "Two cooks talk."]
    assert read_sentences(path, is_hypotheses_too=True) == [
        "A nurse sleeps.",
        "A nurse is tired.",
        "Two cooks talk.",
        "Cooks talk.",
    ]


def test_anli_has_a_context(tmp_path: Path) -> None:
    path = write(
        tmp_path / "train.jsonl",
        json.dumps(
            {"uid": "0", "context": "A long story.", "hypothesis": "It is short.", "label": "c"}
        ),
    )
    assert read_sentences(path) == ["A long story."]
    assert read_sentences(path, is_hypotheses_too=True) == ["A long story.", "It is short."]


def test_qnli_asks_a_question_of_a_sentence(tmp_path: Path) -> None:
    path = write(
        tmp_path / "dev.tsv",
        "index\tquestion\tsentence\tlabel",
        "0\tWho was the mechanic?\tThe mechanic was tall.\tnot_entailment",
    )
    assert read_sentences(path) == ["The mechanic was tall."]
    assert read_sentences(path, is_hypotheses_too=True) == [
        "The mechanic was tall.",
        "Who was the mechanic?",
    ]


def test_glue_does_not_quote(tmp_path: Path) -> None:
    path = write(
        tmp_path / "train.tsv",
        "index\tsentence1\tsentence2\tlabel",
        '0\t"We left, said the clerk.\tThe clerk "left.\t1',
        "1\tIt rains.\tIt is wet.\t0",
    )
    assert read_sentences(path, is_hypotheses_too=True) == [
        '"We left, said the clerk.',
        'The clerk "left.',
        "It rains.",
        "It is wet.",
    ]


def test_ragged_rows_give_only_what_is_whole(tmp_path: Path) -> None:
    path = write(
        tmp_path / "train.tsv",
        "index\tsentence1\tsentence2\tgold_label",
        "0\tFirst premise.\tSecond is to",  # torn: the last cell is not whole
        # which cells belong together is unknown
        "1\tA tab\tinside a premise.\tHypothesis.\tneutral",
        "2\tWhole premise.\tWhole hypothesis.\tneutral\t\t",  # empty cells at the end hurt nobody
        "",
        "3\tNo label.\tStill two sentences.\t",
    )
    found = read_sentences(path, is_hypotheses_too=True)
    assert found == [
        "First premise.",
        "Whole premise.",
        "Whole hypothesis.",
        "No label.",
        "Still two sentences.",
    ]


def test_mnli_table_with_many_columns(tmp_path: Path) -> None:
    head = "\t".join(
        "index promptID pairID genre sentence1_binary_parse sentence2_binary_parse sentence1_parse "
        "sentence2_parse sentence1 sentence2 gold_label".split()
    )
    path = write(
        tmp_path / "dev_matched.tsv",
        head,
        "0\t1\t1n\tfiction\t( )\t( )\t(ROOT)\t(ROOT)\tThe new lawyer left.\tNobody left."
        "\tcontradiction",
    )
    assert read_sentences(path, is_hypotheses_too=True) == ["The new lawyer left.", "Nobody left."]


def test_a_text_file_is_plain_unless_its_head_is_known(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.txt", "A nurse\tsleeps.", "", "A cook eats.", "A cook eats.")
    assert read_sentences(plain) == ["A nurse sleeps.", "A cook eats."]
    table = write(
        tmp_path / "snli_1.0_dev.txt",
        "gold_label\tsentence1\tsentence2",
        "neutral\tA nurse sleeps.\tA nurse dreams.",
    )
    assert read_sentences(table) == ["A nurse sleeps."]


def test_premises_alone_suffice_where_no_hypotheses_are_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "premises.jsonl", json.dumps({"premise": "A nurse sleeps."}))
    assert read_sentences(path) == ["A nurse sleeps."]
    with pytest.raises(
        InputError,
        match="has the columns premise; known are premise and hypothesis; sentence1 and sentence2",
    ):
        read_sentences(path, is_hypotheses_too=True)


@pytest.mark.parametrize("name", ["table.tsv", "lines.jsonl", "table.csv"])
def test_unknown_columns_are_named_beside_the_known(tmp_path: Path, name: str) -> None:
    lines = {
        "table.tsv": ("left\tright", "a\tb"),
        "lines.jsonl": (json.dumps({"left": "a", "right": "b"}),),
        "table.csv": ("left,right", "a,b"),
    }[name]
    with pytest.raises(
        InputError, match=r"left, right; known are .*context and hypothesis; sentence and question"
    ) as caught:
        read_sentences(write(tmp_path / name, *lines))
    assert name in str(caught.value)


def test_nothing_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentence"):
        read_sentences(write(tmp_path / "x.tsv", "sentence1\tsentence2\tlabel", "n/a\t\t0"))


def test_forms_are_told_apart() -> None:
    assert find_form(["premise", "hypothesis", "label"]) == ("premise", "hypothesis")
    assert find_form(["uid", "context", "hypothesis"]) == ("context", "hypothesis")
    assert find_form(["idx", "sentence", "label"]) is None


def test_the_real_files(data: Path) -> None:
    path = data / "nli" / "en.snli-train20k.jsonl"
    premises, both = read_sentences(path), read_sentences(path, is_hypotheses_too=True)
    assert premises[0].startswith("An older gentleman") and both[1].startswith("The man is gazing")
    assert len(set(both)) == len(both) > len(premises) > 15_000
    assert len(both) == 37_821


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl.gz", '{"premise": "A b.", "hypothesis": "C d.", "label": "neutral"}'),
        ("a.csv.gz", 'premise,hypothesis,label\n"A b.",C d.,neutral'),
        ("a.tsv.gz", "gold_label\tsentence1\tsentence2\nneutral\tA b.\tC d."),
        ("a.txt.GZ", "neutral\tA b.\tC d."),  # JSNLI, without a head
    ],
)
def test_every_form_is_read_packed(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    corpus = read_corpus(tmp_path / name)
    assert corpus.pairs == (Pair("A b.", "C d.", "neutral"),)
    assert corpus.describe()["file"] == str(tmp_path / name)
    if not name.startswith("a.txt"):
        assert read_sentences(tmp_path / name, is_hypotheses_too=True) == ["A b.", "C d."]


@pytest.mark.parametrize(
    "damage", [b"no gzip at all", gzip.compress(b"x" * 500)[:-9]], ids=["other", "cut"]
)
def test_a_damaged_packed_file_is_named(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(damage)
    reason = r"a\.jsonl\.gz: is no whole gzip file \(.+\); pack or download it again"
    with pytest.raises(InputError, match=reason):
        read_corpus(tmp_path / "a.jsonl.gz")


def test_a_packed_file_of_an_unknown_form_is_named_by_its_form(tmp_path: Path) -> None:
    (tmp_path / "a.xml.gz").write_bytes(gzip.compress(b"<a/>"))
    with pytest.raises(InputError, match=r"'\.xml' is not a known form"):
        read_corpus(tmp_path / "a.xml.gz")


def test_two_labels_are_read_where_they_are_enough(tmp_path: Path) -> None:
    row = {"premise": "A b.", "hypothesis": "C d.", "label": "not-entailment"}
    path = write(tmp_path / "rte.jsonl", json.dumps(row))
    assert read_corpus(path, (*NLI_LABELS, NOT_ENTAILMENT)).pairs[0].label == NOT_ENTAILMENT
    with pytest.raises(InputError, match="a file of two labels; three are needed"):
        read_corpus(path)
