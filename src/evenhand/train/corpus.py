"""The NLI files of a training run: those that are trained on, and those that measure accuracy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.corpora import TWIN_FIELDS, Corpus, Pair, read_corpus
from evenhand.core.errors import InputError
from evenhand.core.files import unpacked_name, write_atomic
from evenhand.core.probe import NLI_LABELS


@dataclass(frozen=True, slots=True)
class Corpora:
    """The files of a run: those that are trained on, and those that accuracy is measured on."""

    train: tuple[Corpus, ...]
    dev: tuple[Corpus, ...]

    @property
    def pairs(self) -> list[Pair]:
        """All pairs to train on, file after file."""
        return [pair for corpus in self.train for pair in corpus.pairs]

    @property
    def held_out(self) -> dict[str, tuple[Pair, ...]]:
        """The pairs of each dev file by a short name: its stem, its path where stems are equal."""
        stems = [unpacked_name(corpus.path).stem for corpus in self.dev]
        is_short = len(set(stems)) == len(stems)
        names = stems if is_short else [str(corpus.path) for corpus in self.dev]
        return dict(zip(names, (corpus.pairs for corpus in self.dev), strict=True))

    def describe(self) -> dict[str, list[dict[str, Any]]]:
        """What a run card says of the files.

        Raises InputError where a dev file is also trained on, or given twice: its accuracy would
        mean nothing.
        """
        files = {
            "train": [corpus.describe() for corpus in self.train],
            "dev": [corpus.describe() for corpus in self.dev],
        }
        seen = {file["sha256"]: file["file"] for file in files["train"]}
        for file in files["dev"]:
            if file["sha256"] in seen:
                raise InputError(
                    file["file"],
                    f"is the same file as {seen[file['sha256']]}; "
                    "a dev file must be another than all the rest",
                )
            seen[file["sha256"]] = file["file"]
        return files

    def require_all_labels(self) -> None:
        """Raise InputError where the training files together never show one of the labels."""
        labels = {pair.label for pair in self.pairs}
        if missing := [label for label in NLI_LABELS if label not in labels]:
            raise InputError(
                _paths(self.train),
                f"no row is labelled {' or '.join(missing)}; three labels are needed: "
                "add a file that has them",
            )

    def require_twins(self) -> None:
        """Raise InputError where no pair has a twin to be compared with."""
        if not any(pair.twin for pair in self.pairs):
            raise InputError(
                _paths(self.train),
                f"no row has a twin ({' and '.join(TWIN_FIELDS)}), which --pairing compares with: "
                "make them with `evenhand mitigate swap FILE --paired`",
            )


def _paths(corpora: Sequence[Corpus]) -> str:
    return ", ".join(str(corpus.path) for corpus in corpora)


def read_corpora(train: Iterable[Path], dev: Iterable[Path]) -> Corpora:
    """The files of a run; raises InputError naming the first row that is not a labelled pair."""
    return Corpora(tuple(map(read_corpus, train)), tuple(map(read_corpus, dev)))


def read_pairs(paths: Iterable[Path]) -> list[Pair]:
    """The pairs of all files; raises InputError naming the first row that is not one."""
    return [pair for path in paths for pair in read_corpus(path).pairs]


def write_corpus(path: Path, pairs: Iterable[Pair]) -> None:
    """Write the pairs as .jsonl, twins beside them."""
    rows = []
    for pair in pairs:
        row = {"premise": pair.premise, "hypothesis": pair.hypothesis, "label": pair.label}
        if pair.twin:
            row |= zip(TWIN_FIELDS, pair.twin, strict=True)
        rows.append(json.dumps(row, ensure_ascii=False))
    write_atomic(path, "\n".join(rows) + "\n")


def draw_pairs(pairs: Sequence[Pair], limit: int | None, seed: int) -> list[Pair]:
    """`limit` of the pairs at random, in their order; all where there is no limit."""
    if limit is None or limit >= len(pairs):
        return list(pairs)
    chosen = np.random.default_rng(seed).choice(len(pairs), size=limit, replace=False)
    return [pairs[i] for i in np.sort(chosen)]
