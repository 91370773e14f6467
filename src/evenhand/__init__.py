"""How biased a language model is, and how sure one can be."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "Settings",
    "__version__",
    "audit",
    "audit_all",
    "compare",
    "compare_people",
    "function",
    "load_suite",
    "measures",
    "read",
]

if TYPE_CHECKING:
    from evenhand import measures
    from evenhand.core.settings import Settings
    from evenhand.engine.audit import audit
    from evenhand.engine.audit_all import audit_all
    from evenhand.engine.compare import compare
    from evenhand.engine.read_run import read_run as read
    from evenhand.engine.suites import load_suite
    from evenhand.people.compare import compare_people
    from evenhand.respondents.function import function

_PLACES = {  # public name -> the module that has it, and its name there
    "Settings": ("evenhand.core.settings", "Settings"),
    "audit": ("evenhand.engine.audit", "audit"),
    "audit_all": ("evenhand.engine.audit_all", "audit_all"),
    "compare": ("evenhand.engine.compare", "compare"),
    "compare_people": ("evenhand.people.compare", "compare_people"),
    "function": ("evenhand.respondents.function", "function"),
    "load_suite": ("evenhand.engine.suites", "load_suite"),
    "read": ("evenhand.engine.read_run", "read_run"),
}


def __getattr__(name: str) -> Any:
    """What `__all__` names is imported when first used, so that `import evenhand` stays light."""
    if name == "measures":
        return importlib.import_module("evenhand.measures")
    if name in _PLACES:
        module, attribute = _PLACES[name]
        return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module 'evenhand' has no attribute '{name}'")


def __dir__() -> list[str]:
    """Everything public, also what was not used yet."""
    return sorted(__all__)
