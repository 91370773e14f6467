"""People beside models against slow references; every way to name people; refusals."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import evenhand, files_in
from people_room import make_people, make_suite, say
from scipy import stats

from evenhand.core.answer_files import write_answers
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.settings import Settings
from evenhand.families.contextualised.measures import log_odds
from evenhand.people.compare import PeopleOptions, compare_people
from evenhand.people.scores import aligned, from_answers
from evenhand.people.sentence_lists import Thresholds, list_sentences, strength
from evenhand.people.sources import read_people

SUITE = make_suite()
PEOPLE = make_people(SUITE)
GOLD = np.asarray(
    [{"male": 1.0, "female": -1.0}.get(p.tags.get("gold", ""), 0.0) for p in SUITE.probes]
)
IS_MS = GOLD == 0


def model(name: str = "model", seed: int = 1, silent: int = 0) -> Answers:
    """PB that follows the people in part, right in three of four objective sentences."""
    rng = np.random.default_rng(seed)
    score = from_answers(PEOPLE).final
    odds = np.where(
        IS_MS,
        2 * score + rng.normal(size=len(score)),
        GOLD * np.where(np.arange(len(score)) % 4 == 0, -1, 1),
    )
    odds[:silent] = np.nan
    return say(SUITE, name, odds)


def test_correlations_are_those_of_scipy_on_what_both_answered() -> None:
    comparison = compare_people(PEOPLE, [model(silent=5)], settings=Settings(resamples=300))
    (one,) = comparison.models
    x, y = comparison.people.final[IS_MS][5:], log_odds(model().values)[IS_MS][5:]
    for test, both in ((stats.pearsonr, one.pearson), (stats.spearmanr, one.spearman)):
        assert both.interval.value == pytest.approx(test(x, y).statistic)
        assert both.p_sentences == pytest.approx(test(x, y).pvalue)
        assert both.interval.low < both.interval.value < both.interval.high
        assert both.p <= both.adjusted <= 1
    assert (len(one.people), one.asked, one.coverage, one.clusters) == (35, 40, 35 / 40, 4)
    assert one.note == "only 4 word pairs: the interval is rough"
    is_leaning = (x != 0) & (y != 0)
    assert one.same_side == pytest.approx(np.mean((x * y > 0)[is_leaning]))
    assert one.accuracy.value == pytest.approx(6 / 8)
    assert [e.value for e in comparison.accuracies] == [1.0] * 4
    assert "sentences:35 both|ci:percentile95x300/pair|seed:0" in one.pearson.signature


def test_the_final_score_is_the_mean_over_those_who_answered() -> None:
    holes = [
        replace(a, values=np.where(np.arange(48)[:, None, None] % 3 == i, np.nan, a.values))
        for i, a in enumerate(PEOPLE)
    ]
    people = from_answers(holes)
    assert people.names == ("annotator-1", "annotator-2", "annotator-3")
    assert people.identity == "people:study"
    odds = [a.values[:, 0, 0] for a in PEOPLE]
    assert people.final[0] == pytest.approx((odds[1][0] + odds[2][0]) / 2)
    assert people.final[1] == pytest.approx((odds[0][1] + odds[2][1]) / 2)


@pytest.mark.parametrize("seed", range(5))
def test_lists_hold_what_their_definitions_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    probes = SUITE.probes[:40]
    people, odds = np.round(rng.normal(size=40) * 2) / 4, rng.normal(size=40)
    t = Thresholds(people_lean=0.5, people_near=0.25, model_lean=0.7, model_near=0.3)
    comparison = list_sentences(probes, people, odds, t, 40)
    rank = [
        [
            sum(abs(w) < abs(v) for w in side) + (sum(abs(w) == abs(v) for w in side) + 1) / 2
            for v in side
        ]
        for side in (people, odds)
    ]
    assert strength(people).tolist() == pytest.approx([r / 40 for r in rank[0]])
    product = {p.id: a * b for p, a, b in zip(probes, *rank, strict=True)}
    for listing, sign in ((comparison.agree, 1), (comparison.differ, -1)):
        meant = [p.id for p, a, b in zip(probes, people, odds, strict=True) if a * b * sign > 0]
        assert {s.probe.id for s in listing.sentences} == set(meant)
        assert listing.total == len(meant)
        worth = [product[s.probe.id] for s in listing.sentences]
        assert worth == sorted(worth, reverse=True)
    assert {s.probe.id for s in comparison.people_only.sentences} == {
        p.id for p, a, b in zip(probes, people, odds, strict=True) if abs(a) >= 0.5 and abs(b) < 0.3
    }
    assert {s.probe.id for s in comparison.model_only.sentences} == {
        p.id
        for p, a, b in zip(probes, people, odds, strict=True)
        if abs(a) < 0.25 and abs(b) >= 0.7
    }
    short = list_sentences(probes, people, odds, t, 2)
    assert (short.agree.sentences, short.agree.total) == (
        comparison.agree.sentences[:2],
        comparison.agree.total,
    )


def test_a_model_that_says_what_people_say_and_its_mirror() -> None:
    score = from_answers(PEOPLE).final
    comparison = compare_people(
        PEOPLE,
        [say(SUITE, "same", score), say(SUITE, "mirror", -3 * score)],
        settings=Settings(resamples=200),
    )
    same, mirror = comparison.models
    assert same.pearson.interval.value == pytest.approx(1)
    assert mirror.pearson.interval.value == pytest.approx(-1)
    assert (same.same_side, mirror.same_side) == (1, 0)
    assert (same.lists.differ.total, mirror.lists.agree.total) == (0, 0)
    assert (same.accuracy.value, mirror.accuracy.value) == (1, 0)


def test_units_are_word_pairs_or_sentences() -> None:
    by_pair, by_sentence = (
        compare_people(PEOPLE, [model()], PeopleOptions(unit=unit), Settings(resamples=200)).models[
            0
        ]
        for unit in ("pair", "sentence")
    )
    assert (by_pair.clusters, by_sentence.clusters) == (4, 40)
    assert by_pair.pearson.interval.value == by_sentence.pearson.interval.value
    with pytest.raises(EvenhandError, match="unit is 'word'"):
        compare_people(PEOPLE, [model()], PeopleOptions(unit="word"))


def test_what_cannot_be_reckoned_is_nan_with_a_reason() -> None:
    flat = compare_people(
        PEOPLE, [say(SUITE, "flat", np.zeros(48))], settings=Settings(resamples=100)
    ).models[0]
    assert (math.isnan(flat.pearson.interval.value), flat.note) == (
        True,
        "the model gave every sentence the same score",
    )
    assert flat.accuracy.value == 0.5
    few = compare_people(
        PEOPLE, [say(SUITE, "few", [1.0, -1.0, *[np.nan] * 46])], settings=Settings(resamples=100)
    ).models[0]
    assert few.note == "2 measuring sentences were answered by both; a correlation needs 3"
    assert math.isnan(few.accuracy.value)
    assert "no answer in OS" in few.accuracy.note
    bare = make_suite(objective=0)
    none = compare_people(
        make_people(bare), [say(bare, "m", np.arange(40.0))], settings=Settings(resamples=100)
    )
    assert none.accuracies[0].note == "no probes in OS"


def test_only_the_same_sentences_are_compared() -> None:
    other = make_suite(measuring=12)
    assert aligned(say(other, "shorter", np.ones(20)), SUITE).is_answered.sum() == 20
    changed = replace(
        other,
        probes=(
            replace(other.probes[0], texts=("Another [BLANK].", "he", "she")),
            *other.probes[1:],
        ),
    )
    with pytest.raises(EvenhandError, match="sentence m0 is 'Sentence 0"):
        aligned(say(changed, "changed", np.ones(20)), SUITE)
    strange = replace(other, probes=tuple(replace(p, id=f"x{p.id}") for p in other.probes))
    with pytest.raises(EvenhandError, match="shares no sentence with tiny@1"):
        aligned(say(strange, "strange", np.ones(20)), SUITE)


def test_people_are_read_from_files_and_folders(tmp_path: Path) -> None:
    whole = say(SUITE, "people:study", from_answers(PEOPLE).final)
    write_answers(whole, tmp_path / "answers.parquet")
    for answers in PEOPLE:
        write_answers(answers, tmp_path / f"{answers.respondent.rpartition('/')[2]}.parquet")
    for place in (tmp_path, tmp_path / "answers.parquet"):
        comparison = read_people(place)
        assert comparison.names == ("annotator-1", "annotator-2", "annotator-3")
        assert comparison.final == pytest.approx(from_answers(PEOPLE).final)
    (tmp_path / "alone").mkdir()
    write_answers(whole, tmp_path / "alone" / "study.parquet")
    alone = compare_people(
        tmp_path / "alone" / "study.parquet", [model()], settings=Settings(resamples=100)
    )
    assert (alone.people.annotators, alone.agreement) == ((), None)
    assert (
        alone.models[0].pearson.interval.value
        == compare_people(PEOPLE, [model()], settings=Settings(resamples=100))
        .models[0]
        .pearson.interval.value
    )


def test_wrong_people_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"one is 9\. Is it a model\?"):
        from_answers([say(SUITE, "bert", np.full(48, 9.0))])
    with pytest.raises(InputError, match="nobody has answered anything yet"):
        from_answers([say(SUITE, "people:new", np.full(48, np.nan))])
    with pytest.raises(InputError, match=r"no \.parquet file in this folder"):
        read_people(tmp_path)
    with pytest.raises(InputError, match="is neither cgb"):
        read_people(tmp_path / "nothing")
    with pytest.raises(EvenhandError, match="answered no sentence in 'fr'; they answered in en"):
        compare_people(PEOPLE, [model()], PeopleOptions(lang="fr"))
    with pytest.raises(EvenhandError, match="needs one model or more"):
        compare_people(PEOPLE, [])
    with pytest.raises(EvenhandError, match=r"near 0\.5, lean 0\.1"):
        Thresholds(model_near=0.5, model_lean=0.1)


def test_the_command_asks_models_and_reads_runs(tmp_path: Path) -> None:
    for answers in PEOPLE:
        write_answers(answers, tmp_path / f"{answers.respondent.rpartition('/')[2]}.parquet")
    (tmp_path / "run").mkdir()
    write_answers(model("bert@1"), tmp_path / "run" / "answers.parquet")
    words = (
        "compare-people",
        tmp_path,
        tmp_path / "run",
        "fixed:stereotyped",
        "fixed:fair",
        "--resamples",
        200,
    )
    done = evenhand(*words, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert f"report: {tmp_path / 'out' / 'people.html'}" in done.out
    figures = [
        f"people-{n}{e}"
        for n in ("accuracy", "agreement", "correlations", "models")
        for e in (".pdf", ".png", ".svg")
    ]
    assert files_in(tmp_path / "out") == sorted(
        ["manifest.json", "people.html", "people.json", "people.md", "people.tex", *figures]
    )
    fields = json.loads((tmp_path / "out" / "people.json").read_text("utf-8"))
    assert [m["name"] for m in fields["models"]] == ["bert", "fixed:stereotyped", "fixed:fair"]
    assert json.loads(evenhand(*words, "--json").out) == fields
    bad = evenhand("compare-people", tmp_path / "none.toml", "fixed:fair")
    assert (bad.code, bad.err.startswith("error: ")) == (2, True)
    assert "Traceback" not in bad.err


def test_answers_of_a_study_are_measured_and_compared_as_those_of_people(tmp_path: Path) -> None:
    write_answers(
        say(SUITE, "people:study", from_answers(PEOPLE).final), tmp_path / "answers.parquet"
    )
    write_answers(PEOPLE[1], tmp_path / "annotator-2.parquet")
    (tmp_path / "run").mkdir()
    write_answers(model("bert@1"), tmp_path / "run" / "answers.parquet")
    for name in ("answers", "annotator-2"):
        done = evenhand(
            "measure",
            tmp_path / f"{name}.parquet",
            "--resamples",
            100,
            "--out",
            tmp_path / f"m-{name}",
        )
        assert done.code == 0, done.err
        page = " ".join(
            (tmp_path / f"m-{name}" / "report.html")
            .read_text("utf-8")
            .replace("&nbsp;", " ")
            .split()
        )
        assert "The numbers are scores that people gave" in page
        assert "this model" not in page
    few = ("--resamples", 100, "--permutations", 100)
    done = evenhand(
        "compare",
        tmp_path / "run",
        tmp_path / "answers.parquet",
        tmp_path / "annotator-2.parquet",
        *few,
        "--verbose",
        "--out",
        tmp_path / "c",
    )
    assert done.code == 0, done.err
    for form in (done.out, (tmp_path / "c" / "comparison.html").read_text("utf-8")):
        fields = " ".join(form.replace("\u00a0", " ").split())
        assert "in scores of people" in fields
        assert "PB has no common unit here" in fields
    both = evenhand("compare", tmp_path / "answers.parquet", tmp_path / "annotator-2.parquet", *few)
    assert both.code == 0, both.err
    assert "no common unit" not in " ".join(
        both.out.split()
    )  # people beside people are on one footing
