"""The manifest decides the task, describes, and is held against the files."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from multikernel.datasets import Entry, available, load


def test_task_description_and_size_come_from_the_manifest(tmp_path: Path, write, manifest) -> None:
    path = write("ages.csv.gz", "sex,target", "M,1", "F,2", "M,1", "F,2", "M,1", ",2")
    digest = hashlib.sha256(path.read_bytes()).hexdigest().upper()
    manifest([f'age,ages.csv.gz,regression,6,1,"years, rounded",a survey,{digest},Made for a test.'])
    data = load("age", tmp_path)
    assert data.task == "regression"
    assert data.y.dtype.kind == "f"
    assert data.description == (
        "Source: a survey. Target: years, rounded. Made for a test. 1 of 6 rows dropped for an empty cell (in sex)."
    )
    assert available(tmp_path)[0] == Entry("age", "regression", 6, 1, "directory")
    assert "ages" not in {entry.name for entry in available(tmp_path)}  # the file is known under the other name


def test_a_file_that_the_manifest_does_not_mention(tmp_path: Path, write, manifest) -> None:
    write("b.csv.gz", "x,target", "1,0", "2,1", "3,0", "4,1")
    write("a.csv.gz", "x,target", "1,0", "2,1")
    manifest(["b,b.csv.gz,classification,4,1,,,,"])
    assert [entry.name for entry in available(tmp_path)][:2] == ["b", "a"]
    assert load("b", tmp_path).y.tolist() == [0, 1, 0, 1]
    assert "no manifest entry" in load("a", tmp_path).description


def test_another_sum(tmp_path: Path, write, manifest) -> None:
    path = write("b.csv.gz", "x,target", "1,0", "2,1")
    manifest([f"b,b.csv.gz,classification,2,1,,,{'0' * 64},"])
    with pytest.raises(ValueError, match=re.escape(f"{path}: the sha256 of the file is ")):
        load("b", tmp_path)


@pytest.mark.parametrize(
    ("size", "message"), [("3,1", "2 rows, the manifest says 3"), ("2,4", "1 feature columns, the manifest says 4")]
)
def test_another_size(tmp_path: Path, write, manifest, size: str, message: str) -> None:
    write("b.csv.gz", "x,target", "1,0", "2,1")
    manifest([f"b,b.csv.gz,classification,{size},,,,"])
    with pytest.raises(ValueError, match=message):
        load("b", tmp_path)


@pytest.mark.parametrize(
    ("task", "targets", "message"),
    [
        ("classification", ["1", "2.5"], "row 3, column 'target': '2.5' is neither a word nor an integer"),
        ("regression", ["b", "c"], "row 2, column 'target': 'b' is not a number, and the task is regression"),
    ],
)
def test_a_target_that_does_not_fit_the_task(
    tmp_path: Path, write, manifest, task: str, targets: list[str], message: str
) -> None:
    write("b.csv.gz", "x,target", *(f"1,{target}" for target in targets))
    manifest([f"b,b.csv.gz,{task},2,1,,,,"])
    with pytest.raises(ValueError, match=re.escape(message)):
        load("b", tmp_path)


def test_a_listed_file_that_is_missing_is_not_replaced(tmp_path: Path, manifest) -> None:
    manifest(["iris,iris.csv.gz,classification,4,1,,,,"])
    with pytest.raises(FileNotFoundError, match=r"no file .*iris\.csv\.gz"):
        load("iris", tmp_path)
    assert "iris" not in {entry.name for entry in available(tmp_path)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b,b.csv.gz,ranking,2,1,,,,", "row 2, column 'task': 'ranking' is neither classification nor regression"),
        ("b,b.csv.gz,regression,two,1,,,,", "row 2, column 'n': 'two'"),
        ("b,b.csv.gz,regression,2,-1,,,,", "row 2, column 'd': '-1'"),
        ("b,b.csv.gz,regression,2", "row 2 has 4 cells, the header has 9"),
        ("b,../b.csv.gz,regression,2,1,,,,", "row 2, column 'file': '../b.csv.gz' is not the name of a file beside"),
        ("b,b.csv.gz,regression,2,1,,,a;b,", "row 2, column 'sha256': 2 sums for 1 files"),
        ('b,"b.csv.gz', "is not CSV"),
    ],
)
def test_a_broken_manifest(tmp_path: Path, manifest, line: str, message: str) -> None:
    path = manifest([line])
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        available(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_manifest_without_its_columns_or_with_a_name_twice(tmp_path: Path, write, manifest) -> None:
    write("manifest.csv", "name,file,n,d")
    with pytest.raises(ValueError, match="row 1 has no column 'task'"):
        load("iris", tmp_path)
    manifest(["b,b.csv.gz,regression,2,1,,,,"] * 2)
    with pytest.raises(ValueError, match="row 3, column 'name': 'b' occurs twice"):
        load("iris", tmp_path)


def test_a_file_of_no_known_kind(tmp_path: Path, manifest) -> None:
    manifest(["b,b.parquet,regression,2,1,,,,"])
    with pytest.raises(ValueError, match=r"data set 'b': no reader for b\.parquet"):
        load("b", tmp_path)
