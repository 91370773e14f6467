"""Word tests: which gender a model gives a profession or an emotion, and gendered words.

After the Entailment as Stereotype Probe (ESP) of Luo and Glass 2023.
"""

from __future__ import annotations

from evenhand.core.account import FEMALE_DEFAULT, MALE_DEFAULT, STEREOTYPED
from evenhand.core.family import Family, Grouping
from evenhand.families.word_tests.account import ACCOUNT
from evenhand.families.word_tests.effects import EFFECTS
from evenhand.families.word_tests.literature import LITERATURE
from evenhand.families.word_tests.male_share import examine
from evenhand.families.word_tests.measures import MEASURES
from evenhand.families.word_tests.suite import SUITES

FAMILY = Family(
    name="word_tests",
    title="Word tests",
    measures=(*MEASURES, *EFFECTS),
    suites=SUITES,
    unit="words",
    several="comparisons with",
    groupings=(
        Grouping(by="pair", unit="sentence"),
        Grouping(by="word", unit="pair", needs="pair"),
        Grouping(by="emotion", unit="word"),
        Grouping(by="sort", unit="word"),
    ),
    examine=examine,
    references=(MALE_DEFAULT, FEMALE_DEFAULT, STEREOTYPED),
    literature=LITERATURE,
    account=ACCOUNT,
)
