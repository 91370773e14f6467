"""In which line of a TOML file does a key stand? The library reads values only; an error needs the line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

Path = tuple[str | int, ...]
_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_TABLE = re.compile(rf"^\s*(\[\[?)\s*({_DOTTED})\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(rf"^\s*({_DOTTED})\s*=\s*(.*)$")
_SYNTAX = re.compile(r"\(at line (\d+), column \d+\)")


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, dotted))


def find_lines(text: str) -> Mapping[Path, int]:
    """("consent", "zh") -> line; the tables of an array are numbered: ("inventory", 0, "low")."""
    lines: dict[Path, int] = {}
    prefix: Path = ()
    counts: Counter[Path] = Counter()
    quote = ""  # the triple quote that a string of several lines ends with
    for number, line in enumerate(text.split("\n"), 1):
        if quote:
            quote = "" if quote in line else quote
            continue
        if found := _TABLE.match(line):
            prefix = _names(found.group(2))
            if (
                counts[prefix[:1]] and len(prefix) > 1
            ):  # [inventory.subscales] belongs to the inventory above it
                prefix = (prefix[0], counts[prefix[:1]] - 1, *prefix[1:])
            if found.group(1) == "[[":
                counts[prefix] += 1
                prefix = (*prefix, counts[prefix] - 1)
            lines.setdefault(prefix, number)
        elif found := _KEY.match(line):
            path = (*prefix, *_names(found.group(1)))
            for end in range(len(prefix) + 1, len(path) + 1):
                lines.setdefault(path[:end], number)
            quote = next(
                (
                    q
                    for q in ('"""', "'''")
                    if found.group(2).startswith(q) and q not in found.group(2)[3:]
                ),
                "",
            )
    return MappingProxyType(lines)


def find_line(lines: Mapping[Path, int], path: Path) -> int | None:
    """The line of a key, or of the table that it should stand in; None where neither is there."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), None)


def syntax_line(message: str) -> int | None:
    """The line that the library's own message names."""
    found = _SYNTAX.search(message)
    return int(found.group(1)) if found else None
