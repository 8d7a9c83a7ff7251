"""Thirty Gaussians over the number of samples, beside a plain loop around scikit-learn's SVC, and beside MKLpy.

    python benchmarks/peers.py [--samples 1000 2000 5000] [--methods L1 Lp EasyMKL] [--rounds 1] [--patience 8]

The problems are those of sizes.py: noisy classes, ten widths on all of 20 features and a Gaussian for each feature,
C = 1. For L1 and Lp both have to prove a relative gap of 1e-3, kernels included. The loop is what a user writes: all
matrices, a machine from scratch for the present weights, new weights by the parts of the norm (for L1 theirs, for
p = 2 their power 2/3 of norm 1), and after each machine the gap between its primal value and the best dual one so far.
It is stopped when it has taken so many times our time as ``--patience`` says, and tells the gap it reached. EasyMKL has
the parameters of both packages' defaults and no certificate in MKLpy.

Each measurement is a process of its own with two threads; the contenders take turns, medians are compared, and the
last line of a method tells how its time grows. The loop stores its matrices in single precision beyond 6000 samples,
where doubles would take 24 GB at 10,000; MKLpy is left out there.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

TOL = 1e-3
THREADS = "2"
_SINGLE = 6000  # samples beyond which the matrices of a peer do not fit in double precision


def matrices(X: Any) -> Any:
    """The kernels of sizes.py as scikit-learn makes them: shape (30, n, n)."""
    from sklearn.metrics.pairwise import rbf_kernel

    dtype = np.float32 if len(X) > _SINGLE else np.float64
    stack = np.empty((10 + X.shape[1], len(X), len(X)), dtype)
    for k, gamma in enumerate(np.geomspace(1e-3, 1.0, 10)):
        stack[k] = rbf_kernel(X, gamma=gamma)
    for j in range(X.shape[1]):
        stack[10 + j] = rbf_kernel(X[:, [j]], gamma=0.5)
    return stack


def loop(X: Any, y: Any, p: int, C: float, seconds: float) -> float:
    """Machines and weights by turns until the gap is proved: the relative gap that was reached."""
    from sklearn.svm import SVC

    began = time.perf_counter()
    K, signs = matrices(X), np.where(y == 1, 1.0, -1.0)
    weights = np.full(len(K), len(K) ** (-1.0 / p))
    bound, value, gap = -np.inf, np.inf, np.inf
    while gap > TOL and time.perf_counter() - began < seconds:
        total = np.tensordot(weights.astype(K.dtype), K, 1).astype(float)
        machine = SVC(C=C, kernel="precomputed").fit(total, y)
        a = np.zeros(len(y))
        a[machine.support_] = machine.dual_coef_[0]
        scores = np.array([a @ (each @ a.astype(K.dtype)) for each in K])
        largest = scores.max() if p == 1 else np.linalg.norm(scores)  # of sum_k w_k scores_k over the ball of norm p
        bound = max(bound, float(np.abs(a).sum() - largest / 2.0))
        margins = signs * (total @ a + machine.intercept_[0])
        value = min(value, float(weights @ scores) / 2.0 + C * float(np.maximum(0.0, 1.0 - margins).sum()))
        gap = (value - bound) / value
        parts = weights * np.sqrt(np.maximum(scores, 0.0))
        weights = parts ** (2.0 / (p + 1.0))
        weights /= np.linalg.norm(weights, p)
    return gap


def mklpy(X: Any, y: Any) -> None:
    """EasyMKL of MKLpy."""
    import torch
    from MKLpy.algorithms import EasyMKL

    torch.set_num_threads(int(THREADS))
    EasyMKL().fit([torch.tensor(K) for K in matrices(X)], np.where(y == 1, 1, -1))


def measured(method: str, peer: bool, n: int, seconds: float) -> dict[str, Any]:
    """One fit in this process, after a small one that loads and compiles."""
    import warnings

    from sizes import MODELS, data, family

    warnings.filterwarnings("ignore")

    def fit(n: int, seconds: float) -> float | None:
        X, y = data(n)
        if not peer:
            return float(MODELS[method](family()).fit(X, y).duality_gap_)
        return mklpy(X, y) if method == "EasyMKL" else loop(X, y, {"L1": 1, "Lp": 2}[method], 1.0, seconds)

    fit(300, 1.0)
    began = time.perf_counter()
    gap = fit(n, seconds)
    took = time.perf_counter() - began
    return {"seconds": took, "gap": gap, "gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def in_process(method: str, peer: bool, n: int, seconds: float = 0.0) -> dict[str, Any]:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), THREADS)
    one = json.dumps([method, peer, n, seconds])
    done = subprocess.run(
        [sys.executable, __file__, "--one", one],
        capture_output=True,
        text=True,
        env=os.environ | threads,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{method} at n = {n} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def compare(method: str, n: int, rounds: int, patience: float) -> float:
    """A line: median times of both, and their ratio. Returns our seconds."""
    own: list[dict[str, Any]] = []
    theirs: list[dict[str, Any]] = []
    known = method != "EasyMKL" or n <= _SINGLE
    for _ in range(rounds):
        own.append(in_process(method, False, n))
        if known:
            theirs.append(in_process(method, True, n, patience * own[-1]["seconds"]))
    seconds = statistics.median(each["seconds"] for each in own)
    line = f"{method:8s} n = {n:5d}  ours {seconds:7.2f} s {own[0]['gb']:5.1f} GB"
    if own[0]["gap"] is not None:
        line += f" gap {own[0]['gap']:.0e}"
    if known:
        beside = statistics.median(each["seconds"] for each in theirs)
        name = "MKLpy" if method == "EasyMKL" else "loop"
        line += f"  {name} {beside:8.2f} s {theirs[0]['gb']:5.1f} GB"
        if theirs[0]["gap"] is not None:
            line += f" gap {theirs[0]['gap']:.0e}" + (" (stopped)" if theirs[0]["gap"] > TOL else "")
        ratio = statistics.median(b["seconds"] / a["seconds"] for a, b in zip(own, theirs, strict=True))
        line += f"  ratio {ratio:6.1f}"
    print(line, flush=True)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, nargs="+", default=[1000, 2000, 5000])
    parser.add_argument("--methods", nargs="+", default=["L1", "Lp", "EasyMKL"], choices=["L1", "Lp", "EasyMKL"])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--patience", type=float, default=8.0)
    parser.add_argument("--one", help="one fit in this process, as JSON")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(*json.loads(given.one))))
        return
    for method in given.methods:
        seconds = [compare(method, n, given.rounds, given.patience) for n in given.samples]
        if len(given.samples) > 1:
            slope = np.polyfit(np.log(given.samples), np.log(seconds), 1)[0]
            print(f"{method:8s} ours grows as n^{slope:.2f}", flush=True)


if __name__ == "__main__":
    main()
