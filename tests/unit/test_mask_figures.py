"""The figure of people and models side by side."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np
import pytest

from evenhand.core.errors import EvenhandError
from evenhand.report.html import figure_page
from evenhand.report.people import correlation, means_by, people_figure
from evenhand.report.picture import save_figure


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
