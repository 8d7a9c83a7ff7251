"""Weights for each of many targets, beside himalaya in one run: processor seconds, held-out R2, memory.

    python benchmarks/targets.py [--sizes 400x1000 400x5000] [--methods ...] [--search 100] [--exact 50] [--jobs 1]

Simulated, as no public responses of this size are at hand: three feature spaces of 100, 250 and 500 normal features
(of n / 4, n / 1.6 and 1.25 n for more samples), targets that use none, one, two or all of them, half
of their variance noise; kernels are linear, computed beforehand, in double precision for everybody. Each measurement
is a process of its own, with one thread of BLAS, one after the other. Held-out R2 is the mean over 200 new samples, of
targets that use a space, and of those that use none ("null"). Memory is the largest that the fit took, less what was
held before and the answer (coefficients of all targets).

himalaya (0.4.11, with torch, or NumPy) is measured where it is installed; its time is proportional to the number
of candidates, so with --search 5 a long run can be told from a short one. "exact" are weights of the first targets,
each solved alone from two starts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time


def simulated(n, t, n_new=200, seed=0):
    """Kernels of training samples, of new ones, the targets of both, and whether a target uses a space."""
    import numpy as np

    rng = np.random.default_rng(seed)
    sizes = [int(n * part) for part in (0.25, 0.625, 1.25)]
    parts = [rng.normal(size=(n + n_new, p)) / np.sqrt(p) for p in sizes]
    used = np.zeros((t, 3), dtype=bool)
    for target in range(t):
        used[target, rng.permutation(3)[: target % 4]] = True
    signal = np.zeros((n + n_new, t))
    for k, X in enumerate(parts):
        share = np.sqrt(rng.uniform(0.3, 1.0, size=t)) * used[:, k]
        signal += (X @ rng.normal(size=(sizes[k], t))) * share
    deviations = signal.std(axis=0)
    deviations[deviations == 0] = 1.0
    Y = signal / deviations + rng.normal(size=signal.shape)
    Y -= Y[:n].mean(axis=0)
    K = np.stack([X[:n] @ X[:n].T for X in parts])
    K_new = np.stack([X[n:] @ X[:n].T for X in parts])
    return K, K_new, Y[:n].copy(), Y[n:].copy(), used.any(axis=1)


def ours(K, Y, options, shared=False):
    from multikernel import MultipleKernelRidgeCV

    model = MultipleKernelRidgeCV(
        "precomputed",
        fit_intercept=False,
        shared_weights=shared,
        standard_errors=options.standard_errors,
        n_jobs=options.jobs,
    )
    model.fit(K, Y)
    return model.predict, float(model.cv_loss_[: options.exact].mean()), model.dual_coef_.nbytes, model.stationarity_


def peer(solver, K, Y, backend, **parameters):
    import numpy as np
    from himalaya.backend import set_backend
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    backend = set_backend(backend)
    model = MultipleKernelRidgeCV(
        "precomputed",
        solver=solver,
        solver_params={"progress_bar": False, **parameters},
        cv=5,
        random_state=0,
    )
    model.fit(backend.asarray(K), backend.asarray(Y))

    def predict(K_new):
        return np.asarray(backend.to_numpy(model.predict(backend.asarray(K_new))))

    return predict, float("nan"), 8 * Y.size, float("nan")


def one_ridge(K, Y, options):
    """One kernel, the sum, and the best of its ridges for each target, by himalaya."""
    import numpy as np
    from himalaya.backend import set_backend
    from himalaya.kernel_ridge import KernelRidgeCV

    backend = set_backend(options.backend)
    model = KernelRidgeCV(alphas=np.logspace(-4, 4, 17), kernel="precomputed", cv=5)
    model.fit(backend.asarray(K.sum(axis=0)), backend.asarray(Y))

    def predict(K_new):
        return np.asarray(backend.to_numpy(model.predict(backend.asarray(K_new.sum(axis=0)))))

    return predict, float("nan"), 8 * Y.size, float("nan")


def exact(K, Y, options):
    """Each of the first targets alone, from two starts."""
    import numpy as np

    from multikernel import MultipleKernelRidgeCV

    models = [
        MultipleKernelRidgeCV("precomputed", fit_intercept=False, n_init=2).fit(K, y) for y in Y.T[: options.exact]
    ]

    def predict(K_new):
        found = np.full((K_new.shape[1], Y.shape[1]), np.nan)
        for t, model in enumerate(models):
            found[:, t] = model.predict(K_new)
        return found

    return predict, float(np.mean([model.cv_loss_ for model in models])), 0, max(m.stationarity_ for m in models)


def method(name, K, Y, options):
    import numpy as np

    if name == "weights for each target":
        return ours(K, Y, options)
    if name == "shared weights":
        return ours(K, Y, options, shared=True)
    if name == "exact":
        return exact(K, Y, options)
    if name == "one ridge":
        return one_ridge(K, Y, options)
    if name == "hyper gradient":
        return peer("hyper_gradient", K, Y, options.backend)
    return peer("random_search", K, Y, options.backend, n_iter=options.search, alphas=np.logspace(-4, 4, 17))


METHODS = ["weights for each target", "shared weights", "exact", "one ridge", "random search", "hyper gradient"]


def measure(name, n, t, options):
    """In a process of its own."""
    import warnings

    import numpy as np

    warnings.filterwarnings("ignore")
    K, K_new, Y, Y_new, signal = simulated(n, t)
    small = argparse.Namespace(**{**vars(options), "exact": 2, "search": 2})
    method(name, K[:, :60, :60].copy(), Y[:60, :8].copy(), small)  # compile, import, start threads
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time(), time.perf_counter()
    predict, loss, answer, stationarity = method(name, K, Y, options)
    seconds = time.process_time() - start[0], time.perf_counter() - start[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    residuals = ((Y_new - predict(K_new)) ** 2).sum(axis=0)
    r2 = 1.0 - residuals / ((Y_new - Y_new.mean(axis=0)) ** 2).sum(axis=0)
    first = slice(0, options.exact)
    told = {
        "seconds": seconds[0],
        "wall": seconds[1],
        "megabytes": (peak - before) / 1024 - answer / 2**20,
        "r2": float(np.nanmean(r2[signal])),
        "null": float(np.nanmean(r2[~signal])) if (~signal).any() else float("nan"),
        "first": float(np.mean(r2[first][signal[first]])),
        "loss": loss,
        "stationarity": stationarity,
    }
    print(json.dumps(told))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=["400x1000", "400x5000"])
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--search", type=int, default=100, help="candidates of the random search")
    parser.add_argument("--exact", type=int, default=50, help="targets that are solved alone")
    parser.add_argument("--backend", default="torch", choices=["torch", "numpy"], help="of himalaya")
    parser.add_argument("--standard-errors", type=float, default=1.0, help="that weights of a target have to gain")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        n, t = map(int, options.sizes[0].split("x"))
        measure(options.measure, n, t, options)
        return
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    for size in options.sizes:
        print(f"n x targets = {size}", flush=True)
        for name in options.methods:
            command = [sys.executable, __file__, "--measure", name, "--sizes", size]
            for key in ("search", "exact", "jobs", "backend"):
                command += [f"--{key}", str(getattr(options, key))]
            command += ["--standard-errors", str(options.standard_errors)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
            if done.returncode:
                print(f"  {name:24s} failed: {done.stderr.strip().splitlines()[-1]}", flush=True)
                continue
            told = json.loads(done.stdout.splitlines()[-1])
            called = f"{name}, {options.search}" if name == "random search" else name
            print(
                f"  {called:24s} {told['seconds']:8.1f} s ({told['wall']:.0f} s on the clock)  R2 {told['r2']:.4f}  "
                f"null {told['null']:.4f}  the first {options.exact}: {told['first']:.4f}  "
                f"{told['megabytes']:5.0f} MB above the answer  held-out error of these {told['loss']:.5f}  "
                f"stationarity {told['stationarity']:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
