"""Where a name is looked up, and what is said when it is not found."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from multikernel.datasets import Dataset, Entry, available, load
from multikernel.datasets.catalogue import BUNDLED


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets_are_as_listed(name: str) -> None:
    data = load(name)
    listed = next(entry for entry in available() if entry.name == name)
    assert listed == Entry(name, data.task, data.X.shape[0], data.X.shape[1], data.origin)
    assert data.y.shape == (listed.n,)
    assert len(data.feature_names) == listed.d
    assert data.y.dtype.kind == ("i" if data.task == "classification" else "f")
    assert data.origin == "scikit-learn"
    assert "\n" not in data.description


def test_a_dataset_is_frozen_and_says_what_it_is() -> None:
    data = load("iris")
    assert repr(data) == "Dataset('iris', 150 x 4, classification, from scikit-learn)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"  # type: ignore[misc]


def test_the_directory_comes_before_scikit_learn(tmp_path: Path, write) -> None:
    write("iris.csv.gz", "a,target", "1,0", "2,1", "3,0", "4,1")
    assert load("iris", tmp_path).origin == "directory"
    assert load("wine", tmp_path).origin == "scikit-learn"
    listed = available(tmp_path)
    assert [entry.origin for entry in listed if entry.name == "iris"] == ["directory"]
    assert len({entry.name for entry in listed}) == len(listed) == len(BUNDLED)


def test_the_directory_of_the_environment(tmp_path: Path, write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("mine.csv.gz", "a,target", "1,0.5", "2,1.5")
    with pytest.raises(ValueError, match="unknown data set 'mine'"):
        load("mine")
    monkeypatch.setenv("MULTIKERNEL_DATA", str(tmp_path))
    assert load("mine").origin == "directory"
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(ValueError, match="unknown data set 'mine'"):
        load("mine", other)  # the argument wins
    monkeypatch.setenv("MULTIKERNEL_DATA", "")
    assert load("iris").origin == "scikit-learn"


def test_a_directory_that_is_not_there(tmp_path: Path, write, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match=r"data_dir names .*nowhere.*not an existing directory"):
        load("iris", tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="not an existing directory"):
        available(write("file.txt", "no directory"))
    monkeypatch.setenv("MULTIKERNEL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="environment variable MULTIKERNEL_DATA names"):
        load("iris")


def test_an_unknown_name_is_answered_with_what_there_is(tmp_path: Path, write) -> None:
    write("sonar.csv.gz", "a,target", "1,R", "2,M")
    with pytest.raises(ValueError, match="unknown") as caught:
        load("Sonnar", tmp_path)
    message = str(caught.value)
    for part in ("'Sonnar'", "did you mean 'sonar'", str(tmp_path), "breast_cancer", "MULTIKERNEL_DATA", "openml:"):
        assert part in message
    with pytest.raises(ValueError, match=r"'qqqq'\. Looked in no directory"):
        load("qqqq")


def test_a_path_is_not_a_name(tmp_path: Path, write) -> None:
    write("sonar.csv.gz", "a,target", "1,R", "2,M")
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(ValueError, match="unknown data set"):
        load("../sonar", inner)
    with pytest.raises(TypeError, match="name must be a string"):
        load(3)  # type: ignore[arg-type]


def test_the_public_names() -> None:
    assert [field.name for field in dataclasses.fields(Dataset)] == [
        "name",
        "X",
        "y",
        "feature_names",
        "task",
        "description",
        "split",
        "origin",
    ]


@pytest.mark.parametrize(("wrong", "error"), [(3, TypeError), (b"data", TypeError), ("a\0b", ValueError)])
def test_a_directory_that_cannot_be_one_is_refused(wrong, error):
    for look in (lambda: load("wine", data_dir=wrong), lambda: available(wrong)):
        with pytest.raises(error, match=r"^data_dir "):
            look()
