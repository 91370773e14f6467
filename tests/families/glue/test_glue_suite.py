"""GLUE's files are read as GLUE writes them, and what is broken is refused by row."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from glue_files import write_glue

import evenhand as eh
from evenhand.core import account
from evenhand.core.errors import EvenhandError, EvenhandWarning
from evenhand.core.probe import Probe
from evenhand.core.protocols import RespondentOptions, SuiteOptions
from evenhand.core.settings import Settings
from evenhand.engine.ask import Asking, ask_suite
from evenhand.engine.estimate import estimate
from evenhand.engine.suites import load_suite
from evenhand.families.glue.measures import (
    TASK_NAMES,
    TWO_WAY_ACCURACY,
    ZERO_SHOT_ACCURACY,
    ZERO_SHOT_AVERAGE,
)
from evenhand.families.glue.suite import SUITE
from evenhand.respondents.locate import open_respondent

MNLI = (
    "index promptID pairID genre sentence1_binary_parse sentence2_binary_parse sentence1_parse "
    "sentence2_parse sentence1 sentence2 label1 gold_label"
).split()


def mnli_row(number: str, prompt: str, genre: str, *texts: str) -> list[str]:
    """A row of MNLI: premise, hypothesis and gold label among columns that are not read."""
    *sentences, gold = texts
    parses = ["( )", "( )", "(ROOT)", "(ROOT)"]
    return [number, prompt, f"{prompt}x", genre, *parses, *sentences, "neutral", gold]


# GLUE's own heads around sentences of our own; the quotation marks are as open as GLUE's often are
FILES: dict[str, tuple[str, list[list[str]]]] = {
    "mnli": (
        "MNLI/dev_matched.tsv",
        [
            MNLI,
            mnli_row("0", "9", "travel", '"It rains, he said.', "It is wet.", "entailment"),
            mnli_row("1", "9", "travel", '"It rains, he said.', "She spoke.", "contradiction"),
            mnli_row("2", "8", "fiction", "A dog runs.", "It is old.", "-"),
            mnli_row("3", "8", "fiction", "A dog runs.", 'It is "big".', "neutral"),
        ],
    ),
    "rte": (
        "RTE/dev.tsv",
        [
            ["index", "sentence1", "sentence2", "label"],
            ["0", "A dog runs.", "An animal moves.", "entailment"],
            ["1", "A dog runs.", 'It is "big.', "not_entailment"],
        ],
    ),
    "qnli": (
        "QNLI/dev.tsv",
        [
            ["index", "question", "sentence", "label"],
            ["0", "Who runs?", "A dog runs.", "entailment"],
            ["1", "Who {sentence}?", "It rains.", "not_entailment"],
        ],
    ),
    "qqp": (
        "QQP/dev.tsv",
        [
            ["id", "qid1", "qid2", "question1", "question2", "is_duplicate"],
            ["7", "1", "2", "Why is it so?", "Why so?", "1"],
            ["8", "3", "4", 'What is "it"?', "Who is it?", "0"],
        ],
    ),
    "sst2": (
        "SST-2/dev.tsv",
        [["sentence", "label"], ["a joy to watch ", "1"], ["` dull and long '' ", "0"]],
    ),
    "cola": (
        "CoLA/dev.tsv",
        [["gj04", "1", "", "The dog ran."], ["gj04", "0", "*", "Dog the ran."]],
    ),
}
PAIRS = {
    "mnli": [
        ('"It rains, he said.', "It is wet.", "entailment"),
        ('"It rains, he said.', "She spoke.", "contradiction"),
        ("A dog runs.", 'It is "big".', "neutral"),
    ],
    "rte": [
        ("A dog runs.", "An animal moves.", "entailment"),
        ("A dog runs.", 'It is "big.', "not_entailment"),
    ],
    "qnli": [
        ("A dog runs.", "The answer to Who runs?", "entailment"),
        ("It rains.", "The answer to Who {sentence}?", "not_entailment"),
    ],
    "qqp": [
        ("Why so?'s answer", "Why is it so?'s answer", "entailment"),
        ("Who is it?'s answer", 'What is "it"?\'s answer', "not_entailment"),
    ],
    "sst2": [
        ("a joy to watch", "The movie is good", "entailment"),
        ("` dull and long ''", "The movie is good", "not_entailment"),
    ],
    "cola": [
        ("The dog ran.", "The sentence is grammatical", "entailment"),
        ("Dog the ran.", "The sentence is grammatical", "not_entailment"),
    ],
}


FILES["mnli-mm"] = ("MNLI/dev_mismatched.tsv", FILES["mnli"][1])
PAIRS["mnli-mm"] = PAIRS["mnli"]


def write(folder: Path, task: str, *, name: str = "", rows: list[list[str]] | None = None) -> Path:
    path = folder / (name or FILES[task][0])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "\n".join("\t".join(row) for row in rows or FILES[task][1]) + "\n", encoding="utf-8"
    )
    return path


def built(task: str, data: Path) -> tuple[Probe, ...]:
    return SUITE.build("en", SuiteOptions(variant=task, data=data)).probes


def refusal(task: str, data: Path | None) -> str:
    with pytest.raises(EvenhandError) as refused:
        SUITE.build("en", SuiteOptions(variant=task, data=data))
    return str(refused.value)


@pytest.mark.parametrize("folder", ["", "glue"])
@pytest.mark.parametrize("task", TASK_NAMES)
def test_a_task_is_read_as_pairs(tmp_path: Path, task: str, folder: str) -> None:
    write(tmp_path / folder, task)
    probes = built(task, tmp_path)
    assert [(*p.texts, p.tags["gold"]) for p in probes] == PAIRS[task]
    stratum = "zero-shot" if task.startswith("mnli") else "two-way"
    assert {(p.kind, p.stratum, p.language, p.tags["task"]) for p in probes} == {
        ("pair", stratum, "en", task)
    }
    assert len({p.id for p in probes}) == len(probes)
    assert len({p.cluster for p in probes}) == len({p.texts[0] for p in probes})
    assert {p.cluster for p in probes} <= {p.id for p in probes}
    suite = load_suite(f"glue:{task}", "en", SuiteOptions(data=tmp_path))
    assert suite.card.name == ("glue" if task == "mnli" else f"glue:{task}")
    assert suite.probes == probes
    answers = ask_suite(open_respondent("fixed:fair", "pair", RespondentOptions()), suite)
    fair = estimate(ZERO_SHOT_ACCURACY, suite, answers, Settings(resamples=100))
    assert fair.value == 1.0 and {p.value for p in fair.parts.values()} == {1.0}
    assert set(fair.parts) == {f"recall.{gold}" for _, _, gold in PAIRS[task]}


def test_items_with_one_premise_are_one_cluster(tmp_path: Path) -> None:
    write(tmp_path, "mnli")
    assert [p.cluster for p in built("mnli", tmp_path)] == ["en/mnli/2", "en/mnli/2", "en/mnli/5"]
    assert [p.tags["genre"] for p in built("mnli", tmp_path)] == ["travel", "travel", "fiction"]


def test_line_ends_of_windows_change_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "qnli")
    plain = built("qnli", tmp_path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert built("qnli", tmp_path) == plain


@pytest.mark.parametrize("folder", ["", "nli"])
def test_mnli_and_rte_are_also_read_as_jsonl(tmp_path: Path, folder: str) -> None:
    for task, name in (("mnli", "en.mnli-dev-matched.jsonl"), ("rte", "en.rte-dev.jsonl")):
        (tmp_path / folder).mkdir(exist_ok=True)
        rows = [json.dumps({"premise": p, "hypothesis": h, "label": g}) for p, h, g in PAIRS[task]]
        (tmp_path / folder / name).write_text("\n".join(rows), encoding="utf-8")
        assert [(*p.texts, p.tags["gold"]) for p in built(task, tmp_path)] == PAIRS[task]
    (tmp_path / folder / name).write_text(
        '{"premise": "A dog.", "label": "entailment"}', encoding="utf-8"
    )
    assert "row 1: hypothesis missing or empty" in refusal("rte", tmp_path)
    write(tmp_path, "rte")  # GLUE's own file comes first
    assert [(*p.texts, p.tags["gold"]) for p in built("rte", tmp_path)] == PAIRS["rte"]


def test_the_real_pairs_are_read(data: Path) -> None:
    probes = built("mnli", data)
    assert len(probes) == 9814 and len({p.cluster for p in probes}) == 3334
    assert Counter(p.tags["gold"] for p in probes) == {
        "entailment": 3478,
        "contradiction": 3213,
        "neutral": 3123,
    }


def test_a_test_split_has_no_labels(tmp_path: Path) -> None:
    assert "GLUE's RTE/dev.tsv is not on this machine. Download" in refusal("rte", None)
    assert "has no RTE/dev.tsv. Download" in refusal("rte", tmp_path)
    write(tmp_path / "glue", "rte", name="RTE/test.tsv")
    assert "RTE: has test.tsv but no dev.tsv: GLUE's test files have no labels" in refusal(
        "rte", tmp_path
    )
    write(tmp_path, "rte", rows=[row[:3] for row in FILES["rte"][1]])
    message = (
        "dev.tsv, row 1: no column label (found: index, sentence1, sentence2); "
        "GLUE's test files have no labels; give the dev file"
    )
    assert message in refusal("rte", tmp_path)
    write(tmp_path, "rte", rows=[FILES["rte"][1][0], ["0", "A.", "B.", "-1"]])
    assert (
        "row 2: label '-1' is none of entailment, not_entailment; a test split has no labels"
        in refusal("rte", tmp_path)
    )
    write(tmp_path, "cola", rows=[["index", "sentence"], ["0", "A dog."]])
    message = (
        "row 1: 2 columns, expected 4 (source, label, star, sentence); "
        "GLUE's test files have no labels"
    )
    assert message in refusal("cola", tmp_path)


def test_a_broken_file_is_named_by_row(tmp_path: Path) -> None:
    write(tmp_path, "rte", rows=FILES["sst2"][1])
    message = (
        "row 1: no column sentence1, sentence2 (found: sentence, label); "
        "is this GLUE's RTE/dev.tsv?"
    )
    assert message in refusal("rte", tmp_path)
    write(tmp_path, "rte", rows=[*FILES["rte"][1], ["2", "A dog."]])
    assert "row 4: 2 columns, expected 4" in refusal("rte", tmp_path)
    write(tmp_path, "rte", rows=[*FILES["rte"][1], ["2", "A dog.", " ", "entailment"]])
    assert "row 4: an empty text" in refusal("rte", tmp_path)
    write(tmp_path, "mnli", rows=[FILES["mnli"][1][0], FILES["mnli"][1][3]])
    assert "has no item with a label" in refusal("mnli", tmp_path)


def test_broken_rows_of_qqp_are_left_out_with_a_warning(tmp_path: Path) -> None:
    write(
        tmp_path,
        "qqp",
        rows=[*FILES["qqp"][1], ["9", "5", "6", "Half a row"], ["9", "5", "6", "", "Why?", "1"]],
    )
    with pytest.warns(EvenhandWarning, match=r"2 broken rows are left out \(4, 5\)"):
        assert [(*p.texts, p.tags["gold"]) for p in built("qqp", tmp_path)] == PAIRS["qqp"]


def test_the_default_model_understands_real_pairs_far_better_than_a_rule(data: Path) -> None:
    suite = load_suite("glue", "en", SuiteOptions(data=data), limit=120)
    settings = Settings(resamples=200)
    run = eh.audit("default", suite, settings=settings, asking=Asking(cache=False))
    (score,) = run.estimates
    assert score.measure == "zero_shot_accuracy" and score.value > 0.55 and score.coverage == 1.0
    assert all(rule.value < 0.5 for rules in run.baselines.values() for rule in rules)
    assert score.clusters == 120 and score.low < score.value < score.high  # a premise each


def test_all_tasks_that_are_there_are_one_suite(tmp_path: Path) -> None:
    for task in ("rte", "mnli", "cola"):
        write(tmp_path, task)
    with pytest.warns(
        EvenhandWarning, match="no files of mnli-mm, qnli, qqp and sst2: the average"
    ):
        suite = load_suite("glue:all", "en", SuiteOptions(data=tmp_path))
    assert suite.card.name == "glue:all"
    assert suite.card.source == "GLUE, MNLI/dev_matched.tsv, RTE/dev.tsv, CoLA/dev.tsv"
    own = [p for task in ("mnli", "rte", "cola") for p in built(task, tmp_path)]
    assert list(suite.probes) == own and suite.strata == {"zero-shot", "two-way"}
    answers = ask_suite(open_respondent("fixed:fair", "pair", RespondentOptions()), suite)
    for measure in (ZERO_SHOT_ACCURACY, TWO_WAY_ACCURACY, ZERO_SHOT_AVERAGE):
        assert estimate(measure, suite, answers, Settings(resamples=50)).value == 1.0
    assert "has no MNLI/dev_matched.tsv" in refusal("all", tmp_path / "nowhere")


def test_data_may_name_the_file_of_a_task(tmp_path: Path) -> None:
    path = write(tmp_path, "rte").rename(tmp_path / "mine.tsv")
    assert [(*p.texts, p.tags["gold"]) for p in built("rte", path)] == PAIRS["rte"]
    assert "is one file; glue:all reads a folder" in refusal("all", path)


def test_real_pairs_in_the_form_of_glue_are_those_of_the_other_form(
    data: Path, tmp_path: Path
) -> None:
    folder = write_glue(tmp_path, data / "nli", 150)
    for task in ("mnli", "mnli-mm", "rte"):
        assert len(built(task, folder)) == 150
    texts = [(*p.texts, p.tags["gold"]) for p in built("mnli", folder)]
    plain = [(*p.texts, p.tags["gold"]) for p in built("mnli", data)[:150]]
    assert texts == [(" ".join(a.split()), " ".join(b.split()), gold) for a, b, gold in plain]


def test_the_default_model_decides_real_pairs_two_ways(data: Path, tmp_path: Path) -> None:
    folder = write_glue(tmp_path, data / "nli", 16)
    with pytest.warns(EvenhandWarning, match="no files of"):
        suite = load_suite("glue:all", "en", SuiteOptions(data=folder))
    run = eh.audit("default", suite, settings=Settings(resamples=50), asking=Asking(cache=False))
    scores = {e.measure: e for e in run.estimates}
    assert list(scores) == ["zero_shot_accuracy", "two_way_accuracy", "zero_shot_average"]
    average, two_way = scores["zero_shot_average"], scores["two_way_accuracy"]
    tasks = {name: part.value for name, part in average.parts.items()}
    assert set(tasks) == {"task.mnli", "task.mnli-mm", "task.rte"}
    assert tasks["task.rte"] == pytest.approx(two_way.value) and two_way.value > 0.5
    assert average.value == pytest.approx(sum(tasks.values()) / 3)
    assert "On average over 3 tasks the model is right on" in account.verdict(run, average)
    assert "Between entailment and contradiction alone" in account.verdict(run, two_way)
