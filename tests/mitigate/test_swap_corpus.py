"""`evenhand mitigate swap`: the pairs and their swapped copies, the account, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import evenhand, files_in
from document_text import table_rows

from evenhand.core import catalog
from evenhand.core.corpora import Pair, read_corpus
from evenhand.core.errors import EvenhandWarning, InputError
from evenhand.languages.gender_words import NameSwap
from evenhand.mitigate.swap import SwapOptions, swap_document, swap_file
from evenhand.train.corpus import write_corpus

ENGLISH = catalog.language("en")
ROWS = [
    {"premise": "A man walks his dog.", "hypothesis": "He is outside.", "label": "entailment"},
    {"premise": "A dog sleeps.", "hypothesis": "An animal runs.", "label": "contradiction"},
    {
        "premise": "The nurse greets Mary.",
        "hypothesis": "The nurse greets two women.",
        "label": "neutral",
    },
    {"premise": "A man with a beard reads.", "hypothesis": "A man reads.", "label": "entailment"},
    {"sentence1": "x", "sentence2": "y", "gold_label": "-"},
]


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_the_pairs_come_first_and_the_swapped_ones_behind(corpus: Path) -> None:
    ticks: list[tuple[int, int, int]] = []
    report = swap_file(
        corpus, ENGLISH, corpus.with_name("out.jsonl"), tick=lambda *step: ticks.append(step)
    )
    rows = read(report.out)
    assert [
        {name: row[name] for name in ("premise", "hypothesis", "label")} for row in rows[:4]
    ] == ROWS[:4]
    assert [row["source"] for row in rows] == ["original"] * 4 + ["swapped"] * 2
    assert rows[4:] == [
        {
            "premise": "A woman walks her dog.",
            "hypothesis": "She is outside.",
            "label": "entailment",
            "source": "swapped",
        },
        {
            "premise": "The nurse greets Mary.",
            "hypothesis": "The nurse greets two men.",
            "label": "neutral",
            "source": "swapped",
        },
    ]
    assert (report.swapped, report.written, report.unswapped) == (
        2,
        6,
        {"no gender word": 1, "biology": 1},
    )
    assert report.changes == {
        ("man", "woman"): 1,
        ("his", "her"): 1,
        ("he", "she"): 1,
        ("women", "men"): 1,
    }
    assert report.left == {("beard", "biology"): 1, ("man", "biology"): 2}
    assert ticks == [(4, 4, 0)]
    assert len(read_corpus(report.out).pairs) == 6  # what training reads


def test_the_account_stands_beside_it(corpus: Path) -> None:
    report = swap_file(corpus, ENGLISH, corpus.with_name("out.jsonl"))
    assert files_in(corpus.parent) == ["corpus.jsonl", "out.jsonl", "out.swaps.json"]
    account = json.loads(report.path.read_text(encoding="utf-8"))
    counts = [account[name] for name in ("pairs", "swapped", "written")]
    assert (counts, account["file"]["left out"]) == ([4, 2, 6], {"label -": 1})
    assert account["options"] == {
        "names": "keep",
        "only": "all",
        "paired": False,
        "biology": False,
        "sample": None,
        "seed": 0,
    }
    assert {"word": "man", "reason": "biology", "count": 2} in account["left"] and len(
        account["changes"]
    ) == 4


def test_what_was_done_as_a_document(corpus: Path) -> None:
    document = swap_document(swap_file(corpus, ENGLISH, corpus.with_name("out.jsonl")))
    assert document.title == str(corpus)
    assert document.subtitle == "4 pairs (1 rows without a gold label left out), 2 swapped"
    assert table_rows(document, "reasons") == [
        ["no gender word", "1", "25.0 %"],
        ["biology", "1", "25.0 %"],
    ]
    assert ["women", "men", "1"] in table_rows(document, "words")


def test_only_pairs_that_name_an_occupation(corpus: Path) -> None:
    report = swap_file(
        corpus,
        ENGLISH,
        corpus.with_name("out.jsonl"),
        SwapOptions(is_occupations_only=True, names=NameSwap.of("en")),
    )
    assert [row["premise"] for row in read(report.out)[4:]] == ["The nurse greets James."]
    assert report.unswapped == {"no occupation": 1, "no gender word": 1, "biology": 1}


def test_twins_stand_in_the_row_of_their_pair(corpus: Path) -> None:
    options = SwapOptions(is_paired=True, has_biology=True)
    report = swap_file(corpus, ENGLISH, corpus.with_name("out.jsonl"), options)
    pairs = read_corpus(report.out).pairs
    assert [pair.twin for pair in pairs] == [
        ("A woman walks her dog.", "She is outside."),
        None,
        ("The nurse greets Mary.", "The nurse greets two men."),
        ("A woman with a beard reads.", "A woman reads."),
    ]
    assert (report.written, report.swapped) == (4, 3)


def test_spaces_of_a_japanese_corpus_stay(tmp_path: Path) -> None:
    path = tmp_path / "train.tsv"
    path.write_text(
        "neutral\t2 人 の 男性 が いる 。\t女 の 子 は 寝て い ます 。\n", encoding="utf-8"
    )
    report = swap_file(path, catalog.language("ja"), tmp_path / "out.jsonl")
    assert read(report.out)[1] == {
        "premise": "2 人 の 女性 が いる 。",
        "hypothesis": "男 の 子 は 寝て い ます 。",
        "label": "neutral",
        "source": "swapped",
    }


def test_a_corpus_in_another_language_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "zh.jsonl"
    path.write_text(
        json.dumps({"premise": "他走了", "hypothesis": "她来了", "label": "neutral"}) + "\n",
        encoding="utf-8",
    )
    with pytest.warns(
        EvenhandWarning,
        match=r"no pair of .*zh.jsonl was swapped \(no gender word 1\); is the file in English\?",
    ):
        swap_file(path, ENGLISH, tmp_path / "out.jsonl")


def test_nothing_is_overwritten_or_half_written(corpus: Path) -> None:
    with pytest.raises(InputError, match="is the file that is read"):
        swap_file(corpus, ENGLISH, corpus)
    with pytest.raises(InputError, match=r"'.csv' is no form that is written"):
        swap_file(corpus, ENGLISH, corpus.with_name("out.csv"))
    bad = corpus.with_name("bad.jsonl")
    bad.write_text(
        corpus.read_text(encoding="utf-8") + '{"premise": "a", "label": "neutral"}\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError, match=r"bad.jsonl, row 6: .*'hypothesis' is missing"):
        swap_file(bad, ENGLISH, corpus.with_name("out.jsonl"))
    assert files_in(corpus.parent) == ["bad.jsonl", "corpus.jsonl"]


def test_the_command_tells_what_it_did(corpus: Path) -> None:
    out = corpus.with_name("out.jsonl")
    done = evenhand("mitigate", "swap", corpus, "--out", out)
    assert (
        done.code == 0 and "4 pairs (1 rows without a gold label left out), 2 swapped" in done.out
    )
    assert "biology" in done.out and "wrote 6 rows" in done.out and "out.swaps.json" in done.out
    done = evenhand(
        "mitigate",
        "swap",
        corpus,
        "--out",
        out,
        "--only",
        "occupations",
        "--names",
        "swap",
        "--name-finder",
        "lists",
        "--paired",
        "--json",
    )
    account = json.loads(done.out)
    assert account["options"] == {
        "names": "swap",
        "only": "occupations",
        "paired": True,
        "biology": False,
        "sample": None,
        "seed": 0,
    }
    assert account["names found by"].endswith("capital letters")
    assert sum("twin_premise" in row for row in read(out)) == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--lang", "xx"), "unknown language 'xx'"),
        (("--lang", "ko"), "'ko' .*cannot be swapped; known: en, ja, zh"),
        (("--out", "o.txt"), "'.txt' is no form that is written"),
    ],
)
def test_the_command_refuses_in_one_line(corpus: Path, words: tuple[str, ...], reason: str) -> None:
    import re

    done = evenhand("mitigate", "swap", corpus, "--out", corpus.with_name("out.jsonl"), *words)
    assert done.code == 2 and re.search(reason, done.err) and "Traceback" not in done.err


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    done = evenhand("mitigate", "swap", tmp_path / "empty.jsonl", "--out", tmp_path / "out.jsonl")
    assert done.code == 2 and "empty.jsonl: the file is empty" in done.err


def test_a_sample_for_a_reader_is_drawn_by_its_seed(tmp_path: Path) -> None:
    path, out = tmp_path / "many.jsonl", tmp_path / "sample.jsonl"
    texts = [f"A man holds {n} balls." for n in range(40)] + ["A dog runs."]
    write_corpus(path, [Pair(text, "He plays.", "neutral") for text in texts])
    samples = []
    for seed in ("1", "1", "2"):
        words = ("--out", out, "--sample", "5", "--seed", seed)
        assert evenhand("mitigate", "swap", path, *words).code == 0
        samples.append(out.read_text(encoding="utf-8"))
    assert samples[0] == samples[1] != samples[2]
    rows = [json.loads(line) for line in samples[0].splitlines()]
    assert len(rows) == 5 and len({row["premise"] for row in rows}) == 5
    for row in rows:
        assert row["twin_premise"] == row["premise"].replace("A man", "A woman")
        assert row["twin_hypothesis"] == "She plays."


def test_pairs_of_named_persons_are_counted(tmp_path: Path) -> None:
    path, out = tmp_path / "named.jsonl", tmp_path / "out.jsonl"
    pairs = [
        ("They saw Poirot raise his hat.", "He greeted."),
        ("A man raised his hat.", "He did."),
    ]
    write_corpus(path, [Pair(*pair, "neutral") for pair in pairs])
    report = swap_file(path, ENGLISH, out)
    assert report.swapped == 1 and report.unswapped == {"named person": 1}
