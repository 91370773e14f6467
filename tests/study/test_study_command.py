"""`evenhand annotate` from an empty folder to scores; answers survive a server that is killed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from commands import evenhand

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")

from study_site import ITEMS, PASSWORD, Place, do_part, open_place, send

from evenhand.study.serving import open_store
from evenhand.study.study import open_study

LOAD = Path(__file__).resolve().parents[2] / "benchmarks" / "study_load.py"


def test_new_writes_a_file_that_serves(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    done = evenhand("annotate", "new", path, "--lang", "en")
    assert done.code == 0, done.err
    assert 'name = "mine"' in path.read_text(encoding="utf-8")
    again = evenhand("annotate", "new", path, "--lang", "en")
    assert again.code == 2
    assert "is there already" in again.err
    done = evenhand("annotate", "status", path)
    assert done.code == 0, done.err
    assert f"nobody has been invited yet: evenhand annotate invite {path}" in done.out


class Terminal(io.StringIO):
    """Standard input of somebody who sits at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_new_asks_for_the_language(tmp_path: Path, language: str) -> None:
    path = tmp_path / "mine.toml"
    with mock.patch.object(sys, "stdin", io.StringIO("")):
        done = evenhand("annotate", "new", path)
    assert done.code == 2
    assert "give --lang, one of zh (中文), en (English), ja (日本語)" in done.err
    assert not path.exists()
    with mock.patch.object(sys, "stdin", Terminal(f"{language}\n")):
        done = evenhand("annotate", "new", path)
    assert done.code == 0, done.err
    study, suite = open_study(path)
    assert (study.languages[0], suite.card.language) == (language, language)
    wrong = evenhand("annotate", "new", tmp_path / "other.toml", "--lang", "fr")
    assert (wrong.code, "unknown language of a study 'fr'" in wrong.err) == (2, True)
    assert not (tmp_path / "other.toml").exists()


def test_a_mistake_in_the_file_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('name = "bad"\ntrail = 5\n', encoding="utf-8")
    done = evenhand("annotate", "serve", path)
    assert done.code == 2
    assert "row 2" in done.err
    assert "trial" in done.err


def test_invite_revoke_status_score_export(tmp_path: Path) -> None:
    place = open_place(tmp_path)
    path = tmp_path / "small.toml"
    links = evenhand(
        "annotate", "invite", path, "--count", 2, "--url", "https://lab.example/"
    ).out.split()
    assert [link[:22] for link in links] == ["https://lab.example/i/"] * 2
    for link, person in zip(links, place.store.annotators(), strict=True):
        client = place.client()
        page = send(
            client, client.get(link.removeprefix("https://lab.example")), "/consent", agree="1"
        )
        do_part(place, person.id, client, send(client, page, "/start"))
        do_part(place, person.id, client, send(client, client.get("/next"), "/start"))
    rows = json.loads(evenhand("annotate", "status", path, "--json").out)
    assert [(r["annotator"], r["part"], r["answered"], r["result"]) for r in rows] == [
        (f"annotator-{n}", part, size, "passed")
        for n in (1, 2)
        for part, size in (("trial", 6), ("batch-1", 8))
    ]
    assert "annotator-2" in evenhand("annotate", "status", path).out
    result = json.loads(
        evenhand(
            "annotate",
            "score",
            path,
            "--json",
            "--resamples",
            100,
            "--out",
            tmp_path / "sentences.csv",
        ).out
    )
    assert [row["name"] for row in result["annotators"]] == [
        "annotator-1",
        "annotator-2",
        "everybody",
    ]
    assert result["annotators"][0]["mean"]["value"] == 0  # they marked both words equal, or said 3
    assert result["alpha"]["MS"]["value"] is None
    assert (
        (tmp_path / "sentences.csv")
        .read_text(encoding="utf-8")
        .startswith("probe,stratum,text,fine,coarse,label,annotators")
    )
    printed = evenhand("annotate", "score", path, "--resamples", 100).out
    assert "alpha MS: n/a" in printed
    assert "controls, annotator-1: accuracy 100 % of 1, consistency 100 % of 1" in printed
    assert "controls, everybody: accuracy 100 % of 2, consistency 100 % of 2" in printed
    assert [row["name"] for row in result["controls"]] == [
        "annotator-1",
        "annotator-2",
        "everybody",
    ]
    assert result["controls"][2]["accuracy"] == {"value": 1.0, "asked": 2, "note": ""}
    # the test answers at once: nobody reads like that, and the answers count all the same
    assert result["controls"][0]["flags"]["fast"] == 8
    status = evenhand("annotate", "status", path).out
    assert "noticed, annotator-1, trial (1): 6 faster than anybody can read" in status
    for name in ("all.csv", "all.jsonl", "all.parquet"):
        assert evenhand("annotate", "export", path, "--out", tmp_path / name).code == 0
        assert (tmp_path / name).stat().st_size > 0
    assert evenhand("annotate", "export", path, "--out", tmp_path / "folder").code == 0
    assert evenhand("annotate", "revoke", path, links[0]).out == "revoked 1 of 1 links\n"
    assert evenhand("annotate", "revoke", path, "2").out == "revoked 1 of 1 links\n"
    assert place.client().get(links[1].removeprefix("https://lab.example")).status_code == 403
    renewed = evenhand("annotate", "invite", path, "--annotator", "annotator-2").out.strip()
    assert place.client().get(renewed.removeprefix("http://127.0.0.1:8000")).url.path == "/done"
    unknown = evenhand("annotate", "revoke", path, "annotator-9")
    assert unknown.code == 2
    assert "unknown annotator" in unknown.err
    place.store.close()


def test_inventories_are_scored(tmp_path: Path) -> None:
    place = open_place(tmp_path, has_inventory=True)
    name, link = place.invite()
    place.store.answer_inventory(name, "mornings", {"1": 4, "2": 1}, "key")
    before = evenhand(
        "annotate", "score", tmp_path / "small.toml"
    )  # whom to take on is decided by them
    assert before.out == "mornings, annotator-1: total 2.500\n"
    assert ITEMS.startswith("id,")
    client = place.client()
    client.get(link)
    place.store.set_state(name, "ready")
    do_part(place, name, client, send(client, client.get("/next"), "/start"))
    result = json.loads(
        evenhand("annotate", "score", tmp_path / "small.toml", "--json", "--resamples", 100).out
    )
    assert result["inventories"] == {"mornings": {"annotator-1": {"total": 2.5}}}
    assert result["annotators"] == []  # the trial is practice
    place.store.close()


def test_a_study_moves_to_a_new_store(tmp_path: Path) -> None:
    place = open_place(tmp_path, has_inventory=True)
    path = tmp_path / "small.toml"
    name, link = place.invite()
    place.store.answer_inventory(name, "mornings", {"1": 4, "2": 1}, "key")
    place.store.set_state(name, "ready")
    client = place.client()
    client.get(link)
    do_part(place, name, client, send(client, client.get("/next"), "/start"))
    for form in ((), ("--form", "csv")):
        done = evenhand(
            "annotate", "export", path, "--out", tmp_path / f"study{len(form)}.zip", *form
        )
        assert (done.code, done.out) == (0, f"wrote {tmp_path}/study{len(form)}.zip\n")
    assert evenhand("annotate", "export", path, "--out", tmp_path / "all.csv").out.split() == [
        "wrote",
        f"{tmp_path}/all.csv",
        "wrote",
        f"{tmp_path}/all-inventories.csv",
    ]
    full = evenhand("annotate", "import", path, tmp_path / "study0.zip")
    assert full.code == 2 and "this store is not empty (1 rows of annotators)" in full.err
    before, rows = evenhand("annotate", "status", path, "--json").out, place.store.answers_table()
    place.store.close()
    lines = path.read_text(encoding="utf-8")
    for number in (0, 2):
        path.write_text(f'store = "sqlite:///new{number}.db"\n{lines}', encoding="utf-8")
        done = evenhand("annotate", "import", path, tmp_path / f"study{number}.zip")
        assert (
            done.out == "stored 1 annotators, 1 invitations, 1 parts, 6 questions, 6 answers, "
            "2 inventory answers, 0 resolutions, 0 events\n"
        ), done.err
        assert f"evenhand annotate owner {path} NAME" in done.err
        assert evenhand("annotate", "status", path, "--json").out == before
        study, suite = open_study(path)
        with open_store(study, suite) as moved:
            assert moved.answers_table().equals(rows)
            page = Place(study, suite, moved).client().get(link)
            assert (page.status_code, page.url.path) == (
                200,
                "/start",
            )  # the same secret: the link goes on, and so does the person


def test_the_owner_gets_a_password(tmp_path: Path) -> None:
    place = open_place(tmp_path)
    path = tmp_path / "small.toml"
    with mock.patch.object(sys, "stdin", io.StringIO("short\n")):
        done = evenhand("annotate", "owner", path, "lab", "--password-stdin")
    assert done.code == 2
    assert "at least 10" in done.err
    with mock.patch.object(sys, "stdin", io.StringIO(PASSWORD + "\n")):
        done = evenhand("annotate", "owner", path, "lab", "--password-stdin")
    assert done.code == 0, done.err
    assert PASSWORD not in done.out + done.err
    client = place.client()
    assert (
        send(
            client, client.get("/owner/login"), "/owner/login", name="lab", password=PASSWORD
        ).status_code
        == 200
    )
    place.store.close()


@pytest.mark.skipif(not LOAD.exists(), reason="the benchmarks are not here")
def test_every_acknowledged_answer_survives_kill_9() -> None:
    """20 annotators at once, 200 answers, the server killed in the middle and started again."""
    command = [
        sys.executable,
        str(LOAD),
        "--annotators",
        "20",
        "--answers",
        "200",
        "--think",
        "0.02",
        "--json",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=900, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert (result["answers"], result["questions"], result["acknowledged"]) == (200, 200, 200)
    assert (result["lost"], result["doubled"]) == (0, 0)
    assert result["retries"] > 0  # the server was really gone
