"""Where does evenhand keep what it can make again? In the user's cache folder, or in EVENHAND_CACHE."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """The folder of downloads and answers."""
    if chosen := os.environ.get("EVENHAND_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "evenhand"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "evenhand"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "evenhand"
