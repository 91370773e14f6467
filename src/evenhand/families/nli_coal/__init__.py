"""NLI-CoAL: whether a model concludes a gender from an occupation, over all three NLI labels.

Anantaprayoon, Kaneko, Okazaki 2024; with Fraction Neutral (Dev et al. 2020) and the word for a
person beside it.
"""

from __future__ import annotations

from evenhand.core.account import FEMALE_DEFAULT, MALE_DEFAULT, STEREOTYPED
from evenhand.core.family import Family, Grouping
from evenhand.families.nli_coal.account import ACCOUNT
from evenhand.families.nli_coal.literature import LITERATURE
from evenhand.families.nli_coal.measures import MEASURES, examine
from evenhand.families.nli_coal.published import SUITE as PUBLISHED
from evenhand.families.nli_coal.suite import SUITE as BUILT_IN

FAMILY = Family(
    name="nli_coal",
    title="NLI-CoAL",
    measures=MEASURES,
    suites=(BUILT_IN, PUBLISHED),
    unit="occupations",
    several="sentences about",
    groupings=(
        Grouping(by="occupation", unit="template"),
        Grouping(by="template", unit="occupation"),
        Grouping(by="lean", unit="occupation"),
    ),
    is_default=True,
    examine=examine,
    references=(MALE_DEFAULT, FEMALE_DEFAULT, STEREOTYPED),
    literature=LITERATURE,
    account=ACCOUNT,
)
