"""How biased is a language model, and how sure can one be?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["__version__", "audit", "compare", "measures"]

if TYPE_CHECKING:
    from evenhand import measures
    from evenhand.engine.audit import audit
    from evenhand.engine.comparing import compare


def __getattr__(name: str) -> Any:
    """`evenhand.audit`, `evenhand.compare` and `evenhand.measures` are imported when first used, so that `import evenhand` stays light."""
    if name == "audit":
        from evenhand.engine.audit import audit

        return audit
    if name == "compare":
        from evenhand.engine.comparing import compare

        return compare
    if name == "measures":
        import importlib

        return importlib.import_module("evenhand.measures")
    raise AttributeError(f"module 'evenhand' has no attribute '{name}'")
