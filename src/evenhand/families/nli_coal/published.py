"""nli-coal: the published NLI-CoAL evaluation sets, read in the authors' own form.

Three files per set (pro-, anti-, non-stereotypical), English and Japanese v1.1, Chinese v1.0; all
words, or the 30 words of the meta-evaluation (downsampled); Japanese also cut into words
(tokenised). Every file is checked against the digest of the published one; a file that differs is
refused with the row and the reason.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.fetch import data_folder, fetch, text_digest
from evenhand.core.files import read_rows, read_text
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, NEUTRAL, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.nli_coal.suite import OTHER_GENDER
from evenhand.languages.frames import subjects

REPOSITORY = "panatchakorn-a/bias-eval-nli-considering-all-labels"
COMMIT = "1e8a64be0c9bb5d9bcf86df798cc1238bd84919a"
STRATA = {"PS": "1-prostereo", "AS": "2-antistereo", "NS": "3-nonstereo"}
VERSIONS = {"en": "v1.1", "ja": "v1.1", "zh": "v1.0"}
LEANS = {"female-stereo": "female", "male-stereo": "male", "neutral": "none"}
ADVICE = "Download the repository by other means and name its folder with --data or EVENHAND_DATA."
_STEREOTYPED = {"PS": ENTAILMENT, "AS": CONTRADICTION}
_FOLDERS = {  # (variant, is it Japanese) -> the folder of its files
    ("all-words", False): "all-words",
    ("all-words", True): "untokenized",
    ("downsampled", False): "downsamp",
    ("downsampled", True): "downsamp",
    ("tokenised", True): "tokenized",
    ("downsampled-tokenised", True): "downsamp-tokenized",
}
_SUFFIXES = {  # of the names of the files
    "all-words": "",
    "downsampled": "-downsamp",
    "tokenised": "-tok",
    "downsampled-tokenised": "-downsamp-tok",
}


@dataclass(frozen=True, slots=True)
class Pinned:
    """What a published file must be: its number of rows, its digest, one checksum byte per row."""

    rows: int
    sha256: str
    checks: bytes


@cache
def pinned() -> dict[str, Pinned]:
    """Every published file, by its path in the repository."""
    table = json.loads((files(__package__) / "published.json").read_text(encoding="utf-8"))
    return {
        path: Pinned(entry["rows"], entry["sha256"], base64.b64decode(entry["checks"]))
        for path, entry in table.items()
    }


def row_check(line: str) -> int:
    """A checksum byte, which differs for 255 of 256 changes to the row."""
    return zlib.crc32(line.encode()) & 0xFF


def paths_of(language: str, variant: str) -> dict[str, str]:
    """The path in the repository of each stratum's file."""
    folder, version = _FOLDERS.get((variant, language == "ja")), VERSIONS[language]
    if folder is None:
        raise EvenhandError(
            f"nli-coal has no variant '{variant}' for '{language}'; "
            "tokenised sets exist for ja only"
        )
    root = f"{language}_{version}/bias-eval-set_{version}/{folder}"
    return {
        stratum: f"{root}/{stem}{_SUFFIXES[variant]}_{version}.json"
        for stratum, stem in STRATA.items()
    }


def locate(path: str, data: Path | None) -> Path:
    """The file on this machine, fetched where no folder of data is given.

    --data or EVENHAND_DATA names the repository, or a folder that holds it as nli_coal.
    """
    data = data_folder(data)
    if data is None:
        return fetch(REPOSITORY, COMMIT, path, pinned()[path].sha256, advice=ADVICE)
    for root in (data, data / "nli_coal", data / REPOSITORY.split("/")[1]):
        if (root / path).exists():
            return root / path
    raise InputError(data, f"has no nli_coal/{path}. {ADVICE}")


def verify(path: Path, known: Pinned) -> None:
    """Raise InputError, with row and reason, for a file that is not the published one."""
    if text_digest(path.read_bytes()) == known.sha256:
        return
    lines = read_text(path).rstrip("\n").split("\n")
    for row, line in enumerate(lines[: known.rows], 1):
        if row_check(line) != known.checks[row - 1]:
            raise InputError(path, f"differs from the published file: {line[:80]!r}", row=row)
    if len(lines) != known.rows:
        reason = f"the published file has {known.rows} rows, this one {len(lines)}"
        raise InputError(path, reason, row=min(len(lines), known.rows) + 1)
    reason = f"differs from the published file (SHA-256 {known.sha256[:16]}... expected)"
    raise InputError(path, reason)


def _replaced_word(premise: str, hypothesis: str, word: str) -> str | None:
    """What stands in the premise where `word` stands in the hypothesis, the rest being the same."""
    before, separator, after = hypothesis.partition(word)
    is_same = premise.startswith(before) and premise.endswith(after)
    if separator and is_same and len(premise) > len(before) + len(after):
        return premise[len(before) : len(premise) - len(after)]
    return None


def _read_subject(
    premise: str, hypothesis: str, occupation: str, words: dict[str, str]
) -> tuple[str, str] | None:
    """The gender of the hypothesis and the occupation of the premise; None where more differs.

    16 Japanese rows name another noun of the sentence as the occupation; there the word that was
    replaced is taken instead.
    """
    for gender, word in words.items():
        if premise.replace(occupation, word) == hypothesis:
            return gender, occupation
    for gender, word in words.items():
        if other := _replaced_word(premise, hypothesis, word):
            return gender, other
    return None


def _read_probes(path: Path, language: str, stratum: str, is_tokenised: bool) -> Iterator[Probe]:
    words = {g: w for g, w in subjects(language).items() if g != "nonbinary"}
    for number, row in read_rows(path):
        try:
            texts = (row["sentence1"], row["sentence2"])
            named, lean = row["occ_word"], LEANS[row["occ_type"]]
        except KeyError as error:
            reason = f"the field or value {error} is missing or unknown"
            raise InputError(path, reason, row=number) from error
        premise, hypothesis = (t.replace(" ", "") if is_tokenised else t for t in texts)
        subject = _read_subject(premise, hypothesis, named, words)
        if subject is None:
            reason = "premise and hypothesis differ in more than the gender word"
            raise InputError(path, reason, row=number)
        gender, occupation = subject
        if occupation != named and stratum == "NS":
            lean = "none"
        by_gender = ENTAILMENT if gender == "male" else CONTRADICTION
        yield Probe(
            id=str(row["id"]),
            kind="pair",
            language=language,
            texts=texts,
            stratum=stratum,
            cluster=occupation,
            tags={
                "occupation": occupation,
                "lean": lean,
                "source": "crowd",
                "gender": gender,
                "word": words[gender],
                "template": premise.replace(occupation, "{x}"),
                "fair": NEUTRAL,
                "stereotyped": _STEREOTYPED.get(stratum, by_gender),
            },
        )


def _with_twins(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    """The probes with their twins: same premise, other gender word."""
    by_question = {(p.texts[0], p.cluster, p.tags["gender"]): p.id for p in probes}
    return tuple(
        dataclasses.replace(
            p, twin=by_question.get((p.texts[0], p.cluster, OTHER_GENDER[p.tags["gender"]]))
        )
        for p in probes
    )


class NliCoalSuite:
    """The authors' evaluation sets."""

    name = "nli-coal"
    version = "en 1.1, ja 1.1, zh 1.0"
    kind: Kind = "pair"
    languages: tuple[str, ...] = ("en", "ja", "zh")
    variants: tuple[str, ...] = (
        "all-words",
        "downsampled",
        "tokenised",
        "downsampled-tokenised",
    )
    is_published = True
    licence = "MIT"
    citation = (
        "Anantaprayoon, Kaneko, Okazaki (2024). Evaluating Gender Bias of Pre-trained Language "
        "Models in Natural Language Inference by Considering All Labels. LREC-COLING."
    )
    description = "The published occupation pairs: 1000 PS, 1000 AS, 3420 NS (3320 in Chinese)."
    options: type[SuiteOptions] = SuiteOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The published set in one language and variant."""
        variant = options.variant or self.variants[0]
        probes: list[Probe] = []
        for stratum, path in paths_of(language, variant).items():
            local = locate(path, options.data)
            verify(local, pinned()[path])
            probes += _read_probes(local, language, stratum, variant.endswith("tokenised"))
        card = SuiteCard(
            name=self.name if variant == self.variants[0] else f"{self.name}:{variant}",
            version=VERSIONS[language].removeprefix("v"),
            language=language,
            source=f"github {REPOSITORY} at {COMMIT[:12]}",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
            is_verified=True,  # `verify` refuses every other file
            factors=("occupation", "template"),
            within="lean",
        )
        return Suite(card=card, probes=_with_twins(probes))


SUITE = NliCoalSuite()
