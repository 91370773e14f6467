"""What the verbs of `evenhand annotate` share: opening a study, writing the file of a new one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evenhand.core.suite import Suite
    from evenhand.study.store import Store
    from evenhand.study.study import Study

PACKAGES = ("starlette", "uvicorn", "sqlalchemy", "alembic", "argon2", "itsdangerous")
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study file.")]


@contextmanager
def opened(path: Path) -> Iterator[tuple[Study, Suite, Store]]:
    """The study in a file, its sentences and its store, which is closed afterwards."""
    require_extra()
    from evenhand.study.serving import open_store
    from evenhand.study.study import open_study

    study, suite = open_study(path)
    with open_store(study, suite) as store:
        yield study, suite, store


def require_extra() -> None:
    """Raise EvenhandError where a package of the extra is not installed."""
    from importlib.util import find_spec

    from evenhand.core.errors import EvenhandError

    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        raise EvenhandError(f"a study needs the package {missing[0]}; install evenhand[annotate]")


def refuse_existing(path: Path) -> None:
    """Raise EvenhandError where a file is there already: a study is never overwritten."""
    from evenhand.core.errors import EvenhandError

    if path.exists():
        raise EvenhandError(f"{path} is there already; name another file")


def write_new(path: Path, text: str) -> None:
    """Write a file that must not be there yet."""
    from evenhand.core.errors import EvenhandError, StorageError

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise EvenhandError(f"{path} is there already; name another file") from error
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror}; choose another folder"
        ) from error
