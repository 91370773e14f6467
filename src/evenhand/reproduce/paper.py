"""What a reproduction consists of: printed numbers beside computed ones, and its Document."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.core.chart import Chart
from evenhand.core.document import Block, Column, Document, Row, Section, Table
from evenhand.core.errors import UnknownNameError
from evenhand.core.plain import plain


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedNumber:
    """One printed number and what was computed for it."""

    where: str  # table, section or figure of the paper
    what: str
    printed: float
    computed: float
    tolerance: float

    @property
    def is_met(self) -> bool:
        """Whether the computed number is within the tolerance; NaN never is."""
        if not math.isfinite(self.computed):
            return False
        return abs(self.computed - self.printed) <= self.tolerance + 1e-12


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The printed numbers of a paper, computed again."""

    title: str
    suite: str  # the reference of the data that it comes from
    rows: tuple[PrintedNumber, ...]
    charts: tuple[Chart, ...] = ()

    @property
    def missed(self) -> list[PrintedNumber]:
        """The numbers that were not reproduced within their tolerance."""
        return [row for row in self.rows if not row.is_met]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper whose numbers can be computed again; a file of `reproduce` has one as PAPER."""

    name: str
    description: str
    reproduce: Callable[[Path | None], Reproduction]  # from the folder of published data


@cache
def papers() -> dict[str, Paper]:
    """Every paper, by name."""
    package = importlib.import_module("evenhand.reproduce")
    modules = (
        importlib.import_module(f"evenhand.reproduce.{m.name}")
        for m in pkgutil.iter_modules(package.__path__)
    )
    listed = (getattr(module, "PAPER", None) for module in modules)
    return {paper.name: paper for paper in listed if paper is not None}


def find_paper(name: str) -> Paper:
    """The paper with this name. Raises UnknownNameError, which suggests similar names."""
    if name not in papers():
        raise UnknownNameError("paper", name, papers())
    return papers()[name]


def reproduction_document(reproduction: Reproduction) -> Document:
    """A table of printed and computed numbers, and the figures of the paper."""
    rows, missed = reproduction.rows, reproduction.missed
    tolerance = max((row.tolerance for row in rows), default=0.0)
    table = Table(
        name="numbers",
        title="Printed and computed",
        columns=(
            Column(title="where"),
            Column(title="what"),
            Column(title="printed"),
            Column(title="computed"),
            Column(title="difference"),
            Column(title=""),
        ),
        rows=tuple(
            Row(
                cells=(
                    row.where,
                    row.what,
                    f"{row.printed:g}",
                    f"{row.computed:.4f}",
                    f"{round(row.computed - row.printed, 4) + 0.0:+.4f}",
                    "ok" if row.is_met else "DIFFERS",
                ),
                strong=frozenset() if row.is_met else frozenset({5}),
            )
            for row in rows
        ),
    )
    blocks: tuple[Block, ...] = (table, *reproduction.charts)
    lead = (
        f"{len(rows) - len(missed)} of {len(rows)} printed numbers come out within "
        f"{tolerance:g}, from {reproduction.suite}."
    )
    return Document(
        name="reproduction",
        title=reproduction.title,
        subtitle=reproduction.suite,
        lead=(lead,),
        sections=(Section(name="numbers", title="Numbers", blocks=blocks, is_brief=True),),
    )


def reproduction_fields(reproduction: Reproduction) -> dict[str, Any]:
    """The reproduction as plain data."""
    rows = [{**plain(row), "is_met": row.is_met} for row in reproduction.rows]
    return {"title": reproduction.title, "suite": reproduction.suite, "rows": rows}
