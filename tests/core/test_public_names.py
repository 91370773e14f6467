"""The Python interface: everything public is listed, and every parameter is documented."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from published_runs import run_of

import evenhand as eh
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, MeasureError, UnknownNameError
from evenhand.report.plot import Plot

THREE = [(0.8, 0.1, 0.1), (0.1, 0.8, 0.1)]


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function and class of the interface, with the methods of a run."""
    for name in eh.__all__:
        value = getattr(eh, name)
        if callable(value):
            yield name, value
    for name in dir(eh.measures):
        yield f"measures.{name}", getattr(eh.measures, name)
    run = type(run_of("stereotyped"))
    for name in ("save", "plot", "to_polars", "to_pandas", "estimate", "baseline", "breakdown"):
        yield f"Run.{name}", getattr(run, name)


def test_every_public_parameter_is_named_in_the_documentation() -> None:
    missing = {}
    for name, value in public():
        text = inspect.getdoc(value) or ""
        parameters = [p for p in inspect.signature(value).parameters if p != "self"]
        absent = [p for p in parameters if not re.search(rf"\b{p}\b", text)]
        if absent or not text:
            missing[name] = absent
    assert missing == {}


def test_dir_shows_everything_public() -> None:
    assert set(dir(eh)) == set(eh.__all__)
    assert "function" in dir(eh) and "audit" in dir(eh)
    assert set(dir(eh.measures)) == set(catalog.measures())
    for name in eh.__all__:
        assert getattr(eh, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'audti'"):
        _ = eh.audti


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: eh.measures.nli_coal(THREE, ["PS", "XX"]), "stratum 'XX' in row 2"),
        (lambda: eh.measures.fraction_neutral(THREE, ["PS", "XX"]), "stratum 'XX' in row 2"),
        (lambda: eh.measures.stereotype_effect(THREE, THREE, ["male", "m"]), "lean 'm' in row 2"),
        (lambda: eh.measures.default_effect(THREE, THREE, ["male", "m"]), "lean 'm' in row 2"),
        (
            lambda: eh.measures.stereotype_preference([0.1, 0.2], [0.3, 0.4], ["male", "m"]),
            "majority 'm' in row 2",
        ),
        (
            lambda: eh.measures.dominated_preference([0.1, 0.2], [0.3, 0.4], ["male", "m"]),
            "lean 'm' in row 2",
        ),
        (
            lambda: eh.measures.profession_stereotype_effect([(1, 0), (0, 1)], ["male", "m"]),
            "lean 'm' in row 2",
        ),
        (lambda: eh.measures.lms_esp_discrete([3], [0], [1]), "label 3; labels are 0"),
        (lambda: eh.measures.two_way_accuracy(THREE, ["neutral", "x"]), "gold label 'neutral'"),
    ],
)
def test_unknown_strata_and_labels_raise(call: Callable[[], float], reason: str) -> None:
    with pytest.raises(MeasureError) as refused:
        call()
    assert reason in str(refused.value)


def test_a_run_is_saved_and_read_back(tmp_path: Path) -> None:
    run = run_of("stereotyped")
    page = run.save(tmp_path / "run")
    assert page == tmp_path / "run" / "report.html" and page.is_file()
    assert eh.read(tmp_path / "run").estimates == run.estimates
    run.save(str(tmp_path / "run"))  # the same run again
    other = run_of("random")
    with pytest.raises(EvenhandError, match="holds another run; name another folder, or set ov"):
        other.save(tmp_path / "run")
    assert eh.read(tmp_path / "run").answers.respondent == run.answers.respondent
    other.save(tmp_path / "run", overwrite=True)
    assert eh.read(tmp_path / "run").answers.respondent == other.answers.respondent


def test_a_run_is_drawn(tmp_path: Path) -> None:
    run = run_of("stereotyped")
    plot = run.plot()
    assert isinstance(plot, Plot) and plot.chart.name == "scores"
    picture = plot._repr_svg_()
    assert picture.startswith("<svg ") and "NLI-CoAL" in picture
    assert repr(plot).startswith("<Plot 'Scores with intervals against fair")
    assert plot.save(tmp_path / "scores.svg").read_text(encoding="utf-8") == picture
    with pytest.raises(EvenhandError, match=r"\.svg, \.pdf, \.png"):
        plot.save(tmp_path / "scores.gif")
    with pytest.raises(UnknownNameError, match="scores"):
        run.plot("score")
    assert run.plot("occupations").chart.name == "occupations"
