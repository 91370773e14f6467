"""A TOML file while it is read: values of the right kind, or an error that names the line."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar, cast

from evenhand.core.errors import InputError
from evenhand.core.files import read_text

MOST = 1_000_000
Key = tuple[str | int, ...]  # ("consent", "zh"); tables of an array by number: ("inventory", 0)
Default = TypeVar("Default", str, int, None)
_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_TABLE = re.compile(rf"^\s*(\[\[?)\s*({_DOTTED})\s*\]\]?\s*(?:#.*)?$")
_ASSIGNED = re.compile(rf"^\s*({_DOTTED})\s*=\s*(.*)$")
_SYNTAX = re.compile(r"\(at line (\d+), column \d+\)")


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, dotted))


def find_lines(text: str) -> Mapping[Key, int]:
    """Each key and table -> the line where it stands; the library reads values only."""
    lines: dict[Key, int] = {}
    prefix: Key = ()
    counts: Counter[Key] = Counter()
    quote = ""  # the triple quote that a string of several lines ends with
    for number, line in enumerate(text.split("\n"), 1):
        if quote:
            quote = "" if quote in line else quote
            continue
        if match := _TABLE.match(line):
            prefix = _names(match.group(2))
            # [inventory.subscales] belongs to the inventory above it
            if counts[prefix[:1]] and len(prefix) > 1:
                prefix = (prefix[0], counts[prefix[:1]] - 1, *prefix[1:])
            if match.group(1) == "[[":
                counts[prefix] += 1
                prefix = (*prefix, counts[prefix] - 1)
            lines.setdefault(prefix, number)
        elif match := _ASSIGNED.match(line):
            key = (*prefix, *_names(match.group(1)))
            for end in range(len(prefix) + 1, len(key) + 1):
                lines.setdefault(key[:end], number)
            value = match.group(2)
            opened = [q for q in ('"""', "'''") if value.startswith(q) and q not in value[3:]]
            quote = opened[0] if opened else ""
    return MappingProxyType(lines)


class TomlFile:
    """The values of a file, and the line of each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = read_text(path)
        self._lines = find_lines(text)
        try:
            self.data: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            match = _SYNTAX.search(str(error))
            # "at end of document" names no line
            line = int(match.group(1)) if match else len(text.rstrip().split("\n"))
            raise InputError(path, f"not TOML: {error}", row=line) from error

    def line_of(self, key: Key) -> int | None:
        """The line of a key, or of the table that it should stand in; None where neither is."""
        ends = (key[:end] for end in range(len(key), 0, -1))
        return next((self._lines[end] for end in ends if end in self._lines), None)

    def refuse(self, key: Key, reason: str) -> NoReturn:
        """Raise InputError that names the line."""
        raise InputError(self.path, reason, row=self.line_of(key))

    def check_keys(self, table: Mapping[str, Any], known: Sequence[str], key: Key = ()) -> None:
        """Refuse a key of the table that means nothing; `key` is that of the table."""
        for name in table:
            if name not in known:
                close = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.5)
                hint = f"Known: {', '.join(known)}."
                if close:
                    hint = f"Did you mean {' or '.join(close)}?"
                self.refuse((*key, name), f"unknown key '{name}'. {hint}")

    def get(self, key: Key, kind: type | tuple[type, ...], noun: str, default: Any) -> Any:
        """A value of a kind, refused where it is of another; true does not count as a number."""
        table: Any = self.data
        for step in key[:-1]:
            table = table[step]
        value = table.get(key[-1], default)
        if value is default:
            return default
        if not isinstance(value, kind) or isinstance(value, bool):
            self.refuse(key, f"{key[-1]} is {value!r}, which is not {noun}")
        return value

    def text(self, key: Key, default: Default) -> str | Default:
        """A text that is not empty."""
        value = self.get(key, str, "a text; write it in quotation marks", default)
        if isinstance(value, str) and not value.strip():
            self.refuse(key, f"{key[-1]} is empty; give a text or leave the line out")
        return cast("str | Default", value)

    def whole(self, key: Key, default: Default, low: int, high: int = MOST) -> int | Default:
        """A whole number in a range."""
        value = self.get(key, int, f"a whole number; give one from {low} to {high}", default)
        if value is not default and not low <= value <= high:
            self.refuse(key, f"{key[-1]} is {value}; give a whole number from {low} to {high}")
        return cast("int | Default", value)

    def flag(self, name: str, *, default: bool) -> bool:
        """true or false."""
        value = self.data.get(name, default)
        if not isinstance(value, bool):
            self.refuse((name,), f"{name} is {value!r}; give true or false")
        return value

    def share(self, name: str, default: float) -> float:
        """A number from 0 to 1."""
        value = self.get((name,), (int, float), "a number from 0 to 1", default)
        if not 0 <= value <= 1:
            self.refuse((name,), f"{name} is {value}; it is a share, from 0 to 1 (80 % is 0.8)")
        return float(value)

    def names(
        self, key: Key, default: Sequence[str], known: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """A list of different names, each of them among `known` where that is given."""
        values = self.get(key, list, 'a list such as ["a", "b"]', list(default))
        for name in values:
            if not isinstance(name, str):
                reason = f"{name!r} in {key[-1]} is no text; write it in quotation marks"
                self.refuse(key, reason)
            if known is not None and name not in known:
                self.refuse(key, f"'{name}' in {key[-1]} is unknown; known: {', '.join(known)}")
            if values.count(name) > 1:
                self.refuse(key, f"'{name}' stands twice in {key[-1]}; once is enough")
        if known is not None and not values:
            self.refuse(key, f"{key[-1]} is empty; give at least one of {', '.join(known)}")
        return tuple(values)

    def file(self, key: Key) -> Path | None:
        """A path, beside this file unless it is absolute."""
        name = self.text(key, None)
        return None if name is None else (self.path.parent / Path(name).expanduser()).absolute()
