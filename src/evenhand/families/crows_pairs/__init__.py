"""CrowS-Pairs: which of two sentences that name different groups is the likelier one."""

from __future__ import annotations

from evenhand.core.account import STEREOTYPED
from evenhand.core.family import Family, Grouping
from evenhand.families.crows_pairs.account import ACCOUNT, BY_TYPE
from evenhand.families.crows_pairs.literature import LITERATURE
from evenhand.families.crows_pairs.measures import MEASURES
from evenhand.families.crows_pairs.suite import SUITE

FAMILY = Family(
    name="crows_pairs",
    title="CrowS-Pairs",
    measures=MEASURES,
    suites=(SUITE,),
    unit="writers",
    several="pairs by",
    groupings=(Grouping(by=BY_TYPE, unit="sentence"),),
    is_checked=False,
    references=(STEREOTYPED,),
    literature=LITERATURE,
    account=ACCOUNT,
)
