"""CrowS-Pairs: two sentences that differ in the group of people they name, of any language.

Every pair becomes five probes, one for each way of weighing a sentence: `shared`, `changed` and
`whole` tokens, which share the name CrowS-Pairs, and `aul` and `aula`, which mask nothing. The
first option is the more stereotypical sentence, in both directions that a row may have been written
in. Pairs of one writer are a cluster.

The published file is English. Files in the same form (.csv, .tsv, .jsonl, .json) are read in any
language that is stated: in the file, as a column `language` or `lang` or as the field `language`
of a JSON object with the list `pairs`; or beside it, as the end of the file's name
(`crows_pairs_fr.csv`) or the field `language` of NAME.card.json. Columns: sent_more and sent_less,
or stereotype and anti-stereotype; stereo_antistereo and bias_type where the file has them; the
published file must.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.errors import InputError
from evenhand.core.fetch import data_folder, find_published, published_version
from evenhand.core.files import read_rows, read_text
from evenhand.core.probe import PREFERENCES, Kind, Probe
from evenhand.core.protocols import FileOptions, SuiteOptions
from evenhand.core.suite import Suite, SuiteCard, card_path
from evenhand.core.text import listed
from evenhand.families.crows_pairs.measures import CITATION, DIRECTIONS, SCORINGS

FILE = "crows_pairs_anonymized.csv"
FOLDER = "crows_pairs"  # of the published data
SHA256 = "dfb36986ce0502abbaf7055b9176da3d08d48e07df1251991b5dfbcbceab9d0c"
ADVICE = (
    "Download it from github nyu-mll/crows-pairs and name the folder with --data or EVENHAND_DATA."
)
ENGLISH = "en"
LANGUAGES = (ENGLISH, *"ar ca de es fr it ja ko mt nl pt zh".split())
SUFFIXES = (".csv", ".tsv", ".jsonl", ".json")
_MORE = ("sent_more", "stereotype", "stereotypical")
_LESS = ("sent_less", "anti-stereotype", "antistereotype", "anti_stereotype", "anti-stereotypical")
_TAGS = {"direction": "stereo_antistereo", "bias type": "bias_type"}  # tag -> column
_LANGUAGE = ("language", "lang")
_NAMED = re.compile(r"(?:^|[._-])([a-zA-Z]{2})$")  # a code at the end of a file's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The rows of a file with their numbers, and the language that it states; empty: none."""

    path: Path
    rows: list[tuple[int, dict[str, Any]]]
    language: str


def _language_in_name(path: Path) -> str:
    """The code at the end of a file's name, where it is one of LANGUAGES."""
    match = _NAMED.search(path.name.partition(".")[0]) or _NAMED.search(path.stem)
    code = match[1].lower() if match else ""
    return code if code in LANGUAGES else ""


def _read_object(path: Path) -> tuple[list[tuple[int, dict[str, Any]]], str] | None:
    """The rows of a file that is one JSON value, and its language; None for other files."""
    if path.suffix.lower() != ".json":
        return None
    try:
        content = json.loads(read_text(path))
    except ValueError:
        return None  # one object per line
    fields = content if isinstance(content, dict) else {}
    rows = fields.get("pairs", fields.get("data")) if fields else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(
            path, "has no list of pairs; expected a list of objects, or one in `pairs`"
        )
    return list(enumerate(rows, 1)), str(fields.get("language") or "")


def read_pairs(path: Path) -> Pairs:
    """The rows of a file and its stated language.

    Raises InputError where rows, file, name and card state different languages.
    """
    whole = _read_object(path)
    rows, inside = whole if whole is not None else (read_rows(path), "")
    stated = {inside.lower()} if inside else set()
    for number, row in rows:
        codes = {str(row[key]).strip().lower() for key in _LANGUAGE if row.get(key)}
        stated |= {code.partition("-")[0] for code in codes}
        if len(stated) > 1:
            reason = f"states the languages {listed(sorted(stated))}; give one file per language"
            raise InputError(path, reason, row=number)
    if not stated and (card := card_path(path)).is_file():
        try:
            language = json.loads(read_text(card)).get("language")
        except (ValueError, AttributeError) as error:
            raise InputError(card, f"is no JSON object with a language ({error})") from error
        stated = {str(language).lower()} if language else set()
    if not stated and (code := _language_in_name(path)):
        stated = {code}
    return Pairs(path=path, rows=rows, language=next(iter(stated), ""))


def locate(data: Path | None, language: str) -> Path:
    """The file of a language: --data itself, or in its folder the published or the named one.

    Raises LoadError or InputError that says what was looked for.
    """
    folder = data_folder(data)
    if folder is not None and folder.is_file():
        return folder
    if language == ENGLISH or folder is None:
        return find_published(FOLDER, FILE, data, ADVICE)
    places = [path for root in (folder, folder / FOLDER) for path in sorted(root.glob("*"))]
    for path in places:
        if path.suffix.lower() in SUFFIXES and _language_in_name(path) == language:
            return path
    raise InputError(
        folder,
        f"has no pairs in '{language}'. Put a file in the form of CrowS-Pairs there whose name "
        f"ends in the language, such as crows_pairs_{language}.csv, or name the file with --data",
    )


def _column(pairs: Pairs, names: tuple[str, ...]) -> str:
    """The first of these columns that the file has."""
    present = pairs.rows[0][1] if pairs.rows else {}
    if (name := next((n for n in names if n in present), None)) is not None:
        return name
    there = ", ".join(map(str, present)) or "none"
    raise InputError(pairs.path, f"has no column {' or '.join(names)} (found: {there})")


def read_probes(pairs: Pairs, language: str) -> Iterator[Probe]:
    """Five probes per row, in the order of the file. Raises InputError that names a bad row."""
    path, is_published = pairs.path, pairs.path.name == FILE
    columns = [_column(pairs, names) for names in (_MORE, _LESS)]
    for number, row in pairs.rows:
        tagged = {t: c for t, c in _TAGS.items() if is_published or c in row}
        needed = [*columns, *tagged.values()]
        if missing := [c for c in needed if not str(row.get(c) or "").strip()]:
            raise InputError(path, f"{', '.join(missing)} missing or empty", row=number)
        more, less = (str(row[c]).strip() for c in columns)
        tags = {tag: str(row[column]).strip() for tag, column in tagged.items()}
        if tags.get("direction", DIRECTIONS[0]) not in DIRECTIONS:
            reason = f"direction {tags['direction']!r} is neither {' nor '.join(DIRECTIONS)}"
            raise InputError(path, reason, row=number)
        if more == less:
            raise InputError(path, f"both sentences are the same: {more[:60]!r}", row=number)
        stem = str(row.get("") or number - 1)
        for scoring in SCORINGS:
            yield Probe(
                id=f"{language}/{stem}/{scoring.stratum}",
                kind="choice",
                language=language,
                texts=("", more, less),
                stratum=scoring.stratum,
                cluster=str(row.get("anon_writer") or stem),
                tags={
                    "scoring": scoring.stratum,
                    **tags,
                    "fair": "equal",
                    "stereotyped": "0",
                },
            )


class CrowsPairs:
    """The suite of the authors' file, and of files of other languages in its form."""

    name = "crows-pairs"
    version = "2020"
    kind: Kind = "choice"
    languages: tuple[str, ...] = LANGUAGES
    variants: tuple[str, ...] = ("all",)
    is_published = True
    licence = "CC BY-SA 4.0"
    citation = CITATION
    description = (
        "1,508 pairs of sentences about nine kinds of bias, weighed in the three ways that share "
        "the name and in two that mask nothing."
    )
    options: type[SuiteOptions] = FileOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The whole file; the version says so if it is not the published one.

        Raises InputError where the file states another language, or none and is not English.
        """
        path = locate(options.data, language)
        pairs = read_pairs(path)
        is_own = path.name != FILE
        stated = pairs.language or ("" if is_own else ENGLISH)
        if stated != language:
            said = f"is in '{stated}'" if stated else "states no language"
            reason = (
                f"{said}, asked was '{language}'; give --lang {stated}"
                if stated
                else f"{said}; add a column `language`, or let its name end in it: "
                f"{path.stem}_{language}{path.suffix}"
            )
            raise InputError(path, reason)
        probes = tuple(read_probes(pairs, language))
        version = f"{path.stem}-unverified"
        if not is_own:
            version = published_version(self.version, path, SHA256)
        card = SuiteCard(
            name=self.name,
            version=version,
            language=language,
            source=path.name if is_own else "github nyu-mll/crows-pairs",
            licence="not stated" if is_own else self.licence,
            citation=self.citation,
            description=f"{len(pairs.rows):,} pairs of sentences in the form of CrowS-Pairs."
            if is_own
            else self.description,
            is_verified=version == self.version,
            factors=("writer",),
            options=PREFERENCES,
        )
        return Suite(card=card, probes=probes)


SUITE = CrowsPairs()
