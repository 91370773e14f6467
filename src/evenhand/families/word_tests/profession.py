"""Which gender does a model think of where it is told a profession? Every profession with every pair of gendered words, and recognition beside it."""

from __future__ import annotations

from evenhand.families.word_tests.suite import PROFESSION, WordTest


class Profession(WordTest):
    """22 professions of each lean."""

    name = "profession"
    stratum = PROFESSION
    description = "66 professions, a third leaning to each gender and a third to neither, against 60 pairs of gendered words; with the recognition of those words."


SUITE = Profession()
