"""How is a suite kept in a file? One probe a line, and a card beside it that names the digest."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from evenhand.core.errors import InputError
from evenhand.core.records import LABELS, Probe, Suite, SuiteCard
from evenhand.core.storage import read_rows, read_text, write_atomic


def card_path(path: Path) -> Path:
    """Where the card of a suite file lies: `x.jsonl` -> `x.card.json`."""
    return path.with_suffix(".card.json")


def probe_lines(suite: Suite) -> str:
    """The probes as JSON, one a line."""
    return "".join(json.dumps(p.to_json(), ensure_ascii=False) + "\n" for p in suite.probes)


def write_suite(suite: Suite, path: Path) -> None:
    """Write the probes to `path` and the card beside it."""
    write_atomic(path, probe_lines(suite))
    card = {**asdict(suite.card), "probes": len(suite.probes), "digest": suite.digest}
    write_atomic(card_path(path), json.dumps(card, ensure_ascii=False, indent=1) + "\n")


def read_probes(path: Path) -> tuple[Probe, ...]:
    """The probes of a suite file; an error names the row that is not one."""
    probes: list[Probe] = []
    seen: dict[str, int] = {}
    for number, row in read_rows(path):
        try:
            probe = Probe.from_json(row)
        except KeyError as error:
            raise InputError(path, f"the field {error} is missing", row=number) from error
        except (TypeError, ValueError) as error:
            raise InputError(path, f"not a probe: {error}", row=number) from error
        if probe.id in seen:
            raise InputError(path, f"the id '{probe.id}' was already used in row {seen[probe.id]}", row=number)
        seen[probe.id] = number
        probes.append(probe)
    return tuple(probes)


def read_suite(path: Path) -> Suite:
    """The suite in a file; its card if there is one beside it, and the digest then must fit."""
    probes = read_probes(path)
    card = SuiteCard(
        name=path.stem, version="file", language=probes[0].language, source=path.name, licence="not stated", citation="not stated",
        description=f"read from {path.name}", labels=LABELS[probes[0].kind],
    )  # fmt: skip
    beside = card_path(path)
    if not beside.exists():
        return Suite(card=card, probes=probes)
    try:
        told = dict(json.loads(read_text(beside)))
        labels = tuple(told.get("labels") or LABELS[probes[0].kind])
        card = SuiteCard(**{k: told[k] for k in SuiteCard.__slots__ if k != "labels"}, labels=labels)
        digest = told["digest"]
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(beside, f"is not the card of a suite ({error})") from error
    suite = Suite(card=card, probes=probes)
    if suite.digest != digest:
        raise InputError(path, f"its digest is {suite.digest} but its card says {digest}: the file was changed or cut after it was made")
    return suite
