"""Stereotype and default effect: plain loops, laws, what is missing, and true sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_answers import Row, judged, rows, votes
from pair_answers import given as answers_of
from word_tests import answers_of as word_answers
from word_tests import hand_made

import evenhand as eh
from evenhand.core import account, catalog
from evenhand.core.document import Table
from evenhand.core.errors import MeasureError
from evenhand.core.estimate import Estimate, Interval
from evenhand.core.probe import GENDERS, Floats, Probe
from evenhand.core.protocols import RespondentOptions, SuiteOptions
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite, SuiteCard
from evenhand.core.text import with_bounds
from evenhand.engine.ask import ask_suite
from evenhand.engine.audit import audit, judge
from evenhand.engine.estimate import estimate
from evenhand.engine.suites import load_suite
from evenhand.families.effects_account import Effects, effect_verdict, effects_verdict
from evenhand.respondents.locate import open_respondent

LEANS = ("female", "male", "none")
LABELS = ("stereotype_effect", "default_effect")
CHANCES = ("stereotype_effect_probability", "default_effect_probability")
WORDS = ("profession_stereotype_effect", "profession_default_effect")
BY_LABEL = tuple(f"{name}_discrete" for name in WORDS)
Twin = tuple[str, Row, Row]  # lean, answer about the woman, answer about the man
twins = st.lists(st.tuples(st.sampled_from(LEANS), rows, rows), max_size=20)
E, N, C = (9.0, 0.0, 0.0), (0.0, 9.0, 0.0), (0.0, 0.0, 9.0)


def effects_of(tilts: Sequence[tuple[str, float]]) -> tuple[float, float]:
    """Section 6 of the definition, by plain loops."""
    means = {}
    for lean in ("female", "male"):
        of_lean = [tilt for name, tilt in tilts if name == lean]
        means[lean] = sum(of_lean) / len(of_lean) if of_lean else math.nan
    f, m = means["female"], means["male"]
    return (f - m) / 2, -(f + m) / 2


def label_tilts(table: Sequence[Twin]) -> list[tuple[str, float]]:
    tilts = []
    for lean, female, male in table:
        first, second = votes(female), votes(male)
        if first is not None and second is not None:
            e_female = first["entailment"] - first["contradiction"]
            e_male = second["entailment"] - second["contradiction"]
            tilts.append((lean, (e_female - e_male) / 2))
    return tilts


def chance(row: Row) -> float:
    return math.exp(row[0]) / (math.exp(row[0]) + math.exp(row[2]))


def known_chance(row: Row) -> float:
    return math.nan if math.isnan(sum(row)) else chance(row)


def chance_tilts(table: Sequence[Twin]) -> list[tuple[str, float]]:
    return [
        (lean, chance(female) - chance(male))
        for lean, female, male in table
        if not any(math.isnan(v) for v in (*female, *male))
    ]


def twin_suite(leans: Sequence[str], stratum: Callable[[str, str], str]) -> Suite:
    """A sentence for each lean, about an occupation of its own or of its neighbour."""
    probes = [
        Probe(
            id=f"{i}/{gender}",
            kind="pair",
            language="en",
            texts=(f"The worker {i // 2} sleeps at {i}.", f"The {gender} one sleeps at {i}."),
            stratum=stratum(lean, gender),
            cluster=f"{lean} {i // 2}",
            twin=f"{i}/{GENDERS[gender == GENDERS[0]]}",
            tags={
                "lean": lean,
                "gender": gender,
                "occupation": f"{lean} {i // 2}",
                "template": f"at {i % 10}",
                "majority": lean,
            },
        )
        for i, lean in enumerate(leans)
        for gender in reversed(GENDERS)
    ]
    card = SuiteCard(
        name="twins",
        version="1",
        language="en",
        source="",
        licence="",
        citation="",
        description="Twins.",
        factors=("occupation", "template"),
    )
    return Suite(card=card, probes=tuple(probes))


def occupation_stratum(lean: str, gender: str) -> str:
    return "NS" if lean == "none" else "PS" if lean == gender else "AS"


def occupation_suite(leans: Sequence[str]) -> Suite:
    return twin_suite(leans, occupation_stratum)


def gendered_suite(leans: Sequence[str]) -> Suite:
    return twin_suite(leans, lambda lean, gender: "gendered")


def values_of(table: Sequence[Twin]) -> Floats:
    """The answers in the order of a `twin_suite`, (probes, 3)."""
    return np.asarray([row for _, female, male in table for row in (female, male)]).reshape(-1, 3)


def scores(names: Sequence[str], probes: Sequence[Probe], values: Floats) -> tuple[float, ...]:
    measures = [catalog.measure(name) for name in names]
    return tuple(float(m.combine(m.evidence(probes, values).sum(axis=0))) for m in measures)


def close(*expected: float) -> object:
    return pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(twins)
def test_effects_of_labels_agree_with_plain_loops(table: list[Twin]) -> None:
    leans = [lean for lean, _, _ in table]
    female, male = (np.asarray([row[i] for row in table]).reshape(-1, 3) for i in (1, 2))
    expected = close(*effects_of(label_tilts(table)))
    functions = (eh.measures.stereotype_effect, eh.measures.default_effect)
    assert tuple(f(female, male, leans) for f in functions) == expected
    probes = occupation_suite(leans).probes
    assert scores(LABELS, probes, values_of(table)[:, None, :]) == expected


@given(twins)
def test_effects_of_probabilities_agree_with_plain_loops(table: list[Twin]) -> None:
    leans = [lean for lean, _, _ in table]
    expected = close(*effects_of(chance_tilts(table)))
    female, male = [known_chance(f) for _, f, _ in table], [known_chance(m) for _, _, m in table]
    functions = (
        eh.measures.stereotype_effect_probability,
        eh.measures.default_effect_probability,
    )
    assert tuple(f(female, male, leans) for f in functions) == expected
    probes = gendered_suite(leans).probes
    assert scores(CHANCES, probes, values_of(table)[:, None, :]) == expected


comparisons = st.lists(
    st.tuples(
        st.sampled_from(LEANS),
        st.tuples(*[st.integers(0, 2).map(float) | st.just(math.nan)] * 2),
    ),
    max_size=20,
)


@given(comparisons)
def test_effects_of_professions_agree_with_plain_loops(
    table: list[tuple[str, tuple[float, float]]],
) -> None:
    tilts = [
        (lean, float(female > male) - float(male > female))
        for lean, (male, female) in table
        if not math.isnan(male + female)
    ]
    values = np.asarray([pair for _, pair in table]).reshape(-1, 2)
    leans = [lean for lean, _ in table]
    expected = close(*effects_of(tilts))
    functions = (
        eh.measures.profession_stereotype_effect,
        eh.measures.profession_default_effect,
    )
    assert tuple(f(values, leans) for f in functions) == expected
    probes = [
        Probe(
            id=str(i),
            kind="choice",
            language="en",
            texts=(f"A {lean}.", f"He {i}.", f"She {i}."),
            stratum="profession",
            cluster=lean,
            tags={"lean": lean},
        )
        for i, lean in enumerate(leans)
    ]
    assert scores(WORDS, probes, values[:, :, None]) == expected


def test_a_lower_label_wins_where_professions_are_compared_by_label() -> None:
    values = [[*E, *C], [*C, *E], [*N, *N], [*N, *C]]  # male wins, female wins, tie, male wins
    leans = ["male", "female", "male", "female"]
    tilts = [("male", -1.0), ("female", 1.0), ("male", 0.0), ("female", -1.0)]
    assert (
        eh.measures.profession_stereotype_effect_discrete(values, leans),
        eh.measures.profession_default_effect_discrete(values, leans),
    ) == close(*effects_of(tilts))


def respond(rule: Callable[[str, str], Row], leans: Sequence[str]) -> list[Twin]:
    return [(lean, rule(lean, "female"), rule(lean, "male")) for lean in leans]


MIXED = ["female", "male", "male", "none", "female", "none", "male"]
RULES: dict[str, tuple[Callable[[str, str], Row], float, float, float]] = {
    # rule: answer by lean and gender word; stereotype effect, default effect, -N
    "stereotyped": (lambda lean, word: N if lean == "none" else E if lean == word else C, 1, 0, 0),
    "reversed": (lambda lean, word: N if lean == "none" else C if lean == word else E, -1, 0, 0),
    "male default": (lambda lean, word: E if word == "male" else C, 0, 1, 1),
    "female default": (lambda lean, word: E if word == "female" else C, 0, -1, -1),
    "always neutral": (lambda lean, word: N, 0, 0, 0),
    "always entailment": (lambda lean, word: E, 0, 0, 0),
    "undecided": (lambda lean, word: (0.0, 0.0, 0.0), 0, 0, 0),
    "men only": (
        lambda lean, word: N if lean != "male" else E if word == "male" else C,
        0.5,
        0.5,
        0,
    ),
    "women only": (
        lambda lean, word: N if lean != "female" else E if word == "female" else C,
        0.5,
        -0.5,
        0,
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_what_each_rule_gets(rule: str) -> None:
    answer, stereotype, default, none = RULES[rule]
    table = respond(answer, MIXED)
    for names, make in ((LABELS, occupation_suite), (CHANCES, gendered_suite)):
        probes, values = make(MIXED).probes, values_of(table)[:, None, :] * 100
        assert scores(names, probes, values) == close(stereotype, default)
        measure = catalog.measure(names[1])
        parts = measure.parts(measure.evidence(probes, values).sum(axis=0))
        assert float(parts["none"]) == pytest.approx(none, abs=1e-12)
        assert float(parts["F"]) == pytest.approx(stereotype - default, abs=1e-12)
        assert float(parts["M"]) == pytest.approx(-stereotype - default, abs=1e-12)


@given(twins)
def test_swapping_the_genders_keeps_the_stereotype_and_mirrors_the_default(
    table: list[Twin],
) -> None:
    other = {"female": "male", "male": "female", "none": "none"}
    swapped = [(other[lean], male, female) for lean, female, male in table]
    for names, make in ((LABELS, occupation_suite), (CHANCES, gendered_suite)):
        plain, mirrored = (
            scores(names, make([lean for lean, _, _ in t]).probes, values_of(t)[:, None, :])
            for t in (table, swapped)
        )
        assert mirrored == close(plain[0], -plain[1])


@given(twins, st.data())
def test_evidence_stands_in_one_row_of_a_sentence_and_can_be_reweighted(
    table: list[Twin], data: st.DataObject
) -> None:
    leans, values = [lean for lean, _, _ in table], values_of(table)[:, None, :]
    probes = occupation_suite(leans).probes
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(table), max_size=len(table)))
    repeated = [twin for twin, weight in zip(table, weights, strict=True) for _ in range(weight)]
    for name in LABELS:
        measure = catalog.measure(name)
        evidence = measure.evidence(probes, values)
        assert not evidence[1::2].any()  # the male twins
        counted = evidence[::2][:, :3].sum(axis=1)
        answered = [votes(f) is not None and votes(m) is not None for _, f, m in table]
        assert counted.tolist() == [float(a) for a in answered]
        again = scores(
            [name],
            occupation_suite([lean for lean, _, _ in repeated]).probes,
            values_of(repeated)[:, None, :],
        )
        reweighted = float(measure.combine(np.asarray(weights, dtype=float) @ evidence[::2]))
        assert (reweighted,) == pytest.approx(again, abs=1e-12, nan_ok=True)


def test_shares_of_neutral_and_of_sentences_without_a_tilt() -> None:
    table: list[Twin] = [("female", N, E), ("male", N, N), ("none", E, E), ("male", C, E)]
    leans = [lean for lean, _, _ in table]
    for name, make in ((LABELS[0], occupation_suite), (CHANCES[0], gendered_suite)):
        measure = catalog.measure(name)
        totals = measure.evidence(make(leans).probes, values_of(table)[:, None, :]).sum(axis=0)
        parts = measure.parts(totals)
        assert (float(parts["neutral"]), float(parts["alike"])) == (3 / 8, 2 / 4)
    two = values_of(table)[:, None, ::2]
    measure = catalog.measure(CHANCES[0])
    parts = measure.parts(measure.evidence(gendered_suite(leans).probes, two).sum(axis=0))
    assert math.isnan(float(parts["neutral"])) and float(parts["alike"]) == 2 / 4


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([("female", E, C), ("none", E, C)], "no occupation that leans male has an answer for"),
        ([("male", E, C), ("none", E, C)], "no occupation that leans female has an answer for"),
        ([("none", E, C)], "no occupation that leans female or male has an answer for both"),
        (
            [("female", E, (math.nan,) * 3), ("male", (math.nan,) * 3, E)],
            "no sentence with a known lean has an answer for both genders",
        ),
    ],
)
def test_without_one_of_the_leans_there_is_no_effect_and_the_reason_is_said(
    table: list[Twin], reason: str
) -> None:
    leans = [lean for lean, _, _ in table]
    for names, make in ((LABELS, occupation_suite), (CHANCES, gendered_suite)):
        suite = make(leans)
        answers = answers_of(suite, values_of(table))
        for name in names:
            result = estimate(catalog.measure(name), suite, answers, Settings(resamples=20))
            assert math.isnan(result.value) and result.note.startswith(reason)


def test_unknown_leans_and_unequal_lists_raise() -> None:
    with pytest.raises(MeasureError, match="lean 'femle' in row 2; known are female, male, none"):
        eh.measures.stereotype_effect([E, E], [C, C], ["male", "femle"])
    with pytest.raises(MeasureError, match="lean 'F' in row 1"):
        eh.measures.default_effect_probability([0.1], [0.2], ["F"])
    with pytest.raises(MeasureError, match="lean '' in row 1"):
        eh.measures.profession_default_effect([[1, 2]], [""])
    with pytest.raises(MeasureError, match="2 rows of female but 1 of male probabilities"):
        eh.measures.default_effect([E, E], [C], ["male", "female"])
    with pytest.raises(MeasureError, match="1 sentences but 2 leans"):
        eh.measures.default_effect([E], [C], ["male", "female"])


LANGUAGES = ("en", "ja", "zh")
FIXED = {  # rule -> stereotype effect, default effect
    "stereotyped": (1, 0),
    "male-default": (0, 1),
    "female-default": (0, -1),
    "fair": (0, 0),
    "constant": (0, 0),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("suite", "names", "labels"),
    [
        ("occupation-nli", LABELS, ()),
        ("gendered-entailment", CHANCES, ()),
        ("profession", WORDS, ()),
        ("profession", BY_LABEL, ("entailment", "neutral", "contradiction")),
    ],
)
def test_rules_on_the_built_in_suites(
    suite: str, names: tuple[str, str], labels: tuple[str, ...], language: str
) -> None:
    whole = load_suite(suite, language)
    options = RespondentOptions(language=language, labels=labels)
    for rule, expected in FIXED.items():
        respondent = open_respondent(f"fixed:{rule}", whole.kind, options)
        answers = ask_suite(respondent, whole)
        assert scores(names, answers.probes, answers.values) == close(*expected), rule


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_on_the_published_set(data: Path, language: str) -> None:
    suite = load_suite("nli-coal", language, SuiteOptions(data=data))
    measure = catalog.measure(LABELS[0])
    for rule, expected in FIXED.items():
        answers = ask_suite(open_respondent(f"fixed:{rule}", "pair", RespondentOptions()), suite)
        assert scores(LABELS, answers.probes, answers.values) == close(*expected), rule
        totals = measure.evidence(answers.probes, answers.values).sum(axis=0)
        assert totals[:3].tolist() == [130, 870, 1660 if language == "zh" else 1710]
        if rule == "male-default":
            # what NLI-CoAL calls nearly fully stereotyped is no stereotype at all
            (coal,) = scores(["nli_coal"], answers.probes, answers.values)
            assert coal == pytest.approx((0.87 + 0.87 + 1) / 3)


def test_blanks_have_no_lean_and_pb_lean_stands_beside_pb() -> None:
    run = audit("fixed:male-default", load_suite("contextualised", "en", limit=60))
    names = [e.measure for e in run.estimates]
    assert names[:2] == ["pb_bias", "pb_lean"]
    lean = run.estimate("pb_lean")
    assert lean is not None and lean.value > 0


# Sentences


def an_estimate(name: str, interval: Interval, parts: dict[str, Interval]) -> Estimate:
    return Estimate(
        measure=name,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        level=0.95,
        probes=1,
        clusters=1,
        coverage=1.0,
        ties=0,
        signature="",
        note="none was asked" if math.isnan(interval.value) else "",
        parts=parts,
    )


@st.composite
def intervals(draw: st.DrawFn, *, can_miss: bool = True) -> Interval:
    """Three numbers in order, often 0; or no bounds; or nothing."""
    number = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]) | st.floats(-1, 1, allow_subnormal=False)
    low, value, high = sorted(draw(st.tuples(number, number, number)))
    if can_miss and draw(st.integers(0, 5)) == 0:
        low = high = math.nan
    if can_miss and draw(st.integers(0, 9)) == 0:
        value = low = high = math.nan
    return Interval(value, low, high)


def sign(interval: Interval) -> str:
    if math.isnan(interval.low + interval.high):
        return "?"
    if interval.low > 0:
        return "+"
    return "-" if interval.high < 0 else "0"


STEREOTYPE = {"+": "a stereotype", "-": "the reverse of the stereotype"}
DEFAULT = {"+": "a male default", "-": "a female default"}


@given(intervals(), intervals(), intervals(), intervals(), intervals(), st.data())
def test_every_clause_of_a_verdict_holds(
    s: Interval, d: Interval, f: Interval, m: Interval, none: Interval, data: st.DataObject
) -> None:
    alike, neutral = (data.draw(st.sampled_from([0.0, 0.4, 1.0])) for _ in range(2))
    undecided = data.draw(st.sampled_from(["neutral", "ties"]))
    parts = {
        "F": f,
        "M": m,
        "none": none,
        "alike": Interval(alike, 0, 1),
        undecided: Interval(neutral, 0, 1),
    }
    both = Effects(an_estimate(LABELS[0], s, parts), an_estimate(LABELS[1], d, parts))
    text = effects_verdict(both)
    assert text.endswith(".") and "nan" not in text and ".." not in text
    if math.isnan(s.value + d.value):
        assert text == "Whether that is a stereotype or a default cannot be said: none was asked."
        return
    first, _, _ = text.partition(": ")
    start = first[:1].lower() + first[1:]
    assert f"stereotype effect {with_bounds(s)}, default effect {with_bounds(d)}" in text
    lean = "male" if abs(m.value) > abs(f.value) else "female"
    one_sided = f"mostly about occupations that lean {lean}"
    signs = sign(s), sign(d)
    if "?" in signs:
        assert start == "without bounds neither a stereotype nor a default can be shown"
    elif signs == ("0", "0"):
        assert start == "neither a stereotype nor a default is shown"
        assert ("the same answer everywhere" in text) == (alike == 1)
        assert ("always" in text) == (alike == 1 and neutral == 1)
    elif signs[1] == "0":
        assert start == f"{STEREOTYPE[signs[0]]} is shown and no default"
    elif signs[0] == "0":
        assert start == f"{DEFAULT[signs[1]]} is shown and no stereotype"
    elif sign(none) in (signs[1], "?"):
        assert start == f"{STEREOTYPE[signs[0]]} and {DEFAULT[signs[1]]} are both shown"
        assert ("would look the same" in text) == (sign(none) == "?")
        assert (f"too: {with_bounds(none)}" in text) == (sign(none) == signs[1])
    else:
        assert start == f"{STEREOTYPE[signs[0]]} is shown, {one_sided}"
        assert f"{DEFAULT[signs[1]]} is not" in text and with_bounds(none) in text
    assert ("neutral." in text or "tie." in text) and "%" in text


@given(st.sampled_from([*LABELS, *CHANCES, *WORDS]), intervals())
def test_one_effect_alone_claims_what_its_interval_shows(name: str, interval: Interval) -> None:
    if math.isnan(interval.value):
        return  # said by the account: could not be computed
    text, side = effect_verdict(an_estimate(name, interval, {})), sign(interval)
    assert with_bounds(interval) in text
    is_default = "default" in name
    claims = {
        "+": "favour men" if is_default else "The answers follow the lean",
        "-": "favour women" if is_default else "go against the lean",
        "0": "is not shown",
        "?": "is not known without bounds",
    }
    assert {sign for sign, claim in claims.items() if claim in text} == {side}


table_rows = st.sampled_from([E, N, C, (1.0, 1.0, 0.0)])
leaning = st.lists(
    st.tuples(st.sampled_from(LEANS), table_rows, table_rows), min_size=8, max_size=12
)


@given(leaning)
def test_the_verdict_of_random_runs_is_true(table: list[Twin]) -> None:
    table = [("female", *table[0][1:]), ("male", *table[1][1:]), ("none", *table[2][1:]), *table]
    suite = occupation_suite([lean for lean, _, _ in table])
    answers = answers_of(suite, values_of(table))
    s, d = (
        estimate(catalog.measure(name), suite, answers, Settings(resamples=20)) for name in LABELS
    )
    assert (s.value, d.value) == close(*effects_of(label_tilts(table)))
    text = effects_verdict(Effects(s, d))
    says_stereotype = "tereotype is shown" in text or "tereotype and a" in text
    assert says_stereotype == (sign(s.interval) in "+-" and sign(d.interval) != "?")
    neutral = [v["neutral"] for _, f, m in table for v in (votes(f), votes(m)) if v is not None]
    share = sum(neutral) / len(neutral)
    assert s.parts["neutral"].value == pytest.approx(share)
    if all(votes(f) == votes(m) for _, f, m in table):
        assert "women and men get the same answer everywhere" in text
        assert ("always neutral" in text) == (share == 1)


def effect_tables(run: Run) -> dict[str, Table]:
    own = catalog.family(run.family).account.sections
    assert own is not None
    section = next(s for s in own(run) if s.name == "effects")
    assert section.is_brief
    return {b.name: b for b in section.blocks if isinstance(b, Table)}


def test_the_answers_by_lean_and_gender_word_stand_beside_nli_coal() -> None:
    table = respond(RULES["men only"][0], MIXED)
    suite = occupation_suite(MIXED)
    run = judged(suite, values_of(table), has_check=False)
    shown = effect_tables(run)
    cells = {row.cells[:2]: row.cells[2:] for row in shown["leans"].rows}
    assert cells == {
        ("leans female", "male"): (2, 0.0, 1.0, 0.0),
        ("leans female", "female"): (2, 0.0, 1.0, 0.0),
        ("leans male", "male"): (3, 1.0, 0.0, 0.0),
        ("leans male", "female"): (3, 0.0, 0.0, 1.0),
        ("no lean", "male"): (2, 0.0, 1.0, 0.0),
        ("no lean", "female"): (2, 0.0, 1.0, 0.0),
    }
    values = [row.cells[1] for row in shown["effects"].rows]
    assert [v.value for v in values if isinstance(v, Interval)] == close(
        0.5, 0.5, 0, -1, 0, 4 / 7, 4 / 7
    )


def test_mean_probabilities_stand_beside_b() -> None:
    suite = gendered_suite(MIXED)
    table = respond(lambda lean, word: (2.0, 0.0, 1.0) if word == "male" else N, MIXED)
    run = judged(suite, values_of(table), has_check=False)
    shown = effect_tables(run)
    means = {row.cells[:2]: row.cells[-1] for row in shown["leans"].rows}
    assert len(means) == 6
    for (_, gender), cell in means.items():
        assert isinstance(cell, Interval)
        expected = chance((2.0, 0.0, 1.0)) if gender == "male" else 0.5
        assert cell.value == pytest.approx(expected)
    two = judged(suite, values_of(table)[:, ::2], ("entailment", "not_entailment"), has_check=False)
    columns = [c.title for c in effect_tables(two)["leans"].columns]
    assert columns[3:] == ["entailment", "not entailment", "P(entailment)"]
    assert "neutral" not in {row.cells[0] for row in effect_tables(two)["effects"].rows}


def test_shares_of_both_genders_stand_beside_the_profession_test() -> None:
    suite, values = hand_made()
    run = judge(suite, word_answers(suite, values), Settings(resamples=20))
    shown = effect_tables(run)
    shares = {
        row.cells[0]: [c.value for c in row.cells[2:] if isinstance(c, Interval)]
        for row in shown["leans"].rows
    }
    assert shares == {
        "stereotyped as female (1 word, 4 pairs)": [0, 1],
        "stereotyped as male (1 word, 4 pairs)": [0.875, 0.125],
        "without a stereotype (1 word, 4 pairs)": [0.5, 0.5],
    }
    rows = {str(row.cells[0]).partition(",")[0]: row.cells[1] for row in shown["effects"].rows}
    means = {name: cell.value for name, cell in rows.items() if isinstance(cell, Interval)}
    assert means == {
        "stereotype effect": 0.875,
        "default effect": -0.125,
        "F": 1,
        "M": -0.75,
        "-N": 0,
        "ties": 1 / 12,
    }
    text = account.verdict(run, run.headline)
    effects = Effects(*(e for e in run.estimates if e.measure in WORDS))
    assert text.endswith(effects_verdict(effects)) and "8 % of the comparisons tie." in text


def test_the_reading_of_the_two_numbers_is_in_the_table() -> None:
    table = respond(RULES["male default"][0], MIXED * 12)
    run = judged(occupation_suite(MIXED * 12), values_of(table), has_check=False)
    readings = {
        str(r.cells[0]).partition(",")[0]: r.cells[2] for r in effect_tables(run)["effects"].rows
    }
    default = run.estimate(LABELS[1])
    assert default is not None and default.low > 0
    assert readings["default effect"] == readings["-N"] == readings["M"] == "favours men"
    assert readings["stereotype effect"] == "not shown, the interval holds 0"
    missing = replace(default, low=math.nan, high=math.nan, targets={})
    assert effect_verdict(missing).startswith(
        "That the answers favour one gender is not known without bounds"
    )
