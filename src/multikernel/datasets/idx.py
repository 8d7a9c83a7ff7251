"""The four idx files of MNIST: big-endian sizes, then bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from multikernel.datasets.dataset import Content, Task
from multikernel.datasets.source_file import SourceFile

IDX_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


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
    X /= 255  # in place: a second copy would be 220 MB
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
    X, y = _read(images, 3), _read(labels, 1)
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
