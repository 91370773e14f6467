"""Models that are functions of the words alone, runs of them, and how a run is printed."""

from __future__ import annotations

import hashlib
import html
import io
import re
from collections.abc import Mapping, Sequence

import numpy as np
from rich.console import Console

from evenhand.core.answers import Replies
from evenhand.core.document import Document
from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.audit import audit
from evenhand.engine.audit_document import audit_document
from evenhand.engine.suites import load_suite
from evenhand.report.write import print_document

Pairs = list[tuple[str, str]]
EVIL = (
    '<script>alert(\'x\')</script>" onload="1" role="x" | `_*[a](b) \\input{/etc/passwd} 50% & #1'
)


def noise(pairs: Pairs) -> Floats:
    """Three numbers that depend on nothing but the words."""
    texts = ["\0".join(pair).encode() for pair in pairs]
    seeds = [int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) for text in texts]
    return np.asarray([np.random.default_rng(seed).normal(size=3) for seed in seeds])


def silent(pairs: Pairs) -> Floats:
    """No answer to anything."""
    return np.full((len(pairs), 3), np.nan)


def undecided(pairs: Pairs) -> Floats:
    """All labels alike."""
    return np.zeros((len(pairs), 3))


def deaf_to_men(pairs: Pairs) -> Floats:
    """No answer where the hypothesis is about a man."""
    values = noise(pairs)
    values[[re.search(r"\bman\b", hypothesis) is not None for _, hypothesis in pairs]] = np.nan
    return values


class TwoLabels:
    """A model that knows entailed or not."""

    identity = "two@1"
    kinds: frozenset[Kind] = frozenset({"pair"})
    traits: Mapping[str, str] = {"labels": "e0x1"}
    is_cacheable = False
    reads_tags = False

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """Two labels for pairs."""
        return ("entailment", "not_entailment")

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """Noise."""
        values = noise([(p.texts[0], p.texts[1]) for p in probes])
        return Replies(values=values[:, None, :2])


def two_labels() -> Run:
    """The run of a model that knows two labels."""
    return audit(TwoLabels(), load_suite("occupation-nli", limit=200), settings=few(50))


def few(resamples: int = 100) -> Settings:
    """Settings with few draws."""
    return Settings(resamples=resamples, permutations=resamples)


def hostile() -> Suite:
    """Occupations, sentences and a name that try to be code."""
    rows = [
        (s, g, i) for i in range(3) for s, g in (("PS", "female"), ("AS", "male"), ("NS", "male"))
    ]
    probes = tuple(
        Probe(
            id=f"{stratum}{i}",
            kind="pair",
            language="en",
            texts=(f"{EVIL} {i}", f"<b>{gender}</b> {i}"),
            stratum=stratum,
            cluster=f"{EVIL}{i}",
            tags={
                "occupation": f"{EVIL}{i}",
                "lean": "female" if stratum != "NS" else "none",
                "template": f"{{x}} {EVIL}{i}",
            },
        )
        for stratum, gender, i in rows
    )
    card = SuiteCard(
        name=EVIL,
        version="<1>",
        language="en",
        source=EVIL,
        licence=EVIL,
        citation=EVIL,
        description=EVIL,
    )
    return Suite(card=card, probes=probes)


def printed(shown: Run | Document, width: int, *, is_terminal: bool = False) -> str:
    """What a terminal of this width shows."""
    document = shown if isinstance(shown, Document) else audit_document(shown)
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=is_terminal, color_system=None)
    print_document(document, console)
    return out.getvalue()


def cells(page: str) -> list[list[str]]:
    """The rows of all tables of a page, tags removed."""
    rows = re.findall(r"<tr>(.*?)</tr>", page, flags=re.DOTALL)
    return [
        [
            html.unescape(re.sub(r"<[^>]+>", "", cell)).strip()
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)
        ]
        for row in rows
    ]
