"""What is shown as evidence? A probe, what the model made of it, and why it is in the list."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.core.probe import Probe
from evenhand.report.blanks import Filled


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One probe: its text, what the model made of it, and the same in parts for a page."""

    probe: Probe
    text: str
    told: str
    tag: str
    filled: Filled | None = None
    share: float = 0.5  # of the first word
    context: str = ""
    options: tuple[
        tuple[str, str, bool], ...
    ] = ()  # text, number, is it the one that the model prefers
    chances: tuple[tuple[str, float, bool], ...] = ()  # label, probability, is it the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A list of probes and why they are in it."""

    name: str
    title: str
    note: str
    items: tuple[Item, ...]
