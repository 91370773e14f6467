"""Who is meant by MODEL? The respondent behind what the user typed."""

from __future__ import annotations

from pathlib import Path

from evenhand.core import catalog
from evenhand.core.errors import LoadError
from evenhand.core.probe import Kind
from evenhand.core.protocols import Respondent, RespondentOptions, RespondentSource
from evenhand.respondents.heads import find_head, read_json, refuse_reranker
from evenhand.respondents.places import require_hub_id
from evenhand.respondents.wheels import ENCODER_NAMES, MASKED_NAMES

_OPENERS = {
    "labels": "nli",
    "words": "masked",
    "next": "pairs",
    "vectors": "pairs",
}  # by what the model can say
OWNER = "vector-nli"  # claims only folders that say so themselves, which are nothing else for probes of any kind


def open_respondent(reference: str, kind: Kind, options: RespondentOptions) -> Respondent:
    """The respondent for probes of one kind; an error that names what would work if there is none."""
    sources = catalog.respondents().values()
    claimed = [s for s in sources if s.claims(reference)]
    claimed = [s for s in claimed if s.name == OWNER] or claimed
    if fitting := [s for s in claimed if kind in s.kinds]:
        return (fitting[0] if len(fitting) == 1 else _decide(reference, fitting)).open(
            reference, options
        )
    if claimed:
        able = ", ".join(example for s in sources if kind in s.kinds for example in s.examples)
        raise LoadError(
            f"'{reference}' is a respondent of the kind '{claimed[0].name}' and cannot answer {kind} probes. These can: {able}"
        )
    examples = ", ".join(example for s in sources for example in s.examples)
    raise LoadError(f"unknown model '{reference}'. Known forms: {examples}")


def _decide(reference: str, sources: list[RespondentSource]) -> RespondentSource:
    """Which of several sources is meant? Another package's own; else the head that the model's config names tells, the first where none can be read."""
    if others := [s for s in sources if s.name not in _OPENERS.values()]:
        return others[0]
    place = str(Path(reference).expanduser())
    if not Path(place).is_dir():
        require_hub_id(reference, ("default", *MASKED_NAMES, *ENCODER_NAMES))
        place = reference
    head = find_head(place)
    if head is None:
        return sources[0]
    if head == "labels":
        refuse_reranker(reference, read_json(place, "config.json") or {})
    for source in sources:
        if source.name == _OPENERS.get(head):
            return source
    told = f"causal:{reference} to weigh its sentences, or " if head == "text" else ""
    raise LoadError(
        f"'{reference}' has a head for {head}, which is not asked so. Write {told}encoder:{reference} to compare the vectors of its sentences."
    )
