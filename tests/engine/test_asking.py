"""Asking: every question once, answered in its place, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from models import Counting, numbered, pairs, truth, write_model
from quick import Opening, load, quick_audit

from evenhand.core.answers import Readings, Replies
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Floats, Probe
from evenhand.engine.ask import CHUNK, ask
from evenhand.engine.cache import AnswerCache


def expected(probes: Sequence[Probe]) -> Floats:
    return np.asarray([truth(p) for p in probes])[:, None, :]


def test_equal_probes_are_asked_once_and_all_of_them_answered() -> None:
    probes = pairs("A woman sleeps.", "A man sleeps.", "A woman sleeps.", "A woman sleeps.")
    respondent = Counting()
    values = ask(respondent, probes).values
    assert sorted(respondent.asked) == ["A man sleeps.", "A woman sleeps."]
    np.testing.assert_array_equal(values, expected(probes))


def test_a_probe_with_other_texts_is_another_question() -> None:
    probes = (*pairs("A woman sleeps."), *pairs("A woman sleeps.", premise="A baker sleeps."))
    respondent = Counting()
    ask(respondent, probes)
    assert len(respondent.asked) == 2


def test_order_is_kept_whatever_order_the_chunks_have(tmp_path: Path) -> None:
    probes = pairs(*(f"{'very ' * (i * 7 % 13)}late {i}" for i in range(CHUNK * 2 + 5)))
    respondent = Counting()
    cache = AnswerCache(respondent.identity, tmp_path)
    np.testing.assert_array_equal(ask(respondent, probes, cache=cache).values, expected(probes))
    np.testing.assert_array_equal(
        ask(respondent, probes[::-1], cache=cache).values, expected(probes)[::-1]
    )
    cache.close()
    lengths = [len(t) for t in respondent.asked]
    assert [len(c) for c in respondent.calls] == [CHUNK, CHUNK, 5]
    assert lengths == sorted(lengths, reverse=True)  # longest first


def test_the_second_run_asks_nothing(tmp_path: Path) -> None:
    probes = pairs(*numbered(10))
    for wanted in (10, 0):
        respondent = Counting()
        cache = AnswerCache(respondent.identity, tmp_path)
        np.testing.assert_array_equal(ask(respondent, probes, cache=cache).values, expected(probes))
        cache.close()
        assert len(respondent.asked) == wanted


def test_a_chunk_is_on_the_disk_before_the_next_is_asked(tmp_path: Path) -> None:
    probes = pairs(*numbered(CHUNK * 3))

    class Dying(Counting):
        def answer(self, asked: Sequence[Probe]) -> Replies:
            if len(self.calls) == 2:
                raise MemoryError
            return super().answer(asked)

    dying = Dying()
    cache = AnswerCache(dying.identity, tmp_path)
    with pytest.raises(MemoryError):
        ask(dying, probes, cache=cache)
    # the first cache is still open: what another reader sees is what a kill would leave
    other = AnswerCache(dying.identity, tmp_path)
    assert len(other.get(probes)) == CHUNK * 2
    healthy = Counting()
    np.testing.assert_array_equal(ask(healthy, probes, cache=other).values, expected(probes))
    assert len(healthy.asked) == CHUNK
    assert not set(healthy.asked) & set(dying.asked)
    cache.close()
    other.close()


def test_an_unanswered_probe_is_not_kept_and_is_asked_again(tmp_path: Path) -> None:
    probes = pairs("A woman sleeps.", "A man sleeps.")
    mute = Counting(silent="woman")
    cache = AnswerCache(mute.identity, tmp_path)
    values = ask(mute, probes, cache=cache).values
    assert np.isnan(values[0]).all()
    assert len(cache.get(probes)) == 1
    later = Counting()
    np.testing.assert_array_equal(ask(later, probes, cache=cache).values, expected(probes))
    assert later.asked == ["A woman sleeps."]
    cache.close()


def test_progress_counts_distinct_probes_and_says_how_many_were_known(tmp_path: Path) -> None:
    probes = pairs(*numbered(CHUNK + 10))
    respondent = Counting()
    cache = AnswerCache(respondent.identity, tmp_path)
    ask(respondent, probes[:4], cache=cache)
    steps: list[tuple[int, int, int]] = []
    ask(
        respondent, (*probes, *probes), cache=cache, progress=lambda *numbers: steps.append(numbers)
    )
    cache.close()
    assert steps == [(4, CHUNK + 10, 4), (CHUNK + 4, CHUNK + 10, 4), (CHUNK + 10, CHUNK + 10, 4)]


def test_probes_of_a_kind_that_the_respondent_cannot_answer_are_refused() -> None:
    probe = Probe(id="m", kind="mask", language="en", texts=("A [MASK] sleeps.", "woman", "man"))
    with pytest.raises(EvenhandError, match="counting@1 cannot answer mask probes"):
        ask(Counting(), [probe])


def test_a_respondent_that_returns_too_few_rows_is_told_so() -> None:
    class Short(Counting):
        def answer(self, asked: Sequence[Probe]) -> Replies:
            return Replies(values=super().answer(asked).values[1:])

    with pytest.raises(EvenhandError, match="2 rows for 3 probes"):
        ask(Short(), pairs(*numbered(3)))


def test_two_respondents_do_not_share_answers(tmp_path: Path) -> None:
    probes = pairs(*numbered(3))
    first, second = Counting("counting@1"), Counting("counting@2")
    for respondent in (first, second):
        cache = AnswerCache(respondent.identity, tmp_path)
        ask(respondent, probes, cache=cache)
        cache.close()
    assert len(first.asked) == len(second.asked) == 3


def test_another_label_map_does_not_get_the_answers_of_the_first(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny")
    usual = {"entailment": 0, "neutral": 1, "contradiction": 2}
    turned = {"entailment": 2, "neutral": 1, "contradiction": 0}
    runs = [
        quick_audit(str(folder), load(limit=30), Opening(label_map=m, cache=tmp_path / "cache"))
        for m in (usual, turned, usual)
    ]
    np.testing.assert_array_equal(runs[0].answers.values[:, :, ::-1], runs[1].answers.values)
    np.testing.assert_array_equal(runs[0].answers.values, runs[2].answers.values)
    assert not np.array_equal(runs[0].answers.values, runs[1].answers.values)


def test_the_readings_behind_an_answer_come_with_it() -> None:
    """A probe that is read in two orders: the answer is the mean, and both readings are kept."""

    class TwoOrders(Counting):
        def answer(self, asked: Sequence[Probe]) -> Replies:
            values = super().answer(asked).values
            both = np.concatenate([values - 1, values + 1])
            rows = np.tile(np.arange(len(asked)), 2)
            orders = ({"order": "first"},) * len(asked) + ({"order": "last"},) * len(asked)
            readings = Readings(probe=rows, conditions=orders, values=both)
            return Replies(values=readings.mean(len(asked)), readings=readings)

    probes = (*pairs(*numbered(CHUNK + 3)), *pairs("number 0"))
    replies = ask(TwoOrders(), probes)
    np.testing.assert_allclose(replies.values, expected(probes))
    assert replies.readings is not None
    np.testing.assert_allclose(replies.readings.mean(len(probes)), expected(probes))
    first = replies.readings.probe == 0
    orders = [
        c["order"]
        for c, is_first in zip(replies.readings.conditions, first, strict=True)
        if is_first
    ]
    assert orders == ["first", "last"]
    assert len(replies.readings.probe) == 2 * len(probes)
