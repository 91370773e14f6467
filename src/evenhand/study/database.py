"""Database: opening SQLite or PostgreSQL, and writing so that what was acknowledged is on disk.

SQLite: write-ahead log, synchronous=FULL (a commit returns after the fsync), one writing thread
that commits all waiting answers together (one fsync for all of them). PostgreSQL: a pool of
connections, synchronous_commit=on; it commits groups itself.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa

from evenhand.core.errors import EvenhandError, InputError, StorageError

T = TypeVar("T")
Work = Callable[[sa.Connection], T]
WAIT = 30  # seconds for a lock of another process
MOST = 256  # answers in one commit
READERS, POOL = 4, 16  # connections at once: readers of a SQLite file; all to PostgreSQL
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    f"busy_timeout={WAIT * 1000}",
    "recursive_triggers=ON",
)
_FORMS = "sqlite:///study.db or postgresql://user:password@host/database"


def open_engine(url: str) -> sa.Engine:
    """An engine for a URL; InputError where it names no database that evenhand can use."""
    try:
        target = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise InputError(url, f"is no database URL; write {_FORMS}") from error
    if target.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        return _open_postgres(target.set(drivername="postgresql+psycopg"))
    if target.get_backend_name() != "sqlite":
        reason = f"'{target.drivername}' is no known database; write {_FORMS}"
        raise InputError(target.render_as_string(), reason)
    if not target.database or target.database == ":memory:" or "mode=memory" in url:
        reason = f"a database in memory forgets its answers; name a file, as in {_FORMS}"
        raise InputError(url, reason)
    if not Path(target.database).resolve().parent.is_dir():
        raise InputError(target.database, "its folder does not exist; create the folder first")
    engine = sa.create_engine(
        target,
        pool_size=READERS + 1,
        max_overflow=0,
        connect_args={"check_same_thread": False, "timeout": WAIT},
    )
    sa.event.listen(engine, "connect", _prepare)
    sa.event.listen(engine, "begin", _begin)
    return engine


def _open_postgres(target: Any) -> sa.Engine:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise InputError(
            target.render_as_string(),
            "PostgreSQL needs the package psycopg: install evenhand[annotate,postgres] and try "
            "again",
        ) from error
    settings = f"-c synchronous_commit=on -c lock_timeout={WAIT}s -c timezone=UTC"
    return sa.create_engine(
        target,
        pool_size=POOL,
        max_overflow=0,
        pool_timeout=WAIT,
        pool_pre_ping=True,
        connect_args={"options": settings, "connect_timeout": 10},
    )


def _prepare(connection: Any, _: object) -> None:
    # Python's own idea of when a transaction begins is off: _begin decides
    connection.isolation_level = None
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: sa.Connection) -> None:
    # A transaction that will write takes the lock at once: SQLite refuses it to one that has read
    # first while another wrote.
    options = connection.get_execution_options()
    if not options.get("is_single", False):
        is_writing = options.get("is_writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


@contextmanager
def translating(engine: sa.Engine) -> Iterator[None]:
    """Errors of the database become errors of evenhand: what is wrong, where, what to do."""
    try:
        yield
    except sa.exc.IntegrityError:
        raise
    except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
        raise _explain(engine, error) from error


def _explain(engine: sa.Engine, error: Any) -> EvenhandError:
    is_sqlite = engine.dialect.name == "sqlite"
    where = engine.url.database if is_sqlite else engine.url.render_as_string()
    reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
    code = getattr(getattr(error, "orig", None), "sqlstate", None)
    if "not a database" in reason or "malformed" in reason:
        return InputError(
            str(where),
            f"is not a database of a study ({reason}); name another file, or bring back a copy of "
            "this one",
        )
    if "unable to open" in reason:
        return StorageError(
            f"cannot open {where}: {reason}; check that the file and its folder may be written to"
        )
    if "full" in reason or code == "53100":  # sqlstate disk_full
        return StorageError(
            f"cannot write {where}: the disk is full ({reason}); free some space and send the "
            "answer again, nothing stored is lost"
        )
    if "locked" in reason or code == "55P03":  # sqlstate lock_not_available
        return StorageError(
            f"cannot write {where}: another process has held it for {WAIT} seconds ({reason}); "
            "stop that one and try again"
        )
    return StorageError(
        f"the database {where} refused: {reason}; see to it and try again, nothing stored is lost"
    )


class Statement:
    """A statement that is compiled once.

    For the statements behind every answer, compiling the SQL costs more than running it.
    """

    def __init__(self, dialect: sa.Dialect, statement: Any) -> None:
        compiled = statement.compile(dialect=dialect)
        self._text = str(compiled)
        self._fixed = dict(compiled.params)
        self._order = compiled.positiontup

    def run(self, connection: sa.Connection, values: Mapping[str, Any]) -> sa.CursorResult[Any]:
        """Its result with these parameters."""
        given = {**self._fixed, **values}
        parameters = given if self._order is None else tuple(given[name] for name in self._order)
        return connection.exec_driver_sql(self._text, parameters)


class Job(NamedTuple):
    """A piece of writing that waits for its turn; a single statement needs no savepoint."""

    work: Work[Any]
    done: Future[Any]
    is_single: bool


class Database:
    """Reads happen at once; a write returns when it is on disk."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self._writing = engine.execution_options(is_writing=True)
        is_sqlite = engine.dialect.name == "sqlite"
        # by default PostgreSQL shows each statement of a transaction what others stored meanwhile
        self._reading = (
            engine if is_sqlite else engine.execution_options(isolation_level="REPEATABLE READ")
        )
        # one statement is a transaction of its own: no BEGIN and COMMIT to wait for
        self._single = engine.execution_options(
            **({"is_single": True} if is_sqlite else {"isolation_level": "AUTOCOMMIT"})
        )
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        # Python runs one thread at a time: a hundred readers would leave the writer hardly any time
        self._readers = threading.BoundedSemaphore(READERS if is_sqlite else POOL)
        self._thread: threading.Thread | None = None
        self._is_closed = False
        if is_sqlite:
            self._thread = threading.Thread(target=self._serve, name="evenhand-store", daemon=True)
            self._thread.start()

    def read(self, work: Work[T]) -> T:
        """What `work` finds in one consistent view of the database."""
        with self._readers, translating(self.engine), self._reading.connect() as connection:
            return work(connection)

    def read_one(self, statement: Statement, values: Mapping[str, Any]) -> Any:
        """The first row that one statement finds, or None."""
        with self._readers, translating(self.engine), self._single.connect() as connection:
            return statement.run(connection, values).mappings().first()

    def write(self, work: Work[T]) -> T:
        """What `work` returns, after what it wrote is durable; nothing where it raises."""
        if self._thread is not None:
            return self._queue(work, is_single=False)
        with translating(self.engine), self._writing.begin() as connection:
            return work(connection)

    def write_one(self, statement: Statement, values: Mapping[str, Any]) -> Any:
        """The value that one statement returns, or None, after what it wrote is durable."""

        def work(connection: sa.Connection) -> Any:
            return statement.run(connection, values).scalar()

        if self._thread is not None:
            return self._queue(work, is_single=True)
        with translating(self.engine), self._single.connect() as connection:
            return work(connection)

    def _queue(self, work: Work[T], *, is_single: bool) -> T:
        if self._is_closed:
            raise StorageError("the store is closed; open it again")
        done: Future[T] = Future()
        self._jobs.put(Job(work, done, is_single))
        return done.result()

    def close(self) -> None:
        """Finish what is waiting, and close the database."""
        self._is_closed = True
        if self._thread is not None and self._thread.is_alive():
            self._jobs.put(None)
            self._thread.join()
        self.engine.dispose()

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            group, is_last = [job], False
            while len(group) < MOST and not self._jobs.empty():
                if (more := self._jobs.get()) is None:
                    is_last = True
                    break
                group.append(more)
            self._commit(group)
            if is_last:
                return

    def _commit(self, group: list[Job]) -> None:
        try:
            with translating(self.engine), self._writing.begin() as connection:
                results = [_attempt(connection, job) for job in group]
        except BaseException as error:
            # the database itself failed, so that nothing of the group is stored
            if len(group) == 1:
                group[0].done.set_exception(error)
            else:
                for job in group:  # one may be too large for the disk while the others are not
                    self._commit([job])
            return
        for job, (result, failure) in zip(group, results, strict=True):
            if failure is None:
                job.done.set_result(result)
            else:
                job.done.set_exception(failure)


def _attempt(connection: sa.Connection, job: Job) -> tuple[Any, Exception | None]:
    """The result of one piece of work, or its refusal.

    A refusal takes back what the work wrote and leaves the others of the group alone.
    """
    try:
        with nullcontext() if job.is_single else connection.begin_nested():
            return job.work(connection), None
    except sa.exc.DBAPIError as error:
        if not isinstance(error, sa.exc.IntegrityError):
            raise
        return None, error
    except Exception as error:
        return None, error
