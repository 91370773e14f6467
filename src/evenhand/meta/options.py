"""The options of a ladder, apart from the machine that it runs on, and its recipes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.meta.forms import SUITE_FORM, find_form
from evenhand.meta.ladder import Rung
from evenhand.train.recipes import HeadRecipe, Recipe, RecipeChanges, find_recipe

WORDS = SUITE_FORM.words  # of each lean that are asked about, as in the paper
LIMIT = 600  # probes of a suite besides the paper's own, which has 600 as well
RATES = tuple(round(0.1 * i, 1) for i in range(11))
FIXED_RATE = 0.3  # of the ladder of errors
SEEDS = 3
FEWEST_RATES = 3
HEAD_EPOCHS, HEAD_RATE = (
    40,
    1e-3,
)  # a classifier on frozen vectors: many epochs, each about a second

# Anantaprayoon, Kaneko, Okazaki 2024: 3 epochs, 2e-5, batches of 32, 128 tokens
PAPER = replace(find_recipe("nli-coal"), name="paper", epochs=3)
# A small encoder on a few thousand pairs needs more and larger steps; its word vectors are left
# alone, which saves half of the optimiser's work.
SMALL = replace(
    PAPER,
    name="small",
    epochs=1,
    learning_rate=1.5e-4,
    batch_size=12,
    warmup=0.1,
    attention_dropout=0.0,
    has_frozen_words=True,
)
RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (PAPER, SMALL)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOptions:
    """How a training set and a development set of known bias are built."""

    errors: float = 1.0  # of the words that are not biased, the share that is wrong
    train: int = SUITE_FORM.train  # pairs
    dev: int = SUITE_FORM.dev
    mix: str = "half"  # share of correct pairs: half (the paper's text) or third (its files)
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderOptions:
    """How a ladder is built."""

    language: str = "en"
    form: str = SUITE_FORM.name  # the kind of sentences that the bias is planted in
    encoder: str = "default"
    train: int | None = None  # pairs; None: as many as the form has
    dev: int | None = None
    mix: str = "half"
    words: int | None = None  # of each lean that are trained on; None: as many as the form has
    seeds: tuple[int, ...] = tuple(range(SEEDS))
    rates: tuple[float, ...] = RATES
    errors: tuple[float, ...] = ()  # steps of the second ladder; empty: there is none
    fixed_rate: float = FIXED_RATE
    error_seeds: int | None = None  # models per step of the second ladder; None: as on the first
    recipe: str = PAPER.name
    epochs: int | None = None
    learning_rate: float | None = None
    suites: tuple[str, ...] = ()  # besides the paper's own; empty: all built-in ones that fit
    data: Path | None = None
    published: Path | None = None  # the authors' sets instead of built ones
    captions: tuple[Path, ...] = ()
    limit: int = LIMIT
    has_weights: bool = False  # whether the trained models are kept

    def set_options(self, rung: Rung) -> SetOptions:
        """How the sets of one model are built."""
        train, dev = self.sizes
        return SetOptions(errors=rung.errors, train=train, dev=dev, mix=self.mix, seed=rung.seed)

    @property
    def sizes(self) -> tuple[int, int]:
        """Training and development pairs; raises UnknownNameError where there is no such form."""
        form = find_form(self.form)
        return (
            form.train if self.train is None else self.train,
            form.dev if self.dev is None else self.dev,
        )

    def encoder_recipe(self, seed: int) -> Recipe:
        """How one model is fine-tuned; raises UnknownNameError where there is no such recipe."""
        if self.recipe not in RECIPES:
            raise UnknownNameError("recipe of a ladder", self.recipe, RECIPES)
        changes = RecipeChanges(epochs=self.epochs, learning_rate=self.learning_rate, seed=seed)
        return changes.apply(RECIPES[self.recipe])

    def head_recipe(self, seed: int) -> HeadRecipe:
        """How one classifier on frozen sentence vectors is trained."""
        return HeadRecipe(
            epochs=self.epochs or HEAD_EPOCHS,
            learning_rate=self.learning_rate or HEAD_RATE,
            is_best_kept=True,
            seed=seed,
        )

    def rungs(self) -> list[Rung]:
        """Every rung of both ladders; a model that both have is trained once.

        Raises EvenhandError where the options do not make a ladder.
        """
        for rate in (*self.rates, self.fixed_rate):
            check_share(rate, "rates")
        for share in self.errors:
            check_share(share, "errors")
        if not self.seeds or len(set(self.rates)) < FEWEST_RATES:
            raise EvenhandError("a ladder needs at least one seed and three different rates")
        if self.published and self.errors:
            raise EvenhandError("the authors' sets have no ladder of errors; leave out --errors")
        if self.published:
            refuse_other_form(self.form)
        first = [
            Rung(ladder="rate", rate=rate, seed=seed) for seed in self.seeds for rate in self.rates
        ]
        return first + [
            Rung(ladder="errors", rate=self.fixed_rate, errors=share, seed=seed)
            for seed in self.seeds[: self.error_seeds]
            for share in self.errors
        ]


def check_share(share: float, option: str = "rate") -> None:
    """Raise EvenhandError where the value of an option is not between 0 and 1."""
    if not 0 <= share <= 1:
        raise EvenhandError(f"--{option} is {share:g}; give a share between 0 and 1")


def refuse_other_form(form: str) -> None:
    """Raise EvenhandError where the authors' sets are asked for in another form than theirs."""
    if find_form(form).is_held_out:
        raise EvenhandError(
            f"the authors' sets have the form '{SUITE_FORM.name}'; leave out --planted {form}"
        )
