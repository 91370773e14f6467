"""Gendered entailment: whether a model thinks that a job has a gender (Sharma, Dey, Sinha 2021).

Occupation premises against a female and a male hypothesis, set against the labour market.
"""

from __future__ import annotations

from evenhand.core.account import FEMALE_DEFAULT, MALE_DEFAULT, STEREOTYPED
from evenhand.core.family import Family, Grouping, RelationRule
from evenhand.families.gendered_entailment.account import ACCOUNT
from evenhand.families.gendered_entailment.labour import DOMINATION, SHARE
from evenhand.families.gendered_entailment.literature import LITERATURE
from evenhand.families.gendered_entailment.measures import (
    ENTAILMENT_GAP,
    MEASURES,
    SIGNED_GAP,
    examine,
)
from evenhand.families.gendered_entailment.published import SUITE as PUBLISHED
from evenhand.families.gendered_entailment.suite import SUITE as BUILT_IN

FAMILY = Family(
    name="gendered_entailment",
    title="Gendered entailment",
    measures=MEASURES,
    suites=(BUILT_IN, PUBLISHED),
    unit="occupations",
    several="sentences about",
    groupings=(
        Grouping(by="occupation", unit="template"),
        Grouping(by="template", unit="occupation"),
        Grouping(by="majority", unit="occupation"),
        Grouping(by="lean", unit="occupation", needs="majority"),
        Grouping(by="hypothesis", unit="occupation"),
    ),
    relations=(
        RelationRule(measure=SIGNED_GAP.name, by="occupation", against=SHARE),
        RelationRule(measure=ENTAILMENT_GAP.name, by="occupation", against=DOMINATION),
        RelationRule(measure=ENTAILMENT_GAP.name, by="occupation", against=SHARE),
    ),
    examine=examine,
    references=(MALE_DEFAULT, FEMALE_DEFAULT, STEREOTYPED),
    literature=LITERATURE,
    account=ACCOUNT,
)
