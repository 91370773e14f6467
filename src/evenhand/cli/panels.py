"""The panels that `--help` shows options in: one table for all verbs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

SUITE, MODEL, TRAINING = "Suite", "Model", "Training"
STATISTICS, OUTPUT = "Statistics", "Output"
# Options that only one verb has come first, in a panel without a name of its own.
_PANELS = {
    SUITE: "--suite --whole --lang --limit --seed --data --dev --dev-limit --captions",
    MODEL: "--label-map --scoring --length --supposition --pooling --similarity --batch-size "
    "--device --dtype --revision --trust-remote-code --cache",
    TRAINING: "--encoder --start --train --train-limit --recipe --epochs --learning-rate "
    "--max-length --lora --lora-alpha --pairing --patience --hidden --dropout --best "
    "--fresh-pooler --checkpoint-every --resume",
    STATISTICS: "--measure --resamples --permutations --level --interval --target",
    OUTPUT: "--out --force --onnx --no-script --verbose --json --help",
}
_PANEL_OF = {flag: panel for panel, flags in _PANELS.items() for flag in flags.split()}
_IN_TRAINING = frozenset({"--batch-size", "--dev"})  # of a verb that trains


class Parameter(Protocol):
    """What is read and set of an option."""

    opts: list[str]
    rich_help_panel: str | None


def panel_of(flag: str, flags: Iterable[str]) -> str | None:
    """The panel of an option among those of its verb; None for what only this verb has."""
    if flag in _IN_TRAINING and "--train" in flags:
        return TRAINING
    return _PANEL_OF.get(flag)


def arrange(parameters: Iterable[Parameter]) -> list[Parameter]:
    """The parameters of a verb in the order of the panels, each with its panel."""
    known = list(parameters)
    flags = {parameter.opts[0] for parameter in known}
    order = [None, *_PANELS]
    for parameter in known:
        if parameter.opts[0].startswith("-"):
            parameter.rich_help_panel = panel_of(parameter.opts[0], flags)
    return sorted(known, key=lambda p: order.index(getattr(p, "rich_help_panel", None)))
