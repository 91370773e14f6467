"""`evenhand card`, `export` and `cite`: runs in the forms in which others take them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as opt

if TYPE_CHECKING:
    from evenhand.core.run import Run

app = typer.Typer(
    no_args_is_help=True,
    help="Write runs as Every Eval Ever, as the Hub's .eval_results, or as a LaTeX table.",
)
RunFolder = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of a run, as `evenhand audit` wrote it.")
]
RunFolders = Annotated[
    list[Path],
    typer.Argument(metavar="RUN...", help="Folders of runs, as `evenhand audit` wrote them."),
]
Out = Annotated[
    Path, typer.Option("--out", "-o", help="File to write; - prints it on standard output.")
]
Name = Annotated[
    str,
    typer.Option(
        "--model-name",
        help="How the model is called, `org/model` [default: what the run calls it].",
    ),
]
STANDARD_OUTPUT = Path("-")


def _read(folders: list[Path]) -> list[Run]:
    from evenhand.engine.read_run import read_runs

    return [run for folder in folders for run in read_runs(folder)]


def _read_one(folder: Path) -> Run:
    from evenhand.engine.read_run import read_run

    return read_run(folder)


def _deliver(text: str, out: Path) -> None:
    """Write the text to a file, or print it."""
    if out == STANDARD_OUTPUT:
        print(text, end="")
        return
    from evenhand.core.files import write_atomic

    write_atomic(out, text)
    print(f"wrote {out}", file=sys.stderr)


def card(
    runs: RunFolders,
    into: Annotated[
        Path | None,
        typer.Option(
            help="README.md of a model: its section and metadata from evenhand are written, or "
            "written again; everything else stays as it is."
        ),
    ] = None,
    name: Name = "",
    out: Out = STANDARD_OUTPUT,
    as_json: opt.AsJson = False,
) -> None:
    """Make the section of a model card, with the `model-index` of its metadata.

    A second call replaces what the first one wrote: name all runs of the model in one call. Needs
    `pip install 'evenhand[publish]'`.

    ```console
    evenhand card runs/default-occupation-nli-en
    evenhand card runs/mine-* --into ./my-model/README.md
    ```
    """
    from evenhand.core.errors import EvenhandError
    from evenhand.core.plain import to_json
    from evenhand.publish.model_card import card_section, model_index, new_card

    if into is not None and out != STANDARD_OUTPUT:
        raise EvenhandError(f"--into {into} and --out {out} are two files; give one of them")
    known = _read(runs)
    if as_json:
        fields = {"section": card_section(known), "model-index": model_index(known, name)}
        _deliver(to_json(fields), out)
    elif into is None:
        _deliver(new_card(known, name), out)
    else:
        _write_into(into, known, name)


def _write_into(path: Path, runs: list[Run], name: str) -> None:
    from evenhand.core.errors import InputError
    from evenhand.core.files import write_atomic
    from evenhand.publish.model_card import updated_card

    try:
        before = path.read_bytes()
        text = before.decode("utf-8")
    except FileNotFoundError as error:
        reason = f"there is no such file; `--out {path}` makes a new one"
        raise InputError(path, reason) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read as UTF-8 ({error})") from error
    after = updated_card(path, text, runs, name)
    if after == text:
        print(f"{path} is up to date", file=sys.stderr)
        return
    write_atomic(path, after)
    print(f"wrote {path}", file=sys.stderr)


@app.command("eee")
def every_eval_ever(
    run: RunFolder,
    name: Name = "",
    organization: Annotated[str, typer.Option(help="Who measured.")] = "unknown",
    relationship: Annotated[
        str,
        typer.Option(
            help="Of those who measured to the makers of the model: first_party, third_party, "
            "collaborative or other."
        ),
    ] = "other",
    out: Out = STANDARD_OUTPUT,
) -> None:
    """Write a run as a record of Every Eval Ever 0.3, every score with its interval.

    ```console
    evenhand export eee runs/mine --model-name org/model \\
      --organization Lab --out eee.json
    ```
    """
    from evenhand.core.plain import to_json
    from evenhand.publish.every_eval_ever import Record, record_fields

    record = Record(
        created=time.time(), name=name, organization=organization, relationship=relationship
    )
    known = _read_one(run)
    _deliver(to_json(record_fields(known, record)), out)


@app.command("eval-results")
def eval_results(
    run: RunFolder,
    dataset: Annotated[
        str, typer.Option(help="Id of the benchmark on the Hub, owner/name, whose board it is for.")
    ],
    measures: opt.Measures = None,
    task: Annotated[
        str,
        typer.Option(
            help="Id of the task in the benchmark's eval.yaml, for one --measure "
            "[default: the measure's name]."
        ),
    ] = "",
    date: Annotated[str, typer.Option(help="When the run was made: 2026-11-18.")] = "",
    out: Out = STANDARD_OUTPUT,
    as_json: opt.AsJson = False,
) -> None:
    """Write a run as a YAML file for `.eval_results/` of the model's repository on the Hub.

    Needs `pip install 'evenhand[publish]'`.

    ```console
    evenhand export eval-results runs/mine --dataset org/benchmark \\
      --measure nli_coal --out .eval_results/evenhand.yaml
    ```
    """
    from evenhand.core.plain import to_json
    from evenhand.publish.hub import yaml_text
    from evenhand.publish.hub_results import result_entries

    known = _read_one(run)
    entries = result_entries(known, dataset, measures=measures or (), task=task, date=date)
    _deliver(to_json(entries) if as_json else yaml_text(entries), out)


@app.command("latex")
def latex(
    runs: RunFolders,
    measures: opt.Measures = None,
    out: Out = STANDARD_OUTPUT,
    as_json: opt.AsJson = False,
) -> None:
    """Write several runs as a LaTeX table: models by measures, notes for what does not count.

    Runs on different suites get a table each.

    ```console
    evenhand export latex runs/a runs/b runs/c --measure nli_coal \\
      --out models.tex
    ```
    """
    from evenhand.core.plain import to_json
    from evenhand.publish.models_table import models_document, table_fields
    from evenhand.report.latex import to_latex

    document = models_document(_read(runs), measures or ())
    _deliver(to_json(table_fields(document)) if as_json else to_latex(document), out)


def cite(
    runs: RunFolders,
    as_methods: Annotated[
        bool,
        typer.Option(
            "--paragraph", help="Instead, a paragraph that says how the numbers came about."
        ),
    ] = False,
    out: Out = STANDARD_OUTPUT,
    as_json: opt.AsJson = False,
) -> None:
    """Write BibTeX for everything that runs use: suites, measures, evenhand itself.

    ```console
    evenhand cite runs/default-occupation-nli-en --out evenhand.bib
    evenhand cite runs/mine --paragraph
    ```
    """
    from evenhand.core.plain import to_json
    from evenhand.publish.citations import bibliography, citations
    from evenhand.publish.methods import methods

    known = _read(runs)
    found = list(dict.fromkeys(citation for run in known for citation in citations(run)))
    paragraphs = [methods(run) for run in known]
    if as_json:
        fields = {"methods": paragraphs, "citations": found, "bibtex": bibliography(found)}
        _deliver(to_json(fields), out)
        return
    _deliver("\n\n".join(paragraphs) + "\n" if as_methods else bibliography(found), out)
