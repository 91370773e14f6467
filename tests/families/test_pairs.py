"""Label shares of pairs are estimated before a report, as a whole and by lean and gender word."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from pair_answers import TWO_LABELS, given, noise

from evenhand.core.evidence import label_shares, probabilities
from evenhand.core.probe import NLI_LABELS, Floats, Probe
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.pairs import (
    StratumRule,
    break_down_labels,
    cell_name,
    counted_labels,
    examine_occupations,
    examine_strata,
    label_answers,
    sentence_frame,
)
from evenhand.stats.bootstrap import cluster_totals, generator
from evenhand.stats.intervals import interval


def suite_of(count: int = 60) -> Suite:
    probes = tuple(
        Probe(
            id=f"p{i}",
            kind="pair",
            language="en",
            texts=(f"Premise {i}.", f"Hypothesis {i}."),
            stratum="PS" if i % 3 else "",
            cluster=f"c{i % 7}",
            tags={"gold": "neutral"} if i % 2 else {},
        )
        for i in range(count)
    )
    card = SuiteCard(
        name="made",
        version="1",
        language="en",
        source="",
        licence="",
        citation="",
        description="",
    )
    return Suite(card=card, probes=probes)


def test_shares_are_resampled_by_cluster() -> None:
    suite = suite_of()
    table = noise(suite.probes)
    table[5] = np.nan
    settings = Settings(seed=3, level=0.9, resamples=77)
    views = examine_strata(suite, given(suite, table), settings)
    assert [(v.measure, v.by) for v in views] == [(f"share of {n}", "stratum") for n in NLI_LABELS]
    rows = [i for i, p in enumerate(suite.probes) if p.stratum == "PS"]
    shares = label_shares(table[rows])
    totals = cluster_totals(shares, [suite.probes[i].cluster for i in rows])
    for column, (label, view) in enumerate(zip(NLI_LABELS, views, strict=True)):
        group = view.group("PS")
        assert group is not None and group.probes == len(rows) - 1

        def share(sums: Floats, column: int = column) -> Floats:
            return np.asarray(sums[..., column] / sums.sum(axis=-1))

        expected = interval(
            totals,
            share,
            generator(3, f"PS.{label}"),
            replace(settings, resamples=2000, method="percentile"),
            (0.0, 1.0),
        )
        assert tuple(group.interval) == pytest.approx(tuple(expected))
        assert group.interval.value == float(shares[:, column].sum()) / (len(rows) - 1)
        assert 0 <= group.interval.low < group.interval.value < group.interval.high <= 1
        assert view.group("") is not None  # probes without a stratum are a group too


def test_shares_by_lean_and_gender_word() -> None:
    leans = {"female": "female", "male": "male", "none": "none", "unknown": ""}
    probes = tuple(
        Probe(
            id=f"{lean}/{gender}/{i}",
            kind="pair",
            language="en",
            texts=(f"Premise {lean} {i}.", f"Hypothesis {gender} {i}."),
            stratum="PS",
            cluster=f"{lean}{i}",
            tags={"gender": gender} | ({"lean": tag} if tag else {}),
        )
        for lean, tag in leans.items()
        for gender in ("male", "female", "nonbinary")
        for i in range(4)
    )
    suite = Suite(card=suite_of().card, probes=probes)
    table = noise(probes)
    every = examine_occupations(suite, given(suite, table), Settings())
    views = [v for v in every if v.by != "stratum"]
    assert [v.by for v in views] == ["lean and gender word"] * 3
    for column, view in enumerate(views):
        cells = {g.name: g for g in view.groups}
        assert list(cells) == sorted(
            cell_name(lean, gender)
            for lean in ("female", "male", "none")
            for gender in ("male", "female")
        )
        for lean in ("female", "male", "none"):
            for gender in ("male", "female"):
                rows = [
                    i
                    for i, p in enumerate(probes)
                    if (p.tags.get("lean"), p.tags["gender"]) == (lean, gender)
                ]
                shares = [int(np.argmax(table[i])) == column for i in rows]
                group = cells[cell_name(lean, gender)]
                assert group.probes == 4
                assert group.interval.value == pytest.approx(sum(shares) / 4)
    plain = suite_of()
    without = examine_occupations(plain, given(plain, noise(plain.probes)), Settings())
    assert {v.by for v in without} == {"stratum"}


def test_probes_without_a_group_are_left_out() -> None:
    suite = suite_of()
    views = break_down_labels(
        suite,
        given(suite, noise(suite.probes)),
        Settings(),
        "gold",
        lambda probe: probe.tags.get("gold"),
    )
    assert {g.name for v in views for g in v.groups} == {"neutral"}
    assert sum(v.groups[0].interval.value for v in views) == pytest.approx(1)


@pytest.mark.parametrize(
    ("reading", "labels", "expected"),
    [
        (StratumRule(title="", label="entailment"), NLI_LABELS, ("entailment",)),
        (
            StratumRule(title="", label="neutral", is_other=True),
            NLI_LABELS,
            ("entailment", "contradiction"),
        ),
        (StratumRule(title="", label="entailment", is_other=True), TWO_LABELS, ("not_entailment",)),
        (StratumRule(title="", label="contradiction"), TWO_LABELS, ()),
        (None, NLI_LABELS, ()),
    ],
)
def test_which_labels_count(
    reading: StratumRule | None, labels: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert counted_labels(reading, labels) == expected


def test_probabilities_of_logits() -> None:
    table = probabilities(np.asarray([[0.0, 0.0, 0.0], [1000.0, 0.0, -1000.0], [math.nan, 0, 0]]))
    assert table[0] == pytest.approx([1 / 3] * 3)
    assert table[1] == pytest.approx([1, 0, 0])
    assert np.isnan(table[2]).all()


def test_the_labels_of_an_answer_share_a_bar() -> None:
    answers = label_answers(TWO_LABELS, [0.25, 0.75], ["not_entailment"])
    assert [(a.label, a.text, a.share, a.mark, a.is_chosen) for a in answers] == [
        ("entailment", "entailment 0.250", 0.25, "entailment", False),
        ("not entailment", "not entailment 0.750", 0.75, "neutral", True),
    ]


def test_a_frame_as_people_read_it() -> None:
    assert sentence_frame("{a} feeds ducks.") == "[…] feeds ducks."
    assert sentence_frame("{}の人") == "[…]の人"
