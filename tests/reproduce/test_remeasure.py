"""Cells that are measured again: how far numbers are apart, what is drawn, and what the first page says."""

from __future__ import annotations

import math
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from multikernel.reproduce import remeasure
from multikernel.reproduce.command import reproduce
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.results import Ledger


@pytest.mark.parametrize(("old", "new", "apart"), [
    ({"error": 0.5, "words": "a"}, {"error": 0.5, "words": "a"}, 0.0),
    ({"weights": [1e-17]}, {"weights": [0.0]}, 1e-8),
    ({"error": [0.5, 2.0]}, {"error": [0.5, 1.0]}, 0.5),
    ({"error": math.nan}, {"error": math.nan}, 0.0),
    ({"error": math.nan}, {"error": 1.0}, math.inf),
    ({"seconds": 1.0, "certificate": 1e-7}, {"seconds": 9.0, "certificate": 1e-9}, 0.0),
    ({"error": 0.5}, {"error": 0.5, "certificate": 1e-9}, 0.0),
    ({"error": 0.5}, {"area": 0.5}, math.inf),
    ({"error": [0.5]}, {"error": []}, math.inf),
    ({"words": "a"}, {"words": "b"}, math.inf),
    ({"runs": {"L1": {"accuracy": -1.0}}}, {"runs": {"L1": {"accuracy": 1.0}}}, 2.0),
])  # fmt: skip
def test_the_largest_relative_difference(old: object, new: object, apart: float) -> None:
    assert remeasure.farthest(old, new)[0] == pytest.approx(apart)
    assert remeasure.farthest(new, old)[0] == pytest.approx(apart)


def test_the_number_that_differs_most_is_named() -> None:
    old = {"areas": {"K_D": [0.5, 0.7], "K_sum": 0.6}, "steps": 10, "seconds": 1.0}
    assert remeasure.farthest(old, {**old, "areas": {"K_D": [0.5, 0.8], "K_sum": 0.61}}) == (
        pytest.approx(0.125),
        "areas K_D",
    )


def test_the_same_code_gives_the_same_numbers_and_a_changed_line_is_found(small_data: Path, tmp_path: Path) -> None:
    reproduce("nkrr", tmp_path, figure=1, data_dir=small_data, report=len)
    source = DataSource(small_data)
    file = tmp_path / "cells.jsonl"
    kept = file.read_text()
    changed = kept.replace('"values": [', '"values": [1', 1)
    file.write_text(changed)
    sample = remeasure.cells_to_check(Ledger(file), source, count=99, limit=60.0, seed=0)
    assert [each.drawn for each in sample] == [True] * 3
    assert len(remeasure.cells_to_check(Ledger(file), source, count=2, limit=60.0, seed=0)) in (2, 3)
    checks = list(remeasure.check(sample, source, lambda: ThreadPoolExecutor(1)))
    assert sum(each.difference == 0.0 for each in checks) == 2
    assert all(10.0 < each.megabytes < 20_000.0 for each in checks)
    text = remeasure.summary(checks)
    assert re.match(r"3 cells of at most \d+ seconds, drawn at random", text)
    assert re.search(r"2 gave .* in all digits, and 0 others to a relative 1e-06\. .* 1 others: values of nkrr/", text)
    times = [replace(check, difference=None, number="") for check in checks]
    assert "0 gave the kept numbers in all digits" in remeasure.summary(times)
    assert "The results of 3 are times, which were not compared." in remeasure.summary(times)
    assert remeasure.summary([]) == ""
    assert remeasure.read(tmp_path) == []
