"""What holds for every respondent that answers by a rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from replied import flat, reasons

from evenhand.core.errors import UnknownNameError
from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.engine.ask import ask
from evenhand.engine.suites import load_suite
from evenhand.respondents.fixed import RESPONDENT, RULES

PROBES = load_suite("occupation-nli").probes[:40]
OTHERS = (
    Probe(
        id="m",
        kind="mask",
        language="en",
        texts=("_ left.", "She", "He"),
        tags={"fair": "equal", "stereotyped": "1"},
    ),
    Probe(
        id="n",
        kind="mask",
        language="en",
        texts=("_ is here.", "Her", "His"),
        tags={"fair": "equal", "stereotyped": "0"},
    ),
)
every_rule = pytest.mark.parametrize("rule", RULES)


def opened(rule: str, seed: int = 0) -> Respondent:
    return RESPONDENT.open(f"fixed:{rule}", RespondentOptions(seed=seed))


@every_rule
@given(data=st.data())
def test_answers_do_not_depend_on_order_or_batch(rule: str, data: st.DataObject) -> None:
    whole = flat(opened(rule).answer(PROBES))
    order = data.draw(st.permutations(range(len(PROBES))))
    size = data.draw(st.integers(1, len(PROBES)))
    mixed = [PROBES[i] for i in order]
    batches = [
        flat(opened(rule).answer(mixed[start : start + size]))
        for start in range(0, len(mixed), size)
    ]
    np.testing.assert_array_equal(np.concatenate(batches), whole[order])
    np.testing.assert_array_equal(flat(ask(opened(rule), mixed)), whole[order])


@every_rule
def test_answers_are_log_probabilities(rule: str) -> None:
    for probes in (PROBES, OTHERS):
        sums = np.exp(flat(opened(rule).answer(probes))).sum(axis=1)
        np.testing.assert_allclose(sums[np.isfinite(sums)], 1.0)


def test_each_rule_says_what_it_promises() -> None:
    for rule in ("fair", "stereotyped"):
        labels = [NLI_LABELS[i] for i in flat(opened(rule).answer(PROBES)).argmax(axis=1)]
        assert labels == [p.tags[rule] for p in PROBES]
    assert flat(opened("constant").answer(PROBES)).argmax(axis=1).tolist() == [0] * len(PROBES)
    assert flat(opened("stereotyped").answer(OTHERS)).argmax(axis=1).tolist() == [1, 0]
    np.testing.assert_allclose(np.exp(flat(opened("fair").answer(OTHERS))), 0.5)


def test_random_depends_on_the_seed_and_the_text_only() -> None:
    first = PROBES[0]
    renamed = Probe(
        id="another",
        kind=first.kind,
        language=first.language,
        texts=first.texts,
        stratum="AS",
        cluster="another",
    )
    np.testing.assert_array_equal(
        flat(opened("random").answer([first])), flat(opened("random").answer([renamed]))
    )
    assert (
        flat(opened("random", 0).answer(PROBES)) != flat(opened("random", 1).answer(PROBES))
    ).all()
    assert opened("random", 0).identity != opened("random", 1).identity


def test_random_is_uniform_over_the_labels() -> None:
    probes = load_suite("occupation-nli").probes
    shares = np.bincount(flat(opened("random").answer(probes)).argmax(axis=1), minlength=3) / len(
        probes
    )
    np.testing.assert_allclose(shares, 1 / 3, atol=4 * np.sqrt(2 / 9 / len(probes)))


def test_a_probe_without_the_tag_is_not_answered_and_counted() -> None:
    bare = Probe(
        id="bare", kind="pair", language="en", texts=("A nurse is here.", "A woman is here.")
    )
    respondent = opened("fair")
    replies = respondent.answer([bare, *PROBES[:2]])
    assert np.isnan(flat(replies)).all(axis=1).tolist() == [True, False, False]
    assert reasons(replies) == {"the probe does not say what a fair respondent answers": 1}


def test_an_unknown_rule_is_refused_with_a_close_one() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean random"):
        opened("randon")
