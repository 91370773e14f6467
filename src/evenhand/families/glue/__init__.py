"""GLUE as entailment: whether a model understands tasks that are only described in words.

After Luo, Glass 2023.
"""

from __future__ import annotations

from evenhand.core.family import Family
from evenhand.families.glue.account import ACCOUNT
from evenhand.families.glue.literature import LITERATURE
from evenhand.families.glue.measures import MEASURES, examine
from evenhand.families.glue.suite import SUITE

FAMILY = Family(
    name="glue",
    title="GLUE as entailment",
    measures=MEASURES,
    suites=(SUITE,),
    unit="premises",
    several="items with",
    examine=examine,
    literature=LITERATURE,
    account=ACCOUNT,
)
