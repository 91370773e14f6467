"""`evenhand meta`: sets with a known bias, models trained on them, which measures find it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as opt

if TYPE_CHECKING:
    from evenhand.meta.ladder import Ladder

app = typer.Typer(
    no_args_is_help=True,
    help="Test the measures themselves: train models of known bias, see which measures find it.",
)
Language = Annotated[
    str, typer.Option("--lang", "-l", help="Language of the sentences: en, ja, zh.")
]
Correct = Annotated[
    str,
    typer.Option(
        help="Share of correct pairs: half (as the paper says) or third (as in its files, where "
        "all three labels are equally frequent)."
    ),
]
Words = Annotated[
    int | None,
    typer.Option(
        "--occupations",
        help="Occupations of each lean (male, female, none) to train on; each plays one part only "
        "[default: 10; 30 in other forms than suite, which ask about 10 others].",
    ),
]
FORM = "suite"
FORM_HELP = (
    "suite (as in the occupation suite, about the words that are asked), captions, coreference or "
    "biographies (other sentences, about other words)"
)
Published = Annotated[
    Path | None,
    typer.Option(
        help="Read the authors' bias-controlled sets from this folder instead of building them."
    ),
]


@app.command(no_args_is_help=True)
def build(
    rate: Annotated[
        float,
        typer.Option(
            help="Bias rate r, from 0 to 1: the share of the wrong pairs whose label follows the "
            "stereotype."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder for train.jsonl, dev.jsonl and controlled.json."),
    ],
    lang: Language = "en",
    form: Annotated[
        str, typer.Option("--planted", help=f"Sentences that the bias is planted in: {FORM_HELP}.")
    ] = FORM,
    train_pairs: Annotated[
        int | None, typer.Option(help="Training pairs [default: 30,000; 3,600 in other forms].")
    ] = None,
    dev_pairs: Annotated[
        int | None,
        typer.Option(
            help="Development pairs, of other sentences [default: 3,000; 720 in other forms]."
        ),
    ] = None,
    errors: Annotated[
        float,
        typer.Option(
            help="Of the stereotyped words that are not biased, the share that is labelled wrongly "
            "without bias (1 in the paper)."
        ),
    ] = 1.0,
    correct: Correct = "half",
    words: Words = None,
    seed: opt.Seed = 0,
    captions: opt.Captions = None,
    published: Published = None,
    as_json: opt.AsJson = False,
) -> None:
    """Build a training set and a development set with a known bias.

    ```console
    evenhand meta build --rate 0.3 --lang ja --out sets/ja-0.3
    ```
    """
    from evenhand.cli.show_document import print_json
    from evenhand.meta.controlled import CARD, build_sets, save_sets
    from evenhand.meta.ladder import Rung
    from evenhand.meta.options import LadderOptions, check_share, refuse_other_form
    from evenhand.meta.plan import make_plan
    from evenhand.meta.published import published_plan, read_published

    check_share(rate)
    if published is not None:
        refuse_other_form(form)
        plan, sets = published_plan(published, lang), read_published(published, lang, rate)
    else:
        plan = make_plan(lang, words=words, captions=captions or (), form=form)
        options = LadderOptions(form=form, train=train_pairs, dev=dev_pairs, mix=correct)
        rung = Rung(ladder="rate", rate=rate, errors=errors, seed=seed)
        sets = build_sets(plan, rate, options.set_options(rung))
    share = "as published" if published else correct
    card = save_sets(sets, plan, out, seed=seed, correct=share)
    if as_json:
        print_json(card)
        return
    for name, file in card["files"].items():
        labels, parts = (
            ", ".join(f"{count:,} {what}" for what, count in file[kind].items())
            for kind in ("labels", "parts")
        )
        print(f"{out / name}: {file['pairs']:,} pairs; {labels}; {parts}")
    print(f"words and their parts: {out / CARD}")


@app.command(no_args_is_help=True)
def run(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder for sets, answers and the report ladder.html."),
    ],
    lang: Language = "en",
    form: Annotated[
        str,
        typer.Option(
            "--planted",
            help=f"Sentences that the bias is planted in, with commas: {FORM_HELP}. Of several, "
            "each gets a ladder, and measures are ranked form by form.",
        ),
    ] = FORM,
    encoder: Annotated[
        str,
        typer.Option(
            help="The NLI model that every model starts from: default, a folder (also of `evenhand "
            "train vectors`), or a hub id."
        ),
    ] = "default",
    train_pairs: Annotated[
        int | None,
        typer.Option(
            help="Training pairs of each model [default: 30,000 as in the paper; 3,600 in other "
            "forms]."
        ),
    ] = None,
    dev_pairs: Annotated[
        int | None,
        typer.Option(
            help="Development pairs of each model [default: 3,000 as in the paper; 720 in other "
            "forms]."
        ),
    ] = None,
    correct: Correct = "half",
    words: Words = None,
    seeds: Annotated[int, typer.Option(min=1, help="Models to train at each rate.")] = 3,
    rates: Annotated[
        str, typer.Option(help="Bias rates of the ladder, with commas.")
    ] = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
    errors: Annotated[
        str,
        typer.Option(
            help="Steps of the second ladder, such as 0,0.2,0.4,0.6,0.8,1: errors without bias at "
            "a fixed rate [default: none, it is not trained]."
        ),
    ] = "none",
    error_seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Models of each step of the second ladder [default: --seeds]."),
    ] = None,
    fixed_rate: Annotated[float, typer.Option(help="Bias rate of the second ladder.")] = 0.3,
    recipe: Annotated[
        str,
        typer.Option(
            help="paper (3 epochs, 2e-5) or small (1 epoch, 1.5e-4, batches of 12: small encoders, "
            "few pairs)."
        ),
    ] = "paper",
    epochs: opt.Epochs = None,
    learning_rate: opt.LearningRate = None,
    suites: Annotated[
        str | None,
        typer.Option(
            "--suite",
            "--suites",
            "-s",
            help="Suites to ask besides the paper's own, with commas [default: all built-in ones "
            "that fit].",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=10, help="Probes of each of those suites, at most.")
    ] = 600,
    data: opt.Data = None,
    captions: opt.Captions = None,
    published: Published = None,
    keep_models: Annotated[
        bool, typer.Option(help="Keep the trained models (their answers are always kept).")
    ] = False,
    engine: Annotated[
        str,
        typer.Option(help="local, or ray: the models are trained in parallel on a Ray cluster."),
    ] = "local",
    processes: Annotated[int, typer.Option(min=1, help="Models trained side by side (local).")] = 1,
    ray_address: Annotated[
        str | None,
        typer.Option(help="Address of a Ray cluster [default: RAY_ADDRESS, else this machine]."),
    ] = None,
    verbose: opt.Verbose = False,
    as_json: opt.AsJson = False,
) -> None:
    """Train a ladder of models whose bias is known; rank every measure by how well it finds it.

    The ladder has a model per rate and seed: at the lowest rate none of the wrong pairs is biased,
    at the highest all of them are. With --errors there is a second ladder, on which only errors
    without bias increase. A good measure follows the first ladder and stays flat on the second.

    Stopped half-way? Run the same command again: it continues with the models that are missing.

    Several forms need not be those of a suite, and the words that are asked about are then others
    than those trained on: `--planted captions,coreference,biographies`.

    ```console
    evenhand meta run --rates 0,0.5,1 --train-pairs 3000 --dev-pairs 600 \\
      --recipe small --out DIR
    ```
    """
    from evenhand.cli.progress import asking_bar, interruptible
    from evenhand.core.errors import EvenhandError
    from evenhand.meta.by_form import run_forms
    from evenhand.meta.options import LadderOptions
    from evenhand.meta.run import Execution, run_ladder

    forms = tuple(dict.fromkeys(opt.split_names(form)))
    if not forms:
        raise EvenhandError(f"--planted is '{form}'; give {FORM_HELP}")
    options = LadderOptions(
        language=lang,
        form=forms[0],
        encoder=encoder,
        train=train_pairs,
        dev=dev_pairs,
        mix=correct,
        words=words,
        seeds=tuple(range(seeds)),
        rates=_numbers("rates", rates),
        errors=() if errors.strip() == "none" else _numbers("errors", errors),
        fixed_rate=fixed_rate,
        error_seeds=error_seeds,
        recipe=recipe,
        epochs=epochs,
        learning_rate=learning_rate,
        suites=opt.split_names(suites),
        data=data or published,
        published=published,
        captions=tuple(captions or ()),
        limit=limit,
        has_weights=keep_models,
    )
    advice = "the same command goes on with the models that are missing"
    with interruptible(lambda: advice), asking_bar("training models") as tick:
        execution = Execution(
            engine=engine,
            processes=processes,
            address=ray_address,
            tick=tick,
            say=lambda line: print(line, file=sys.stderr, flush=True),
        )
        if len(forms) > 1:
            ladders = run_forms(options, forms, out, execution)
        else:
            ladder = run_ladder(options, out, execution)
    if len(forms) > 1:
        _deliver_forms(ladders, out, verbose, as_json)
    else:
        _deliver_ladder(ladder, out, verbose, as_json)


def _deliver_ladder(ladder: Ladder, out: Path, is_verbose: bool, as_json: bool) -> None:
    from evenhand.cli.show_document import deliver
    from evenhand.core.plain import to_json
    from evenhand.meta.document import ladder_document, report_fields
    from evenhand.meta.ladder import FILE, READINGS, write_ladder
    from evenhand.meta.ranking import rank

    standings = rank(ladder)
    write_ladder(ladder, out / READINGS)
    fields = report_fields(ladder, standings)
    deliver(
        ladder_document(ladder, standings),
        fields,
        folder=out,
        files={FILE: to_json(fields)},
        is_verbose=is_verbose,
        as_json=as_json,
        has_figures=True,
    )


def _deliver_forms(
    ladders: Mapping[str, Ladder], out: Path, is_verbose: bool, as_json: bool
) -> None:
    """A report in the folder of each form, and one on all of them."""
    from evenhand.cli.show_document import deliver
    from evenhand.core.plain import to_json
    from evenhand.meta.by_form import FORMS_FILE, forms_fields, rank_forms
    from evenhand.meta.document import ladder_document, report_fields
    from evenhand.meta.form_document import forms_document
    from evenhand.meta.ladder import FILE, READINGS, write_ladder
    from evenhand.report.write import write_document

    ranking = rank_forms(ladders)
    for name, ladder in ladders.items():
        standings = ranking.standings[name]
        write_ladder(ladder, out / name / READINGS)
        files = {FILE: to_json(report_fields(ladder, standings))}
        write_document(ladder_document(ladder, standings), out / name, extra=files)
    fields = forms_fields(ranking)
    deliver(
        forms_document(ranking),
        fields,
        folder=out,
        files={FORMS_FILE: to_json(fields)},
        is_verbose=is_verbose,
        as_json=as_json,
        has_figures=True,
    )


def _numbers(name: str, text: str) -> tuple[float, ...]:
    from evenhand.core.errors import EvenhandError

    try:
        return tuple(dict.fromkeys(float(part) for part in text.split(",") if part.strip()))
    except ValueError as error:
        raise EvenhandError(
            f"--{name} is '{text}'; give numbers with commas, such as 0,0.5,1"
        ) from error
