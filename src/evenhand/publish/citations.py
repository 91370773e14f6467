"""The works that a run is based on, as BibTeX: of its suite, of its measures, and evenhand."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.reference import Reference
from evenhand.core.run import Run

EVENHAND = Reference(  # what CITATION.cff says; a test compares the two
    key="evenhand",
    kind="software",
    title="evenhand: published bias measures with honest intervals",
    authors=("The evenhand authors",),
    year=2026,
    version=__version__,
)
_SPECIAL = re.compile(r"[\\{}&%$#_~^]")
_ESCAPES = {  # braces too: BibTeX counts them, escaped or not
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_YEAR = re.compile(r"\((\d{4})\)")
_NO_WORK = ("", "evenhand", "not stated", "that of the file", "that of the suite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """What a run uses, with the works that it comes from."""

    of: str  # `suite occupation-nli`, `measure nli_coal`, `evenhand`
    text: str  # as its card words it
    works: tuple[Reference, ...]
    is_complete: bool  # whether every work that the text names is among them


def cited_works(text: str) -> tuple[Reference, ...]:
    """The works in the catalog that a citation in words names, in the order of their keys."""
    known = {r.key: r for f in catalog.families().values() for r in f.literature}
    return tuple(known[key] for key in sorted(known) if known[key].is_cited_in(text))


def citation_of(of: str, text: str) -> Citation:
    """What the card of a measure or suite cites."""
    works = cited_works(text)
    named = len(_YEAR.findall(text))
    is_complete = len(works) >= named if named else text.strip() in _NO_WORK
    return Citation(of=of, text=text, works=works, is_complete=is_complete)


def citations(run: Run) -> list[Citation]:
    """What the run uses: evenhand, the suite, every measure and every check."""
    measures = dict.fromkeys(e.measure for e in (*run.estimates, *run.sanity))
    cards = {name: catalog.measure(name).card for name in measures}
    return [
        Citation(of="evenhand", text=EVENHAND.title, works=(EVENHAND,), is_complete=True),
        citation_of(f"suite {run.suite.card.name}", run.suite.card.citation),
        *(citation_of(f"measure {name}", card.citation) for name, card in cards.items()),
    ]


def to_bibtex(reference: Reference) -> str:
    """One entry, UTF-8; `@misc` for software, because classic BibTeX knows no other kind."""
    venue = {"inproceedings": "booktitle", "article": "journal"}.get(reference.kind, "howpublished")
    fields = {
        "title": f"{{{_escaped(reference.title)}}}",  # braces keep its capital letters
        "author": " and ".join(_author(name) for name in reference.authors),
        "year": str(reference.year),
        venue: _escaped(reference.venue),
        "note": f"Version {_escaped(reference.version)}" if reference.version else "",
        "doi": reference.doi,
        "url": reference.url,
    }
    kind = "misc" if reference.kind == "software" else reference.kind
    return _entry(kind, reference.key, fields)


def _author(name: str) -> str:
    """`Family, Given`; an organisation in braces, so that it is not taken apart."""
    return _escaped(name) if "," in name else f"{{{_escaped(name)}}}"


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"]) + "\n"


def _escaped(text: str) -> str:
    flat = " ".join(text.split())
    return _SPECIAL.sub(lambda found: _ESCAPES.get(found[0], f"\\{found[0]}"), flat)


def bibliography(found: list[Citation]) -> str:
    """Every work once, each under a comment that says what it is cited for.

    A citation that names a work which the catalog does not have as data is an entry of its own, in
    its own words.
    """
    users: dict[str, list[str]] = {}
    entries: dict[str, str] = {}
    for citation in found:
        for work in citation.works:
            entries[work.key] = to_bibtex(work)
            users.setdefault(work.key, []).append(citation.of)
        if not citation.is_complete:
            key = re.sub(r"[^A-Za-z0-9]+", "-", citation.of).strip("-").lower()
            entries[key] = _entry("misc", key, {"note": _escaped(citation.text)})
            users.setdefault(key, []).append(citation.of)
    return "\n".join(f"% {_comment(users[key])}\n{entry}" for key, entry in entries.items())


def _comment(users: list[str]) -> str:
    """What an entry is cited for; without an @, which BibTeX would read as an entry."""
    return " ".join(", ".join(users).replace("@", " at ").split())
