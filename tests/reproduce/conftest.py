"""A directory of small random data under the names that a quick run of all experiments asks for."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from multikernel.reproduce.catalogue import EXPERIMENTS

Array = Any
NUMBERS = {"servo", "prostate", "kin8nm", "auto_mpg", "cpu", "housing_boston"}
CLASSES = {"srbct": 4, "pendigits": 10, "sentiment_kitchen": 4}
WORDS = ("kernel", "learns", "weights", "of", "features", "margin", "ridge", "path", "sparse", "dense")


def write_idx(path: Path, values: Array) -> None:
    sizes = np.array(values.shape, dtype=">u4").tobytes()
    path.write_bytes(gzip.compress(bytes((0, 0, 8, values.ndim)) + sizes + values.tobytes()))


def write_digits(folder: Path, train: int, test: int) -> None:
    """Ten patterns, with noise, as the four files of MNIST."""
    rng = np.random.default_rng(0)
    patterns = 255 * (rng.random((10, 28, 28)) < 0.2) * (np.indices((28, 28)) % 28 > 6).all(axis=0)
    for part, n in (("train", train), ("t10k", test)):
        labels = np.arange(n) % 10
        images = np.clip(patterns[labels] + rng.normal(scale=90.0, size=(n, 28, 28)), 0, 255)
        write_idx(folder / f"mnist-{part}-images-idx3-ubyte.gz", images.astype(np.uint8))
        write_idx(folder / f"mnist-{part}-labels-idx1-ubyte.gz", labels.astype(np.uint8))


def write_table(folder: Path, name: str, rows: int, features: int) -> None:
    """Random features, and a target that depends on two of them: a number, or one of some classes."""
    rng = np.random.default_rng(len(name))
    X = rng.random((rows, features))
    score = X[:, 0] - X[:, 1] + 0.2 * rng.normal(size=rows)
    ranks = score.argsort().argsort() * CLASSES.get(name, 2) // rows
    target = score.round(4) if name in NUMBERS else ranks
    header = [f"x{j}" for j in range(features)] + ["_split", "target"]
    cells = (
        [*map("{:.4f}".format, x), "train" if i % 3 else "test", str(t)]
        for i, (x, t) in enumerate(zip(X, target, strict=True))
    )
    text = "\n".join(",".join(line) for line in (header, *cells)) + "\n"
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))


def write_texts(folder: Path, name: str, rows: int) -> None:
    rng = np.random.default_rng(len(name))
    lines = []
    for i in range(rows):
        label = i % CLASSES.get(name, 2)
        chosen = rng.choice(len(WORDS), size=12, p=np.roll(np.linspace(2, 1, len(WORDS)), 3 * label) / 15)
        lines.append(json.dumps({"text": " ".join(WORDS[k] for k in chosen), "target": label}))
    (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


@pytest.fixture(scope="session")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    names = {cell.get("data", "") for each in EXPERIMENTS for cell in each.cells(True)} - {"", "mnist"}
    for name in sorted(names):
        if name.startswith(("sentiment", "ohsumed", "news")):
            write_texts(folder, name, 200 if name.startswith("sentiment") else 120)
        else:
            write_table(folder, name, 1200 if name == "kin8nm" else 60, 8 if name == "prostate" else 4)
    write_digits(folder, 400, 60)
    return folder
