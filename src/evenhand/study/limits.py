"""Limits: how much is allowed, and how often, kept in memory as one leaking bucket per key."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`burst` at once, then `per_second` on average."""

    burst: int
    per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a study allows.

    A laboratory may share one address: requests with a session count for the session alone.
    """

    session: Rate = Rate(burst=60, per_second=6)
    address: Rate = Rate(burst=300, per_second=5)
    login: Rate = Rate(burst=5, per_second=1 / 60)  # from one address
    # for one name, from all addresses: higher, so that no single address can lock an owner out
    name: Rate = Rate(burst=30, per_second=1 / 10)
    body: int = 64 * 1024
    patience: float = 30  # seconds for a body to arrive


class Buckets:
    """A leaking bucket for each key; those that have run empty are forgotten."""

    MOST = 20_000

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._levels: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, key: str) -> float:
        """0 where there was room for one more from this key, else the seconds to wait."""
        now = self._clock()
        with self._lock:
            level, since = self._levels.get(key, (0.0, now))
            level = max(0.0, level - (now - since) * self._rate.per_second)
            if level + 1 > self._rate.burst:
                return (level + 1 - self._rate.burst) / self._rate.per_second
            self._levels[key] = (level + 1, now)
            if len(self._levels) > self.MOST:
                self._forget(now)
        return 0.0

    def _forget(self, now: float) -> None:
        """Make room for many at once: to search all of them for each new key would be slow."""
        held = {
            key: (level, since)
            for key, (level, since) in self._levels.items()
            if level > (now - since) * self._rate.per_second
        }
        surplus = max(0, len(held) - self.MOST // 2)  # memory stays bounded whatever is sent
        self._levels = dict(list(held.items())[surplus:])
