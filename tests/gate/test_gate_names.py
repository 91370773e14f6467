"""The gate is a machine: it names no family, suite or measure."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import evenhand

HOUSE = Path(__file__).resolve().parents[1] / "house" / "test_house_names.py"


@pytest.fixture
def house() -> Any:
    spec = importlib.util.spec_from_file_location("house_names", HOUSE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_name_of_the_catalog_stands_in_the_gate(house: Any) -> None:
    files = sorted((Path(evenhand.__file__).parent / "gate").rglob("*.py"))
    assert len(files) > 5
    assert [name for path in files for name in house.named_in(path)] == []
