"""The chart of people and models side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenhand.core.errors import EvenhandError
from evenhand.people.density import correlation, density_chart, find_density, means_by_score
from evenhand.report.charts import save_chart


def test_people_and_models_side_by_side(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    people = np.repeat([-1.0, 0.0, 1.0], 40)
    model = people * 0.5 + rng.normal(size=120)
    r, p = correlation(people, model)
    assert r == pytest.approx(np.corrcoef(people, model)[0, 1])
    assert p < 0.001
    means = dict(means_by_score(people, model))
    assert means[1.0].value == pytest.approx(model[80:].mean())
    assert means[1.0].low < means[1.0].value < means[1.0].high
    series = [("one", people, model), ("two", people, -model), ("flat", people, np.zeros(120))]
    chart = density_chart(find_density(series))
    assert chart.panels[0].subtitle == f"r = {r:.3f}, p < 0.001"
    assert f"two: 120 sentences, r = {-r:.3f}" in chart.description
    assert "flat: 120 sentences, r = n/a" in chart.description
    for ending, head in ((".svg", b"<svg xmlns"), (".pdf", b"%PDF"), (".png", b"\x89PNG")):
        save_chart(chart, tmp_path / f"figure{ending}")
        assert (tmp_path / f"figure{ending}").read_bytes().startswith(head)
    assert b"var(" not in (tmp_path / "figure.svg").read_bytes()
    with pytest.raises(EvenhandError, match="ends in"):
        save_chart(chart, tmp_path / "figure.gif")


def test_lengths_that_differ_are_an_error() -> None:
    with pytest.raises(EvenhandError, match="2 scores of people but 1"):
        find_density([("odd", np.zeros(2), np.zeros(1))])
