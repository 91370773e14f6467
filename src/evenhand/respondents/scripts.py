"""The scripts that languages are written in, to refuse a model of another script."""

from __future__ import annotations

from evenhand.core.text import listed
from evenhand.respondents.location import Location

_SCRIPTS = {
    "Han": ("zh", "yue"),
    "Kana and Han": ("ja",),
    "Hangul": ("ko",),
    "Arabic": ("ar", "fa", "ur"),
    "Cyrillic": ("bg", "ru", "sr", "uk"),
    "Devanagari": ("hi", "mr", "ne"),
    "Greek": ("el",),
    "Hebrew": ("he",),
    "Thai": ("th",),
    "Latin": tuple(
        "af ca cs da de en es et eu fi fr ga gl hr hu id is it lt lv ms mt nb nl no pl pt ro sk sl "
        "sv sw tl tr vi".split()
    ),
}
_SCRIPT_OF = {code: script for script, codes in _SCRIPTS.items() for code in codes}


def script_of(language: str) -> str:
    """The script of a language (`fr`, `zh-CN`); empty where it is not known."""
    return _SCRIPT_OF.get(language.partition("-")[0].lower(), "")


def other_script(location: Location, language: str) -> str:
    """Why a model cannot weigh sentences of a language: it is said to know only other scripts.

    Empty where it may.
    """
    asked = script_of(language)
    known = {script_of(code) for code in location.languages}
    if not asked or not known or "" in known or asked in known:
        return ""
    return (
        f"the model {location.name} is said to know {listed(location.languages)}, written in "
        f"{listed(sorted(known))}; it is asked in {language}, written in {asked}: how likely it "
        "finds such words says nothing about bias. Give a model of the language, or --lang of the "
        "model"
    )
