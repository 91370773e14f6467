"""Does every form of the report tell the same, right numbers?"""

from __future__ import annotations

import hashlib
import html
import io
import json
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from rich.console import Console

import evenhand as eh
from evenhand.core.probe import NLI_LABELS, Floats, Kind, Probe
from evenhand.core.run import Run
from evenhand.core.suite import Suite, SuiteCard
from evenhand.report.figures import by_lean
from evenhand.report.html import to_html
from evenhand.report.latex import to_latex
from evenhand.report.markdown import to_markdown
from evenhand.report.numbers import amount, number, percent
from evenhand.report.pairs import most_biased
from evenhand.report.results import results_text, to_json
from evenhand.report.shares import strata_of
from evenhand.report.terminal import print_run
from evenhand.report.wording import limits, method, notes, ordered, standing, understanding, verdict


def noise(pairs: list[tuple[str, str]]) -> Floats:
    """Three numbers that depend on nothing but the words."""
    seeds = [
        int.from_bytes(hashlib.blake2b("\0".join(p).encode(), digest_size=8).digest())
        for p in pairs
    ]
    return np.asarray([np.random.default_rng(s).normal(size=3) for s in seeds])


def silent(pairs: list[tuple[str, str]]) -> Floats:
    return np.full((len(pairs), 3), np.nan)


def undecided(pairs: list[tuple[str, str]]) -> Floats:
    return np.zeros((len(pairs), 3))


def deaf_to_men(pairs: list[tuple[str, str]]) -> Floats:
    values = noise(pairs)
    values[[re.search(r"\bman\b", h) is not None for _, h in pairs]] = np.nan
    return values


class TwoLabels:
    """A model that knows entailed or not."""

    identity = "two@1"
    kinds: frozenset[Kind] = frozenset({"pair"})
    labels: tuple[str, ...] = ("entailment", "not_entailment")

    def __init__(self) -> None:
        self.unanswered: dict[str, int] = {}
        self.traits: Mapping[str, str] = {"labels": "e0x1"}

    def answer(self, probes: Sequence[Probe]) -> Floats:
        return noise([(p.texts[0], p.texts[1]) for p in probes])[:, :2]


def hostile() -> Suite:
    """Occupations, sentences and a name that try to be code."""
    evil = '<script>alert(\'x\')</script>" onload="1" role="x" | `_*[a](b) \\input{/etc/passwd} 50% & #1'
    rows = [
        (s, g, i) for i in range(3) for s, g in (("PS", "female"), ("AS", "male"), ("NS", "male"))
    ]
    probes = tuple(
        Probe(
            id=f"{s}{i}",
            kind="pair",
            language="en",
            texts=(f"{evil} {i}", f"<b>{g}</b> {i}"),
            stratum=s,
            cluster=f"{evil}{i}",
            tags={
                "occupation": f"{evil}{i}",
                "lean": "female" if s != "NS" else "none",
                "template": f"{{x}} {evil}{i}",
            },
        )
        for s, g, i in rows
    )
    card = SuiteCard(
        name=evil,
        version="<1>",
        language="en",
        source=evil,
        licence=evil,
        citation=evil,
        description=evil,
    )
    return Suite(card=card, probes=probes)


def two_labels() -> Run:
    return eh.audit(TwoLabels(), limit=200, resamples=50)


@pytest.fixture(scope="module")
def run() -> Run:
    return eh.audit(noise, limit=600, resamples=200)


@pytest.fixture(scope="module")
def page(run: Run) -> str:
    return to_html(run)


def by_hand(run: Run, stratum: str, label: str) -> float:
    """The share of a label, counted one by one."""
    given = [
        NLI_LABELS[int(np.argmax(v))]
        for p, v in zip(run.answers.probes, run.answers.values, strict=True)
        if p.stratum == stratum and np.isfinite(v).all()
    ]
    return given.count(label) / len(given)


def printed(run: Run, width: int, *, is_terminal: bool = False) -> str:
    out = io.StringIO()
    print_run(run, Console(file=out, width=width, force_terminal=is_terminal, color_system=None))
    return out.getvalue()


def cells(page: str) -> list[list[str]]:
    """The rows of all tables, tags removed."""
    rows = re.findall(r"<tr>(.*?)</tr>", page, flags=re.DOTALL)
    return [
        [
            html.unescape(re.sub(r"<[^>]+>", "", c)).strip()
            for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)
        ]
        for row in rows
    ]


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.414, 0, "41 %"),
        (0.414, 1, "41.4 %"),
        (0.0, 1, "0.0 %"),
        (0.0001, 0, "<1 %"),
        (0.9999, 0, ">99 %"),
        (1.0, 0, "100 %"),
        (math.nan, 1, "n/a"),
    ],
)
def test_a_share_in_percent_is_never_rounded_to_nothing_or_all(
    share: float, digits: int, text: str
) -> None:
    assert percent(share, digits) == text


def test_what_was_not_measured_is_not_a_number() -> None:
    assert number(math.nan) == "n/a"
    assert number(-0.0) == "0.000"
    assert amount(1, "pair") == "1 pair"
    assert amount(1410, "pair") == "1,410 pairs"


def test_label_shares_are_those_counted_by_hand(run: Run) -> None:
    for row in strata_of(run):
        for label in NLI_LABELS:
            assert row.shares[label] == pytest.approx(by_hand(run, row.stratum, label))
    parts = {r.stratum: r.component.value for r in strata_of(run)}
    assert parts["NS"] == pytest.approx(1 - by_hand(run, "NS", "neutral"))
    coal = next(e for e in run.estimates if e.measure == "nli_coal")
    assert coal.value == pytest.approx((parts["PS"] + parts["AS"] + parts["NS"]) / 3)


def test_the_tables_of_the_page_show_the_counted_shares(run: Run, page: str) -> None:
    rows = {
        row[0].split()[0]: row
        for row in cells(page)
        if row and row[0].split()[:1] and len(row) == 6
    }
    for stratum in ("PS", "AS", "NS", "NB"):
        shown = [cell.replace("\u00a0", " ") for cell in rows[stratum][2:5]]
        assert shown == [percent(by_hand(run, stratum, label), 1) for label in NLI_LABELS]
    marked = re.findall(r'data-label="(\w+)" class="counted"', page)
    assert marked == [
        "entailment",
        "contradiction",
        "entailment",
        "contradiction",
        "neutral",
        "contradiction",
    ]


def test_every_form_prints_the_same_score(run: Run, page: str) -> None:
    for found in (*run.estimates, *run.sanity):
        text = f"[{found.low:.3f}, {found.high:.3f}]"
        for form in (page, to_markdown(run), to_latex(run), printed(run, 80), printed(run, 120)):
            assert f"{found.value:.3f}" in form
            assert text in form


def test_results_hold_every_number_and_null_for_none(run: Run) -> None:
    found = json.loads(results_text(run))
    assert found == to_json(run)
    assert [e["value"] for e in found["estimates"]] == [e.value for e in run.estimates]
    assert [e["signature"] for e in found["estimates"]] == [e.signature for e in run.estimates]
    assert found["estimates"][1]["parts"]["PS.entailment"]["value"] == pytest.approx(
        by_hand(run, "PS", "entailment")
    )
    assert found["label_shares"]["NB"]["shares"]["neutral"] == pytest.approx(
        by_hand(run, "NB", "neutral")
    )
    assert [len(b["groups"]) for b in found["breakdowns"]] == [
        len(b.groups) for b in run.breakdowns
    ]
    assert found["suite"]["digest"] == run.suite.digest
    assert found["suite"]["limit"] == 600
    assert set(found["baselines"]) == {"fixed:random", "fixed:constant"}
    empty = json.loads(results_text(eh.audit(silent, limit=60, resamples=50)))
    assert {e["value"] for e in empty["estimates"]} == {None}
    assert all(e["note"] for e in empty["estimates"])
    assert all(g["value"] is None and g["note"] for b in empty["breakdowns"] for g in b["groups"])
    assert empty["coverage"] == 0


def test_only_timing_differs_between_two_runs(run: Run) -> None:
    again = to_json(eh.audit(noise, limit=600, resamples=200))
    before = to_json(run)
    assert list(before) == list(again)
    for key in before:
        if key != "timing":
            assert json.dumps(before[key], sort_keys=False) == json.dumps(
                again[key], sort_keys=False
            ), key
    assert to_latex(run) == to_latex(eh.audit(noise, limit=600, resamples=200))


def test_the_most_biased_pairs_are_the_most_probable(run: Run) -> None:
    found = most_biased(run)
    assert len(found) == 20
    values = {p.id: v for p, v in zip(run.answers.probes, run.answers.values, strict=True)}
    highest = []
    for probe, value in zip(run.answers.probes, run.answers.values, strict=True):
        e, n, c = np.exp(value) / np.exp(value).sum()
        highest += {"PS": [e], "AS": [c], "NS": [1 - n]}.get(probe.stratum, [])
    assert [p.biased for p in found] == pytest.approx(sorted(highest, reverse=True)[:20])
    for pair in found:
        assert sum(pair.probabilities.values()) == pytest.approx(1)
        assert list(pair.probabilities.values()) == pytest.approx(
            np.exp(values[pair.probe.id]) / np.exp(values[pair.probe.id]).sum()
        )


def test_groups_by_lean_are_means_of_their_shares(run: Run) -> None:
    view = by_lean(run)
    assert view is not None
    none = next(g for g in view.groups if g.name == "none")
    assert none.interval.value == pytest.approx(1 - by_hand(run, "NS", "neutral"))


def test_the_verdict_names_counts_and_shares(run: Run) -> None:
    coal = ordered(run)[0]
    assert coal.measure == "nli_coal"
    count = sum(p.stratum == "PS" for p in run.answers.probes)
    assert (
        f"On {count:,} pro-stereotypical pairs the model says entailment in {percent(by_hand(run, 'PS', 'entailment'))}"
        in verdict(run, coal)
    )
    assert "does not tell the model from guessing" in standing(run, coal)
    assert "That is weak" in understanding(run)
    assert len(method(run)) == 3
    told = " ".join(
        [*limits(run), *method(run), *notes(run), verdict(run, coal), standing(run, coal)]
    )
    assert not re.search(r"unbiased|debiased|metric", told)
    assert "larger suite" in " ".join(notes(run))


def test_a_stereotyped_model_is_said_to_lie_farther_than_guessing() -> None:
    found = eh.audit("fixed:stereotyped", limit=300, resamples=100)
    assert "farther from 0 than random answers" in standing(found, ordered(found)[0])
    fair = eh.audit("fixed:fair", limit=300, resamples=100)
    assert "nearer to 0 than random answers" in standing(fair, ordered(fair)[0])
    assert "entailment in 0 %" in verdict(fair, ordered(fair)[0])
