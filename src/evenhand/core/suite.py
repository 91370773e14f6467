"""Suite: a versioned set of probes with its card, and its file format."""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cached_property
from pathlib import Path

from evenhand.core.checksums import check_manifest
from evenhand.core.errors import InputError
from evenhand.core.files import read_rows, read_text, write_atomic
from evenhand.core.probe import CLUSTER, DEFAULT_OPTIONS, HYPOTHESIS, Kind, Probe


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCard:
    """Where a suite comes from and what may be done with it."""

    name: str
    version: str
    language: str
    source: str
    licence: str
    citation: str
    description: str
    options: tuple[str, ...] = (HYPOTHESIS,)  # the roles of the candidates or options, in order
    # what makes probes dependent: the name of the clusters, then the tags that are crossed with it
    factors: tuple[str, ...] = (CLUSTER,)
    within: str = ""  # the tag by which clusters were chosen, so that its shares are fixed
    is_verified: bool = False  # whether its files were found to have the pinned digests


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A versioned set of probes."""

    card: SuiteCard
    probes: tuple[Probe, ...]
    limit: int | None = None  # the limit that a larger suite was cut to
    whole: int | None = None  # how many probes the larger suite has

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with any word of any probe."""
        state = hashlib.sha256()
        for probe in self.probes:
            row = json.dumps(probe.to_json(), ensure_ascii=False, sort_keys=True)
            state.update(row.encode())
        return state.hexdigest()[:12]

    @property
    def reference(self) -> str:
        """`name@version#digest`, followed by `/limit` where the suite was cut."""
        whole = f"{self.card.name}@{self.card.version}#{self.digest}"
        return f"{whole}/{self.limit}" if self.limit else whole

    @property
    def kind(self) -> Kind:
        """The kind of its probes; a suite has one kind only."""
        return self.probes[0].kind if self.probes else "pair"

    @cached_property
    def strata(self) -> frozenset[str]:
        """The strata that its probes have."""
        return frozenset(p.stratum for p in self.probes)

    @cached_property
    def tags(self) -> frozenset[str]:
        """The names of all tags that its probes have."""
        return frozenset(tag for probe in self.probes for tag in probe.tags)


def card_path(path: Path) -> Path:
    """Where the card of a suite file lies: `x.jsonl` -> `x.card.json`."""
    return path.with_suffix(".card.json")


def probe_lines(suite: Suite) -> str:
    """The probes as JSON, one per line."""
    return "".join(json.dumps(p.to_json(), ensure_ascii=False) + "\n" for p in suite.probes)


def card_text(suite: Suite) -> str:
    """The card of a suite as JSON, with what it says about the probes beside it."""
    about = {"probes": len(suite.probes), "limit": suite.limit, "whole": suite.whole}
    card = {**asdict(suite.card), **about, "digest": suite.digest}
    return json.dumps(card, ensure_ascii=False, indent=1) + "\n"


def write_suite(suite: Suite, path: Path) -> None:
    """Write the probes to `path` and the card beside it."""
    write_atomic(path, probe_lines(suite))
    write_atomic(card_path(path), card_text(suite))


def read_probes(path: Path) -> tuple[Probe, ...]:
    """The probes of a suite file. Raises InputError that names the bad row."""
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
            reason = f"the id '{probe.id}' was already used in row {seen[probe.id]}"
            raise InputError(path, reason, row=number)
        seen[probe.id] = number
        probes.append(probe)
    return tuple(probes)


def read_suite(path: Path) -> Suite:
    """The suite in a file, with its card if there is one next to it.

    Raises InputError where the file does not have the digest that its card states, or one of the
    two is not the file that was written with the run in whose folder they lie.
    """
    check_manifest(path.parent, path.name)
    probes = read_probes(path)
    default = DEFAULT_OPTIONS[probes[0].kind]
    card_file = card_path(path)
    if not card_file.exists():
        card = SuiteCard(
            name=path.stem,
            version="file",
            language=probes[0].language,
            source=path.name,
            licence="not stated",
            citation="not stated",
            description=f"read from {path.name}",
            options=default,
        )
        return Suite(card=card, probes=probes)
    try:
        row = dict(json.loads(read_text(card_file)))
        texts = {f.name: row[f.name] for f in fields(SuiteCard) if f.default is MISSING}
        card = SuiteCard(
            **texts,
            options=tuple(row.get("options") or default),
            factors=tuple(row.get("factors") or (CLUSTER,)),
            within=str(row.get("within") or ""),
            is_verified=row.get("is_verified") is True,
        )
        suite = Suite(card=card, probes=probes, limit=row.get("limit"), whole=row.get("whole"))
        digest = row["digest"]
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(card_file, f"is not the card of a suite ({error})") from error
    if suite.digest != digest:
        reason = f"its digest is {suite.digest} but its card says {digest}: "
        raise InputError(path, reason + "the file was changed or cut after it was made")
    return suite
