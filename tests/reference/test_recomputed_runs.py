"""Every estimate of the runs below, computed again by `recomputed.py`, agrees to 1e-9."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import recomputed
from glue_files import write_glue
from recomputed import DEFINITIONS, OF_GROUPS, Item, read_items

from evenhand.core import catalog
from evenhand.core.answers import Replies, empty_values
from evenhand.core.errors import EvenhandWarning
from evenhand.core.probe import KINDS, NLI_LABELS, SCORE, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.settings import Settings
from evenhand.engine.ask import Asking
from evenhand.engine.audit import audit
from evenhand.engine.audit_document import audit_document
from evenhand.engine.results import run_files
from evenhand.engine.suites import load_suite

FEW = Settings(resamples=20, permutations=20)
CLOSE = 1e-9


class Coarse:
    """Answers that depend on the words alone: few different numbers, so ties; some are missing."""

    is_cacheable = False
    reads_tags = False

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.labels = labels
        self.kinds: frozenset[Kind] = frozenset(KINDS if len(labels) > 1 else ("mask", "choice"))
        self.identity = f"coarse{len(labels)}@1"
        self.traits: Mapping[str, str] = {"scoring": "coarse"}

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """The labels of pairs and choices; one number per word of a blank."""
        return (SCORE,) if kind == "mask" else self.labels

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """Numbers from -2 to 2 in steps of one half; every twelfth probe has none."""
        values = empty_values(probes, len(self.labels_for(probes[0].kind)))
        for row, probe in enumerate(probes):
            digest = hashlib.blake2b("\0".join(probe.texts).encode(), digest_size=8).digest()
            rng = np.random.default_rng(int.from_bytes(digest))
            shape = (probe.option_count, values.shape[2])
            if rng.integers(12):
                values[row, : shape[0]] = rng.integers(-4, 5, size=shape) / 2
        return Replies(values=values)


THREE, ONE, TWO = Coarse(NLI_LABELS), Coarse((SCORE,)), Coarse(("entailment", "not_entailment"))


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model on a suite."""

    model: str | Coarse
    suite: str
    limit: int | None = None
    lang: str = "en"

    @property
    def name(self) -> str:
        """For the name of a test."""
        model = self.model if isinstance(self.model, str) else self.model.identity
        return f"{model}-{self.suite}-{self.lang}"


CASES = [
    Case(model="default", suite="occupation-nli", limit=120),
    Case(model="default", suite="gendered-entailment", limit=80),
    Case(model="default", suite="ordinary-nli", limit=60),
    Case(model="default", suite="profession", limit=60),
    Case(model="fixed:random", suite="contextualised"),
    Case(model="fixed:random", suite="crows-pairs", limit=300),
    Case(model="fixed:stereotyped", suite="occupation-nli", limit=300, lang="ja"),
    Case(model=THREE, suite="occupation-nli", limit=900),
    Case(model=THREE, suite="nli-coal", limit=600, lang="zh"),
    Case(model=THREE, suite="gendered-entailment", limit=900),
    Case(model=THREE, suite="sharma2021:snli", limit=600),
    Case(model=THREE, suite="profession", limit=900),
    Case(model=THREE, suite="emotion", limit=500),
    Case(model=THREE, suite="stereoset", limit=600),
    Case(model=ONE, suite="stereoset:all", limit=300),
    Case(model=THREE, suite="glue:mnli", limit=300),
    Case(model=THREE, suite="glue:all", limit=300),
    Case(model=THREE, suite="ordinary-nli"),
    Case(model=TWO, suite="occupation-nli", limit=300),
    Case(model=TWO, suite="gendered-entailment", limit=300),
    Case(model=TWO, suite="ordinary-nli"),
    Case(model=ONE, suite="stereoset:intra", limit=300),
    Case(model=ONE, suite="crows-pairs", limit=900),
    Case(model=ONE, suite="gender-recognition"),
    Case(model=ONE, suite="contextualised", lang="ko"),
    Case(model="stored:BERT", suite="cgb", limit=600, lang="zh"),
]


@dataclass(frozen=True, kw_only=True)
class Folder:
    """The folder of a run, as the reference reads it."""

    path: Path

    @cached_property
    def results(self) -> dict[str, Any]:
        """What results.json holds."""
        fields: dict[str, Any] = json.loads((self.path / "results.json").read_text("utf-8"))
        return fields

    @cached_property
    def items(self) -> list[Item]:
        """The probes with their answers."""
        return read_items(self.path)


@pytest.fixture(scope="module")
def folder_of(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Folder]:
    """The folder of the run of a case; every run is made once."""
    made: dict[str, Folder] = {}
    asking = Asking(cache=tmp_path_factory.mktemp("answers"))

    def make(case: Case) -> Folder:
        if case.name not in made:
            place = data
            if case.suite == "glue:all":  # real pairs in the form of GLUE's own files
                place = write_glue(tmp_path_factory.mktemp("glue"), data / "nli")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EvenhandWarning)  # of the tasks that are not there
                suite = load_suite(
                    case.suite, case.lang, SuiteOptions(data=place), limit=case.limit
                )
            run = audit(case.model, suite, settings=FEW, asking=asking)
            path = tmp_path_factory.mktemp("run")
            for name, content in run_files(run, audit_document(run)).items():
                raw = content.encode() if isinstance(content, str) else content
                (path / name).write_bytes(raw)
            made[case.name] = Folder(path=path)
        return made[case.name]

    return make


def number(value: float | None) -> float:
    """A number of a JSON file; null stands for NaN."""
    return math.nan if value is None else value


def same(first: float | None, second: float) -> bool:
    """Equal to 1e-9, or both NaN."""
    return number(first) == pytest.approx(second, rel=0, abs=CLOSE, nan_ok=True)


def has_near_ties(values: Sequence[float]) -> bool:
    """Whether two values differ by rounding alone, so that their ranks depend on it."""
    return any(0 < high - low < CLOSE for low, high in pairwise(sorted(values)))


def under_leans(items: Sequence[Item], group: Mapping[str, Any]) -> list[Item]:
    """The items of the occupations that a group's tags list, with the lean that they list."""
    leans = {
        word: lean
        for lean in ("female", "male", "none")
        for word in group["tags"][lean].split("; ")
        if word
    }
    turned = []
    for item in items:
        lean = leans.get(item.tags["occupation"])
        if lean is None:
            continue
        stratum = item.stratum
        if stratum in ("PS", "AS", "NS"):
            stratum = "NS" if lean == "none" else "PS" if lean == item.tags["gender"] else "AS"
        turned.append(dataclasses.replace(item, stratum=stratum, tags={**item.tags, "lean": lean}))
    return turned


def group_of(item: Item, by: str) -> str | None:
    """The group of an item in a breakdown: a tag, the stratum, or two tags together."""
    if by == "lean and gender word":
        return f"lean {item.tags.get('lean')}, {item.tags.get('gender')} word"
    if by == "half and domain":
        return f"{item.stratum}, {item.tags['domain']}"
    return item.stratum if by == "stratum" else item.tags.get(by)


def of_half(item: Item) -> Item:
    """The item of StereoSet as its half alone counts it: by the items of its term there."""
    tags = {**item.tags, "items": item.tags.get("half items", item.tags.get("items", ""))}
    return replace(item, tags=tags)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_estimate_is_what_its_definition_gives(
    case: Case, folder_of: Callable[[Case], Folder]
) -> None:
    folder = folder_of(case)
    assert folder.results["estimates"]
    for estimate in folder.results["estimates"]:
        measure = estimate["measure"]
        definition = DEFINITIONS[measure]
        score = definition.score(folder.items)
        assert same(estimate["value"], score.value), measure
        parts = {name: part["value"] for name, part in estimate["parts"].items()}
        assert parts.keys() == score.parts.keys(), measure
        wrong = {name: parts[name] for name in parts if not same(parts[name], score.parts[name])}
        assert wrong == {}, (measure, dict(score.parts))
        asked = definition.asked(folder.items)
        answered = sum(item.is_answered for item in asked)
        assert estimate["ties"] == score.ties, measure
        assert estimate["probes"] == len(asked), measure
        assert estimate["clusters"] == len({item.cluster for item in score.counted}), measure
        assert same(estimate["coverage"], answered / len(asked)), measure


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_group_is_what_the_definition_gives_on_its_probes(
    case: Case, folder_of: Callable[[Case], Folder]
) -> None:
    folder = folder_of(case)
    labels = folder.results["model"]["labels"]
    for view in folder.results["breakdowns"]:
        measure = view["measure"]
        for group in view["groups"]:
            if view["by"] == "lean source":
                items = under_leans(folder.items, group)
                value = DEFINITIONS[measure].score(items).value
                assert same(group["value"], value), (measure, view["by"], group)
                continue
            items = [i for i in folder.items if group_of(i, view["by"]) == group["name"]]
            if view["by"] in ("stratum", "half and domain"):
                items = [of_half(item) for item in items]
            if measure in OF_GROUPS:
                value = OF_GROUPS[measure](items).value
            else:
                label = labels.index(measure.removeprefix("share of "))
                value = recomputed.label_share(items, label)
            assert same(group["value"], value), (measure, view["by"], group)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_correlations_with_figures_are_those_of_the_groups(
    case: Case, folder_of: Callable[[Case], Folder]
) -> None:
    folder = folder_of(case)
    for relation in folder.results["relations"]:
        measure, by, against = (relation[key] for key in ("measure", "by", "against"))
        groups: dict[str, list[Item]] = {}
        for item in folder.items:
            if by in item.tags and against in item.tags:
                groups.setdefault(item.tags[by], []).append(item)
        pairs = [
            (float(items[0].tags[against]), OF_GROUPS[measure](items).value)
            for items in groups.values()
        ]
        known = [(x, y) for x, y in pairs if not math.isnan(y)]
        x, y = [p[0] for p in known], [p[1] for p in known]
        assert relation["points"] == len(known)
        assert same(relation["pearson"]["value"], recomputed.pearson(x, y))
        if not has_near_ties(y):
            assert same(relation["spearman"]["value"], recomputed.spearman(x, y))


def test_every_measure_of_the_catalog_is_in_a_run(folder_of: Callable[[Case], Folder]) -> None:
    reached = {e["measure"] for case in CASES for e in folder_of(case).results["estimates"]}
    assert set(catalog.measures()) - reached == set()


def test_the_runs_have_ties_and_gaps(folder_of: Callable[[Case], Folder]) -> None:
    estimates = [e for c in CASES for e in folder_of(c).results["estimates"]]
    assert sum(e["ties"] > 0 for e in estimates) > 40
    assert sum(e["coverage"] < 1 for e in estimates) > 40


def test_the_reference_knows_nothing_of_the_program() -> None:
    tree = ast.parse(Path(recomputed.__file__).read_text(encoding="utf-8"))
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [])
        + [alias.name for alias in node.names]
    }
    assert not [name for name in imported if name.split(".")[0] == "evenhand"]
