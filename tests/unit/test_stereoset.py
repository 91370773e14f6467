"""Does StereoSet come in whole, is a bad item named, and do official predictions give the official numbers?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import evenhand
from stereoset_items import (
    NAN,
    QUANTITIES,
    Item,
    build,
    probes_of,
    sample,
    score,
    slow_official,
    suite_of,
    written,
)

from evenhand.core import catalog
from evenhand.core.errors import InputError
from evenhand.engine.estimating import estimate
from evenhand.engine.predictions import read_predictions
from evenhand.families.stereoset.suite import FILE, OPTIONS, fill_of


def test_items_become_choices(tmp_path: Path) -> None:
    suite = build(written(tmp_path / "stereoset", sample()).parent)
    assert suite.card.version == "dev-changed" and suite.card.labels == OPTIONS
    first, _, third = suite.probes
    assert first.texts == ("Meet Ann.", "She is shy.", "She is loud.", "Cats purr.")
    assert (first.id, first.kind, first.cluster, first.stratum) == ("i1", "choice", "Ann", "inter")
    assert first.tags == {
        "domain": "race",
        "target": "Ann",
        "items": "2",
        "fair": "equal",
        "stereotyped": "0",
        "ids": "i1-0 i1-1 i1-2",
    }
    assert (third.tags["items"], third.tags["domain"]) == ("1", "profession")


def test_blanks_become_stand_ins_and_words(tmp_path: Path) -> None:
    written(tmp_path, sample())
    suite = build(tmp_path, "intra")
    assert [p.texts[0] for p in suite.probes] == [
        "Our Ann is what.",
        "what Smith, or what",
        "He whated a nun.",
    ]
    assert [p.tags["sentence"] for p in suite.probes] == [
        "Our Ann is [BLANK].",
        "[BLANK] Smith, or [BLANK]",
        "He [BLANK]ed a nun.",
    ]
    assert [p.tags["words"] for p in suite.probes] == [
        "shy|loud|ice",
        "Big|Shy|Ice",
        "greet|berat|ic",
    ]
    assert suite.probes[1].texts[1:] == (
        "Big smith, or big",
        "Shy smith, or shy",
        "Ice smith, or ice",
    )
    assert {p.stratum for p in suite.probes} == {"intra"} and suite.probes[2].tags["items"] == "2"
    other = build(tmp_path, "intra-some")
    assert [p.texts[0] for p in other.probes] == [
        "Our Ann is some.",
        "some Smith, or some",
        "He someed a nun.",
    ]
    assert suite.digest != other.digest and other.probes[0].stratum == "intra"


def test_a_word_is_found_whatever_its_case() -> None:
    assert fill_of("A BLANK b.", "a (x) B.") == "(x)"
    assert fill_of("BLANK (b)", "Some more (B)") == "Some more"
    assert fill_of("x BLANK y", "x  y") is None
    assert fill_of("BLANK and BLANK", "one and two") is None
    assert fill_of("BLANK and BLANK", "One and one") == "One"
    assert fill_of("x BLANK.", "x y!") is None


def broken(change: Callable[[dict[str, list[Item]]], object]) -> dict[str, list[Item]]:
    data = sample()
    change(data)
    return data


BROKEN: list[tuple[str, Callable[[dict[str, list[Item]]], object], str]] = [
    (
        "",
        lambda d: d["intersentence"][1]["sentences"][2].update(gold_label="stereotype"),
        "item i2: two options are labelled stereotype",
    ),
    (
        "",
        lambda d: d["intersentence"][1]["sentences"].pop(0),
        "item i2: no option is labelled unrelated",
    ),
    (
        "",
        lambda d: d["intersentence"][1].pop("sentences"),
        "item i2: no option is labelled stereotype or anti-stereotype or unrelated",
    ),
    (
        "",
        lambda d: d["intersentence"][1]["sentences"][0].update(gold_label="related"),
        "item i2: label 'related' of an option is none of",
    ),
    (
        "",
        lambda d: d["intersentence"][1]["sentences"][0].update(sentence=" "),
        "item i2: the unrelated has the sentence '' and the id 'i2-2'",
    ),
    (
        "",
        lambda d: d["intersentence"][1]["sentences"][0].update(id=5),
        "item i2: the unrelated has .* the id ''",
    ),
    (
        "",
        lambda d: d["intersentence"][1].update(bias_type="age"),
        "item i2: domain 'age' is none of gender, profession, race, religion",
    ),
    (
        "",
        lambda d: d["intersentence"][1].update(context="", target=3),
        "item i2: target, context missing or empty",
    ),
    ("", lambda d: d["intersentence"][1].pop("id"), "item 2 has no id"),
    (
        "",
        lambda d: d["intersentence"].append(d["intersentence"][0]),
        "several items have the id i1",
    ),
    (
        "",
        lambda d: d["intersentence"][1]["sentences"][0].update(id="i1-0"),
        "several sentences have the id i1-0",
    ),
    (
        "intra",
        lambda d: d["intrasentence"][0].update(context="Our Ann is shy."),
        "item a1: there is no BLANK in the context 'Our Ann is shy.'",
    ),
    (
        "intra",
        lambda d: d["intrasentence"][0]["sentences"][1].update(sentence="Her ann is shy."),
        "item a1: the stereotype 'Her ann is shy.' is not the context",
    ),
    (
        "intra",
        lambda d: d["intrasentence"][1]["sentences"][0].update(sentence="Ice smith, or fog"),
        "item a2: the unrelated 'Ice smith, or fog' is not",
    ),
    ("intra", lambda d: d.pop("intrasentence"), "has no list data.intrasentence"),
]


@pytest.mark.parametrize(("variant", "change", "message"), BROKEN)
def test_bad_items_are_named(
    variant: str, change: Callable[[dict[str, list[Item]]], object], message: str, tmp_path: Path
) -> None:
    written(tmp_path, broken(change))
    with pytest.raises(InputError, match=message):
        build(tmp_path, variant)


def test_bad_files_are_named(tmp_path: Path) -> None:
    for text, message in (
        ("{", "row 1: not JSON"),
        ("[]", "has no list data.intersentence"),
        ('{"data": []}', "has no list data.inter"),
    ):
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            build(tmp_path)
    with pytest.raises(InputError, match=r"has no stereoset/dev\.json\. Download it"):
        build(tmp_path / "nowhere")


@pytest.fixture(scope="module")
def published(data: Path) -> Path:
    if not (data / "stereoset" / FILE).exists():
        pytest.skip(f"stereoset/{FILE} is not beside the project")
    return data


def test_the_published_file_comes_in_whole(published: Path) -> None:
    inter, intra = build(published), build(published, "intra")
    assert (len(inter.probes), len(intra.probes), inter.card.version) == (2123, 2106, "dev")
    assert [len({p.cluster for p in s.probes}) for s in (inter, intra)] == [79, 79]
    for probe in intra.probes:
        sentence, words = probe.tags["sentence"], probe.tags["words"].split("|")
        assert len(words) == 3 and probe.texts[0] == sentence.replace("[BLANK]", "what")
        assert [sentence.replace("[BLANK]", w).lower() for w in words] == [
            t.lower() for t in probe.texts[1:]
        ]
    blanks = [p.tags["sentence"].count("[BLANK]") for p in intra.probes]
    assert (blanks.count(1), blanks.count(2)) == (2104, 2)
    assert sum(p.tags["sentence"].startswith("[BLANK]") for p in intra.probes) == 19
    assert [
        p.tags["sentence"] for p in intra.probes if re.search(r"BLANK\]\w", p.tags["sentence"])
    ] == ["The grandfather [BLANK]ed the grandchildren."]
    for suite in (inter, intra):
        assert sum(1 / int(p.tags["items"]) for p in suite.probes) == pytest.approx(
            79
        )  # every term weighs one


def told(data: dict[str, list[Item]], seed: int = 0) -> dict[str, list[Item]]:
    rng = np.random.default_rng(seed)
    return {
        k: [{"id": s["id"], "score": float(rng.integers(0, 3))} for i in v for s in i["sentences"]]
        for k, v in data.items()
    }


def save(path: Path, predictions: Any, indent: int | None = 2) -> Path:
    path.write_text(json.dumps(predictions, indent=indent), encoding="utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("variant", ["inter", "intra"])
def test_official_predictions_give_the_official_numbers(
    variant: str, indent: int | None, tmp_path: Path
) -> None:
    data = sample()
    written(tmp_path, data)
    for seed in range(5):
        predictions = told(data, seed)
        out = evenhand(
            "measure",
            save(tmp_path / "p.json", predictions, indent),
            "--suite",
            f"stereoset:{variant}",
            "--data",
            tmp_path,
            "--resamples",
            100,
            "--json",
        )
        assert out.code == 0, out.err
        scores = {e["id"]: e["score"] for e in predictions[f"{variant}sentence"]}
        items = data[f"{variant}sentence"]
        expected = slow_official(
            [[scores[f"{i['id']}-{k}"] for k in range(3)] for i in items],
            [i["target"] for i in items],
        )
        found = {e["measure"]: e["value"] for e in json.loads(out.out)["estimates"]}
        assert {q: found[f"{q}_official"] for q in QUANTITIES} == pytest.approx(expected, abs=1e-12)


def test_official_predictions_of_the_published_items(published: Path, tmp_path: Path) -> None:
    data = json.loads((published / "stereoset" / FILE).read_text(encoding="utf-8"))["data"]
    predictions = told(data)
    for variant in ("inter", "intra"):
        suite = build(published, variant)
        answers = read_predictions(save(tmp_path / "p.json", predictions), suite)
        scores = {e["id"]: e["score"] for e in predictions[f"{variant}sentence"]}
        rows = [
            [next(scores[s["id"]] for s in i["sentences"] if s["gold_label"] == o) for o in OPTIONS]
            for i in data[f"{variant}sentence"]
        ]
        expected = slow_official(rows, [i["target"] for i in data[f"{variant}sentence"]])
        for quantity in QUANTITIES:
            assert score(f"{quantity}_official", suite.probes, answers.values) == pytest.approx(
                expected[quantity], abs=1e-12
            )
        assert answers.coverage == 1.0 and not answers.unanswered


def test_missing_sentences_lower_the_coverage(tmp_path: Path) -> None:
    predictions = told(sample())
    predictions["intersentence"] = [
        e for e in predictions["intersentence"] if e["id"] not in ("i1-0", "i1-1", "i3-2")
    ]
    suite = build(written(tmp_path, sample()))
    answers = read_predictions(save(tmp_path / "p.json", predictions), suite)
    assert answers.unanswered == {
        "not all of the item's sentences are in the predictions file (3 sentences missing)": 2
    }
    assert answers.coverage == pytest.approx(1 / 3)
    found = estimate(catalog.measure("lms_official"), suite, answers, resamples=50)
    assert found.coverage == pytest.approx(1 / 3) and np.isfinite(found.value)


BAD_SCORES: list[tuple[Any, str]] = [
    (
        {"id": "i9-0", "score": 1},
        "entry 10 of intersentence: the sentence i9-0 is not in stereoset@",
    ),
    (
        {"id": "i1-0", "score": 1},
        "entry 10 of intersentence: the sentence i1-0 has a score already",
    ),
    ({"id": "x", "score": "0.5"}, "the score of the sentence x is '0.5', not a finite number"),
    ({"id": "x", "score": None}, "the score of the sentence x is None"),
    ({"id": "x"}, "the score of the sentence x is None"),
    ({"id": "x", "score": True}, "the score of the sentence x is True"),
    ({"id": "x", "score": NAN}, "the score of the sentence x is nan"),
    ({"id": "x", "score": -float("inf")}, "the score of the sentence x is -inf"),
    ({"id": "x", "score": 10**400}, "the score of the sentence x is 1000"),
    ({"id": "x", "score": [1]}, r"the score of the sentence x is \[1\]"),
    ({"score": 1}, "entry 10 of intersentence has no id"),
    (7, "entry 10 of intersentence has no id; .* found 7"),
]


@pytest.mark.parametrize(("entry", "message"), BAD_SCORES)
def test_bad_predictions_are_named(entry: Any, message: str, tmp_path: Path) -> None:
    predictions = told(sample())
    predictions["intersentence"].append(entry)
    with pytest.raises(InputError, match=message):
        read_predictions(save(tmp_path / "p.json", predictions), build(written(tmp_path, sample())))


def test_predictions_for_something_else_are_refused(tmp_path: Path) -> None:
    suite = build(written(tmp_path, sample()), "intra")
    path = save(tmp_path / "p.json", {"intersentence": told(sample())["intersentence"]})
    with pytest.raises(
        InputError, match=r"has no scores in 'intrasentence' \(there is intersentence\)"
    ):
        read_predictions(path, suite)
    with pytest.raises(InputError, match="but the suite is hand-made; use --suite stereoset"):
        read_predictions(path, suite_of(probes_of(["a"])))
    (tmp_path / "rows.json").write_text(
        '{"id": "a1", "stereotype": 3, "anti-stereotype": 2, "unrelated": 1}\n', encoding="utf-8"
    )
    assert read_predictions(tmp_path / "rows.json", suite).values[0].tolist() == [
        3,
        2,
        1,
    ]  # a row an item, as for any choice
