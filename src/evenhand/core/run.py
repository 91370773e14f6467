"""Run: everything that one audit found, which is all that a report may read."""

from __future__ import annotations

import html
import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.answers import Answers
from evenhand.core.errors import LoadError
from evenhand.core.estimate import Baseline, Breakdown, Estimate, Relation
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.core.text import counted, percent, with_bounds

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = (  # of a table of estimates
    "measure",
    "value",
    "low",
    "high",
    "level",
    "target",
    "probes",
    "clusters",
    "coverage",
    "ties",
    "note",
    "signature",
)


def _later(module: str) -> Any:
    """A module that stands above this one, loaded when it is used: a run knows no report."""
    return importlib.import_module(module)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Estimate):
    """How well a respondent does on probes whose answer is clear."""

    items: str  # what was asked, in the plural: `plain pairs`, `pairs of snli_dev.jsonl`
    weak_below: float  # the value below which it does not understand; NaN: not judged by this

    @classmethod
    def of(cls, estimate: Estimate, *, items: str, weak_below: float) -> Check:
        """The estimate as a check."""
        values = {f.name: getattr(estimate, f.name) for f in fields(Estimate)}
        return cls(**values, items=items, weak_below=weak_below)

    @property
    def is_weak(self) -> bool:
        """Whether the respondent does too badly for a bias score to be read as bias."""
        return math.isfinite(self.weak_below) and not self.value >= self.weak_below


@dataclass(frozen=True, kw_only=True, repr=False)
class Run:
    """Everything that one audit found."""

    family: str  # the family whose account its report uses
    suite: Suite
    answers: Answers
    estimates: tuple[Estimate, ...]  # in the order of a report: the first is the headline
    baselines: Mapping[str, tuple[Baseline, ...]]  # rule -> what it scores on the same probes
    sanity: tuple[Check, ...]  # whether the respondent understands such probes: by the first
    breakdowns: tuple[Breakdown, ...]
    settings: Settings
    relations: tuple[Relation, ...] = ()
    refused: tuple[str, ...] = ()  # measures that fit the probes but need other labels
    timing: Mapping[str, float] = field(default_factory=dict)

    @property
    def headline(self) -> Estimate:
        """The estimate that the report is about."""
        return self.estimates[0]

    def estimate(self, measure: str) -> Estimate | None:
        """The estimate of one `measure`; None where it was not computed."""
        return next((e for e in self.estimates if e.measure == measure), None)

    def baseline(self, rule: str, measure: str) -> Baseline | None:
        """What a `rule` scores by a `measure` on the same probes; None where it was not asked."""
        return next((b for b in self.baselines.get(rule, ()) if b.measure == measure), None)

    def breakdown(self, measure: str, by: str) -> Breakdown | None:
        """One `measure` by one tag, `by`; None where it was not computed or has no groups."""
        return next(
            (b for b in self.breakdowns if b.measure == measure and b.by == by and b.groups), None
        )

    def __repr__(self) -> str:
        """One line: who answered what, the headline, and how much was answered."""
        first = f"{self.headline.measure} {with_bounds(self.headline.interval)}"
        return f"<Run {self._title}: {first}, {self._rest}>"

    @property
    def _title(self) -> str:
        return f"of {self.answers.respondent} on {self.suite.reference}"

    @property
    def _rest(self) -> str:
        measures = counted(len(self.estimates), "measure")
        return f"{measures}, {percent(self.answers.coverage)} of the probes answered"

    def _repr_html_(self) -> str:
        """The estimates as a table, for a notebook."""
        heads = ("measure", f"value [{self.settings.level * 100:g} % interval]", "answered", "note")
        rows = [
            (e.measure, with_bounds(e.interval), percent(e.coverage, 1), e.note)
            for e in (*self.estimates, *self.sanity)
        ]
        head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>"
            for row in rows
        )
        caption = html.escape(f"Run {self._title}, {self._rest}")
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table>"

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write what `evenhand audit` writes to a folder; returns the page to open.

        folder: where to; `evenhand.read` gives the run back. overwrite: whether another run there
        is replaced. Raises EvenhandError where there is one and it is not.
        """
        page: Path = _later("evenhand.engine.save_run").save_run(self, folder, overwrite=overwrite)
        return page

    def plot(self, name: str = "scores") -> Any:
        """A chart of the report, which a notebook shows; `.save(path)` writes it as a file.

        name: of the chart. Raises UnknownNameError, which lists the names, where there is none.
        """
        return _later("evenhand.engine.save_run").plot_run(self, name)

    def _rows(self) -> list[dict[str, Any]]:
        return [{name: getattr(e, name) for name in _COLUMNS} for e in self.estimates]

    def to_polars(self) -> pl.DataFrame:
        """The estimates as a polars data frame, one row for each measure; NaN has its note."""
        import polars as pl

        return pl.DataFrame(self._rows())

    def to_pandas(self) -> Any:
        """The estimates as a pandas data frame. Raises LoadError where pandas is not installed."""
        try:
            import pandas as pd
        except ImportError as error:
            raise LoadError(f"this needs pandas ({error}): pip install pandas") from error
        return pd.DataFrame(self._rows(), columns=list(_COLUMNS))
