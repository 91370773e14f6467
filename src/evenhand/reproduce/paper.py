"""A paper: what of it is computed again, the tables of it that any models can have, its name."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from evenhand.core.chart import Chart
from evenhand.core.document import Block, Column, Document, Row, Section, Table, make_section
from evenhand.core.errors import EvenhandError, StorageError, UnknownNameError
from evenhand.core.plain import plain
from evenhand.core.text import MISSING, counted, listed
from evenhand.reproduce.asking import Asker, TableRequest
from evenhand.reproduce.tables import TablePage

Verdict = Literal["ok", "misprint", "not computed", "DIFFERS"]
VERDICTS: tuple[Verdict, ...] = ("ok", "misprint", "not computed", "DIFFERS")
ALL = "all"  # the name that stands for every paper


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedNumber:
    """One printed number and what was computed for it.

    printed: NaN where the paper says that there is none. computed: NaN where it cannot be computed
    here, with the reason as the note. misprint: why the printed number cannot be right.
    """

    where: str  # table, section or figure of the paper
    what: str
    printed: float
    computed: float
    tolerance: float
    note: str = ""
    misprint: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the computed number is within the tolerance; NaN never is."""
        if not math.isfinite(self.computed):
            return False
        return abs(self.computed - self.printed) <= self.tolerance + 1e-12

    @property
    def verdict(self) -> Verdict:
        """Whether it agrees, is a named misprint, cannot be computed, or differs."""
        if self.is_met:
            return "ok"
        if self.misprint:
            return "misprint"
        is_left_out = bool(self.note) and math.isnan(self.computed)
        return "not computed" if is_left_out else "DIFFERS"

    @property
    def reason(self) -> str:
        """What is said beside it: why it is a misprint, how it was computed or why not."""
        return self.misprint if self.verdict == "misprint" else self.note


def not_computed(where: str, what: str, printed: float | None, reason: str) -> PrintedNumber:
    """A printed number that cannot be computed here; None: the paper says that there is none."""
    return PrintedNumber(
        where=where,
        what=what,
        printed=math.nan if printed is None else printed,
        computed=math.nan,
        tolerance=0.0,
        note=reason,
    )


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The printed numbers of a paper, computed again."""

    title: str
    suite: str  # the reference of the data that it comes from
    rows: tuple[PrintedNumber, ...]
    charts: tuple[Chart, ...] = ()

    @property
    def missed(self) -> list[PrintedNumber]:
        """The numbers that should agree and do not, and that are no named misprints."""
        return [row for row in self.rows if row.verdict == "DIFFERS"]

    def count(self, verdict: Verdict) -> int:
        """How many numbers have this verdict."""
        return sum(row.verdict == verdict for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper and what can be done with it; a file of `reproduce` has one as PAPER.

    options: those of `TableRequest.particular` that the tables of this paper read.
    """

    name: str
    title: str  # whose paper it is
    description: str  # which numbers are computed again
    contents: str  # which tables and figures any models can have
    reproduce: Callable[[Path | None], Reproduction]  # from the folder of published data
    table: Callable[[Asker], TablePage]
    # the numbers of a paper that needs its files, with the reason why they are not computed
    printed: Callable[[str], Sequence[PrintedNumber]] | None = None
    options: frozenset[str] = frozenset()


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


def find_paper(name: str, *others: str) -> Paper:
    """The paper with this name. Raises UnknownNameError, which suggests similar names.

    others: what may be named instead of a paper.
    """
    if name not in papers():
        raise UnknownNameError("paper", name, (*papers(), *others))
    return papers()[name]


def check_request(paper: Paper, request: TableRequest) -> None:
    """Raise EvenhandError where a request has nothing to ask, or what the paper has no use for."""
    for flag, value in request.particular.items():
        if value and flag not in paper.options:
            users = [other.name for other in papers().values() if flag in other.options]
            raise EvenhandError(
                f"the tables of {paper.name} have no use for {flag}: it is an option of "
                f"{listed(users)}. They are: {paper.contents}"
            )
    if not request.models and not request.stored and not request.ladders:
        raise EvenhandError(
            f"name the models of the tables of {paper.name}, for example "
            f"`evenhand table {paper.name} default`, or a folder of answers with --stored"
        )


def numbers_of(paper: str) -> dict[str, Any]:
    """The printed numbers that the package carries of a paper, with their source."""
    text = (files(__package__) / f"{paper}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def reproduce_all(data: Path | None) -> dict[str, Reproduction]:
    """Every paper computed again; one whose files are not there has its numbers and the reason."""
    done = {}
    for name, paper in papers().items():
        try:
            done[name] = paper.reproduce(data)
        except EvenhandError as error:
            if paper.printed is None or isinstance(error, StorageError):
                raise
            rows = tuple(paper.printed(str(error)))
            done[name] = Reproduction(title=paper.description, suite="no data", rows=rows)
    return done


def _lead(reproduction: Reproduction) -> str:
    rows = reproduction.rows
    tolerances = {row.tolerance for row in rows if math.isfinite(row.computed)}
    within = f" within {max(tolerances):g}" if tolerances else ""
    rest = [
        f"{counted(count, noun)}{verb}"
        for count, noun, verb in (
            (reproduction.count("misprint"), "named misprint", ""),
            (reproduction.count("not computed"), "number", " not computed, each with its reason"),
            (reproduction.count("DIFFERS"), "number", " that should agree and do not"),
        )
        if count
    ]
    more = f" Beside them: {', '.join(rest)}." if rest else ""
    return (
        f"{reproduction.count('ok')} of {len(rows)} printed numbers come out{within}, "
        f"from {reproduction.suite}.{more}"
    )


def _printed_text(number: float) -> str:
    return "none" if math.isnan(number) else f"{number:g}"


def _numbers_table(
    rows: Iterable[PrintedNumber], name: str = "numbers", title: str = "Printed and computed"
) -> Table:
    """Every number with its verdict; reasons where some have one."""
    rows = tuple(rows)
    has_reasons = any(row.reason for row in rows)
    cells = []
    for row in rows:
        is_computed = math.isfinite(row.computed)
        difference = round(row.computed - row.printed, 4) + 0.0 if is_computed else math.nan
        cells.append(
            (
                row.where,
                row.what,
                _printed_text(row.printed),
                f"{row.computed:.4f}" if is_computed else MISSING,
                f"{difference:+.4f}" if math.isfinite(difference) else "",
                row.verdict,
                *((row.reason,) if has_reasons else ()),
            )
        )
    titles = ("where", "what", "printed", "computed", "difference", "")
    return Table(
        name=name,
        title=title,
        columns=tuple(Column(title=t) for t in (*titles, *(("reason",) if has_reasons else ()))),
        rows=tuple(
            Row(cells=line, strong=frozenset({5}) if row.verdict == "DIFFERS" else frozenset())
            for line, row in zip(cells, rows, strict=True)
        ),
    )


def reproduction_document(reproduction: Reproduction) -> Document:
    """A table of printed and computed numbers, and the figures of the paper."""
    blocks: tuple[Block, ...] = (_numbers_table(reproduction.rows), *reproduction.charts)
    return Document(
        name="reproduction",
        title=reproduction.title,
        subtitle=reproduction.suite,
        lead=(_lead(reproduction),),
        sections=(Section(name="numbers", title="Numbers", blocks=blocks, is_brief=True),),
    )


def _summary_table(done: Mapping[str, Reproduction]) -> Table:
    rows = [
        Row(cells=(name, len(one.rows), *(one.count(verdict) for verdict in VERDICTS)))
        for name, one in done.items()
    ]
    totals = (sum(one.count(verdict) for one in done.values()) for verdict in VERDICTS)
    every = sum(len(one.rows) for one in done.values())
    return Table(
        name="summary",
        title="Printed numbers by verdict",
        columns=(
            Column(title="paper"),
            Column(title="numbers", form="count"),
            *(Column(title=verdict, form="count") for verdict in VERDICTS),
        ),
        rows=(*rows, Row(cells=("all", every, *totals), is_total=True)),
    )


def all_document(done: Mapping[str, Reproduction]) -> Document:
    """Every printed number of every paper with its verdict, those in doubt first."""
    doubtful = [
        dataclasses.replace(row, where=f"{name}, {row.where}")
        for name, one in done.items()
        for row in one.rows
        if row.verdict in ("misprint", "DIFFERS")
    ]
    sections = [
        Section(name="summary", title="By paper", blocks=(_summary_table(done),), is_brief=True),
        make_section(
            "doubtful",
            "Misprints and differences",
            [_numbers_table(doubtful, "doubtful") if doubtful else None],
            is_brief=True,
        ),
        *(
            Section(
                name=name,
                title=one.title,
                blocks=(_numbers_table(one.rows, f"numbers-{name}"), *one.charts),
            )
            for name, one in done.items()
        ),
    ]
    return Document(
        name="reproduction",
        title="Printed numbers of the source papers, computed again",
        subtitle=counted(len(done), "paper"),
        lead=tuple(f"{name}: {_lead(one)}" for name, one in done.items()),
        sections=tuple(section for section in sections if section is not None),
    )


def reproduction_fields(reproduction: Reproduction) -> dict[str, Any]:
    """The reproduction as plain data."""
    rows = [
        {**plain(row), "is_met": row.is_met, "verdict": row.verdict} for row in reproduction.rows
    ]
    return {"title": reproduction.title, "suite": reproduction.suite, "rows": rows}
