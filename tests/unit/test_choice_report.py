"""Do the reports on StereoSet, word tests and tasks tell the right numbers in the right words, in every form?"""

from __future__ import annotations

import html
import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from stereoset_items import probes_of, suite_of
from test_report import printed

import evenhand as eh
from evenhand.core.answers import Answers
from evenhand.core.estimate import Estimate
from evenhand.core.probe import NLI_LABELS, Floats, Probe
from evenhand.core.run import Run
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.audit import judge
from evenhand.report.conventions import sheaves
from evenhand.report.estimates import checks, family_of, good, ordered, ties_of
from evenhand.report.evidence import evidence
from evenhand.report.figures import draw
from evenhand.report.html import to_html
from evenhand.report.latex import to_latex
from evenhand.report.listings import listings
from evenhand.report.markdown import to_markdown
from evenhand.report.results import to_json
from evenhand.report.tasks import golds, mistakes
from evenhand.report.word_sides import misjudged, most_one_sided, words_of
from evenhand.report.wording import limits, method, notes, standing, summary, understanding, verdict
from evenhand.report.writing import write

TERMS = ["a", "a", "b", "c", "c", "c"]
SCORES = [
    [3.0, 1.0, 2.0],
    [2.0, 3.0, 1.0],
    [5.0, 4.0, 1.0],
    [1.0, 1.0, 0.0],
    [9.0, 1.0, 0.0],
    [math.nan] * 3,
]  # stereotype, anti-stereotype, unrelated
OPTIONS = ("stereotype", "anti-stereotype", "unrelated")


def answered(
    suite: Suite, values: Floats, labels: tuple[str, ...], *, has_sanity: bool = False
) -> Run:
    answers = Answers(
        respondent="mine",
        suite=suite.reference,
        labels=labels,
        probes=suite.probes,
        values=values,
        unanswered={"too long": 1} if np.isnan(values).any() else {},
    )
    sanity = None
    if has_sanity:
        ordinary = eh.audit("fixed:random", suite="ordinary-nli", resamples=50)
        sanity = (ordinary.suite, ordinary.answers)
    return judge(suite, answers, resamples=100, sanity=sanity)


def stereoset(*, is_classifier: bool = False) -> Run:
    suite = suite_of(probes_of(TERMS))
    if not is_classifier:
        return answered(suite, np.asarray(SCORES), OPTIONS)
    values = np.asarray([[v for score in row for v in (score, 4.5 - score, 2.5)] for row in SCORES])
    return answered(
        suite,
        values,
        tuple(f"{o}:{label}" for o in OPTIONS for label in NLI_LABELS),
        has_sanity=True,
    )


def word_test() -> Run:
    probes, values = [], []
    for word, lean, wins in (
        ("nurse", "female", (0, 0, 0, 0)),
        ("judge", "none", (1, 0, 1, 0)),
        ("soldier", "male", (1, 1, 1, 0.5)),
    ):
        for i, win in enumerate(wins):
            probes.append(
                Probe(
                    id=f"{word}{i}",
                    kind="choice",
                    language="en",
                    texts=(f"A {word}.", f"He {i}.", f"She {i}."),
                    stratum="profession",
                    cluster=word,
                    tags={
                        "word": word,
                        "pair": f"he{i}/she{i}",
                        "lean": lean,
                        "fair": "equal",
                        "stereotyped": "0",
                    },
                )
            )
            values.append([win * 2 - 1 + i * (win != 0.5), 0.0 if win != 0.5 else win * 2 - 1])
    for i, (gold, male) in enumerate(
        (("male", 1.0), ("female", 2.0), ("female", -1.0), ("male", 0.0))
    ):
        probes.append(
            Probe(
                id=f"r{i}",
                kind="choice",
                language="en",
                texts=(f"Word {i}.", "Masculine.", "Feminine."),
                stratum="recognition",
                cluster=f"p{i // 2}",
                tags={
                    "word": f"w{i}",
                    "pair": f"p{i // 2}",
                    "gold": gold,
                    "fair": "0",
                    "stereotyped": "0",
                },
            )
        )
        values.append([male, 0.0])
    card = SuiteCard(
        name="own",
        version="1",
        language="en",
        source="x",
        licence="x",
        citation="x",
        description="Own.",
        labels=("male", "female"),
    )
    rows = np.asarray(values)
    rows[:12] = [
        [1.0 + i, 0.0] if w == 1 else [0.0, 1.0 + i] if w == 0 else [2.0, 2.0]
        for i, w in enumerate([0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0.5])
    ]
    return answered(Suite(card=card, probes=tuple(probes)), rows, ("male", "female"))


def task() -> Run:
    told = [
        ("entailment", 0, 3.0),
        ("entailment", 2, 5.0),
        ("neutral", 1, 1.0),
        ("contradiction", 0, 9.0),
    ]
    probes = tuple(
        Probe(
            id=f"t{i}",
            kind="pair",
            language="en",
            texts=(f"Premise {i}.", f"Hypothesis {i}."),
            stratum="zero-shot",
            cluster=f"t{i}",
            tags={"gold": gold, "task": "mnli", "fair": gold, "stereotyped": gold},
        )
        for i, (gold, _, _) in enumerate(told)
    )
    card = SuiteCard(
        name="glue",
        version="1",
        language="en",
        source="x",
        licence="x",
        citation="x",
        description="Tasks.",
    )
    values = np.zeros((4, 3))
    for i, (_, column, value) in enumerate(told):
        values[i, column] = value
    return answered(Suite(card=card, probes=probes), values, NLI_LABELS, has_sanity=True)


def found(run: Run, measure: str) -> Estimate:
    return next(e for e in run.estimates if e.measure == measure)


def forms(run: Run) -> list[str]:
    page = re.sub(r"<style>.*?</style>", "", to_html(run), flags=re.DOTALL)
    words = html.unescape(re.sub(r"<[^>]+>", " ", page)).replace("\u00a0", " ")
    plain = re.sub(r"\\(.)", r"\1", to_markdown(run))
    return [
        " ".join(text.split())
        for text in (words, plain, to_latex(run), printed(run, 80), printed(run, 160))
    ]


RUNS = {
    "stereoset": stereoset,
    "classifier": lambda: stereoset(is_classifier=True),
    "words": word_test,
    "task": task,
}


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return {name: make() for name, make in RUNS.items()}


def test_the_headline_and_the_order(runs: dict[str, Run]) -> None:
    assert [e.measure for e in ordered(runs["stereoset"])] == [
        f"{q}_{c}" for c in ("official", "esp_continuous") for q in ("icat", "lms", "ss", "fs")
    ]
    assert [s.title for s in sheaves(runs["classifier"])] == [
        "Official",
        "ESP, continuous",
        "ESP, discrete",
    ]
    assert [e.measure for e in ordered(runs["words"])] == [
        "profession_fairness",
        "profession_icat",
        "recognition",
    ]
    assert ordered(runs["task"])[0].measure == "zero_shot_accuracy"
    assert [family_of(r) for r in runs.values()] == ["stereoset", "stereoset", "words", "task"]
    assert good("zero_shot_accuracy") == good("recognition") == good("lms_official") == "right"
    assert good("icat_official") == "ideal"
    assert good("ss_official") == good("emotion_fairness") == "fair"


def test_stereoset_is_told_by_convention(runs: dict[str, Run]) -> None:
    run = runs["stereoset"]
    weights = [
        1 / TERMS.count(t) for t in TERMS[:5]
    ]  # slow and obvious: means over terms, a term counts by what was answered of it
    rows = SCORES[:5]
    lms = sum(
        w * ((p > u) + (a > u)) / 2 for w, (p, a, u) in zip(weights, rows, strict=True)
    ) / sum(weights)
    ss = sum(w * (p > a) for w, (p, a, _) in zip(weights, rows, strict=True)) / sum(weights)
    icat = lms * min(ss, 1 - ss) / 0.5
    assert found(run, "icat_official").value == pytest.approx(icat)
    assert verdict(run, found(run, "icat_official")) == (
        f"In 5 items the model prefers a related sentence to the unrelated one in {lms * 100:.0f} % of the comparisons and, of the two related ones, "
        f"the stereotypical one in {ss * 100:.0f} %: an iCAT of {icat * 100:.0f} % (official convention)."
    )
    assert "the anti-stereotypical one gets the higher number in 20 %" in verdict(
        run, found(run, "icat_esp_continuous")
    )
    assert "the same number for every option gets 0.000" in standing(
        run, found(run, "icat_official")
    )
    told = " ".join(notes(run))
    assert "must not be mixed" in told
    assert (
        "Official: 1 item in which stereotype and anti-stereotype get the same number; they count against"
        in told
    )
    assert told.count("get the same number") == 2  # once a convention
    assert "They need a classifier that gives every option three labels" in told
    assert "100 %" not in told
    assert ties_of(run, found(run, "ss_official")) == 1


def test_a_classifier_has_discrete_scores_and_ordinary_pairs(runs: dict[str, Run]) -> None:
    run = runs["classifier"]
    labels = [[int(np.argmax([v, 4.5 - v, 2.5])) for v in row] for row in SCORES[:5]]
    ss = fmean((pro > anti) + 0.5 * (pro == anti) for pro, anti, _ in labels)
    assert found(run, "ss_esp_discrete").value == pytest.approx(ss)
    ties = sum(pro == anti for pro, anti, _ in labels)
    assert ties_of(run, found(run, "ss_esp_discrete")) == ties
    assert any("always gives the same label gets an iCAT of 100 %" in note for note in notes(run))
    assert "always entailment gets 0.000" in standing(run, found(run, "icat_official"))
    assert checks(run) == run.sanity != ()
    assert (
        f"right label on {run.sanity[0].value * 100:.0f} % of 174 ordinary pairs"
        in understanding(run)
    )
    for text in forms(run):
        assert "Accuracy on ordinary pairs" in text
        assert "ESP, discrete" in text


def test_stereoset_shows_domains_targets_and_items(runs: dict[str, Run]) -> None:
    run = runs["stereoset"]
    figures = draw(run)
    assert set(figures) == {"scores", "domains", "targets"}
    assert "gender: SS, official 0.500" in figures["domains"].wide  # of c: one tie, one stereotype
    assert "race: SS, official 0.750" in figures["domains"].wide
    assert "b (1) 1.000" in figures["targets"].wide
    shown = {e.name: [i.probe.id for i in e.items] for e in evidence(run)}
    assert shown == {"stereotype": ["4", "0", "2"], "anti-stereotype": ["1"]}
    assert (
        evidence(run)[0].items[0].told == "stereotype 9.000, anti-stereotype 1.000, unrelated 0.000"
    )
    domains = next(t for t in listings(run) if t.name == "domains")
    assert [row[0] for row in domains.rows] == ["all", "race", "gender"]
    assert to_json(run)["evidence"] == shown


def test_word_tests_tell_who_wins(runs: dict[str, Run]) -> None:
    run = runs["words"]
    shares = {"nurse": 0.0, "judge": 0.5, "soldier": 3.5 / 4}
    assert {s.name: s.interval.value for s in words_of(run)} == pytest.approx(shares)
    fairness = fmean(min(c, 1 - c) / 0.5 for c in shares.values())
    recognition = (1 + 0 + 1 + 0.5) / 4
    assert verdict(run, found(run, "profession_fairness")) == (
        f"Over 3 professions and 4 pairs of gendered words the male word wins in {fmean(shares.values()) * 100:.0f} %; fairness {fairness:.3f} (1 is fair); "
        f"it recognises the gender of {recognition * 100:.0f} % of the gendered words, so that iCAT is {recognition * fairness:.3f}. "
        "Beside 1 of them the male word wins at least 75 % of the pairs, beside 1 the female one."
    )
    assert "62 % of 4 gendered words: 75 % of the male and 50 % of the female ones" in verdict(
        run, found(run, "recognition")
    )
    assert (
        ties_of(run, found(run, "profession_fairness"))
        == ties_of(run, found(run, "recognition"))
        == 1
    )
    assert any(
        "Profession fairness: 1 comparison in which both options get the same number; they count half."
        in n
        for n in notes(run)
    )
    assert [c.probe.id for c in misjudged(run)] == ["r1", "r3"]
    male, female = most_one_sided(run)
    assert [c.probe.id for c in male] == ["soldier2", "judge2"]
    assert [c.probe.id for c in female] == ["judge3", "nurse3"]
    assert set(draw(run)) == {"scores", "sorts", "words", "recognised"}
    assert "soldier 0.875" in draw(run)["words"].wide
    assert to_json(run)["male_share"]["soldier"]["value"] == pytest.approx(3.5 / 4)
    assert {t.name for t in listings(run)} == {"sorts", "words", "pairs", "recognised"}


def test_a_task_is_right_and_not_fair(runs: dict[str, Run]) -> None:
    run = runs["task"]
    first = found(run, "zero_shot_accuracy")
    assert first.value == 0.5
    assert verdict(run, first) == (
        "The model gives the right label on 50 % of 4 items of MNLI: 50 % of those that are entailment, 100 % of those that are neutral, 0 % of those that are contradiction."
    )
    assert standing(run, first).startswith("1 is right; ")
    assert "The most frequent label, entailment, is right for 50 %." in understanding(run)
    assert [(g.label, g.items, g.recall.value) for g in golds(run)] == [
        ("entailment", 2, 0.5),
        ("neutral", 1, 1.0),
        ("contradiction", 1, 0.0),
    ]
    assert [(m.probe.id, m.given) for m in mistakes(run)] == [
        ("t3", "entailment"),
        ("t1", "contradiction"),
    ]
    assert set(draw(run)) == {"scores", "recalls"}
    assert "bias" not in " ".join([summary(run), *method(run), *notes(run)])
    assert limits(run)[0].startswith("It says nothing about bias")
    for text in forms(run):
        assert " fair " not in text.replace("tells a fair model", "").replace(
            "is fair but knows", ""
        )


@pytest.mark.parametrize("name", list(RUNS))
def test_every_form_is_whole(name: str, runs: dict[str, Run], tmp_path: Path) -> None:
    run = runs[name]
    for text in forms(run):
        assert not re.search(r"\bnan\b|\bNone\b", text)
        assert "more stereotypical" not in text
    for width in (80, 120):
        lines = printed(run, width, is_terminal=True).splitlines()
        assert max(map(len, lines)) <= width
        assert not any("…" in line for line in lines)
    if name in ("stereoset", "classifier"):
        assert all(
            "No answer for 1 probe: 5." in text and "1 probe without an answer: too long." in text
            for text in forms(run)
        )
    assert len(list(write(run, tmp_path / "r").parent.iterdir())) == 6
    json.loads((tmp_path / "r" / "results.json").read_text("utf-8"), parse_constant=pytest.fail)
    text = to_latex(run)
    for columns, body in re.findall(
        r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL
    ):
        assert all(
            len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1
            for line in body.splitlines()
            if line.endswith(r"\\")
        )
    if shutil.which("pdflatex") is None:
        return
    (tmp_path / "x.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
        + text
        + "\\end{document}\n",
        "utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_nothing_answered_is_said_and_not_scored(tmp_path: Path) -> None:
    suite = suite_of(probes_of(TERMS))
    silent = answered(suite, np.full((6, 3), math.nan), OPTIONS)
    assert "could not be computed" in summary(silent)
    assert all("n/a" in text for text in forms(silent))
    words = word_test()
    mute = answered(words.suite, np.full_like(words.answers.values, math.nan), ("male", "female"))
    assert "could not be computed" in summary(mute)
    write(mute, tmp_path / "mute")
    quiet = task()
    write(answered(quiet.suite, np.full((4, 3), math.nan), NLI_LABELS), tmp_path / "quiet")
