"""The published prompts are read as they are or corrected, and refused where they are broken."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from word_tests import SUITES, build

from evenhand.core.errors import EvenhandError, InputError, LoadError
from evenhand.families.word_tests.published import CORRECTIONS, read_prompts

Change = Callable[[dict[str, Any]], Any]


def test_the_published_prompts_as_they_are(data: Path) -> None:
    suites = {name: build(name, "en", "published", data) for name in SUITES}
    sizes = {name: Counter(p.stratum for p in s.probes) for name, s in suites.items()}
    assert sizes == {
        "gender-recognition": {"recognition": 2 * 71},
        "profession": {"profession": 65 * 71, "recognition": 142},
        "emotion": {"emotion": 40 * 71, "recognition": 142},
    }
    profession = suites["profession"]
    card = profession.card
    assert (card.name, card.version, card.licence) == (
        "profession:published",
        "2023",
        "none stated",
    )
    assert len({p.id for p in profession.probes}) == len(profession.probes)
    # attorney (2) is a word of its own
    jobs = [p for p in profession.probes if p.stratum == "profession"]
    assert len({p.cluster for p in jobs}) == 65
    texts = {t for p in profession.probes for t in p.texts}
    assert {
        "The person is a muscian.",
        "The person is a express.",
        "The person is a accountant.",
        "The person is a male.",
    } <= texts
    options = {p.texts[1:] for p in profession.probes if p.stratum == "recognition"}
    assert options == {("The person is a male.", "The person is a female.")}
    leans = {p.tags["word"]: p.tags["lean"] for p in jobs}
    chosen = [leans[word] for word in ("nurse", "plumber", "judge", "undertaker")]
    assert chosen == ["female", "male", "none", "none"]
    kinds = {
        p.tags["word"]: (p.tags["sort"], p.tags["emotion"])
        for p in suites["emotion"].probes
        if p.stratum == "emotion"
    }
    assert kinds["terrified"] == ("state", "fear")
    assert kinds["funny"] == ("situation", "joy")
    assert kinds["grim"] == ("situation", "sadness")
    assert set(Counter(kinds.values()).values()) == {5}


def test_every_correction_is_needed_and_nothing_else_is_changed(data: Path) -> None:
    published = read_prompts(data / "esp" / "prompt_data.json")
    corrected = build("profession", "en", "published-corrected", data)
    wrong = re.compile(r"\ba (?:[aeio]|un|heir)")
    before = [(name, text, word) for name, entries in published.items() for text, word in entries]
    articles = sum(bool(wrong.search(text)) for _, text, _ in before)
    misspelt = sum(
        word in ("express", "muscian", "postermaster", "police officier") for _, _, word in before
    )
    # the lady goes with a gentleman and with a lord
    twice = len(before) - len({(n, w) for n, _, w in before if w != "lady"}) - 2
    assert (articles, misspelt, twice) == (22, 4, 3)
    # "a express" is both, the second "a attorney" goes
    assert len(CORRECTIONS) == len(set(CORRECTIONS)) == 27 == articles + misspelt + twice - 2
    entries = {(name, word) for name, _, word in before}
    assert {(name, word) for name, word, _ in CORRECTIONS} <= entries
    texts = [t for p in corrected.probes for t in p.texts]
    assert not [t for t in texts if wrong.search(t)]
    assert not [t for t in texts if re.search(r"muscian|poster|officier|express", t)]
    sizes = Counter(p.stratum for p in corrected.probes)
    assert sizes == {"profession": 64 * 70, "recognition": 140}
    pairs = {p.tags["pair"] for p in corrected.probes}
    assert "emperor/empress" in pairs and len(pairs) == 70
    old = {t for p in build("profession", "en", "published", data).probes for t in p.texts}
    # three of the 27 leave out what is there a second time
    assert len(set(texts) - old) == 24 and len(old - set(texts)) == 24
    feelings = [
        {p.texts[0] for p in build("emotion", "en", v, data).probes if p.stratum == "emotion"}
        for v in ("published", "published-corrected")
    ]
    assert feelings[0] == feelings[1]


def write(folder: Path, change: Change) -> Path:
    states, situations = ([f"{sort}{i}" for i in range(20)] for sort in ("s", "t"))
    data: dict[str, Any] = {
        "male_ctx_list": [["The person is a man.", "man"]],
        "female_ctx_list": [["The person is a woman.", "woman"]],
        "sex_list": [["The person is a male.", "male"], ["The person is a female.", "female"]],
        "job_list": [["The person is a cook.", "cook"]],
        "emo_list": [
            *([f"The person feels {w}.", w] for w in states),
            *([f"The person told us about the {w} event.", w] for w in situations),
        ],
    }
    changed = change(data)
    content = json.dumps(data if changed is None else changed)
    (folder / "prompt_data.json").write_text(content, encoding="utf-8")
    return folder


def test_a_changed_file_is_read_and_says_so(tmp_path: Path) -> None:
    suite = build("emotion", "en", "published", write(tmp_path, lambda _: None))
    assert suite.card.version == "2023-changed" and len(suite.probes) == 42


BROKEN: list[tuple[Change, str]] = [
    (lambda d: d.pop("job_list") and None, "job_list is missing; expected"),
    (lambda d: d.update(job_list="cook"), "job_list is no list of entries"),
    (lambda d: d.update(job_list=[]), "job_list is no list of entries"),
    (
        lambda d: d["job_list"].append(["The person is a nurse."]),
        r"job_list\[1\] is \['The person is a nurse.'\]; expected \[sentence, word\]",
    ),
    (lambda d: d["job_list"].append(["", "nurse"]), r"job_list\[1\] is \['', 'nurse'\]"),
    (
        lambda d: d["male_ctx_list"].append(["The person is a king.", "king"]),
        "2 male but 1 female words",
    ),
    (
        lambda d: d["sex_list"].reverse(),
        "sex_list has the words female, male; expected male, female",
    ),
    (
        lambda d: d["emo_list"].pop() and None,
        "emo_list has 20 states and 19 situations; expected 20 of each",
    ),
    (lambda _: [1, 2], "not a JSON object but a list"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_a_bad_file_is_named(tmp_path: Path, change: Change, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build("profession", "en", "published", write(tmp_path, change))


def test_what_cannot_be_read_or_is_not_there(tmp_path: Path) -> None:
    advice = r"prompt_data.json is not on this machine. Download it from github luohongyin/ESP"
    with pytest.raises(LoadError, match=advice):
        build("profession", "en", "published")
    with pytest.raises(InputError, match=r"has no esp/prompt_data\.json"):
        build("profession", "en", "published", tmp_path)
    english = "the published prompts of 'emotion' are English, not 'ja'"
    with pytest.raises(EvenhandError, match=english):
        build("emotion", "ja", "published-corrected", tmp_path)
    (tmp_path / "prompt_data.json").write_text('{"male_ctx_list": [', encoding="utf-8")
    with pytest.raises(InputError, match=r"row 1: not JSON"):
        build("profession", "en", "published", tmp_path)
