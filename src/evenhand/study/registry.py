"""Who takes part, who may come in, who owns the study, and what was refused? The part of the store that is about people."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NoReturn

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.study import tables as t
from evenhand.study import views
from evenhand.study.databases import Database, Statement
from evenhand.study.rates import Buckets, Rate
from evenhand.study.rows import Annotator, Event, Invitation, RefusedError
from evenhand.core.errors import EvenhandError

INVITED = "invited"
LONGEST = 200  # characters of an id or a key
LINES = Rate(
    burst=1000, a_second=0.05
)  # of the log, for each annotator and for all strangers together: at most some 4,000 a day
_DETAIL = 500  # characters of a line of the log


def is_plain(text: str) -> bool:
    """Can it be an id or a key at all? What cannot is never sent to the database."""
    return 0 < len(text) <= LONGEST and text.isascii() and text.isprintable()


class Registry:
    """The people of one study and the log."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self.database = database
        self._clock = clock or (lambda: datetime.now(UTC))
        self._insert = (
            postgresql.insert if database.engine.dialect.name == "postgresql" else sqlite.insert
        )
        self._lines, self._left_out = Buckets(LINES), Counter[str]()
        self._person, self._invited = (
            Statement(database.engine.dialect, s) for s in (views.ANNOTATOR, views.INVITATION)
        )

    def _now(self, days: float = 0.0) -> str:
        return (self._clock().astimezone(UTC) + timedelta(days=days)).isoformat(
            timespec="microseconds"
        )

    def add_annotator(self) -> str:
        """A new annotator's random id."""
        identity = secrets.token_hex(8)
        self._do(t.annotators.insert().values(id=identity, state=INVITED, created=self._now()))
        return identity

    def annotators(self) -> list[Annotator]:
        """Everybody, in the order of coming."""
        return self.database.read(views.annotators)

    def annotator(self, identity: str) -> Annotator:
        """One of them; refused where there is no such one."""
        found = (
            self.database.read_one(self._person, {"a": identity}) if is_plain(identity) else None
        )
        return (
            Annotator(**found)
            if found
            else self._refuse(
                "unknown annotator", identity, "there is no such annotator; ask for a new link"
            )
        )

    def set_state(self, annotator: str, state: str) -> None:
        """Note how far somebody is (invited, consented ...)."""
        self.annotator(annotator)
        self._do(t.annotators.update().where(t.annotators.c.id == annotator).values(state=state))

    def invite(self, annotator: str, days: float) -> str:
        """The random id of a new invitation that holds for so many days."""
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
        return self.database.read(lambda c: views.invitations(c, annotator))

    def revoke(self, invitation: str) -> bool:
        """Make a link worthless; False where there is no such one, or it is worthless already."""
        held = t.invitations.c
        if not is_plain(invitation):
            return False
        return (
            self._do(
                t.invitations.update()
                .where(held.id == invitation, held.revoked.is_(None))
                .values(revoked=self._now())
            )
            > 0
        )

    def withdraw(self, annotator: str) -> int:
        """Somebody takes the consent back: their links end and their answers count no more; how many answers that are. There is no way back."""
        self.annotator(annotator)
        links, people = t.invitations, t.annotators

        def work(connection: sa.Connection) -> int:
            connection.execute(
                links.update()
                .where(links.c.annotator == annotator, links.c.revoked.is_(None))
                .values(revoked=self._now())
            )
            connection.execute(
                people.update().where(people.c.id == annotator).values(state=t.WITHDRAWN)
            )
            return int(
                connection.execute(
                    sa.select(sa.func.count()).where(t.answers.c.annotator == annotator)
                ).scalar_one()
            )

        return self.database.write(work)

    def admit(self, invitation: str) -> str:
        """The annotator who holds an invitation; refused where it is unknown, revoked or expired."""
        row = (
            self.database.read_one(self._invited, {"i": invitation})
            if is_plain(invitation)
            else None
        )
        if row is None:
            self._refuse("unknown invitation", None, "this link is not valid; ask for a new one")
        if row["revoked"] is not None:
            self._refuse(
                "revoked invitation",
                row["annotator"],
                "this link was taken back; ask for a new one",
            )
        if row["expires"] <= self._now():
            self._refuse(
                "expired invitation", row["annotator"], "this link has expired; ask for a new one"
            )
        return str(row["annotator"])

    def set_owner(self, name: str, hashed: str) -> None:
        """Keep the hash of an owner's password."""
        order = self._insert(t.owners).values(name=name, hash=hashed, changed=self._now())
        self._do(
            order.on_conflict_do_update(
                index_elements=["name"],
                set_={"hash": order.excluded.hash, "changed": order.excluded.changed},
            )
        )

    def owner(self, name: str) -> str | None:
        """The hash of an owner's password; None where there is no such owner."""
        if not name.isprintable():  # PostgreSQL takes no NUL
            return None
        query = sa.select(t.owners.c.hash).where(t.owners.c.name == name)
        found: str | None = self.database.read(lambda c: c.execute(query).scalar())
        return found

    def events(self, limit: int | None = None) -> list[Event]:
        """The log, newest first."""
        return self.database.read(lambda c: views.events(c, limit))

    def log(self, kind: str, annotator: str | None = None, detail: str = "") -> None:
        """Add a line to the log; in a flood lines are only counted, so that nobody fills the disk by being refused."""
        whose = annotator or ""
        if self._lines.take(whose) > 0:
            self._left_out[whose] += 1
            return
        told = _tame(detail) + (
            f" (and {left:,} before it, too many to write down)"
            if (left := self._left_out.pop(whose, 0))
            else ""
        )
        self._do(
            t.events.insert().values(
                at=self._now(),
                kind=kind,
                annotator=None if annotator is None else _tame(annotator),
                detail=told,
            )
        )

    def _do(self, order: sa.Executable) -> int:
        """Run one order for good; how many rows it touched."""
        return int(self.database.write(lambda c: c.execute(order).rowcount))

    def _refuse(self, kind: str, annotator: str | None, message: str, detail: str = "") -> NoReturn:
        self.log(kind, annotator, detail or message)
        raise RefusedError(kind, message)


def _tame(text: str) -> str:
    """Whatever a forged form held, as text that every database takes and a terminal can show."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:_DETAIL])
