"""Status lines and progress bars on standard error, and what is said after Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import typer

from evenhand.engine.ask import Progress

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def interruptible(advice: Callable[[], str]) -> Iterator[None]:
    """Exit with code 130 on Ctrl-C, saying what `advice` returns: what is kept, how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"\nstopped: {advice()}", file=sys.stderr)
        raise typer.Exit(130) from None


@cache
def _console() -> Console:
    """Standard error; one for all, so that a bar stands below the status line around it."""
    from rich.console import Console

    return Console(stderr=True)


@contextmanager
def working(text: str) -> Iterator[None]:
    """A status line while the block runs; nothing where standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with _console().status(text):
        yield


@contextmanager
def stopping(has_cache: bool, text: str = "computing intervals and tests") -> Iterator[None]:
    """A status line, and on Ctrl-C whether the answers so far are kept; exit code 130."""
    kept = "what was answered is kept; the same command goes on from there"
    with (
        interruptible(lambda: kept if has_cache else "nothing was kept (--no-cache)"),
        working(text),
    ):
        yield


@contextmanager
def asking_bar(text: str) -> Iterator[Progress]:
    """A progress function for `engine.ask.ask`, drawn while the block runs.

    Nothing is drawn where standard error is not a terminal.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        SpinnerColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Rate(ProgressColumn):
        """Probes per second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f}/s" if speed else "", style="progress.data.speed")

    console = _console()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(text, total=None)

        def report(done: int, total: int, reused: int) -> None:
            name = f"{text} ({reused:,} known)" if reused else text
            bar.update(task, completed=done, total=total, description=name)

        yield report
