"""The store keeps what was asked and answered, once and unchanged, on SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from postgres import WORDS, answer, ask, begin, server, store, url  # noqa: F401  (fixtures)

import sqlalchemy as sa  # isort: skip

from evenhand.core.errors import EvenhandError, InputError
from evenhand.people.scoring import Scored
from evenhand.study.store import Store, Verdict
from evenhand.study.tables import GivenAnswer, RefusedError

# ruff: noqa: F811  (fixtures are arguments)
REPLACING = (
    "INSERT OR REPLACE INTO answers "
    "(id, annotator, question, given_at, seconds, payload, fine, coarse, key) "
    "SELECT id, annotator, question, given_at, seconds, '{}', 0, 0, key FROM answers"
)


def test_questions_come_in_order_and_only_once(store: Store) -> None:
    me = begin(store, 3)
    for place in range(3):
        asked = store.next_question(me)
        assert asked is not None
        assert (asked.place, asked.size, asked.part, asked.attempt, asked.payload) == (
            place,
            3,
            "trial",
            1,
            None,
        )
        assert asked.question == ask(me, 3)[place]
        assert answer(store, me, asked.question.id, key=f"k{place}")
    assert store.next_question(me) is None


def test_a_second_device_goes_on_where_the_first_stopped(store: Store, url: str) -> None:
    me = begin(store, 4)
    answer(store, me, f"{me}.trial.1.0", key="a")
    with Store.open(url) as other:
        assert (asked := other.next_question(me)) is not None and asked.place == 1
        answer(other, me, f"{me}.trial.1.1", key="b")
    assert (asked := store.next_question(me)) is not None and asked.place == 2


def test_a_changed_answer_is_appended_and_the_latest_counts(store: Store) -> None:
    me = begin(store, 2)
    first = f"{me}.trial.1.0"
    answer(store, me, first, key="a")
    assert answer(store, me, first, key="b", fine=-1.5, first="female")
    assert store.question(me, first).payload == {
        "first": "female",
        "second": "neutral",
        "equal": False,
    }
    assert store.scored(me) == [Scored(me, "p0", "type1", "measure", -1.5, -1.5, "trial", 1)]
    table = store.answers_table()
    assert table["fine"].to_list() == [1.5, -1.5]
    assert table["version"].to_list() == [1, 2]
    assert table["is_latest"].to_list() == [False, True]
    [progress] = store.progress()
    assert (progress.answered, progress.changed, progress.seconds, progress.part.size) == (
        1,
        1,
        4.5,
        2,
    )


def test_a_replay_stores_nothing_and_says_so(store: Store) -> None:
    me = begin(store, 2)
    assert answer(store, me, f"{me}.trial.1.0", key="a")
    assert not answer(store, me, f"{me}.trial.1.0", key="a")
    with pytest.raises(RefusedError, match="another answer") as refusal:
        answer(store, me, f"{me}.trial.1.1", key="a")
    assert refusal.value.kind == "used key"
    assert len(store.answers_table()) == 1


def test_two_people_may_have_the_same_key(store: Store) -> None:
    for person in (begin(store, 1), begin(store, 1)):
        assert answer(store, person, f"{person}.trial.1.0", key="same")
    assert store.answers_table()["key"].to_list() == ["same", "same"]


def test_nobody_reads_or_answers_anothers_question(store: Store) -> None:
    me, other = begin(store, 1), begin(store, 1)
    theirs = f"{other}.trial.1.0"
    for attempt in (lambda: answer(store, me, theirs, key="a"), lambda: store.question(me, theirs)):
        with pytest.raises(RefusedError, match="no such question for you"):
            attempt()
    with pytest.raises(RefusedError, match="no such question for you"):
        store.question(me, "nonsense")
    assert [(e.kind, e.annotator, e.detail) for e in store.events()] == [
        ("unknown question", me, "nonsense"),
        ("foreign question", me, theirs),
        ("foreign question", me, theirs),
    ]
    assert store.answers_table().is_empty()
    assert (asked := store.next_question(me)) is not None and asked.question.id == f"{me}.trial.1.0"


def test_the_database_itself_refuses_an_answer_to_anothers_question(store: Store, url: str) -> None:
    me, other = begin(store, 1), begin(store, 1)
    order = (
        "INSERT INTO answers (annotator, question, given_at, seconds, payload, fine, coarse, key) "
        "VALUES (:me, :q, '', 0, '', 0, 0, 'k')"
    )
    with pytest.raises(sa.exc.IntegrityError), store.database._writing.begin() as connection:
        connection.execute(sa.text(order), {"me": me, "q": f"{other}.trial.1.0"})


@pytest.mark.parametrize("order", ["UPDATE {0} SET {1} = 'x'", "DELETE FROM {0}"])
@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("answers", "payload"),
        ("questions", "shown"),
        ("inventory_answers", "item"),
        ("resolutions", "verdict"),
        ("events", "kind"),
    ],
)
def test_raw_sql_cannot_change_or_delete(
    store: Store, url: str, order: str, table: str, column: str
) -> None:
    me = begin(store, 1)
    answer(store, me, f"{me}.trial.1.0", key="a")
    store.answer_inventory(me, "msi", {"1": 3}, "b")
    store.resolve("p0", "male")
    store.log("hello", me)
    before = store.answers_table(), store.inventory_table(), store.events()
    engine = sa.create_engine(url)  # and not the store's: anybody's connection
    with pytest.raises(sa.exc.DBAPIError, match="append-only"), engine.begin() as connection:
        connection.execute(sa.text(order.format(table, column)))
    if engine.dialect.name == "postgresql":
        with pytest.raises(sa.exc.DBAPIError, match="append-only"), engine.begin() as connection:
            connection.execute(sa.text(f"TRUNCATE {table} CASCADE"))
    engine.dispose()
    after = store.answers_table(), store.inventory_table(), store.events()
    assert (
        all(new.equals(old) for new, old in zip(after[:2], before[:2], strict=True))
        and after[2] == before[2]
    )
    assert store.resolutions() == {"p0": "male"}


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)  # INSERT OR REPLACE is a word of SQLite
def test_sqlite_cannot_replace_an_answer(store: Store, url: str) -> None:
    me = begin(store, 1)
    answer(store, me, f"{me}.trial.1.0", key="a")
    before = store.answers_table()
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text(REPLACING))
    engine.dispose()
    assert store.answers_table().equals(before)


NASTY = """'; DROP TABLE answers; -- " \\ %s %(a)s :q ? \0 \ud800 他🙂"""


def test_a_payload_is_a_parameter_and_comes_back_as_it_was(store: Store) -> None:
    me = begin(store, 1)
    given = GivenAnswer(payload={"first": NASTY}, fine=0, coarse=0, seconds=0, key="'; --")
    assert store.give_answer(me, f"{me}.trial.1.0", given)
    assert store.question(me, f"{me}.trial.1.0").payload == {"first": NASTY}
    with pytest.raises(RefusedError, match="no such question"):
        store.question(me, NASTY)
    with pytest.raises(RefusedError, match="key"):
        answer(store, me, f"{me}.trial.1.0", key=NASTY)
    with pytest.raises(RefusedError, match="annotator"):
        store.annotator(NASTY)
    store.log("odd", NASTY, NASTY)
    assert all(
        event.detail.startswith("'; DROP TABLE answers")
        for event in store.events()
        if event.kind in ("odd", "unknown question")
    )


def test_sixteen_threads_lose_and_double_nothing(store: Store) -> None:
    people = [begin(store, 20) for _ in range(16)]
    failures: list[BaseException] = []

    def work(person: str) -> None:
        try:
            while (asked := store.next_question(person)) is not None:
                assert [
                    answer(store, person, asked.question.id, key=f"{asked.place}") for _ in range(2)
                ] == [True, False]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    given = store.answers_table().select("annotator", "question").rows()
    assert sorted(given) == sorted((p, f"{p}.trial.1.{i}") for p in people for i in range(20))


def test_one_form_from_sixteen_threads_is_one_answer(store: Store) -> None:
    me, stored = begin(store, 1), []
    threads = [
        threading.Thread(
            target=lambda: stored.append(answer(store, me, f"{me}.trial.1.0", key="a"))
        )
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(stored) == [False] * 15 + [True]


def test_parts_open_one_at_a_time_and_close_when_all_is_answered(store: Store) -> None:
    me = begin(store, 2)
    assert not store.begin_part(me, "trial", 1, ask(me, 5))  # begun before: its questions stay
    with pytest.raises(RefusedError, match="trial \\(attempt 1\\) is not finished"):
        store.begin_part(me, "batch-1", 1, ask(me, 2, "batch-1"))
    answer(store, me, f"{me}.trial.1.0", key="a")
    with pytest.raises(RefusedError, match="1 questions of trial have no answer yet"):
        store.finish_part(me, "trial", 1, Verdict("passed", 1.0, float("nan")))
    answer(store, me, f"{me}.trial.1.1", key="b")
    store.finish_part(me, "trial", 1, Verdict("failed", 0.5, float("nan")))
    with pytest.raises(RefusedError, match="is not open"):
        store.finish_part(me, "trial", 1, Verdict("passed", 1.0, 1.0))
    with pytest.raises(RefusedError, match="can no longer be changed"):
        answer(store, me, f"{me}.trial.1.1", key="c")
    assert not answer(store, me, f"{me}.trial.1.1", key="b")  # a replay is a replay, even now
    assert store.next_question(me) is None
    assert store.begin_part(me, "trial", 2, ask(me, 1, attempt=2))
    assert (asked := store.next_question(me)) is not None and (asked.attempt, asked.place) == (2, 0)
    first, second = store.parts(me)
    assert (first.state, first.accuracy, first.consistency, second.state) == (
        "failed",
        0.5,
        None,
        "open",
    )


def test_a_question_twice_is_refused_whole(store: Store) -> None:
    me = store.add_annotator()
    with pytest.raises(EvenhandError, match="no question comes twice"):
        store.begin_part(me, "trial", 1, ask(me, 2) + ask(me, 1))
    assert store.parts(me) == []
    with pytest.raises(RefusedError, match="no such annotator"):
        store.begin_part("nobody", "trial", 1, ask("nobody", 1))


def test_going_back_reaches_what_was_answered_and_no_further(store: Store) -> None:
    me = begin(store, 3)
    answer(store, me, f"{me}.trial.1.0", key="a")
    assert [store.question_at(me, place) is not None for place in (-1, 0, 1, 2)] == [
        False,
        True,
        True,
        False,
    ]
    assert (
        (back := store.question_at(me, 0)) is not None
        and back.payload is not None
        and back.question.options == WORDS
    )


def test_invitations_hold_until_they_expire_or_are_revoked(url: str) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with Store.open(url, clock=lambda: now[0]) as store:
        me = store.add_annotator()
        one, two = store.invite(me, 7), store.invite(me, 7)
        assert store.admit(one) == store.admit(two) == me
        assert [store.revoke(one), store.revoke(one), store.revoke("x")] == [True, False, False]
        now[0] += timedelta(days=7)
        for link, kind in (
            (one, "revoked"),
            (two, "expired"),
            ("x", "unknown"),
            (NASTY, "unknown"),
        ):
            with pytest.raises(RefusedError, match="ask for a new one") as refusal:
                store.admit(link)
            assert refusal.value.kind == f"{kind} invitation"
        assert [e.kind.split()[0] for e in store.events()] == [
            "unknown",
            "unknown",
            "expired",
            "revoked",
        ]


def test_people_owners_and_inventories(store: Store) -> None:
    people = [store.add_annotator() for _ in range(3)]
    store.set_state(people[1], "consented")
    assert [(a.id, a.number, a.state) for a in store.annotators()] == [
        (p, i + 1, ("invited", "consented")[i == 1]) for i, p in enumerate(people)
    ]
    assert store.annotator(people[2]).number == 3
    store.set_owner("owner", "hash-1")
    store.set_owner("owner", "hash-2")
    assert (store.owner("owner"), store.owner("nobody")) == ("hash-2", None)
    assert store.answer_inventory(people[0], "asi", {"1": 5, "2": 0}, "k")
    assert not store.answer_inventory(people[0], "asi", {"1": 5, "2": 0}, "k")
    assert store.answer_inventory(people[0], "asi", {"2": 4}, "m")
    assert store.inventory_answers(people[0], "asi") == {"1": 5.0, "2": 4.0}
    assert store.inventory_answers(people[1], "asi") == {}


def test_a_store_belongs_to_one_study(store: Store) -> None:
    store.keep_study("mine", "contextualised@1#abc", {"trial": 200})
    store.keep_study("mine", "contextualised@1#abc", {"trial": 100})
    with pytest.raises(
        EvenhandError, match="belongs to the sentences 'contextualised@1#abc', not 'cgb@2024#def'"
    ):
        store.keep_study("mine", "cgb@2024#def", {})
    with pytest.raises(EvenhandError, match="belongs to the study 'mine', not 'yours'"):
        store.keep_study("yours", "contextualised@1#abc", {})


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("nonsense", "is no database URL"),
        ("mysql://x/y", "no known database"),
        ("sqlite://", "forgets"),
        ("sqlite:////no/such/a.db", "folder"),
    ],
)
def test_urls_that_name_no_store(url: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Store.open(url)


def test_who_withdraws_counts_no_more_and_cannot_come_back(store: Store) -> None:
    me, other = begin(store, 2), begin(store, 2)
    link = store.invite(me, 30)
    for who in (me, other):
        answer(store, who, f"{who}.trial.1.0", key="a")
        store.answer_inventory(who, "mornings", {"1": 2}, "k")
    assert store.withdraw(me) == 1
    assert (
        [row.annotator for row in store.scored()]
        == store.answers_table()["annotator"].to_list()
        == [other]
    )
    assert store.inventory_table()["annotator"].to_list() == [other]
    with pytest.raises(RefusedError, match="taken back"):
        store.admit(link)
    with pytest.raises(EvenhandError, match="has withdrawn"):
        store.invite(me, 30)
    assert [(p.id, p.state) for p in store.annotators() if p.state == "withdrawn"] == [
        (me, "withdrawn")
    ]
    assert sum(p.answered for p in store.progress()) == 2  # nothing was erased
