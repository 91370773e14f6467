"""pytest plug-in: the fixture `audit`, which asks a model a suite, and the marker `evenhand`.

    @pytest.mark.evenhand(suite="occupation-nli", limit=600)
    def test_bias(audit):
        audit.require("nli_coal", max=0.25)

The model is that of the marker, of `--evenhand-model`, of the ini option `evenhand_model`, or what
a fixture `evenhand_model` of your own returns: a name, a respondent or a function. One audit is
made per session for each model and suite.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from evenhand.core.estimate import Estimate
    from evenhand.core.run import Run
    from evenhand.gate.judge import Verdict
    from evenhand.gate.policy import Policy

MARKER = "evenhand"
# what the marker may state, besides the model
_SUITE = ("suite", "lang", "limit", "seed", "data")
_SETTINGS = ("resamples", "level")
_NAMES = ("model", *_SUITE, *_SETTINGS, "dev", "not_sure")
_NOT_SURE = ("fail", "skip", "pass")
_RUNS = pytest.StashKey[dict[Any, Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option and the ini values."""
    group = parser.getgroup("evenhand", "bias of language models")
    group.addoption("--evenhand-model", default=None, help="Model that the fixture `audit` asks.")
    parser.addini("evenhand_model", "Model that the fixture `audit` asks.", default="")
    parser.addini(
        "evenhand_not_sure",
        "What a test does where an interval lies on both sides of a limit: fail, skip or pass.",
        default="fail",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    names = ", ".join(_NAMES)
    config.addinivalue_line(
        "markers", f"{MARKER}({names}): what the fixture `audit` asks, each by its name"
    )
    config.stash[_RUNS] = {}


class Audit:
    """A run, and the limits that a test demands of it."""

    def __init__(self, run: Run, not_sure: str) -> None:
        self.run = run
        self._not_sure = not_sure

    def estimate(self, measure: str) -> Estimate:
        """The estimate of a measure. Raises UnknownNameError where the run has none."""
        from evenhand.core.errors import UnknownNameError

        found = self.run.estimate(measure)
        if found is None:
            raise UnknownNameError("measure of this run", measure, self._measures())
        return found

    def require(self, measure: str = "", /, **demands: Any) -> Verdict:
        """Fail the test unless the measure keeps the limits.

        measure: the headline where there is none. demands: the keys of a rule in a policy: min,
        max, within, on, target, min_coverage, min_validity ...
        """
        from evenhand.gate.policy import Policy, make_rule

        rule = make_rule({"measure": measure, **demands})
        return self._judge(Policy(rules=(rule,), source="this test"))

    def require_policy(self, path: str | Path) -> Verdict:
        """Fail the test unless the run keeps every rule of a policy file that is about its suite.

        Raises EvenhandError where no rule is.
        """
        from evenhand.core.errors import InputError
        from evenhand.gate.policy import read_policy
        from evenhand.gate.records import record_of

        policy = read_policy(Path(path))
        record = record_of(self.run)
        own = tuple(rule for rule in policy.rules if record.is_of(rule.suite, rule.lang))
        if not own:
            raise InputError(path, f"has no rule about {record.suite} ({record.language})")
        return self._judge(dataclasses.replace(policy, rules=own))

    def _measures(self) -> list[str]:
        return [e.measure for e in self.run.estimates]

    def _judge(self, policy: Policy) -> Verdict:
        from datetime import date

        from evenhand.gate.decide import decide
        from evenhand.gate.document import reason_line, summary
        from evenhand.gate.records import read_records, record_of

        __tracebackhide__ = True
        earlier = [] if policy.baseline is None else read_records(policy.baseline)
        verdict = decide(policy, [record_of(self.run)], earlier, today=date.today())
        text = "\n".join([summary(verdict), *map(reason_line, verdict.findings)])
        if verdict.outcome == "fail" or (
            verdict.outcome == "not sure" and self._not_sure == "fail"
        ):
            pytest.fail(text, pytrace=False)
        if verdict.outcome == "not sure" and self._not_sure == "skip":
            pytest.skip(text)
        return verdict


def _stated(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    """What the markers of a test state, the nearest last."""
    stated: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers(MARKER))):
        unknown = [name for name in marker.kwargs if name not in _NAMES]
        if unknown or marker.args:
            wrong = unknown[0] if unknown else repr(marker.args[0])
            raise pytest.UsageError(
                f"the marker {MARKER} does not take {wrong}; it takes, by name, {', '.join(_NAMES)}"
            )
        stated.update(marker.kwargs)
    return stated


@pytest.fixture
def evenhand_model(request: pytest.FixtureRequest) -> Any:
    """The model that `audit` asks; a project may have a fixture of this name of its own."""
    named = (
        _stated(request).get("model")
        or request.config.getoption("--evenhand-model")
        or request.config.getini("evenhand_model")
    )
    if not named:
        raise pytest.UsageError(
            "no model to audit: give the marker a model, --evenhand-model, the ini option "
            "evenhand_model, or a fixture evenhand_model"
        )
    return named


@pytest.fixture
def audit(request: pytest.FixtureRequest, evenhand_model: Any) -> Audit:
    """The run of the model on the suite that the marker `evenhand` names."""
    from evenhand.core import catalog
    from evenhand.core.protocols import RespondentOptions, SuiteOptions
    from evenhand.core.settings import Settings
    from evenhand.engine.audit import audit as run_audit
    from evenhand.engine.suites import load_suite

    stated = _stated(request)
    not_sure = stated.get("not_sure") or request.config.getini("evenhand_not_sure")
    if not_sure not in _NOT_SURE:
        raise pytest.UsageError(f"not_sure is {not_sure!r}; give {', '.join(_NOT_SURE)}")
    known = request.config.stash[_RUNS]
    key = (
        evenhand_model if isinstance(evenhand_model, str) else id(evenhand_model),
        *((name, str(stated.get(name))) for name in (*_SUITE, *_SETTINGS, "dev")),
    )
    if key not in known:
        seed = stated.get("seed", 0)
        data = stated.get("data")
        suite = load_suite(
            stated.get("suite") or catalog.default_suite(),
            stated.get("lang", "en"),
            SuiteOptions(seed=seed, data=None if data is None else Path(data)),
            limit=stated.get("limit"),
        )
        settings = Settings(
            seed=seed, **{name: stated[name] for name in _SETTINGS if name in stated}
        )
        run = run_audit(
            evenhand_model,
            suite,
            opening=RespondentOptions(seed=seed),
            settings=settings,
            dev=stated.get("dev"),
        )
        known[key] = (evenhand_model, run)  # the model is kept, so that its id stays its own
    return Audit(known[key][1], not_sure)
