"""The owner comes in by a password, everybody by tokens signed here, and nobody too often."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")

from study_site import PASSWORD, ROOMY, Place, hidden, kinds, open_place, page_text, place, send  # noqa: F401  (a fixture)

from evenhand.core.errors import StorageError
from evenhand.study.archive import read_archive
from evenhand.study.limits import Buckets, Limits, Rate
from evenhand.study.owner import hash_password, is_right
from evenhand.study.store import Store
from evenhand.study.table_files import import_inventories
from evenhand.study.tokens import Shown, TokenError, Tokens, load_secret

# ruff: noqa: F811  (fixtures are arguments)


@pytest.mark.parametrize(
    "path", ["/owner/invite", "/owner/revoke", "/owner/logout", "/owner/login"]
)
def test_every_form_of_the_owner_needs_its_token(place: Place, path: str) -> None:
    place.store.set_owner("lab", hash_password(PASSWORD))
    owner = place.client()
    send(owner, owner.get("/owner/login"), "/owner/login", name="lab", password=PASSWORD)
    assert (
        owner.post(
            path, data={"csrf": "forged", "days": "7", "name": "lab", "password": PASSWORD}
        ).status_code
        == 403
    )
    assert place.store.annotators() == []


def test_kinds_of_tokens_do_not_pass_for_each_other() -> None:
    tokens = Tokens("a secret of some length, for a test")
    with pytest.raises(TokenError):
        tokens.read_owner(tokens.open_session("lab", "hash"))
    with pytest.raises(TokenError):
        tokens.read_session(tokens.make_form("x"))
    note = Shown(question="q", at=1.5, key="k")
    assert tokens.read_question(tokens.show_question("me", note), "me") == note
    with pytest.raises(TokenError, match="another annotator"):
        tokens.read_question(tokens.show_question("me", note), "you")


def test_a_bucket_leaks_and_memory_is_bounded() -> None:
    now = 0.0
    bucket = Buckets(Rate(burst=2, per_second=0.5), clock=lambda: now)
    assert [bucket.take("a"), bucket.take("a")] == [0, 0]
    assert bucket.take("a") == pytest.approx(2)  # one more fits in 2 seconds
    now = 2.0
    assert bucket.take("a") == 0
    for i in range(3 * Buckets.MOST):
        bucket.take(f"key {i}")
    assert len(bucket._levels) <= Buckets.MOST + 1


def test_logging_in_is_limited_and_tells_nothing(place: Place) -> None:
    place.store.set_owner("lab", hash_password(PASSWORD))
    place.limits = Limits(address=ROOMY.address, login=Rate(burst=3, per_second=0.001))
    client = place.client()
    codes = []
    for name, password in (("lab", "wrong"), ("nobody", PASSWORD), ("lab", ""), ("lab", PASSWORD)):
        result = send(
            client, client.get("/owner/login"), "/owner/login", name=name, password=password
        )
        codes.append(result.status_code)
    assert codes == [401, 401, 401, 429]
    assert "Too many attempts" in page_text(result)
    assert kinds(place) == ["wrong login"] * 3 + ["login wait"]
    assert PASSWORD not in str(place.store.events())


def test_the_owner_is_behind_a_login_that_a_new_password_ends(place: Place) -> None:
    place.store.set_owner("lab", hash_password(PASSWORD))
    client = place.client("https://testserver")
    for path in ("/owner", "/owner/export/csv"):
        assert client.get(path).url.path == "/owner/login"
    assert client.post("/owner/invite", data={"days": "7"}).status_code == 401
    page = client.get("/owner/login")
    result = client.post(
        "/owner/login",
        data={"csrf": hidden(page, "csrf"), "name": "lab", "password": PASSWORD},
        follow_redirects=False,
    )
    cookie = result.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "secure", "path=/owner"))
    assert client.get("/owner").status_code == 200
    assert "strict-transport-security" in client.get("/owner").headers
    _person, link = place.invite()
    assert "secure" in client.get(link, follow_redirects=False).headers["set-cookie"].lower()
    forger = place.client("https://testserver")
    forger.cookies.set("evenhand_owner", place.tokens.open_session("lab", "x"))
    assert forger.get("/owner").status_code == 401
    place.store.set_owner("lab", hash_password("another long password"))
    assert client.get("/owner", follow_redirects=False).headers["location"] == "/owner/login"
    assert kinds(place) == ["no owner", "no owner"]  # the form sent before the login, the forger


@pytest.mark.parametrize("path", ["/owner", "/owner/export/csv", "/owner/export/archive"])
def test_an_owner_who_is_not_logged_in_is_led_to_the_login(place: Place, path: str) -> None:
    place.store.set_owner("lab", hash_password(PASSWORD))
    client = place.client()
    result = client.get(path, follow_redirects=False)
    assert (result.status_code, result.headers["location"]) == (303, "/owner/login")
    page = client.get(path)
    assert (page.status_code, page.url.path) == (200, "/owner/login")
    assert "This did not work" not in page_text(page)
    assert kinds(place) == []  # whoever has not logged in yet was not refused anything
    page = send(client, page, "/owner/login", name="lab", password=PASSWORD)
    assert (page.status_code, page.url.path) == (200, "/owner")


def test_a_session_of_the_owner_ends_at_the_login(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.store.set_owner("lab", hash_password(PASSWORD))
    client = place.client()
    page = send(client, client.get("/owner"), "/owner/login", name="lab", password=PASSWORD)
    assert page.url.path == "/owner"
    monkeypatch.setattr("evenhand.study.tokens.OWNER_SECONDS", -1)
    assert client.get("/owner").url.path == "/owner/login"
    assert kinds(place) == []
    result = send(client, page, "/owner/invite", days=7)
    assert result.status_code == 401  # the form was sent, and nothing came of it
    assert place.store.annotators() == []
    assert kinds(place) == ["no owner"]


def test_the_owner_takes_the_whole_study_home(tmp_path: Path) -> None:
    place = open_place(tmp_path, has_inventory=True)
    place.store.set_owner("lab", hash_password(PASSWORD))
    name, _link = place.invite()
    place.store.answer_inventory(name, "mornings", {"1": 4, "2": 1}, "key")
    client = place.client()
    page = send(client, client.get("/owner/login"), "/owner/login", name="lab", password=PASSWORD)
    offered = re.findall(r'href="/owner/export/(\w+)"', page.text)
    assert offered == ["parquet", "csv", "jsonl", "answers", "archive", "inventories"]
    result = client.get("/owner/export/archive")
    assert 'filename="small-archive.zip"' in result.headers["content-disposition"]
    (tmp_path / "a.zip").write_bytes(result.content)
    assert PASSWORD.encode() not in result.content and b"argon2" not in result.content
    with Store.open(f"sqlite:///{tmp_path}/moved.db") as moved:
        assert read_archive(moved, tmp_path / "a.zip") == {
            "study": 1,
            "annotators": 1,
            "invitations": 1,
            "parts": 0,
            "questions": 0,
            "answers": 0,
            "inventory_answers": 2,
            "resolutions": 0,
            "events": 0,
        }
        assert moved.annotators() == place.store.annotators()
    (tmp_path / "i.csv").write_bytes(client.get("/owner/export/inventories").content)
    assert import_inventories(tmp_path / "i.csv").equals(place.store.inventory_table())
    place.store.close()


def test_inventories_are_offered_where_there_are_some(place: Place) -> None:
    place.store.set_owner("lab", hash_password(PASSWORD))
    client = place.client()
    page = send(client, client.get("/owner/login"), "/owner/login", name="lab", password=PASSWORD)
    assert "/owner/export/archive" in page.text and "/owner/export/inventories" not in page.text
    assert client.get("/owner/export/inventories").status_code == 404


def test_passwords_are_kept_as_argon2_hashes() -> None:
    hashed = hash_password(PASSWORD)
    assert hashed.startswith("$argon2id$")
    assert is_right(hashed, PASSWORD)
    assert not is_right(hashed, PASSWORD + "x")
    assert not is_right(None, PASSWORD)
    assert not is_right("no hash", PASSWORD)


def test_the_secret_is_made_once_and_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.secret"
    secret = load_secret(path)
    assert len(secret) == 64
    assert load_secret(path) == secret
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("short")
    with pytest.raises(StorageError, match="a secret of 5 bytes"):
        load_secret(path)
