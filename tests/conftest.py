"""What the tests stand on: real data and golden numbers, an empty cache, no network."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chromium import CHROMIUM
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
NAMED = os.environ.get("EVENHAND_DATA")  # read before `isolated` hides it from the program
DATA = Path(NAMED) if NAMED else ROOT.parent / "shared" / "data"
GOLDEN = (ROOT / "tests" / "golden", ROOT.parent / "shared" / "golden")

settings.register_profile(
    "evenhand",
    deadline=None,
    max_examples=20,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no fault
)
settings.load_profile("evenhand")


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the user's cache, and none reaches the network."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("EVENHAND_OFFLINE", "1")
    for name in ("EVENHAND_DATA", "EVENHAND_MIRROR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data that lies beside the project, never in it."""
    if not (DATA / "nli_coal").is_dir():
        where = "EVENHAND_DATA" if NAMED else "../shared/data, seen from the project's root"
        pytest.skip(f"the real data is not at {where}; name its folder with EVENHAND_DATA")
    return DATA


@pytest.fixture(scope="session")
def golden() -> Callable[[str], dict[str, Any]]:
    """Published numbers by the name of their file: the project's own copy, else the one beside the
    project.
    """

    def read(name: str) -> dict[str, Any]:
        for folder in GOLDEN:
            if (path := folder / f"{name}.json").exists():
                numbers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
                return numbers
        pytest.skip(f"{name}.json is neither in tests/golden nor in ../shared/golden")

    return read


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of a file; each opens a context of its own.

    Not for the whole session: the driver keeps an event loop running in this thread, in which
    tests of other files could start none of their own.
    """
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        result = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield result
        result.close()
