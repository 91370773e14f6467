"""The catalog: a folder, or another package's entry point, is enough to be in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, UnknownNameError

PLUGIN = """
from dataclasses import replace

from evenhand.core.family import Family
from evenhand.families import nli_coal, ordinary
from evenhand.languages.en import English
from evenhand.respondents.fixed import FixedSource

SUITE = type(ordinary.FAMILY.suites[0])()
SUITE.name = "my-suite"

class MySource(FixedSource):
    name = "my-respondents"

class MyLanguage(English):
    code = "xx"

FAMILY = Family(
    name="mine",
    title="Mine",
    measures=(replace(nli_coal.FAMILY.measures[0], name="my_measure"),),
    suites=(SUITE,),
)
RESPONDENT, LANGUAGE = MySource(), MyLanguage()
INCOMPLETE = object()
TAKEN = replace(FAMILY, name="taken", measures=nli_coal.FAMILY.measures, suites=())
"""
ALL = """
[evenhand.families]
mine = my_plugin
[evenhand.respondents]
mine = my_plugin
[evenhand.languages]
mine = my_plugin:LANGUAGE
"""
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def plugged(tmp_path: Path) -> Run:
    """Run the program as if a package with these entry points were installed."""
    (tmp_path / "my_plugin.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "my_plugin-1.0.dist-info"
    info.mkdir()
    metadata = "Metadata-Version: 2.1\nName: my-plugin\nVersion: 1.0\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")

    def run(points: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (info / "entry_points.txt").write_text(points, encoding="utf-8")
        path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
        return subprocess.run(
            [sys.executable, "-m", "evenhand", *arguments],
            check=False,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        )

    return run


@pytest.mark.parametrize(
    ("section", "key", "mine", "theirs"),
    [
        ("families", "name", "mine", "nli_coal"),
        ("measures", "name", "my_measure", "nli_coal"),
        ("suites", "name", "my-suite", "occupation-nli"),
        ("respondents", "name", "my-respondents", "fixed"),
        ("languages", "code", "xx", "en"),
    ],
)
def test_an_entry_point_adds_to_a_section(
    plugged: Run, section: catalog.Section, key: str, mine: str, theirs: str
) -> None:
    done = plugged(ALL, "list", section, "--json")
    assert done.returncode == 0, done.stderr
    assert {mine, theirs} <= {row[key] for row in json.loads(done.stdout)}
    assert mine not in catalog.entries(section)


def test_a_suite_of_a_plugin_can_be_built(plugged: Run, tmp_path: Path) -> None:
    done = plugged(ALL, "suites", "build", "my-suite", "--out", str(tmp_path / "mine.jsonl"))
    assert done.returncode == 0, done.stderr
    card = json.loads((tmp_path / "mine.card.json").read_text(encoding="utf-8"))
    assert (card["name"], card["probes"]) == ("my-suite:plain", 156)


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        (
            "[evenhand.families]\nmine = no_such_module\n",
            "entry point 'mine' of group evenhand.families (no_such_module) does not load: No mod",
        ),
        (
            "[evenhand.families]\nmine = my_plugin:ABSENT\n",
            "(my_plugin:ABSENT) does not load: module 'my_plugin' has no attribute 'ABSENT'",
        ),
        (
            "[evenhand.families]\nmine = my_plugin:INCOMPLETE\n",
            "my_plugin:INCOMPLETE is not a family: it is a object, not a Family",
        ),
        (
            "[evenhand.respondents]\nmine = my_plugin:INCOMPLETE\n",
            "my_plugin:INCOMPLETE is not one of the respondents: it lacks claims, description",
        ),
        ("[evenhand.families]\nmine = json\n", "the module json has no constant FAMILY"),
        (
            "[evenhand.families]\none = my_plugin\ntwo = my_plugin\n",
            "two families are named 'mine'",
        ),
        (
            "[evenhand.families]\nmine = my_plugin:TAKEN\n",
            "two measures are named 'nli_coal'; the second comes from the family 'taken'",
        ),
    ],
    ids=["no module", "no attribute", "no family", "incomplete", "nothing", "twice", "taken"],
)
def test_a_broken_entry_point_is_named_in_one_line(plugged: Run, points: str, reason: str) -> None:
    section = "respondents" if "respondents" in points else "measures"
    done = plugged(points, "list", section, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and reason in done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1


def test_an_unknown_name_suggests_close_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown measure 'nli_cola'\. Did you mean"):
        catalog.measure("nli_cola")
    with pytest.raises(UnknownNameError, match=r"unknown suite 'Occupation-NLI'\. Did you mean"):
        catalog.suite("Occupation-NLI")
    with pytest.raises(UnknownNameError, match=r"unknown family 'stereo'\. Did you mean stereoset"):
        catalog.family("stereo")
    with pytest.raises(UnknownNameError, match=r"unknown language 'klingon'\. Known: en, ja, ko"):
        catalog.language("klingon")
    assert issubclass(UnknownNameError, EvenhandError)
    twice = UnknownNameError("name", "glu", ["glue", "stereoset", "glue"])
    assert str(twice) == "unknown name 'glu'. Did you mean glue?"


def test_the_folder_is_the_registration() -> None:
    folder = Path(catalog.__file__).parent.parent / "families"
    folders = sorted(p.name for p in folder.iterdir() if (p / "__init__.py").exists())
    assert list(catalog.families()) == folders
    for name, family in catalog.families().items():
        assert family.name == name


@pytest.mark.parametrize("section", catalog.SECTIONS)
def test_everything_in_the_catalog_has_the_name_it_is_found_under(
    section: catalog.Section,
) -> None:
    for name, entry in catalog.entries(section).items():
        assert name == (entry.code if section == "languages" else entry.name)
        assert catalog.find(section, name) is entry


def test_every_measure_says_what_a_report_needs() -> None:
    for measure in catalog.measures().values():
        assert measure.best in ("fair", "right", "ideal")
        assert 0 < len(measure.card.short) <= 32 and measure.card.title
        assert measure.function.__name__ == measure.name and measure.function.__doc__
        low, high = measure.card.range
        assert low <= measure.fair <= high


def test_one_family_is_asked_by_default_and_one_checks() -> None:
    assert catalog.default_suite() == "occupation-nli"
    assert [f.name for f in catalog.checks()] == ["ordinary"]
