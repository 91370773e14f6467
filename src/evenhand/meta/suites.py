"""What are the models of a ladder asked? Every built-in suite that an NLI model can answer, cut to the words of the ladder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Probe
from evenhand.core.suite import Suite
from evenhand.engine.audit import limited, load_suite
from evenhand.meta.plan import Plan, asked_suite
from evenhand.families import occupation_nli

KINDS = ("pair", "choice")
PUBLISHED = "nli-coal:downsampled"
LIMIT = 600  # probes of a suite besides the paper's own, which has 600 as well


def suites_of(
    plan: Plan, names: Sequence[str] = (), *, data: Path | None = None, limit: int = LIMIT
) -> tuple[Suite, ...]:
    """The suites that are named, or all that fit; the occupation suite is always first, in sentences that no model was trained on.

    The authors' sets come with the authors' evaluation set of the same words.
    """
    is_published = not plan.asked
    found = (
        [load_suite(PUBLISHED, plan.language, data=data)] if is_published else [asked_suite(plan)]
    )
    for name in names if names or is_published else fitting(plan.language):
        if name.partition(":")[0] != occupation_nli.SUITE.name:
            found.append(restrict(load_suite(name, plan.language, data=data), plan, limit))
    return tuple(found)


def fitting(language: str) -> list[str]:
    """The built-in suites of a language that NLI models answer."""
    sources = catalog.entries("suites").values()
    return [
        s.name
        for s in sources
        if not s.is_published and s.kind in KINDS and language in s.languages
    ]


def occupation_of(probe: Probe) -> str | None:
    """The occupation that a probe is about; None where it is about something else."""
    return probe.tags.get("occupation") or (
        probe.tags.get("word") if "lean" in probe.tags else None
    )


def restrict(suite: Suite, plan: Plan, limit: int) -> Suite:
    """The probes about the words of the ladder; all where the suite is not about occupations. An error where none is left."""
    words = {word for group in plan.words.values() for word in group}
    about = [p for p in suite.probes if occupation_of(p) is None or occupation_of(p) in words]
    if not about:
        raise EvenhandError(
            f"{suite.card.name} has none of the ladder's words; leave it out of --suites"
        )
    return limited(Suite(card=suite.card, probes=tuple(about)), limit, 0)
