"""Pages that are written from the program when the documentation is built.

Measures and suites come from the catalog, commands from the command line, the Python interface from
docstrings. `docs/conf.py` calls `write_pages`.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import typer

import evenhand
from evenhand.cli.main import app
from evenhand.core import catalog
from evenhand.core.measure import Measure
from evenhand.core.protocols import SuiteSource

WRITTEN = "Written from the catalog; `evenhand show NAME` prints the same."


def _table(rows: dict[str, str]) -> list[str]:
    """Names and values as a table without a head."""
    return ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items()), ""]


def _measure(measure: Measure) -> list[str]:
    card = measure.card
    low, high = card.range
    worst = "unbounded" if math.isinf(high) else "says nothing about bias"
    rule = measure.worst_rule.replace("-", " ")  # who reaches the worst value
    rows = {
        "range": f"{low:g} to {high:g}",
        f"{measure.best} value": f"{measure.fair:g}",
        "fully stereotyped" if rule == "stereotyped" else rule: worst
        if measure.worst is None
        else f"{measure.worst:g}",
        "strata": ", ".join(sorted(measure.strata)) or "all",
        "labels it needs": ", ".join(sorted(measure.labels)) or "any",
        "caveat": card.caveat,
        "source": card.citation,
    }
    return [
        f"### `{measure.name}`",
        "",
        f"**{card.title}.** {card.question}",
        "",
        "```text",
        f"{measure.name} = {card.formula}",
        "```",
        "",
        *_table(rows),
    ]


def measures_page() -> str:
    """Every measure with its definition, family by family."""
    lines = ["# Measures", "", WRITTEN, ""]
    for family in catalog.families().values():
        lines += [f"## {family.title}", "", f"Intervals are over {family.unit}.", ""]
        lines += [line for measure in family.measures for line in _measure(measure)]
    return "\n".join(lines)


def _suite(suite: SuiteSource) -> list[str]:
    from evenhand.cli.options import own_fields

    fetched = "published data: fetched with a pinned digest, or named with `--data`"
    rows = {
        "version": suite.version,
        "kind of probe": suite.kind,
        "languages": ", ".join(suite.languages),
        "variants": ", ".join(f"`{v}`" for v in suite.variants),
        "comes from": fetched if suite.is_published else "built from the lexicons, offline",
        "licence": suite.licence,
        "source": suite.citation,
    }
    own = {
        f"`{flag}`": str(field.metadata.get("help", ""))
        for flag, field in own_fields(suite.options).items()
    }
    return [f"### `{suite.name}`", "", suite.description, "", *_table({**rows, **own})]


def suites_page() -> str:
    """Every suite with its source, licence and options, family by family."""
    lines = ["# Suites", "", WRITTEN, ""]
    for family in catalog.families().values():
        lines += [f"## {family.title}", ""]
        lines += [line for suite in family.suites for line in _suite(suite)]
    return "\n".join(lines)


def model_page() -> str:
    """The card that the embedded model carries with it."""
    return (files("evenhand") / "models" / "default" / "MODEL_CARD.md").read_text(encoding="utf-8")


def _cell(text: str) -> str:
    """Text for a cell of a table: one line, no bar, options as code."""
    line = " ".join(text.split()).replace("|", "\\|")
    return re.sub(r"(?<![`\w-])(--[a-z][a-z-]*)(?![^`]*`[^`]*$)", r"`\1`", line)


def _default(parameter: Any) -> str:
    """The default of an option; nothing where there is none, or where its help says it."""
    value = parameter.default
    if parameter.secondary_opts:
        value = (parameter.opts if value else parameter.secondary_opts)[0]
    if value in (None, (), []) or value is False or "[default" in (parameter.help or ""):
        return ""
    return f" Default: `{value}`."


def _option(parameter: Any) -> tuple[str, str]:
    """An option or argument with its help."""
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        names = f"`{(parameter.metavar or parameter.name).strip('[]. ').upper()}`"
    repeated = " Repeatable." if parameter.multiple and "repeatable" not in parameter.help else ""
    text = f"{_cell(parameter.help or '').rstrip('.')}.{repeated}{_default(parameter)}"
    return names, text


def _usage(path: str, command: Any) -> str:
    """The line above the options: names of arguments, and whether there are options."""
    words = [path, "[OPTIONS]"]
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            name = (parameter.metavar or parameter.name).strip("[]. ").upper()
            name = f"{name}..." if parameter.nargs == -1 else name
            words.append(name if parameter.required else f"[{name}]")
    return " ".join(words)


def _help(text: str) -> list[str]:
    """The paragraphs of a command's help; its examples one below the other."""
    before, _, examples = inspect.cleandoc(text).partition("Examples: ")
    lines = [before.strip(), ""]
    if examples:
        commands = [" ".join(e.split()).strip("`. ") for e in re.split(r";\s", examples)]
        lines += ["```text", *commands, "```", ""]
    return lines


def _command(path: str, command: Any, level: int) -> list[str]:
    """A command with its options; a group with its commands."""
    lines = [f"{'#' * level} `{path}`", "", *_help(command.help or "")]
    if inner := getattr(command, "commands", None):
        return lines + [line for n, c in inner.items() for line in _command(f"{path} {n}", c, 3)]
    lines += ["```text", _usage(path, command), "```", ""]
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.params:
        if not parameter.hidden:
            panel = getattr(parameter, "rich_help_panel", None) or ""
            panels.setdefault(panel, []).append(_option(parameter))
    for panel, rows in panels.items():
        lines += [f"**{panel}**", ""] if panel else []
        lines += _table(dict(rows))
    return lines


def commands_page() -> str:
    """Every command of the program with its options."""
    lines = ["# Command line", "", "Written from the program; `evenhand COMMAND --help` prints the"]
    lines += [
        "same. Options that a suite brings of its own stand with the [suites](suites.md).",
        "",
    ]
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        lines += _command(f"evenhand {name}", command, 2)
    return "\n".join(lines)


# what a program meets beside the names of `evenhand.__all__`: what these take and return
MET = {
    "Options": (
        "evenhand.core.protocols.RespondentOptions",
        "evenhand.core.protocols.SuiteOptions",
        "evenhand.engine.ask.Asking",
        "evenhand.engine.compare.ComparisonOptions",
        "evenhand.people.compare.PeopleOptions",
    ),
    "Results": (
        "evenhand.core.run.Run",
        "evenhand.core.estimate.Estimate",
        "evenhand.core.estimate.Interval",
        "evenhand.core.estimate.Breakdown",
        "evenhand.core.estimate.Group",
        "evenhand.engine.compare.Comparison",
        "evenhand.core.answers.Answers",
    ),
    "Suites and measures": (
        "evenhand.core.suite.Suite",
        "evenhand.core.suite.SuiteCard",
        "evenhand.core.probe.Probe",
        "evenhand.core.measure.Measure",
        "evenhand.core.measure.MeasureCard",
        "evenhand.core.family.Family",
        "evenhand.core.family.Account",
    ),
    "Reports": (
        "evenhand.engine.audit_document.audit_document",
        "evenhand.engine.results.run_files",
        "evenhand.report.write.write_document",
        "evenhand.report.markdown.to_markdown",
        "evenhand.report.html.to_html",
        "evenhand.report.latex.to_latex",
    ),
    "Protocols to implement": (
        "evenhand.core.protocols.Respondent",
        "evenhand.core.protocols.RespondentSource",
        "evenhand.core.protocols.SuiteSource",
        "evenhand.core.protocols.Language",
    ),
    "Errors": ("evenhand.core.errors.EvenhandError", "evenhand.core.errors.EvenhandWarning"),
}


def _found(name: str) -> Any:
    """The object that a full name means."""
    module, _, attribute = name.rpartition(".")
    return getattr(__import__(module, fromlist=[attribute]), attribute)


def _documented(name: str, thing: Any) -> list[str]:
    """A directive that writes the docstring and signature of a function or class."""
    if not inspect.isclass(thing):
        return [f".. autofunction:: {name}", ""]
    plain = dataclasses.is_dataclass(thing) or getattr(thing, "_is_protocol", False)
    options = ["   :members:", "   :undoc-members:"] if plain else ["   :members:"]
    return [f".. autoclass:: {name}", *options, ""]


def _measure_functions() -> Iterator[str]:
    for family in catalog.families().values():
        yield f"### {family.title}"
        yield ""
        yield "```{eval-rst}"
        for measure in family.measures:
            yield f".. autofunction:: evenhand.measures.{measure.name}"
            yield ""
        yield "```"
        yield ""


def python_page() -> str:
    """Everything public in Python, from its docstrings."""
    lines = ["# Python", "", "Written from docstrings. How the parts go together:"]
    lines += ["[From Python](../python.md).", "", "## `evenhand`", "", "```{eval-rst}"]
    lines += [".. currentmodule:: evenhand", ""]
    for name in evenhand.__all__:
        thing = getattr(evenhand, name)
        if callable(thing):
            lines += _documented(f"evenhand.{name}", thing)
    lines += ["```", ""]
    for title, names in MET.items():
        lines += [f"## {title}", "", "```{eval-rst}"]
        lines += [line for name in names for line in _documented(name, _found(name))]
        lines += ["```", ""]
    lines += ["## `evenhand.measures`", "", "Every measure as a function on arrays. What each"]
    lines += ["number means: [Measures](measures.md).", "", *_measure_functions()]
    return "\n".join(lines)


PAGES = {
    "measures.md": measures_page,
    "suites.md": suites_page,
    "default-model.md": model_page,
    "cli.md": commands_page,
    "python.md": python_page,
}


def write_pages(folder: Path) -> None:
    """Write every page into a folder; a page that has not changed keeps its date."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in PAGES.items():
        path, text = folder / name, write()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
