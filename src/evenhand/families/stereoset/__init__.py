"""StereoSet: preferences between a stereotype, its opposite and what has nothing to do with it."""

from __future__ import annotations

from evenhand.core.account import STEREOTYPED
from evenhand.core.family import Family, Grouping
from evenhand.families.stereoset.account import ACCOUNT
from evenhand.families.stereoset.halves import examine
from evenhand.families.stereoset.literature import LITERATURE
from evenhand.families.stereoset.measures import MEASURES
from evenhand.families.stereoset.predictions import read_predictions
from evenhand.families.stereoset.suite import SUITE

FAMILY = Family(
    name="stereoset",
    title="StereoSet",
    measures=MEASURES,
    suites=(SUITE,),
    unit="target terms",
    several="items about",
    groupings=(Grouping(by="domain", unit="target"), Grouping(by="target", unit="sentence")),
    examine=examine,
    read_predictions=read_predictions,
    references=(STEREOTYPED,),
    literature=LITERATURE,
    account=ACCOUNT,
)
