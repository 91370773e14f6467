"""`evenhand annotate ...`: ask people, over the web, about the sentences that models are asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import annotate_objective
from evenhand.cli import options as opt
from evenhand.cli.annotate_study import (
    StudyFile,
    opened,
    refuse_existing,
    require_extra,
    write_new,
)

if TYPE_CHECKING:
    from evenhand.study.store import Store

app = typer.Typer(
    no_args_is_help=True,
    help="Ask people instead of models: a study with web pages, its answers, scores and agreement.",
)
app.add_typer(annotate_objective.app, name="objective")
Url = Annotated[str, typer.Option(help="Address at which people reach the study.")]


def _ask_language() -> str:
    """The language that the user types; raises EvenhandError where there is no terminal."""
    from evenhand.core.errors import EvenhandError
    from evenhand.study.wording import LANGUAGES, language_names

    names = [f"{code} ({name})" for code, name in language_names(LANGUAGES).items()]
    if not sys.stdin.isatty():
        raise EvenhandError(
            f"a study has a language: give --lang, one of {', '.join(names)}; "
            "its pages and sentences are in it, and both can be changed in the file"
        )
    print(f"Language of the pages and sentences: {', '.join(names)}", file=sys.stderr)
    answer: str = typer.prompt("Language", err=True)
    return answer.strip().lower()


@app.command(no_args_is_help=True)
def new(
    path: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The file to write.")],
    name: Annotated[
        str | None, typer.Option(help="Name of the study [default: the file's name].")
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            "-l",
            help="Language of the sentences and of the first page: en, ja, zh "
            "[default: asked for on a terminal].",
        ),
    ] = None,
) -> None:
    """Write a commented study file to start from.

    Edit it after the first of these:

    ```console
    evenhand annotate new study.toml --lang en
    evenhand annotate serve study.toml
    ```
    """
    from evenhand.study.study import template

    refuse_existing(path)
    write_new(path, template(name or path.stem, lang or _ask_language()))
    print(
        f"wrote {path}; edit it, then:\n"
        f"  evenhand annotate owner {path} NAME\n"
        f"  evenhand annotate serve {path}\n"
        f"  evenhand annotate invite {path}"
    )


@app.command(no_args_is_help=True)
def serve(
    path: StudyFile,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. For people elsewhere, put an https proxy in front of it."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
) -> None:
    """Serve the pages of a study until Ctrl-C.

    Every answer is on disk before the next question is shown.
    """
    require_extra()
    from evenhand.study.serving import serve as serve_study

    where = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    line = f"serving {where} (owner: {where}/owner); stop with Ctrl-C"
    serve_study(path, host=host, port=port, begin=lambda: print(line, file=sys.stderr, flush=True))


@app.command(no_args_is_help=True)
def invite(
    path: StudyFile,
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many new annotators.")] = 1,
    annotator: Annotated[
        str | None,
        typer.Option(
            help="Make a new link for this annotator instead (id or number, see `status`)."
        ),
    ] = None,
    days: Annotated[
        float, typer.Option(min=0.01, max=730, help="Days for which a link is valid.")
    ] = 60,
    url: Url = "http://127.0.0.1:8000",
) -> None:
    """Print invitation links, one per line. A link is the only way in: send each to one person."""
    with opened(path) as (study, _, store):
        from evenhand.study.serving import secret_of
        from evenhand.study.tokens import Tokens

        tokens = Tokens(secret_of(study))
        if annotator:
            people = [_find(store, annotator)]
        else:
            people = [store.add_annotator() for _ in range(count)]
        for person in people:
            print(f"{url.rstrip('/')}/i/{tokens.invite(store.invite(person, days))}")


@app.command(no_args_is_help=True)
def revoke(
    path: StudyFile,
    who: Annotated[
        str,
        typer.Argument(
            help="An invitation link, or an annotator (id or number): all of their links."
        ),
    ],
) -> None:
    """Revoke invitation links, and end every session that they opened."""
    with opened(path) as (study, _, store):
        from evenhand.core.errors import EvenhandError
        from evenhand.study.serving import secret_of
        from evenhand.study.tokens import TokenError, Tokens

        if "/i/" in who:
            token = who.rpartition("/i/")[2].strip()
            try:
                links = [Tokens(secret_of(study)).read_invitation(token)]
            except TokenError as error:
                raise EvenhandError(
                    f"{who} is no link of this study; copy the whole of it, or name the annotator"
                ) from error
        else:
            person = _find(store, who)
            links = [i.id for i in store.invitations(person) if i.revoked is None]
        print(f"revoked {sum(store.revoke(link) for link in links)} of {len(links)} links")


@app.command(no_args_is_help=True)
def withdraw(
    path: StudyFile,
    who: Annotated[str, typer.Argument(help="The annotator (id or number, see `status`).")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether to go on.")] = False,
) -> None:
    """Record that a person has withdrawn: their links end and their answers no longer count.

    The answers are left out of scores and flat exports; this cannot be undone. They are never
    erased from the store or from an archive of it; they hold a random id and nothing about the
    person.
    """
    with opened(path) as (_, _, store):
        person = _find(store, who)
        if not yes:
            typer.confirm(f"Leave out everything that {person} answered?", abort=True, err=True)
        print(f"{person} has withdrawn; {store.withdraw(person):,} answers count no more")


@app.command(no_args_is_help=True)
def owner(
    path: StudyFile,
    name: Annotated[str, typer.Argument(help="Name to log in with at /owner.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
) -> None:
    """Set an owner's password, which is asked for twice and never printed.

    It is kept as an argon2 hash. A new password ends the sessions of the old one.
    """
    with opened(path) as (_, _, store):
        from evenhand.core.errors import EvenhandError
        from evenhand.study.owner import SHORTEST, hash_password

        password = (
            sys.stdin.readline().rstrip("\n")
            if password_stdin
            else typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        )
        if len(password) < SHORTEST:
            raise EvenhandError(
                f"a password of {len(password)} characters; take at least {SHORTEST}"
            )
        if not (0 < len(name) <= 100 and name.isprintable()):
            raise EvenhandError(f"'{name}' is no name; take 1 to 100 letters")
        store.set_owner(name, hash_password(password))
        print(f"{name} can log in at /owner")


@app.command(no_args_is_help=True)
def status(path: StudyFile, as_json: opt.AsJson = False) -> None:
    """Show how far everybody has come, and how well they answer the control questions."""
    with opened(path) as (study, suite, store):
        from evenhand.cli.annotate_tables import print_status
        from evenhand.cli.show_document import print_json
        from evenhand.study.summary import study_status

        rows = study_status(store, suite)
        if as_json:
            print_json(rows)
        else:
            print_status(study, rows)


@app.command(no_args_is_help=True)
def export(
    path: StudyFile,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="File to write: .parquet, .csv, .jsonl or .zip; a folder for `--form answers`.",
        ),
    ],
    form: Annotated[
        str | None,
        typer.Option(
            help="parquet, csv or jsonl (also of the tables in a .zip), answers, archive "
            "[default: by the file's name; answers for a folder]."
        ),
    ] = None,
) -> None:
    """Write all answers, or the whole study, to a file.

    `--out answers.csv` (.parquet, .jsonl): one row for each answer ever given; answers to
    inventories go to answers-inventories.csv beside it.

    `--out people --form answers`: a folder with the scores in the form in which models answer, for
    `evenhand measure` and `compare`.

    `--out study.zip`: an archive of everything but owners' passwords, for
    `evenhand annotate import`; `--form csv` makes its tables .csv files.
    """
    with opened(path) as (study, suite, store):
        from evenhand.study.export import ANSWERS, ARCHIVE
        from evenhand.study.export import export as write

        suffix = out.suffix.lstrip(".").lower()
        by_suffix = {"": ANSWERS, "zip": ARCHIVE}.get(suffix, suffix)
        for file in write(store, study, suite, out, form or by_suffix):
            print(f"wrote {file}")


@app.command("import", no_args_is_help=True)
def import_archive(
    path: StudyFile,
    archive: Annotated[
        Path, typer.Argument(metavar="FILE.zip", help="An archive that `annotate export` wrote.")
    ],
) -> None:
    """Fill a new study's empty store from an archive: all of it, or nothing.

    Example: to go from SQLite to PostgreSQL, stop the server,
    `evenhand annotate export study.toml --out study.zip`, name the new database as `store` in
    study.toml, then `evenhand annotate import study.toml study.zip`. Keep the secret file: with it
    the links that people have keep working.
    """
    with opened(path) as (_, _, store):
        from evenhand.study.archive import read_archive

        rows = read_archive(store, archive)
        counts = [
            f"{count:,} {name.replace('_', ' ')}" for name, count in rows.items() if name != "study"
        ]
        print(f"stored {', '.join(counts)}")
        print(
            "owners' passwords are not in an archive; set one with: "
            f"evenhand annotate owner {path} NAME",
            file=sys.stderr,
        )


@app.command(no_args_is_help=True)
def score(
    path: StudyFile,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the score of every sentence to this .csv file."),
    ] = None,
    resamples: opt.Resamples = 2_000,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Show the scores of annotators, how far they agree (alpha, Pearson), and inventories."""
    with opened(path) as (study, suite, store):
        from evenhand.cli.annotate_tables import print_scores
        from evenhand.cli.show_document import print_json
        from evenhand.core.settings import Settings
        from evenhand.study.summary import score_study, write_sentences

        scores = score_study(study, suite, store, Settings(seed=seed, resamples=resamples))
        if out is not None:
            write_sentences(suite, store, out)
        if as_json:
            print_json(scores)
        else:
            print_scores(scores)


def _find(store: Store, who: str) -> str:
    """The id of the annotator that an id, its beginning, a number or a name stands for."""
    from evenhand.core.errors import UnknownNameError

    people = store.annotators()
    for person in people:
        is_start = len(who) >= 6 and person.id.startswith(who)
        if is_start or who in (person.id, str(person.number), person.name):
            return person.id
    raise UnknownNameError("annotator", who, [p.id for p in people])
