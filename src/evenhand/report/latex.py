r"""What goes into a paper? Two tables that need `\usepackage{booktabs}` and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core.run import Run
from evenhand.report import wording
from evenhand.report.conventions import sheaves
from evenhand.report.estimates import (
    BASELINE_TITLES,
    baseline_number,
    best_head,
    checks,
    fair,
    ordered,
    title,
)
from evenhand.report.labour import in_percent, paper_table
from evenhand.report.listings import listings, shortened, told
from evenhand.report.numbers import (
    MISSING,
    bounds,
    interval_of,
    number,
    percent,
    plain,
    with_bounds,
)
from evenhand.report.shares import shown_strata

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
    "…": r"\ldots{}",
    "–": "--",
}


def escaped(text: str) -> str:
    """Text that any LaTeX sets as it is; a letter beyond ASCII, which needs fonts of its own, becomes its code point."""
    flat = " ".join(text.split())
    return "".join(
        SPECIAL.get(c, c) if c in SPECIAL or c.isascii() else f"{{[}}U+{ord(c):04X}{{]}}"
        for c in flat
    ).replace(r" \%", r"\,\%")


def commented(text: str) -> str:
    """A line that LaTeX passes over."""
    return "% " + " ".join(text.split())


def tabular(columns: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table with its rules."""
    body = [" & ".join(row) + r" \\" for row in rows]
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def floating(
    inside: Sequence[str], caption: str, label: str, under: Sequence[str] = ()
) -> list[str]:
    """A float with caption and label."""
    return [
        r"\begin{table}[t]",
        r"\centering",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{2.9pt}",
        *inside,
        *under,
        rf"\caption{{{caption}}}",
        rf"\label{{{label}}}",
        r"\end{table}",
    ]


def _scores(run: Run) -> list[str]:
    rows = []
    groups = (
        {s.estimates[0].measure: s.title for s in sheaves(run)} if len(sheaves(run)) > 1 else {}
    )
    for found in (*ordered(run), *checks(run)):
        if found.measure in groups:
            rows.append([rf"\emph{{{escaped(groups[found.measure])}}}", *[""] * 7])
        rules = (
            ["--", "--"]
            if found in checks(run)
            else [baseline_number(run, rule, found.measure) for rule in BASELINE_TITLES]
        )
        name, best = escaped(title(found.measure)), plain(fair(found.measure))
        rows.append(
            [
                name,
                number(found.value),
                bounds(interval_of(found)),
                best,
                *rules,
                f"{found.probes:,}",
                escaped(percent(found.coverage, 1)),
            ]
        )
    heads = (
        "measure",
        "value",
        rf"{run.estimates[0].level * 100:g}\,\% interval",
        best_head(run),
        "random",
        "constant",
        "probes",
        "coverage",
    )
    return tabular("lrcrrrrr", heads, rows)


def _shares(run: Run) -> list[str]:
    rows = []
    for row in shown_strata(run):
        cells = [escaped(percent(s, 1)) for s in row.shares.values()]
        bold = [
            rf"\textbf{{{c}}}" if label in row.counted else c
            for label, c in zip(row.shares, cells, strict=True)
        ]
        against = with_bounds(row.component) if row.counted else MISSING if row.note else "--"
        rows.append(
            [
                escaped(f"{row.stratum} {row.title}" if row.title != row.stratum else row.title),
                f"{row.answered:,}",
                *bold,
                against,
            ]
        )
    labels = run.answers.labels
    return tabular(
        "lr" + "r" * len(labels) + "r",
        ("stratum", "pairs", *(escaped(label) for label in labels), "counts against"),
        rows,
    )


def to_latex(run: Run) -> str:
    r"""The run as LaTeX, to be pulled in by `\input{report.tex}`."""
    card, found = run.suite.card, ordered(run)
    about = f"{escaped(run.answers.respondent)} on {escaped(card.name)} {escaped(card.version)} ({escaped(card.language)})"
    broken = escaped(found[0].signature).replace(r"\textbar{}", r"\textbar{}\allowbreak{}")
    signed = [
        r"\par\medskip",
        rf"\parbox{{\linewidth}}{{\raggedright\scriptsize\texttt{{{broken}}}}}",
    ]
    lines = [
        r"% needs \usepackage{booktabs}",
        commented(f"model {run.answers.respondent}"),
        *(commented(f"signature {e.signature}") for e in (*found, *checks(run))),
        *(commented(f"note {note}") for note in wording.notes(run)),
        *floating(
            _scores(run),
            f"Scores of {about}. {escaped(wording.verdict(run, found[0]))}",
            "tab:evenhand-scores",
            signed,
        ),
    ]
    if shown_strata(run):
        missing = "".join(
            f" {escaped(row.stratum)}: {escaped(row.note)}."
            for row in shown_strata(run)
            if row.note
        )
        caption = f"Label shares of {about}; shares in bold count against the model.{missing}"
        lines += ["", *floating(_shares(run), caption, "tab:evenhand-shares")]
    heads, rows = paper_table(run)
    if rows:
        table = [[escaped(label), *(in_percent(i) for i in values)] for label, values in rows]
        inside = tabular(
            "l" + "r" * len(heads), ("occupations", *(escaped(h) for h in heads)), table
        )
        lines += [
            "",
            *floating(inside, f"Gendered entailment of {about}, percent.", "tab:evenhand-gendered"),
        ]
    for listing in map(shortened, listings(run)):
        body = [[escaped(told(cell)) for cell in row] for row in listing.rows]
        inside = tabular(
            "l" + "r" * (len(listing.heads) - 1), [escaped(h) for h in listing.heads], body
        )
        caption = f"{escaped(listing.title)}, {about}. {escaped(listing.note)}".strip()
        lines += ["", *floating(inside, caption, f"tab:evenhand-{listing.name}")]
    return "\n".join(lines) + "\n"
