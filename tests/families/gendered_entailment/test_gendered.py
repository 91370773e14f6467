"""Do S, dP and B say what the paper defines? A plain reference, the published spreadsheets, the labour market, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from commands import evenhand
from scipy import stats

import evenhand as eh
from evenhand.core import catalog
from evenhand.core.answer_files import write_answers
from evenhand.core.errors import EvenhandError, EvenhandWarning, InputError, LoadError
from evenhand.core.probe import Floats
from evenhand.core.suite import Suite
from evenhand.engine.audit import load_suite
from evenhand.engine.relating import with_shares
from evenhand.report.labour import paper_table
from evenhand.report.latex import to_latex
from evenhand.stats.correlation import correlate, pearson, spearman
from evenhand.families.gendered_entailment.labour import built_in, lean, majority, read_shares


def reference(suite: Suite, logits: Floats) -> dict[str, float]:
    """The paper's definitions as plain loops over premises."""
    by_id = {p.id: (p, row) for p, row in zip(suite.probes, logits, strict=True)}
    same: list[float] = []
    gaps: list[float] = []
    signed: list[float] = []
    prefer: list[float] = []
    dominated: list[float] = []
    neutral: list[float] = []
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
        for tag, into in (("majority", prefer), ("lean", dominated)):
            if probe.tags[tag] in chance:
                other = "male" if probe.tags[tag] == "female" else "female"
                into.append(
                    1.0
                    if chance[probe.tags[tag]] > chance[other]
                    else 0.5
                    if chance[probe.tags[tag]] == chance[other]
                    else 0.0
                )
    names = (
        "same_label",
        "entailment_gap",
        "signed_gap",
        "stereotype_preference",
        "dominated_preference",
        "neutral_share",
    )
    return dict(
        zip(
            names,
            (float(np.mean(v)) for v in (same, gaps, signed, prefer, dominated, neutral)),
            strict=True,
        )
    )


@pytest.mark.parametrize("lang", ["en", "ja", "zh"])
def test_the_measures_agree_with_plain_loops(lang: str) -> None:
    suite = load_suite("gendered-entailment", lang)
    logits = np.random.default_rng(5).normal(size=(len(suite.probes), 3))
    logits[:40] = 0.25  # ties
    logits[:40, 1] = 1.0
    told = dict(zip((p.texts for p in suite.probes), logits, strict=True))
    run = eh.audit(
        lambda pairs: np.asarray([told.get(pair, np.zeros(3)) for pair in pairs]),
        suite=suite,
        resamples=100,
    )
    wanted = reference(suite, logits)
    assert {e.measure: e.value for e in run.estimates} == pytest.approx(wanted)
    tied = (
        next(e for e in run.estimates if e.measure == "stereotype_preference").parts["tied"].value
    )
    counted = sum(p.tags["majority"] != "none" for p in suite.probes) / 2
    assert tied == pytest.approx(
        sum(p.tags["majority"] != "none" for p in suite.probes[:40]) / 2 / counted
    )


def test_what_the_rules_score() -> None:
    scores = {
        rule: {
            e.measure: e.value
            for e in eh.audit(f"fixed:{rule}", suite="gendered-entailment", resamples=100).estimates
        }
        for rule in ("constant", "fair", "stereotyped")
    }
    assert scores["constant"] == {
        "same_label": 1,
        "entailment_gap": 0,
        "signed_gap": 0,
        "stereotype_preference": 0.5,
        "dominated_preference": 0.5,
        "neutral_share": 0,
    }
    assert scores["fair"] == {**scores["constant"], "neutral_share": 1}
    bent = scores["stereotyped"]
    assert (
        bent["same_label"],
        bent["entailment_gap"],
        bent["stereotype_preference"],
        bent["dominated_preference"],
    ) == (0, 1, 1, 1)


def test_the_paper_table_has_every_group_and_every_wording() -> None:
    run = eh.audit("fixed:stereotyped", suite="gendered-entailment", resamples=100)
    heads, rows = paper_table(run)
    assert heads == ["S", "dP", "B", "Share of neutral"]
    found = {label: [i.value for i in values] for label, values in rows}
    assert found["all occupations"] == [0, 1, 1, 0] and found["male majority"] == [0, 1, 1, 0]
    assert {
        "“The text is about a … profession.”",
        "“The sentence mentions a … worker.”",
        "male-dominated",
        "neither dominates",
    } <= found.keys()
    assert r"male-dominated & 0.0 [0.0, 0.0] & 100.0 [100.0, 100.0]" in to_latex(run)


def test_pure_functions() -> None:
    female, male = [0.9, 0.2, 0.5, 0.5], [0.6, 0.7, 0.5, 0.4]
    assert eh.measures.same_label(female, male) == pytest.approx((1 + 0 + 1 + 0.5) / 4)
    assert eh.measures.entailment_gap(female, male) == pytest.approx((0.3 + 0.5 + 0 + 0.1) / 4)
    assert eh.measures.signed_gap(female, male) == pytest.approx((0.3 - 0.5 + 0 + 0.1) / 4)
    assert eh.measures.stereotype_preference(
        female, male, ["female", "female", "male", "male"]
    ) == pytest.approx((1 + 0 + 0.5 + 0) / 4)
    assert math.isnan(eh.measures.dominated_preference([0.1], [0.2], ["none"]))


@pytest.mark.parametrize(("variant", "premises"), [("snli", 1900), ("mnli", 1900), ("ood", 3800)])
def test_the_published_spreadsheets_load_whole(data: Path, variant: str, premises: int) -> None:
    suite = load_suite(f"sharma2021:{variant}", "en", data=data)
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
    assert "sentence1" not in {
        p.texts[0] for p in female
    }  # the header row that was sorted into the data


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
    with pytest.raises(InputError, match=r"SNLI_Evaluation_Set\.xlsx, row 3: .*gender 'X'"):
        load_suite("sharma2021", "en", data=tmp_path)
    sheet.delete_rows(3)
    book.save(path)
    with pytest.raises(InputError, match="38 occupations with 50 premises each; here: nurse 1"):
        load_suite("sharma2021", "en", data=tmp_path)
    path.write_bytes(b"no spreadsheet")
    with pytest.raises(InputError, match="is not a spreadsheet"):
        load_suite("sharma2021", "en", data=tmp_path)
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
    wider = load_suite("gendered-entailment", "en", dominance=90)
    assert {p.cluster for p in wider.probes if p.tags["lean"] == "female"} == {
        job for job, (_, share) in jobs.items() if share > 90
    }


def test_shares_are_a_parameter_and_are_checked(tmp_path: Path) -> None:
    table = tmp_path / "shares.csv"
    table.write_text("occupation,share\nNurse,40\nplumber,80\nlawyer,50\n", encoding="utf-8")
    assert read_shares(table) == {"nurse": 40.0, "plumber": 80.0, "lawyer": 50.0}
    suite = load_suite("gendered-entailment", "en", shares=table)
    assert {p.cluster: (p.tags["majority"], p.tags["lean"]) for p in suite.probes} == {
        "nurse": ("male", "none"),
        "plumber": ("female", "female"),
        "lawyer": ("none", "none"),
    }
    for text, reason in {
        "occupation,share\nnurse,130\n": r"row 2: share 130 of 'nurse' is outside 0 to 100",
        "occupation,share\nnurse,many\n": "row 2: share 'many' is no number",
        "job title,women\nnurse,40\n": "needed are occupation and share",
        "occupation,share\nastrologer,40\n": "names none of the occupations",
    }.items():
        table.write_text(text, encoding="utf-8")
        with pytest.raises(EvenhandError, match=reason):
            load_suite("gendered-entailment", "en", shares=table)
    with pytest.raises(EvenhandError, match="dominance is 40"):
        lean(10, 40)
    assert [majority(s) for s in (49, 50, 51)] == ["male", "none", "female"] and built_in()[
        "ceo"
    ] == 27.6


def test_correlations_equal_scipy_and_constant_has_none() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 40)).round(1)
    assert float(pearson(x, y)) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert float(spearman(x, y)) == pytest.approx(stats.spearmanr(x, y).statistic)
    found = correlate(x, x + rng.normal(size=40) / 10, rng, resamples=2000)
    assert found["pearson"].low < found["pearson"].value < found["pearson"].high <= 1
    assert all(math.isnan(v) for v in correlate(x, np.ones(40), rng, resamples=100)["pearson"])


def test_the_labour_market_is_found_again_in_a_model_made_from_it() -> None:
    suite = load_suite("gendered-entailment", "en", limit=800)
    shares = {p.texts: (float(p.tags["share_women"]), p.tags["gender"]) for p in suite.probes}

    def follow(pairs: list[tuple[str, str]]) -> Floats:
        side = [
            (s - 50) / 25 * (1 if g == "female" else -1)
            for s, g in (shares.get(p, (50.0, "")) for p in pairs)
        ]
        return np.asarray([[v, 0.0, -v] for v in side])

    run = eh.audit(follow, suite=suite, resamples=500)
    signed = next(r for r in run.relations if r.measure == "signed_gap")
    assert signed.spearman.value == pytest.approx(1.0, abs=1e-4) and signed.pearson.low > 0.9
    turned = with_shares(
        run.answers, {p.cluster: 100 - float(p.tags["share_women"]) for p in suite.probes}
    )
    assert {p.cluster: float(p.tags["share_women"]) for p in turned.probes} == {
        p.cluster: pytest.approx(100 - float(p.tags["share_women"])) for p in suite.probes
    }


def test_the_labour_verb_sets_models_side_by_side(tmp_path: Path) -> None:
    for name in ("random", "stereotyped"):
        write_answers(
            eh.audit(
                f"fixed:{name}", suite="gendered-entailment", limit=600, resamples=100
            ).answers,
            tmp_path / f"{name}.parquet",
        )
    figure = tmp_path / "labour.html"
    done = evenhand(
        "labour",
        tmp_path / "random.parquet",
        tmp_path / "stereotyped.parquet",
        "--resamples",
        "200",
        "--out",
        figure,
    )
    assert done.code == 0 and "fixed:stereotyped" in done.out
    page = figure.read_text(encoding="utf-8")
    assert (
        page.count("<svg class=") >= 2
        and "fixed:random@0" in page
        and "http" not in page.split("</style>")[1]
    )


def test_mined_premises_make_a_suite_of_38_occupations(data: Path) -> None:
    suite = load_suite(
        "gendered-entailment",
        "en",
        premises=[data / "nli" / "en.snli-train20k.jsonl"],
        per_occupation=20,
    )
    assert (
        set(Counter(p.cluster for p in suite.probes).values()) == {40}
        and len({p.cluster for p in suite.probes}) == 38
    )
    assert "names found by faker" in suite.card.source and "gendered word" in suite.card.source
    again = load_suite(
        "gendered-entailment",
        "en",
        premises=[data / "nli" / "en.snli-train20k.jsonl"],
        per_occupation=20,
    )
    assert suite.digest == again.digest


def test_what_the_filters_leave_is_said(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(
        "A nurse told her patient a story.\nThe sky is blue today.\n", encoding="utf-8"
    )
    with pytest.raises(EvenhandError, match="gendered word"):
        load_suite("gendered-entailment", "en", premises=[corpus])
    corpus.write_text("The nurse is sitting on a bench in the park.\n", encoding="utf-8")
    with pytest.warns(EvenhandWarning, match="fewer premises than asked for"):
        load_suite("gendered-entailment", "en", premises=[corpus], per_occupation=3)
    with pytest.raises(EvenhandError, match="English only"):
        load_suite("gendered-entailment", "ja", premises=[corpus])
    assert catalog.suite("gendered-entailment").licence.startswith("Apache-2.0")
