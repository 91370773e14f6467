"""Which word stands for neither gender in a sentence? The third word of a Type 1 question.

In this order: the probe's own tag `neutral`; the neutral word of the pair in the lexicon gender.tsv; in neutral.tsv the row of the pair, then of its kind
(kinship: relative), then the word for a person. Only wider words are used, so that the option never says what the sentence does not. English options are
bare words (he, she, they): the sentence around the blank keeps its verb (`they is`), which a person reads over; a suite that minds brings its own tag.
"""

from __future__ import annotations

from functools import cache

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.records import BLANK, Probe

ANY, ALL, NONE = "any", "*", "-"


@cache
def find_neutral(language: str, male: str, female: str) -> str:
    """The neutral word of a pair of words, by the tables."""
    pair = (male.lower(), female.lower())
    kind = ANY
    if lexicons.has_table(language, "gender"):
        for row in lexicons.table(language, "gender"):
            if (row["male"].lower(), row["female"].lower()) == pair:
                if row["neutral"] != NONE:
                    return row["neutral"]
                kind = row["kind"]
    rows = lexicons.table(language, "neutral") if lexicons.has_table(language, "neutral") else ()
    wanted = [pair, (ALL, kind), (ALL, ANY)]
    found = {(row["male"].lower(), row["kind"] if row["male"] == ALL else row["female"].lower()): row["neutral"] for row in rows}
    for key in wanted:
        if key in found:
            return found[key]
    raise EvenhandError(
        f"no neutral word is known for {male}/{female} in the language '{language}'; give the probe a tag 'neutral' with the word to show"
    )


def neutral_word(probe: Probe) -> str:
    """The neutral word of a probe as it stands in the sentence: a capital at its start, the particle that follows it in Korean."""
    if told := probe.tags.get("neutral", "").strip():
        return told
    male, _, female = probe.tags.get("pair", "").partition("/")
    if not female or "/" in female:
        male, female = probe.texts[1], probe.texts[2]
    language = catalog.language(probe.language)
    tail = language.open_particle(probe.texts[1][len(male) :])
    _, (word,) = language.blank(probe.texts[0].replace(BLANK, BLANK + tail), (find_neutral(probe.language, male, female),))
    return word
