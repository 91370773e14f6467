"""The command `evenhand VERB ...`; an error is one line and exit code 2, without a traceback."""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache
from typing import Annotated

import typer
import typer.main
from typer.utils import get_params_from_function

from evenhand import __version__
from evenhand.cli import (
    annotate,
    answers,
    audit,
    compare,
    compare_people,
    doctor,
    gate,
    labour,
    listing,
    measure,
    meta,
    mitigate,
    picture,
    publish,
    reproduce,
    show,
    suites,
    table,
    train,
    view,
)
from evenhand.cli.options import TAKES_SUITE_OPTIONS
from evenhand.core.errors import EvenhandError

# Typer reads the parameters of every command twice, which is most of what `--help` takes.
typer.main.get_params_from_function = cache(get_params_from_function)  # type: ignore[attr-defined]

app = typer.Typer(
    name="evenhand",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How biased is a language model, and how sure can one be?\n\n"
    "Try `evenhand audit default`, then open the report it names.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"evenhand {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


app.command("audit", no_args_is_help=True, context_settings=TAKES_SUITE_OPTIONS)(audit.audit)
app.command("measure", no_args_is_help=True, context_settings=TAKES_SUITE_OPTIONS)(measure.measure)
app.command("compare", no_args_is_help=True, context_settings=TAKES_SUITE_OPTIONS)(compare.compare)
app.command("gate", no_args_is_help=True)(gate.gate)
app.command("compare-people", no_args_is_help=True)(compare_people.compare_people)
app.command("labour", no_args_is_help=True)(labour.labour)
app.command("picture", no_args_is_help=True)(picture.picture)
app.command("table", no_args_is_help=True)(table.table)
app.command("reproduce", no_args_is_help=True)(reproduce.reproduce)
app.command("card", no_args_is_help=True)(publish.card)
app.command("cite", no_args_is_help=True)(publish.cite)
app.command("list", no_args_is_help=True)(listing.list_section)
app.command("show", no_args_is_help=True)(show.show)
app.command("view")(view.view)
app.command("doctor")(doctor.doctor)
app.add_typer(publish.app, name="export")
app.add_typer(suites.app, name="suites")
app.add_typer(answers.app, name="answers")
app.add_typer(train.app, name="train")
app.add_typer(meta.app, name="meta")
app.add_typer(mitigate.app, name="mitigate")
app.add_typer(annotate.app, name="annotate")


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"warning: {message}", file=sys.stderr)


def run() -> None:
    """The entry point of the command `evenhand`."""
    warnings.showwarning = _show_warning
    try:
        try:
            app()
        finally:
            # now and not when Python exits, where a closed pipe can no longer be handled
            sys.stdout.flush()
    except EvenhandError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # `evenhand list measures | head -1` is not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except SystemExit as leave:
        if isinstance(leave.__context__, BrokenPipeError):  # typer has caught it first
            sys.exit(0)
        raise
