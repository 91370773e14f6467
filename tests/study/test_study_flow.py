"""People who do not go the straight way: two devices, old pages, double clicks, failed trials."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the annotate extra")
pytest.importorskip("sqlalchemy", reason="needs the annotate extra")

from postgres import answer as give
from postgres import begin, server, store, url  # noqa: F401  (fixtures)
from study_site import (  # noqa: F401  (a fixture)
    PASSWORD,
    Page,
    Place,
    answer,
    do_part,
    hidden,
    kinds,
    open_place,
    page_text,
    place,
    right,
    send,
)

from evenhand.people.scoring import Scored, control_accuracy
from evenhand.study.owner import hash_password
from evenhand.study.serving import open_store
from evenhand.study.store import Store, Verdict
from evenhand.study.study import open_study
from evenhand.study.tables import GivenAnswer, RefusedError

# ruff: noqa: F811  (fixtures are arguments)


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Place]:
    result = open_place(tmp_path, has_inventory=True)
    yield result
    result.store.close()


def answer_all(place: Place, name: str, client: Any, page: Page) -> Page:
    while (asked := place.store.next_question(name)) is not None:
        page = answer(client, page, **right(place, asked))
    return page


def test_an_answer_changed_while_a_part_is_closed_is_judged_or_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, desk, page = place.person()
    phone = place.client()
    page = answer_all(place, name, desk, page)
    phone.get(f"/i/{place.tokens.invite(place.store.invitations(name)[0].id)}")
    change = phone.get("/previous")  # the last question, on another device
    shown: list[Page] = []
    thread = threading.Thread(target=lambda: shown.append(answer(phone, change)))

    def judge_slowly(*given: Any) -> Any:
        thread.start()
        thread.join(0.5)
        assert shown == []  # it waits until the verdict is written
        return control_accuracy(*given)

    monkeypatch.setattr("evenhand.study.steps.control_accuracy", judge_slowly)
    assert send(desk, page, "/finish").url.path == "/result"
    thread.join()
    assert shown[0].status_code == 403
    assert kinds(place) == ["closed part"]
    assert place.store.answers_table()["version"].to_list() == [1] * 6
    assert [(p.state, p.accuracy) for p in place.store.parts(name)] == [("passed", 1.0)]


def test_a_part_is_judged_by_its_latest_answers_and_locked_meanwhile(
    store: Store, url: str
) -> None:
    me, shown = begin(store, 2), []
    for number, key in ((0, "a"), (1, "b")):
        give(store, me, f"{me}.trial.1.{number}", key=key)
    give(store, me, f"{me}.trial.1.0", key="c", fine=-1.5)
    with Store.open(url) as other:  # another process

        def change() -> None:
            try:
                shown.append(str(give(other, me, f"{me}.trial.1.1", key="d", fine=-1.5)))
            except RefusedError as refusal:
                shown.append(refusal.kind)

        thread = threading.Thread(target=change)

        def judge(rows: Sequence[Scored]) -> Verdict:
            thread.start()
            thread.join(0.5)
            assert shown == []  # it waits for the verdict
            return Verdict("failed", sum(row.fine > 0 for row in rows) / len(rows), float("nan"))

        store.judge_part(me, "trial", 1, judge)
        thread.join()
    assert shown == ["closed part"]
    [part] = store.parts(me)
    assert (part.state, part.accuracy, part.consistency) == ("failed", 0.5, None)
    assert [row.fine for row in store.scored(me)] == [-1.5, 1.5]


def test_finishing_twice_at_once_shows_the_result_twice(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, client, page = place.person()
    page = answer_all(place, name, client, page)
    open_part = place.store.parts(name)
    assert send(client, page, "/finish").url.path == "/result"
    finished = place.store.parts
    seen = iter([open_part])  # what the second click had read before the first one was done
    monkeypatch.setattr(place.store, "parts", lambda who: next(seen, None) or finished(who))
    assert send(client, page, "/finish").url.path == "/result"


def test_an_expired_session_loses_no_question(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, client, page = place.person()
    asked = place.store.next_question(name)
    with monkeypatch.context() as patch:
        patch.setattr("evenhand.study.tokens.SESSION_SECONDS", -1)
        result = answer(client, page)
        assert result.status_code == 401
        assert "you go on with the same question" in page_text(result)
    assert place.store.answers_table().is_empty()
    page = client.get(f"/i/{place.tokens.invite(place.store.invitations(name)[0].id)}")
    assert page.url.path == "/question"
    assert place.store.next_question(name) == asked
    assert answer(client, page).status_code == 200
    assert place.store.answers_table()["question"].to_list() == [asked.question.id if asked else ""]


def test_pages_of_a_finished_part_store_nothing(place: Place) -> None:
    name, client, page = place.person()
    first = page
    page = answer_all(place, name, client, answer(client, page))
    old = client.get("/previous")  # a second tab
    send(client, page, "/finish")
    before = place.store.answers_table()
    assert answer(client, first).status_code == 200  # the very same form: a replay, which leads on
    result = answer(client, old)
    assert result.status_code == 403
    assert "not open for you. Nothing was stored." in page_text(result)
    assert place.store.answers_table().equals(before)


def test_two_tabs_append_and_lead_on(place: Place) -> None:
    name, client, page = place.person()
    other = client.get("/question")
    answer(client, page)
    assert "1 of 6" in page_text(answer(client, other))
    assert place.store.answers_table()["version"].to_list() == [1, 2]
    assert [p.answered for p in place.store.progress()] == [1]
    assert (asked := place.store.next_question(name)) is not None and asked.place == 1


def test_nothing_begins_without_consent(asking: Place) -> None:
    name, link = asking.invite()
    client = asking.client()
    page = client.get(link)
    for path in ("/start", "/finish"):
        result = client.post(path, data={"csrf": hidden(page, "csrf")})
        assert result.url.path == "/consent"
    for path in ("/inventory", "/question", "/previous", "/start", "/break", "/result", "/done"):
        assert client.get(path).url.path == "/consent", path
    assert send(client, page, "/consent").url.path == "/consent"  # the box was not ticked
    assert asking.store.parts(name) == []
    assert asking.store.annotator(name).state == "invited"


def test_looking_at_a_page_ends_no_inventory(asking: Place) -> None:
    name, link = asking.invite()
    client = asking.client()
    page = send(client, client.get(link), "/consent", agree="1")
    for at in ("2", "99999", "-1", "x"):
        assert "I like mornings." in client.get(f"/inventory?at={at}").text
    assert asking.store.annotator(name).state == "consented"
    old = page
    page = send(client, page, "/inventory", shown=hidden(page, "shown"), value=4)
    page = send(client, page, "/inventory", shown=hidden(page, "shown"), value=1)
    assert page.url.path == "/start"
    again = send(
        client, old, "/inventory", shown=hidden(old, "shown"), value=0
    )  # a page that was left open
    assert again.url.path == "/start"
    assert asking.store.inventory_answers(name, "mornings") == {"1": 4.0, "2": 1.0}


@pytest.mark.parametrize(
    ("items", "held"),
    [
        ("0,新,A new one.,新\n1,我,I like mornings.,朝\n", {"1": 5.0}),
        ("9,新,Another one.,新\n", {}),
    ],
)
def test_an_inventory_that_was_changed_meanwhile(
    asking: Place, tmp_path: Path, items: str, held: dict[str, float]
) -> None:
    """A form names its item: moved it is still the same, and one that is gone gets no answer."""
    name, link = asking.invite()
    client = asking.client()
    page = send(client, client.get(link), "/consent", agree="1")
    (tmp_path / "items.csv").write_text(f"id,zh,en,ja\n{items}", encoding="utf-8")
    study, suite = open_study(tmp_path / "small.toml")
    with open_store(study, suite) as store:
        later = Place(study, suite, store).client()
        later.cookies = client.cookies
        result = send(later, page, "/inventory", shown=hidden(page, "shown"), value=5)
        assert result.status_code == (200 if held else 403)
        assert store.inventory_answers(name, "mornings") == held


def test_a_trial_that_fails_again_and_again(place: Place) -> None:
    """It is offered as often as need be; controls come again when all had their turn."""
    name, client, page = place.person()
    for attempt in range(1, 9):
        page = do_part(place, name, client, page, is_wrong=True)
        assert "Not quite yet" in page_text(page)
        page = send(client, client.get("/next"), "/start")
        assert (
            asked := place.store.next_question(name)
        ) is not None and asked.attempt == attempt + 1
    controls = place.store.answers_table().filter(role="accuracy").select("attempt", "probe").rows()
    assert len(controls) == len(set(controls)) == 8
    assert len({probe for _, probe in controls}) > 4
    assert "Passed" in page_text(do_part(place, name, client, page))


def test_the_language_changes_and_the_question_stays(place: Place) -> None:
    name, client, page = place.person()
    asked = place.store.next_question(name)
    for path in ("/question", "/previous"):
        page = client.get(path, params={"lang": "ja"})
        assert '<html lang="ja">' in page.text
        assert place.store.next_question(name) == asked
        assert page.url.query == b""
    assert answer(client, page).status_code == 200


def test_time_goes_on_after_a_mistake(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    _, client, page = place.person()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 30)
    page = answer(client, page, value="")  # 422
    monkeypatch.setattr(time, "time", lambda: now + 50)
    answer(client, page)
    assert place.store.answers_table()["seconds"][0] == pytest.approx(50, abs=10)


def test_a_night_before_an_open_page_moves_no_median(place: Place) -> None:
    name, client, _ = place.person()
    for key, seconds in enumerate((2.0, 40_000.0, 4.0, 3.0)):
        asked = place.store.next_question(name)
        assert asked is not None
        given = GivenAnswer(payload={}, fine=0, coarse=0, seconds=seconds, key=f"k{key}")
        place.store.give_answer(name, asked.question.id, given)
    assert place.store.paces() == {(name, "trial", 1): 3.5}
    place.store.set_owner("lab", hash_password(PASSWORD))
    page = send(client, client.get("/owner/login"), "/owner/login", name="lab", password=PASSWORD)
    assert re.search(r"4 / 6.*?<td class=\"number\">3\.5</td>", page.text)


def test_nobody_is_asked_who_they_are(asking: Place) -> None:
    name, link = asking.invite()
    client = asking.client()
    page = client.get(link)
    pages = [page, page := send(client, page, "/consent", agree="1")]
    for _ in range(2):
        page = send(client, page, "/inventory", shown=hidden(page, "shown"), skip=1)
    pages += [
        page,
        page := send(client, page, "/start"),
        answer_all(asking, name, client, page),
        client.get("/pause"),
    ]
    fields = {
        field
        for shown in pages
        for field in re.findall(r"<(?:input|textarea|select)\b[^>]*\bname=\"(\w+)\"", shown.text)
    }
    assert fields <= {"csrf", "shown", "agree", "value", "first", "second", "equal"}
    assert re.fullmatch(r"[0-9a-f]{16}", name)
    assert len({asking.store.add_annotator() for _ in range(100)}) == 100
