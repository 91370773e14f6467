"""Catalog: families, respondents and languages, found as files and as entry points.

A folder of `evenhand/families` whose package has the constant FAMILY is in the catalog, and so
are the suites and measures that it lists; a file of `evenhand/respondents` (`languages`) is by
its constant RESPONDENT (LANGUAGE). Another package adds its own with an entry point of the group
`evenhand.families` (`respondents`, `languages`) that names such a constant, or a module with it.
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


def _name_of(thing: Any) -> str:
    return str(thing.code if isinstance(thing, Language) else thing.name)


@cache
def _found(group: str) -> dict[str, Any]:
    """Everything that files and entry points of one group bring, by name."""
    things: dict[str, Any] = {}
    package = importlib.import_module(f"evenhand.{group}")
    for module in pkgutil.iter_modules(package.__path__):
        loaded = importlib.import_module(f"evenhand.{group}.{module.name}")
        if (thing := getattr(loaded, _CONSTANTS[group], None)) is not None:
            _add(things, group, thing, module.name)
    for point in entry_points(group=f"evenhand.{group}"):
        try:
            loaded = point.load()
        except Exception as error:
            raise EvenhandError(
                f"entry point '{point.name}' of group evenhand.{group} ({point.value}) "
                f"does not load: {error}"
            ) from error
        is_module = isinstance(loaded, ModuleType)
        thing = getattr(loaded, _CONSTANTS[group], None) if is_module else loaded
        _add(things, group, thing, point.value)
    return dict(sorted(things.items()))


def _add(things: dict[str, Any], group: str, thing: Any, origin: str) -> None:
    wanted = _TYPES[group]
    if not isinstance(thing, wanted):
        if group == "families":
            kind = type(thing).__name__
            raise EvenhandError(f"{origin} is not a family: it is a {kind}, not a Family")
        names = {*wanted.__annotations__, *(a for a in vars(wanted) if not a.startswith("_"))}
        lacking = [a for a in sorted(names) if not hasattr(thing, a)]
        raise EvenhandError(f"{origin} is not one of the {group}: it lacks {', '.join(lacking)}")
    _put(things, group, thing, origin)


def _put(things: dict[str, Any], section: str, thing: Any, origin: str) -> None:
    name = _name_of(thing)
    if name in things:
        raise EvenhandError(
            f"two {section} are named '{name}'; the second comes from {origin}. Rename one."
        )
    things[name] = thing


@cache
def entries(section: Section) -> dict[str, Any]:
    """Everything in one section, by name."""
    if section in _CONSTANTS:
        return _found(section)
    things: dict[str, Any] = {}
    for family in families().values():
        for thing in family.measures if section == "measures" else family.suites:
            if section == "suites" and not isinstance(thing, SuiteSource):
                raise EvenhandError(
                    f"{thing!r} of the family '{family.name}' is not a suite source"
                )
            _put(things, section, thing, f"the family '{family.name}'")
    return dict(sorted(things.items()))


def find(section: Section, name: str) -> Any:
    """The one with this name; an error that suggests close ones if there is none."""
    known = entries(section)
    if name not in known:
        raise UnknownNameError(_SINGULAR.get(section, section.removesuffix("s")), name, known)
    return known[name]


def families() -> dict[str, Family]:
    """Every family, by name."""
    return _found("families")


def measures() -> dict[str, Measure]:
    """Every measure, by name."""
    return entries("measures")


def respondents() -> dict[str, RespondentSource]:
    """Every source of respondents, by name."""
    return _found("respondents")


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
    """The name of a language in itself; its code where it is not in the catalog."""
    known: Mapping[str, Language] = _found("languages")
    return known[code].name if code in known else code


@cache
def owners(section: Literal["measures", "suites"]) -> dict[str, str]:
    """By the name of a measure or suite, the name of its family."""
    return {
        thing.name: family.name
        for family in families().values()
        for thing in (family.measures if section == "measures" else family.suites)
    }


def family_of(suite: Suite, measures: Sequence[Measure]) -> Family:
    """The family whose account tells a run.

    It is the one that the suite belongs to; of a suite from a file, the one of the first measure
    that reads only certain strata, else of the first.
    """
    stem = suite.card.name.partition(":")[0]
    owner = owners("suites").get(stem)
    if owner is None:
        own = [m for m in measures if m.strata] or list(measures)
        owner = owners("measures")[own[0].name]
    return families()[owner]


def default_suite() -> str:
    """The suite that is asked where the user names none."""
    return next(f.suites[0].name for f in families().values() if f.is_default)


def checks() -> list[Family]:
    """The families that tell whether a respondent understands what it is asked."""
    return [f for f in families().values() if f.is_check]
