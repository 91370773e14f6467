"""What is a gendered mask probe? A sentence with a blank, the male and the female word for it; shared by the suites of contextualised gender bias."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.core import catalog
from evenhand.core.probe import GENDERS, Probe

MEASURING, OBJECTIVE = "MS", "OS"


def mask_probe(
    *,
    identity: str,
    language: str,
    text: str,
    male: str,
    female: str,
    gold: str = "",
    tags: Mapping[str, str] | None = None,
) -> Probe:
    """A measuring sentence, or, where `gold` names the gender that is right, an objective one. The word pair is the cluster."""
    shown, words = catalog.language(language).blank(text, (male, female))
    pair = f"{male}/{female}"
    said = {k: v for k, v in (tags or {}).items() if v}
    told = (
        {"gold": gold, "fair": str(GENDERS.index(gold)), "stereotyped": str(GENDERS.index(gold))}
        if gold
        else {"fair": "equal"}
    )
    return Probe(
        id=identity,
        kind="mask",
        language=language,
        texts=(shown, *words),
        stratum=OBJECTIVE if gold else MEASURING,
        cluster=pair,
        tags={"pair": pair, **told, **said},
    )
