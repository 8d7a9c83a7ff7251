"""The numbers that depend on the machine, each at its value and at others: seconds of the fits that it decides on.

    python benchmarks/tuning.py                                   lists the numbers that can be tried
    python benchmarks/tuning.py NAME [--values 1e3,2e3] [--rounds 3]

Each value has a process of its own, in which the number is set before anything else of the package is read; there the
fit is made once for what is compiled, then so many times. Without --values a fourth of the number, the number itself
and four times as much are tried. A number that is well chosen has the smallest seconds, or seconds that differ little.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import multikernel.tuning as tuning


def samples(n: int, p: int = 20) -> tuple[Any, Any]:
    """A smooth function of some of the features with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + 0.3 * rng.normal(size=n)


def widths(count: int) -> Any:
    from multikernel import kernels

    return kernels.rbf_grid(np.logspace(-3, 0, count))


def support(n: int, m: int = 20) -> None:
    from multikernel import L1MKLClassifier

    X, y = samples(n)
    L1MKLClassifier(widths(m)).fit(X, y > np.median(y))


def linear_support(n: int, p: int) -> None:
    from multikernel import L1MKLClassifier, kernels

    X, y = samples(n, p)
    L1MKLClassifier(kernels.per_feature(kernels.Linear())).fit(X, y > np.median(y))


def rls2(n: int, p: int = 20, linear: bool = False) -> None:
    from multikernel import RLS2Regressor, kernels

    X, y = samples(n, p)
    RLS2Regressor(kernels.per_feature(kernels.Linear() if linear else kernels.RBF(0.5))).fit(X, y)


def polynomial(n: int, m: int, degree: int = 2) -> None:
    from multikernel import PolynomialMKLRegressor

    X, y = samples(n)
    PolynomialMKLRegressor(widths(m), degree=degree).fit(X, y)


def ridge_cv(n: int, p: int) -> None:
    from multikernel import MultipleKernelRidgeCV, kernels

    X, y = samples(n, p)
    MultipleKernelRidgeCV(kernels.per_feature(kernels.Linear())).fit(X, y)


def scales(n: int) -> None:
    from multikernel import LearnedScalesRegressor

    X, y = samples(n)
    LearnedScalesRegressor().fit(X, y)


def hierarchical(n: int) -> None:
    from multikernel import HKLRegressor

    X, y = samples(n, 8)
    HKLRegressor().fit(X, y)


def factorised(n: int) -> None:
    from multikernel.numerics.cholesky import factorise

    K = np.full((n, n), 1.0, order="F")
    K.flat[:: n + 1] += 2.0
    factorise(K)


def inverted(n: int) -> None:
    from multikernel.procedures.ridge_cv import Folds
    from multikernel.procedures.ridge_cv.residuals import HeldOut

    HeldOut(np.ones((n, 1)), Folds(np.arange(n) % 5, 5)).residuals(np.eye(n))


def doubled(n: int) -> None:
    from multikernel._linalg import product, squared

    F = np.random.default_rng(0).normal(size=(n, 500)).astype(np.float32)
    product(F, np.ones((500, 4)))
    squared(F)


FITS: dict[str, Callable[[], object]] = {
    "PIECE_VALUES": lambda: doubled(50_000),
    "TILE_ROWS": lambda: inverted(3000),
    "ALL_SAMPLES": lambda: (support(1500), rls2(2000)),
    "CHOLESKY_ROWS": lambda: factorised(8000),
    "INTERIOR_SAMPLES": lambda: support(6000, 5),
    "INTERIOR_FEATURES": lambda: linear_support(20_000, 400),
    "ROUNDS_TRIED": lambda: support(2000),
    "ROUNDS_PRODUCTS": lambda: support(2000, 50),
    "WORKING_ALL": lambda: support(300, 1500),
    "WORKING_FIRST": lambda: support(300, 3000),
    "RLS2_FEATURES_FROM": lambda: rls2(800, 20, linear=True),
    "RLS2_HALF_FROM": lambda: rls2(9000, 5),
    "BASIS_OPERATIONS": lambda: rls2(50_000, 800, linear=True),
    "KEPT_BYTES": lambda: rls2(20_000, 200, linear=True),
    "HESSIAN_WEIGHTS": lambda: polynomial(300, 1200),
    "HESSIAN_WEIGHTS_CUBIC": lambda: polynomial(300, 120, 3),
    "NEWTON_WEIGHTS": lambda: polynomial(300, 60),
    "FOLD_COORDINATES": lambda: ridge_cv(5000, 300),
    "FOLD_SUMS": lambda: ridge_cv(5000, 500),
    "JACOBIAN_COLUMNS": lambda: scales(400),
    "ORDER_SMALL": lambda: scales(600),
    "SCALES_ONE_THREAD": lambda: scales(2500),
    "STRETCH": lambda: hierarchical(300),
    "HKL_CHILDREN": lambda: hierarchical(300),
}


def measure(name: str, value: float, rounds: int) -> None:
    """Set the number, and print the seconds of each round."""
    known = getattr(tuning, name)
    setattr(tuning, name, type(known)(value))
    FITS[name]()
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        FITS[name]()
        seconds.append(time.perf_counter() - began)
    mark = "  <- now" if value == known else ""
    print(f"{name} = {value:<12g} {min(seconds):8.3f} s (of {rounds}: {max(seconds):.3f} s at most){mark}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=sorted(FITS), metavar="NAME")
    parser.add_argument("--values", type=lambda text: [float(each) for each in text.split(",")])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.name is None:
        for name in FITS:
            print(f"{name} = {getattr(tuning, name):g}")
        return
    known = float(getattr(tuning, given.name))
    values = given.values or [known / 4.0, known, 4.0 * known]
    if len(values) == 1:
        measure(given.name, values[0], given.rounds)
        return
    for value in values:
        command = [sys.executable, __file__, given.name, "--values", repr(value), "--rounds", str(given.rounds)]
        subprocess.run(command, check=True, env=os.environ)


if __name__ == "__main__":
    main()
