"""The typed stub of `evenhand.measures`, and the functions behind it."""

from __future__ import annotations

import measure_stub
import numpy as np
import pytest

from evenhand import measures
from evenhand.core import catalog


def test_the_stub_is_that_of_the_catalog() -> None:
    """Run `python tests/support/measure_stub.py` after a measure was added or changed."""
    assert measure_stub.STUB.read_text(encoding="utf-8") == measure_stub.stub_text()


def test_every_measure_is_an_attribute_and_in_dir() -> None:
    assert set(dir(measures)) == set(catalog.measures())
    for name, measure in catalog.measures().items():
        assert getattr(measures, name) is measure.function
    with pytest.raises(AttributeError, match="evenhand has no measure 'nli_cola'"):
        _ = measures.nli_cola  # type: ignore[attr-defined]


def test_a_function_gives_the_published_value() -> None:
    shares = np.eye(3)
    assert measures.nli_coal(shares[[0, 2, 1]], ["PS", "AS", "NS"]) == pytest.approx(2 / 3)
