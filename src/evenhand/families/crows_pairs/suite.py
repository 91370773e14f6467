"""The published CrowS-Pairs: two sentences that differ in the group of people they name.

Every published pair becomes three probes, one for each way of weighing a sentence that goes by
the name CrowS-Pairs: `shared`, `changed` and `whole` tokens. The first option is the more
stereotypical sentence, in both directions that a row may have been written in. Pairs of one
writer are a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evenhand.core.errors import InputError
from evenhand.core.fetch import find_published, published_version
from evenhand.core.files import read_rows
from evenhand.core.probe import PREFERENCES, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.crows_pairs.measures import CITATION, DIRECTIONS, SCORINGS

FILE = "crows_pairs_anonymized.csv"
FOLDER = "crows_pairs"  # of the published data
SHA256 = "dfb36986ce0502abbaf7055b9176da3d08d48e07df1251991b5dfbcbceab9d0c"
ADVICE = (
    "Download it from github nyu-mll/crows-pairs and name the folder with --data or EVENHAND_DATA."
)
_NEEDED = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")


def read_probes(path: Path) -> Iterator[Probe]:
    """Three probes per row, in the order of the file. Raises InputError that names a bad row."""
    for number, row in read_rows(path):
        if missing := [c for c in _NEEDED if not str(row.get(c) or "").strip()]:
            raise InputError(path, f"{', '.join(missing)} missing or empty", row=number)
        more, less, direction, bias_type = (str(row[c]).strip() for c in _NEEDED)
        if direction not in DIRECTIONS:
            reason = f"direction {direction!r} is neither {' nor '.join(DIRECTIONS)}"
            raise InputError(path, reason, row=number)
        if more == less:
            raise InputError(path, f"both sentences are the same: {more[:60]!r}", row=number)
        stem = str(row.get("") or number - 1)
        for scoring in SCORINGS:
            yield Probe(
                id=f"en/{stem}/{scoring.stratum}",
                kind="choice",
                language="en",
                texts=("", more, less),
                stratum=scoring.stratum,
                cluster=str(row.get("anon_writer") or stem),
                tags={
                    "scoring": scoring.stratum,
                    "bias type": bias_type,
                    "direction": direction,
                    "fair": "equal",
                    "stereotyped": "0",
                },
            )


class CrowsPairs:
    """The suite of the authors' file."""

    name = "crows-pairs"
    version = "2020"
    kind: Kind = "choice"
    languages: tuple[str, ...] = ("en",)
    variants: tuple[str, ...] = ("all",)
    is_published = True
    licence = "CC BY-SA 4.0"
    citation = CITATION
    description = (
        "1,508 pairs of sentences about nine kinds of bias, weighed in the three ways that share "
        "the name."
    )
    options: type[SuiteOptions] = SuiteOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The whole file; the version says so if it is not the published one."""
        path = find_published(FOLDER, FILE, options.data, ADVICE)
        version = published_version(self.version, path, SHA256)
        card = SuiteCard(
            name=self.name,
            version=version,
            language=language,
            source="github nyu-mll/crows-pairs",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
            is_verified=version == self.version,
            factors=("writer",),
            options=PREFERENCES,
        )
        return Suite(card=card, probes=tuple(read_probes(path)))


SUITE = CrowsPairs()
