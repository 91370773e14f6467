"""The metadata of a suite as Croissant 1.1, in JSON-LD: what its file holds, and its source."""

from __future__ import annotations

import hashlib
from typing import Any

from evenhand.core.suite import Suite, probe_lines
from evenhand.publish.citations import cited_works, to_bibtex

VERSION = "http://mlcommons.org/croissant/1.1"
_TERMS = (  # the vocabulary of Croissant 1.1; a reader warns where a part of it is missing
    "arrayShape citeAs column containedIn equivalentProperty extract field fileObject "
    "fileProperty fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path "
    "recordSet references regex repeated replace samplingRate separator source subField transform"
).split()
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _TERMS},
}
_COLUMNS = {  # of a suite file, with what they hold
    "id": "The name of the probe, unique in the suite.",
    "kind": "What is asked: pair, mask or choice.",
    "language": "The language of the texts.",
    "texts": "Premise and hypothesis; the sentence with its blank and the words for it; or the "
    "context and its options.",
    "stratum": "The part of the suite that a formula treats on its own.",
    "cluster": "What probes share and what makes them dependent.",
    "twin": "The probe that differs in the gender word alone.",
}


def croissant_fields(suite: Suite, file: str) -> dict[str, Any]:
    """The metadata as plain data.

    file: the name of the suite file that lies beside the metadata; its digest is that of the
    probes as `write_suite` writes them.
    """
    raw = probe_lines(suite).encode()
    card = suite.card
    works = cited_works(card.citation)
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": card.name.replace(":", "-"),
        "description": f"{card.description.rstrip('.')}. Source: {card.source}.",
        "version": _semantic(card.version),
        "license": card.licence,
        "citeAs": "\n".join(to_bibtex(work) for work in works) if works else card.citation,
        "inLanguage": card.language,
        "isLiveDataset": False,
        "identifier": suite.reference,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file,
                "name": file,
                "description": "One probe a line.",
                "contentUrl": file,
                "contentSize": f"{len(raw)} B",
                "encodingFormat": "application/jsonlines",
                "sha256": hashlib.sha256(raw).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "probes",
                "name": "probes",
                "description": f"The {len(suite.probes):,} probes, one question each.",
                "field": [
                    *(_field(name, text, file) for name, text in _COLUMNS.items()),
                    *(_tag(name, file) for name in sorted(suite.tags)),
                ],
            }
        ],
    }


def _field(name: str, description: str, file: str) -> dict[str, Any]:
    several = {"isArray": True, "arrayShape": "-1"} if name == "texts" else {}
    return {
        "@type": "cr:Field",
        "@id": f"probes/{name}",
        "name": name,
        "description": description,
        "dataType": "sc:Text",
        **several,
        "source": {"fileObject": {"@id": file}, "extract": {"column": name}},
    }


def _tag(name: str, file: str) -> dict[str, Any]:
    """A tag, which lies below `tags` and which not every probe has."""
    path = name.replace("\\", "\\\\").replace("'", "\\'")
    return {
        "@type": "cr:Field",
        "@id": f"probes/tags/{name}",
        "name": f"tags/{name}",
        "description": f"The tag '{name}' of the probe, where it has one.",
        "dataType": "sc:Text",
        "source": {
            "fileObject": {"@id": file},
            "extract": {"column": "tags"},
            "transform": {"jsonPath": f"$.'{path}'"},
        },
    }


def _semantic(version: str) -> str:
    """`1.0` as `1.0.0`, the form that Croissant asks for; any other version unchanged."""
    parts = version.split(".")
    is_numbers = all(part.isdigit() for part in parts)
    return ".".join([*parts, "0", "0"][:3]) if is_numbers and len(parts) < 3 else version
