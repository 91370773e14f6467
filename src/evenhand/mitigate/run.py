"""A whole mitigation: train the model by each method, ask all models the same, compare.

Everything that it needs is read and checked before anything is trained. What is finished is not
done again.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.corpora import Pair, read_corpus
from evenhand.core.errors import EvenhandError, LabelError, LoadError
from evenhand.core.files import require_room, write_atomic
from evenhand.core.plain import plain, to_json
from evenhand.core.probe import NLI_LABELS
from evenhand.core.protocols import Respondent, RespondentOptions, SuiteOptions
from evenhand.core.settings import Settings
from evenhand.engine.compare import Watch
from evenhand.engine.suites import load_suite
from evenhand.languages.names import AUTO, find_people
from evenhand.languages.swapping import require_swappable
from evenhand.mitigate.anchors import AnchorPlan, plan_anchors
from evenhand.mitigate.compare import (
    AskedSuite,
    ask_all,
    compare_models,
    default_suites,
    held_out_suite,
    score_further_runs,
)
from evenhand.mitigate.methods import Combination, Materials, find_methods
from evenhand.mitigate.records import BEFORE, FILE, NONE, Mitigation, Trained
from evenhand.respondents.locate import open_respondent
from evenhand.train import require_packages
from evenhand.train.corpus import Corpora, draw_pairs, read_corpora, write_corpus
from evenhand.train.recipes import Recipe, RecipeChanges, RunOptions, Say, find_recipe

RECIPE = "mitigate"
METHODS = f"{NONE},swap,pairing,anchors"
CORPUS = "corpus.jsonl"


def mitigation_recipe(name: str = RECIPE, changes: RecipeChanges | None = None) -> Recipe:
    """The recipe `mitigate` (one epoch at a low learning rate), or any recipe of `train nli`."""
    recipe = replace(
        find_recipe("polished"), name=RECIPE, epochs=1, learning_rate=3e-5, is_best_kept=True
    )
    if name != RECIPE:
        recipe = find_recipe(name)
    return changes.apply(recipe) if changes else recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class MitigationOptions:
    """What the user asks for."""

    model: str
    train: tuple[Path, ...]
    dev: tuple[Path, ...]
    out: Path
    recipe: Recipe = field(default_factory=mitigation_recipe)
    methods: str = METHODS
    language: str = "en"
    suites: tuple[str, ...] = ()  # empty: every built-in one that fits
    data: Path | None = None
    limit: int | None = None  # of the training pairs, before a method changes them
    pairing: float = 1.0
    anchors: float = 0.05
    name_finder: str = AUTO
    seeds: int = 1  # training runs of each method
    is_resumed: bool = True
    settings: Settings = field(default_factory=Settings)

    def check(self) -> None:
        """Raise EvenhandError for an impossible option."""
        shares = (("anchors", self.anchors, 1.0), ("pairing", self.pairing, math.inf))
        for name, share, most in shares:
            if not 0 < share <= most:
                at_most = " and at most 1" if most == 1 else ""
                raise EvenhandError(
                    f"{name} is {share:g}; give a number above 0{at_most}, "
                    f"or leave the method {name} out"
                )
        if self.seeds < 1:
            raise EvenhandError(f"seeds is {self.seeds}; give at least 1")
        language = catalog.language(self.language)
        if any(method.has_twins for method in find_methods(self.methods)):
            require_swappable(language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What was read and checked."""

    combinations: list[Combination]
    pairs: list[Pair]
    corpora: Corpora
    about: Mapping[str, Any]  # what a run card says of the files
    suites: list[AskedSuite]
    materials: Materials
    encoder: str
    identity: str


def prepare(options: MitigationOptions) -> Preparation:
    """Read all files and suites, open the model; every error that can be known now is raised."""
    options.check()
    require_packages()
    language, seed = options.language, options.settings.seed
    combinations = find_methods(options.methods)
    corpora = read_corpora(options.train, options.dev)
    about = corpora.describe()
    corpora.require_all_labels()
    suites = _load_suites(options, corpora)
    require_room(options.out)
    identity = _require_classifier(open_model(options.model, language)).identity
    encoder = require_trainable(options.model)
    pairs = draw_pairs(corpora.pairs, options.limit, seed)
    words = catalog.language(language)
    people = None
    if any(c.has_twins for c in combinations):
        texts = [text for pair in pairs for text in (pair.premise, pair.hypothesis)]
        people = find_people(language, options.name_finder, texts)
    plan = None
    if any(c.has_anchors for c in combinations):
        asked = [a.suite for a in suites if a.part == "all"]
        plan = plan_anchors(words, pairs, asked, seed=seed)
    return Preparation(
        combinations=combinations,
        pairs=pairs,
        corpora=corpora,
        about=about,
        suites=suites,
        materials=Materials(
            language=words, plan=plan, share=options.anchors, people=people, seed=seed
        ),
        encoder=encoder,
        identity=identity,
    )


def _load_suites(options: MitigationOptions, corpora: Corpora) -> list[AskedSuite]:
    """The suites, then the held-out files as suites."""
    suite_options = SuiteOptions(data=options.data, seed=options.settings.seed)
    suites = []
    for name in options.suites or default_suites(options.language):
        suite = load_suite(name, options.language, suite_options)
        is_file = name.endswith(".jsonl")
        is_published = not is_file and catalog.suite(name.partition(":")[0]).is_published
        suites.append(
            AskedSuite(name=suite.card.name, part="all", suite=suite, is_published=is_published)
        )
    stems = [corpus.path.stem for corpus in corpora.dev]
    is_clear = len({*stems, *(a.name for a in suites)}) == len(stems) + len(suites)
    for corpus in corpora.dev:
        name = corpus.path.stem if is_clear else str(corpus.path)
        suite = held_out_suite(name, corpus.pairs, corpus.path.name, options.language)
        suites.append(AskedSuite(name=name, part="dev", suite=suite))
    return suites


def _expanded(model: str) -> str:
    return str(Path(model).expanduser()) if model.startswith("~") else model


def open_model(model: str, language: str) -> Respondent:
    """The model as it is asked."""
    return open_respondent(_expanded(model), "pair", RespondentOptions(language=language))


def _require_classifier(respondent: Respondent) -> Respondent:
    labels = respondent.labels_for("pair")
    if labels != NLI_LABELS:
        raise LabelError(
            f"{respondent.identity} gives {', '.join(labels) or 'no labels'}; mitigation starts "
            f"from an NLI model that gives {', '.join(NLI_LABELS)}. "
            "Train one with `evenhand train nli`, or name `default`"
        )
    return respondent


def require_trainable(model: str) -> str:
    """The name to train from; raises LoadError where there are no weights."""
    from evenhand.train.encoders import WEIGHTS, describe_encoder, find_encoder, weight_files

    name = _expanded(model)
    place = Path(find_encoder(name))
    if place.is_dir() and not weight_files(place):
        raise LoadError(
            f"{model} has no weights that can be trained ({', '.join(WEIGHTS)}); "
            "name the folder of the trained model, not of its ONNX form"
        )
    describe_encoder(name, str(place) if place.is_dir() else name)
    return name


def run_folder(out: Path, method: str, run: int) -> Path:
    """The folder of a training run: that of the method, with the number of a further seed."""
    return out / (f"{method}.seed{run}" if run else method)


def train_all(
    options: MitigationOptions, prepared: Preparation, say: Say, watch: Watch | None = None
) -> list[Trained]:
    """Train the models of every method on its own corpus, unless that is done already.

    The runs of a method share the corpus; the order of the pairs and the dropout differ.
    """
    from evenhand.train.fine_tuning import fine_tune

    corpora: list[Corpora] = []
    for method in prepared.combinations:
        path = options.out / method.name / CORPUS
        write_corpus(path, method.apply(prepared.pairs, prepared.materials))
        corpora.append(Corpora((read_corpus(path),), prepared.corpora.dev))
        count = len(corpora[-1].pairs)
        say(f"{method.name}: {count:,} pairs, {count - len(prepared.pairs):,} of them added")
    jobs = [
        (run, method, own)
        for run in range(options.seeds)
        for method, own in zip(prepared.combinations, corpora, strict=True)
    ]
    trained: list[Trained] = []
    began, left, done = time.monotonic(), sum(len(own.pairs) for _, _, own in jobs), 0
    for place, (run, method, own) in enumerate(jobs, 1):
        folder, start = run_folder(options.out, method.name, run), time.monotonic()
        recipe = replace(
            options.recipe,
            pairing=options.pairing if method.is_paired else 0.0,
            seed=options.recipe.seed + options.settings.seed + run,
        )
        rest = _time_left(time.monotonic() - began, done, left)
        say(f"training {place} of {len(jobs)}: {folder.name}{rest}")
        with watch(f"training {folder.name}") if watch else nullcontext() as tick:
            run_options = RunOptions(
                has_onnx=importlib.util.find_spec("onnx") is not None,
                is_resumed=options.is_resumed,
                say=say,
                tick=tick,
            )
            card = fine_tune(prepared.encoder, own, recipe, folder, run_options)
        count = len(own.pairs)
        # a model that was finished earlier says nothing about the time that the rest takes
        if time.monotonic() - start > 0.5 * card.seconds:
            done += count
        else:
            began = time.monotonic()
        left -= count
        trained.append(
            Trained(
                method=method.name,
                run=run,
                description=method.description,
                identity="",
                folder=str(folder),
                pairs=count,
                added=count - len(prepared.pairs),
                twins=sum(p.twin is not None for p in own.pairs),
                steps=card.steps,
                seconds=card.seconds,
            )
        )
    return trained


def _time_left(seconds: float, done: int, left: int) -> str:
    if not done:
        return ""
    return f", about {math.ceil(seconds / done * left / 60)} min left for all trainings"


def mitigate(
    options: MitigationOptions, say: Callable[[str], None] = print, watch: Watch | None = None
) -> Mitigation:
    """Train, ask, compare; returns the record, which is also written to OUT.

    Raises EvenhandError where it cannot be done, before anything is trained.
    """
    prepared = prepare(options)
    trained = train_all(options, prepared, say, watch)
    opened: dict[str, Respondent] = {}

    def opening(name: str, model: str) -> Respondent:
        opened[name] = open_model(model, options.language)
        return opened[name]

    models = {BEFORE: options.model, **{Path(t.folder).name: t.folder for t in trained}}
    answered = ask_all(
        [(name, partial(opening, name, model)) for name, model in models.items()],
        prepared.suites,
        prepared.materials.plan,
        watch,
        say,
    )
    first = 1 + len(prepared.combinations)  # the model of before, and the first run of each method
    say(f"comparing {first - 1} models with the one of before on {len(answered)} sets of pairs")
    compared = compare_models(
        [replace(asked, answers=asked.answers[:first]) for asked in answered],
        list(models)[:first],
        options.settings,
    )
    further = score_further_runs(
        [replace(asked, answers=asked.answers[first:]) for asked in answered],
        [(t.method, t.run) for t in trained if t.run],
        options.settings,
    )
    plan = prepared.materials.plan
    record = Mitigation(
        model=options.model,
        identity=prepared.identity,
        language=options.language,
        level=options.settings.level,
        tests=compared.tests,
        settings=_record_settings(options, prepared),
        occupations={"anchors": plan.occupations, "unseen": plan.unseen} if plan else {},
        asked=tuple(asked.describe() for asked in answered),
        trained=tuple(replace(t, identity=opened[Path(t.folder).name].identity) for t in trained),
        scores=(*compared.scores, *further),
        changes=compared.changes,
    )
    write_atomic(options.out / FILE, to_json(record))
    return record


def _record_settings(options: MitigationOptions, prepared: Preparation) -> dict[str, Any]:
    plan: AnchorPlan | None = prepared.materials.plan
    return {
        "train": prepared.about["train"],
        "dev": prepared.about["dev"],
        "pairs": len(prepared.pairs),
        "limit": options.limit,
        "recipe": plain(asdict(options.recipe)),
        "pairing": options.pairing,
        "anchors": options.anchors,
        "frames": len(plan.frames) if plan else 0,
        "names found by": people.name if (people := prepared.materials.people) else None,
        "seed": options.settings.seed,
        "seeds": options.seeds,
        "resamples": options.settings.resamples,
        "permutations": options.settings.permutations,
        "evenhand": __version__,
    }
