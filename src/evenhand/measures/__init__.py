"""How is a respondent's answer turned into one number? One file per measure.

Each measure is also a pure function on arrays, `evenhand.measures.nli_coal(probabilities, strata)`: the function of the measure's name in the
measure's file. (So a file must not itself bear the name of its measure.)
"""

from __future__ import annotations

import sys
from typing import Any


def __getattr__(name: str) -> Any:
    from evenhand.core.catalog import measures

    if not name.startswith("_") and (measure := measures().get(name)) is not None:
        module = sys.modules[type(measure).__module__]
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"evenhand has no measure '{name}'")


def __dir__() -> list[str]:
    from evenhand.core.catalog import measures

    return [*globals(), *measures()]
