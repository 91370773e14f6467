"""How far a run is, on the disk while it is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand.core.errors import InputError
from evenhand.engine.asking_state import AskingState, kept_state, read_state, state_path


def silent(done: int, total: int, reused: int) -> None:
    pass


def test_the_state_is_on_the_disk_while_the_run_is_asked(tmp_path: Path) -> None:
    folder, seen = tmp_path / "run", []
    with kept_state(folder, "model", "suite") as keep:
        progress = keep(lambda *numbers: seen.append(numbers))
        assert not state_path(folder).exists()  # a model that does not load leaves nothing
        progress(0, 300, 0)
        state = read_state(state_path(folder))
        assert (state.model, state.suite, state.done, state.total) == ("model", "suite", 0, 300)
        assert state.state == "asking"
        progress(128, 300, 0)  # less than a second later: not written
        assert read_state(state_path(folder)).done == 0
        progress(300, 300, 0)
        assert read_state(state_path(folder)).done == 300
        assert read_state(state_path(folder)).state == "measuring"
        assert not folder.exists()
    assert list(tmp_path.iterdir()) == []
    assert seen == [(0, 300, 0), (128, 300, 0), (300, 300, 0)]


def test_a_run_that_failed_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError), kept_state(tmp_path / "run", "model", "suite") as keep:
        keep(silent)(5, 9, 0)
        raise ValueError
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_stopped_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt), kept_state(folder, "model", "suite") as keep:
        keep(silent)(5, 9, 0)
        raise KeyboardInterrupt
    state = read_state(state_path(folder))
    assert (state.state, state.done, state.total) == ("stopped", 5, 9)


def test_a_disk_that_refuses_does_not_stop_the_asking(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with kept_state(tmp_path / "file" / "run", "model", "suite") as keep:
        keep(silent)(1, 2, 0)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"model": 1, "suite": 2, "done": "x"}', " "])
def test_a_damaged_state_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".x.asking.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_state(path)


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / ".x.asking.json"
    fields = {"model": "m", "suite": "s", "done": 1, "total": 2, "state": "asking", "updated": 3}
    path.write_text(json.dumps(fields), encoding="utf-8")
    assert read_state(path) == AskingState(
        model="m", suite="s", done=1, total=2, state="asking", updated=3.0
    )
