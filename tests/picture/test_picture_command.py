"""`evenhand picture`: its numbers, its figure, and what it refuses."""

from __future__ import annotations

import html
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import evenhand
from models import TinyModel, vocabulary, write_model
from picture_suites import make_suite

from evenhand.core.errors import LoadError
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.vectors import open_vectors

HAS_LEARNER = importlib.util.find_spec("sklearn") is not None
needs_learner = pytest.mark.skipif(not HAS_LEARNER, reason="needs the extra picture")
QUICK = ("--resamples", "100")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few words that the tiny model knows, in the form of the built-in suites."""
    from evenhand.engine import suites

    words = [w for w in vocabulary() if w.isalpha() and len(w) > 4]
    pairs = list(zip(words[:20:2], words[1:20:2], strict=True))
    jobs = [("nurse", "female"), ("carpenter", "male"), ("janitor", "none"), ("pilot", "male")]
    monkeypatch.setattr(suites, "load_suite", lambda name, *_: make_suite(pairs, jobs, sense=name))


@pytest.fixture
def models(tmp_path: Path) -> list[Path]:
    """Two classifiers."""
    return [
        write_model(tmp_path / name, TinyModel(seed=seed))
        for seed, name in enumerate(("one", "two"))
    ]


@needs_learner
@pytest.mark.usefixtures("small")
def test_two_models_side_by_side(models: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "picture.html"
    done = evenhand("picture", *models, "--words", "both", "--out", page, *QUICK, "--verbose")
    assert (done.code, done.err) == (0, "")
    for fields in (
        "one@",
        "two@",
        "SVM accuracy, words not seen",
        "in the plane, words not seen",
        "neighbours of own gender",
        "10 pairs",
    ):
        assert fields in done.out
    text = page.read_text(encoding="utf-8")
    assert text.count("<title>nurse (profession, 88.9 % women)") == 4  # two models in two widths
    assert text.count("<title>nurse (emotion)") == 4
    assert "may be chance, so none is drawn" in html.unescape(text)


@needs_learner
@pytest.mark.usefixtures("small")
def test_json_holds_every_word_and_is_the_same_for_the_same_seed(
    models: list[Path], tmp_path: Path
) -> None:
    first, second = (
        evenhand("picture", models[0], "--json", "--seed", "3", "--out", tmp_path / "p.svg", *QUICK)
        for _ in range(2)
    )
    assert first == second
    (fields,) = json.loads(first.out)
    assert (fields["seed"], fields["pairs"], fields["groups"], len(fields["words"])) == (
        3,
        10,
        10,
        24,
    )
    accuracy = fields["accuracy"]
    assert 0 <= accuracy["low"] <= accuracy["value"] <= accuracy["high"] <= 1
    assert fields["sorts"]["profession"]["words"] == 4
    assert {w["share_women"] for w in fields["words"] if w["sense"] == "male"} == {None}
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<svg xmlns")


@needs_learner
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("form", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_other_forms(models: list[Path], tmp_path: Path, form: str, start: bytes) -> None:
    assert evenhand("picture", models[0], "--out", tmp_path / f"p.{form}", *QUICK).code == 0
    assert (tmp_path / f"p.{form}").read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        (("default", "--words", "colours"), "--words is 'colours'; give profession, emotion, both"),
        (
            ("default", "--out", "p.docx"),
            "a picture cannot be written as 'p.docx'; "
            "name a file that ends in .html, .svg, .pdf, .png",
        ),
        pytest.param(
            ("fixed:random",),
            "'fixed:random' has no sentence vectors. Give a classifier",
            marks=needs_learner,
        ),
        pytest.param(
            ("default", "--lang", "xx"),
            "suite 'profession' has no language 'xx'",
            marks=needs_learner,
        ),
    ],
)
def test_refusals(
    words: tuple[str, ...], fields: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = evenhand("picture", *words)
    assert done.code == 2
    assert fields in done.err
    assert not list(tmp_path.iterdir())


def test_without_scikit_learn_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    find = importlib.util.find_spec

    def hide(name: str, *more: Any) -> Any:
        return None if name == "sklearn" else find(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", hide)
    done = evenhand("picture", "default", "--out", tmp_path / "p.html")
    assert (done.code, done.out) == (2, "")
    assert "pip install 'evenhand[picture]'" in done.err


def test_without_onnx_the_error_names_the_extra(
    models: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(LoadError, match=r"pip install 'evenhand\[picture\]'"):
        open_vectors(str(models[0]), RespondentOptions())
