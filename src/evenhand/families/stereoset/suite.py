"""The suite of StereoSet: contexts with a stereotype, an anti-stereotype and something unrelated.

`inter`: three sentences that may follow the context, as published. `intra`: the context has a
blank and the options are the sentence with it filled; for models that compare two texts the blank
of the context holds a stand-in word, "what" as in the paper of Luo and Glass 2023, or "some" as
in their code (`intra-some`). `all` and `all-some`: both halves in one run, as the official script
evaluates them. For masked models the tags have the sentence with its blank and the three words. An
item whose blank is written otherwise ("Blank.", "BLANk") is read; one whose options are not the
context filled in is asked of models that compare texts, and has no words for masked ones.

The file is dev.json, or test.json where there is none, of a folder, or any file in their form. A
fair respondent has no preference between stereotype and anti-stereotype; of
`equal` options the strict conventions count every tie against, so read the scores beside the
constant respondent. Items of one target term are a cluster.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.core.errors import EvenhandWarning, InputError
from evenhand.core.fetch import UNVERIFIED, data_folder, find_published, published_version
from evenhand.core.files import read_text
from evenhand.core.probe import BLANK, Kind, Probe
from evenhand.core.protocols import FileOptions, SuiteOptions
from evenhand.core.suite import Suite, SuiteCard

FILE, TEST = "dev.json", "test.json"
SHA256 = "73a0f31b711688112602e4c3ac6ab1e1a7cadcdd67df6c6fd55501c889676c90"
ADVICE = (
    "Download it from github moinnadeem/StereoSet and name the folder with --data or EVENHAND_DATA."
)
OPTIONS = ("stereotype", "anti-stereotype", "unrelated")
INTER, INTRA = "inter", "intra"
STRATA = frozenset({INTER, INTRA})
DOMAINS = ("gender", "profession", "race", "religion")
HOLE = "BLANK"  # the blank of the published contexts
STAND_INS = {INTRA: "what", "intra-some": "some"}
HALVES = {  # variant -> halves
    INTER: (INTER,),
    INTRA: (INTRA,),
    "intra-some": (INTRA,),
    "all": (INTER, INTRA),
    "all-some": (INTER, INTRA),
}
HALF_ITEMS = "half items"  # tag: how many items its target term has in the same half
_ODD_HOLE = re.compile(r"\bblank\b", re.IGNORECASE)
CITATION = (
    "Nadeem, Bethke, Reddy (2021). StereoSet: Measuring stereotypical bias in pretrained language "
    "models. ACL."
)
DESCRIPTION = "Contexts with a stereotype, an anti-stereotype and something unrelated."
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


def with_hole(context: str) -> str:
    """The context with its hole written as usual, where it is written otherwise (`BLANk`)."""
    return context if HOLE in context else _ODD_HOLE.sub(HOLE, context)


def _words(item: Mapping[str, str]) -> list[str] | None:
    """The words that the three options put into the holes of the context; None without any."""
    context = with_hole(item["context"])
    if HOLE not in context:
        return None
    words = [fill_of(context, item[label]) for label in OPTIONS]
    found = [word for word in words if word is not None and "|" not in word]
    return found if len(found) == len(words) else None


def _read_words(path: Path, items: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """By id, the words of the items that have them; warns of the others.

    Raises InputError where no item has any.
    """
    words = {item["id"]: _words(item) for item in items}
    odd = [item for item in items if words[item["id"]] is None]
    if odd:
        names = ", ".join(item["id"] for item in odd[:5]) + (" ..." if len(odd) > 5 else "")
        first = f"{odd[0]['context']!r}, {odd[0][OPTIONS[0]]!r}"
        reason = f"{len(odd)} items whose options are not the context with a word for {HOLE}"
        if len(odd) == len(items):
            raise InputError(path, f"has only {reason} (the first: {first})")
        warnings.warn(
            f"{path}: {reason}: {names} (the first: {first}); a masked model does not answer them",
            EvenhandWarning,
            stacklevel=2,
        )
    return {name: found for name, found in words.items() if found is not None}


def read_probes(path: Path, variant: str) -> Iterator[Probe]:
    """The items in the order of the file, the half between sentences first."""
    halves = {
        half: [_read_item(path, n, item) for n, item in enumerate(_read_section(path, half), 1)]
        for half in HALVES[variant]
    }
    items = [item for half in halves.values() for item in half]
    for what, names in (
        ("items", [i["id"] for i in items]),
        ("sentences", [i[f"id of {o}"] for i in items for o in OPTIONS]),
    ):
        if repeated := [name for name, count in Counter(names).items() if count > 1]:
            raise InputError(path, f"several {what} have the id {repeated[0]}")
    words = _read_words(path, halves[INTRA]) if INTRA in halves else {}
    stand_in = STAND_INS.get(variant.replace("all", INTRA), "")
    sizes = Counter(i["target"] for i in items)
    of_half = Counter((half, i["target"]) for half, own in halves.items() for i in own)
    for stratum, item in ((half, i) for half, own in halves.items() for i in own):
        context = item["context"]
        tags = {
            "domain": item["bias_type"],
            "target": item["target"],
            "items": str(sizes[item["target"]]),
            "fair": "equal",
            "stereotyped": "0",
            "ids": " ".join(item[f"id of {o}"] for o in OPTIONS),
        }
        if len(halves) > 1:
            tags[HALF_ITEMS] = str(of_half[stratum, item["target"]])
        if stratum == INTRA:
            context = with_hole(context)
            none = [""] * len(OPTIONS)
            tags |= {
                "words": "|".join(words.get(item["id"], none)),
                "sentence": context.replace(HOLE, BLANK),
            }
            context = context.replace(HOLE, stand_in)
        yield Probe(
            id=item["id"],
            kind="choice",
            language="en",
            texts=(context, *(item[o] for o in OPTIONS)),
            stratum=stratum,
            cluster=item["target"],
            tags=tags,
        )


def locate(data: Path | None) -> Path:
    """The file: --data itself, or dev.json, else test.json, of the folder of published data.

    Raises LoadError or InputError, with advice, where there is none.
    """
    folder = data_folder(data)
    if folder is not None and folder.is_file():
        return folder
    places = [] if folder is None else [folder, folder / SUITE.name]
    has_own = any((place / FILE).exists() for place in places)
    tests = [place / TEST for place in places if (place / TEST).exists()]
    if tests and not has_own:
        return tests[0]
    return find_published(SUITE.name, FILE, data, ADVICE)


class StereoSet:
    """The suite of one of the authors' files, or of a file in their form."""

    name = "stereoset"
    version = "dev"
    kind: Kind = "choice"
    languages: tuple[str, ...] = ("en",)
    variants: tuple[str, ...] = tuple(HALVES)
    is_published = True
    licence = "CC BY-SA 4.0"
    citation = CITATION
    description = (
        f"{DESCRIPTION[:-1]}: 2,123 about the next sentence, 2,106 about a word in the sentence."
    )
    options: type[SuiteOptions] = FileOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """One half of the file or both; the version says so if it is not the published one."""
        path = locate(options.data)
        variant = options.variant or self.variants[0]
        version = published_version(self.version, path, SHA256)
        if path.name != FILE and version != self.version:
            version = f"{path.name.partition('.')[0]}-{UNVERIFIED}"
        card = SuiteCard(
            name=self.name if variant == self.variants[0] else f"{self.name}:{variant}",
            language=language,
            version=version,
            source="github moinnadeem/StereoSet",
            licence=self.licence,
            citation=self.citation,
            description=self.description if version == self.version else DESCRIPTION,
            is_verified=version == self.version,
            factors=("target",),
            options=OPTIONS,
        )
        return Suite(card=card, probes=tuple(read_probes(path, variant)))


SUITE = StereoSet()
