"""Weights of least cross-validated error, side by side with himalaya in one run: error reached, time, peak memory.

    python benchmarks/ridge_cv.py [--rounds 3] [--sizes 500x10 500x50 2000x50] [--cv 5] [--threads 2] [--profile]

Friedman's first function with noise, 20 features, Gaussians of one feature or all of them at several widths, a stack
computed beforehand. Each measurement is a process of its own (so that its peak memory is its own) on the same stack and
the same folds; the packages alternate, and medians are compared. The error of everybody's weights is computed here, by
machines trained anew for each fold. himalaya (0.4.11 was compared) is measured where it is installed, for folds, and
only on stacks of at most --peer values.

--profile tells what part of our time, on one thread, is passes over the kernels, inverses and the rest.
"""

from __future__ import annotations

import argparse
import cProfile
import importlib.util
import json
import os
import pstats
import resource
import statistics
import subprocess
import sys
import time

SEARCH = 20  # random candidates; himalaya's own default is 100, and five times slower
PARTS = {"passes over kernels": ("products", "sums", "unpack", "inner"), "inverses": ("_invert",)}


def data(n, m, n_new=500):
    """The stack on n samples, standardised targets, the stack of new samples, their targets."""
    import numpy as np
    from sklearn.datasets import make_friedman1
    from sklearn.metrics.pairwise import rbf_kernel

    X, y = make_friedman1(n + n_new, 20, noise=0.5, random_state=0)
    y = (y - y[:n].mean()) / y[:n].std()

    def stack(A):
        K = np.empty((m, len(A), n))
        for k in range(m):
            feature, width = k % 21, k // 21
            columns = slice(None) if feature == 0 else [feature - 1]
            K[k] = rbf_kernel(A[:, columns], X[:n, columns], gamma=4.0 / 2**width / (20 if feature == 0 else 1))
        return K

    return stack(X[:n]), y[:n], stack(X[n:]), y[n:]


def ours():
    """A function that fits, and tells the weights for a ridge of 1."""
    from multikernel import MultipleKernelRidgeCV

    def fit(K, y, cv):
        model = MultipleKernelRidgeCV("precomputed", cv=cv, fit_intercept=False).fit(K, y)
        return model.weights_ / model.alpha_

    return fit


def himalaya(solver, **parameters):
    import numpy as np
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    def fit(K, y, cv):
        model = MultipleKernelRidgeCV(
            "precomputed", solver=solver, solver_params={"progress_bar": False, **parameters}, cv=cv, random_state=0
        )
        return np.exp(model.fit(K, y).deltas_)

    return fit


def random_search():
    import numpy as np

    return himalaya("random_search", n_iter=SEARCH, alphas=np.logspace(-4, 2, 10))


CONTENDERS = {
    "multikernel": ours,
    "himalaya, gradient": lambda: himalaya("hyper_gradient"),
    f"himalaya, {SEARCH} random": random_search,
}


def held_out_error(K, y, weights, cv):
    """By machines trained anew for each fold."""
    import numpy as np
    from sklearn.model_selection import KFold, LeaveOneOut

    total, errors = np.tensordot(weights, K, 1), np.empty(len(y))
    for train, test in (LeaveOneOut() if cv == "loo" else KFold(cv)).split(total):
        coef = np.linalg.solve(total[np.ix_(train, train)] + np.eye(len(train)), y[train])
        errors[test] = y[test] - total[np.ix_(test, train)] @ coef
    return float((errors**2).mean())


def score(K, y, K_new, y_new, weights):
    """R2 on new samples."""
    import numpy as np

    coef = np.linalg.solve(np.tensordot(weights, K, 1) + np.eye(len(y)), y)
    residual = y_new - np.tensordot(weights, K_new, 1) @ coef
    return float(1.0 - (residual**2).sum() / ((y_new - y_new.mean()) ** 2).sum())


def measure(name, n, m, cv, repeats):
    """In a process of its own: median seconds of warm fits, peak memory above imports and data."""
    import warnings

    warnings.filterwarnings("ignore")
    fit = CONTENDERS[name]()
    K, y, K_new, y_new = data(n, m)
    fit(K[:2, :60, :60].copy(), y[:60], 3)  # compile, import late modules, start threads
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        weights = fit(K, y, cv)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({
        "seconds": statistics.median(seconds),
        "megabytes": (peak - before) / 1024,
        "error": held_out_error(K, y, weights, cv),
        "score": score(K, y, K_new, y_new, weights),
        "kernels": int((weights > 0).sum()),
    }))  # fmt: skip


def profile(n, m, cv):
    """Where our own time goes, one fit."""
    from multikernel import precomputed
    from multikernel.procedures.ridge_cv import Folds, ridge_cv

    K, y = data(n, m)[:2]
    bank, folds = precomputed(K), Folds.of(cv, n, y)
    ridge_cv(bank, y[:, None], folds, False, max_iter=1)
    profiler = cProfile.Profile()
    weights = profiler.runcall(ridge_cv, bank, y[:, None], folds, False).weights
    stats = pstats.Stats(profiler)
    rows = [(key[2], entry[2], entry[0]) for key, entry in stats.stats.items()]  # name, seconds of its own, calls
    print(f"n = {n}, {m} kernels, cv = {cv}: {stats.total_tt:.2f} s, {weights.n_iter} steps", end="")
    print(f", {sum(calls for name, _, calls in rows if name == '_invert')} inverses", end="")
    rest = stats.total_tt
    for part, names in PARTS.items():
        seconds = sum(own for name, own, _ in rows if name in names)
        rest -= seconds
        print(f", {part} {seconds / stats.total_tt:.0%}", end="")
    print(f", the rest {rest / stats.total_tt:.0%}", flush=True)


def in_process(threads, *arguments):
    """What this program prints, run with so many threads."""
    environment = dict(os.environ, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads, MKL_NUM_THREADS=threads)
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def compare(n, m, cv, rounds, with_peer, threads):
    names = [name for name in CONTENDERS if name == "multikernel" or with_peer]
    results = {name: [] for name in names}
    for turn in range(rounds):
        for name in names if turn % 2 == 0 else reversed(names):
            repeats = 5 if name == "multikernel" and n * n * m < 1e7 else 1
            told = in_process(threads, "--measure", name, "--sizes", f"{n}x{m}", "--cv", cv, "--rounds", repeats)
            results[name].append(json.loads(told.splitlines()[-1]))
    print(f"\nn = {n}, {m} kernels, cv = {cv}, a stack of {m * n * n * 8 / 2**20:.0f} MB")
    own = statistics.median(run["seconds"] for run in results["multikernel"])
    for name, runs in results.items():
        seconds, first = statistics.median(run["seconds"] for run in runs), runs[0]
        print(
            f"  {name:20s} {seconds:8.3f} s ({seconds / own:6.1f} x ours)  held-out error {first['error']:.5f}"
            f"  R2 of new samples {first['score']:.4f}  {first['kernels']:3d} kernels"
            f"  {max(run['megabytes'] for run in runs):6.0f} MB above import and data",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", nargs="+", default=["500x10", "500x50", "500x200", "2000x10", "2000x50"])
    parser.add_argument("--cv", default="5", help="a number of folds, or loo")
    parser.add_argument("--peer", type=float, default=5e7, help="values of the largest stack that himalaya is given")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--measure", choices=list(CONTENDERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    cv = options.cv if options.cv == "loo" else int(options.cv)
    sizes = [tuple(map(int, size.split("x"))) for size in options.sizes]
    has_peer = importlib.util.find_spec("himalaya") is not None
    if options.measure:
        measure(options.measure, *sizes[0], cv, options.rounds)
    elif options.profile and os.environ.get("OMP_NUM_THREADS") == "1":
        for n, m in sizes:
            profile(n, m, cv)
    elif options.profile:
        print(in_process("1", *sys.argv[1:]), end="")
    else:
        if not has_peer:
            print("himalaya is not installed (pip install himalaya==0.4.11): only multikernel is measured")
        for n, m in sizes:
            with_peer = has_peer and cv != "loo" and n * n * m <= options.peer
            compare(n, m, cv, options.rounds, with_peer, options.threads)
