"""Short audits and comparisons for tests: a cut suite, few resamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.protocols import RespondentOptions, SuiteOptions
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.ask import Asking
from evenhand.engine.audit import audit
from evenhand.engine.compare import Compared, Comparison, ComparisonOptions, compare
from evenhand.engine.opened import Model
from evenhand.engine.suites import load_suite

FEW = Settings(resamples=100)


@dataclass(frozen=True, kw_only=True)
class Opening:
    """How a model is opened and asked, where that is not the usual way."""

    batch_size: int | None = None
    label_map: Mapping[str, int] | None = None
    cache: bool | Path = True
    measures: Sequence[str] | None = None


def load(
    name: str = "occupation-nli",
    lang: str = "en",
    *,
    limit: int | None = 60,
    seed: int = 0,
    data: Path | None = None,
) -> Suite:
    """A suite cut to a few probes."""
    return load_suite(name, lang, SuiteOptions(seed=seed, data=data), limit=limit)


def quick_audit(
    model: Model,
    suite: Suite | None = None,
    opening: Opening | None = None,
    settings: Settings = FEW,
) -> Run:
    """An audit of the default suite cut to 60 probes, or of the given one."""
    opening = opening or Opening()
    options = RespondentOptions(
        seed=settings.seed, batch_size=opening.batch_size, label_map=opening.label_map
    )
    return audit(
        model,
        suite or load(seed=settings.seed),
        measures=opening.measures,
        opening=options,
        settings=settings,
        asking=Asking(cache=opening.cache),
    )


def quick_compare(
    models: Sequence[Compared],
    suites: Sequence[Suite | str] = (),
    *,
    limit: int | None = None,
    measures: Sequence[str] | None = None,
    settings: Settings | None = None,
) -> tuple[Comparison, ...]:
    """A comparison with few draws; the default suite where none is named and none is answered."""
    settings = settings or Settings(resamples=200, permutations=200)
    options = ComparisonOptions(suites=tuple(suites), limit=limit, measures=measures)
    return compare(models, options, settings)
