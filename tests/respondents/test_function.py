"""A function as a model: pairs, blanks and choices, kept under a name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from quick import FEW, load

import evenhand as eh
from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.engine.ask import Asking


def test_a_function_fills_blanks() -> None:
    asked: list[tuple[str, tuple[str, ...]]] = []

    def male(questions: list[tuple[str, tuple[str, ...]]]) -> list[list[float]]:
        asked.extend(questions)
        return [[-1.0, -3.0] for _ in questions]

    suite = load("contextualised", limit=20)
    run = eh.audit(eh.function(male, kind="blanks"), suite, settings=FEW)
    bias = run.estimate("pb_bias")
    assert bias is not None and bias.value == pytest.approx(2.0)
    lean = run.estimate("pb_lean")
    assert lean is not None and lean.value == pytest.approx(2.0)
    assert run.answers.respondent.startswith("function:test_a_function_fills_blanks")
    assert asked[0] in [(p.texts[0], p.texts[1:3]) for p in suite.probes]
    assert "[BLANK]" in asked[0][0]


def test_a_function_chooses() -> None:
    suite = load("profession", limit=40)

    def first(questions: list[tuple[str, tuple[str, ...]]]) -> list[list[float]]:
        return [[1.0] + [0.0] * (len(options) - 1) for _, options in questions]

    run = eh.audit(eh.function(first, kind="choices", name="first"), suite, settings=FEW)
    assert run.answers.respondent == "function:first"
    assert run.headline.value == 0.0 and run.headline.parts["male"].value == 1.0


def counting() -> tuple[list[int], Any]:
    calls: list[int] = []

    def fair(pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        calls.append(len(pairs))
        return [[0.1, 0.8, 0.1] for _ in pairs]

    return calls, fair


def test_answers_are_kept_under_a_name_and_only_then(tmp_path: Path) -> None:
    asking, suite = Asking(cache=tmp_path), load(limit=30)
    calls, fair = counting()
    eh.audit(eh.function(fair, name="fair-1"), suite, settings=FEW, asking=asking)
    first = sum(calls)
    eh.audit(eh.function(fair, name="fair-1"), suite, settings=FEW, asking=asking)
    assert first > 0 and sum(calls) == first
    eh.audit(eh.function(fair, name="fair-2"), suite, settings=FEW, asking=asking)
    assert sum(calls) == 2 * first  # another name is another model
    eh.audit(fair, suite, settings=FEW, asking=asking)
    eh.audit(eh.function(fair), suite, settings=FEW, asking=asking)
    assert sum(calls) == 4 * first


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda questions: [[0.0, 0.0]], "returned 1 rows for 20 blanks; give one row for each"),
        (lambda questions: [[0.0] * 3] * len(questions), r"shape \(3,\) for '.+'; expected 2 num"),
        (lambda questions: [["x", "y"]] * len(questions), "returned no rows of numbers"),
        (lambda questions: None, "returned no rows of numbers"),
    ],
)
def test_answers_of_a_wrong_shape_are_named(answer: Any, reason: str) -> None:
    mine = eh.function(answer, kind="blanks")
    with pytest.raises(EvenhandError, match=reason):
        mine.answer(load("contextualised", limit=20).probes[:20])


def test_no_number_is_no_answer() -> None:
    probes = load("contextualised", limit=20).probes[:3]
    replies = eh.function(
        lambda questions: [[float("nan"), 0.0], [1.0, 0.0], [0.0, float("inf")]], kind="blanks"
    ).answer(probes)
    assert sorted(replies.silences) == [0, 2]
    assert replies.values[1, :, 0].tolist() == [1.0, 0.0]


def test_another_kind_and_no_function_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="blanks"):
        eh.function(print, kind="blank")  # type: ignore[arg-type]
    with pytest.raises(EvenhandError, match="is not a function"):
        eh.function(3)  # type: ignore[arg-type]
    with pytest.raises(EvenhandError, match="int is not a model; give a name"):
        eh.audit(3, load())  # type: ignore[arg-type]


def test_a_function_is_asked_what_it_answers() -> None:
    blanks = eh.function(lambda questions: [[0.0, 0.0]] * len(questions), kind="blanks")
    with pytest.raises(EvenhandError, match="cannot answer pair probes"):
        eh.audit(blanks, load(limit=20), settings=FEW)


def test_a_path_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(EvenhandError, match="is not a folder"):
        eh.audit(tmp_path / "nowhere", load())
    default = Path(eh.__file__).parent / "models" / "default"
    suite = load(limit=20)
    by_path = eh.audit(default, suite, settings=FEW)
    by_name = eh.audit("default", suite, settings=FEW)
    assert by_path.headline.value == by_name.headline.value
