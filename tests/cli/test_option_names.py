"""Options over all verbs: one meaning for a name, panels in `--help`, examples to copy."""

from __future__ import annotations

import inspect
import shlex
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest
import typer
from commands import evenhand

from evenhand.cli.main import app
from evenhand.cli.panels import arrange, panel_of


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from verbs(inner, (*path, name))
    if path and not hasattr(command, "commands"):
        yield " ".join(path), command


def base_of(hint: Any) -> str:
    """The type of one value: `Path` for `list[Path] | None`."""
    inner = [t for t in get_args(hint) if t is not type(None)]
    return base_of(inner[0]) if inner else str(hint.__name__)


PROGRAM = typer.main.get_command(app)
VERBS = dict(verbs(PROGRAM))


def test_an_option_has_one_type_whatever_the_verb() -> None:
    """`--cache` was a switch here and a folder there, `--words` a count here and a name there."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for command in VERBS.values():
        hints = get_type_hints(inspect.unwrap(command.callback))
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.name in hints:
                kinds[parameter.opts[0]].add(base_of(hints[parameter.name]))
    several = {flag: sorted(kind) for flag, kind in kinds.items() if len(kind) > 1}
    assert several == {
        "--batch-size": ["int", "str"],  # a number, or `auto` where a model is only asked
        "--errors": ["float", "str"],  # of one set, or the steps of a ladder
        "--suite": ["Path", "str"],  # a file alone where sentences are to be taken from it
    }


def test_names_that_meant_several_things_are_gone() -> None:
    owners = defaultdict(set)
    for verb, command in VERBS.items():
        for parameter in command.params:
            owners[parameter.opts[0]].add(verb)
    trains = {"train nli", "train vectors", "mitigate run"}
    assert owners["--train-limit"] == trains and not owners["--limit"] & trains
    assert owners["--form"] == {"suites export", "annotate export"}  # of a file
    assert owners["--planted"] == {"meta build", "meta run"}
    assert owners["--methods"] == {"mitigate run"} and "--method" not in owners
    assert owners["--suites"] == set()  # another spelling of --suite


def test_panels_of_an_audit() -> None:
    flags = [p.opts[0] for p in arrange(VERBS["audit"].params)]
    named = {flag: panel_of(flag, flags) for flag in flags if flag.startswith("-")}
    assert None not in named.values()
    assert [named[f] for f in ("--suite", "--dtype", "--level", "--json")] == [
        "Suite",
        "Model",
        "Statistics",
        "Output",
    ]
    page = evenhand("audit", "--help").out
    places = [page.index(f"─ {panel} ─") for panel in ("Suite", "Model", "Statistics", "Output")]
    assert places == sorted(places)


@pytest.mark.parametrize("verb", VERBS)
def test_examples_can_be_copied(verb: str) -> None:
    """Each example is a line, or several joined by a backslash, of this verb's own options."""
    text = VERBS[verb].help or ""
    for block in text.split("```console\n")[1:]:
        for line in block.partition("```")[0].replace("\\\n", "").splitlines():
            words = shlex.split(line)
            assert words[0] == "evenhand"
            name = next(v for n in (4, 3, 2) if (v := " ".join(words[1:n])) in VERBS)
            known = {o for p in VERBS[name].params for o in (*p.opts, *p.secondary_opts)}
            own = VERBS[name].context_settings.get("ignore_unknown_options")  # of a suite
            assert own or {w for w in words if w.startswith("--")} <= known, line
