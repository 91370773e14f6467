"""`evenhand mitigate ...`: swap the genders of a corpus; train, audit and compare models."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import mitigate_run
from evenhand.cli import options as opt

app = typer.Typer(no_args_is_help=True, help="Make a model lean less, and measure what that costs.")


class Names(StrEnum):
    """What happens to first names."""

    KEEP = "keep"
    SWAP = "swap"


class Only(StrEnum):
    """Which pairs get a swapped copy."""

    ALL = "all"
    OCCUPATIONS = "occupations"


@app.command(no_args_is_help=True)
def swap(
    file: Annotated[
        Path,
        typer.Argument(
            help="NLI corpus: .jsonl, .csv, .tsv or .txt of SNLI, MNLI, JSNLI, OCNLI, JNLI ..."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File to write (.jsonl); the account OUT.swaps.json goes beside it."
        ),
    ],
    lang: Annotated[
        str, typer.Option("--lang", "-l", help="Language of the corpus: en, ja, zh.")
    ] = "en",
    names: Annotated[
        Names,
        typer.Option(
            help="First names: kept, and a pair left out where a named person's pronouns would "
            "change; or swapped with the rest by evenhand's fixed pairs (Mary and James)."
        ),
    ] = Names.KEEP,
    name_finder: mitigate_run.NameFinder = "auto",
    only: Annotated[
        Only,
        typer.Option(
            help="Copies of all pairs with a gender word, or of those that name an occupation, as "
            "in the paper."
        ),
    ] = Only.ALL,
    paired: Annotated[
        bool,
        typer.Option(
            "--paired",
            help="Instead of copies, give every row its twin_premise and twin_hypothesis, for "
            "`train nli --pairing`.",
        ),
    ] = False,
    biology: Annotated[
        bool,
        typer.Option(
            "--swap-biology/--keep-biology", help="Also swap bearded men and pregnant women."
        ),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Write only this many swapped pairs, drawn at random, each beside its twin: to be "
            "read and judged.",
        ),
    ] = None,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Add gender-swapped copies to an NLI corpus, with the same labels.

    `A man feeds his dog` and `A woman feeds her dog`. Premise and hypothesis are swapped together:
    pronouns by their role (her book, his book; saw her, saw him), kinship, titles, plurals, a or
    an. A pair is left as it is where a swap would make nonsense (a beard, a pregnancy), where a
    word has no partner (ballerina), a title goes with a name (Queen Victoria), the role of `her`
    is unclear, or the pronouns of a named person would change. What was swapped and what was left
    is counted.

    ```console
    evenhand mitigate swap snli_train.jsonl --out snli_swapped.jsonl
    evenhand mitigate swap jsnli.tsv --lang ja --only occupations \\
      --paired --out twins.jsonl
    ```
    """
    from evenhand.cli.progress import asking_bar
    from evenhand.cli.show_document import print_result
    from evenhand.core import catalog
    from evenhand.languages.gender_words import NameSwap
    from evenhand.languages.swapping import require_swappable
    from evenhand.mitigate.swap import SwapOptions, swap_document, swap_file

    language = catalog.language(lang)
    require_swappable(language)
    options = SwapOptions(
        names=NameSwap.of(lang) if names is Names.SWAP else None,
        is_occupations_only=only is Only.OCCUPATIONS,
        name_finder=name_finder,
        is_paired=paired,
        has_biology=biology,
        sample=sample,
        seed=seed,
    )
    with asking_bar("swapping") if sys.stderr.isatty() else nullcontext() as tick:
        report = swap_file(file, language, out, options, tick)
    print_result(swap_document(report), report.describe() if as_json else None, as_json=as_json)
    if not as_json:
        print(f"wrote {report.written:,} rows: {report.out}; account: {report.path}")


app.command("run", no_args_is_help=True)(mitigate_run.run)
