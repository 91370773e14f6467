"""A study comes out of an archive as it went in, on either database, or nothing is stored."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from postgres import WORDS, answer, begin, server  # noqa: F401  (fixture)
from study_archives import (  # noqa: F401  (fixtures)
    BOTH,
    KINDS,
    NewUrl,
    fill,
    known,
    new_url,
    rows,
    source,
    target,
)

import sqlalchemy as sa  # isort: skip

from evenhand.core.errors import EvenhandError, InputError, UnknownNameError
from evenhand.people.questions import Question
from evenhand.study import archive
from evenhand.study.archive import read_archive, write_archive
from evenhand.study.store import Store
from evenhand.study.table_files import RAW
from evenhand.study.tables import GivenAnswer, RefusedError

# ruff: noqa: F811  (fixtures are arguments)
KILLED = """
import sys, time
import sqlalchemy as sa
from pathlib import Path
from evenhand.study.archive import read_archive
from evenhand.study.store import Store
store = Store.open(sys.argv[1])
@sa.event.listens_for(store.database.engine, "after_cursor_execute")
def wait(connection, cursor, statement, *_):
    if statement.startswith("INSERT INTO inventory_answers"):
        print("in the middle", flush=True)
        time.sleep(600)
read_archive(store, Path(sys.argv[2]))
"""


@pytest.mark.parametrize("form", RAW)
@pytest.mark.parametrize(("kind", "other"), [(a, b) for a in KINDS for b in KINDS])
def test_a_study_moves_to_another_store(
    new_url: NewUrl, tmp_path: Path, kind: str, other: str, form: str
) -> None:
    with Store.open(new_url(kind)) as store, Store.open(new_url(other)) as moved:
        fill(store)
        moved.keep_study("small", "suite/1", {"seed": 4})  # as opening a study does
        result = read_archive(moved, write_archive(store, tmp_path / "new" / "a.zip", form))
        assert result == rows(store) == rows(moved)
        assert result == {
            "study": 2,
            "annotators": 4,
            "invitations": 2,
            "parts": 3,
            "questions": 11,
            "answers": 8,
            "inventory_answers": 3,
            "resolutions": 2,
            "events": 2,
        }
        assert known(moved) == known(store)
        assert moved.owner("lab") is None
        assert (
            write_archive(moved, tmp_path / "b.zip", form).read_bytes()
            == (tmp_path / "new" / "a.zip").read_bytes()
        )
        # and it goes on there: counters after the highest id, links, replays, refusals
        busy, last = moved.annotators()[2].id, max(row[0] for row in moved.answers_table().rows())
        assert not answer(moved, busy, f"{busy}.trial.1.2", key="k3", fine=0.1 + 0.2)
        assert answer(moved, busy, f"{busy}.trial.1.3", key="new")
        assert moved.answers_table()["id"].to_list()[-1] > last
        assert moved.answer_inventory(busy, "mornings", {"1": 1}, "third")
        links = [invitation.id for invitation in store.invitations()]
        assert moved.admit(links[1]) == store.annotators()[1].id
        with pytest.raises(RefusedError, match="taken back"):
            moved.admit(links[0])
        moved.keep_study("small", "suite/1", {"seed": 5})
        assert rows(moved)["study"] == 3 and [event.id for event in moved.events()] == [3, 2, 1]


@BOTH
def test_an_empty_study_travels_too(new_url: NewUrl, tmp_path: Path, kind: str) -> None:
    with Store.open(new_url(kind)) as store, Store.open(new_url(kind)) as moved:
        assert set(
            read_archive(moved, write_archive(store, tmp_path / "a.zip", "csv")).values()
        ) == {0}
        answer(moved, me := begin(moved, 1), f"{me}.trial.1.0", key="k")
        assert moved.answers_table()["id"].to_list() == [1]


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
) | st.sampled_from(
    [
        "",
        " ",
        "null",
        "NaN",
        "1",
        "-0",
        "true",
        '"',
        '""',
        ",",
        "\n",
        "\r",
        "\r\n",
        "\\",
        "\\n",
        "'",
        "\ufeff",
        "\u2028",
        "=1+1",
        "#",
        "他🙂",
    ]
)
NUMBERS = st.floats(0, 1e9) | st.floats(0, 5e-324)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    drawn_rows=st.lists(st.tuples(TEXTS, TEXTS, NUMBERS), min_size=1, max_size=5),
    form=st.sampled_from(RAW),
)
def test_texts_and_numbers_of_every_kind_travel(
    drawn_rows: list[tuple[str, str, float]], form: str
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            Store.open(f"sqlite:///{folder}/a.db") as store,
            Store.open(f"sqlite:///{folder}/b.db") as moved,
        ):
            me = store.add_annotator()
            asked = [
                Question(
                    id=f"q{i}",
                    probe=probe,
                    type="type2",
                    role="measure",
                    shown=shown,
                    options=WORDS,
                    gender="",
                )
                for i, (probe, shown, _) in enumerate(drawn_rows)
            ]
            store.begin_part(me, "trial", 1, asked)
            for i, (probe, _, number) in enumerate(drawn_rows):
                given = GivenAnswer(
                    payload={"value": probe},
                    fine=-number,
                    coarse=number,
                    seconds=number,
                    key=f'"{i}',
                )
                store.give_answer(me, f"q{i}", given)
                store.answer_inventory(me, probe, {f"{i}": number}, f"i{i}")
            store.log(
                "kind", None, drawn_rows[0][1]
            )  # no annotator, beside one whose name is an empty text
            store.log("kind", "", drawn_rows[0][1])
            read_archive(moved, write_archive(store, folder / "a.zip", form))
            assert known(moved) == known(store)
            assert [event.annotator for event in moved.events()] == ["", None]


@BOTH
def test_an_archive_is_of_one_moment(new_url: NewUrl, tmp_path: Path, kind: str) -> None:
    url = new_url(kind)
    with Store.open(url) as store, Store.open(url) as busy, Store.open(new_url(kind)) as moved:
        fill(store)
        before = known(store)
        come: list[str] = []

        def interrupt(_c: object, _cursor: object, statement: str, *_: object) -> None:
            if "FROM questions" in statement:
                come.append(begin(busy, 3))
                answer(busy, come[-1], f"{come[-1]}.trial.1.0", key="k")

        sa.event.listen(store.database.engine, "before_cursor_execute", interrupt)
        write_archive(store, tmp_path / "a.zip")
        sa.event.remove(store.database.engine, "before_cursor_execute", interrupt)
        assert len(come) == 1 and len(store.annotators()) == 5
        read_archive(moved, tmp_path / "a.zip")
        assert known(moved) == before


@BOTH
def test_a_store_in_use_is_refused(
    new_url: NewUrl, source: Store, tmp_path: Path, kind: str
) -> None:
    whole = write_archive(source, tmp_path / "a.zip")
    with Store.open(new_url(kind)) as used:
        used.add_annotator()
        before = known(used)
        with pytest.raises(
            EvenhandError,
            match=r"not empty \(1 rows of annotators\); give the study a new, empty store",
        ):
            read_archive(used, whole)
        assert known(used) == before
    with Store.open(new_url(kind)) as logged:
        logged.log("wait")
        with pytest.raises(EvenhandError, match="1 rows of events"):
            read_archive(logged, whole)
    with Store.open(new_url(kind)) as twice:
        read_archive(twice, whole)
        with pytest.raises(EvenhandError, match="4 rows of annotators"):
            read_archive(twice, whole)
        assert known(twice) == known(source)


def test_another_study_or_other_sentences(source: Store, target: Store, tmp_path: Path) -> None:
    target.keep_study("large", "suite/1", {})
    with pytest.raises(
        InputError, match=r"is of the study 'small', not 'large'; name the archive of this study"
    ):
        read_archive(target, write_archive(source, tmp_path / "a.zip"))
    with Store.open(f"sqlite:///{tmp_path}/c.db") as third:
        third.keep_study("small", "suite/2", {})
        with pytest.raises(InputError, match="is of the sentences 'suite/1', not 'suite/2'"):
            read_archive(third, tmp_path / "a.zip")
    with (
        Store.open(f"sqlite:///{tmp_path}/d.db") as nameless,
        pytest.raises(InputError, match="is of the study 'none', not 'large'"),
    ):
        read_archive(target, write_archive(nameless, tmp_path / "b.zip"))
    assert sum(rows(target).values()) == 1
    with pytest.raises(UnknownNameError, match="Did you mean jsonl"):
        write_archive(source, tmp_path / "c.zip", "jsonlines")


@BOTH
def test_an_error_in_the_middle_leaves_nothing(
    new_url: NewUrl, source: Store, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = write_archive(source, tmp_path / "a.zip")
    with Store.open(new_url(kind)) as moved:
        moved.keep_study("small", "suite/1", {"seed": 9})
        before = known(moved)

        def fail(connection: sa.Connection, table: sa.Table) -> int:
            count = counting(connection, table)
            if table.name == "answers" and count:
                raise RuntimeError("half-way")
            return count

        counting = archive._count
        monkeypatch.setattr(archive, "_count", fail)
        with pytest.raises(RuntimeError, match="half-way"):
            read_archive(moved, whole)
        monkeypatch.undo()
        assert known(moved) == before and rows(moved)["study"] == 1
        read_archive(moved, whole)
        assert known(moved) == known(source)


@BOTH
def test_killed_in_the_middle_leaves_nothing(
    new_url: NewUrl, source: Store, tmp_path: Path, kind: str
) -> None:
    url, whole = new_url(kind), write_archive(source, tmp_path / "a.zip")
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, url, str(whole)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert child.stdout is not None and child.stdout.readline() == "in the middle\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    with Store.open(url) as moved:
        assert set(rows(moved).values()) == {0}
        read_archive(moved, whole)
        assert known(moved) == known(source)
