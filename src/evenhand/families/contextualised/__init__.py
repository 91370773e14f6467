"""Contextualised gender bias: which gender word a model puts in a blank (Zhu et al. 2024)."""

from __future__ import annotations

from evenhand.core.account import FAIR
from evenhand.core.family import Family, Grouping
from evenhand.families.contextualised import published, suite
from evenhand.families.contextualised.account import ACCOUNT
from evenhand.families.contextualised.literature import LITERATURE
from evenhand.families.contextualised.measures import MEASURES

FAMILY = Family(
    name="contextualised",
    title="Contextualised gender bias",
    measures=MEASURES,
    suites=(suite.SUITE, published.SUITE),
    unit="word pairs",
    several="sentences with",
    groupings=(
        Grouping(by="pair", unit="sentence"),
        Grouping(by="topic", unit="pair"),
        Grouping(by="type", unit="pair"),
    ),
    references=(FAIR,),
    is_checked=False,
    literature=LITERATURE,
    account=ACCOUNT,
)
