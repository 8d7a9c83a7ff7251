"""The kernel of all rows against few centres: scores against processor seconds, with the same scales.

    python benchmarks/full_kernel.py --data DIR --sets letter,protein,friedman --kept FILE

Scales are learned once. Of the training rows (20,000, or all that a set has) a tenth chooses ridges; on the others

    centres     ridge regression by M of them: sums over tiles, the seconds of three ridges
    exact       one Cholesky factorisation of the kernel matrix of all rows, with twice the best ridge of centres
    blocks      accelerated sketch and project (Rathore and others 2024, ASkotch), exact factors of blocks of 2000
                rows, on the stored matrix, for 70 s; once for each of growing numbers of blocks
    eigenpro    preconditioned stochastic gradients without a ridge (Ma and Belkin 2019, EigenPro 2), the preconditioner
                of the 500 largest eigenvectors of 4000 rows, on the stored matrix, for 70 s; once for each of growing
                numbers of passes, of which early stopping would choose one

are scored on 5000 rows that nothing has seen. The kernel is evaluated in single precision everywhere. ``made`` are the
seconds of the kernel matrix alone, which blocks of a matrix that is not stored would take for every n / 2000 of them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve, eigh, lapack, solve_triangular

from rows import split

RANKS = (1000, 2000, 4000, 8000)
BLOCK, LIMIT = 2000, 70.0
SUBSAMPLE, EIGENVECTORS = 4000, 500  # 160 to 500 eigenvectors of 2000 to 12,000 rows in the paper's experiments
Array = Any


def kernel(P: Array, Q: Array) -> Array:
    """Matern of smoothness 3/2, of rows that are multiplied with the roots of their scales."""
    D = (P * P).sum(axis=1)[:, None] + (Q * Q).sum(axis=1) - 2.0 * (P @ Q.T)
    np.sqrt(np.maximum(D, 0.0, out=D), out=D)
    D *= np.float32(np.sqrt(3.0))
    return (1.0 + D) * np.exp(-D)


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from, to choose by and to test on, in single precision; targets of mean 0 and spread 1."""

    X: Array
    Y: Array
    chosen_by: tuple[Array, Array]
    test: Array
    truth: Array
    labels: Array | None
    mean: Array
    spread: float
    alpha: float

    @classmethod
    def of(cls, name: str, data: Path) -> Task:
        """With scales that are learned on the training rows."""
        import multikernel as mk

        X, y, X_test, y_test, classes = split(name, 20_000, data)
        X, X_test = np.asarray(X, float), np.asarray(X_test, float)
        model: Any = mk.LearnedScalesClassifier() if classes else mk.LearnedScalesRegressor()
        model.set_params(approximation="nystroem", rank=500).fit(X, y)
        labels = np.unique(y) if classes else None
        Y = y[:, None].astype(float) if labels is None else np.where(y[:, None] == labels, 1.0, -1.0)
        mean, spread, middle = Y.mean(axis=0), float(Y.std()), X.mean(axis=0)
        X, X_test = (((each - middle) * np.sqrt(model.scales_)).astype(np.float32) for each in (X, X_test))
        Y = (Y - mean) / spread
        order = np.random.default_rng(5).permutation(len(X))
        few, rest = order[: len(X) // 10], order[len(X) // 10 :]
        by = X[few], Y[few]
        return cls(X[rest], Y[rest], by, X_test, y_test, labels, mean, spread, float(model.alpha_))

    def score(self, F: Array) -> float:
        """R^2, or the part of right labels, of predictions of the test rows."""
        F = self.mean + self.spread * F
        if self.labels is None:
            return float(1.0 - ((F[:, 0] - self.truth) ** 2).sum() / ((self.truth - self.truth.mean()) ** 2).sum())
        return float((self.labels[F.argmax(axis=1)] == self.truth).mean())

    def told(self, Z: Array, A: Array) -> dict[str, float]:
        """The error of the rows to choose by, and the score, of a function on some rows."""

        def at(P: Array) -> Array:
            return np.concatenate([kernel(P[k : k + 500], Z) @ A for k in range(0, len(P), 500)])

        error = float(((at(self.chosen_by[0]) - self.chosen_by[1]) ** 2).sum(axis=1).mean())
        return {"val": error, "score": self.score(at(self.test))}


def by_centres(task: Task, M: int, alpha: float) -> dict[str, Any]:
    """Ridge regression by M rows, with the best of the ridges around one."""
    begin = time.process_time()
    Z = task.X[np.random.default_rng(1).permutation(len(task.X))[:M]]
    S, R = np.zeros((M, M), order="F"), np.zeros((M, task.Y.shape[1]))
    for k in range(0, len(task.X), 2048):
        C = kernel(task.X[k : k + 2048], Z).astype(float)
        S = blas.dsyrk(1.0, C.T, beta=1.0, c=S, lower=1, overwrite_c=1)
        R += C.T @ task.Y[k : k + 2048]
    K = kernel(Z, Z).astype(float)
    base = time.process_time() - begin
    begin, best = time.process_time(), {"val": np.inf}
    ridges = alpha * np.array([1.0 / 3.0, 1.0, 3.0])
    for ridge in ridges:
        G = S + ridge * K
        G.flat[:: M + 1] += 1e-14 * np.trace(S)
        factor, wrong = lapack.dpotrf(G, lower=1, overwrite_a=1)
        found = task.told(Z, lapack.dpotrs(factor, R, lower=1)[0]) if not wrong else best
        best = min(best, found | {"alpha": ridge}, key=lambda each: each["val"])
    seconds = base + time.process_time() - begin
    return {"method": "centres", "M": M, "seconds": seconds, "base": base} | best


def exact(task: Task, alpha: float) -> dict[str, Any]:
    """A Cholesky factorisation in single precision, in place of the matrix."""
    begin, n = time.process_time(), len(task.X)
    K = matrix(task)
    made = time.process_time() - begin
    K.flat[:: n + 1] += np.float32(alpha)
    for k in range(0, n, 1000):
        stop = min(k + 1000, n)
        L = np.linalg.cholesky(K[k:stop, k:stop].astype(float)).astype(np.float32)
        K[k:stop, k:stop] = L
        if stop < n:
            K[stop:, k:stop] = solve_triangular(L, K[stop:, k:stop].T, lower=True).T
        for q in range(stop, n, 1000):
            K[q:, q : q + 1000] -= K[q:, k:stop] @ K[q : q + 1000, k:stop].T
    A = solve_triangular(K, task.Y.astype(np.float32), lower=True, check_finite=False)
    A = solve_triangular(K, A, lower=True, trans=1, check_finite=False)
    seconds = time.process_time() - begin
    return {"method": "exact", "alpha": alpha, "seconds": seconds, "made": made} | task.told(task.X, A)


def matrix(task: Task) -> Array:
    """The kernel matrix of all rows to learn from."""
    K = np.empty((len(task.X), len(task.X)), np.float32)
    for k in range(0, len(K), 1000):
        K[k : k + 1000] = kernel(task.X[k : k + 1000], task.X)
    return K


def by_blocks(task: Task, alpha: float) -> Iterator[dict[str, Any]]:
    """ASkotch on the stored matrix."""
    begin, n, rng = time.process_time(), len(task.X), np.random.default_rng(0)
    K, Y, ridge = matrix(task), task.Y.astype(np.float32), np.float32(alpha)
    made = time.process_time() - begin
    nu = n / BLOCK
    mu = 0.3 / nu
    beta, gamma = np.float32(1.0 - np.sqrt(mu / nu)), np.float32(1.0 / np.sqrt(mu * nu))
    part = np.float32(1.0 / (1.0 + gamma * nu))
    v = z = np.zeros_like(Y)
    blocks, last, idle = 0, 0.0, 0.0
    while True:
        J = rng.permutation(n)[:BLOCK]
        G = K[np.ix_(J, J)].astype(float)
        G.flat[:: BLOCK + 1] += alpha
        slope = K[J] @ z + ridge * z[J] - Y[J]
        step = cho_solve(cho_factor(G, lower=True, overwrite_a=True), slope.astype(float)).astype(np.float32)
        w = z.copy()
        w[J] -= step
        v = beta * v + (1 - beta) * z
        v[J] -= gamma * step
        z = part * v + (1 - part) * w
        blocks += 1
        now = time.process_time() - begin - idle
        if now > 1.35 * last + 2.0 or blocks in (5, 10, 20):
            last, pause = now, time.process_time()
            yield {"method": "blocks", "alpha": alpha, "blocks": blocks, "seconds": now, "made": made} | task.told(
                task.X, w
            )
            idle += time.process_time() - pause
        if now > LIMIT:
            return


def by_eigenpro(task: Task) -> Iterator[dict[str, Any]]:
    """EigenPro 2 on the stored matrix.

    With eigenpairs K_s v_i = s l_i v_i of the kernel matrix of a subsample, the gradient of a batch is multiplied with
    1 - sum_i (1 - l_q / l_i) e_i e_i', whose second term is a function on the subsample, so that the largest
    eigenvalue falls to l_q and a batch of m rows can take steps of m / (b + (m - 1) l_q), b the largest value of
    the preconditioned kernel at a row with itself.
    """
    begin, n, rng = time.process_time(), len(task.X), np.random.default_rng(0)
    K, Y = matrix(task), task.Y.astype(np.float32)
    made = time.process_time() - begin
    few = np.sort(rng.permutation(n)[:SUBSAMPLE])
    at = [SUBSAMPLE - EIGENVECTORS, SUBSAMPLE - 1]
    values, V = eigh(K[np.ix_(few, few)].astype(float), subset_by_index=at)
    drop = (1.0 - values[0] / values) / values
    largest = float((1.0 - (drop * (K[few].T.astype(float) @ V) ** 2).sum(axis=1)).max())
    V, D = V.astype(np.float32), (V * drop).T.astype(np.float32)
    m = max(1, min(BLOCK, int(largest * SUBSAMPLE / values[0])))
    step = np.float32(1.0 / (largest + (m - 1) * values[0] / SUBSAMPLE))
    A = np.zeros_like(Y)
    passes, last, idle = 0, 0.0, 0.0
    while True:
        order = rng.permutation(n)
        for k in range(0, n, m):
            J = order[k : k + m]
            rows = K[J]
            slope = step * (rows @ A - Y[J])
            A[J] -= slope
            A[few] += V @ (D @ (rows[:, few].T @ slope))
        passes += 1
        now = time.process_time() - begin - idle
        if now > 1.35 * last:
            last, pause = now, time.process_time()
            found = {"method": "eigenpro", "passes": passes, "batch": m, "seconds": now, "made": made}
            yield found | task.told(task.X, A)
            idle += time.process_time() - pause
        if now > LIMIT:
            return


def main() -> None:
    """Measure and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default="letter,protein,friedman")
    parser.add_argument("--only", choices=["eigenpro"], help="measure this method alone")
    parser.add_argument("--kept", type=Path, default=Path(__file__).parent / "full_kernel.jsonl")
    args = parser.parse_args()
    warnings.simplefilter("ignore")

    def keep(name: str, found: dict[str, Any]) -> None:
        line = json.dumps({"set": name} | found)
        print(line, flush=True)
        with args.kept.open("a") as file:
            file.write(line + "\n")

    for name in args.sets.split(","):
        task = Task.of(name, args.data)
        if args.only is None:
            alpha = task.alpha
            for M in RANKS:
                found = by_centres(task, M, alpha)
                alpha = found["alpha"]
                keep(name, found)
            keep(name, exact(task, 2.0 * alpha))
            for found in by_blocks(task, alpha):
                keep(name, found)
        for found in by_eigenpro(task):
            keep(name, found)


if __name__ == "__main__":
    main()
