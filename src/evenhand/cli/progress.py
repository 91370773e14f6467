"""Progress bars on standard error, and what Ctrl-C leaves behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from evenhand.engine.ask import Progress


@contextmanager
def stopping(has_cache: bool) -> Iterator[None]:
    """Say on Ctrl-C what is kept and how to go on; exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        kept = (
            "what was answered is kept; the same command goes on from there"
            if has_cache
            else "nothing was kept (--no-cache)"
        )
        print(f"\nstopped: {kept}", file=sys.stderr)
        raise typer.Exit(130) from None


@contextmanager
def asking_bar(text: str) -> Iterator[Progress]:
    """A progress function for `engine.ask.ask`, drawn while the block runs.

    Nothing is drawn where standard error is not a terminal.
    """
    from rich.console import Console
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
        """Probes a second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f}/s" if speed else "", style="progress.data.speed")

    console = Console(stderr=True)
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
