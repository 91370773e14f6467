"""A study leads an annotator from the link to the end, and its owner to the answers."""

from __future__ import annotations

import io
import re
import time
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")

from study_site import PASSWORD, Place, answer, do_part, hidden, open_place, page_text, right, send

from evenhand.study.owner import hash_password
from evenhand.study.pages import BREAK
from evenhand.study.wording import LANGUAGES, Words, texts

TELLING = re.compile(
    r"gender|bias|stereotyp|sexis|\bmale\b|female|性别|偏见|性別|偏り|偏見", re.IGNORECASE
)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    result = open_place(tmp_path, has_inventory=True)
    yield result
    result.store.close()


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Place]:
    result = open_place(tmp_path)
    yield result
    result.store.close()


def test_the_whole_way(place: Place) -> None:
    name, link = place.invite()
    client, pages = place.client(), []
    page = client.get(link)
    assert page.url.path == "/consent"
    pages.append(page)
    page = send(client, page, "/consent", agree="1")
    assert page.url.path == "/inventory"
    pages.append(page)
    page = send(client, page, "/inventory", shown=hidden(page, "shown"), value=4)
    assert "I change my mind." in page.text
    page = send(client, page, "/inventory", shown=hidden(page, "shown"), skip=1)
    assert page.url.path == "/start"
    assert place.store.inventory_answers(name, "mornings") == {"1": 4.0}  # the second was left out
    pages.append(page)
    page = send(client, page, "/start")
    first = place.store.next_question(name)
    assert first is not None
    pages.append(page)
    page = do_part(place, name, client, page, is_wrong=True)
    assert page.url.path == "/result"
    assert "Not quite yet" in page_text(page)
    pages.append(page)
    page = client.get("/next")
    assert "do the trial again: 6 questions" in page_text(page)
    page = do_part(place, name, client, send(client, page, "/start"))
    assert "Passed" in page_text(page)
    assert "100 % as expected (80 % needed)" in page_text(page)
    page = client.get("/next")
    assert "Part 1" in page_text(page)
    page = send(client, page, "/start")
    asked = place.store.next_question(name)
    assert asked is not None
    answer(client, page, **right(place, asked))
    pages += [
        client.get("/pause"),
        client.get("/break"),
        client.get("/previous"),
        client.get("/i/nonsense"),
    ]
    page = do_part(place, name, client, client.get("/question"))
    pages.append(page)
    page = client.get("/next")
    assert page.url.path == "/done"
    pages.append(page)
    states = [
        (p.part.part, p.part.attempt, p.part.state, p.answered) for p in place.store.progress()
    ]
    assert states == [
        ("trial", 1, "failed", 6),
        ("trial", 2, "passed", 6),
        ("batch-1", 1, "passed", 8),
    ]
    assert place.store.annotator(name).state == "done"
    sentences = " ".join(word for probe in place.suite.probes for word in probe.texts)
    for shown in pages:
        text = shown.text
        for word in set(TELLING.findall(text)):
            assert word in sentences, (
                f"{word} on {shown.url}"
            )  # only where a sentence itself says it


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_do_not_tell_what_is_measured_and_are_complete(language: str) -> None:
    held = texts(language)
    assert set(held) == set(texts("en"))
    assert all(text.strip() for text in held.values())
    assert {k: sorted(re.findall(r"\{\w+\}", v)) for k, v in held.items()} == {
        k: sorted(re.findall(r"\{\w+\}", v)) for k, v in texts("en").items()
    }
    assert not [
        text for key, text in held.items() if not key.startswith("owner_") and TELLING.search(text)
    ]
    assert Words(language).part("batch-2") == held["batch"].format(number=2)


def test_every_word_is_used() -> None:
    root = resources.files("evenhand.study")
    files = [
        f.read_text(encoding="utf-8")
        for folder in (root, root / "templates")
        for f in folder.iterdir()
        if f.name.endswith((".py", ".html"))
    ]
    text = "\n".join(files)
    made = ("refused_", "start_", "type2_", "objective_", "state_", "flag_", "owner_verdict_")
    unused = [
        key
        for key in texts("en")
        if not key.startswith((*made, "language_name"))
        and f'"{key}"' not in text
        and f"'{key}'" not in text
    ]
    assert unused == []
    assert tomllib.loads((root / "words" / "en.toml").read_text(encoding="utf-8")) == texts("en")


def test_going_on_from_another_device(plain: Place) -> None:
    _, link = plain.invite()
    one, other = plain.client(), plain.client()
    page = send(one, send(one, one.get(link), "/consent", agree="1"), "/start")
    page = answer(one, answer(one, page))
    assert "2 of 6" in page_text(page)
    elsewhere = other.get(link)
    assert elsewhere.url.path == "/question"
    assert "2 of 6" in page_text(elsewhere)
    answer(other, elsewhere)
    assert "3 of 6" in page_text(one.get("/next"))
    assert [p.answered for p in plain.store.progress()] == [3]


def test_changing_the_answer_before_appends(plain: Place) -> None:
    name, client, page = plain.person()
    asked = plain.store.next_question(name)
    assert asked is not None
    page = answer(client, page, **right(plain, asked))
    back = client.get("/previous")
    assert "You are changing your answer" in page_text(back)
    assert " checked" in back.text  # the answer before is filled in
    changed = {"first": 3, "second": 1} if asked.question.type == "type1" else {"value": 2}
    page = answer(client, back, **changed)
    assert "1 of 6" in page_text(page)  # no further than before
    table = plain.store.answers_table()
    assert table["version"].to_list() == [1, 2]
    assert table["is_latest"].to_list() == [False, True]


def test_the_last_answer_can_be_changed_before_the_part_is_finished(plain: Place) -> None:
    name, client, page = plain.person()
    while plain.store.next_question(name) is not None:
        page = answer(client, page)
    assert "That was the last question" in page_text(page)
    answer(client, client.get("/previous"))
    assert [p.changed for p in plain.store.progress()] == [1]
    assert client.post("/finish", data={"csrf": hidden(page, "csrf")}).url.path == "/result"


def test_the_time_on_a_question_is_stored(plain: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    _, client, page = plain.person()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 30)
    answer(client, page)
    assert plain.store.answers_table()["seconds"][0] == pytest.approx(30, abs=10)


def test_a_break_is_suggested(plain: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert BREAK == 50
    monkeypatch.setattr("evenhand.study.pages.BREAK", 2)
    _, client, page = plain.person()
    page = answer(client, page)
    assert page.url.path == "/question"
    page = answer(client, page)
    assert page.url.path == "/break"
    assert "You have answered 2 of 6" in page_text(page)


def test_beginning_twice_begins_once(plain: Place) -> None:
    _, link = plain.invite()
    client = plain.client()
    page = send(client, client.get(link), "/consent", agree="1")
    assert (
        send(client, page, "/start").url.path
        == send(client, page, "/start").url.path
        == "/question"
    )
    assert [(p.part.part, p.part.attempt) for p in plain.store.progress()] == [("trial", 1)]


def test_languages_by_the_study_and_by_the_switch(plain: Place) -> None:
    _, link = plain.invite()
    client = plain.client()
    page = client.get(link)
    assert '<html lang="en">' in page.text
    for language, word in (("zh", "欢迎参加"), ("ja", "ようこそ"), ("en", "Welcome")):
        page = client.get("/consent", params={"lang": language})
        assert f'<html lang="{language}">' in page.text
        assert word in page.text
    assert (
        '<html lang="en">' in client.get("/consent", params={"lang": "ko"}).text
    )  # not a language of the study
    assert client.get("/", params={"lang": "zh"}).url.query == b""


def test_the_page_answers_an_incomplete_form_in_place(plain: Place) -> None:
    name, client, page = plain.person()
    while (asked := plain.store.next_question(name)) is not None and asked.question.type != "type1":
        page = answer(client, page)
    page = answer(client, page, first=1)
    assert page.status_code == 422
    assert "Please choose exactly two different words." in page_text(page)
    assert answer(client, page).status_code == 200  # the same page can be completed and sent


def test_the_owner_sees_everything(place: Place) -> None:
    place.store.set_owner("lab", hash_password(PASSWORD))
    for _ in range(2):
        name, link = place.invite()
        client = place.client()
        page = send(client, client.get(link), "/consent", agree="1")
        for _ in range(2):
            page = send(client, page, "/inventory", shown=hidden(page, "shown"), value=2)
        page = do_part(place, name, client, send(client, page, "/start"))
        page = do_part(place, name, client, send(client, client.get("/next"), "/start"))
    owner = place.client()
    page = owner.get("/owner/login")
    page = send(owner, page, "/owner/login", name="lab", password=PASSWORD)
    assert page.url.path == "/owner"
    shown = page_text(page)
    assert "Answers: 28 · annotators: 2" in shown
    assert shown.count("8 / 8") == 2
    assert shown.count("100 %") >= 4
    assert (
        "Everybody always said the same one thing" in shown
    )  # every measuring sentence was answered neutrally
    page = send(owner, page, "/owner/invite", days=7)
    result = re.search(r'data-path="(/i/[^"]+)"', page.text)
    assert result
    visitor = place.client()
    assert visitor.get(result[1]).url.path == "/consent"
    newest = place.store.invitations()[-1]
    send(owner, page, "/owner/revoke", invitation=newest.id)
    assert visitor.get("/consent").status_code == 403
    assert pl.read_parquet(io.BytesIO(owner.get("/owner/export/parquet").content)).height == 28
    assert owner.get("/owner/export/csv").text.count("\n") == 29
    assert len(owner.get("/owner/export/jsonl").text.splitlines()) == 28
    with zipfile.ZipFile(io.BytesIO(owner.get("/owner/export/answers").content)) as archive:
        assert len(archive.namelist()) == 3  # everybody together, and each
    assert owner.get("/owner/export/exe").status_code == 404
    page = send(owner, owner.get("/owner"), "/owner/logout")
    assert page.url.path == "/owner/login"
    assert owner.get("/owner").url.path == "/owner/login"
