"""`evenhand annotate objective ...`: people judge which sentences settle the gender."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as opt
from evenhand.cli.annotate_study import (
    StudyFile,
    opened,
    refuse_existing,
    require_extra,
    write_new,
)

if TYPE_CHECKING:
    from evenhand.study.objective_results import ObjectiveStatus

app = typer.Typer(
    no_args_is_help=True,
    help="Make controls for a suite cut from raw text: candidates by cue, judged by two raters.\n\n"
    "1. `objective new rate.toml --text news.txt --lang en` finds sentences with a cue.\n\n"
    "2. `annotate owner rate.toml lab`, `annotate serve rate.toml`, `annotate invite rate.toml "
    "--count 2`: two raters judge on their own; at /owner you see agreement and resolve "
    "disagreements.\n\n"
    "3. `objective export rate.toml --out controls.jsonl` writes what is settled.\n\n"
    "4. `suites build contextualised --lang en --corpora news.txt --objective controls.jsonl "
    "--out news.jsonl`: the suite with its controls.",
)
MOST = 200  # candidates: people have to read them


@app.command(no_args_is_help=True)
def new(
    path: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study file to write.")],
    text: Annotated[
        list[Path] | None,
        typer.Option(help="Raw text to find candidates in: .txt, .jsonl, .csv (repeatable)."),
    ] = None,
    suite: Annotated[
        Path | None,
        typer.Option(help="A suite file (.jsonl) to find candidates in, instead of raw text."),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang", "-l", help="Language of the text: en, ja, zh [a suite has its own]."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the study [default: the file's name].")
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            "--candidates", min=1, help="Candidates at most: kinds of cues and genders in turn."
        ),
    ] = MOST,
    name_finder: Annotated[
        str | None,
        typer.Option(help="What finds personal names, as in `suites build`: auto, spacy, lists."),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Find candidates by cue, and write the study in which raters judge them.

    A candidate has a gender word and something that may settle it: body (*pregnant*), clothing,
    kinship, roles, a set phrase (*mother tongue*), a first name, another word of the same gender.
    Writes STUDY.toml and STUDY.candidates.jsonl with its card beside it.

    ```console
    evenhand annotate objective new rate.toml --text news.txt --lang en
    ```
    """
    require_extra()
    from evenhand.cli.show_document import print_json
    from evenhand.core.errors import EvenhandError
    from evenhand.core.suite import card_path, write_suite
    from evenhand.study.candidates import candidates_in_suite, candidates_in_text
    from evenhand.study.study import objective_template

    if bool(text) == bool(suite):
        raise EvenhandError("candidates come from raw text or from a suite; give --text or --suite")
    target = path.with_suffix(".candidates.jsonl")
    for file in (path, target, card_path(target)):
        refuse_existing(file)
    if suite is not None:
        language, found = candidates_in_suite(suite, limit)
        if lang is not None and lang != language:
            raise EvenhandError(f"{suite} is in '{language}', not '{lang}'; leave --lang out")
    else:
        if lang is None:
            raise EvenhandError("a text does not say its language; give --lang en, ja or zh")
        language, found = lang, candidates_in_text(lang, text or (), limit, name_finder)
    candidates = found.suite(language)
    study = objective_template(name or path.stem, language, target, len(candidates.probes))
    write_suite(candidates, target)
    write_new(path, study)
    if as_json:
        print_json(
            {
                "study": str(path),
                "candidates": str(target),
                "sentences": len(candidates.probes),
                "read": found.read,
                "source": candidates.card.source,
            }
        )
        return
    print(
        f"wrote {path} and {target}: {len(candidates.probes)} candidates "
        f"({candidates.card.source}). Read some of them, then:\n"
        f"  evenhand annotate owner {path} NAME\n"
        f"  evenhand annotate serve {path}\n"
        f"  evenhand annotate invite {path} --count 2"
    )


@app.command(no_args_is_help=True)
def status(path: StudyFile, as_json: opt.AsJson = False) -> None:
    """Show how far raters agree (percent, Krippendorff's alpha) and where they disagree."""
    with opened(path) as (study, suite, store):
        from evenhand.cli.show_document import print_json
        from evenhand.study.objective_results import judge_candidates, objective_status
        from evenhand.study.study import require_objective

        require_objective(study)
        result = objective_status(study.name, judge_candidates(suite, store))
        if as_json:
            print_json(result)
        else:
            _print_status(result)


@app.command(no_args_is_help=True)
def export(
    path: StudyFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="Suite file to write (.jsonl).")],
    suite: Annotated[
        Path | None,
        typer.Option(
            help="Write this suite with the objective sentences as its controls, instead of these "
            "alone; a measuring sentence that was found objective moves."
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the sentences that are settled for one gender, as the objective stratum (OS).

    `suites build ... --objective FILE` takes the file. The card beside it says how many were
    judged, how far raters agreed and what the owner resolved; each sentence says who agreed, by
    number and not by name.

    ```console
    evenhand annotate objective export rate.toml --out controls.jsonl
    ```
    """
    with opened(path) as (study, sentences, store):
        from evenhand.cli.show_document import print_json
        from evenhand.core.errors import InputError
        from evenhand.core.suite import read_suite, write_suite
        from evenhand.study.objective_results import (
            judge_candidates,
            objective_status,
            objective_suite,
            with_controls,
        )
        from evenhand.study.study import require_objective

        require_objective(study)
        if out.suffix != ".jsonl":
            raise InputError(out, "a suite file is a .jsonl; name one, as in controls.jsonl")
        judged = judge_candidates(sentences, store)
        result = objective_suite(study.name, sentences, judged)
        if suite is not None:
            result = with_controls(read_suite(suite), result)
        write_suite(result, out)
        state = objective_status(study.name, judged)
        if as_json:
            print_json({"file": str(out), "source": result.card.source, "status": state})
            return
        settled = ", ".join(f"{gender} {state.settled[gender]}" for gender in ("male", "female"))
        print(f"wrote {out}: {len(result.probes)} sentences; objective: {settled}")
        if state.unresolved:
            print(f"left out: {state.unresolved} disagreements that wait for the owner at /owner")


def _print_status(result: ObjectiveStatus) -> None:
    from evenhand.core.text import number, percent

    print(f"{result.study}: {result.candidates} candidates, {len(result.raters)} raters")
    alpha = number(result.alpha) + (f" ({result.note})" if math.isnan(result.alpha) else "")
    print(
        f"judged alike: {percent(result.agreement, 1)} ({result.alike} of {result.shared} that two "
        f"or more judged); Krippendorff's alpha {alpha}"
    )
    settled = ", ".join(f"{verdict} {count}" for verdict, count in result.settled.items())
    print(f"settled: {settled}; {result.resolved} of these by the owner")
    print(f"disagreements to resolve at /owner: {result.unresolved}")
    for row in result.disagreements:
        said = ", ".join(f"{rater} {verdict}" for rater, verdict in row.verdicts.items())
        end = f"; resolved: {row.resolution}" if row.resolution else ""
        print(f"  {row.id}: {row.text} [{row.cue}]: {said}{end}")
