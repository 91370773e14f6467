"""Work on this machine: one job after the other, or several processes side by side."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

from evenhand.core.errors import EvenhandError

Job = TypeVar("Job")
Result = TypeVar("Result")
ENGINES = ("local", "ray")


def spread(
    work: Callable[[Job], Result], jobs: Sequence[Job], *, processes: int = 1
) -> Iterator[tuple[Job, Result]]:
    """Every job with its result, in the order in which they finish.

    Raises EvenhandError where `processes` is below 1.
    """
    if processes < 1:
        raise EvenhandError(f"--processes is {processes}; give at least 1")
    if processes == 1 or len(jobs) < 2:
        for job in jobs:
            yield job, work(job)
        return
    # spawned and not forked: a fork of a process in which torch has run may hang
    pool = ProcessPoolExecutor(
        min(processes, len(jobs)), mp_context=multiprocessing.get_context("spawn")
    )
    try:
        running = {pool.submit(work, job): job for job in jobs}
        for done in as_completed(running):
            yield running[done], done.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
