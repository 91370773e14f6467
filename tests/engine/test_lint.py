"""Lint finds each fault that was planted, and only that one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.errors import UnknownNameError
from evenhand.core.probe import Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.engine.lint import Finding, lint
from evenhand.families.nli_coal.published import SUITE as NLI_COAL


def pair(
    frame: str = "{a} is asleep.", premise: str = "A nurse is asleep.", language: str = "en"
) -> list[Probe]:
    """A sound pair of twins."""
    words = {"female": "woman", "male": "man"}
    return [
        Probe(
            id=gender,
            kind="pair",
            language=language,
            texts=(premise, frame.replace("{a}", f"A {word}").replace("{x}", word)),
            stratum="PS",
            cluster="nurse",
            twin="male" if gender == "female" else "female",
            tags={"word": word, "template": frame},
        )
        for gender, word in words.items()
    ]


def changed(which: int, **fields: Any) -> list[Probe]:
    probes = pair()
    probes[which] = dataclasses.replace(probes[which], **fields)
    return probes


def test_a_sound_pair_has_no_findings() -> None:
    assert lint(pair()) == []


@pytest.mark.parametrize(
    ("frame", "rule", "detail"),
    [
        ("{a} strokes a long beard.", "gender cue", "beard (body)"),
        ("{a} feeds his dog.", "gender cue", "his (pronoun)"),
        ("{a} is eating a apple.", "grammar", "'a apple' should have 'an'"),
        ("Tall {x} is asleep.", "grammar", "no article before the slot"),
    ],
)
def test_a_bad_frame_is_reported_once(frame: str, rule: str, detail: str) -> None:
    assert lint(pair(frame)) == [Finding(rule, "female", f"{detail} in: {frame}")]


@pytest.mark.parametrize(
    ("language", "frame", "rule", "detail"),
    [
        ("ja", "{x}が彼女と歩いている。", "gender cue", "彼女 (pronoun)"),
        ("ja", "{x}公園を歩く。", "grammar", "no particle after the slot"),
        ("ja", "三人の{x}が歩いている。", "grammar", "the slot is several persons"),
        ("zh", "{a}在看她的书。", "gender cue", "她 (pronoun)"),
        ("zh", "一{x}在看书。", "grammar", "no measure word in '一{x}'"),
        ("zh", "两个{x}在看书。", "grammar", "the slot is several persons"),
        ("zh", "一个{x}看着一个戴帽子的{x}。", "grammar", "2 slots instead of one"),
        ("zh", "没有{x}在看书。", "grammar", "the slot is denied, so that nothing wider follows"),
    ],
)
def test_bad_frames_of_other_languages(language: str, frame: str, rule: str, detail: str) -> None:
    probe = Probe(
        id="a", kind="pair", language=language, texts=("x", "y"), tags={"template": frame}
    )
    assert Finding(rule, "a", f"{detail} in: {frame}") in lint([probe])


@pytest.mark.parametrize(
    ("fields", "rule", "who", "detail"),
    [
        ({"id": "third"}, "unequal twins", "female", "its twin 'male' is not in the suite"),
        ({"twin": "male"}, "unequal twins", "female", "its twin 'male' names another twin"),
        (
            {"texts": ("A cook is asleep.", "A man is asleep.")},
            "unequal twins",
            "female",
            "its twin 'male' has another first text",
        ),
        (
            {"texts": ("A nurse is asleep.", "A man is awake.")},
            "unequal twins",
            "female",
            "differs from its twin 'male' in more than the gender word",
        ),
        (
            {"texts": ("A nurse is asleep.", "A woman is asleep.")},
            "duplicate",
            "male",
            "asks the same as 'female'",
        ),
        (
            {"texts": ("A nurse is asleep.", "  ")},
            "empty text",
            "male",
            "one of its texts is empty",
        ),
    ],
)
def test_planted_faults_are_found(
    fields: Mapping[str, Any], rule: str, who: str, detail: str
) -> None:
    assert Finding(rule, who, detail) in lint(changed(1, **fields))


@pytest.mark.parametrize(
    ("language", "texts", "tags", "is_sound"),
    [
        ("zh", ("一个护士在看书。", "一个女人在看书。"), ("护士", "女人"), True),
        ("zh", ("一名护士在看书。", "一个女人在看书。"), ("护士", "女人"), False),
        ("en", ("An actor is asleep.", "A woman is asleep."), ("actor", "woman"), True),
        ("en", ("The CEO is asleep.", "The woman is awake."), ("CEO", "woman"), False),
    ],
)
def test_premise_and_hypothesis_differ_in_one_word(
    language: str, texts: tuple[str, str], tags: tuple[str, str], is_sound: bool
) -> None:
    probe = Probe(
        id="a",
        kind="pair",
        language=language,
        texts=texts,
        tags={"occupation": tags[0], "word": tags[1]},
    )
    detail = "premise and hypothesis differ in more than one word"
    assert lint([probe]) == ([] if is_sound else [Finding("unequal texts", "a", detail)])


def test_a_capital_is_no_difference_between_twins() -> None:
    probes = [
        Probe(
            id=g,
            kind="pair",
            language="en",
            texts=("Nurse asleep.", t),
            twin=other,
            tags={"word": w},
        )
        for g, other, w, t in (
            ("f", "m", "woman", "Woman asleep."),
            ("m", "f", "man", "man asleep."),
        )
    ]
    assert lint(probes) == []


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown language 'fr'"):
        lint(pair(language="fr"))


def test_the_published_english_set_has_the_flaws_that_the_paper_names(data: Path) -> None:
    """Anantaprayoon et al. name sentences that depend on gender as a limit of their set; lint shows
    them.
    """
    found = lint(NLI_COAL.build("en", SuiteOptions(data=data)).probes)
    cues = {f.detail.split(" in: ")[0] for f in found if f.rule == "gender cue"}
    assert cues >= {"he (pronoun)", "she (pronoun)", "breast (body)", "tuxedos (clothing)"}
    assert any("holding a umbrella" in f.detail for f in found)
    assert {f.rule for f in found} == {"gender cue", "grammar"}
