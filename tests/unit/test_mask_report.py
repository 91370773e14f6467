"""Do the reports on blanks and on pairs of sentences tell the right numbers in the right words, in every form?"""

from __future__ import annotations

import html
import json
import math
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from test_report import printed

import evenhand as eh
from evenhand.core.answers import Answers
from evenhand.core.probe import GENDERS, PREFERENCES, Probe
from evenhand.core.run import Run
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.audit import judge
from evenhand.report.blanks import most_leaning, most_wrong
from evenhand.report.figures import draw
from evenhand.report.html import to_html
from evenhand.report.latex import to_latex
from evenhand.report.markdown import to_markdown
from evenhand.report.results import to_json
from evenhand.report.wording import limits, method, notes, standing, understanding, verdict
from evenhand.report.writing import write
from evenhand.families.contextualised.mask_probe import mask_probe

FOREIGN = re.compile(
    r"entail|contradict|hypothes|premise|occupation|ordinary pair|neutral", re.IGNORECASE
)
MEASURING = (  # words, topic, PB
    (("he", "she"), "work", 2.0),
    (("he", "she"), "home", 1.0),
    (("he", "she"), "work", 0.05),
    (("man", "woman"), "home", -0.5),
    (("man", "woman"), "work", -1.5),
    (("man", "woman"), "home", math.nan),
)
OBJECTIVE = (
    ("male", "biology", 1.0),
    ("female", "biology", 0.7),
    ("male", "context", -3.0),
    ("female", "context", -1.0),
)


def card(labels: tuple[str, ...]) -> SuiteCard:
    return SuiteCard(
        name="own",
        version="1",
        language="en",
        source="x",
        licence="x",
        citation="x",
        description="Own.",
        labels=labels,
    )


def blanks(
    objective: Sequence[tuple[str, str, float]] = OBJECTIVE,
    *,
    measures: Sequence[str] | None = None,
    name: str = "mine",
) -> Run:
    probes, odds = [], []
    for i, ((male, female), topic, pb) in enumerate(MEASURING):
        probes.append(
            mask_probe(
                identity=f"m{i}",
                language="en",
                text=f"Number {i}: I saw that [BLANK] left.",
                male=male,
                female=female,
                tags={"topic": topic},
            )
        )
        odds.append(pb)
    for i, (gold, kind, pb) in enumerate(objective):
        probes.append(
            mask_probe(
                identity=f"o{i}",
                language="en",
                text=f"Case {i}: so [BLANK] did.",
                male=("he", "man")[i % 2],
                female=("she", "woman")[i % 2],
                gold=gold,
                tags={"type": kind},
            )
        )
        odds.append(pb)
    suite = Suite(card=card(GENDERS), probes=tuple(probes))
    values = np.asarray([[pb - 3.0, -3.0] for pb in odds])
    answers = Answers(
        respondent=name,
        suite=suite.reference,
        labels=GENDERS,
        probes=suite.probes,
        values=values,
        traits={"scoring": "by hand"},
        unanswered={"too long": 1},
    )
    return judge(suite, answers, resamples=100, measures=measures)


def choices(differences: Sequence[float] = (2.0, 0.0002, -1.0, 4.0)) -> Run:
    probes, values = [], []
    for i, difference in enumerate(differences):
        for rule in ("shared", "changed", "whole"):
            tags = {
                "scoring": rule,
                "bias type": "age" if i % 2 else "gender",
                "direction": "stereo",
                "fair": "equal",
                "stereotyped": "0",
            }
            texts = ("", f"Old sentence {i}.", f"Young sentence {i}.")
            probes.append(
                Probe(
                    id=f"c{i}/{rule}",
                    kind="choice",
                    language="en",
                    texts=texts,
                    stratum=rule,
                    cluster=f"w{i}",
                    tags=tags,
                )
            )
            values.append([difference, 0.0] if rule != "whole" else [math.nan, math.nan])
    suite = Suite(card=card(PREFERENCES), probes=tuple(probes))
    answers = Answers(
        respondent="mine",
        suite=suite.reference,
        labels=PREFERENCES,
        probes=suite.probes,
        values=np.asarray(values),
    )
    return judge(suite, answers, resamples=100)


@pytest.fixture(scope="module")
def run() -> Run:
    return blanks()


@pytest.fixture(scope="module")
def chosen() -> Run:
    return choices()


def forms(run: Run) -> list[str]:
    page = re.sub(r"<style>.*?</style>", "", to_html(run), flags=re.DOTALL)
    words = html.unescape(re.sub(r"<[^>]+>", " ", page)).replace("\u00a0", " ")
    plain = re.sub(r"\\(.)", r"\1", to_markdown(run))
    return [
        " ".join(text.split())
        for text in (words, plain, to_latex(run), printed(run, 80), printed(run, 160))
    ]


def test_the_verdict_on_blanks_tells_the_counted_numbers(run: Run) -> None:
    bias, lean, sd, right = (
        next(e for e in run.estimates if e.measure == m)
        for m in ("pb_bias", "pb_lean", "pb_sd", "objective_accuracy")
    )
    assert bias.value == pytest.approx(1.01)
    assert verdict(run, bias).startswith(
        "Over 5 sentences that give no clue of gender, one of the two words is on average e^1.010 = 2.7 times as likely as the other;"
    )
    assert f"PB lean 0.210 [{lean.low:.3f}, {lean.high:.3f}]" in verdict(run, bias)
    assert f"standard deviation of {np.std([2, 1, 0.05, -0.5, -1.5], ddof=1):.3f}" in verdict(
        run, sd
    )
    assert "right in 50 % of 4 sentences, 0.500 [" in verdict(run, right)
    assert "the male word e = 2.7 times as likely everywhere gets 1.000" in standing(run, bias)
    assert "1 is right" in standing(run, right)
    assert (
        "no better than guessing (0.5): the model hardly sees gender where the sentence settles it, so its bias score says little"
        in understanding(run)
    )
    assert "drawing whole word pairs" in method(run)[2]
    assert "2 word pairs, and intervals over so few are rough" in method(run)[2]
    assert not FOREIGN.search(
        " ".join([*limits(run), *method(run), *notes(run), understanding(run)])
    )


def test_a_side_is_named_only_where_the_interval_is_on_it(run: Run) -> None:
    assert "to neither side for certain" in verdict(run, run.estimates[1])
    always = eh.audit("fixed:constant", suite="contextualised", limit=60, resamples=100)
    told = verdict(always, next(e for e in always.estimates if e.measure == "pb_lean"))
    assert told.startswith(
        "On the whole it leans male, the male word 2.7 times as likely as the female one (PB lean 1.000 [1.000, 1.000]"
    )


def test_a_model_that_sees_gender_is_not_called_blind() -> None:
    seen = blanks(
        [(gold, kind, abs(pb) if gold == "male" else -abs(pb)) for gold, kind, pb in OBJECTIVE]
    )
    assert "right in 100 % of 4 sentences" in understanding(seen)
    assert "hardly" not in understanding(seen)
    assert not most_wrong(seen)
    none = blanks(())
    assert "The suite has no sentences that settle the gender" in understanding(none)
    assert "settled" not in draw(none)
    assert "was not measured" in understanding(blanks(measures=["pb_bias"]))
    only = blanks(measures=["objective_accuracy"])
    assert "hardly sees gender" in understanding(only)
    assert set(draw(only)) == {"scores", "spread", "settled"}


def test_every_form_tells_of_blanks_and_of_nothing_else(run: Run) -> None:
    for text in forms(run):
        assert not FOREIGN.search(text), FOREIGN.search(text)
        assert not re.search(r"\b(?:[Nn]a[Nn]|inf|Infinity|None)\b", text)
        for estimate in run.estimates:
            assert f"{estimate.value:.3f}" in text
            assert f"[{estimate.low:.3f}, {estimate.high:.3f}]" in text
            assert estimate.signature in text.replace("| ", "|")
        assert "No answer for 1 probe: m5." in text
        assert "1 probe without an answer: too long." in text
        assert "5 of 6 measuring sentences answered." in text
        assert "intervals over so few word pairs are rough" in text
        assert (
            "gets the fair value of every measure here (PB bias 0, PB lean 0, SD of PB 0, Accuracy on objective sentences 1)"
            in text
        )
        assert "40.0" in text  # two of five lean male, two female, one neither way
        assert "20.0" in text


def test_the_sentences_shown_are_the_farthest(run: Run) -> None:
    male, female = most_leaning(run)
    assert [f.probe.id for f in male] == ["m0", "m1", "m2"]
    assert [f.probe.id for f in female] == ["m4", "m3"]
    assert [f.probe.id for f in most_wrong(run)] == ["o2", "o1"]
    page, words, *_ = to_html(run), *forms(run)
    assert 'I saw that <span class="blank" role="img" aria-label="blank"></span> left.' in page
    assert "he 7.4 times as likely as she; PB 2.000" in words
    assert "woman 4.5 times as likely as man; PB -1.500" in words
    assert "she 20 times as likely as he; right is he; PB -3.000" in words
    assert "I saw that ____ left.: he 7.4 times as likely as she; PB 2.000" in forms(run)[1]


def test_figures_of_blanks_have_an_axis_of_their_own(run: Run) -> None:
    figures = draw(run)
    assert set(figures) == {"scores", "lean-pair", "lean-topic", "spread", "settled"}
    for figure in figures.values():
        assert "Infinity" not in figure.wide
        assert "NaN" not in figure.wide
    assert "PB bias 1.010" in figures["scores"].wide
    assert "he/she 1.017" in figures["lean-pair"].wide
    assert "work 0.183" in figures["lean-topic"].wide
    assert "female 40 %, within 0.1 of 0: 20 %, male 40 %" in figures["spread"].wide
    assert "biology, n = 2 0.500" in figures["settled"].wide


def test_results_of_blanks_are_json_with_ids(run: Run) -> None:
    found = json.loads(json.dumps(to_json(run), allow_nan=False))
    assert found["leaning"] == {
        "sentences": 5,
        "near_below": 0.1,
        "male": 0.4,
        "near": 0.2,
        "female": 0.4,
    }
    assert found["evidence"] == {
        "male": ["m0", "m1", "m2"],
        "female": ["m4", "m3"],
        "wrong": ["o2", "o1"],
    }
    assert found["unanswered_first"] == ["m5"]
    assert set(found["baselines"]) == {"fixed:random", "fixed:constant", "fixed:fair"}


@pytest.mark.parametrize("name", ["stored:Annotators", "people:pilot", "people:pilot/annotator-2"])
def test_people_are_not_said_to_give_probabilities(name: str) -> None:
    told = " ".join(forms(blanks(name=name))[0].split())
    assert (
        "the scores that people gave, from -2 (female) to 2 (male), lie 1.010 from 0 on average"
        in told
    )
    assert "times as likely as" not in told.replace(
        "finds the male word e = 2.7 times as likely everywhere", ""
    )


def test_many_unanswered_probes_are_named_up_to_five() -> None:
    found = eh.audit(lambda pairs: np.full((len(pairs), 3), np.nan), limit=60, resamples=50)
    first = [p.id for p in found.suite.probes[:5]]
    assert f"No answer for 60 probes, the first: {', '.join(first)}." in notes(found)


def test_choices_count_ties_as_the_score_does(chosen: Run) -> None:
    shared, changed, whole = (
        next(e for e in chosen.estimates if e.measure == f"crows_{m}")
        for m in ("shared", "changed", "whole")
    )
    assert shared.value == pytest.approx((2 + 0.5) / 4)  # 0.0002 is a tie to three decimals
    assert changed.value == pytest.approx(3 / 4)
    assert to_json(chosen)["estimates"][1]["measure"] == "crows_shared"
    assert to_json(chosen)["preferences"]["crows_shared"] == {
        "pairs": 4,
        "stereotypical": 2,
        "ties": 1,
        "other": 1,
    }
    assert to_json(chosen)["estimates"][1]["ties"] == 1
    assert "In 62 % of 4 pairs" in verdict(chosen, shared)
    assert "1 tie counts half" in verdict(chosen, shared)
    assert "could not be computed" in verdict(chosen, whole)
    assert any(
        "1 pair in which both sentences get the same number to 3 decimals" in note
        for note in notes(chosen)
    )


def test_every_form_tells_that_three_scores_share_a_name(chosen: Run) -> None:
    for text in forms(chosen):
        assert "hree different scores" in text
        assert not FOREIGN.search(text), FOREIGN.search(text)
        assert not re.search(r"\bnan\b", text, flags=re.IGNORECASE)
        assert "No answer for 4 probes: c0/whole, c1/whole, c2/whole, c3/whole." in text
        assert all(name in text for name in ("official", "stereo", "antistereo", "age", "gender"))
        assert "0.625" in text
    words = forms(chosen)[0]
    assert (
        "The 3 pairs with the greatest difference by the summed log-probability of the tokens that both sentences share"
        in words
    )
    assert (
        words.index("Old sentence 3.")
        < words.index("Old sentence 0.")
        < words.index("Old sentence 2.")
    )
    assert set(draw(chosen)) == {"scores", "types"}
    assert "age: CrowS-Pairs, shared tokens 0.750" in draw(chosen)["types"].wide


@pytest.mark.parametrize("name", ["blanks", "choices"])
def test_every_file_is_written_and_latex_compiles(
    name: str, run: Run, chosen: Run, tmp_path: Path
) -> None:
    found = run if name == "blanks" else chosen
    assert len(list(write(found, tmp_path / "r").parent.iterdir())) == 6
    text = to_latex(found)
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
    whole = (
        "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
        + text
        + "\\end{document}\n"
    )
    (tmp_path / "x.tex").write_text(whole, "utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_cuts_nothing(run: Run, chosen: Run, width: int) -> None:
    for found in (run, chosen):
        text = printed(found, width, is_terminal=True)
        assert max(map(len, text.splitlines())) <= width
        assert "…" not in text
