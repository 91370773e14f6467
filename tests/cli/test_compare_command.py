"""`evenhand compare`: the same numbers in every form, and what is missing."""

from __future__ import annotations

import dataclasses
import html
import io
import json
import math
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from commands import ONE_SUITE, QUICK, evenhand, files_in
from quick import load, quick_compare
from rich.console import Console
from runs import TwoLabels, deaf_to_men, hostile, noise, silent

from evenhand.core.plain import to_json
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.compare import Compared, Comparison
from evenhand.engine.compare_document import comparison_document, comparison_fields, footing
from evenhand.report.latex import to_latex
from evenhand.report.write import print_document, write_document

FASTER = (*QUICK, "--permutations", "100")
FILES = [
    "comparison.html",
    "comparison.json",
    "comparison.md",
    "comparison.tex",
    "manifest.json",
]


def printed(comparison: Comparison, width: int) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None)
    print_document(comparison_document([comparison]), console)
    return out.getvalue()


def test_the_table_has_the_numbers_of_the_files(tmp_path: Path) -> None:
    done = evenhand(
        "compare",
        "fixed:constant",
        "fixed:random",
        "fixed:fair",
        *FASTER,
        "--out",
        tmp_path / "both",
        "--verbose",
    )
    assert done.code == 0, done.err
    assert files_in(tmp_path) == ["both", *(f"both/{name}" for name in FILES)]
    assert f"report: {tmp_path / 'both' / 'comparison.html'}" in done.out
    fields = json.loads((tmp_path / "both" / "comparison.json").read_text("utf-8"))
    (suite,) = fields["suites"]
    assert [m["name"] for m in suite["models"]] == ["fixed:constant", "fixed:random", "fixed:fair"]
    assert [m["identity"] for m in suite["models"]] == [
        "fixed:constant",
        "fixed:random@0",
        "fixed:fair",
    ]
    assert fields["tests"] == len(suite["differences"]) == 10
    page = html.unescape((tmp_path / "both" / "comparison.html").read_text("utf-8"))
    forms = [
        page,
        *((tmp_path / "both" / name).read_text("utf-8") for name in FILES[2:4]),
        done.out,
    ]
    for comparison in suite["differences"]:
        assert comparison["difference"]["value"] == pytest.approx(
            comparison["other"]["value"] - comparison["reference"]["value"]
        )
        assert comparison["signatures_differ"]["model"] == [
            "fixed:constant",
            comparison["other"]["signature"].split("model:")[1].split("|")[0],
        ]
        for form in forms:
            assert f"{comparison['difference']['value']:+.3f}".replace("+0.000", "0.000") in form
            assert comparison["signature"] in form.replace("</span><span>", "")
    assert "fixed:fair differs from fixed:constant in" in done.out
    assert "nearer" in done.out


def test_json_alone_on_standard_output(tmp_path: Path) -> None:
    done = evenhand(
        "compare", "fixed:constant", "fixed:fair", *FASTER, "--json", "--out", tmp_path / "x"
    )
    assert json.loads(done.out) == json.loads(
        (tmp_path / "x" / "comparison.json").read_text("utf-8")
    )
    assert done.err.startswith("report: ")
    bare = evenhand("compare", "fixed:constant", "fixed:fair", *FASTER, "--json")
    assert bare.err == ""


def test_several_suites_and_chosen_measures() -> None:
    suites = ("--suite", "occupation-nli, ordinary-nli", "--verbose")
    done = evenhand("compare", "fixed:random", "fixed:fair", *suites, *FASTER)
    assert done.code == 0, done.err
    assert "on occupation-nli 1.0" in done.out
    assert "on ordinary-nli:plain 2.0" in done.out
    one = evenhand(
        "compare",
        "fixed:random",
        "fixed:fair",
        *FASTER,
        "-m",
        "nli_coal",
        "--json",
        "--level",
        "0.9",
    )
    (suite,) = json.loads(one.out)["suites"]
    assert [d["measure"] for d in suite["differences"]] == ["nli_coal"]
    assert (
        "target:new items|ci:bca90x100/occupation x template, paired|"
        "test:swap x100/occupation|adjusted:bh/1" in suite["differences"][0]["signature"]
    )


def test_options_of_a_suite() -> None:
    words = ("compare", "fixed:fair", "fixed:random", "--resamples", 100, "--permutations", 100)
    suite = ("--suite", "gendered-entailment", "--limit", 40, "--json")
    done = [
        evenhand(*words, *option, *suite)
        for option in ((), ("--dominance", "60"), ("--dominance=60",))
    ]
    assert [d.code for d in done] == [0, 0, 0], done[1].err
    usual, near, same = (json.loads(d.out)["suites"][0]["suite"]["reference"] for d in done)
    assert usual != near == same
    code, _, err = evenhand(*words, "--dominanse", "60", *suite)
    assert (code, err) == (
        2,
        "error: no option '--dominanse' here, and the suite 'gendered-entailment' has none. "
        "Did you mean --dominance?\n",
    )
    code, _, err = evenhand(*words, "--nonesuch")
    assert code == 2 and "no option '--nonesuch' here, and the suite 'occupation-nli'" in err


def test_answers_of_runs(tmp_path: Path) -> None:
    for name in ("random", "fair"):
        assert evenhand("audit", f"fixed:{name}", *ONE_SUITE, "--out", tmp_path / name).code == 0
    asked = evenhand("compare", "fixed:random", "fixed:fair", *FASTER, "--json")
    read = evenhand(
        "compare",
        tmp_path / "random",
        tmp_path / "fair" / "answers.parquet",
        "--resamples",
        "100",
        "--permutations",
        "100",
        "--json",
    )
    first, second = (json.loads(x.out)["suites"][0]["differences"] for x in (asked, read))
    assert first == second
    evenhand("audit", "fixed:fair", *ONE_SUITE, "--limit", "30", "--out", tmp_path / "less")
    other = evenhand("compare", tmp_path / "random", tmp_path / "less")
    assert other.code == 2
    assert len(re.findall(r"occupation-nli@1\.0#\w{12}/[63]0", other.err)) == 2
    assert "only answers to the same probes are compared" in other.err
    other = evenhand("compare", tmp_path / "random", "fixed:fair", "--suite", "profession")
    assert other.code == 2
    assert re.search(r", but --suite profession answers profession@1\.0#\w{12}: only", other.err)


def test_published_answers_need_no_model(data: Path) -> None:
    done = evenhand(
        "compare",
        "stored:BERT",
        "stored:RoBERTa-wwm-ext",
        "stored:Annotators",
        "--suite",
        "cgb",
        "--lang",
        "zh",
        "--data",
        data,
        "--limit",
        "600",
        "--resamples",
        "200",
        "--permutations",
        "200",
        "--json",
    )
    assert done.code == 0, done.err
    (suite,) = json.loads(done.out)["suites"]
    assert suite["reference"] == "stored:BERT"
    assert {d["measure"] for d in suite["differences"]} == {
        "pb_bias",
        "pb_lean",
        "pb_sd",
        "objective_accuracy",
    }


def test_people_and_models_are_not_on_one_footing(data: Path) -> None:
    comparison = quick_compare(
        ["stored:BERT", "stored:ELECTRA", "stored:Annotators"],
        [load("cgb", "zh", data=data, limit=300)],
        settings=FEW,
    )[0]
    text = " ".join(printed(comparison, 100).split())
    for name, unit in (
        ("stored:ELECTRA", "replaced-token logits of a discriminator"),
        ("stored:Annotators", "scores of people"),
    ):
        expected = f"(stored:BERT in log-odds of words and {name} in {unit})"
        assert footing(comparison, name).startswith(f"PB has no common unit here {expected}")
        assert footing(comparison, name) in text
        p_values = {d.measure: d.p for d in comparison.against(name)}
        assert {m for m, p in p_values.items() if math.isfinite(p)} == {"objective_accuracy"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("fixed:fair",), "compare needs two or more models; there is fixed:fair"),
        (("fixed:fair", "fixed:fare"), "unknown fixed respondent 'fare'. Did you mean fair"),
        (("fixed:fair", "no.parquet"), "no.parquet: there is no such file"),
        (("fixed:fair", "fixed:random", "--level", "2"), "level is 2.0"),
        (("fixed:fair", "fixed:random", "--batch-size", "0"), "batch size '0'"),
        (("fixed:fair", "fixed:random", "--suite", "nothing"), "unknown suite 'nothing'"),
    ],
)
def test_refusals_are_one_line(words: tuple[str, ...], reason: str) -> None:
    done = evenhand("compare", *words, *FASTER)
    assert done.code == 2
    assert reason in done.err
    assert done.err.count("\n") == 1


FEW = Settings(resamples=100, permutations=100)


def one_cluster() -> Suite:
    suite = load()
    probes = tuple(dataclasses.replace(p, cluster="one") for p in suite.probes)
    return Suite(card=suite.card, probes=probes)


def quick(models: Sequence[Compared], suite: Suite | None = None) -> tuple[Comparison, ...]:
    return quick_compare(models, [suite or load()], settings=FEW)


CASES: dict[str, Callable[[], tuple[Comparison, ...]]] = {
    "two": lambda: quick([noise, "fixed:fair"]),
    "nothing answered": lambda: quick([noise, silent]),
    "half answered": lambda: quick([noise, deaf_to_men]),
    "two labels": lambda: quick([noise, TwoLabels()]),
    "one cluster": lambda: quick(["fixed:random", "fixed:fair"], one_cluster()),
    "one probe": lambda: quick(["fixed:random", "fixed:fair"], load(limit=1)),
    "eight": lambda: quick(["fixed:random", *["fixed:fair"] * 7], load(limit=30)),
    "hostile": lambda: quick([noise, "fixed:random"], hostile()),
}


@pytest.mark.parametrize("name", CASES)
def test_every_comparison_can_be_told(name: str, tmp_path: Path) -> None:
    comparison = CASES[name]()
    page = write_document(comparison_document(comparison), tmp_path / "x", has_script=False)
    names = sorted(p.name for p in page.parent.iterdir())
    assert names == [f for f in FILES if f != "comparison.json"]
    forms = [
        *(
            (page.parent / f"comparison.{form}").read_text("utf-8")
            for form in ("html", "md", "tex")
        ),
        printed(comparison[0], 80),
        printed(comparison[0], 130),
    ]
    for form in forms:
        assert not re.search(r"\bnan\b", form, flags=re.IGNORECASE)
        assert "None" not in form
        for apart in comparison[0].differences:
            if apart.note:
                assert re.sub(r"[\s\\]", "", apart.note) in re.sub(
                    r"[\s\\!]", "", html.unescape(form)
                )
    assert not re.search(r"<script|<link|<img|@import|(?:src|href)=", forms[0])
    assert all(len(line) <= 80 for line in forms[3].splitlines() if not line.startswith("measure:"))


def test_long_names_do_not_break_a_terminal() -> None:
    comparison = CASES["two"]()[0]
    models = [
        dataclasses.replace(m, name=f"a-name-of-twenty-eight-let-{i}")
        for i, m in enumerate(comparison.models)
    ]
    renamed = [dataclasses.replace(d, model=models[1].name) for d in comparison.differences]
    text = printed(
        dataclasses.replace(comparison, models=tuple(models), differences=tuple(renamed)), 80
    )
    assert text.count("a-name-of-twenty-eight-let-1") >= 3
    assert "NLI-CoAL" in text


def test_plain_data_are_the_same_whenever_made() -> None:
    first, second = (to_json(comparison_fields(CASES["half answered"]())) for _ in range(2))
    assert first == second
    fields = comparison_fields(CASES["nothing answered"]())["suites"][0]["differences"][0]
    assert fields["difference"] == {"value": None, "low": None, "high": None}
    assert fields["note"] == "no probe was answered by both"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX")
def test_latex_sets_it(tmp_path: Path) -> None:
    (tmp_path / "comparison.tex").write_text(
        to_latex(comparison_document((*CASES["two"](), *CASES["hostile"]()))), encoding="utf-8"
    )
    (tmp_path / "paper.tex").write_text(
        r"\documentclass[twocolumn]{article}\usepackage{booktabs,graphicx}"
        r"\begin{document}\input{comparison.tex}\end{document}"
    )
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_lead_is_whole_whatever_a_model_is_called() -> None:
    """A name with a full stop and a space once cut the first sentence of the page."""
    (comparison,) = CASES["two"]()
    models = [
        dataclasses.replace(m, name=f"v. {place} tuned")
        for place, m in enumerate(comparison.models)
    ]
    renamed = [dataclasses.replace(d, model=models[1].name) for d in comparison.differences]
    whole = dataclasses.replace(comparison, models=tuple(models), differences=tuple(renamed))
    (lead,) = comparison_document([whole]).lead
    assert lead.startswith(("v. 1 tuned differs from v. 0 tuned in ", "No difference between v. 1"))
    assert lead.endswith(("(adjusted p at most 0.05).", "that does not prove them equal."))
