"""Study: everything that its owner decided, read from a TOML file and checked line by line.

A mistake is an InputError that names its line. What the file leaves out has a default.
"""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from math import ceil
from pathlib import Path
from typing import Any

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, EvenhandWarning, InputError, UnknownNameError
from evenhand.core.files import read_rows
from evenhand.core.probe import GENDERS
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite
from evenhand.engine.suites import load_suite
from evenhand.people.inventories import TOTAL, Inventory, read_items
from evenhand.people.inventory_keys import InventoryKey, inventory_key
from evenhand.people.neutral import neutral_word
from evenhand.people.plan import (
    BATCH_SIZE,
    TRIAL_SIZE,
    TYPE1,
    TYPES,
    Plan,
    PlanError,
    check_plan,
    largest_part,
)
from evenhand.study.candidates import KIND_TAG
from evenhand.study.objective import VERDICT
from evenhand.study.toml_file import Key, TomlFile
from evenhand.study.wording import LANGUAGES

SUITE = "contextualised"
TEMPLATE, OBJECTIVE_TEMPLATE = "study_template.toml", "objective_template.toml"
RATED = 50  # candidates in a part, at most
NAME = re.compile(r"[\w-]{1,64}")
NAME_RULE = "use letters, digits, - and _, at most 64"
# words that would tell people what is measured
REVEALING_WORDS = (
    "gender",
    "bias",
    "sexis",
    "stereotyp",
    "性别",
    "偏见",
    "刻板",
    "性別",
    "偏り",
    "偏見",
    "ステレオタイプ",
)
KEYS = (
    "name",
    "title",
    "languages",
    "suite",
    "suite_language",
    "data",
    "limit",
    "types",
    "neutral_words",
    "reasons",
    "trial",
    "batch",
    "batches",
    "accuracy_controls",
    "consistency_controls",
    "least_accuracy",
    "least_consistency",
    "apart",
    "inventory",
    "pay",
    "consent",
    "seed",
    "store",
    "secret_file",
)
INVENTORY_KEYS = ("name", "key", "file", "low", "high", "reversed", "subscales")
KEYED = ("low", "high", "reversed", "subscales")  # what the key of an inventory says
SQLITE = "sqlite:///"
STORES = (SQLITE, "postgresql")
# what a study of objective sentences does without: controls are what it makes
UNRATED = ("trial", "accuracy_controls", "consistency_controls", "inventory", "neutral_words")
MOST_STEPS = 11  # of a scale, that fit on a phone


@dataclass(frozen=True, slots=True, kw_only=True)
class Study(Plan):
    """What is asked (the plan), in which words, of which sentences, and where answers go."""

    title: Mapping[str, str] = field(default_factory=dict)  # language -> text
    languages: tuple[str, ...] = LANGUAGES  # of the interface
    suite: str = SUITE
    suite_language: str = "zh"
    data: Path | None = None
    limit: int | None = None
    reasons: bool = False  # people may say why they answered as they did
    inventories: tuple[Inventory, ...] = ()
    pay: Mapping[str, str] = field(default_factory=dict)
    consent: Mapping[str, str] = field(default_factory=dict)
    store: str = ""  # SQLAlchemy URL; of a file: <study>.db beside it
    secret_file: Path | None = None  # of a file: <study>.secret beside it
    source: Path | None = None  # the study file


def template(name: str, language: str = LANGUAGES[0], file: str = TEMPLATE) -> str:
    """A commented, valid study file to start from, with sentences and first page in a language.

    file: another template of this folder. Raises EvenhandError for a name that no study can have,
    UnknownNameError for a language that the pages do not have.
    """
    if not NAME.fullmatch(name):
        raise EvenhandError(f"'{name}' is no name for a study; {NAME_RULE}")
    if language not in LANGUAGES:
        raise UnknownNameError("language of a study", language, LANGUAGES)
    first = [language, *(code for code in LANGUAGES if code != language)]
    text = (files(__package__) / file).read_text(encoding="utf-8")
    codes = ", ".join(f'"{code}"' for code in first)
    return text.replace("LANGUAGES", codes).replace("LANGUAGE", language).replace("NAME", name)


def objective_template(name: str, language: str, candidates: Path, count: int) -> str:
    """A study file for raters of these candidates, in parts of about equal size."""
    parts = ceil(count / RATED)
    text = template(name, language, OBJECTIVE_TEMPLATE)
    return text.replace("CANDIDATES", candidates.name).replace("BATCH", str(ceil(count / parts)))


def require_objective(study: Study) -> None:
    """Raise EvenhandError for a study that asks other questions."""
    if VERDICT not in study.types:
        raise EvenhandError(
            f"'{study.name}' is no study of objective sentences; make one with "
            "evenhand annotate objective new"
        )


def load_study(path: str | Path) -> Study:
    """The study in a file, checked against its sentences."""
    return open_study(path)[0]


def open_study(path: str | Path) -> tuple[Study, Suite]:
    """The study in a file and its sentences; InputError with the line of the first mistake."""
    file = TomlFile(Path(path))
    file.check_keys(file.data, KEYS)
    types = _types(file)
    # the texts that people read by default stand in the template
    own = OBJECTIVE_TEMPLATE if VERDICT in types else TEMPLATE
    defaults: dict[str, Any] = tomllib.loads(template("study", file=own).replace("BATCH", "1"))
    languages = file.names(("languages",), LANGUAGES, LANGUAGES)
    study = Study(
        name=_name(file),
        languages=languages,
        types=types,
        source=file.path,
        title=_texts(file, "title", languages, defaults["title"]),
        consent=_texts(file, "consent", languages, defaults["consent"]),
        pay=_texts(file, "pay", languages, {}),
        data=file.file(("data",)),
        limit=file.whole(("limit",), None, 1),
        reasons=file.flag("reasons", default=False),
        trial=file.whole(("trial",), TRIAL_SIZE, 0),
        batch=file.whole(("batch",), BATCH_SIZE, 1),
        batches=file.whole(("batches",), None, 1),
        accuracy_controls=file.share("accuracy_controls", 0.1),
        consistency_controls=file.share("consistency_controls", 0.1),
        least_accuracy=file.share("least_accuracy", 0.8),
        least_consistency=file.share("least_consistency", 0.6),
        apart=file.whole(("apart",), None, 1),
        seed=file.whole(("seed",), 0, 0, 2**63 - 1),
        store=_store(file),
        secret_file=file.file(("secret_file",)) or file.path.with_suffix(".secret").absolute(),
        inventories=_inventories(file, languages),
    )
    return _fit(file, _check_shares(file, study))


def _types(file: TomlFile) -> tuple[str, ...]:
    """The types of questions; that of objective sentences stands alone."""
    types = file.names(("types",), TYPES, (*TYPES, VERDICT))
    if VERDICT not in types:
        return types
    if len(types) > 1:
        file.refuse(
            ("types",), f"'{VERDICT}' is a study of its own; ask the other types in another"
        )
    for key in UNRATED:
        if file.data.get(key):
            file.refuse((key,), f"a study of objective sentences has no {key}; leave the line out")
    return types


def _name(file: TomlFile) -> str:
    name = file.text(("name",), file.path.stem)
    if not NAME.fullmatch(name):
        file.refuse(("name",), f"'{name}' is no name for a study; {NAME_RULE}")
    return name


def _texts(
    file: TomlFile, key: str, languages: tuple[str, ...], default: Mapping[str, str]
) -> dict[str, str]:
    """A text in each language of the interface; one text is enough where there is one language."""
    texts = file.data.get(key)
    if texts is None:
        return {code: default[code].strip() for code in languages if code in default}
    if isinstance(texts, str) and len(languages) == 1:
        texts = {languages[0]: texts}
    if not isinstance(texts, dict):
        file.refuse(
            (key,),
            f"{key} is {texts!r}; write [{key}] and under it a line for each of "
            f"{', '.join(languages)}",
        )
    file.check_keys(texts, LANGUAGES, (key,))
    for code in languages:
        text = texts.get(code, "")
        if not isinstance(text, str) or not text.strip():
            file.refuse(
                (key, code),
                f"{key} has no text in '{code}', a language of the interface; "
                f"add one or take '{code}' out of languages",
            )
        if word := next((word for word in REVEALING_WORDS if word in text.lower()), ""):
            warnings.warn(
                f"{file.path}, row {file.line_of((key, code))}: '{word}' tells people what is "
                "measured, which changes what they answer",
                EvenhandWarning,
                stacklevel=3,
            )
    return {code: texts[code].strip() for code in languages}


def _store(file: TomlFile) -> str:
    """The URL of the database.

    A relative path starts at the study file, not at the folder where the program is started.
    """
    url = file.text(("store",), f"{SQLITE}{file.path.stem}.db")
    if not url.startswith(STORES) or "://" not in url:
        file.refuse(
            ("store",),
            f"store is '{url}'; give sqlite:///FILE (beside this file) or "
            "postgresql+psycopg://USER@HOST/DATABASE",
        )
    name = url.removeprefix(SQLITE)
    if not url.startswith(SQLITE) or name.startswith(":"):
        return url
    return SQLITE + str((file.path.parent / name).absolute())


def _check_shares(file: TomlFile, study: Study) -> Study:
    if VERDICT in study.types:
        return replace(study, trial=0, accuracy_controls=0.0, consistency_controls=0.0)
    if len(study.types) < len(TYPES):
        if study.consistency_controls and "consistency_controls" in file.data:
            file.refuse(
                ("consistency_controls",),
                f"a pair asks a sentence in both types, but types is {study.types[0]} only; "
                "set it to 0 or ask both",
            )
        study = replace(study, consistency_controls=0.0)
    if (both := study.accuracy_controls + 2 * study.consistency_controls) > 1:
        is_set = "consistency_controls" in file.data
        file.refuse(
            ("consistency_controls" if is_set else "accuracy_controls",),
            f"accuracy_controls + 2 x consistency_controls is {both:g}: more than all questions "
            "(a pair is two); lower one",
        )
    return study


def _inventories(file: TomlFile, languages: tuple[str, ...]) -> tuple[Inventory, ...]:
    tables = file.data.get("inventory", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        reason = "inventory is no list of tables; write [[inventory]] above its lines"
        file.refuse(("inventory",), reason)
    inventories: list[Inventory] = []
    for number, table in enumerate(tables):
        key = ("inventory", number)
        file.check_keys(table, INVENTORY_KEYS, key)
        inventory = _inventory(file, key, table, languages)
        if inventory.name in [earlier.name for earlier in inventories]:
            reason = f"two inventories are called '{inventory.name}'; give each its own name"
            file.refuse((*key, "name"), reason)
        inventories.append(inventory)
    return tuple(inventories)


def _inventory(
    file: TomlFile, key: Key, table: Mapping[str, Any], languages: tuple[str, ...]
) -> Inventory:
    known = _inventory_key(file, key, table)
    name = file.text((*key, "name"), None) or (known.name if known else None)
    path = file.file((*key, "file"))
    if name is None or path is None:
        missing = "name" if name is None else "file"
        file.refuse(key, f"an inventory needs a {missing}; add the line")
    if not path.is_file():
        file.refuse(
            (*key, "file"),
            f"there is no file {path}; write it: a column id and one for each of "
            f"{', '.join(languages)}, one row an item",
        )
    items = read_items(path, languages)
    ids = tuple(item.id for item in items)
    if known:
        return _keyed(file, key, known, Inventory(name=name, file=path, items=items))
    low, high = _scale(file, key, table)
    noun = "a table; write [inventory.subscales] and under it name = [items]"
    scales = file.get((*key, "subscales"), dict, noun, {})
    if TOTAL in scales:
        reason = f"'{TOTAL}' is the mean of all items; give the subscale another name"
        file.refuse((*key, "subscales", TOTAL), reason)
    turned = file.names((*key, "reversed"), (), ids) if table.get("reversed", []) != [] else ()
    return Inventory(
        name=name,
        file=path,
        items=items,
        low=low,
        high=high,
        subscales={scale: file.names((*key, "subscales", scale), (), ids) for scale in scales},
        reversed=frozenset(turned),
    )


def _inventory_key(file: TomlFile, key: Key, table: Mapping[str, Any]) -> InventoryKey | None:
    """The published key that a table names; None where it has its own."""
    if (name := file.text((*key, "key"), None)) is None:
        return None
    try:
        known = inventory_key(name)
    except UnknownNameError as error:
        file.refuse((*key, "key"), str(error))
    if own := next((part for part in KEYED if part in table), ""):
        file.refuse((*key, own), f"the key {name} says {own}; leave the line out, or the key")
    return known


def _keyed(file: TomlFile, key: Key, known: InventoryKey, inventory: Inventory) -> Inventory:
    """An inventory that is scored by a published key."""
    ids = tuple(item.id for item in inventory.items)
    if missing := [i for i in known.ids if i not in ids] + [i for i in ids if i not in known.ids]:
        file.refuse(
            (*key, "file"),
            f"the key {known.name} has the items 1 to {known.items}, but {inventory.file.name} "
            f"{'has' if missing[0] in ids else 'lacks'} '{missing[0]}'; number them as in "
            f"{known.citation}",
        )
    return replace(
        inventory,
        low=known.low,
        high=known.high,
        subscales={name: tuple(map(str, items)) for name, items in known.subscales.items()},
        reversed=frozenset(map(str, known.reversed)),
    )


def _scale(file: TomlFile, key: Key, table: Mapping[str, Any]) -> tuple[int, int]:
    low, high = (
        file.whole((*key, end), default, -100, 100) for end, default in (("low", 1), ("high", 5))
    )
    if not low < high:
        end = "high" if "high" in table else "low"
        file.refuse((*key, end), f"low is {low} and high is {high}; low must be less")
    if (steps := high - low + 1) > MOST_STEPS:
        file.refuse(
            (*key, "high"),
            f"a scale from {low} to {high} has {steps} steps; at most {MOST_STEPS} fit on a phone",
        )
    return low, high


def _fit(file: TomlFile, study: Study) -> tuple[Study, Suite]:
    """The study with its sentences; sizes that the file leaves out are cut to what they allow."""
    study, suite = _load_sentences(file, study)
    if "trial" not in file.data:
        study = replace(study, trial=largest_part(study, suite, study.trial) or study.trial)
    if "batch" not in file.data:
        study = replace(study, batch=largest_part(study, suite, study.batch) or study.batch)
    try:
        check_plan(study, suite)
    except PlanError as error:
        file.refuse((error.key,), str(error))
    return study, suite


def _load_sentences(file: TomlFile, study: Study) -> tuple[Study, Suite]:
    name = file.text(("suite",), study.suite)
    language = file.text(("suite_language",), None)
    if name.endswith(".jsonl"):
        name = str((file.path.parent / Path(name).expanduser()).absolute())
    else:
        _check_catalog(file, name, language or study.languages[0])
    if study.data is not None and not study.data.is_dir():
        file.refuse(
            ("data",),
            f"there is no folder {study.data}; data names the folder that holds the published "
            "files",
        )
    options = SuiteOptions(data=study.data, seed=study.seed)
    try:
        suite = load_suite(name, language or study.languages[0], options, limit=study.limit)
    except EvenhandError as error:
        # what is an option of other commands is a key here
        option, key = "name the folder with --data", 'name its folder here: data = "FOLDER"'
        file.refuse(("suite",), str(error).replace(option, key))
    is_apt = all(p.kind == "mask" and p.option_count == len(GENDERS) for p in suite.probes)
    if not is_apt or suite.card.options != GENDERS:
        file.refuse(
            ("suite",),
            f"{name} is no suite of sentences with a blank for a male and a female word "
            "(kind mask); choose another",
        )
    if VERDICT in study.types and not all(KIND_TAG in p.tags for p in suite.probes):
        file.refuse(
            ("suite",),
            f"{Path(name).name} holds sentences without a cue, so it is no file of candidates; "
            "write one with evenhand annotate objective new",
        )
    words = _neutral_words(file, suite)
    if TYPE1 in study.types:
        _check_words(file, suite, words)
    if language and suite.card.language != language:
        file.refuse(
            ("suite_language",),
            f"suite_language is '{language}' but the sentences of {name} are in "
            f"'{suite.card.language}'; leave the line out",
        )
    return replace(
        study, suite=name, suite_language=suite.card.language, neutral_words=words
    ), suite


def _neutral_words(file: TomlFile, suite: Suite) -> dict[str, str]:
    """Probe id -> the neutral word that the owner chose for it, from the file that is named.

    Sentences that the limit leaves out may stand in it.
    """
    if (path := file.file(("neutral_words",))) is None:
        return {}
    probes = {probe.id: probe for probe in suite.probes}
    words: dict[str, str] = {}
    for number, row in read_rows(path):
        identity, word = (str(row.get(column) or "").strip() for column in ("id", "neutral"))
        if not identity or not word:
            reason = "a row has an id (of a sentence) and a neutral (its word)"
            raise InputError(path, reason, row=number)
        if identity in words:
            raise InputError(path, f"the sentence '{identity}' stands there twice", row=number)
        if (probe := probes.get(identity)) is not None and word in probe.texts[1:3]:
            reason = f"'{word}' is one of the two gender words of '{identity}'; give another"
            raise InputError(path, reason, row=number)
        words[identity] = word
    if words and not words.keys() & probes.keys():
        first = next(iter(words))
        file.refuse(
            ("neutral_words",),
            f"none of the ids in {path.name} ('{first}' ...) is one of a sentence, such as "
            f"'{suite.probes[0].id}'",
        )
    return words


def _check_words(file: TomlFile, suite: Suite, words: Mapping[str, str]) -> None:
    """Refuse a sentence for which no neutral word is known."""
    for probe in suite.probes:
        if probe.id in words:
            continue
        try:
            neutral_word(probe)
        except EvenhandError as error:
            file.refuse(("suite",), f"sentence {probe.id}: {error}")


def _check_catalog(file: TomlFile, name: str, language: str) -> None:
    try:
        source = catalog.suite(name.partition(":")[0])
    except EvenhandError as error:
        file.refuse(("suite",), str(error))
    if source.kind != "mask":
        known = [other for other, s in catalog.entries("suites").items() if s.kind == "mask"]
        file.refuse(
            ("suite",),
            f"'{name}' is a suite of the kind {source.kind}; people are asked sentences with a "
            f"blank (mask): {', '.join(known)}",
        )
    if language not in source.languages:
        file.refuse(
            ("suite_language",),
            f"suite '{name}' has no language '{language}'; set suite_language to one of "
            f"{', '.join(source.languages)}",
        )
