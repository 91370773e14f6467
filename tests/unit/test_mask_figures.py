"""Do the ratios, bars and axes of the reports on blanks hold, and the figure of people and models side by side?"""

from __future__ import annotations

import html
import math
from pathlib import Path

import numpy as np
import pytest

from evenhand.core.errors import EvenhandError
from evenhand.report.blanks import leaning_of, times
from evenhand.report.canvas import spanning
from evenhand.report.histogram import bars_of
from evenhand.report.html import figure_page
from evenhand.report.people import correlation, means_by, people_figure
from evenhand.report.picture import save_figure


@pytest.mark.parametrize(
    ("odds", "text"),
    [
        (0.0, "1.00"),
        (0.1, "1.11"),
        (-0.54, "1.7"),
        (3.0, "20"),
        (-8.39, "4,403"),
        (2000.0, "1.0e+304"),
    ],
)
def test_a_ratio_has_as_many_digits_as_it_needs(odds: float, text: str) -> None:
    assert times(odds) == text


def test_bars_hold_every_value_once() -> None:
    values = np.asarray([-9.0, -0.1, -0.05, 0.0, 0.05, 0.1, 0.3, 2.0])
    bars = bars_of(values, 0.1)
    assert sum(b.female + b.near + b.male for b in bars) == pytest.approx(1)
    assert sum(b.near for b in bars) == pytest.approx(3 / 8)
    found = leaning_of(values)
    assert (found.female, found.near, found.male) == (2 / 8, 3 / 8, 3 / 8)
    wide = bars_of(np.linspace(-30, 30, 100), 0.1)
    assert len(wide) < 64
    assert {round(b.high - b.low, 9) for b in wide} == {round(wide[0].high - wide[0].low, 9)}


def test_an_axis_from_data_has_zero_on_it() -> None:
    assert spanning([0.5, math.nan, math.inf, 2.0])[0] < 0
    assert spanning([0.5, 2.0], low=0.0)[0] == 0
    low, high = spanning([-3.0, -1.0])
    assert low < -3
    assert high > 0


def test_people_and_models_side_by_side(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    people = np.repeat([-1.0, 0.0, 1.0], 40)
    model = people * 0.5 + rng.normal(size=120)
    r, p = correlation(people, model)
    assert r == pytest.approx(np.corrcoef(people, model)[0, 1])
    means = dict(means_by(people, model))
    assert means[1.0].value == pytest.approx(model[80:].mean())
    assert means[1.0].low < means[1.0].value < means[1.0].high
    figure = people_figure(
        [("one", people, model), ("two", people, -model), ("flat", people, np.zeros(120))]
    )
    words = html.unescape(figure.wide)
    assert p < 0.001
    assert f"r = {r:.3f}, p < 0.001" in words
    assert f"two: 120 sentences, r = {-r:.3f}" in words
    assert "flat: 120 sentences, r = n/a" in words
    page = figure_page(figure)
    assert figure.wide in page
    assert figure.narrow in page
    for ending, head in ((".svg", b"<svg xmlns"), (".pdf", b"%PDF"), (".png", b"\x89PNG")):
        save_figure(figure, tmp_path / f"figure{ending}")
        assert (tmp_path / f"figure{ending}").read_bytes().startswith(head)
    assert b"var(" not in (tmp_path / "figure.svg").read_bytes()
    with pytest.raises(EvenhandError, match="ends in"):
        save_figure(figure, tmp_path / "figure.gif")
    with pytest.raises(EvenhandError, match="2 scores of people but 1"):
        people_figure([("odd", np.zeros(2), np.zeros(1))])
