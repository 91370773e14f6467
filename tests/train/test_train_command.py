"""`evenhand train nli` reads the published forms and refuses what would waste hours."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest
from commands import evenhand, files_in
from training_room import write

from evenhand.core.corpora import Pair, read_corpus
from evenhand.core.errors import EvenhandError, InputError
from evenhand.train.corpus import read_pairs
from evenhand.train.recipes import EMBEDDED, NAMED, find_recipe

GOOD = '{"premise": "a", "hypothesis": "b", "label": "neutral"}'
PAIRS = [Pair("A man runs .", "He moves", "entailment"), Pair("She sings", "It rains", "neutral")]
FORMS = {
    "own.jsonl": (
        '{"premise": "A man runs .", "hypothesis": "He moves", "label": "entailment"}',
        '{"premise": "She sings", "hypothesis": "It rains", "label": "neutral"}',
    ),
    "snli.jsonl": (
        '{"gold_label": "entailment", "sentence1": "A man runs .", "sentence2": "He moves", '
        '"annotator_labels": ["neutral"]}',
        '{"gold_label": "-", "sentence1": "A", "sentence2": "B"}',
        '{"gold_label": "neutral", "sentence1": "She sings", "sentence2": "It rains"}',
    ),
    "ocnli.json": (
        '{"level": "easy", "sentence1": "A man runs .", "sentence2": "He moves", '
        '"label": "entailment", "label0": "neutral"}',
        '{"sentence1": "She sings", "sentence2": "It rains", "label": "neutral"}',
        '{"sentence1": "x", "sentence2": "y", "label": "-"}',
    ),
    "jsnli.tsv": ("entailment\tA man runs .\tHe moves", "neutral\tShe sings\tIt rains"),
    "glue.tsv": (
        "index\tsentence1\tsentence2\tgold_label",
        "0\tA man runs .\tHe moves\tentailment",
        "1\tShe sings\tIt rains\tneutral",
        '2\t"A\tB\t-',
    ),
    "snli.txt": (
        "gold_label\tsentence1\tsentence2\tlabel1\tlabel2",
        "entailment\tA man runs .\tHe moves\tentailment\t\t",
        "neutral\tShe sings\tIt rains\tneutral\t",
    ),
    "anli.jsonl": (
        '{"context": "A man runs .", "hypothesis": "He moves", "label": "e"}',
        '{"context": "She sings", "hypothesis": "It rains", "label": "n"}',
    ),
    "table.csv": (
        "label,premise,hypothesis",
        "Entailment,A man runs .,He moves",
        'neutral,"She sings",It rains',
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_published_form_is_read(tmp_path: Path, name: str) -> None:
    text = "\n".join(FORMS[name]) + "\n"
    corpus = read_corpus(write(tmp_path / name, text))
    assert list(corpus.pairs) == PAIRS
    undecided = int(name in ("snli.jsonl", "ocnli.json", "glue.tsv"))
    assert corpus.undecided == undecided
    file = corpus.describe()
    assert file["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert (file["rows"], file["pairs"]) == (2 + undecided, 2)
    assert file["left out"] == ({"label -": 1} if undecided else {})


def test_words_of_jsnli_stay_apart(tmp_path: Path) -> None:
    path = write(
        tmp_path / "train_w_filtering.tsv",
        "contradiction\t自転車 で 2 人 の 男性 が 競い ます 。\t「 人々 は 寝て い ます 。\n",
    )
    assert read_pairs([path]) == [
        Pair(
            "自転車 で 2 人 の 男性 が 競い ます 。", "「 人々 は 寝て い ます 。", "contradiction"
        )
    ]


def test_the_real_files_are_read_whole(data: Path) -> None:
    for name, count in (
        ("ja.jsnli-dev", 3916),
        ("zh.ocnli-dev", 2950),
        ("en.mnli-dev-matched", 9814),
    ):
        path = data / "nli" / f"{name}.jsonl"
        assert (
            len(read_pairs([path]))
            == sum(1 for line in path.read_text(encoding="utf-8").split("\n") if line)
            == count
        )


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        (
            "a.jsonl",
            GOOD + '\n{"premise": "a", "label": "neutral"}\n',
            "row 2: .*'hypothesis' is missing",
        ),
        (
            "a.jsonl",
            GOOD + '\n{"premise": "a", "hypothesis": "b"}\n',
            "row 2: .*'label' is missing",
        ),
        (
            "a.jsonl",
            GOOD + '\n{"premise": "a", "hypothesis": "b", "label": "maybe"}\n',
            "row 2: label 'maybe' is none of",
        ),
        (
            "a.jsonl",
            GOOD + '\n{"premise": "a", "hypothesis": "b", "label": 2}\n',
            "row 2: label 2 is none of .*write the names",
        ),
        (
            "a.jsonl",
            GOOD + '\n{"premise": "a", "hypothesis": "b", "label": "not_entailment"}\n',
            "row 2: .*two labels; three are needed",
        ),
        (
            "a.jsonl",
            GOOD + '\n{"premise": " ", "hypothesis": "b", "label": "neutral"}\n',
            "row 2: the premise is empty",
        ),
        (
            "a.jsonl",
            GOOD + '\n{"premise": "a", "hypothesis": null, "label": "neutral"}\n',
            "row 2: the hypothesis is empty",
        ),
        (
            "a.jsonl",
            GOOD + '\n{"premise": ["a"], "hypothesis": "b", "label": "neutral"}\n',
            "row 2: the premise is no text",
        ),
        ("a.jsonl", '{"sentence1": "a", "sentence2": "b", "label": "-"}\n', "has no labelled pair"),
        ("a.tsv", "neutral\ta\tb\nneutral\ta\n", "row 2: has 2 columns where 3 are due"),
        ("a.tsv", "neutral\ta\tb\nneutral\t\tb\n", "row 2: the premise is empty"),
        (
            "a.tsv",
            "one\ttwo\tthree\nneutral\ta\tb\n",
            "row 1: .*'hypothesis' is missing.*without a head the columns are label, premise",
        ),
        ("a.parquet", "PAR1", "'.parquet' is not a known form"),
    ],
)
def test_a_bad_training_row_is_named(tmp_path: Path, name: str, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=f"{name}.*{reason}"):
        read_pairs([write(tmp_path / name, text)])


def test_recipes_are_those_of_the_papers_and_the_own_ones_are_untouched() -> None:
    decisions = {
        name: (r.epochs, r.learning_rate, r.batch_size, r.max_length, r.form)
        for name, r in NAMED.items()
    }
    assert decisions == {
        "nli-coal": (5, 2e-5, 32, 128, "pair"),
        "sharma": (3, 2e-5, 32, 128, "pair"),
        "sharma-1e-5": (3, 1e-5, 32, 128, "pair"),
        "supposition": (3, 2e-5, 32, 128, "clean"),
        "plain": (4, 1e-4, 32, 128, "pair"),
        "layered": (4, 2e-4, 32, 128, "pair"),
        "polished": (1, 6e-5, 32, 128, "pair"),
    }
    sharma = find_recipe("sharma")
    assert (sharma.beta1, sharma.beta2, sharma.weight_decay, sharma.average, sharma.patience) == (
        0.9,
        0.999,
        0.01,
        0.0,
        0,
    )
    assert not set(EMBEDDED) & set(NAMED)  # they name files of their own
    assert all(not recipe.repeats and not recipe.start for recipe in NAMED.values())
    with pytest.raises(EvenhandError, match=r"unknown recipe 'sharme'\. Did you mean sharma"):
        find_recipe("sharme")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files to train on, and something that looks like an encoder."""
    monkeypatch.chdir(tmp_path)
    rows = [
        json.dumps({"premise": f"p{i}", "hypothesis": "h", "label": label})
        for i, label in enumerate(("entailment", "neutral", "contradiction"))
    ]
    write(tmp_path / "train.jsonl", "\n".join(rows))
    write(tmp_path / "dev.jsonl", rows[0])
    write(tmp_path / "two.jsonl", "\n".join(rows[:2]))
    for name, files in (
        ("enc", ("config.json", "model.safetensors", "vocab.txt")),
        ("mute", ("config.json", "model.safetensors")),
    ):
        (tmp_path / name).mkdir()
        for file in files:
            write(tmp_path / name / file, "{}")
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"--recipe": "supposed"},
            "unknown recipe 'supposed'. Did you mean supposition or polished?",
        ),
        ({"--epochs": "0"}, "epochs is 0; give a number of at least 1"),
        ({"--batch-size": "0"}, "batch size is 0; give a number of at least 1"),
        (
            {"--learning-rate": "-1e-5"},
            "learning rate is -1e-05; give a number between 0 and 1, such as 2e-5",
        ),
        ({"--supposition": "cleen"}, "unknown form 'cleen'. Did you mean clean?"),
        ({"--dev": "nowhere.jsonl"}, "nowhere.jsonl: there is no such file"),
        ({"--train": "nowhere.jsonl"}, "nowhere.jsonl: there is no such file"),
        (
            {"--train": "two.jsonl"},
            "two.jsonl: no row is labelled contradiction; three labels are needed",
        ),
        ({"--encoder": "./nowhere"}, "unknown model './nowhere': there is no such folder"),
        ({"--encoder": "mute"}, "mute is no encoder that can be trained: it has no tokenizer"),
        (
            {"--encoder": "defualt"},
            "unknown model 'defualt': there is no such folder. Did you mean default?",
        ),
        (
            {"--lora-alpha": "16"},
            "lora alpha is 16, but there is no rank; give --lora RANK too, such as --lora 8",
        ),
        ({"--pairing": "nan"}, "pairing is nan; give a number of at least 0"),
        (
            {"--pairing": "1"},
            "train.jsonl: no row has a twin (twin_premise and twin_hypothesis), "
            "which --pairing compares with: make them with",
        ),
        ({"--out": "train.jsonl/x"}, "cannot write train.jsonl"),
    ],
)
def test_what_would_waste_hours_is_said_at_once(
    place: Path, changes: dict[str, str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.train.require_packages", lambda: None)
    before = files_in(place)
    words = {
        "--encoder": "enc",
        "--train": "train.jsonl",
        "--dev": "dev.jsonl",
        "--out": "out",
        **changes,
    }
    done = evenhand("train", "nli", *(word for pair in words.items() for word in pair))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ") and reason in done.err and done.err.count("\n") == 1
    assert files_in(place) == before


@pytest.mark.parametrize("words", [("nli", "--encoder", "enc"), ("vectors",)])
def test_without_torch_it_is_said_at_once_what_to_install(
    place: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    before = files_in(place)
    files = ("--train", "train.jsonl", "--dev", "dev.jsonl", "--out", "out")
    done = evenhand("train", *words, *files)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: training needs torch and transformers (torch ")
    assert done.err.endswith("not installed): pip install 'evenhand[train]'\n")
    assert done.err.count("\n") == 1
    assert files_in(place) == before
