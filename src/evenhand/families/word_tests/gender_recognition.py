"""Does a model know which gender a word has? Sixty pairs of gendered words, each word once against the masculine and the feminine sentence."""

from __future__ import annotations

from evenhand.families.word_tests.suite import WordTest


class GenderRecognition(WordTest):
    """Recognition alone."""

    name = "gender-recognition"
    description = "Gendered words (an aunt, a king) against a masculine and a feminine sentence: is the gender of the word known?"


SUITE = GenderRecognition()
