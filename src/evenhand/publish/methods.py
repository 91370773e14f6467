"""A methods paragraph: how the numbers of a run came about, in plain sentences."""

from __future__ import annotations

from evenhand import __version__
from evenhand.core import account, catalog
from evenhand.core.run import Run
from evenhand.core.settings import Method
from evenhand.core.text import counted, listed, percent
from evenhand.engine.estimate import traits_of
from evenhand.report.cells import printable

_METHODS: dict[Method, str] = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}


def methods(run: Run) -> str:
    """The paragraph, without a result: suite, answers, scoring, intervals, settings."""
    sentences = (
        _suite(run),
        _answers(run),
        _scoring(run),
        _measures(run),
        account.interval_method(run),
        _settings(run),
        _check(run),
    )
    return printable(" ".join(filter(None, sentences)))


def _suite(run: Run) -> str:
    suite = run.suite
    language = catalog.language_name(suite.card.language)
    cut = f", drawn from {suite.whole:,}" if suite.whole is not None else ""
    probes = counted(len(suite.probes), "probe")
    return (
        f"We put the suite {suite.card.name}, version {suite.card.version} ({language}; {probes}"
        f"{cut}; digest {suite.digest}), to the model {run.answers.respondent} with evenhand "
        f"{__version__}."
    )


def _answers(run: Run) -> str:
    total, answered = len(run.answers.probes), int(run.answers.is_answered.sum())
    if answered == total:
        return f"It answered all {counted(total, 'probe')}."
    return (
        f"It answered {answered:,} of {counted(total, 'probe')} ({percent(answered / total, 1)})."
    )


def _scoring(run: Run) -> str:
    """What was read of an answer, and by which rules: the traits that the signature names."""
    answers = run.answers
    read = f"An answer is {answers.scale} for {listed([*answers.columns])}"
    traits = traits_of(catalog.measure(run.headline.measure), answers)
    rules = "; ".join(f"{name} {value}" for name, value in sorted(traits.items()))
    return f"{read} ({rules})." if rules else f"{read}."


def _measures(run: Run) -> str:
    cards = [catalog.measure(e.measure).card for e in run.estimates]
    return " ".join(f"{card.title} is {card.formula.rstrip('.')}." for card in cards)


def _settings(run: Run) -> str:
    settings = run.settings
    return (
        f"The settings of the intervals were: target {settings.target}, level "
        f"{settings.level * 100:g} %, {_METHODS[settings.method]}, "
        f"{counted(settings.resamples, 'resample')}, seed {settings.seed}."
    )


def _check(run: Run) -> str:
    """What says whether the model understands; without the result."""
    asked = [f"{c.probes:,} {c.items}" for c in account.checks(run)]
    if not asked:
        return ""
    return f"Whether the model understands was judged by its accuracy on {listed(asked)}."
