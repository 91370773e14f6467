"""An answer is safe once the store said so: kill -9, full disks, two processes, migrations."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from postgres import Server, answer, ask, begin, server, store, url  # noqa: F401  (fixtures)

import sqlalchemy as sa  # isort: skip

from evenhand.core.errors import InputError, StorageError
from evenhand.study import migrations
from evenhand.study.database import Database, open_engine
from evenhand.study.store import Store
from evenhand.study.tables import GivenAnswer, RefusedError

# ruff: noqa: F811  (fixtures are arguments)
SUPPORT = Path(__file__).parents[1] / "support"
ANSWERING = f"""
import sys
sys.path.insert(0, {str(SUPPORT)!r})
from postgres import answer
from evenhand.study.store import Store
url, person, count = sys.argv[1:]
store = Store.open(url)
print("ready", flush=True)
sys.stdin.readline()
for i in range(int(count)):
    answer(store, person, f"{{person}}.trial.1.{{i}}", key=f"k{{i}}")
    print(i, flush=True)
"""
SECOND = """
import sqlalchemy as sa
from alembic import op
revision, down_revision = "0004", "0003"
def upgrade() -> None:
    op.add_column("annotators", sa.Column("note", sa.Text, nullable=False, server_default="none"))
"""


def start(url: str, person: str, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", ANSWERING, url, person, str(count)]
    child = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    return child


def go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


def test_what_was_acknowledged_survives_kill_9(url: str) -> None:
    with Store.open(url) as store:
        me = begin(store, 5000)
    child = start(url, me, 5000)
    go(child)
    assert child.stdout is not None
    acknowledged = [int(child.stdout.readline()) for _ in range(25)]
    child.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in child.stdout.read().split("\n")[:-1]]
    assert child.wait() == -signal.SIGKILL
    with Store.open(url) as store:
        stored = store.answers_table()["key"].to_list()
        assert stored[: len(acknowledged)] == [f"k{i}" for i in acknowledged]
        assert len(stored) <= len(acknowledged) + 1  # the one that was stored and not yet told
        assert (asked := store.next_question(me)) is not None and asked.place == len(stored)


def test_postgres_killed_and_started_again_has_every_answer(server: Server) -> None:
    with Store.open(server.create_database()) as store:
        me = begin(store, 3)
        answer(store, me, f"{me}.trial.1.0", key="a")
        server.stop("immediate")
        with pytest.raises(StorageError, match="nothing stored is lost"):
            answer(store, me, f"{me}.trial.1.1", key="b")
        server.start()
        assert answer(store, me, f"{me}.trial.1.1", key="b")  # the same store goes on
        assert store.answers_table()["key"].to_list() == ["a", "b"]


def test_two_processes_answer_at_once(url: str) -> None:
    with Store.open(url) as store:
        people = [begin(store, 40) for _ in range(2)]
        children = [start(url, person, 40) for person in people]
        for child in children:
            go(child)
        assert [child.communicate()[0].split() for child in children] == [
            [str(i) for i in range(40)]
        ] * 2
        assert sorted(store.answers_table()["question"].to_list()) == sorted(
            f"{p}.trial.1.{i}" for p in people for i in range(40)
        )


def test_many_open_a_new_database_at_once(url: str) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            Store.open(url).close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with Store.open(url) as store:
        begin(store, 1)


def fill_disk(store: Store) -> sa.Engine:
    """Make the next page (SQLite) or row (PostgreSQL) one too many."""
    engine = store.database.engine
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        sa.event.listen(
            engine, "checkout", lambda c, *_: c.execute(f"PRAGMA max_page_count={pages}")
        )
    else:
        with engine.begin() as connection:
            connection.execute(
                sa.text(
                    "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                    "RAISE EXCEPTION 'No space left' USING ERRCODE = '53100'; END $$"
                )
            )
            connection.execute(
                sa.text("CREATE TRIGGER fill BEFORE INSERT ON answers EXECUTE FUNCTION fill()")
            )
    return engine


def test_a_full_disk_is_told_and_nothing_is_lost(url: str) -> None:
    with Store.open(url) as store:
        me = begin(store, 400)
        answer(store, me, f"{me}.trial.1.0", key="k0")
        fill_disk(store)
        stored = 1
        with pytest.raises(StorageError, match=r"the disk is full .*free some space"):
            while stored < 400:
                answer(store, me, f"{me}.trial.1.{stored}", key=f"k{stored}")
                stored += 1
    with Store.open(url) as store:
        if url.startswith("postgres"):
            with store.database._writing.begin() as connection:
                connection.execute(sa.text("DROP TRIGGER fill ON answers"))
        assert store.answers_table()["key"].to_list() == [f"k{i}" for i in range(stored)]
        assert answer(store, me, f"{me}.trial.1.{stored}", key=f"k{stored}")


def test_one_refused_write_leaves_the_others_of_its_group_alone(tmp_path: Path) -> None:
    """SQLite commits what waits together; PostgreSQL has a transaction for each."""
    engine = open_engine(f"sqlite:///{tmp_path}/a.db")
    database = Database(engine)
    database.write(lambda c: c.execute(sa.text("CREATE TABLE t (n INTEGER PRIMARY KEY)")))
    hold, refusals = threading.Event(), {}

    def work(number: int) -> None:
        def insert(connection: sa.Connection) -> None:
            connection.execute(sa.text("INSERT INTO t VALUES (:n)"), {"n": number})
            if number == 3:
                raise InputError("three", "is refused after it was written")

        try:
            database.write(insert)
        except InputError as error:
            refusals[number] = str(error)

    blocking = threading.Thread(target=lambda: database.write(lambda _: hold.wait(10)))
    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in (blocking, *threads):
        thread.start()
    hold.set()
    for thread in (blocking, *threads):
        thread.join()
    assert refusals == {3: "three: is refused after it was written"}
    assert database.read(
        lambda c: [n for (n,) in c.execute(sa.text("SELECT n FROM t ORDER BY n"))]
    ) == [0, 1, 2, 4, 5]
    database.close()
    with pytest.raises(StorageError, match="closed"):
        database.write(lambda _: None)


def test_sqlite_is_set_up_to_be_durable(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/a.db")
    with engine.connect() as connection:
        pragmas = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    engine.dispose()
    assert pragmas == ["wal", 2, 1, 30_000]  # 2: FULL


def test_an_older_database_is_upgraded_with_its_answers(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(url) as store:
        me = begin(store, 1)
        answer(store, me, f"{me}.trial.1.0", key="a")
        before = store.answers_table()
    later = tmp_path / "later % versions"
    later.mkdir()
    (later / "0004_note.py").write_text(SECOND)
    monkeypatch.setattr(migrations, "VERSIONS", (*migrations.VERSIONS, later))
    with Store.open(url) as store:
        assert store.answers_table().equals(before)
        query = sa.text("SELECT note, (SELECT version_num FROM alembic_version) FROM annotators")
        assert store.database.read(lambda c: tuple(c.execute(query).one())) == ("none", "0004")
    monkeypatch.undo()
    with pytest.raises(
        InputError,
        match=r"is of revision 0004, which this evenhand does not know "
        r"\(it knows 0001, 0002, 0003\); install a newer evenhand",
    ):
        Store.open(url)


def test_a_database_from_before_decisions_keeps_what_it_has(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = tmp_path / "earlier"
    earlier.mkdir()
    for name in ("0001_study.py", "0002_reasons.py"):
        (earlier / name).write_bytes((migrations.HERE / "versions" / name).read_bytes())
    monkeypatch.setattr(migrations, "VERSIONS", (earlier,))
    version = sa.text("SELECT version_num FROM alembic_version")
    with Store.open(url) as store:
        me = begin(store, 2)
        answer(store, me, f"{me}.trial.1.0", key="a", fine=-0.5)
        store.set_owner("lab", "hash")
        assert store.database.read(lambda c: c.execute(version).scalar_one()) == "0002"
        before = store.answers_table(), store.annotators(), store.parts(me)
    monkeypatch.undo()
    with Store.open(url) as store:
        assert store.database.read(lambda c: c.execute(version).scalar_one()) == "0003"
        assert store.answers_table().equals(before[0])
        assert (store.annotators(), store.parts(me), store.owner("lab")) == (*before[1:], "hash")
        assert store.resolutions() == {}
        assert [store.resolve("p0", verdict) for verdict in ("male", "male", "both")] == [
            True,
            False,
            True,
        ]
        assert answer(store, me, f"{me}.trial.1.1", key="b")
    with Store.open(url) as store:
        assert store.resolutions() == {"p0": "both"}
        count = sa.text("SELECT count(*) FROM resolutions")
        assert store.database.read(lambda c: c.execute(count).scalar_one()) == 2


def test_answers_from_before_reasons_have_none(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tmp_path / "first"
    first.mkdir()
    (first / "0001_study.py").write_bytes(
        (migrations.HERE / "versions" / "0001_study.py").read_bytes()
    )
    monkeypatch.setattr(migrations, "VERSIONS", (first,))
    with Store.open(url) as store:
        me = begin(store, 2)
        old = (
            "INSERT INTO answers (annotator, question, given_at, seconds, payload, fine, coarse, "
            f"key) VALUES ('{me}', '{me}.trial.1.0', '2026', 2.0, '{{}}', 0, 0, 'a')"
        )
        store.database.write(lambda c: c.execute(sa.text(old)))
    monkeypatch.undo()
    with Store.open(url) as store:
        given = GivenAnswer(payload={}, fine=0, coarse=0, seconds=1, key="b", reason="她会\n缝纫")
        assert store.give_answer(me, f"{me}.trial.1.1", given)
        assert not store.give_answer(me, f"{me}.trial.1.1", given)  # a replay
        with pytest.raises(RefusedError, match="sent before with another answer"):
            store.give_answer(me, f"{me}.trial.1.1", replace(given, reason="other"))
        assert store.answers_table()["reason"].to_list() == ["", "她会\n缝纫"]
        assert store.question(me, f"{me}.trial.1.1").reason == "她会\n缝纫"
        version = sa.text("SELECT version_num FROM alembic_version")
        assert store.database.read(lambda c: c.execute(version).scalar_one()) == "0003"
        with pytest.raises(sa.exc.DBAPIError, match="append-only"):
            store.database.write(lambda c: c.execute(sa.text("UPDATE answers SET reason = 'x'")))


def test_a_migration_that_fails_changes_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.open(url).close()
    (tmp_path / "0003_bad.py").write_text(SECOND + "    raise RuntimeError('half-way')\n")
    monkeypatch.setattr(migrations, "VERSIONS", (*migrations.VERSIONS, tmp_path))
    with pytest.raises(RuntimeError, match="half-way"):
        Store.open(url)
    monkeypatch.undo()
    with Store.open(url) as store:
        assert "note" not in store.database.read(
            lambda c: [column["name"] for column in sa.inspect(c).get_columns("annotators")]
        )


def test_the_migrations_make_the_tables_that_the_store_reads(url: str) -> None:
    from evenhand.study.tables import MODEL

    Store.open(url).close()
    result, engine = sa.MetaData(), sa.create_engine(url)
    result.reflect(engine)
    engine.dispose()
    assert set(result.tables) - {"alembic_version"} == set(MODEL.tables)
    for name, table in MODEL.tables.items():
        assert {c.name: (c.nullable, c.primary_key) for c in result.tables[name].columns} == {
            c.name: (c.nullable, c.primary_key) for c in table.columns
        }
        assert {i.name for i in result.tables[name].indexes} == {i.name for i in table.indexes}
        unique = [
            {c.name for c in held.constraints if isinstance(c, sa.UniqueConstraint)}
            for held in (result.tables[name], table)
        ]
        assert unique[0] == unique[1]


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("this is text and not a database\n" * 100)
    with pytest.raises(
        InputError, match=r"notes.db: is not a database of a study .*name another file"
    ):
        Store.open(f"sqlite:///{path}")
    assert path.read_text().startswith("this is text")


def test_a_database_of_another_program(url: str) -> None:
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE shopping (item TEXT)"))
    engine.dispose()
    with pytest.raises(
        InputError, match=r"holds other tables \(shopping\) and is no study of evenhand"
    ):
        Store.open(url)


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StorageError, match=r"\*\*\*@.*refused.*try again") as raised:
        Store.open(f"postgresql://somebody:secret@/x?host={tmp_path}")
    assert "secret" not in str(raised.value)


def test_part_of_a_part_is_never_there(store: Store) -> None:
    me = store.add_annotator()
    questions = ask(me, 2000)
    threads = [
        threading.Thread(target=store.begin_part, args=(me, "trial", 1, questions))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [part] = store.parts(me)
    assert part.size == 2000
    count = sa.text("SELECT count(*) FROM questions")
    assert store.database.read(lambda c: c.execute(count).scalar()) == 2000
