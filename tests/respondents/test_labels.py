"""The order of labels: read where it is stated, found out where clear, refused where not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from models import TinyModel, open_model, write_model
from quick import Opening, load, quick_audit

from evenhand import lexicons
from evenhand.core.errors import LabelError, MeasureError
from evenhand.core.probe import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    NLI_LABELS,
    NOT_ENTAILMENT,
    Floats,
)
from evenhand.core.suite import read_suite, write_suite
from evenhand.respondents.labels import from_config, from_sanity, from_user, standard_label

ORDERS = list(itertools.permutations(range(3)))
Ask = Callable[[list[tuple[str, str]]], Floats]


def knowing(columns: tuple[int, ...], language: str = "en", wrong: int = 0, silent: int = 0) -> Ask:
    """A model that knows the sanity pairs (all but the first `wrong`); output columns[i] is i."""
    rows = lexicons.table(language, "sanity")
    gold = {(r["premise"], r["hypothesis"]): r["label"] for r in rows}

    def ask(pairs: list[tuple[str, str]]) -> Floats:
        values = np.zeros((len(pairs), len(columns)))
        for number, (row, pair) in enumerate(zip(values, pairs, strict=True)):
            label = min(NLI_LABELS.index(gold[pair]), len(columns) - 1)
            row[columns[(label + 1) % len(columns) if number < wrong else label]] = 5.0
        values[:silent] = np.nan
        return values

    return ask


@pytest.mark.parametrize(
    ("spelling", "label"),
    [
        ("entailment", ENTAILMENT),
        ("ENTAILMENT", ENTAILMENT),
        ("Entail", ENTAILMENT),
        ("entails", ENTAILMENT),
        (" entailed ", ENTAILMENT),
        ("E", ENTAILMENT),
        ("含意", ENTAILMENT),
        ("蕴含", ENTAILMENT),
        ("蕴涵", ENTAILMENT),
        ("0_entailment", ENTAILMENT),
        ("NEUTRAL", NEUTRAL),
        ("Neutral", NEUTRAL),
        ("n", NEUTRAL),
        ("neither", NEUTRAL),
        ("中立", NEUTRAL),
        ("无关", NEUTRAL),
        ("contradiction", CONTRADICTION),
        ("CONTRADICTION", CONTRADICTION),
        ("contradictory", CONTRADICTION),
        ("c", CONTRADICTION),
        ("矛盾", CONTRADICTION),
        ("not_entailment", NOT_ENTAILMENT),
        ("not entailment", NOT_ENTAILMENT),
        ("Not-Entailed", NOT_ENTAILMENT),
        ("non-entailment", NOT_ENTAILMENT),
        ("LABEL_0", None),
        ("label 2", None),
        ("0", None),
        ("positive", None),
        ("", None),
        ("entailmentish", None),
    ],
)
def test_spellings(spelling: str, label: str | None) -> None:
    assert standard_label(spelling) == label


@pytest.mark.parametrize(
    "names",
    [
        ("ENTAILMENT", "Neutral", "contradiction"),
        ("含意", "中立", "矛盾"),
        ("蕴含", "无关", "矛盾"),
        ("e", "n", "c"),
    ],
)
@pytest.mark.parametrize("columns", ORDERS)
def test_the_config_is_read_in_any_order(names: tuple[str, ...], columns: tuple[int, ...]) -> None:
    order = from_config({column: names[i] for i, column in enumerate(columns)}, 3)
    assert order is not None
    assert (order.labels, order.columns, order.how) == (NLI_LABELS, columns, "config")
    assert str(order) == f"e{columns[0]}n{columns[1]}c{columns[2]}"


def test_a_generic_config_says_nothing() -> None:
    assert from_config({0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, 3) is None
    assert from_config({}, 3) is None


@pytest.mark.parametrize(
    "names",
    [
        {0: "entailment", 1: "LABEL_1", 2: "LABEL_2"},
        {0: "entailment", 1: "entailment", 2: "neutral"},
        {0: "entailment", 1: "neutral"},
        {0: "entailment", 1: "neutral", 3: "contradiction"},
        {0: "entailment", 1: "not_entailment", 2: "neutral"},
    ],
)
def test_a_config_that_names_only_some_labels_is_refused_with_advice(names: dict[int, str]) -> None:
    with pytest.raises(
        LabelError, match="state them with --label-map entailment=0,neutral=1,contradiction=2"
    ):
        from_config(names, 3)


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
@pytest.mark.parametrize("columns", ORDERS)
def test_sanity_pairs_recover_every_order(columns: tuple[int, ...], language: str) -> None:
    order = from_sanity(knowing(columns, language, wrong=4), 3, language)
    assert order.columns == columns
    right = 1 - 4 / len(lexicons.table(language, "sanity"))
    assert order.how.startswith(f"sanity pairs {right:.0%} against ")


@pytest.mark.parametrize("columns", [(0, 1), (1, 0)])
def test_sanity_pairs_recover_the_order_of_two_labels(columns: tuple[int, ...]) -> None:
    order = from_sanity(knowing(columns), 2, "en")
    assert (order.labels, order.columns) == ((ENTAILMENT, NOT_ENTAILMENT), columns)


def test_a_model_at_chance_is_refused_with_the_evidence() -> None:
    def guess(pairs: list[tuple[str, str]]) -> Floats:
        return np.random.default_rng(1).normal(size=(len(pairs), 3))

    with pytest.raises(LabelError) as refused:
        from_sanity(guess, 3, "en")
    text = str(refused.value)
    assert "36 sanity pairs do not tell them apart" in text
    assert all(f"e{a}n{b}c{c} " in text for a, b, c in ORDERS)
    assert "--label-map entailment=0,neutral=1,contradiction=2" in text


@pytest.mark.parametrize("always", range(3))
def test_a_constant_model_is_refused(always: int) -> None:
    with pytest.raises(LabelError, match="33%"):
        from_sanity(lambda pairs: np.tile(np.eye(3)[always], (len(pairs), 1)), 3, "en")


def test_a_model_that_is_right_but_not_clearly_is_refused() -> None:
    assert from_sanity(knowing((2, 0, 1), wrong=9), 3, "en").columns == (2, 0, 1)
    with pytest.raises(LabelError, match="e2n0c1 72%"):
        from_sanity(knowing((2, 0, 1), wrong=10), 3, "en")


def test_sanity_pairs_without_an_answer_count_as_wrong() -> None:
    assert from_sanity(knowing((0, 1, 2), silent=9), 3, "en").columns == (0, 1, 2)
    with pytest.raises(LabelError, match="e0n1c2 72%"):
        from_sanity(knowing((0, 1, 2), silent=10), 3, "en")


@pytest.mark.parametrize(
    "label_map",
    [
        {"entailment": 0, "neutral": 0, "contradiction": 2},
        {"entailment": 0, "neutral": 1, "contradiction": 3},
        {"entailment": 0, "neutral": 1},
        {"entailment": 1, "neutral": 2, "contradiction": 3},
        {"entailment": 0, "Entail": 1, "neutral": 2},
        {},
    ],
)
def test_a_label_map_that_is_no_permutation_is_refused(label_map: dict[str, int]) -> None:
    with pytest.raises(
        LabelError,
        match="is not a permutation: give each of entailment, neutral, contradiction "
        "one of the numbers 0 to 2, once",
    ):
        from_user(label_map, 3)


def test_a_label_map_with_an_unknown_name_is_refused() -> None:
    with pytest.raises(
        LabelError, match="'positive' is none of entailment, neutral, contradiction"
    ):
        from_user({"positive": 0, "neutral": 1, "contradiction": 2}, 3)


def test_the_user_wins_over_the_config(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", labels=("entailment", "neutral", "contradiction"))
    respondent = open_model(folder, label_map={"contradiction": 0, "entailment": 1, "neutral": 2})
    assert respondent.order.columns == (1, 2, 0)
    assert respondent.traits["labels"] == "e1n2c0/user"


def test_id2label_against_label2id_is_refused(tmp_path: Path) -> None:
    turned = {"entailment": 2, "neutral": 1, "contradiction": 0}
    with pytest.raises(
        LabelError, match=r"id2label says e0n1c2 but label2id says e2n1c0; .*--label-map"
    ):
        open_model(write_model(tmp_path / "tiny", label2id=turned))
    agreeing = {"ENTAILMENT": 0, "NEUTRAL": 1, "CONTRADICTION": 2}
    assert open_model(write_model(tmp_path / "tiny", label2id=agreeing)).order.columns == (0, 1, 2)


def test_label2id_alone_suffices(tmp_path: Path) -> None:
    named = {"entailment": 2, "neutral": 0, "contradiction": 1}
    folder = write_model(
        tmp_path / "tiny", labels=("LABEL_0", "LABEL_1", "LABEL_2"), label2id=named
    )
    assert open_model(folder).traits["labels"] == "e2n0c1/config"


@pytest.mark.parametrize(
    "broken", [{"x": "entailment"}, ["entailment", "neutral", "contradiction"]]
)
def test_an_unreadable_id2label_is_a_label_error(tmp_path: Path, broken: object) -> None:
    with pytest.raises(LabelError, match=r"cannot be read .*--label-map"):
        open_model(write_model(tmp_path / "tiny", id2label=broken))


def test_a_generic_model_at_chance_is_refused_and_opens_with_a_map(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(LabelError, match="sanity pairs do not tell them apart"):
        open_model(folder)
    opened = open_model(folder, label_map={"e": 1, "n": 0, "c": 2})
    assert opened.traits["labels"] == "e1n0c2/user"


def test_two_label_models_are_recognised_and_measured_by_what_they_can_say(tmp_path: Path) -> None:
    model = TinyModel(outputs=2, seed=4)
    folder = write_model(tmp_path / "two", model, labels=("not_entailment", "entailment"))
    assert open_model(folder).labels_for("pair") == (ENTAILMENT, NOT_ENTAILMENT)
    run = quick_audit(str(folder))
    is_entailed = [
        model.forward(p.texts[0], p.texts[1]).argmax() == 1
        for p in run.suite.probes
        if p.stratum == "NB"
    ]
    assert [e.measure for e in run.estimates] == ["person_entailment"]
    assert run.estimates[0].value == pytest.approx(np.mean(is_entailed))
    assert 0 < np.mean(is_entailed) < 1


@pytest.mark.parametrize("measure", ["nli_coal", "fraction_neutral"])
def test_measures_that_need_three_labels_are_refused_for_two(tmp_path: Path, measure: str) -> None:
    folder = write_model(tmp_path / "two", labels=("entailment", "not_entailment"))
    with pytest.raises(
        MeasureError,
        match=f"{measure} needs the labels contradiction, entailment, neutral; the model gives "
        "entailment, not_entailment. Would work: person_entailment",
    ):
        quick_audit(str(folder), load(limit=30), Opening(measures=[measure]))


def test_a_suite_that_two_labels_say_nothing_about_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "two", labels=("entailment", "not_entailment"))
    whole = load()
    strict = replace(whole, probes=tuple(p for p in whole.probes if p.stratum != "NB"))
    write_suite(strict, tmp_path / "strict.jsonl")
    with pytest.raises(
        MeasureError,
        match=r"nli_coal, fraction_neutral cannot be computed on occupation-nli",
    ):
        quick_audit(str(folder), read_suite(tmp_path / "strict.jsonl"))


@pytest.mark.parametrize(
    "labels", [("a", "b", "c", "d"), ("entailment", "neutral", "contradiction", "other")]
)
def test_a_model_with_four_outputs_is_refused(tmp_path: Path, labels: tuple[str, ...]) -> None:
    with pytest.raises(LabelError, match="the model has 4 outputs"):
        open_model(write_model(tmp_path / "four", labels=labels))
