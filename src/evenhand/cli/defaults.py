"""Defaults of options from `evenhand.toml`, or from `[tool.evenhand]` in `pyproject.toml`."""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from evenhand.core.errors import InputError

_NEVER = frozenset({"trust-remote-code", "force", "yes"})  # run code, overwrite, or delete
OWN, SHARED = "evenhand.toml", "pyproject.toml"
VARIABLE = "EVENHAND_CONFIG"  # names the file; empty: no file is read


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What a file sets: for every verb that has the option, and for single verbs."""

    path: Path
    common: Mapping[str, Any]  # option without dashes -> value
    verbs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # `train nli` -> options


def find_defaults(folder: Path) -> Defaults | None:
    """The nearest file with defaults, from this folder upwards; None where there is none.

    Raises InputError for a file that cannot be read.
    """
    if (named := os.environ.get(VARIABLE)) is not None:
        return _read(Path(named).expanduser()) if named else None
    for place in (folder, *folder.parents):
        for name in (OWN, SHARED):
            path = place / name
            if path.is_file() and (found := _read(path)) is not None:
                return found
    return None


def _read(path: Path) -> Defaults | None:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # a TOML error is a ValueError
        if path.name == SHARED:
            return None  # somebody else's file
        raise InputError(path, f"cannot be read as TOML: {error}") from error
    if path.name == SHARED:
        table = table.get("tool", {}).get("evenhand")
        if table is None:
            return None
    common, verbs = _split(table)
    return Defaults(path=path, common=common, verbs=verbs)


def _split(table: Mapping[str, Any], verb: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of a table, and those of the tables in it by verb."""
    own = {_name(key): value for key, value in table.items() if not isinstance(value, dict)}
    inner: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            name = f"{verb} {key}".strip()
            options, deeper = _split(value, name)
            inner |= {name: options, **deeper}
    return own, inner


def _name(key: str) -> str:
    return key.removeprefix("--").replace("_", "-")


def find_verb(program: Any, words: Sequence[str]) -> tuple[tuple[str, ...], Any]:
    """The verb that the words of a command line name, as its path and its command."""
    path: tuple[str, ...] = ()
    command = program
    for word in words:
        if word.startswith("-"):
            continue
        inner = getattr(command, "commands", {}).get(word)
        if inner is None:
            break
        path, command = (*path, word), inner
    return path, command


def defaults_of(
    app: typer.Typer, path: tuple[str, ...], command: Any, words: Sequence[str]
) -> dict[str, Any]:
    """What a file sets for a verb, as the parser of the command line takes it; says so.

    Raises InputError for an option that no verb has, or that a file may not set.
    """
    defaults = find_defaults(Path.cwd())
    if defaults is None or not path or {"-h", "--help"} & {*words}:
        return {}
    options = _options(command)
    verb = " ".join(path)
    own = defaults.verbs.get(verb, {})
    _require_known(defaults, app, own, options, verb)
    wanted = {name: v for name, v in {**defaults.common, **own}.items() if name in options}
    used = [
        f"--{name} {_shown(value)}"
        for name, value in wanted.items()
        if not any(word.partition("=")[0] in options[name].opts for word in words)
    ]
    if used:
        print(f"{defaults.path.name}: {', '.join(used)}", file=sys.stderr)
    values: dict[str, Any] = {options[name].name: value for name, value in wanted.items()}
    for part in reversed(path):
        values = {part: values}
    return values


def _options(command: Any) -> dict[str, Any]:
    """The options of a verb by their long names without dashes."""
    return {
        flag[2:]: parameter
        for parameter in command.params
        for flag in parameter.opts
        if flag.startswith("--") and flag != "--help"
    }


def _require_known(
    defaults: Defaults, app: typer.Typer, own: Mapping[str, Any], here: Mapping[str, Any], verb: str
) -> None:
    for name in (*defaults.common, *(n for table in defaults.verbs.values() for n in table)):
        if name in _NEVER:
            raise InputError(
                defaults.path,
                f"sets {name}, which is for the command line alone: a file that lies in a folder "
                "must not decide it",
            )
    for name in own:
        if name not in here:
            raise _unknown_option(defaults.path, name, here, f"[{verb.replace(' ', '.')}] ")
    if all(name in here for name in defaults.common):
        return
    known = set(_all_options(typer.main.get_command(app)))
    for name in defaults.common:
        if name not in known:
            raise _unknown_option(defaults.path, name, known)


def _all_options(command: Any) -> Iterator[str]:
    yield from _options(command)
    for inner in getattr(command, "commands", {}).values():
        yield from _all_options(inner)


def _shown(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _unknown_option(path: Path, name: str, known: Iterable[str], where: str = "") -> InputError:
    """The error for an option that nothing has."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    hint = f"; did you mean {close[0]}?" if close else "; see --help for the options there are"
    return InputError(path, f"sets {where}{name}, which is no option{hint}")
