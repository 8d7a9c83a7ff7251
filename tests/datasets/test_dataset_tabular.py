"""CSV files: what becomes of the columns, and what is said of a broken file."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from multikernel.datasets import Column, Entry, available, decide, load


def test_categories_gaps_split_and_other_columns(tmp_path: Path, write) -> None:
    write(
        "crabs.csv.gz",
        "_id,sex,length,_split,colour,target",
        "1,M,0.5,train,red,b",
        "2,F,,train,blue,b",
        "3,I,1.5,test,blue,o",
        "4,M, 2e1 ,test,green,o",
        "5,F,3,test,,o",
    )
    data = load("crabs", tmp_path)
    assert data.feature_names == ("sex=I", "sex=M", "length", "colour=blue", "colour=green", "colour=red")
    expected = [[0, 1, 0.5, 0, 0, 1], [1, 0, 1.5, 1, 0, 0], [0, 1, 20, 0, 1, 0]]
    np.testing.assert_array_equal(data.X, expected)
    assert data.X.dtype == np.float64
    assert data.y.tolist() == ["b", "o", "o"]
    assert data.split is not None
    assert data.split.tolist() == ["train", "test", "test"]
    assert data.task == "classification"
    assert "2 of 5 rows dropped for an empty cell (in length, colour)" in data.description
    assert available(tmp_path)[0] == Entry("crabs", "classification", 5, 3, "directory")


@pytest.mark.parametrize(
    ("targets", "task", "kind"),
    [
        (["0", "1", "0", "1"], "classification", "i"),
        (["-1", "+1", "-1", "1"], "classification", "i"),
        (["a", "b", "a", "b"], "classification", "U"),
        (["1", "2", "3", "4"], "regression", "f"),
        (["0.0", "1.0", "0.0", "1.0"], "regression", "f"),
        ([str(i) for i in range(21)] * 2, "regression", "f"),
        ([str(i) for i in range(20)] * 2, "classification", "i"),
    ],
)
def test_the_task_follows_from_the_target(tmp_path: Path, write, targets: list[str], task: str, kind: str) -> None:
    write("t.csv.gz", "a,target", *(f"{i},{target}" for i, target in enumerate(targets)))
    data = load("t", tmp_path)
    assert (data.task, data.y.dtype.kind) == (task, kind)
    assert data.split is None
    assert data.y.astype(str).tolist() == targets or data.y.tolist() == [float(target) for target in targets]


def test_integers_beyond_the_digits_of_a_number_are_codes() -> None:
    cells = ["1e20", "2e20", "1234567890123456", "1234567890123457"]
    labels, task = decide(Column("f", "target", cells, range(4)), "classification")
    assert (labels.tolist(), task) == (cells, "classification")


def test_quotes_blank_lines_and_a_byte_order_mark(tmp_path: Path) -> None:
    content = '\ufeff"a, b",target\r\n"1",x\r\n\r\n2,"y ""z"""\r\n'
    (tmp_path / "q.csv.gz").write_bytes(gzip.compress(content.encode()))
    data = load("q", tmp_path)
    assert data.feature_names == ("a, b",)
    assert data.y.tolist() == ["x", 'y "z"']


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a,label", "1,2"], "row 1, column 2: the last column must be 'target', not 'label'"),
        (["target,a", "1,2"], "row 1, column 2: the last column must be 'target', not 'a'"),
        (["a,a,target", "1,2,3"], "row 1, column 2: the name 'a' occurs twice; give each column a name of its own"),
        (["a,,target", "1,2,3"], "row 1, column 2: the column has no name; write one, or delete the column"),
        (["_id,target", "1,2"], "row 1 names no feature"),
        ([], "the file is empty, a header was expected in row 1"),
        (["a,target"], "no row without an empty cell among 0 rows"),
        (["a,target", ",1", "2,"], "no row without an empty cell among 2 rows"),
        (["a,target", "1,0", "", "2"], "row 4 has 1 cells, the header has 2"),
        (["a,target", '"1,0'], "is not CSV"),
        (["a,target", "1,0", "2,0", "?,1"], "row 4, column 'a': '?' is not a number while most of the column is"),
        (["a,target", "1,0", "2,0", "1_0,1"], "row 4, column 'a': '1_0' is not a number"),
        (["a,target", "1,0", "nan,0", "3,1"], "row 3, column 'a': 'nan' is not a finite number"),
        (["a,target", "1,0", "2,0", "3,-inf"], "row 4, column 'target': '-inf' is not a finite number"),
    ],
)
def test_a_broken_file_is_named_with_the_place(tmp_path: Path, write, lines: list[str], message: str) -> None:
    path = write("broken.csv.gz", *lines)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load("broken", tmp_path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_gap_before_the_error_does_not_shift_the_row(tmp_path: Path, write) -> None:
    write("t.csv.gz", "a,target", ",0", "1,0", "2,0", "x,1")
    with pytest.raises(ValueError, match="row 5, column 'a': 'x'"):
        load("t", tmp_path)


@pytest.mark.parametrize("spoil", [lambda b: b[:-9], lambda b: b"no gzip", lambda b: b[:20] + b"\xff" * 9 + b[29:]])
def test_a_corrupt_archive_is_named(tmp_path: Path, write, spoil) -> None:
    path = write("c.csv.gz", "a,target", *(f"{i},{i % 2}" for i in range(50)))
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ValueError, match=re.escape(f"{path}: not a whole gzip file")):
        load("c", tmp_path)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "l.csv.gz"
    path.write_bytes(gzip.compress("a,target\n1,x\n2,é\n".encode("latin-1")))
    with pytest.raises(ValueError, match=re.escape(f"{path}: row 3 is not UTF-8")):
        load("l", tmp_path)
