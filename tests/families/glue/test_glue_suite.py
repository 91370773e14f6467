"""Are GLUE's files read as GLUE writes them, and is an item right when it is right?"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import evenhand as eh
from evenhand.core.errors import EvenhandError, EvenhandWarning, MeasureError
from evenhand.core.probe import NLI_LABELS, Floats, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.engine.audit import load_suite, question
from evenhand.engine.estimating import estimate
from evenhand.measures.understanding import MEASURE, zero_shot_accuracy
from evenhand.respondents.fixed import FixedRespondent
from evenhand.families.glue.suite import SUITE

MNLI = "index promptID pairID genre sentence1_binary_parse sentence2_binary_parse sentence1_parse sentence2_parse sentence1 sentence2 label1 gold_label".split()
# GLUE's own heads around sentences of our own; the quotation marks are as open as GLUE's often are
FILES: dict[str, tuple[str, list[list[str]]]] = {
    "mnli": (
        "MNLI/dev_matched.tsv",
        [
            MNLI,
            [
                "0",
                "9",
                "9c",
                "travel",
                "( )",
                "( )",
                "(ROOT)",
                "(ROOT)",
                '"It rains, he said.',
                "It is wet.",
                "neutral",
                "entailment",
            ],
            [
                "1",
                "9",
                "9n",
                "travel",
                "( )",
                "( )",
                "(ROOT)",
                "(ROOT)",
                '"It rains, he said.',
                "She spoke.",
                "neutral",
                "contradiction",
            ],
            [
                "2",
                "8",
                "8n",
                "fiction",
                "( )",
                "( )",
                "(ROOT)",
                "(ROOT)",
                "A dog runs.",
                "It is old.",
                "neutral",
                "-",
            ],
            [
                "3",
                "8",
                "8e",
                "fiction",
                "( )",
                "( )",
                "(ROOT)",
                "(ROOT)",
                "A dog runs.",
                'It is "big".',
                "neutral",
                "neutral",
            ],
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
@pytest.mark.parametrize("task", SUITE.variants)
def test_a_task_is_read_as_pairs(tmp_path: Path, task: str, folder: str) -> None:
    write(tmp_path / folder, task)
    probes = built(task, tmp_path)
    assert [(*p.texts, p.tags["gold"]) for p in probes] == PAIRS[task]
    assert {(p.kind, p.stratum, p.language, p.tags["task"]) for p in probes} == {
        ("pair", "zero-shot", "en", task)
    }
    assert len({p.id for p in probes}) == len(probes)
    assert len({p.cluster for p in probes}) == len({p.texts[0] for p in probes}) and {
        p.cluster for p in probes
    } <= {p.id for p in probes}
    suite = load_suite(f"glue:{task}", "en", data=tmp_path)
    assert (
        suite.card.name == ("glue" if task == "mnli" else f"glue:{task}") and suite.probes == probes
    )
    fair = estimate(
        MEASURE, suite, question(FixedRespondent("fair"), suite, cache=False), resamples=100
    )
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
    message = "dev.tsv, row 1: no column label (found: index, sentence1, sentence2); GLUE's test files have no labels; give the dev file"
    assert message in refusal("rte", tmp_path)
    write(tmp_path, "rte", rows=[FILES["rte"][1][0], ["0", "A.", "B.", "-1"]])
    assert (
        "row 2: label '-1' is none of entailment, not_entailment; a test split has no labels"
        in refusal("rte", tmp_path)
    )
    write(tmp_path, "cola", rows=[["index", "sentence"], ["0", "A dog."]])
    assert (
        "row 1: 2 columns, expected 4 (source, label, star, sentence); GLUE's test files have no labels"
        in refusal("cola", tmp_path)
    )


def test_a_broken_file_is_named_by_row(tmp_path: Path) -> None:
    write(tmp_path, "rte", rows=FILES["sst2"][1])
    assert (
        "row 1: no column sentence1, sentence2 (found: sentence, label); is this GLUE's RTE/dev.tsv?"
        in refusal("rte", tmp_path)
    )
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


def slow_accuracy(values: Floats, gold: list[str]) -> float:
    """Item by item: which labels are on top, and which of them are right?"""
    scores = []
    for row, told in zip(values.tolist(), gold, strict=True):
        if not all(np.isfinite(row)) or told not in (*NLI_LABELS, "not_entailment"):
            continue
        names = NLI_LABELS if len(row) == 3 else ("entailment", "not_entailment")
        said = [name for name, value in zip(names, row, strict=True) if value == max(row)]
        exact = len(row) == 3 and told != "not_entailment"
        right = [
            name == told if exact else (name == "entailment") == (told == "entailment")
            for name in said
        ]
        scores.append(sum(right) / len(said))
    return sum(scores) / len(scores) if scores else float("nan")


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_accuracy_is_what_counting_one_by_one_gives(labels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, size=(200, labels)).astype(np.float64)  # many ties
    values[rng.random(200) < 0.1] = np.nan
    gold = [str(g) for g in rng.choice([*NLI_LABELS, "not_entailment", "nonsense"], 200)]
    assert zero_shot_accuracy(values, gold) == pytest.approx(slow_accuracy(values, gold), abs=1e-12)
    probes = [
        Probe(
            id=str(i),
            kind="pair",
            language="en",
            texts=("a", "b"),
            stratum="zero-shot",
            tags={"gold": g},
        )
        for i, g in enumerate(gold)
    ]
    parts = MEASURE.parts(MEASURE.evidence(probes, values).sum(axis=0))
    assert set(parts) == {f"recall.{c}" for c in (*NLI_LABELS, "not_entailment")}
    for name, value in parts.items():
        mine = [g if g == name.partition(".")[2] else "" for g in gold]
        assert float(value) == pytest.approx(slow_accuracy(values, mine), abs=1e-12)


def test_single_items_by_hand() -> None:
    assert zero_shot_accuracy(
        [[0, 1, 0], [0, 0, 1], [1, 0, 0]], ["not_entailment"] * 3
    ) == pytest.approx(2 / 3)
    assert (
        zero_shot_accuracy([[0, 1, 1]], ["not_entailment"]) == 1.0
    )  # a tie between two right labels is right
    assert zero_shot_accuracy([[1, 1, 0]], ["not_entailment"]) == 0.5
    assert zero_shot_accuracy([[1, 1, 1]], ["not_entailment"]) == pytest.approx(2 / 3)
    assert zero_shot_accuracy([[0, 1]], ["neutral"]) == 1.0
    assert np.isnan(zero_shot_accuracy(np.empty((0, 3)), [])) and np.isnan(
        zero_shot_accuracy([[1, 0, 0]], ["unknown"])
    )
    with pytest.raises(MeasureError, match="1 rows of probabilities but 2 gold labels"):
        zero_shot_accuracy([[1, 0, 0]], ["neutral", "neutral"])


def test_the_default_model_understands_real_pairs_far_better_than_a_rule(data: Path) -> None:
    run = eh.audit("default", suite="glue", data=data, limit=120, resamples=200, cache=False)
    (found,) = run.estimates
    assert found.measure == "zero_shot_accuracy" and found.value > 0.55 and found.coverage == 1.0
    assert all(rule.value < 0.5 for rules in run.baselines.values() for rule in rules)
    assert found.clusters < 120 and found.low < found.value < found.high
