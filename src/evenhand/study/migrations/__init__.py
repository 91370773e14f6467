"""Migrations: an older database is brought up to date in one transaction, a newer one refused."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from evenhand.core.errors import InputError
from evenhand.study.database import translating

HERE = Path(__file__).parent
VERSIONS: tuple[Path, ...] = (HERE / "versions",)
_LOCK = 0x6576656E  # an arbitrary number that other programs on the same server are unlikely to use


def upgrade(engine: sa.Engine) -> str:
    """Bring a database to the newest revision, whose name is returned.

    Where two processes open it at the same time, only one of them does it.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(HERE).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    config.set_main_option(
        "version_locations", "\n".join(str(path) for path in VERSIONS).replace("%", "%%")
    )
    script = ScriptDirectory.from_config(config)
    newest = script.get_current_head() or ""
    with translating(engine):
        with engine.connect() as connection:
            if _current(connection) == newest:
                return newest
        with engine.execution_options(is_writing=True).begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            current = _current(connection)
            known = {revision.revision for revision in script.walk_revisions()}
            _check(engine, connection, current, known)
            if current != newest:
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
    return newest


def _current(connection: sa.Connection) -> str | None:
    """The revision of the database, None where it has none."""
    from alembic.migration import MigrationContext

    heads = MigrationContext.configure(connection).get_current_heads()
    return ", ".join(heads) or None


def _check(
    engine: sa.Engine, connection: sa.Connection, current: str | None, known: set[str]
) -> None:
    where = engine.url.render_as_string()
    if current is not None and current not in known:
        raise InputError(
            where,
            f"is of revision {current}, which this evenhand does not know (it knows "
            f"{', '.join(sorted(known))}); install a newer evenhand",
        )
    tables = sorted(set(sa.inspect(connection).get_table_names()) - {"alembic_version"})
    if current is None and tables:
        raise InputError(
            where,
            f"holds other tables ({', '.join(tables[:5])}) and is no study of evenhand; "
            "name an empty database or a new file",
        )
