"""Document: what every report is made of; the renderers in `report` know nothing else.

Audit, comparison, labour, picture, ladder, mitigation, people and reproduction each build one.
Every number is already computed; a renderer only decides how it looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, urlencode

from evenhand.core.chart import Chart
from evenhand.core.estimate import Interval

Cell = str | int | float | Interval  # a str is printed unchanged, whatever the column's form
Form = Literal[
    "text",
    "count",  # 1,410
    "number",  # 0.452
    "short",  # 0, 0.5
    "signed",  # +0.013
    "p",  # <0.001
    "percent",  # 42.1 %
    "interval",  # 0.452 [0.431, 0.474]
    "signed interval",  # +0.013 [0.001, 0.025]
    "bounds",  # [0.431, 0.474]
    "points",  # 42.1 or 42.1 [40.0, 44.3], percent without the sign
    "signed points",  # -12.3 [-15.0, -9.8]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table and how its numbers are printed."""

    title: str
    form: Form = "text"
    is_quoted: bool = False  # its texts are words of the suite, in the document's language


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row; a heading spans the table and groups what follows."""

    cells: tuple[Cell, ...]
    strong: frozenset[int] = frozenset()  # cells that are emphasised
    is_heading: bool = False
    is_total: bool = False  # sums up the others; not counted where a table is cut
    is_quiet: bool = False  # its numbers do not count: set in grey
    note: str = ""  # beside a heading


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under column titles; the first column names the row.

    limit: how many rows LaTeX, Markdown and the terminal show; `cut` says which ones ("farthest
    from 0"). HTML shows all of them.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    limit: int | None = None
    cut: str = ""
    is_folded: bool = False  # collapsed in HTML until the reader opens it


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """Paragraphs, or the points of a list."""

    lines: tuple[str, ...]
    is_list: bool = False
    is_quiet: bool = False  # set smaller than the main text


@dataclass(frozen=True, slots=True, kw_only=True)
class Callout:
    """A line that must not be overlooked."""

    text: str
    tone: Literal["note", "warning"] = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was answered about one option or label."""

    label: str
    text: str  # the printed number, with or without the label
    share: float | None = None  # of the bar, where the answers share a whole
    mark: str = "neutral"  # the colour of its part of the bar
    is_chosen: bool = False  # the answer that was given, or that counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """One probe with what was answered."""

    id: str
    language: str
    lines: tuple[str, ...]  # premise and hypothesis; the sentence; context and options
    summary: str  # what was answered, in words; a page shows the texts of answers instead
    answers: tuple[Answer, ...] = ()
    tag: str = ""
    strong: frozenset[int] = frozenset()  # lines that the respondent prefers
    quiet: frozenset[int] = frozenset()  # lines that only give the context


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """Probes with what was answered, and why they are shown."""

    name: str
    title: str
    note: str
    specimens: tuple[Specimen, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Names with their values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signatures:
    """Signature lines, printed verbatim."""

    lines: tuple[str, ...]
    is_folded: bool = False


Block = Prose | Callout | Table | Chart | Exhibit | Facts | Signatures


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Blocks under a title.

    A brief section appears in every form of the report, any other in HTML and Markdown only. LaTeX
    takes the tables of brief sections.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    level: Literal[2, 3] = 2
    is_brief: bool = False
    is_beside: bool = False  # on a wide page, next to the section before it


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerColumns:
    """What one respondent answered to the probes of a table, a value per probe in each column."""

    name: str  # of the respondent
    columns: tuple[str, ...]  # the name of each number: label, option, or option:label
    values: tuple[tuple[float, ...], ...]  # by column; NaN where there is no answer
    chosen: tuple[str, ...]  # the answer in a word; empty where there is none
    silences: tuple[str, ...]  # why there is no answer; empty where there is one
    whole: int  # how many numbers in a row add up to 1, as labels do; 0 where they are scores


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTable:
    """The probes of one suite with what was answered, column by column."""

    name: str  # of the suite
    language: str  # of the texts
    ids: tuple[str, ...]
    roles: tuple[str, ...]  # what the texts are called; empty where the order says it
    texts: tuple[tuple[str, ...], ...]  # by role, one per probe; empty where a probe has none
    tags: Mapping[str, tuple[str, ...]]  # by name, one per probe; empty where a probe has none
    answers: tuple[AnswerColumns, ...]
    # how far the first respondent and the others lie apart at most; empty with one respondent
    differences: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """Every probe behind a document, to be searched; only a page with a script shows it."""

    tables: tuple[ProbeTable, ...]
    note: str = ""

    @property
    def count(self) -> int:
        """How many probes there are."""
        return sum(len(table.ids) for table in self.tables)


# what else the address of an explorer says; a tag of such a name is written `tag.NAME`
RESERVED = ("q", "sort", "page")
DIFFERENCE = "difference"  # sorts by how far the respondents lie apart


def probe_query(tags: Mapping[str, str | Sequence[str]], sort: str = "") -> str:
    """The probes with these tags as the address of an explorer: `tag=value&tag=value`.

    Several values of one tag: any of them. sort: a column of numbers, with `-` the highest first.
    """
    pairs = [
        (f"tag.{name}" if name in RESERVED or name.startswith("tag.") else name, value)
        for name, value in tags.items()
    ]
    order = [("sort", sort)] if sort else []
    return urlencode([*pairs, *order], doseq=True, quote_via=quote)


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The number that a document is about."""

    title: str
    interval: Interval
    level: float
    best: str  # `0 is fair`
    note: str = ""  # why it is missing, or has no interval
    reasons: tuple[str, ...] = ()  # why it does not count; empty where it does


Understood = Literal["yes", "only partly", "no", "not known"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """Whether the respondent understands what it is asked."""

    answer: Understood
    reason: str  # the sentence beside it
    doubt: str = ""  # what must stand beside every number of bias because of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding in a sentence, and why it does not count where it does not."""

    text: str
    section: str = ""  # the name of the section that shows it
    reasons: tuple[str, ...] = ()  # empty where it counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """The first screen of the report of one run."""

    verdict: str  # what the respondent did, in one plain sentence
    badge: Badge | None = None
    direction: Finding | None = None  # to which side, where the family can tell
    example: Exhibit | None = None  # one typical probe that shows the verdict
    findings: tuple[Finding, ...] = ()  # those that count first


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Everything that a report says and shows."""

    name: str  # of its files: NAME.html, NAME.md, NAME.tex
    title: str
    subtitle: str
    lead: tuple[str, ...]  # the findings in sentences, the most important first
    sections: tuple[Section, ...]
    headline: Headline | None = None
    front: Front | None = None  # of one run; it needs a headline
    language: str = "en"  # of quoted words and labels
    facts: Mapping[str, str] = field(default_factory=dict)  # comment lines at the top of the LaTeX
    explorer: Explorer | None = None

    def blocks(self, *kinds: type[Block]) -> list[Block]:
        """All blocks of these kinds, in order."""
        return [b for s in self.sections for b in s.blocks if isinstance(b, kinds)]

    @property
    def charts(self) -> list[Chart]:
        """Every chart, in order."""
        return [b for s in self.sections for b in s.blocks if isinstance(b, Chart)]


def make_section(
    name: str,
    title: str,
    blocks: Sequence[Block | None],
    *,
    level: Literal[2, 3] = 2,
    is_brief: bool = False,
    is_beside: bool = False,
) -> Section | None:
    """A section of the blocks that are not None; None where all of them are."""
    present = tuple(block for block in blocks if block is not None)
    if not present:
        return None
    return Section(
        name=name, title=title, blocks=present, level=level, is_brief=is_brief, is_beside=is_beside
    )
