"""CrowS-Pairs: which of two sentences that differ in the group they name does a masked model find likelier?

Every published pair becomes three probes, one for each way of weighing a sentence that goes by the name CrowS-Pairs: `shared`, `changed` and `whole` tokens.
The first option is the more stereotypical sentence, in both directions that a row may have been written in. Pairs of one writer are a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evenhand.core.errors import InputError
from evenhand.core.fetch import find_published, text_digest
from evenhand.core.files import read_rows
from evenhand.core.probe import PREFERENCES, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard

FILE = "crows_pairs_anonymized.csv"
SHA256 = "dfb36986ce0502abbaf7055b9176da3d08d48e07df1251991b5dfbcbceab9d0c"
ADVICE = (
    "Download it from github nyu-mll/crows-pairs and name the folder with --data or EVENHAND_DATA."
)
RULES = ("shared", "changed", "whole")
_NEEDED = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")
_DIRECTIONS = ("stereo", "antistereo")


def read_probes(path: Path) -> Iterator[Probe]:
    """Three probes a row, in the order of the file."""
    for number, row in read_rows(path):
        if missing := [c for c in _NEEDED if not str(row.get(c) or "").strip()]:
            raise InputError(path, f"{', '.join(missing)} missing or empty", row=number)
        more, less, direction, about = (str(row[c]).strip() for c in _NEEDED)
        if direction not in _DIRECTIONS:
            raise InputError(
                path, f"direction {direction!r} is neither {' nor '.join(_DIRECTIONS)}", row=number
            )
        if more == less:
            raise InputError(path, f"both sentences are the same: {more[:60]!r}", row=number)
        stem = str(row.get("") or number - 1)
        for rule in RULES:
            yield Probe(
                id=f"en/{stem}/{rule}",
                kind="choice",
                language="en",
                texts=("", more, less),
                stratum=rule,
                cluster=str(row.get("anon_writer") or stem),
                tags={
                    "scoring": rule,
                    "bias type": about,
                    "direction": direction,
                    "fair": "equal",
                    "stereotyped": "0",
                },
            )


class CrowsPairs:
    """The authors' file."""

    name = "crows-pairs"
    version = "2020"
    kind: Kind = "choice"
    languages: tuple[str, ...] = ("en",)
    variants: tuple[str, ...] = ("all",)
    is_published = True
    licence = "CC BY-SA 4.0"
    citation = "Nangia, Vania, Bhalerao, Bowman (2020). CrowS-Pairs: A Challenge Dataset for Measuring Social Biases in Masked Language Models. EMNLP."
    description = "1,508 pairs of sentences about nine kinds of bias, weighed in the three ways that share the name."

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The whole file; its version says so where it is not the published one."""
        path = find_published("crows_pairs", FILE, options.data, ADVICE)
        is_original = text_digest(path.read_bytes()) == SHA256
        card = SuiteCard(
            name=self.name,
            version=self.version if is_original else f"{self.version}-changed",
            language=language,
            source="github nyu-mll/crows-pairs",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
            labels=PREFERENCES,
        )
        return Suite(card=card, probes=tuple(read_probes(path)))


SUITE = CrowsPairs()
