"""The published NLI-CoAL evaluation sets, read in the authors' own form.

Three files per set (pro-, anti-, non-stereotypical), English and Japanese v1.1, Chinese v1.0; all words, or the 30 words of the meta-evaluation
(downsampled); Japanese also cut into words (tokenised). Every file is checked against the digest of the published one; a file that differs is
refused with the row and the reason.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
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
from evenhand.languages.frames import subjects

REPOSITORY = "panatchakorn-a/bias-eval-nli-considering-all-labels"
COMMIT = "1e8a64be0c9bb5d9bcf86df798cc1238bd84919a"
STRATA = {"PS": "1-prostereo", "AS": "2-antistereo", "NS": "3-nonstereo"}
VERSIONS = {"en": "v1.1", "ja": "v1.1", "zh": "v1.0"}
LEANS = {"female-stereo": "female", "male-stereo": "male", "neutral": "none"}
_STEREOTYPED = {"PS": ENTAILMENT, "AS": CONTRADICTION}
_FOLDER = {
    ("all-words", False): "all-words",
    ("all-words", True): "untokenized",
    ("downsampled", False): "downsamp",
    ("downsampled", True): "downsamp",
    ("tokenised", True): "tokenized",
    ("downsampled-tokenised", True): "downsamp-tokenized",
}
_SUFFIX = {
    "all-words": "",
    "downsampled": "-downsamp",
    "tokenised": "-tok",
    "downsampled-tokenised": "-downsamp-tok",
}
ADVICE = "Download the repository by other means and name its folder with --data or EVENHAND_DATA."


@dataclass(frozen=True, slots=True)
class Pinned:
    """What is known of a published file: its digest, its length, and one byte of checksum for each row."""

    rows: int
    sha256: str
    checks: bytes


@cache
def pinned() -> dict[str, Pinned]:
    """Every published file, by its path in the repository."""
    table = json.loads((files(__package__) / "nli_coal.json").read_text(encoding="utf-8"))
    return {
        path: Pinned(entry["rows"], entry["sha256"], base64.b64decode(entry["checks"]))
        for path, entry in table.items()
    }


def row_check(line: str) -> int:
    """One byte that a change of the row changes, 255 times out of 256."""
    return zlib.crc32(line.encode()) & 0xFF


def paths_of(language: str, variant: str) -> dict[str, str]:
    """The path in the repository of each stratum's file."""
    folder, version = _FOLDER.get((variant, language == "ja")), VERSIONS[language]
    if folder is None:
        raise EvenhandError(
            f"nli-coal has no variant '{variant}' for '{language}'; tokenised sets exist for ja only"
        )
    root = f"{language}_{version}/bias-eval-set_{version}/{folder}"
    return {
        stratum: f"{root}/{stem}{_SUFFIX[variant]}_{version}.json"
        for stratum, stem in STRATA.items()
    }


def locate(path: str, data: Path | None) -> Path:
    """The file on this machine: under --data or EVENHAND_DATA (the repository, or a folder that holds it as nli_coal), else fetched."""
    data = data_folder(data)
    if data is None:
        return fetch(REPOSITORY, COMMIT, path, pinned()[path].sha256, advice=ADVICE)
    for root in (data, data / "nli_coal", data / REPOSITORY.split("/")[1]):
        if (root / path).exists():
            return root / path
    raise InputError(data, f"has no nli_coal/{path}. {ADVICE}")


def verify(path: Path, known: Pinned) -> None:
    """Refuse a file that is not the published one, by row and reason."""
    if text_digest(path.read_bytes()) == known.sha256:
        return
    lines = read_text(path).rstrip("\n").split("\n")
    for number, line in enumerate(lines[: known.rows], 1):
        if row_check(line) != known.checks[number - 1]:
            raise InputError(path, f"differs from the published file: {line[:80]!r}", row=number)
    if len(lines) != known.rows:
        raise InputError(
            path,
            f"the published file has {known.rows} rows, this one {len(lines)}",
            row=min(len(lines), known.rows) + 1,
        )
    raise InputError(
        path, f"differs from the published file (SHA-256 {known.sha256[:16]}... expected)"
    )


def _squeeze(text: str, is_tokenised: bool) -> str:
    return text.replace(" ", "") if is_tokenised else text


def _difference(premise: str, hypothesis: str, word: str) -> str | None:
    """What stands in the premise where `word` stands in the hypothesis, everything else being the same."""
    before, found, after = hypothesis.partition(word)
    if (
        found
        and premise.startswith(before)
        and premise.endswith(after)
        and len(premise) > len(before) + len(after)
    ):
        return premise[len(before) : len(premise) - len(after)]
    return None


def _probes(path: Path, language: str, stratum: str, is_tokenised: bool) -> Iterable[Probe]:
    words = {g: w for g, w in subjects(language).items() if g != "nonbinary"}
    for number, row in read_rows(path):
        try:
            premise, hypothesis, occupation, lean = (
                row["sentence1"],
                row["sentence2"],
                row["occ_word"],
                LEANS[row["occ_type"]],
            )
        except KeyError as error:
            raise InputError(
                path, f"the field or value {error} is missing or unknown", row=number
            ) from error
        flat = [_squeeze(t, is_tokenised) for t in (premise, hypothesis)]
        gender = next(
            (g for g, w in words.items() if flat[0].replace(occupation, w) == flat[1]), None
        )
        if gender is None:
            # 16 Japanese rows name as occupation another noun of the sentence; the word that differs is the one that was replaced.
            for gender, word in words.items():  # noqa: B007
                if told := _difference(flat[0], flat[1], word):
                    occupation, lean = told, "none" if stratum == "NS" else lean
                    break
            else:
                raise InputError(
                    path, "premise and hypothesis differ in more than the gender word", row=number
                )
        yield Probe(
            id=str(row["id"]),
            kind="pair",
            language=language,
            texts=(premise, hypothesis),
            stratum=stratum,
            cluster=occupation,
            tags={
                "occupation": occupation,
                "lean": lean,
                "source": "crowd",
                "gender": gender,
                "word": words[gender],
                "template": flat[0].replace(occupation, "{x}"),
                "fair": NEUTRAL,
                "stereotyped": _STEREOTYPED.get(
                    stratum, ENTAILMENT if gender == "male" else CONTRADICTION
                ),
            },
        )


def _paired(probes: list[Probe]) -> tuple[Probe, ...]:
    """The probes with their twins: same premise, other gender word."""
    by_question = {(p.texts[0], p.cluster, p.tags["gender"]): p.id for p in probes}
    other = {"female": "male", "male": "female"}
    return tuple(
        Probe.from_json(
            {
                **p.to_json(),
                "twin": by_question.get((p.texts[0], p.cluster, other[p.tags["gender"]])),
            }
        )
        for p in probes
    )


class NliCoalSuite:
    """The authors' evaluation sets."""

    name = "nli-coal"
    version = "en 1.1, ja 1.1, zh 1.0"
    kind: Kind = "pair"
    languages = ("en", "ja", "zh")
    variants = ("all-words", "downsampled", "tokenised", "downsampled-tokenised")
    is_published = True
    licence = "MIT"
    citation = "Anantaprayoon, Kaneko, Okazaki (2024). Evaluating Gender Bias of Pre-trained Language Models in Natural Language Inference by Considering All Labels. LREC-COLING."
    description = "The published occupation pairs: 1000 PS, 1000 AS, 3420 NS (3320 in Chinese)."

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The published set in one language and variant."""
        variant = options.variant or self.variants[0]
        probes: list[Probe] = []
        for stratum, path in paths_of(language, variant).items():
            local = locate(path, options.data)
            verify(local, pinned()[path])
            probes += _probes(local, language, stratum, variant.endswith("tokenised"))
        card = SuiteCard(
            name=self.name if variant == self.variants[0] else f"{self.name}:{variant}",
            version=VERSIONS[language].removeprefix("v"),
            language=language,
            source=f"github {REPOSITORY} at {COMMIT[:12]}",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
        )
        return Suite(card=card, probes=_paired(probes))


SUITE = NliCoalSuite()
