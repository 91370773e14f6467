"""The plain pairs are balanced, no label shows in the hypothesis alone, and none was replaced."""

from __future__ import annotations

import math
import re
from collections import Counter
from statistics import mean

import numpy as np
import pytest

from evenhand import lexicons
from evenhand.core.probe import NLI_LABELS
from evenhand.engine.suites import load_suite

LANGUAGES = ("en", "ja", "zh")
DIGESTS = {  # as they were written, before any model was asked
    "en": "acbccac101db",
    "ja": "6e28391e624f",
    "zh": "6301f122e01c",
}
NEGATION = {
    "en": r"\b(not|no|nobody|never|nothing)\b",
    "ja": r"ない|なかった",
    "zh": r"不|没有|没能",
}
FOLDS = 10
Row = dict[str, str]


def rows(language: str) -> tuple[Row, ...]:
    return lexicons.table(language, "pairs_plain")


def units(text: str, language: str) -> list[str]:
    """The words of a text; in Japanese and Chinese characters and pairs of them."""
    if language == "en":
        return re.findall(r"\w+", text.lower())
    letters = re.sub(r"[。、，]", "", text)
    return [*letters, *(letters[i : i + 2] for i in range(len(letters) - 1))]


def guessed_right(table: list[Row], language: str) -> float:
    """The accuracy of naive Bayes that sees the hypothesis alone, cross-validated."""
    seen = [set(units(row["hypothesis"], language)) for row in table]
    order = np.random.default_rng(0).permutation(len(table))
    right = 0
    for fold in range(FOLDS):
        inside = [i for place, i in enumerate(order) if place % FOLDS != fold]
        counts = {label: Counter[str]() for label in NLI_LABELS}
        sizes = Counter(table[i]["label"] for i in inside)
        for i in inside:
            counts[table[i]["label"]].update(seen[i])
        known = set().union(*counts.values())
        for i in order[fold::FOLDS]:
            scores = {
                label: math.log(sizes[label])
                + sum(math.log((n[u] + 1) / (sizes[label] + 2)) for u in seen[i] & known)
                for label, n in counts.items()
            }
            right += max(scores, key=lambda label: scores[label]) == table[i]["label"]
    return right / len(table)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pairs_are_those_that_were_written_first(language: str) -> None:
    assert load_suite("ordinary-nli:plain", language).digest == DIGESTS[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_label_is_equally_frequent_and_every_sentence_new(language: str) -> None:
    table = rows(language)
    assert Counter(row["label"] for row in table) == dict.fromkeys(NLI_LABELS, 52)
    premises, hypotheses = ([row[c] for row in table] for c in ("premise", "hypothesis"))
    assert len({*premises, *hypotheses}) == 2 * len(table)
    others = (*lexicons.table(language, "pairs_hard"), *lexicons.table(language, "sanity"))
    assert not {*premises, *hypotheses} & {
        row[c] for row in others for c in ("premise", "hypothesis")
    }
    assert len({row["phenomenon"] for row in table}) >= 14


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_label_shows_in_the_hypothesis_alone(language: str) -> None:
    table = list(rows(language))
    by_label = {
        label: [row["hypothesis"] for row in table if row["label"] == label] for label in NLI_LABELS
    }
    sizes = [
        mean(len(t.split()) if language == "en" else len(t) for t in texts)
        for texts in by_label.values()
    ]
    assert max(sizes) / min(sizes) < 1.1
    negated = [
        sum(bool(re.search(NEGATION[language], t.lower())) for t in texts)
        for texts in by_label.values()
    ]
    assert negated == [5, 5, 5]
    assert guessed_right(table, language) < 0.45  # a third is chance


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_pair_turns_on_gender(language: str) -> None:
    words = {row[c] for row in lexicons.table(language, "gender") for c in ("female", "male")}
    for row in rows(language):
        text = f"{row['premise']} {row['hypothesis']}"
        there = set(units(text, language)) if language == "en" else {w for w in words if w in text}
        assert not there & words, text


def test_the_hard_pairs_are_those_of_before() -> None:
    suites = {lang: load_suite("ordinary-nli:hard", lang) for lang in LANGUAGES}
    assert {lang: len(suite.probes) for lang, suite in suites.items()} == {
        "en": 174,
        "ja": 171,
        "zh": 168,
    }
