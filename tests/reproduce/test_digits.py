"""The MNIST experiments on small made-up digits: votes of all pairs name them, and both kinds of images are read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from multikernel.reproduce.dpp import digits, parity
from multikernel.reproduce.experiment import Cell
from multikernel.reproduce.sources import Source

Array = Any


def write_idx(path: Path, values: Array) -> None:
    sizes = np.array(values.shape, dtype=">u4").tobytes()
    path.write_bytes(gzip.compress(bytes((0, 0, 8, values.ndim)) + sizes + values.tobytes()))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Ten patterns, with noise, as the four files of MNIST."""
    folder, rng = tmp_path_factory.mktemp("digits"), np.random.default_rng(0)
    patterns = 255 * (rng.random((10, 28, 28)) < 0.2) * (np.indices((28, 28)) % 28 > 6).all(axis=0)
    for part, n in (("train", 200), ("t10k", 60)):
        labels = np.arange(n) % 10
        images = np.clip(patterns[labels] + rng.normal(scale=90.0, size=(n, 28, 28)), 0, 255)
        write_idx(folder / f"mnist-{part}-images-idx3-ubyte.gz", images.astype(np.uint8))
        write_idx(folder / f"mnist-{part}-labels-idx1-ubyte.gz", labels.astype(np.uint8))
    return Source(folder)


@pytest.mark.parametrize("variant", ["stated", digits.MOVED])
def test_votes_of_all_pairs(source: Source, variant: str) -> None:
    pairs = digits.PAIRS if variant == "stated" else digits.PAIRS[:1]
    cells = [Cell.of(data="mnist", images="raw", variant=variant, train=200, a=a, b=b) for a, b in pairs]
    found = [digits.EXPERIMENT.measure(cell, source, {}) for cell in cells]
    assert all(each["certificate"] <= 1e-4 for each in found)
    if variant == "stated":
        count, share = digits._count(found).value, digits._share(found).value
        assert float(count) <= 3
        assert share == pytest.approx(float(count) / 0.6)


def test_even_against_odd(source: Source) -> None:
    for method in parity.METHODS:
        cell = Cell.of(data="mnist", train=100, held=50, D=2, method=method)
        assert parity.EXPERIMENT.measure(cell, source, {})["error"] < 40.0
