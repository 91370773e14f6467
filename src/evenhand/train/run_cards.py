"""Run cards (training.json): what was trained, on what and how well, and whether a run is done."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from evenhand.core.corpora import Pair
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.estimate import Interval
from evenhand.core.files import read_text, write_atomic
from evenhand.core.probe import Bools
from evenhand.train.recipes import completed

CARD = "training.json"
LEVEL = 0.95
ADVICE = "start anew with --no-resume, or choose another folder with --out"
_PACKAGES = ("evenhand", "torch", "transformers", "tokenizers", "accelerate", "peft", "numpy")
_SHOWN = 4  # differences that are named
_LONG = 200  # letters of one that are shown


@dataclass(frozen=True, slots=True)
class RunCard:
    """The record of a run; `facts` is the content of training.json."""

    facts: Mapping[str, Any]

    @property
    def accuracy(self) -> Mapping[str, float]:
        """Share of pairs labelled right, by dev file."""
        return dict(self.facts["accuracy"])

    @property
    def steps(self) -> int:
        """Steps of the optimiser."""
        return int(self.facts["steps"])

    @property
    def seconds(self) -> float:
        """How long the training took."""
        return float(self.facts["seconds"])

    @property
    def settings(self) -> dict[str, Any]:
        """What two runs must have in common to be the same run: all but where the files lie.

        Of a classifier on sentence vectors also the revision of the head that it started from.
        """
        facts = self.facts
        files = facts.get("data", {})
        settings = {
            "recipe": facts.get("recipe"),
            "encoder": facts.get("encoder", {}).get("revision"),
            "limit": facts.get("limit"),
            "data": {part: [file["sha256"] for file in files[part]] for part in files},
        }
        if "start" in facts:
            settings["start"] = (facts["start"] or {}).get("revision")
        return settings

    def accuracy_lines(self) -> list[str]:
        """The accuracy on each dev file with its interval, in words."""
        lines = []
        for name, value in self.accuracy.items():
            bounds = self.facts["interval"][name]
            line = (
                f"dev accuracy on {name}: {value:.2%} [{bounds['low']:.2%}, {bounds['high']:.2%}], "
                f"{bounds['pairs']:,} pairs"
            )
            if "majority" in self.facts:
                line += f"; the most frequent label: {self.facts['majority'][name]:.2%}"
            lines.append(line)
        return lines

    def text(self) -> str:
        """The card as JSON."""
        return json.dumps(self.facts, indent=1, ensure_ascii=False) + "\n"

    def write(self, folder: Path) -> None:
        """Write training.json, whole or not at all."""
        write_atomic(folder / CARD, self.text())


def read_card(path: Path, command: str) -> RunCard:
    """The card in a file; raises InputError where `command` did not write it."""
    try:
        card = RunCard(dict(json.loads(read_text(path))))
        _ = card.settings  # raises where the facts are those of something else
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            path,
            f"is no run card of `{command}`; choose another folder, "
            "or overwrite it with --no-resume",
        ) from error
    return card


def finished_card(folder: Path, card: RunCard, command: str) -> RunCard:
    """The card of the run that is finished in a folder.

    Raises InputError where `command` did not write it, EvenhandError where its settings are not
    those of `card`.
    """
    old = read_card(folder / CARD, command)
    require_same(folder, old.settings, json.loads(json.dumps(card.settings)))
    return old


def require_same(folder: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raise EvenhandError where `folder` holds a run with other settings.

    Fields that an older version did not have yet count as their defaults.
    """
    one, two = ({**s, "recipe": completed(s.get("recipe") or {})} for s in (old, new))
    if differences := list_differences(one, two):
        shown = "; ".join(
            text if len(text) < _LONG else f"{text[:_LONG]}..." for text in differences[:_SHOWN]
        )
        raise EvenhandError(f"{folder} holds a run with other settings ({shown}); {ADVICE}")


def list_differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Where two descriptions of a run differ: `recipe.epochs: 3, now 5`."""
    lines = []
    for key in [*old, *(k for k in new if k not in old)]:
        before, now = old.get(key), new.get(key)
        if isinstance(before, Mapping) and isinstance(now, Mapping):
            lines += list_differences(before, now, f"{prefix}{key}.")
        elif before != now:
            lines.append(f"{prefix}{key}: {before}, now {now}")
    return lines


def accuracy_interval(is_right: Bools, premises: Sequence[str], level: float = LEVEL) -> Interval:
    """Accuracy with Wilson's interval, at the effective number of pairs.

    Pairs that share a premise are not independent.
    """
    share, count = float(is_right.mean()), float(len(is_right))
    names, place = np.unique(np.asarray(premises), return_inverse=True)
    residuals = np.bincount(place, weights=is_right - share, minlength=len(names))
    variance = float((residuals**2).sum()) / count**2
    if variance > 0:
        count = min(count, share * (1 - share) / variance)
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = (
        z
        / (1 + z * z / count)
        * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    )
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


def accuracy_facts(
    right_rows: Callable[[str], Bools], held_out: Mapping[str, Sequence[Pair]]
) -> dict[str, Any]:
    """Accuracy and its interval for each dev file; `right_rows` says which pairs are right."""
    intervals = {
        name: accuracy_interval(right_rows(name), [p.premise for p in pairs])
        for name, pairs in held_out.items()
    }
    return {
        "accuracy": {name: i.value for name, i in intervals.items()},
        "interval": {
            name: {"low": i.low, "high": i.high, "level": LEVEL, "pairs": len(held_out[name])}
            for name, i in intervals.items()
        },
    }


def installed_versions() -> dict[str, str]:
    """The versions of Python and of the packages that the numbers depend on."""
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
