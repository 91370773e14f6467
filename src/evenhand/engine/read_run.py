"""A run read back from its folder: the `Run` that was written, or an error that says what is wrong.

Nothing is computed again but which measures were refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.answer_files import (
    FILE,
    OVERVIEW,
    RESULTS,
    read_answers,
    refuse_overview,
    run_folders_in,
)
from evenhand.core.answers import Answers
from evenhand.core.checksums import require_listed
from evenhand.core.errors import InputError, UnknownNameError
from evenhand.core.estimate import (
    Baseline,
    Breakdown,
    Estimate,
    Group,
    Interval,
    Relation,
    exactly,
)
from evenhand.core.files import read_text
from evenhand.core.run import Check, Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite, card_path, read_suite
from evenhand.engine.estimate import applicable_measures
from evenhand.engine.results import SUITE
from evenhand.stats.groups import asked_share

Fields = Mapping[str, Any]  # an object of results.json


def read_run(folder: str | Path) -> Run:
    """The run in a folder that `evenhand audit` or `measure --out` wrote: `evenhand.read`.

    Raises InputError where the folder holds no run, several, a part of one, files that do not
    belong together by its manifest, or the run of another version of evenhand.
    """
    folder = Path(folder).expanduser()
    path = folder / RESULTS
    if not folder.is_dir():
        raise InputError(folder, "is not the folder of a run; name what `evenhand audit` wrote")
    refuse_overview(folder)
    if not path.is_file():
        raise InputError(folder, f"has no {RESULTS}: it is not the folder of a run, or not whole")
    require_listed(folder, (RESULTS, FILE, SUITE, card_path(Path(SUITE)).name))
    fields = _fields(path)
    suite, answers = read_suite(folder / SUITE), read_answers(folder)
    try:
        _check_same(path, fields, suite, answers)
        run = _run(fields, suite, answers)
        for estimate in (*run.estimates, *run.sanity):
            catalog.measure(estimate.measure)
        catalog.family(run.family)
    except UnknownNameError as error:
        reason = f"needs what is not installed here: {error}"
        raise InputError(path, reason) from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        reason = f"is not what this version writes ({type(error).__name__}: {error}); run it again"
        raise InputError(path, reason) from error
    return run


def read_runs(folder: str | Path) -> list[Run]:
    """The run in a folder, or every run in the folder of an audit of several.

    Raises InputError as `read_run` does, and where an overview has no run left.
    """
    folder = Path(folder).expanduser()
    if not (folder / OVERVIEW).is_file():
        return [read_run(folder)]
    if not (inside := run_folders_in(folder)):
        raise InputError(folder, f"has {OVERVIEW} but no run: it was not copied whole")
    return [read_run(run) for run in inside]


def _fields(path: Path) -> Fields:
    """What results.json says; raises InputError where another version wrote it."""
    try:
        fields = json.loads(read_text(path))
        version = str(fields["evenhand"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(path, f"is not the results of a run ({error}); run it again") from error
    if version != __version__:
        raise InputError(
            path,
            f"was written by evenhand {version}, and this is {__version__}: measures may have "
            f"changed between them; run it again, or install evenhand=={version}",
        )
    found: Fields = fields
    return found


def _check_same(path: Path, fields: Fields, suite: Suite, answers: Answers) -> None:
    """Raise InputError unless results, probes and answers are of one run."""
    stated = {
        "the suite's digest": (fields["suite"]["digest"], suite.digest),
        "the suite that was answered": (answers.suite, suite.reference),
        "the model": (fields["model"]["identity"], answers.respondent),
    }
    for what, (one, other) in stated.items():
        if one != other:
            raise InputError(
                path, f"does not belong to the files beside it: {what} is {one} here, {other} there"
            )


def _run(fields: Fields, suite: Suite, answers: Answers) -> Run:
    settings = Settings(**fields["settings"])
    reader = _Reader(is_all_asked=asked_share(suite, answers) >= 1, settings=settings)
    breakdowns = tuple(reader.breakdown(row) for row in fields["breakdowns"])
    return Run(
        family=fields["family"],
        suite=suite,
        answers=answers,
        estimates=tuple(Estimate(**reader.estimate(row)) for row in fields["estimates"]),
        baselines={
            rule: tuple(Baseline(**_numbers(row, "value", "low", "high")) for row in rows)
            for rule, rows in fields["baselines"].items()
        },
        sanity=tuple(_check(reader, row) for row in fields["sanity"]),
        breakdowns=breakdowns,
        settings=settings,
        relations=tuple(_relation(row, breakdowns) for row in fields["relations"]),
        refused=tuple(
            m.name for m in applicable_measures(suite, answers.options, answers.labels)[1]
        ),
        timing=dict(fields["timing"]),
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _numbers(row: Fields, *names: str) -> dict[str, Any]:
    """The fields of an object; null is NaN in those named."""
    return {**row, **{name: _number(row[name]) for name in names}}


def _interval(row: Fields) -> Interval:
    return Interval(_number(row["value"]), _number(row["low"]), _number(row["high"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads intervals, which say in JSON no more than their bounds."""

    is_all_asked: bool  # whether every probe of the whole suite was asked
    settings: Settings

    def interval(self, row: Fields, target: str, *, is_all_asked: bool) -> Interval:
        """An interval for a target; exact where it is about this set and all of it was asked."""
        interval = _interval(row)
        is_exact = target == "this set" and is_all_asked
        is_point = interval.value == interval.low == interval.high
        return exactly(interval.value) if is_exact and is_point else interval

    def estimate(self, row: Fields, *, is_all_asked: bool | None = None) -> dict[str, Any]:
        """The fields of an estimate."""
        asked = self.is_all_asked if is_all_asked is None else is_all_asked
        known = _numbers(row, "value", "low", "high", "coverage")
        target = row["target"]
        known["parts"] = {
            name: self.interval(part, target, is_all_asked=asked)
            for name, part in row["parts"].items()
        }
        known["targets"] = {
            name: self.interval(part, name, is_all_asked=asked)
            for name, part in row["targets"].items()
        }
        del known["fair"], known["reservations"]  # that of its measure; found anew
        return known

    def breakdown(self, row: Fields) -> Breakdown:
        """A measure by group."""
        groups = tuple(
            Group(
                name=group["name"],
                tags=group["tags"],
                interval=self.interval(group, self.settings.target, is_all_asked=self.is_all_asked),
                probes=group["probes"],
                levels=group["levels"],
                has_variation=group["has_variation"],
            )
            for group in row["groups"]
        )
        return Breakdown(measure=row["measure"], by=row["by"], unit=row["unit"], groups=groups)


def _check(reader: _Reader, row: Fields) -> Check:
    """A check; its pairs are another suite, of which a point is exact where all were asked."""
    known = reader.estimate(row, is_all_asked=True)
    return Check(**{**known, "weak_below": _number(row["weak_below"])})


def _relation(row: Fields, breakdowns: tuple[Breakdown, ...]) -> Relation:
    """A measure against a real-world figure; its points are the groups that have the figure."""
    view = next(b for b in breakdowns if (b.measure, b.by) == (row["measure"], row["by"]))
    points = tuple(
        g for g in view.groups if row["against"] in g.tags and math.isfinite(g.interval.value)
    )
    return Relation(
        measure=row["measure"],
        by=row["by"],
        against=row["against"],
        points=points,
        pearson=_interval(row["pearson"]),
        spearman=_interval(row["spearman"]),
        note=row["note"],
    )
