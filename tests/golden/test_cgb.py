"""The numbers of Zhu et al. 2024 from their published file, as `evenhand reproduce cgb` does.

Table 1, section 4.4 and Figure 4.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from evenhand.cli.main import run
from evenhand.core.answers import Answers
from evenhand.core.suite import Suite
from evenhand.families.contextualised.published import FILE, MODELS
from evenhand.reproduce import cgb
from evenhand.reproduce.paper import PrintedNumber

TABLE = "cgb_table1"
PRINTED = (
    5 * 3 + 1 + 3 + 2 + 5 + 1
)  # Table 1; the annotators' mean, shares and agreements; correlations and one p
COUNTS = 2  # measuring and objective sentences, which the command counts as well

Golden = Callable[[str], dict[str, Any]]
Read = tuple[Suite, dict[str, Answers]]


@pytest.fixture(scope="module")
def published(data: Path) -> Path:
    if not (data / "cgb" / FILE).exists():
        pytest.skip(f"{FILE} is not beside the project")
    return data


@pytest.fixture(scope="module")
def read(published: Path) -> Read:
    return cgb.load(published)


@pytest.fixture(scope="module")
def rows(read: Read) -> list[PrintedNumber]:
    return list(cgb.compare(*read))


def printed_numbers(table: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Where and under which name each number of the golden file is compared."""
    titles = {
        "os_accuracy": "accuracy on objective sentences",
        "ms_bias": "mean |PB|",
        "ms_sd": "SD of PB",
    }
    people = {
        "ms_mean_fine": "annotators: mean score",
        "share_male": "sentences labelled male",
        "share_female": "sentences labelled female",
        "share_neutral": "sentences labelled neutral",
        "alpha_ms": "Krippendorff's alpha, measuring sentences",
        "alpha_os": "Krippendorff's alpha, objective sentences",
    }
    for model, numbers in table["models"].items():
        for key, value in numbers.items():
            where = "Table 1" if key in titles else "Figure 4"
            what = (
                titles.get(key) or {"r_annotators": "r with annotators", "p_annotators": "p"}[key]
            )
            yield where, f"{model}: {what}", value
    for key, value in table["annotators"].items():
        yield "4.4", people[key], value


def test_every_golden_number_is_compared_and_comes_out(
    golden: Golden, rows: list[PrintedNumber]
) -> None:
    table = golden(TABLE)
    computed = {(r.where, r.what): r for r in rows}
    wanted = {(where, what): value for where, what, value in printed_numbers(table)}
    assert len(wanted) == len(rows) == PRINTED
    assert computed.keys() == wanted.keys()
    for key, value in wanted.items():
        assert computed[key].printed == value, key
        assert computed[key].computed == pytest.approx(value, abs=table["tolerance"]), key
        assert computed[key].tolerance == table["tolerance"]
        assert computed[key].is_met, key


def test_the_sentences_are_as_many_as_printed(golden: Golden, read: Read) -> None:
    suite, answers = read
    assert Counter(p.stratum for p in suite.probes) == golden(TABLE)["counts"]
    assert suite.card.version == "2024"  # the published file and no other
    assert all(not given.unanswered for given in answers.values())


def test_the_copy_in_the_package_is_the_golden_file(golden: Golden) -> None:
    printed = golden(TABLE)
    assert cgb.printed_numbers() == printed
    assert (
        json.loads((files("evenhand.reproduce") / "cgb.json").read_text(encoding="utf-8"))
        == printed
    )


def test_numbers_that_are_off_or_undefined_are_not_met() -> None:
    computed = (0.5, 0.501, 0.499, 0.5011, 0.4989, float("nan"), float("inf"))
    rows = [
        PrintedNumber(where="", what="", printed=0.5, computed=value, tolerance=0.001)
        for value in computed
    ]
    assert [row.is_met for row in rows] == [True, True, True, False, False, False, False]


def command(*words: object) -> tuple[int, str]:
    """Exit code and standard output of `evenhand WORDS`."""
    out = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["evenhand", *map(str, words)]),
        mock.patch.dict("os.environ", {"COLUMNS": "200", "NO_COLOR": "1"}),
        contextlib.redirect_stdout(out),
    ):
        try:
            run()
            code = 0
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else 0 if leave.code is None else 1
    return code, out.getvalue()


def test_the_command_prints_every_row_and_leaves_with_0(
    published: Path, rows: list[PrintedNumber], tmp_path: Path
) -> None:
    code, out = command("reproduce", "cgb", "--data", published, "--out", tmp_path)
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    for row in rows:
        difference = f"{row.computed - row.printed:+.4f}".replace("-0.0000", "+0.0000")
        shown = f"{row.where} {row.what} {row.printed:g} {row.computed:.4f} {difference} ok"
        assert shown in lines, shown
    assert "DIFFERS" not in out
    every = PRINTED + COUNTS
    assert f"{every} of {every} printed numbers come out within 0.001" in out
    page = (tmp_path / "reproduction.html").read_text(encoding="utf-8")
    assert all(f"{model}: 19,785 sentences, r = " in page for model in MODELS)
    assert (tmp_path / "figure4.svg").stat().st_size > 1000


def small(folder: Path, published: Path, factor: float) -> Path:
    """The first rows of the file of each sort, the PB of BERT times `factor`."""
    with (published / "cgb" / FILE).open(encoding="utf-8-sig", newline="") as stream:
        table = list(csv.reader(stream))
    head, body = table[0], table[1:]
    kept = [r for r in body if r[0] == "MS"][:400] + [r for r in body if r[0] == "OS"][:100]
    column = head.index("BERT")
    changed = [[*r[:column], repr(float(r[column]) * factor), *r[column + 1 :]] for r in kept]
    (folder / "cgb").mkdir(parents=True)
    with (folder / "cgb" / FILE).open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([head, *changed])
    return folder


def test_doubled_numbers_are_found_out(published: Path, tmp_path: Path) -> None:
    """Of a few sentences all numbers differ from the printed ones.

    Of two such files only what depends on the size of BERT's PB differs.
    """
    both = []
    for name, factor in (("plain", 1.0), ("doubled", 2.0)):
        folder = small(tmp_path / name, published, factor)
        code, out = command(
            "reproduce", "cgb", "--data", folder, "--out", tmp_path / f"{name}-report", "--json"
        )
        assert code == 1
        fields = json.loads(out)
        assert fields["suite"].startswith("cgb@2024-changed#")
        both.append({row["what"]: row for row in fields["rows"]})
    plain, doubled = both
    differ = {
        what
        for what in plain
        if plain[what]["computed"] != pytest.approx(doubled[what]["computed"])
    }
    assert differ == {"BERT: mean |PB|", "BERT: SD of PB"}
    for what in differ:
        assert doubled[what]["computed"] == pytest.approx(2 * plain[what]["computed"])
        assert doubled[what]["is_met"] is False
    code, out = command(
        "reproduce", "cgb", "--data", tmp_path / "doubled", "--out", tmp_path / "again"
    )
    assert code == 1
    named = [line for line in out.splitlines() if line.rstrip().endswith("DIFFERS")]
    assert {what for what in doubled if not doubled[what]["is_met"]} == {
        what for what in doubled if any(what in line for line in named)
    }
    every = PRINTED + COUNTS
    assert f"{every - len(named)} of {every} printed numbers come out within 0.001" in out
