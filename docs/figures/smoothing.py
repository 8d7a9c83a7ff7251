"""Draws docs/images/smoothing.png: smoothed multiple kernel learning on a real problem.

Left: how fast the two methods approach the smoothed optimum, beside what the theorem guarantees for the published one.
Right: how the smoothed optimum approaches that of L1-MKL as the smoothing vanishes, beside its bound (s/2) log m.

    python docs/figures/smoothing.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from multikernel import KernelBank, bind, kernels
from multikernel.combinations import Linear
from multikernel.domains import Simplex
from multikernel.machines import HingeMachine
from multikernel.optimizers import LevelMethod
from multikernel.problem import Problem
from multikernel.procedures.nesterov import nesterov
from multikernel.procedures.smoothed import smoothed

OUT = Path(__file__).parents[1] / "images" / "smoothing.png"
C, SMOOTHING, STEPS = 1.0, 1.0, 10_000
OURS, PUBLISHED, BOUND, INK = "#4a7fe0", "#dd8a33", "#8d96a8", "#30343c"


def problem() -> tuple[KernelBank, Any]:
    """The first 120 samples of the Wisconsin breast cancer data, four widths on each of three groups of features."""
    X, labels = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:120]
    groups = [list(range(start, start + 10)) for start in (0, 10, 20)]  # means, standard errors, worst values
    each = [kernels.RBF(gamma).on(group) for group in groups for gamma in (0.003, 0.03, 0.3, 3.0)]
    return bind(each, X), np.where(labels[:120] == 1, 1.0, -1.0)


def convergence(ax: Any, bank: KernelBank, y: Any) -> None:
    best = smoothed(bank, y, C, SMOOTHING, tol=1e-11, max_iter=STEPS)
    optimum, errors = best.objective, []
    smoothed(bank, y, C, SMOOTHING, tol=1e-11, max_iter=STEPS, observe=lambda k, value, gap: errors.append(value))
    ours = np.array(errors) - optimum
    run = nesterov(bank, y, C, SMOOTHING, 0.0, STEPS, printed=False)
    steps = np.arange(1, STEPS + 1)
    shown = ours > 1e-10 * abs(optimum)
    ax.loglog(steps, run.guarantee(best.a), "--", color=BOUND)
    ax.loglog(steps, run.values_of_steps - optimum, color=PUBLISHED)
    ax.loglog(steps[: len(ours)][shown], ours[shown], color=OURS)
    ax.text(45, 1.2e4, "guarantee of the theorem", color=BOUND)
    ax.text(1.2, 25, f"published: fixed steps 1/L, L = {run.lipschitz:,.0f}", color=PUBLISHED)
    ax.text(75, 1e-4, "step lengths found on the way,\nmomentum restarted", color=OURS)
    ax.set(xlabel="gradients", ylabel="value above the smoothed optimum", ylim=(1e-7, 1e6), xlim=(1, STEPS))
    ax.set_title(f"To the optimum of the smoothed problem, s = {SMOOTHING:g}", loc="left", fontsize=10.5)


def vanishing(ax: Any, bank: KernelBank, y: Any) -> None:
    machine = HingeMachine(C=C, fit_intercept=False)
    l1 = LevelMethod(tol=1e-7).minimise(Problem(bank, Linear(), machine, Simplex(), y))
    optimum, start = -l1.evaluation.value, None
    values = np.logspace(3, -2, 21)
    distances, counts = [], []
    for s in values:
        found = smoothed(bank, y, C, s, tol=1e-7, max_iter=20_000, start=start)
        start = found.a
        distances.append(found.objective - optimum)
        counts.append(np.exp(-found.values @ np.log(np.maximum(found.values, 1e-300))))
    ax.loglog(values, 0.5 * values * np.log(len(bank)), "--", color=BOUND)
    ax.loglog(values, distances, "o-", color=OURS, markersize=3.5)
    ax.text(0.25, 1.5, "bound (s/2) log m", color=BOUND, ha="right")
    ax.text(22, 7.5, "measured", color=OURS)
    ax.set(xlabel="smoothing s", ylabel="smoothed optimum above that of L1-MKL", ylim=(1e-3, 1e4))
    ax.set_title("To L1-MKL as the smoothing vanishes", loc="left", fontsize=10.5)
    other = ax.twinx()
    other.grid(False)
    other.semilogx(values, counts, color=PUBLISHED, linewidth=1.2)
    other.set(ylim=(0, 24), yticks=(0, 4, 8, 12))
    other.set_ylabel("kernels in use, exp(entropy)", color=PUBLISHED, y=0.27)
    other.tick_params(axis="y", colors=PUBLISHED)
    other.spines["right"].set_visible(True)


def main() -> None:
    style = {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.2}
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), INK)
    bank, y = problem()
    with plt.rc_context({**style, **ink, "axes.axisbelow": True, "font.size": 10.0}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
        convergence(left, bank, y)
        vanishing(right, bank, y)
        OUT.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(OUT, dpi=150)


if __name__ == "__main__":
    main()
