"""Support-vector MKL: time to a certified gap, against a loop around scikit-learn's SVC, and how time grows.

    python benchmarks/svm_mkl.py cancer      403 kernels on breast cancer 70/30: gaps 1e-2, 1e-3, 1e-6, memory
    python benchmarks/svm_mkl.py norms       L1, Lp and smoothed MKL, and the solvers by name, on the same bank
    python benchmarks/svm_mkl.py kernels     time against the number of kernels, 50 to 5000, with the slope
    python benchmarks/svm_mkl.py samples     time against the number of samples, 200 to 5000, with the slope
    python benchmarks/svm_mkl.py million     a million kernels given by description, on Sonar
    python benchmarks/svm_mkl.py path        20 values of C, warm against cold

Everything of one table is measured in one run, in turn, and told as medians; ``fit`` includes making the kernels.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import multikernel as mk
from multikernel import kernels
from multikernel.banks import KernelBank

ROUNDS = 5
Array = Any


def cancer() -> tuple[Array, Array]:
    """The 70/30 split of the comparison: standardised, labels -1 and +1."""
    X, y = load_breast_cancer(return_X_y=True)
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    return StandardScaler().fit_transform(X_train), np.where(y_train == 1, 1, -1)


def scaled(family: Any, X: Array) -> KernelBank:
    """Every kernel with mean self-value 1, stored as the estimators store large stacks."""
    bank = mk.bind(family, X, dtype=np.float32)
    return bank.scaled(len(X) / bank.traces())


def peak() -> float:
    """The largest memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def medians(runs: dict[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, tuple[float, Any]]:
    """Seconds (median) and the last result of every run, in turns after one untimed turn."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    results = {name: run() for name, run in runs.items()}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            results[name] = run()
            times[name].append(time.perf_counter() - start)
    return {name: (float(np.median(times[name])), results[name]) for name in runs}


def svc_loop(K: Array, y: Array, C: float, steps: int = 63) -> Array:
    """What a user writes: weights by their parts of the norm, a support vector machine from scratch each time."""
    weights = np.full(len(K), 1.0 / len(K))
    for _ in range(steps):
        svc = SVC(C=C, kernel="precomputed").fit((weights @ K.reshape(len(K), -1)).reshape(K.shape[1:]), y)
        a = np.zeros(len(y))
        a[svc.support_] = svc.dual_coef_[0]
        parts = weights * np.sqrt(np.maximum(((K @ a) @ a), 0.0))
        weights = parts / parts.sum()
    return weights


def l1(bank: KernelBank, y: Array, tol: float, C: float = 10.0, **how: Any) -> Any:
    return mk.L1MKLClassifier("precomputed", C=C, tol=tol, **how).fit(bank, y)


def told(name: str, seconds: float, model: Any) -> None:
    print(
        f"{name:34s} {seconds:8.3f} s   gap {model.duality_gap_:.1e}   value {float(model.objective_):.8g}   "
        f"{int((model.weights_ > 0).sum())} kernels"
    )


def run_cancer() -> None:
    X, y = cancer()
    before = peak()
    bank = scaled(kernels.rls2_basis(), X)
    stack = len(bank) * len(y) * (len(y) + 1) * 4
    print(f"{len(bank)} kernels, n = {len(y)}; a stack of their halves takes {stack / 1e6:.0f} MB")
    runs = {f"L1-MKL, tol {tol:g}": (lambda tol=tol: l1(bank, y, tol)) for tol in (1e-2, 1e-3, 1e-6)}
    runs["bind"] = lambda: scaled(kernels.rls2_basis(), X)
    found = medians({**runs})
    print(
        f"memory: {peak() - before:.0f} MB above that of the imports and the data, the second stack of 'bind' included"
    )
    K = bank.matrices().astype(float)
    found |= medians({"loop around SVC, 63 steps": lambda: svc_loop(K, y, 10.0)}, rounds=3)
    for name, (seconds, result) in found.items():
        if hasattr(result, "duality_gap_"):
            told(name, seconds, result)
        else:
            print(f"{name:34s} {seconds:8.3f} s")
    weights = found["loop around SVC, 63 steps"][1]
    best = float(found["L1-MKL, tol 1e-06"][1].objective_)
    value = mk.AverageMKLClassifier("precomputed", C=10.0).fit(np.tensordot(weights, K, 1)[None], y)
    a = np.abs(value.dual_coef_)
    J = a.sum() - 0.5 * value.dual_coef_ @ np.tensordot(weights, K, 1) @ value.dual_coef_
    print(f"the loop's value is {J:.6g}, {J / best - 1:.2%} above the certified optimum")
    loop = found["loop around SVC, 63 steps"][0]
    for name in runs:
        if name != "bind":
            print(f"the loop takes {loop / found[name][0]:.1f} times as long as {name}")


def run_norms() -> None:
    X, y = cancer()
    bank = scaled(kernels.rls2_basis(), X)
    runs: dict[str, Callable[[], Any]] = {"L1": lambda: l1(bank, y, 1e-3)}
    for p in (1.1, 1.5, 2.0, 4.0):
        runs[f"Lp, p = {p}"] = lambda p=p: mk.LpMKLClassifier("precomputed", p=p, C=10.0, tol=1e-3).fit(bank, y)
    runs["smoothed, s = 1"] = lambda: mk.SMKLClassifier("precomputed", C=10.0, tol=1e-3).fit(bank, y)
    found = medians(runs)
    base = found["L1"][0]
    for name, (seconds, model) in found.items():
        told(name, seconds, model)
        print(f"    {seconds / base:.2f} times L1")
    print("solvers by name, gap 1e-2, at most 200 machines")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for solver in ("level", "cutting_plane", "reduced_gradient", "subgradient"):
            start = time.perf_counter()
            model = l1(bank, y, 1e-2, solver=solver, max_iter=200)
            told(solver, time.perf_counter() - start, model)


def slope(sizes: list[int], seconds: list[float]) -> float:
    """The exponent e of seconds = c size^e, by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def run_kernels() -> None:
    X, y = cancer()
    sizes, times = [50, 150, 500, 1500, 5000], []
    p = X.shape[1]
    widths = np.logspace(-3, 1, -(-5000 // (p + 1)))
    family = list(kernels.per_feature(kernels.rbf_grid(widths)).resolve(mk.kernels.Features(p)))
    family += list(kernels.rbf_grid(widths))
    order = np.random.default_rng(0).permutation(len(family))
    for m in sizes:
        own = [family[k] for k in order[:m]]
        runs = {"fit": lambda own=own: mk.L1MKLClassifier(own, C=10.0, tol=1e-3).fit(X, y)}
        seconds, model = medians(runs, rounds=3)["fit"]
        told(f"m = {m}, with making the kernels", seconds, model)
        times.append(seconds)
    print(f"time grows as m^{slope(sizes, times):.2f}")


def run_samples() -> None:
    X, y = make_classification(5000, 20, n_informative=8, flip_y=0.05, random_state=0)
    X = StandardScaler().fit_transform(X)
    sizes, times = [200, 500, 1000, 2000, 5000], []
    family = kernels.rbf_grid(np.logspace(-3, 0, 10)) + kernels.per_feature(kernels.RBF(0.5))
    for n in sizes:
        runs = {"fit": lambda n=n: mk.L1MKLClassifier(family, C=1.0, tol=1e-3).fit(X[:n], y[:n])}
        seconds, model = medians(runs, rounds=3 if n <= 2000 else 1)["fit"]
        told(f"n = {n}, {len(model.weights_)} kernels", seconds, model)
        print(f"    {int((model.dual_coef_ != 0).sum())} support vectors")
        times.append(seconds)
    print(f"time grows as n^{slope(sizes, times):.2f}")


def run_million() -> None:
    data = mk.datasets.load("sonar")
    X = StandardScaler().fit_transform(data.X)
    family = kernels.rbf_subsets(3, 2.0 ** np.arange(-18, 10))
    start = time.perf_counter()
    model = mk.L1MKLClassifier(family, C=10.0, tol=1e-3).fit(X, data.y)
    told(f"{len(model.weights_)} kernels, n = {len(X)}", time.perf_counter() - start, model)
    print(f"memory: {peak():.0f} MB in all")


def run_path() -> None:
    X, y = cancer()
    bank = scaled(kernels.rls2_basis(), X)
    values = np.logspace(-2, 2, 20)
    runs = {
        "warm": lambda: mk.path(mk.L1MKLClassifier("precomputed", tol=1e-3), bank, y, "C", values),
        "cold": lambda: [l1(bank, y, 1e-3, C=C) for C in values],
    }
    found = medians(runs, rounds=3)
    for name, (seconds, _) in found.items():
        print(f"{name:10s} {seconds:8.3f} s for {len(values)} values of C")


if __name__ == "__main__":
    tables = {name[4:]: run for name, run in list(globals().items()) if name.startswith("run_")}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=[*tables, "all"])
    asked = parser.parse_args().table
    for name in tables if asked == "all" else [asked]:
        print(f"-- {name}")
        tables[name]()
