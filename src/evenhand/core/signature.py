"""Signature: one line that names everything a number depends on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signature:
    """Ordered fields, printed as `key:value|key:value`."""

    fields: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, **fields: object) -> Signature:
        """A signature of these fields, in this order, without those that are None."""
        clean = ((k, str(v).replace("|", "/")) for k, v in fields.items() if v is not None)
        return cls(tuple(clean))

    @classmethod
    def parse(cls, line: str) -> Signature:
        """The signature that was printed as `line`."""
        return cls(tuple((k, v) for k, _, v in (part.partition(":") for part in line.split("|"))))

    def __str__(self) -> str:
        return "|".join(f"{k}:{v}" for k, v in self.fields)

    def differences(self, other: Signature) -> dict[str, tuple[str | None, str | None]]:
        """The fields in which two signatures differ; empty where the numbers are comparable."""
        mine, theirs = dict(self.fields), dict(other.fields)
        keys = [*mine, *(k for k in theirs if k not in mine)]
        return {k: (mine.get(k), theirs.get(k)) for k in keys if mine.get(k) != theirs.get(k)}
