"""The real files, where they are: every set is what its manifest says."""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cases import one_in
from multikernel.datasets import Entry, available, load

# Read when the file is collected: the tests of the room run without the variable.
_DIRECTORY = Path(os.environ.get("MULTIKERNEL_DATA") or "no directory")
_MANIFEST = _DIRECTORY / "manifest.csv"
pytestmark = pytest.mark.skipif(
    not _MANIFEST.is_file(), reason="no benchmark data: set MULTIKERNEL_DATA to a directory with a manifest.csv"
)

# What is left of the classes, by the documentation of the sets, after rows with an empty cell are dropped.
_COMPLETE = {
    "wpbc": {"N": 148, "R": 46},
    "heart_cleveland": {"0": 160, "1": 54, "2": 35, "3": 35, "4": 13},
    "breast_ljubljana": {"no-recurrence-events": 196, "recurrence-events": 81},
    "adult": {"<=50K": 34014, ">50K": 11208},
}


def _lines() -> list[dict[str, str]]:
    if not _MANIFEST.is_file():
        return []
    with _MANIFEST.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("line", one_in(3, _lines()), ids=lambda line: line["name"])
def test_every_set_is_what_the_manifest_says(line: dict[str, str]) -> None:
    data = load(line["name"], _DIRECTORY)
    classes = {label: int(count) for label, count in (c.rsplit(":", 1) for c in line["classes"].split())}
    classes = _COMPLETE.get(line["name"], classes)
    n = sum(classes.values()) or int(line["n"])
    assert data.task == line["task"]
    assert data.origin == "directory"
    assert data.X.shape[0] == len(data.y) == n
    assert ("rows dropped" in data.description) == (line["name"] in _COMPLETE)
    if classes:
        assert {str(label): count for label, count in Counter(data.y.tolist()).items()} == classes
    else:
        assert data.y.dtype == np.float64
    assert data.split is None or set(data.split.tolist()) == {"train", "test"}
    if line["d"] == "text":
        assert all(isinstance(text, str) for text in data.X)
        return
    assert data.X.shape[1] == len(data.feature_names) == len(set(data.feature_names))
    spread = any("=" in name for name in data.feature_names)
    assert data.X.shape[1] > int(line["d"]) if spread else data.X.shape[1] == int(line["d"])
    assert np.isfinite(data.X.data if hasattr(data.X, "tocsr") else data.X).all()


def test_the_catalogue_lists_the_manifest() -> None:
    listed = {entry.name: entry for entry in available(_DIRECTORY) if entry.origin == "directory"}
    assert set(listed) == {line["name"] for line in _lines()}
    for line in _lines():
        d = None if line["d"] == "text" else int(line["d"])
        assert listed[line["name"]] == Entry(line["name"], listed[line["name"]].task, int(line["n"]), d, "directory")
        assert listed[line["name"]].task == line["task"]


@pytest.mark.parametrize(
    "name", one_in(3, ["sonar", "heart_cleveland", "auto_mpg", "sentiment_kitchen", "a9a", "kin8nm", "letter"])
)
def test_without_the_manifest_the_task_is_inferred(name: str, tmp_path: Path) -> None:
    line = next((line for line in _lines() if line["name"] == name), None)
    if line is None:
        pytest.skip(f"the manifest has no {name}")
    (tmp_path / line["file"]).symlink_to(_DIRECTORY / line["file"])
    d = None if line["d"] == "text" else int(line["d"])
    assert available(tmp_path)[0] == Entry(name, load(name, _DIRECTORY).task, int(line["n"]), d, "directory")
    assert load(name, tmp_path).task == line["task"]


def test_abalone_as_in_the_documentation() -> None:
    data = load("abalone", _DIRECTORY)
    assert data.feature_names[:4] == ("sex=F", "sex=I", "sex=M", "length")
    assert data.X[:, :3].sum(axis=0).tolist() == [1307, 1342, 1528]
    assert data.y[0] == 15.0
