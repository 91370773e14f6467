"""What is there? The files of a package, and the entry points of other packages: the file is the registration.

A file of `evenhand/measures` (suites, respondents, languages) that has the constant MEASURE (SUITE, RESPONDENT, LANGUAGE) is in the catalog.
Another package adds its own with an entry point of the group `evenhand.measures` (...), which names such a constant or a module that has it.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Literal, cast

from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.protocols import Language, Measure, RespondentSource, SuiteSource

Section = Literal["measures", "suites", "respondents", "languages"]
SECTIONS: tuple[Section, ...] = ("measures", "suites", "respondents", "languages")
_CONSTANT = {"measures": "MEASURE", "suites": "SUITE", "respondents": "RESPONDENT", "languages": "LANGUAGE"}
_PROTOCOL: dict[str, type[Any]] = {"measures": Measure, "suites": SuiteSource, "respondents": RespondentSource, "languages": Language}


@cache
def entries(section: Section) -> dict[str, Any]:
    """Everything in one section, by name."""
    found: dict[str, Any] = {}
    package = importlib.import_module(f"evenhand.{section}")
    for module in pkgutil.iter_modules(package.__path__):
        _add(found, section, importlib.import_module(f"evenhand.{section}.{module.name}"), module.name)
    for point in entry_points(group=f"evenhand.{section}"):
        try:
            loaded = point.load()
        except Exception as error:
            raise EvenhandError(f"entry point '{point.name}' of group evenhand.{section} ({point.value}) does not load: {error}") from error
        _add(found, section, loaded, point.value, is_required=True)
    return dict(sorted(found.items()))


def _add(found: dict[str, Any], section: Section, loaded: Any, origin: str, *, is_required: bool = False) -> None:
    thing = getattr(loaded, _CONSTANT[section], None) if isinstance(loaded, ModuleType) else loaded
    if thing is None and not is_required:
        return  # a file that others of the package share
    if not isinstance(thing, _PROTOCOL[section]):
        protocol = _PROTOCOL[section]  # __protocol_attrs__ would be at hand only from Python 3.12 on
        wanted = {*protocol.__annotations__, *(a for a in vars(protocol) if not a.startswith("_"))}
        lacking = [a for a in sorted(wanted) if not hasattr(thing, a)]
        raise EvenhandError(f"{origin} is not one of the {section}: it lacks {', '.join(lacking)}")
    name = thing.code if section == "languages" else thing.name
    if name in found:
        raise EvenhandError(f"two {section} are named '{name}'; the second comes from {origin}. Rename one.")
    found[name] = thing


def find(section: Section, name: str) -> Any:
    """The one with this name; an error that suggests close ones if there is none."""
    known = entries(section)
    if name not in known:
        raise UnknownNameError(section.removesuffix("s"), name, known)
    return known[name]


def measure(name: str) -> Measure:
    """The measure with this name."""
    return cast("Measure", find("measures", name))


def suite(name: str) -> SuiteSource:
    """The suite source with this name."""
    return cast("SuiteSource", find("suites", name))


def language(code: str) -> Language:
    """The language with this code."""
    return cast("Language", find("languages", code))


def measures() -> dict[str, Measure]:
    """Every measure, by name."""
    return entries("measures")


def respondents() -> dict[str, RespondentSource]:
    """Every source of respondents, by name."""
    return entries("respondents")
