"""What do the tests of the word tests share? The suites by name, built in a language, as they come or as published."""

from __future__ import annotations

from pathlib import Path

from evenhand.core import catalog
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite

LANGUAGES = ("en", "ja", "zh")
SUITES = ("gender-recognition", "profession", "emotion")


def build(name: str, language: str = "en", variant: str = "", data: Path | None = None) -> Suite:
    return catalog.suite(name).build(language, SuiteOptions(variant=variant, data=data))
