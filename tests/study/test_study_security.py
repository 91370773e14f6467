"""What a study refuses: a clear message, a line in the log, nothing stored, nothing executed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")

from starlette.testclient import TestClient
from study_site import ROOMY, Place, answer, hidden, kinds, open_place, page_text, place, send  # noqa: F401  (a fixture)

from evenhand.core.errors import StorageError
from evenhand.core.probe import BLANK, GENDERS
from evenhand.study.limits import Limits, Rate
from evenhand.study.store import Store
from evenhand.study.tokens import ExpiredTokenError, Shown, Tokens

# ruff: noqa: F811  (fixtures are arguments)


def count(place: Place) -> int:
    return place.store.answers_table().height


def test_headers_are_strict_everywhere(place: Place) -> None:
    _, client, page = place.person()
    for result in (
        page,
        client.get("/nowhere"),
        client.get("/static/study.css"),
        client.get("/i/forged"),
        client.get("/owner/login"),
    ):
        policy = result.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert result.headers["x-content-type-options"] == "nosniff"
        assert result.headers["referrer-policy"] == "no-referrer"
        assert (
            "set-cookie" not in result.headers or "httponly" in result.headers["set-cookie"].lower()
        )
    assert page.headers["cache-control"] == "no-store"
    assert "server" not in page.headers


def test_no_inline_script_or_style(place: Place) -> None:
    _, client, page = place.person()
    for result in (page, client.get("/pause"), client.get("/owner/login")):
        assert not re.search(
            r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", result.text
        )


def test_a_script_in_a_sentence_is_text(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"en/{i}",
            "kind": "mask",
            "language": "en",
            "texts": [f'<script>alert({i})</script> & "{BLANK}" slept.', "he", "she"],
            "stratum": s,
            "cluster": f"{i}",
            "twin": None,
            "tags": {"gold": GENDERS[i % 2], "fair": str(i % 2)} if s == "OS" else {},
        }
        for i, s in enumerate(["MS"] * 20 + ["OS"] * 10)
    ]
    (tmp_path / "bad.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    place = open_place(tmp_path, suite="bad.jsonl")
    _, _, page = place.person()
    assert "&lt;script&gt;alert(" in page.text
    assert "<script>alert" not in page.text
    place.store.close()


@pytest.mark.parametrize(
    "path", ["/consent", "/start", "/question", "/finish", "/leave", "/inventory"]
)
def test_every_form_needs_its_token(place: Place, path: str) -> None:
    _, client, page = place.person()
    _other, _, theirs = place.person()
    before = count(place)
    for csrf in ("", "forged", hidden(theirs, "csrf")):
        result = client.post(
            path, data={"csrf": csrf, "shown": hidden(page, "shown"), "value": "3", "agree": "1"}
        )
        assert result.status_code == 403
        assert "did not come from this page" in page_text(result)
    assert kinds(place).count("bad form") == 3
    assert count(place) == before


def test_forged_foreign_and_revoked_invitations(place: Place) -> None:
    client = place.client()
    _person, link = place.invite()
    foreign = Tokens("another study's secret, just as long").invite(place.store.invitations()[0].id)
    unknown = place.tokens.invite("0" * 32)
    for token in (
        link[3:-6] + ("A" if link[-6] != "A" else "B") + link[-5:],
        foreign,
        unknown,
        "x",
        "%00",
    ):
        result = client.get(f"/i/{token}")
        assert result.status_code == 403
        assert "This invitation link is not valid" in page_text(result)
    assert kinds(place).count("bad invitation") + kinds(place).count("unknown invitation") == 5
    assert client.get(link).status_code == 200
    place.store.revoke(place.store.invitations()[0].id)
    for path in (link, "/consent"):  # the link, and the session that it had opened
        result = client.get(path, headers={"accept-language": "en"})
        assert result.status_code == 403
        assert "has been withdrawn" in page_text(result)
    assert "revoked invitation" in kinds(place)


def test_expired_invitations_and_sessions(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    _person, link = place.invite()
    client = place.client()
    client.get(link)
    late = Store.open(place.study.store, clock=lambda: datetime.now(UTC) + timedelta(days=31))
    result = Place(place.study, place.suite, late).client().get(link)
    assert result.status_code == 403
    assert "has expired" in page_text(result)
    late.close()
    monkeypatch.setattr("evenhand.study.tokens.SESSION_SECONDS", -1)
    result = client.get("/next")
    assert result.status_code == 401
    assert "Your session has ended" in page_text(result)
    assert place.store.events()[0].detail.endswith("expired session")


def test_no_session_and_a_forged_one(place: Place) -> None:
    client = place.client()
    for path in (
        "/",
        "/question",
        "/previous",
        "/result",
        "/pause",
        "/start",
        "/inventory",
        "/done",
        "/consent",
        "/break",
    ):
        assert client.get(path).status_code == 401
    client.cookies.set("evenhand_session", place.tokens.open_session("somebody", "0" * 32) + "x")
    assert client.get("/question").status_code == 401
    assert kinds(place) == ["no session"] * 11


def test_an_old_form_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    _, client, page = place.person()
    monkeypatch.setattr("evenhand.study.tokens.FORM_SECONDS", -1)
    assert answer(client, page).status_code == 403
    with pytest.raises(ExpiredTokenError):
        place.tokens.check_form(hidden(page, "csrf"), "x")
    with pytest.raises(ExpiredTokenError):
        place.tokens.read_question(hidden(page, "shown"), "x")
    assert count(place) == 0


def test_nobody_answers_or_sees_anothers_question(place: Place) -> None:
    mine, client, page = place.person()
    other, _theirs, page2 = place.person()
    wanted = place.store.next_question(other)
    assert wanted is not None
    result = client.post(
        "/question",
        data={"csrf": hidden(page, "csrf"), "shown": hidden(page2, "shown"), "value": "3"},
    )
    assert result.status_code == 403  # the form of another annotator
    forged = place.tokens.show_question(
        mine, Shown(question=wanted.question.id, at=0.0, key="k")
    )  # even if a signature were made for it
    for question in (
        forged,
        place.tokens.show_question(mine, Shown(question="0" * 16, at=0.0, key="k")),
    ):
        result = client.post(
            "/question", data={"csrf": hidden(page, "csrf"), "shown": question, "value": "3"}
        )
        assert result.status_code == 403
        assert "not open for you" in page_text(result)
        assert wanted.question.shown not in page_text(result)
    assert count(place) == 0
    assert kinds(place) == ["bad form", "foreign question", "unknown question"]


def test_a_replayed_form_is_stored_once(place: Place) -> None:
    _, client, page = place.person()
    shown = {"csrf": hidden(page, "csrf"), "shown": hidden(page, "shown")}
    form = shown | (
        {"first": "1", "second": "2"} if 'data-type="type1"' in page.text else {"value": "4"}
    )
    for _ in range(3):
        assert client.post("/question", data=form).status_code == 200
    assert count(place) == 1
    other = form | ({"first": "2", "second": "1"} if "first" in form else {"value": "1"})
    assert (
        client.post("/question", data=other).status_code == 403
    )  # the same key with another answer
    assert count(place) == 1
    assert kinds(place) == ["used key"]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"first": "1"}, 422),
        ({}, 422),
        ({"first": "1", "second": "1"}, 422),
        ({"first": "1", "second": "4"}, 422),
        ({"first": "male", "second": "2"}, 422),
        ({"first": "1", "second": "2", "equal": "maybe"}, 422),
        ({"first": "1", "second": "2", "third": "3"}, 422),
        ({"value": "3"}, 422),
    ],
)
def test_what_is_no_ranking_is_refused(place: Place, fields: dict[str, str], status: int) -> None:
    name, client, page = place.person()
    while (asked := place.store.next_question(name)) is not None and asked.question.type != "type1":
        page = answer(client, page)
    before = count(place)
    result = client.post(
        "/question", data={"csrf": hidden(page, "csrf"), "shown": hidden(page, "shown"), **fields}
    )
    assert result.status_code == status
    assert "exactly two" in page_text(result) or "no answer to the question" in page_text(result)
    assert count(place) == before
    assert kinds(place)[-1] == "bad answer"


@pytest.mark.parametrize("value", ["0", "6", "", "4.5", "-1", "９", "1e0", "99999999999999999999"])
def test_what_is_no_probability_is_refused(place: Place, value: str) -> None:
    name, client, page = place.person()
    while (asked := place.store.next_question(name)) is not None and asked.question.type != "type2":
        page = answer(client, page)
    before = count(place)
    result = client.post(
        "/question",
        data={"csrf": hidden(page, "csrf"), "shown": hidden(page, "shown"), "value": value},
    )
    assert result.status_code == 422
    assert "choose one of the five" in page_text(result)
    assert count(place) == before
    assert kinds(place)[-1] == "bad answer"


def test_forms_that_cannot_be_read(place: Place) -> None:
    _, client, page = place.person()
    ordinary = "application/x-www-form-urlencoded"
    for body, kind, status in (
        (b"csrf=%ff%fe", ordinary, 400),
        (b"&".join(b"a%d=1" % i for i in range(50)), ordinary, 400),
        (b"{}", "application/json", 415),
        (b"csrf=a&csrf=b", ordinary, 422),
        (b"", ordinary, 403),
        (b"\xff\xfe", ordinary, 400),
    ):
        result = client.post("/question", content=body, headers={"content-type": kind})
        assert result.status_code == status
        assert "Nothing" in page_text(result) or "nothing" in page_text(result)
    assert (
        send(client, page, "/leave", odd=1).status_code == 422
    )  # a field that is not of this form
    assert len(kinds(place)) == 7


def test_a_large_body_is_refused_before_it_is_read(place: Place) -> None:
    _, client, _ = place.person()
    read = 0

    def body() -> Iterator[bytes]:
        nonlocal read
        for _ in range(160):
            read += 65536
            yield b"x" * 65536

    ordinary = {"content-type": "application/x-www-form-urlencoded"}
    for content in (b"x" * 10_000_000, body()):
        result = client.post("/question", content=content, headers=ordinary)
        assert result.status_code == 413
        assert "too large" in page_text(result)
    assert kinds(place) == ["too large"] * 2
    assert (
        client.post(
            "/question", content=b"x", headers=ordinary | {"content-length": "-5"}
        ).status_code
        == 413
    )


def test_haste_is_refused_for_the_session_alone(place: Place) -> None:
    place.limits = Limits(session=Rate(burst=8, per_second=0.001), address=ROOMY.address)
    _name, client, result = place.person()
    _other, link = place.invite()
    patient = TestClient(client.app)  # another device of the same application
    patient.get(link)
    for _ in range(12):
        result = client.get("/pause")
    assert result.status_code == 429
    assert int(result.headers["retry-after"]) > 0
    assert "too fast" in page_text(result)
    assert patient.get("/pause").status_code == 200


def test_addresses_are_limited_without_a_session(place: Place) -> None:
    place.limits = Limits(address=Rate(burst=5, per_second=0.001))
    client = place.client()
    codes = [client.get("/i/guess").status_code for _ in range(8)]
    assert codes == [403] * 5 + [429] * 3
    assert "testclient" not in " ".join(
        f"{e.kind} {e.detail}" for e in place.store.events()
    )  # no address is stored


def test_refusals_speak_the_language_of_the_interface(place: Place) -> None:
    client = place.client()
    for language, words in (("zh", "这个邀请链接无效"), ("ja", "この招待リンクは無効です")):
        client.get("/owner/login", params={"lang": language})
        assert words in client.get("/i/forged").text


def test_a_full_disk_is_told_and_nothing_is_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, client, page = place.person()

    def refuse(*_: object, **__: object) -> bool:
        raise StorageError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "give_answer", refuse)
        result = answer(client, page)
    assert result.status_code == 503
    assert "could not store this just now" in page_text(result)
    assert answer(client, page).status_code == 200
    assert count(place) == 1
