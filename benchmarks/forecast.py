"""Forecasts beside the truth: processor seconds and peak memory of thirty fits of one thread.

    python benchmarks/forecast.py [--out FILE] [--only PART]

Each fit runs in a process of its own after one to half of the samples, which loads what is compiled. Its memory is the
peak of the process less what it held before. Results are appended to a file of one line each, and those that are there
already are not computed again; a table of all, and how many are right within a factor of two, is printed at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.preprocessing import StandardScaler

import multikernel as mk
from multikernel import kernels

Samples = Callable[[int], tuple[Any, Any]]
PAGE = os.sysconf("SC_PAGE_SIZE")


def classes(n: int, features: int = 20, count: int = 2, noisy: bool = True) -> tuple[Any, Any]:
    """Two or more classes, one sample in ten of the wrong one where they are noisy."""
    flipped, apart = (0.1, 0.8) if noisy else (0.0, 2.5)
    X, y = make_classification(
        n, features, n_informative=8, n_redundant=0, n_classes=count, flip_y=flipped, class_sep=apart, random_state=0
    )
    return StandardScaler().fit_transform(X), y


def numbers(n: int, features: int = 20, noise: float = 1.0) -> tuple[Any, Any]:
    """Friedman's first function of the first five features."""
    X, y = make_friedman1(n, features, noise=noise, random_state=0)
    return StandardScaler().fit_transform(X), y


def widths(m: int) -> kernels.KernelFamily:
    """Gaussians on all features."""
    return kernels.rbf_grid(np.geomspace(1e-3, 1.0, m))


def thirty() -> kernels.KernelFamily:
    """Ten widths on all features, and one on each of twenty."""
    return widths(10) + kernels.per_feature(kernels.RBF(0.5))


def each(count: int) -> kernels.KernelFamily:
    """So many widths on each feature."""
    return kernels.per_feature([kernels.RBF(float(gamma)) for gamma in np.geomspace(0.05, 5.0, count)])


def matrices(n: int, samples: Samples = classes) -> tuple[Any, Any]:
    """Ten kernel matrices in place of samples."""
    X, y = samples(n)
    return mk.bind(widths(10), X).matrices(), y


easy, four = partial(classes, noisy=False), partial(classes, count=4)
PROBLEMS: dict[str, tuple[int, Samples, Callable[[], Any]]] = {
    "L1, noisy": (2000, classes, lambda: mk.L1MKLClassifier(thirty(), C=1.0, tol=1e-3)),
    "L1, large C": (2000, classes, lambda: mk.L1MKLClassifier(thirty(), C=100.0, tol=1e-3)),
    "L1, small C": (1000, classes, lambda: mk.L1MKLClassifier(thirty(), C=0.1)),
    "L1, easy": (1500, easy, lambda: mk.L1MKLClassifier(thirty(), C=10.0, tol=1e-3)),
    "L1, 400 kernels": (600, classes, lambda: mk.L1MKLClassifier(each(20), C=1.0, tol=1e-3)),
    "L1, 3 kernels": (4000, classes, lambda: mk.L1MKLClassifier(widths(3), C=10.0)),
    "L1, 4 classes": (1200, four, lambda: mk.L1MKLClassifier(thirty(), C=1.0, tol=1e-3)),
    "L1, 4 classes in pairs": (1200, four, lambda: mk.L1MKLClassifier(thirty(), C=1.0, tol=1e-3, multiclass="ovo")),
    "L1, numbers": (1000, numbers, lambda: mk.L1MKLRegressor(thirty(), C=10.0, epsilon=0.5, tol=1e-3)),
    "L1, numbers, C chosen": (1000, numbers, lambda: mk.L1MKLRegressor(widths(10))),
    "L1, 100 features": (
        3000,
        partial(classes, features=100),
        lambda: mk.L1MKLClassifier(kernels.linear_features(), C=1.0),
    ),
    "Lp": (3000, classes, lambda: mk.LpMKLClassifier(thirty(), C=1.0, tol=1e-3)),
    "Lp, probabilities": (1200, classes, lambda: mk.LpMKLClassifier(thirty(), C=1.0, probability="platt")),
    "Lp, numbers": (800, numbers, lambda: mk.LpMKLRegressor(each(5), C=1.0, epsilon=0.5)),
    "Lp, matrices": (1500, matrices, lambda: mk.LpMKLClassifier("precomputed", C=1.0)),
    "SMKL, noisy": (1500, classes, lambda: mk.SMKLClassifier(thirty(), C=1.0, tol=1e-3)),
    "SMKL, easy": (500, easy, lambda: mk.SMKLClassifier(each(5), C=10.0)),
    "EasyMKL, lam chosen": (2000, classes, lambda: mk.EasyMKLClassifier(thirty())),
    "EasyMKL, powers": (3000, easy, lambda: mk.EasyMKLClassifier(lam=0.1)),
    "RLS2, alpha chosen": (1500, classes, lambda: mk.RLS2Classifier(thirty())),
    "RLS2, 400 kernels": (500, numbers, lambda: mk.RLS2Regressor(each(20), alpha=1e-3)),
    "RLS2, 3 kernels": (2000, numbers, lambda: mk.RLS2Regressor(widths(3), alpha=1e-3)),
    "average, C chosen": (2500, classes, lambda: mk.AverageMKLClassifier(thirty())),
    "average, numbers": (2000, numbers, lambda: mk.AverageMKLRegressor(thirty())),
    "GMKL, sum": (1000, classes, lambda: mk.GMKLClassifier(thirty(), C=1.0)),
    "GMKL, product": (
        1200,
        partial(classes, features=10),
        lambda: mk.GMKLClassifier(combination="rbf_product", C=1.0),
    ),
    "polynomials of degree 2": (1500, partial(numbers, features=10), lambda: mk.PolynomialMKLRegressor(alpha=1.0)),
    "polynomials of degree 1": (1200, numbers, lambda: mk.PolynomialMKLRegressor(thirty(), alpha=1.0, degree=1)),
    "ridge, held out": (1000, numbers, lambda: mk.MultipleKernelRidgeCV(thirty())),
    "ridge, 100 kernels": (700, numbers, lambda: mk.MultipleKernelRidgeCV(each(5))),
}


def measured(name: str) -> dict[str, Any]:
    """The forecast and the fit in this process."""
    n, samples, make = PROBLEMS[name]
    warnings.simplefilter("ignore")
    make().fit(*samples(n // 2))
    X, y = samples(n)
    told = make().forecast(X, y)
    before = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    start = time.process_time()
    make().fit(X, y)
    seconds = time.process_time() - start
    return {
        "problem": name,
        "samples": n,
        "kernels": told.kernels,
        "told_seconds": round(told.seconds, 3),
        "seconds": round(seconds, 3),
        "told_mb": round(told.bytes / 1e6, 1),
        "mb": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before) / 1e6, 1),
    }


def table(lines: list[dict[str, Any]]) -> str:
    """All results, and how many are right within a factor of two."""
    rows = ["| problem | samples | kernels | told | taken | ratio | told | taken | ratio |", "|---" * 9 + "|"]
    ratios = []
    for line in lines:
        time_ratio, memory_ratio = line["told_seconds"] / line["seconds"], line["told_mb"] / line["mb"]
        ratios.append((time_ratio, memory_ratio))
        rows.append(
            f"| {line['problem']} | {line['samples']:,} | {line['kernels']} | {line['told_seconds']:.2f} s | "
            f"{line['seconds']:.2f} s | {time_ratio:.2f} | {line['told_mb']:.0f} MB | {line['mb']:.0f} MB | "
            f"{memory_ratio:.2f} |"
        )
    right = [sum(0.5 <= pair[which] <= 2.0 for pair in ratios) for which in (0, 1)]
    return "\n".join([*rows, f"\nWithin a factor of two: {right[0]} times and {right[1]} memories of {len(lines)}"])


def main() -> None:
    """All fits that are not in the file yet, each in a process of its own with one thread."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("forecast.jsonl"))
    parser.add_argument("--only", default="", help="problems whose name has this part")
    parser.add_argument("--one", metavar="PROBLEM", help="one fit in this process")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.one)))
        return
    lines = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    known = {line["problem"] for line in lines}
    one_thread = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    for name in (name for name in PROBLEMS if given.only in name and name not in known):
        command = [sys.executable, __file__, "--one", name]
        found = subprocess.run(command, check=True, capture_output=True, text=True, env=one_thread)
        lines.append(json.loads(found.stdout.strip().splitlines()[-1]))
        with given.out.open("a") as out:
            out.write(json.dumps(lines[-1]) + "\n")
    print(table(lines))


if __name__ == "__main__":
    main()
