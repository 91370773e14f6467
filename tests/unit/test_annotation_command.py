"""Does `evenhand annotate` lead from an empty folder to a served study and its scores? And do answers survive a server that is killed?"""

from __future__ import annotations

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

from study_site import ITEMS, PASSWORD, do_part, open_place, send

LOAD = Path(__file__).resolve().parents[2] / "benchmarks" / "study_load.py"


def test_new_writes_a_file_that_serves(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    done = evenhand("annotate", "new", path)
    assert done.code == 0, done.err
    assert 'name = "mine"' in path.read_text(encoding="utf-8")
    again = evenhand("annotate", "new", path)
    assert again.code == 2
    assert "is there already" in again.err
    done = evenhand("annotate", "status", path)
    assert done.code == 0, done.err
    assert "nobody has been invited yet" in done.out


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
    links = evenhand("annotate", "invite", path, "--count", 2, "--url", "https://lab.example/").out.split()
    assert [link[:22] for link in links] == ["https://lab.example/i/"] * 2
    for link, person in zip(links, place.store.annotators(), strict=True):
        client = place.client()
        page = send(client, client.get(link.removeprefix("https://lab.example")), "/consent", agree="1")
        do_part(place, person.id, client, send(client, page, "/start"))
        do_part(place, person.id, client, send(client, client.get("/next"), "/start"))
    rows = json.loads(evenhand("annotate", "status", path, "--json").out)
    assert [(r["annotator"], r["part"], r["answered"], r["result"]) for r in rows] == [
        (f"annotator-{n}", part, size, "passed") for n in (1, 2) for part, size in (("trial", 6), ("batch-1", 8))
    ]
    assert "annotator-2" in evenhand("annotate", "status", path).out
    found = json.loads(evenhand("annotate", "score", path, "--json", "--resamples", 100, "--out", tmp_path / "sentences.csv").out)
    assert [row["name"] for row in found["annotators"]] == ["annotator-1", "annotator-2", "everybody"]
    assert found["annotators"][0]["mean"]["value"] == 0  # they marked both words equal, or said 3
    assert found["alpha"]["MS"]["value"] is None
    assert (tmp_path / "sentences.csv").read_text(encoding="utf-8").startswith("probe,stratum,text,fine,coarse,label,annotators")
    assert "alpha MS: –" in evenhand("annotate", "score", path, "--resamples", 100).out
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
    assert ITEMS.startswith("id,")
    client = place.client()
    client.get(link)
    place.store.set_state(name, "ready")
    do_part(place, name, client, send(client, client.get("/next"), "/start"))
    found = json.loads(evenhand("annotate", "score", tmp_path / "small.toml", "--json", "--resamples", 100).out)
    assert found["inventories"] == {"mornings": {"annotator-1": {"total": 2.5}}}
    place.store.close()


def test_the_owner_gets_a_password(tmp_path: Path) -> None:
    import io

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
    assert send(client, client.get("/owner/login"), "/owner/login", name="lab", password=PASSWORD).status_code == 200
    place.store.close()


@pytest.mark.skipif(not LOAD.exists(), reason="the benchmarks are not here")
def test_every_acknowledged_answer_survives_kill_9() -> None:
    """20 annotators at once, 200 answers, the server killed in the middle and started again."""
    command = [sys.executable, str(LOAD), "--annotators", "20", "--answers", "200", "--think", "0.02", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["answers"], found["questions"], found["acknowledged"]) == (200, 200, 200)
    assert (found["lost"], found["doubled"]) == (0, 0)
    assert found["retries"] > 0  # the server was really gone
