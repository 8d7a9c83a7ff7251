"""Rows beyond memory and limits of time, without tuning.

    python benchmarks/streamed.py --folder DIR --million           a million rows from a Parquet file, and boosting
    python benchmarks/streamed.py --folder DIR --budgets --data D  scores of 5000 rows after 10, 20, 40 and 80 seconds
    python benchmarks/streamed.py --folder DIR --cluster [--kill 20]  three million rows, by two workers of 1 GB

The million rows are made: 21 columns of numbers and three of categories, with missing cells in seven of them, and a
target of products, thresholds, a category that turns a slope, and noise. Both methods are scored on 50,000 other rows.
scikit-learn's boosting has all rows in memory, one thread, and once its defaults, once 1000 trees at most with early
stopping. The sets for limits of time are those of ``benchmarks/rows.py``.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import multikernel as mk
from multikernel import streams
from rows import friedman, split

WORDS = ("region", "kind", "shop")


def made(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Some rows."""
    X = rng.normal(size=(n, 20))
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(20)])
    region, shop = rng.integers(0, 12, n), rng.integers(0, 40, n)
    kind = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    frame["region"], frame["kind"] = np.char.add("r", region.astype(str)), kind
    frame["shop"] = np.char.add("s", shop.astype(str))
    frame["age"] = rng.integers(18, 90, n)
    value = 2.0 * np.sin(1.5 * X[:, 0]) * X[:, 1] + np.abs(X[:, 2]) * (kind == "a") + X[:, 3] * np.sin(2.1 * region)
    value += 1.5 * np.cos(1.7 * shop) + 1.5 * (X[:, 4] > 0.5) * (X[:, 5] > -0.3) + 0.7 * X[:, 7] ** 2
    value += 0.02 * (frame["age"].to_numpy() - 50) * X[:, 6] - np.tanh(X[:, 8] * X[:, 9]) + 0.5 * X[:, 10]
    frame["y"] = value + rng.normal(size=n)
    for name in ("v0", "v3", "v7", "age", "v12"):
        frame.loc[rng.random(n) < 0.05, name] = np.nan
    for name in ("region", "kind"):
        frame.loc[rng.random(n) < 0.03, name] = None
    return frame


def written(folder: Path, rows: int) -> tuple[Path, pd.DataFrame]:
    """The file, part by part, and the test rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(7)
    path = folder / f"rows{rows}.parquet"
    writer: Any = None
    for start in range(0, rows, 100_000):
        table = pa.Table.from_pandas(made(min(100_000, rows - start), rng), preserve_index=False)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=50_000)
    writer.close()
    return path, made(50_000, rng)


def told(name: str, fit: Callable[[], Any], test: pd.DataFrame, y: Any) -> None:
    """Print what a fit takes, and its score."""
    start, wall = time.process_time(), time.perf_counter()
    model = fit()
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{name}: {seconds:.0f} processor s, {wall:.0f} s, {peak:.2f} GB, {model.score(test, y):.4f}", flush=True)


def million(folder: Path, rows: int) -> None:
    """The automatic estimator from the file, then boosting with all rows in memory."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    path, test = written(folder, rows)
    y = test.pop("y")
    source = streams.parquet(path, "y")
    told("multikernel", partial(mk.MultiKernelRegressor(random_state=0).fit, source), test, y)
    train = pd.read_parquet(path)
    for frame in (train, test):
        frame[list(WORDS)] = frame[list(WORDS)].astype("category")
    target = train.pop("y")
    for trees in (100, 1000):
        model = HistGradientBoostingRegressor(random_state=0, max_iter=trees, categorical_features="from_dtype")
        with threadpool_limits(limits=1, user_api="openmp"):
            told(f"boosting, {trees} trees", partial(model.fit, train, target), test, y)


def budgets(data: Path) -> None:
    """Scores at growing limits of time."""
    for name in ("protein", "friedman", "adult", "letter", "kin8nm"):
        X, y, X_test, y_test, classes = split(name, 5000, data)
        for seconds in (10.0, 20.0, 40.0, 80.0):
            model = (mk.MultiKernelClassifier if classes else mk.MultiKernelRegressor)(
                random_state=0, time_budget=seconds
            )
            told(f"{name}, {seconds:.0f} s", partial(model.fit, X, y), X_test, y_test)


def cluster(folder: Path, rows: int, kill: float | None) -> None:
    """RLS2 from files of 100,000 rows, by workers whose memory is watched."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    X, y = friedman(rows + 20_000)
    table = pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])]).assign(y=y)
    for start in range(0, rows, 100_000):
        table.iloc[start : start + 100_000].to_parquet(folder / f"cluster{start:09d}.parquet")
    test = table.iloc[rows:].copy()
    del X, y, table
    model = mk.RLS2Regressor(mk.kernels.rbf_grid([0.05, 0.2, 0.8]), alpha=1e-4, approximation="nystroem", rank=256)
    limits = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1GB", "dashboard_address": None}
    with LocalCluster(**limits) as local, Client(local):
        ended = threading.Event()
        peaks: dict[int, float] = {}
        watch = threading.Thread(target=_watch, args=(local, kill, ended, peaks))
        watch.start()
        start_time = time.perf_counter()
        model.fit(streams.dask(dd.read_parquet(sorted(folder.glob("cluster*.parquet"))), "y"))
        wall = time.perf_counter() - start_time
        ended.set()
        watch.join()
    score = model.score(test.drop(columns="y"), test["y"])
    print(f"{rows:,} rows: {wall:.0f} s, workers {sorted(peaks.values())} GB, {score:.4f}", flush=True)


def _watch(local: Any, kill: float | None, ended: threading.Event, peaks: dict[int, float]) -> None:
    """The largest memory of each worker; one is killed when its time has come."""
    start = time.monotonic()
    while not ended.wait(0.5):
        for worker in list(local.workers.values()):
            status = Path(f"/proc/{worker.pid}/status")
            if status.exists():
                lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
                peaks[worker.pid] = int(lines.get("VmHWM", "0 kB").split()[0]) / 1e6
        if kill is not None and time.monotonic() - start > kill:
            os.kill(next(iter(local.workers.values())).pid, signal.SIGKILL)
            kill = None


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--kill", type=float, help="seconds after which a worker of the cluster is killed")
    parser.add_argument("--rows", type=int, help="by default a million, of the cluster three")
    parser.add_argument("--budgets", action="store_true")
    args = parser.parse_args()
    if args.million:
        million(args.folder, args.rows or 1_000_000)
    if args.cluster:
        cluster(args.folder, args.rows or 3_000_000, args.kill)
    if args.budgets:
        budgets(args.data)


if __name__ == "__main__":
    main()
