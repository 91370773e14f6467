"""Every number of the methods paragraph is that of the run, whatever the run is."""

from __future__ import annotations

import re

import pytest
from hypothesis import Phase, given, settings
from published_runs import run_of
from random_runs import random_runs, rooms

from evenhand import __version__
from evenhand.core import account, catalog
from evenhand.core.run import Run
from evenhand.publish.methods import methods

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def only(pattern: str, text: str) -> tuple[str, ...]:
    """The groups of a pattern that a text must have exactly once."""
    found = re.findall(pattern, text)
    assert len(found) == 1, (pattern, found)
    return found[0] if isinstance(found[0], tuple) else (found[0],)


def whole(number: str) -> int:
    return int(number.replace(",", ""))


def assert_numbers(run: Run) -> None:
    text, suite, chosen = methods(run), run.suite, run.settings
    (named,) = only(r"We put the suite ([^ ]+), version ", text)
    assert named == suite.card.name
    version, probes, digest = only(
        r", version (\S+) \(\w+; ([\d,]+) probes?(?:, drawn from [\d,]+)?; digest (\w+)\)", text
    )
    assert (version, whole(probes), digest) == (
        suite.card.version,
        len(suite.probes),
        suite.digest,
    )
    cut = re.findall(r"drawn from ([\d,]+)", text)
    assert [whole(n) for n in cut] == ([] if suite.whole is None else [suite.whole])
    answered = int(run.answers.is_answered.sum())
    if answered == len(suite.probes):
        assert f"It answered all {answered:,} probe" in text
    else:
        some, total = only(r"It answered ([\d,]+) of ([\d,]+) probe", text)
        assert (whole(some), whole(total)) == (answered, len(suite.probes))
    assert only(r"with evenhand (\S+)\.\s", text) == (__version__,)
    target, level, resamples, seed = only(
        r"target (new items|this set), level (\S+) %, BCa bootstrap, ([\d,]+) resamples?, "
        r"seed (\d+)\.",
        text,
    )
    assert target == chosen.target and float(level) / 100 == pytest.approx(chosen.level)
    assert (whole(resamples), int(seed)) == (chosen.resamples, chosen.seed)
    for check in account.checks(run):
        assert f"{check.probes:,} {check.items}" in text
    assert_nothing_else(run, text)


def assert_nothing_else(run: Run, text: str) -> None:
    """No number stands in the paragraph that the run does not have."""
    suite, answers = run.suite, run.answers
    cards = [catalog.measure(e.measure).card for e in run.estimates]
    facts = [
        *(f"{card.title} is {card.formula.rstrip('.')}." for card in cards),
        f"suite {suite.card.name}, version {suite.card.version} ",
        f"digest {suite.digest}",
        f"model {answers.respondent} ",
        f"evenhand {__version__}.",
        *answers.traits.values(),
        f"{run.settings.level * 100:g} %",
        run.headline.note,
    ]
    for fact in sorted(filter(None, facts), key=len, reverse=True):
        text = text.replace(fact, "")
    answered = int(answers.is_answered.sum())
    known = {
        len(suite.probes),
        suite.whole,
        answered,
        run.settings.resamples,
        run.settings.seed,
        *(check.probes for check in account.checks(run)),
    }
    share = f"{100 * answered / len(answers.probes):.1f}"
    rest = [n for n in NUMBER.findall(text) if n != share]
    assert [n for n in rest if float(n.replace(",", "")) not in known] == []


@pytest.mark.parametrize("name", sorted(rooms()))
def test_every_number_is_that_of_the_run(name: str) -> None:
    @settings(max_examples=2, phases=[Phase.generate])
    @given(run=random_runs(name))
    def check(run: Run) -> None:
        assert_numbers(run)

    check()


def test_the_paragraph_in_full() -> None:
    run = run_of("stereotyped")
    text = methods(run)
    assert text.startswith(
        "We put the suite occupation-nli, version 1.0 (English; 120 probes, drawn from "
        f"{run.suite.whole:,}; digest {run.suite.digest}), to the model fixed:stereotyped with "
    )
    assert "It answered all 120 probes." in text
    assert "NLI-CoAL is (e_PS + c_AS + (1 - n_NS)) / 3." in text
    assert "scoring argmax" in text
    assert text.endswith(
        "Whether the model understands was judged by its accuracy on 156 plain pairs and 174 hard "
        "pairs."
    )


def test_a_silent_model_is_said_to_be_silent() -> None:
    text = methods(run_of("silent"))
    assert "It answered 0 of 120 probes (0.0 %)." in text
    assert "There is no interval: " in text
