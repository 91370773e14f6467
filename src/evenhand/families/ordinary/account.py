"""What a report says about a run on ordinary pairs: the labels that the model gives."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core.account import SCOPE_LIMIT
from evenhand.core.document import Section
from evenhand.core.family import Account
from evenhand.core.run import Run
from evenhand.families.ordinary.measures import STRATUM
from evenhand.families.pairs import FIXED_WORDS, ONE_GENRE, shares_section


def sections(run: Run) -> Sequence[Section]:
    """The label shares; none of them counts against the model."""
    shares = shares_section(run, {})
    return [shares] if shares else []


def limits(run: Run) -> list[str]:
    """What the number does not say."""
    return [FIXED_WORDS, ONE_GENRE, SCOPE_LIMIT]


ACCOUNT = Account(sections=sections, limits=limits, strata={STRATUM: "ordinary pair"})
