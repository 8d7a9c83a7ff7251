"""Polynomial kernel ridge regression: the published gradient, the trust region, and what else there is, compared.

    python benchmarks/nkrr_solvers.py [--data-dir DIR] [--uncentred] [--all] [ionosphere sonar]

Problems: one linear kernel on each feature, features scaled to [0, 1] and centred, labels centred; weights in the ball
of some radius around 1 in the 2-norm; degrees 1 to 3, alpha 1e-4 to 1e2, radii 0.1 to 100. Every solver starts at
the same point and is to reach a certificate of 1e-8 with at most 500 machines. "printed rule" is the published gradient
ended as printed, once |theta' - theta| < 1e-3, whatever the certificate.

A line sums up the problems of one degree: the median and the largest number of machines, the median time, how many
problems were solved, the worst certificate, and the largest value relative to the best of all solvers. The certificate
is the duality gap for degree 1, else the stationarity. With ``--all`` every problem has lines of its own.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from multikernel import KernelBank, bind, datasets, kernels
from multikernel.combinations import HadamardPower, Linear
from multikernel.domains import NormBall
from multikernel.machines import RidgeMachine
from multikernel.optimizers import Optimizer, ProjectedGradient, QuasiNewton
from multikernel.optimizers.published_gradient import PublishedGradient
from multikernel.optimizers.ridge.interpolated import Interpolated
from multikernel.optimizers.ridge.sphere import SphereTrustRegion
from multikernel.problem import Problem

Array = Any
TOL, MOST = 1e-8, 500
DEGREES = (1, 2, 3)
ALPHAS = [10.0**e for e in range(-4, 3)]
RADII = (0.1, 1.0, 10.0, 100.0)
ROUNDS = 3
SOLVERS: dict[str, Optimizer] = {
    "printed rule": PublishedGradient(1e-15, MOST, change=1e-3),
    "published gradient": PublishedGradient(TOL, MOST),
    "interpolated": Interpolated(TOL, MOST),
    "spectral gradient": ProjectedGradient(TOL, MOST),
    "quasi-Newton": QuasiNewton(TOL, MOST),
    "trust region": SphereTrustRegion(TOL, MOST),
}


@dataclass(frozen=True)
class Run:
    """One solver on one problem."""

    solver: str
    degree: int
    alpha: float
    radius: float
    machines: int
    seconds: float
    certificate: float
    value: float
    excess: float = 0.0  # of the value over the best one known, relative


def problems(name: str, data_dir: str, centred: bool) -> tuple[KernelBank, Array]:
    """The kernels and the labels -1 and +1 of a data set."""
    data = datasets.load(name, data_dir)
    X = np.asarray(data.X, dtype=float)
    X = (X - X.min(axis=0)) / np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1.0)
    labels = np.unique(data.y)
    return bind(kernels.linear_features(), X - X.mean(axis=0) if centred else X), np.where(
        data.y == labels[0], -1.0, 1.0
    )


def runs(bank: KernelBank, y: Array, degree: int) -> Iterator[Run]:
    """Every solver on every problem of a degree."""
    for alpha in ALPHAS:
        for radius in RADII:
            combination = Linear() if degree == 1 else HadamardPower(degree)
            problem = Problem(bank, combination, RidgeMachine(alpha), NormBall(2.0, radius, center=1.0), y)
            names = [name for name in SOLVERS if degree == 1 or name != "interpolated"]
            found = [measured(name, problem, degree, alpha, radius) for name in names]
            best = min(run.value for run in found)
            yield from (replace(run, excess=run.value / best - 1.0) for run in found)


def measured(name: str, problem: Problem, degree: int, alpha: float, radius: float) -> Run:
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        found = SOLVERS[name].minimise(problem)
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > 0.3:
            break
    return Run(name, degree, alpha, radius, found.n_iter, min(seconds), found.certificate, found.evaluation.value)


def table(name: str, all_runs: list[Run]) -> None:
    print(f"\n{name}: degree, solver, machines median (most), ms, solved, worst certificate, largest excess of F")
    for degree in DEGREES:
        for solver in SOLVERS:
            of = [run for run in all_runs if (run.degree, run.solver) == (degree, solver)]
            if not of:
                continue
            machines = [run.machines for run in of]
            print(
                f"{degree}  {solver:18s}  {np.median(machines):5.0f} ({max(machines):3d})"
                f"  {1e3 * np.median([run.seconds for run in of]):7.1f}"
                f"  {sum(run.certificate <= TOL for run in of):3d}/{len(of)}"
                f"  {max(run.certificate for run in of):8.0e}  {max(run.excess for run in of):8.0e}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["ionosphere", "sonar"])
    parser.add_argument("--data-dir", default=os.environ.get("MULTIKERNEL_DATA", "../shared/data"))
    parser.add_argument("--uncentred", action="store_true", help="leave the features in [0, 1]")
    parser.add_argument("--all", action="store_true", help="a line for every solver and problem")
    args = parser.parse_args()
    for name in args.names:
        bank, y = problems(name, args.data_dir, not args.uncentred)
        found = [run for degree in DEGREES for run in runs(bank, y, degree)]
        if args.all:
            for run in found:
                print(
                    f"{name} degree {run.degree} alpha {run.alpha:<6g} radius {run.radius:<4g} {run.solver:18s}"
                    f" {run.machines:4d} machines {1e3 * run.seconds:8.1f} ms  certificate {run.certificate:8.1e}"
                    f"  F {run.value:.10g} excess {run.excess:8.1e}"
                )
        table(name, found)


if __name__ == "__main__":
    main()
