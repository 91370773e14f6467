"""Can it be done at all? Everything that a mitigation needs, read and checked before the first hour is spent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, InputError, LabelError, LoadError
from evenhand.core.files import require_writable
from evenhand.core.probe import NLI_LABELS
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.core.suite import Suite
from evenhand.engine.audit import load_suite
from evenhand.mitigate.anchors import plan_anchors
from evenhand.mitigate.asking import held_out
from evenhand.mitigate.methods import SCOPES, Combination, Materials, find_methods
from evenhand.mitigate.records import NONE, Part
from evenhand.respondents.locate import open_respondent
from evenhand.stats.bootstrap import check_settings
from evenhand.train.corpus import Corpus, Pair, read_corpus, require_all_labels
from evenhand.train.recipes import Recipe, find_recipe

RECIPE = "mitigate"
METHODS = f"{NONE},swap,pairing,anchors"
SUITES = ("occupation-nli", "gendered-entailment")


def recipe_of(name: str = RECIPE, **told: Any) -> Recipe:
    """`mitigate` (one epoch from the trained model, gently), or any recipe of `evenhand train nli`; `told` is put in place of its own."""
    gentle = replace(
        find_recipe("polished"), name=RECIPE, epochs=1, learning_rate=3e-5, is_best_kept=True
    )
    return replace(
        gentle if name == RECIPE else find_recipe(name),
        **{key: value for key, value in told.items() if value is not None},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user asks for."""

    model: str
    train: Sequence[Path]
    dev: Sequence[Path]
    out: Path
    recipe: Recipe
    methods: str = METHODS
    language: str = "en"
    suites: Sequence[str] = SUITES
    data: Path | None = None
    limit: int | None = None  # of the training pairs, before a method changes them
    pairing: float = 1.0
    anchors: float = 0.05
    scope: str = "all"
    seed: int = 0
    is_resumed: bool = True
    resamples: int = 10_000
    permutations: int = 10_000
    level: float = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What was read and checked."""

    combinations: list[Combination]
    pairs: list[Pair]
    dev: list[Corpus]
    suites: list[tuple[str, Part, Suite, bool]]
    materials: Materials
    encoder: str
    identity: str
    about: dict[str, Any]


def prepare(wish: Wish) -> Ready:
    """Read all files and suites, open the model; every error that can be known now."""
    combinations = find_methods(wish.methods)
    check_settings(wish.level, "bca")
    for name, share, most in (("anchors", wish.anchors, 1.0), ("pairing", wish.pairing, math.inf)):
        if not 0 < share <= most:
            raise EvenhandError(
                f"{name} is {share:g}; give a number above 0{' and at most 1' if most == 1 else ''}, or leave the method {name} out"
            )
    if wish.scope not in SCOPES:
        raise EvenhandError(f"scope is '{wish.scope}'; give {' or '.join(SCOPES)}")
    language = catalog.language(wish.language)
    files = {
        part: [read_corpus(path) for path in paths]
        for part, paths in (("train", wish.train), ("dev", wish.dev))
    }
    about = {part: [corpus.describe() for corpus in corpora] for part, corpora in files.items()}
    _require_apart(about)
    require_all_labels(files["train"])
    suites: list[tuple[str, Part, Suite, bool]] = []
    for name in wish.suites:
        suite = load_suite(name, wish.language, data=wish.data, seed=wish.seed)
        is_published = (
            not name.endswith(".jsonl") and catalog.suite(name.partition(":")[0]).is_published
        )
        suites.append((suite.card.name, "all", suite, is_published))
    asked = [suite for _, _, suite, _ in suites]
    stems = [corpus.path.stem for corpus in files["dev"]]
    names = (
        stems
        if len({*stems, *(s[0] for s in suites)}) == len(stems) + len(suites)
        else [str(c.path) for c in files["dev"]]
    )
    suites += [
        (name, "dev", held_out(name, corpus, wish.language), False)
        for name, corpus in zip(names, files["dev"], strict=True)
    ]
    require_writable(next(p for p in (wish.out, *wish.out.parents) if p.exists()))
    identity = _require_classifier(open_model(wish.model, wish.language)).identity
    encoder = _require_trainable(wish.model)
    from evenhand.train.tuning import draw

    pairs = draw(
        [pair for corpus in files["train"] for pair in corpus.pairs], wish.limit, wish.seed
    )
    plan = None
    if any(c.has_anchors for c in combinations):
        plan = plan_anchors(language, pairs, asked, seed=wish.seed)
    materials = Materials(
        language=language, plan=plan, share=wish.anchors, scope=wish.scope, seed=wish.seed
    )
    return Ready(
        combinations=combinations,
        pairs=pairs,
        dev=files["dev"],
        suites=suites,
        materials=materials,
        encoder=encoder,
        identity=identity,
        about=about,
    )


def _require_apart(about: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """A held-out file that is also trained on, or given twice, would say nothing."""
    seen = {file["sha256"]: file["file"] for file in about["train"]}
    for file in about["dev"]:
        if file["sha256"] in seen:
            raise InputError(
                file["file"],
                f"is the same file as {seen[file['sha256']]}; a dev file must be another than all the rest",
            )
        seen[file["sha256"]] = file["file"]


def open_model(model: str, language: str) -> Respondent:
    """The model as it is asked."""
    return open_respondent(
        str(Path(model).expanduser()) if model.startswith("~") else model,
        "pair",
        RespondentOptions(language=language),
    )


def _require_classifier(respondent: Respondent) -> Respondent:
    if tuple(respondent.labels) != NLI_LABELS:
        raise LabelError(
            f"{respondent.identity} gives {', '.join(respondent.labels) or 'no labels'}; mitigation starts from an NLI model that gives {', '.join(NLI_LABELS)}. "
            "Train one with `evenhand train nli`, or name `default`"
        )
    return respondent


def _require_trainable(model: str) -> str:
    """The name to train from; an error where there are no weights, or nothing to train with."""
    try:
        from evenhand.train.encoders import WEIGHTS, describe_encoder
        from evenhand.train.unpack import find_encoder
    except ImportError as error:
        raise LoadError(
            f"training needs torch and transformers ({error}): pip install 'evenhand[train]'"
        ) from error
    name = str(Path(model).expanduser()) if model.startswith("~") else model
    place = Path(find_encoder(name))
    if place.is_dir() and not [path for pattern in WEIGHTS for path in place.glob(pattern)]:
        raise LoadError(
            f"{model} has no weights that can be trained ({', '.join(WEIGHTS)}); name the folder of the trained model, not of its ONNX form"
        )
    describe_encoder(name, str(place) if place.is_dir() else name)
    return name
