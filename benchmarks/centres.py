"""Kernels on many rows: scores and seconds against rows, losses, the solver beside exact ridge, the machine's limit.

    python benchmarks/centres.py --data DIR --kept FILE [--parts rows,losses,all,tiles]

Learned scales through centres (``LearnedScales...(approximation="nystroem")``), on the sets of ``benchmarks/rows.py``
and scored on the same 5000 other rows. Parts:

    rows     1,000 to 1,000,000 rows by 1000 centres; from 256,000 on out of a Parquet file, with 1 GB
    losses   logistic losses beside squared ones, 2000 centres
    all      letter, whose rows are all centres
    tiles    GFlop/s of matrix products, of sums over tiles, and of tiles with the kernel; a solution beside exact ridge

A cell runs in a process of its own, on one thread, and is kept in a file of lines: what is there is not computed again.
docs/figures/many_rows.py draws what is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from rows import plain, split

ALL = 20_000
Cell = dict[str, Any]


def cells(parts: list[str]) -> list[Cell]:
    """What is measured."""
    found: list[Cell] = []
    if "rows" in parts:
        for n in (1000, 4000, 16_000, 64_000, 256_000, 1_000_000):
            found += [{"part": "rows", "set": name, "rows": n, "rank": 1000} for name in ("friedman", "clusters")]
    if "losses" in parts:
        for name, n in (("letter", ALL), ("adult", ALL), ("clusters", ALL), ("clusters", 100_000)):
            both = ("squared", "logistic")
            found += [{"part": "losses", "set": name, "rows": n, "rank": 2000, "loss": loss} for loss in both]
    if "all" in parts:
        found.append({"part": "all", "set": "letter", "rows": ALL, "rank": ALL})
    if "tiles" in parts:
        found.append({"part": "tiles"})
    return found


def fitted(cell: Cell, data: Path) -> Cell:
    """Score, processor seconds and memory of a fit."""
    import multikernel as mk

    n = cell["rows"]
    X, y, X_test, y_test, classes = split(cell["set"], n, data)
    if cell["set"] == "adult":
        X, X_test = plain(X)[0], plain(X_test)[0]
    model: Any = mk.LearnedScalesClassifier() if classes else mk.LearnedScalesRegressor()
    model.set_params(approximation="nystroem", rank=min(cell["rank"], len(y)))
    if "loss" in cell:
        model.set_params(loss=cell["loss"])
    if n < 256_000:
        begin = time.process_time()
        model.fit(X, y)
    else:
        import pandas as pd

        names = [f"v{j}" for j in range(X.shape[1])]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "rows.parquet")
            pd.DataFrame(X, columns=names).assign(y=y).to_parquet(file, row_group_size=50_000)
            del X, y
            begin = time.process_time()
            model.fit(mk.streams.parquet(file, "y", memory="1GB"))
        X_test = pd.DataFrame(X_test, columns=names)
    seconds = time.process_time() - begin
    found = cell | {"score": float(model.score(X_test, y_test)), "seconds": round(seconds, 2)}
    if hasattr(model, "predict_proba"):
        place = np.searchsorted(model.classes_, y_test)
        said = model.predict_proba(X_test)[np.arange(len(y_test)), place]
        found["log_loss"] = float(-np.log(np.clip(said, 1e-12, 1.0)).mean())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    return found | {"gap": model.duality_gap_, "peak_mb": peak}


def tiles() -> Cell:
    """What one thread computes in a second, and how far solutions are from those of dense systems."""
    from scipy.linalg import blas

    from multikernel import kernels
    from multikernel.banks.columns import ColumnDistancesBank
    from multikernel.combinations import Profiles
    from multikernel.machines.ridge.all_samples import AllSamplesRidge, by_all_samples
    from multikernel.machines.ridge.centres import Tile, certified, summed
    from multikernel.statistics import Summing

    rng = np.random.default_rng(0)
    X, M, r = rng.random((20_480, 20)), 3000, 2048
    bank = ColumnDistancesBank.of(X)
    combination, theta = Profiles((kernels.Matern(nu=1.5),)), np.append(1.0, np.full(20, 0.3))

    def between(rows: Any, columns: Any) -> Any:
        return np.asarray(combination.gram(bank.block(rows, columns), theta).dense())

    def rate(work: Any, operations: float) -> float:
        work()
        begin, times = time.process_time(), 0
        while time.process_time() - begin < 2.0:
            work()
            times += 1
        return times * operations / (time.process_time() - begin) / 1e9

    A = np.asfortranarray(rng.random((M, M)))
    C = between(np.arange(r), np.arange(M))
    sums, Y = Summing(M, 1), np.ones((r, 1))
    found = {
        "part": "tiles",
        "gemm": rate(lambda: blas.dgemm(1.0, A, A), 2.0 * M**3),
        "sums": rate(lambda: sums.add(C, Y), float(r) * M * M),
        "sums_with_kernel": rate(lambda: sums.add(between(np.arange(r), np.arange(M)), Y), float(r) * M * M),
        "kernel_values": rate(lambda: between(np.arange(r), np.arange(M)), float(r) * M),
    }
    n, alpha = 4000, 1e-2
    y = np.sin(4.0 * X[:n, :1]) + X[:n, 1:2] ** 2 + 0.1 * rng.normal(size=(n, 1))
    K, mean = between(np.arange(n), np.arange(n)), y.mean()
    exact = K @ np.linalg.solve(K + alpha * np.eye(n), y - mean) + mean
    all_rows = by_all_samples(AllSamplesRidge(between, np.arange(n), y), alpha, 1e-12)
    found["from_exact"] = float(np.abs(K @ all_rows.coef + all_rows.intercept - exact).max() / y.std())
    found["from_exact_gap"] = all_rows.certificate.value
    C, K = K[:, :500], K[:500, :500]
    half = np.linalg.cholesky(K)
    F = np.linalg.solve(half, C.T).T
    exact = F @ np.linalg.solve(F.T @ F + alpha * np.eye(500), F.T @ (y - mean)) + mean
    on_centres = certified(K, summed([Tile(C, y)]), alpha, 1e-9)
    found["centres_from_exact"] = float(np.abs(C @ on_centres.coef + on_centres.intercept - exact).max() / y.std())
    return found


def main() -> None:
    """Measure the cells that are missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--kept", type=Path, default=Path(__file__).parent / "centres.jsonl")
    parser.add_argument("--parts", default="rows,losses,all,tiles")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        warnings.simplefilter("ignore")
        cell = json.loads(args.only)
        print(json.dumps(tiles() if cell["part"] == "tiles" else fitted(cell, args.data)))
        return
    kept = [json.loads(line) for line in args.kept.read_text().splitlines()] if args.kept.exists() else []
    env = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    for cell in cells(args.parts.split(",")):
        if any(all(known.get(key) == value for key, value in cell.items()) for known in kept):
            continue
        words = [sys.executable, __file__, "--data", str(args.data), "--only", json.dumps(cell)]
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            print(cell, done.stderr.splitlines()[-1:], file=sys.stderr)
            continue
        kept.append(json.loads(done.stdout.splitlines()[-1]))
        print(kept[-1], flush=True)
        with args.kept.open("a") as file:
            file.write(json.dumps(kept[-1]) + "\n")


if __name__ == "__main__":
    main()
