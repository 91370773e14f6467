"""Work on a Ray cluster, which may be a single machine: every job is a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from evenhand.core.errors import EvenhandError, LoadError

Job = TypeVar("Job")
Result = TypeVar("Result")


def spread(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    *,
    cores: float = 1.0,
    address: str | None = None,
) -> Iterator[tuple[Job, Result]]:
    """Every job with its result, in the order in which they finish.

    cores: of each job; address: of the cluster, by default the one that RAY_ADDRESS names, else
    this machine.
    """
    try:
        import ray
    except ImportError as error:
        raise LoadError(f"--engine ray needs ray ({error}): pip install 'evenhand[ray]'") from error
    is_ours = not ray.is_initialized()
    if is_ours:
        try:
            ray.init(
                address=address,
                log_to_driver=False,
                include_dashboard=None if address else False,
                configure_logging=False,
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EvenhandError(
                f"no Ray cluster at {address or 'this machine'}: {str(error).splitlines()[0]}"
            ) from error
    try:
        # one retry, in case a machine of the cluster is lost
        task = ray.remote(num_cpus=cores, max_retries=1)(work)
        running = {task.remote(job): job for job in jobs}
        while running:
            done, _ = ray.wait(list(running), num_returns=1)
            job = running.pop(done[0])
            try:
                yield job, ray.get(done[0])
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, EvenhandError):
                    raise error.cause from None
                raise
    finally:
        if is_ours:
            ray.shutdown()
