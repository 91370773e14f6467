"""How biased a language model is, and how sure one can be."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "Settings",
    "__version__",
    "audit",
    "compare",
    "compare_people",
    "load_suite",
    "measures",
]

if TYPE_CHECKING:
    from evenhand import measures
    from evenhand.core.settings import Settings
    from evenhand.engine.audit import audit
    from evenhand.engine.compare import compare
    from evenhand.engine.suites import load_suite
    from evenhand.people.compare import compare_people

_PLACES = {
    "Settings": "evenhand.core.settings",
    "audit": "evenhand.engine.audit",
    "compare": "evenhand.engine.compare",
    "compare_people": "evenhand.people.compare",
    "load_suite": "evenhand.engine.suites",
}


def __getattr__(name: str) -> Any:
    """What `__all__` names is imported when first used, so that `import evenhand` stays light."""
    if name == "measures":
        return importlib.import_module("evenhand.measures")
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'evenhand' has no attribute '{name}'")
