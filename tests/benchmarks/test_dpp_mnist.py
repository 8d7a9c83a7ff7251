"""The MNIST study on small made-up digits: it is stopped between two pairs and goes on where it was."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Array = Any
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAIRS = 45


def write_idx(path: Path, values: Array) -> None:
    sizes = np.array(values.shape, dtype=">u4").tobytes()
    path.write_bytes(gzip.compress(bytes((0, 0, 8, values.ndim)) + sizes + values.tobytes()))


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten patterns, slanted at random and with noise, as the four files of MNIST."""
    folder, rng = tmp_path_factory.mktemp("digits"), np.random.default_rng(0)
    patterns = 255 * (rng.random((10, 28, 28)) < 0.2) * (np.indices((28, 28)) % 28 > 6).all(axis=0)
    for part, n in (("train", 300), ("t10k", 80)):
        labels = np.arange(n) % 10
        images = np.clip(patterns[labels] + rng.normal(scale=90.0, size=(n, 28, 28)), 0, 255)
        write_idx(folder / f"mnist-{part}-images-idx3-ubyte.gz", images.astype(np.uint8))
        write_idx(folder / f"mnist-{part}-labels-idx1-ubyte.gz", labels.astype(np.uint8))
    return folder


STOPPED = """
import os, sys
sys.path.insert(0, {folder!r})
import dpp_mnist

saved, save = [], dpp_mnist.multikernel.save

def save_some(*arguments):
    if len(saved) == 7:
        os._exit(9)
    saved.append(save(*arguments))

dpp_mnist.multikernel.save = save_some
dpp_mnist.main()
"""


def python(*arguments: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )


def lines(script: str, *arguments: Any) -> list[str]:
    """What a whole run tells on its way."""
    done = python(BENCHMARKS / script, *arguments)
    assert done.returncode == 0, done.stderr
    assert "peak memory" in done.stdout
    return done.stderr.splitlines()


def test_stopped_run_goes_on_where_it_was(digits: Path, tmp_path: Path) -> None:
    options = ("--data-dir", digits, "--images", "deskewed")
    stopped = tmp_path / "stopped"
    assert python("-c", STOPPED.format(folder=str(BENCHMARKS)), *options, "--out", stopped).returncode == 9
    assert len(list(stopped.iterdir())) == 7

    told = lines("dpp_mnist.py", *options, "--out", stopped)
    assert len(told) == PAIRS
    assert ["kept" in line for line in told] == [True] * 7 + [False] * (PAIRS - 7)
    lines("dpp_mnist.py", *options, "--out", tmp_path / "at once")
    results = [json.loads((tmp_path / run / "dpp_mnist.jsonl").read_text()) for run in ("stopped", "at once")]
    for name in ("wrong", "support", "weights", "gap"):
        assert results[0][name] == results[1][name]
    assert results[0]["wrong"] <= 4


def test_models_of_other_options_are_not_taken(digits: Path, tmp_path: Path) -> None:
    options = ("--data-dir", digits, "--images", "raw", "--out", tmp_path)
    lines("dpp_mnist.py", *options, "--train", 200)
    assert all("fitted" in line for line in lines("dpp_mnist.py", *options, "--train", 300))


def test_parity_keeps_every_result(digits: Path, tmp_path: Path) -> None:
    file = tmp_path / "parity.jsonl"
    options = ("--data-dir", digits, "--train", 100, "--held-out", 100, "--out", file)
    assert len(lines("dpp_mnist_parity.py", *options, "--degrees", 2)) == 3
    assert len(lines("dpp_mnist_parity.py", *options, "--degrees", 2, 6, "--plot", tmp_path / "figure.png")) == 3
    results = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["method"], line["D"]) for line in results] == [
        (method, D) for D in (2, 6) for method in ("K_MKL", "K_D", "K_sum")
    ]
    assert results[0]["error"] < 50.0
    assert (tmp_path / "figure.png").stat().st_size > 0
