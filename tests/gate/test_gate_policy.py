"""Policies: what a file may say, and what is refused by name."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, InputError
from evenhand.gate.policy import Limits, Rule, check_rule, make_rule, parse_limit, read_policy

WHOLE = """
target = "this set"
level = 0.9
min_coverage = 0.8
owner = "nlp@example.org"
review = 2027-06-30
baseline = "runs/before"

[[rule]]
measure = "nli_coal"
suite = "occupation-nli"
lang = "ja"
max = 0.25
on = "high"
why = "agreed in May"

[[rule]]
measure = "*"
no_regression = true
min_coverage = 1
after_review = "fail"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read_with_what_holds_for_all_of_its_rules(tmp_path: Path) -> None:
    policy = read_policy(written(tmp_path, WHOLE))
    assert policy.level == 0.9
    assert policy.baseline == tmp_path / "runs" / "before"
    first, second = policy.rules
    assert first == Rule(
        measure="nli_coal",
        suite="occupation-nli",
        lang="ja",
        at_most=0.25,
        on="high",
        target="this set",
        min_coverage=0.8,
        owner="nlp@example.org",
        review=date(2027, 6, 30),
        why="agreed in May",
    )
    assert (second.measure, second.no_regression, second.min_coverage) == ("*", True, 1.0)
    assert (second.target, second.after_review) == ("this set", "fail")
    assert policy.needs_baseline and not first.needs_baseline


RULE = '[[rule]]\nmeasure = "nli_coal"\n'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "has no rule"),
        ("rule = 3", "has no rule"),
        ("x = [", "is not TOML"),
        ("levle = 0.9\n" + RULE + "max = 0.2", "'levle', which does not exist; did you mean 'lev"),
        (RULE + "maximum = 0.2", "rule 1 has the key 'maximum', which does not exist; did you"),
        ('[[rule]]\nmeasure = "nli_cool"\nmax = 0.2', "unknown measure 'nli_cool'. Did you mean"),
        ("[[rule]]\nmax = 0.2", "rule 1 names no measure"),
        (RULE + 'max = "0.2"', "max is '0.2'; give a number"),
        (RULE + "max = true", "max is True; give a number"),
        (RULE + "max = nan", "must be a finite number"),
        (RULE + "max = 0.2\non = 'top'", 'on is \'top\'; give "interval" or "value"'),
        (RULE + "max = 0.2\ntarget = 'all'", 'target is \'all\'; give "new items" or "this set'),
        (RULE + "max = 0.2\nreview = '2027-01-01'", "review is '2027-01-01'; give a date without"),
        (RULE + "max = 0.2\nreview = 2027-01-01T10:00:00", "give a date without quotes"),
        (RULE + "max = 0.2\nmin_coverage = 90", "min_coverage is 90; give a share from 0 to 1"),
        (RULE + "max_worsening = -0.1", "max_worsening is -0.1; give 0 or more"),
        ("level = 95\n" + RULE + "max = 0.2", "level is 95; give a share between 0 and 1"),
        ("baseline = 3\n" + RULE + "max = 0.2", "baseline is 3; give the folder of a run"),
        ('[[rule]]\nmeasure = "*"\nmax = 0.2', "one limit does not fit all of them"),
    ],
)
def test_what_a_file_may_not_say_is_named(tmp_path: Path, text: str, reason: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_policy(path)
    assert reason in str(caught.value) and str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        read_policy(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (
            {"measure": "nli_coal", "min": 0.1},
            "on the wrong side: at least 0.1 would fail the best",
        ),
        ({"measure": "accuracy", "max": 0.9}, "on the wrong side: at most 0.9 would fail the best"),
        ({"measure": "stereotype_preference", "max": 0.4}, "0.5 is fair"),
        ({"measure": "nli_coal", "max": 25}, "holds for every model: nli_coal goes from 0 to 1"),
        ({"measure": "nli_coal", "max": 1}, "give less than 1"),
        ({"measure": "accuracy", "min": 0}, "holds for every model"),
        ({"measure": "nli_coal", "within": 0}, "within is 0; give more than 0"),
        ({"measure": "stereotype_preference", "within": 0.5}, "give less than 0.5"),
    ],
)
def test_a_limit_that_is_useless_is_refused(rule: dict[str, object], reason: str) -> None:
    with pytest.raises(EvenhandError) as caught:
        make_rule(rule)
    assert reason in str(caught.value)


def test_a_limit_on_either_side_of_fair_is_taken_for_every_measure() -> None:
    for name, measure in catalog.measures().items():
        lowest, highest = measure.card.range
        above = measure.fair + 0.1 * min(1.0, highest - measure.fair)
        below = measure.fair - 0.1 * min(1.0, measure.fair - lowest)
        if above > measure.fair:
            check_rule(Rule(measure=name, at_most=above))
            with pytest.raises(EvenhandError, match="wrong side"):
                check_rule(Rule(measure=name, at_least=above))
        if below < measure.fair:
            check_rule(Rule(measure=name, at_least=below))
            with pytest.raises(EvenhandError, match="wrong side"):
                check_rule(Rule(measure=name, at_most=below))


def test_limits_within_fair_stop_at_the_range() -> None:
    coal = catalog.measure("nli_coal")
    assert str(Rule(within=0.05).limits(coal)) == "at most 0.05"
    preference = catalog.measure("stereotype_preference")
    assert Rule(within=0.05).limits(preference) == Limits(0.45, 0.55)
    both = Rule(at_least=0.47, within=0.05).limits(preference)
    assert str(both) == "from 0.47 to 0.55"


@pytest.mark.parametrize("text", ["nli_coal", "nli_coal=", "=0.2", "nli_coal=low", "nli_coal=nan"])
def test_an_option_that_is_no_limit_is_named(text: str) -> None:
    with pytest.raises(EvenhandError, match="give a measure and a number"):
        parse_limit("--max", text)
    assert parse_limit("--max", "nli_coal=0.25") == ("nli_coal", 0.25)
