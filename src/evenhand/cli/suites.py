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
PROBES, CROISSANT = FORMS = ("probes", "croissant")
Name = Annotated[str, typer.Argument(help="Name of a suite, `suite:variant`.")]
NameOrFile = Annotated[
    str, typer.Argument(help="Name of a suite, `suite:variant`, or a suite file (.jsonl).")
]
Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", help="File to write, one JSON object per line; its card goes beside it."
    ),
]


def _summary(suite: Suite) -> str:
    strata = ", ".join(
        f"{count} {name or 'without stratum'}"
        for name, count in sorted(Counter(p.stratum for p in suite.probes).items())
    )
    card, clusters = suite.card, len({p.cluster for p in suite.probes})
    return (
        f"{card.name} {card.version} ({card.language}): {len(suite.probes)} probes ({strata}), "
        f"{clusters} clusters, digest {suite.digest}\n"
        f"source: {card.source}; licence: {card.licence}"
    )


def _write(suite: Suite, out: Path) -> None:
    from evenhand.core.suite import card_path, write_suite

    write_suite(suite, out)
    print(_summary(suite))
    print(f"wrote {out} and {card_path(out).name}")


@app.command(context_settings=opt.TAKES_SUITE_OPTIONS)
def build(
    context: typer.Context, name: Name, out: Out, lang: opt.Lang = "en", seed: opt.Seed = 0
) -> None:
    """Build a suite from the lexicons, from captions, NLI corpora or raw text, and write it.

    Each suite has its own options for what it is built from: `evenhand show SUITE` lists them.

    ```console
    evenhand suites build occupation-nli --lang zh \\
      --captions captions.txt --out suite.jsonl
    evenhand suites build gendered-entailment --premises snli_train.jsonl \\
      --per-occupation 50 --out suite.jsonl
    evenhand suites build contextualised --corpora news.txt --lang zh \\
      --out suite.jsonl
    ```
    """
    from evenhand.engine.suites import load_suite

    (options,) = opt.suite_options([name], context, seed=seed)
    _write(load_suite(name, lang, options), out)


def _load(name: str, lang: str, data: Path | None, seed: int) -> Suite:
    from evenhand.core.protocols import SuiteOptions
    from evenhand.engine.suites import load_suite

    return load_suite(name, lang, SuiteOptions(seed=seed, data=data))


@app.command()
def export(
    name: NameOrFile,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="File to write, one JSON object per line; its card goes beside it. With --form "
            "croissant, - prints the metadata alone.",
        ),
    ],
    lang: opt.Lang = "en",
    data: opt.Data = None,
    seed: opt.Seed = 0,
    form: Annotated[
        str,
        typer.Option(help="probes, or croissant: with metadata as Croissant JSON-LD beside them."),
    ] = "probes",
) -> None:
    """Write the probes of a suite, published or built, to a file, for use elsewhere.

    ```console
    evenhand suites export nli-coal --data DIR --out pairs.jsonl
    evenhand suites export occupation-nli --form croissant --out pairs.jsonl
    ```
    """
    from evenhand.core.errors import EvenhandError

    if form not in FORMS:
        raise EvenhandError(f"form '{form}': use {' or '.join(FORMS)}")
    is_printed = str(out) == "-"
    if is_printed and form == PROBES:
        raise EvenhandError("--out - prints metadata alone, with --form croissant; name a file")
    suite = _load(name, lang, data, seed)
    if not is_printed:
        _write(suite, out)
    if form == PROBES:
        return
    from evenhand.core.files import write_atomic
    from evenhand.core.plain import to_json
    from evenhand.publish.croissant import croissant_fields

    file = f"{suite.card.name.replace(':', '-')}.jsonl" if is_printed else out.name
    text = to_json(croissant_fields(suite, file))
    if is_printed:
        print(text, end="")
        return
    metadata = out.with_suffix(".croissant.json")
    write_atomic(metadata, text)
    print(f"wrote {metadata.name}")


@app.command()
def verify(
    name: NameOrFile, lang: opt.Lang = "en", data: opt.Data = None, seed: opt.Seed = 0
) -> None:
    """Check that a suite is complete and unchanged.

    Published files are checked against their pinned digests, suite files against their card. The
    exit code is 1 where the suite is another one, or there is nothing to check it against.
    """
    suite = _load(name, lang, data, seed)
    print(_summary(suite))
    is_verified, reason = _check(name, suite)
    print(f"verified: {reason}" if is_verified else f"not verified: {reason}")
    if not is_verified:
        sys.exit(1)


def _check(name: str, suite: Suite) -> tuple[bool, str]:
    """Whether a suite was found to be what it should be, and how that is known."""
    from evenhand.core.fetch import CHANGED, version_note
    from evenhand.core.suite import card_path

    if name.endswith(".jsonl"):
        card = card_path(Path(name)).name
        if not card_path(Path(name)).exists():
            return False, f"there is no {card} beside the file that states its digest"
        note = version_note(suite.card.version)
        known = f"the probes have the digest that {card} states"
        return not note, f"{known}, which says itself: {note}" if note else known
    if suite.card.is_verified:
        return True, "the published text has its pinned digest"
    if suite.card.version.endswith(f"-{CHANGED}"):
        return False, "the published text has another digest"
    return False, "no digest is pinned for this suite"


@app.command()
def lint(
    name: NameOrFile,
    lang: opt.Lang = "en",
    data: opt.Data = None,
    seed: opt.Seed = 0,
    most: Annotated[int, typer.Option(help="Findings to print, at most.")] = 20,
) -> None:
    """Look for gender-dependent frames, duplicates, unequal twins and broken grammar.

    The exit code is 1 if there are any.
    """
    from evenhand.engine.lint import lint as find_faults

    suite = _load(name, lang, data, seed)
    findings = find_faults(suite.probes)
    for finding in findings[:most]:
        print(f"{finding.rule}: {finding.probe}: {finding.detail}")
    if len(findings) > most:
        print(f"... and {len(findings) - most} more")
    rules = Counter(f.rule for f in findings).most_common()
    counts = ", ".join(f"{count} {rule}" for rule, count in rules)
    print(f"{len(suite.probes)} probes: {counts or 'clean'}")
    if findings:
        sys.exit(1)
