"""The numbers of a mitigation are those of the answers; what cannot work is refused first."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import evenhand
from mitigations import make_mitigation

from evenhand.core.answers import Answers, Replies
from evenhand.core.corpora import Pair, read_corpus
from evenhand.core.errors import EvenhandError, InputError, LabelError, UnknownNameError
from evenhand.core.probe import NLI_LABELS, Kind, Probe
from evenhand.core.settings import Settings
from evenhand.engine.suites import load_suite
from evenhand.mitigate import run
from evenhand.mitigate.anchors import AnchorPlan
from evenhand.mitigate.compare import (
    AskedSuite,
    ask_all,
    compare_models,
    default_suites,
    held_out_suite,
)
from evenhand.mitigate.records import ACCURACY, BEFORE, Mitigation, read_mitigation
from evenhand.mitigate.run import MitigationOptions, mitigation_recipe, prepare
from evenhand.train.corpus import write_corpus
from evenhand.train.recipes import RecipeChanges


class Teller:
    """Says entailment to a share of the gendered hypotheses, neutral to the rest.

    Knows every gold label but of each `wrong`-th pair.
    """

    kinds: frozenset[Kind] = frozenset({"pair"})
    traits: Mapping[str, str] = {}
    is_cacheable = False
    reads_tags = True

    def __init__(self, name: str, every: int, wrong: int) -> None:
        self.identity, self.every, self.wrong = f"{name}@unknown", every, wrong
        self.labels: tuple[str, ...] = NLI_LABELS

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        return self.labels

    def answer(self, probes: Sequence[Probe]) -> Replies:
        values = np.zeros((len(probes), 1, 3))
        for (row,), probe in zip(values, probes, strict=True):
            number = sum(map(ord, "".join(probe.texts)))
            gold = probe.tags.get("gold")
            if gold:
                row[(NLI_LABELS.index(gold) + (number % self.wrong == 0)) % 3] = 5
            else:
                is_entailed = number % self.every == 0 or probe.tags["gender"] == "nonbinary"
                row[0 if is_entailed else 1] = 5
        return Replies(values=values)


def share(answers: Answers, stratum: str, label: int) -> float:
    table = answers.values[:, 0]
    rows = [v for p, v in zip(answers.probes, table, strict=True) if p.stratum == stratum]
    return float(np.mean([v.argmax() == label for v in rows]))


def coal(answers: Answers) -> float:
    return (share(answers, "PS", 0) + share(answers, "AS", 2) + 1 - share(answers, "NS", 1)) / 3


def test_values_and_changes_are_those_of_the_answers() -> None:
    suite = load_suite("occupation-nli", "en")
    pairs = tuple(
        Pair(f"premise {i // 3}", f"hypothesis {i}", NLI_LABELS[i % 3]) for i in range(300)
    )
    held_out = held_out_suite("dev", pairs, "dev.jsonl", "en")
    tellers = {BEFORE: Teller("a", 2, 5), "none": Teller("b", 2, 4), "anchors": Teller("c", 7, 4)}
    anchors = tuple({p.cluster for p in suite.probes if p.cluster < "m"})
    answered = ask_all(
        [(name, partial(tellers.__getitem__, name)) for name in tellers],
        [
            AskedSuite(name="occupation-nli", part="all", suite=suite),
            AskedSuite(name="dev", part="dev", suite=held_out),
        ],
        AnchorPlan(occupations=anchors, unseen=(), frames=()),
    )
    assert [(a.name, a.part) for a in answered] == [
        ("occupation-nli", "all"),
        ("occupation-nli", "unseen"),
        ("dev", "dev"),
    ]
    settings = Settings(permutations=200, resamples=200)
    compared = compare_models(answered, list(tellers), settings)
    record = Mitigation(
        model="m",
        identity="m@1",
        language="en",
        level=0.95,
        tests=compared.tests,
        settings={},
        scores=compared.scores,
        changes=compared.changes,
    )
    for asked in answered[:2]:
        values = [coal(answers) for answers in asked.answers]
        for value, name in zip(values, tellers, strict=True):
            score = record.score("occupation-nli", asked.part, "nli_coal", name)
            assert score is not None and score.value == pytest.approx(value, abs=1e-12)
            assert score.low <= score.value <= score.high
        for against, first in ((BEFORE, 0), ("none", 1)):
            change = record.change("occupation-nli", asked.part, "nli_coal", "anchors", against)
            assert change is not None
            assert change.value == pytest.approx(values[2] - values[first], abs=1e-12)
            assert change.low < change.value < change.high < 0
            assert change.nearer_high < 0 and change.adjusted < 0.05
    gold = [NLI_LABELS.index(p.label) for p in pairs]
    right = [float((a.values[:, 0].argmax(axis=1) == gold).mean()) for a in answered[2].answers]
    change = record.change("dev", "dev", ACCURACY, "anchors")
    assert change is not None and change.value == pytest.approx(right[2] - right[0], abs=1e-12)
    assert change.low < change.value < change.high
    same = record.change("dev", "dev", ACCURACY, "anchors", "none")
    assert same is not None and (same.value, same.low, same.high, same.p) == (0, 0, 0, 1)
    assert {s.measure for s in record.scores if s.part == "all"} == {
        "nli_coal",
        "fraction_neutral",
        "person_entailment",
    }
    finite = sum(np.isfinite(c.p) for c in record.changes if c.against == BEFORE)
    assert record.tests == finite


def test_the_first_measures_of_a_family_are_compared() -> None:
    suite = load_suite("gendered-entailment", "en", limit=60)
    tellers = {BEFORE: Teller("a", 2, 5), "swap": Teller("b", 3, 4)}
    answered = ask_all(
        [(name, partial(tellers.__getitem__, name)) for name in tellers],
        [AskedSuite(name="gendered-entailment", part="all", suite=suite)],
        None,
    )
    compared = compare_models(answered, list(tellers), Settings(permutations=100, resamples=100))
    assert list(dict.fromkeys(s.measure for s in compared.scores)) == [
        "entailment_gap",
        "same_label",
        "stereotype_preference",
    ]


def test_held_out_pairs_of_one_premise_are_one_cluster() -> None:
    pairs = (
        Pair("p", "h", "neutral"),
        Pair("p", "i", "entailment"),
        Pair("q", "h", "neutral"),
    )
    held_out = held_out_suite("d", pairs, "d.jsonl", "en")
    assert [p.cluster for p in held_out.probes] == ["p", "p", "q"]
    assert [p.tags["gold"] for p in held_out.probes] == ["neutral", "entailment", "neutral"]


def test_the_suites_that_are_asked_come_from_the_catalog() -> None:
    assert default_suites("en") == ["occupation-nli", "gendered-entailment"]
    assert default_suites("en", is_published=True) == ["nli-coal", "sharma2021"]


def test_a_record_comes_back_from_its_file(tmp_path: Path) -> None:
    record = make_mitigation()
    nan = float("nan")
    lost = dataclasses.replace(record.scores[0], low=nan, high=nan, note="one cluster only")
    record = dataclasses.replace(record, scores=(lost, *record.scores[1:]))
    path = tmp_path / "mitigation.json"
    path.write_text(json.dumps(record.to_json(), allow_nan=False), encoding="utf-8")
    back = read_mitigation(path)
    assert np.isnan(back.scores[0].low)
    assert back.scores[1:] == record.scores[1:]
    assert back.changes == record.changes
    assert (back.asked, back.trained) == (record.asked, record.trained)
    assert dict(back.occupations) == dict(record.occupations)
    path.write_text('{"model": 1}', encoding="utf-8")
    with pytest.raises(InputError, match="is no record of `evenhand mitigate run`"):
        read_mitigation(path)


def test_a_corpus_is_read_as_it_was_written(tmp_path: Path) -> None:
    pairs = (
        Pair("A man.", "„x“\u2028y", "neutral", ("A woman.", "„x“\u2028y")),
        Pair("b", "c", "contradiction"),
    )
    write_corpus(tmp_path / "c.jsonl", pairs)
    assert read_corpus(tmp_path / "c.jsonl").pairs == pairs


def test_the_recipe_is_gentle_and_takes_changes() -> None:
    gentle = mitigation_recipe()
    assert (gentle.name, gentle.epochs, gentle.is_best_kept) == ("mitigate", 1, True)
    assert gentle.learning_rate < mitigation_recipe("polished").learning_rate
    assert mitigation_recipe("nli-coal", RecipeChanges(epochs=2)).epochs == 2


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MitigationOptions:
    monkeypatch.setattr(run, "open_model", lambda *_: Teller("m", 2, 4))
    monkeypatch.setattr(run, "require_packages", lambda: None)
    for name, count in (("train", 30), ("dev", 12)):
        pairs = [Pair(f"{name} {i}", "h", NLI_LABELS[i % 3]) for i in range(count)]
        write_corpus(tmp_path / f"{name}.jsonl", pairs)
    return MitigationOptions(
        model="default",
        train=(tmp_path / "train.jsonl",),
        dev=(tmp_path / "dev.jsonl",),
        out=tmp_path / "out",
    )


def test_what_cannot_work_is_refused_first(
    options: MitigationOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases: list[tuple[dict[str, Any], type[EvenhandError], str]] = [
        ({"methods": "none,swop"}, UnknownNameError, "Did you mean swap"),
        ({"anchors": 0.0}, EvenhandError, "anchors is 0; give a number above 0 and at most 1"),
        ({"pairing": -1.0}, EvenhandError, "pairing is -1; give a number above 0"),
        ({"seeds": 0}, EvenhandError, "seeds is 0; give at least 1"),
        ({"language": "ko", "methods": "swap"}, EvenhandError, r"'ko' .*cannot be swapped"),
        ({"dev": options.train}, InputError, "is the same file as"),
        ({"dev": (tmp_path / "none.jsonl",)}, InputError, "there is no such file"),
        ({"language": "xx"}, UnknownNameError, "unknown language 'xx'"),
        (
            {"suites": ("sharma2021",), "data": tmp_path},
            InputError,
            "SNLI_Evaluation_Set.xlsx",
        ),
        ({"suites": ("occupation",)}, UnknownNameError, "Did you mean"),
    ]
    for changes, kind, text in cases:
        with pytest.raises(kind, match=text):
            prepare(dataclasses.replace(options, **changes))
    with pytest.raises(EvenhandError, match="level is 95"):
        Settings(level=95.0)
    two = Teller("two", 2, 4)
    two.labels = ("entailment", "not_entailment")
    monkeypatch.setattr(run, "open_model", lambda *_: two)
    reason = "two@unknown gives entailment, not_entailment; mitigation starts from an NLI model"
    with pytest.raises(LabelError, match=reason):
        prepare(options)
    assert not options.out.exists()


def test_without_torch_it_is_said_at_once_what_to_install(
    options: MitigationOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "torch", None)
    files = ("--train", options.train[0], "--dev", options.dev[0], "--out", options.out)
    done = evenhand("mitigate", "run", "default", *files)
    assert (done.code, done.out) == (2, "")
    assert "training needs torch and transformers (" in done.err
    assert "pip install 'evenhand[train]'" in done.err and done.err.count("\n") == 1
    assert not options.out.exists()
