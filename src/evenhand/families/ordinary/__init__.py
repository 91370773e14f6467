"""Ordinary pairs: whether a model understands clear pairs, so that a bias score can be read."""

from __future__ import annotations

from evenhand.core.family import Family
from evenhand.families.ordinary.account import ACCOUNT
from evenhand.families.ordinary.measures import MEASURES
from evenhand.families.ordinary.suite import SUITE, read_labelled
from evenhand.families.pairs import examine_strata

FAMILY = Family(
    name="ordinary",
    title="Ordinary pairs",
    measures=MEASURES,
    suites=(SUITE,),
    unit="pairs",
    several="answers to",
    is_check=True,
    read_labelled=read_labelled,
    examine=examine_strata,
    account=ACCOUNT,
)
