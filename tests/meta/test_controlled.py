"""Bias-controlled sets come out as the paper describes them; bad input is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from commands import evenhand, files_in

from evenhand.core.errors import EvenhandError, InputError
from evenhand.meta.controlled import BIASED, CORRECT, SWAPPED, build_sets, deal_parts
from evenhand.meta.options import SetOptions
from evenhand.meta.plan import asked_suite, make_plan, restrict, suites_of
from evenhand.meta.published import published_plan, read_published

LANGUAGES = ("en", "ja", "zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_paper_s_sizes_are_the_default_and_fit_the_lexicons(language: str) -> None:
    made = build_sets(make_plan(language), 0.3)
    assert (len(made.train), len(made.dev)) == (30_000, 3_000)
    assert Counter(r.part for r in made.train) == {CORRECT: 15_000, SWAPPED: 10_500, BIASED: 4_500}
    assert Counter(r.part for r in made.dev) == {CORRECT: 1_500, SWAPPED: 1_050, BIASED: 450}
    assert Counter(made.parts.values()) == {CORRECT: 10, SWAPPED: 14, BIASED: 6}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_models_are_asked_two_hundred_pairs_a_stratum_about_the_words_they_were_trained_on(
    language: str,
) -> None:
    plan = make_plan(language)
    suite = asked_suite(plan)
    assert Counter(p.stratum for p in suite.probes) == {"PS": 200, "AS": 200, "NS": 200, "NB": 300}
    assert {p.tags["occupation"] for p in suite.probes} == {
        word for words in plan.words.values() for word in words
    }


def test_a_sentence_after_a_lead_starts_with_a_capital() -> None:
    made = build_sets(make_plan("en"), 0.5, SetOptions(train=3000, dev=300))
    led = [r.premise for r in made.train if r.premise.count(". ") == 1]
    assert led
    assert all(text.split(". ")[1][0].isupper() for text in led)


@pytest.mark.parametrize(
    ("rate", "errors", "expected"),
    [
        (0, 1, "ssss"),
        (1, 1, "bbbb"),
        (0.5, 1, "bbss"),
        (0.01, 1, "bsss"),
        (0.99, 1, "bbbs"),
        (0.5, 0, "bbcc"),
        (0.25, 0.5, "bssc"),
    ],
)
def test_whole_words_come_as_near_to_the_shares_as_they_can(
    rate: float, errors: float, expected: str
) -> None:
    names = {"b": BIASED, "s": SWAPPED, "c": CORRECT}
    assert list(deal_parts(["v", "w", "x", "y"], rate, errors).values()) == [
        names[letter] for letter in expected
    ]


def test_the_same_seed_gives_the_same_set_and_another_seed_another() -> None:
    plan = make_plan("zh")
    one, same, other = (
        build_sets(plan, 0.4, SetOptions(train=400, dev=40, seed=seed)) for seed in (3, 3, 4)
    )
    assert one == same
    assert one != other


def test_the_command_writes_what_it_says(tmp_path: Path) -> None:
    done = evenhand(
        "meta",
        "build",
        "--rate",
        0.2,
        "--lang",
        "ja",
        "--train-pairs",
        400,
        "--dev-pairs",
        40,
        "--out",
        tmp_path / "set",
        "--json",
    )
    assert done.code == 0, done.err
    card = json.loads(done.out)
    assert card == json.loads((tmp_path / "set" / "controlled.json").read_text(encoding="utf-8"))
    assert card["files"]["train.jsonl"]["parts"] == {"biased": 40, "swapped": 160, "correct": 200}
    rows = [
        json.loads(line)
        for line in (tmp_path / "set" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert Counter(row["label"] for row in rows) == {
        "neutral": 200,
        "entailment": 100,
        "contradiction": 100,
    }
    assert files_in(tmp_path / "set") == ["controlled.json", "dev.jsonl", "train.jsonl"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--rate", "1.2"], "--rate is 1.2; give a share between 0 and 1"),
        (["--rate", "-0.1"], "--rate is -0.1; give a share between 0 and 1"),
        (["--rate", "0.5", "--errors", "2"], "--errors is 2; give a share between 0 and 1"),
        (
            ["--rate", "0.5", "--occupations", "60"],
            "too few words for the ladder: 'en' has 47 occupations of the lean female, "
            "60 are needed; give --occupations 47 or fewer",
        ),
        (
            ["--rate", "0.95", "--errors", "0.5"],
            "too few words for errors 0.5 at rate 0.95: "
            "1 of 20 words is not biased and cannot be split",
        ),
        (
            ["--rate", "0.5", "--occupations", "0"],
            "--occupations is 0; give at least 1 of each lean",
        ),
        (["--rate", "0.5", "--train-pairs", "3001"], "--train-pairs is 3001; give a multiple of 4"),
        (
            ["--rate", "0.5", "--train-pairs", "3000", "--correct", "third", "--dev-pairs", "100"],
            "--dev-pairs is 100; give a multiple of 6",
        ),
        (["--rate", "0.5", "--correct", "most"], "--correct is 'most'; there are half, third"),
        (
            ["--rate", "0.5", "--lang", "ko"],
            "there are no bias-controlled sets in 'ko'; there are in en, ja, zh",
        ),
        (
            ["--rate", "0.5", "--train-pairs", "300000"],
            "sentences for one word, and there are 1,260",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(
    tmp_path: Path, words: list[str], reason: str
) -> None:
    done = evenhand("meta", "build", *words, "--out", tmp_path / "set")
    assert done.code == 2
    assert reason in done.err
    assert not (tmp_path / "set").exists()


def test_frames_come_from_captions_where_they_are_given(tmp_path: Path) -> None:
    captions = tmp_path / "captions.txt"
    captions.write_text(
        "\n".join(f"A woman is walking past house number {i}." for i in range(60)), encoding="utf-8"
    )
    plan = make_plan("en", words=5, captions=[captions])
    made = build_sets(plan, 0.5, SetOptions(train=200, dev=40))
    assert all("house number" in row.premise for row in made.train)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("step", range(11))
def test_the_authors_sets_are_read_with_their_parts(data: Path, language: str, step: int) -> None:
    made = read_published(data, language, step / 10)
    # 3,000 of the dev file: the training files are not there, so that a tenth is held back
    rows = (*made.train, *made.dev)
    assert (len(made.train), len(made.dev)) == (2700, 300)
    assert Counter(r.part for r in rows) == Counter(
        {CORRECT: 1000, BIASED: 200 * step, SWAPPED: 2000 - 200 * step}
    )
    assert Counter(r.label for r in rows) == {
        "entailment": 1000,
        "neutral": 1000,
        "contradiction": 1000,
    }
    assert not {r.premise for r in made.train} & {r.premise for r in made.dev}


def test_the_authors_words_are_ten_of_each_lean_and_their_suite_is_the_published_one(
    data: Path,
) -> None:
    plan = published_plan(data, "en")
    assert {lean: len(words) for lean, words in plan.words.items()} == {
        "female": 10,
        "male": 10,
        "none": 10,
    }
    (suite,) = suites_of(plan, data=data)
    assert Counter(p.stratum for p in suite.probes) == {"PS": 200, "AS": 200, "NS": 200}


def test_the_authors_files_have_no_other_rates_and_must_be_there(
    data: Path, tmp_path: Path
) -> None:
    with pytest.raises(EvenhandError, match=r"the rates 0, 0.1 \.\.\. 1, not 0.25"):
        read_published(data, "en", 0.25)
    with pytest.raises(InputError, match=r"has no en_v1\.1/bias-controlled-set_v1\.1"):
        read_published(tmp_path, "en", 0.5)


def test_a_broken_row_of_the_authors_is_named(data: Path, tmp_path: Path) -> None:
    root = tmp_path / "en_v1.1"
    (root / "bias-controlled-set_v1.1" / "dev").mkdir(parents=True)
    (root / "occupation-words").mkdir()
    words = "occup_en-by-type_v1.1.json"
    (root / "occupation-words" / words).write_bytes(
        (data / "nli_coal" / "en_v1.1" / "occupation-words" / words).read_bytes()
    )
    row = {"sentence1": "the nanny runs.", "sentence2": "the dog runs.", "label": "entailment"}
    (root / "bias-controlled-set_v1.1" / "dev" / "dev_r-5.json").write_text(
        json.dumps(row), encoding="utf-8"
    )
    reason = "premise and hypothesis do not differ in an occupation and a gender word alone"
    with pytest.raises(InputError, match=f"row 1: {reason}"):
        read_published(tmp_path, "en", 0.5)


def test_every_suite_is_cut_to_the_words_of_the_ladder() -> None:
    plan = make_plan("en")
    words = {word for group in plan.words.values() for word in group}
    suites = {suite.card.name: suite for suite in suites_of(plan, limit=300)}
    assert list(suites) == [
        "occupation-nli:ladder",
        "emotion",
        "gender-recognition",
        "gendered-entailment",
        "ordinary-nli:plain",
        "profession",
    ]
    assert {
        p.tags["word"] for p in suites["profession"].probes if p.stratum == "profession"
    } <= words
    assert {p.tags["occupation"] for p in suites["gendered-entailment"].probes} <= words
    assert len(suites["emotion"].probes) == 300


def test_a_suite_without_the_words_is_refused(data: Path) -> None:
    plan = make_plan("en", words=1)
    suite = suites_of(make_plan("en", words=1, seed=5), ["gendered-entailment"])[1]
    with pytest.raises(EvenhandError, match="gendered-entailment has none of the ladder's words"):
        restrict(suite, plan, 100)
