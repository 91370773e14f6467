"""Probes, suites and answers as records."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

import numpy as np
import pytest

from evenhand.core.answers import Answers
from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.suite import Suite, SuiteCard

CARD = SuiteCard(
    name="s",
    version="1",
    language="en",
    source="here",
    licence="none",
    citation="none",
    description="none",
)
PROBE = Probe(
    id="a",
    kind="pair",
    language="ja",
    texts=("看護師が歩く。", "女性が歩く。"),
    stratum="PS",
    cluster="看護師",
    twin="b",
    tags={"z": "1", "a": "2"},
)


def changed(**fields: Any) -> Probe:
    return dataclasses.replace(PROBE, **fields)


def digest(*probes: Probe) -> str:
    return Suite(card=CARD, probes=probes).digest


def test_a_probe_comes_back_from_json() -> None:
    assert Probe.from_json(json.loads(json.dumps(PROBE.to_json()))) == PROBE
    assert list(PROBE.to_json()) == [
        "id",
        "kind",
        "language",
        "texts",
        "stratum",
        "cluster",
        "twin",
        "tags",
    ]
    assert list(PROBE.to_json()["tags"]) == ["a", "z"]


def test_how_many_options_are_answered() -> None:
    assert PROBE.option_count == 1
    assert changed(kind="mask", texts=("_ left.", "She", "He")).option_count == 2
    assert changed(kind="choice", texts=("context", "a", "b", "c", "d")).option_count == 4


def test_records_are_frozen_and_named() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PROBE.id = "b"  # type: ignore[misc]
    with pytest.raises(TypeError):
        Probe("a", "pair", "en", ("x", "y"))  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "c"},
        {"texts": ("看護師が歩く。", "男性が歩く。")},
        {"stratum": "AS"},
        {"cluster": "医師"},
        {"twin": None},
        {"tags": {"z": "1", "a": "3"}},
    ],
)
def test_the_digest_changes_with_any_part_of_a_probe(fields: dict[str, Any]) -> None:
    assert digest(changed(**fields)) != digest(PROBE)


def test_the_digest_depends_on_order_and_not_on_the_order_of_tags() -> None:
    assert digest(PROBE, changed(id="b")) != digest(changed(id="b"), PROBE)
    assert digest(changed(tags={"a": "2", "z": "1"})) == digest(PROBE)


def test_the_digest_is_that_of_the_canonical_line() -> None:
    """Written out here, because a change of it would make every printed signature incomparable."""
    line = (
        '{"cluster": "看護師", "id": "a", "kind": "pair", "language": "ja", '
        '"stratum": "PS", "tags": {"a": "2", "z": "1"}, '
        '"texts": ["看護師が歩く。", "女性が歩く。"], "twin": "b"}'
    )
    assert digest(PROBE) == hashlib.sha256(line.encode()).hexdigest()[:12]


def test_the_reference_names_version_digest_and_limit() -> None:
    assert Suite(card=CARD, probes=(PROBE,)).reference == f"s@1#{digest(PROBE)}"
    assert Suite(card=CARD, probes=(PROBE,), limit=5).reference == f"s@1#{digest(PROBE)}/5"


def test_coverage_is_the_share_that_was_answered() -> None:
    rows = np.asarray([[0.1, 0.2, 0.7], [np.nan, 0.5, 0.5], [np.nan] * 3, [1.0, 0, 0]])
    answers = Answers(
        respondent="r",
        suite="s",
        probes=(PROBE,) * 4,
        options=("hypothesis",),
        labels=NLI_LABELS,
        values=rows[:, None, :],
    )
    assert answers.coverage == 0.5
    assert answers.unanswered == {"no finite number": 2}
