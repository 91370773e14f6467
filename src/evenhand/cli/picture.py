"""`evenhand picture MODEL...`: where models place gendered words, professions and emotions, in numbers and in one figure."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import options as opt

if TYPE_CHECKING:
    from evenhand.picture.place import Picture
    from evenhand.picture.scene import Scene

CHOICES = {
    "profession": ("profession",),
    "emotion": ("emotion",),
    "both": ("profession", "emotion"),
}
FORMS = (".html", ".svg", ".pdf", ".png")


def picture(
    models: Annotated[
        list[str],
        typer.Argument(
            help="One or more models: classifiers (`default`, a folder, a hub id) or encoders (`encoder:FOLDER`)."
        ),
    ],
    lang: opt.Lang = "en",
    words: Annotated[
        str,
        typer.Option(help="What is placed among the gendered words: profession, emotion or both."),
    ] = "profession",
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="The figure: a file that ends in .html, .svg, .pdf or .png."
        ),
    ] = Path("picture.html"),
    seed: opt.Seed = 0,
    pooling: opt.Pooling = None,
    device: Annotated[
        str, typer.Option(help="auto, cpu, cuda, cuda:1 ... (torch models).")
    ] = "auto",
    resamples: opt.Resamples = 10_000,
    level: opt.Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Show how models place gendered words, professions and emotions.

    A linear SVM tells male from female words; its accuracy is that on words it has not seen. Professions are placed by its boundary. The figure is a t-SNE plane,
    one panel a model. Needs the extra `picture`.

    Example: `evenhand picture default encoder:./my-encoder --words both --out picture.html`.
    """
    from evenhand.core.errors import EvenhandError
    from evenhand.core.files import require_room
    from evenhand.core.protocols import RespondentOptions
    from evenhand.engine.audit import load_suite
    from evenhand.picture.boundary import require_learner
    from evenhand.picture.place import place_words
    from evenhand.picture.scene import scene_of
    from evenhand.respondents.vectors import open_vectors

    if words not in CHOICES:
        raise EvenhandError(f"--words is '{words}'; give {', '.join(CHOICES)}")
    if out.suffix not in FORMS:
        raise EvenhandError(
            f"a picture cannot be written as '{out.name}'; name a file that ends in {', '.join(FORMS)}"
        )
    require_room(out.parent)
    require_learner()
    scene = scene_of([(sort, load_suite(sort, lang, seed=seed)) for sort in CHOICES[words]])  # type: ignore[misc]
    found = []
    for model in models:
        vectors = open_vectors(
            model, RespondentOptions(language=lang, device=device, seed=seed, pooling=pooling)
        )
        placed = vectors.embed([w.sentence for w in scene.words])
        found.append(
            place_words(
                vectors.identity,
                vectors.about,
                scene,
                placed,
                seed=seed,
                resamples=resamples,
                level=level,
            )
        )
    _write(scene, found, out)
    if as_json:
        print(
            json.dumps(
                [_facts(scene, p, seed=seed, level=level) for p in found],
                ensure_ascii=False,
                indent=1,
            )
        )
    else:
        _tell(scene, found)
    print(f"figure: {out}", file=sys.stderr if as_json else sys.stdout)


def _write(scene: Scene, found: list[Picture], out: Path) -> None:
    from evenhand.core.files import write_atomic
    from evenhand.report.html import figure_page
    from evenhand.report.picture import save_figure
    from evenhand.report.picture_words import words_figure

    figure = words_figure(scene, found)
    if out.suffix == ".html":
        write_atomic(out, figure_page(figure))
    else:
        save_figure(figure, out)


def _facts(scene: Scene, found: Picture, *, seed: int, level: float) -> dict[str, Any]:
    """Everything about one model as plain data; NaN as null."""
    from evenhand import __version__

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items()}
        if isinstance(value, tuple | list):
            return [plain(v) for v in value]
        if isinstance(value, float):
            return value if abs(value) < float("inf") else None
        return value

    rows = [
        {
            "word": w.name,
            "sentence": w.sentence,
            "sense": w.sense,
            "lean": w.lean or None,
            "share_women": w.share,
            "distance": float(d),
            "plane": [float(x), float(y)],
        }
        for w, d, (x, y) in zip(scene.words, found.distances, found.plane, strict=True)
    ]
    facts = {
        "model": found.model,
        "vectors": found.about,
        "suites": scene.suites,
        "version": __version__,
        "seed": seed,
        "level": level,
        "pairs": len(scene.pairs),
        "groups": len(set(scene.groups)),
        "accuracy": found.accuracy,
        "accuracy_shuffled": found.shuffled,
        "purity": found.purity,
        "purity_chance": found.chance,
        "accuracy_in_plane": found.plane_accuracy,
        "sorts": {
            s.name: {
                "words": s.words,
                "male_side": s.male_side,
                "share_women": {**s.share, "words": s.shares},
                "lean": {**s.lean, "words": s.leans},
            }
            for s in found.sorts
        },
        "clusters": [[scene.words[i].name for i in c] for c in found.clusters],
        "notes": found.notes,
        "words": rows,
    }
    return dict(plain(facts))


def _tell(scene: Scene, found: list[Picture]) -> None:
    from rich.console import Console
    from rich.table import Table

    from evenhand.report.numbers import number, with_bounds

    names = {"profession": "professions", "emotion": "emotions"}
    table = Table("", *(p.model for p in found), box=None, pad_edge=False)
    table.add_row("vector", *(p.about for p in found))
    table.add_row("SVM accuracy, words not seen", *(with_bounds(p.accuracy) for p in found))
    table.add_row("  genders shuffled", *(number(p.shuffled) for p in found))
    table.add_row("  in the plane, words seen", *(number(p.plane_accuracy) for p in found))
    table.add_row("neighbours of own gender", *(with_bounds(p.purity) for p in found))
    table.add_row("  by chance", *(number(p.chance) for p in found))
    for place, sort in enumerate(scene.sorts):
        of = [p.sorts[place] for p in found]
        table.add_row(f"{names[sort]} on the male side", *(with_bounds(s.male_side) for s in of))
        for name, told in (("share", "share of women"), ("lean", "lean")):
            counts = of[0].shares if name == "share" else of[0].leans
            for which in ("pearson", "spearman") if counts >= 3 else ():
                label = f"  distance and {told}, {which.capitalize()} (n = {counts})"
                table.add_row(label, *(with_bounds(getattr(s, name)[which]) for s in of))
        rows = scene.rows(sort)
        for end, sign in (("male", 1), ("female", -1)):
            best = [sorted(rows, key=lambda i, p=p: sign * p.distances[i])[:5] for p in found]  # type: ignore[misc]
            table.add_row(
                f"  farthest to the {end} side",
                *(", ".join(scene.words[i].name for i in b) for b in best),
            )
    console = Console()
    console.print(
        f"{len(scene.pairs)} pairs of gendered words; positive distances are on the female side"
    )
    console.print(table)
    for p in found:
        for note in p.notes:
            console.print(f"{p.model}: {note}")
