"""StereoSet comes in whole, and a bad item is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from stereoset_items import Item, build, item, sample, written

from evenhand.core.errors import EvenhandWarning, InputError
from evenhand.core.protocols import SuiteOptions
from evenhand.engine.suites import load_suite
from evenhand.families.stereoset.suite import FILE, OPTIONS, fill_of

Change = Callable[[dict[str, list[Item]]], object]


def test_items_become_choices(tmp_path: Path) -> None:
    suite = build(written(tmp_path / "stereoset", sample()).parent)
    assert suite.card.version == "dev-changed" and suite.card.options == OPTIONS
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
    contexts = [p.texts[0] for p in suite.probes]
    assert contexts == ["Our Ann is what.", "what Smith, or what", "He whated a nun."]
    sentences = [p.tags["sentence"] for p in suite.probes]
    assert sentences == ["Our Ann is [BLANK].", "[BLANK] Smith, or [BLANK]", "He [BLANK]ed a nun."]
    words = [p.tags["words"] for p in suite.probes]
    assert words == ["shy|loud|ice", "Big|Shy|Ice", "greet|berat|ic"]
    options = suite.probes[1].texts[1:]
    assert options == ("Big smith, or big", "Shy smith, or shy", "Ice smith, or ice")
    assert suite.strata == {"intra"} and suite.probes[2].tags["items"] == "2"
    other = build(tmp_path, "intra-some")
    contexts = [p.texts[0] for p in other.probes]
    assert contexts == ["Our Ann is some.", "some Smith, or some", "He someed a nun."]
    assert suite.digest != other.digest and other.probes[0].stratum == "intra"


def test_a_word_is_found_whatever_its_case() -> None:
    assert fill_of("A BLANK b.", "a (x) B.") == "(x)"
    assert fill_of("BLANK (b)", "Some more (B)") == "Some more"
    assert fill_of("x BLANK y", "x  y") is None
    assert fill_of("BLANK and BLANK", "one and two") is None
    assert fill_of("BLANK and BLANK", "One and one") == "One"
    assert fill_of("x BLANK.", "x y!") is None


def option_of(section: str, number: int, place: int, **fields: object) -> Change:
    return lambda data: data[section][number]["sentences"][place].update(fields)


INTER, INTRA = "intersentence", "intrasentence"
BROKEN: list[tuple[str, Change, str]] = [
    (
        "",
        option_of(INTER, 1, 2, gold_label="stereotype"),
        "item i2: two options are labelled stereotype",
    ),
    (
        "",
        lambda d: d[INTER][1]["sentences"].pop(0),
        "item i2: no option is labelled unrelated",
    ),
    (
        "",
        lambda d: d[INTER][1].pop("sentences"),
        "item i2: no option is labelled stereotype or anti-stereotype or unrelated",
    ),
    (
        "",
        option_of(INTER, 1, 0, gold_label="related"),
        "item i2: label 'related' of an option is none of",
    ),
    (
        "",
        option_of(INTER, 1, 0, sentence=" "),
        "item i2: the unrelated has the sentence '' and the id 'i2-2'",
    ),
    ("", option_of(INTER, 1, 0, id=5), "item i2: the unrelated has .* the id ''"),
    (
        "",
        lambda d: d[INTER][1].update(bias_type="age"),
        "item i2: domain 'age' is none of gender, profession, race, religion",
    ),
    (
        "",
        lambda d: d[INTER][1].update(context="", target=3),
        "item i2: target, context missing or empty",
    ),
    ("", lambda d: d[INTER][1].pop("id"), "item 2 has no id"),
    ("", lambda d: d[INTER].append(d[INTER][0]), "several items have the id i1"),
    ("", option_of(INTER, 1, 0, id="i1-0"), "several sentences have the id i1-0"),
    ("intra", lambda d: d.pop(INTRA), "has no list data.intrasentence"),
]


@pytest.mark.parametrize(("variant", "change", "message"), BROKEN)
def test_bad_items_are_named(variant: str, change: Change, message: str, tmp_path: Path) -> None:
    data = sample()
    change(data)
    written(tmp_path, data)
    with pytest.raises(InputError, match=message):
        build(tmp_path, variant)


ODD: list[tuple[Change, str]] = [
    (lambda d: d[INTRA][0].update(context="Our Ann is shy."), "'Our Ann is shy.'"),
    (option_of(INTRA, 0, 1, sentence="Her ann is shy."), "'Her ann is shy.'"),
]


@pytest.mark.parametrize(("change", "shown"), ODD)
def test_an_odd_item_is_named_and_never_a_stop(change: Change, shown: str, tmp_path: Path) -> None:
    data = sample()
    change(data)
    written(tmp_path, data)
    message = f"1 items whose options are not the context with a word for BLANK: a1 .*{shown}"
    with pytest.warns(EvenhandWarning, match=message):
        suite = build(tmp_path, "intra")
    assert [p.tags["words"] for p in suite.probes] == ["||", "Big|Shy|Ice", "greet|berat|ic"]
    assert len(suite.probes[0].texts) == 4  # models that compare texts answer it


@pytest.mark.parametrize(
    ("context", "options"),
    [
        ("Our Ann is Blank.", ("Our ann is shy.", "Our ann is loud.", "Our ann is ice.")),
        ("BLANk Ann sings.", ("Shy ann sings.", "Loud ann sings.", "Ice ann sings.")),
    ],
)
def test_a_blank_that_is_written_otherwise_is_read(
    context: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    data = sample()
    data[INTRA][0] = item("a1", "Ann", context, *options)
    suite = build(written(tmp_path, data), "intra")
    words = suite.probes[0].tags["words"].lower()
    assert words == "shy|loud|ice" and "[BLANK]" in suite.probes[0].tags["sentence"]
    assert "lank" not in suite.probes[0].texts[0].lower() and "what" in suite.probes[0].texts[0]


def test_a_file_without_any_blank_is_refused(tmp_path: Path) -> None:
    data = sample()
    for odd in data[INTRA]:
        odd["context"] = "Nothing is missing."
    with pytest.raises(InputError, match="has only 3 items whose options are not the context"):
        build(written(tmp_path, data), "intra")


def test_any_file_in_the_form_is_read(tmp_path: Path) -> None:
    folder = written(tmp_path, sample())
    (folder / FILE).rename(folder / "test.json")
    assert build(folder).card.version == "test-unverified"  # the folder has no dev.json
    suite = build(folder / "test.json", "intra")
    assert suite.card.version == "test-unverified" and len(suite.probes) == 3
    assert not suite.card.is_verified
    options = SuiteOptions(data=folder / "test.json")
    assert load_suite("stereoset:intra", options=options).digest == suite.digest
    (folder / "test.json").rename(folder / "mine.json")
    assert build(folder / "mine.json").card.version == "mine-unverified"
    with pytest.raises(InputError, match=r"has no stereoset/dev\.json"):
        build(folder)


def test_both_halves_are_one_suite(tmp_path: Path) -> None:
    folder = written(tmp_path, sample())
    suite = build(folder, "all")
    assert suite.card.name == "stereoset:all" and suite.strata == {"inter", "intra"}
    assert [p.id for p in suite.probes] == ["i1", "i2", "i3", "a1", "a2", "a3"]
    assert [p.tags["items"] for p in suite.probes] == ["3", "3", "3", "3", "3", "3"]
    assert [p.tags["half items"] for p in suite.probes] == ["2", "2", "1", "1", "2", "2"]
    halves = [p for half in ("inter", "intra") for p in build(folder, half).probes]
    assert [p.texts for p in suite.probes] == [p.texts for p in halves]
    some = build(folder, "all-some").probes
    assert some[0].texts == suite.probes[0].texts and "some" in some[3].texts[0]


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


def test_the_published_file_comes_in_whole(data: Path) -> None:
    if not (data / "stereoset" / FILE).exists():
        pytest.skip(f"stereoset/{FILE} is not beside the project")
    inter, intra = build(data), build(data, "intra")
    assert (len(inter.probes), len(intra.probes), inter.card.version) == (2123, 2106, "dev")
    assert [len({p.cluster for p in s.probes}) for s in (inter, intra)] == [79, 79]
    for probe in intra.probes:
        sentence, words = probe.tags["sentence"], probe.tags["words"].split("|")
        assert len(words) == 3 and probe.texts[0] == sentence.replace("[BLANK]", "what")
        filled = [sentence.replace("[BLANK]", w).lower() for w in words]
        assert filled == [t.lower() for t in probe.texts[1:]]
    sentences = [p.tags["sentence"] for p in intra.probes]
    blanks = [s.count("[BLANK]") for s in sentences]
    assert (blanks.count(1), blanks.count(2)) == (2104, 2)
    assert sum(s.startswith("[BLANK]") for s in sentences) == 19
    glued = [s for s in sentences if re.search(r"BLANK\]\w", s)]
    assert glued == ["The grandfather [BLANK]ed the grandchildren."]
    for suite in (inter, intra):
        weights = sum(1 / int(p.tags["items"]) for p in suite.probes)
        assert weights == pytest.approx(79)  # every term weighs one
