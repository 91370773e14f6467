"""How biased is a language model, and how sure can one be?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["__version__", "audit", "measures"]

if TYPE_CHECKING:
    from evenhand import measures
    from evenhand.engine.audit import audit


def __getattr__(name: str) -> Any:
    """`evenhand.audit` and `evenhand.measures` are imported when first used, so that `import evenhand` stays light."""
    if name == "audit":
        from evenhand.engine.audit import audit

        return audit
    if name == "measures":
        import importlib

        return importlib.import_module("evenhand.measures")
    raise AttributeError(f"module 'evenhand' has no attribute '{name}'")
