"""Is a study file right, and if not, in which line is it wrong? Reads TOML into a Study and holds it against its sentences."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenhand.people.controls import PlanError, check_plan, largest_part
from evenhand.people.inventories import TOTAL, Inventory, read_items
from evenhand.people.neutral import neutral_word
from evenhand.study.sheet import Sheet
from evenhand.study.study import BATCH_SIZE, LANGUAGES, NAME, TRIAL_SIZE, TYPES, Study, template
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS
from evenhand.core.suite import Suite
from evenhand.engine.audit import load_suite

KEYS = (
    "name",
    "title",
    "languages",
    "suite",
    "suite_language",
    "data",
    "limit",
    "types",
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
INVENTORY_KEYS = ("name", "file", "low", "high", "reversed", "subscales")
FILE = "sqlite:///"
STORES = (FILE, "postgresql")


def read_study(path: Path) -> tuple[Study, Suite]:
    """The study in a file and its sentences."""
    sheet = Sheet(path)
    sheet.check_keys(sheet.data, KEYS)
    defaults: dict[str, Any] = tomllib.loads(
        template("study")
    )  # the texts that people read by default stand there
    languages = sheet.names(("languages",), LANGUAGES, LANGUAGES)
    types = sheet.names(("types",), TYPES, TYPES)
    study = Study(
        name=_name(sheet),
        languages=languages,
        types=types,
        source=path,
        title=sheet.texts("title", languages, LANGUAGES, defaults["title"]),
        consent=sheet.texts("consent", languages, LANGUAGES, defaults["consent"]),
        pay=sheet.texts("pay", languages, LANGUAGES, {}),
        data=sheet.file(("data",)),
        limit=sheet.whole(("limit",), None, 1),
        trial=sheet.whole(("trial",), TRIAL_SIZE, 0),
        batch=sheet.whole(("batch",), BATCH_SIZE, 1),
        batches=sheet.whole(("batches",), None, 1),
        accuracy_controls=sheet.share("accuracy_controls", 0.1),
        consistency_controls=sheet.share("consistency_controls", 0.1),
        least_accuracy=sheet.share("least_accuracy", 0.8),
        least_consistency=sheet.share("least_consistency", 0.6),
        apart=sheet.whole(("apart",), None, 1),
        seed=sheet.whole(("seed",), 0, 0, 2**63 - 1),
        store=_store(sheet),
        secret_file=sheet.file(("secret_file",)) or path.with_suffix(".secret").absolute(),
        inventories=_inventories(sheet, languages),
    )
    return _fit(sheet, _check_shares(sheet, study))


def _name(sheet: Sheet) -> str:
    name = sheet.text(("name",), sheet.path.stem)
    if not NAME.fullmatch(name):
        sheet.refuse(
            ("name",), f"'{name}' is no name for a study; use letters, digits, - and _, at most 64"
        )
    return name


def _store(sheet: Sheet) -> str:
    """The URL of the database; a file is sought beside the study file, not where the program happens to be started."""
    told = sheet.text(("store",), f"{FILE}{sheet.path.stem}.db")
    if not told.startswith(STORES) or "://" not in told:
        sheet.refuse(
            ("store",),
            f"store is '{told}'; give sqlite:///FILE (beside this file) or postgresql+psycopg://USER@HOST/DATABASE",
        )
    name = told.removeprefix(FILE)
    return (
        told
        if not told.startswith(FILE) or name.startswith(":")
        else FILE + str((sheet.path.parent / name).absolute())
    )


def _check_shares(sheet: Sheet, study: Study) -> Study:
    if len(study.types) < len(TYPES):
        if study.consistency_controls and "consistency_controls" in sheet.data:
            sheet.refuse(
                ("consistency_controls",),
                f"a pair asks a sentence in both types, but types is {study.types[0]} only; set it to 0 or ask both",
            )
        study = replace(study, consistency_controls=0.0)
    if (both := study.accuracy_controls + 2 * study.consistency_controls) > 1:
        key = (
            "consistency_controls" if "consistency_controls" in sheet.data else "accuracy_controls"
        )
        sheet.refuse(
            (key,),
            f"accuracy_controls + 2 x consistency_controls is {both:g}: more than all questions (a pair is two); lower one",
        )
    return study


def _inventories(sheet: Sheet, languages: tuple[str, ...]) -> tuple[Inventory, ...]:
    told = sheet.data.get("inventory", [])
    if not isinstance(told, list) or not all(isinstance(table, dict) for table in told):
        sheet.refuse(
            ("inventory",), "inventory is no list of tables; write [[inventory]] above its lines"
        )
    found: list[Inventory] = []
    for number, table in enumerate(told):
        where = ("inventory", number)
        sheet.check_keys(table, INVENTORY_KEYS, where)
        found.append(_inventory(sheet, where, table, languages))
        if found[-1].name in [one.name for one in found[:-1]]:
            sheet.refuse(
                (*where, "name"),
                f"two inventories are called '{found[-1].name}'; give each its own name",
            )
    return tuple(found)


def _inventory(
    sheet: Sheet, where: tuple[str | int, ...], table: dict[str, Any], languages: tuple[str, ...]
) -> Inventory:
    name, file = sheet.text((*where, "name"), None), sheet.file((*where, "file"))
    if name is None or file is None:
        sheet.refuse(
            where, f"an inventory needs a {'name' if name is None else 'file'}; add the line"
        )
    if not file.is_file():
        sheet.refuse(
            (*where, "file"),
            f"there is no file {file}; write it: a column id and one for each of {', '.join(languages)}, one row an item",
        )
    low, high = (
        sheet.whole((*where, "low"), 1, -100, 100),
        sheet.whole((*where, "high"), 5, -100, 100),
    )
    if not low < high:
        sheet.refuse(
            (*where, "high" if "high" in table else "low"),
            f"low is {low} and high is {high}; low must be less",
        )
    if high - low > 10:
        sheet.refuse(
            (*where, "high"),
            f"a scale from {low} to {high} has {high - low + 1} steps; at most 11 fit on a phone",
        )
    items = read_items(file, languages)
    ids = tuple(item.id for item in items)
    scales = sheet.get(
        (*where, "subscales"),
        dict,
        "a table; write [inventory.subscales] and under it name = [items]",
        {},
    )
    if TOTAL in scales:
        sheet.refuse(
            (*where, "subscales", TOTAL),
            f"'{TOTAL}' is the mean of all items; give the subscale another name",
        )
    subscales = {scale: sheet.names((*where, "subscales", scale), (), ids) for scale in scales}
    turned = sheet.names((*where, "reversed"), (), ids) if table.get("reversed", []) != [] else ()
    return Inventory(
        name=name,
        file=file,
        items=items,
        low=low,
        high=high,
        subscales=subscales,
        reversed=frozenset(turned),
    )


def _fit(sheet: Sheet, study: Study) -> tuple[Study, Suite]:
    """The study with its sentences; sizes that the file leaves out are cut to what the sentences allow."""
    study, suite = _load_sentences(sheet, study)
    if "trial" not in sheet.data:
        study = replace(study, trial=largest_part(study, suite, study.trial) or study.trial)
    if "batch" not in sheet.data:
        study = replace(study, batch=largest_part(study, suite, study.batch) or study.batch)
    try:
        check_plan(study, suite)
    except PlanError as error:
        sheet.refuse((error.key,), str(error))
    return study, suite


def _load_sentences(sheet: Sheet, study: Study) -> tuple[Study, Suite]:
    name = sheet.text(("suite",), study.suite)
    language = sheet.text(("suite_language",), None)
    if name.endswith(".jsonl"):
        name = str((sheet.path.parent / Path(name).expanduser()).absolute())
    else:
        _check_catalog(sheet, name, language or study.languages[0])
    if study.data is not None and not study.data.is_dir():
        sheet.refuse(
            ("data",),
            f"there is no folder {study.data}; data names the folder that holds the published files",
        )
    try:
        suite = load_suite(
            name,
            language or study.languages[0],
            data=study.data,
            seed=study.seed,
            limit=study.limit,
        )
    except EvenhandError as error:  # what is an option of other commands is a key here
        sheet.refuse(
            ("suite",),
            str(error).replace(
                "name the folder with --data", 'name its folder here: data = "FOLDER"'
            ),
        )
    if (
        any(p.kind != "mask" or p.width != len(GENDERS) for p in suite.probes)
        or suite.card.labels != GENDERS
    ):
        sheet.refuse(
            ("suite",),
            f"{name} is no suite of sentences with a blank for a male and a female word (kind mask); choose another",
        )
    if "type1" in study.types:
        _check_words(sheet, suite)
    if language and suite.card.language != language:
        sheet.refuse(
            ("suite_language",),
            f"suite_language is '{language}' but the sentences of {name} are in '{suite.card.language}'; leave the line out",
        )
    return replace(study, suite=name, suite_language=suite.card.language), suite


def _check_words(sheet: Sheet, suite: Suite) -> None:
    for probe in suite.probes:
        try:
            neutral_word(probe)
        except EvenhandError as error:
            sheet.refuse(("suite",), f"sentence {probe.id}: {error}")


def _check_catalog(sheet: Sheet, name: str, language: str) -> None:
    try:
        source = catalog.suite(name.partition(":")[0])
    except EvenhandError as error:
        sheet.refuse(("suite",), str(error))
    if source.kind != "mask":
        known = [one for one, found in catalog.entries("suites").items() if found.kind == "mask"]
        sheet.refuse(
            ("suite",),
            f"'{name}' is a suite of the kind {source.kind}; people are asked sentences with a blank (mask): {', '.join(known)}",
        )
    if language not in source.languages:
        sheet.refuse(
            ("suite_language",),
            f"suite '{name}' has no language '{language}'; set suite_language to one of {', '.join(source.languages)}",
        )
