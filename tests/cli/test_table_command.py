"""`evenhand table`: the tables of the papers for rules whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Outcome, evenhand
from ladders import SCORES, make_ladder

from evenhand.meta.ladder import write_ladder

QUICK = ("--limit", "120", "--resamples", "100", "--permutations", "100")


def table(folder: Path, *words: object) -> tuple[Outcome, dict[str, Any]]:
    """The command with its numbers; empty where it failed."""
    found = evenhand("table", *words, "--out", folder, "--json")
    return found, json.loads(found.out) if found.code == 0 else {}


def cells(fields: dict[str, Any], name: str) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """The cells of a table by the labels of their row; of repeated labels the first."""
    rows: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in next(t for t in fields["tables"] if t["name"] == name)["rows"]:
        rows.setdefault(tuple(row["labels"]), row["cells"])
    return rows


def values(row: list[dict[str, Any]]) -> list[Any]:
    return [cell["value"] if cell else None for cell in row]


def test_nli_coal(data: Path, tmp_path: Path) -> None:
    found, fields = table(
        tmp_path,
        "nli-coal",
        "fixed:fair",
        "fixed:constant",
        "fixed:stereotyped",
        "stored:BERT",
        "--data",
        data,
        *QUICK,
    )
    assert found.code == 0, found.err
    rows = cells(fields, "table3")
    # entailment, contradiction, neutral of the PS set, FN, NLI-CoAL
    assert values(rows["fixed:fair", "PS set"]) == [0, 0, 1, 0, 0]
    assert values(rows["fixed:stereotyped", "PS set"])[:3] == [1, 0, 0]
    names = [row["labels"][0] for row in fields["tables"][0]["rows"] if row["labels"][0]]
    scores = {name: rows[name, "PS set"][-1]["value"] for name in names}
    known = [scores[name] for name in names if scores[name] is not None]
    assert known == sorted(known, reverse=True)  # as the paper orders its rows
    refused = rows["stored:BERT", "PS set"]
    assert values(refused) == [None] * 5
    assert all("cannot answer pair probes" in cell["reason"] for cell in refused)
    assert names[-1] == "stored:BERT"
    assert any("meta run" in line for line in fields["left_out"])
    text = (tmp_path / "table.tex").read_text(encoding="utf-8")
    assert r"\begin{tabular}" in text
    assert "n/a (1)" in text
    assert "(1) 'stored:BERT' is a respondent of the kind 'stored'" in text.replace("''", "'")
    page = (tmp_path / "table.html").read_text(encoding="utf-8")
    assert "How this differs from the paper" in page


def test_a_ladder_gives_table_2_and_figure_4(tmp_path: Path) -> None:
    folders = []
    for language in ("ja", "en"):
        folder = tmp_path / language
        folder.mkdir()
        write_ladder(make_ladder(SCORES, language=language), folder / "ladder.json")
        folders += ["--ladder", folder]
    found, fields = table(tmp_path / "out", "nli-coal", *folders, "--permutations", "100")
    assert found.code == 0, found.err
    (table2,) = fields["other_tables"]
    assert table2["columns"] == ["measure", "English", "日本語"]
    rows = {row[0]: row[1:] for row in table2["rows"]}
    assert rows["NLI-CoAL"] == pytest.approx([1.0, 1.0])
    assert rows["NLI-CoAL, as published"] == [0.999, 1.0]
    assert rows["Fraction Neutral"] == ["-", "-"]  # a constant score
    assert rows["Fraction Neutral, as published"] == [-0.263, "-"]
    assert fields["figures"] == ["scores", "scores"]
    assert (tmp_path / "out" / "scores-2.svg").is_file()


def test_sharma(data: Path, tmp_path: Path) -> None:
    if not (data / "sharma2021").is_dir():
        pytest.skip("the sets of Sharma et al. are not beside the project")
    dev = tmp_path / "dev.jsonl"
    pairs = [("A man sleeps.", "A person sleeps.", "entailment")] * 3
    pairs += [("A man sleeps.", "A man runs.", "contradiction")]
    dev.write_text(
        "".join(
            json.dumps({"premise": f"{p} {i}", "hypothesis": h, "label": label}) + "\n"
            for i, (p, h, label) in enumerate(pairs)
        ),
        encoding="utf-8",
    )
    words = ("sharma", "fixed:stereotyped", "fixed:random", "--data", data, *QUICK)
    after = ("--after", "fixed:fair", "--after", "fixed:random")
    found, fields = table(tmp_path, *words, *after, "--trained-on", "snli", "--dev", dev)
    assert found.code == 0, found.err
    rows = cells(fields, "table5")  # Acc, S, dP, B
    assert values(rows[("fixed:stereotyped",)]) == pytest.approx([1.0, 0.0, 1.0, 1.0])
    assert len(fields["tables"][0]["rows"]) == 4  # two models on (I) and on (O)
    halves = cells(fields, "table6")  # dP male, dP female, B male, B female
    assert values(halves[("fixed:stereotyped",)]) == pytest.approx([1.0] * 4)
    assert values(cells(fields, "table7")[("fixed:fair",)])[1:3] == pytest.approx([1.0, 0.0])
    changes = cells(fields, "changes")
    assert values(changes["fixed:stereotyped", "dP ↓"]) == pytest.approx([1.0, 0.0, -1.0])
    assert values(changes["fixed:random", "B ↓"])[2] == 0.0  # the same model before and after
    assert {"figure2"} < {*fields["figures"]}
    short, _ = table(tmp_path, *words, "--after", "fixed:fair")
    assert short.code == 2
    assert "--after names 1 model and the table has 2 models" in short.err
    wrong, _ = table(tmp_path, *words, "--trained-on", "anli")
    assert (wrong.code, "snli and mnli" in wrong.err) == (2, True)


def test_cgb(data: Path, tmp_path: Path) -> None:
    if not (data / "cgb").is_dir():
        pytest.skip("the file of Zhu et al. is not beside the project")
    found, fields = table(
        tmp_path, "cgb", "stored:BERT", "fixed:fair", "default", "--data", data, "--resamples", 100
    )
    assert found.code == 0, found.err
    rows = cells(fields, "table1")
    assert values(rows[("stored:BERT",)]) == pytest.approx([0.819, 0.540, 0.697], abs=0.001)
    assert values(rows[("fixed:fair",)])[1:] == [0.0, 0.0]
    assert all("cannot answer mask probes" in cell["reason"] for cell in rows[("default",)])
    people = cells(fields, "section44")
    assert people[("everybody",)][2]["value"] == pytest.approx(0.030, abs=0.001)
    shares = [cell["value"] for cell in people[("everybody",)][3:]]
    assert shares == pytest.approx([0.4732, 0.4260, 0.1008], abs=0.0001)
    assert "--people STUDY.toml" in people[("Annotator1",)][1]["reason"]
    pearson = next(t for t in fields["other_tables"] if t["name"] == "pearson")
    assert pearson["rows"][0][1]["value"] == pytest.approx(0.117, abs=0.001)
    assert {"people-agreement", "figure4"} <= {*fields["figures"]}
    assert any(line.startswith("default in Figure 4") for line in fields["left_out"])


def test_esp(data: Path, tmp_path: Path) -> None:
    if not (data / "esp").is_dir() or not (data / "stereoset").is_dir():
        pytest.skip("the prompts of ESP or StereoSet are not beside the project")
    found, fields = table(tmp_path, "esp", "fixed:constant", "stored:BERT", "--data", data, *QUICK)
    assert found.code == 0, found.err
    glue = cells(fields, "table3")[("fixed:constant",)]
    assert all("Download the task" in cell["reason"] for cell in glue[:4])
    words = values(cells(fields, "table4-words")[("fixed:constant",)])
    # by ties alone: recognition one half, fairness one, iCAT one half
    assert words == pytest.approx([0.5, 0.0, 1.0, 0.0, 0.5, 1.0, 0.0, 0.5])
    halves = cells(fields, "table4-stereoset")
    assert values(halves[("fixed:constant",)])[1] == 0.0  # ties count against SS
    assert values(halves[("stored:BERT",)]) == [None] * 6


def test_answers_of_one_table_are_rows_of_another(data: Path, tmp_path: Path) -> None:
    first, before = table(tmp_path / "a", "nli-coal", "fixed:random", "--data", data, *QUICK)
    assert first.code == 0, first.err
    again, after = table(
        tmp_path / "b", "nli-coal", "--stored", tmp_path / "a", "--data", data, *QUICK
    )
    assert again.code == 0, again.err
    assert after["models"][0]["is_stored"] is True
    assert values(cells(after, "table3")["fixed:random", "PS set"]) == values(
        cells(before, "table3")["fixed:random", "PS set"]
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nli-coall", "default"), "Did you mean nli-coal"),
        (("nli-coal",), "name the models of the tables of nli-coal"),
        (("nli-coal", "defualt"), "Did you mean default"),
        (("nli-coal", "fixed:fair"), "no cell of the tables has a value"),
        (("esp", "fixed:fair", "--people", "x.toml"), "it is an option of cgb"),
        (("cgb", "fixed:fair", "--trained-on", "snli"), "it is an option of sharma"),
        (("sharma", "fixed:fair", "--lang", "ja"), "it is an option of nli-coal"),
        (("cgb", "fixed:fair", "--stored", "nowhere"), "is neither a folder"),
        (("nli-coal", "--ladder", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_is_said_at_once(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    """Without the published data: a new user's first commands."""
    found = evenhand("table", *words, "--out", tmp_path / "out")
    assert found.code == 2, found.out
    assert message in found.err
    assert not (tmp_path / "out").exists()
