"""`evenhand suites ...`: build, export, verify and lint suites."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as opt

if TYPE_CHECKING:
    from evenhand.core.suite import Suite

app = typer.Typer(no_args_is_help=True, help="Build, export, verify and lint suites.")
Name = Annotated[str, typer.Argument(help="Name of a suite, `suite:variant`.")]
NameOrFile = Annotated[
    str, typer.Argument(help="Name of a suite, `suite:variant`, or a suite file (.jsonl).")
]
Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", help="File to write, one JSON object a line; its card goes beside it."
    ),
]


def _summary(suite: Suite) -> str:
    strata = ", ".join(
        f"{count} {name or 'without stratum'}"
        for name, count in sorted(Counter(p.stratum for p in suite.probes).items())
    )
    card = suite.card
    return (
        f"{card.name} {card.version} ({card.language}): {len(suite.probes)} probes ({strata}), {len({p.cluster for p in suite.probes})} clusters, digest {suite.digest}\n"
        f"source: {card.source}; licence: {card.licence}"
    )


def _write(suite: Suite, out: Path) -> None:
    from evenhand.core.suite import card_path, write_suite

    write_suite(suite, out)
    print(_summary(suite))
    print(f"wrote {out} and {card_path(out).name}")


@app.command()
def build(
    name: Name,
    out: Out,
    lang: opt.Lang = "en",
    seed: opt.Seed = 0,
    captions: opt.Captions = None,
    premises: Annotated[
        list[Path] | None,
        typer.Option(help="gendered-entailment: mine the premises from these NLI corpora."),
    ] = None,
    per_occupation: Annotated[
        int | None, typer.Option(min=1, help="gendered-entailment: premises of each occupation.")
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(
            help="What finds personal names in premises: spacy, faker, or a token classifier."
        ),
    ] = None,
    shares: opt.Shares = None,
    dominance: opt.Dominance = 70.0,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="contextualised: cut the sentences from this raw text (repeatable)."),
    ] = None,
    per_word: Annotated[
        int | None,
        typer.Option(
            min=1, help="contextualised: sentences of each gender word, at most [default: 100]."
        ),
    ] = None,
) -> None:
    """Build a suite from the lexicons, from captions, from NLI corpora or from raw text, and write it.

    Examples: `evenhand suites build occupation-nli --lang zh --captions captions.txt --out suite.jsonl`;
    `evenhand suites build gendered-entailment --premises snli_train.jsonl --per-occupation 50 --out suite.jsonl`;
    `evenhand suites build contextualised --corpus news.txt --lang zh --out suite.jsonl`.
    """
    from evenhand.core import catalog
    from evenhand.engine.audit import load_suite
    from evenhand.languages.captions import mine

    if captions:
        mined = mine(captions, catalog.language(lang))
        left = "; ".join(f"{reason}: {count}" for reason, count in mined.dropped.most_common())
        print(f"{len(mined.frames)} frames; left out: {left}")
    suite = load_suite(
        name,
        lang,
        seed=seed,
        captions=captions or (),
        premises=premises or (),
        per_occupation=per_occupation,
        names=names,
        shares=shares,
        dominance=dominance,
        corpora=corpus or (),
        per_word=per_word,
    )
    _write(suite, out)


@app.command()
def export(
    name: Name, out: Out, lang: opt.Lang = "en", data: opt.Data = None, seed: opt.Seed = 0
) -> None:
    """Write the probes of a suite, published or built, to a file, for use with other programs."""
    from evenhand.engine.audit import load_suite

    _write(load_suite(name, lang, data=data, seed=seed), out)


@app.command()
def verify(
    name: NameOrFile, lang: opt.Lang = "en", data: opt.Data = None, seed: opt.Seed = 0
) -> None:
    """Check that a suite is whole: published files against their pinned digests, suite files against their card."""
    from evenhand.engine.audit import load_suite

    print(_summary(load_suite(name, lang, data=data, seed=seed)))
    print("verified")


@app.command()
def lint(
    name: NameOrFile,
    lang: opt.Lang = "en",
    data: opt.Data = None,
    seed: opt.Seed = 0,
    most: Annotated[int, typer.Option(help="Findings to print.")] = 20,
) -> None:
    """Look for gender-dependent frames, duplicates, unequal twins and broken grammar; exit code 1 if there are any."""
    from evenhand.engine.audit import load_suite
    from evenhand.engine.lint import lint as find_faults

    suite = load_suite(name, lang, data=data, seed=seed)
    found = find_faults(suite.probes)
    for finding in found[:most]:
        print(f"{finding.rule}: {finding.probe}: {finding.detail}")
    if len(found) > most:
        print(f"... and {len(found) - most} more")
    counts = ", ".join(
        f"{count} {rule}" for rule, count in Counter(f.rule for f in found).most_common()
    )
    print(f"{len(suite.probes)} probes: {counts or 'clean'}")
    if found:
        sys.exit(1)
