"""How biased is a language model, and how sure can one be?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["__version__", "audit", "compare", "compare_people", "measures"]

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand import measures
    from evenhand.engine.audit import audit
    from evenhand.engine.comparing import compare

    compare_people: Callable[..., Any]


def __getattr__(name: str) -> Any:
    """What `__all__` names is imported when first used, so that `import evenhand` stays light."""
    if name == "audit":
        from evenhand.engine.audit import audit

        return audit
    if name == "compare":
        from evenhand.engine.comparing import compare

        return compare
    if name in (
        "compare_people",
        "measures",
    ):  # by name: what stands below them imports this file for the version
        import importlib

        if name == "measures":
            return importlib.import_module("evenhand.measures")
        return importlib.import_module("evenhand.people.compare").compare_people
    raise AttributeError(f"module 'evenhand' has no attribute '{name}'")
