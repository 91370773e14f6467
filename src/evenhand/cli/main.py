"""The command `evenhand VERB ...`; an error is one line and exit code 2, without a traceback."""

from __future__ import annotations

import copy
import inspect
import os
import sys
import warnings
from typing import Annotated

import typer

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
from evenhand.cli.defaults import defaults_of, find_verb
from evenhand.cli.options import TAKES_SUITE_OPTIONS
from evenhand.cli.panels import arrange
from evenhand.core.errors import EvenhandError

COMPLETING = "_EVENHAND_COMPLETE"  # set by the shell while it completes a command

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


def _nothing() -> None:
    """In place of a command that is only listed."""


def _with_options_of(verb: str) -> typer.Typer:
    """The program with the options of one verb, and what the list of verbs shows of the others.

    Typer reads the options of all commands before it looks which one is meant; that took longer
    than all the rest of `--help`.
    """
    program = copy.copy(app)
    program.registered_commands = [copy.copy(command) for command in app.registered_commands]
    program.registered_groups = [copy.copy(group) for group in app.registered_groups]
    for command in program.registered_commands:
        if command.name != verb and command.callback is not None:
            command.help = inspect.getdoc(command.callback)
            command.callback = _nothing
    for group in program.registered_groups:
        if group.name != verb and group.typer_instance is not None:
            group.typer_instance = typer.Typer(help=group.typer_instance.info.help)
    return program


def _run_verb(words: list[str]) -> None:
    """Run the program with the options of its verb in panels and with the user's defaults."""
    verb = next((word for word in words if not word.startswith("-")), "")
    program = typer.main.get_command(_with_options_of(verb))
    path, command = find_verb(program, words)
    command.params = arrange(command.params)
    program(default_map=defaults_of(app, path, command, words))


def run() -> None:
    """The entry point of the command `evenhand`."""
    warnings.showwarning = _show_warning
    try:
        try:
            app() if COMPLETING in os.environ else _run_verb(sys.argv[1:])
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
