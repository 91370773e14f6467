"""The suite of StereoSet: contexts with a stereotype, an anti-stereotype and something unrelated.

`inter`: three sentences that may follow the context, as published. `intra`: the context has a
blank and the options are the sentence with it filled; for models that compare two texts the blank
of the context holds a stand-in word, "what" as in the paper of Luo and Glass 2023, or "some" as
in their code (`intra-some`). For masked models the tags have the sentence with its blank and the
three words. A fair respondent has no preference between stereotype and anti-stereotype; of
`equal` options the strict conventions count every tie against, so read the scores beside the
constant respondent. Items of one target term are a cluster.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.core.errors import InputError
from evenhand.core.fetch import find_published, published_version
from evenhand.core.files import read_text
from evenhand.core.probe import BLANK, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard

FILE = "dev.json"
SHA256 = "73a0f31b711688112602e4c3ac6ab1e1a7cadcdd67df6c6fd55501c889676c90"
ADVICE = (
    "Download it from github moinnadeem/StereoSet and name the folder with --data or EVENHAND_DATA."
)
OPTIONS = ("stereotype", "anti-stereotype", "unrelated")
STRATA = frozenset({"inter", "intra"})
DOMAINS = ("gender", "profession", "race", "religion")
HOLE = "BLANK"  # the blank of the published contexts
STAND_INS = {"intra": "what", "intra-some": "some"}
CITATION = (
    "Nadeem, Bethke, Reddy (2021). StereoSet: Measuring stereotypical bias in pretrained language "
    "models. ACL."
)
_FIELDS = ("id", "target", "bias_type", "context")


def fill_of(context: str, sentence: str) -> str | None:
    """The word that the sentence has in every hole of the context.

    None where the sentence is not the context with its holes filled alike. Case is ignored, because
    the published sentences lost their capitals.
    """
    first, second, *rest = (re.escape(part) for part in context.split(HOLE))
    pattern = f"{first}(.*\\S.*?){second}" + "".join(f"\\1{part}" for part in rest)
    match = re.fullmatch(pattern, sentence, re.IGNORECASE | re.DOTALL)
    return match[1].strip() if match else None


def _read_section(path: Path, stratum: str) -> list[Any]:
    """The list of items of one half of the file."""
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        reason = f"not JSON ({error.msg} at column {error.colno})"
        raise InputError(path, reason, row=error.lineno) from error
    name = f"{stratum}sentence"
    sections = content.get("data") if isinstance(content, dict) else None
    items = sections.get(name) if isinstance(sections, dict) else None
    if not isinstance(items, list) or not items:
        reason = f"has no list data.{name} with items; is it dev.json of StereoSet? {ADVICE}"
        raise InputError(path, reason)
    return items


def _read_item(path: Path, number: int, item: Any) -> dict[str, str]:
    """The fields of an item, its sentences by label, and their ids by `id of LABEL`."""
    if not isinstance(item, dict) or not str(item.get("id") or "").strip():
        raise InputError(path, f"item {number} has no id")
    where = f"item {item['id']}"
    if missing := [f for f in _FIELDS if not isinstance(item.get(f), str) or not item[f].strip()]:
        raise InputError(path, f"{where}: {', '.join(missing)} missing or empty")
    if item["bias_type"] not in DOMAINS:
        reason = f"{where}: domain {item['bias_type']!r} is none of {', '.join(DOMAINS)}"
        raise InputError(path, reason)
    fields: dict[str, str] = {f: item[f] for f in _FIELDS}
    options = item.get("sentences")
    for option in options if isinstance(options, list) else ():
        texts = option.items() if isinstance(option, dict) else ()
        known = {key: value for key, value in texts if isinstance(value, str)}
        label, text, name = (known.get(k, "").strip() for k in ("gold_label", "sentence", "id"))
        if label not in OPTIONS:
            reason = f"{where}: label {label!r} of an option is none of {', '.join(OPTIONS)}"
            raise InputError(path, reason)
        if label in fields:
            raise InputError(path, f"{where}: two options are labelled {label}")
        if not text or not name or len(name.split()) > 1:
            reason = (
                f"{where}: the {label} has the sentence {text!r} and the id {name!r}; "
                "both are needed, the id without spaces"
            )
            raise InputError(path, reason)
        fields |= {label: text, f"id of {label}": name}
    if missing := [o for o in OPTIONS if o not in fields]:
        raise InputError(path, f"{where}: no option is labelled {' or '.join(missing)}")
    return fields


def _words(path: Path, item: Mapping[str, str]) -> list[str]:
    """The words that the three options put into the holes of the context."""
    context = item["context"]
    if HOLE not in context:
        raise InputError(path, f"item {item['id']}: there is no {HOLE} in the context {context!r}")
    words = []
    for label in OPTIONS:
        word = fill_of(context, item[label])
        if word is None or "|" in word:
            reason = (
                f"item {item['id']}: the {label} {item[label]!r} is not the context {context!r} "
                f"with a word for {HOLE}"
            )
            raise InputError(path, reason)
        words.append(word)
    return words


def read_probes(path: Path, variant: str) -> Iterator[Probe]:
    """The items in the order of the file."""
    stratum = variant.partition("-")[0]
    section = _read_section(path, stratum)
    items = [_read_item(path, number, item) for number, item in enumerate(section, 1)]
    for what, names in (
        ("items", [i["id"] for i in items]),
        ("sentences", [i[f"id of {o}"] for i in items for o in OPTIONS]),
    ):
        if repeated := [name for name, count in Counter(names).items() if count > 1]:
            raise InputError(path, f"several {what} have the id {repeated[0]}")
    sizes = Counter(i["target"] for i in items)
    for item in items:
        context = item["context"]
        tags = {
            "domain": item["bias_type"],
            "target": item["target"],
            "items": str(sizes[item["target"]]),
            "fair": "equal",
            "stereotyped": "0",
            "ids": " ".join(item[f"id of {o}"] for o in OPTIONS),
        }
        if stratum == "intra":
            tags |= {
                "words": "|".join(_words(path, item)),
                "sentence": context.replace(HOLE, BLANK),
            }
            context = context.replace(HOLE, STAND_INS[variant])
        yield Probe(
            id=item["id"],
            kind="choice",
            language="en",
            texts=(context, *(item[o] for o in OPTIONS)),
            stratum=stratum,
            cluster=item["target"],
            tags=tags,
        )


class StereoSet:
    """The suite of the authors' file."""

    name = "stereoset"
    version = "dev"
    kind: Kind = "choice"
    languages: tuple[str, ...] = ("en",)
    variants: tuple[str, ...] = ("inter", *STAND_INS)
    is_published = True
    licence = "CC BY-SA 4.0"
    citation = CITATION
    description = (
        "Contexts with a stereotype, an anti-stereotype and something unrelated: 2,123 about the "
        "next sentence, 2,106 about a word in the sentence."
    )
    options: type[SuiteOptions] = SuiteOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """One half of the file; the version says so if it is not the published one."""
        path = find_published(self.name, FILE, options.data, ADVICE)
        variant = options.variant or self.variants[0]
        version = published_version(self.version, path, SHA256)
        card = SuiteCard(
            name=self.name if variant == self.variants[0] else f"{self.name}:{variant}",
            language=language,
            version=version,
            source="github moinnadeem/StereoSet",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
            is_verified=version == self.version,
            factors=("target",),
            options=OPTIONS,
        )
        return Suite(card=card, probes=tuple(read_probes(path, variant)))


SUITE = StereoSet()
