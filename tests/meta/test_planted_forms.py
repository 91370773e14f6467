"""Bias in other forms: frames that no suite has, words that no suite asks, exact rates, ranking."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from commands import evenhand
from document_text import table, table_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from ladders import make_ladder, quick_rank, read, rungs

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, GENDERS, NEUTRAL
from evenhand.core.settings import Settings
from evenhand.engine.suites import load_suite
from evenhand.languages.frames import SLOT, gender_cues
from evenhand.meta.by_form import find_learning, forms_fields, rank_forms, run_forms
from evenhand.meta.controlled import BIASED, CORRECT, SWAPPED, Example, build_sets
from evenhand.meta.document import ladder_document
from evenhand.meta.form_document import finding_sentences, forms_document, learnt_sentence
from evenhand.meta.forms import FORMS, Frame, choose, find_form, form_frames
from evenhand.meta.ladder import Ladder, ladder_fields, read_ladder, write_ladder
from evenhand.meta.options import LadderOptions, SetOptions
from evenhand.meta.plan import (
    all_words,
    asked_suite,
    check_suites,
    fitting_suites,
    make_plan,
    restrict,
    suites_of,
)
from evenhand.meta.wording import about, word_rows
from evenhand.report.latex import to_latex

OTHERS = tuple(name for name, form in FORMS.items() if form.is_held_out)
QUICK = Settings(permutations=50)
RATES = (0.0, 0.25, 0.5, 0.75, 1.0)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, apart."""
    return (part.strip() for part in re.split(r"(?<=[.!?])\s+", text))


def plain_frame(text: str) -> str:
    """A frame without its person and its choices, in lower case."""
    return re.sub(r"\W+", " ", SLOT.sub("", choose(text, "female"))).strip().lower()


def test_the_forms_and_their_frames() -> None:
    assert list(FORMS) == ["suite", "captions", "coreference", "biographies"]
    assert OTHERS == ("captions", "coreference", "biographies")
    for name in OTHERS:
        frames = form_frames("en", name)
        assert len(frames) == 48
        assert len({f.id for f in frames}) == len({f.premise for f in frames}) == 48
        for frame in frames:
            assert len(SLOT.findall(frame.premise)) == 1, frame
            assert not catalog.language("en").faults(choose(frame.premise, "male")), frame
            pairs = {g: frame.fill(catalog.language("en"), "engineer", g) for g in GENDERS}
            assert pairs["male"] != pairs["female"], frame
            for text in (*pairs["male"], *pairs["female"]):
                assert not re.search(r"[\[\]{}|]", text), text
                assert text[0].isupper() and text.endswith("."), text


@pytest.mark.parametrize("form", ["captions", "biographies"])
def test_nothing_in_a_premise_gives_the_gender_away(form: str) -> None:
    for frame in form_frames("en", form):
        assert gender_cues("en", frame.premise) == [], frame
        assert "[" not in frame.premise


def test_in_coreference_the_premise_has_the_gender_and_the_hypothesis_the_occupation() -> None:
    for frame in form_frames("en", "coreference"):
        assert "[he|she]" in frame.premise
        assert "[" not in frame.hypothesis
        assert SLOT.findall(frame.hypothesis) == ["the"]


def test_biographies_have_two_or_three_sentences() -> None:
    for frame in form_frames("en", "biographies"):
        assert len(list(sentences(frame.premise))) in (2, 3), frame


def test_a_frame_is_filled_with_an_occupation_and_a_gender() -> None:
    english = catalog.language("en")
    frame = Frame(premise="{the} told [him|her] a joke.", hypothesis="[He|She] knows {a}.")
    assert frame.fill(english, "editor", "male") == (
        "The editor told him a joke.",
        "He knows an editor.",
    )
    assert frame.fill(english, "cook", "female") == (
        "The cook told her a joke.",
        "She knows a cook.",
    )
    short = Frame(premise="{a} is here.", lead="It is Monday.")
    assert short.fill(english, "editor", "male") == (
        "It is Monday. An editor is here.",
        "It is Monday. A man is here.",
    )


@pytest.mark.parametrize("form", OTHERS)
def test_no_sentence_and_no_frame_is_shared_with_a_suite(form: str) -> None:
    asked: set[str] = set()
    for name in fitting_suites("en"):
        for probe in load_suite(name, "en").probes:
            asked |= {s for text in probe.texts for s in sentences(text)}
    english = catalog.language("en")
    words = [row["word"] for row in lexicons.table("en", "occupations")]
    suite_frames = {plain_frame(row["text"]) for row in lexicons.table("en", "frames")}
    assert suite_frames
    for frame in form_frames("en", form):
        assert plain_frame(frame.premise) not in suite_frames
        assert plain_frame(frame.hypothesis or frame.premise) not in suite_frames
        for word in words:
            for gender in GENDERS:
                texts = frame.fill(english, word, gender)
                assert not asked & {s for text in texts for s in sentences(text)}, texts


@given(st.sampled_from(OTHERS), st.integers(1, 30), st.integers(0, 20))
def test_words_that_are_trained_on_share_no_word_with_those_asked_about(
    form: str, words: int, seed: int
) -> None:
    plan = make_plan("en", form=form, words=words, seed=seed)
    assert {len(group) for group in plan.words.values()} == {words}
    assert {len(group) for group in plan.held_out.values()} == {10}
    trained, asked = (
        {part for word in all_words(group) for part in word.split()}
        for group in (plan.words, plan.held_out)
    )
    assert not trained & asked
    assert not {f.id for f in plan.frames} & {f.id for f in plan.checked}
    assert plan.held_out == make_plan("en", seed=seed).words
    assert plan.asked == make_plan("en", seed=seed).asked


@pytest.mark.parametrize("form", OTHERS)
def test_no_suite_asks_about_a_word_that_is_trained_on(form: str) -> None:
    plan = make_plan("en", form=form)
    naming = re.compile(rf"\b(?:{'|'.join(map(re.escape, all_words(plan.words)))})s?\b", re.I)
    suites = suites_of(plan)
    assert [s.card.name for s in suites] == [s.card.name for s in suites_of(make_plan("en"))]
    texts = {text for suite in suites for probe in suite.probes for text in probe.texts}
    assert not [text for text in texts if naming.search(text)]
    assert {p.cluster for p in asked_suite(plan).probes} == all_words(plan.held_out)


def test_probes_that_name_a_trained_word_in_passing_are_left_out() -> None:
    plan = make_plan("en", form="captions")
    word = sorted(all_words(plan.words))[0]
    suite = load_suite("ordinary-nli", "en")
    first, *rest = suite.probes
    named = replace(suite, probes=(replace(first, texts=(f"Two {word}s sleep.", "Nobody.")), *rest))
    assert first.id in {p.id for p in restrict(suite, plan, 10_000).probes}
    assert {p.id for p in restrict(named, plan, 10_000).probes} == {p.id for p in rest}
    assert len(restrict(named, make_plan("en"), 10_000).probes) == len(suite.probes)


@settings(max_examples=30, deadline=None)  # each builds a whole set
@given(
    st.sampled_from(OTHERS),
    st.sampled_from([i / 10 for i in range(11)] + [0.25, 0.75]),
    st.integers(0, 50),
)
def test_at_tenths_and_quarters_labels_are_flipped_at_exactly_the_rate(
    form: str, rate: float, seed: int
) -> None:
    plan = make_plan("en", form=form)
    size = find_form(form)
    made = build_sets(plan, rate, SetOptions(train=size.train, dev=size.dev, seed=seed))
    for rows, count in ((made.train, 1800), (made.dev, 360)):
        parts = Counter(row.part for row in rows)
        assert parts[CORRECT] == count
        assert parts[BIASED] == pytest.approx(rate * count)
        assert parts[BIASED] + parts[SWAPPED] == count
        labels = Counter(row.label for row in rows)
        assert labels == {NEUTRAL: count, ENTAILMENT: count // 2, CONTRADICTION: count // 2}
        assert all(row.label == expected(row) for row in rows)
    for lean in GENDERS:
        biased = sum(made.parts[word] == BIASED for word in plan.words[lean])
        assert abs(biased - 30 * rate) <= 0.5
    assert sum(part == BIASED for part in made.parts.values()) == pytest.approx(60 * rate)


def expected(row: Example) -> str:
    """The label by the definition: the stereotype, its opposite, or neutral."""
    if row.part == CORRECT:
        return NEUTRAL
    is_stereotype = row.gender == row.lean
    return ENTAILMENT if is_stereotype == (row.part == BIASED) else CONTRADICTION


@pytest.mark.parametrize("form", OTHERS)
def test_train_dev_and_checked_sentences_are_others(form: str) -> None:
    plan = make_plan("en", form=form)
    size = find_form(form)
    made = build_sets(plan, 0.5, SetOptions(train=size.train, dev=size.dev))
    pairs = [{(r.premise, r.hypothesis) for r in rows} for rows in (made.train, made.dev)]
    assert (len(pairs[0]), len(pairs[1])) == (3600, 720)
    checked = {p.texts for suite in check_suites(plan) for p in suite.probes}
    assert not pairs[0] & pairs[1] and not checked & (pairs[0] | pairs[1])
    ids = {f.id: plain_frame(f.premise) for f in (*plan.frames, *plan.checked)}
    assert len(set(ids.values())) == 48


def test_the_checks_of_a_form_are_its_own_pairs() -> None:
    assert check_suites(make_plan("en")) == ()
    plan = make_plan("en", form="coreference")
    trained, held_out = check_suites(plan)
    assert (trained.card.name, held_out.card.name) == (
        "coreference, trained words",
        "coreference, held-out words",
    )
    assert Counter(p.stratum for p in trained.probes) == {"PS": 480, "AS": 480, "NS": 480}
    assert Counter(p.stratum for p in held_out.probes) == {"PS": 160, "AS": 160, "NS": 160}
    by_id = {p.id: p for p in held_out.probes}
    for probe in held_out.probes:
        assert probe.twin is not None and by_id[probe.twin].twin == probe.id
        pronoun = {"male": "he", "female": "she"}[probe.tags["gender"]]
        assert re.search(rf"\b{pronoun}\b", probe.texts[0])
        is_expected = probe.tags["gender"] == probe.tags["lean"]
        if probe.tags["lean"] != "none":
            assert probe.tags["stereotyped"] == (ENTAILMENT if is_expected else CONTRADICTION)


def test_sizes_are_those_of_the_form_unless_given() -> None:
    assert LadderOptions().sizes == (30_000, 3_000)
    assert LadderOptions(form="captions").sizes == (3_600, 720)
    assert LadderOptions(form="captions", train=400).sizes == (400, 720)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--planted", "caption"], "unknown form of a ladder 'caption'. Did you mean captions?"),
        (["--planted", "captions", "--lang", "ja"], "the form 'captions' has no sentences in 'ja'"),
        (
            ["--planted", "captions", "--occupations", "40"],
            "'en' has 33 occupations of the lean female beside those that are asked about, "
            "40 are needed; give --occupations 33 or fewer",
        ),
        (
            ["--planted", "biographies", "--train-pairs", "30000"],
            "there are 40 (lexicons of evenhand)",
        ),
    ],
)
def test_bad_forms_are_refused(tmp_path: Path, words: list[str], reason: str) -> None:
    done = evenhand("meta", "build", "--rate", "0.5", *words, "--out", tmp_path / "set")
    assert done.code == 2
    assert reason in " ".join(done.err.split())
    assert not (tmp_path / "set").exists()


def test_other_refusals(tmp_path: Path) -> None:
    with pytest.raises(EvenhandError, match="leave it out of --planted captions"):
        make_plan("en", form="captions", captions=[tmp_path / "x.txt"])
    with pytest.raises(EvenhandError, match="the authors' sets have the form 'suite'"):
        LadderOptions(form="captions", published=tmp_path).rungs()
    with pytest.raises(UnknownNameError, match="form of a ladder 'tales'"):
        run_forms(LadderOptions(), ("captions", "tales"), tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(EvenhandError, match="no form was named"):
        rank_forms({})


def test_a_set_says_which_words_are_held_out(tmp_path: Path) -> None:
    few = (
        "--rate 0.25 --planted biographies --train-pairs 240 --dev-pairs 48 --occupations 4".split()
    )
    done = evenhand("meta", "build", *few, "--out", tmp_path / "set", "--json")
    assert done.code == 0, done.err
    card = json.loads(done.out)
    assert card["form"] == "biographies"
    assert card["files"]["train.jsonl"]["parts"] == {"biased": 30, "swapped": 90, "correct": 120}
    assert len(card["held_out"]["male"]) == 10
    assert not set(card["held_out"]["male"]) & set(card["words"]["male"])


def form_ladder(form: str, slope: float, effect: float) -> Ladder:
    """A ladder on which NLI-CoAL rises by `slope`, and the effect on held-out words by `effect`."""
    models = rungs(rates=RATES, errors=(), seeds=2)
    ladder = make_ladder(
        {
            "nli_coal": lambda rung: 0.5 + slope * (rung.rate - 0.5),
            "fraction_neutral": lambda rung: 0.5 + 0.01 * rung.rate,
            "default_effect": lambda rung: 0.1 * abs(2 * rung.rate - 1),
        },
        models=models,
    )
    checks = [
        read(rung, f"{form}, {which}", "stereotype_effect", scale * (2 * rung.rate - 1))
        for rung in models
        for which, scale in (("trained words", 1.0), ("held-out words", effect))
    ]
    return replace(
        ladder,
        form=form,
        held_out={"female": ("maid",), "male": ("guard",), "none": ("cook",)},
        checks=tuple(checks),
    )


LADDERS = {
    "captions": form_ladder("captions", 0.6, 0.5),
    "coreference": form_ladder("coreference", -0.4, 0.0),
}


def test_what_was_learnt() -> None:
    learning = find_learning(LADDERS["captions"], QUICK)
    assert learning.accuracy == dict.fromkeys(RATES, 0.98)
    assert list(learning.effects) == ["trained words", "held-out words"]
    assert learning.effects["trained words"].rates.means.tolist() == [-1, -0.5, 0, 0.5, 1]
    assert learning.effects["held-out words"].signal == 1.0
    assert learnt_sentence("captions", learning) == (
        "captions: every model is right on 98.0 % or more of its development pairs; r of the rate "
        "with its stereotype effect in this form: 1.000 on trained words and 1.000 on held-out "
        "words."
    )
    flat = find_learning(LADDERS["coreference"], QUICK)
    assert "1.000 on trained words and none on held-out words" in learnt_sentence("c", flat)
    perfect = replace(LADDERS["captions"], accuracy={"rate-0.00-errors-1.00-seed-0": 1.0})
    assert learnt_sentence("captions", find_learning(perfect, QUICK)).startswith(
        "captions: every model is right on all of its development pairs;"
    )
    low = replace(LADDERS["captions"], accuracy={"rate-0.00-errors-1.00-seed-0": 0.7})
    assert learnt_sentence("captions", find_learning(low, QUICK)).startswith(
        "captions: not every rate was learnt, the lowest accuracy on development pairs is 70.0 %"
    )


def test_the_suite_s_own_form_is_checked_by_its_suite() -> None:
    ladder = make_ladder({"stereotype_effect": lambda rung: 2 * rung.rate - 1})
    (which,) = find_learning(ladder, QUICK).effects
    assert which == "trained words"


def test_measures_are_ranked_in_every_form() -> None:
    ranking = rank_forms(LADDERS, QUICK)
    assert ranking.forms == ("captions", "coreference")
    rows = {row.measure: row for row in ranking.rows}
    coal = rows["nli_coal"]
    assert {f: round(s.pearson.value, 6) for f, s in coal.by_form.items()} == {
        "captions": 1.0,
        "coreference": -1.0,
    }
    assert {f: round(s.signal, 6) for f, s in coal.by_form.items()} == {
        "captions": 0.6,
        "coreference": 0.4,
    }
    assert coal.found_in == ("captions", "coreference") and coal.turns
    assert [row.measure for row in ranking.rows] == [
        "nli_coal",
        "default_effect",
        "fraction_neutral",
    ]
    # 1 % of its range: not found, though its r is 1
    assert rows["fraction_neutral"].found_in == ()
    assert rows["fraction_neutral"].by_form["captions"].pearson.value == pytest.approx(1)
    first, none, turning, paper = finding_sentences(ranking)
    assert first == (
        "1 of 3 measures found the bias in every form (Pearson's r 0.9 or more in size): NLI-CoAL."
    )
    assert none == "In no form: 2 of them."
    assert turning.startswith("NLI-CoAL rise with the bias of one form and fall with that of")
    assert paper == "NLI-CoAL, r by form: 1.000 (captions) and -1.000 (coreference)."


def test_a_measure_that_finds_it_in_some_forms_only() -> None:
    flat = {**LADDERS, "biographies": form_ladder("biographies", 0.0, 1.0)}
    sentences = finding_sentences(rank_forms(flat, QUICK))
    assert sentences[0].startswith("0 of 3 measures found the bias in every form")
    assert sentences[1] == "In some forms only: NLI-CoAL (captions, coreference)."
    assert sentences[-1].endswith("-1.000 (coreference) and no correlation (biographies).")


def test_the_document_json_and_latex_have_every_form() -> None:
    ranking = rank_forms(LADDERS, QUICK)
    document = forms_document(ranking)
    assert [c.title for c in table(document, "forms").columns] == [
        *("measure", "suite asked", "captions", "coreference"),
    ]
    assert table_rows(document, "forms")[0] == [
        *("NLI-CoAL", "occupation-nli:ladder"),
        *("1.000 [1.000, 1.000]", "-1.000 [-1.000, -1.000]"),
    ]
    assert table(document, "forms").rows[0].strong == frozenset({2, 3})
    assert table_rows(document, "forms-moved")[0][2:] == ["0.600 (60.0 %)", "0.400 (40.0 %)"]
    assert table_rows(document, "forms-order")[0][2:] == ["1, found", "1, found"]
    assert table_rows(document, "forms-order")[2][2:] == ["3, hardly moves", "3, hardly moves"]
    learnt = table_rows(document, "learnt")
    assert learnt[0] == ["captions", "0", "98.0 %", "-1.000", "-0.500", "-1.000"]
    assert learnt[5][:1] + learnt[5][3:5] == ["captions: r with the rate", "1.000", "1.000"]
    latex = to_latex(document)
    for needed in ("Pearson's r with the bias rate", "Spearman", "captions", "coreference"):
        assert needed in latex
    fields = json.loads(json.dumps(forms_fields(ranking)))
    assert fields["order"]["captions"][0] == {
        "measure": "nli_coal",
        "suite": "occupation-nli:ladder",
    }
    cell = fields["measures"][0]["by_form"]["coreference"]
    assert (cell["place"], cell["finding"], round(cell["moved"], 6)) == (1, "found", 0.4)
    assert fields["ladders"]["captions"]["held_out"]["female"] == ["maid"]
    effects = fields["learning"]["captions"]["stereotype_effect"]
    assert effects["held-out words"]["means"] == [-0.5, -0.25, 0.0, 0.25, 0.5]


def test_one_form_alone_says_what_was_learnt_and_which_words_are_held_out(tmp_path: Path) -> None:
    ladder = LADDERS["captions"]
    document = ladder_document(ladder, quick_rank(ladder))
    assert document.sections[0].name == "learnt"
    assert about(ladder) == "English, default, 10 models, bias planted in captions"
    rows = dict(word_rows(ladder))
    assert rows["words trained on, female"] == "nurse, maid"
    assert rows["words asked about, female"] == "maid"
    path = write_ladder(ladder, tmp_path / "readings.json")
    assert ladder_fields(read_ladder(path)) == ladder_fields(ladder)
    fields = json.loads(path.read_text(encoding="utf-8"))
    for name in ("form", "held_out", "checks"):  # as an earlier version wrote it
        del fields[name]
    path.write_text(json.dumps(fields), encoding="utf-8")
    old = read_ladder(path)
    assert (old.form, old.held_out, old.checks) == ("suite", {}, ())
