"""The published annotators and models through `compare-people`: Zhu et al. 2024, section 4.4."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evenhand.core.settings import Settings
from evenhand.families.contextualised.published import FILE
from evenhand.people.compare import PeopleComparison, PeopleOptions, compare_people

Golden = Callable[[str], dict[str, Any]]
TABLE = "cgb_table1"


@pytest.fixture(scope="module")
def comparison(data: Path, golden: Golden) -> PeopleComparison:
    if not (data / "cgb" / FILE).exists():
        pytest.skip(f"{FILE} is not beside the project")
    models = [f"stored:{name}" for name in golden(TABLE)["models"]]
    options = PeopleOptions(data=data, count=3)
    return compare_people("cgb", models, options, Settings(resamples=200))


def test_the_annotators_agree_and_lean_as_printed(
    comparison: PeopleComparison, golden: Golden
) -> None:
    table = golden(TABLE)
    printed, near = table["annotators"], table["tolerance"]
    agreement = comparison.agreement
    assert agreement is not None
    for stratum, key in (("MS", "alpha_ms"), ("OS", "alpha_os")):
        alpha = agreement.alpha(stratum)
        assert alpha.interval.value == pytest.approx(printed[key], abs=near)
        assert alpha.interval.low < printed[key] < alpha.interval.high
        assert alpha.sentences == table["counts"][stratum]
    assert agreement.everybody.mean.value == pytest.approx(printed["ms_mean_fine"], abs=near)
    for side in ("male", "female", "neutral"):
        assert agreement.everybody.shares[side] == pytest.approx(printed[f"share_{side}"], abs=near)
    assert [
        round(agreement.everybody.shares[s] * 19785) for s in ("male", "female", "neutral")
    ] == [9362, 8428, 1995]


def test_people_agree_on_objective_sentences_and_hardly_on_measuring_ones(
    comparison: PeopleComparison,
) -> None:
    """Figure 3 of the paper has no numbers in its text; these are the file's own."""
    assert comparison.agreement is not None
    for pair in comparison.agreement.pairs:
        names = [comparison.people.names.index(n) for n in (pair.first, pair.second)]
        rows = [s == pair.stratum for s in comparison.people.strata]
        wanted = stats.pearsonr(*comparison.people.fine[names][:, rows])
        assert pair.pearson.value == pytest.approx(wanted.statistic)
        assert (pair.pearson.value > 0.9) is (pair.stratum == "OS")


def test_models_correlate_with_people_as_printed(
    comparison: PeopleComparison, golden: Golden
) -> None:
    table = golden(TABLE)
    assert [m.name for m in comparison.models] == list(table["models"])
    for model in comparison.models:
        printed = table["models"][model.name]
        assert model.pearson.interval.value == pytest.approx(
            printed["r_annotators"], abs=table["tolerance"]
        )
        assert model.accuracy.value == pytest.approx(printed["os_accuracy"], abs=table["tolerance"])
        assert (len(model.people), model.coverage, model.clusters) == (
            table["counts"]["MS"],
            1.0,
            19,
        )
        if "p_annotators" in printed:
            assert model.pearson.p_sentences == pytest.approx(
                printed["p_annotators"], abs=table["tolerance"]
            )
            assert model.pearson.p > 0.05
        else:
            assert model.pearson.p_sentences < 0.001
        assert np.abs(model.odds).mean() == pytest.approx(
            printed["ms_bias"], abs=table["tolerance"]
        )
