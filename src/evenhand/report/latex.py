r"""A document as LaTeX: tables of its brief sections, to be pulled in by `\input`."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core.document import Callout, Document, Prose, Row, Signatures, Table
from evenhand.report.cells import is_numeric, limited, printable, row_texts

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "Δ": r"$\Delta$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "→": r"$\to$",
    "←": r"$\leftarrow$",
}
LETTER = 4.1  # approximate width in points of a letter in a small table
COLUMN = 345.0  # width in points of the text column of an article


def escaped(text: str) -> str:
    """The text on one line, escaped so that any LaTeX prints it unchanged.

    A character beyond ASCII, which may need special fonts, becomes its code point.
    """
    flat = " ".join(printable(text).split())
    letters = (
        SPECIAL[c] if c in SPECIAL else c if c.isascii() else f"{{[}}U+{ord(c):04X}{{]}}"
        for c in flat
    )
    return "".join(letters).replace(r" \%", r"\,\%")


def commented(text: str) -> str:
    """The text as a LaTeX comment."""
    return "% " + " ".join(printable(text).split())


def to_latex(document: Document) -> str:
    """The tables of the brief sections; facts, lead, signatures and notes as comments."""
    brief = [section for section in document.sections if section.is_brief]
    tables = [b for section in brief for b in section.blocks if isinstance(b, Table) and b.rows]
    floats: list[str] = []
    labels: dict[str, int] = {}
    for i, table in enumerate(tables):
        labels[table.name] = labels.get(table.name, 0) + 1
        again = f"-{labels[table.name]}" if labels[table.name] > 1 else ""
        label = f"tab:evenhand-{document.name}-{table.name}{again}"
        floats += ["", *_float(document, table, label, is_first=i == 0)]
    packages = "booktabs,graphicx" if any(r"\resizebox" in line for line in floats) else "booktabs"
    lines = [rf"% needs \usepackage{{{packages}}}", *_comments(document), *floats]
    return "\n".join(lines) + "\n"


def _comments(document: Document) -> list[str]:
    lines = [f"{name} {value}" for name, value in document.facts.items()]
    lines += document.lead
    for section in document.sections:
        for block in section.blocks:
            match block:
                case Signatures(lines=signatures):
                    lines += [f"signature {line}" for line in signatures]
                case Callout(text=text):
                    lines.append(f"note {text}")
                case Prose(lines=points, is_list=True) if section.is_brief:
                    lines += [f"note {line}" for line in points]
    return [commented(line) for line in lines]


def _float(document: Document, table: Table, label: str, *, is_first: bool) -> list[str]:
    """A table in a float with its caption; the first caption has the first sentence of the lead."""
    title, rows = limited(table)
    about = f"{document.title}, {document.subtitle}" if document.subtitle else document.title
    parts = [f"{title}: {about}." if title else f"{about}."]
    parts += document.lead[:1] if is_first else ()
    parts += [table.note] if table.note else ()
    return [
        r"\begin{table}[t]",
        r"\centering",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{2.9pt}",
        *_fitted(table, rows),
        rf"\caption{{{escaped(' '.join(parts))}}}",
        rf"\label{{{label}}}",
        r"\end{table}",
    ]


def _fitted(table: Table, rows: Sequence[Row]) -> list[str]:
    """The table, scaled down to the text column where it may be wider."""
    known = (row_texts(row, table.columns) for row in rows if not row.is_heading)
    texts = [[c.title for c in table.columns], *known]
    wide = sum(max(map(len, column)) for column in zip(*texts, strict=True)) * LETTER
    inside = tabular(table, rows)
    if wide + 5.8 * len(table.columns) <= COLUMN:
        return inside
    fit = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    return [fit, *inside, "}"]


def tabular(table: Table, rows: Sequence[Row]) -> list[str]:
    """A table with its rules."""
    aligned = "".join("r" if is_numeric(column) else "l" for column in table.columns)
    body = []
    for row in rows:
        texts = [escaped(text) for text in row_texts(row, table.columns)]
        if row.is_heading:
            span = rf"\multicolumn{{{len(table.columns)}}}{{l}}"
            body.append(rf"{span}{{\emph{{{texts[0]}}}}} \\")
            continue
        texts = [rf"\textbf{{{t}}}" if i in row.strong else t for i, t in enumerate(texts)]
        # after the line break of the row before, LaTeX would read [ or * as its argument
        if texts[0].startswith(("[", "*")):
            texts[0] = "{}" + texts[0]
        body.append(" & ".join(texts) + r" \\")
    return [
        rf"\begin{{tabular}}{{{aligned}}}",
        r"\toprule",
        " & ".join(escaped(column.title) for column in table.columns) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
