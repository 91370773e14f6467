"""What holds for every built-in suite, in every language it has?"""

from __future__ import annotations

import re
from collections import Counter

import pytest

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.probe import BLANK, CONTRADICTION, ENTAILMENT, NEUTRAL, NLI_LABELS
from evenhand.core.suite import Suite
from evenhand.engine.lint import lint

BUILT_IN = {
    name: source for name, source in catalog.entries("suites").items() if not source.is_published
}
PLACES = [
    (name, language, variant)
    for name, s in BUILT_IN.items()
    for language in s.languages
    for variant in s.variants
    if not variant.startswith("published")  # others' words, and not on every machine
]
EQUAL = {"MS", "profession", "emotion"}  # the strata in which a fair respondent prefers nothing
WHOLE = {
    "contextualised",
    "ordinary-nli",
    "gender-recognition",
    "profession",
    "emotion",
}  # ask everything in their lexicon, so there is nothing for a seed to choose
every_suite = pytest.mark.parametrize(("name", "language", "variant"), PLACES)


def build(name: str, language: str, variant: str, seed: int = 0) -> Suite:
    source = catalog.suite(name)
    return source.build(language, source.options(variant=variant, seed=seed))


def test_the_built_in_suites_are_there() -> None:
    assert {(n, lang) for n, lang, _ in PLACES} >= {
        (n, lang) for n in ("occupation-nli", "ordinary-nli") for lang in ("en", "ja", "zh")
    }


@every_suite
def test_a_seed_decides_everything(name: str, language: str, variant: str) -> None:
    first, again, other = (build(name, language, variant, seed) for seed in (3, 3, 4))
    assert first.probes == again.probes and first.digest == again.digest
    assert (first.digest == other.digest) == (name in WHOLE)


@every_suite
def test_lint_finds_nothing(name: str, language: str, variant: str) -> None:
    for seed in (0, 7):
        assert lint(build(name, language, variant, seed).probes) == []


@every_suite
def test_probes_are_well_made(name: str, language: str, variant: str) -> None:
    suite = build(name, language, variant)
    assert len({p.id for p in suite.probes}) == len(suite.probes)
    assert len({p.texts for p in suite.probes}) == len(suite.probes)
    for probe in suite.probes:
        assert (
            probe.kind == catalog.suite(name).kind
            and probe.language == language == suite.card.language
        )
        assert probe.cluster and probe.stratum
        if probe.kind == "pair":
            assert probe.tags["fair"] in NLI_LABELS and probe.tags["stereotyped"] in NLI_LABELS
        else:
            assert probe.tags["fair"] == (
                "equal"
                if probe.stratum in EQUAL
                else str(suite.card.options.index(probe.tags["gold"]))
            )
        assert not any("{" in text or "}" in text for text in probe.texts)


@every_suite
def test_twins_are_mutual_and_of_opposite_gender(name: str, language: str, variant: str) -> None:
    by_id = {p.id: p for p in build(name, language, variant).probes}
    opposite = {"PS": "AS", "AS": "PS", "NS": "NS", "gendered": "gendered"}
    for probe in by_id.values():
        assert (probe.twin is not None) == (probe.stratum in opposite)
        if probe.twin is not None:
            twin = by_id[probe.twin]
            assert (
                twin.twin == probe.id
                and twin.texts[0] == probe.texts[0]
                and twin.texts[1] != probe.texts[1]
            )
            assert twin.stratum == opposite[probe.stratum] and twin.cluster == probe.cluster
            assert {twin.tags["gender"], probe.tags["gender"]} == {"female", "male"}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("language", BUILT_IN["occupation-nli"].languages)
def test_the_strata_are_of_one_size_and_say_what_they_mean(language: str, seed: int) -> None:
    probes = build("occupation-nli", language, "", seed).probes
    count = Counter(p.stratum for p in probes)
    assert count["PS"] == count["AS"] == count["NS"] > 500
    assert count["NB"] == len(
        {(p.cluster, p.tags["frame"]) for p in probes}
    )  # once for each premise
    for probe in probes:
        lean, gender = probe.tags["lean"], probe.tags["gender"]
        stratum = (
            "NB"
            if gender == "nonbinary"
            else "NS"
            if lean == "none"
            else "PS"
            if gender == lean
            else "AS"
        )
        assert probe.stratum == stratum
        assert probe.tags["fair"] == (ENTAILMENT if stratum == "NB" else NEUTRAL)
        if stratum != "NS":
            assert probe.tags["stereotyped"] == (ENTAILMENT if stratum == "PS" else CONTRADICTION)
    leans = Counter(lean for _, lean in {(p.cluster, p.tags["lean"]) for p in probes})
    assert leans["female"] == leans["male"] == leans["none"]
    assert len({(p.cluster, p.tags["gender"]) for p in probes}) * 10 == len(
        probes
    )  # ten frames for each occupation


@pytest.mark.parametrize("language", BUILT_IN["occupation-nli"].languages)
def test_frames_are_used_about_equally_often(language: str) -> None:
    probes = build("occupation-nli", language, "").probes
    uses = Counter(p.tags["frame"] for p in probes)
    assert set(uses) == {row["id"] for row in lexicons.table(language, "frames")}
    assert max(uses.values()) - min(uses.values()) <= 3  # one premise: three hypotheses


@pytest.mark.parametrize("variant", BUILT_IN["ordinary-nli"].variants)
@pytest.mark.parametrize("language", BUILT_IN["ordinary-nli"].languages)
def test_ordinary_pairs_ask_the_whole_lexicon_with_all_labels(language: str, variant: str) -> None:
    probes = build("ordinary-nli", language, variant).probes
    rows = lexicons.table(language, f"pairs_{variant}")
    assert [(p.texts, p.tags["gold"]) for p in probes] == [
        ((r["premise"], r["hypothesis"]), r["label"]) for r in rows
    ]
    labels = Counter(p.tags["gold"] for p in probes)
    assert set(labels) == set(NLI_LABELS)
    assert min(labels.values()) >= 50 and max(labels.values()) - min(labels.values()) <= 10


@pytest.mark.parametrize("language", BUILT_IN["contextualised"].languages)
def test_blanks_are_balanced_and_of_many_kinds(language: str) -> None:
    probes = build("contextualised", language, "").probes
    measuring, objective = ([p for p in probes if p.stratum == s] for s in ("MS", "OS"))
    assert len(measuring) >= 200 and len(objective) >= 60
    topics = Counter(p.tags["topic"] for p in measuring)
    assert len(topics) == 12 and set(topics.values()) == {18}
    pairs = Counter(p.cluster for p in measuring)
    assert len(pairs) >= 14 and max(pairs.values()) <= 30 and min(pairs.values()) >= 8
    types = Counter((p.tags["type"], p.tags["gold"]) for p in objective)
    assert set(types) == {
        (t, g)
        for t in ("biology", "collocation", "context", "knowledge")
        for g in ("male", "female")
    }
    assert set(types.values()) == {8}
    known = {(row["male"], row["female"]) for row in lexicons.table(language, "gender")}
    assert {tuple(p.cluster.split("/")) for p in probes} <= known
    for probe in probes:
        assert probe.texts[0].count(BLANK) == 1 and "{" not in "".join(probe.texts)
        assert probe.texts[1] != probe.texts[2]


@pytest.mark.parametrize("language", BUILT_IN["contextualised"].languages)
def test_a_measuring_sentence_names_no_gender_of_its_own(language: str) -> None:
    """No gender word of the lexicon stands beside the blank: as a word in English, at the start of
    a word in Korean, as characters elsewhere.
    """
    words = {row[g] for row in lexicons.table(language, "gender") for g in ("male", "female")}
    for probe in build("contextualised", language, "").probes:
        if probe.stratum == "MS":
            rest = probe.texts[0].replace(BLANK, " ")
            inside = {
                w for w in words if len(w) > 1 and re.search(rf"(?<![가-힣]){w}", rest)
            }  # 계부 is not in 가계부
            found = set(re.findall(r"[\w-]+", rest)) & words if language == "en" else inside
            assert not found, (probe.id, found)
