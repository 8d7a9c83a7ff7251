"""The package's Cholesky factorisation beside LAPACK's own, at sizes that both survive.

    python benchmarks/cholesky.py [--samples 2000 4000 8000 12000] [--rounds 5]

Both factorise the same matrix, in its place and in alternating order, in one process; medians of the seconds, and the
largest difference of the two factors relative to the largest entry.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from scipy.linalg import lapack

from multikernel.numerics.cholesky import factorise


def compare(n: int, rounds: int) -> tuple[float, float, float]:
    """Median seconds of LAPACK's factorisation and of the package's, and how far apart their factors are."""
    F = np.random.default_rng(0).normal(size=(n, 20))
    K = F @ F.T
    K.flat[:: n + 1] += 1.0
    A, own, seconds = np.empty((n, n), order="F"), np.empty((n, n), order="F"), ([], [])
    for _ in range(rounds + 1):
        A.T[:], own.T[:] = K, K
        began = time.perf_counter()
        lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)
        half = time.perf_counter()
        if not factorise(own):
            raise RuntimeError("the matrix has a factor")
        ended = time.perf_counter()
        seconds[0].append(half - began)
        seconds[1].append(ended - half)
    apart = max(float(np.abs(np.tril(A[part] - own[part], part.start)).max()) for part in _parts(n))
    medians = [statistics.median(times[1:]) for times in seconds]
    return medians[0], medians[1], apart / float(np.sqrt(K.diagonal().max()))


def _parts(n: int) -> list[slice]:
    return [slice(start, start + 500) for start in range(0, n, 500)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[2000, 4000, 8000, 12000])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(f"{'n':>6} {'LAPACK':>8} {'ours':>8} {'ratio':>6} {'apart':>8}")
    for n in given.samples:
        theirs, ours, apart = compare(n, given.rounds)
        print(f"{n:>6} {theirs:>7.2f}s {ours:>7.2f}s {theirs / ours:>6.2f} {apart:>8.0e}", flush=True)


if __name__ == "__main__":
    main()
