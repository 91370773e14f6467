"""Training of NLI classifiers and masked models: recipes, the loop, export.

torch and transformers (extra `train`) are imported only here and in `respondents`.
"""

from __future__ import annotations

import importlib.util

from evenhand.core.errors import LoadError

PACKAGES = ("torch", "transformers")


def require_packages() -> None:
    """Raise LoadError where torch or transformers is not installed, without importing either."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise LoadError(
            f"training needs {' and '.join(PACKAGES)} ({' and '.join(missing)} not installed): "
            "pip install 'evenhand[train]'"
        )
