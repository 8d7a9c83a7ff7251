"""The MNIST experiments on small made-up digits: votes of all pairs name them, and both kinds of images are read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from multikernel.reproduce import archive
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


@pytest.mark.parametrize("noise", [0.1, 1.0, 3.0])
def test_what_is_kept_has_the_same_votes(noise: float) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(10, size=500)
    found = []
    for a, b in digits.PAIRS:
        side = np.where(truth == a, 1.0, np.where(truth == b, -1.0, rng.choice([-1.0, 1.0], size=500)))
        own = digits._encode(truth) if (a, b) == digits.PAIRS[0] else ""
        found.append({"decisions": digits._encode(side + noise * rng.normal(size=500)), "truth": own, "support": a})
    kept = digits.reduced(found)
    assert digits._count(kept) == digits._count(found)
    assert digits._share(kept) == digits._share(found)
    assert digits.reduced(kept) == kept
    assert [each["support"] for each in kept] == [each["support"] for each in found]
    assert len(kept[0]["decisions"]) < len(found[0]["decisions"]) or noise > 1.0


def test_the_file_that_is_kept(tmp_path: Path) -> None:
    truth = np.arange(10)
    lines = [{"experiment": "nkrr/x", "package": "1", "fields": {}, "found": {"error": 0.5}}]
    for a, b in digits.PAIRS:
        fields = {"images": "raw", "variant": "stated", "train": 60_000, "a": a, "b": b}
        found = {"decisions": digits._encode(np.where(truth == a, 1.0, -1.0)), "truth": digits._encode(truth)}
        lines.append({"experiment": "dpp/digits", "protocol": 1, "package": "1", "fields": fields, "found": found})
    lines[-1]["package"] = "2"  # a run that another version finished
    lines.append({**lines[-1], "fields": {**lines[-1]["fields"], "images": "deskewed"}})  # one pair of 45
    file = tmp_path / "cells.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    archive.main(file)
    kept = [json.loads(line) for line in gzip.decompress((tmp_path / "cells.jsonl.gz").read_bytes()).splitlines()]
    assert kept[0] == lines[0]
    assert len(kept) == 46
    assert {(line["found"]["decisions"], line["found"]["test digits"]) for line in kept[1:]} == {("", 10)}


def test_even_against_odd(source: DataSource) -> None:
    for method in parity.METHODS:
        cell = Cell.of(data="mnist", train=100, held=50, D=2, method=method)
        assert parity.EXPERIMENT.measure(cell, source, {})["error"] < 40.0
