"""Mask probes of this family: a sentence with a blank, the male and the female word for it."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.core import catalog
from evenhand.core.probe import GENDERS, Probe

MEASURING, OBJECTIVE = "MS", "OS"  # strata: no clue of gender; the sentence settles it


def mask_probe(
    *,
    identity: str,
    language: str,
    text: str,
    male: str,
    female: str,
    tags: Mapping[str, str] | None = None,
) -> Probe:
    """A measuring sentence or, where the tag `gold` names the right gender, an objective one.

    The word pair is the cluster; empty tags are left out.
    """
    sentence, words = catalog.language(language).blank(text, (male, female))
    pair = f"{male}/{female}"
    own = {name: value for name, value in (tags or {}).items() if value}
    gold = own.get("gold", "")
    position = str(GENDERS.index(gold)) if gold else ""
    expected = {"fair": position, "stereotyped": position} if gold else {"fair": "equal"}
    return Probe(
        id=identity,
        kind="mask",
        language=language,
        texts=(sentence, *words),
        stratum=OBJECTIVE if gold else MEASURING,
        cluster=pair,
        tags={"pair": pair, **expected, **own},
    )
