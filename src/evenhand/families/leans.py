"""The lean of occupations: by labour statistics, by crowd scores, or by a table of the user.

labour: women are more than 70 % of the workers (female), less than 30 % (male), or neither (none).
crowd: two scores in [-1, 1], -1 female and +1 male: the word by definition, and by stereotype. A
word that is not male by definition (below 0.5) leans male with a stereotype above 0.5, female with
one below -0.5, else to none; the rule of Anantaprayoon, Kaneko and Okazaki 2024.
both: labour where there is a figure, else crowd.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evenhand import lexicons
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.files import read_rows
from evenhand.families.effects import LEANS

DOMINANCE = 70.0  # percent; "dominated" in Sharma et al. 2021
CROWD_LIMIT = 0.5  # of both scores
LABOUR, CROWD, BOTH = "labour", "crowd", "both"
SOURCES = {  # what a report says of each source
    LABOUR: "labour statistics of the United States (Current Population Survey 2019)",
    CROWD: "crowd scores (Bolukbasi et al. 2016)",
    BOTH: "labour statistics of the United States (Current Population Survey 2019), where there "
    "are none crowd scores (Bolukbasi et al. 2016)",
}
US_FIGURES = (
    "The labour leans are figures of the United States, whatever the language; give a table of "
    "another country with --leans FILE."
)
LEANS_HELP = (
    "Where leans come from: labour, crowd, both (labour, else crowd), or a table "
    "(.csv, .tsv, .jsonl) of occupation and share (percent of women) or lean (female, male, none)"
)
_NAME_COLUMNS = ("occupation", "word", "job", "title")
_SHARE_COLUMNS = ("share", "share_women", "percent_women", "women")


class OccupationLean(NamedTuple):
    """The lean of one occupation, who says so, and the share of women where it is known."""

    lean: str  # female, male or none
    source: str  # labour, crowd, or the name of a file
    share: float | None = None  # percent


def labour_lean(share: float, dominance: float = DOMINANCE) -> str:
    """female, male or none: the gender that has more than `dominance` percent of the workers.

    Raises EvenhandError where `dominance` is below 50 or not below 100.
    """
    if not 50 <= dominance < 100:
        raise EvenhandError(
            f"dominance is {dominance:g}; give a percentage of at least 50 and below 100"
        )
    return "female" if share > dominance else "male" if share < 100 - dominance else "none"


def crowd_lean(definition: float, stereotype: float) -> str:
    """female, male or none, by the two scores of a word."""
    if definition >= CROWD_LIMIT or abs(stereotype) <= CROWD_LIMIT:
        return "none"
    return "male" if stereotype > 0 else "female"


@cache
def _english_rows() -> dict[str, dict[str, str]]:
    """The figures of every English word, in lower case; occupations.tsv before workforce.tsv."""
    tables = (lexicons.table("en", name) for name in ("workforce", "occupations"))
    return {row["word"].lower(): row for table in tables for row in table}


def english_names(language: str) -> dict[str, str]:
    """The English name of each occupation of a language, both in lower case; empty where the
    language has no lexicon of them: a user's own suite.
    """
    if language == "en":
        return {word: word for word in _english_rows()}
    if not lexicons.has_table(language, "occupations"):
        return {}
    rows = lexicons.table(language, "occupations")
    return {row["word"].lower(): row["english"].lower() for row in rows}


def _by_figures(row: Mapping[str, str], source: str, dominance: float) -> OccupationLean | None:
    """What one source says by the figures of a row; None where it has none."""
    if source in (LABOUR, BOTH) and row["share_women"]:
        share = float(row["share_women"])
        return OccupationLean(labour_lean(share, dominance), LABOUR, share)
    if source in (CROWD, BOTH) and row["stereotype"]:
        lean = crowd_lean(float(row["definition"]), float(row["stereotype"]))
        return OccupationLean(lean, CROWD)
    return None


def find_leans(
    language: str, source: str, dominance: float = DOMINANCE
) -> dict[str, OccupationLean]:
    """The lean of every occupation that a source knows, by the word of the language in lower case.

    source: labour, crowd, both, or the path of a table whose occupations are words of the language
    or their English names. Raises EvenhandError for a name that is none of these, InputError for a
    table that cannot be read or names none of the occupations.
    """
    names = english_names(language)
    if source in SOURCES:
        rows = _english_rows()
        known = {
            word: _by_figures(rows[english], source, dominance) for word, english in names.items()
        }
        return {word: lean for word, lean in known.items() if lean is not None}
    path = Path(source).expanduser()
    if not path.is_file():
        raise EvenhandError(
            f"leans '{source}' are neither {', '.join(SOURCES)} nor a file; give one of these, or "
            "a table of occupation and share (percent of women) or lean"
        )
    given = read_leans(path, dominance)
    leans = {word: given.get(word) or given.get(english) for word, english in names.items()}
    found = {word: lean for word, lean in leans.items() if lean is not None}
    if not found:
        raise InputError(
            path,
            f"names none of the occupations of '{language}'; they are listed by their word in "
            "that language or by their English names",
        )
    return found


def read_leans(path: Path, dominance: float = DOMINANCE) -> dict[str, OccupationLean]:
    """The leans of a table with the columns occupation and share, or occupation and lean.

    By occupation in lower case. Raises InputError that names the columns or the row that is wrong.
    """
    rows = read_rows(path)
    columns = list(rows[0][1]) if rows else []
    name_column = next((c for c in _NAME_COLUMNS if c in columns), None)
    share_column = next((c for c in _SHARE_COLUMNS if c in columns), None)
    if name_column is None or (share_column is None and "lean" not in columns):
        raise InputError(
            path,
            f"has the columns {', '.join(columns) or 'none'}; needed are occupation and share "
            "(percent of women), or occupation and lean (female, male, none)",
        )
    leans: dict[str, OccupationLean] = {}
    for number, row in rows:
        name = str(row.get(name_column, "")).strip().lower()
        if not name or name in leans:
            reason = f"occupation '{name}' stands twice" if name else "no occupation is named"
            raise InputError(path, reason, row=number)
        if share_column is None:
            leans[name] = OccupationLean(_read_lean(path, number, row["lean"]), path.name)
        else:
            share = _read_share(path, number, name, row.get(share_column))
            leans[name] = OccupationLean(labour_lean(share, dominance), path.name, share)
    return leans


def read_shares(path: Path) -> dict[str, float]:
    """The percent of women by occupation in lower case, of a table with occupation and share.

    Raises InputError that names the columns or the row that is wrong.
    """
    shares = {word: lean.share for word, lean in read_leans(path).items()}
    known = {word: share for word, share in shares.items() if share is not None}
    if not known:
        raise InputError(path, "has leans but no shares; needed are occupation and share")
    return known


def _read_lean(path: Path, number: int, cell: object) -> str:
    lean = str(cell).strip().lower()
    if lean not in LEANS:
        raise InputError(path, f"lean {cell!r} is none of {', '.join(LEANS)}", row=number)
    return lean


def _read_share(path: Path, number: int, name: str, cell: object) -> float:
    try:
        share = float(str(cell))
    except ValueError as error:
        raise InputError(path, f"share {cell!r} is no number", row=number) from error
    if not 0 <= share <= 100:
        reason = f"share {share:g} of '{name}' is outside 0 to 100 percent"
        raise InputError(path, reason, row=number)
    return share


def describe_source(source: str) -> str:
    """What a card says of where leans come from."""
    return SOURCES.get(source, f"the table {Path(source).name}")
