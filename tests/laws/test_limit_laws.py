"""What holds for every suite of the catalog that is cut by a limit."""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Probe
from evenhand.core.suite import Suite
from evenhand.engine.suites import limited, load_suite

ENGLISH_ONLY = (
    "published",
    "published-corrected",
    "published-code",
)  # variants of suites in several languages
JAPANESE_ONLY = ("tokenised", "downsampled-tokenised")
NOT_STORED = ("mnli-mm", "rte", "qnli", "qqp", "sst2", "cola")  # tasks that the test data lack
OTHERS_BRING = {"crows-pairs": "en"}  # only this language of a format is published
LIMITS = (10, 61, 100)


def _is_there(language: str, variant: str) -> bool:
    if variant in NOT_STORED:
        return False
    if variant in ENGLISH_ONLY:
        return language == "en"
    return variant not in JAPANESE_ONLY or language == "ja"


LACKING = ("glue:all",)  # needs every task
PLACES = [
    (f"{name}:{variant}" if variant else name, language)
    for name, source in catalog.entries("suites").items()
    for language in source.languages
    for variant in source.variants or ("",)
    if _is_there(language, variant) and OTHERS_BRING.get(name, language) == language
    if f"{name}:{variant}" not in LACKING
]
every_suite = pytest.mark.parametrize(("name", "language"), PLACES)


@functools.cache
def build(name: str, language: str, data: Path) -> Suite:
    options = catalog.suite(name.partition(":")[0]).options
    return load_suite(name, language, options(data=data))


def asked_whole(probes: tuple[Probe, ...]) -> dict[str, frozenset[str]]:
    """For each probe the ids that are kept with it: its twin, and the same texts once more."""
    same: dict[tuple[str, ...], set[str]] = defaultdict(set)
    texts = {p.id: (p.cluster, *p.texts) for p in probes}
    for probe in probes:
        same[texts[probe.id]].add(probe.id)
    groups = {}
    for probe in probes:
        twins = {probe.id, probe.twin or probe.id} & texts.keys()
        groups[probe.id] = frozenset(i for t in twins for i in same[texts[t]])
    return groups


def test_every_suite_of_the_catalog_is_cut() -> None:
    assert {name.partition(":")[0] for name, _ in PLACES} == set(catalog.entries("suites"))


@every_suite
def test_pairs_stay_whole_and_the_limit_is_used_up(name: str, language: str, data: Path) -> None:
    whole = build(name, language, data)
    groups = asked_whole(whole.probes)
    largest = max(map(len, groups.values()))
    for limit in LIMITS:
        cut = limited(whole, limit, seed=3)
        kept = {p.id for p in cut.probes}
        assert all(groups[i] <= kept for i in kept)
        assert limit - largest < len(kept) <= limit
        assert [p for p in whole.probes if p.id in kept] == list(cut.probes)
        assert (cut.limit, cut.whole) == (limit, len(whole.probes))


@every_suite
def test_every_cluster_keeps_its_share(name: str, language: str, data: Path) -> None:
    """Within a set of strata a cluster gives its share of what is kept, give or take two draws.

    A draw is one group of probes that are asked whole; of choices it may be several.
    """
    whole = build(name, language, data)
    groups, by_id = asked_whole(whole.probes), {p.id: p for p in whole.probes}
    strata = {i: tuple(sorted({by_id[j].stratum for j in groups[i]})) for i in groups}
    sizes = Counter((strata[p.id], p.cluster) for p in whole.probes)
    sets, largest = Counter(strata.values()), max(map(len, groups.values()))
    for limit in LIMITS:
        cut = limited(whole, limit, seed=3)
        kept = Counter((strata[p.id], p.cluster) for p in cut.probes)
        taken = Counter(strata[p.id] for p in cut.probes)
        several = math.isqrt(limit // len(sets)) if whole.kind == "choice" else 1
        for (own, cluster), size in sizes.items():
            share = taken[own] * size / sets[own]
            assert abs(kept[own, cluster] - share) <= 2 * largest * several, (own, cluster)


@every_suite
def test_a_cut_suite_spreads_over_clusters(name: str, language: str, data: Path) -> None:
    """60 probes of a suite come from at least ten clusters, if it has as many."""
    whole = build(name, language, data)
    cut = limited(whole, 60, seed=0)
    clusters = len({p.cluster for p in whole.probes})
    assert len({p.cluster for p in cut.probes}) >= min(10, clusters)


@every_suite
def test_a_seed_decides_what_is_kept(name: str, language: str, data: Path) -> None:
    whole = build(name, language, data)
    first, again, other = (limited(whole, 60, seed).probes for seed in (0, 0, 1))
    assert first == again != other


def test_writers_of_crows_pairs_are_not_drawn_one_by_one(data: Path) -> None:
    cut = limited(build("crows-pairs", "en", data), 60, seed=0)
    rules = ("shared", "changed", "whole", "aul", "aula")
    assert Counter(p.stratum for p in cut.probes) == dict.fromkeys(rules, 12)
    assert len({p.cluster for p in cut.probes}) >= 11


def test_a_word_keeps_several_of_its_pairs(data: Path) -> None:
    cut = limited(build("profession", "en", data), 100, seed=0)
    pairs = Counter(p.cluster for p in cut.probes if p.stratum == "profession")
    assert len(pairs) >= 10
    assert min(pairs.values()) >= 2


def test_a_limit_below_one_pair_is_refused(data: Path) -> None:
    with pytest.raises(EvenhandError, match=r"limit is 1; give at least 2, for a pair of nli-coal"):
        limited(build("nli-coal", "en", data), 1, seed=0)
