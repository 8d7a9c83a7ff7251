"""How near the passes over kernels come to the limits of the machine: its memory, its exponentials, its products.

    python benchmarks/passes.py [--samples 5000] [--kernels 30] [--rounds 5]

A pass over stored matrices has to read them once; its limit is the speed at which two threads read memory, by NumPy's
sum, and beside it stands the speed of a copy, counted in bytes read and written. Gaussians that are made on the fly
have to take an exponential of each entry of a half; the limit is NumPy's exponential of as many values of the same
precision, that stay in the cache, in as many threads. The limits and the passes take turns in one process; medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import multikernel as mk
from multikernel import kernels

THREADS = 2
POOL = ThreadPoolExecutor(THREADS)
_LARGE = 1 << 26  # values that a thread copies and reads: 512 MB
_CACHED = 1 << 14  # values that stay in the cache nearest to a processor


def in_threads(work: Callable[[int], Any]) -> None:
    """The same work in each thread."""
    list(POOL.map(work, range(THREADS)))


def medians(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Seconds, in turns after one untimed turn."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            if turn:
                times[name].append(time.perf_counter() - began)
    return {name: statistics.median(found) for name, found in times.items()}


def limits(values: int) -> dict[str, Callable[[], Any]]:
    """The machine at best: a copy and a sum of 1 GB, and ``values`` exponentials of each precision, in threads."""
    source, target = np.ones((THREADS, _LARGE)), np.empty((THREADS, _LARGE))

    def copy() -> None:
        in_threads(lambda t: np.copyto(target[t], source[t]))

    def read() -> None:
        in_threads(lambda t: source[t].sum())

    def exponentials(dtype: Any) -> Callable[[], None]:
        small = np.linspace(-20.0, 0.0, _CACHED).astype(dtype)
        outs = [np.empty_like(small) for _ in range(THREADS)]
        turns = values // (_CACHED * THREADS)
        return lambda: in_threads(lambda t: [np.exp(small, out=outs[t]) for _ in range(turns)] and None)

    return {
        "copy": copy,
        "read": read,
        "exp, float64": exponentials(np.float64),
        "exp, float32": exponentials(np.float32),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--kernels", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    n, m = given.samples, given.kernels
    pairs, rng = n * (n + 1) // 2, np.random.default_rng(0)
    X, a, w = rng.normal(size=(n, 20)), rng.normal(size=n), rng.random(m)
    # functions of different pairs of features, so that no exponential is a power of another one
    family = [kernels.RBF(0.5).on([k % 20, (k + 1 + k // 20) % 20]) for k in range(m)]
    runs, known = limits(m * pairs), {}
    for dtype in (np.float32, np.float64):
        name, size = np.dtype(dtype).name, np.dtype(dtype).itemsize
        stored = mk.bind(family, X, dtype=dtype, memory=1 << 40)
        made = mk.bind(family, X, dtype=dtype, memory=0)
        runs |= {
            f"sum of stored, {name}": lambda bank=stored: bank.combine(w),
            f"quadratic forms of stored, {name}": lambda bank=stored: bank.quad(a),
            f"products of stored, {name}": lambda bank=stored: bank.apply(a[:, None]),
            f"sum, made, {name}": lambda bank=made: bank.combine(w),
            f"quadratic forms, made, {name}": lambda bank=made: bank.quad(a),
            f"storing, {name}": lambda dtype=dtype: mk.bind(family, X, dtype=dtype, memory=1 << 40),
        }
        read = m * pairs * size
        known[f"sum of stored, {name}"] = (read + 8 * n * n, None)
        known[f"quadratic forms of stored, {name}"] = known[f"products of stored, {name}"] = (read, None)
        for made_now in ("sum, made", "quadratic forms, made", "storing"):
            known[f"{made_now}, {name}"] = (None, f"exp, {name}")
    found = medians(runs, given.rounds)
    copied, reading = (factor * THREADS * 8 * _LARGE / found[name] for factor, name in ((2, "copy"), (1, "read")))
    print(f"n = {n}, {m} kernels, {THREADS} threads; memory copies {copied / 1e9:.1f} GB/s, read and written together;")
    print(f"it is read at {reading / 1e9:.1f} GB/s")
    for name in ("float32", "float64"):
        print(f"an exponential in {name}: {1e9 * found['exp, ' + name] / (m * pairs):.2f} ns")
    for name, (moved, limit) in known.items():
        seconds = found[name]
        line = f"{name:36s} {1e3 * seconds:8.1f} ms"
        if moved is not None:
            speed = moved / seconds
            line += f" {speed / 1e9:6.1f} GB/s, of a copy {speed / copied:.2f}, of the limit {speed / reading:.2f}"
        else:
            line += f" {1e9 * seconds / (m * pairs):6.2f} ns a value, of the limit {found[limit] / seconds:.2f}"
        print(line)


if __name__ == "__main__":
    main()
