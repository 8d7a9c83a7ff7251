"""``multikernel datasets``: the sets of scikit-learn, and those of the directory that the user names."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from csv_tables import Invoke

from multikernel.datasets import available


def _listed(invoke: Invoke, *words: str) -> list[list[str]]:
    """Name and task of each set that the command prints."""
    return [line.split()[:2] for line in invoke("datasets", *words).stdout.splitlines()[2:]]


def test_lists_what_can_be_loaded(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = [[entry.name, entry.task] for entry in available()]
    Path("data").mkdir()
    Path("data", "mine.csv.gz").write_bytes(gzip.compress(b"a,target\n1,0.5\n2,1.5\n"))
    assert _listed(invoke) == bundled
    assert _listed(invoke, "--data-dir", "data") == [["mine", "regression"], *bundled]
    monkeypatch.setenv("MULTIKERNEL_DATA", "data")
    assert _listed(invoke) == [["mine", "regression"], *bundled]
