"""Who is meant by MODEL? The respondent behind what the user typed."""

from __future__ import annotations

from evenhand.core import catalog
from evenhand.core.errors import LoadError
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.core.records import Kind


def open_respondent(reference: str, kind: Kind, options: RespondentOptions) -> Respondent:
    """The respondent for probes of one kind; an error that names what would work if there is none."""
    sources = catalog.respondents().values()
    claimed = [s for s in sources if s.claims(reference)]
    for source in claimed:
        if kind in source.kinds:
            return source.open(reference, options)
    if claimed:
        able = ", ".join(example for s in sources if kind in s.kinds for example in s.examples)
        raise LoadError(f"'{reference}' is a respondent of the kind '{claimed[0].name}' and cannot answer {kind} probes. These can: {able}")
    examples = ", ".join(example for s in sources for example in s.examples)
    raise LoadError(f"unknown model '{reference}'. Known forms: {examples}")
