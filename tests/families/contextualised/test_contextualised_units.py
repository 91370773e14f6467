"""PB of a discriminator, of people and of a mean per token has no unit in common with log-odds."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from masked_models import write_masked
from masked_probes import PROBES, suite_of
from quick import FEW

from evenhand.core.protocols import RespondentOptions
from evenhand.engine.audit import audit
from evenhand.engine.compare import ComparisonOptions, Difference, compare
from evenhand.families.contextualised.measures import unit_of_odds

LEANS = ("pb_bias", "pb_lean", "pb_sd")


def differences(first: Path, second: Path, length: str = "auto") -> dict[str, Difference]:
    suite = suite_of(tuple(p for p in PROBES if p.option_count == 2))
    runs = [
        audit(str(first), suite, settings=FEW).answers,
        audit(str(second), suite, opening=RespondentOptions(length=length), settings=FEW).answers,
    ]
    comparison = compare(runs, ComparisonOptions(suites=(suite,)), FEW)[0]
    return {d.measure: d for d in comparison.differences}


def test_a_discriminator_and_a_masked_model_have_no_p_value(tmp_path: Path) -> None:
    masked = write_masked(tmp_path / "bert")
    electra = write_masked(tmp_path / "electra", form="discriminator")
    found = differences(masked, electra)
    for name in LEANS:
        difference = found[name]
        assert math.isfinite(difference.reference.value)
        assert math.isfinite(difference.other.value)
        numbers = (*difference.difference, *difference.distance, difference.p, difference.adjusted)
        assert all(map(math.isnan, numbers))
        assert difference.note == (
            "no common unit (bert is in log-odds of words, electra is in replaced-token logits "
            "of a discriminator): there is no difference and no p value. "
            "Compare the models by a measure that is a share"
        )


def test_two_discriminators_are_compared(tmp_path: Path) -> None:
    first = write_masked(tmp_path / "one", form="discriminator")
    second = write_masked(tmp_path / "two", form="discriminator")
    found = differences(first, second)
    assert all(math.isfinite(found[name].p) for name in LEANS)


def test_words_and_tokens_have_no_common_unit(tmp_path: Path) -> None:
    folder = write_masked(tmp_path / "bert")
    assert all(
        "log-odds per token" in d.note
        for d in differences(folder, folder, length="mean").values()
        if d.measure in LEANS
    )
    by_sum = differences(folder, folder, length="sum")
    assert all(math.isfinite(by_sum[name].p) for name in LEANS)


@pytest.mark.parametrize(
    ("form", "length", "unit"),
    [
        ("plain", "auto", "log-odds of words"),
        ("plain", "mean", "log-odds per token"),
        ("discriminator", "auto", "replaced-token logits of a discriminator"),
    ],
)
def test_the_unit_comes_from_how_the_model_was_asked(
    tmp_path: Path, form: str, length: str, unit: str
) -> None:
    suite = suite_of(tuple(p for p in PROBES if p.option_count == 2)[:2])
    folder = str(write_masked(tmp_path / "model", form=form))
    run = audit(folder, suite, opening=RespondentOptions(length=length), settings=FEW)
    assert unit_of_odds(run.answers) == unit
