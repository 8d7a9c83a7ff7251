"""The file of finished cells: whole lines, broken ends, and results of other versions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from multikernel.reproduce.results import Ledger, Stamp

STAMP = Stamp("nkrr/x", 1, "1.0", 1e-6)


def test_a_broken_last_line_is_left_out_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    Ledger(file).add(STAMP, {"seed": 0}, {"error": np.float64(1.5), "path": np.arange(3)}, 0.1, 50.0)
    whole = file.read_text()
    file.write_text(whole + whole[: len(whole) // 2])

    again = Ledger(file)
    assert [line["found"] for line in again.lines(STAMP)] == [{"error": 1.5, "path": [0, 1, 2]}]
    again.add(STAMP, {"seed": 1}, {"error": 2.5}, 0.1, 50.0)
    assert [line["fields"]["seed"] for line in Ledger(file).lines(STAMP)] == [0, 1]


def test_results_of_another_version_are_noticed(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "cells.jsonl")
    ledger.add(STAMP, {"seed": 0}, {"error": 1.0}, 0.1, 50.0)
    for other in (
        replace(STAMP, protocol=2),
        replace(STAMP, package="1.1"),
        replace(STAMP, tol=1e-4),
    ):
        assert ledger.lines(other) == []
        assert ledger.stale(other) == 1
    assert ledger.stale(STAMP) == 0
    newer = replace(STAMP, package="1.1")
    going_on = Ledger(ledger.file, also=["1.0"])
    assert len(going_on.lines(newer)) == 1
    assert going_on.stale(newer) == 0
    assert going_on.lines(replace(newer, protocol=2)) == []
    assert ledger.stale(replace(STAMP, experiment="nkrr/y")) == 0
