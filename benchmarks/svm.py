"""Support vector machines on precomputed kernels, side by side with libsvm in one run: time to the same certified gap.

    python benchmarks/svm.py [--rounds 7] [--only breast digits ...] [--data DIR]

One solve from nothing for each C, and a path of 15 values of C, ours from the solution before and libsvm from nothing.
libsvm's own ``tol`` is the largest of a grid whose dual solution has a gap, computed here, of at most the one asked
for; only its fit is timed. The two alternate, and the medians of paired ratios of processor time are told: above 1
means that multikernel is faster. One BLAS thread.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import warnings
from functools import partial
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel.banks import DenseGram
from multikernel.machines import HingeMachine

GAPS = (1e-2, 1e-3, 1e-5)
PATH = np.geomspace(0.1, 100.0, 15)
VIOLATIONS = 10.0 ** np.arange(0.0, -12.1, -0.25)


def table(path, n=None):
    """A table of numbers whose last column is the target."""
    import pandas as pd

    frame = pd.read_csv(path)
    if n is not None and len(frame) > n:
        frame = frame.sample(n, random_state=0)
    X = pd.get_dummies(frame.iloc[:, :-1]).to_numpy(dtype=float)
    return X, frame.iloc[:, -1].to_numpy()


def digits(first, second):
    X, y = load_digits(return_X_y=True)
    keep = np.isin(y, [first, second])
    return X[keep], y[keep]


def mnist(directory, n):
    import gzip

    with gzip.open(directory / "mnist-train-images-idx3-ubyte.gz") as f:
        X = np.frombuffer(f.read(16 + 784 * n)[16:], np.uint8).reshape(n, 784) / 255.0
    with gzip.open(directory / "mnist-train-labels-idx1-ubyte.gz") as f:
        y = np.frombuffer(f.read(8 + n)[8:], np.uint8)
    return X, y >= 5


def problems(directory):
    """Name: (X, labels or numbers of which the upper half is one class)."""
    yield "digits 3 against 8", lambda: digits(3, 8)
    yield "breast cancer", lambda: load_breast_cancer(return_X_y=True)
    yield "digits, odd", lambda: (load_digits().data, load_digits().target % 2)
    for name, n in (("diabetes_pima", None), ("german", None), ("splice", None), ("abalone", None), ("kin8nm", 5000)):
        if (directory / f"{name}.csv.gz").exists():
            yield name, lambda name=name, n=n: table(directory / f"{name}.csv.gz", n)
    if (directory / "mnist-train-images-idx3-ubyte.gz").exists():
        yield "mnist, upper digits", lambda: mnist(directory, 3000)


def kernel(X, y):
    X = StandardScaler().fit_transform(X)
    y = np.asarray(y)
    upper = y == np.unique(y)[-1] if len(np.unique(y)) == 2 else y.astype(float) > np.median(y.astype(float))
    D = euclidean_distances(X, squared=True)
    return np.exp(-D / np.median(D)), np.where(upper, 1.0, -1.0)


def libsvm(K, y, C, gap):
    """A fit with the largest tolerance that reaches the gap, as a function."""
    program, gram = HingeMachine(C).program(y), DenseGram(K)
    for violation in VIOLATIONS:
        fit = SVC(C=C, kernel="precomputed", tol=violation, cache_size=1000).fit
        model = fit(K, y)
        a = np.zeros(len(y))
        a[model.support_] = np.abs(model.dual_coef_[0])
        f = gram.multiply(y * a)
        excess = program.gap(a, f, program.best_intercept(f))
        if excess <= gap * (program.dual(a, float(y * a @ f)) + excess):
            break
    return lambda: fit(K, y)


def seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def paired(ours, theirs, rounds):
    """Median seconds of ours, and the median ratio."""
    times = []
    for turn in range(rounds):
        pair = [seconds(f) for f in ((ours, theirs) if turn % 2 else (theirs, ours))]
        times.append(pair if turn % 2 else pair[::-1])
    return statistics.median(own for own, _ in times), statistics.median(other / own for own, other in times)


def walk(gram, y, gap):
    """The path, each solve from the one before."""
    warm = None
    for C in PATH:
        warm = HingeMachine(C, tol=gap).solve(gram, y, warm).warm


def all_of(fits):
    for fit in fits:
        fit()


def compare(name, K, y, rounds):
    gram = DenseGram(K)
    for gap in GAPS:
        title = f"{name:20s} n = {len(y):4d}  gap {gap:.0e}"
        for C in (0.1, 1.0, 10.0, 100.0):
            machine = HingeMachine(C, tol=gap)
            found = machine.solve(gram, y)
            own, ratio = paired(partial(machine.solve, gram, y), libsvm(K, y, C, gap), rounds)
            told = f"{found.n_iter} steps, gap {found.gap:.0e}{'' if found.converged else ', NOT CONVERGED'}"
            print(f"{title}  C = {C:5.1f}  {own * 1e3:8.2f} ms  libsvm / ours {ratio:6.2f}  ({told})", flush=True)
        fits = [libsvm(K, y, C, gap) for C in PATH]
        own, ratio = paired(partial(walk, gram, y, gap), partial(all_of, fits), max(rounds // 2, 3))
        print(f"{title}  path of {len(PATH)}  {own * 1e3:6.2f} ms  libsvm / ours {ratio:6.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="*", help="beginnings of names")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MULTIKERNEL_DATA", "../shared/data")))
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    for name, data in problems(options.data):
        if not options.only or name.startswith(tuple(options.only)):
            compare(name, *kernel(*data()), options.rounds)
