"""`evenhand picture MODEL...`: where models place gendered words, professions and emotions."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt

FORMS = (".html", ".svg", ".pdf", ".png")


def picture(
    context: typer.Context,
    models: Annotated[
        list[str],
        typer.Argument(
            help="One or more models: classifiers (`default`, a folder, a hub id) or encoders "
            "(`encoder:FOLDER`)."
        ),
    ],
    lang: opt.Lang = "en",
    words: Annotated[
        str | None,
        typer.Option(
            help="What is placed among the gendered words: profession (default), emotion or both."
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="The figure: a file that ends in .html, .svg, .pdf or .png."
        ),
    ] = Path("picture.html"),
    seed: opt.Seed = 0,
    pooling: opt.Pooling = None,
    device: opt.Device = "auto",
    dtype: opt.Dtype = "fp32",
    revision: opt.Revision = None,
    trust_remote_code: opt.TrustRemoteCode = False,
    resamples: opt.Resamples = 10_000,
    level: opt.Level = 0.95,
    verbose: opt.Verbose = False,
    as_json: opt.AsJson = False,
) -> None:
    """Show how models place gendered words, professions and emotions.

    A linear SVM learns to tell male from female words; its accuracy is measured on words that it
    has not seen. Professions are placed by their distance from its boundary. The figure is a t-SNE
    plane with one panel per model. Needs the extra `picture`.

    ```console
    evenhand picture default encoder:./my-encoder --words both \\
      --out picture.html
    ```
    """
    settings = opt.make_settings(context.params)
    opening = dataclasses.replace(opt.respondent_options(context.params), language=lang)

    from evenhand.cli.progress import working
    from evenhand.cli.show_document import print_result
    from evenhand.core.errors import EvenhandError
    from evenhand.core.files import require_room, write_atomic
    from evenhand.core.protocols import SuiteOptions
    from evenhand.engine.suites import load_suite
    from evenhand.picture.boundary import require_learner
    from evenhand.picture.document import picture_document, picture_fields, plane_chart
    from evenhand.picture.place import place_words
    from evenhand.picture.scene import CHOICES, scene_of
    from evenhand.report.charts import save_chart
    from evenhand.report.html import to_html
    from evenhand.respondents.vectors import open_vectors

    chosen = words or next(iter(CHOICES))
    if chosen not in CHOICES:
        raise EvenhandError(f"--words is '{chosen}'; give {', '.join(CHOICES)}")
    if out.suffix not in FORMS:
        raise EvenhandError(
            f"a picture cannot be written as '{out.name}'; "
            f"name a file that ends in {', '.join(FORMS)}"
        )
    require_room(out.parent)
    require_learner()
    options = SuiteOptions(seed=seed)
    scene = scene_of([(sense, load_suite(sense, lang, options)) for sense in CHOICES[chosen]])
    pictures = []
    for model in models:
        with working(f"placing the words of {model}"):
            vectors = open_vectors(model, opening)
            placed = vectors.embed([w.sentence for w in scene.words])
            pictures.append(place_words(vectors.identity, vectors.about, scene, placed, settings))
    document = picture_document(scene, pictures, lang)
    if out.suffix == ".html":
        write_atomic(out, to_html(document))
    else:
        save_chart(plane_chart(scene, pictures), out)
    fields = [picture_fields(scene, p, settings) for p in pictures] if as_json else None
    print_result(document, fields, is_verbose=verbose, as_json=as_json)
    print(f"figure: {out}", file=sys.stderr if as_json else sys.stdout)
