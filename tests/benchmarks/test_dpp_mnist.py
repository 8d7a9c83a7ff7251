"""The MNIST study on small made-up digits: it is stopped between two pairs and goes on where it was."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import multikernel

Array = Any
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


Run = Callable[..., list[str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a whole study as from the command line; what it tells on its way, line by line."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    monkeypatch.setenv("MPLBACKEND", "agg")

    def runner(study: str, *words: Any) -> list[str]:
        monkeypatch.setattr(sys, "argv", [study, *map(str, words)])
        import_module(study).main()
        told = capsys.readouterr()
        assert "peak memory" in told.out
        return told.err.splitlines()

    return runner


class Stopped(Exception):
    """The study is stopped in the middle."""


def save_only(count: int) -> Callable[..., None]:
    """``multikernel.save``, which is stopped before it has saved more than ``count`` models."""
    saved: list[None] = []

    def save(*arguments: Any) -> None:
        if len(saved) == count:
            raise Stopped
        saved.append(multikernel.persistence.save(*arguments))

    return save


def test_stopped_run_goes_on_where_it_was(
    digits: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--data-dir", digits, "--images", "deskewed")
    stopped = tmp_path / "stopped"
    with monkeypatch.context() as patch:
        patch.setattr(multikernel, "save", save_only(7))
        with pytest.raises(Stopped):
            run("dpp_mnist", *options, "--out", stopped)
    assert len(list(stopped.iterdir())) == 7

    told = run("dpp_mnist", *options, "--out", stopped)[-PAIRS:]
    assert ["kept" in line for line in told] == [True] * 7 + [False] * (PAIRS - 7)
    run("dpp_mnist", *options, "--out", tmp_path / "at once")
    results = [json.loads((tmp_path / out / "dpp_mnist.jsonl").read_text()) for out in ("stopped", "at once")]
    for name in ("wrong", "support", "weights", "gap"):
        assert results[0][name] == results[1][name]
    assert results[0]["wrong"] <= 4


def test_models_of_other_options_are_not_taken(digits: Path, tmp_path: Path, run: Run) -> None:
    options = ("--data-dir", digits, "--images", "raw", "--out", tmp_path)
    run("dpp_mnist", *options, "--train", 200)
    assert all("fitted" in line for line in run("dpp_mnist", *options, "--train", 300))


def test_parity_keeps_every_result(digits: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "parity.jsonl"
    options = ("--data-dir", digits, "--train", 100, "--held-out", 100, "--out", file)
    assert len(run("dpp_mnist_parity", *options, "--degrees", 2)) == 3
    assert len(run("dpp_mnist_parity", *options, "--degrees", 2, 6, "--plot", tmp_path / "figure.png")) == 3
    results = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["method"], line["D"]) for line in results] == [
        (method, D) for D in (2, 6) for method in ("K_MKL", "K_D", "K_sum")
    ]
    assert results[0]["error"] < 50.0
    assert (tmp_path / "figure.png").stat().st_size > 0
