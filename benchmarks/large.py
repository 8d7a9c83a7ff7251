"""Processor seconds, wall-clock seconds and peak memory of fits from Parquet or from arrays, over the number of rows.

    python benchmarks/large.py DATA [--rows 10000,100000,1000000] [--kernels 20] [--rank 256] [--model rls2]
                               [--arrays] [--tol 1e-4] [--memory 4GB] [--folder FOLDER] [--out FILE]

The rows are made by a seed from the distribution of a real set: DATA/protein.csv.gz (45,730 proteins, nine features,
the target the distance of a structure from the true one), drawn with replacement, every feature with normal noise of a
twentieth of its deviation and the target with a tenth of its own. They show time and memory; scores on them are not
those of the real set. The kernels are Gaussians of widths spread over three decades, half of them on all features, the
others on five. Each fit runs in a process of its own; 5000 further rows tell R2. With --arrays all rows are in
memory; the support vector machine, which needs them there, is asked whether the target is above its median, with C = 1,
and its score is the part of right labels. Threads are those that OMP_NUM_THREADS and OPENBLAS_NUM_THREADS allow.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import multikernel as mk
from multikernel import kernels, streams

_GROUP = 100_000  # rows of a group of the file
_TEST = 5000
MODELS: dict[str, Any] = {
    "rls2": lambda k, **how: mk.RLS2Regressor(k, alpha=1e-5, **how),
    "cv": lambda k, **how: mk.MultipleKernelRidgeCV(k, **how),
    "average": lambda k, tol, verbose, **how: mk.AverageMKLRegressor(k, alpha=1e-3, **how),
    "l1": lambda k, **how: mk.L1MKLClassifier(k, C=1.0, **how),
}


def rows_like(real: pd.DataFrame, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows like those of a real set, standardised."""
    values = ((real - real.mean()) / real.std()).to_numpy()
    noise = np.append(np.full(values.shape[1] - 1, 0.05), 0.1)
    made = values[rng.integers(len(values), size=n)] + noise * rng.normal(size=(n, values.shape[1]))
    return pd.DataFrame(made, columns=real.columns)


def written(real: pd.DataFrame, n: int, path: Path) -> Path:
    """A Parquet file of so many rows, made group by group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.exists():
        return path
    rng, writer = np.random.default_rng(0), None
    for start in range(0, n, _GROUP):
        table = pa.Table.from_pandas(rows_like(real, min(_GROUP, n - start), rng), preserve_index=False)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return path


def family(count: int) -> list[Any]:
    """So many Gaussians."""
    half = count - count // 2
    widths = np.geomspace(0.003, 3.0, half)
    every = [kernels.RBF(float(gamma)) for gamma in widths]
    parts = [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8]]
    return every + [kernels.RBF(float(widths[k])).on(parts[k % 2]) for k in range(count // 2)]


def measured(path: Path, test: pd.DataFrame, args: argparse.Namespace) -> dict[str, Any]:
    """One fit."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = MODELS[args.model](family(args.kernels), approximation="nystroem", rank=args.rank, tol=args.tol, verbose=1)
    X, y = test.drop(columns="target"), test["target"].to_numpy()
    given: tuple[Any, ...] = ()
    if args.arrays:
        rows = pd.read_parquet(path)
        given = rows.drop(columns="target").to_numpy(), rows["target"].to_numpy()
    if args.model == "l1":
        middle = np.median(given[1])
        given, y = (given[0], given[1] > middle), y > middle
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(*(given or (streams.parquet(path, target="target", memory=args.memory),)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": wall,
        "processor_seconds": cpu,
        "peak_mb": peak / 1e3,
        "beside_the_process_mb": (peak - before) / 1e3,
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "gap": float(getattr(model, "duality_gap_", getattr(model, "stationarity_", np.nan))),
        "score": float(model.score(X.to_numpy() if given else X, y)),
    }


def main() -> None:
    """Measure every size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", default="10000,100000,1000000")
    parser.add_argument("--kernels", type=int, default=20)
    parser.add_argument("--rank", type=int, default=256)
    parser.add_argument("--model", default="rls2", choices=MODELS)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--out", type=Path)
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--arrays", action="store_true", help="all rows in memory")
    parser.add_argument("--only", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.model == "l1" and not args.arrays:
        parser.error("the support vector machine takes rows in memory: give --arrays")
    sizes = [int(n) for n in args.rows.split(",")]
    real = pd.read_csv(args.data / "protein.csv.gz")
    if args.only:
        test = rows_like(real, _TEST, np.random.default_rng(1))
        print(json.dumps(measured(args.folder / f"rows-{sizes[0]}.parquet", test, args)))
        return
    found = []
    for n in sizes:
        written(real, n, args.folder / f"rows-{n}.parquet")
        words = [sys.argv[0], *sys.argv[1:], "--only", "--rows", str(n)]
        output = subprocess.run([sys.executable, *words], check=True, capture_output=True, text=True).stdout
        found.append({"rows": n, "model": args.model, "kernels": args.kernels, "rank": args.rank})
        found[-1] |= json.loads(output.splitlines()[-1])
        print(json.dumps(found[-1]), flush=True)
        if args.out is not None:
            with args.out.open("a") as file:
                file.write(json.dumps(found[-1]) + "\n")
    if len(found) > 1:
        logs = np.log([[each["rows"], each["processor_seconds"]] for each in found])
        print(f"slope of the processor seconds: {np.polyfit(*logs.T, 1)[0]:.3f}")


if __name__ == "__main__":
    main()
