"""The word that stands for neither gender in a sentence: the third word of a Type 1 question.

In this order: the probe's own tag `neutral`; the row of the pair in neutral.tsv; the neutral word
of the pair in gender.tsv; in neutral.tsv the row of its kind (kinship: relative), then the word for
a person. Only more general words are used, so that the option never says what the sentence does
not; where a gender word stands before a noun (Chinese 男 in 男同学) and nothing more general fits,
the option is to leave it out. English options are bare words (he, she, they): the sentence around
the blank keeps its verb (`they is`), which readers tolerate. A suite that does not want this has
its own tag, as Zhu et al. 2024 chose a word for every sentence.
"""

from __future__ import annotations

from functools import cache

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import BLANK, Probe

ANY, ALL, NONE = "any", "*", "-"


def _rows(language: str, table: str) -> tuple[dict[str, str], ...]:
    return tuple(lexicons.table(language, table)) if lexicons.has_table(language, table) else ()


@cache
def find_neutral(language: str, male: str, female: str) -> str:
    """The neutral word of a pair of words, by the tables; EvenhandError where none is known."""
    pair = (male.lower(), female.lower())
    by_pair = {
        (row["male"].lower(), row["kind"] if row["male"] == ALL else row["female"].lower()): row[
            "neutral"
        ]
        for row in _rows(language, "neutral")
    }
    same = [
        row
        for row in _rows(language, "gender")
        if (row["male"].lower(), row["female"].lower()) == pair
    ]
    known = [row["neutral"] for row in same if row["neutral"] != NONE]
    of_kind = (by_pair.get((ALL, row["kind"])) for row in same)
    for word in (by_pair.get(pair), *known, *of_kind, by_pair.get((ALL, ANY))):
        if word:
            return word
    raise EvenhandError(
        f"no neutral word is known for {male}/{female} in the language '{language}'; "
        "give the probe a tag 'neutral' with the word to show"
    )


def neutral_word(probe: Probe) -> str:
    """The neutral word of a probe as it stands in the sentence.

    With a capital at its start, and in Korean the particle that follows it.
    """
    if own := probe.tags.get("neutral", "").strip():
        return own
    male, _, female = probe.tags.get("pair", "").partition("/")
    if not female or "/" in female:
        male, female = probe.texts[1], probe.texts[2]
    language = catalog.language(probe.language)
    tail = language.open_particle(probe.texts[1][len(male) :])
    _, (word,) = language.blank(
        probe.texts[0].replace(BLANK, BLANK + tail), (find_neutral(probe.language, male, female),)
    )
    return word
