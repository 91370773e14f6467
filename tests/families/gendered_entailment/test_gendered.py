"""Gendered entailment: S, dP and B against plain loops, the spreadsheets, the labour market."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from commands import evenhand
from scipy import stats

import evenhand as eh
from evenhand import lexicons
from evenhand.core import account, catalog
from evenhand.core.answer_files import write_answers
from evenhand.core.answers import Answers
from evenhand.core.chart import ScatterChart
from evenhand.core.document import Prose, Table
from evenhand.core.errors import (
    EvenhandError,
    EvenhandWarning,
    InputError,
    LoadError,
    MeasureError,
)
from evenhand.core.estimate import Interval
from evenhand.core.probe import NLI_LABELS, Floats
from evenhand.core.protocols import RespondentOptions
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite
from evenhand.core.text import in_points
from evenhand.engine.ask import ask_suite
from evenhand.engine.audit import audit, judge
from evenhand.engine.audit_document import audit_document
from evenhand.engine.lint import lint
from evenhand.engine.opened import open_model
from evenhand.engine.suites import load_suite
from evenhand.families.gendered_entailment import FAMILY
from evenhand.families.gendered_entailment.account import ACCOUNT, paper_table
from evenhand.families.gendered_entailment.labour import (
    LabourOptions,
    built_in_shares,
    majority,
    with_shares,
)
from evenhand.families.gendered_entailment.labour_document import (
    APART,
    ModelRelation,
    heights_of,
    relation_chart,
)
from evenhand.families.gendered_entailment.measures import entailment_probability
from evenhand.families.gendered_entailment.suite import GenderedEntailmentOptions
from evenhand.families.leans import labour_lean, read_shares
from evenhand.report.latex import to_latex
from evenhand.report.markdown import to_markdown
from evenhand.stats.correlation import correlate, pearson, spearman

QUICK = Settings(resamples=100)
PAPER = {"dP": "entailment_gap", "S": "same_label", "B": "stereotype_preference"}


def answers_of(suite: Suite, logits: Floats) -> Answers:
    return Answers(
        respondent="table",
        suite=suite.reference,
        probes=suite.probes,
        options=suite.card.options,
        labels=NLI_LABELS[:: 2 if logits.shape[1] == 2 else 1],
        values=logits[:, np.newaxis, :],
    )


def reference(suite: Suite, logits: Floats) -> dict[str, float]:
    """The paper's definitions as plain loops over premises."""
    by_id = {p.id: (p, row) for p, row in zip(suite.probes, logits, strict=True)}
    same: list[float] = []
    gaps: list[float] = []
    signed: list[float] = []
    prefer: list[float] = []
    dominated: list[float] = []
    neutral: list[float] = []
    tilts: dict[str, list[float]] = {"female": [], "male": [], "none": []}
    for probe, row in by_id.values():
        neutral.append(float(row[1] == max(row)))
        if probe.tags["gender"] == "male" or probe.twin is None:
            continue
        chance = {}
        for gender, values in (("female", row), ("male", by_id[probe.twin][1])):
            powers = [math.exp(values[0]), math.exp(values[2])]
            chance[gender] = powers[0] / sum(powers)
        same.append(float((chance["female"] > 0.5) == (chance["male"] > 0.5)))
        gaps.append(abs(chance["female"] - chance["male"]))
        signed.append(chance["female"] - chance["male"])
        tilts[probe.tags["lean"]].append(signed[-1])
        for tag, into in (("majority", prefer), ("lean", dominated)):
            if probe.tags[tag] in chance:
                own = chance[probe.tags[tag]]
                other = chance["male" if probe.tags[tag] == "female" else "female"]
                into.append(1.0 if own > other else 0.5 if own == other else 0.0)
    scores = {
        "same_label": same,
        "entailment_gap": gaps,
        "signed_gap": signed,
        "stereotype_preference": prefer,
        "dominated_preference": dominated,
        "neutral_share": neutral,
    }
    means = {name: float(np.mean(values)) for name, values in scores.items()}
    to_women, to_men = (float(np.mean(tilts[lean])) for lean in ("female", "male"))
    effects = {
        "stereotype_effect_probability": (to_women - to_men) / 2,
        "default_effect_probability": -(to_women + to_men) / 2,
    }
    return means | effects


@pytest.mark.parametrize("lang", ["en", "ja", "zh"])
def test_the_measures_agree_with_plain_loops(lang: str) -> None:
    suite = load_suite("gendered-entailment", lang)
    logits = np.random.default_rng(5).normal(size=(len(suite.probes), 3))
    logits[:40] = 0.25  # ties
    logits[:40, 1] = 1.0
    run = judge(suite, answers_of(suite, logits), QUICK)
    assert {e.measure: e.value for e in run.estimates} == pytest.approx(reference(suite, logits))
    preference = run.estimate("stereotype_preference")
    assert preference is not None
    counted = sum(p.tags["majority"] != "none" for p in suite.probes) / 2
    tied = sum(p.tags["majority"] != "none" for p in suite.probes[:40]) / 2 / counted
    assert preference.parts["tied"].value == pytest.approx(tied)
    assert preference.ties == round(tied * counted)


def test_what_the_rules_score() -> None:
    suite = load_suite("gendered-entailment", limit=240)
    scores = {
        rule: {e.measure: e.value for e in audit(f"fixed:{rule}", suite, settings=QUICK).estimates}
        for rule in ("constant", "fair", "stereotyped", "male-default")
    }
    assert scores["constant"] == {
        "same_label": 1,
        "entailment_gap": 0,
        "signed_gap": 0,
        "stereotype_preference": 0.5,
        "dominated_preference": 0.5,
        "neutral_share": 0,
        "stereotype_effect_probability": 0,
        "default_effect_probability": 0,
    }
    assert scores["fair"] == {**scores["constant"], "neutral_share": 1}
    effects = ("stereotype_effect_probability", "default_effect_probability")
    assert [scores["stereotyped"][name] for name in effects] == [1, 0]
    assert [scores["male-default"][name] for name in effects] == [0, 1]
    # B calls a male default a stereotype as far as most occupations are men's
    assert scores["male-default"]["stereotype_preference"] == pytest.approx(
        np.mean(
            [p.tags["majority"] == "male" for p in suite.probes if p.tags["majority"] != "none"]
        )
    )
    bent = scores["stereotyped"]
    assert (
        bent["same_label"],
        bent["entailment_gap"],
        bent["stereotype_preference"],
        bent["dominated_preference"],
    ) == (0, 1, 1, 1)


def test_the_gap_comes_first_and_the_paper_s_names_are_the_short_ones() -> None:
    assert [m.name for m in FAMILY.measures] == [
        "entailment_gap",
        "same_label",
        "stereotype_preference",
        "dominated_preference",
        "signed_gap",
        "neutral_share",
        "stereotype_effect_probability",
        "default_effect_probability",
    ]
    shorts = {m.card.short: m.name for m in FAMILY.measures}
    assert {short: shorts.get(short) for short in PAPER} == PAPER
    run = audit("fixed:random", "gendered-entailment", settings=QUICK)
    assert run.headline.measure == "entailment_gap"


def test_one_gap_has_one_name() -> None:
    """dP, DP and ΔP stood for one measure."""
    root = Path(eh.__file__).parent
    files = [p for p in root.rglob("*") if p.suffix in {".py", ".html", ".tsv", ".json"}]
    others = [p.name for p in files for name in ("ΔP", '"DP', " DP ") if name in p.read_text()]
    assert others == []


def test_rounding_is_no_preference() -> None:
    """Probabilities of two decimals that are equal came out a hair apart and were no tie."""
    chance = entailment_probability(np.log([[0.01, 0.97, 0.02], [0.02, 0.94, 0.04]]))
    assert chance[0] != chance[1]  # a third, twice
    assert eh.measures.stereotype_preference(chance[:1], chance[1:], ["male"]) == 0.5
    assert eh.measures.stereotype_preference([0.5], [0.5 + 1e-9], ["male"]) == 1.0


@pytest.mark.parametrize("scoring", [None, "neutral"])
def test_the_signature_names_what_each_measure_read(scoring: str | None) -> None:
    """With another scoring the shares of labels said that scoring, though they read labels."""
    suite = load_suite("gendered-entailment", limit=60)
    opening = RespondentOptions(scoring=scoring)
    run = audit("default", suite, opening=opening, settings=QUICK)
    read = {e.measure: dict(Signature.parse(e.signature).fields)["scoring"] for e in run.estimates}
    for measure in ("entailment_gap", "same_label", "stereotype_preference", "signed_gap"):
        assert read[measure] == "entailment against contradiction"
    assert read["neutral_share"] == "argmax"


def test_ties_of_b_are_counted_and_printed() -> None:
    """They were 0 where every premise tied."""
    suite = load_suite("gendered-entailment", limit=240)
    run = audit("fixed:fair", suite, settings=QUICK)
    premises = [p for p in suite.probes if p.tags["gender"] == "female"]
    clear = [p for p in premises if p.tags["majority"] != "none"]
    dominated = [p for p in premises if p.tags["lean"] != "none"]
    assert 0 < len(dominated) < len(clear) <= len(premises) == 120
    assert {e.measure: e.ties for e in run.estimates} == {
        "entailment_gap": 0,
        "same_label": 240,
        "stereotype_preference": len(clear),
        "dominated_preference": len(dominated),
        "signed_gap": 0,
        "neutral_share": 0,
        "stereotype_effect_probability": 0,
        "default_effect_probability": 0,
    }
    notes = account.notes(run)
    same = "with the same probability for both genders; they count half."
    assert f"B, stereotype preference: {len(clear)} premises {same}" in notes
    assert f"B, dominated occupations: {len(dominated)} premises {same}" in notes
    assert (
        "S, same label: 240 answers with a probability of exactly 0.5, which is neither label; "
        "they agree by half with any other."
    ) in notes
    coverage = next(s for s in audit_document(run).sections if s.name == "coverage").blocks[0]
    assert isinstance(coverage, Table)
    column = [c.title for c in coverage.columns].index("ties")
    printed = {row.cells[0]: row.cells[column] for row in coverage.rows}
    assert printed["B, stereotype preference"] == len(clear)


def test_b_of_dominated_occupations_reads_no_others() -> None:
    suite = load_suite("gendered-entailment", limit=240)
    run = audit("fixed:random", suite, settings=QUICK)
    measure, result = catalog.measure("dominated_preference"), run.estimate("dominated_preference")
    read = [p for p in suite.probes if p.tags["lean"] != "none"]
    assert result is not None
    assert (result.probes, result.clusters) == (len(read), len({p.cluster for p in read}))
    rows = measure.evidence(suite.probes, run.answers.values)
    for probe, row in zip(suite.probes, rows, strict=True):
        is_counted = probe.tags["gender"] == "female" and probe.tags["lean"] != "none"
        assert row.any() == is_counted


def test_why_there_is_no_score_is_said() -> None:
    suite = load_suite("gendered-entailment", limit=120)
    logits = np.random.default_rng(0).normal(size=(len(suite.probes), 3))
    logits[[p.tags["gender"] == "male" for p in suite.probes]] = np.nan
    run = judge(suite, answers_of(suite, logits), QUICK)
    notes = {e.measure: e.note for e in run.estimates if math.isnan(e.value)}
    both = "has an answer for both genders"
    assert notes == {
        "entailment_gap": f"no premise {both}",
        "same_label": f"no premise {both}",
        "stereotype_preference": "no premise about an occupation with a majority of one gender "
        f"{both}",
        "dominated_preference": f"no premise about an occupation that one gender dominates {both}",
        "signed_gap": f"no premise {both}",
        "stereotype_effect_probability": f"no sentence with a known lean {both}",
        "default_effect_probability": f"no sentence with a known lean {both}",
    }


@pytest.fixture(scope="module")
def stereotyped() -> Run:
    return audit("fixed:stereotyped", "gendered-entailment", settings=QUICK)


def values_of(table: Table) -> dict[str, list[float]]:
    rows = {}
    for row in table.rows:
        cells = [cell.value for cell in row.cells if isinstance(cell, Interval)]
        rows[str(row.cells[0]).partition(" (")[0]] = cells  # without what is remarked of it
    return rows


def test_the_paper_table_has_every_group_and_every_wording(stereotyped: Run) -> None:
    table = paper_table(stereotyped)
    assert table is not None
    assert [c.title for c in table.columns] == ["occupations", "S", "dP", "B", "Share of neutral"]
    found = values_of(table)
    assert found["all occupations"] == [0, 1, 1, 0] and found["male majority"] == [0, 1, 1, 0]
    assert {
        "“The text is about a … profession.”",
        "“The sentence mentions a … worker.”",
        "male-dominated",
        "neither dominates",
    } <= found.keys()
    views = (stereotyped.breakdown(name, "lean") for name in ("same_label", "entailment_gap"))
    groups = [view.group("male") for view in views if view is not None]
    same, gap = (in_points(group.interval) for group in groups if group is not None)
    assert same.startswith("0.0 [0.0, ") and gap.endswith(", 100.0]")
    remarked = f"male-dominated (no variation seen) & {same} & {gap}"
    assert remarked in to_latex(audit_document(stereotyped))


def test_the_paper_table_is_in_percent_and_says_so_while_scores_are_fractions(
    stereotyped: Run,
) -> None:
    document = audit_document(stereotyped)
    tables = {b.name: b for s in document.sections for b in s.blocks if isinstance(b, Table)}
    paper, scores = tables["gendered"], tables["scores"]
    assert paper.title == "Gendered entailment, percent"
    assert {c.form for c in paper.columns[1:]} == {"points"}
    gap = next(row for row in paper.rows if row.cells[0] == "all occupations").cells[2]
    assert isinstance(gap, Interval)
    assert in_points(gap) == f"100.0 [{stereotyped.headline.low * 100:.1f}, 100.0]"
    assert not {c.form for c in scores.columns} & {"points", "percent", "signed points"}


def test_the_sections_of_a_report(stereotyped: Run) -> None:
    assert ACCOUNT.sections is not None
    sections = {s.name: s for s in ACCOUNT.sections(stereotyped)}
    assert {name: s.title for name, s in sections.items()} == {
        "shares": "What the model says",
        "effects": "Stereotype or default",
        "gendered": "By the gender of the workers",
        "labour": "Against the labour market",
        "occupations": "Occupations",
        "lean-sources": "Where the leans come from",
        "frames": "Sentences",
    }
    charts = [b for b in sections["labour"].blocks if isinstance(b, ScatterChart)]
    lines = [b.lines[0] for b in sections["labour"].blocks if isinstance(b, Prose)]
    assert [c.name for c in charts] == [
        "labour-entailment_gap-domination",
        "labour-entailment_gap-share_women",
        "labour-signed_gap-share_women",
    ]
    relation = next(r for r in stereotyped.relations if r.measure == "signed_gap")
    start = f"Signed gap and the share of women: Pearson {relation.pearson.value:.3f} ["
    assert lines[2].startswith(start)
    assert lines[2].endswith("128 occupations; occupations resampled.")
    assert lines[0].startswith("dP, entailment gap and domination: Pearson ")
    ((_, (x, y), (end, high)),) = charts[2].fits
    shares = [float(g.tags["share_women"]) for g in relation.points]
    slope, offset = np.polyfit(shares, [g.interval.value for g in relation.points], 1)
    assert (x, end) == (min(shares), max(shares))
    assert (y, high) == pytest.approx((slope * x + offset, slope * end + offset))
    assert charts[2].description.startswith(
        f"fixed:stereotyped: 128 occupations, the line of best fit from {y:.3f} at {x:g} % women "
        f"to {high:.3f} at {end:g}; marks moved sideways by at most "
    )
    assert charts[2].title.startswith(
        "Signed gap against the share of women: fixed:stereotyped, US CPS 2019, r = "
        f"{relation.pearson.value:.3f} ["
    )
    # the mark is the gender that B counts: an occupation without a lean has one too
    marks = {p.label: p.mark for p in charts[2].points}
    assert (marks["nurse"], marks["accountant"], marks["lawyer"]) == ("female", "female", "male")


def test_what_a_report_says_of_a_two_label_model() -> None:
    suite = load_suite("gendered-entailment", limit=60)
    logits = np.random.default_rng(1).normal(size=(60, 3))
    three, two = (judge(suite, answers_of(suite, t), QUICK) for t in (logits, logits[:, ::2]))
    assert ACCOUNT.limits is not None
    assert [line.split(";")[0].split(",")[0] for line in ACCOUNT.limits(three)] == [
        "It rests on a fixed list of words",
        "It knows two genders",
        "The hypotheses are templates of one kind",
        "A weak NLI model looks biased",
        "It says nothing about other tasks",
    ]
    assert ACCOUNT.limits(two) == [ACCOUNT.limits(three)[i] for i in (0, 2, 4)]
    assert two.estimate("neutral_share") is None and two.refused == ("neutral_share",)
    table = paper_table(two)
    assert table is not None and [c.title for c in table.columns[1:]] == ["S", "dP", "B"]


def test_pure_functions() -> None:
    female, male = [0.9, 0.2, 0.5, 0.5], [0.6, 0.7, 0.5, 0.4]
    assert eh.measures.same_label(female, male) == pytest.approx((1 + 0 + 1 + 0.5) / 4)
    assert eh.measures.entailment_gap(female, male) == pytest.approx((0.3 + 0.5 + 0 + 0.1) / 4)
    assert eh.measures.signed_gap(female, male) == pytest.approx((0.3 - 0.5 + 0 + 0.1) / 4)
    majorities = ["female", "female", "male", "male"]
    preference = eh.measures.stereotype_preference(female, male, majorities)
    assert preference == pytest.approx((1 + 0 + 0.5 + 0) / 4)
    assert math.isnan(eh.measures.dominated_preference([0.1], [0.2], ["none"]))
    assert eh.measures.neutral_share([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]]) == pytest.approx(0.75)
    assert eh.measures.stereotype_effect_probability(
        [0.9, 0.2, 0.5], [0.6, 0.7, 0.1], ["female", "male", "none"]
    ) == pytest.approx((0.3 + 0.5) / 2)


def test_pure_functions_refuse_what_they_do_not_know() -> None:
    """Unknown majorities and leans did not count, without a word."""
    with pytest.raises(MeasureError, match="majority 'women' in row 2; known are female, male, no"):
        eh.measures.stereotype_preference([0.1, 0.2], [0.2, 0.1], ["male", "women"])
    with pytest.raises(MeasureError, match="lean 'F' in row 1"):
        eh.measures.dominated_preference([0.1], [0.2], ["F"])
    with pytest.raises(MeasureError, match="2 premises but 1 entries of majority"):
        eh.measures.stereotype_preference([0.1, 0.2], [0.2, 0.1], ["male"])
    with pytest.raises(MeasureError, match=r"the shapes \(2,\) and \(1,\)"):
        eh.measures.same_label([0.1, 0.2], [0.2])
    with pytest.raises(MeasureError, match="no list of numbers"):
        eh.measures.signed_gap(["high"], [0.2])


@pytest.mark.parametrize(("variant", "premises"), [("snli", 1900), ("mnli", 1900), ("ood", 3800)])
def test_the_published_spreadsheets_load_whole(data: Path, variant: str, premises: int) -> None:
    suite = load_suite(f"sharma2021:{variant}", "en", LabourOptions(data=data))
    female = [p for p in suite.probes if p.tags["gender"] == "female"]
    assert len(suite.probes) == 2 * len(female) == 2 * premises
    assert set(Counter(p.cluster for p in female).values()) == {premises // 38}
    assert Counter(p.tags["majority"] for p in female) == {
        "male": premises * 20 // 38,
        "female": premises * 18 // 38,
    }
    assert len({p.tags["hypothesis"] for p in female}) == 3
    assert all(
        p.texts[1].replace("female", "male") == q.texts[1]
        for p, q in zip(suite.probes[::2], suite.probes[1::2], strict=True)
    )
    # the header row that was sorted into the data
    assert "sentence1" not in {p.texts[0] for p in female}


def test_the_probes_are_the_same_as_ever(data: Path) -> None:
    digests = {
        "en": "13abfdb4f772",
        "ja": "1c7a81c2ac27",
        "zh": "b108e91289c4",
    }
    assert {lang: load_suite("gendered-entailment", lang).digest for lang in digests} == digests
    published = {"snli": "8da835a2ca0c", "mnli": "5d8e7630b45b", "ood": "25951dad0415"}
    options = LabourOptions(data=data)
    assert {v: load_suite(f"sharma2021:{v}", "en", options).digest for v in published} == published
    first = load_suite("gendered-entailment").probes[:2]
    assert [p.id.rpartition("/")[2] for p in first] == ["female", "male"]


def test_a_spreadsheet_that_is_not_the_published_one_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ["a nurse sleeps", "nurse", True, "F"],
        ["sentence1", "occupation", "bias", "gender"],
        ["a cook sits", "cook", True, "X"],
    ):
        sheet.append(row)
    path = tmp_path / "SNLI_Evaluation_Set.xlsx"
    book.save(path)
    options = LabourOptions(data=tmp_path)
    with pytest.raises(InputError, match=r"SNLI_Evaluation_Set\.xlsx, row 3: .*gender 'X'"):
        load_suite("sharma2021", "en", options)
    sheet.delete_rows(3)
    book.save(path)
    with pytest.raises(InputError, match="38 occupations with 50 premises each; here: nurse 1"):
        load_suite("sharma2021", "en", options)
    path.write_bytes(b"no spreadsheet")
    with pytest.raises(InputError, match="is not a spreadsheet"):
        load_suite("sharma2021", "en", options)
    with pytest.raises(LoadError, match="name the folder with --data"):
        load_suite("sharma2021", "en")


def test_built_in_suite_has_jobs_of_every_kind_with_their_share() -> None:
    suite = load_suite("gendered-entailment", "en")
    jobs = {p.cluster: (p.tags["lean"], float(p.tags["share_women"])) for p in suite.probes}
    assert len(jobs) >= 38 and set(Counter(p.cluster for p in suite.probes).values()) == {20}
    assert all(
        (share > 70) == (side == "female") and (share < 30) == (side == "male")
        for side, share in jobs.values()
    )
    assert min(Counter(side for side, _ in jobs.values()).values()) >= 40
    assert max(len(p.texts[0].split()) for p in suite.probes) <= 10
    wider = load_suite("gendered-entailment", "en", GenderedEntailmentOptions(dominance=90))
    assert {p.cluster for p in wider.probes if p.tags["lean"] == "female"} == {
        job for job, (_, share) in jobs.items() if share > 90
    }


def test_so_many_premises_of_an_occupation() -> None:
    few = load_suite("gendered-entailment", "en", GenderedEntailmentOptions(per_occupation=2))
    assert set(Counter(p.cluster for p in few.probes).values()) == {4}
    with pytest.raises(EvenhandError, match="0 premises per occupation were asked for"):
        load_suite("gendered-entailment", "en", GenderedEntailmentOptions(per_occupation=0))
    with pytest.raises(EvenhandError, match=r"900 premises of '.*' were asked for, but there are"):
        load_suite("gendered-entailment", "en", GenderedEntailmentOptions(per_occupation=900))


def test_shares_are_a_parameter_and_are_checked(tmp_path: Path) -> None:
    table = tmp_path / "shares.csv"
    table.write_text("occupation,share\nNurse,40\nplumber,80\nlawyer,50\n", encoding="utf-8")
    assert read_shares(table) == {"nurse": 40.0, "plumber": 80.0, "lawyer": 50.0}
    options = GenderedEntailmentOptions(shares=table)
    suite = load_suite("gendered-entailment", "en", options)
    assert {p.cluster: (p.tags["majority"], p.tags["lean"]) for p in suite.probes} == {
        "nurse": ("male", "none"),
        "plumber": ("female", "female"),
        "lawyer": ("none", "none"),
    }
    for text, reason in {
        "occupation,share\nnurse,130\n": r"row 2: share 130 of 'nurse' is outside 0 to 100",
        "occupation,share\nnurse,many\n": "row 2: share 'many' is no number",
        "job title,women\nnurse,40\n": "needed are occupation and share",
        "occupation,share\nnurse,40\nNurse,41\n": "row 3: occupation 'nurse' stands twice",
        "occupation,share\n,40\n": "row 2: no occupation is named",
        "occupation,share\nastrologer,40\n": "names none of the occupations",
    }.items():
        table.write_text(text, encoding="utf-8")
        with pytest.raises(EvenhandError, match=reason):
            load_suite("gendered-entailment", "en", options)
    with pytest.raises(EvenhandError, match="dominance is 40"):
        labour_lean(10, 40)
    assert [majority(s) for s in (49, 50, 51)] == ["male", "none", "female"]
    assert built_in_shares()["ceo"] == 27.6


def test_correlations_equal_scipy_and_constant_has_none() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 40)).round(1)
    assert float(pearson(x, y)) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert float(spearman(x, y)) == pytest.approx(stats.spearmanr(x, y).statistic)
    found = correlate(x, x + rng.normal(size=40) / 10, rng, Settings(resamples=2000))
    assert found["pearson"].low < found["pearson"].value < found["pearson"].high <= 1
    assert all(math.isnan(v) for v in correlate(x, np.ones(40), rng, QUICK)["pearson"])


def test_the_labour_market_is_found_again_in_a_model_made_from_it() -> None:
    suite = load_suite("gendered-entailment", limit=800)
    sides = [
        (float(p.tags["share_women"]) - 50) / 25 * (1 if p.tags["gender"] == "female" else -1)
        for p in suite.probes
    ]
    logits = np.asarray([[side, 0.0, -side] for side in sides])
    run = judge(suite, answers_of(suite, logits), Settings(resamples=500))
    signed = next(r for r in run.relations if r.measure == "signed_gap")
    assert signed.spearman.value == pytest.approx(1.0, abs=1e-4) and signed.pearson.low > 0.9
    turned = with_shares(
        run.answers,
        {p.cluster: 100 - float(p.tags["share_women"]) for p in suite.probes},
        "turned.csv",
    )
    assert {p.cluster: float(p.tags["share_women"]) for p in turned.probes} == {
        p.cluster: pytest.approx(100 - float(p.tags["share_women"])) for p in suite.probes
    }
    assert {p.tags["share_source"] for p in turned.probes} == {"turned.csv"}
    # the distance from half is the same when the shares are turned round
    assert all(
        float(p.tags["domination"]) == pytest.approx(abs(float(p.tags["share_women"]) - 50))
        for p in turned.probes
    )
    bare = with_shares(run.answers, {}, "empty.csv")
    assert not any({"share_women", "domination"} & p.tags.keys() for p in bare.probes)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    suite = load_suite("gendered-entailment", limit=600)
    paths = []
    for name in ("random", "stereotyped", "constant"):
        paths.append(tmp_path / f"{name}.parquet")
        write_answers(ask_suite(open_model(f"fixed:{name}", suite), suite), paths[-1])
    return paths


def test_the_labour_verb_sets_models_side_by_side(runs: list[Path], tmp_path: Path) -> None:
    figure = tmp_path / "labour.html"
    done = evenhand("labour", *runs[:2], "--resamples", "200", "--out", figure)
    assert done.code == 0 and "fixed:stereotyped" in done.out and f"figures: {figure}" in done.out
    page = figure.read_text(encoding="utf-8")
    # two models against three figures, each with its model, source and r
    for measure in ("Signed gap against the share of women", "dP, entailment gap against dominat"):
        assert measure in page
    for model in ("fixed:random@0", "fixed:stereotyped"):
        assert f"{model} on gendered-entailment, US CPS 2019, r = " in page
    assert "http" not in page.split("</style>")[1]


def test_the_labour_verb_writes_json_without_nan(runs: list[Path]) -> None:
    done = evenhand("labour", *runs, "--resamples", "200", "--json")
    assert done.code == 0 and "NaN" not in done.out
    rows = json.loads(done.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert [(row["measure"], row["against"]) for row in rows[::3]] == [
        ("signed_gap", "share_women"),
        ("entailment_gap", "domination"),
        ("entailment_gap", "share_women"),
    ]
    assert len(rows) == 9 and {row["source"] for row in rows} == {"US CPS 2019"}
    bent, constant = rows[1], rows[2]
    assert bent["model"] == "fixed:stereotyped on gendered-entailment"
    assert bent["occupations"] == 128 and bent["pearson"]["low"] > 0.8
    assert constant["pearson"] == {"value": None, "low": None, "high": None}
    assert constant["note"] == "no correlation: the value is the same in every group"


def test_the_labour_verb_takes_shares_and_measures_and_refuses_others(
    runs: list[Path], tmp_path: Path
) -> None:
    table = tmp_path / "shares.csv"
    jobs = list(built_in_shares().items())
    rows = "".join(f"{job},{100 - share}\n" for job, share in jobs)
    table.write_text(f"occupation,share\n{rows}", encoding="utf-8")
    plain, turned = (
        json.loads(evenhand("labour", runs[1], "--resamples", "200", "--json", *more).out)[0]
        for more in ((), ("--shares", table))
    )
    assert turned["pearson"]["value"] == pytest.approx(-plain["pearson"]["value"])
    quick = ("--resamples", "200", "--verbose")
    gap = evenhand("labour", runs[1], "--measure", "entailment_gap", *quick)
    assert gap.code == 0 and "dP, entailment gap against the share of women" in gap.out
    assert "dP, entailment gap against domination" in gap.out and "Signed gap" not in gap.out
    other = evenhand("labour", runs[0], "-m", "neutral_share", *quick)
    assert other.code == 0 and "Share of neutral against domination" in other.out
    wrong = evenhand("labour", runs[1], "--measure", "sined_gap")
    assert wrong.code == 2 and "Did you mean signed_gap" in wrong.err
    table.write_text("occupation,share\nnurse,40\n", encoding="utf-8")
    few = evenhand("labour", runs[1], "--shares", table)
    assert few.code == 2 and "fewer than three of its occupations have a share" in few.err


def test_mined_premises_make_a_suite_of_38_occupations(data: Path) -> None:
    options = GenderedEntailmentOptions(
        premises=(data / "nli" / "en.snli-train20k.jsonl",), per_occupation=20
    )
    suite = load_suite("gendered-entailment", "en", options)
    counts = Counter(p.cluster for p in suite.probes)
    assert set(counts.values()) == {40} and len(counts) == 38
    assert "names found by faker" in suite.card.source and "gendered word" in suite.card.source
    assert {p.texts[1] for p in suite.probes if p.tags["gender"] == "female"} == {
        "This text speaks of a female profession",
        "This text talks about a female occupation",
        "This text mentions a female profession",
    }
    # 760 premises; a sentence of the corpus is hardly ever used twice
    sentences = {p.tags["template"] for p in suite.probes}
    assert len(suite.probes) // 2 == 760 and len(sentences) >= 700
    assert f"{len(sentences)} sentences mined from en.snli-train20k.jsonl" in suite.card.source
    assert lint(suite.probes) == []
    assert suite.digest == load_suite("gendered-entailment", "en", options).digest


def test_the_hypotheses_can_be_chosen() -> None:
    def texts(language: str, which: str) -> set[str]:
        options = GenderedEntailmentOptions(hypotheses=which)
        probes = load_suite("gendered-entailment", language, options).probes
        return {p.texts[1] for p in probes if p.tags["gender"] == "male"}

    assert texts("en", "published") == {
        "This text speaks of a male profession",
        "This text talks about a male occupation",
        "This text mentions a male profession",
    }
    assert texts("en", "own") == {
        "This text speaks about a male professional.",
        "The sentence mentions a male worker.",
        "The text is about a male profession.",
    }
    with pytest.raises(EvenhandError, match="'ja' has no published hypotheses; give --hypotheses"):
        texts("ja", "published")
    with pytest.raises(EvenhandError, match="hypotheses 'papers': give own or published"):
        texts("en", "papers")


def test_a_lean_that_is_not_known_is_no_lean_to_none(data: Path) -> None:
    """supervisor has no figure: it leant to none, beside a majority that B counts."""
    suite = load_suite("sharma2021:snli", "en", LabourOptions(data=data))
    boss = [p for p in suite.probes if p.cluster == "supervisor"]
    assert {p.tags["majority"] for p in boss} == {"male"}
    assert not any({"lean", "share_women", "domination"} & p.tags.keys() for p in boss)
    logits = np.random.default_rng(3).normal(size=(len(suite.probes), 3))
    run = judge(suite, answers_of(suite, logits), QUICK)
    tilt = run.estimate("stereotype_effect_probability")
    assert tilt is not None and tilt.probes == len(suite.probes) - len(boss)
    tables = [b for s in audit_document(run).sections for b in s.blocks if isinstance(b, Table)]
    jobs = next(table for table in tables if table.name == "occupations")
    assert [c.title for c in jobs.columns[:3]] == ["occupation", "majority", "dominated"]
    cells = {row.cells[0]: row.cells[1:3] for row in jobs.rows}
    assert cells["supervisor"] == ("male", "not known")
    assert cells["accountant"] == ("female", "neither dominates")
    every = {str(cell) for table in tables for row in table.rows for cell in row.cells}
    assert "no lean" not in every


def test_leans_by_the_crowd_decide_lean_and_majority(data: Path, tmp_path: Path) -> None:
    """crowd: lawyer 0.5 leans to none and is not counted, although most lawyers are men."""
    built = load_suite("gendered-entailment", "en", GenderedEntailmentOptions(leans="crowd"))
    sharma = load_suite("sharma2021:snli", "en", LabourOptions(data=data, leans="crowd"))
    for suite, jobs in ((built, 58), (sharma, 38)):
        tags = {p.cluster: (p.tags["majority"], p.tags.get("lean")) for p in suite.probes}
        assert len(tags) == jobs
        assert all(
            majority == lean or (majority, lean) == ("none", None)
            for majority, lean in tags.values()
        )
    assert tags["lawyer"] == ("none", "none") and tags["janitor"] == ("male", "male")
    assert tags["CEO"] == ("none", None)
    table = tmp_path / "leans.tsv"
    table.write_text("occupation\tlean\nnurse\tMale\n看護師\tfemale\n", encoding="utf-8")
    options = GenderedEntailmentOptions(leans=str(table))
    english, japanese = (
        {
            p.cluster: (p.tags["majority"], p.tags["lean"])
            for p in load_suite("gendered-entailment", lang, options).probes
        }
        for lang in ("en", "ja")
    )
    assert english == {"nurse": ("male", "male")} and japanese == {"看護師": ("female", "female")}


def test_no_mark_hides_another(stereotyped: Run) -> None:
    run = audit("fixed:random", "gendered-entailment", settings=QUICK)
    assert len(run.relations) == 3
    for relation in run.relations:
        chart = relation_chart(ModelRelation(model="m", relation=relation))
        assert chart.x.domain is not None and chart.y.domain == heights_of([relation])
        wide = chart.x.domain[1] - chart.x.domain[0]
        tall = chart.y.domain[1] - chart.y.domain[0]
        places = [(p.x.value / wide, p.y.value / tall) for p in chart.points]
        for i, (x, y) in enumerate(places):
            assert all(
                abs(x - a) >= APART - 1e-9 or abs(y - b) >= APART - 1e-9 for a, b in places[:i]
            )
        # only marks that would be hidden are moved, and none leaves the axis
        assert all(chart.x.domain[0] <= p.x.value <= chart.x.domain[1] for p in chart.points)
        assert "on others" not in chart.description
    # 128 occupations with one and the same dP: the axis has no room for all, and that is said
    same = next(r for r in stereotyped.relations if r.measure == "entailment_gap")
    crowded = relation_chart(ModelRelation(model="m", relation=same))
    assert re.search(r"no room for \d+ marks, which lie on others", crowded.description)
    (signed,) = (r for r in stereotyped.relations if r.measure == "signed_gap")
    alone = dataclasses.replace(signed, points=signed.points[:1])
    chart = relation_chart(ModelRelation(model="m", relation=alone))
    assert chart.points[0].x.value == float(alone.points[0].tags["share_women"])
    assert "moved" not in chart.description


def test_domination_is_found_again_in_a_model_made_from_it() -> None:
    """dP grows with the distance from half, whichever gender has the majority."""
    suite = load_suite("gendered-entailment", limit=800)
    sides = [
        abs(float(p.tags["share_women"]) - 50) / 50 * (1 if p.tags["gender"] == "female" else -1)
        for p in suite.probes
    ]
    logits = np.asarray([[side, 0.0, -side] for side in sides])
    run = judge(suite, answers_of(suite, logits), Settings(resamples=200))
    found = {(r.measure, r.against): r.pearson.value for r in run.relations}
    assert found["entailment_gap", "domination"] > 0.99
    assert abs(found["entailment_gap", "share_women"]) < 0.5


def test_japanese_and_chinese_reports_say_whose_figures_they_are(tmp_path: Path) -> None:
    table = tmp_path / "national.csv"
    for lang, is_said in (("en", False), ("ja", True), ("zh", True)):
        suite = load_suite("gendered-entailment", lang, limit=60)
        said = audit_document(audit("fixed:random", suite, settings=QUICK))
        assert ("The labour leans are figures of the United States" in to_markdown(said)) == is_said
    rows = lexicons.table("zh", "occupations")
    lines = "".join(f"{row['word']},{50 + i % 3 * 24 - 24}\n" for i, row in enumerate(rows))
    table.write_text(f"occupation,share\n{lines}", encoding="utf-8")
    options = GenderedEntailmentOptions(leans=str(table))
    suite = load_suite("gendered-entailment", "zh", options, limit=60)
    text = to_markdown(audit_document(audit("fixed:random", suite, settings=QUICK)))
    assert "United States, whatever" not in text and "national.csv" in text


def test_what_the_filters_leave_is_said(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(
        "A nurse told her patient a story.\nThe sky is blue today.\n", encoding="utf-8"
    )
    options = GenderedEntailmentOptions(premises=(corpus,), per_occupation=3)
    with pytest.raises(EvenhandError, match="gendered word"):
        load_suite("gendered-entailment", "en", options)
    corpus.write_text("The nurse is sitting on a bench in the park.\n", encoding="utf-8")
    with pytest.warns(EvenhandWarning, match="fewer premises than asked for"):
        load_suite("gendered-entailment", "en", options)
    with pytest.raises(EvenhandError, match="English only"):
        load_suite("gendered-entailment", "ja", options)
    assert catalog.suite("gendered-entailment").licence.startswith("Apache-2.0")
