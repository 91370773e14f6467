"""Catalog: families, respondents and languages, from files and from entry points.

A package in `evenhand/families` with the constant FAMILY is in the catalog, together with the
suites and measures that it lists; so is a file in `evenhand/respondents` with the constant
RESPONDENT, and one in `evenhand/languages` with LANGUAGE. Another package adds its own by an entry
point of the group `evenhand.families`, `evenhand.respondents` or `evenhand.languages` that names
such a constant, or a module that has it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Literal

from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.family import Family
from evenhand.core.measure import Measure
from evenhand.core.protocols import Language, RespondentSource, SuiteSource
from evenhand.core.suite import Suite

Section = Literal["families", "measures", "suites", "respondents", "languages"]
SECTIONS: tuple[Section, ...] = ("families", "measures", "suites", "respondents", "languages")
_CONSTANTS = {"families": "FAMILY", "respondents": "RESPONDENT", "languages": "LANGUAGE"}
_TYPES: dict[str, type[Any]] = {
    "families": Family,
    "respondents": RespondentSource,
    "languages": Language,
}
_SINGULAR = {"families": "family"}


def _name_of(entry: Any) -> str:
    return str(entry.code if isinstance(entry, Language) else entry.name)


@cache
def _load_group(group: str) -> dict[str, Any]:
    """Everything that the files and entry points of one group bring, by name."""
    loaded: dict[str, Any] = {}
    package = importlib.import_module(f"evenhand.{group}")
    for file in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"evenhand.{group}.{file.name}")
        if (entry := getattr(module, _CONSTANTS[group], None)) is not None:
            _check(group, entry, file.name)
            _add(loaded, group, entry, file.name)
    for point in entry_points(group=f"evenhand.{group}"):
        try:
            entry = point.load()
        except Exception as error:
            raise EvenhandError(
                f"entry point '{point.name}' of group evenhand.{group} ({point.value}) "
                f"does not load: {error}"
            ) from error
        if isinstance(entry, ModuleType):
            if not hasattr(entry, _CONSTANTS[group]):
                raise EvenhandError(
                    f"the module {point.value} has no constant {_CONSTANTS[group]}, "
                    f"which an entry point of the group evenhand.{group} needs"
                )
            entry = getattr(entry, _CONSTANTS[group])
        _check(group, entry, point.value)
        _add(loaded, group, entry, point.value)
    return dict(sorted(loaded.items()))


def _check(group: str, entry: Any, origin: str) -> None:
    """Raise EvenhandError unless the entry has the type of its group."""
    wanted = _TYPES[group]
    if isinstance(entry, wanted):
        return
    if group == "families":
        kind = type(entry).__name__
        raise EvenhandError(f"{origin} is not a family: it is a {kind}, not a Family")
    names = {*wanted.__annotations__, *(a for a in vars(wanted) if not a.startswith("_"))}
    lacking = [a for a in sorted(names) if not hasattr(entry, a)]
    raise EvenhandError(f"{origin} is not one of the {group}: it lacks {', '.join(lacking)}")


def _add(loaded: dict[str, Any], section: str, entry: Any, origin: str) -> None:
    """Put the entry under its name. Raises EvenhandError where the name is taken."""
    name = _name_of(entry)
    if name in loaded:
        raise EvenhandError(
            f"two {section} are named '{name}'; the second comes from {origin}. Rename one."
        )
    loaded[name] = entry


def _listed(family: Family, section: str) -> tuple[Measure, ...] | tuple[SuiteSource, ...]:
    return family.measures if section == "measures" else family.suites


@cache
def entries(section: Section) -> dict[str, Any]:
    """Everything in one section, by name."""
    if section in _CONSTANTS:
        return _load_group(section)
    listed: dict[str, Any] = {}
    for family in families().values():
        for entry in _listed(family, section):
            if section == "suites" and not isinstance(entry, SuiteSource):
                raise EvenhandError(
                    f"{entry!r} of the family '{family.name}' is not a suite source"
                )
            _add(listed, section, entry, f"the family '{family.name}'")
    return dict(sorted(listed.items()))


def find(section: Section, name: str) -> Any:
    """The entry with this name. Raises UnknownNameError, which suggests similar names."""
    known = entries(section)
    if name not in known:
        raise UnknownNameError(_SINGULAR.get(section, section.removesuffix("s")), name, known)
    return known[name]


def families() -> dict[str, Family]:
    """Every family, by name."""
    return _load_group("families")


def measures() -> dict[str, Measure]:
    """Every measure, by name."""
    return entries("measures")


def respondents() -> dict[str, RespondentSource]:
    """Every source of respondents, by name."""
    return _load_group("respondents")


def family(name: str) -> Family:
    """The family with this name."""
    entry: Family = find("families", name)
    return entry


def measure(name: str) -> Measure:
    """The measure with this name."""
    entry: Measure = find("measures", name)
    return entry


def suite(name: str) -> SuiteSource:
    """The suite source with this name."""
    entry: SuiteSource = find("suites", name)
    return entry


def language(code: str) -> Language:
    """The language with this code."""
    entry: Language = find("languages", code)
    return entry


def language_name(code: str) -> str:
    """The name of a language, or its code where it is not in the catalog."""
    known: Mapping[str, Language] = _load_group("languages")
    return known[code].name if code in known else code


@cache
def owners(section: Literal["measures", "suites"]) -> dict[str, str]:
    """The name of the family of every measure or suite, by its name."""
    return {
        entry.name: family.name
        for family in families().values()
        for entry in _listed(family, section)
    }


def family_of(suite: Suite, measures: Sequence[Measure]) -> Family:
    """The family whose account the report of a run uses.

    The family that lists the suite. For a suite from a file: the family of the first measure that
    reads only certain strata, or else of the first measure.
    """
    stem = suite.card.name.partition(":")[0]
    owner = owners("suites").get(stem)
    if owner is None:
        with_strata = [m for m in measures if m.strata]
        first = (with_strata or list(measures))[0]
        owner = owners("measures")[first.name]
    return families()[owner]


def default_suite() -> str:
    """The suite that is asked where the user names none."""
    return next(f.suites[0].name for f in families().values() if f.is_default)


def checks() -> list[Family]:
    """The families that check whether a respondent understands such probes."""
    return [f for f in families().values() if f.is_check]
