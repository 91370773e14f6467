"""The report on a word test says who wins beside which words, in the right words."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from document_text import estimate_of
from word_tests import WINS, answers_of, build, hand_made

from evenhand.core import account, catalog
from evenhand.core.chart import DotChart
from evenhand.core.document import Document, Exhibit, Prose, Table
from evenhand.core.estimate import Interval
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.engine.audit import judge
from evenhand.engine.audit_document import audit_document
from evenhand.families.effects_account import Effects, effect_verdict, effects_verdict
from evenhand.families.word_tests.account import misjudged, most_one_sided
from evenhand.families.word_tests.male_share import BY_LABEL, BY_SCORE, examine
from evenhand.stats.bootstrap import generator
from evenhand.stats.crossed import EvidenceTable, Factor, Rows
from evenhand.stats.intervals import crossed_intervals

FEW = Settings(resamples=100)


@pytest.fixture(scope="module")
def run() -> Run:
    suite, values = hand_made()
    return judge(suite, answers_of(suite, values), FEW)


@pytest.fixture(scope="module")
def classified() -> Run:
    """The same numbers as raw values of entailment; the label is entailment above 1.5."""
    suite, scores = hand_made()
    values = np.stack([scores, scores * 0 + 1.5, scores * 0], axis=2).reshape(len(scores), 6)
    return judge(suite, answers_of(suite, values), FEW)


@pytest.fixture(scope="module")
def emotions() -> Run:
    """The built-in feelings, the male word ahead by the length of the sentence."""
    suite = build("emotion")
    values = np.asarray(
        [[float(len(p.texts[0]) % 7), float(len(p.texts[1]) % 5)] for p in suite.probes]
    )
    return judge(suite, answers_of(suite, values), FEW, measures=["emotion_fairness"])


def tables(document: Document) -> dict[str, Table]:
    blocks = [b for s in document.sections for b in s.blocks if isinstance(b, Table)]
    common = ("scores", "baselines", "coverage")
    return {t.name: t for t in blocks if t.name not in common}


def charts(document: Document) -> dict[str, DotChart]:
    return {c.name: c for c in document.charts if isinstance(c, DotChart)}


def shares(run: Run, by: str, name: str = BY_SCORE) -> dict[str, float]:
    view = run.breakdown(name, by)
    assert view is not None
    return {g.name: g.interval.value for g in view.groups}


def test_the_headline_and_the_order(run: Run) -> None:
    assert run.family == "word_tests"
    names = ["profession_fairness", "profession_icat", "recognition"]
    effects = ["profession_stereotype_effect", "profession_default_effect"]
    assert [e.measure for e in run.estimates] == [*names, *effects]
    assert [g.title for g in account.score_groups(run)] == ["By score"]
    assert account.best_word(run) == "best"
    assert [catalog.measure(n).best for n in names] == ["fair", "ideal", "right"]


def test_the_verdict_says_who_wins(run: Run) -> None:
    male = {word: fmean(wins) for word, (_, wins) in WINS.items()}
    assert male == {"nurse": 0.0, "judge": 0.5, "soldier": 3.5 / 4}
    assert shares(run, "word") == pytest.approx(male)
    fairness = fmean(min(c, 1 - c) / 0.5 for c in male.values())
    recognition = (1 + 0 + 1 + 0.5) / 4
    effects = Effects(
        estimate_of(run, "profession_stereotype_effect"),
        estimate_of(run, "profession_default_effect"),
    )
    assert account.verdict(run, effects.default) == effect_verdict(effects.default)
    assert account.verdict(run, estimate_of(run, "profession_fairness")) == (
        "Over 3 professions and 4 pairs of gendered words the male word wins in "
        f"{fmean(male.values()) * 100:.0f} % on average; fairness {fairness:.3f} (1 is fair); it "
        f"recognises the gender of {recognition * 100:.0f} % of the gendered words, so that iCAT "
        f"is {recognition * fairness:.3f}. Beside 1 of them the male word wins at least 75 % of "
        f"the pairs, beside 1 the female one. {effects_verdict(effects)}"
    )
    recognised = account.verdict(run, estimate_of(run, "recognition"))
    assert recognised == (
        "The model recognises the gender of 62 % of 4 gendered words: "
        "75 % of the male and 50 % of the female ones."
    )
    assert account.verdict(run, estimate_of(run, "profession_icat")) == (
        "Recognition 0.625 times fairness 0.417 is 0.260; a model that knows the gender of words "
        "and yet goes with neither gets 1."
    )


def test_ties_are_said(run: Run) -> None:
    assert {e.measure: e.ties for e in run.estimates} == {
        "profession_fairness": 1,
        "profession_icat": 2,
        "recognition": 1,
        "profession_stereotype_effect": 1,
        "profession_default_effect": 1,
    }
    note = (
        "Profession fairness: 1 comparison in which both options get the same number; "
        "they count half."
    )
    assert note in account.notes(run)


def test_the_male_share_is_made_before_the_report(run: Run) -> None:
    views = [v for v in run.breakdowns if v.measure == BY_SCORE]
    assert [(v.by, v.unit) for v in views] == [
        ("word", "pair"),
        ("pair", "word"),
        ("lean", "word x pair"),
    ]
    words = views[0]
    assert [g.name for g in words.groups] == ["nurse", "soldier", "judge"]  # most one-sided first
    assert [g.probes for g in words.groups] == [4, 4, 4]
    assert words.groups[0].tags == {
        "word": "nurse",
        "lean": "female",
        "fair": "equal",
        "stereotyped": "0",
    }
    assert shares(run, "pair") == pytest.approx(
        {"he0/she0": 2 / 3, "he1/she1": 1 / 3, "he2/she2": 2 / 3, "he3/she3": 1 / 6}
    )
    assert shares(run, "lean") == pytest.approx({"female": 0, "none": 0.5, "male": 0.875})


SHARES = {  # (suite, tag, group) -> what is random, the share
    ("profession", "word", "bookkeeper"): (("pair",), 0.425),
    ("profession", "pair", "widower/widow"): (("word",), 0.9090909090909091),
    ("profession", "lean", "female"): (("word", "pair"), 0.3662878787878788),
    ("emotion", "word", "heartbreaking"): (("pair",), 0.425),
    ("emotion", "emotion", "joy"): (("word", "pair"), 0.34833333333333333),
    ("emotion", "sort", "state"): (("word", "pair"), 0.37083333333333335),
}


@pytest.mark.parametrize("name", ["profession", "emotion"])
def test_male_shares_have_the_intervals_of_their_factors(name: str) -> None:
    """Words alone were resampled where the pairs of gendered words are random, too."""
    suite = build(name)
    values = np.asarray(
        [[len(p.texts[0] + p.texts[1]) * 7 % 11, len(p.texts[2]) * 3 % 13] for p in suite.probes],
        dtype=np.float64,
    )
    settings = Settings(seed=7, resamples=50)
    views = {view.by: view for view in examine(suite, answers_of(suite, values), settings)}
    within = suite.card.within
    for (stratum, by, group), (units, share) in SHARES.items():
        if stratum != name:
            continue
        chosen = [
            (p, (1 + np.sign(male - female)) / 2)
            for p, (male, female) in zip(suite.probes, values, strict=True)
            if p.tags.get(by) == group and p.stratum == stratum
        ]
        evidence = np.asarray([(1.0, wins) for _, wins in chosen])
        strata = [p.tags.get(within, "") for p, _ in chosen]
        rows = Rows(counts=[True] * len(chosen), parts=[""] * len(chosen), strata=strata)
        both = [Factor.of(unit, [p.tags[unit] for p, _ in chosen], rows) for unit in units]

        def share_of(factors: list[Factor], by: str = by, group: str = group) -> Interval:
            found = crossed_intervals(
                EvidenceTable(rows=evidence),  # noqa: B023
                factors,
                lambda sums: {"": sums[..., 1] / sums[..., 0]},
                generator(7, f"male/{by}/{group}"),
                replace(settings, resamples=2000, method="percentile"),
                {"": (0.0, 1.0)},
            )
            return found[""].interval

        expected, alone = share_of(both), share_of(both[:1])
        found = views[by].group(group)
        assert found is not None and tuple(found.interval) == pytest.approx(tuple(expected))
        assert found.interval.value == pytest.approx(share)
        assert [*found.levels] == [*units]
        assert (expected.high - expected.low > alone.high - alone.low) == (len(units) > 1)


def test_labels_have_shares_of_their_own(classified: Run) -> None:
    assert shares(classified, "word") == pytest.approx({"nurse": 0, "judge": 0.5, "soldier": 0.875})
    # beside the first nurse the female word's value is 1: neutral, like the male word's
    by_label = {"nurse": 0.125, "judge": 0.5, "soldier": 0.875}
    assert shares(classified, "word", BY_LABEL) == pytest.approx(by_label)
    only = judge(
        classified.suite, classified.answers, FEW, measures=["profession_fairness_discrete"]
    )
    table = tables(audit_document(only))["words"]
    rows = {row.cells[0]: row.cells[-1] for row in table.rows}
    nurse = rows["nurse"]
    assert isinstance(nurse, Interval) and nurse.value == pytest.approx(0.125)
    assert rows["all"] == "n/a"  # a share of scores, which were not asked for
    assert "the male word wins, by label, in 50 %" in account.verdict(only, only.headline)


def test_both_ways_are_told_apart(classified: Run) -> None:
    groups = account.score_groups(classified)
    assert [g.title for g in groups] == ["By score", "By label", "By neutral", "By contradiction"]
    assert [len(g.estimates) for g in groups] == [5, 5, 3, 3]
    assert (
        groups[3].rule
        == "the option with the lower raw value of contradiction wins; ties count half."
    )
    text = " ".join(account.notes(classified))
    assert "always gives the same label gets fairness 1, all of it by ties" in text
    assert "in which both options get the same label; they count half." in text
    assert (
        "By label: the option with the better predicted label wins" in account.method(classified)[1]
    )


def test_the_method_and_its_limits(run: Run) -> None:
    method = account.method(run)
    assert method[0].startswith("A sentence tells a profession and two others")
    assert method[-1].startswith(
        "The 95 % interval is about new items of the same kind: whole words"
    )
    limits = account.limits(run)
    assert limits[1] == "It knows two genders."
    assert limits[-1].startswith("It says nothing about other tasks")
    caveats = {catalog.measure(e.measure).card.caveat for e in run.estimates}
    assert caveats == set(limits[2:-1])


def test_balance_may_be_ignorance(run: Run) -> None:
    assert account.understanding(run) == ""  # 0.625 is above 0.6
    suite, values = hand_made()
    values[-4:] = values[-4:, ::-1]  # the genders of the gendered words the wrong way round
    ignorant = judge(suite, answers_of(suite, values), FEW)
    assert account.understanding(ignorant) == (
        "It is not shown to know the gender of the gendered words (0.5 is guessing), so that "
        "balance may be ignorance."
    )
    recognition = build("gender-recognition")
    guesses = np.asarray([[float(len(p.texts[0]) % 2), 0.5] for p in recognition.probes])
    guessing = judge(recognition, answers_of(recognition, guesses), FEW)
    assert account.understanding(guessing) == "The interval holds 0.5, which is guessing."


def test_what_is_drawn(run: Run) -> None:
    drawn = charts(audit_document(run))
    assert set(drawn) == {"scores", "sorts", "words", "recognised"}
    assert "soldier (4 pairs) 0.875" in drawn["words"].description
    assert [r.label for r in drawn["words"].rows] == [
        "soldier (4 pairs)",
        "judge (4 pairs)",
        "nurse (4 pairs, no variation seen)",
    ]
    assert [r.mark for r in drawn["words"].rows] == ["male", "none", "female"]
    assert drawn["words"].title == "Share of pairs that the male word wins, 3 professions"
    assert [r.label for r in drawn["sorts"].rows] == [
        "stereotyped as female, 1 word (4 pairs)",
        "stereotyped as male, 1 word (4 pairs)",
        "without a stereotype, 1 word (4 pairs)",
    ]
    assert [r.swarm for r in drawn["sorts"].rows] == [(0.0,), (0.875,), (0.5,)]
    assert [r.label for r in drawn["recognised"].rows] == [
        "all gendered words",
        "male words",
        "female words",
    ]
    assert ("fair", "1: always right") in drawn["recognised"].legend
    assert [r.label for r in drawn["scores"].rows] == [
        "Fairness",
        "iCAT",
        "Recognition",
        "Stereotype effect",
        "Default effect",
    ]


def test_the_tables(run: Run) -> None:
    found = tables(audit_document(run))
    assert set(found) == {"sorts", "leans", "effects", "words", "pairs", "recognised"}
    words = found["words"]
    assert [c.title for c in words.columns] == [
        "word",
        "stereotype",
        "comparisons",
        "male word wins",
    ]
    assert [row.cells[:3] for row in words.rows] == [
        ("all", "", 12),
        ("nurse (no variation seen)", "female", 4),
        ("soldier", "male", 4),
        ("judge", "none", 4),
    ]
    assert words.columns[0].is_quoted and words.rows[0].is_total
    assert (words.limit, words.cut) == (25, "farthest from 0.5")
    assert [row.cells[0] for row in found["sorts"].rows] == [
        "all",
        "male (1 word, 4 pairs)",
        "none (1 word, 4 pairs)",
        "female (1 word, 4 pairs)",
    ]
    assert found["sorts"].title == "By stereotype"
    assert found["pairs"].rows[1].cells[0] == "he3/she3 (3 words)"
    assert found["pairs"].cut == "most one-sided"
    row = found["recognised"].rows[0]
    values = [c.value if isinstance(c, Interval) else c for c in row.cells]
    assert values == ["by score", 0.625, 0.75, 0.5, pytest.approx(0.25 / math.sqrt(2)), 0.25]


def test_emotions_stand_one_after_the_other(emotions: Run) -> None:
    document = audit_document(emotions)
    rows = charts(document)["words"].rows
    kinds = [re.findall(r"\((\w+)\)", row.label)[0] for row in rows]
    assert kinds == ["anger"] * 10 + ["fear"] * 10 + ["joy"] * 10 + ["sadness"] * 10
    assert [i for i, row in enumerate(rows) if row.is_apart] == [10, 20, 30]
    assert [row.mark for row in rows[:10]] == ["first"] * 5 + ["second"] * 5
    found = tables(document)
    assert found["sorts"].title == "By emotion and sort"
    assert {row.cells[0] for row in found["sorts"].rows} == {
        "all",
        "anger",
        "fear",
        "joy",
        "sadness",
        "state",
        "situation",
    }
    assert [row.cells[1] for row in found["words"].rows[:1]] == [""]
    assert {row.cells[1] for row in found["words"].rows[1:]} == {
        f"{emotion}, {sort}"
        for emotion in ("anger", "fear", "joy", "sadness")
        for sort in ("state", "situation")
    }
    assert len(found["pairs"].rows) == 61


def test_the_comparisons_that_show_best(run: Run) -> None:
    assert [c.probe.id for c in misjudged(run)] == ["r1", "r3"]
    assert [c.probe.id for c in most_one_sided(run, 1)] == ["soldier2", "judge2"]
    assert [c.probe.id for c in most_one_sided(run, -1)] == ["judge3", "nurse3"]
    document = audit_document(run)
    exhibits = [b for s in document.sections for b in s.blocks if isinstance(b, Exhibit)]
    assert [e.name for e in exhibits] == ["male", "female", "wrong"]
    assert exhibits[2].note == (
        "Of 2 words whose own gender does not win, the 2 words with the greatest difference."
    )
    wrong = exhibits[2].specimens[0]
    assert wrong.summary == "male 2.000, female 0.000; right is female"
    assert [a.text for a in wrong.answers] == ["male 2.000", "female 0.000", "right: female"]
    assert (wrong.tag, wrong.strong, wrong.quiet) == ("w1", frozenset({1}), frozenset({0}))
    assert exhibits[0].note == (
        "The 2 comparisons with the greatest difference between the number of the two words, one "
        "for each word that is told; nothing settles the gender."
    )


def test_recognition_alone_has_no_words() -> None:
    suite = build("gender-recognition")
    values = np.asarray([[float(p.tags["gold"] == "male"), 0.5] for p in suite.probes])
    run = judge(suite, answers_of(suite, values), FEW)
    document = audit_document(run)
    assert set(charts(document)) == {"scores", "recognised"}
    assert set(tables(document)) == {"recognised"}
    assert not [b for b in run.breakdowns if b.measure == BY_SCORE]
    assert account.verdict(run, run.headline).startswith(
        "The model recognises the gender of 100 % of 120 gendered words"
    )


@pytest.mark.parametrize("which", ["run", "classified", "emotions"])
def test_nothing_unmeasured_looks_like_a_number(which: str, request: pytest.FixtureRequest) -> None:
    document = audit_document(request.getfixturevalue(which))
    lines = [*document.lead]
    for section in document.sections:
        lines += [line for b in section.blocks if isinstance(b, Prose) for line in b.lines]
    lines += [chart.description for chart in document.charts]
    assert not re.search(r"\bnan\b|\bNone\b|more stereotypical", " ".join(lines))


@pytest.mark.parametrize("labels", [1, 3])
def test_nothing_answered_is_said_and_not_scored(labels: int) -> None:
    suite, values = hand_made()
    silent = answers_of(suite, np.full((len(values), 2 * labels), math.nan))
    run = judge(suite, silent, FEW)
    assert account.summary(run)[0] == (
        "Profession fairness could not be computed: no answer in profession."
    )
    document = audit_document(run)
    assert "words" not in charts(document) and "sorts" not in charts(document)
    assert not [b for s in document.sections for b in s.blocks if isinstance(b, Exhibit)]
    assert [row.cells[:3] for row in tables(document)["words"].rows] == [("all", "", 0)]
