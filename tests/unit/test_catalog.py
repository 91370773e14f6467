"""Is a new file, or another package's entry point, enough to be in the catalog?"""

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
from evenhand.measures.coal import NliCoal
from evenhand.families.ordinary.suite import OrdinaryNli
from evenhand.respondents.fixed import FixedSource
from evenhand.languages.en import English

class Mine(NliCoal):
    name = "my_measure"

class MySuite(OrdinaryNli):
    name = "my-suite"

class MySource(FixedSource):
    name = "my-respondents"

class MyLanguage(English):
    code = "xx"

MEASURE, SUITE, RESPONDENT, LANGUAGE = Mine(), MySuite(), MySource(), MyLanguage()
INCOMPLETE = object()
"""
ALL = """
[evenhand.measures]
mine = my_plugin
[evenhand.suites]
mine = my_plugin:SUITE
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
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: my-plugin\nVersion: 1.0\n", encoding="utf-8"
    )

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
        ("measures", "name", "my_measure", "nli_coal"),
        ("suites", "name", "my-suite", "occupation-nli"),
        ("respondents", "name", "my-respondents", "fixed"),
        ("languages", "code", "xx", "en"),
    ],
)
def test_an_entry_point_adds_to_a_section(
    plugged: Run, section: str, key: str, mine: str, theirs: str
) -> None:
    done = plugged(ALL, "list", section, "--json")
    assert done.returncode == 0, done.stderr
    assert {mine, theirs} <= {row[key] for row in json.loads(done.stdout)}
    assert mine not in catalog.entries(section)


def test_a_suite_of_a_plugin_can_be_built(plugged: Run, tmp_path: Path) -> None:
    done = plugged(ALL, "suites", "build", "my-suite", "--out", str(tmp_path / "mine.jsonl"))
    assert done.returncode == 0, done.stderr
    card = json.loads((tmp_path / "mine.card.json").read_text(encoding="utf-8"))
    assert (card["name"], card["probes"]) == ("my-suite", 174)


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        (
            "[evenhand.measures]\nmine = no_such_module\n",
            "entry point 'mine' of group evenhand.measures (no_such_module) does not load: No module",
        ),
        (
            "[evenhand.measures]\nmine = my_plugin:ABSENT\n",
            "(my_plugin:ABSENT) does not load: module 'my_plugin' has no attribute 'ABSENT'",
        ),
        (
            "[evenhand.measures]\nmine = my_plugin:INCOMPLETE\n",
            "my_plugin:INCOMPLETE is not one of the measures: it lacks card, combine, evidence, fair, kind, labels",
        ),
        ("[evenhand.measures]\nmine = json\n", "json is not one of the measures: it lacks card"),
        (
            "[evenhand.measures]\none = my_plugin\ntwo = my_plugin\n",
            "two measures are named 'my_measure'",
        ),
        (
            "[evenhand.measures]\nmine = evenhand.measures.coal\n",
            "two measures are named 'nli_coal'; the second comes from evenhand.measures.coal",
        ),
    ],
    ids=["no module", "no attribute", "incomplete", "nothing in it", "twice", "takes a name"],
)
def test_a_broken_entry_point_is_told_in_one_line(plugged: Run, points: str, reason: str) -> None:
    done = plugged(points, "list", "measures", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and reason in done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1


def test_an_unknown_name_suggests_close_ones() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown measure 'nli_cola'\. Did you mean nli_coal\?"
    ):
        catalog.measure("nli_cola")
    with pytest.raises(
        UnknownNameError, match=r"unknown suite 'Occupation-NLI'\. Did you mean occupation-nli"
    ):
        catalog.suite("Occupation-NLI")
    with pytest.raises(
        UnknownNameError, match=r"unknown language 'klingon'\. Known: en, ja, ko, zh\."
    ):
        catalog.language("klingon")
    assert issubclass(UnknownNameError, EvenhandError)


def test_the_file_is_the_registration() -> None:
    """Every file of a section that has the constant is there under its own name, and nothing else."""
    constants = {
        "measures": "MEASURE",
        "suites": "SUITE",
        "respondents": "RESPONDENT",
        "languages": "LANGUAGE",
    }
    for section in catalog.SECTIONS:
        folder = Path(catalog.__file__).parent.parent / section
        files = [
            p
            for p in folder.glob("*.py")
            if f"\n{constants[section]} = " in p.read_text(encoding="utf-8")
        ]
        names = list(catalog.entries(section))
        assert len(files) == len(names) and names == sorted(names)


@pytest.mark.parametrize("section", catalog.SECTIONS)
def test_everything_in_the_catalog_has_the_name_it_is_found_under(section: catalog.Section) -> None:
    for name, thing in catalog.entries(section).items():
        assert name == (thing.code if section == "languages" else thing.name)
        assert catalog.find(section, name) is thing
