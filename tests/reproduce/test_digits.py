"""The MNIST experiments on small made-up digits: votes of all pairs name them, and both kinds of images are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from multikernel.reproduce.data import DataSource
from multikernel.reproduce.dpp import digits, parity
from multikernel.reproduce.experiment import Cell


@pytest.fixture(scope="module")
def source(small_data: Path) -> DataSource:
    return DataSource(small_data)


@pytest.mark.parametrize("variant", ["stated", digits.MOVED])
def test_votes_of_all_pairs(source: DataSource, variant: str) -> None:
    pairs = digits.PAIRS if variant == "stated" else digits.PAIRS[:1]
    cells = [Cell.of(data="mnist", images="raw", variant=variant, train=200, a=a, b=b) for a, b in pairs]
    found = [digits.EXPERIMENT.measure(cell, source, {}) for cell in cells]
    assert all(each["certificate"] <= 1e-4 for each in found)
    if variant == "stated":
        count, share = digits._count(found), digits._share(found)
        assert count is not None
        assert share is not None
        assert float(count.value) <= 3
        assert share.value == pytest.approx(float(count.value) / 0.6)
    else:  # one pair of 45 names no digit
        assert digits._share(found) is digits._count(found) is None


def test_even_against_odd(source: DataSource) -> None:
    for method in parity.METHODS:
        cell = Cell.of(data="mnist", train=100, held=50, D=2, method=method)
        assert parity.EXPERIMENT.measure(cell, source, {})["error"] < 40.0
