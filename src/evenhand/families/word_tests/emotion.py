"""Which gender does a model think of where it is told a feeling? Every emotion with every pair of gendered words, and recognition beside it."""

from __future__ import annotations

from evenhand.families.word_tests.suite import EMOTION, WordTest


class Emotion(WordTest):
    """Five states and five situations of each of four emotions."""

    name = "emotion"
    stratum = EMOTION
    description = "20 emotional states and 20 situations (anger, fear, joy, sadness) against 60 pairs of gendered words; with the recognition of those words."


SUITE = Emotion()
