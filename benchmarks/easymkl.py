"""EasyMKL on homogeneous polynomials, side by side with MKLpy in one run: time, peak memory, and the same answer.

    python benchmarks/easymkl.py [--rounds 3] [--sizes 569 2000 5000 20000]

Each measurement is a process of its own (so that its peak memory is its own); the two packages alternate, and medians
are compared. Kernels are included in the time. The limit is one Gram matrix by GEMM and one pass for each power, with
numpy, in the same run. Ratios above 1 mean that multikernel is faster, or needs less.
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

THREADS = "2"
LAM = 0.1
DEGREES = {569: 30, 2000: 30, 5000: 10, 20000: 30}  # number of kernels for each number of samples
BEYOND_PEER = 10_000  # samples from which the peer's stack does not fit an ordinary machine


def data(n):
    """Real data for n = 569, else scikit-learn's synthetic classes; scaled to [0, 1], then to unit length."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer, make_classification
    from sklearn.preprocessing import minmax_scale, normalize

    if n == 569:
        X, y = load_breast_cancer(return_X_y=True)
    else:
        X, y = make_classification(
            n, 50, n_informative=10, n_redundant=10, n_clusters_per_class=3, flip_y=0.02, random_state=0
        )
    return normalize(minmax_scale(X)), np.where(y == 1, 1, -1)


def ours(learner):
    """A function that fits, and the import it needs first."""
    from multikernel import EasyMKLClassifier, kernels

    def fit(X, y, m):
        family = [kernels.HomogeneousPolynomial(d).normalized() for d in range(1, m + 1)]
        return EasyMKLClassifier(family, lam=LAM, learner=learner, C=10.0).fit(X, y).weights_

    return fit


def mklpy():
    import torch
    from MKLpy.algorithms import EasyMKL
    from MKLpy.metrics.pairwise import homogeneous_polynomial_kernel as polynomial
    from sklearn.svm import SVC

    torch.set_num_threads(int(THREADS))

    def fit(X, y, m):
        Xt = torch.tensor(X)
        stack = [polynomial(Xt, degree=d) for d in range(1, m + 1)]
        model = EasyMKL(lam=LAM, learner=SVC(C=10.0, kernel="precomputed")).fit(stack, y)
        return model.solution.weights.numpy()

    return fit


def limit():
    import numpy as np

    def passes(X, y, m):
        G = X @ X.T
        power = G.copy()
        for _ in range(m - 1):
            power *= G
        return np.ones(m) / m

    return passes


CONTENDERS = {
    "multikernel, svc": lambda: ours("svc"),
    "multikernel, margin": lambda: ours("margin"),
    "MKLpy, svc": mklpy,
    "limit": limit,
}


def measure(name, n, repeats):
    """In a process of its own: median seconds of warm fits, and peak memory above imports and data."""
    import warnings

    warnings.filterwarnings("ignore")
    fit = CONTENDERS[name]()
    X, y = data(n)
    fit(X[:: max(1, n // 200)], y[:: max(1, n // 200)], 3)  # compile, import late modules, start threads
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        weights = fit(X, y, DEGREES[n])
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({
        "seconds": statistics.median(seconds),
        "megabytes": (peak - before) / 1024,
        "whole_megabytes": peak / 1024,
        "weights": [float(w) for w in weights],
    }))  # fmt: skip


def in_process(name, n, repeats):
    environment = dict(os.environ, OMP_NUM_THREADS=THREADS, OPENBLAS_NUM_THREADS=THREADS, MKL_NUM_THREADS=THREADS)
    command = [sys.executable, __file__, "--measure", name, "--sizes", str(n), "--rounds", str(repeats)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{name} at n = {n} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(n, rounds):
    names = [name for name in CONTENDERS if n < BEYOND_PEER or name.endswith("margin") or name == "limit"]
    results = {name: [] for name in names}
    for turn in range(rounds):
        for name in names if turn % 2 == 0 else reversed(names):
            results[name].append(in_process(name, n, 5 if n < 1000 else 3 if n < BEYOND_PEER else 1))
    print(f"\nn = {n}, {DEGREES[n]} kernels")
    peer = results.get("MKLpy, svc")
    for name, runs in results.items():
        seconds = statistics.median(run["seconds"] for run in runs)
        line = f"  {name:20s} {seconds * 1e3:9.1f} ms {max(run['megabytes'] for run in runs):8.0f} MB above import"
        line += f" {max(run['whole_megabytes'] for run in runs):8.0f} MB in all"
        if peer and name.startswith("multikernel"):
            paired = [p["seconds"] / own["seconds"] for p, own in zip(peer, runs, strict=True)]
            line += f"   MKLpy / ours: time {statistics.median(paired):.1f} ({min(paired):.1f} to {max(paired):.1f})"
            line += f", memory {peer[0]['megabytes'] / max(runs[0]['megabytes'], 1):.0f}"
            difference = max(abs(a - b) for a, b in zip(runs[0]["weights"], peer[0]["weights"], strict=True))
            line += f", weights differ by {difference:.1e}"
        if name.startswith("multikernel"):
            bound = statistics.median(run["seconds"] for run in results["limit"])
            line += f", {seconds / bound:.1f} x the limit"
        print(line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(DEGREES), choices=list(DEGREES))
    parser.add_argument("--measure", choices=list(CONTENDERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.sizes[0], options.rounds)
    else:
        for size in options.sizes:
            compare(size, options.rounds)
