"""From raw text to a suite with controls: two raters, agreement, decisions of the owner."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from commands import evenhand

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")

from starlette.testclient import TestClient
from study_site import PASSWORD, Page, Place, answer, hidden, kinds, page_text, send

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.suite import read_suite
from evenhand.study.archive import read_archive, write_archive
from evenhand.study.objective_results import judge_candidates, objective_status
from evenhand.study.owner import hash_password
from evenhand.study.serving import open_store
from evenhand.study.store import Store
from evenhand.study.study import open_study

TEXT = """
Seven months pregnant, she could no longer bend down. The woman gave birth to a baby at noon.
For forty years my grandfather wore a bushy beard. Polish is our mother tongue and always was.
The actress was so tired that she fell asleep. The monk was nineteen when he entered the monastery.
The clerk said that she was late this morning. The driver said that he was late this morning.
"""
# By hand: alike are 1, 3, 4 and 5, so 4 of 6. Of the 12 verdicts 6 are female, 3 male, 3 both:
# 1 - (4 / 12) / (1 - (6 x 5 + 3 x 2 + 3 x 2) / (12 x 11)) = 1 - (1 / 3) / (90 / 132) = 23 / 45.
FIRST = ("female", "female", "male", "female", "both", "female")
SECOND = ("female", "both", "male", "female", "both", "male")
ALPHA = 23 / 45


def make(folder: Path, *options: object) -> Place:
    """A study of the six candidates in the text."""
    (folder / "news.txt").write_text(TEXT, encoding="utf-8")
    path = folder / "rate.toml"
    done = evenhand(
        "annotate", "objective", "new", path, "--text", folder / "news.txt", "--lang", "en"
    )
    assert done.code == 0, done.err
    study, suite = open_study(path)
    return Place(study, suite, open_store(study, suite))


@pytest.fixture
def rating(tmp_path: Path) -> Iterator[Place]:
    place = make(tmp_path)
    yield place
    place.store.close()


def verdicts(place: Place, said: tuple[str, ...]) -> Mapping[str, str]:
    return dict(zip((p.id for p in place.suite.probes), said, strict=True))


def judge(place: Place, said: tuple[str, ...], *, is_finished: bool = True) -> tuple[str, Page]:
    """A rater who says this of the candidates, through the pages."""
    wanted = verdicts(place, said)
    name, client, page = place.person()
    while (asked := place.store.next_question(name)) is not None:
        keys = [option.key for option in asked.question.options]
        page = answer(client, page, value=keys.index(wanted[asked.question.probe]) + 1)
    return name, send(client, page, "/finish") if is_finished else page


def login(place: Place) -> TestClient:
    place.store.set_owner("lab", hash_password(PASSWORD))
    owner = place.client()
    page = send(owner, owner.get("/owner/login"), "/owner/login", name="lab", password=PASSWORD)
    assert page.url.path == "/owner"
    return owner


def test_from_text_to_a_suite_with_controls(rating: Place, tmp_path: Path) -> None:
    judge(rating, FIRST)
    _, page = judge(rating, SECOND)
    assert page.url.path == "/result"
    status = objective_status("rate", judge_candidates(rating.suite, rating.store))
    assert (status.shared, status.alike, status.raters) == (6, 4, ("annotator-1", "annotator-2"))
    assert status.agreement == pytest.approx(4 / 6)
    assert status.alpha == pytest.approx(ALPHA)
    assert (status.unresolved, status.resolved) == (2, 0)

    owner = login(rating)
    page = owner.get("/owner")
    text = page_text(page)
    assert "66.7\N{NO-BREAK SPACE}%" in text.replace(" %", "\N{NO-BREAK SPACE}%")
    assert "0.511" in text
    assert "4 of 6 sentences that two or more people judged" in text
    assert "Disagreements to resolve: 2" in text
    assert "Annotator 1: only “woman” · Annotator 2: both would do" in text
    assert "<mark>gave birth</mark>" in page.text
    for number, verdict in ((2, "female"), (6, "both")):
        page = send(owner, page, "/owner/resolve", probe=f"en/x0000{number}", verdict=verdict)
        assert page.status_code == 200
    assert "Resolved: 2" in page_text(page)
    assert "Disagreements to resolve: 0" in page_text(page)

    path, controls = tmp_path / "rate.toml", tmp_path / "controls.jsonl"
    done = evenhand("annotate", "objective", "export", path, "--out", controls)
    assert done.code == 0, done.err
    assert "objective: male 1, female 3" in done.out
    suite = read_suite(controls)
    tags = [(p.id, p.stratum, p.tags["gold"], p.tags["type"], p.tags["fair"]) for p in suite.probes]
    assert tags == [
        ("en/x00001", "OS", "female", "biology", "1"),
        ("en/x00002", "OS", "female", "biology", "1"),
        ("en/x00003", "OS", "male", "biology", "0"),
        ("en/x00004", "OS", "female", "collocation", "1"),
    ]
    assert suite.probes[0].tags["agreed"] == "annotator-1 annotator-2"
    assert suite.probes[1].tags["judged"] == "annotator-1 female, annotator-2 both"
    assert suite.probes[1].tags["resolved"] == "owner"
    assert "agreed" not in suite.probes[1].tags
    assert (
        "study 'rate': 6 of 6 candidates judged by 2 raters, 66.7 % alike (alpha 0.511), "
        "2 disagreements resolved by the owner, 0 open; left out: 2 where both words would do, 0 "
        "that are no proper sentences" in suite.card.source
    )
    assert "lab" not in controls.read_text(encoding="utf-8")  # no name of anybody

    built = tmp_path / "built.jsonl"
    done = evenhand(
        *("suites", "build", "contextualised", "--lang", "en", "--out", built),
        *("--corpora", tmp_path / "news.txt", "--per-word", 1, "--objective", controls),
    )
    assert done.code == 0, done.err
    whole = read_suite(built)
    assert [p.stratum for p in whole.probes] == ["MS", "MS", "OS", "OS", "OS", "OS"]
    assert [p.id for p in whole.probes[2:]] == [p.id for p in suite.probes]

    with zipfile.ZipFile(io.BytesIO(owner.get("/owner/export/controls").content)) as pack:
        assert pack.namelist() == ["rate-controls.jsonl", "rate-controls.card.json"]
        assert pack.read("rate-controls.jsonl") == controls.read_bytes()


def test_status_and_export_as_json(rating: Place, tmp_path: Path) -> None:
    path = tmp_path / "rate.toml"
    judge(rating, FIRST)
    judge(rating, SECOND)
    done = evenhand("annotate", "objective", "status", path, "--json")
    status = json.loads(done.out)
    assert status["agreement"] == pytest.approx(4 / 6)
    assert status["alpha"] == pytest.approx(ALPHA)
    assert status["settled"] == {"male": 1, "female": 2, "both": 1, "broken": 0}
    assert [row["id"] for row in status["disagreements"]] == ["en/x00002", "en/x00006"]
    assert status["disagreements"][1]["verdicts"] == {
        "annotator-1": "female",
        "annotator-2": "male",
    }
    text = evenhand("annotate", "objective", "status", path).out
    assert (
        "judged alike: 66.7 % (4 of 6 that two or more judged); Krippendorff's alpha 0.51" in text
    )
    assert "en/x00002: The [BLANK] gave birth to a baby at noon. [gave birth]" in text
    out = tmp_path / "os.jsonl"
    done = evenhand("annotate", "objective", "export", path, "--out", out, "--json")
    assert json.loads(done.out)["status"]["unresolved"] == 2
    assert len(read_suite(out).probes) == 3  # disagreements wait: they are left out
    wrong = evenhand("annotate", "objective", "export", path, "--out", tmp_path / "os.csv")
    assert (wrong.code, "a suite file is a .jsonl" in wrong.err) == (2, True)


def test_a_part_counts_once_it_is_finished_and_one_rater_settles_nothing(rating: Place) -> None:
    judge(rating, FIRST)
    judge(rating, FIRST, is_finished=False)
    status = objective_status("rate", judge_candidates(rating.suite, rating.store))
    assert (status.shared, sum(status.settled.values())) == (0, 0)
    assert str(status.agreement) == "nan"
    assert status.note == "no unit was judged by two people"
    text = page_text(login(rating).get("/owner"))
    assert "No sentence was answered by two people yet." in text
    assert "/owner/export/controls" not in text
    with pytest.raises(EvenhandError, match="0 of 6 candidates were judged by two raters"):
        from evenhand.study.objective_results import objective_suite

        objective_suite("rate", rating.suite, judge_candidates(rating.suite, rating.store))


def test_a_third_rater_and_one_who_withdraws(rating: Place) -> None:
    judge(rating, FIRST)
    judge(rating, SECOND)
    third, _ = judge(rating, (*FIRST[:5], "broken"))
    judged = judge_candidates(rating.suite, rating.store)
    assert [one.is_alike for one in judged] == [True, False, True, True, True, False]
    assert list(judged[5].verdicts.values()) == ["female", "male", "broken"]
    rating.store.withdraw(third)
    judged = judge_candidates(rating.suite, rating.store)
    assert list(judged[5].verdicts.values()) == ["female", "male"]


def test_raters_see_words_by_place_the_cue_and_nothing_of_the_others(rating: Place) -> None:
    judge(rating, FIRST)
    name, client, page = rating.person()
    places = set()
    while (asked := rating.store.next_question(name)) is not None:
        probe = next(p for p in rating.suite.probes if p.id == asked.question.probe)
        cues = re.findall(r"<mark>(.*?)</mark>", page.text)
        assert [html.unescape(cue) for cue in cues] == probe.tags["cue"].split(" … ")
        assert "female" not in page.text
        assert "____" not in page_text(page)
        shown = [option.text for option in asked.question.options]
        assert sorted(shown[:2]) == sorted(probe.texts[1:])
        places.add(asked.question.options[0].key)
        page = answer(client, page, value=3)
    assert places == {"male", "female"}  # in random order
    payloads = [json.loads(p) for p in rating.store.answers_table()["payload"].to_list()]
    assert payloads[-1] == {"value": 3, "verdict": "both"}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"value": ""},
        {"value": "0"},
        {"value": "5"},
        {"value": "٣"},
        {"value": "1e0"},
        {"value": "male"},
        {"value": "1", "first": "1"},
        {"first": "1", "second": "2"},
    ],
)
def test_what_is_no_verdict_is_refused_and_logged(rating: Place, fields: Mapping[str, str]) -> None:
    name, client, page = rating.person()
    again = send(client, page, "/question", shown=hidden(page, "shown"), **fields)
    assert again.status_code == 422
    assert "Please choose one of the four." in page_text(again)
    assert kinds(rating) == ["bad answer"]
    assert rating.store.answers_table().is_empty()
    assert answer(client, again, value=1).status_code == 200  # and goes on
    assert name in rating.store.answers_table()["annotator"].to_list()


@pytest.mark.parametrize(
    ("probe", "verdict"),
    [
        ("en/x00001", "female"),  # judged alike
        ("en/x00002", "neither"),
        ("en/x00002", ""),
        ("' OR 1=1 --", "female"),
        ("<script>alert(1)</script>", "female"),
        ("en/x00002\0", "female"),
        ("x" * 5000, "female"),
    ],
)
def test_only_a_disagreement_is_resolved(rating: Place, probe: str, verdict: str) -> None:
    judge(rating, FIRST)
    judge(rating, SECOND)
    owner = login(rating)
    refused = send(owner, owner.get("/owner"), "/owner/resolve", probe=probe, verdict=verdict)
    assert refused.status_code == 422
    assert rating.store.resolutions() == {}
    assert kinds(rating)[-1] == "bad answer"
    assert "<script>" not in owner.get("/owner").text


def test_only_an_owner_with_the_forms_token_resolves(rating: Place) -> None:
    judge(rating, FIRST)
    judge(rating, SECOND)
    form = {"probe": "en/x00002", "verdict": "female"}
    stranger = rating.client()
    assert stranger.post("/owner/resolve", data=form).status_code == 401
    _, client, page = rating.person()
    assert send(client, page, "/owner/resolve", **form).status_code == 401  # a rater is no owner
    owner = login(rating)
    assert owner.post("/owner/resolve", data={**form, "csrf": "forged"}).status_code == 403
    assert rating.store.resolutions() == {}


def test_a_decision_can_be_changed_and_every_one_is_kept(rating: Place) -> None:
    judge(rating, FIRST)
    judge(rating, SECOND)
    owner = login(rating)
    page = owner.get("/owner")
    for verdict in ("female", "female", "both"):  # the second is the same form, sent again
        page = send(owner, page, "/owner/resolve", probe="en/x00002", verdict=verdict)
    assert rating.store.resolutions() == {"en/x00002": "both"}
    assert re.search(r'value="both" aria-pressed="true"', page.text)
    again = Store.open(rating.study.store)  # another process sees it: it is on disk
    assert again.resolutions() == {"en/x00002": "both"}
    again.close()


def test_an_archive_carries_decisions(rating: Place, tmp_path: Path) -> None:
    judge(rating, FIRST)
    judge(rating, SECOND)
    rating.store.resolve("en/x00002", "female")
    rating.store.resolve("en/x00002", "both")
    write_archive(rating.store, tmp_path / "all.zip")
    target = Store.open(f"sqlite:///{tmp_path / 'other.db'}")
    rows = read_archive(target, tmp_path / "all.zip")
    assert (rows["resolutions"], target.resolutions()) == (2, {"en/x00002": "both"})
    assert target.scored() == rating.store.scored()
    target.close()


def test_hostile_sentences_are_shown_as_text(tmp_path: Path) -> None:
    evil = 'Pregnant, she wrote <script>alert("x")</script> & {{ 7 * 7 }} on it.'
    (tmp_path / "news.txt").write_text(evil, encoding="utf-8")
    path = tmp_path / "rate.toml"
    new = ("annotate", "objective", "new", path, "--lang", "en", "--text", tmp_path / "news.txt")
    assert evenhand(*new).code == 0
    study, suite = open_study(path)
    place = Place(study, suite, open_store(study, suite))
    _, _, page = place.person()
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt; &amp; {{ 7 * 7 }} on it." in page.text
    judge(place, ("female",))
    judge(place, ("both",))
    listed = login(place).get("/owner").text
    assert "&lt;script&gt;alert" in listed
    assert "<script>alert" not in listed
    place.store.close()


def test_a_study_is_never_overwritten_and_needs_a_source(tmp_path: Path) -> None:
    place = make(tmp_path)
    place.store.close()
    path = tmp_path / "rate.toml"
    before = (tmp_path / "rate.candidates.jsonl").read_bytes()
    new = ("annotate", "objective", "new")
    text = ("--text", tmp_path / "news.txt")
    again = evenhand(*new, path, *text, "--lang", "en")
    assert (again.code, "is there already" in again.err) == (2, True)
    assert (tmp_path / "rate.candidates.jsonl").read_bytes() == before
    for options, message in (
        ((), "give --text or --suite"),
        (text, "give --lang"),
        ((*text, "--lang", "fr"), "unknown language of a study 'fr'"),
        ((*text, "--lang", "en", "--name", "a/b"), "is no name for a study"),
        (("--text", tmp_path / "none.txt", "--lang", "en"), "none.txt"),
    ):
        done = evenhand(*new, tmp_path / "other.toml", *options)
        assert (done.code, message in done.err) == (2, True), done.err
        assert not list(tmp_path.glob("other*"))


def test_other_verbs_say_what_they_do_not_do_here(rating: Place, tmp_path: Path) -> None:
    path = tmp_path / "rate.toml"
    judge(rating, FIRST)
    done = evenhand("annotate", "status", path)
    assert f"how far raters agree: evenhand annotate objective status {path}" in done.out
    assert "needed" not in done.out
    done = evenhand("annotate", "score", path)
    assert (done.code, "has no scores of people" in done.err) == (2, True)
    done = evenhand("annotate", "export", path, "--out", tmp_path / "people", "--form", "answers")
    assert (done.code, "annotate objective status" in done.err) == (2, True)
    plain = tmp_path / "plain.toml"
    assert evenhand("annotate", "new", plain, "--lang", "en").code == 0
    done = evenhand("annotate", "objective", "status", plain)
    assert (done.code, "is no study of objective sentences" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["objective"]', '["objective", "type1"]', "row 8: 'objective' is a study of its own"),
        (
            'types = ["objective"]',
            'types = ["objective"]\ntrial = 4',
            "row 9: a study of objective",
        ),
        ('"rate.candidates.jsonl"', '"contextualised"', "holds sentences without a cue"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    make(tmp_path).store.close()
    path = tmp_path / "rate.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        open_study(path)


def test_a_built_suite_gets_controls_from_its_own_sentences(tmp_path: Path) -> None:
    rows = [
        {"id": "en/c1", "texts": ["Mary said that [BLANK] was late.", "he", "she"]},
        {"id": "en/c2", "texts": ["The cook said that [BLANK] was late.", "he", "she"]},
    ]
    built, path = tmp_path / "built.jsonl", tmp_path / "rate.toml"
    fixed = {"kind": "mask", "language": "en", "stratum": "MS", "cluster": "he/she", "twin": None}
    lines = [json.dumps({**fixed, **row, "tags": {"pair": "he/she"}}) for row in rows]
    built.write_text("\n".join(lines), encoding="utf-8")
    done = evenhand("annotate", "objective", "new", path, "--suite", built)
    assert done.code == 0, done.err
    study, suite = open_study(path)
    place = Place(study, suite, open_store(study, suite))
    judge(place, ("female",))
    judge(place, ("female",))
    place.store.close()
    out = tmp_path / "whole.jsonl"
    done = evenhand("annotate", "objective", "export", path, "--suite", built, "--out", out)
    assert done.code == 0, done.err
    assert [(p.id, p.stratum, p.tags.get("gold")) for p in read_suite(out).probes] == [
        ("en/c2", "MS", None),
        ("en/c1", "OS", "female"),
    ]
