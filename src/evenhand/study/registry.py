"""Registry: the part of the store that is about people, invitations, owners and the log."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NoReturn

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.core.errors import EvenhandError
from evenhand.study import queries
from evenhand.study import tables as t
from evenhand.study.database import Database, Statement
from evenhand.study.limits import Buckets, Rate
from evenhand.study.tables import Annotator, Event, Invitation, RefusedError

INVITED = "invited"
LONGEST = 200  # characters of an id or a key
# lines of the log, for each annotator and for all strangers together: at most some 4,000 a day
LINES = Rate(burst=1000, per_second=0.05)
_DETAIL = 500  # characters of a line of the log


def is_plain(text: str) -> bool:
    """Whether it can be an id or a key; anything else is never sent to the database."""
    return 0 < len(text) <= LONGEST and text.isascii() and text.isprintable()


class Registry:
    """The people of one study and the log."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self.database = database
        self._clock = clock or (lambda: datetime.now(UTC))
        dialect = database.engine.dialect
        self._insert = postgresql.insert if dialect.name == "postgresql" else sqlite.insert
        self._lines, self._left_out = Buckets(LINES), Counter[str]()
        self._find_annotator = Statement(dialect, queries.ANNOTATOR)
        self._find_invitation = Statement(dialect, queries.INVITATION)

    def _now(self, days: float = 0.0) -> str:
        moment = self._clock().astimezone(UTC) + timedelta(days=days)
        return moment.isoformat(timespec="microseconds")

    def add_annotator(self) -> str:
        """A new annotator's random id."""
        identity = secrets.token_hex(8)
        self._do(t.annotators.insert().values(id=identity, state=INVITED, created=self._now()))
        return identity

    def annotators(self) -> list[Annotator]:
        """Everybody, in the order of coming."""
        return self.database.read(queries.annotators)

    def annotator(self, identity: str) -> Annotator:
        """The annotator with this id; refused where there is none."""
        row = None
        if is_plain(identity):
            row = self.database.read_one(self._find_annotator, {"a": identity})
        if row is None:
            message = "there is no such annotator; ask for a new link"
            self._refuse("unknown annotator", identity, message)
        return Annotator(**row)

    def set_state(self, annotator: str, state: str) -> None:
        """Note how far somebody is (invited, consented ...)."""
        self.annotator(annotator)
        self._do(t.annotators.update().where(t.annotators.c.id == annotator).values(state=state))

    def invite(self, annotator: str, days: float) -> str:
        """The random id of a new invitation that is valid for `days` days."""
        if self.annotator(annotator).state == t.WITHDRAWN:
            raise EvenhandError(
                f"'{annotator}' has withdrawn and cannot be asked again; invite somebody new"
            )
        identity = secrets.token_hex(16)
        self._do(
            t.invitations.insert().values(
                id=identity, annotator=annotator, created=self._now(), expires=self._now(days)
            )
        )
        return identity

    def invitations(self, annotator: str | None = None) -> list[Invitation]:
        """All invitations, or those of one annotator, oldest first."""
        return self.database.read(lambda c: queries.invitations(c, annotator))

    def revoke(self, invitation: str) -> bool:
        """Revoke a link; False where there is no such link, or it was revoked before."""
        if not is_plain(invitation):
            return False
        columns = t.invitations.c
        update = t.invitations.update().where(columns.id == invitation, columns.revoked.is_(None))
        return self._do(update.values(revoked=self._now())) > 0

    def withdraw(self, annotator: str) -> int:
        """Record that somebody withdraws consent; returns how many answers no longer count.

        Their links end and their answers are left out. This cannot be undone.
        """
        self.annotator(annotator)
        links, people = t.invitations, t.annotators

        def work(connection: sa.Connection) -> int:
            is_open = (links.c.annotator == annotator) & links.c.revoked.is_(None)
            connection.execute(links.update().where(is_open).values(revoked=self._now()))
            connection.execute(
                people.update().where(people.c.id == annotator).values(state=t.WITHDRAWN)
            )
            count = sa.select(sa.func.count()).where(t.answers.c.annotator == annotator)
            return int(connection.execute(count).scalar_one())

        return self.database.write(work)

    def admit(self, invitation: str) -> str:
        """The annotator who holds an invitation; refused if it is unknown, revoked or expired."""
        row = None
        if is_plain(invitation):
            row = self.database.read_one(self._find_invitation, {"i": invitation})
        if row is None:
            self._refuse("unknown invitation", None, "this link is not valid; ask for a new one")
        annotator = str(row["annotator"])
        if row["revoked"] is not None:
            message = "this link was taken back; ask for a new one"
            self._refuse("revoked invitation", annotator, message)
        if row["expires"] <= self._now():
            message = "this link has expired; ask for a new one"
            self._refuse("expired invitation", annotator, message)
        return annotator

    def set_owner(self, name: str, hashed: str) -> None:
        """Keep the hash of an owner's password."""
        insert = self._insert(t.owners).values(name=name, hash=hashed, changed=self._now())
        replaced = {"hash": insert.excluded.hash, "changed": insert.excluded.changed}
        self._do(insert.on_conflict_do_update(index_elements=["name"], set_=replaced))

    def owner(self, name: str) -> str | None:
        """The hash of an owner's password; None where there is no such owner."""
        if not name.isprintable():  # PostgreSQL takes no NUL
            return None
        query = sa.select(t.owners.c.hash).where(t.owners.c.name == name)
        hashed: str | None = self.database.read(lambda c: c.execute(query).scalar())
        return hashed

    def events(self, limit: int | None = None) -> list[Event]:
        """The log, newest first."""
        return self.database.read(lambda c: queries.events(c, limit))

    def log(self, kind: str, annotator: str | None = None, detail: str = "") -> None:
        """Add a line to the log.

        In a flood of lines they are only counted, so that refused requests cannot fill the disk.
        """
        bucket = annotator or ""
        if self._lines.take(bucket) > 0:
            self._left_out[bucket] += 1
            return
        text = _printable(detail)
        if left := self._left_out.pop(bucket, 0):
            text += f" (and {left:,} before it, too many to write down)"
        whose = None if annotator is None else _printable(annotator)
        self._do(t.events.insert().values(at=self._now(), kind=kind, annotator=whose, detail=text))

    def _do(self, statement: sa.Executable) -> int:
        """Run and commit one statement; returns how many rows it affected."""
        return int(self.database.write(lambda c: c.execute(statement).rowcount))

    def _refuse(self, kind: str, annotator: str | None, message: str, detail: str = "") -> NoReturn:
        self.log(kind, annotator, detail or message)
        raise RefusedError(kind, message)


def _printable(text: str) -> str:
    """Any text, even of a forged form, as every database accepts and a terminal can show it."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:_DETAIL])
