"""The formats of data files, each with its reader, which returns a ``Content``.

NAME.csv.gz      names in row 1, the last is ``target``; columns whose name begins with an underscore are not features
NAME.jsonl.gz    one JSON object per line with ``text``, ``target`` and, if the set is split, ``split``
NAME.npz         a CSR matrix as ``data``, ``indices``, ``indptr`` and ``shape``; ``target``, and ``is_test`` if split
four idx files   of MNIST: big-endian sizes, then bytes
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multikernel.datasets.column import Column, decide
from multikernel.datasets.dataset import Content, Task
from multikernel.datasets.feature import Feature, encode
from multikernel.datasets.rows import Row, check_header, read_rows
from multikernel.datasets.source_file import SourceFile

IDX_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)

_CSR = ("data", "indices", "indptr", "shape")


def read_idx(files: Sequence[SourceFile], task: Task | None) -> Content:
    """Images as rows of pixels in [0, 1] (float32), those of the training part first; ValueError for damaged files."""
    train_images, train_labels, test_images, test_labels = (_ending_in(files, name) for name in IDX_FILES)
    if task == "regression":
        raise ValueError(f"{train_labels}: labels are classes, and the task is regression")
    train, train_y = _part(train_images, train_labels)
    test, test_y = _part(test_images, test_labels)
    if train.shape[1:] != test.shape[1:]:
        raise ValueError(f"{test_images}: images of {test.shape[1:]}, those of {train_images} have {train.shape[1:]}")
    height, width = train.shape[1:]
    X = np.concatenate((train, test)).reshape(-1, height * width).astype(np.float32)
    X /= 255  # in place, as a second copy would take 220 MB
    y = np.concatenate((train_y, test_y)).astype(np.int64)
    names = tuple(f"pixel_{i}_{j}" for i in range(height) for j in range(width))
    split = np.repeat(np.array(["train", "test"]), [len(train), len(test)])
    return Content(X, y, "classification", names, split, *X.shape)


def _ending_in(files: Sequence[SourceFile], name: str) -> SourceFile:
    for file in files:
        if file.path.name.endswith(name):
            return file
    raise ValueError(f"the idx files need one that ends in {name}, got {', '.join(map(str, files))}")


def _part(images: SourceFile, labels: SourceFile) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    X = _read(images, 3)
    y = _read(labels, 1)
    if len(X) != len(y):
        raise ValueError(f"{labels}: {len(y)} labels for the {len(X)} images of {images}")
    return X, y


def _read(file: SourceFile, n_axes: int) -> NDArray[np.uint8]:
    content = file.unpack()
    start = 4 * (n_axes + 1)
    magic = bytes((0, 0, 8, n_axes))  # 8: unsigned bytes
    if len(content) < start or content[:4] != magic:
        raise ValueError(f"{file}: not an idx file of bytes with {n_axes} axes (it starts with {content[:4]!r})")
    shape = [int(size) for size in np.frombuffer(content[4:start], dtype=">u4")]
    expected = int(np.prod(shape))
    if len(content) - start != expected:
        raise ValueError(f"{file}: {len(content) - start} bytes after the header, its sizes {shape} need {expected}")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def read_npz(file: SourceFile, task: Task | None) -> Content:
    """A sparse matrix with its target; ValueError where the arrays are not what they should be."""
    from scipy.sparse import csr_array  # imported here, as listing data sets does not need it

    arrays = _arrays(file)
    for name in (*_CSR, "target"):
        if name not in arrays:
            raise ValueError(f"{file}: no array {name!r} among {', '.join(arrays) or 'none'}")
    if arrays["data"].dtype.kind not in "fiub" or not np.isfinite(arrays["data"]).all():
        raise ValueError(f"{file}: array 'data' must hold finite numbers")
    try:
        n, d = (int(size) for size in arrays["shape"])
        X = csr_array((arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"]), shape=(n, d))
        X.check_format()
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file}: the arrays {', '.join(_CSR)} are no CSR matrix ({error})") from None
    target = _vector(file, arrays, "target", n)
    # The arrays have no rows of text: count from 1 so that an error names the row of the matrix.
    column = Column(str(file), "target", [str(value) for value in target.tolist()], range(1, n + 1))
    if "" in column.cells:
        raise column.error(column.cells.index(""), "is empty")
    y, task = decide(column, task)
    split = None
    if "is_test" in arrays:
        is_test = _vector(file, arrays, "is_test", n)
        if is_test.dtype.kind not in "biuf" or not np.isin(is_test, [0, 1]).all():
            raise ValueError(f"{file}: array 'is_test' must hold truth values, got dtype {is_test.dtype}")
        split = np.where(is_test.astype(bool), "test", "train")
    return Content(X, y, task, tuple(f"f{j}" for j in range(1, d + 1)), split, n, d)


def _arrays(file: SourceFile) -> dict[str, NDArray[Any]]:
    content = file.read()
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(f"{file}: not a whole npz file ({error})") from None
    except ValueError as error:
        raise ValueError(f"{file}: not an npz file of plain arrays ({error})") from None


def _vector(file: SourceFile, arrays: dict[str, NDArray[Any]], name: str, n: int) -> NDArray[Any]:
    if arrays[name].shape != (n,):
        raise ValueError(f"{file}: array {name!r} has shape {arrays[name].shape}, the matrix has {n} rows")
    return arrays[name]


def read_csv(file: SourceFile, task: Task | None) -> Content:
    """The rows of a CSV file without an empty cell in features and target; ValueError names a cell that is wrong."""
    rows = read_rows(file.text(), file)
    if not rows:
        raise ValueError(f"{file}: the file is empty, a header was expected in row 1")
    header = rows[0][1]
    records = rows[1:]
    _check_header(file, header)
    column_indices = [j for j, name in enumerate(header) if not name.startswith("_")]
    complete_records = [record for record in records if all(record[1][j] for j in column_indices)]
    if not complete_records:
        raise ValueError(f"{file}: no row without an empty cell among {len(records)} rows after the header")
    *features, target = (_column(file, header, complete_records, j) for j in column_indices)
    X, names = encode([Feature.learn(column) for column in features], features)
    y, task = decide(target, task)
    split = None
    if "_split" in header:
        split = np.array(_column(file, header, complete_records, header.index("_split")).cells, dtype=np.str_)
    remark = _remark(header, column_indices, records, len(complete_records))
    return Content(X, y, task, names, split, len(records), len(features), remark)


def _check_header(file: SourceFile, header: list[str]) -> None:
    if header[-1] != "target":
        raise ValueError(f"{file}: row 1, column {len(header)}: the last column must be 'target', not {header[-1]!r}")
    check_header(file, header)
    if all(name.startswith("_") for name in header[:-1]):
        raise ValueError(f"{file}: row 1 names no feature, only 'target' and columns that start with '_'")


def _column(file: SourceFile, header: list[str], records: list[Row], j: int) -> Column:
    return Column(str(file), header[j], [cells[j] for _, cells in records], [row for row, _ in records])


def _remark(header: list[str], column_indices: list[int], records: list[Row], n_kept: int) -> str:
    if n_kept == len(records):
        return ""
    gaps = [header[j] for j in column_indices if any(not cells[j] for _, cells in records)]
    dropped = len(records) - n_kept
    return f"{dropped} of {len(records)} rows dropped for an empty cell (in {', '.join(gaps)})."


def read_jsonl(file: SourceFile, task: Task | None) -> Content:
    """Documents as strings, of which the user makes features; ValueError names the row and field that is wrong."""
    # splitlines would also cut at the line separators of Unicode, which may occur inside a JSON string.
    lines = enumerate(file.text().split("\n"), start=1)
    records = [(row, _record(file, row, line)) for row, line in lines if line.strip()]
    if not records:
        raise ValueError(f"{file}: the file holds no document")
    rows = [row for row, _ in records]
    X = np.empty(len(records), dtype=object)
    X[:] = [_field(file, row, record, "text", (str,)) for row, record in records]
    targets = [str(_field(file, row, record, "target", (str, int, float))) for row, record in records]
    y, task = decide(Column(str(file), "target", targets, rows), task)
    split = None
    if any("split" in record for _, record in records):
        split = np.array([_field(file, row, record, "split", (str,)) for row, record in records], dtype=np.str_)
    return Content(X, y, task, (), split, len(X), None)


def _record(file: SourceFile, row: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{file}: row {row}, column {error.colno}: not JSON ({error.msg})") from None
    if not isinstance(record, dict):
        raise ValueError(f"{file}: row {row} is a JSON {type(record).__name__}, an object was expected")
    return record


def _field(file: SourceFile, row: int, record: dict[str, Any], name: str, types: tuple[type, ...]) -> Any:
    if name not in record:
        raise ValueError(f"{file}: row {row}: the object has no field {name!r}")
    value = record[name]
    if not isinstance(value, types) or isinstance(value, bool):
        type_name = "a string" if types == (str,) else "a string or a number"
        raise ValueError(f"{file}: row {row}, field {name!r}: {value!r} is not {type_name}")
    if name == "target" and value == "":
        raise ValueError(f"{file}: row {row}, field 'target' is empty")
    return value
