"""Time of a path of two-layer least squares, beside a plain transcription and the paper's Table 4 (Dinuzzo).

    python benchmarks/rls2_path.py --data-dir DIR [--rounds 5] [Housing Sonar ...]

60 % of the samples, 30 values of lambda from 1e6 down to 1e-6, 13 (p + 1) kernels; everything is counted, making the
kernels included. Here each step ends with a duality gap of at most 1e-4; the transcription is Algorithm 1 as printed,
in a dozen lines of NumPy and SciPy, with the printed stopping rule. Both are measured in turns, in one run, and told
as medians. "solving" is the part of the time without making the kernels and scoring the training samples.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

import multikernel as mk
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.published import published
from multikernel.reproduce.rls2.benchmark import ALPHAS, SETS, features

Array = Any


def dense_kernels(X: Array) -> Array:
    """13 kernels on every single feature and on all, shape (m, n, n), of trace 1."""
    stack = []
    for F in [*(X[:, [j]] for j in range(X.shape[1])), X]:
        G = F @ F.T
        D = G.diagonal()[:, None] + G.diagonal() - 2.0 * G
        stack += [(1.0 + G) ** degree for degree in (1, 2, 3)]
        stack += [np.exp(-gamma * D) for gamma in np.logspace(-3, 3, 10)]
    return np.array([K / np.trace(K) for K in stack])


def transcription(X: Array, y: Array, delta: float = 1e-2) -> list[tuple[float, Array]]:
    """Algorithm 1 along the path: J and the weights at each lambda."""
    K, y = dense_kernels(X), y - y.mean()
    d = np.zeros(len(K))
    d[np.argmax((K @ y) @ y)] = 1.0
    found = []
    for lam in ALPHAS:
        while True:
            active = np.flatnonzero(d)
            c = np.linalg.solve(np.tensordot(d[active], K[active], 1) + lam * np.eye(len(y)), y)
            V, u = (K @ c).T, y - 0.5 * lam * c
            heavy = 1e3 * np.abs(V).max()  # the sum of the weights, as one more row
            d = nnls(np.vstack([V, np.full(len(d), heavy)]), np.append(u, heavy))[0]
            d /= d.sum()
            if np.linalg.norm(V @ d + lam * c - y) <= delta * np.linalg.norm(y):
                break
        c = np.linalg.solve(np.tensordot(d, K, 1) + lam * np.eye(len(y)), y)
        found.append((0.5 * lam * float(y @ c), d))
    return found


def load(name: str, directory: Path | None) -> tuple[Array, Array]:
    """Features and target of a set of the paper's Table 2."""
    source, own = DataSource(directory), SETS[name]
    y = source.load(own.source).y.astype(float) if own.regression else source.signs(own.source)[1]
    return features(source, own.source), y


def printed(name: str, metric: str) -> float:
    """A number of the paper's Table 4, for 60 % of the samples."""
    rows = (row for row in published() if row.place == "Table 4" and row.data == name)
    return next(float(row.value) for row in rows if row.metric.startswith(metric) and row.setting.startswith("60"))


def here(X: Array, y: Array) -> Any:
    return mk.path(mk.RLS2Regressor(), X, y, "alpha", ALPHAS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=list(SETS))
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print(
        f"{'':10s}    n   m     here solving  plain  ratio published  ratio  worst gap  excess of plain  steps (paper)"
    )
    for name in asked.datasets:
        X, y = load(name, asked.data_dir)
        train = np.random.default_rng(0).permutation(len(y))[: round(0.6 * len(y))]
        X, y = X[train], y[train]
        own, plain, solving = [], [], []
        here(X, y)
        for _ in range(asked.rounds):
            start = time.perf_counter()
            found = here(X, y)
            middle = time.perf_counter()
            other = transcription(X, y)
            own.append(middle - start)
            solving.append(found.seconds.sum())
            plain.append(time.perf_counter() - middle)
        seconds, slow = float(np.median(own)), float(np.median(plain))
        steps, paper = printed(name, "iterations"), printed(name, "time")
        excess = max(J / best - 1.0 for (J, _), best in zip(other, found.objective, strict=True))
        print(
            f"{name:10s} {len(y):4d} {found.weights.shape[1]:4d} {seconds:8.3f} {np.median(solving):7.3f} {slow:6.2f} "
            f"{slow / seconds:6.1f} {paper:9.2f} {paper / seconds:6.1f} {found.duality_gap.max():10.0e} "
            f"{excess:16.1e} {found.n_iter.sum():6d} ({steps:.0f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
