"""Figure 10: even against odd digits of MNIST, the error against the largest degree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from multikernel import KernelBank, bind, kernels
from multikernel.machines import HingeMachine, MarginMachine
from multikernel.procedures import easymkl
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.dpp.protocol import OVO_LAM, fixed_weights
from multikernel.reproduce.experiment import Cell, Experiment, Figure, grid
from multikernel.reproduce.results import Results
from multikernel.typing import Array

PENALTIES = (1.0, 2.0, 4.0, 8.0, 16.0)
DEGREES = (1, 2, 3, 4, 5, *range(10, 41, 5))
METHODS = ("K_MKL", "K_D", "K_sum")
HELD_OUT = 10_000  # training digits by which C is chosen


@dataclass(frozen=True, eq=False)
class ParityTask:
    """A training bank with its targets, and the test samples with their targets."""

    bank: KernelBank
    target: Array
    test_samples: Array
    truth: Array


@lru_cache(maxsize=1)
def _tasks(source: DataSource, train: int, held_out: int, D: int) -> tuple[ParityTask, ParityTask]:
    """The task by which C is chosen, tested on the last training rows, and the reported one, tested on the test rows.

    The first task is fitted to the first ``train`` rows before the held-out ones. So is the second one where ``train``
    is less than the number of all training rows; otherwise it is fitted to all of these, with the held-out ones.
    """
    data = source.load("mnist")
    y = np.where(data.y % 2 == 0, 1.0, -1.0)
    split = np.asarray(data.split)
    training = np.flatnonzero(split == "train")
    test = np.flatnonzero(split == "test")
    fit_rows = training[:-held_out][:train]
    held_out_rows = training[-held_out:]
    family = kernels.homogeneous_polynomials(D)
    bank = bind(family, data.X[fit_rows])
    choice = ParityTask(bank, y[fit_rows], data.X[held_out_rows], y[held_out_rows])
    if train < len(training):
        return choice, ParityTask(bank, y[fit_rows], data.X[test], y[test])
    return choice, ParityTask(bind(family, data.X[training]), y[training], data.X[test], y[test])


def _weights(method: str, task: ParityTask) -> tuple[Array, float]:
    """The weights of the degrees, and the gap that they were learned to."""
    D = len(task.bank) - 1
    if method == "K_MKL":
        learned = easymkl(task.bank, task.target, MarginMachine(OVO_LAM, EXPERIMENT.tol))
        return learned.values, float(learned.gap or 0.0)
    return fixed_weights(D)[method], 0.0


def _errors(task: ParityTask, w: Array, penalties: Sequence[float]) -> tuple[list[float], float]:
    """The error of an SVM in percent for each C, and the largest gap; each fit starts from the one before."""
    gram = task.bank.combine(w)
    warm = None
    errors = []
    gaps = []
    for C in penalties:
        solution = HingeMachine(C).solve(gram, task.target, warm)
        warm = solution.warm
        gaps.append(solution.gap)
        S = np.flatnonzero(solution.coef)
        f = task.bank.reference(S).cross(task.test_samples).combine(w).multiply(solution.coef[S]) + solution.intercept
        errors.append(100.0 * float(np.mean((f >= 0) != (task.truth > 0))))
    return errors, max(gaps)


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    choice, final = _tasks(source, cell["train"], cell["held"], cell["D"])
    w, weights_gap = _weights(cell["method"], choice)
    held_out, held_out_gap = _errors(choice, w, PENALTIES)
    C = PENALTIES[int(np.argmin(held_out))]
    w, final_weights_gap = _weights(cell["method"], final)
    (error,), gap = _errors(final, w, (C,))
    return {
        "error": error,
        "C": C,
        "mean degree": float(w @ np.arange(len(w))),
        "certificate": max(held_out_gap, gap),
        "certificate of the weights": max(weights_gap, final_weights_gap),
    }


def _cells(quick: bool) -> Sequence[Cell]:
    if quick:
        return grid(data=["mnist"], train=[300], held=[300], D=[2, 10], method=METHODS)
    small = grid(data=["mnist"], train=[10_000], held=[HELD_OUT], D=DEGREES, method=METHODS)
    return [*small, *grid(data=["mnist"], train=[60_000], held=[HELD_OUT], D=[5, 10], method=METHODS)]


def _whole() -> Sequence[Cell]:
    return grid(data=["mnist"], train=[60_000], held=[HELD_OUT], D=DEGREES, method=METHODS)


def _draw(ax: Any, results: Results) -> None:
    of_size = results.where(train=results.values("train")[0])
    for method in METHODS:
        of_method = of_size.where(method=method)
        ax.plot(
            of_method.values("D"),
            [measurement["error"] for measurement in of_method.measurements],
            "o-",
            markersize=4,
            label=method,
        )
    ax.set(xlabel="largest degree D", ylabel="error in %")
    ax.legend(frameon=False)


EXPERIMENT = Experiment(
    paper="dpp",
    name="parity",
    title="MNIST, even against odd",
    protocol=(
        "Even digits are labelled +1. EasyMKL on the degrees 0 to D (with lam = 0.01, which the paper does not state) "
        "is compared with the kernel of degree D alone and with the mean of all degrees. On each of these kernels a "
        "support vector machine is trained, whose C from 1 to 16 is chosen by the error on the last 10,000 training "
        "digits. A usual run has all D with 10,000 training digits, and two of them with all 60,000. The figure of the "
        "paper has no numbers."
    ),
    cells=_cells,
    measure=_measure,
    figures=(10,),
    tol=1e-4,
    seconds=45.0,
    whole=_whole,
    part=(
        "The paper trains on 60,000 digits at all D. A usual run does so at two of twelve D. All 36 cells of the whole "
        "protocol were run and are kept; they took 3.5 processor hours, and up to 8.9 GB, where with a single high "
        "degree nearly all digits are support vectors. At D = 1 EasyMKL did not converge (its gap is 1); its weights "
        "are right all the same, as that of degree 0 is always 0. All other gaps that were recorded, which six "
        "older cells have not, are at most 1e-3."
    ),
    draw=(
        Figure(
            "Error against the largest degree",
            "A single high degree (K_D) fails; the learned combination (K_MKL) and the mean (K_sum) do not.",
            _draw,
        ),
    ),
)
