"""Options that several verbs share, and the options that a suite itself brings."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.core.errors import EvenhandError

if TYPE_CHECKING:
    from evenhand.core.protocols import RespondentOptions, SuiteOptions
    from evenhand.core.settings import Settings

# suites bring options of their own, which are looked up when the suite is known
OWN_OPTIONS = {"allow_extra_args": True, "ignore_unknown_options": True}

Lang = Annotated[str, typer.Option("--lang", "-l", help="Language of the suite: en, ja, ko, zh.")]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        help="Seed of everything random: the suite's choice of words, `--limit`, the bootstrap.",
    ),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Ask only so many probes, strata in turn.")]
Data = Annotated[
    Path | None,
    typer.Option(help="Folder with published data sets (else EVENHAND_DATA, else fetched)."),
]
Captions = Annotated[
    list[Path] | None,
    typer.Option(help="Mine the frames from these captions (.txt, .jsonl, .csv)."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
LabelMap = Annotated[
    str | None,
    typer.Option(help="Which output means what, e.g. `entailment=0,neutral=1,contradiction=2`."),
]
Scoring = Annotated[
    str | None,
    typer.Option(
        help="Masked models: how a word of several tokens is scored: together (default), "
        "left-to-right, within-word, one-by-one."
    ),
]
Length = Annotated[
    str,
    typer.Option(
        help="Masked models: how words of unequal length are compared: auto (sum if equally "
        "long, else mean), sum, mean."
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        help="Classifiers asked to choose: pair (default), or a supposition: clean, esp, or your "
        "own text with {h} and {p}."
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(help="Encoders: mean or cls [default: what the model's folder says, else mean]."),
]
Similarity = Annotated[str, typer.Option(help="Encoders: cosine, dot or distance (negative).")]
BatchSize = Annotated[
    str, typer.Option(help="Pairs per batch, or auto. Changes speed, not answers.")
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ... (torch models).")]
Cache = Annotated[
    bool, typer.Option(help="Keep answers, so that the same command goes on where it stopped.")
]
Level = Annotated[float, typer.Option(help="Level of the intervals.")]
Resamples = Annotated[int, typer.Option(min=100, help="Resamples of the cluster bootstrap.")]
Method = Annotated[str, typer.Option(help="Interval: bca or percentile.")]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure", "-m", help="Only this measure (repeatable); all that fit by default."
    ),
]


def parse_label_map(text: str | None) -> dict[str, int] | None:
    """`entailment=0,neutral=1,contradiction=2` as a table."""
    if text is None:
        return None
    table: dict[str, int] = {}
    for part in text.split(","):
        name, _, column = part.partition("=")
        if not column.strip().isdigit() or name.strip() in table:
            raise EvenhandError(
                f"label map '{text}': '{part}' is not of the form name=number, each name once, "
                "for example entailment=0,neutral=1,contradiction=2"
            )
        table[name.strip()] = int(column)
    return table


def parse_batch_size(text: str) -> int | None:
    """A number of at least 1, or None for auto."""
    if text == "auto":
        return None
    if not text.isdigit() or int(text) < 1:
        raise EvenhandError(f"batch size '{text}': give a number of at least 1, or auto")
    return int(text)


def make_settings(
    seed: int, resamples: int, level: float, method: str, permutations: int = 10_000
) -> Settings:
    """The settings of estimates; an unknown method is an error."""
    from evenhand.core.settings import Settings

    return Settings(
        seed=seed,
        resamples=resamples,
        level=level,
        method=method,  # type: ignore[arg-type]
        permutations=permutations,
    )


def respondent_options(values: dict[str, Any]) -> RespondentOptions:
    """How a respondent is opened, from the values of a verb's options."""
    from evenhand.core.protocols import RespondentOptions

    names = ("seed", "scoring", "length", "form", "pooling", "similarity", "device")
    return RespondentOptions(
        label_map=parse_label_map(values["label_map"]),
        batch_size=parse_batch_size(values["batch_size"]),
        **{name: values[name] for name in names},
    )


def own_fields(options: type[SuiteOptions]) -> dict[str, dataclasses.Field[Any]]:
    """The options that a suite has beside those of every suite, by flag."""
    from evenhand.core.protocols import SuiteOptions

    common = {f.name for f in dataclasses.fields(SuiteOptions)}
    return {
        f"--{f.name.replace('_', '-')}": f
        for f in dataclasses.fields(options)
        if f.name not in common
    }


def suite_options(
    suite: str, context: typer.Context, *, seed: int = 0, data: Path | None = None
) -> SuiteOptions | None:
    """The options of a suite: what every suite has, and what the command line has left over.

    None for a suite file without such options. Raises EvenhandError for an option that neither
    the verb nor the suite has.
    """
    from evenhand.core import catalog
    from evenhand.core.protocols import SuiteOptions

    stem = suite.partition(":")[0]
    is_file = suite.endswith(".jsonl")
    wanted = SuiteOptions if is_file else catalog.suite(stem).options
    known = own_fields(wanted)
    hints = typing.get_type_hints(wanted)
    values: dict[str, Any] = {}
    arguments = list(context.args)
    while arguments:
        flag, _, text = arguments.pop(0).partition("=")
        if flag not in known:
            own = [o for p in context.command.params for o in p.opts if o.startswith("--")]
            raise _unknown_option(flag, stem, [*known, *own])
        if not text:
            if not arguments or arguments[0].startswith("--"):
                raise EvenhandError(f"{flag} needs a value: {known[flag].metadata.get('help')}")
            text = arguments.pop(0)
        name = known[flag].name
        value, is_several = _parse(flag, text, hints[name])
        values[name] = (*values.get(name, ()), value) if is_several else value
    return wanted(seed=seed, data=data, **values)


def _unknown_option(flag: str, suite: str, known: Sequence[str]) -> EvenhandError:
    close = difflib.get_close_matches(flag, known, n=1, cutoff=0.6)
    hint = f"Did you mean {close[0]}?" if close else f"See --help and `evenhand show {suite}`."
    return EvenhandError(f"no option '{flag}' here, and the suite '{suite}' has none. {hint}")


def _parse(flag: str, text: str, hint: Any) -> tuple[Any, bool]:
    """The value that a text stands for, and whether the option may be given several times."""
    choices = typing.get_args(hint)
    is_several = typing.get_origin(hint) is tuple
    is_union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    kind = next(c for c in choices if c is not type(None)) if is_union or is_several else hint
    try:
        return kind(text), is_several
    except ValueError as error:
        raise EvenhandError(f"{flag} is '{text}'; give a {kind.__name__}") from error
