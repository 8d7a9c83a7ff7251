"""The figures of many targets are kept line by line, and are the table of their page."""

from __future__ import annotations

import json

import pytest

import targets


def told(row, method, **other):
    return {"row": row, "method": method, "jobs": 1, "seconds": 1234.5, "megabytes": 61.7, **other}


def test_the_last_of_each_measurement_counts_and_rows_are_in_order(tmp_path):
    path = tmp_path / "kept.jsonl"
    assert targets.known(path) == {}
    lines = [
        told("1200x1000:100", "random search 100", r2=0.18, null=-0.01),
        told("400x5000", "weights for each target", r2=0.1, null=-0.02, jobs=2),
        told("400x5000", "weights for each target", r2=0.1763, null=-0.0138, jobs=2),
        told("400x5000", "random search 20", r2=0.1715, null=-0.0157),
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert targets.table(targets.known(path)).splitlines()[2:] == [
        "| 400 x 5,000 | weights for each target, 2 threads | 1,234.5 | .1763 | -.0138 | 62 |",
        "|  | himalaya, random search of 20 candidates | 1,234.5 | .1715 | -.0157 | 62 |",
        "| 1,200 x 1,000, the first 100 | himalaya, random search of 100 candidates | 1,234.5 | .1800 | -.0100 | 62 |",
    ]


@pytest.mark.parametrize(("row", "sizes"), [("400x1000", (400, 1000, 1000)), ("3000x1000:20", (3000, 1000, 20))])
def test_a_row_is_samples_targets_and_how_many_are_solved(row, sizes):
    assert targets.sizes_of(row) == sizes
