"""Texts, sparse matrices and idx files."""

from __future__ import annotations

import gzip
import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import random_array

from multikernel.datasets import Entry, available, load
from multikernel.datasets.formats import IDX_FILES


def test_texts_stay_texts(tmp_path: Path, write) -> None:
    documents = ["a first\u2028text\n", "", "drei"]
    records = [{"text": t, "target": y, "split": "train"} for t, y in zip(documents, "aba", strict=True)]
    write("news.jsonl.gz", *(json.dumps(record, ensure_ascii=False) for record in records), "")
    data = load("news", tmp_path)
    assert data.X.shape == (3,)
    assert data.X.dtype == object
    assert data.X.tolist() == documents
    assert data.y.tolist() == ["a", "b", "a"]
    assert data.feature_names == ()
    assert data.split is not None
    assert data.split.tolist() == ["train"] * 3
    assert repr(data) == "Dataset('news', 3 texts, classification, from directory)"
    assert available(tmp_path)[0] == Entry("news", "classification", 3, None, "directory")


def test_ratings_are_a_quantity_and_integers_are_classes(tmp_path: Path, write) -> None:
    for name, targets in {"stars": [1.0, 5.0, 1.0, 5.0], "sides": [0, 1, 0, 1]}.items():
        write(f"{name}.jsonl.gz", *(json.dumps({"text": "t", "target": y}) for y in targets))
    assert load("stars", tmp_path).task == "regression"
    assert load("sides", tmp_path).y.dtype == np.int64
    assert load("sides", tmp_path).split is None


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"text": "t", "target": "a"}', "{"], "row 2, column 2: not JSON"),
        (["[1]"], "row 1 is a JSON list, an object was expected"),
        (['{"target": "a"}'], "row 1: the object has no field 'text'"),
        (['{"text": 3, "target": "a"}'], "row 1, field 'text': 3 is not a string"),
        (['{"text": "t", "target": true}'], "row 1, field 'target': True is not a string or a number"),
        (['{"text": "t", "target": ""}'], "row 1, field 'target' is empty"),
        (['{"text": "t", "target": NaN}'], "row 1, column 'target': 'nan' is not a finite number"),
        (
            ['{"text": "", "target": "a"}', '{"text": "", "target": "a", "split": "x"}'],
            "row 1: the object has no field",
        ),
        (["", ""], "the file holds no document"),
    ],
)
def test_broken_texts(tmp_path: Path, write, lines: list[str], message: str) -> None:
    path = write("t.jsonl.gz", *lines)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load("t", tmp_path)
    assert str(caught.value).startswith(f"{path}: ")


def _npz(path: Path, **changes: object) -> Path:
    X = random_array((6, 4), density=0.5, format="csr", rng=np.random.default_rng(0))
    arrays = {
        "data": X.data,
        "indices": X.indices,
        "indptr": X.indptr,
        "shape": np.array(X.shape),
        "target": np.array([-1, 1, -1, 1, -1, 1], dtype=np.int8),
        "is_test": np.array([False] * 4 + [True] * 2),
    }
    kept = {name: value for name, value in (arrays | changes).items() if value is not None}
    np.savez(path, **kept)
    return path


def test_a_sparse_matrix(tmp_path: Path) -> None:
    _npz(tmp_path / "s.npz")
    data = load("s", tmp_path)
    expected = random_array((6, 4), density=0.5, format="csr", rng=np.random.default_rng(0))
    assert data.X.format == "csr"
    np.testing.assert_array_equal(data.X.toarray(), expected.toarray())
    assert data.y.tolist() == [-1, 1, -1, 1, -1, 1]
    assert data.task == "classification"
    assert data.feature_names == ("f1", "f2", "f3", "f4")
    assert data.split is not None
    assert data.split.tolist() == ["train"] * 4 + ["test"] * 2
    _npz(tmp_path / "s.npz", is_test=None)
    assert load("s", tmp_path).split is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indices": None}, "no array 'indices' among data, indptr"),
        ({"shape": np.array([6, 2])}, "are no CSR matrix"),
        ({"indptr": np.array([0, 1])}, "are no CSR matrix"),
        ({"shape": np.array([6])}, "are no CSR matrix"),
        ({"target": np.zeros(5)}, "array 'target' has shape (5,), the matrix has 6 rows"),
        ({"data": np.full(12, np.nan)}, "array 'data' must hold finite numbers"),
        ({"data": np.full(12, 1j)}, "array 'data' must hold finite numbers"),
        ({"target": np.array(["a", ""] * 3)}, "row 2, column 'target': '' is empty"),
        ({"is_test": np.array(["train", "test"] * 3)}, "array 'is_test' must hold truth values"),
        ({"is_test": np.full(6, np.nan)}, "array 'is_test' must hold truth values"),
        ({"target": np.array([{}] * 6)}, "not an npz file of plain arrays"),
    ],
)
def test_a_broken_sparse_matrix(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = _npz(tmp_path / "s.npz", **changes)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load("s", tmp_path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("keep", [0, 10, 300])
def test_a_torn_npz_file(tmp_path: Path, keep: int) -> None:
    path = _npz(tmp_path / "s.npz")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=re.escape(f"{path}: not a")):
        load("s", tmp_path)


def _idx(array: np.ndarray) -> bytes:
    return struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture
def digits(tmp_path: Path) -> dict[str, np.ndarray]:
    """Five training and two test images of 2 x 3 pixels, written as the four idx files."""
    rng = np.random.default_rng(1)
    arrays = {
        IDX_FILES[0]: rng.integers(256, size=(5, 2, 3), dtype=np.uint8),
        IDX_FILES[1]: np.array([3, 1, 4, 1, 5], dtype=np.uint8),
        IDX_FILES[2]: rng.integers(256, size=(2, 2, 3), dtype=np.uint8),
        IDX_FILES[3]: np.array([9, 2], dtype=np.uint8),
    }
    for name, array in arrays.items():
        (tmp_path / f"mnist-{name}").write_bytes(gzip.compress(_idx(array)))
    return arrays


def test_idx_files(tmp_path: Path, digits: dict[str, np.ndarray]) -> None:
    data = load("mnist", tmp_path)
    pixels = np.concatenate((digits[IDX_FILES[0]], digits[IDX_FILES[2]])).reshape(7, 6)
    assert data.X.dtype == np.float32
    np.testing.assert_array_equal(data.X, pixels.astype(np.float32) / 255)
    assert data.y.tolist() == [3, 1, 4, 1, 5, 9, 2]
    assert data.feature_names == ("pixel_0_0", "pixel_0_1", "pixel_0_2", "pixel_1_0", "pixel_1_1", "pixel_1_2")
    assert data.split is not None
    assert data.split.tolist() == ["train"] * 5 + ["test"] * 2
    assert available(tmp_path)[0] == Entry("mnist", "classification", 7, 6, "directory")


@pytest.mark.parametrize(
    ("which", "content", "message"),
    [
        (0, _idx(np.zeros((5, 2, 3), np.uint8))[:-1], "29 bytes after the header, its sizes [5, 2, 3] need 30"),
        (1, _idx(np.zeros((5, 1, 1), np.uint8)), "not an idx file of bytes with 1 axes"),
        (2, b"\0\0", "not an idx file of bytes with 3 axes"),
        (2, _idx(np.zeros((2, 3, 3), np.uint8)), "images of (3, 3)"),
        (3, _idx(np.zeros(3, np.uint8)), "3 labels for the 2 images of"),
    ],
)
def test_broken_idx_files(
    tmp_path: Path, digits: dict[str, np.ndarray], which: int, content: bytes, message: str
) -> None:
    path = tmp_path / f"mnist-{IDX_FILES[which]}"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load("mnist", tmp_path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_missing_idx_file_is_named(tmp_path: Path, digits: dict[str, np.ndarray]) -> None:
    (tmp_path / f"mnist-{IDX_FILES[1]}").unlink()
    with pytest.raises(FileNotFoundError, match=IDX_FILES[1]):
        load("mnist", tmp_path)
    assert "mnist" not in {entry.name for entry in available(tmp_path)}
