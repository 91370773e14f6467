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
    from evenhand.core.suite import Suite

# Context settings of verbs that accept the options of a suite: typer passes on what it does not
# know, and `suite_options` reads it once the suite is known.
TAKES_SUITE_OPTIONS = {"allow_extra_args": True, "ignore_unknown_options": True}

Lang = Annotated[str, typer.Option("--lang", "-l", help="Language of the suite: en, ja, ko, zh.")]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        help="Seed of everything random: the suite's choice of words, `--limit`, the bootstrap.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        min=1, help="Ask at most this many probes: whole pairs, strata in turn, clusters evenly."
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder with the published data sets, or one file of some of them "
        "[default: EVENHAND_DATA; else they are fetched]."
    ),
]
Captions = Annotated[
    list[Path] | None,
    typer.Option(help="Mine the frames from these captions: .txt, .jsonl, .csv (repeatable)."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON on standard output.")
]
NoScript = Annotated[
    bool,
    typer.Option(
        "--no-script",
        help="Write the page without a script, and so without the explorer of its probes.",
    ),
]
LabelMap = Annotated[
    str | None,
    typer.Option(
        help="Which output of a classifier means which label, for example "
        "`entailment=0,neutral=1,contradiction=2` [default: read from the model's config]."
    ),
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
        help="Masked models: how words of unequal length are compared: auto (every word as "
        "long as the shortest), sum, mean."
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--supposition",
        help="Classifiers asked to choose: pair (default), or a supposition: clean, esp, or your "
        "own text with {h} and {p}.",
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(
        help="Sentence encoders: how token vectors become one: mean or cls [default: what the "
        "model's folder says, else mean]."
    ),
]
Similarity = Annotated[
    str,
    typer.Option(
        help="Sentence encoders: how two vectors are compared: cosine, dot, or distance (negated)."
    ),
]
BatchSize = Annotated[
    str, typer.Option(help="Pairs per batch, or auto. Changes speed, not answers.")
]
TrustRemoteCode = Annotated[
    bool,
    typer.Option(
        "--trust-remote-code",
        help="Run the code that the model itself brings, and open pickled weights. Only for a "
        "model whose origin you know.",
    ),
]
Device = Annotated[str, typer.Option(help="Device for torch models: auto, cpu, cuda, cuda:1 ...")]
Dtype = Annotated[
    str,
    typer.Option(
        help="Numbers that torch models compute in: fp32, bf16, fp16. The signature names them."
    ),
]
Revision = Annotated[
    str | None,
    typer.Option(help="Commit, branch or tag of a model on the hub [default: its newest]."),
]
Cache = Annotated[
    bool,
    typer.Option(help="Keep answers on disk, so that the same command continues where it stopped."),
]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Resamples = Annotated[
    int, typer.Option(min=100, help="Bootstrap resamples behind each interval (whole clusters).")
]
Permutations = Annotated[
    int,
    typer.Option(min=100, help="Random swaps of two models' answers, for the p values."),
]
Method = Annotated[
    str, typer.Option("--interval", help="How intervals are computed: bca or percentile.")
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Print everything: strata, coverage, notes and signatures."
    ),
]
Target = Annotated[
    str,
    typer.Option(
        help="What intervals are about: new-items (other occupations, sentences, words of the same "
        "kind), or this-set (exactly these probes, uncertain only as far as --limit left some out)."
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help="Only this measure (repeatable) [default: all that fit]."),
]
Dev = Annotated[
    Path | None,
    typer.Option(
        "--dev",
        help="File of labelled NLI pairs (.jsonl, .csv, .tsv, .txt, also .gz): the accuracy on it "
        "stands beside the scores, and says whether the model understands.",
    ),
]
DevLimit = Annotated[
    int | None, typer.Option("--dev-limit", min=1, help="Ask at most this many pairs of --dev.")
]

# options of the verbs that train models
TrainFiles = Annotated[
    list[Path],
    typer.Option(
        "--train",
        help="Training file (repeatable): .jsonl, .csv, .tsv or .txt, also .gz, of SNLI, MNLI, "
        "JSNLI, OCNLI, JNLI ...",
    ),
]
DevFiles = Annotated[
    list[Path],
    typer.Option(
        "--dev",
        help="File of held-out pairs on which accuracy is measured after every epoch (repeatable).",
    ),
]
TrainLimit = Annotated[
    int | None,
    typer.Option("--train-limit", min=1, help="Train on only this many pairs, drawn at random."),
]
Epochs = Annotated[
    int | None, typer.Option(help="Passes over the training pairs [default: the recipe's].")
]
LearningRate = Annotated[
    float | None, typer.Option(help="Learning rate of the optimiser [default: the recipe's].")
]
Resume = Annotated[
    bool, typer.Option(help="Continue where the same command stopped; --no-resume starts afresh.")
]


def dev_suite(dev: Path | None, lang: str, limit: int | None, seed: int) -> Suite | None:
    """The pairs of --dev, at most --dev-limit of them; None where there is no --dev."""
    from evenhand.engine.checks import load_dev

    if dev is not None:
        return load_dev(dev, lang, limit=limit, seed=seed)
    if limit is not None:
        raise EvenhandError(f"--dev-limit {limit} cuts a file that --dev names; give --dev FILE")
    return None


def split_names(text: str | None) -> tuple[str, ...]:
    """The names in a list with commas, each once; none in None."""
    names = (name.strip() for name in (text or "").split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def flag_of(context: typer.Context, name: str) -> str:
    """The option whose value a parameter of the verb holds, as the user writes it."""
    return next(p.opts[0] for p in context.command.params if p.name == name)


def is_given(context: typer.Context, name: str) -> bool:
    """Whether the command line has this option, and not only its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def parse_label_map(text: str | None) -> dict[str, int] | None:
    """`entailment=0,neutral=1,contradiction=2` as label -> output; None where nothing is given."""
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


def make_settings(values: dict[str, Any]) -> Settings:
    """The settings of estimates, from the values of a verb's options.

    Raises EvenhandError for a value that cannot be.
    """
    from evenhand.core.settings import TARGETS, Settings

    given = {f.name: values[f.name] for f in dataclasses.fields(Settings) if f.name in values}
    if "target" in given:
        names = {target.replace(" ", "-"): target for target in TARGETS}
        if given["target"] not in names:
            raise EvenhandError(f"target '{given['target']}': use {' or '.join(names)}")
        given["target"] = names[given["target"]]
    return Settings(**given)


def respondent_options(values: dict[str, Any]) -> RespondentOptions:
    """How a respondent is opened, from the values of a verb's options."""
    from evenhand.core.protocols import RespondentOptions

    given = {
        f.name: values[f.name] for f in dataclasses.fields(RespondentOptions) if f.name in values
    }
    if "label_map" in given:
        given["label_map"] = parse_label_map(given["label_map"])
    if "batch_size" in given:
        given["batch_size"] = parse_batch_size(given["batch_size"])
    return RespondentOptions(**given)


def own_fields(options: type[SuiteOptions]) -> dict[str, dataclasses.Field[Any]]:
    """The options that this suite has in addition to those of every suite, by flag."""
    from evenhand.core.protocols import SuiteOptions

    common = {f.name for f in dataclasses.fields(SuiteOptions)}
    return {
        f"--{f.name.replace('_', '-')}": f
        for f in dataclasses.fields(options)
        if f.name not in common
    }


def suite_options(
    suites: Sequence[str],
    context: typer.Context,
    *,
    seed: int = 0,
    data: Path | None = None,
) -> list[SuiteOptions]:
    """The options of each suite: what every suite has, and what the command line has left over.

    An option that only some of the suites have goes to those. Raises EvenhandError for one that
    neither the verb nor any of the suites has.
    """
    from evenhand.core import catalog
    from evenhand.core.protocols import SuiteOptions

    stems = [suite.partition(":")[0] for suite in suites]
    kinds = [
        SuiteOptions if suite.endswith(".jsonl") else catalog.suite(stem).options
        for suite, stem in zip(suites, stems, strict=True)
    ]
    known = {flag: field for kind in kinds for flag, field in own_fields(kind).items()}
    given: list[tuple[str, str]] = []
    arguments = list(context.args)
    while arguments:
        flag, _, text = arguments.pop(0).partition("=")
        if flag not in known:
            raise _unknown_option(flag, stems, [*known, *_flags(context)])
        if not text:
            if not arguments or arguments[0].startswith("--"):
                raise EvenhandError(f"{flag} needs a value: {known[flag].metadata.get('help')}")
            text = arguments.pop(0)
        given.append((flag, text))
    return [kind(seed=seed, data=data, **_values(kind, given)) for kind in kinds]


def refuse_suite_options(context: typer.Context) -> None:
    """Raise EvenhandError if the command line has an option that the verb does not have."""
    if context.args:
        raise _unknown_option(context.args[0].partition("=")[0], [], _flags(context))


def take_suite_options(words: Sequence[str], context: typer.Context) -> list[str]:
    """The words that are no options of a suite; these are moved to what is left over.

    For a verb that takes any number of words, to which the parser counts unknown options too.
    """
    kept: list[str] = []
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        if not word.startswith("-"):
            kept.append(word)
            continue
        context.args.append(word)
        if "=" not in word and remaining and not remaining[0].startswith("--"):
            context.args.append(remaining.pop(0))
    return kept


def _values(kind: type[SuiteOptions], given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The fields of these options that the command line gives, by name."""
    known, hints = own_fields(kind), typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for flag, text in given:
        if flag in known:
            name = known[flag].name
            value, is_several = _parse(flag, text, hints[name])
            values[name] = (*values.get(name, ()), value) if is_several else value
    return values


def _flags(context: typer.Context) -> list[str]:
    """The long options of the verb itself."""
    return [o for p in context.command.params for o in p.opts if o.startswith("--")]


def _unknown_option(flag: str, suites: Sequence[str], known: Sequence[str]) -> EvenhandError:
    from evenhand.core import catalog

    if not flag.startswith("-"):
        return EvenhandError(f"'{flag}' is one argument too many. See --help.")
    named = " and ".join(f"'{suite}'" for suite in suites)
    owners = [
        name for name, s in catalog.entries("suites").items() if flag in own_fields(s.options)
    ]
    close = difflib.get_close_matches(flag, known, n=1, cutoff=0.6)
    if owners:
        hint = f"It is an option of {' and '.join(owners)}."
    elif close:
        hint = f"Did you mean {close[0]}?"
    else:
        hint = "See --help" + "".join(f" and `evenhand show {suite}`" for suite in suites) + "."
    if not named:
        return EvenhandError(f"no option '{flag}' here. {hint}")
    lack = f"the suite {named} has none" if len(suites) == 1 else f"the suites {named} have none"
    return EvenhandError(f"no option '{flag}' here, and {lack}. {hint}")


def _parse(flag: str, text: str, hint: Any) -> tuple[Any, bool]:
    """The value that a text stands for, and whether the option may be given several times."""
    choices = typing.get_args(hint)
    is_several = typing.get_origin(hint) is tuple
    is_union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    kind = next(c for c in choices if c is not type(None)) if is_union or is_several else hint
    try:
        return kind(text), is_several
    except ValueError as error:
        number = "a whole number" if kind is int else "a number"
        raise EvenhandError(f"{flag} is '{text}'; give {number}") from error
